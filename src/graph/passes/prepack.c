/* SPDX-License-Identifier: Apache-2.0 */
/* prepack.c - see prepare_constant in plan.c. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_prepack = {
    .name = "prepack",
    .what = "constants",
    .doc = "Constant weights are brought into the order that kernels want once, not in every run.",
    .planning = SP_PLAN_PREPACK,
};
