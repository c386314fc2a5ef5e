/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - a text that grows while it is written. */
#include "base/plain.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for so many more bytes and the NUL; false: there is none, or was none before. */
static bool grow(sp__text *t, size_t bytes)
{
    size_t wanted = t->used + bytes + 1;
    if (t->failed || wanted <= t->room) return !t->failed;
    size_t room = wanted < 256 ? 256 : wanted * 2;
    char *bigger = sp__realloc(t->data, t->room, room);
    t->failed = bigger == NULL;
    if (t->failed) return false;
    t->data = bigger;
    t->room = room;
    return true;
}

void sp__text_put(sp__text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = sp__vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n >= 0 && grow(t, (size_t)n)) {
        sp__vsnprintf(t->data + t->used, (size_t)n + 1, format, again);
        t->used += (size_t)n;
    }
    va_end(again);
}

void sp__text_add(sp__text *t, const char *data, size_t bytes)
{
    if (!grow(t, bytes)) return;
    memcpy(t->data + t->used, data, bytes);
    t->used += bytes;
    t->data[t->used] = '\0';
}

void sp__text_json(sp__text *t, const char *text)
{
    sp__text_add(t, "\"", 1);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') sp__text_put(t, "\\%c", c);
        else if (c < 0x20) sp__text_put(t, "\\u%04x", c);
        else sp__text_add(t, text, 1);
    }
    sp__text_add(t, "\"", 1);
}

sp_status sp__text_take(sp__text *t, char **out)
{
    if (!t->failed && !t->data) sp__text_put(t, "%s", "");
    char *data = t->data;
    bool failed = t->failed;
    *t = (sp__text){0};
    if (failed) {
        sp__free(data);
        return SP_NOMEM;
    }
    *out = data;
    return SP_OK;
}
