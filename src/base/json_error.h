/* SPDX-License-Identifier: Apache-2.0 */
/* json_error.h - JSON read with jansson, which may take a lack of memory for a mistake in the text. */
#ifndef SPORE_BASE_JSON_ERROR_H
#define SPORE_BASE_JSON_ERROR_H

#include "base/fail.h"
#include "base/json_tree.h"

/* SP_FORMAT with jansson's words in *error, or SP_NOMEM. `what` is read, for the message: "the header". */
static inline sp_status sp__json_read(const void *data, size_t bytes, const char *what, json_error_t *error,
                                      json_t **out)
{
    *out = sp__json_load(data, bytes, JSON_REJECT_DUPLICATES, error);
    /* Once more: if memory was short for a moment, the text is right now; if it still is, that shows. */
    if (*out == NULL) *out = sp__json_load(data, bytes, JSON_REJECT_DUPLICATES, error);
    if (*out != NULL) return SP_OK;
    if (error->text[0] == '\0' || json_error_code(error) == json_error_out_of_memory || sp__memory_is_out())
        return sp__fail(SP_NOMEM, "out of memory for %s", what);
    return SP_FORMAT;
}

#endif
