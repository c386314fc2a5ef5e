/* SPDX-License-Identifier: Apache-2.0 */
/* lite_ops.c - which handler an operator of MindSpore Lite has, and what handlers share. */
#include <string.h>

#include "formats/lite/lite_model.h"

/* Operators that TensorFlow Lite has with the same meaning: its number, and which field each of its options is, in order; '-': none, '*': its list. */
static const struct {
    int tag, code;
    const char *map;
} shared[] = {
    {1, 101, ""},    {8, 106, ""},    {28, 53, ""},       {29, 104, ""},    {31, 2, "0"},    {37, 108, ""},
    {45, 5, "0"},    {53, 71, ""},    {56, 70, ""},       {63, 8, ""},      {64, 90, ""},    {65, 95, ""},
    {70, 107, ""},   {71, 61, ""},    {72, 62, ""},       {77, 58, ""},     {78, 63, ""},    {79, 73, ""},
    {81, 86, ""},    {82, 87, ""},    {83, 84, ""},       {90, 55, ""},     {96, 57, ""},    {101, 59, ""},
    {103, 72, ""},   {114, 110, ""},  {121, 112, "01"},   {125, 116, ""},   {126, 76, ""},   {130, 77, ""},
    {133, 66, ""},   {142, 26, "0"},  {144, 68, ""},      {146, 75, ""},    {147, 43, "*0"}, {148, 92, ""},
    {149, 99, ""},   {150, 83, "-0"}, {151, 45, "01234"}, {160, 69, ""},    {163, 103, ""},  {164, 155, ""},
    {166, 88, "-0"}, {169, 93, ""},   {170, 123, ""},     {192, 128, "01"},
};

const sp_tflite_handler *sp__lite_handler_find(int tag, const char **map)
{
    static const sp_tflite_handler *const tables[] = {sp__lite_math, sp__lite_nn, sp__lite_shape_table, sp__lite_train};
    *map = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const sp_tflite_handler *h = tables[i]; h->name != NULL; h++)
            if (h->code == tag) return h;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        if (shared[i].tag != tag) continue;
        *map = shared[i].map;
        return sp__tflite_handler_find(shared[i].code, NULL);
    }
    return NULL;
}

bool sp__lite_is_update(int tag)
{
    return tag == SP_LITE_ADAM || tag == SP_LITE_APPLY_MOMENTUM || tag == SP_LITE_SGD || tag == SP_LITE_ASSIGN ||
           tag == SP_LITE_ASSIGN_ADD || tag == SP_LITE_ADAM_WEIGHT_DECAY;
}

sp_status sp__lite_ints(sp_tflite_call *c, int i, int field, sp_tflite_ints *out)
{
    if (i < c->n_in && c->in[i] != NULL) return sp__tflite_ints(c, i, out);
    const sp_tflite_longs list = field >= 0 ? sp__lite_list(c, field) : (sp_tflite_longs){0, NULL};
    SP_CHECK(list.n <= SP_TFLITE_LIST, SP_FORMAT, "field %d has %d numbers, at most %d are possible", field, list.n,
             SP_TFLITE_LIST);
    out->n = list.n;
    if (list.n > 0) memcpy(out->v, list.v, sizeof(int64_t) * (size_t)list.n);
    return SP_OK;
}

/* Between two numbers. */
static sp_tensor *cut(sp_tflite_call *c, sp_tensor *x, double low, double high)
{
    if (x == NULL) return NULL;
    return sp_minimum(c->b, sp_maximum(c->b, x, sp__const(c->b, low, x)), sp__const(c->b, high, x));
}

sp_tensor *sp__lite_activate(sp_tflite_call *c, sp_tensor *x, int64_t kind, double alpha)
{
    static const char *const plain[] = {
        [1] = "relu",     [2] = "sigmoid", [3] = "relu6", [6] = "abs",        [8] = "softsign",
        [9] = "softplus", [10] = "tanh",   [11] = "selu", [12] = "hardswish", [13] = "hardsigmoid",
        [17] = "sign",    [18] = "silu",   [19] = "gelu", [20] = "fast_gelu"};
    switch (kind) {
    case 0:
    case 15: return x;
    case 4: return SP_TFLITE_OP1(c, "elu", x, "alpha=%.9g", alpha);
    case 5: return SP_TFLITE_OP1(c, "leaky_relu", x, "alpha=%.9g", alpha);
    case 7: return cut(c, x, 0, 1);
    case 14: return SP_TFLITE_OP1(c, "threshold", x, "threshold=%.9g, value=0", alpha);
    case 16: return cut(c, x, -1, 1);
    default: break;
    }
    if (kind < 0 || (size_t)kind >= sizeof plain / sizeof *plain || plain[kind] == NULL)
        return sp__builder_fail(c->b, sp__fail(SP_DECLINED, "activation %lld is not supported", (long long)kind));
    return SP_TFLITE_OP1(c, plain[kind], x, NULL);
}
