/* SPDX-License-Identifier: Apache-2.0 */
/* lite_file.c - see lite_file.h. */
#include "formats/lite/lite_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

enum { EXTERNAL_NAME = 1, EXTERNAL_OFFSET = 2, EXTERNAL_BYTES = 3 };

/* Lists that a file of Lite 1.0 has and that lead somewhere: it has no mark. */
static bool looks_old(const sp_source *s)
{
    const sp_flat f = {s->data, s->bytes};
    sp_flat_list list = {0, 0}, version = {0, 0};
    size_t root = 0, first = 0;
    if (s->bytes < 64 || sp__flat_follow(&f, 0, &root) != SP_OK || root < 4 || root + 4 > s->bytes) return false;
    if (sp__flat_vector(&f, root, 1, 1, &version) != SP_OK || version.n > 64) return false;
    if (sp__flat_vector(&f, root, SP_LITE_ROOT_NODES, 4, &list) != SP_OK || list.n == 0) return false;
    if (sp__flat_table_at(&f, &list, 0, &first) != SP_OK || first + 4 > s->bytes) return false;
    if (sp__flat_table(&f, first, 2, &first) != SP_OK || first == 0) return false;
    if (sp__flat_vector(&f, root, SP_LITE_ROOT_TENSORS, 4, &list) != SP_OK || list.n == 0) return false;
    if (sp__flat_table_at(&f, &list, 0, &first) != SP_OK || first + 4 > s->bytes) return false;
    uint64_t type = 0;
    return sp__flat_number(&f, first, 1, 4, &type) == SP_OK && sp__lite_dtype(type) != SP_DTYPE_NONE;
}

bool sp__lite_probe(const sp_source *s)
{
    if (s->bytes < 8) return false;
    if (memcmp(s->data + 4, "MSL2", 4) == 0) return true;
    return s->data[1] == 0 && s->data[2] == 0 && s->data[3] == 0 && s->data[0] % 4 == 0 &&
           looks_old(s); /* a root near the start, as in all flatbuffers without a mark */
}

/* "MindSpore Lite 1.5.0" as 105. */
static int version_number(const char *text)
{
    while (*text != '\0' && !sp__is_digit(*text)) text++;
    char *end = NULL;
    const long major = strtol(text, &end, 10);
    const long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major >= 0 && major < 100 && minor >= 0 && minor < 100 ? (int)(100 * major + minor) : 0;
}

sp_status sp__lite_open(const sp_source *s, sp_lite_file *out)
{
    char version[SP_TFLITE_NAME_MAX] = "";
    uint64_t obfuscated = 0;
    SP_CHECK(sp__lite_probe(s), SP_FORMAT, "is no MindSpore Lite model: \"MSL2\" is missing");
    *out = (sp_lite_file){.t.f = {s->data, s->bytes}, .old = memcmp(s->data + 4, "MSL2", 4) != 0};
    const sp_flat *f = &out->t.f;
    SP_TRY(sp__flat_follow(f, 0, &out->t.model));
    SP_TRY(sp__tflite_text(&out->t, out->t.model, 1, version));
    out->version = version_number(version);
    SP_TRY(sp__flat_number(f, out->t.model, 9, 1, &obfuscated));
    SP_CHECK(out->old || obfuscated == 0, SP_DECLINED,
             "the file is obfuscated (msobfuscator); only MindSpore Lite itself reads it");
    SP_TRY(sp__flat_vector(f, out->t.model, SP_LITE_ROOT_NODES, 4, &out->nodes));
    SP_TRY(sp__flat_vector(f, out->t.model, SP_LITE_ROOT_TENSORS, 4, &out->tensors));
    return sp__flat_vector(f, out->t.model, SP_LITE_ROOT_GRAPHS, 4, &out->graphs);
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

static const struct {
    int type;
    sp_dtype dtype;
} types[] = {{30, SP_DTYPE_BOOL}, {32, SP_DTYPE_I8},  {33, SP_DTYPE_I16}, {34, SP_DTYPE_I32},
             {35, SP_DTYPE_I64},  {37, SP_DTYPE_U8},  {38, SP_DTYPE_U16}, {39, SP_DTYPE_U32},
             {40, SP_DTYPE_U64},  {42, SP_DTYPE_F16}, {43, SP_DTYPE_F32}, {44, SP_DTYPE_F64}};

sp_dtype sp__lite_dtype(uint64_t type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint64_t)types[i].type == type) return types[i].dtype;
    return SP_DTYPE_NONE;
}

int sp__lite_type(sp_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype) return types[i].type;
    return 0;
}

/* A number of a table that is something else than 0 when it is missing. */
static sp_status number_or(const sp_flat *f, size_t table, unsigned field, int bytes, uint64_t missing, uint64_t *out)
{
    size_t place = 0;
    *out = missing;
    SP_TRY(sp__flat_field(f, table, field, &place));
    return place != 0 ? sp__flat_get(f, place, bytes, out) : SP_OK;
}

static double as_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double as_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof v);
    return (double)v;
}

sp_status sp__lite_quant(const sp_lite_file *t, const sp_lite_tensor *x, int i, sp_lite_quant *out)
{
    const uint64_t one = 0x3ff0000000000000u, one_float = 0x3f800000u;
    size_t at = 0;
    uint64_t scale = 0, zero = 0, bits = 0, factor = 0, shift = 0;
    SP_TRY(sp__flat_table_at(&t->t.f, &x->quant, (uint64_t)i, &at));
    SP_TRY(number_or(&t->t.f, at, 0, 8, one, &scale));
    SP_TRY(number_or(&t->t.f, at, 1, 4, 0, &zero));
    SP_TRY(number_or(&t->t.f, at, 5, 4, 8, &bits));
    SP_TRY(number_or(&t->t.f, at, 7, 4, one_float, &factor));
    SP_TRY(number_or(&t->t.f, at, 8, 4, 0, &shift));
    *out = (sp_lite_quant){as_double(scale), as_float(factor), as_float(shift), (int32_t)(uint32_t)zero,
                           (int32_t)(uint32_t)bits};
    if (!(out->factor > 0 && out->factor <= 10)) out->factor = 1;
    return SP_OK;
}

/* Scales that are in use: writers give one that is not to every tensor. */
static sp_status count_quant(const sp_lite_file *t, sp_lite_tensor *x)
{
    SP_TRY(sp__flat_vector(&t->t.f, x->table, 7, 4, &x->quant));
    SP_TRY(sp__flat_vector(&t->t.f, x->table, 8, 4, &x->clusters));
    for (uint64_t i = 0; i < x->quant.n; i++) {
        size_t at = 0;
        uint64_t used = 0;
        SP_TRY(sp__flat_table_at(&t->t.f, &x->quant, i, &at));
        SP_TRY(sp__flat_number(&t->t.f, at, 6, 1, &used));
        if (used == 0) return SP_OK;
    }
    x->n_quant = (int)x->quant.n;
    return SP_OK;
}

sp_status sp__lite_tensor(const sp_lite_file *t, size_t table, sp_lite_tensor *out)
{
    sp_flat_list data, outside = {0, 0};
    uint64_t huffman = 0, packing = 0;
    *out = (sp_lite_tensor){.table = table};
    SP_TRY(sp__flat_number(&t->t.f, table, 1, 4, &out->type));
    SP_TRY(sp__tflite_shape(&t->t, table, 2, &out->meta));
    out->meta.dtype = sp__lite_dtype(out->type);
    SP_TRY(sp__flat_vector(&t->t.f, table, 6, 1, &data));
    SP_TRY(count_quant(t, out));
    if (!t->old) {
        SP_TRY(sp__flat_number(&t->t.f, table, 10, 1, &huffman));
        SP_TRY(sp__flat_number(&t->t.f, table, 11, 4, &packing));
        SP_TRY(sp__flat_vector(&t->t.f, table, 12, 4, &outside));
    }
    SP_CHECK(packing <= 6, SP_DECLINED, "packing %llu of weights is not known", (unsigned long long)packing);
    out->packing = huffman != 0 ? -1 : (int)packing;
    out->data = t->t.f.data + data.at;
    out->bytes = (size_t)data.n;
    out->outside = outside.n > 0;
    SP_CHECK(outside.n <= 1, SP_FORMAT, "byte %zu: contents in %llu files", table, (unsigned long long)outside.n);
    return SP_OK;
}

/* Contents in a file beside the model. */
__attribute__((noinline)) static sp_status add_outside(const sp_source *s, const sp_lite_file *t,
                                                       const sp_lite_tensor *x, sp_bundle *bundle, const char *name)
{
    sp_flat_list list;
    size_t at = 0;
    uint64_t offset = 0, bytes = 0;
    char file[SP_TFLITE_NAME_MAX];
    SP_TRY(sp__flat_vector(&t->t.f, x->table, 12, 4, &list));
    SP_TRY(sp__flat_table_at(&t->t.f, &list, 0, &at));
    SP_TRY(sp__tflite_text(&t->t, at, EXTERNAL_NAME, file));
    SP_TRY(number_or(&t->t.f, at, EXTERNAL_OFFSET, 8, 0, &offset));
    SP_TRY(number_or(&t->t.f, at, EXTERNAL_BYTES, 8, UINT64_MAX, &bytes));
    size_t wanted = 0;
    SP_TRY(sp__meta_bytes(&x->meta, &wanted));
    SP_CHECK(x->packing == 0, SP_DECLINED, "packed weights in a file beside the model are not supported");
    sp_source beside;
    SP_TRY(sp__source_open_beside(s, file, &beside));
    sp_status status =
        sp__source_add_part(&beside, file, bundle, name, &x->meta, offset, bytes == UINT64_MAX ? wanted : bytes);
    sp__source_close(&beside);
    return status;
}

sp_status sp__lite_add(const sp_source *s, const sp_lite_file *t, const sp_lite_tensor *x, sp_bundle *bundle,
                       const char *name, bool *added)
{
    sp_meta m = x->meta;
    *added = false;
    if ((x->bytes == 0 && !x->outside) || x->meta.dtype == SP_DTYPE_NONE) return SP_OK;
    *added = true;
    if (x->outside) return add_outside(s, t, x, bundle, name);
    m.dtype = sp__lite_unpacked(x);
    if (m.dtype == SP_DTYPE_NONE) return sp__source_add(s, bundle, name, &x->meta, x->data, x->bytes);
    sp_tensor *out = NULL;
    size_t filled = 0;
    SP_TRY(sp__meta_bytes(&m, &filled));
    /* One index of no bits may stand for any number of equal elements: the limit keeps small files from asking for all memory. */
    SP_CHECK(filled / 4096 <= x->bytes, SP_FORMAT, "%zu bytes for %zu bytes of elements", x->bytes, filled);
    SP_TRY(sp_tensor_create(m.dtype, m.rank, m.dims, &out));
    sp_status status = sp__lite_unpack(t, x, out);
    if (status == SP_OK) status = sp_bundle_add(bundle, name, out);
    sp_tensor_release(out);
    return status;
}
