/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_texts.c - texts as numbers, so that operators which only move elements serve tensors of texts too.
 *
 * A table gives every different text a number; 0 is the empty text. The texts of the file are in a table of the model, those
 * that are met in a run in a table of the run, which goes on counting where the model's ends and dies with the run. */
#include <string.h>

#include "formats/onnx/onnx_model.h"

static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h;
}

static bool table_find(const sp_onnx_texts *t, const char *text, size_t bytes, int64_t *code)
{
    if (t->room == 0) return false;
    for (uint64_t i = hash_of(text, bytes);; i++) {
        int64_t at = t->places[i & (uint64_t)(t->room - 1)];
        if (at < 0) return false;
        if (strlen(t->list[at]) == bytes && memcmp(t->list[at], text, bytes) == 0) {
            *code = t->first + at;
            return true;
        }
    }
}

static sp_status table_grow(sp_onnx_texts *t)
{
    int64_t room = t->room == 0 ? 32 : 2 * t->room;
    char **list = sp__realloc(t->list, (size_t)t->room / 2 * sizeof *list, (size_t)room / 2 * sizeof *list);
    if (list == NULL) return SP_NOMEM;
    t->list = list;
    int64_t *places = sp__alloc((size_t)room * sizeof *places);
    if (places == NULL) return SP_NOMEM;
    memset(places, -1, (size_t)room * sizeof *places);
    for (int64_t k = 0; k < t->n; k++) {
        uint64_t i = hash_of(list[k], strlen(list[k]));
        while (places[i & (uint64_t)(room - 1)] >= 0) i++;
        places[i & (uint64_t)(room - 1)] = k;
    }
    sp__free(t->places);
    t->places = places;
    t->room = room;
    return SP_OK;
}

sp_status sp__onnx_text_code(sp_onnx_texts *t, const char *text, size_t bytes, int64_t *code)
{
    const char *end = memchr(text, '\0', bytes);
    if (end != NULL) bytes = (size_t)(end - text);
    *code = 0;
    if (bytes == 0) return SP_OK;
    if ((t->base != NULL && table_find(t->base, text, bytes, code)) || table_find(t, text, bytes, code)) return SP_OK;
    if (2 * (t->n + 1) > t->room) SP_TRY(table_grow(t));
    char *own = sp__alloc(bytes + 1);
    if (own == NULL) return SP_NOMEM;
    memcpy(own, text, bytes);
    own[bytes] = '\0';
    uint64_t i = hash_of(text, bytes);
    while (t->places[i & (uint64_t)(t->room - 1)] >= 0) i++;
    t->places[i & (uint64_t)(t->room - 1)] = t->n;
    *code = t->first + t->n;
    t->list[t->n++] = own;
    return SP_OK;
}

const char *sp__onnx_text_at(const sp_onnx_texts *t, int64_t code)
{
    if (t->base != NULL && code < t->first) return sp__onnx_text_at(t->base, code);
    return code >= t->first && code < t->first + t->n ? t->list[code - t->first] : "";
}

void sp__onnx_texts_begin(sp_onnx_texts *t, const sp_onnx_texts *base)
{
    *t = (sp_onnx_texts){.base = base, .first = base != NULL ? base->first + base->n : 1};
}

void sp__onnx_texts_free(sp_onnx_texts *t)
{
    for (int64_t i = 0; i < t->n; i++) sp__free(t->list[i]);
    sp__free(t->list);
    sp__free(t->places);
    *t = (sp_onnx_texts){0};
}
