/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.c - see plan_fuse.c. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_fuse = {
    .name = "fuse",
    .what = "operators",
    .doc = "Neighbouring element-wise operators run together, block by block in cache.",
    .planning = SP_PLAN_FUSE,
};
