/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.c - see plan_overlap.c. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_overlap = {
    .name = "overlap",
    .what = "exchanges",
    .doc = "Exchanges between ranks go on while the program computes.",
    .planning = SP_PLAN_OVERLAP,
};
