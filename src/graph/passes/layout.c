/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - see plan_layout.c. */
#include "graph/passes/passes.h"

const sp_pass sp_pass_layout = {
    .name = "layout",
    .what = "convolutions",
    .doc =
        "Images lie in blocks of channels between convolutions, which do normalisation, residual and ReLU in registers.",
    .planning = SP_PLAN_LAYOUT,
};
