/* SPDX-License-Identifier: Apache-2.0 */
/* test_cipher.c - the encrypted container: files of MindSpore open, what is sealed opens, wrong keys, cut and changed
 * containers are told, digests are the known ones. */
#include "formats/formats_util.h"

#include "base/cipher.h"
#include "base/share.h"

static const struct {
    sp_cipher_mode mode;
    const char *key;
    const char *file;
} samples[] = {
    {SP_CIPHER_AES_GCM, "0123456789ABCDEF", "enc_AES-GCM_key_0123456789ABCDEF.ckpt"},
    {SP_CIPHER_AES_GCM, "0123456789abcdef01234567", "enc_AES-GCM_key_0123456789abcdef01234567.ckpt"},
    {SP_CIPHER_AES_GCM, "spore-fixture-key-of-32-bytes-ok", "enc_AES-GCM_key_spore-fixture-key-of-32-bytes-ok.ckpt"},
    {SP_CIPHER_AES_CBC, "ABCDEFGH01234567", "enc_AES-CBC_key_ABCDEFGH01234567.ckpt"},
    {SP_CIPHER_SM4_CBC, "sm4keysm4keysm4k", "enc_SM4-CBC_key_sm4keysm4keysm4k.ckpt"},
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

static sp_cipher cipher_of(sp_cipher_mode mode, const char *key)
{
    sp_cipher cipher;
    OK(sp__cipher_init(&cipher, mode, key, strlen(key)));
    return cipher;
}

static sp_status try_open(const sp_cipher *cipher, const void *sealed, size_t bytes, blob *out)
{
    size_t bound;
    *out = (blob){NULL, 0};
    SP_TRY(sp__cipher_open_bound(sealed, bytes, &bound));
    out->data = malloc(bound);
    sp_status status = sp__cipher_open(cipher, sealed, bytes, out->data, &out->bytes);
    assert_true(status != SP_OK || out->bytes <= bound);
    return status;
}

static blob pattern(size_t bytes)
{
    blob b = {malloc(bytes + 1), bytes};
    for (size_t i = 0; i < bytes; i++) b.data[i] = (uint8_t)(i * 131 + i / 251);
    return b;
}

static blob seal(const sp_cipher *cipher, blob plain)
{
    blob sealed = {NULL, sp__cipher_sealed_bytes(cipher, plain.bytes)};
    sealed.data = malloc(sealed.bytes + 1);
    sealed.data[sealed.bytes] = 0xEE;
    OK(sp__cipher_seal(cipher, plain.data, plain.bytes, sealed.data));
    assert_int_equal(sealed.data[sealed.bytes], 0xEE);
    return sealed;
}

static void files_of_mindspore_open(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s%s", DATA, samples[i].file);
        blob sealed = read_blob(path), plain;
        assert_true(sp__cipher_is_sealed(sealed.data, sealed.bytes));
        sp_cipher cipher = cipher_of(samples[i].mode, samples[i].key);
        OK(try_open(&cipher, sealed.data, sealed.bytes, &plain));
        assert_int_equal(plain.data[0], 0x0A); /* a checkpoint: field 1, length-delimited */
        blob again = seal(&cipher, plain);
        assert_int_equal(again.bytes, sealed.bytes);
        free(again.data);
        free(plain.data);
        free(sealed.data);
    }
}

static void what_is_sealed_opens(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, SP_CIPHER_PIECE_BYTES + 100};
    for (int i = 0; i < N_SAMPLES; i++) {
        sp_cipher cipher = cipher_of(samples[i].mode, samples[i].key);
        /* More than one block once per kind: those take their time. */
        size_t n = (i == 0 || samples[i].mode == SP_CIPHER_AES_CBC) && share_takes(i) ? 7 : 6;
        for (size_t k = 0; k < n; k++) {
            blob plain = pattern(sizes[k]), sealed = seal(&cipher, plain), opened;
            OK(try_open(&cipher, sealed.data, sealed.bytes, &opened));
            assert_int_equal(opened.bytes, plain.bytes);
            assert_memory_equal(opened.data, plain.data, plain.bytes);
            free(opened.data);
            free(sealed.data);
            free(plain.data);
        }
    }
}

static void initialisation_vectors_differ(void **unused)
{
    (void)unused;
    sp_cipher cipher = cipher_of(SP_CIPHER_AES_GCM, "0123456789ABCDEF");
    blob plain = pattern(64), a = seal(&cipher, plain), b = seal(&cipher, plain);
    assert_memory_not_equal(a.data + 28, b.data + 28, 16);
    assert_memory_not_equal(a.data + 48, b.data + 48, 64);
    free(a.data);
    free(b.data);
    free(plain.data);
}

/* MindSpore 1.3 to 1.6: the GCM magic for both AES modes, and no tag. */
static void old_layout_opens(void **unused)
{
    (void)unused;
    blob plain = pattern(100), opened;
    sp_cipher gcm = cipher_of(SP_CIPHER_AES_GCM, "0123456789ABCDEF");
    blob sealed = seal(&gcm, plain);
    memmove(sealed.data + 4, sealed.data + 20, sealed.bytes - 20);
    OK(try_open(&gcm, sealed.data, sealed.bytes - 16, &opened));
    assert_int_equal(opened.bytes, plain.bytes);
    assert_memory_equal(opened.data, plain.data, plain.bytes);
    free(opened.data);
    free(sealed.data);

    sp_cipher cbc = cipher_of(SP_CIPHER_AES_CBC, "0123456789ABCDEF");
    sealed = seal(&cbc, plain);
    sealed.data[0] = 0xD8;
    OK(try_open(&cbc, sealed.data, sealed.bytes, &opened));
    assert_memory_equal(opened.data, plain.data, plain.bytes);
    free(opened.data);
    free(sealed.data);
    free(plain.data);
}

static void wrong_key_and_mode_are_told(void **unused)
{
    (void)unused;
    blob plain = pattern(1000), opened;
    for (int i = 0; i < N_SAMPLES; i++) {
        sp_cipher right = cipher_of(samples[i].mode, samples[i].key);
        blob sealed = seal(&right, plain);
        sp_cipher wrong = right;
        wrong.key[3] ^= 1;
        sp_status status = try_open(&wrong, sealed.data, sealed.bytes, &opened);
        /* CBC: one wrong key in 256 leaves a padding that looks right; then the plaintext is another. */
        if (status == SP_OK) assert_true(right.mode != SP_CIPHER_AES_GCM);
        else assert_non_null(strstr(sp_error_message(), "wrong key"));
        assert_null(strstr(sp_error_message(), samples[i].key));
        free(opened.data);

        wrong = right;
        wrong.mode = right.mode == SP_CIPHER_AES_GCM ? SP_CIPHER_AES_CBC : SP_CIPHER_AES_GCM;
        assert_int_equal(try_open(&wrong, sealed.data, sealed.bytes, &opened), SP_VALUE);
        assert_non_null(strstr(sp_error_message(), sp__cipher_mode_name(right.mode)));
        free(opened.data);
        free(sealed.data);
    }
    free(plain.data);
}

static void keys_and_names_are_checked(void **unused)
{
    (void)unused;
    sp_cipher cipher;
    assert_int_equal(sp__cipher_init(&cipher, SP_CIPHER_AES_GCM, "short", 5), SP_VALUE);
    assert_string_equal(sp_error_message(), "the key has 5 bytes; AES-GCM wants 16, 24 or 32");
    assert_int_equal(sp__cipher_init(&cipher, SP_CIPHER_SM4_CBC, "0123456789abcdef01234567", 24), SP_VALUE);
    assert_string_equal(sp_error_message(), "the key has 24 bytes; SM4-CBC wants 16");
    sp_cipher_mode mode;
    OK(sp__cipher_mode_parse("SM4-CBC", &mode));
    assert_int_equal(mode, SP_CIPHER_SM4_CBC);
    assert_int_equal(sp__cipher_mode_parse("aes", &mode), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "'aes'"));
}

/* Cut anywhere inside a block, or with any bit of a GCM block turned: refused. */
static void cut_and_changed_blocks_are_refused(void **unused)
{
    (void)unused;
    blob plain = pattern(70), opened;
    for (int i = 0; i < N_SAMPLES; i++) {
        sp_cipher cipher = cipher_of(samples[i].mode, samples[i].key);
        blob sealed = seal(&cipher, plain);
        for (size_t n = 1; n < sealed.bytes; n += (size_t)share()) {
            assert_int_not_equal(try_open(&cipher, sealed.data, n, &opened), SP_OK);
            free(opened.data);
        }
        for (size_t at = 0; at < sealed.bytes * 8; at += 2 * (size_t)share() - 1) {
            sealed.data[at / 8] ^= (uint8_t)(1 << at % 8);
            sp_status status = try_open(&cipher, sealed.data, sealed.bytes, &opened);
            /* The last four bytes of the 16 stored for the nonce are not used. */
            bool unused_byte = at / 8 >= 40 && at / 8 < 44;
            if (cipher.mode == SP_CIPHER_AES_GCM) assert_int_equal(status == SP_OK, unused_byte);
            sealed.data[at / 8] ^= (uint8_t)(1 << at % 8);
            free(opened.data);
        }
        free(sealed.data);
    }
    free(plain.data);
}

static void digests_are_the_known_ones(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        size_t bytes;
        uint8_t first[4];
    } known[] = {
        {"sha256", 32, {0xBA, 0x78, 0x16, 0xBF}},   {"sha384", 48, {0xCB, 0x00, 0x75, 0x3F}},
        {"sha512", 64, {0xDD, 0xAF, 0x35, 0xA1}},   {"sha3_256", 32, {0x3A, 0x98, 0x5D, 0xA7}},
        {"sha3_384", 48, {0xEC, 0x01, 0x49, 0x82}}, {"sha3_512", 64, {0xB7, 0x51, 0x85, 0x0B}},
    };
    uint8_t digest[SP_DIGEST_MAX];
    size_t n;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        OK(sp__digest(known[i].name, "abc", 3, digest, &n));
        assert_int_equal(n, known[i].bytes);
        assert_memory_equal(digest, known[i].first, 4);
    }
    assert_int_equal(sp__digest("md5", "abc", 3, digest, &n), SP_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_mindspore_open),
        cmocka_unit_test(what_is_sealed_opens),
        cmocka_unit_test(initialisation_vectors_differ),
        cmocka_unit_test(old_layout_opens),
        cmocka_unit_test(wrong_key_and_mode_are_told),
        cmocka_unit_test(keys_and_names_are_checked),
        cmocka_unit_test(cut_and_changed_blocks_are_refused),
        cmocka_unit_test(digests_are_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
