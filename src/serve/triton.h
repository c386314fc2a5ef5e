/* SPDX-License-Identifier: Apache-2.0 */
/* triton.h - what Triton's clients ask for besides inference: which models there are, loading and unloading them, their configuration and statistics, settings of tracing
 * and the log, shared memory. The same over REST (triton_rest.c) and gRPC (triton_grpc.c). */
#ifndef SPORE_TRITON_H
#define SPORE_TRITON_H

#include "formats/wire.h"
#include "serve/json.h"
#include "serve/routes.h"

/* repository.c */
/* One line of the index, called for each version; state and reason live for the call. */
typedef void (*sp_index_line)(void *context, const char *name, const char *version, const char *state,
                              const char *reason);
void sp__repository_index(sp_server *s, bool ready_only, sp_index_line line, void *context);
/* Load or unload a model later, on the watcher's thread, and answer then; grpc: with an empty message. config: load it with this configuration (copied); NULL: as the program gave it. */
void sp__repository_order(sp_server *s, sp_exchange *x, const char *name, const char *config, bool load, bool grpc);
void sp__repository_work(sp_server *s); /* what was ordered; the watcher's */
/* May this client change what is served? Else why it may not, for an answer of 403. */
const char *sp__control_refusal(const sp_server *s, const sp_exchange *x);
bool sp__is_local(const sp_exchange *x); /* is the client on this machine? */

/* statistics.c */
void sp__statistics_json(const sp_served *m, sp__text *out);
sp_status sp__statistics_put(const sp_served *m, sp_wire_out *o, uint32_t field);
/* model_config.c */
void sp__model_config_json(const sp_served *m, sp__text *out);
sp_status sp__model_config_put(const sp_served *m, sp_wire_out *o, uint32_t field);
sp_status sp__model_config_override(sp_entry *e, const char *config, sp_settings *settings); /* model_override.c */

/* triton_rest.c: settings; SP_DECLINED for values that are not done. */
sp_status sp__trace_set(sp_server *s, const char *key, const char *value);
sp_status sp__log_set(sp_server *s, const char *key, const char *value);
/* Routes. */
bool sp__triton_rest_route(sp_server *s, sp_exchange *x); /* false: the path is none of its */
bool sp__triton_rest_model_route(sp_server *s, sp_exchange *x, sp_served *take_model,
                                 const char *what); /* "/config" and its like, behind a model; false: none of these */
void sp__triton_rest_trace(sp_server *s, sp_exchange *x);
bool sp__triton_grpc_route(sp_server *s, sp_exchange *x, const char *method);

#endif
