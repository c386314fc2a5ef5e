/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.c - element-wise operators: a row each, from which the text in front of kernels/map.cl is made.
 *
 * Formulas speak of the inputs x, y, z in the type computed in, and of numbers a, b (attributes). K(0.5) is a constant of that type. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

typedef enum { SAME, TRUTH } result_kind;

typedef struct row {
    const char *op, *floats, *integers; /* formulas; NULL: not computed here */
    result_kind result;
    const char *attrs[2];
} row;

#define NORMAL_P "(K(0.5) * (1 + erf(x * K(0.70710678118654752))))"
#define GELU_T "tanh(K(0.79788456080286536) * (x + K(0.044715) * x * x * x))"
#define ONE(op, formula)                                                                                               \
    {                                                                                                                  \
        op, formula, NULL, SAME, { NULL }                                                                              \
    }
#define ANY(op, formula)                                                                                               \
    {                                                                                                                  \
        op, formula, formula, SAME, { NULL }                                                                           \
    }
#define ASK(op, formula)                                                                                               \
    {                                                                                                                  \
        op, formula, formula, TRUTH, { NULL }                                                                          \
    }
#define WITH(op, formula, ...)                                                                                         \
    {                                                                                                                  \
        op, formula, NULL, SAME, { __VA_ARGS__ }                                                                       \
    }

static const row rows[] = {
    ANY("add", "x + y"),
    ANY("sub", "x - y"),
    ANY("mul", "x * y"),
    ONE("div", "x / y"),
    ONE("real_div", "x / y"),
    ANY("maximum", "x > y || x != x ? x : y"),
    ANY("minimum", "x < y || x != x ? x : y"),
    ASK("equal", "x == y"),
    ASK("not_equal", "x != y"),
    ASK("less", "x < y"),
    ASK("less_equal", "x <= y"),
    ASK("greater", "x > y"),
    ASK("greater_equal", "x >= y"),
    ASK("logical_and", "x != 0 && y != 0"),
    ASK("logical_or", "x != 0 || y != 0"),
    ASK("logical_xor", "(x != 0) != (y != 0)"),
    ASK("logical_not", "x == 0"),
    ASK("isnan", "x != x"),
    ANY("neg", "-x"),
    {"abs", "fabs(x)", "x < 0 ? -x : x", SAME, {NULL}},
    {"sign", "x > 0 ? 1 : x < 0 ? -1 : x", "x > 0 ? 1 : x < 0 ? -1 : 0", SAME, {NULL}},
    ONE("exp", "exp(x)"),
    ONE("log", "log(x)"),
    ONE("sqrt", "sqrt(x)"),
    ONE("rsqrt", "1 / sqrt(x)"),
    ANY("square", "x * x"),
    ONE("reciprocal", "1 / x"),
    ONE("log1p", "log1p(x)"),
    ONE("expm1", "expm1(x)"),
    ONE("sin", "sin(x)"),
    ONE("cos", "cos(x)"),
    ONE("tan", "tan(x)"),
    ONE("tanh", "tanh(x)"),
    ONE("asin", "asin(x)"),
    ONE("acos", "acos(x)"),
    ONE("atan", "atan(x)"),
    ONE("sinh", "sinh(x)"),
    ONE("cosh", "cosh(x)"),
    ONE("asinh", "asinh(x)"),
    ONE("acosh", "acosh(x)"),
    ONE("atanh", "atanh(x)"),
    ONE("exp2", "exp2(x)"),
    ONE("log2", "log2(x)"),
    ONE("log10", "log10(x)"),
    ONE("erfc", "erfc(x)"),
    ONE("sigmoid", "x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x))"),
    ANY("relu", "x > 0 || x != x ? x : 0"),
    ANY("relu_grad", "y > 0 ? x : 0"),
    ONE("erf", "erf(x)"),
    {"floor", "floor(x)", "x", SAME, {NULL}},
    {"ceil", "ceil(x)", "x", SAME, {NULL}},
    {"round", "rint(x)", "x", SAME, {NULL}},
    {"trunc", "trunc(x)", "x", SAME, {NULL}},
    ANY("squared_difference", "(x - y) * (x - y)"),
    ONE("atan2", "atan2(x, y)"),
    ONE("hypot", "hypot(x, y)"),
    ONE("gelu", "x * " NORMAL_P),
    ONE("gelu_grad", "(" NORMAL_P " + x * (K(0.39894228040143268) * exp(K(-0.5) * x * x))) * y"),
    ONE("gelu_tanh", "K(0.5) * x * (1 + " GELU_T ")"),
    ONE("gelu_tanh_grad", "(K(0.5) * (1 + " GELU_T ") + K(0.5) * x * (1 - " GELU_T " * " GELU_T
                          ") * K(0.79788456080286536) * (1 + 3 * K(0.044715) * x * x)) * y"),
    ONE("silu", "x * SIGMOID(x)"),
    ONE("silu_grad", "SIGMOID(x) * (1 + x * (1 - SIGMOID(x))) * y"),
    ONE("mish", "x * tanh(SOFTPLUS(x))"),
    ONE("mish_grad", "(tanh(SOFTPLUS(x)) + x * (1 - tanh(SOFTPLUS(x)) * tanh(SOFTPLUS(x))) * SIGMOID(x)) * y"),
    WITH("softplus", "x * a > b ? x : SOFTPLUS(x * a) / a", "beta", "threshold"),
    WITH("softplus_grad", "(x * a > b ? 1 : SIGMOID(x * a)) * y", "beta", "threshold"),
    ONE("logsigmoid", "(x < 0 ? x : 0) - log1p(exp(-fabs(x)))"),
    ONE("logsigmoid_grad", "SIGMOID(-x) * y"),
    ONE("softsign", "x / (1 + fabs(x))"),
    ONE("softsign_grad", "y / ((1 + fabs(x)) * (1 + fabs(x)))"),
    ONE("tanhshrink", "x - tanh(x)"),
    ONE("tanhshrink_grad", "tanh(x) * tanh(x) * y"),
    WITH("elu", "x > 0 ? x : a * expm1(x)", "alpha"),
    WITH("elu_grad", "(x > 0 ? 1 : a * exp(x)) * y", "alpha"),
    WITH("celu", "x > 0 ? x : a * expm1(x / a)", "alpha"),
    WITH("celu_grad", "(x > 0 ? 1 : exp(x / a)) * y", "alpha"),
    ONE("selu", "K(1.0507009873554805) * (x > 0 ? x : K(1.6732632423543772) * expm1(x))"),
    ONE("selu_grad", "K(1.0507009873554805) * (x > 0 ? 1 : K(1.6732632423543772) * exp(x)) * y"),
    WITH("leaky_relu", "x > 0 ? x : a * x", "alpha"),
    WITH("leaky_relu_grad", "(x > 0 ? 1 : a) * y", "alpha"),
    ONE("relu6", "x > 0 || x != x ? x < 6 || x != x ? x : 6 : 0"),
    ONE("relu6_grad", "x > 0 && x < 6 ? y : 0"),
    ONE("hardswish", "x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6"),
    ONE("hardswish_grad", "(x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6) * y"),
    ONE("hardsigmoid", "x <= -3 ? 0 : x >= 3 ? 1 : x / 6 + K(0.5)"),
    ONE("hardsigmoid_grad", "(x > -3 && x < 3 ? K(0.16666666666666667) : 0) * y"),
    WITH("hardtanh", "x < a ? a : x > b ? b : x", "min_val", "max_val"),
    WITH("hardtanh_grad", "(x > a && x < b ? 1 : 0) * y", "min_val", "max_val"),
    WITH("hardshrink", "x >= -a && x <= a ? 0 : x", "lambd"),
    WITH("hardshrink_grad", "(x >= -a && x <= a ? 0 : 1) * y", "lambd"),
    WITH("softshrink", "x > a ? x - a : x < -a ? x + a : 0 * x", "lambd"),
    WITH("softshrink_grad", "(x >= -a && x <= a ? 0 : 1) * y", "lambd"),
    WITH("moving_average_update", "(1 - a) * x + a * b * y", "momentum", "factor"),
    ANY("assign_add", "x + y"),
    ANY("assign_sub", "x - y"),
    ANY("assign", "y"),
    ANY("copy", "x"),
    ANY("reshape", "x"),
    ANY("cast", "x"),
    ANY("select_same", "x ? y : z"),
};
enum { ROWS = sizeof rows / sizeof *rows };

/* --- finding a row ----------------------------------------------------------------------------------------------- */

static const row *by_name[ROWS];

static int compare_rows(const void *a, const void *b)
{
    return strcmp((*(const row *const *)a)->op, (*(const row *const *)b)->op);
}

static int compare_name(const void *name, const void *b) { return strcmp(name, (*(const row *const *)b)->op); }

int ocl_elementwise_start(void)
{
    for (int i = 0; i < ROWS; i++) by_name[i] = &rows[i];
    qsort(by_name, ROWS, sizeof *by_name, compare_rows);
    return ROWS;
}

const char *ocl_elementwise_op(int i) { return by_name[i]->op; }

static const row *row_of(const char *op)
{
    const row *const *at = bsearch(op, by_name, ROWS, sizeof *by_name, compare_name);
    return at ? *at : NULL;
}

/* The inputs that are elements: writers have the variable, which is the result, too. */
static bool is_reshape(const row *r) { return strcmp(r->op, "reshape") == 0; }
static bool is_select(const row *r) { return strcmp(r->op, "select_same") == 0; }
static bool is_moved(const row *r)
{
    return strcmp(r->op, "assign") == 0 || strcmp(r->op, "copy") == 0 || is_reshape(r) || is_select(r);
}

bool ocl_elementwise_takes(void *device, const sp_device_call *c)
{
    const row *r = row_of(c->op);
    if (!r || c->n_out != 1 || c->n_in < 1 || c->n_in > 3) return false;
    const bool casts = strcmp(r->op, "cast") == 0, assigns = strncmp(r->op, "assign", 6) == 0;
    for (int i = 0; i < c->n_in; i++) {
        if (c->in[i].rank < 0 || !ocl_computes(device, c->in[i].dtype)) return false;
        if (i && !casts && !assigns && !(is_select(r) && i == 1) && c->in[i].dtype != c->in[0].dtype) return false;
    }
    if (is_select(r)) return c->in[0].dtype == SP_DTYPE_BOOL && c->in[1].dtype == c->in[2].dtype;
    if (!ocl_computes(device, c->out[0].dtype)) return false;
    if (assigns && c->in[1].dtype != c->in[0].dtype) return false;
    if (casts) return c->out[0].dtype != SP_DTYPE_U64 || !ocl_is_float(c->in[0].dtype);
    if (is_moved(r)) return true;
    return ocl_is_float(c->in[0].dtype) ? r->floats != NULL : r->integers != NULL;
}

/* --- the text ---------------------------------------------------------------------------------------------------- */

/* Index of operand k: i along the last dimension, j over the others. A stride of 0 or 1 along the last one stands in the text, for vectors. */
static void add_index(ocl_text *t, const ocl_shape *s, int k, const char *name)
{
    const int last = s->rank - 1;
    const int64_t step = s->rank ? s->strides[k][last] : 0;
    ocl_add(t, " const IDX i_%s = ", name);
    if (step == 1) ocl_add(t, "i");
    else if (step == 0) ocl_add(t, "0");
    else ocl_add(t, "i * s%d_%d", k, last);
    for (int d = 0; d < last; d++)
        if (s->strides[k][d]) ocl_add(t, " + j%d * s%d_%d", d, k, d);
    ocl_add(t, ";");
}

static void add_indices(ocl_text *t, const ocl_shape *s, int n_in)
{
    static const char *const names[] = {"o", "x", "y", "z"};
    ocl_add(t, "#define INDICES");
    for (int d = s->rank - 2; d >= 0; d--) {
        char from[16] = "j";
        if (d < s->rank - 2) snprintf(from, sizeof from, "r%d", d);
        if (d == 0) ocl_add(t, " const IDX j0 = %s;", from);
        else ocl_add(t, " const IDX j%d = %s %% d%d, r%d = %s / d%d;", d, from, d, d - 1, from, d);
    }
    for (int k = 0; k <= n_in; k++) add_index(t, s, k, names[k]);
    ocl_add(t, "\n");
}

static void add_parameters(ocl_text *t, const ocl_shape *s, int n_in, int n_numbers)
{
    static const char *const names[] = {"x", "y", "z"};
    ocl_add(t, "#define PARAMETERS , __global To *o, const ulong o_at");
    for (int k = 0; k < n_in; k++)
        ocl_add(t, ", __global const T%s *p_%s, const ulong at_%s", names[k], names[k], names[k]);
    for (int d = 1; d + 1 < s->rank; d++) ocl_add(t, ", const IDX d%d", d);
    for (int k = 0; k <= n_in; k++)
        for (int d = 0; d < s->rank; d++) {
            const int64_t step = s->strides[k][d];
            if (step && (d + 1 < s->rank || step != 1)) ocl_add(t, ", const IDX s%d_%d", k, d);
        }
    for (int k = 0; k < n_numbers; k++) ocl_add(t, ", const float %c", 'a' + k);
    ocl_add(t, "\n");
}

static bool is_long(const ocl_shape *s)
{
    int64_t most = s->count;
    for (int k = 0; k < s->n; k++) {
        int64_t reach = 0;
        for (int d = 0; d < s->rank; d++) reach += (s->dims[d] - 1) * llabs(s->strides[k][d]);
        if (reach > most) most = reach;
    }
    return most > INT32_MAX;
}

static void arg_index(ocl_launch *l, bool wide, int64_t value)
{
    const cl_long v = value;
    if (wide) ocl_arg(l, sizeof v, &v);
    else ocl_arg_int(l, value);
}

sp_status ocl_map(ocl_device *d, const char *op, const char *expression, sp_dtype compute, const ocl_shape *s,
                  const sp_device_operand *out, int n_in, const sp_device_operand *in, int n_numbers,
                  const double *numbers)
{
    static const char *const names[] = {"x", "y", "z"};
    if (s->count == 0) return SP_OK;
    const bool wide = is_long(s);
    ocl_text t = {NULL};
    ocl_add(&t, "#define IDX %s\n#define K(v) v%s\n", wide ? "long" : "int", compute == SP_DTYPE_F64 ? "" : "##f");
    ocl_add_dtype(&t, "", compute);
    ocl_add_dtype(&t, "o", out->dtype);
    for (int k = 0; k < n_in; k++) ocl_add_dtype(&t, names[k], in[k].dtype);
    add_parameters(&t, s, n_in, n_numbers);
    add_indices(&t, s, n_in);
    ocl_add(&t, "#define LOADS");
    for (int k = 0; k < n_in; k++)
        ocl_add(&t, " const %s %s = LD%s(p_%s, at_%s + i_%s);", in[k].dtype == SP_DTYPE_BOOL ? "int" : "C", names[k],
                names[k], names[k], names[k], names[k]);
    ocl_add(&t, "\n#define RESULT %s\n", expression);
    ocl_launch l;
    SP_TRY(ocl_begin(d, op, "map", "map", &t, &l));
    const int64_t n = s->rank ? s->dims[s->rank - 1] : 1;
    arg_index(&l, wide, n);
    arg_index(&l, wide, s->count / n);
    ocl_arg_operand(&l, out);
    for (int k = 0; k < n_in; k++) ocl_arg_operand(&l, &in[k]);
    for (int i = 1; i + 1 < s->rank; i++) arg_index(&l, wide, s->dims[i]);
    for (int k = 0; k <= n_in; k++)
        for (int i = 0; i < s->rank; i++) {
            const int64_t step = s->strides[k][i];
            if (step && (i + 1 < s->rank || step != 1)) arg_index(&l, wide, step);
        }
    for (int k = 0; k < n_numbers; k++) ocl_arg_float(&l, numbers[k]);
    const size_t global[2] = {(size_t)n, (size_t)(s->count / n)}, flat[2] = {d->cpu ? 1024 : 128, 1},
                 rows_of[2] = {d->cpu ? 64 : 32, 1};
    return ocl_run(&l, 2, global, s->rank > 1 ? rows_of : flat);
}

sp_status ocl_copy_strided(ocl_device *d, const char *op, const sp_device_operand *in, const sp_device_operand *out,
                           const int64_t *out_strides, int64_t out_offset)
{
    ocl_shape s;
    ocl_shape_start(&s, in->rank, in->dims);
    ocl_shape_add(&s, in->rank, in->dims, out_strides);
    ocl_shape_add(&s, in->rank, in->dims, in->strides);
    ocl_shape_merge(&s);
    sp_device_operand part = *out;
    part.offset += (size_t)out_offset * ocl_bytes(out->dtype);
    return ocl_map(d, op, "x", in->dtype, &s, &part, 1, in, 0, NULL);
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

/* Numbers in double go through float: what has attributes is not computed in double here. */
sp_status ocl_elementwise_run(void *device, const sp_device_call *c)
{
    const row *r = row_of(c->op);
    sp_device_operand in[3];
    double numbers[2];
    int n_numbers = 0;
    const sp_device_operand *shape = is_reshape(r) ? &c->in[0] : &c->out[0];
    sp_dtype compute = is_select(r) ? c->in[1].dtype : c->in[0].dtype;
    const char *formula = ocl_is_float(compute) ? r->floats : r->integers;
    for (; n_numbers < 2 && r->attrs[n_numbers]; n_numbers++) numbers[n_numbers] = ocl_float(c, r->attrs[n_numbers], 0);
    if (n_numbers && compute == SP_DTYPE_F64) return SP_DECLINED;
    if (strcmp(r->op, "cast") == 0 && ocl_is_float(compute) && !ocl_is_float(c->out[0].dtype) &&
        c->out[0].dtype != SP_DTYPE_BOOL)
        formula = "x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? (long)x : LONG_MIN";
    if (!formula) return SP_DECLINED;
    ocl_shape s;
    ocl_shape_start(&s, shape->rank, shape->dims);
    ocl_shape_add(&s, shape->rank, shape->dims, NULL);
    for (int k = 0; k < c->n_in; k++) {
        in[k] = c->in[k];
        ocl_shape_add(&s, in[k].rank, in[k].dims, in[k].strides);
    }
    ocl_shape_merge(&s);
    return ocl_map(device, c->op, formula, compute, &s, &c->out[0], c->n_in, in, n_numbers, numbers);
}
