/* SPDX-License-Identifier: Apache-2.0 */
/* recur.c - the loop over time of recurrent layers: a product and a step of the cell for each time, enqueued one after the other. float32; sequences of one
 * length. */
#include <string.h>

#include "opencl.h"

typedef struct scan {
    int mode;
    bool reverse;
    int64_t time, batch, hidden, gates, kept;
} scan;

static bool measure(const sp_device_call *c, int64_t time, int64_t batch, int64_t hidden, scan *s)
{
    static const char *const names[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};
    static const int gates[] = {4, 3, 1, 1}, kept[] = {5, 4, 0, 0};
    const char *mode = ocl_word(c, "mode", "lstm");
    *s = (scan){.reverse = ocl_bool(c, "reverse", false), .time = time, .batch = batch, .hidden = hidden};
    while (s->mode < 4 && strcmp(names[s->mode], mode) != 0) s->mode++;
    if (s->mode == 4 || time < 1 || batch * hidden < 1) return false;
    s->gates = gates[s->mode];
    s->kept = kept[s->mode];
    return time * batch * 5 * hidden < INT32_MAX;
}

static bool all_f32(const sp_device_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].rank >= 0 && c->in[i].dtype != SP_DTYPE_F32) return false;
    return true;
}

static sp_status begin(ocl_device *d, const sp_device_call *c, const scan *s, bool biased, const char *name,
                       ocl_launch *l)
{
    ocl_text t = {NULL};
    ocl_add(&t, "#define C float\n#define MODE %d\n%s", s->mode, biased ? "#define BIASED\n" : "");
    return ocl_begin(d, c->op, "recur", name, &t, l);
}

/* The time that comes n-th, and the one before it. */
static int64_t at_step(const scan *s, int64_t n) { return s->reverse ? s->time - 1 - n : n; }

/* A state before step n: rows of it are `row` elements apart. */
typedef struct state {
    cl_mem memory;
    int64_t at, row;
} state;

static state before(const scan *s, int64_t n, const sp_device_operand *first, const sp_device_operand *later,
                    int64_t row, int64_t skip)
{
    if (n == 0) return (state){first->buffer, ocl_at(first), s->hidden};
    return (state){later->buffer, ocl_at(later) + at_step(s, n - 1) * s->batch * row + skip, row};
}

/* --- forward ----------------------------------------------------------------------------------------------------- */

/* Inputs: gx, h0, c0?, weight, bias?, lengths?. Results: y, last h, last c, kept. */
bool ocl_scan_takes(void *device, const sp_device_call *c)
{
    scan s;
    (void)device;
    return all_f32(c) && c->in[5].rank < 0 && measure(c, c->in[0].dims[0], c->in[0].dims[1], c->in[1].dims[1], &s) &&
           (s.mode != 0 || c->in[2].rank >= 0);
}

static sp_status forward_step(ocl_device *d, const sp_device_call *c, const scan *s, int64_t n, cl_mem gh)
{
    const int64_t t = at_step(s, n), G = s->gates * s->hidden, B = s->batch, H = s->hidden, K = s->kept * H;
    const bool biased = c->in[4].rank >= 0;
    const state h = before(s, n, &c->in[1], &c->out[0], H, 0);
    const state cell = s->mode == 0 ? before(s, n, &c->in[2], &c->out[3], K, 4 * H) : h;
    const ocl_product p = {.dtype = SP_DTYPE_F32,
                           .transpose_b = true,
                           .m = B,
                           .n = G,
                           .k = H,
                           .lda = H,
                           .ldb = H,
                           .ldc = G,
                           .a = h.memory,
                           .a_at = h.at,
                           .b = c->in[3].buffer,
                           .b_at = ocl_at(&c->in[3]),
                           .c = gh,
                           .batch = 1};
    SP_TRY(ocl_multiply(d, c->op, &p));
    ocl_launch l;
    SP_TRY(begin(d, c, s, biased, "cell_step", &l));
    ocl_arg_memory(&l, c->in[0].buffer, ocl_at(&c->in[0]) + t * B * G);
    ocl_arg_memory(&l, gh, 0);
    ocl_arg_operand(&l, biased ? &c->in[4] : &c->in[0]);
    ocl_arg_memory(&l, h.memory, h.at);
    ocl_arg_memory(&l, cell.memory, cell.at);
    ocl_arg_int(&l, cell.row);
    ocl_arg_memory(&l, c->out[0].buffer, ocl_at(&c->out[0]) + t * B * H);
    ocl_arg_memory(&l, c->out[3].buffer, ocl_at(&c->out[3]) + t * B * K);
    ocl_arg_int(&l, B);
    ocl_arg_int(&l, H);
    return ocl_run_1d(&l, B * H);
}

/* The last state, from its place in the results. */
static sp_status last_state(ocl_device *d, const sp_device_call *c, const scan *s, const sp_device_operand *from,
                            int64_t row, int64_t skip, const sp_device_operand *to)
{
    const int64_t dims[2] = {s->batch, s->hidden}, strides[2] = {row, 1};
    sp_device_operand part = *from;
    part.rank = 2;
    part.dims = dims;
    part.strides = strides;
    part.offset += (size_t)(at_step(s, s->time - 1) * s->batch * row + skip) * sizeof(float);
    return ocl_copy_strided(d, c->op, &part, to, NULL, 0);
}

static sp_status zeros(ocl_device *d, cl_mem memory, size_t offset, size_t bytes)
{
    const cl_float zero = 0;
    if (bytes) OCL_TRY(cl.clEnqueueFillBuffer(d->queue, memory, &zero, sizeof zero, offset, bytes, 0, NULL, NULL));
    return SP_OK;
}

sp_status ocl_scan_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    scan s;
    cl_mem gh;
    if (!measure(c, c->in[0].dims[0], c->in[0].dims[1], c->in[1].dims[1], &s)) return SP_DECLINED;
    SP_TRY(ocl_scratch_get(d, 1, (size_t)(s.batch * s.gates * s.hidden) * sizeof(float), &gh));
    for (int64_t n = 0; n < s.time; n++) SP_TRY(forward_step(d, c, &s, n, gh));
    SP_TRY(last_state(d, c, &s, &c->out[0], s.hidden, 0, &c->out[1]));
    if (s.mode == 0) return last_state(d, c, &s, &c->out[3], 5 * s.hidden, 4 * s.hidden, &c->out[2]);
    if (c->in[2].rank >= 0) return ocl_copy_strided(d, c->op, &c->in[2], &c->out[2], NULL, 0);
    return zeros(d, c->out[2].buffer, c->out[2].offset, (size_t)(s.batch * s.hidden) * sizeof(float));
}

/* --- gradient ---------------------------------------------------------------------------------------------------- */

/* Inputs: dy, h0, c0?, weight, lengths?, y, kept, dh?, dc?, dkept?. Results: dgx, dh0, dc0, dweight, dbias. */
bool ocl_scan_grad_takes(void *device, const sp_device_call *c)
{
    scan s;
    (void)device;
    return all_f32(c) && c->in[4].rank < 0 && c->in[9].rank < 0 &&
           measure(c, c->in[0].dims[0], c->in[0].dims[1], c->in[1].dims[1], &s) && (s.mode != 0 || c->in[2].rank >= 0);
}

static sp_status backward_step(ocl_device *d, const sp_device_call *c, const scan *s, int64_t n, cl_mem dgh)
{
    const int64_t t = at_step(s, n), G = s->gates * s->hidden, B = s->batch, H = s->hidden, K = s->kept * H;
    const sp_device_operand *dh = &c->out[1], *dc = &c->out[2];
    const state h = before(s, n, &c->in[1], &c->in[5], H, 0);
    const state cell = s->mode == 0 ? before(s, n, &c->in[2], &c->in[6], K, 4 * H) : h;
    ocl_launch l;
    SP_TRY(begin(d, c, s, false, "cell_step_grad", &l));
    ocl_arg_memory(&l, c->in[0].buffer, ocl_at(&c->in[0]) + t * B * H);
    ocl_arg_memory(&l, c->in[5].buffer, ocl_at(&c->in[5]) + t * B * H);
    ocl_arg_memory(&l, h.memory, h.at);
    ocl_arg_memory(&l, cell.memory, cell.at);
    ocl_arg_int(&l, cell.row);
    ocl_arg_memory(&l, c->in[6].buffer, ocl_at(&c->in[6]) + t * B * K);
    ocl_arg_operand(&l, dh);
    ocl_arg_operand(&l, dc);
    ocl_arg_memory(&l, c->out[0].buffer, ocl_at(&c->out[0]) + t * B * G);
    ocl_arg_memory(&l, dgh, t * B * G);
    ocl_arg_int(&l, B);
    ocl_arg_int(&l, H);
    SP_TRY(ocl_run_1d(&l, B * H));
    const ocl_product p = {.dtype = SP_DTYPE_F32,
                           .m = B,
                           .n = H,
                           .k = G,
                           .lda = G,
                           .ldb = H,
                           .ldc = H,
                           .a = dgh,
                           .a_at = t * B * G,
                           .b = c->in[3].buffer,
                           .b_at = ocl_at(&c->in[3]),
                           .c = dh->buffer,
                           .c_at = ocl_at(dh),
                           .beta = 1,
                           .batch = 1};
    return ocl_multiply(d, c->op, &p);
}

/* dweight = sum over times of dgh' times the state before: one product for the first step, one for all others, which lie side by side. */
static sp_status weight_grads(ocl_device *d, const sp_device_call *c, const scan *s, cl_mem dgh)
{
    const int64_t G = s->gates * s->hidden, B = s->batch, H = s->hidden, first = at_step(s, 0);
    ocl_product p = {.dtype = SP_DTYPE_F32,
                     .transpose_a = true,
                     .m = G,
                     .n = H,
                     .k = B,
                     .lda = G,
                     .ldb = H,
                     .ldc = H,
                     .a = dgh,
                     .a_at = first * B * G,
                     .b = c->in[1].buffer,
                     .b_at = ocl_at(&c->in[1]),
                     .c = c->out[3].buffer,
                     .c_at = ocl_at(&c->out[3]),
                     .batch = 1};
    SP_TRY(ocl_multiply(d, c->op, &p));
    if (s->time > 1) {
        p.k = (s->time - 1) * B;
        p.a_at = s->reverse ? 0 : B * G;
        p.b = c->in[5].buffer;
        p.b_at = ocl_at(&c->in[5]) + (s->reverse ? B * H : 0);
        p.beta = 1;
        SP_TRY(ocl_multiply(d, c->op, &p));
    }
    ocl_launch l;
    SP_TRY(begin(d, c, s, false, "row_sums", &l));
    ocl_arg_memory(&l, dgh, 0);
    ocl_arg_operand(&l, &c->out[4]);
    ocl_arg_int(&l, s->time * B);
    ocl_arg_int(&l, G);
    return ocl_run_1d(&l, G);
}

static sp_status start_state(ocl_device *d, const sp_device_call *c, const sp_device_operand *from,
                             const sp_device_operand *to)
{
    if (from->rank >= 0) return ocl_copy_strided(d, c->op, from, to, NULL, 0);
    return zeros(d, to->buffer, to->offset, (size_t)ocl_count(to) * sizeof(float));
}

sp_status ocl_scan_grad_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    scan s;
    cl_mem dgh;
    if (!measure(c, c->in[0].dims[0], c->in[0].dims[1], c->in[1].dims[1], &s)) return SP_DECLINED;
    SP_TRY(ocl_scratch_get(d, 1, (size_t)(s.time * s.batch * s.gates * s.hidden) * sizeof(float), &dgh));
    SP_TRY(start_state(d, c, &c->in[7], &c->out[1]));
    SP_TRY(start_state(d, c, &c->in[8], &c->out[2]));
    for (int64_t n = s.time - 1; n >= 0; n--) SP_TRY(backward_step(d, c, &s, n, dgh));
    return weight_grads(d, c, &s, dgh);
}
