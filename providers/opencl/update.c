/* SPDX-License-Identifier: Apache-2.0 */
/* update.c - steps of optimizers. A row says which inputs are tensors and which of them are written, and has the formulas over x[] (the written tensors
 * first, the gradient last) and s[] (the other inputs, numbers, read on the device: nothing is fetched). */
#include <string.h>

#include "opencl.h"

typedef struct row {
    const char *op;
    unsigned tensors, written;
    const char *before, *body;
    const char *attrs[3]; /* numbers or truths a, b, c */
} row;

#define BIT(i) (1u << (i))
#define MOMENTS "x[1] += (g - x[1]) * keep1; x[2] += (g * g - x[2]) * keep2;"

static const row rows[] = {
    {"gradient_descent_update", BIT(0) | BIT(2), 1, "const real lr = s[0]", "x[0] -= lr * x[1]", {NULL}},
    {"sgd_update",
     BIT(0) | BIT(1) | BIT(3) | BIT(5),
     BIT(0) | BIT(3) | BIT(5),
     "const real lr = s[0], momentum = s[1], damp = 1 - a, decay = b",
     "real g = x[3] + decay * x[0]; if (momentum > 0) { x[1] = x[2] > 0 ? g : x[1] * momentum + damp * g; x[2] = x[2] > 0 ? 0 : x[2]; "
     "g = c != 0 ? g + x[1] * momentum : x[1]; } x[0] -= lr * g",
     {"dampening", "weight_decay", "nesterov"}},
    {"momentum_update",
     BIT(0) | BIT(1) | BIT(3),
     BIT(0) | BIT(1),
     "const real lr = s[0], momentum = s[1]",
     "const real g = x[2] * b; x[1] = x[1] * momentum + g; x[0] -= a != 0 ? g * lr + x[1] * momentum * lr : x[1] * lr",
     {"use_nesterov", "gradient_scale"}},
    {"keras_momentum_update",
     BIT(0) | BIT(1) | BIT(3),
     BIT(0) | BIT(1),
     "const real lr = s[0], momentum = s[1]",
     "x[1] = x[1] * momentum - lr * x[2]; x[0] += a != 0 ? x[1] * momentum - lr * x[2] : x[1]",
     {"use_nesterov"}},
    {"weight_scale_momentum_update",
     BIT(2) | BIT(3) | BIT(5),
     BIT(2) | BIT(3),
     "const real decay = s[0], scale = s[1], lr = s[2], momentum = s[3]",
     "x[1] = x[1] * momentum + (x[2] * scale + x[0] * decay); x[0] -= x[1] * lr",
     {NULL}},
    {"adam_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(9),
     7,
     "const real lr = s[2] * sqrt(1 - s[1]) / (1 - s[0]), beta1 = s[3], keep1 = 1 - s[3], keep2 = 1 - s[4], eps = s[5]",
     "const real g = x[3]; " MOMENTS " x[0] -= lr * (a != 0 ? x[1] * beta1 + keep1 * g : x[1]) / (sqrt(x[2]) + eps)",
     {"use_nesterov"}},
    {"adam_weight_decay_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(8),
     7,
     "const real lr = s[0], keep1 = 1 - s[1], keep2 = 1 - s[2], eps = s[3], decay = s[4]",
     "const real g = x[3]; " MOMENTS " x[0] -= lr * (x[1] / (sqrt(x[2]) + eps) + decay * x[0])",
     {NULL}},
    {"cast_adam_weight_decay_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(8),
     7,
     "const real lr = s[0], keep1 = 1 - s[1], keep2 = 1 - s[2], eps = s[3], decay = s[4], norm = s[5]",
     "const real g = x[3] / norm; " MOMENTS " x[0] -= lr * (x[1] / (sqrt(x[2]) + eps) + decay * x[0])",
     {NULL}},
    {"amsgrad_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(3) | BIT(10),
     15,
     "const real lr = s[2] * sqrt(1 - s[1]) / (1 - s[0]), keep1 = 1 - s[3], keep2 = 1 - s[4], eps = s[5]",
     "const real g = x[4]; " MOMENTS " x[3] = x[3] > x[2] ? x[3] : x[2]; x[0] -= lr * x[1] / (sqrt(x[3]) + eps)",
     {NULL}},
    {"adamax_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(8),
     7,
     "const real lr = s[1] / (1 - s[0]), keep1 = 1 - s[2], beta2 = s[3], eps = s[4]",
     "const real g = fabs(x[3]); x[1] += (x[3] - x[1]) * keep1; x[2] = x[2] * beta2 > g ? x[2] * beta2 : g; x[0] -= lr * x[1] / (x[2] + eps)",
     {NULL}},
    {"rmsprop_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(4),
     7,
     "const real lr = s[0], keep = 1 - s[1], momentum = s[2], eps = s[3]",
     "const real g = x[3]; x[1] += (g * g - x[1]) * keep; x[2] = x[2] * momentum + lr * g / sqrt(x[1] + eps); x[0] -= x[2]",
     {NULL}},
    {"centered_rmsprop_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(3) | BIT(4),
     15,
     "const real lr = s[0], keep = 1 - s[1], momentum = s[2], eps = s[3]",
     "const real g = x[4]; x[1] += (g - x[1]) * keep; x[2] += (g * g - x[2]) * keep; x[3] = x[3] * momentum + lr * g / sqrt(x[2] - x[1] * "
     "x[1] + eps); x[0] -= x[3]",
     {NULL}},
    {"adagrad_update",
     BIT(0) | BIT(1) | BIT(3),
     3,
     "const real lr = s[0], slots = b != 0 ? 1 : 0",
     "x[1] += slots * x[2] * x[2]; x[0] -= lr * x[2] / (sqrt(x[1]) + a)",
     {"epsilon", "update_slots"}},
    {"adadelta_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(6),
     7,
     "const real lr = s[0], rho = s[1], keep = 1 - s[1], eps = s[2]",
     "x[1] = rho * x[1] + keep * x[3] * x[3]; const real u = sqrt(x[2] + eps) / sqrt(x[1] + eps) * x[3]; x[2] = rho * x[2] + keep * u * u; "
     "x[0] -= lr * u",
     {NULL}},
    {"proximal_gradient_descent_update",
     BIT(0) | BIT(4),
     1,
     "const real lr = s[0], l1 = s[1] * s[0], scale = 1 / (1 + s[2] * s[0])",
     "const real to = x[0] - lr * x[1]; x[0] = SHRINK(to, l1) * scale",
     {NULL}},
    {"proximal_adagrad_update",
     BIT(0) | BIT(1) | BIT(5),
     3,
     "const real lr0 = s[0], l1 = s[1], l2 = s[2]",
     "x[1] += x[2] * x[2]; const real lr = lr0 / sqrt(x[1]); const real to = x[0] - lr * x[2]; const real bound = l1 * lr; x[0] = "
     "SHRINK(to, bound) / (1 + l2 * lr)",
     {NULL}},
    {"adagrad_da_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(3),
     7,
     "const real lr = s[0], bound = s[1] * s[3], least = s[2] * s[3] * s[0]",
     "x[1] += x[3]; x[2] += x[3] * x[3]; x[0] = -lr * SHRINK(x[1], bound) / (least + sqrt(x[2]))",
     {NULL}},
    {"ftrl_update",
     BIT(0) | BIT(1) | BIT(2) | BIT(3),
     7,
     "const real inverse = 1 / s[0], l1 = s[1], l2 = 2 * s[2], power = -s[3]; const bool root = s[3] == -0.5f",
     "const real sum = x[1] + x[3] * x[3]; const real to = root ? sqrt(sum) : pow(sum, power); const real from = root ? sqrt(x[1]) : "
     "pow(x[1], power); x[2] += x[3] - (to - from) * inverse * x[0]; x[1] = sum; x[0] = fabs(x[2]) > l1 ? (l1 - x[2]) / (to * inverse + l2) "
     ": 0",
     {NULL}},
    {"asgd_update",
     BIT(0) | BIT(1) | BIT(2),
     3,
     "const real eta = s[0], mu = s[1], keep = 1 - s[2] * s[0]",
     "x[0] = x[0] * keep - eta * x[2]; x[1] = mu == 1 ? x[0] : x[1] + (x[0] - x[1]) * mu",
     {NULL}},
};
enum { ROWS = sizeof rows / sizeof *rows };

int ocl_update_start(void) { return ROWS; }
const char *ocl_update_op(int i) { return rows[i].op; }

static const row *row_of(const char *op)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].op, op) == 0) return &rows[i];
    return NULL;
}

static int first_tensor(const row *r) { return __builtin_ctz(r->written); }

bool ocl_update_takes(void *device, const sp_device_call *c)
{
    const row *r = row_of(c->op);
    const sp_device_operand *param = &c->in[first_tensor(r)];
    if (!ocl_is_float(param->dtype) || param->dtype == SP_DTYPE_F64 || ocl_count(param) > INT32_MAX) return false;
    for (int i = 0; i < c->n_in; i++) {
        const sp_device_operand *o = &c->in[i];
        const bool tensor = r->tensors >> i & 1;
        if (o->rank < 0 || !ocl_computes(device, o->dtype) || o->dtype == SP_DTYPE_F64) return false;
        if (ocl_count(o) != (tensor ? ocl_count(param) : 1) || (tensor && o->dtype != param->dtype)) return false;
    }
    return true;
}

/* An attribute that is a truth or a number. */
static double number_of(const sp_device_call *c, const char *name)
{
    for (int i = 0; i < c->n_attrs; i++)
        if (strcmp(c->attr_table[i].name, name) == 0 && c->attr_table[i].type == SP_ATTR_BOOL)
            return ocl_bool(c, name, false);
    return ocl_float(c, name, 0);
}

static void describe(ocl_text *t, const sp_device_call *c, const row *r)
{
    const int n_written = __builtin_popcount(r->written);
    ocl_add(t, "#define TENSORS %d\n", __builtin_popcount(r->tensors));
    for (int i = 0; i < c->n_in; i++)
        if (!(r->tensors >> i & 1)) {
            char suffix[12] = "n_";
            suffix[1] = (char)('0' + i % 10);
            suffix[2] = i >= 10 ? 'x' : '\0';
            ocl_add_dtype(t, suffix, c->in[i].dtype);
        }
    ocl_add(t, "#define PARAMETERS");
    for (int i = 0; i < c->n_in; i++) {
        if (r->tensors >> i & 1) ocl_add(t, ", __global T *p%d, const ulong at%d", i, i);
        else ocl_add(t, ", __global const Tn%d%s *p%d, const ulong at%d", i % 10, i >= 10 ? "x" : "", i, i);
    }
    for (int i = 0; i < 3 && r->attrs[i]; i++) ocl_add(t, ", const float %c", 'a' + i);
    ocl_add(t, "\n#define LOADS");
    int written = 0, other = n_written, number = 0;
    for (int i = 0; i < c->n_in; i++) {
        if (!(r->tensors >> i & 1))
            ocl_add(t, " s[%d] = LDn%d%s(p%d, at%d);", number++, i % 10, i >= 10 ? "x" : "", i, i);
        else ocl_add(t, " x[%d] = LD(p%d, at%d + i);", r->written >> i & 1 ? written++ : other++, i, i);
    }
    ocl_add(t, "\n#define STORES");
    written = 0;
    for (int i = 0; i < c->n_in; i++)
        if (r->written >> i & 1) ocl_add(t, " ST(p%d, at%d + i, x[%d]);", i, i, written++);
    ocl_add(t, "\n#define BEFORE %s\n#define BODY %s\n", r->before, r->body);
}

sp_status ocl_update_run(void *device, const sp_device_call *c)
{
    ocl_device *d = device;
    const row *r = row_of(c->op);
    const sp_device_operand *param = &c->in[first_tensor(r)];
    if (ocl_count(param) == 0) return SP_OK;
    ocl_text t = {NULL};
    ocl_launch l;
    ocl_add(&t, d->has_double ? "#define NEEDS_DOUBLE\n#define S double\n" : "#define S float\n");
    ocl_add_dtype(&t, "", param->dtype);
    describe(&t, c, r);
    SP_TRY(ocl_begin(d, c->op, "update", "update", &t, &l));
    ocl_arg_int(&l, ocl_count(param));
    for (int i = 0; i < c->n_in; i++) ocl_arg_operand(&l, &c->in[i]);
    for (int i = 0; i < 3 && r->attrs[i]; i++) ocl_arg_float(&l, number_of(c, r->attrs[i]));
    return ocl_run_1d(&l, ocl_count(param));
}
