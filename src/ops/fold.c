/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - windows of images as columns (unfold) and columns added back to images (fold): each is the other's gradient. */
#include "ir/window.h"
#include "ops/nn.h"

#define FOLD_ATTRS (INTS_NEEDED, kernel_size), (INTS, dilation, 1), (INTS, padding, 0), (INTS, stride, 1)
SP_ATTR_TABLE(unfold_attr_table, sp_fold_attrs, FOLD_ATTRS);
SP_ATTR_TABLE(fold_attr_table, sp_fold_attrs, FOLD_ATTRS, (INTS_NEEDED, output_size));

/* The window over an image of the given size. */
static sp_status fold_window(const sp_call *c, const int64_t *size, sp__window *w)
{
    const sp_fold_attrs *a = c->attrs;
    sp__window_init(w, 2);
    for (int d = 1; d < SP_SPATIAL; d++) w->in[d] = size[d - 1];
    SP_TRY(sp__window_list(c->op->name, "kernel_size", a->kernel_size, 2, w->kernel));
    SP_TRY(sp__window_list(c->op->name, "stride", a->stride, 2, w->stride));
    SP_TRY(sp__window_list(c->op->name, "dilation", a->dilation, 2, w->dilation));
    SP_TRY(sp__window_pads(c->op->name, "pad", a->padding, w));
    return sp__window_outputs(c->op->name, false, w);
}

static sp_status unfold_infer(const sp_call *c, sp_meta *out)
{
    const sp_tensor *x = c->in[0];
    sp__window w;
    SP_CHECK(x->rank == 4, SP_VALUE, "x has rank %d, it must be 4: [n, channels, height, width]", x->rank);
    SP_TRY(fold_window(c, x->dims + 2, &w));
    *out = (sp_meta){.dtype = (sp_dtype)x->dtype,
                     .rank = 3,
                     .dims = {x->dims[0], x->dims[1] * sp__window_taps(&w), sp__window_positions(&w)}};
    return SP_OK;
}
static sp_status fold_infer(const sp_call *c, sp_meta *out)
{
    const sp_fold_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    sp__window w;
    SP_CHECK(x->rank == 3 && a->output_size.n == 2, SP_VALUE,
             "columns must be [n, channels * kernel, positions] and output_size two numbers");
    SP_TRY(fold_window(c, a->output_size.v, &w));
    const int64_t taps = sp__window_taps(&w);
    SP_CHECK(x->dims[1] % taps == 0 && x->dims[2] == sp__window_positions(&w), SP_VALUE,
             "columns of %lld elements at %lld positions do not fit a kernel of %lld and %lld positions",
             (long long)x->dims[1], (long long)x->dims[2], (long long)taps, (long long)sp__window_positions(&w));
    *out = (sp_meta){.dtype = (sp_dtype)x->dtype,
                     .rank = 4,
                     .dims = {x->dims[0], x->dims[1] / taps, a->output_size.v[0], a->output_size.v[1]}};
    return SP_OK;
}

typedef struct {
    sp__window w;
    const char *from;
    char *to;
} fold_job;
/* A unit is one channel of one image: its pixels, and taps x positions columns. */
#define FOLD(D, T, C, LOAD, STORE, ...)                                                                                \
    static void unfold_##D(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const fold_job *j = context;                                                                                   \
        const sp__window *w = &j->w;                                                                                   \
        const int64_t pixels = w->in[1] * w->in[2], cells = w->out[1] * w->out[2], taps = w->kernel[1] * w->kernel[2]; \
        for (int64_t u = begin; u < end; u++)                                                                          \
            for (int64_t k = 0; k < taps * cells; k++) {                                                               \
                const int64_t tap = k / cells, cell = k % cells;                                                       \
                const int64_t y = cell / w->out[2] * w->stride[1] + tap / w->kernel[2] * w->dilation[1] - w->pad[1];   \
                const int64_t x = cell % w->out[2] * w->stride[2] + tap % w->kernel[2] * w->dilation[2] - w->pad[2];   \
                const bool in = y >= 0 && y < w->in[1] && x >= 0 && x < w->in[2];                                      \
                ((T *)(void *)j->to)[u * taps * cells + k] =                                                           \
                    in ? ((const T *)(const void *)j->from)[u * pixels + y * w->in[2] + x] : STORE(0);                 \
            }                                                                                                          \
    }                                                                                                                  \
    static void fold_##D(void *context, int64_t begin, int64_t end)                                                    \
    {                                                                                                                  \
        const fold_job *j = context;                                                                                   \
        const sp__window *w = &j->w;                                                                                   \
        const int64_t pixels = w->in[1] * w->in[2], cells = w->out[1] * w->out[2], taps = w->kernel[1] * w->kernel[2]; \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            T *image = (T *)(void *)j->to + u * pixels;                                                                \
            memset(image, 0, (size_t)pixels * sizeof(T));                                                              \
            for (int64_t k = 0; k < taps * cells; k++) {                                                               \
                const int64_t tap = k / cells, cell = k % cells;                                                       \
                const int64_t y = cell / w->out[2] * w->stride[1] + tap / w->kernel[2] * w->dilation[1] - w->pad[1];   \
                const int64_t x = cell % w->out[2] * w->stride[2] + tap % w->kernel[2] * w->dilation[2] - w->pad[2];   \
                if (y < 0 || y >= w->in[1] || x < 0 || x >= w->in[2]) continue;                                        \
                T *at = image + y * w->in[2] + x;                                                                      \
                *at = STORE((C)(LOAD(*at) + LOAD(((const T *)(const void *)j->from)[u * taps * cells + k])));          \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_REAL(FOLD, , )
#define RUN(name, size, units)                                                                                         \
    static sp_status name##_reference(const sp_call *c)                                                                \
    {                                                                                                                  \
        static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_REAL(SP_KERNEL_ROW, name, )};    \
        fold_job j = {.from = c->in[0]->data, .to = c->out[0]->data};                                                  \
        SP_TRY(fold_window(c, size, &j.w));                                                                            \
        return sp__parallel_for(units, sp__grain(sp__window_taps(&j.w) * sp__window_positions(&j.w)),                  \
                                fns[c->in[0]->dtype], &j);                                                             \
    }
RUN(unfold, c->in[0]->dims + 2, c->in[0]->dims[0] * c->in[0]->dims[1])
RUN(fold, ((const sp_fold_attrs *)c->attrs)->output_size.v, c->out[0]->dims[0] * c->out[0]->dims[1])

static sp_status unfold_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_fold_attrs a = *(const sp_fold_attrs *)v->attrs;
    a.output_size = (sp_ints){2, v->in[0]->dims + 2};
    v->din[0] = sp_builder_apply(b, &sp_op_fold, &a, 1, &v->dout[0]);
    return SP_OK;
}
static sp_status fold_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_builder_apply(b, &sp_op_unfold, v->attrs, 1, &v->dout[0]);
    return SP_OK;
}
const sp_op sp_op_unfold = {
    .batch = sp__batch_fold,
    .name = "unfold",
    .inputs = "x",
    SP_ATTRS(unfold_attr_table, sp_fold_attrs),
    .dtypes = SP_DT_REAL,
    .infer = unfold_infer,
    .reference = unfold_reference,
    .vjp = unfold_vjp,
    .mindir = "Im2Col",
    .doc = "Windows of [n, channels, height, width] as columns: [n, channels * kernel, positions].",
    .samples = "[2,2,4,5] kernel_size=(2,3); [1,2,5,5] kernel_size=(3,) padding=(1,) stride=(2,) dilation=(2,)",
};
const sp_op sp_op_fold = {
    .batch = sp__batch_fold,
    .name = "fold",
    .inputs = "x",
    SP_ATTRS(fold_attr_table, sp_fold_attrs),
    .dtypes = SP_DT_REAL,
    .infer = fold_infer,
    .reference = fold_reference,
    .vjp = fold_vjp,
    .mindir = "Col2Im",
    .onnx = "Col2Im",
    .doc = "Columns of windows added back to an image of output_size: the adjoint of unfold.",
    .samples =
        "[2,8,12] kernel_size=(2,2) output_size=(4,5); [1,9,9] kernel_size=(3,) padding=(1,) stride=(2,) output_size=(5,5)",
};
