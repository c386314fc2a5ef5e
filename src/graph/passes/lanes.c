/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c - see plan_lanes.c. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_lanes = {
    .name = "lanes",
    .what = "operators",
    .doc = "Small operators that do not depend on each other run side by side on the threads.",
    .planning = SP_PLAN_LANES,
};
