/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_build.h - a recorded function as the bytes of a MindIR model. */
#ifndef SPORE_MINDIR_BUILD_H
#define SPORE_MINDIR_BUILD_H

#include "formats/wire.h"
#include "spore/model.h"

/* Weights that lie in a file beside the model. */
typedef struct sp_mindir_outside {
    const char *location; /* of that file, relative to the model's folder */
    uint64_t bytes;       /* of the file: 64 to begin with, for the record in front */
    int n;
    sp_tensor **tensors; /* in their order in it, each at the next multiple of 64; room for all parameters */
} sp_mindir_outside;

/* outside: NULL: weights are part of the model. Freed by the caller with sp__wire_out_free. */
sp_status sp__mindir_build(sp_function *f, const sp_model_names *names, sp_mindir_outside *outside, sp_wire_out *out);

#endif
