/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - keys of clients, and headers that replies have for browsers and tracers. */
#ifndef SPORE_KEYS_H
#define SPORE_KEYS_H

#include "net/net.h"

struct sp_server;
typedef struct sp_key sp_key;

sp_status sp__keys_load(struct sp_server *s); /* from its file; after a failure those before stay */
void sp__keys_release(struct sp_server *s);
/* May the client ask this model (NULL: all of them, and change what is served)? 0, 401: it shows no key that is known, 403: not with this key. name: of the key; NULL: not wanted. */
int sp__keys_check(struct sp_server *s, const sp_exchange *x, const char *model, char name[64]);
bool sp__keys_let_in(struct sp_server *s, const sp_exchange *x); /* to this path, whatever the model */

const char *sp__request_id(const sp_exchange *x); /* that the client gave; NULL: none, or not one to repeat */
const char *sp__trace_parent(const sp_exchange *x);
const char *sp__cors_origin(const struct sp_server *s,
                            const sp_exchange *x);                  /* what a browser is to be told; NULL: nothing */
bool sp__cors_preflight(const struct sp_server *s, sp_exchange *x); /* true: it was answered */
void sp__server_decorate(void *context, sp_exchange *x);            /* net's */

#endif
