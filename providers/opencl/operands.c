/* SPDX-License-Identifier: Apache-2.0 */
/* operands.c - geometry of operands, and attributes by name. */
#include <limits.h>
#include <string.h>

#include "opencl.h"

static const struct {
    const char *name;
    size_t bytes;
    char kind;
} dtypes[SP_DTYPE_COUNT] = {
#define X(e, name, text, bytes, kind) [SP_DTYPE_##e] = {name, bytes, kind},
    SP_DTYPE_LIST(X)
#undef X
};

size_t ocl_bytes(sp_dtype dtype) { return dtypes[dtype].bytes; }
char ocl_kind(sp_dtype dtype) { return dtypes[dtype].kind; }
const char *ocl_dtype_name(sp_dtype dtype) { return dtypes[dtype].name; }
bool ocl_is_float(sp_dtype dtype) { return dtype >= 0 && dtypes[dtype].kind == 'f'; }

bool ocl_computes(const ocl_device *d, sp_dtype dtype)
{
    if (dtype < 0 || dtype >= SP_DTYPE_COUNT) return false;
    const char kind = dtypes[dtype].kind;
    return kind != 'c' && kind != 's' && (dtype != SP_DTYPE_F64 || d->has_double);
}

int64_t ocl_count(const sp_device_operand *o)
{
    int64_t n = 1;
    for (int i = 0; i < o->rank; i++) n *= o->dims[i];
    return n;
}

/* From the first byte of an operand to behind the last. */
static void bytes_of(const sp_device_operand *o, int64_t *first, int64_t *end)
{
    const int64_t size = (int64_t)ocl_bytes(o->dtype);
    *first = (int64_t)o->offset;
    *end = *first + size;
    for (int i = 0; i < o->rank; i++) {
        const int64_t reach = (o->dims[i] - 1) * o->strides[i] * size;
        if (reach < 0) *first += reach;
        else *end += reach;
    }
}

bool ocl_overlap(const sp_device_operand *a, const sp_device_operand *b)
{
    int64_t a_first, a_end, b_first, b_end;
    if (a->buffer != b->buffer || ocl_count(a) == 0 || ocl_count(b) == 0) return false;
    bytes_of(a, &a_first, &a_end);
    bytes_of(b, &b_first, &b_end);
    return a_first < b_end && b_first < a_end;
}

bool ocl_row_major(const sp_device_operand *o)
{
    int64_t step = 1;
    for (int i = o->rank - 1; i >= 0; i--) {
        if (o->dims[i] != 1 && o->strides[i] != step) return false;
        step *= o->dims[i];
    }
    return true;
}

void ocl_row_major_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= dims[i];
    }
}

ocl_split ocl_split_at(const sp_device_operand *o, int first, int last)
{
    ocl_split s = {1, 1, 1};
    for (int i = 0; i < o->rank; i++) *(i < first ? &s.outer : i < last ? &s.n : &s.inner) *= o->dims[i];
    return s;
}

/* --- shapes that operands share ---------------------------------------------------------------------------------- */

void ocl_shape_start(ocl_shape *s, int rank, const int64_t *dims)
{
    *s = (ocl_shape){.rank = rank, .count = 1};
    for (int i = 0; i < rank; i++) {
        s->dims[i] = dims[i];
        s->count *= dims[i];
    }
}

void ocl_shape_add(ocl_shape *s, int rank, const int64_t *dims, const int64_t *strides)
{
    int64_t own[OCL_RANK];
    if (!strides) {
        ocl_row_major_strides(rank, dims, own);
        strides = own;
    }
    for (int i = 0; i < s->rank; i++) {
        const int k = i - (s->rank - rank);
        s->strides[s->n][i] = k < 0 || dims[k] == 1 ? 0 : strides[k];
    }
    s->n++;
}

static bool one_piece(const ocl_shape *s, int i)
{
    for (int k = 0; k < s->n; k++)
        if (s->strides[k][i] != s->strides[k][i + 1] * s->dims[i + 1]) return false;
    return true;
}

static void drop(ocl_shape *s, int i)
{
    for (int j = i; j + 1 < s->rank; j++) {
        s->dims[j] = s->dims[j + 1];
        for (int k = 0; k < s->n; k++) s->strides[k][j] = s->strides[k][j + 1];
    }
    s->rank--;
}

void ocl_shape_merge(ocl_shape *s)
{
    for (int i = s->rank - 1; i >= 0; i--)
        if (s->dims[i] == 1) drop(s, i);
    for (int i = s->rank - 2; i >= 0; i--)
        if (one_piece(s, i)) {
            s->dims[i + 1] *= s->dims[i];
            drop(s, i);
        }
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

int64_t ocl_int(const sp_device_call *c, const char *name, int64_t otherwise)
{
    const int64_t *v = sp_device_attr(c, name);
    return v ? *v : otherwise;
}

double ocl_float(const sp_device_call *c, const char *name, double otherwise)
{
    for (int i = 0; i < c->n_attrs; i++)
        if (strcmp(c->attr_table[i].name, name) == 0) {
            const void *at = (const char *)c->attrs + c->attr_table[i].offset;
            if (c->attr_table[i].type == SP_ATTR_FLOAT) return *(const double *)at;
            if (c->attr_table[i].type == SP_ATTR_INT) return (double)*(const int64_t *)at;
            if (c->attr_table[i].type == SP_ATTR_NUMBER) return ((const sp_number *)at)->f;
        }
    return otherwise;
}

bool ocl_bool(const sp_device_call *c, const char *name, bool otherwise)
{
    const bool *v = sp_device_attr(c, name);
    return v ? *v : otherwise;
}

const char *ocl_word(const sp_device_call *c, const char *name, const char *otherwise)
{
    const char *const *v = sp_device_attr(c, name);
    return v && *v ? *v : otherwise;
}

sp_ints ocl_ints(const sp_device_call *c, const char *name)
{
    const sp_ints *v = sp_device_attr(c, name);
    return v ? *v : (sp_ints){-1, NULL};
}
