/* SPDX-License-Identifier: Apache-2.0 */
/* cast.c - change of dtype, identity, conjugate, choice between two. */
#include "ops/kernels.h"

/* --- cast -------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(cast_attr_table, sp_cast_attrs, (DTYPE, dtype, float32));

static sp_status cast_infer(const sp_call *c, sp_meta *out)
{
    const sp_cast_attrs *a = c->attrs;
    SP_CHECK(a->dtype != SP_DTYPE_NONE && a->dtype != SP_DTYPE_STR, SP_TYPE, "dtype is %s, it must be a number type",
             sp_dtype_name(a->dtype));
    sp__meta_of(c->in[0], out);
    out->dtype = a->dtype;
    return SP_OK;
}

sp_inner_loop sp__cast_inner(const sp_call *c)
{
    return (sp_inner_loop){.fn = sp__cast_loop((sp_dtype)c->in[0]->dtype, (sp_dtype)c->out[0]->dtype), .cost = 4};
}

static sp_status cast_reference(const sp_call *c) { return sp__call_loop(c, sp__cast_inner(c).fn, NULL, 4); }

static sp_status cast_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_cast(b, v->dout[0], (sp_dtype)v->in[0]->dtype);
    return SP_OK;
}

const sp_op sp_op_cast = {
    .name = "cast",
    .inputs = "x",
    SP_ATTRS(cast_attr_table, sp_cast_attrs),
    .infer = cast_infer,
    .reference = cast_reference,
    .loop = sp__cast_inner,
    .strided = true,
    .vjp = cast_vjp,
    .mindir = "Cast",
    .onnx = "Cast",
    .doc = "The same values in another dtype. Floats become integers by cutting off the fraction.",
    .samples = "[2,3] dtype=float64; [] dtype=float64",
};

/* --- identity: a new handle with a history of its own ------------------------------------------------------------ */

static sp_status identity_view(const sp_call *c) { return sp__tensor_alias(c->in[0], &c->out[0]); }

static sp_status identity_vjp(sp_builder *b, const sp_vjp *v)
{
    (void)b;
    v->din[0] = v->dout[0];
    return SP_OK;
}

const sp_op sp_op_identity = {
    .batch = sp__batch_elementwise,
    .name = "identity",
    .shard = "same",
    .inputs = "x",
    .infer = sp__infer_same,
    .view = identity_view,
    .vjp = identity_vjp,
    .mindir = "Identity",
    .onnx = "Identity",
    .doc = "The same tensor.",
    .samples = "[2,3]; []",
};

/* --- after: an order that passes keep ----------------------------------------------------------------------------- */

static sp_status after_vjp(sp_builder *b, const sp_vjp *v)
{
    (void)b;
    v->din[0] = v->dout[0];
    return SP_OK;
}

/* What is computed of it is not what was computed of x before, and waits for the token: so that a program which computes
 * something again does that when it is told to, instead of keeping what it had. */
const sp_op sp_op_after = {
    .name = "after",
    .inputs = "x, token",
    .infer = sp__infer_same,
    .view = identity_view,
    .vjp = after_vjp,
    .doc = "The same tensor, not before the token is there.",
    .samples = "[2,3] [4]; [] [1]",
};

/* --- complex conjugate ------------------------------------------------------------------------------------------- */

SP_EACH_REAL(SP_UNARY_LOOP, conj, x)
SP_UNARY_LOOP(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, conj, conjf(x))
SP_UNARY_LOOP(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, conj, conj(x))
static const sp_loop_fn conj_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(SP_LOOP_ROW, conj, )
                                                          SP_EACH_COMPLEX(SP_LOOP_ROW, conj, )};
SP_LOOP_KERNEL(conj, 4)

static sp_status conj_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = SP_APPLY1(b, sp_op_conj, v->dout[0]);
    return SP_OK;
}

const sp_op sp_op_conj = {
    .name = "conj",
    .inputs = "x",
    .dtypes = SP_DT_NUMBERS,
    .infer = sp__infer_same,
    .reference = conj_reference,
    .loop = conj_loop,
    .strided = true,
    .vjp = conj_vjp,
    .mindir = "Conj",
    .python = "ops.conj(input); ops.Conj()(x); Tensor.conj()",
    .doc = "The complex conjugate of each element.",
    .samples = "[2,3]; []",
};

/* --- select ------------------------------------------------------------------------------------------------------ */

/* Moves bits, so one loop per element size serves every dtype. */
#define SELECT_MASKED(T, c, x, y) (T)(((x) & (T)(0 - (T)((c) != 0))) | ((y) & (T) ~(T)(0 - (T)((c) != 0))))
#define SELECT_EITHER(T, c, x, y) ((c) ? (x) : (y))
#define SELECT_LOOP(T, PICK, name)                                                                                     \
    static void name(int64_t n, char *const *ptr, const int64_t *step, const void *context)                            \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        const int64_t size = (int64_t)sizeof(T);                                                                       \
        if (step[0] == size && step[1] == 1 && step[2] % size == 0 && step[3] % size == 0) {                           \
            /* Both sides are read, so that there is no branch to mispredict. */                                       \
            T *o_ = (T *)(void *)ptr[0];                                                                               \
            const uint8_t *c_ = (const uint8_t *)ptr[1];                                                               \
            const T *x_ = (const T *)(void *)ptr[2], *y_ = (const T *)(void *)ptr[3];                                  \
            const int64_t xs = step[2] / size, ys = step[3] / size;                                                    \
            if (xs == 1 && ys == 1) { /* vectors can do it */                                                          \
                for (int64_t i = 0; i < n; i++) o_[i] = PICK(T, c_[i], x_[i], y_[i]);                                  \
                return;                                                                                                \
            }                                                                                                          \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                const T x = x_[i * xs], y = y_[i * ys];                                                                \
                o_[i] = c_[i] ? x : y;                                                                                 \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            bool yes = *(const uint8_t *)(ptr[1] + i * step[1]) != 0;                                                  \
            const char *from = yes ? ptr[2] + i * step[2] : ptr[3] + i * step[3];                                      \
            *(T *)(void *)(ptr[0] + i * step[0]) = *(const T *)(const void *)from;                                     \
        }                                                                                                              \
    }
SELECT_LOOP(uint8_t, SELECT_MASKED, select_1)
SELECT_LOOP(uint16_t, SELECT_MASKED, select_2)
SELECT_LOOP(uint32_t, SELECT_MASKED, select_4)
SELECT_LOOP(uint64_t, SELECT_MASKED, select_8)
SELECT_LOOP(sp_c128, SELECT_EITHER, select_16)

/* Only the two values promote, the condition stays bool: done here, because promotion treats all inputs alike. */
static sp_status select_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *condition = c->in[0], *x = c->in[1], *y = c->in[2];
    if (condition->dtype != SP_DTYPE_BOOL) condition = sp_cast(b, condition, SP_DTYPE_BOOL);
    if (x->dtype != y->dtype) {
        bool weak_x = x->flags & SP_TENSOR_WEAK, weak_y = y->flags & SP_TENSOR_WEAK;
        char kx = sp_dtype_kind((sp_dtype)x->dtype), ky = sp_dtype_kind((sp_dtype)y->dtype);
        sp_dtype to = sp_dtype_promote((sp_dtype)x->dtype, (sp_dtype)y->dtype);
        if (weak_x && !weak_y && (kx == ky || ky == 'f')) to = (sp_dtype)y->dtype;
        if (weak_y && !weak_x && (kx == ky || kx == 'f')) to = (sp_dtype)x->dtype;
        SP_CHECK(to != SP_DTYPE_NONE, SP_TYPE, "dtypes %s and %s have no common dtype",
                 sp_dtype_name((sp_dtype)x->dtype), sp_dtype_name((sp_dtype)y->dtype));
        x = sp_cast(b, x, to);
        y = sp_cast(b, y, to);
    }
    c->out[0] = sp_builder_apply(b, &sp_op_select_same, NULL, 3, (sp_tensor *const[]){condition, x, y});
    return SP_OK;
}

const sp_op sp_op_select = {
    .name = "select",
    .inputs = "condition, x, y",
    .compose = select_compose,
    .mindir = "Select",
    .onnx = "Where",
    .python = "ops.Select()(condition, x, y)",
    .doc = "Elements of x where the condition is true, else of y; broadcast.",
    .samples = "[2,3]b [2,3] [2,3]; [3]b [2,1] []",
};

static sp_status select_infer(const sp_call *c, sp_meta *out)
{
    SP_CHECK(c->in[0]->dtype == SP_DTYPE_BOOL && c->in[1]->dtype == c->in[2]->dtype, SP_TYPE,
             "condition, x and y have dtypes %s, %s and %s, they must be bool and two that are equal",
             sp_dtype_name((sp_dtype)c->in[0]->dtype), sp_dtype_name((sp_dtype)c->in[1]->dtype),
             sp_dtype_name((sp_dtype)c->in[2]->dtype));
    SP_TRY(sp__infer_broadcast(c, out));
    out->dtype = (sp_dtype)c->in[1]->dtype;
    return SP_OK;
}

static sp_inner_loop select_loop(const sp_call *c)
{
    static const sp_loop_fn loops[17] = {
        [1] = select_1, [2] = select_2, [4] = select_4, [8] = select_8, [16] = select_16};
    return (sp_inner_loop){.fn = loops[sp_dtype_bytes((sp_dtype)c->in[1]->dtype)], .cost = 8};
}
static sp_status select_reference(const sp_call *c) { return sp__call_loop(c, select_loop(c).fn, NULL, 8); }

static sp_status select_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *zero = sp__const(b, 0, v->dout[0]);
    if (v->needs[1]) v->din[1] = sp__unbroadcast(b, sp_select(b, v->in[0], v->dout[0], zero), v->in[1]);
    if (v->needs[2]) v->din[2] = sp__unbroadcast(b, sp_select(b, v->in[0], zero, v->dout[0]), v->in[2]);
    return SP_OK;
}

const sp_op sp_op_select_same = {
    .name = "select_same",
    .inputs = "condition, x, y",
    .dtypes = SP_DT(BOOL),
    .infer = select_infer,
    .reference = select_reference,
    .loop = select_loop,
    .strided = true,
    .vjp = select_vjp,
    .saves = SP_SAVE_IN(0),
    .doc = "select for a bool condition and values of one dtype.",
    .samples = "[2,3]b [2,3] [2,3]; [3]b [2,1] []",
};

sp_tensor *sp__conj(sp_builder *b, sp_tensor *t)
{
    return t && sp_dtype_kind((sp_dtype)t->dtype) == 'c' ? SP_APPLY1(b, sp_op_conj, t) : t;
}
