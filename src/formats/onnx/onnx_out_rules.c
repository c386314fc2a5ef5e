/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_rules.c - the rule of an operator, among the tables of all families. */
#include <string.h>

#include "formats/onnx/onnx_out.h"

static const sp_onnx_out_rule *find(const sp_onnx_out_rule *table, const sp_op *op, int opset)
{
    for (const sp_onnx_out_rule *r = table; r->op; r++)
        if (r->since <= opset && !strcmp(r->op, op->name)) return r;
    return NULL;
}

const sp_onnx_out_rule *sp__onnx_out_rule(const sp_node *n, int opset)
{
    static const sp_onnx_out_rule *const tables[] = {sp__onnx_out_math,  sp__onnx_out_train,   sp__onnx_out_shape,
                                                     sp__onnx_out_nn,    sp__onnx_out_vision,  sp__onnx_out_linalg,
                                                     sp__onnx_out_order, sp__onnx_out_special, sp__onnx_out_quant};
    const sp_onnx_out_rule *found = NULL;
    if (sp__onnx_out_touches_complex(n)) return find(sp__onnx_out_complex, n->op, opset);
    for (size_t k = 0; k < sizeof tables / sizeof *tables && !found; k++) found = find(tables[k], n->op, opset);
    return found;
}
