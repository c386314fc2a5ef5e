/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - one array in numpy's format: alone in a .npy file, or a member of a .npz. */
#ifndef SPORE_NPY_H
#define SPORE_NPY_H

#include "formats/format_impl.h"
#include "formats/wire.h"

/* Add the array that s holds as entry `name`. */
sp_status sp__npy_read(const sp_source *s, sp_bundle *bundle, const char *name);
/* What stands in front of contents; a multiple of 64 bytes. Put into `out`, which may hold other bytes before. */
sp_status sp__npy_put_head(const sp_meta *meta, sp_wire_out *out);
/* A whole array that holds a text. */
sp_status sp__npy_put_text(const char *text, size_t bytes, sp_wire_out *out);

#endif
