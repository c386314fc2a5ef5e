/* SPDX-License-Identifier: Apache-2.0 */
/* map.cl - one result for each element. elementwise.c defines PARAMETERS (operands, sizes and strides, numbers), INDICES (from i, and j of the
 * outer dimensions), LOADS and RESULT. */
#ifndef INFINITY
#define INFINITY as_float(0x7F800000)
#endif
#define SIGMOID(v) (1 / (1 + exp(-(v))))
#define SOFTPLUS(v) (((v) > 0 ? (v) : 0) + log1p(exp(-fabs(v))))

__kernel void map(const IDX n, const IDX rows PARAMETERS)
{
    const IDX i = (IDX)get_global_id(0), j = (IDX)get_global_id(1);
    if (i >= n || j >= rows) return;
    INDICES
    LOADS
    STo(o, o_at + i_o, (RESULT));
}
