/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_build.h - a recorded function as the bytes of a MindIR model. */
#ifndef SPORE_MINDIR_BUILD_H
#define SPORE_MINDIR_BUILD_H

#include "formats/wire.h"
#include "spore/model.h"

/* Freed by the caller with sp__wire_out_free. */
sp_status sp__mindir_build(sp_function *f, const sp_model_names *names, sp_wire_out *out);

#endif
