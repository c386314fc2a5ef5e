/* SPDX-License-Identifier: Apache-2.0 */
/* loops.c - which vector loop an element-wise operator takes: chosen by operator and dtype, the instruction set once. Eager mode
 * runs the loop over the operands, graph mode fuses the same loop into chains: one result in both. */
#include "device/cpu/loops.h"

#include "base/lock.h"
#include "device/cpu/cpu_kernels.h"
#include "ir/op_count.h"

static const sp__cpu_loop_row *rows; /* of this machine */
static int cost_factor = 1;
static uint8_t row_of_op[SP_OPS_MAX]; /* by number of the operator: row + 1, 0: none */
static sp_once rows_once = SP_ONCE_INIT;

static const struct {
    const char *op;
    int cost;
} names[SP_CPU_LOOPS] = {
#define LOOP(name, cost_) [SP_CPU_LOOP_##name] = {#name, cost_},
#include "device/cpu/loops.def"
#undef LOOP
};

static void rows_find(void)
{
    rows = sp__cpu_loops_portable;
    cost_factor = 4;
#if SP_HAVE_X86
    const unsigned features = sp__cpu_features();
    if (features & SP_CPU_AVX512) rows = sp__cpu_loops_avx512, cost_factor = 1;
    else if (features & SP_CPU_AVX2) rows = sp__cpu_loops_avx2, cost_factor = 2;
#endif
    for (int i = 0; i < SP_CPU_LOOPS; i++) {
        const sp_op *op = sp_op_find(names[i].op);
        if (op) row_of_op[sp__op_id(op)] = (uint8_t)(i + 1);
    }
}

/* Arithmetic is as fast as memory with any vectors: its cost does not grow. */
static int cost_of(int row) { return names[row].cost <= 6 ? names[row].cost : names[row].cost * cost_factor; }

sp_inner_loop sp__cpu_loop(const sp_call *c)
{
    sp__once(&rows_once, rows_find);
    const int id = sp__op_id(c->op), row = id < 0 ? -1 : row_of_op[id] - 1;
    if (row < 0) return (sp_inner_loop){0};
    const sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    for (int i = 1; i < c->n_in; i++)
        if (!c->in[i] || c->in[i]->dtype != (int8_t)dtype) return (sp_inner_loop){0};
    const sp__cpu_loop_row *r = &rows[row];
    const sp_loop_fn fn = dtype == SP_DTYPE_F32    ? r->f32
                          : dtype == SP_DTYPE_F16  ? r->f16
                          : dtype == SP_DTYPE_BF16 ? r->bf16
                          : dtype == SP_DTYPE_F64  ? r->f64
                                                   : NULL;
    return (sp_inner_loop){
        .fn = fn, .context = c->attrs, .cost = dtype == SP_DTYPE_F64 ? 2 * cost_of(row) : cost_of(row)};
}

bool sp__cpu_loop_takes(const sp_call *c) { return sp__cpu_loop(c).fn != NULL; }

sp_status sp__cpu_loop_run(const sp_call *c)
{
    const sp_inner_loop loop = sp__cpu_loop(c);
    return sp__call_loop(c, loop.fn, loop.context, loop.cost);
}

sp_status sp__cpu_prelu(const sp_call *c)
{
    /* Weights lie along the channels, not along the last dimension. */
    const sp_tensor *x = c->in[0];
    sp_tensor w = *c->in[1], *in[2] = {c->in[0], &w};
    if (w.count > 1 && x->rank > 2) {
        w.rank = (int8_t)(x->rank - 1);
        for (int i = 1; i < w.rank; i++) w.dims[i] = 1, w.strides[i] = 0;
    }
    sp_call call = *c;
    call.in = in;
    return sp__cpu_loop_run(&call);
}
