/* SPDX-License-Identifier: Apache-2.0 */
/* conv.c - convolution over one to three spatial dimensions, and its two gradients as operators of their own.
 *
 * x [batch, in_channels, ...], weight [out_channels, in_channels / group, ...]. The three operators are one trilinear form
 * sum(dout * conv(x, weight)) differentiated by one of its three arguments, so the gradient of each is made of the other
 * two, and gradients can be taken any number of times. The gradient by x is also the transposed convolution.
 *
 * Kernels here are plain loops; float16 and bfloat16 are summed in float, float32 in double, integers wrap. */
#include "ir/window.h"
#include "ops/kernels.h"

#define CONV_ATTRS (INTS, stride, 1), (TEXT, pad_mode, "pad"), (INTS, pad, 0), (INTS, dilation, 1), (INT, group, 1)
SP_ATTR_TABLE(conv_attr_table, sp_conv_attrs, CONV_ATTRS);
SP_ATTR_TABLE(conv_input_attr_table, sp_conv_attrs, CONV_ATTRS, (INTS_OR_NONE, input_size));
SP_ATTR_TABLE(conv_weight_attr_table, sp_conv_attrs, CONV_ATTRS, (INTS_NEEDED, kernel_size));

static sp_status check_rank(const sp_call *c)
{
    int wanted = c->op->spatial + 2;
    char text[SP_SHAPE_TEXT];
    static const char *const axes[] = {"N, C, L", "N, C, H, W", "N, C, D, H, W"};
    SP_CHECK(c->in[0]->rank == wanted, SP_VALUE, "%s: the input must have %d dimensions (%s), found shape %s%s",
             c->op->name, wanted, axes[wanted - 3], sp__shape_text(c->in[0]->rank, c->in[0]->dims, text),
             c->in[0]->rank == wanted - 1 ? "; for a batch of one: expand_dims(0)" : "");
    return SP_OK;
}

static void fill_meta(const sp_call *c, const sp__conv_geometry *g, int64_t d0, int64_t d1, const int64_t *spatial,
                      sp_meta *out)
{
    int n = g->w.n;
    out->dtype = (sp_dtype)c->in[0]->dtype;
    out->rank = n + 2;
    out->dims[0] = d0;
    out->dims[1] = d1;
    for (int d = 0; d < n; d++) out->dims[2 + d] = spatial[SP_SPATIAL - n + d];
}

static sp_status conv_infer(const sp_call *c, sp_meta *out)
{
    sp__conv_geometry g;
    SP_TRY(check_rank(c));
    SP_TRY(sp__conv_measure(c->op->name, c->in[0], c->in[1], c->attrs, &g));
    if (c->in[2]) {
        char text[SP_SHAPE_TEXT];
        SP_CHECK(c->in[2]->rank == 1 && c->in[2]->dims[0] == g.out_channels, SP_VALUE,
                 "%s: bias must have shape (%lld,), found %s", c->op->name, (long long)g.out_channels,
                 sp__shape_text(c->in[2]->rank, c->in[2]->dims, text));
    }
    fill_meta(c, &g, g.batch, g.out_channels, g.w.out, out);
    return SP_OK;
}

static sp_status conv_input_infer(const sp_call *c, sp_meta *out)
{
    sp__conv_geometry g;
    SP_TRY(check_rank(c));
    SP_TRY(sp__conv_measure_input(c->op->name, c->in[0], c->in[1], c->attrs, &g));
    fill_meta(c, &g, g.batch, g.in_channels, g.w.in, out);
    return SP_OK;
}

static sp_status conv_weight_infer(const sp_call *c, sp_meta *out)
{
    sp__conv_geometry g;
    SP_TRY(check_rank(c));
    SP_TRY(sp__conv_measure_weight(c->op->name, c->in[0], c->in[1], c->attrs, &g));
    fill_meta(c, &g, g.out_channels, g.in_channels / g.group, g.w.kernel, out);
    return SP_OK;
}

/* --- reference kernels ------------------------------------------------------------------------------------------- */

typedef struct {
    sp__conv_geometry g;
    const void *x, *y, *bias; /* the two operands, in the order of the operator's inputs */
    void *out;
} conv_job;

/* Index along one dimension of x for output o and kernel position k; negative or beyond: padding. */
#define CONV_AT(d, o, k) ((o) * w->stride[d] - w->pad[d] + (k) * w->dilation[d])
#define CONV_INSIDE(d, i) ((i) >= 0 && (i) < w->in[d])
#define CONV_EACH(size, v)                                                                                             \
    for (v[0] = 0; v[0] < (size)[0]; v[0]++)                                                                           \
        for (v[1] = 0; v[1] < (size)[1]; v[1]++)                                                                       \
            for (v[2] = 0; v[2] < (size)[2]; v[2]++)
#define CONV_FLAT(size, v) (((v)[0] * (size)[1] + (v)[1]) * (size)[2] + (v)[2])

/* What all three kernels call things; o, k, i run over outputs, kernel and inputs. */
#define CONV_SIZES                                                                                                     \
    const conv_job *job = context;                                                                                     \
    const sp__conv_geometry *g = &job->g;                                                                              \
    const sp__window *w = &g->w;                                                                                       \
    int64_t ic_g = g->in_channels / g->group, oc_g = g->out_channels / g->group, o[3], k[3], i[3];                     \
    int64_t in_plane = sp__window_inputs(w), out_plane = sp__window_positions(w), taps = sp__window_taps(w);
/* The input that output o meets at kernel position k, into i; false: it lies in the padding. */
#define CONV_MEET(inside)                                                                                              \
    bool inside = true;                                                                                                \
    for (int d = 0; d < 3; d++) {                                                                                      \
        i[d] = CONV_AT(d, o[d], k[d]);                                                                                 \
        inside &= CONV_INSIDE(d, i[d]);                                                                                \
    }

#define CONV_KERNELS(D, T, C, LOAD, STORE, SUM)                                                                        \
    /* planes of the output: batch * out_channels */                                                                   \
    static void conv_##D(void *context, int64_t begin, int64_t end)                                                    \
    {                                                                                                                  \
        CONV_SIZES                                                                                                     \
        for (int64_t plane = begin; plane < end; plane++) {                                                            \
            int64_t n = plane / g->out_channels, oc = plane % g->out_channels;                                         \
            const T *x = (const T *)job->x + (n * g->in_channels + oc / oc_g * ic_g) * in_plane;                       \
            const T *weight = (const T *)job->y + oc * ic_g * taps;                                                    \
            T *out = (T *)job->out + plane * out_plane;                                                                \
            CONV_EACH(w->out, o)                                                                                       \
            {                                                                                                          \
                SUM sum = job->bias ? (SUM)LOAD(((const T *)job->bias)[oc]) : 0;                                       \
                for (int64_t ic = 0; ic < ic_g; ic++) CONV_EACH(w->kernel, k)                                          \
                    {                                                                                                  \
                        CONV_MEET(inside)                                                                              \
                        if (inside)                                                                                    \
                            sum += (SUM)LOAD(x[ic * in_plane + CONV_FLAT(w->in, i)]) *                                 \
                                   (SUM)LOAD(weight[ic * taps + CONV_FLAT(w->kernel, k)]);                             \
                    }                                                                                                  \
                out[CONV_FLAT(w->out, o)] = STORE(sum);                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    /* planes of dx: batch * in_channels; each element collects the outputs it went into */                            \
    static void conv_input_##D(void *context, int64_t begin, int64_t end)                                              \
    {                                                                                                                  \
        CONV_SIZES                                                                                                     \
        for (int64_t plane = begin; plane < end; plane++) {                                                            \
            int64_t n = plane / g->in_channels, ic = plane % g->in_channels, group = ic / ic_g;                        \
            const T *dout = (const T *)job->x + (n * g->out_channels + group * oc_g) * out_plane;                      \
            const T *weight = (const T *)job->y + (group * oc_g * ic_g + ic % ic_g) * taps;                            \
            T *out = (T *)job->out + plane * in_plane;                                                                 \
            CONV_EACH(w->in, i)                                                                                        \
            {                                                                                                          \
                SUM sum = 0;                                                                                           \
                for (int64_t oc = 0; oc < oc_g; oc++) CONV_EACH(w->kernel, k)                                          \
                    {                                                                                                  \
                        bool used = true;                                                                              \
                        for (int d = 0; d < 3; d++) {                                                                  \
                            int64_t at = i[d] + w->pad[d] - k[d] * w->dilation[d];                                     \
                            used &= at >= 0 && at % w->stride[d] == 0;                                                 \
                            o[d] = at / w->stride[d];                                                                  \
                            used &= o[d] < w->out[d];                                                                  \
                        }                                                                                              \
                        if (used)                                                                                      \
                            sum += (SUM)LOAD(dout[oc * out_plane + CONV_FLAT(w->out, o)]) *                            \
                                   (SUM)LOAD(weight[oc * ic_g * taps + CONV_FLAT(w->kernel, k)]);                      \
                    }                                                                                                  \
                out[CONV_FLAT(w->in, i)] = STORE(sum);                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    /* planes of dweight: out_channels * in_channels / group */                                                        \
    static void conv_weight_##D(void *context, int64_t begin, int64_t end)                                             \
    {                                                                                                                  \
        CONV_SIZES                                                                                                     \
        for (int64_t plane = begin; plane < end; plane++) {                                                            \
            int64_t oc = plane / ic_g, ic = oc / oc_g * ic_g + plane % ic_g;                                           \
            T *out = (T *)job->out + plane * taps;                                                                     \
            CONV_EACH(w->kernel, k)                                                                                    \
            {                                                                                                          \
                SUM sum = 0;                                                                                           \
                for (int64_t n = 0; n < g->batch; n++) {                                                               \
                    const T *x = (const T *)job->x + (n * g->in_channels + ic) * in_plane;                             \
                    const T *dout = (const T *)job->y + (n * g->out_channels + oc) * out_plane;                        \
                    CONV_EACH(w->out, o)                                                                               \
                    {                                                                                                  \
                        CONV_MEET(inside)                                                                              \
                        if (inside) sum += (SUM)LOAD(x[CONV_FLAT(w->in, i)]) * (SUM)LOAD(dout[CONV_FLAT(w->out, o)]);  \
                    }                                                                                                  \
                }                                                                                                      \
                out[CONV_FLAT(w->kernel, k)] = STORE(sum);                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
#define CONV_TO_F32(x) ((float)(x))
SP_EACH_HALF(CONV_KERNELS, float)
CONV_KERNELS(F32, float, float, SP_KEEP, CONV_TO_F32, double)
SP_EACH_DOUBLE(CONV_KERNELS, double)
SP_EACH_INT(CONV_KERNELS, uint64_t)

typedef void (*conv_loop)(void *context, int64_t begin, int64_t end);
#define CONV_ROW(D, T, C, LOAD, STORE, name) [SP_DTYPE_##D] = name##_##D,
static const conv_loop conv_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(CONV_ROW, conv)};
static const conv_loop conv_input_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(CONV_ROW, conv_input)};
static const conv_loop conv_weight_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(CONV_ROW, conv_weight)};

static sp_status conv_reference(const sp_call *c)
{
    conv_job job = {
        .x = c->in[0]->data, .y = c->in[1]->data, .bias = c->in[2] ? c->in[2]->data : NULL, .out = c->out[0]->data};
    SP_TRY(sp__conv_measure(c->op->name, c->in[0], c->in[1], c->attrs, &job.g));
    return sp__parallel_for(job.g.batch * job.g.out_channels, 1, conv_loops[c->in[0]->dtype], &job);
}

static sp_status conv_input_reference(const sp_call *c)
{
    conv_job job = {.x = c->in[0]->data, .y = c->in[1]->data, .out = c->out[0]->data};
    SP_TRY(sp__conv_measure_input(c->op->name, c->in[0], c->in[1], c->attrs, &job.g));
    return sp__parallel_for(job.g.batch * job.g.in_channels, 1, conv_input_loops[c->in[0]->dtype], &job);
}

static sp_status conv_weight_reference(const sp_call *c)
{
    conv_job job = {.x = c->in[0]->data, .y = c->in[1]->data, .out = c->out[0]->data};
    SP_TRY(sp__conv_measure_weight(c->op->name, c->in[0], c->in[1], c->attrs, &job.g));
    return sp__parallel_for(job.g.out_channels * (job.g.in_channels / job.g.group), 1,
                            conv_weight_loops[c->in[0]->dtype], &job);
}

/* --- gradients --------------------------------------------------------------------------------------------------- */

/* The operators of one number of spatial dimensions. */
typedef struct {
    const sp_op *conv, *input_grad, *weight_grad;
} conv_family;
static const conv_family families[] = {
    {&sp_op_conv1d, &sp_op_conv1d_input_grad, &sp_op_conv1d_weight_grad},
    {&sp_op_conv2d, &sp_op_conv2d_input_grad, &sp_op_conv2d_weight_grad},
    {&sp_op_conv3d, &sp_op_conv3d_input_grad, &sp_op_conv3d_weight_grad},
};

/* Attributes with the padding spelled out, so that 'same' is not worked out again from other sizes. */
typedef struct {
    sp_conv_attrs attrs;
    int64_t pads[2 * SP_SPATIAL];
    const conv_family *family;
} conv_rule;

static void make_rule(const sp__conv_geometry *g, const sp_conv_attrs *attrs, conv_rule *rule)
{
    int n = g->w.n, first = SP_SPATIAL - n;
    rule->family = &families[n - 1];
    rule->attrs = *attrs;
    for (int d = 0; d < n; d++) {
        rule->pads[2 * d] = g->w.pad[first + d];
        rule->pads[2 * d + 1] = g->w.pad_end[first + d];
    }
    rule->attrs.pad_mode = "pad";
    rule->attrs.pad = (sp_ints){2 * n, rule->pads};
}

static sp_tensor *apply_conv(sp_builder *b, const conv_rule *rule, sp_tensor *x, sp_tensor *weight)
{
    sp_conv_attrs attrs = rule->attrs;
    attrs.input_size = attrs.kernel_size = (sp_ints){.n = -1};
    return sp_builder_apply(b, rule->family->conv, &attrs, 3, (sp_tensor *const[]){x, weight, NULL});
}

static sp_tensor *apply_input_grad(sp_builder *b, const conv_rule *rule, const sp__conv_geometry *g, sp_tensor *dout,
                                   sp_tensor *weight)
{
    sp_conv_attrs attrs = rule->attrs;
    attrs.input_size = (sp_ints){g->w.n, g->w.in + SP_SPATIAL - g->w.n};
    return sp_builder_apply(b, rule->family->input_grad, &attrs, 2, (sp_tensor *const[]){dout, weight});
}

static sp_tensor *apply_weight_grad(sp_builder *b, const conv_rule *rule, const sp__conv_geometry *g, sp_tensor *x,
                                    sp_tensor *dout)
{
    sp_conv_attrs attrs = rule->attrs;
    attrs.kernel_size = (sp_ints){g->w.n, g->w.kernel + SP_SPATIAL - g->w.n};
    return sp_builder_apply(b, rule->family->weight_grad, &attrs, 2, (sp_tensor *const[]){x, dout});
}

static sp_status conv_vjp(sp_builder *b, const sp_vjp *v)
{
    sp__conv_geometry g;
    conv_rule rule;
    SP_TRY(sp__conv_measure(v->op->name, v->in[0], v->in[1], v->attrs, &g));
    make_rule(&g, v->attrs, &rule);
    if (v->needs[0]) v->din[0] = apply_input_grad(b, &rule, &g, v->dout[0], v->in[1]);
    if (v->needs[1]) v->din[1] = apply_weight_grad(b, &rule, &g, v->in[0], v->dout[0]);
    if (v->in[2] && v->needs[2]) {
        static const int64_t axes[] = {0, 2, 3, 4};
        v->din[2] = sp_reduce_sum(b, v->dout[0], g.w.n + 1, axes, false);
    }
    return sp__builder_status(b);
}

static sp_status conv_input_vjp(sp_builder *b, const sp_vjp *v)
{
    sp__conv_geometry g;
    conv_rule rule;
    SP_TRY(sp__conv_measure_input(v->op->name, v->in[0], v->in[1], v->attrs, &g));
    make_rule(&g, v->attrs, &rule);
    if (v->needs[0]) v->din[0] = apply_conv(b, &rule, v->dout[0], v->in[1]);
    if (v->needs[1]) v->din[1] = apply_weight_grad(b, &rule, &g, v->dout[0], v->in[0]);
    return sp__builder_status(b);
}

static sp_status conv_weight_vjp(sp_builder *b, const sp_vjp *v)
{
    sp__conv_geometry g;
    conv_rule rule;
    SP_TRY(sp__conv_measure_weight(v->op->name, v->in[0], v->in[1], v->attrs, &g));
    make_rule(&g, v->attrs, &rule);
    if (v->needs[0]) v->din[0] = apply_input_grad(b, &rule, &g, v->in[1], v->dout[0]);
    if (v->needs[1]) v->din[1] = apply_conv(b, &rule, v->in[0], v->dout[0]);
    return sp__builder_status(b);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

#define CONV_SAVES (SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_CROSS)
#define CONV_ENTRIES(n, mindir_, mindir_input, mindir_weight, python_, samples_, samples_input, samples_weight)        \
    const sp_op sp_op_conv##n##d = {                                                                                   \
        .name = "conv" #n "d",                                                                                         \
        .family = SP_FAMILY_CONV,                                                                                      \
        .spatial = n,                                                                                                  \
        .shard = "n i ..., o i ..., o -> n o ...; ... whole, i whole if bias, i whole if group, o whole if group",     \
        .inputs = "x, weight, bias?",                                                                                  \
        SP_ATTRS(conv_attr_table, sp_conv_attrs),                                                                      \
        .promote = SP_PROMOTE_ALL,                                                                                     \
        .dtypes = SP_DT_REAL,                                                                                          \
        .infer = conv_infer,                                                                                           \
        .reference = conv_reference,                                                                                   \
        .batch = sp__batch_conv,                                                                                       \
        .vjp = conv_vjp,                                                                                               \
        .saves = CONV_SAVES,                                                                                           \
        .mindir = mindir_,                                                                                             \
        .onnx = "Conv",                                                                                                \
        .python = python_,                                                                                             \
        .doc = "Convolution of [batch, channels, " #n " spatial dimensions] with [out, in / group, kernel].",          \
        .samples = samples_,                                                                                           \
    };                                                                                                                 \
    const sp_op sp_op_conv##n##d_input_grad = {                                                                        \
        .name = "conv" #n "d_input_grad",                                                                              \
        .family = SP_FAMILY_CONV_INPUT_GRAD,                                                                           \
        .spatial = n,                                                                                                  \
        .shard = "n o ..., o i ... -> n i ...; ... whole, i whole if group, o whole if group",                         \
        .inputs = "dout, weight",                                                                                      \
        SP_ATTRS(conv_input_attr_table, sp_conv_attrs),                                                                \
        .promote = SP_PROMOTE_ALL,                                                                                     \
        .dtypes = SP_DT_REAL,                                                                                          \
        .infer = conv_input_infer,                                                                                     \
        .reference = conv_input_reference,                                                                             \
        .vjp = conv_input_vjp,                                                                                         \
        .saves = CONV_SAVES,                                                                                           \
        .batch = sp__batch_conv_input_grad,                                                                            \
        .mindir = mindir_input,                                                                                        \
        .onnx = "ConvTranspose",                                                                                       \
        .doc = "Gradient of conv" #n "d by its input: the transposed convolution. input_size is the spatial size of "  \
               "the result; without it, the smallest that fits.",                                                      \
        .samples = samples_input,                                                                                      \
    };                                                                                                                 \
    const sp_op sp_op_conv##n##d_weight_grad = {                                                                       \
        .name = "conv" #n "d_weight_grad",                                                                             \
        .family = SP_FAMILY_CONV_WEIGHT_GRAD,                                                                          \
        .spatial = n,                                                                                                  \
        .shard = "n i ..., n o ... -> o i ...; ... whole, i whole if group, o whole if group",                         \
        .inputs = "x, dout",                                                                                           \
        SP_ATTRS(conv_weight_attr_table, sp_conv_attrs),                                                               \
        .promote = SP_PROMOTE_ALL,                                                                                     \
        .dtypes = SP_DT_REAL,                                                                                          \
        .infer = conv_weight_infer,                                                                                    \
        .reference = conv_weight_reference,                                                                            \
        .vjp = conv_weight_vjp,                                                                                        \
        .saves = CONV_SAVES,                                                                                           \
        .batch = sp__batch_conv_weight_grad,                                                                           \
        .mindir = mindir_weight,                                                                                       \
        .doc = "Gradient of conv" #n "d by its weight.",                                                               \
        .samples = samples_weight,                                                                                     \
    }

#define CONV_FACES(name)                                                                                               \
    "ops." name "(input, weight, bias=None, stride=1, pad_mode='valid', padding:pad=0, dilation=1, groups:group=1)"

CONV_ENTRIES(1, NULL, NULL, NULL, CONV_FACES("conv1d"),
             "[2,3,7] [4,3,3] [4]; [2,4,9] [4,2,3] [4] stride=2, pad=1, dilation=2, group=2",
             "[2,4,5] [4,3,3]; [1,4,4] [4,2,3] stride=2, pad=1, group=2, input_size=(8,)",
             "[2,3,7] [2,4,5] kernel_size=(3,); [1,4,8] [1,4,4] kernel_size=(3,), stride=2, pad=1, group=2");
CONV_ENTRIES(2, "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", CONV_FACES("conv2d"),
             "[2,2,5,6] [3,2,3,2] [3]; [1,2,6,5] [4,1,3,3] [4] stride=2, pad_mode=same, group=2; "
             "[1,2,5,5] [2,2,2,2] [2] stride=(2,1), pad=(1,0,2,1), dilation=(1,2)",
             "[2,3,3,5] [3,2,3,2]; [1,4,3,3] [4,1,3,3] stride=2, pad=1, group=2, input_size=(6,5)",
             "[2,2,5,6] [2,3,3,5] kernel_size=(3,2); [1,2,6,5] [1,4,3,3] kernel_size=(3,3), stride=2, pad=1, group=2");
CONV_ENTRIES(3, "Conv3D", "Conv3DBackpropInput", "Conv3DBackpropFilter", CONV_FACES("conv3d"),
             "[1,2,3,4,4] [3,2,2,3,2] [3]; [1,2,4,3,4] [2,1,2,2,2] [2] stride=2, pad_mode=same, group=2",
             "[1,3,2,2,3] [3,2,2,3,2]", "[1,2,3,4,4] [1,3,2,2,3] kernel_size=(2,3,2)");
