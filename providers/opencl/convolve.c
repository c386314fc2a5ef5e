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
        "int px\n#define COLUMNS int cy[TN], cx[TN], cb[TN], co[TN];\n",
        bias ? ", __global const T *bias, const ulong bias_at" : "");
}

/* mg, kg: channels of a group that m counts, and the others. */
static const char *const forward_text =
    "#define BATCH const int g = (int)get_global_id(2); a += a_at + g * mg * kg * kh * kw; b += b_at + g * kg * ih * iw; c += c_at + g * mg "
    "* oh * ow; BIAS_GROUP\n"
    "#define COLUMN(n) { const int s = (n) / (oh * ow), p = (n) % (oh * ow); cy[q] = p / ow * sy - py; cx[q] = p % ow * sx - px; "
    "cb[q] = s * kg * groups * ih * iw; co[q] = s * mg * groups * oh * ow + p; }\n"
    "#define K_STEP(k) const int tap = (k) % (kh * kw), ky = tap / kw * dy, kx = tap % kw * dx, kb = (k) / (kh * kw) * ih * iw;\n"
    "#define A_AT(m, k) LD(a, (m) * (kg * kh * kw) + (k))\n"
    "#define B_AT(q) ((uint)(cy[q] + ky) < (uint)ih && (uint)(cx[q] + kx) < (uint)iw ? LD(b, cb[q] + kb + (cy[q] + ky) * iw + cx[q] + kx) : "
    "(C)0)\n"
    "#define PUT(m, q, v) ST(c, co[q] + (m) * oh * ow, v BIAS(m));\n";

static const char *const input_text =
    "#define BATCH const int g = (int)get_global_id(2); a += a_at + g * mg * kg * kh * kw; b += b_at + g * kg * oh * ow; c += c_at + g * mg "
    "* ih * iw;\n"
    "#define COLUMN(n) { const int s = (n) / (ih * iw), p = (n) % (ih * iw); cy[q] = p / iw + py; cx[q] = p % iw + px; "
    "cb[q] = s * kg * groups * oh * ow; co[q] = s * mg * groups * ih * iw + p; }\n"
    "#define K_STEP(k) const int tap = (k) % (kh * kw), ky = tap / kw * dy, kx = tap % kw * dx, kb = (k) / (kh * kw) * oh * ow;\n"
    "#define A_AT(m, k) LD(a, ((k) / (kh * kw) * mg + (m)) * (kh * kw) + (k) % (kh * kw))\n"
    "inline int place(int v, int s, int n) { return v >= 0 && v % s == 0 && v / s < n ? v / s : -1; }\n"
    "#define AT_Y(q) place(cy[q] - ky, sy, oh)\n#define AT_X(q) place(cx[q] - kx, sx, ow)\n"
    "#define B_AT(q) (AT_Y(q) >= 0 && AT_X(q) >= 0 ? LD(b, cb[q] + kb + AT_Y(q) * ow + AT_X(q)) : (C)0)\n"
    "#define PUT(m, q, v) ST(c, co[q] + (m) * ih * iw, v);\n";

static const char *const weight_text =
    "#define BATCH const int g = (int)get_global_id(2); a += a_at + g * mg * oh * ow; b += b_at + g * kg * ih * iw; c += c_at + g * mg * kg "
    "* kh * kw;\n"
    "#define COLUMN(n) { const int tap = (n) % (kh * kw); cy[q] = tap / kw * dy; cx[q] = tap % kw * dx; cb[q] = (n) / (kh * kw) * ih * iw; "
    "co[q] = (n); }\n"
    "#define K_STEP(k) const int s = (k) / (oh * ow), p = (k) % (oh * ow), ky = p / ow * sy - py, kx = p % ow * sx - px, kb = s * kg * "
    "groups * ih * iw;\n"
    "#define A_AT(m, k) LD(a, ((k) / (oh * ow) * mg * groups + (m)) * (oh * ow) + (k) % (oh * ow))\n"
    "#define B_AT(q) ((uint)(cy[q] + ky) < (uint)ih && (uint)(cx[q] + kx) < (uint)iw ? LD(b, cb[q] + kb + (cy[q] + ky) * iw + cx[q] + kx) : "
    "(C)0)\n"
    "#define PUT(m, q, v) ST(c, (m) * (kg * kh * kw) + co[q], v);\n";

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
    ocl_text t = {NULL};
    ocl_add_dtype(&t, "", c->in[0].dtype);
    ocl_tiles_add(d, &t, c->in[0].dtype, mg);
    add_common(&t, bias);
    ocl_add(&t, bias ? "#define BIAS(m) + LD(bias, bias_at + g * mg + (m))\n#define BIAS_GROUP\n"
                     : "#define BIAS(m)\n#define BIAS_GROUP\n");
    ocl_add(&t, "%s", g.kind == FORWARD ? forward_text : g.kind == INPUT_GRAD ? input_text : weight_text);
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
