/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - what protocols need of the routes, and the routes of the protocols. */
#ifndef SPORE_ROUTES_H
#define SPORE_ROUTES_H

#include <stdio.h>

#include "serve/serve_impl.h"

/* A part of a path with its %XX read; false: it is not written right, or too long. */
bool sp__path_decode(const char *from, size_t bytes, char *out, size_t room);
int64_t sp__path_version(const char *text, size_t bytes); /* -1: no number */
int64_t sp__route_version(sp_server *s, const char *name, const char *text,
                          size_t bytes); /* a number, or a label of that model; -1: neither */
/* The version of a model, retained; NULL: there is none, with HTTP's status and the reason. version 0: the current one. */
sp_served *sp__route_model(sp_server *s, const char *name, int64_t version, int *status, char *why, size_t room);
void sp__route_refuse(sp_exchange *x, int status, const char *text); /* reply with an error */

void sp__route_page(sp_exchange *x);    /* page.c */
void sp__route_openapi(sp_exchange *x); /* openapi.c */
void sp__predict_state(
    sp_entry *e,
    sp__text *out); /* predict_rest.c: of a model's versions, as TensorFlow Serving and KServe v1 tell it */

/* kserve_names.c */
const char *sp__kserve_datatype(sp_dtype dtype);             /* "FP32"; NULL: it has none */
sp_dtype sp__kserve_dtype(const char *datatype);             /* SP_DTYPE_NONE: it is none */
void sp__kserve_metadata(const sp_served *m, sp__text *out); /* of a model, as JSON */

#endif
