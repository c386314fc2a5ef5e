/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_count.c - counts of what is not zero, and sums and means of narrow integers, without a wide copy of the tensor.
 *
 * As compositions these make int64 (means: float64) of every element first: eight bytes for one. Here elements are added up as they are. The
 * tensor is outer x n x inner around its axes; sums are int64 and exact, so parts may be added in any order. */
#include <string.h>

#include "device/cpu/cpu_kernels.h"
#include "spore/ops_attrs.h"

enum { COLUMNS = 512, PART = 262144 };

/* Adds a row of n elements to *sum, or element by element to sum[0..n). */
typedef void add_fn(const void *x, int64_t n, bool each, int64_t *sum);

typedef struct {
    add_fn *add;
    const char *x;
    int64_t size, outer, n, inner;
    int64_t pieces, blocks, block; /* of inner, and of n */
    int64_t *sums;                 /* [outer][inner] */
} count_job;

#define ADDER(name, T, value)                                                                                          \
    static void name##_##T(const void *x, int64_t n, bool each, int64_t *sum)                                          \
    {                                                                                                                  \
        const T *p = x;                                                                                                \
        if (each) {                                                                                                    \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                const T v = p[i];                                                                                      \
                sum[i] += (value);                                                                                     \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        int64_t total = 0;                                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const T v = p[i];                                                                                          \
            total += (value);                                                                                          \
        }                                                                                                              \
        *sum += total;                                                                                                 \
    }
typedef uint16_t half; /* of either kind: all bits but the sign tell a zero */
ADDER(count, uint8_t, v != 0)
ADDER(count, uint16_t, v != 0)
ADDER(count, uint32_t, v != 0)
ADDER(count, uint64_t, v != 0)
ADDER(count, half, (v & 0x7FFF) != 0)
ADDER(count, float, v != 0)
ADDER(count, double, v != 0)
ADDER(add, uint8_t, v)
ADDER(add, int8_t, v)
ADDER(add, int16_t, v)
ADDER(add, int32_t, v)

static add_fn *counter_of(sp_dtype dtype)
{
    switch (dtype) {
    case SP_DTYPE_BOOL:
    case SP_DTYPE_I8:
    case SP_DTYPE_U8: return count_uint8_t;
    case SP_DTYPE_I16:
    case SP_DTYPE_U16: return count_uint16_t;
    case SP_DTYPE_I32:
    case SP_DTYPE_U32: return count_uint32_t;
    case SP_DTYPE_I64:
    case SP_DTYPE_U64: return count_uint64_t;
    case SP_DTYPE_F16:
    case SP_DTYPE_BF16: return count_half;
    case SP_DTYPE_F32: return count_float;
    case SP_DTYPE_F64: return count_double;
    default: return NULL;
    }
}

static add_fn *adder_of(sp_dtype dtype)
{
    switch (dtype) {
    case SP_DTYPE_BOOL: /* 0 and 1 */
    case SP_DTYPE_U8: return add_uint8_t;
    case SP_DTYPE_I8: return add_int8_t;
    case SP_DTYPE_I16: return add_int16_t;
    case SP_DTYPE_I32: return add_int32_t;
    default: return NULL;
    }
}

/* outer, n and inner; false when the axes are not neighbours, or wrong: the composition tells what is. */
static bool split(const sp_tensor *x, sp_ints axis, count_job *j)
{
    uint32_t mask = axis.n <= 0 ? (1u << x->rank) - 1 : 0;
    for (int i = 0; i < axis.n; i++) {
        const int64_t at = axis.v[i] < 0 ? axis.v[i] + x->rank : axis.v[i];
        if (at < 0 || at >= x->rank || mask >> at & 1) return false;
        mask |= 1u << at;
    }
    j->outer = j->n = j->inner = 1;
    for (int i = 0; i < x->rank; i++) {
        if (x->dims[i] == 1) continue;
        if (mask >> i & 1) {
            if (j->inner > 1) return false;
            j->n *= x->dims[i];
        } else if (j->n > 1) j->inner *= x->dims[i];
        else j->outer *= x->dims[i];
    }
    return true;
}

static void run_part(void *context, int64_t begin, int64_t end)
{
    const count_job *j = context;
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t block = unit % j->blocks, piece = unit / j->blocks % j->pieces, o = unit / j->blocks / j->pieces;
        const int64_t first = block * j->block, n = j->n - first < j->block ? j->n - first : j->block;
        const int64_t left = piece * COLUMNS, width = j->inner - left < COLUMNS ? j->inner - left : COLUMNS;
        const char *x = j->x + ((o * j->n + first) * j->inner + left) * j->size;
        int64_t sums[COLUMNS];
        memset(sums, 0, (size_t)width * sizeof *sums);
        if (j->inner == 1) j->add(x, n, false, sums);
        for (int64_t i = 0; j->inner > 1 && i < n; i++) j->add(x + i * j->inner * j->size, width, true, sums);
        for (int64_t i = 0; i < width; i++)
            __atomic_fetch_add(&j->sums[o * j->inner + left + i], sums[i], __ATOMIC_RELAXED);
    }
}

static sp_status run_all(const sp_call *c, add_fn *add, sp_ints axis)
{
    const sp_tensor *x = c->in[0];
    count_job j = {.add = add, .x = x->data, .size = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype), .sums = c->work};
    split(x, axis, &j);
    if (c->out[0]->count > 0)
        memset(j.sums, 0, (size_t)c->out[0]->count * sizeof *j.sums); /* else there is no workspace */
    if (x->count == 0) return SP_OK;
    const int64_t width = j.inner < COLUMNS ? j.inner : COLUMNS, most = PART / width;
    j.pieces = (j.inner + COLUMNS - 1) / COLUMNS;
    j.block = j.n < most ? j.n : most;
    j.blocks = (j.n + j.block - 1) / j.block;
    const int64_t each = j.block * width, grain = PART / each;
    return sp__parallel_for(j.outer * j.pieces * j.blocks, grain > 0 ? grain : 1, run_part, &j);
}

size_t sp__cpu_count_work(const sp_call *c) { return (size_t)c->out[0]->count * sizeof(int64_t); }

static void store(const int64_t *sums, sp_tensor *out)
{
    int64_t *wide = (void *)out->data;
    int32_t *narrow = (void *)out->data;
    for (int64_t i = 0; i < out->count; i++) {
        if (out->dtype == SP_DTYPE_I64) wide[i] = sums[i];
        else narrow[i] = (int32_t)sums[i];
    }
}

bool sp__cpu_count_takes(const sp_call *c)
{
    const sp_count_nonzero_attrs *a = c->attrs;
    count_job j;
    const bool known = a->dtype == SP_DTYPE_NONE || a->dtype == SP_DTYPE_I32 || a->dtype == SP_DTYPE_I64;
    return known && counter_of((sp_dtype)c->in[0]->dtype) && split(c->in[0], a->axis, &j);
}

sp_status sp__cpu_count(const sp_call *c)
{
    SP_TRY(run_all(c, counter_of((sp_dtype)c->in[0]->dtype), ((const sp_count_nonzero_attrs *)c->attrs)->axis));
    store(c->work, c->out[0]);
    return SP_OK;
}

bool sp__cpu_sum_takes(const sp_call *c)
{
    const sp_sum_attrs *a = c->attrs;
    count_job j;
    const bool wide = a->initial.kind == 'n' && (a->dtype == SP_DTYPE_NONE || a->dtype == SP_DTYPE_I64);
    return wide && adder_of((sp_dtype)c->in[0]->dtype) && split(c->in[0], a->axis, &j);
}

sp_status sp__cpu_sum(const sp_call *c)
{
    SP_TRY(run_all(c, adder_of((sp_dtype)c->in[0]->dtype), ((const sp_sum_attrs *)c->attrs)->axis));
    store(c->work, c->out[0]);
    return SP_OK;
}

/* Those whose sums are exact in float64, too, so that the result is that of the composition. */
bool sp__cpu_mean_takes(const sp_call *c)
{
    const sp_sum_attrs *a = c->attrs;
    count_job j;
    const int dtype = c->in[0]->dtype;
    const bool exact = dtype == SP_DTYPE_U8 || dtype == SP_DTYPE_I8 || dtype == SP_DTYPE_I16;
    return exact && (a->dtype == SP_DTYPE_NONE || (int)a->dtype == dtype) && c->in[0]->count > 0 &&
           c->in[0]->count < (int64_t)1 << 36 && split(c->in[0], a->axis, &j);
}

sp_status sp__cpu_mean(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    sp_tensor *out = c->out[0];
    SP_TRY(run_all(c, adder_of((sp_dtype)x->dtype), ((const sp_sum_attrs *)c->attrs)->axis));
    const int64_t *sums = c->work;
    const double n = (double)(x->count / out->count);
    for (int64_t i = 0; i < out->count; i++) {
        const int value = (int)((double)sums[i] / n); /* cut off */
        if (x->dtype == SP_DTYPE_U8) ((uint8_t *)out->data)[i] = (uint8_t)value;
        else if (x->dtype == SP_DTYPE_I8) ((int8_t *)out->data)[i] = (int8_t)value;
        else ((int16_t *)out->data)[i] = (int16_t)value;
    }
    return SP_OK;
}
