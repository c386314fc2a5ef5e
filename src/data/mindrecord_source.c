/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_source.c - from a file to its plain contents and back: encryption and digests of MindRecord files.
 *
 * Both wrap a whole file, the shard and its index alike; the digest first, then the encryption:
 *
 *     plain contents, digest, size of the digest (4 bytes, big-endian), "HASH"
 *     [length (4 bytes, big-endian), container of base/cipher.h for up to 64 MiB] ..., length 0, mode (7), "ENCRYPT"
 *
 * The mode is AES-GCM, AES-CBC, SM4-CBC, or UDF-ENC for a function of the user's, which only that function can read. The
 * algorithm of a digest is not stored; its size leaves two to try. Encrypted files are decrypted into memory as a whole:
 * pages are read in any order, and plain text does not belong on a disk. */
#include "data/mindrecord.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_order.h"
#include "base/cipher.h"
#include "base/file.h"
#include "base/plain.h"
#include "base/stand_in.h"

static const char encrypt_mark[] = "ENCRYPT", hash_mark[] = "HASH";
enum { ENCRYPT_MARK_BYTES = 7, MODE_BYTES = 7, HASH_MARK_BYTES = 4, COUNT_BYTES = 4, FOOTER_BYTES = 18 };

char *sp__mindrecord_path(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    char *out = sp__alloc(n + m + 1);
    if (out == NULL) return NULL;
    memcpy(out, path, n);
    memcpy(out + n, suffix, m + 1);
    return out;
}

const char *sp__mindrecord_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void put32_big(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* --- decryption ------------------------------------------------------------------------------------------------------- */

static bool ends_in(const uint8_t *data, size_t bytes, const char *mark, size_t mark_bytes)
{
    return bytes >= mark_bytes && memcmp(data + bytes - mark_bytes, mark, mark_bytes) == 0;
}

static sp_status find_mode(const uint8_t *data, size_t bytes, const char *wanted, sp_cipher_mode *out)
{
    SP_CHECK(bytes >= FOOTER_BYTES, SP_FORMAT, "the encrypted file is cut");
    char name[MODE_BYTES + 1] = {0};
    memcpy(name, data + bytes - ENCRYPT_MARK_BYTES - MODE_BYTES, MODE_BYTES);
    SP_CHECK(strcmp(name, "UDF-ENC") != 0, SP_DECLINED,
             "was encrypted with a function of its author's; only the matching function can decrypt it");
    for (int i = 0; i < MODE_BYTES; i++)
        SP_CHECK(name[i] > ' ' && name[i] < 127, SP_FORMAT, "the encrypted file names no mode at its end");
    SP_TRY(sp__cipher_mode_parse(name, out));
    SP_CHECK(wanted == NULL || strcmp(wanted, name) == 0, SP_VALUE, "was encrypted with %s, the mode given is %s", name,
             wanted);
    return SP_OK;
}

/* The next piece, 0 bytes at the end. */
static sp_status take_chunk(const uint8_t *data, size_t end, size_t *at, const uint8_t **out, size_t *out_bytes)
{
    SP_CHECK(end - *at >= COUNT_BYTES, SP_FORMAT, "the encrypted file is cut: no end mark");
    uint32_t n = sp__be32(data + *at);
    *at += COUNT_BYTES;
    SP_CHECK(n <= end - *at, SP_FORMAT, "an encrypted piece of %u bytes is cut after %zu", (unsigned)n, end - *at);
    *out = data + *at;
    *out_bytes = n;
    *at += n;
    return SP_OK;
}

static sp_status decrypt(const sp_cipher *cipher, const uint8_t *data, size_t end, uint8_t **out, size_t *out_bytes)
{
    const uint8_t *piece = NULL;
    size_t at = 0, n = 0, bound = 0, total = 0;
    do {
        size_t more = 0;
        SP_TRY(take_chunk(data, end, &at, &piece, &n));
        SP_TRY(sp__cipher_open_bound(piece, n, &more));
        bound += more;
    } while (n > 0);
    SP_CHECK(at == end, SP_FORMAT, "%zu bytes are left behind the end mark of the encrypted file", end - at);
    uint8_t *plain = sp__alloc(bound);
    if (plain == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    for (at = 0; at < end && status == SP_OK;) {
        size_t opened = 0;
        status = take_chunk(data, end, &at, &piece, &n);
        if (status == SP_OK) status = sp__cipher_open(cipher, piece, n, plain + total, &opened);
        total += opened;
    }
    if (status != SP_OK) {
        sp__free(plain);
        return status;
    }
    *out = plain;
    *out_bytes = total;
    return SP_OK;
}

static sp_status open_encrypted(const sp_record_secret *secret, sp_mindrecord_source *s)
{
    sp_cipher_mode mode = SP_CIPHER_AES_GCM;
    sp_cipher cipher;
    SP_TRY(find_mode(s->data, s->bytes, secret->mode, &mode));
    SP_TRY(sp__cipher_init(&cipher, mode, secret->key, secret->key_bytes));
    size_t end = s->bytes - ENCRYPT_MARK_BYTES - MODE_BYTES;
    sp_status status = decrypt(&cipher, s->data, end, &s->plain, &s->bytes);
    sp__cipher_clear(&cipher);
    SP_TRY(status);
    s->data = s->plain;
    return SP_OK;
}

/* --- digests ------------------------------------------------------------------------------------------------------------ */

static const char *const algorithms[] = {"sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512"};
enum { N_ALGORITHMS = sizeof algorithms / sizeof *algorithms, FUNCTION_DIGEST_MAX = 4096 };

static void split_digest(sp_mindrecord_source *s)
{
    size_t tail = HASH_MARK_BYTES + COUNT_BYTES;
    if (s->bytes < tail || !ends_in(s->data, s->bytes, hash_mark, HASH_MARK_BYTES)) return;
    uint32_t n = sp__be32(s->data + s->bytes - tail);
    /* A user's function may make digests of any size, so only the absurd is taken for contents. */
    if (n == 0 || n > FUNCTION_DIGEST_MAX || n > s->bytes - tail) return;
    s->bytes -= tail + n;
    s->digest = s->data + s->bytes;
    s->digest_bytes = n;
}

sp_status sp__mindrecord_source_verify(const sp_mindrecord_source *s, const char *hash)
{
    SP_CHECK(s->digest != NULL, SP_VALUE, "ends in no digest, though %s was asked for", hash != NULL ? hash : "one");
    bool tried = false;
    for (int i = 0; i < N_ALGORITHMS; i++) {
        uint8_t digest[SP_DIGEST_MAX];
        size_t n = 0;
        if (hash != NULL && strcmp(hash, algorithms[i]) != 0) continue;
        SP_TRY(sp__digest(algorithms[i], "", 0, digest, &n)); /* its size */
        if (n != s->digest_bytes) continue;
        tried = true;
        SP_TRY(sp__digest(algorithms[i], s->data, s->bytes, digest, &n));
        if (memcmp(digest, s->digest, n) == 0) return SP_OK;
    }
    SP_CHECK(tried, SP_VALUE, "its digest has %zu bytes, which %s does not make", s->digest_bytes,
             hash != NULL ? hash : "no known algorithm");
    return sp__fail(SP_VALUE, "the digest at its end (%s) differs: the file was changed or damaged",
                    hash != NULL ? hash : "any of that size");
}

/* --- whole files ---------------------------------------------------------------------------------------------------------- */

void sp__mindrecord_source_close(sp_mindrecord_source *s)
{
    sp__map_release(s->map);
    sp__free(s->plain);
    memset(s, 0, sizeof *s);
}

static sp_status open_contents(const sp_record_secret *secret, sp_mindrecord_source *s)
{
    s->data = s->map->data;
    s->bytes = s->map->bytes;
    s->encrypted = ends_in(s->data, s->bytes, encrypt_mark, ENCRYPT_MARK_BYTES);
    bool have_key = secret != NULL && secret->key != NULL;
    SP_CHECK(!s->encrypted || have_key, SP_VALUE, "is encrypted; a key is needed to read it");
    SP_CHECK(s->encrypted || !have_key, SP_VALUE, "is not encrypted, but a key was given to read it");
    if (s->encrypted) SP_TRY(open_encrypted(secret, s));
    split_digest(s);
    if (secret != NULL && secret->hash != NULL) SP_TRY(sp__mindrecord_source_verify(s, secret->hash));
    return SP_OK;
}

sp_status sp__mindrecord_source_open(const char *path, const sp_record_secret *secret, sp_mindrecord_source *out)
{
    sp_mindrecord_source s = {0};
    SP_TRY(sp__map_open(path, &s.map));
    sp_status status = sp__refuse_stand_in(s.map->data, s.map->bytes);
    if (status == SP_OK) status = open_contents(secret, &s);
    if (status != SP_OK) {
        sp__mindrecord_source_close(&s);
        return status;
    }
    *out = s;
    return SP_OK;
}

/* --- writing ---------------------------------------------------------------------------------------------------------------- */

/* The tail that a digest makes: digest, its size, mark. Returns its bytes, 0 when none is asked for. */
static sp_status make_tail(const uint8_t *data, size_t bytes, const char *hash, uint8_t *out, size_t *out_bytes)
{
    *out_bytes = 0;
    if (hash == NULL) return SP_OK;
    size_t n = 0;
    SP_TRY(sp__digest(hash, data, bytes, out, &n));
    put32_big(out + n, (uint32_t)n);
    memcpy(out + n + COUNT_BYTES, hash_mark, HASH_MARK_BYTES);
    *out_bytes = n + COUNT_BYTES + HASH_MARK_BYTES;
    return SP_OK;
}

/* Encrypt data, then tail, as if they were one, in pieces of 64 MiB. */
static sp_status write_encrypted(sp_replace *r, const sp_cipher *cipher, const uint8_t *data, size_t bytes,
                                 const uint8_t *tail, size_t tail_bytes)
{
    size_t total = bytes + tail_bytes;
    size_t most = total < SP_CIPHER_PIECE_BYTES ? total : SP_CIPHER_PIECE_BYTES;
    uint8_t *plain = sp__alloc(most), *sealed = sp__alloc(COUNT_BYTES + most + SP_CIPHER_OVERHEAD_MAX);
    sp_status status = plain == NULL || sealed == NULL ? SP_NOMEM : SP_OK;
    for (size_t at = 0; at < total && status == SP_OK; at += most) {
        size_t n = total - at < most ? total - at : most;
        size_t front = at >= bytes ? 0 : bytes - at < n ? bytes - at : n;
        if (front > 0) memcpy(plain, data + at, front);
        if (front < n) memcpy(plain + front, tail + (at + front - bytes), n - front);
        size_t sealed_bytes = sp__cipher_sealed_bytes(cipher, n);
        put32_big(sealed, (uint32_t)sealed_bytes);
        status = sp__cipher_seal(cipher, plain, n, sealed + COUNT_BYTES);
        if (status == SP_OK) status = sp__replace_write(r, sealed, COUNT_BYTES + sealed_bytes);
    }
    sp__free(plain);
    sp__free(sealed);
    SP_TRY(status);
    uint8_t footer[FOOTER_BYTES] = {0};
    memcpy(footer + COUNT_BYTES, sp__cipher_mode_name(cipher->mode), MODE_BYTES);
    memcpy(footer + COUNT_BYTES + MODE_BYTES, encrypt_mark, ENCRYPT_MARK_BYTES);
    return sp__replace_write(r, footer, sizeof footer);
}

static sp_status write_contents(sp_replace *r, const uint8_t *data, size_t bytes, const sp_record_secret *secret)
{
    uint8_t tail[SP_DIGEST_MAX + COUNT_BYTES + HASH_MARK_BYTES];
    size_t tail_bytes = 0;
    SP_TRY(make_tail(data, bytes, secret != NULL ? secret->hash : NULL, tail, &tail_bytes));
    if (secret == NULL || secret->key == NULL) {
        SP_TRY(sp__replace_write(r, data, bytes));
        return sp__replace_write(r, tail, tail_bytes);
    }
    sp_cipher_mode mode = SP_CIPHER_AES_GCM;
    sp_cipher cipher;
    if (secret->mode != NULL) SP_TRY(sp__cipher_mode_parse(secret->mode, &mode));
    SP_TRY(sp__cipher_init(&cipher, mode, secret->key, secret->key_bytes));
    sp_status status = write_encrypted(r, &cipher, data, bytes, tail, tail_bytes);
    sp__cipher_clear(&cipher);
    return status;
}

sp_status sp__mindrecord_source_save(const char *path, const uint8_t *data, size_t bytes,
                                     const sp_record_secret *secret)
{
    sp_replace *r = NULL;
    SP_TRY(sp__replace_open(path, &r));
    sp__replace_private(r);
    sp_status status = write_contents(r, data, bytes, secret);
    if (status != SP_OK) {
        sp__replace_abort(r);
        return status;
    }
    return sp__replace_take_commit(r);
}

sp_status sp__mindrecord_source_publish(const char *plain, const char *path, const sp_record_secret *secret)
{
    if (secret == NULL || (secret->key == NULL && secret->hash == NULL)) {
        SP_CHECK(rename(plain, path) == 0, SP_IO, "%s cannot be renamed to it: %s", plain, sp__strerror(errno));
        return SP_OK;
    }
    sp_map *map = NULL;
    SP_TRY(sp__map_open(plain, &map));
    sp_status status = sp__mindrecord_source_save(path, map->data, map->bytes, secret);
    sp__map_release(map);
    if (status == SP_OK && unlink(plain) != 0)
        status = sp__fail(SP_IO, "%s cannot be removed: %s", plain, sp__strerror(errno));
    return status;
}
