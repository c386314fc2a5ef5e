/* SPDX-License-Identifier: Apache-2.0 */
/* py_text.c - repr of a Tensor, laid out as MindSpore does:
 *
 *     Tensor(shape=[2, 2], dtype=Float32, value=
 *     [[ 1.00000000e+00,  2.00000000e+00],
 *      [ 3.00000000e+00,  4.00000000e+00]])
 *
 * One dimension breaks its line after 12 or 24 elements and is shortened beyond 1000; with more dimensions each is
 * shortened beyond 6. Shortened means the first and last three. */
#include <stdio.h>

#include "base/plain.h"
#include "core.h"
#include "tensor/half.h"

enum { EDGE = 3, LONG_1D = 1000, LONG_ND = 2 * EDGE, CELL = 80 };

typedef struct text {
    char *data;
    size_t used, room;
    bool failed;
} text;

static void put(text *s, const char *what, size_t n)
{
    if (s->failed) return;
    if (s->used + n + 1 > s->room) {
        size_t room = (s->used + n + 1) * 2;
        char *more = PyMem_Realloc(s->data, room);
        if (!more) {
            s->failed = true;
            return;
        }
        s->data = more;
        s->room = room;
    }
    memcpy(s->data + s->used, what, n);
    s->used += n;
}
static void put_text(text *s, const char *what) { put(s, what, strlen(what)); }
static void put_spaces(text *s, int n)
{
    for (int i = 0; i < n; i++) put(s, " ", 1);
}

/* --- one element ------------------------------------------------------------------------------------------------- */

static double read_float(const sp_tensor *t, const char *at)
{
    uint16_t half;
    float single;
    double wide;
    switch ((sp_dtype)t->dtype) {
    case SP_DTYPE_F16: memcpy(&half, at, 2); return sp__f16_f32((sp_f16){half});
    case SP_DTYPE_BF16: memcpy(&half, at, 2); return sp__bf16_f32((sp_bf16){half});
    case SP_DTYPE_F32: memcpy(&single, at, 4); return single;
    default: memcpy(&wide, at, 8); return wide;
    }
}

/* How a float is written: %g, with sign, or with a fixed number of digits. A nan has no sign that anybody wants. */
typedef enum { SHORT, SIGNED, DIGITS_4, DIGITS_8 } float_style;

static int put_float(char *out, size_t room, float_style style, double v)
{
    if (v != v) return snprintf(out, room, "%s", style == SIGNED ? "+nan" : "nan");
    switch (style) {
    case SIGNED: return sp__snprintf(out, room, "%+g", v);
    case DIGITS_4: return sp__snprintf(out, room, "%.4e", v);
    case DIGITS_8: return sp__snprintf(out, room, "%.8e", v);
    default: return sp__snprintf(out, room, "%g", v);
    }
}

/* Text of the element at `at`; scalar: alone, so without the fixed number of digits. */
static int element(const sp_tensor *t, const char *at, bool scalar, char out[CELL])
{
    switch ((sp_dtype)t->dtype) {
    case SP_DTYPE_BOOL: return snprintf(out, CELL, "%s", *at ? "True" : "False");
    case SP_DTYPE_F16: return put_float(out, CELL, scalar ? SHORT : DIGITS_4, read_float(t, at));
    case SP_DTYPE_BF16: return put_float(out, CELL, SHORT, read_float(t, at));
    case SP_DTYPE_F32:
    case SP_DTYPE_F64: return put_float(out, CELL, scalar ? SHORT : DIGITS_8, read_float(t, at));
    case SP_DTYPE_C64:
    case SP_DTYPE_C128: {
        double re, im;
        float pair[2];
        if (t->dtype == SP_DTYPE_C64) {
            memcpy(pair, at, sizeof pair);
            re = pair[0], im = pair[1];
        } else {
            memcpy(&re, at, 8);
            memcpy(&im, at + 8, 8);
        }
        int n = put_float(out, CELL, SHORT, re);
        n += put_float(out + n, (size_t)(CELL - n), SIGNED, im);
        return n + snprintf(out + n, (size_t)(CELL - n), "j");
    }
#define INTEGER(e, type, format, as)                                                                                   \
    case SP_DTYPE_##e: {                                                                                               \
        type v;                                                                                                        \
        memcpy(&v, at, sizeof v);                                                                                      \
        return snprintf(out, CELL, format, (as)v);                                                                     \
    }
        INTEGER(U8, uint8_t, "%d", int)
        INTEGER(U16, uint16_t, "%d", int)
        INTEGER(U32, uint32_t, "%u", unsigned)
        INTEGER(U64, uint64_t, "%llu", unsigned long long)
        INTEGER(I8, int8_t, "%d", int)
        INTEGER(I16, int16_t, "%d", int)
        INTEGER(I32, int32_t, "%d", int)
        INTEGER(I64, int64_t, "%lld", long long)
#undef INTEGER
    default: return snprintf(out, CELL, "?");
    }
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

typedef struct layout {
    const sp_tensor *t;
    int64_t bytes;
    int width;    /* every element is padded to it */
    int per_line; /* of a tensor of one dimension */
} layout;

static bool is_long(const layout *l, int axis) { return l->t->dims[axis] > (l->t->rank == 1 ? LONG_1D : LONG_ND); }

static void measure(layout *l, int axis, const char *at)
{
    const sp_tensor *t = l->t;
    if (axis == t->rank) {
        char cell[CELL];
        int n = element(t, at, false, cell);
        if (n > l->width) l->width = n;
        return;
    }
    for (int64_t i = 0; i < t->dims[axis]; i++) {
        if (is_long(l, axis) && i == EDGE) i = t->dims[axis] - EDGE;
        measure(l, axis + 1, at + i * t->strides[axis] * l->bytes);
    }
}

static void put_block(text *s, const layout *l, int axis, const char *at)
{
    const sp_tensor *t = l->t;
    const int64_t n = t->dims[axis];
    const bool innermost = axis == t->rank - 1, shortened = is_long(l, axis);
    put(s, "[", 1);
    for (int64_t i = 0; i < n; i++) {
        if (shortened && i == EDGE) {
            if (innermost) {
                put_text(s, " ... ");
            } else {
                put(s, "\n", 1);
                put_spaces(s, axis + 1);
                put_text(s, "...\n");
                put_spaces(s, axis + 1);
            }
            i = n - EDGE;
        } else if (i && !innermost) {
            put_text(s, "\n");
            put_spaces(s, axis + 1);
        }
        const char *item = at + i * t->strides[axis] * l->bytes;
        const bool last = i == n - 1 || (shortened && i == EDGE - 1);
        if (!innermost) {
            put_block(s, l, axis + 1, item);
            if (i != n - 1) put(s, ",", 1);
            continue;
        }
        char cell[CELL];
        int used = element(t, item, false, cell);
        put_spaces(s, l->width - used);
        put(s, cell, (size_t)used);
        if (!last) put_text(s, ", ");
        if (t->rank == 1 && !shortened && (i + 1) % l->per_line == 0) put_text(s, "\n ");
    }
    put(s, "]", 1);
}

PyObject *sp__py_repr(const sp_tensor *t, const char *values)
{
    text s = {NULL, 0, 0, false};
    layout l = {.t = t, .bytes = (int64_t)sp_dtype_bytes((sp_dtype)t->dtype), .width = 0, .per_line = 24};
    char number[32];
    put_text(&s, "Tensor(shape=[");
    for (int i = 0; i < t->rank; i++) {
        snprintf(number, sizeof number, "%s%lld", i ? ", " : "", (long long)t->dims[i]);
        put_text(&s, number);
    }
    put_text(&s, "], dtype=");
    put_text(&s, sp_dtype_text((sp_dtype)t->dtype));
    put_text(&s, t->rank > 1 ? ", value=\n" : ", value= ");
    if (values) {
        put_text(&s, values);
    } else if (t->symbol) {
        put_text(&s, "<known when the program runs>");
    } else if (t->count < 0) {
        /* a shape with open sizes has no contents */
    } else if (t->count && t->rank == 0) {
        char cell[CELL];
        put(&s, cell, (size_t)element(t, t->data, true, cell));
    } else if (t->count) {
        char kind = sp_dtype_kind((sp_dtype)t->dtype);
        switch ((sp_dtype)t->dtype) {
        case SP_DTYPE_F32:
        case SP_DTYPE_F64: l.width = 15; break;
        case SP_DTYPE_F16: l.width = 11; break;
        case SP_DTYPE_BOOL: l.width = 5; break;
        default:
            if (kind != 'c') measure(&l, 0, t->data);
        }
        if (kind == 'b' || (kind == 'f' && t->dtype != SP_DTYPE_BF16)) l.per_line = 12;
        put_block(&s, &l, 0, t->data);
    }
    put_text(&s, ")");
    PyObject *result = s.failed ? sp__py_no_memory() : PyUnicode_DecodeUTF8(s.data, (Py_ssize_t)s.used, NULL);
    PyMem_Free(s.data);
    return result;
}
