/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_file.c - see tflite_file.h. */
#include "formats/tflite/tflite_file.h"

#include <string.h>

bool sp__tflite_probe(const sp_source *s) { return s->bytes >= 8 && memcmp(s->data + 4, "TFL3", 4) == 0; }

sp_status sp__tflite_open(const sp_source *s, sp_tflite_file *out)
{
    SP_CHECK(sp__tflite_probe(s), SP_FORMAT, "is no TensorFlow Lite model: \"TFL3\" is missing");
    out->f = (sp_flat){s->data, s->bytes};
    SP_TRY(sp__flat_follow(&out->f, 0, &out->model));
    SP_TRY(sp__flat_vector(&out->f, out->model, 4, 4, &out->buffers));
    return sp__flat_vector(&out->f, out->model, 2, 4, &out->graphs);
}

sp_dtype sp__tflite_dtype(uint64_t type)
{
    static const int8_t known[] = {SP_DTYPE_F32,  SP_DTYPE_F16,  SP_DTYPE_I32,  SP_DTYPE_U8,   SP_DTYPE_I64,
                                   SP_DTYPE_NONE, SP_DTYPE_BOOL, SP_DTYPE_I16,  SP_DTYPE_C64,  SP_DTYPE_I8,
                                   SP_DTYPE_F64,  SP_DTYPE_C128, SP_DTYPE_U64,  SP_DTYPE_NONE, SP_DTYPE_NONE,
                                   SP_DTYPE_U32,  SP_DTYPE_U16,  SP_DTYPE_NONE, SP_DTYPE_BF16};
    return type < sizeof known ? (sp_dtype)known[type] : SP_DTYPE_NONE;
}

sp_status sp__tflite_contents(const sp_tflite_file *t, uint64_t index, const uint8_t **data, size_t *bytes)
{
    size_t table = 0;
    sp_flat_list list = {0, 0};
    uint64_t offset = 0, size = 0;
    *bytes = 0;
    *data = t->f.data;
    SP_CHECK(index < t->buffers.n, SP_FORMAT, "buffer %llu of %llu", (unsigned long long)index,
             (unsigned long long)t->buffers.n);
    SP_TRY(sp__flat_table_at(&t->f, &t->buffers, index, &table));
    SP_TRY(sp__flat_vector(&t->f, table, 0, 1, &list));
    SP_TRY(sp__flat_number(&t->f, table, 1, 8, &offset));
    SP_TRY(sp__flat_number(&t->f, table, 2, 8, &size));
    if (offset > 1) { /* 0 and 1: not used */
        SP_CHECK(offset <= t->f.bytes && size <= t->f.bytes - offset, SP_FORMAT, "buffer %llu leaves the file",
                 (unsigned long long)index);
        list = (sp_flat_list){(size_t)offset, size};
    }
    *data = t->f.data + list.at;
    *bytes = (size_t)list.n;
    return SP_OK;
}

sp_status sp__tflite_text(const sp_tflite_file *t, size_t table, unsigned number, char out[SP_TFLITE_NAME_MAX])
{
    sp_flat_list list;
    SP_TRY(sp__flat_vector(&t->f, table, number, 1, &list));
    const char *text = (const char *)t->f.data + list.at;
    SP_CHECK(list.n < SP_TFLITE_NAME_MAX - 64 && memchr(text, 0, (size_t)list.n) == NULL &&
                 sp__utf8_valid(text, (size_t)list.n) == list.n,
             SP_FORMAT, "byte %zu: a name that is not UTF-8, or too long", list.at);
    memcpy(out, text, (size_t)list.n);
    out[list.n] = '\0';
    return SP_OK;
}

sp_status sp__tflite_shape(const sp_tflite_file *t, size_t tensor, unsigned number, sp_meta *meta)
{
    sp_flat_list list;
    SP_TRY(sp__flat_vector(&t->f, tensor, number, 4, &list));
    SP_CHECK(list.n <= SP_RANK_MAX, SP_FORMAT, "byte %zu: %llu dimensions, at most %d are possible", list.at,
             (unsigned long long)list.n, SP_RANK_MAX);
    meta->rank = (int)list.n;
    for (int i = 0; i < meta->rank; i++) SP_TRY(sp__flat_int_at(&t->f, &list, (uint64_t)i, &meta->dims[i]));
    return SP_OK;
}
