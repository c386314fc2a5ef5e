/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - parts of tensors: writing to slices, concat, full, gather and scatter along one axis. */
#include <string.h>

#include "opencl.h"

/* --- slices ------------------------------------------------------------------------------------------------------ */

/* First element and number of elements of start:stop:step over n, as Python's slices and spore's `slice` count. */
static void range_of(int64_t n, int64_t start, int64_t stop, int64_t step, int64_t *first, int64_t *count)
{
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    if (step > 0) {
        if (start < 0) start += n;
        if (stop < 0) stop += n;
    }
    start = start < low ? low : start > high ? high : start;
    stop = stop < low ? low : stop > high ? high : stop;
    const int64_t distance = step > 0 ? stop - start : start - stop, size = step > 0 ? step : -step;
    *count = distance > 0 ? (distance - 1) / size + 1 : 0;
    *first = *count > 0 ? start : 0;
}

bool ocl_slice_put_takes(void *device, const sp_device_call *c)
{
    const sp_dtype t = c->in[0].dtype;
    return ocl_computes(device, t) && c->in[1].dtype == t && c->in[1].rank >= 0 && ocl_row_major(&c->in[0]);
}

sp_status ocl_slice_put_run(void *device, const sp_device_call *c)
{
    const sp_device_operand *x = &c->in[0], *v = &c->in[1];
    const sp_ints start = ocl_ints(c, "start"), stop = ocl_ints(c, "stop"), step = ocl_ints(c, "step");
    int64_t dims[OCL_RANK], strides[OCL_RANK], offset = 0;
    for (int i = 0; i < x->rank; i++) {
        dims[i] = x->dims[i];
        strides[i] = x->strides[i];
        if (i >= start.n || i >= stop.n) continue;
        const int64_t by = step.n < 0 ? 1 : step.v[i];
        if (by == 0 || by == INT64_MIN) return SP_DECLINED;
        int64_t first;
        range_of(x->dims[i], start.v[i], stop.v[i], by, &first, &dims[i]);
        offset += first * x->strides[i];
        if (dims[i] > 1) strides[i] *= by;
    }
    int lead = 0;
    while (v->rank - lead > x->rank && v->dims[lead] == 1) lead++;
    if (v->rank - lead > x->rank || ocl_overlap(v, x)) return SP_DECLINED;
    for (int i = 0; i < v->rank - lead; i++) { /* what does not broadcast is the CPU's to refuse */
        const int64_t n = v->dims[lead + i], want = dims[x->rank - (v->rank - lead) + i];
        if (n != 1 && n != want) return SP_DECLINED;
    }
    ocl_shape s;
    ocl_shape_start(&s, x->rank, dims);
    ocl_shape_add(&s, x->rank, dims, strides);
    ocl_shape_add(&s, v->rank - lead, v->dims + lead, v->strides + lead);
    ocl_shape_merge(&s);
    sp_device_operand part = *x;
    part.offset += (size_t)offset * ocl_bytes(x->dtype);
    return ocl_map(device, c->op, "x", x->dtype, &s, &part, 1, v, 0, NULL);
}

bool ocl_concat_takes(void *device, const sp_device_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].dtype != c->out[0].dtype || !ocl_computes(device, c->in[i].dtype)) return false;
    return c->n_in > 0 && c->out[0].rank > 0;
}

sp_status ocl_concat_run(void *device, const sp_device_call *c)
{
    const sp_device_operand *o = &c->out[0];
    int64_t axis = ocl_int(c, "axis", 0), strides[OCL_RANK], at = 0;
    if (axis < 0) axis += o->rank;
    ocl_row_major_strides(o->rank, o->dims, strides);
    for (int i = 0; i < c->n_in; i++) {
        SP_TRY(ocl_copy_strided(device, c->op, &c->in[i], o, strides, at));
        at += c->in[i].dims[axis] * strides[axis];
    }
    return SP_OK;
}

/* --- full -------------------------------------------------------------------------------------------------------- */

bool ocl_full_takes(void *device, const sp_device_call *c)
{
    const sp_number *v = sp_device_attr(c, "value");
    const sp_dtype t = c->out[0].dtype;
    if (!v || !ocl_computes(device, t)) return false;
    const double x = v->kind == 'f' ? v->f : (double)v->i;
    /* A number that float has: others are the CPU's. */
    return v->kind != 'f'
               ? v->i > -(1 << 24) && v->i < 1 << 24
               : v->i == 0 &&
                     (ocl_is_float(t) && t != SP_DTYPE_F64 ? true : x == (double)(float)x && x > -1e9 && x < 1e9);
}

sp_status ocl_full_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    const sp_number *v = sp_device_attr(c, "value");
    const sp_device_operand *o = &c->out[0];
    const double x = v->kind == 'f' ? v->f : v->kind == 'n' ? 0 : (double)v->i;
    const size_t bytes = (size_t)ocl_count(o) * ocl_bytes(o->dtype);
    if (bytes == 0) return SP_OK;
    if (x == 0 || o->dtype == SP_DTYPE_F32) {
        const cl_float pattern = (cl_float)x;
        const cl_uchar zero = 0;
        const bool f32 = o->dtype == SP_DTYPE_F32;
        OCL_TRY(cl.clEnqueueFillBuffer(d->queue, o->buffer, f32 ? (const void *)&pattern : &zero, f32 ? 4 : 1,
                                       o->offset, bytes, 0, NULL, NULL));
        return SP_OK;
    }
    ocl_shape s;
    ocl_shape_start(&s, o->rank, o->dims);
    ocl_shape_add(&s, o->rank, o->dims, NULL);
    ocl_shape_merge(&s);
    return ocl_map(d, c->op, "a", o->dtype, &s, o, 0, NULL, 1, &x);
}

/* --- gather and scatter along one axis --------------------------------------------------------------------------- */

typedef struct plan {
    int64_t pre, rows, rest, nb;
} plan;

static bool make_plan(const sp_device_call *c, int first, plan *p)
{
    const sp_device_operand *x = &c->in[0], *index = &c->in[first];
    const sp_ints axes = ocl_ints(c, "axes");
    int64_t axis = axes.n == 1 ? axes.v[0] : 0;
    if (c->n_in != first + 1 || axes.n > 1) return false;
    if (axis < 0) axis += x->rank;
    const char kind = ocl_kind(index->dtype);
    if (axis < 0 || axis >= x->rank || (kind != 'i' && kind != 'u') || !ocl_row_major(x)) return false;
    const ocl_split s = ocl_split_at(x, (int)axis, (int)axis + 1);
    *p = (plan){s.outer, s.n, s.inner, ocl_count(index)};
    return s.n <= INT32_MAX && s.inner <= INT32_MAX && s.outer * p->nb <= INT32_MAX;
}

bool ocl_index_takes(void *device, const sp_device_call *c)
{
    plan p;
    return ocl_computes(device, c->in[0].dtype) && make_plan(c, 1, &p);
}

static void start(ocl_text *t, const sp_device_operand *x, const sp_device_operand *index, int width)
{
    ocl_add(t, "#define INDEX\n#define WIDTH %d\n", width);
    ocl_add_dtype(t, "", x->dtype);
    ocl_add_dtype(t, "i", index->dtype);
}

static void arg_plan(ocl_launch *l, const plan *p)
{
    ocl_arg_int(l, p->rest);
    ocl_arg_int(l, p->nb);
    ocl_arg_int(l, p->rows);
    ocl_arg_int(l, p->pre);
}

sp_status ocl_index_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    plan p;
    if (!make_plan(c, 1, &p)) return SP_DECLINED;
    if (p.pre * p.rest * p.nb == 0) return SP_OK;
    ocl_text t = {NULL};
    ocl_launch l;
    start(&t, &c->in[0], &c->in[1], 1);
    ocl_add(&t, "#define PUT(to, from, c) to[c] = from[c];\n");
    SP_TRY(ocl_begin(d, c->op, "items", "take", &t, &l));
    d->fault_possible = true;
    ocl_arg(&l, sizeof d->fault, &d->fault);
    ocl_arg_operand(&l, &c->in[0]);
    ocl_arg_operand(&l, &c->in[1]);
    ocl_arg_operand(&l, &c->out[0]);
    arg_plan(&l, &p);
    const size_t global[2] = {(size_t)p.rest, (size_t)(p.nb * p.pre)}, group[2] = {64, 1};
    return ocl_run(&l, 2, global, group);
}

bool ocl_index_put_takes(void *device, const sp_device_call *c)
{
    plan p;
    if (!ocl_computes(device, c->in[0].dtype) || c->in[1].dtype != c->in[0].dtype || !make_plan(c, 2, &p)) return false;
    return ocl_count(&c->in[1]) == p.pre * p.nb * p.rest; /* not a value that broadcasts */
}

sp_status ocl_index_put_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    plan p;
    if (!make_plan(c, 2, &p) || ocl_overlap(&c->in[1], &c->in[0])) return SP_DECLINED;
    if (p.pre * p.rest * p.nb == 0) return SP_OK;
    const int width = d->cpu && p.rest >= 16 ? 16 : 1;
    ocl_text t = {NULL};
    ocl_launch l;
    start(&t, &c->in[0], &c->in[2], width);
    ocl_add(&t, ocl_bool(c, "accumulate", false) ? "#define PUT(to, from, c) ST(to, c, LD(to, c) + LD(from, c));\n"
                                                 : "#define PUT(to, from, c) to[c] = from[c];\n");
    SP_TRY(ocl_begin(d, c->op, "items", "put", &t, &l));
    d->fault_possible = true;
    ocl_arg(&l, sizeof d->fault, &d->fault);
    for (int i = 0; i < 3; i++) ocl_arg_operand(&l, &c->in[i]);
    arg_plan(&l, &p);
    const size_t global[2] = {(size_t)((p.rest + width - 1) / width), (size_t)p.pre}, group[2] = {d->cpu ? 1 : 64, 1};
    return ocl_run(&l, 2, global, group);
}
