/* SPDX-License-Identifier: Apache-2.0 */
/* attend.c - attention and its gradient in float32: products of all items at once, with the scores of all of them in scratch memory. */
#include <string.h>

#include "opencl.h"

typedef struct shape {
    int64_t n, length, source, size, width;
    int64_t d[2], m[3]; /* the last two leading dimensions, and how the mask goes along the leading ones */
} shape;

static bool measure(const sp_device_call *c, shape *s)
{
    const sp_device_operand *q = &c->in[0], *v = &c->in[2], *mask = &c->in[3];
    const int r = q->rank;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].rank >= 0 && c->in[i].dtype != SP_DTYPE_F32) return false;
    if (r < 2 || r > 5) return false;
    *s = (shape){.n = 1,
                 .length = q->dims[r - 2],
                 .source = v->dims[r - 2],
                 .size = q->dims[r - 1],
                 .width = v->dims[r - 1],
                 .d = {1, 1}};
    for (int i = 0; i < r - 2; i++) s->n *= q->dims[i];
    for (int k = 0; k < 2; k++)
        if (r - 4 + k >= 0) s->d[k] = q->dims[r - 4 + k];
    int64_t step = s->length * s->source;
    for (int k = 2; k >= 0 && mask->rank >= 0; k--) {
        const int at = r - 5 + k - (r - mask->rank);
        if (at < 0) continue;
        s->m[k] = mask->dims[at] == 1 ? 0 : step;
        step *= mask->dims[at];
    }
    return s->n * s->length * s->source < INT32_MAX && s->n > 0 && s->length > 0 && s->source > 0;
}

bool ocl_attention_takes(void *device, const sp_device_call *c)
{
    shape s;
    (void)device;
    return measure(c, &s);
}
bool ocl_attention_grad_takes(void *device, const sp_device_call *c) { return ocl_attention_takes(device, c); }

/* a, b: memory with a place each; one product for every item. */
typedef struct side {
    cl_mem memory;
    int64_t at, rows, columns; /* of an item, as they lie */
    bool transposed;
} side;

static side of(const sp_device_operand *o, int64_t rows, int64_t columns, bool transposed)
{
    return (side){o->buffer, ocl_at(o), rows, columns, transposed};
}

static sp_status items(ocl_device *d, const char *op, int64_t n, side a, side b, cl_mem out, int64_t out_at)
{
    const ocl_product p = {.dtype = SP_DTYPE_F32,
                           .transpose_a = a.transposed,
                           .transpose_b = b.transposed,
                           .m = a.transposed ? a.columns : a.rows,
                           .k = a.transposed ? a.rows : a.columns,
                           .n = b.transposed ? b.rows : b.columns,
                           .lda = a.columns,
                           .ldb = b.columns,
                           .ldc = b.transposed ? b.rows : b.columns,
                           .a = a.memory,
                           .b = b.memory,
                           .c = out,
                           .a_at = a.at,
                           .b_at = b.at,
                           .c_at = out_at,
                           .batch = n,
                           .a_step = a.rows * a.columns,
                           .b_step = b.rows * b.columns,
                           .c_step = (a.transposed ? a.columns : a.rows) * (b.transposed ? b.rows : b.columns)};
    return ocl_multiply(d, op, &p);
}

static sp_status begin(ocl_device *d, const char *op, bool masked, const char *name, ocl_launch *l)
{
    ocl_text t = {NULL};
    ocl_add(&t, "#define GROUP %d\n%s", (int)d->group, masked ? "#define MASKED\n" : "");
    ocl_add_dtype(&t, "", SP_DTYPE_F32);
    return ocl_begin(d, op, "attend", name, &t, l);
}

static sp_status probabilities(ocl_device *d, const sp_device_call *c, const shape *s, cl_mem scores)
{
    const bool masked = c->in[3].rank >= 0;
    SP_TRY(items(d, c->op, s->n, of(&c->in[0], s->length, s->size, false), of(&c->in[1], s->source, s->size, true),
                 scores, 0));
    ocl_launch l;
    SP_TRY(begin(d, c->op, masked, "probabilities", &l));
    ocl_arg_memory(&l, scores, 0);
    ocl_arg_operand(&l, masked ? &c->in[3] : &c->in[0]);
    ocl_arg_int(&l, s->source);
    ocl_arg_int(&l, s->length);
    ocl_arg_int(&l, ocl_bool(c, "causal", false));
    ocl_arg_float(&l, ocl_float(c, "scale", 1));
    ocl_arg_int(&l, s->d[0]);
    ocl_arg_int(&l, s->d[1]);
    for (int k = 0; k < 3; k++) {
        const cl_long m = s->m[k];
        ocl_arg(&l, sizeof m, &m);
    }
    return ocl_run_rows(&l, s->n * s->length);
}

sp_status ocl_attention_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    shape s;
    cl_mem scores;
    if (!measure(c, &s)) return SP_DECLINED;
    SP_TRY(ocl_scratch_get(d, 2, (size_t)(s.n * s.length * s.source) * sizeof(float), &scores));
    SP_TRY(probabilities(d, c, &s, scores));
    const side p = {scores, 0, s.length, s.source, false};
    return items(d, c->op, s.n, p, of(&c->in[2], s.source, s.width, false), c->out[0].buffer, ocl_at(&c->out[0]));
}

sp_status ocl_attention_grad_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    shape s;
    cl_mem scores, dscores;
    if (!measure(c, &s)) return SP_DECLINED;
    const size_t bytes = (size_t)(s.n * s.length * s.source) * sizeof(float);
    SP_TRY(ocl_scratch_get(d, 2, bytes, &scores));
    SP_TRY(ocl_scratch_get(d, 3, bytes, &dscores));
    SP_TRY(probabilities(d, c, &s, scores));
    const side g = of(&c->in[4], s.length, s.width, false), p = {scores, 0, s.length, s.source, true};
    SP_TRY(items(d, c->op, s.n, p, g, c->out[2].buffer, ocl_at(&c->out[2])));
    SP_TRY(items(d, c->op, s.n, g, of(&c->in[2], s.source, s.width, true), dscores, 0));
    ocl_launch l;
    SP_TRY(begin(d, c->op, false, "scores_grad", &l));
    ocl_arg_memory(&l, scores, 0);
    ocl_arg_memory(&l, dscores, 0);
    ocl_arg_int(&l, s.source);
    ocl_arg_float(&l, ocl_float(c, "scale", 1));
    SP_TRY(ocl_run_rows(&l, s.n * s.length));
    const side ds = {dscores, 0, s.length, s.source, false}, dst = {dscores, 0, s.length, s.source, true};
    SP_TRY(items(d, c->op, s.n, ds, of(&c->in[1], s.source, s.size, false), c->out[0].buffer, ocl_at(&c->out[0])));
    return items(d, c->op, s.n, dst, of(&c->in[0], s.length, s.size, false), c->out[1].buffer, ocl_at(&c->out[1]));
}
