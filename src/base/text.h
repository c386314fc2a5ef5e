/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a text that grows while it is written. */
#ifndef SPORE_TEXT_H
#define SPORE_TEXT_H

#include "base/base.h"

typedef struct sp__text {
    char *data; /* NUL-terminated once something was written */
    size_t used, room;
    bool failed; /* out of memory; further writes do nothing */
} sp__text;

void sp__text_put(sp__text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `bytes` bytes as they are. */
void sp__text_add(sp__text *t, const char *data, size_t bytes);
/* A text of JSON, quoted. */
void sp__text_json(sp__text *t, const char *text);
/* Hand the text over: freed by the caller with sp__free. SP_NOMEM if a write failed; then there is nothing to free. */
sp_status sp__text_take(sp__text *t, char **out);

#endif
