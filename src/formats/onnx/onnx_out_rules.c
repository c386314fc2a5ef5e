/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_rules.c - the rule of an operator, among the tables of all families. */
#include <string.h>

#include "formats/onnx/onnx_out.h"

static const ox_rule *find(const ox_rule *table, const sp_op *op, int opset)
{
    for (const ox_rule *r = table; r->op; r++)
        if (r->since <= opset && !strcmp(r->op, op->name)) return r;
    return NULL;
}

const ox_rule *sp__ox_rule(const sp_node *n, int opset)
{
    static const ox_rule *const tables[] = {sp__ox_math,   sp__ox_train, sp__ox_shape,   sp__ox_nn,   sp__ox_vision,
                                            sp__ox_linalg, sp__ox_order, sp__ox_special, sp__ox_quant};
    const ox_rule *found = NULL;
    if (sp__ox_touches_complex(n)) return find(sp__ox_complex, n->op, opset);
    for (size_t k = 0; k < sizeof tables / sizeof *tables && !found; k++) found = find(tables[k], n->op, opset);
    return found;
}
