/* SPDX-License-Identifier: Apache-2.0 */
/* encrypted.h - the key of sp_file_options, and whole files in MindSpore's container (base/cipher.h). */
#ifndef SPORE_ENCRYPTED_H
#define SPORE_ENCRYPTED_H

#include "base/cipher.h"
#include "base/file.h"
#include "spore/format.h"

/* Mode and key of the options, whose key is not NULL. Wipe with sp__cipher_clear. */
sp_status sp__options_cipher(const sp_file_options *options, sp_cipher *out);
/* Everything in a container, in memory of its own. */
sp_status sp__decrypt_map(const uint8_t *data, size_t bytes, const sp_file_options *options, sp_map **out);

#endif
