/* SPDX-License-Identifier: Apache-2.0 */
/* convolve.c - convolution in one or two dimensions and its gradients, each an implicit product (kernels/product.cl): b's elements are found in the image
 * when they are wanted, no matrix of windows is made.
 *
 *     conv         out[m = channel, n = (sample, pixel)]  = sum over k = (channel in, tap)   weight[m, k]   x[...]
 *     input_grad   dx[m = channel in, n = (sample, pixel)] = sum over k = (channel out, tap)  weight'[m, k]  dout[...]
 *     weight_grad  dw[m = channel out, n = (channel in, tap)] = sum over k = (sample, pixel)  dout[m, k]     x[...]
 * A column and a step each give a row, a column of the image and a base; their sum is the place. Groups are batches. */
#include <string.h>

#include "product.h"
#include "window.h"

typedef struct geometry {
    ocl_window w;
    int64_t batch, in_channels, out_channels, group;
    enum { FORWARD, INPUT_GRAD, WEIGHT_GRAD } kind;
} geometry;

static bool measure(const sp_device_call *c, geometry *g)
{
    const int n = c->op[4] - '0';
    *g = (geometry){.w = OCL_WINDOW_ONE, .group = ocl_int(c, "group", 1)};
    if (n < 1 || n > 2) return false;
    g->kind = strstr(c->op, "input_grad") ? INPUT_GRAD : strstr(c->op, "weight_grad") ? WEIGHT_GRAD : FORWARD;
    const sp_device_operand *x = g->kind == INPUT_GRAD ? &c->out[0] : &c->in[0],
                            *weight = g->kind == WEIGHT_GRAD ? &c->out[0] : &c->in[1],
                            *out = g->kind == FORWARD      ? &c->out[0]
                                   : g->kind == INPUT_GRAD ? &c->in[0]
                                                           : &c->in[1];
    if (x->rank != n + 2) return false;
    ocl_window_spatial(x, n, g->w.in);
    ocl_window_spatial(out, n, g->w.out);
    ocl_window_spatial(weight, n, g->w.kernel);
    g->batch = x->dims[0];
    g->in_channels = x->dims[1];
    g->out_channels = weight->dims[0];
    return ocl_window_list(ocl_ints(c, "stride"), n, g->w.stride) &&
           ocl_window_list(ocl_ints(c, "dilation"), n, g->w.dilation) && ocl_window_pads(c, n, &g->w);
}

bool ocl_conv_takes(void *device, const sp_device_call *c)
{
    geometry g;
    const sp_dtype t = c->in[0].dtype;
    return ocl_computes(device, t) && ocl_is_float(t) && c->in[1].dtype == t && measure(c, &g) &&
           ocl_count(&c->in[0]) < INT32_MAX && ocl_count(&c->in[1]) < INT32_MAX && ocl_count(&c->out[0]) < INT32_MAX;
}

/* --- definitions ------------------------------------------------------------------------------------------------- */

static void add_common(ocl_text *t, bool bias)
{
    ocl_add(
        t,
        "#define PARAMETERS , __global const T *a, const ulong a_at, __global const T *b, const ulong b_at, __global T *c, "
        "const ulong c_at%s, const int batch, const int mg, const int kg, const int groups, const int ih, const int iw, const int "
        "oh, const int ow, const int kh, const int kw, const int sy, const int sx, const int dy, const int dx, const int py, const "
        "int px\n#define COLUMNS int cy[TN], cx[TN], cb[TN], co[TN], at[TN];\n",
        bias ? ", __global const T *bias, const ulong bias_at" : "");
}

/* mg, kg: channels of a group that m counts, and the others. */
static const char *const forward_text =
    "#define BATCH const int g = (int)get_global_id(2); a += a_at + g * mg * kg * kh * kw; b += b_at + g * kg * ih * iw; c += c_at + g * mg * oh * ow; BIAS_GROUP\n"
    "#define A_AT(m, k) LD(a, (m) * (kg * kh * kw) + (k))\n"
    "#define PUT(m, q, v) ST(c, co[q] + (m) * oh * ow, v BIAS(m));\n";
static const char *const forward_columns =
    "#define COLUMN(n) { const int s = (n) / (oh * ow), p = (n) % (oh * ow); cy[q] = p / ow * sy - py; cx[q] = p % ow * sx - px; cb[q] = s * kg * groups * ih * iw; co[q] = s * mg * groups * oh * ow + p; }\n"
    "#define K_STEP(k) const int tap = (k) % (kh * kw), ky = tap / kw * dy, kx = tap % kw * dx, kb = (k) / (kh * kw) * ih * iw;\n"
    "#define B_AT(q) ((uint)(cy[q] + ky) < (uint)ih && (uint)(cx[q] + kx) < (uint)iw ? LD(b, cb[q] + kb + (cy[q] + ky) * iw + cx[q] + kx) : (C)0)\n";

static const char *const input_text =
    "#define BATCH const int g = (int)get_global_id(2); a += a_at + g * mg * kg * kh * kw; b += b_at + g * kg * oh * ow; c += c_at + g * mg * ih * iw;\n"
    "#define A_AT(m, k) LD(a, ((k) / (kh * kw) * mg + (m)) * (kh * kw) + (k) % (kh * kw))\n"
    "#define PUT(m, q, v) ST(c, co[q] + (m) * ih * iw, v);\n";
static const char *const input_columns =
    "#define COLUMN(n) { const int s = (n) / (ih * iw), p = (n) % (ih * iw); cy[q] = p / iw + py; cx[q] = p % iw + px; cb[q] = s * kg * groups * oh * ow; co[q] = s * mg * groups * ih * iw + p; }\n"
    "#define K_STEP(k) const int tap = (k) % (kh * kw), ky = tap / kw * dy, kx = tap % kw * dx, kb = (k) / (kh * kw) * oh * ow;\n"
    "inline int place(int v, int s, int n) { return v >= 0 && v % s == 0 && v / s < n ? v / s : -1; }\n"
    "#define AT_Y(q) place(cy[q] - ky, sy, oh)\n"
    "#define AT_X(q) place(cx[q] - kx, sx, ow)\n"
    "#define B_AT(q) (AT_Y(q) >= 0 && AT_X(q) >= 0 ? LD(b, cb[q] + kb + AT_Y(q) * ow + AT_X(q)) : (C)0)\n";

static const char *const weight_text =
    "#define BATCH const int g = (int)get_global_id(2); a += a_at + g * mg * oh * ow; b += b_at + g * kg * ih * iw; c += c_at + g * mg * kg * kh * kw;\n"
    "#define PUT(m, q, v) ST(c, (m) * (kg * kh * kw) + co[q], v);\n";
static const char *const weight_columns =
    "#define COLUMN(n) { const int tap = (n) % (kh * kw); cy[q] = tap / kw * dy; cx[q] = tap % kw * dx; cb[q] = (n) / (kh * kw) * ih * iw; co[q] = (n); }\n"
    "#define K_STEP(k) const int s = (k) / (oh * ow), p = (k) % (oh * ow), ky = p / ow * sy - py, kx = p % ow * sx - px, kb = s * kg * groups * ih * iw;\n"
    "#define A_AT(m, k) LD(a, ((k) / (oh * ow) * mg * groups + (m)) * (oh * ow) + (k) % (oh * ow))\n"
    "#define B_AT(q) ((uint)(cy[q] + ky) < (uint)ih && (uint)(cx[q] + kx) < (uint)iw ? LD(b, cb[q] + kb + (cy[q] + ky) * iw + cx[q] + kx) : (C)0)\n";

/* The same for kernels/product.cl's GATHER: tap by tap, or pixel by pixel, without divisions. Windows of the input's gradient must not have strides. */
static const char *const taps_text =
    "#define K_START(k) int ty = (k) % (kh * kw) / kw, tx = (k) % kw, kb = (k) / (kh * kw) * PLANE, ky = SIGN ty * dy, kx = SIGN tx * dx, "
    "k_at = kb + ky * GW + kx;\n"
    "#define K_NEXT if (++tx == kw) { tx = 0; if (++ty == kh) { ty = 0; kb += PLANE; } ky = SIGN ty * dy; } kx = SIGN tx * dx; k_at = kb + "
    "ky * GW + kx;\n";
static const char *const forward_gather =
    "#define GATHER\n#define GH ih\n#define GW iw\n#define PLANE (ih * iw)\n#define SIGN\n"
    "#define COLUMN(n) { const int s = (n) / (oh * ow), p = (n) % (oh * ow); cy[q] = p / ow * sy - py; cx[q] = p % ow * sx - px; "
    "at[q] = s * kg * groups * ih * iw + cy[q] * iw + cx[q]; co[q] = s * mg * groups * oh * ow + p; }\n";
static const char *const input_gather =
    "#define GATHER\n#define GH oh\n#define GW ow\n#define PLANE (oh * ow)\n#define SIGN -\n"
    "#define COLUMN(n) { const int s = (n) / (ih * iw), p = (n) % (ih * iw); cy[q] = p / iw + py; cx[q] = p % iw + px; "
    "at[q] = s * kg * groups * oh * ow + cy[q] * ow + cx[q]; co[q] = s * mg * groups * ih * iw + p; }\n";
static const char *const weight_gather =
    "#define GATHER\n#define GH ih\n#define GW iw\n"
    "#define COLUMN(n) { const int tap = (n) % (kh * kw); cy[q] = tap / kw * dy; cx[q] = tap % kw * dx; "
    "at[q] = (n) / (kh * kw) * ih * iw + cy[q] * iw + cx[q]; co[q] = (n); }\n"
    "#define K_START(k) int oy = (k) % (oh * ow) / ow, ox = (k) % ow, kb = (k) / (oh * ow) * kg * groups * ih * iw, a_k = (k) / (oh * ow) * mg * "
    "groups * oh * ow + (k) % (oh * ow), ky = oy * sy - py, kx = ox * sx - px, k_at = kb + ky * iw + kx;\n"
    "#define K_NEXT a_k++; if (++ox == ow) { ox = 0; if (++oy == oh) { oy = 0; kb += kg * groups * ih * iw; a_k += (mg * groups - 1) * oh * ow; "
    "} ky = oy * sy - py; } kx = ox * sx - px; k_at = kb + ky * iw + kx;\n"
    "#define A_AT(m, k) LD(a, a_k + (m) * oh * ow)\n";

static void add_gather(ocl_text *t, int kind)
{
    ocl_add(t, "%s", kind == FORWARD ? forward_gather : kind == INPUT_GRAD ? input_gather : weight_gather);
    if (kind != WEIGHT_GRAD) ocl_add(t, "%s", taps_text);
}

/* A kernel of one element is a product of the image itself, sample by sample. */
static bool is_plain(const geometry *g)
{
    const ocl_window *w = &g->w;
    return g->kind != WEIGHT_GRAD && g->group == 1 && w->kernel[0] * w->kernel[1] == 1 &&
           w->stride[0] * w->stride[1] == 1 && w->pad[0] + w->pad[1] == 0 && w->in[0] == w->out[0] &&
           w->in[1] == w->out[1];
}

static sp_status plain(ocl_device *d, const sp_device_call *c, const geometry *g)
{
    const int64_t p = g->w.in[0] * g->w.in[1], m = g->kind == FORWARD ? g->out_channels : g->in_channels,
                  k = g->kind == FORWARD ? g->in_channels : g->out_channels;
    const ocl_product product = {.dtype = c->in[0].dtype,
                                 .transpose_a = g->kind == INPUT_GRAD,
                                 .m = m,
                                 .n = p,
                                 .k = k,
                                 .lda = g->in_channels,
                                 .ldb = p,
                                 .ldc = p,
                                 .a = c->in[1].buffer,
                                 .a_at = ocl_at(&c->in[1]),
                                 .b = c->in[0].buffer,
                                 .b_at = ocl_at(&c->in[0]),
                                 .c = c->out[0].buffer,
                                 .c_at = ocl_at(&c->out[0]),
                                 .batch = g->batch,
                                 .b_step = k * p,
                                 .c_step = m * p};
    return ocl_multiply(d, c->op, &product);
}

sp_status ocl_conv_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    geometry g;
    if (!measure(c, &g)) return SP_DECLINED;
    const ocl_window *w = &g.w;
    const int64_t ic = g.in_channels / g.group, oc = g.out_channels / g.group, taps = w->kernel[0] * w->kernel[1];
    const int64_t pixels = w->in[0] * w->in[1], places = w->out[0] * w->out[1];
    const bool bias = g.kind == FORWARD && c->n_in > 2 && c->in[2].rank >= 0;
    const int64_t mg = g.kind == INPUT_GRAD ? ic : oc, kg = g.kind == INPUT_GRAD ? oc : ic;
    const int64_t n = g.kind == FORWARD ? g.batch * places : g.kind == INPUT_GRAD ? g.batch * pixels : ic * taps;
    const int64_t k = g.kind == WEIGHT_GRAD ? g.batch * places : kg * taps;
    if (ocl_count(&c->out[0]) == 0) return SP_OK;
    if (is_plain(&g) && !bias) return plain(d, c, &g);
    ocl_text t = {NULL};
    ocl_add_dtype(&t, "", c->in[0].dtype);
    ocl_tiles_add(d, &t, c->in[0].dtype, mg);
    add_common(&t, bias);
    ocl_add(&t, bias ? "#define BIAS(m) + LD(bias, bias_at + g * mg + (m))\n#define BIAS_GROUP\n"
                     : "#define BIAS(m)\n#define BIAS_GROUP\n");
    ocl_add(&t, "%s", g.kind == FORWARD ? forward_text : g.kind == INPUT_GRAD ? input_text : weight_text);
    const bool gathers =
        d->cpu && c->in[0].dtype != SP_DTYPE_F64 && (g.kind != INPUT_GRAD || (w->stride[0] == 1 && w->stride[1] == 1));
    if (gathers) add_gather(&t, g.kind);
    else ocl_add(&t, "%s", g.kind == FORWARD ? forward_columns : g.kind == INPUT_GRAD ? input_columns : weight_columns);
    ocl_launch l;
    SP_TRY(ocl_begin(d, c->op, "product", ocl_tiles_kernel(d), &t, &l));
    ocl_arg_int(&l, mg);
    ocl_arg_int(&l, n);
    ocl_arg_int(&l, k);

    ocl_arg_operand(&l, &c->in[1]); /* weight, or dout: what is found without a window */
    ocl_arg_operand(&l, &c->in[0]);
    ocl_arg_operand(&l, &c->out[0]);
    if (bias) ocl_arg_operand(&l, &c->in[2]);
    const int64_t sizes[] = {
        g.batch,      mg,           kg,           g.group,      w->in[0],       w->in[1],       w->out[0], w->out[1],
        w->kernel[0], w->kernel[1], w->stride[0], w->stride[1], w->dilation[0], w->dilation[1], w->pad[0], w->pad[1]};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) ocl_arg_int(&l, sizes[i]);
    return ocl_tiles_run(&l, mg, n, g.group);
}
