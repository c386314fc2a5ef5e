/* SPDX-License-Identifier: Apache-2.0 */
/* json_tree.c - jansson's reading and writing, in any locale and on a small stack. jansson replaces the locale's decimal
 * point by one character, which is not enough where the point has two bytes. */
#include "base/json_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/plain.h"

/* Where the text goes too deep, or `bytes`. */
static size_t too_deep(const char *text, size_t bytes)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        if (quoted && c == '\\') i++;
        else if (c == '"') quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{') && ++depth > SP_JSON_DEPTH_MAX) return i;
        else if (!quoted && (c == ']' || c == '}')) depth--;
    }
    return bytes;
}

json_t *sp__json_load(const void *text, size_t bytes, size_t flags, json_error_t *error)
{
    const size_t deep = too_deep(text, bytes);
    if (deep < bytes) {
        if (error) {
            memset(error, 0, sizeof *error);
            error->line = error->column = -1;
            error->position = (int)deep;
            snprintf(error->text, sizeof error->text, "nested deeper than %d", SP_JSON_DEPTH_MAX);
        }
        return NULL;
    }
    sp__outside outside = sp__plain_enter();
    sp__section_begin(); /* the first one in a process seeds jansson's tables, and others wait for it */
    json_t *tree = json_loadb(text, bytes, flags, error);
    sp__section_end();
    sp__plain_leave(outside);
    return tree;
}

char *sp__json_dump(const json_t *tree, size_t flags)
{
    sp__outside outside = sp__plain_enter();
    char *text = json_dumps(tree, flags);
    sp__plain_leave(outside);
    return text;
}
