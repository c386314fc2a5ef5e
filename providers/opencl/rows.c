/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - softmax, layer and batch normalisation and their gradients, a group of items for each row; the terms of losses by classes. */
#include <string.h>

#include "opencl.h"

static void start(ocl_device *d, ocl_text *t, sp_dtype dtype)
{
    ocl_add(t, "#define GROUP %d\n#define WIDTH %d\n", (int)d->group, d->cpu ? 16 : 1);
    ocl_add_dtype(t, "", dtype);
}

static bool good_float(void *device, const sp_device_operand *o)
{
    return ocl_computes(device, o->dtype) && ocl_is_float(o->dtype) && ocl_count(o) < INT32_MAX;
}

/* --- softmax ----------------------------------------------------------------------------------------------------- */

static bool one_axis(const sp_device_call *c, int *axis)
{
    const sp_ints v = ocl_ints(c, "axis");
    if (v.n != 1) return false;
    *axis = (int)(v.v[0] < 0 ? v.v[0] + c->in[0].rank : v.v[0]);
    return *axis >= 0 && *axis < c->in[0].rank;
}

bool ocl_softmax_takes(void *device, const sp_device_call *c)
{
    int axis;
    return good_float(device, &c->in[0]) && one_axis(c, &axis);
}
bool ocl_softmax_grad_takes(void *device, const sp_device_call *c) { return ocl_softmax_takes(device, c); }

/* softmax, log_softmax and their gradients have kernels of their names. */
static sp_status along(ocl_device *d, const sp_device_call *c)
{
    int axis;
    if (!one_axis(c, &axis)) return SP_DECLINED;
    const ocl_split s = ocl_split_at(&c->in[0], axis, axis + 1);
    if (s.outer * s.n * s.inner == 0) return SP_OK;
    ocl_text t = {NULL};
    ocl_launch l;
    start(d, &t, c->in[0].dtype);
    SP_TRY(ocl_begin(d, c->op, "rows", c->op, &t, &l));
    for (int i = 0; i < c->n_in; i++) ocl_arg_operand(&l, &c->in[i]);
    ocl_arg_operand(&l, &c->out[0]);
    ocl_arg_int(&l, s.n);
    ocl_arg_int(&l, s.inner);
    return ocl_run_rows(&l, s.outer * s.inner);
}
sp_status ocl_softmax_run(void *device, const sp_device_call *c) { return along(device, c); }
sp_status ocl_softmax_grad_run(void *device, const sp_device_call *c) { return along(device, c); }

/* --- normalisation ----------------------------------------------------------------------------------------------- */

static bool given(const sp_device_operand *o) { return o->rank >= 0; }

static void add_parameters(ocl_text *t, const sp_device_operand *gamma, const sp_device_operand *beta,
                           sp_dtype otherwise)
{
    ocl_add_dtype(t, "p", given(gamma) ? gamma->dtype : otherwise);
    ocl_add_dtype(t, "q", beta && given(beta) ? beta->dtype : otherwise);
    ocl_add(t, "#define PARAMETERS_ARE %d\n", given(gamma) + 2 * (beta && given(beta)));
}

/* What is left out gets x's memory, which is then not read. */
static void arg_optional(ocl_launch *l, const sp_device_operand *o, const sp_device_operand *x)
{
    ocl_arg_operand(l, given(o) ? o : x);
}

static bool layer(const sp_device_call *c, ocl_split *s, int64_t *m)
{
    const int rank = c->in[0].rank;
    int64_t first = ocl_int(c, "begin_norm_axis", 1), params = ocl_int(c, "begin_params_axis", 1);
    if (first < 0) first += rank;
    if (params < 0) params += rank;
    if (first < 0 || first >= rank || params < 0 || params >= rank) return false;
    *s = ocl_split_at(&c->in[0], (int)first, rank);
    *m = ocl_split_at(&c->in[0], (int)params, rank).n;
    return *m > 0 && s->n > 0 && s->n % *m == 0 && s->outer > 0;
}

bool ocl_layer_norm_takes(void *device, const sp_device_call *c)
{
    ocl_split s;
    int64_t m;
    return good_float(device, &c->in[0]) && layer(c, &s, &m);
}
bool ocl_layer_norm_grad_takes(void *device, const sp_device_call *c)
{
    return ocl_layer_norm_takes(device, c) && c->in[2].dtype == c->in[0].dtype;
}

sp_status ocl_layer_norm_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    ocl_split s;
    int64_t m;
    if (!layer(c, &s, &m)) return SP_DECLINED;
    ocl_text t = {NULL};
    ocl_launch l;
    start(d, &t, c->in[0].dtype);
    add_parameters(&t, &c->in[1], &c->in[2], c->in[0].dtype);
    SP_TRY(ocl_begin(d, c->op, "rows", "layer_norm", &t, &l));
    ocl_arg_operand(&l, &c->in[0]);
    arg_optional(&l, &c->in[1], &c->in[0]);
    arg_optional(&l, &c->in[2], &c->in[0]);
    for (int i = 0; i < 3; i++) ocl_arg_operand(&l, &c->out[i]);
    ocl_arg_int(&l, s.n);
    ocl_arg_int(&l, m);
    ocl_arg_float(&l, ocl_float(c, "epsilon", 0));
    return ocl_run_rows(&l, s.outer);
}

sp_status ocl_layer_norm_grad_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    ocl_split s;
    int64_t m;
    cl_mem statistics;
    if (!layer(c, &s, &m)) return SP_DECLINED;
    SP_TRY(ocl_scratch_get(d, 0, (size_t)s.outer * 2 * sizeof(double), &statistics));
    ocl_text t = {NULL};
    ocl_launch l;
    start(d, &t, c->in[0].dtype);
    add_parameters(&t, &c->in[1], NULL, c->in[0].dtype);
    SP_TRY(ocl_begin(d, c->op, "rows", "layer_norm_grad", &t, &l));
    ocl_arg_operand(&l, &c->in[0]);
    arg_optional(&l, &c->in[1], &c->in[0]);
    ocl_arg_operand(&l, &c->in[2]);
    ocl_arg_operand(&l, &c->out[0]);
    ocl_arg_memory(&l, statistics, 0);
    ocl_arg_int(&l, s.n);
    ocl_arg_int(&l, m);
    ocl_arg_float(&l, ocl_float(c, "epsilon", 0));
    SP_TRY(ocl_run_rows(&l, s.outer));
    start(d, &t, c->in[0].dtype);
    add_parameters(&t, &c->out[1], &c->out[2], c->in[0].dtype);
    SP_TRY(ocl_begin(d, c->op, "rows", "layer_norm_sums", &t, &l));
    ocl_arg_operand(&l, &c->in[0]);
    ocl_arg_operand(&l, &c->in[2]);
    ocl_arg_memory(&l, statistics, 0);
    ocl_arg_operand(&l, &c->out[1]);
    ocl_arg_operand(&l, &c->out[2]);
    ocl_arg_int(&l, s.outer);
    ocl_arg_int(&l, s.n);
    ocl_arg_int(&l, m);
    const size_t global = (size_t)(d->cpu ? (m + 15) / 16 : m), group = d->cpu ? 1 : 64;
    return ocl_run(&l, 1, &global, &group);
}

bool ocl_batch_norm_takes(void *device, const sp_device_call *c)
{
    return good_float(device, &c->in[0]) && c->in[0].rank >= 2 && ocl_count(&c->in[0]) > 0;
}
bool ocl_batch_norm_grad_takes(void *device, const sp_device_call *c)
{
    return ocl_batch_norm_takes(device, c) && c->in[2].dtype == c->out[1].dtype && c->in[3].dtype == c->out[1].dtype &&
           c->in[4].dtype == c->in[0].dtype;
}

static sp_status channels(ocl_device *d, const sp_device_call *c, const char *name)
{
    const ocl_split s = ocl_split_at(&c->in[0], 1, 2);
    const bool grad = c->n_in == 5;
    ocl_text t = {NULL};
    ocl_launch l;
    start(d, &t, c->in[0].dtype);
    add_parameters(&t, &c->in[1], grad ? NULL : &c->in[2], c->in[0].dtype);
    SP_TRY(ocl_begin(d, c->op, "rows", name, &t, &l));
    for (int i = 0; i < c->n_in; i++) arg_optional(&l, &c->in[i], &c->in[0]);
    for (int i = 0; i < 3; i++) ocl_arg_operand(&l, &c->out[i]);
    ocl_arg_int(&l, s.outer);
    ocl_arg_int(&l, s.n);
    ocl_arg_int(&l, s.inner);
    ocl_arg_float(&l, ocl_float(c, "epsilon", 0));
    return ocl_run_rows(&l, s.n);
}
sp_status ocl_batch_norm_run(void *device, const sp_device_call *c) { return channels(device, c, "batch_norm"); }
sp_status ocl_batch_norm_grad_run(void *device, const sp_device_call *c)
{
    return channels(device, c, "batch_norm_grad");
}

/* --- channel_affine: a map with a shape of its own --------------------------------------------------------------- */

bool ocl_affine_takes(void *device, const sp_device_call *c)
{
    for (int i = 1; i < 3; i++)
        if (!ocl_computes(device, c->in[i].dtype)) return false;
    return good_float(device, &c->in[0]) && c->in[0].rank >= 2;
}

sp_status ocl_affine_run(void *device, const sp_device_call *c)
{
    const sp_device_operand *x = &c->in[0];
    ocl_shape s;
    int64_t along_channels[OCL_RANK] = {0};
    ocl_shape_start(&s, x->rank, x->dims);
    ocl_shape_add(&s, x->rank, x->dims, NULL);
    ocl_shape_add(&s, x->rank, x->dims, x->strides);
    for (int i = 1; i < 3; i++) {
        along_channels[1] = c->in[i].strides[0];
        ocl_shape_add(&s, x->rank, x->dims, along_channels);
    }
    ocl_shape_merge(&s);
    return ocl_map(device, c->op, "x * y + z", x->dtype, &s, &c->out[0], 3, c->in, 0, NULL);
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static bool whole_numbers(const sp_device_operand *o)
{
    const char kind = o->rank < 0 ? 0 : ocl_kind(o->dtype);
    return kind == 'i' || kind == 'u';
}

bool ocl_nll_takes(void *device, const sp_device_call *c)
{
    return good_float(device, &c->in[0]) && whole_numbers(&c->in[1]) &&
           (!given(&c->in[2]) || c->in[2].dtype == c->in[0].dtype) && ocl_count(&c->out[0]) < INT32_MAX;
}
bool ocl_nll_grad_takes(void *device, const sp_device_call *c) { return ocl_nll_takes(device, c); }

static sp_status terms(ocl_device *d, const sp_device_call *c, const char *name, ocl_split s, int64_t count)
{
    ocl_text t = {NULL};
    ocl_launch l;
    if (count == 0) return SP_OK;
    ocl_add(&t, "#define NLL\n%s", given(&c->in[2]) ? "#define WEIGHTED\n" : "");
    ocl_add_dtype(&t, "", c->in[0].dtype);
    ocl_add_dtype(&t, "i", c->in[1].dtype);
    SP_TRY(ocl_begin(d, c->op, "items", name, &t, &l));
    d->fault_possible = true;
    ocl_arg(&l, sizeof d->fault, &d->fault);
    for (int i = 0; i < 3; i++) arg_optional(&l, &c->in[i], &c->in[0]);
    for (int i = 0; i < c->n_out; i++) ocl_arg_operand(&l, &c->out[i]);
    ocl_arg_int(&l, count);
    ocl_arg_int(&l, s.n);
    ocl_arg_int(&l, s.inner);
    const cl_long ignore = ocl_int(c, "ignore_index", -100);
    ocl_arg(&l, sizeof ignore, &ignore);
    return ocl_run_1d(&l, count);
}

sp_status ocl_nll_run(void *device, const sp_device_call *c)
{
    const int axis = c->in[0].rank == 1 ? 0 : 1;
    const ocl_split s = ocl_split_at(&c->in[0], axis, axis + 1);
    return terms(device, c, "nll", s, s.outer * s.inner);
}

sp_status ocl_nll_grad_run(void *device, const sp_device_call *c)
{
    const int axis = (int)ocl_int(c, "axis", 1);
    const ocl_split s = ocl_split_at(&c->out[0], axis, axis + 1);
    return terms(device, c, "nll_grad", s, s.outer * s.n * s.inner);
}
