/* SPDX-License-Identifier: Apache-2.0 */
/* grpc.h - gRPC's framing of messages, and what its services share. Messages are protobuf's, read and written with formats/wire.h. */
#ifndef SPORE_GRPC_H
#define SPORE_GRPC_H

#include "formats/wire.h"
#include "serve/serve_impl.h"

/* The one message of a request: a byte that says whether it is compressed, four for its length, the message. */
sp_status sp__grpc_open(const sp_exchange *x, sp_wire *message);
sp_status sp__grpc_length(const sp_exchange *x); /* is it as long as it says? */
/* encoding.c: put the plain message in place of one that is compressed with gzip or deflate; what else it is sp__grpc_open tells. */
sp_status sp__grpc_decode(sp_job *job);
/* How such a message begins, which is enough to tell what it is for. *n: 0, it is not compressed so. */
sp_status sp__grpc_peek(const sp_exchange *x, uint8_t *out, size_t room, size_t *n);
/* Reply with a message (taken over), which begins behind SP_GRPC_PREFIX bytes of room. */
enum { SP_GRPC_PREFIX = 5 };
sp_status sp__grpc_begin(sp_wire_out *o); /* that room */
void sp__grpc_reply(sp_exchange *x, sp_wire_out *take_message);
/* Reply with a failure. */
void sp__grpc_refuse(sp_exchange *x, int http_status, const char *text);
/* The deadline that the request's head asks for. */
sp_status sp__grpc_timeout(sp_job *job);

/* Writing: fields of texts, and of messages, whose contents are freed. */
sp_status sp__grpc_put_text(sp_wire_out *o, uint32_t number, const char *text);
sp_status sp__grpc_put_bytes(sp_wire_out *o, uint32_t number, const void *data, size_t bytes);
sp_status sp__grpc_put_message(sp_wire_out *o, uint32_t number, sp_wire_out *take_contents);
/* Contents that were written from byte `at` of the message on become a field of their own. */
sp_status sp__grpc_end_part(sp_wire_out *o, uint32_t number, size_t at);
sp_status sp__grpc_put_dims(sp_wire_out *o, uint32_t number, int rank, const int64_t *dims); /* packed */
/* Reading a repeated int64, one field of it, packed or not; *rank counts on beyond SP_RANK_MAX, but no more are stored. */
sp_status sp__grpc_read_dims(sp_wire *w, int type, int64_t *rank, int64_t *dims);
/* A text in the job's arena. */
sp_status sp__grpc_read_text(sp_wire *w, const char *what, int type, sp__arena *a, const char **out);
/* An entry of a map: its key, in the arena, and its value, a message. */
sp_status sp__grpc_read_entry(sp_wire w, const char *what, sp__arena *a, const char **key, sp_wire *value);

/* Calls that stay open: their messages come as exchanges of their own. */
#define SP_STREAM_INFER_PATH "/inference.GRPCInferenceService/ModelStreamInfer"
#define SP_HEALTH_WATCH_PATH "/grpc.health.v1.Health/Watch"
#define SP_REFLECTION_PATH "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
#define SP_REFLECTION_OLD_PATH "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
bool sp__grpc_stays_open(const char *path);
bool sp__reflection_route(sp_exchange *x); /* reflection.c; false: the path is none of its */
sp_status sp__reflection_answer(const sp_exchange *x, sp_wire_out *o); /* the message that answers one */
bool sp__health_route(struct sp_server *s, sp_exchange *x);            /* grpc_health.c */
/* Routes: what is answered at once, and which model a message is for. */
bool sp__kserve_grpc_route(struct sp_server *s, sp_exchange *x); /* false: the path is none of its */
bool sp__mindspore_grpc_route(struct sp_server *s, sp_exchange *x);

#endif
