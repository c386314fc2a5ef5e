/* SPDX-License-Identifier: Apache-2.0 */
/* tail.c - see plan_tail.c. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_tail = {
    .name = "tail",
    .what = "operators",
    .doc = "Element-wise operators and updates on the result of a product are done by the product, part by part.",
    .planning = SP_PLAN_TAIL,
};
