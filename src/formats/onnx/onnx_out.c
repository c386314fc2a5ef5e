/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out.c - values and nodes of ONNX models being written: see onnx_out.h. */
#include "formats/onnx/onnx_out.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "formats/onnx/onnx_tensor.h"

/* --- failures ---------------------------------------------------------------------------------------------------- */

void *sp__onnx_out_fail(sp_onnx_out *o, sp_status status)
{
    if (o->status == SP_OK) {
        o->status = status;
        sp_error_capture(status, &o->error);
    }
    return NULL;
}

bool sp__onnx_out_ok(const sp_onnx_out *o) { return o->status == SP_OK; }

void sp__onnx_out_free(sp_onnx_out *o)
{
    for (int i = 1; i <= o->n_values; i++) sp_tensor_release(o->values[i].constant);
    for (sp_onnx_out_node *n = o->nodes; n; n = n->made_before) sp__wire_out_free(&n->attrs);
    sp__free(o->values);
    sp__sizes_free(&o->sizes);
    sp__arena_free(&o->arena);
}

static void *alloc(sp_onnx_out *o, size_t bytes)
{
    void *p = sp__arena_alloc(&o->arena, bytes ? bytes : 1);
    return p ? p : sp__onnx_out_fail(o, SP_NOMEM);
}

static const char *keep_text(sp_onnx_out *o, const char *s)
{
    const char *kept = sp__arena_text(&o->arena, s);
    return kept ? kept : (sp__onnx_out_fail(o, SP_NOMEM), "");
}

/* --- values ------------------------------------------------------------------------------------------------------ */

sp_onnx_id sp__onnx_out_value(sp_onnx_out *o, const char *name, sp_dtype dtype)
{
    char made[32];
    if (!sp__onnx_out_ok(o)) return 0;
    if (o->n_values + 1 >= o->values_capacity) {
        int more = o->values_capacity ? 2 * o->values_capacity : 256;
        sp_onnx_out_value *bigger =
            sp__realloc(o->values, (size_t)o->values_capacity * sizeof *bigger, (size_t)more * sizeof *bigger);
        if (!bigger) return sp__onnx_out_fail(o, SP_NOMEM), 0;
        o->values = bigger;
        o->values_capacity = more;
    }
    if (!name) {
        snprintf(made, sizeof made, "%s%d", o->prefix, ++o->counter);
        name = made;
    }
    int id = ++o->n_values;
    bool pair = sp_dtype_kind(dtype) == 'c';
    if (pair) dtype = dtype == SP_DTYPE_C64 ? SP_DTYPE_F32 : SP_DTYPE_F64;
    o->values[id] = (sp_onnx_out_value){
        .name = keep_text(o, name), .dtype = dtype, .is_pair = pair, .scope = o->scope, .has_weights = o->has_weights};
    return sp__onnx_out_ok(o) ? id : 0;
}

sp_dtype sp__onnx_out_dtype(const sp_onnx_out *o, sp_onnx_id v) { return v ? o->values[v].dtype : SP_DTYPE_NONE; }

sp_onnx_id sp__onnx_out_number(sp_onnx_out *o, double v)
{
    sp_onnx_id id = sp__onnx_out_value(o, "", SP_DTYPE_F32);
    if (!id) return 0;
    o->values[id].is_number = true;
    o->values[id].number = v;
    return id;
}

/* Complex numbers as pairs of floats, which is how they lie in memory. */
static sp_status as_floats(sp_tensor **t)
{
    sp_tensor *x = *t, *pairs = NULL;
    int64_t dims[SP_RANK_MAX];
    SP_CHECK(x->rank < SP_RANK_MAX, SP_DECLINED, "complex numbers of %d dimensions are not written to ONNX", x->rank);
    for (int k = 0; k < x->rank; k++) dims[k] = x->dims[k];
    dims[x->rank] = 2;
    SP_TRY(sp_tensor_create_from(sp_tensor_dtype(x) == SP_DTYPE_C64 ? SP_DTYPE_F32 : SP_DTYPE_F64, x->rank + 1, dims,
                                 sp_tensor_data(x), &pairs));
    sp_tensor_release(x);
    *t = pairs;
    return SP_OK;
}

sp_onnx_id sp__onnx_out_take_tensor(sp_onnx_out *o, sp_tensor *t, const char *name)
{
    sp_tensor *plain = NULL;
    sp_status status = t ? sp_tensor_contiguous(t, &plain) : SP_NOMEM;
    sp_dtype dtype = t ? sp_tensor_dtype(t) : SP_DTYPE_NONE;
    sp_tensor_release(t);
    if (status == SP_OK && sp_dtype_kind(dtype) == 'c') status = as_floats(&plain);
    if (status != SP_OK) {
        sp_tensor_release(plain);
        return sp__onnx_out_fail(o, status), 0;
    }
    sp_onnx_id id = sp__onnx_out_value(o, name, dtype);
    if (id) o->values[id].constant = plain;
    else sp_tensor_release(plain);
    return id;
}

struct sp_onnx_out_known {
    sp_onnx_id value;
    bool list;
    struct sp_onnx_out_known *next;
};

/* The constant of these contents that is there already, or this one. */
static sp_onnx_id keep_small(sp_onnx_out *o, sp_tensor *t)
{
    for (struct sp_onnx_out_known *k = o->known; k; k = k->next) {
        const sp_tensor *c = o->values[k->value].constant;
        if (c->dtype == t->dtype && c->rank == t->rank && c->count == t->count &&
            (c->rank == 0 || c->dims[0] == t->dims[0]) &&
            !memcmp(sp_tensor_data((sp_tensor *)c), sp_tensor_data(t), sp_tensor_bytes(t))) {
            sp_tensor_release(t);
            return k->value;
        }
    }
    struct sp_onnx_out_known *k = alloc(o, sizeof *k);
    sp_onnx_id v = sp__onnx_out_take_tensor(o, t, NULL);
    if (!k || !v) return 0;
    *k = (struct sp_onnx_out_known){.value = v, .next = o->known};
    o->known = k;
    return v;
}

sp_onnx_id sp__onnx_out_scalar(sp_onnx_out *o, sp_dtype dtype, double v)
{
    sp_tensor *t;
    if (!sp__onnx_out_ok(o)) return 0;
    sp_status status = sp_tensor_create_f64(dtype, v, &t);
    return status == SP_OK ? keep_small(o, t) : (sp__onnx_out_fail(o, status), 0);
}

sp_onnx_id sp__onnx_out_whole(sp_onnx_out *o, sp_dtype dtype, int64_t v)
{
    sp_tensor *t;
    if (!sp__onnx_out_ok(o)) return 0;
    sp_status status = sp_tensor_create_i64(dtype, v, &t);
    return status == SP_OK ? keep_small(o, t) : (sp__onnx_out_fail(o, status), 0);
}

sp_onnx_id sp__onnx_out_ints(sp_onnx_out *o, int n, const int64_t *v)
{
    sp_tensor *t;
    int64_t dims = n;
    if (!sp__onnx_out_ok(o)) return 0;
    sp_status status = sp_tensor_create(SP_DTYPE_I64, 1, &dims, &t);
    if (status != SP_OK) return sp__onnx_out_fail(o, status), 0;
    if (n) memcpy(sp_tensor_data(t), v, (size_t)n * sizeof *v);
    return keep_small(o, t);
}

sp_onnx_id sp__onnx_out_table(sp_onnx_out *o, sp_dtype dtype, int rank, const int64_t *dims,
                              double (*fn)(const void *context, int64_t i), const void *context)
{
    sp_tensor *t, *typed;
    if (!sp__onnx_out_ok(o)) return 0;
    sp_status status = sp_tensor_create(dtype == SP_DTYPE_I64 ? SP_DTYPE_I64 : SP_DTYPE_F64, rank, dims, &t);
    if (status != SP_OK) return sp__onnx_out_fail(o, status), 0;
    for (int64_t i = 0; i < sp_tensor_count(t); i++) {
        double v = fn(context, i);
        if (dtype == SP_DTYPE_I64) ((int64_t *)sp_tensor_data(t))[i] = (int64_t)v;
        else ((double *)sp_tensor_data(t))[i] = v;
    }
    if (sp_tensor_dtype(t) == dtype) return sp__onnx_out_take_tensor(o, t, NULL);
    sp_builder b;
    char text[48];
    sp__builder_init(&b);
    snprintf(text, sizeof text, "dtype=%s", sp_dtype_name(dtype));
    typed = sp_builder_call(&b, "cast", text, 1, &t);
    if (typed) sp_tensor_retain(typed);
    else sp__onnx_out_fail(o, sp__builder_status(&b));
    sp__builder_done(&b);
    sp_tensor_release(t);
    return typed ? sp__onnx_out_take_tensor(o, typed, NULL) : 0;
}

/* --- what ONNX operators take ------------------------------------------------------------------------------------ */

#define FLOATS (SP_DT(F16) | SP_DT(F32) | SP_DT(F64))
#define NUMBERS (FLOATS | SP_DT(I32) | SP_DT(I64))
#define WIDE (NUMBERS | SP_DT(U8) | SP_DT(I8) | SP_DT(U32) | SP_DT(U64))
#define PLACES (NUMBERS | SP_DT(U8) | SP_DT(BOOL))
#define EVERY (SP_DT_REAL_BOOL)

/* Signature: of each operand and result. T: the dtype that counts; b: bool; i: int64; w: int32; u: uint8; x: of its own (a result: float32); *: the last one again. */
typedef struct {
    const char *op;
    int since;
    uint32_t dtypes; /* of T, such that ONNX Runtime computes with them too; others are cast to one of these and back */
    const char *signature;
} onnx_op;

static const onnx_op onnx_ops[] = {
    {"Abs", 13, WIDE, "T>T"},
    {"Acos", 7, FLOATS, "T>T"},
    {"Acosh", 9, FLOATS, "T>T"},
    {"Add", 7, NUMBERS, "TT>T"},
    {"And", 7, SP_DT(BOOL), "bb>b"},
    {"ArgMax", 13, FLOATS | SP_DT(I32), "T>i"},
    {"ArgMin", 13, FLOATS | SP_DT(I32), "T>i"},
    {"Asin", 7, FLOATS, "T>T"},
    {"Asinh", 9, FLOATS, "T>T"},
    {"Atan", 7, FLOATS, "T>T"},
    {"Atanh", 9, FLOATS, "T>T"},
    {"AveragePool", 7, FLOATS, "T>T"},
    {"BatchNormalization", 9, FLOATS, "TTTTT>T"},
    {"BitShift", 11, SP_DT_UNSIGNED, "TT>T"},
    {"BitwiseAnd", 18, SP_DT_INTS, "TT>T"},
    {"BitwiseNot", 18, SP_DT_INTS, "T>T"},
    {"BitwiseOr", 18, SP_DT_INTS, "TT>T"},
    {"BitwiseXor", 18, SP_DT_INTS, "TT>T"},
    {"Ceil", 13, FLOATS, "T>T"},
    {"Celu", 12, SP_DT(F32), "T>T"},
    {"Clip", 13, NUMBERS | SP_DT(U8) | SP_DT(I8), "TTT>T"},
    {"Col2Im", 18, FLOATS, "Tii>T"},
    {"Concat", 13, EVERY & ~SP_DT(BF16), "T*>T"},
    {"ConstantOfShape", 9, EVERY, "i>x"},
    {"Conv", 11, FLOATS, "TTT>T"},
    {"ConvInteger", 10, 0, "xxxx>w"},
    {"ConvTranspose", 11, FLOATS, "TTT>T"},
    {"Cos", 7, FLOATS, "T>T"},
    {"Cosh", 9, FLOATS, "T>T"},
    {"CumSum", 11, NUMBERS, "Ti>T"},
    {"DFT", 17, SP_DT(F32) | SP_DT(F64), "Txi>T"},
    {"DepthToSpace", 13, FLOATS, "T>T"},
    {"DequantizeLinear", 10, 0, "xxx>x"},
    {"Det", 11, FLOATS, "T>T"},
    {"Div", 7, NUMBERS, "TT>T"},
    {"DynamicQuantizeLinear", 11, 0, "x>uxu"},
    {"Elu", 6, FLOATS, "T>T"},
    {"Equal", 11, NUMBERS | SP_DT(BOOL), "TT>b"},
    {"Erf", 13, FLOATS, "T>T"},
    {"Exp", 13, FLOATS, "T>T"},
    {"Expand", 13, EVERY & ~SP_DT(BF16), "Ti>T"},
    {"Floor", 13, FLOATS, "T>T"},
    {"Gather", 13, EVERY, "Ti>T"},
    {"GatherElements", 13, EVERY, "Ti>T"},
    {"GatherND", 13, EVERY & ~SP_DT(BF16), "Ti>T"},
    {"Gelu", 20, FLOATS, "T>T"},
    {"Gemm", 11, FLOATS, "TTT>T"},
    {"GlobalAveragePool", 1, FLOATS, "T>T"},
    {"Greater", 9, NUMBERS, "TT>b"},
    {"GreaterOrEqual", 12, NUMBERS, "TT>b"},
    {"GridSample", 16, FLOATS, "TT>T"},
    {"HardSigmoid", 6, FLOATS, "T>T"},
    {"HardSwish", 14, FLOATS, "T>T"},
    {"Identity", 13, EVERY, "T>T"},
    {"InstanceNormalization", 6, FLOATS, "TTT>T"},
    {"IsInf", 10, SP_DT(F32) | SP_DT(F64), "T>b"},
    {"IsNaN", 9, FLOATS, "T>b"},
    {"LayerNormalization", 17, FLOATS, "TTT>Txx"},
    {"LeakyRelu", 6, FLOATS, "T>T"},
    {"Less", 9, NUMBERS, "TT>b"},
    {"LessOrEqual", 12, NUMBERS, "TT>b"},
    {"Log", 13, FLOATS, "T>T"},
    {"LogSoftmax", 13, FLOATS, "T>T"},
    {"LSTM", 7, FLOATS, "TTTTxTTT>TTT"},
    {"GRU", 7, FLOATS, "TTTTxT>TT"},
    {"RNN", 7, FLOATS, "TTTTxT>TT"},
    {"MatMul", 9, NUMBERS | SP_DT(U32) | SP_DT(U64), "TT>T"},
    {"MatMulInteger", 10, 0, "xxxx>w"},
    {"Max", 13, NUMBERS | SP_DT(U32) | SP_DT(U64), "T*>T"},
    {"MaxPool", 12, FLOATS, "T>Ti"},
    {"Min", 13, NUMBERS | SP_DT(U32) | SP_DT(U64), "T*>T"},
    {"Mish", 18, FLOATS, "T>T"},
    {"Mod", 13, EVERY & ~SP_DT(BF16) & ~SP_DT(BOOL), "TT>T"},
    {"Mul", 7, NUMBERS, "TT>T"},
    {"Multinomial", 7, SP_DT(F32), "T>x"},
    {"Neg", 13, NUMBERS | SP_DT(I8), "T>T"},
    {"NonZero", 13, PLACES, "T>i"},
    {"Not", 1, SP_DT(BOOL), "b>b"},
    {"OneHot", 11, FLOATS | SP_DT(I32) | SP_DT(I64), "xxT>T"},
    {"Or", 7, SP_DT(BOOL), "bb>b"},
    {"PRelu", 9, FLOATS, "TT>T"},
    {"Pad", 13, NUMBERS | SP_DT(U8) | SP_DT(I8) | SP_DT(BOOL), "TiTi>T"},
    {"Pow", 13, NUMBERS, "TT>T"},
    {"RMSNormalization", 23, FLOATS, "TT>T"},
    {"QLinearConv", 10, SP_DT(I8) | SP_DT(U8), "xxxxxxxTx>T"},
    {"QuantizeLinear", 10, SP_DT(I8) | SP_DT(U8) | SP_DT(I16) | SP_DT(U16), "xxT>T"},
    {"RandomNormal", 1, 0, ">x"},
    {"RandomUniform", 1, 0, ">x"},
    {"Range", 11, NUMBERS, "TTT>T"},
    {"Reciprocal", 13, FLOATS, "T>T"},
    {"ReduceL2", 13, FLOATS, "Ti>T"},
    {"ReduceLogSumExp", 13, FLOATS, "Ti>T"},
    {"ReduceMax", 13, NUMBERS, "Ti>T"},
    {"ReduceMean", 13, FLOATS | SP_DT(I32), "Ti>T"},
    {"ReduceMin", 13, NUMBERS, "Ti>T"},
    {"ReduceProd", 13, SP_DT(F16) | SP_DT(F32) | SP_DT(I32) | SP_DT(I64), "Ti>T"},
    {"ReduceSum", 13, NUMBERS, "Ti>T"},
    {"Relu", 6, FLOATS, "T>T"},
    {"Reshape", 13, EVERY, "Ti>T"},
    {"Resize", 13, SP_DT(F32), "Txxi>T"},
    {"RoiAlign", 10, FLOATS, "TTi>T"},
    {"Round", 11, FLOATS, "T>T"},
    {"ScatterElements", 13, EVERY & ~SP_DT(BF16), "TiT>T"},
    {"ScatterND", 13, EVERY & ~SP_DT(BF16), "TiT>T"},
    {"Selu", 6, FLOATS, "T>T"},
    {"Shape", 13, EVERY, "T>i"},
    {"Shrink", 9, WIDE, "T>T"},
    {"Sigmoid", 13, FLOATS, "T>T"},
    {"Sign", 13, WIDE, "T>T"},
    {"Sin", 7, FLOATS, "T>T"},
    {"Sinh", 9, FLOATS, "T>T"},
    {"Slice", 13, EVERY & ~SP_DT(BF16), "Tiiii>T"},
    {"Softmax", 13, FLOATS, "T>T"},
    {"Softplus", 1, FLOATS, "T>T"},
    {"Softsign", 1, FLOATS, "T>T"},
    {"Split", 13, EVERY & ~SP_DT(BF16), "Ti>T*"},
    {"Sqrt", 13, FLOATS, "T>T"},
    {"Squeeze", 13, EVERY, "Ti>T"},
    {"Sub", 7, NUMBERS, "TT>T"},
    {"Sum", 13, FLOATS, "T*>T"},
    {"Tan", 7, FLOATS, "T>T"},
    {"Tanh", 13, FLOATS, "T>T"},
    {"Tile", 13, WIDE | SP_DT(BOOL), "Ti>T"},
    {"TopK", 11, NUMBERS, "Ti>Ti"},
    {"Transpose", 13, EVERY, "T>T"},
    {"Trilu", 14, NUMBERS | SP_DT(BOOL), "Ti>T"},
    {"Unique", 11, FLOATS | SP_DT(I64) | SP_DT(I8), "T>Tiii"},
    {"Unsqueeze", 13, EVERY, "Ti>T"},
    {"Where", 9, NUMBERS | SP_DT(U8), "bTT>T"},
    {"Xor", 7, SP_DT(BOOL), "bb>b"},
};

static const onnx_op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof onnx_ops / sizeof *onnx_ops; i++)
        if (!strcmp(onnx_ops[i].op, name)) return &onnx_ops[i];
    return NULL;
}

/* The dtype to compute in for operands of dtype d. */
static sp_dtype computed_as(uint32_t dtypes, sp_dtype d)
{
    static const sp_dtype wider[] = {SP_DTYPE_I32, SP_DTYPE_I64, SP_DTYPE_F32, SP_DTYPE_F64, SP_DTYPE_BOOL};
    if (!dtypes || dtypes >> d & 1) return d;
    char kind = sp_dtype_kind(d);
    if (dtypes == SP_DT(BOOL)) return SP_DTYPE_BOOL;
    if (kind == 'f')
        return d == SP_DTYPE_F64 && dtypes >> SP_DTYPE_F64 & 1 ? d : dtypes >> SP_DTYPE_F32 & 1 ? SP_DTYPE_F32 : d;
    bool wide = d == SP_DTYPE_U32 || d == SP_DTYPE_U64 || d == SP_DTYPE_I64;
    for (size_t i = wide ? 1 : 0; i < sizeof wider / sizeof *wider; i++)
        if (dtypes >> wider[i] & 1) return wider[i];
    return d;
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

enum { ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_STRING = 3, ATTR_FLOATS = 6, ATTR_INTS = 7, ATTR_STRINGS = 8 };

static sp_status put_float(sp_wire_out *w, uint32_t field, double v)
{
    float f = (float)v;
    SP_TRY(sp__wire_put_varint(w, field << 3 | SP_WIRE_FIXED32));
    return sp__wire_put(w, &f, sizeof f);
}

static bool is_float(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (strchr(".einfa", text[i])) return true;
    return false;
}

static sp_status put_list(sp_wire_out *w, const char *value, size_t bytes)
{
    bool floats = is_float(value, bytes);
    if (value[1] == '\'') { /* one text */
        SP_TRY(sp__wire_put_head(w, 9, bytes - 4));
        SP_TRY(sp__wire_put(w, value + 2, bytes - 4));
        return sp__wire_put_number(w, 20, ATTR_STRINGS);
    }
    for (const char *p = value + 1; p < value + bytes - 1;) {
        char *end;
        if (floats) SP_TRY(put_float(w, 7, sp__strtod(p, &end)));
        else SP_TRY(sp__wire_put_number(w, 8, (uint64_t)strtoll(p, &end, 10)));
        if (end == p) return sp__fail(SP_VALUE, "'%.*s' is no list", (int)bytes, value);
        p = end + strspn(end, ", ");
    }
    return sp__wire_put_number(w, 20, floats ? ATTR_FLOATS : ATTR_INTS);
}

/* One attribute of an attribute text: its AttributeProto appended to w. */
static sp_status put_attr(sp_wire_out *w, const char *name, size_t name_bytes, const char *value, size_t bytes)
{
    sp_wire_out a = {0};
    sp_status status = sp__wire_put_head(&a, 1, name_bytes);
    if (status == SP_OK) status = sp__wire_put(&a, name, name_bytes);
    if (status == SP_OK && *value == '\'') {
        status = sp__wire_put_head(&a, 4, bytes - 2);
        if (status == SP_OK) status = sp__wire_put(&a, value + 1, bytes - 2);
        if (status == SP_OK) status = sp__wire_put_number(&a, 20, ATTR_STRING);
    } else if (status == SP_OK && *value == '[') status = put_list(&a, value, bytes);
    else if (status == SP_OK && is_float(value, bytes)) {
        status = put_float(&a, 2, sp__strtod(value, NULL));
        if (status == SP_OK) status = sp__wire_put_number(&a, 20, ATTR_FLOAT);
    } else if (status == SP_OK) {
        status = sp__wire_put_number(&a, 3, (uint64_t)strtoll(value, NULL, 10));
        if (status == SP_OK) status = sp__wire_put_number(&a, 20, ATTR_INT);
    }
    if (status == SP_OK) status = sp__wire_put_head(w, 5, a.bytes);
    if (status == SP_OK) status = sp__wire_put(w, a.data, a.bytes);
    sp__wire_out_free(&a);
    return status;
}

static sp_status put_attrs(sp_wire_out *w, const char *text)
{
    for (const char *p = text; *p; p += strspn(p, ", ")) {
        const char *name = p, *value;
        size_t name_bytes = strcspn(p, "= ");
        value = name + name_bytes + strspn(name + name_bytes, "= ");
        const char *end = *value == '[' ? strchr(value, ']') : *value == '\'' ? strchr(value + 1, '\'') : NULL;
        p = end ? end + 1 : value + strcspn(value, ", ");
        SP_TRY(put_attr(w, name, name_bytes, value, (size_t)(p - value)));
    }
    return SP_OK;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static sp_onnx_out_node *add_node(sp_onnx_out *o, const char *op, int n_in, const sp_onnx_id *in, int n_out)
{
    sp_onnx_out_node *n = alloc(o, sizeof *n);
    if (!n) return NULL;
    n->made_before = o->nodes;
    o->nodes = n;
    n->op = keep_text(o, op);
    while (n_in > 0 && !in[n_in - 1]) n_in--;
    n->n_in = n_in;
    n->n_out = n_out;
    n->in = alloc(o, (size_t)n_in * sizeof *n->in);
    n->out = alloc(o, (size_t)n_out * sizeof *n->out);
    if (!sp__onnx_out_ok(o)) return NULL;
    if (n_in) memcpy(n->in, in, (size_t)n_in * sizeof *in);
    n->scope = o->scope ? o->scope : "";
    if (o->graph->last) o->graph->last->next = n;
    else o->graph->first = n;
    o->graph->last = n;
    return n;
}

/* Elements of the file, which know nothing of pairs. */
static sp_onnx_id cast_elements(sp_onnx_out *o, sp_onnx_id x, sp_dtype dtype)
{
    int number = sp__onnx_dtype_number(dtype);
    if (!sp__onnx_out_ok(o) || !x) return 0;
    if (o->values[x].is_number) return sp__onnx_out_scalar(o, dtype, o->values[x].number);
    if (o->values[x].dtype == dtype) return x;
    sp_onnx_out_node *n = add_node(o, "Cast", 1, &x, 1);
    sp_onnx_id out = sp__onnx_out_value(o, NULL, dtype);
    char text[32];
    sp_wire_out w = {0};
    if (!n || !out) return 0;
    n->out[0] = out;
    snprintf(text, sizeof text, "to=%d", number);
    sp_status status = put_attrs(&w, text);
    n->attrs = w;
    if (status != SP_OK) sp__onnx_out_fail(o, status);
    return out;
}

sp_onnx_id sp__onnx_out_cast(sp_onnx_out *o, sp_onnx_id x, sp_dtype dtype)
{
    bool complex = sp__onnx_out_ok(o) && x && (sp_dtype_kind(dtype) == 'c' || o->values[x].is_pair);
    return complex ? sp__onnx_out_cast_pair(o, x, dtype) : cast_elements(o, x, dtype);
}

/* Operands in the dtype that is computed in; numbers become constants. */
static void prepare(sp_onnx_out *o, const onnx_op *info, int n_in, sp_onnx_id *in, sp_dtype *original,
                    sp_dtype *computed)
{
    const char *s = info->signature;
    *original = *computed = SP_DTYPE_NONE;
    for (int pass = 0; pass < 2; pass++) {
        const char *p = s;
        for (int i = 0; i < n_in && *p && *p != '>'; i++) {
            bool many = p[1] == '*', number = in[i] && o->values[in[i]].is_number;
            if (in[i] && pass == 0 && *p == 'T' && !number && *original == SP_DTYPE_NONE)
                *original = o->values[in[i]].dtype;
            if (in[i] && pass == 1) {
                sp_dtype want = *p == 'T'             ? *computed
                                : *p == 'b'           ? SP_DTYPE_BOOL
                                : *p == 'i' && number ? SP_DTYPE_I64
                                                      : SP_DTYPE_NONE;
                if (want == SP_DTYPE_NONE && number) want = SP_DTYPE_F32;
                if (want != SP_DTYPE_NONE) in[i] = cast_elements(o, in[i], want);
            }
            if (!many) p++;
        }
        if (pass == 0) {
            if (*original == SP_DTYPE_NONE) *original = SP_DTYPE_F32;
            *computed = computed_as(info->dtypes, *original);
        }
    }
}

static void emit(sp_onnx_out *o, const char *op, int n_in, const sp_onnx_id *given, int n_out, sp_onnx_id *out,
                 const char *attrs)
{
    const onnx_op *info = find_op(op);
    sp_onnx_id few[64], *in = few;
    sp_dtype original, computed;
    for (int i = 0; i < n_out; i++) out[i] = 0;
    if (!sp__onnx_out_ok(o)) return;
    if (!info || info->since > o->opset) {
        sp__onnx_out_fail(
            o, sp__fail(SP_DECLINED,
                        info ? "%s is part of ONNX since opset %d, the file is to have %d" : "%s is not known (%d, %d)",
                        op, info ? info->since : 0, o->opset));
        return;
    }
    if (n_in > 64 && !(in = alloc(o, (size_t)n_in * sizeof *in))) return;
    if (n_in) memcpy(in, given, (size_t)n_in * sizeof *in);
    prepare(o, info, n_in, in, &original, &computed);
    if (!sp__onnx_out_ok(o)) return;
    sp_onnx_out_node *n = add_node(o, op, n_in, in, n_out);
    if (!n) return;
    sp_status status = attrs ? put_attrs(&n->attrs, attrs) : SP_OK;
    if (status != SP_OK) {
        sp__onnx_out_fail(o, status);
        return;
    }
    const char *p = strchr(info->signature, '>') + 1;
    for (int i = 0; i < n_out; i++) {
        sp_dtype d = *p == 'T'   ? computed
                     : *p == 'b' ? SP_DTYPE_BOOL
                     : *p == 'i' ? SP_DTYPE_I64
                     : *p == 'w' ? SP_DTYPE_I32
                     : *p == 'u' ? SP_DTYPE_U8
                                 : SP_DTYPE_F32;
        n->out[i] = out[i] = sp__onnx_out_value(o, NULL, d);
        if (p[0] && p[1] != '*') p++;
    }
    p = strchr(info->signature, '>') + 1;
    for (int i = 0; i < n_out && *p; i++) {
        if (*p == 'T' && out[i]) out[i] = cast_elements(o, out[i], original);
        if (p[1] != '*') p++;
    }
}

void sp__onnx_out_op_many(sp_onnx_out *o, const char *op, int n_in, const sp_onnx_id *in, int n_out, sp_onnx_id *out,
                          const char *attrs, ...)
{
    char text[4096] = "";
    va_list list;
    va_start(list, attrs);
    if (attrs) sp__vsnprintf(text, sizeof text, attrs, list);
    va_end(list);
    emit(o, op, n_in, in, n_out, out, text);
}

sp_onnx_id sp__onnx_out_op(sp_onnx_out *o, const char *op, int n_in, const sp_onnx_id *in, const char *attrs, ...)
{
    char text[4096] = "";
    sp_onnx_id out = 0;
    va_list list;
    va_start(list, attrs);
    if (attrs) sp__vsnprintf(text, sizeof text, attrs, list);
    va_end(list);
    emit(o, op, n_in, in, 1, &out, text);
    return out;
}

sp_onnx_id sp__onnx_out_reshape(sp_onnx_out *o, sp_onnx_id x, int n, const int64_t *dims)
{
    return SP_ONNX_OUT(o, "Reshape", NULL, x, sp__onnx_out_ints(o, n, dims));
}

sp_onnx_id sp__onnx_out_transpose(sp_onnx_out *o, sp_onnx_id x, int n, const int64_t *perm)
{
    char text[256];
    int used = snprintf(text, sizeof text, "perm=[");
    for (int i = 0; i < n; i++) used += snprintf(text + used, sizeof text - (size_t)used, "%lld,", (long long)perm[i]);
    snprintf(text + used, sizeof text - (size_t)used, "]");
    return n > 1 ? sp__onnx_out_op(o, "Transpose", 1, &x, "%s", text) : x;
}

sp_onnx_id sp__onnx_out_reduce(sp_onnx_out *o, const char *op, sp_onnx_id x, int n, const int64_t *axes, bool keep)
{
    bool sum = !strcmp(op, "ReduceSum");
    if (n == 0) return x;
    if (n < 0) return sp__onnx_out_op(o, op, 1, &x, "keepdims=%d", keep);
    if (o->opset >= 18 || sum)
        return sp__onnx_out_op(o, op, 2, (sp_onnx_id[]){x, sp__onnx_out_ints(o, n, axes)}, "keepdims=%d", keep);
    char text[256];
    int used = snprintf(text, sizeof text, "keepdims=%d, axes=[", keep);
    for (int i = 0; i < n; i++) used += snprintf(text + used, sizeof text - (size_t)used, "%lld,", (long long)axes[i]);
    snprintf(text + used, sizeof text - (size_t)used, "]");
    return sp__onnx_out_op(o, op, 1, &x, "%s", text);
}

sp_onnx_id sp__onnx_out_unsqueeze(sp_onnx_out *o, sp_onnx_id x, int64_t axis)
{
    return SP_ONNX_OUT(o, "Unsqueeze", NULL, x, sp__onnx_out_ints(o, 1, &axis));
}

sp_onnx_id sp__onnx_out_slice(sp_onnx_out *o, sp_onnx_id x, int n, const int64_t *from, const int64_t *to,
                              const int64_t *axes, const int64_t *step)
{
    sp_onnx_id in[5] = {x, sp__onnx_out_ints(o, n, from), sp__onnx_out_ints(o, n, to), sp__onnx_out_ints(o, n, axes),
                        step ? sp__onnx_out_ints(o, n, step) : 0};
    return sp__onnx_out_op(o, "Slice", step ? 5 : 4, in, NULL);
}

/* --- graphs ------------------------------------------------------------------------------------------------------ */

sp_onnx_out_graph *sp__onnx_out_begin(sp_onnx_out *o, const char *name, int n_in)
{
    sp_onnx_out_graph *g = alloc(o, sizeof *g);
    if (!g) return NULL;
    g->name = keep_text(o, name);
    g->outer = o->graph;
    g->n_in = n_in;
    g->in = alloc(o, (size_t)n_in * sizeof *g->in);
    o->graph = g;
    return g;
}

/* An output must be made in the graph itself, and once. */
static sp_onnx_id own(sp_onnx_out *o, const sp_onnx_out_graph *g, sp_onnx_id v, int n_before, const sp_onnx_id *before)
{
    bool made = false;
    for (const sp_onnx_out_node *n = g->first; n && !made; n = n->next)
        for (int i = 0; i < n->n_out; i++) made |= n->out[i] == v;
    for (int i = 0; i < n_before; i++) made &= before[i] != v;
    if (made) return v;
    if (v && o->values[v].is_number) v = sp__onnx_out_scalar(o, SP_DTYPE_F32, o->values[v].number);
    sp_onnx_id same = SP_ONNX_OUT(o, "Identity", NULL, v);
    return sp__onnx_out_is_pair(o, v) ? sp__onnx_out_as_pair(o, same) : same;
}

void sp__onnx_out_end(sp_onnx_out *o, sp_onnx_out_graph *g, int n_out, const sp_onnx_id *out)
{
    if (!g) return;
    g->n_out = n_out;
    g->out = alloc(o, (size_t)n_out * sizeof *g->out);
    for (int i = 0; i < n_out && g->out; i++) g->out[i] = own(o, g, out[i], i, g->out);
    o->graph = g->outer;
}

void sp__onnx_out_branch(sp_onnx_out *o, sp_onnx_id cond, sp_onnx_out_graph *yes, sp_onnx_out_graph *no, int n_out,
                         sp_onnx_id *out)
{
    sp_onnx_id c = sp__onnx_out_cast(o, cond, SP_DTYPE_BOOL);
    sp_onnx_out_node *n = sp__onnx_out_ok(o) ? add_node(o, "If", 1, &c, n_out) : NULL;
    for (int i = 0; i < n_out; i++) {
        out[i] = n ? sp__onnx_out_value(o, NULL, o->values[yes->out[i]].dtype) : 0;
        if (n && sp__onnx_out_is_pair(o, yes->out[i])) sp__onnx_out_as_pair(o, out[i]);
        if (n) n->out[i] = out[i];
    }
    if (!n) return;
    n->n_graphs = 2;
    n->graphs[0] = yes;
    n->graphs[1] = no;
    n->graph_names[0] = "then_branch";
    n->graph_names[1] = "else_branch";
}

void sp__onnx_out_loop(sp_onnx_out *o, sp_onnx_id turns, sp_onnx_id go, int n, const sp_onnx_id *state,
                       sp_onnx_out_graph *body, sp_onnx_id *out)
{
    sp_onnx_id *in = alloc(o, (size_t)(n + 2) * sizeof *in);
    if (!in) return;
    in[0] = turns;
    in[1] = go;
    for (int i = 0; i < n; i++) in[i + 2] = state[i];
    sp_onnx_out_node *node = sp__onnx_out_ok(o) ? add_node(o, "Loop", n + 2, in, n) : NULL;
    for (int i = 0; i < n; i++) {
        out[i] = node ? sp__onnx_out_value(o, NULL, o->values[body->out[i + 1]].dtype) : 0;
        if (node && sp__onnx_out_is_pair(o, body->out[i + 1])) sp__onnx_out_as_pair(o, out[i]);
        if (node) node->out[i] = out[i];
    }
    if (!node) return;
    node->n_graphs = 1;
    node->graphs[0] = body;
    node->graph_names[0] = "body";
}

/* --- attributes of our operators --------------------------------------------------------------------------------- */

int64_t sp__onnx_out_int(const sp_onnx_out *o, const char *name)
{
    sp_attr_type type;
    const void *p = sp__node_attr_at(o->node, name, &type);
    if (!p) return 0;
    switch (type) {
    case SP_ATTR_BOOL: return *(const bool *)p;
    case SP_ATTR_DTYPE: return *(const sp_dtype *)p;
    case SP_ATTR_FLOAT: return (int64_t)*(const double *)p;
    case SP_ATTR_NUMBER:
        return ((const sp_number *)p)->kind == 'f' ? (int64_t)((const sp_number *)p)->f : ((const sp_number *)p)->i;
    default: return *(const int64_t *)p;
    }
}

double sp__onnx_out_float(const sp_onnx_out *o, const char *name)
{
    sp_attr_type type;
    const void *p = sp__node_attr_at(o->node, name, &type);
    if (p && type == SP_ATTR_FLOAT) return *(const double *)p;
    if (p && type == SP_ATTR_NUMBER && ((const sp_number *)p)->kind == 'f') return ((const sp_number *)p)->f;
    return (double)sp__onnx_out_int(o, name);
}

const char *sp__onnx_out_text(const sp_onnx_out *o, const char *name)
{
    sp_attr_type type;
    const char *const *p = sp__node_attr_at(o->node, name, &type);
    return p && *p ? *p : "";
}

sp_ints sp__onnx_out_list(const sp_onnx_out *o, const char *name)
{
    sp_attr_type type;
    const void *p = sp__node_attr_at(o->node, name, &type);
    return p && type == SP_ATTR_INTS ? *(const sp_ints *)p : (sp_ints){.n = -1};
}

int sp__onnx_out_axis(const sp_onnx_out *o, const char *name, int rank)
{
    int64_t axis = sp__onnx_out_int(o, name);
    return (int)(axis < 0 ? axis + rank : axis);
}

bool sp__onnx_out_open(const sp_onnx_out *o, const sp_value *v, int axis)
{
    int64_t at[SP_TRIALS_MAX];
    if (v->meta.dims[axis] < 0) return true;
    if (!o->other) return false;
    for (int i = 0; i < o->node->n_in; i++)
        if (o->node->in[i] == v) {
            sp__sizes_operand(&o->sizes, o->node, i, axis, at);
            return !sp__sizes_fixed(&o->sizes, at);
        }
    for (int i = 0; i < o->node->n_out; i++)
        if (o->node->out[i] == v) {
            sp__sizes_result(&o->sizes, o->node, i, axis, at);
            return !sp__sizes_fixed(&o->sizes, at);
        }
    return false;
}

int64_t sp__onnx_out_fixed(sp_onnx_out *o, int i, int axis)
{
    const sp_value *v = o->node->in[i];
    if (!sp__onnx_out_open(o, v, axis)) return v->meta.dims[axis];
    sp__onnx_out_fail(
        o, sp__fail(SP_DECLINED,
                    "%s: dimension %d of operand %d is free, but the way it is written to ONNX needs to know it",
                    o->node->op->name, axis, i));
    return 1;
}

void sp__onnx_out_fix(sp_onnx_out *o, int i)
{
    for (int k = 0; k < o->node->in[i]->meta.rank; k++) sp__onnx_out_fixed(o, i, k);
}

/* --- open dimensions --------------------------------------------------------------------------------------------- */

/* A number of the run, as a tensor of one element. */
static sp_onnx_id source(sp_onnx_out *o, const sp_size_source *from)
{
    sp_onnx_id v = sp__onnx_out_find(o, (sp_value *)(uintptr_t)from->v);
    if (from->axis < 0) return sp__onnx_out_cast(o, SP_ONNX_OUT_RESHAPE(o, v, 1), SP_DTYPE_I64);
    return SP_ONNX_OUT(o, "Gather", NULL, SP_ONNX_OUT(o, "Shape", NULL, v), SP_ONNX_OUT_INTS(o, from->axis));
}

/* Division rounds towards zero there; here towards less, which differs for what is negative. */
static sp_onnx_id divided(sp_onnx_out *o, sp_onnx_id x, int64_t by)
{
    sp_onnx_id d = SP_ONNX_OUT_INTS(o, by);
    return sp__onnx_out_div(o, sp__onnx_out_sub(o, x, SP_ONNX_OUT(o, "Mod", NULL, x, d)), d);
}

static sp_onnx_id put_form(sp_onnx_out *o, const sp_size_form *f)
{
    sp_onnx_id x = source(o, f->of[0]);
    for (int i = 1; i < f->n && !f->sum; i++) x = sp__onnx_out_mul(o, x, source(o, f->of[i]));
    if (f->sum) {
        sp_onnx_id y = source(o, f->of[1]);
        x = f->mul < 0 ? sp__onnx_out_sub(o, x, y) : sp__onnx_out_add(o, x, y);
    } else {
        if (f->add) x = sp__onnx_out_add(o, x, SP_ONNX_OUT_INTS(o, f->add));
        if (f->mul != 1) x = sp__onnx_out_mul(o, x, SP_ONNX_OUT_INTS(o, f->mul));
        if (f->div != 1) x = divided(o, x, f->div);
    }
    return f->plus ? sp__onnx_out_add(o, x, SP_ONNX_OUT_INTS(o, f->plus)) : x;
}

sp_onnx_id sp__onnx_out_size(sp_onnx_out *o, const int64_t *at)
{
    sp_size_form form;
    if (!o->other || sp__sizes_fixed(&o->sizes, at)) return SP_ONNX_OUT_INTS(o, at[0]);
    if (!o->sizes.n_sources) sp__sizes_sources(&o->sizes, o->node, true);
    if (sp__sizes_solve(&o->sizes, at, &form)) return put_form(o, &form);
    if (sp__onnx_out_ok(o))
        sp__onnx_out_fail(
            o, sp__fail(SP_DECLINED, "%s: how a size of it depends on the sizes that are free in the file is not known",
                        o->node->op ? o->node->op->name : "a call"));
    return 0;
}

sp_onnx_id sp__onnx_out_size_list(sp_onnx_out *o, int n, int64_t (*at)[SP_TRIALS_MAX])
{
    sp_onnx_id parts[2 * SP_RANK_MAX];
    int64_t plain[2 * SP_RANK_MAX];
    bool fixed = true;
    for (int k = 0; k < n; k++) {
        plain[k] = at[k][0];
        fixed = fixed && (!o->other || sp__sizes_fixed(&o->sizes, at[k]));
    }
    if (fixed) return sp__onnx_out_ints(o, n, plain);
    for (int k = 0; k < n; k++) parts[k] = sp__onnx_out_size(o, at[k]);
    return n == 1 ? parts[0] : sp__onnx_out_op(o, "Concat", n, parts, "axis=0");
}

sp_onnx_id sp__onnx_out_result_shape(sp_onnx_out *o, int i)
{
    int64_t at[SP_RANK_MAX][SP_TRIALS_MAX];
    const int n = o->node->out[i]->meta.rank;
    for (int k = 0; k < n; k++) {
        at[k][0] = o->node->out[i]->meta.dims[k];
        if (o->other) sp__sizes_result(&o->sizes, o->node, i, k, at[k]);
    }
    return sp__onnx_out_size_list(o, n, at);
}
