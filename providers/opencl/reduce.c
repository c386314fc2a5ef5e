/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - sums, means, products, extrema and truth over axes. */
#include <stdio.h>
#include <string.h>

#include "opencl.h"

typedef struct row {
    const char *op, *start, *step, *merge, *finish;
} row;

static const row rows[] = {
    {"reduce_sum", "0", "acc += v;", "x + y", "acc"},
    {"reduce_mean", "0", "acc += v;", "x + y", "acc / count"},
    {"reduce_prod", "1", "acc *= v;", "x * y", "acc"},
    {"reduce_max", "v", "{ const A v_ = v; if (v_ > acc || v_ != v_) acc = v_; }", "x > y || x != x ? x : y", "acc"},
    {"reduce_min", "v", "{ const A v_ = v; if (v_ < acc || v_ != v_) acc = v_; }", "x < y || x != x ? x : y", "acc"},
    {"reduce_all", "1", "acc = acc && (v) != 0;", "x && y", "acc"},
    {"reduce_any", "0", "acc = acc || (v) != 0;", "x || y", "acc"},
};

static const row *row_of(const char *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].op, op) == 0) return &rows[i];
    return NULL;
}

static bool mask_of(const sp_device_call *c, uint32_t *mask)
{
    const sp_ints axes = ocl_ints(c, "axis");
    const int rank = c->in[0].rank;
    *mask = axes.n <= 0 ? (1u << rank) - 1 : 0;
    for (int i = 0; i < axes.n; i++) {
        const int64_t a = axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i];
        if (a < 0 || a >= rank) return false;
        *mask |= 1u << a;
    }
    return true;
}

bool ocl_reduce_takes(void *device, const sp_device_call *c)
{
    uint32_t mask;
    const sp_dtype t = c->in[0].dtype;
    if (!row_of(c->op) || !ocl_computes(device, t) || !mask_of(c, &mask)) return false;
    if (strcmp(c->op, "reduce_mean") == 0 && !ocl_is_float(t)) return false;
    return ocl_count(&c->in[0]) > 0 && ocl_count(&c->in[0]) <= INT32_MAX;
}

/* The text of where unit `name` begins, from strides given as parameters s<k>_<d>. */
static void add_place(ocl_text *t, const char *name, const char *unit, const ocl_shape *s, int rank, int k)
{
    ocl_add(t, "#define %s(%s) (0", name, unit);
    for (int d = 0; d < rank; d++) {
        ocl_add(t, " + (%s)", unit);
        for (int e = rank - 1; e > d; e--) ocl_add(t, " / d%d_%d", k, e);
        if (d) ocl_add(t, " %% d%d_%d", k, d);
        ocl_add(t, " * s%d_%d", k, d);
    }
    ocl_add(t, ")\n");
    (void)s;
}

static void add_sizes(ocl_text *t, int rank, int k)
{
    for (int d = 0; d < rank; d++) ocl_add(t, ", const IDX d%d_%d, const IDX s%d_%d", k, d, k, d);
}

static void arg_sizes(ocl_launch *l, const ocl_shape *s, int rank)
{
    for (int d = 0; d < rank; d++) {
        ocl_arg_int(l, s->dims[d]);
        ocl_arg_int(l, s->strides[0][d]);
    }
}

static void part(const sp_device_operand *x, uint32_t mask, bool reduced, ocl_shape *s)
{
    int64_t dims[OCL_RANK], strides[OCL_RANK];
    int rank = 0;
    for (int i = 0; i < x->rank; i++)
        if ((mask >> i & 1) == reduced) {
            dims[rank] = x->dims[i];
            strides[rank++] = x->strides[i];
        }
    ocl_shape_start(s, rank, dims);
    ocl_shape_add(s, rank, dims, strides);
    ocl_shape_merge(s);
}

sp_status ocl_reduce_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    const row *r = row_of(c->op);
    const sp_device_operand *x = &c->in[0];
    uint32_t mask;
    ocl_shape keep, red;
    mask_of(c, &mask);
    part(x, mask, false, &keep);
    part(x, mask, true, &red);
    const int red_outer = red.rank > 0 ? red.rank - 1 : 0;
    const int64_t inner = red.rank ? red.dims[red.rank - 1] : 1, step = red.rank ? red.strides[0][red.rank - 1] : 1;
    const int64_t run = keep.rank ? keep.dims[keep.rank - 1] : 1;
    const bool columns = keep.rank && keep.strides[0][keep.rank - 1] == 1 && (step != 1 || run >= 64) && run > 1;
    const bool truth = strcmp(r->op, "reduce_all") == 0 || strcmp(r->op, "reduce_any") == 0;
    ocl_text t = {NULL};
    ocl_add(&t, "#define IDX int\n#define GROUP %d\n#define WIDTH %d\n", (int)d->group, d->cpu ? 16 : 1);
    ocl_add_dtype(&t, "", x->dtype);
    ocl_add_dtype(&t, "o", c->out[0].dtype);
    ocl_add(
        &t,
        "#define A %s\n#define START(v) (%s)\n#define STEP(acc, v) %s\n#define MERGE (%s)\n#define FINISH(acc) (%s)\n",
        truth ? "int" : "C", r->start, r->step, r->merge, r->finish);
    ocl_add(&t, "#define STRIDE %s\n", step == 1 ? "1" : "step");
    add_place(&t, "KEEP", "o_", &keep, keep.rank, 0);
    add_place(&t, "REST", "q_", &red, red_outer, 1);
    ocl_add(&t, "#define PARAMETERS");
    add_sizes(&t, keep.rank, 0);
    add_sizes(&t, red_outer, 1);
    ocl_add(&t, "\n");
    ocl_launch l;
    SP_TRY(ocl_begin(d, c->op, "reduce", columns ? "columns" : "rows", &t, &l));
    ocl_arg_operand(&l, x);
    ocl_arg_operand(&l, &c->out[0]);
    ocl_arg_int(&l, red.count / inner);
    ocl_arg_int(&l, inner);
    ocl_arg_int(&l, step);
    ocl_arg_float(&l, (double)red.count);
    if (columns) {
        ocl_arg_int(&l, keep.count);
        ocl_arg_int(&l, run);
    }
    arg_sizes(&l, &keep, keep.rank);
    arg_sizes(&l, &red, red_outer);
    if (!columns) return ocl_run_rows(&l, keep.count);
    const int64_t width = d->cpu ? 16 : 1;
    const size_t global = (size_t)(keep.count / run * ((run + width - 1) / width)), group = d->cpu ? 1 : 64;
    return ocl_run(&l, 1, &global, &group);
}
