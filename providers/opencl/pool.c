/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - pooling in one and two dimensions, sliding and adaptive, and its gradients; the windows of convolution, too. */
#include <string.h>
#include <strings.h>

#include "window.h"

/* --- windows ----------------------------------------------------------------------------------------------------- */

bool ocl_window_list(sp_ints v, int n, int64_t *out)
{
    out[0] = 1;
    if (v.n != 1 && v.n != n && v.n != n + 2) return false;
    for (int i = 0; i < n; i++) out[2 - n + i] = v.v[v.n == 1 ? 0 : v.n - n + i];
    return true;
}

bool ocl_window_pads(const sp_device_call *c, int n, ocl_window *w)
{
    const char *mode = ocl_word(c, "pad_mode", "pad");
    const sp_ints v = ocl_ints(c, "pad");
    for (int i = 2 - n; i < 2; i++) {
        const int d = i - (2 - n);
        if (strcasecmp(mode, "pad") == 0) {
            if (v.n < 1) continue;
            const bool two = v.n == 2 * n;
            w->pad[i] = v.v[v.n == 1 ? 0 : two ? 2 * d : d];
            w->pad_end[i] = two ? v.v[2 * d + 1] : w->pad[i];
        } else if (strcasecmp(mode, "same") == 0) {
            const int64_t out = (w->in[i] + w->stride[i] - 1) / w->stride[i],
                          all = (out - 1) * w->stride[i] + w->dilation[i] * (w->kernel[i] - 1) + 1 - w->in[i];
            w->pad[i] = all > 0 ? all / 2 : 0;
            w->pad_end[i] = all > 0 ? all - all / 2 : 0;
        } else if (strcasecmp(mode, "valid") != 0) return false;
    }
    return true;
}

void ocl_window_spatial(const sp_device_operand *o, int n, int64_t *out)
{
    for (int i = 0; i < n; i++) out[2 - n + i] = o->dims[o->rank - n + i];
}

/* --- pooling ----------------------------------------------------------------------------------------------------- */

typedef struct plan {
    ocl_window w;
    const char *kernel;
    bool adaptive;
    int64_t planes, results;
} plan;

static bool measure(const sp_device_call *c, plan *p)
{
    const bool helper = strncmp(c->op, "pool_", 5) == 0, adaptive_op = strncmp(c->op, "adaptive_", 9) == 0;
    const bool most = strstr(c->op, "max") != NULL;
    const sp_ints size = ocl_ints(c, "output_size");
    const int n = helper ? (int)ocl_int(c, "spatial", 2) : strpbrk(c->op, "123")[0] - '0';
    *p = (plan){.w = OCL_WINDOW_ONE, .adaptive = adaptive_op || (helper && size.n > 0)};
    if (n < 1 || n > 2 || c->n_out != 1) return false;
    const sp_device_operand *x = helper ? &c->out[0] : &c->in[0], *out = helper ? &c->in[c->n_in - 1] : &c->out[0];
    p->kernel = helper ? (most ? "max_grad" : "mean_grad") : most ? "max_pool" : "mean_pool";
    if (x->rank < n) return false;
    ocl_window_spatial(x, n, p->w.in);
    ocl_window_spatial(out, n, p->w.out);
    const int64_t plane = p->w.in[0] * p->w.in[1];
    p->planes = plane > 0 ? ocl_count(x) / plane : 0;
    p->results = ocl_count(&c->out[0]);
    if (p->results >= INT32_MAX || ocl_count(x) >= INT32_MAX) return false;
    if (p->adaptive) return true;
    const sp_ints kernel = ocl_ints(c, "kernel_size"), stride = ocl_ints(c, "stride"),
                  dilation = ocl_ints(c, "dilation");
    return ocl_window_list(kernel, n, p->w.kernel) && ocl_window_list(stride.n > 0 ? stride : kernel, n, p->w.stride) &&
           (!most || ocl_window_list(dilation, n, p->w.dilation)) && ocl_window_pads(c, n, &p->w);
}

bool ocl_pool_takes(void *device, const sp_device_call *c)
{
    plan p;
    for (int i = 0; i < c->n_in; i++)
        if (!ocl_computes(device, c->in[i].dtype) || c->in[i].dtype != c->in[0].dtype) return false;
    return ocl_is_float(c->in[0].dtype) && measure(c, &p);
}

sp_status ocl_pool_run(void *device, const sp_device_call *c)
{
    plan p;
    if (!measure(c, &p)) return SP_DECLINED;
    if (p.results == 0) return SP_OK;
    ocl_text t = {NULL};
    ocl_launch l;
    ocl_add_dtype(&t, "", c->in[0].dtype);
    if (p.adaptive) ocl_add(&t, "#define ADAPTIVE\n");
    SP_TRY(ocl_begin(device, c->op, "pool", p.kernel, &t, &l));
    for (int i = 0; i < c->n_in; i++) ocl_arg_operand(&l, &c->in[i]);
    ocl_arg_operand(&l, &c->out[0]);
    const ocl_window *w = &p.w;
    const int64_t divisor = ocl_int(c, "divisor_override", 0);
    const int64_t sizes[] = {p.planes,
                             w->in[0],
                             w->in[1],
                             w->out[0],
                             w->out[1],
                             w->kernel[0],
                             w->kernel[1],
                             w->stride[0],
                             w->stride[1],
                             w->dilation[0],
                             w->dilation[1],
                             w->pad[0],
                             w->pad[1],
                             w->pad_end[0],
                             w->pad_end[1],
                             divisor == SP_INT_NONE ? 0 : divisor,
                             ocl_bool(c, "count_include_pad", false)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) ocl_arg_int(&l, sizes[i]);
    return ocl_run_1d(&l, p.results);
}
