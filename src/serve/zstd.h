/* SPDX-License-Identifier: Apache-2.0 */
/* zstd.h - bodies compressed with zstd, by the system's libzstd.so.1, which is opened when the first of them comes.
 *
 * Opened, and not linked: Debian and its kin always have the library (dpkg needs it), a wheel need not carry it, and a server without it says so and does the rest. */
#ifndef SPORE_ZSTD_H
#define SPORE_ZSTD_H

#include "base/base.h"

bool sp__zstd_there(void);
/* All frames of `data` into a block of at most `most` bytes. *large: it would be more. Memory besides that is at most 8 MB, the window that HTTP allows (RFC 9659). */
sp_status sp__zstd_unpack(const uint8_t *data, size_t bytes, size_t most, uint8_t **out, size_t *out_bytes,
                          bool *large);
/* NULL: no memory, or it is no smaller. */
uint8_t *sp__zstd_pack(const uint8_t *data, size_t bytes, size_t *out_bytes);

#endif
