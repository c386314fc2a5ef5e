/* SPDX-License-Identifier: Apache-2.0 */
/* reuse.c - see plan.c, reuse_input. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_reuse = {
    .name = "reuse",
    .what = "results",
    .doc = "Results of element-wise operators take over the memory of an input that ends there.",
    .planning = SP_PLAN_REUSE,
};
