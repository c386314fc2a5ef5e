/* SPDX-License-Identifier: Apache-2.0 */
/* cipher.h - MindSpore's encrypted container, and digests.
 *
 *     sp_cipher cipher;
 *     SP_TRY(sp__cipher_init(&cipher, SP_CIPHER_AES_GCM, key, key_bytes));
 *     size_t bound, n;
 *     SP_TRY(sp__cipher_open_bound(sealed, sealed_bytes, &bound));
 *     uint8_t *plain = sp__alloc(bound);
 *     status = sp__cipher_open(&cipher, sealed, sealed_bytes, plain, &n);     SP_VALUE: wrong key or damaged
 *     sp__cipher_clear(&cipher);
 *
 * Messages do not name the file: callers put its name in front. No key ever gets into a message. */
#ifndef SPORE_CIPHER_H
#define SPORE_CIPHER_H

#include "base/base.h"

/* --- the container: blocks that wrap up to 64 MiB each ------------------------------------------------------------ */

/* clang-format off */
#define SP_CIPHER_LIST(X)                                                                                              \
    X(AES_GCM, "AES-GCM")                                                                                              \
    X(AES_CBC, "AES-CBC")                                                                                              \
    X(SM4_CBC, "SM4-CBC")
/* clang-format on */

#define X(e, name) SP_CIPHER_##e,
typedef enum { SP_CIPHER_LIST(X) SP_CIPHER_COUNT } sp_cipher_mode;
#undef X

enum {
    SP_CIPHER_PIECE_BYTES = 64 << 20, /* plaintext in one block, at most */
    SP_CIPHER_KEY_MAX = 32,
    SP_CIPHER_OVERHEAD_MAX = 48 /* what one block adds to its plaintext, at most */
};

/* A mode with its key; a plain value. Wipe it with sp__cipher_clear when done. */
typedef struct sp_cipher {
    sp_cipher_mode mode;
    size_t key_bytes;
    uint8_t key[SP_CIPHER_KEY_MAX];
} sp_cipher;

const char *sp__cipher_mode_name(sp_cipher_mode mode); /* "AES-GCM" */
sp_status sp__cipher_mode_parse(const char *name, sp_cipher_mode *out);

/* AES takes keys of 16, 24 or 32 bytes, SM4 of 16; else SP_VALUE. */
sp_status sp__cipher_init(sp_cipher *cipher, sp_cipher_mode mode, const void *key, size_t key_bytes);
void sp__cipher_clear(sp_cipher *cipher);

/* Do the first bytes look like an encrypted block, of any mode? */
bool sp__cipher_is_sealed(const void *data, size_t bytes);
/* The mode they tell, by name (an old block of AES-CBC says AES-GCM); NULL: not encrypted. */
const char *sp__cipher_sealed_mode(const void *data, size_t bytes);

/* Exact size of the container for so many bytes. No bytes make an empty container. */
size_t sp__cipher_sealed_bytes(const sp_cipher *cipher, size_t plain_bytes);
/* Write the container, sp__cipher_sealed_bytes() of it. Initialisation vectors are random and new in every block. */
sp_status sp__cipher_seal(const sp_cipher *cipher, const void *plain, size_t plain_bytes, void *out);

/* Room that sp__cipher_open needs. Walks the block headers, so a wrong length is found before anything is allocated:
 * SP_FORMAT. Needs no key. */
sp_status sp__cipher_open_bound(const void *sealed, size_t sealed_bytes, size_t *out);
/* Decrypt a whole container; reads also what MindSpore 1.3 to 1.6 wrote. SP_VALUE when the key or the mode is not the
 * one it was made with (for CBC, which has no checksum, as far as the padding tells), SP_FORMAT when it is malformed.
 * AES-GCM finds every changed byte inside a block; that whole blocks are missing at the end nothing can tell. */
sp_status sp__cipher_open(const sp_cipher *cipher, const void *sealed, size_t sealed_bytes, void *out,
                          size_t *out_bytes);

/* --- digests ------------------------------------------------------------------------------------------------------ */

enum { SP_DIGEST_MAX = 64 };

/* algorithm: sha256, sha384, sha512, sha3_256, sha3_384 or sha3_512; else SP_VALUE. */
sp_status sp__digest(const char *algorithm, const void *data, size_t bytes, uint8_t out[SP_DIGEST_MAX],
                     size_t *out_bytes);

#endif
