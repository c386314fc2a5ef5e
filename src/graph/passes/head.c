/* SPDX-License-Identifier: Apache-2.0 */
/* head.c - see plan_head.c. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_head = {
    .name = "head",
    .what = "operators",
    .doc = "Element-wise operators in front of a reduction are done by the reduction, part by part.",
    .planning = SP_PLAN_HEAD,
};
