/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - products of widened bytes become products of bytes.
 *
 *     matmul(cast(x, int32) - x_zero, cast(y, int32) - y_zero)   ->   matmul_i32(x, y, x_zero, y_zero)
 *
 * x and y of int8 or uint8; zero points may be absent, and an operand may be an int32 constant whose numbers are all bytes. This is how
 * quantised networks are written where no operator multiplies bytes: files in MindIR, programs. Both sides wrap in 32 bits, so the results
 * are the same; the right one reads a quarter of the memory and has instructions of its own. */
#include "base/parts.h"
#include "graph/passes/passes.h"
#include "ir/matmul_geometry.h"
#include "ops/ops_impl.h"
#include "spore/ops_attrs.h"

/* An operand: bytes less a zero point. */
typedef struct operand {
    sp_value *bytes, *zero;
} operand;

static bool is_bytes(const sp_value *v) { return v->meta.dtype == SP_DTYPE_I8 || v->meta.dtype == SP_DTYPE_U8; }

static sp_node *made_by(const sp_value *v, const sp_op *op)
{
    return v && v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP && v->node->op == op ? v->node : NULL;
}

/* The bytes that v widens. */
static sp_value *widened(sp_value *v)
{
    const sp_node *n = made_by(v, &sp_op_cast);
    return n && is_bytes(n->in[0]) ? n->in[0] : NULL;
}

/* An int32 constant as bytes: of `dtype`, or (SP_DTYPE_NONE) of either. NULL in *out: it does not fit. */
static sp_status narrowed(sp_function *f, const sp_value *v, sp_dtype dtype, sp_value **out)
{
    *out = NULL;
    if (v->origin != SP_VALUE_CONSTANT || v->constant->dtype != SP_DTYPE_I32 || v->constant->count == 0) return SP_OK;
    sp_tensor *wide, *bytes;
    SP_TRY(sp_tensor_copy(v->constant, &wide));
    const int32_t *from = sp_tensor_data(wide);
    int32_t low = from[0], high = from[0];
    for (int64_t i = 0; i < wide->count; i++) {
        low = from[i] < low ? from[i] : low;
        high = from[i] > high ? from[i] : high;
    }
    if (dtype == SP_DTYPE_NONE) dtype = low < 0 ? SP_DTYPE_I8 : SP_DTYPE_U8;
    bool fits = dtype == SP_DTYPE_I8 ? low >= INT8_MIN && high <= INT8_MAX : low >= 0 && high <= UINT8_MAX;
    sp_status status = fits ? sp_tensor_create(dtype, wide->rank, wide->dims, &bytes) : SP_OK;
    if (fits && status == SP_OK) {
        uint8_t *to = sp_tensor_data(bytes);
        for (int64_t i = 0; i < wide->count; i++) to[i] = (uint8_t)from[i];
        *out = sp__value_constant(f, bytes);
        if (!*out) status = SP_NOMEM;
        sp_tensor_release(bytes);
    }
    sp_tensor_release(wide);
    return status;
}

/* May matmul_i32 take this zero point? columns: of the operand whose columns may have one each, 0 if they may not. */
static bool suits(const sp_value *zero, int64_t columns)
{
    const sp_meta *m = &zero->meta;
    return m->rank == 0 || (m->rank == 1 && (m->dims[0] == 1 || (columns > 0 && m->dims[0] == columns)));
}

/* What matmul multiplies, as bytes; out->bytes stays NULL where it is something else. */
static sp_status operand_of(sp_function *f, sp_value *v, int64_t columns, operand *out)
{
    *out = (operand){.bytes = widened(v)};
    if (out->bytes) return SP_OK;
    const sp_node *n = made_by(v, &sp_op_sub);
    if (!n) return narrowed(f, v, SP_DTYPE_NONE, &out->bytes);
    sp_value *bytes = widened(n->in[0]), *zero = widened(n->in[1]);
    if (!bytes || bytes->meta.rank < 1) return SP_OK;
    if (!zero) SP_TRY(narrowed(f, n->in[1], bytes->meta.dtype, &zero));
    if (zero && zero->meta.dtype == bytes->meta.dtype && suits(zero, columns)) *out = (operand){bytes, zero};
    return SP_OK;
}

/* The last two dimensions exchanged, before n. */
static sp_status turned(sp_node *n, sp_value **v)
{
    int64_t order[SP_RANK_MAX];
    const int rank = (*v)->meta.rank;
    sp_node *made;
    if (rank < 2) return SP_OK;
    for (int i = 0; i < rank; i++) order[i] = i;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    const sp_ints perm = {.n = rank, .v = order};
    SP_TRY(sp__node_op(n->owner, n, &sp_op_transpose, &perm, 1, v, &made));
    *v = made->out[0];
    return SP_OK;
}

static sp_status narrow(sp_node *n, int *count)
{
    const sp_matmul_attrs *attrs = n->attrs;
    sp_value *const right = n->in[1];
    operand x, y;
    /* Numbers by column belong to the last dimension as it was written. */
    const int64_t columns = attrs->transpose_b || right->meta.rank < 2 ? 0 : right->meta.dims[right->meta.rank - 1];
    if ((attrs->transpose_a && n->in[0]->meta.rank < 0) || (attrs->transpose_b && right->meta.rank < 0)) return SP_OK;
    SP_TRY(operand_of(n->owner, n->in[0], 0, &x));
    if (!x.bytes) return SP_OK;
    SP_TRY(operand_of(n->owner, right, columns, &y));
    if (!y.bytes) return SP_OK;
    sp_node *made;
    if (attrs->transpose_a) SP_TRY(turned(n, &x.bytes));
    if (attrs->transpose_b) SP_TRY(turned(n, &y.bytes));
    SP_TRY(sp__node_op(n->owner, n, &sp_op_matmul_i32, NULL, 4, (sp_value *const[]){x.bytes, y.bytes, x.zero, y.zero},
                       &made));
    made->place = n->place;
    n->out[0]->mark = made->out[0];
    sp__node_remove(n);
    ++*count;
    return SP_OK;
}

static sp_status bytes_run(sp_graph *g, int *count)
{
#ifdef SP_OPERATORS_LIST /* a small build may not have the operator */
    if (!SP_HAVE_OP_matmul_i32) return SP_OK;
#endif
    sp__marks_clear(g);
    for (sp_function *f = g->first; f; f = f->next)
        for (sp_node *n = f->first, *next; n; n = next) {
            next = n->next;
            sp__node_forward(n);
            if (n->kind == SP_NODE_OP && n->op == &sp_op_matmul && n->out[0]->meta.dtype == SP_DTYPE_I32)
                SP_TRY(narrow(n, count));
        }
    sp__values_forward(g);
    sp__marks_clear(g);
    return SP_OK;
}

const sp_pass sp_pass_bytes = {
    .name = "bytes",
    .what = "products of bytes",
    .doc = "Products of widened bytes become products of bytes.",
    .run = bytes_run,
};
