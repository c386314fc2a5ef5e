/* SPDX-License-Identifier: Apache-2.0 */
/* flatbuffer.c - see flatbuffer.h. */
#include "formats/tflite/flatbuffer.h"

sp_status sp__flat_get(const sp_flat *f, size_t at, int n, uint64_t *out)
{
    SP_CHECK(at <= f->bytes && f->bytes - at >= (size_t)n, SP_FORMAT, "byte %zu does not lie in the file", at);
    *out = 0;
    for (int i = n - 1; i >= 0; i--) *out = *out << 8 | f->data[at + (size_t)i];
    return SP_OK;
}

sp_status sp__flat_field(const sp_flat *f, size_t table, unsigned number, size_t *out)
{
    uint64_t back = 0, vtable_bytes = 0, place = 0;
    *out = 0;
    SP_TRY(sp__flat_get(f, table, 4, &back));
    int64_t vtable = (int64_t)table - (int32_t)(uint32_t)back;
    SP_CHECK(vtable >= 0, SP_FORMAT, "byte %zu: a table without its description", table);
    SP_TRY(sp__flat_get(f, (size_t)vtable, 2, &vtable_bytes));
    if (4 + 2 * (uint64_t)number + 2 > vtable_bytes) return SP_OK;
    SP_TRY(sp__flat_get(f, (size_t)vtable + 4 + 2 * number, 2, &place));
    *out = place != 0 ? table + (size_t)place : 0;
    return SP_OK;
}

sp_status sp__flat_follow(const sp_flat *f, size_t at, size_t *out)
{
    uint64_t distance = 0;
    SP_TRY(sp__flat_get(f, at, 4, &distance));
    SP_CHECK(distance <= f->bytes - at, SP_FORMAT,
             "byte %zu leads out of the file, which ends after %zu bytes: it is cut short, or damaged", at, f->bytes);
    *out = at + (size_t)distance;
    return SP_OK;
}

sp_status sp__flat_vector(const sp_flat *f, size_t table, unsigned number, size_t element, sp_flat_list *out)
{
    size_t place = 0, at = 0;
    *out = (sp_flat_list){0, 0};
    SP_TRY(sp__flat_field(f, table, number, &place));
    if (place == 0) return SP_OK;
    SP_TRY(sp__flat_follow(f, place, &at));
    SP_TRY(sp__flat_get(f, at, 4, &out->n));
    SP_CHECK(out->n <= (f->bytes - at - 4) / element, SP_FORMAT,
             "byte %zu, field %u: a vector of %llu elements leaves the file", at, number, (unsigned long long)out->n);
    out->at = at + 4;
    return SP_OK;
}

sp_status sp__flat_table(const sp_flat *f, size_t table, unsigned number, size_t *out)
{
    size_t place = 0;
    *out = 0;
    SP_TRY(sp__flat_field(f, table, number, &place));
    return place != 0 ? sp__flat_follow(f, place, out) : SP_OK;
}

sp_status sp__flat_table_at(const sp_flat *f, const sp_flat_list *list, uint64_t i, size_t *out)
{
    return sp__flat_follow(f, list->at + 4 * (size_t)i, out);
}

sp_status sp__flat_number(const sp_flat *f, size_t table, unsigned number, int bytes, uint64_t *out)
{
    size_t place = 0;
    *out = 0;
    SP_TRY(sp__flat_field(f, table, number, &place));
    return place != 0 ? sp__flat_get(f, place, bytes, out) : SP_OK;
}

sp_status sp__flat_int_at(const sp_flat *f, const sp_flat_list *list, uint64_t i, int64_t *out)
{
    uint64_t raw = 0;
    SP_TRY(sp__flat_get(f, list->at + 4 * (size_t)i, 4, &raw));
    *out = (int32_t)(uint32_t)raw;
    return SP_OK;
}
