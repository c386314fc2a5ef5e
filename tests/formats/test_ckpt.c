/* SPDX-License-Identifier: Apache-2.0 */
/* test_ckpt.c - checkpoints: files written by MindSpore 1.1.1 and 2.10 give their values and come out byte for byte the
 * same; what is unusual but allowed is read; what is wrong is refused with a message that tells where. */
#include "formats_util.h"

#include <sys/stat.h>

#include "formats/ckpt.h"
#include "formats/wire.h"
#include "spore/format.h"
#include "tensor/tensor_impl.h"

/* --- golden files ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    int count;          /* entries in the file */
    const char *prefix; /* names have it in the checkpoint only */
} golden[] = {
    {"append_dict", 15, ""},        {"async", 8, ""},         {"choice_func", 6, ""},
    {"complex64", 1, ""},           {"complex128", 1, ""},    {"crc", 8, ""},
    {"dict_input", 2, ""},          {"dtypes", 35, ""},       {"integrated_save_false", 8, ""},
    {"prefix", 8, "backbone.net."}, {"scalars_empty", 7, ""}, {"slices", 3, ""},
};
enum { N_GOLDEN = sizeof golden / sizeof golden[0] };

static const char *golden_path(int i, const char *ending)
{
    static char path[128];
    snprintf(path, sizeof path, DATA "%s.%s", golden[i].name, ending);
    return path;
}

static void check_text(const char *text, size_t bytes, const array *a)
{
    /* Expected UTF-32; the text decoded here by the other direction: every character encoded must match. */
    size_t n = a->bytes / 4, at = 0;
    for (size_t k = 0; k < n; k++) {
        uint32_t c = le(a->data + 4 * k, 4);
        if (c == 0) break;
        uint8_t b = (uint8_t)text[at];
        int more = b < 0x80 ? 0 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
        uint32_t got = more == 0 ? b : b & (0x3Fu >> more);
        for (at++; more > 0; more--) got = got << 6 | ((uint8_t)text[at++] & 0x3F);
        assert_int_equal(got, c);
    }
    assert_int_equal(at, bytes);
    assert_int_equal(text[bytes], 0);
}

static const char *descr_of(sp_dtype dtype)
{
    static char text[8];
    if (dtype == SP_DTYPE_BF16) return "<u2"; /* expected as bits */
    size_t bytes = sp_dtype_bytes(dtype);
    snprintf(text, sizeof text, "%c%c%zu", bytes == 1 ? '|' : '<', sp_dtype_kind(dtype), bytes);
    return text;
}

static void check_tensor(const char *name, const sp_tensor *t, const array *a)
{
    char shape[SP_SHAPE_TEXT];
    assert_string_equal(sp__shape_text(sp_tensor_rank(t), sp_tensor_dims(t), shape), a->shape);
    if (strcmp(name, "lr") == 0) { /* a Python float: expected as float64, stored as float32 */
        double wanted;
        memcpy(&wanted, a->data, sizeof wanted);
        assert_int_equal(sp_tensor_dtype(t), SP_DTYPE_F32);
        assert_true(*(float *)sp_tensor_data(t) == (float)wanted);
        return;
    }
    assert_string_equal(descr_of(sp_tensor_dtype(t)), a->descr);
    assert_int_equal(sp_tensor_bytes(t), a->bytes);
    assert_memory_equal(sp_tensor_data(t), a->data, a->bytes);
}

static const array *expected(const npz *z, int file, const char *name)
{
    char key[128];
    size_t skip = strlen(golden[file].prefix);
    assert_true(strncmp(name, golden[file].prefix, skip) == 0);
    snprintf(key, sizeof key, "%s.bits", name);
    const array *a = find_array(z, key);
    if (a == NULL) a = find_array(z, name + skip);
    snprintf(key, sizeof key, "append/%s", name);
    if (a == NULL) a = find_array(z, key);
    if (a == NULL) fail_msg("%s: no expected value for '%s'", golden[file].name, name);
    return a;
}

static void golden_files_have_their_values(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_GOLDEN; i++) {
        sp_bundle *b;
        OK(sp_load(golden_path(i, "ckpt"), &with_crc, &b));
        npz z = read_npz(golden_path(i, "npz"));
        assert_int_equal(sp_bundle_count(b), golden[i].count);
        int order = 0; /* names come in the order of the expected ones */
        for (int64_t k = 0; k < sp_bundle_count(b); k++) {
            const char *name = sp_bundle_name_at(b, k);
            const array *a = expected(&z, i, name);
            assert_true((int)(a - z.arrays) >= order);
            order = (int)(a - z.arrays);
            size_t bytes;
            const char *text = sp_bundle_text_at(b, k, &bytes);
            if (text != NULL) check_text(text, bytes, a);
            else check_tensor(name, sp_bundle_tensor_at(b, k), a);
            assert_int_equal(sp_bundle_find(b, name), k);
        }
        free_npz(&z);
        sp_bundle_release(b);
    }
}

static void golden_files_come_out_the_same(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_GOLDEN; i++) {
        sp_bundle *b;
        OK(sp_load(golden_path(i, "ckpt"), NULL, &b));
        sp__checkpoint_slice_bytes = strcmp(golden[i].name, "slices") == 0 ? 1024 : (size_t)512 << 20;
        OK(sp_save(in_scratch("x.ckpt"), b, strcmp(golden[i].name, "crc") == 0 ? &with_crc : NULL));
        sp__checkpoint_slice_bytes = (size_t)512 << 20;
        assert_same_file(golden_path(i, "ckpt"), in_scratch("x.ckpt"));
        sp_bundle_release(b);
    }
}

static void lenet_of_1_1_1_comes_out_the_same(void **unused)
{
    (void)unused;
    sp_bundle *b;
    OK(sp_load(DATA "lenet_mnist_1.1.1.ckpt", NULL, &b));
    assert_int_equal(sp_bundle_count(b), 21);
    int64_t i = sp_bundle_find(b, "learning_rate");
    double value;
    OK(sp_tensor_item_f64(sp_bundle_tensor_at(b, i), &value));
    assert_true(value == (double)0.01f);
    assert_int_equal(sp_tensor_rank(sp_bundle_tensor_at(b, i)), 0);
    const sp_file_options old = {.flags = SP_FILE_OLD_SCALARS};
    OK(sp_save(in_scratch("lenet.ckpt"), b, &old));
    assert_same_file(DATA "lenet_mnist_1.1.1.ckpt", in_scratch("lenet.ckpt"));
    sp_bundle_release(b);
}

/* Weights above the limit are looked at in the file: writing to them must change neither the file nor other readers. */
static void views_are_private(void **unused)
{
    (void)unused;
    sp_bundle *b, *again, *copied;
    OK(sp_load(DATA "lenet_mnist_1.1.1.ckpt", NULL, &b));
    const sp_file_options copy = {.flags = SP_FILE_COPY};
    OK(sp_load(DATA "lenet_mnist_1.1.1.ckpt", &copy, &copied));
    blob before = read_blob(DATA "lenet_mnist_1.1.1.ckpt");
    for (int64_t i = 0; i < sp_bundle_count(b); i++) {
        sp_tensor *t = sp_bundle_tensor_at(b, i);
        assert_memory_equal(sp_tensor_data(t), sp_tensor_data(sp_bundle_tensor_at(copied, i)), sp_tensor_bytes(t));
        memset(sp_tensor_data(t), 0x55, sp_tensor_bytes(t));
    }
    blob after = read_blob(DATA "lenet_mnist_1.1.1.ckpt");
    assert_memory_equal(before.data, after.data, before.bytes);
    OK(sp_load(DATA "lenet_mnist_1.1.1.ckpt", NULL, &again));
    for (int64_t i = 0; i < sp_bundle_count(again); i++)
        assert_memory_equal(sp_tensor_data(sp_bundle_tensor_at(again, i)),
                            sp_tensor_data(sp_bundle_tensor_at(copied, i)),
                            sp_tensor_bytes(sp_bundle_tensor_at(again, i)));
    free(before.data);
    free(after.data);
    sp_bundle_release(b);
    sp_bundle_release(again);
    sp_bundle_release(copied);
}

/* A tensor of 100 KB at every alignment, as a view or as a copy, outlives its bundle and the name of the file. */
static void tensors_outlive_bundle_and_file(void **unused)
{
    (void)unused;
    int64_t n = 25000;
    for (int shift = 0; shift < 8; shift++) {
        sp_bundle *b;
        sp_tensor *t;
        char name[16] = "aaaaaaaa";
        name[shift] = '\0';
        OK(sp_tensor_create(SP_DTYPE_F32, 1, &n, &t));
        for (int64_t i = 0; i < n; i++) ((float *)sp_tensor_data(t))[i] = (float)i;
        OK(sp_bundle_create(&b));
        OK(sp_bundle_add(b, name, t));
        OK(sp_save(in_scratch("v.ckpt"), b, NULL));
        sp_bundle_release(b);
        sp_tensor_release(t);
        OK(sp_load(in_scratch("v.ckpt"), NULL, &b));
        t = sp_tensor_retain(sp_bundle_tensor_at(b, 0));
        sp_bundle_release(b);
        unlink(in_scratch("v.ckpt"));
        assert_int_equal((uintptr_t)sp_tensor_data(t) % 4, 0);
        for (int64_t i = 0; i < n; i++) assert_true(((float *)sp_tensor_data(t))[i] == (float)i);
        sp_tensor_release(t);
    }
}

/* --- files made by hand ------------------------------------------------------------------------------------------ */

static void put_text_field(sp_wire_out *o, uint32_t number, const char *text)
{
    OK(sp__wire_put_head(o, number, strlen(text)));
    OK(sp__wire_put(o, text, strlen(text)));
}

static void put_nested(sp_wire_out *o, uint32_t number, sp_wire_out *inner)
{
    OK(sp__wire_put_head(o, number, inner->bytes));
    OK(sp__wire_put(o, inner->data, inner->bytes));
    sp__wire_out_free(inner);
}

/* An entry of the usual form. */
static void put_entry(sp_wire_out *o, const char *name, int rank, const int64_t *dims, const char *type,
                      const void *data, size_t bytes)
{
    sp_wire_out tensor = {0}, value = {0};
    for (int i = 0; i < rank; i++) OK(sp__wire_put_number(&tensor, 1, (uint64_t)dims[i]));
    put_text_field(&tensor, 2, type);
    OK(sp__wire_put_head(&tensor, 3, bytes));
    OK(sp__wire_put(&tensor, data, bytes));
    put_text_field(&value, 1, name);
    put_nested(&value, 2, &tensor);
    put_nested(o, 1, &value);
}

static sp_status parse_out(sp_wire_out *o, sp_bundle **b)
{
    const sp_file_options options = {.format = "ckpt", .flags = SP_FILE_CRC};
    sp_status status = sp_load_memory(o->data, o->bytes, &options, b);
    sp__wire_out_free(o);
    return status;
}

static const float numbers[] = {1, 2, 3, 4, 5, 6};

static void unusual_forms_are_read(void **unused)
{
    (void)unused;
    /* Fields in another order, packed dims, unknown fields of every type at every level. */
    static const uint8_t unknown[] = {
        0xF8, 0x07, 0x96, 0x01,                               /* 127: number */
        0xF9, 0x07, 1,    2,    3,    4,    5,    6,    7, 8, /* 127: eight bytes */
        0xFA, 0x07, 3,    'x',  'y',  'z',                    /* 127: bytes */
        0xFB, 0x07, 0x08, 0x01, 0x13, 0x14, 0xFC, 0x07,       /* 127: group with a number and an empty group 2 */
        0xFD, 0x07, 1,    2,    3,    4,                      /* 127: four bytes */
    };
    sp_wire_out tensor = {0}, value = {0}, file = {0};
    OK(sp__wire_put(&tensor, unknown, sizeof unknown));
    OK(sp__wire_put_head(&tensor, 3, sizeof numbers));
    OK(sp__wire_put(&tensor, numbers, sizeof numbers));
    put_text_field(&tensor, 2, "Float32");
    OK(sp__wire_put_head(&tensor, 1, 2));
    OK(sp__wire_put(&tensor, "\x02\x03", 2));
    OK(sp__wire_put(&value, unknown, sizeof unknown));
    put_nested(&value, 2, &tensor);
    put_text_field(&value, 1, "w");
    OK(sp__wire_put(&file, unknown, sizeof unknown));
    put_nested(&file, 1, &value);
    sp_bundle *b;
    OK(parse_out(&file, &b));
    sp_tensor *t = sp_bundle_tensor_at(b, 0);
    assert_int_equal(sp_tensor_rank(t), 2);
    assert_int_equal(sp_tensor_dims(t)[1], 3);
    assert_memory_equal(sp_tensor_data(t), numbers, sizeof numbers);
    sp_bundle_release(b);
}

static void names_replace_join_and_lose_their_key(void **unused)
{
    (void)unused;
    static const int64_t two[] = {2}, four[] = {4};
    sp_wire_out file = {0}, map = {0};
    put_entry(&file, "random_op", 0, NULL, "random_op", "opaque", 6);
    put_entry(&file, "a", 1, two, "Float32", numbers, 8);
    put_entry(&file, "b.__param_key__12", 1, four, "Float32", numbers, 8); /* slices */
    put_entry(&file, "b.__param_key__12", 1, four, "Float32", numbers + 2, 4);
    put_entry(&file, "b.__param_key__12", 1, four, "Float32", numbers + 3, 4);
    put_text_field(&map, 1, "table");
    put_text_field(&map, 3, "");
    put_nested(&file, 1, &map);
    put_entry(&file, "a", 1, two, "Float32", numbers + 4, 8); /* not adjacent: replaces, in its old place */
    put_entry(&file, "c.__param_key__", 1, two, "Bool", "\x02\x00", 2);
    sp_bundle *b;
    OK(parse_out(&file, &b));
    assert_int_equal(sp_bundle_count(b), 3);
    assert_string_equal(sp_bundle_name_at(b, 0), "a");
    assert_memory_equal(sp_tensor_data(sp_bundle_tensor_at(b, 0)), numbers + 4, 8);
    assert_string_equal(sp_bundle_name_at(b, 1), "b");
    assert_memory_equal(sp_tensor_data(sp_bundle_tensor_at(b, 1)), numbers, 16);
    assert_string_equal(sp_bundle_name_at(b, 2), "c.__param_key__"); /* no number: part of the name */
    assert_memory_equal(sp_tensor_data(sp_bundle_tensor_at(b, 2)), "\x01\x00", 2);
    assert_int_equal(sp_bundle_find(b, "random_op"), -1);
    assert_int_equal(sp_bundle_find(b, "table"), -1);
    sp_bundle_release(b);
}

/* Rank, dims and texts at their limits survive saving and loading. */
static void corners_survive(void **unused)
{
    (void)unused;
    static const int64_t zero[] = {0}, empty[] = {2, 0, 3}, one[] = {1}, eight[] = {1, 1, 1, 1, 1, 1, 1, 2};
    static const struct {
        const char *name;
        int rank;
        const int64_t *dims;
    } cases[] = {{"scalar", 0, NULL}, {"one", 1, one},     {"none", 1, zero},
                 {"empty", 3, empty}, {"eight", 8, eight}, {"", 1, one}};
    static const char *const texts[] = {"", "a", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8D\x84", "in\0side"};
    static const size_t text_bytes[] = {0, 1, 9, 7};
    for (unsigned flags = 0; flags < 4; flags++) {
        sp_bundle *b, *c;
        OK(sp_bundle_create(&b));
        for (int d = 0; d < SP_DTYPE_STR; d++)
            for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                char name[64];
                sp_tensor *t;
                snprintf(name, sizeof name, "%s%s", cases[i].name[0] ? sp_dtype_name((sp_dtype)d) : "", cases[i].name);
                OK(sp_tensor_create((sp_dtype)d, cases[i].rank, cases[i].dims, &t));
                memset(sp_tensor_data(t), 1, sp_tensor_bytes(t));
                OK(sp_bundle_add(b, name, t));
                sp_tensor_release(t);
            }
        for (int i = 0; i < 4; i++) {
            char name[8] = {'t', (char)('0' + i)};
            OK(sp_bundle_add_text(b, name, texts[i], text_bytes[i]));
        }
        const sp_file_options options = {.flags = flags};
        OK(sp_save(in_scratch("c.ckpt"), b, &options));
        OK(sp_load(in_scratch("c.ckpt"), &with_crc, &c));
        assert_int_equal(sp_bundle_count(b), sp_bundle_count(c));
        for (int64_t i = 0; i < sp_bundle_count(b); i++) {
            assert_string_equal(sp_bundle_name_at(b, i), sp_bundle_name_at(c, i));
            sp_tensor *x = sp_bundle_tensor_at(b, i), *y = sp_bundle_tensor_at(c, i);
            if (x == NULL) {
                size_t n, m;
                const char *p = sp_bundle_text_at(b, i, &n), *q = sp_bundle_text_at(c, i, &m);
                assert_int_equal(n, m);
                assert_memory_equal(p, q, n + 1);
                continue;
            }
            assert_int_equal(sp_tensor_dtype(x), sp_tensor_dtype(y));
            assert_true(sp__tensor_same_shape(x, y));
            assert_memory_equal(sp_tensor_data(x), sp_tensor_data(y), sp_tensor_bytes(x));
        }
        sp_bundle_release(b);
        sp_bundle_release(c);
    }
}

static void strided_tensors_are_stored_row_major(void **unused)
{
    (void)unused;
    static const int64_t dims[] = {2, 3}, turned[] = {3, 2}, strides[] = {1, 3};
    static const float wanted[] = {1, 4, 2, 5, 3, 6};
    sp_tensor *t, *v;
    sp_bundle *b;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 2, dims, numbers, &t));
    OK(sp_tensor_view(t, 2, turned, strides, 0, &v));
    OK(sp_bundle_create(&b));
    OK(sp_bundle_add(b, "v", v));
    OK(sp_save(in_scratch("s.ckpt"), b, NULL));
    sp_bundle_release(b);
    OK(sp_load(in_scratch("s.ckpt"), NULL, &b));
    assert_int_equal(sp_tensor_dims(sp_bundle_tensor_at(b, 0))[0], 3);
    assert_memory_equal(sp_tensor_data(sp_bundle_tensor_at(b, 0)), wanted, sizeof wanted);
    sp_bundle_release(b);
    sp_tensor_release(t);
    sp_tensor_release(v);
}

/* --- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(sp_wire_out *file, const char *const *words)
{
    sp_bundle *b = NULL;
    assert_int_equal(parse_out(file, &b), SP_FORMAT);
    assert_null(b);
    for (; *words != NULL; words++)
        if (strstr(sp_error_message(), *words) == NULL) fail_msg("'%s' does not say '%s'", sp_error_message(), *words);
}
#define REFUSED(file, ...) expect_refusal(&(file), (const char *const[]){__VA_ARGS__, NULL})

static void wrong_contents_are_refused(void **unused)
{
    (void)unused;
    static const int64_t six[] = {6}, huge[] = {INT64_MAX, INT64_MAX}, big[] = {1LL << 62, 4}, minus[] = {-1};
    static const int64_t two[] = {2}, nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, zeros[] = {0, 1LL << 62, 1LL << 62};
    sp_wire_out f = {0}, v = {0};
    put_entry(&f, "w", 1, six, "Float32", numbers, 20);
    REFUSED(f, "'w'", "byte ", "20 bytes", "(6,)", "Float32", "6 elements");
    put_entry(&f, "w", 2, huge, "Float32", numbers, 20);
    REFUSED(f, "'w'", "too many elements");
    put_entry(&f, "w", 2, big, "Int8", "", 0); /* the product wraps to 0 in 64 bits */
    REFUSED(f, "'w'", "too many elements");
    put_entry(&f, "w", 3, zeros, "Int8", "x", 1);
    REFUSED(f, "'w'", "1 bytes", "0 elements");
    put_entry(&f, "w", 1, minus, "Float32", numbers, 4);
    REFUSED(f, "'w'", "dimension 0 is -1");
    put_entry(&f, "w", 9, nine, "Float32", numbers, 4);
    REFUSED(f, "'w'", "more than 8 dimensions");
    put_entry(&f, "w", 0, NULL, "Float31", numbers, 4);
    REFUSED(f, "'w'", "'Float31'", "Float32 wanted");
    put_entry(&f, "w", 0, NULL, "String", numbers, 4);
    REFUSED(f, "'String'");
    put_entry(&f, "w", 1, six, "str", "abc", 3);
    REFUSED(f, "'w'", "3 bytes", "multiple of 4");
    put_entry(&f, "w", 1, six, "str", "\x00\xD8\x00\x00", 4);
    REFUSED(f, "'w'", "0xd800");
    put_entry(&f, "w\xFF", 0, NULL, "Float32", numbers, 4);
    REFUSED(f, "name is not UTF-8");
    put_entry(&f, "w", 1, six, "Float32", numbers, 16);
    put_entry(&f, "w", 1, two, "Float32", numbers, 8);
    REFUSED(f, "'w'", "slice 2", "(2,)", "(6,)");
    put_text_field(&v, 1, "w");
    put_nested(&f, 1, &v);
    REFUSED(f, "'w'", "no tensor");
    put_text_field(&v, 2, "");
    put_nested(&f, 1, &v);
    REFUSED(f, "entry 0", "no name");
    put_text_field(&v, 1, "w");
    put_text_field(&v, 2, "");
    put_nested(&f, 1, &v);
    REFUSED(f, "'w'", "no type");
    OK(sp__wire_put(&f, "\x08\x01", 2));
    REFUSED(f, "byte 1", "an entry is stored as a number");
    OK(sp__wire_put(&f, "PK\x03\x04 something else", 17));
    REFUSED(f, "byte ");
    OK(sp__wire_put(&f, "", 0));
    REFUSED(f, "empty");
}

static void crc_is_compared_when_asked(void **unused)
{
    (void)unused;
    sp_bundle *b = NULL;
    assert_int_equal(sp_load(DATA "crc_broken.ckpt", &with_crc, &b), SP_FORMAT);
    assert_null(b);
    assert_non_null(strstr(sp_error_message(), "crc_broken.ckpt"));
    assert_non_null(strstr(sp_error_message(), "CRC"));
    OK(sp_load(DATA "crc_broken.ckpt", NULL, &b));
    assert_int_equal(sp_bundle_count(b), 8);
    sp_bundle_release(b);
    OK(sp_load(DATA "async.ckpt", &with_crc, &b)); /* has none */
    sp_bundle_release(b);
}

/* Contents that end like a trailer are contents, with and without a trailer behind them. */
static void contents_may_look_like_a_trailer(void **unused)
{
    (void)unused;
    static const char contents[17] = "crc_num\0\0\0\0\0\0\1\2\3\4";
    for (int crc = 0; crc < 2; crc++) {
        sp_bundle *b = NULL, *c = NULL;
        sp_tensor *t = NULL;
        OK(sp_tensor_create_from(SP_DTYPE_U8, 1, (int64_t[]){sizeof contents}, contents, &t));
        OK(sp_bundle_create(&b));
        OK(sp_bundle_add(b, "w", t));
        OK(sp_save(in_scratch("mark.ckpt"), b, crc ? &with_crc : NULL));
        OK(sp_load(in_scratch("mark.ckpt"), &with_crc, &c));
        assert_memory_equal(sp_tensor_data(sp_bundle_tensor_at(c, 0)), contents, sizeof contents);
        sp_tensor_release(t);
        sp_bundle_release(b);
        sp_bundle_release(c);
    }
}

static void encrypted_files_are_named_so(void **unused)
{
    (void)unused;
    static const char *const files[][2] = {{DATA "enc_AES-GCM_key_0123456789ABCDEF.ckpt", "AES-GCM"},
                                           {DATA "enc_AES-CBC_key_ABCDEFGH01234567.ckpt", "AES-CBC"},
                                           {DATA "enc_SM4-CBC_key_sm4keysm4keysm4k.ckpt", "SM4-CBC"}};
    for (int i = 0; i < 3; i++) {
        sp_bundle *b = NULL;
        assert_int_equal(sp_load(files[i][0], NULL, &b), SP_VALUE);
        assert_non_null(strstr(sp_error_message(), "encrypted"));
        assert_non_null(strstr(sp_error_message(), files[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files_have_their_values),
        cmocka_unit_test(golden_files_come_out_the_same),
        cmocka_unit_test(lenet_of_1_1_1_comes_out_the_same),
        cmocka_unit_test(views_are_private),
        cmocka_unit_test(tensors_outlive_bundle_and_file),
        cmocka_unit_test(unusual_forms_are_read),
        cmocka_unit_test(names_replace_join_and_lose_their_key),
        cmocka_unit_test(corners_survive),
        cmocka_unit_test(strided_tensors_are_stored_row_major),
        cmocka_unit_test(wrong_contents_are_refused),
        cmocka_unit_test(crc_is_compared_when_asked),
        cmocka_unit_test(contents_may_look_like_a_trailer),
        cmocka_unit_test(encrypted_files_are_named_so),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
