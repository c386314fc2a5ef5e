/* SPDX-License-Identifier: Apache-2.0 */
/* update.cl - a step of an optimizer, an item for each element. update.c defines T, LD, ST, C, TENSORS, WRITTEN, PARAMETERS, LOADS (x[] and s[]), BEFORE,
 * BODY and STORES. S: what constants of the step are computed in. */
#define SHRINK(p, bound) ((p) > (bound) ? (p) - (bound) : (p) < -(bound) ? (p) + (bound) : 0)
typedef C real;

__kernel void update(const int n PARAMETERS)
{
    const int i = (int)get_global_id(0);
    if (i >= n) return;
    real x[TENSORS];
    S s[8];
    LOADS
    BEFORE;
    BODY;
    STORES
}
