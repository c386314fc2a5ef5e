/* SPDX-License-Identifier: Apache-2.0 */
/* cipher.c - MindSpore's encrypted container over OpenSSL's ciphers.
 *
 * A container is a row of blocks, one for every 64 MiB of plaintext, without header, count or end mark. Integers have
 * 32 bits, little-endian. A block:
 *
 *     magic          4   D8 5E 3A 7F AES-GCM, D9.. AES-CBC, DA.. SM4-CBC
 *     tag           16   AES-GCM only
 *     block_len      4   bytes behind this field: 24 + cipher_len
 *     iv_len         4   16
 *     iv            16   random; AES-GCM uses the first 12 as its nonce, CBC all
 *     cipher_len     4   CBC: padded with 1 to 16 bytes (PKCS#7)
 *     ciphertext
 *
 * MindSpore 1.3 to 1.6 wrote the GCM magic for AES-GCM and AES-CBC alike, and no tag. Which of the two layouts a block
 * has is told by its lengths: only one of them can have iv_len == 16 and block_len == 24 + cipher_len in its place (an
 * accident needs 96 bits of a random tag and IV to fall right). The mode of an old block is the caller's word. */
#include "base/cipher.h"
#include "base/byte_order.h"
#include "base/fail.h"
#include "base/lock.h"
#include "base/parts.h"

#if SP_HAVE_CRYPTO
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MAGIC_GCM = 0x7F3A5ED8, /* + mode */
    TAG_BYTES = 16,
    IV_BYTES = 16,
    PAD_BYTES = 16,
    FIXED_BYTES = 32, /* magic, block_len, iv_len, iv, cipher_len */
    BLOCK_LEN_EXTRA = 24,
    CIPHER_MAX = SP_CIPHER_PIECE_BYTES + PAD_BYTES
};

static const char *const mode_names[] = {
#define X(e, name) name,
    SP_CIPHER_LIST(X)
#undef X
};

const char *sp__cipher_mode_name(sp_cipher_mode mode)
{
    return (unsigned)mode < SP_CIPHER_COUNT ? mode_names[mode] : "unknown";
}

sp_status sp__cipher_mode_parse(const char *name, sp_cipher_mode *out)
{
    for (int i = 0; i < SP_CIPHER_COUNT; i++) {
        if (strcmp(name, mode_names[i]) != 0) continue;
        *out = (sp_cipher_mode)i;
        return SP_OK;
    }
    return sp__fail(SP_VALUE, "the encryption mode '%s' is not known; there are AES-GCM, AES-CBC and SM4-CBC", name);
}

sp_status sp__cipher_init(sp_cipher *cipher, sp_cipher_mode mode, const void *key, size_t key_bytes)
{
    SP_CHECK((unsigned)mode < SP_CIPHER_COUNT, SP_VALUE, "encryption mode %d is not known", (int)mode);
    SP_CHECK(key_bytes == 16 || (mode != SP_CIPHER_SM4_CBC && (key_bytes == 24 || key_bytes == 32)), SP_VALUE,
             "the key has %zu bytes; %s wants %s", key_bytes, mode_names[mode],
             mode == SP_CIPHER_SM4_CBC ? "16" : "16, 24 or 32");
    memset(cipher, 0, sizeof *cipher);
    cipher->mode = mode;
    cipher->key_bytes = key_bytes;
    memcpy(cipher->key, key, key_bytes);
    return SP_OK;
}

#if SP_HAVE_CRYPTO
void sp__cipher_clear(sp_cipher *cipher) { OPENSSL_cleanse(cipher, sizeof *cipher); }
#else
void sp__cipher_clear(sp_cipher *cipher) { memset(cipher, 0, sizeof *cipher); }
#endif

/* --- little-endian fields ----------------------------------------------------------------------------------------- */

static void put32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (8 * i));
}

/* --- one block ---------------------------------------------------------------------------------------------------- */

typedef struct block {
    sp_cipher_mode mode; /* by the magic */
    const uint8_t *tag;  /* NULL: none */
    const uint8_t *iv;
    const uint8_t *text;
    size_t text_bytes;
    size_t bytes; /* of the whole block */
} block;

bool sp__cipher_is_sealed(const void *data, size_t bytes)
{
    return bytes >= 4 && sp__le32(data) - (uint32_t)MAGIC_GCM < SP_CIPHER_COUNT;
}

const char *sp__cipher_sealed_mode(const void *data, size_t bytes)
{
    return sp__cipher_is_sealed(data, bytes) ? mode_names[sp__le32(data) - (uint32_t)MAGIC_GCM] : NULL;
}

/* Lengths at p (behind magic and tag) that fit each other. */
static bool lengths_fit(const uint8_t *p, size_t left)
{
    if (left < FIXED_BYTES - 4) return false;
    uint32_t cipher_len = sp__le32(p + 4 + 4 + IV_BYTES);
    return sp__le32(p + 4) == IV_BYTES && cipher_len <= CIPHER_MAX && sp__le32(p) == BLOCK_LEN_EXTRA + cipher_len;
}

static sp_status parse_block(const uint8_t *p, size_t left, block *out)
{
    SP_CHECK(left >= FIXED_BYTES, SP_FORMAT, "encrypted block is cut: %zu bytes left, at least %d wanted", left,
             FIXED_BYTES);
    SP_CHECK(sp__cipher_is_sealed(p, left), SP_FORMAT, "no encrypted block: it begins with %08x, not with %08x to %08x",
             (unsigned)sp__le32(p), (unsigned)MAGIC_GCM, (unsigned)MAGIC_GCM + SP_CIPHER_COUNT - 1);
    out->mode = (sp_cipher_mode)(sp__le32(p) - (uint32_t)MAGIC_GCM);
    out->tag = NULL;
    size_t at = 4;
    if (out->mode == SP_CIPHER_AES_GCM && left >= at + TAG_BYTES &&
        lengths_fit(p + at + TAG_BYTES, left - at - TAG_BYTES)) {
        out->tag = p + at;
        at += TAG_BYTES;
    }
    SP_CHECK(lengths_fit(p + at, left - at), SP_FORMAT, "lengths in the header of an encrypted block do not fit");
    out->iv = p + at + 8;
    out->text_bytes = sp__le32(p + at + 8 + IV_BYTES);
    at += FIXED_BYTES - 4;
    SP_CHECK(out->text_bytes > 0, SP_FORMAT, "encrypted block without contents");
    SP_CHECK(out->text_bytes <= left - at, SP_FORMAT, "encrypted block of %zu bytes is cut after %zu", out->text_bytes,
             left - at);
    out->text = p + at;
    out->bytes = at + out->text_bytes;
    return SP_OK;
}

#if SP_HAVE_CRYPTO
/* --- OpenSSL ------------------------------------------------------------------------------------------------------ */

/* A library context of our own: the one that OpenSSL shares stays unusable, and crashes, when its making ran out of memory once. Ours is
 * made anew after a failure in it, when nobody works with it and there is memory again: without, OpenSSL loses what it should free. */
static sp_lock library_lock = SP_LOCK_INIT;
static OSSL_LIB_CTX *library;
static OSSL_PROVIDER *ciphers;
static int n_library_users;
static bool library_failed;

/* What is under it cannot be repaired, and is therefore made while there surely is memory. A few microseconds. */
__attribute__((constructor)) static void library_start(void) { OPENSSL_init_crypto(0, NULL); }

static void library_drop(void)
{
    if (ciphers != NULL) OSSL_PROVIDER_unload(ciphers);
    OSSL_LIB_CTX_free(library);
    ciphers = NULL;
    library = NULL;
    library_failed = false;
}

static OSSL_LIB_CTX *library_take(void)
{
    sp__lock(&library_lock);
    if (library_failed && n_library_users == 0 && !sp__memory_is_out()) library_drop();
    if (library == NULL) {
        library = OSSL_LIB_CTX_new();
        ciphers = library != NULL ? OSSL_PROVIDER_load(library, "default") : NULL;
        library_failed = ciphers == NULL;
    }
    OSSL_LIB_CTX *taken = library_failed && n_library_users == 0 ? NULL : library;
    if (taken != NULL) n_library_users++;
    sp__unlock(&library_lock);
    return taken;
}

static void library_give(bool failed)
{
    sp__lock(&library_lock);
    library_failed |= failed;
    n_library_users--;
    sp__unlock(&library_lock);
}

/* OpenSSL tells a lack of memory, if it can, among its errors. */
static bool memory_is_out(void)
{
    bool told = false;
    for (unsigned long e; (e = ERR_get_error()) != 0;) told |= ERR_GET_REASON(e) == ERR_R_MALLOC_FAILURE;
    return told || sp__memory_is_out();
}

static sp_status library_fail(const char *name, const char *what)
{
    if (memory_is_out()) return sp__fail(SP_NOMEM, "out of memory for %s", name);
    return sp__fail(SP_RUNTIME, "this system's OpenSSL %s %s", what, name);
}

/* After it: context_release. */
static sp_status context_create(const sp_cipher *cipher, const uint8_t *iv, int encrypt, EVP_CIPHER_CTX **out)
{
    char name[32];
    if (cipher->mode == SP_CIPHER_SM4_CBC) snprintf(name, sizeof name, "SM4-CBC");
    else
        snprintf(name, sizeof name, "AES-%zu-%s", cipher->key_bytes * 8,
                 cipher->mode == SP_CIPHER_AES_GCM ? "GCM" : "CBC");
    OSSL_LIB_CTX *taken = library_take();
    if (taken == NULL) return library_fail(name, "cannot be started for");
    EVP_CIPHER *algorithm = EVP_CIPHER_fetch(taken, name, NULL);
    EVP_CIPHER_CTX *context = algorithm != NULL ? EVP_CIPHER_CTX_new() : NULL;
    /* GCM: the nonce length stays at OpenSSL's default of 12, so the last four bytes of iv do not matter. */
    const bool ok = context != NULL && EVP_CipherInit_ex2(context, algorithm, cipher->key, iv, encrypt, NULL) == 1;
    const bool offered = algorithm != NULL;
    EVP_CIPHER_free(algorithm);
    if (!ok) {
        EVP_CIPHER_CTX_free(context);
        library_give(true);
        return library_fail(name, offered ? "cannot start" : "does not offer");
    }
    *out = context;
    return SP_OK;
}

static void context_release(EVP_CIPHER_CTX *context)
{
    EVP_CIPHER_CTX_free(context);
    library_give(false);
}

static sp_status wrong_key(const sp_cipher *cipher, const char *what)
{
    return sp__fail(SP_VALUE, "wrong key or mode (%s, key of %zu bytes), or a damaged file: %s",
                    mode_names[cipher->mode], cipher->key_bytes, what);
}

static sp_status open_block(const sp_cipher *cipher, const block *b, uint8_t *out, size_t *out_bytes)
{
    bool old_layout = b->mode == SP_CIPHER_AES_GCM && b->tag == NULL;
    bool agrees = b->mode == cipher->mode || (old_layout && cipher->mode == SP_CIPHER_AES_CBC);
    SP_CHECK(agrees, SP_VALUE, "was encrypted with %s, the mode given is %s", mode_names[b->mode],
             mode_names[cipher->mode]);
    EVP_CIPHER_CTX *context;
    SP_TRY(context_create(cipher, b->iv, 0, &context));
    int n = 0, n_last = 0;
    sp_status status = SP_OK;
    ERR_clear_error();
    if (EVP_CipherUpdate(context, out, &n, b->text, (int)b->text_bytes) != 1)
        status = wrong_key(cipher, "it cannot be decrypted");
    else if (b->tag != NULL &&
             EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, (void *)(uintptr_t)b->tag) != 1)
        status = sp__fail(SP_RUNTIME, "OpenSSL does not take the authentication tag");
    else if (cipher->mode == SP_CIPHER_AES_GCM && b->tag == NULL)
        n_last = 0; /* old layout: nothing to verify, and finishing would ask for the tag */
    else if (EVP_CipherFinal_ex(context, out + n, &n_last) != 1)
        status = wrong_key(cipher, b->tag != NULL ? "the authentication tag differs" : "the padding is not valid");
    context_release(context);
    if (status != SP_OK && memory_is_out())
        status = sp__fail(SP_NOMEM, "out of memory for %s", mode_names[cipher->mode]);
    *out_bytes = (size_t)n + (size_t)n_last;
    return status;
}

static size_t block_overhead(const sp_cipher *cipher, size_t piece)
{
    if (cipher->mode == SP_CIPHER_AES_GCM) return FIXED_BYTES + TAG_BYTES;
    return FIXED_BYTES + (PAD_BYTES - piece % PAD_BYTES);
}

static sp_status seal_block(const sp_cipher *cipher, const uint8_t *plain, size_t bytes, uint8_t *out)
{
    bool tagged = cipher->mode == SP_CIPHER_AES_GCM;
    uint8_t *lengths = out + 4 + (tagged ? TAG_BYTES : 0);
    uint8_t *iv = lengths + 8;
    uint8_t *text = iv + IV_BYTES + 4;
    uint32_t text_bytes = (uint32_t)(bytes + block_overhead(cipher, bytes) - (size_t)(text - out));
    put32(out, (uint32_t)MAGIC_GCM + (uint32_t)cipher->mode);
    put32(lengths, BLOCK_LEN_EXTRA + text_bytes);
    put32(lengths + 4, IV_BYTES);
    put32(iv + IV_BYTES, text_bytes);
    SP_CHECK(getentropy(iv, IV_BYTES) == 0, SP_RUNTIME, "the system has no random numbers for an encrypted block");

    EVP_CIPHER_CTX *context;
    SP_TRY(context_create(cipher, iv, 1, &context));
    int n = 0, n_last = 0;
    bool ok = EVP_CipherUpdate(context, text, &n, plain, (int)bytes) == 1 &&
              EVP_CipherFinal_ex(context, text + n, &n_last) == 1 && (uint32_t)(n + n_last) == text_bytes &&
              (!tagged || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, out + 4) == 1);
    context_release(context);
    if (!ok) return library_fail(mode_names[cipher->mode], "could not encrypt with");
    return SP_OK;
}

/* --- whole containers --------------------------------------------------------------------------------------------- */

static size_t piece_at(size_t at, size_t bytes)
{
    return bytes - at < SP_CIPHER_PIECE_BYTES ? bytes - at : SP_CIPHER_PIECE_BYTES;
}

size_t sp__cipher_sealed_bytes(const sp_cipher *cipher, size_t plain_bytes)
{
    size_t total = plain_bytes;
    for (size_t at = 0; at < plain_bytes; at += SP_CIPHER_PIECE_BYTES)
        total += block_overhead(cipher, piece_at(at, plain_bytes));
    return total;
}

sp_status sp__cipher_seal(const sp_cipher *cipher, const void *plain, size_t plain_bytes, void *out)
{
    const uint8_t *src = plain;
    uint8_t *dst = out;
    for (size_t at = 0; at < plain_bytes; at += SP_CIPHER_PIECE_BYTES) {
        size_t piece = piece_at(at, plain_bytes);
        sp__section_begin(); /* OpenSSL has locks that fork does not know */
        sp_status status = seal_block(cipher, src + at, piece, dst);
        sp__section_end();
        SP_TRY(status);
        dst += piece + block_overhead(cipher, piece);
    }
    return SP_OK;
}

sp_status sp__cipher_open_bound(const void *sealed, size_t sealed_bytes, size_t *out)
{
    size_t total = 0;
    for (size_t at = 0; at < sealed_bytes;) {
        block b = {0};
        SP_TRY(parse_block((const uint8_t *)sealed + at, sealed_bytes - at, &b));
        total += b.text_bytes; /* at most sealed_bytes: no overflow */
        at += b.bytes;
    }
    /* OpenSSL may store a whole padding block before it is told to finish. */
    *out = total + PAD_BYTES;
    return SP_OK;
}

sp_status sp__cipher_open(const sp_cipher *cipher, const void *sealed, size_t sealed_bytes, void *out,
                          size_t *out_bytes)
{
    size_t total = 0;
    for (size_t at = 0; at < sealed_bytes;) {
        block b = {0};
        size_t n = 0;
        SP_TRY(parse_block((const uint8_t *)sealed + at, sealed_bytes - at, &b));
        sp__section_begin();
        sp_status status = open_block(cipher, &b, (uint8_t *)out + total, &n);
        sp__section_end();
        SP_TRY(status);
        total += n;
        at += b.bytes;
    }
    *out_bytes = total;
    return SP_OK;
}

/* --- digests ------------------------------------------------------------------------------------------------------ */

sp_status sp__digest(const char *algorithm, const void *data, size_t bytes, uint8_t out[SP_DIGEST_MAX],
                     size_t *out_bytes)
{
    static const char *const names[][2] = {{"sha256", "SHA2-256"},   {"sha384", "SHA2-384"},
                                           {"sha512", "SHA2-512"},   {"sha3_256", "SHA3-256"},
                                           {"sha3_384", "SHA3-384"}, {"sha3_512", "SHA3-512"}};
    const char *openssl_name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(algorithm, names[i][0]) == 0) openssl_name = names[i][1];
    SP_CHECK(openssl_name != NULL, SP_VALUE,
             "the hash '%s' is not known; there are sha256, sha384, sha512, sha3_256, sha3_384 and sha3_512",
             algorithm);
    sp__section_begin();
    OSSL_LIB_CTX *taken = library_take();
    const bool ok = taken != NULL && EVP_Q_digest(taken, openssl_name, NULL, data, bytes, out, out_bytes) == 1;
    if (taken != NULL) library_give(!ok);
    sp__section_end();
    if (!ok) return library_fail(openssl_name, "does not offer");
    return SP_OK;
}

#else

static sp_status absent(void) { return sp__fail(SP_DECLINED, "this build has no ciphers and digests (SPORE_CRYPTO)"); }

size_t sp__cipher_sealed_bytes(const sp_cipher *cipher, size_t plain_bytes)
{
    (void)cipher;
    return plain_bytes;
}
sp_status sp__cipher_seal(const sp_cipher *cipher, const void *plain, size_t plain_bytes, void *out)
{
    (void)cipher, (void)plain, (void)plain_bytes, (void)out;
    return absent();
}
sp_status sp__cipher_open_bound(const void *sealed, size_t sealed_bytes, size_t *out)
{
    (void)sealed, (void)sealed_bytes, (void)out;
    return absent();
}
sp_status sp__cipher_open(const sp_cipher *cipher, const void *sealed, size_t sealed_bytes, void *out,
                          size_t *out_bytes)
{
    (void)cipher, (void)sealed, (void)sealed_bytes, (void)out, (void)out_bytes;
    return absent();
}
sp_status sp__digest(const char *algorithm, const void *data, size_t bytes, uint8_t out[SP_DIGEST_MAX],
                     size_t *out_bytes)
{
    (void)algorithm, (void)data, (void)bytes, (void)out, (void)out_bytes;
    return absent();
}

#endif
