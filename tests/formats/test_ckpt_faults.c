/* SPDX-License-Identifier: Apache-2.0 */
/* test_ckpt_faults.c - saving and loading when things fail: the old file survives, no temporary file stays, nothing
 * leaks, and the message says what happened to which file. */
#include "formats_util.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/base.h"
#include "formats/ckpt.h"
#include "spore/format.h"

static const sp_file_options as_ckpt = {.format = "ckpt"};

static sp_bundle *sample(float value, int64_t n)
{
    sp_bundle *b;
    sp_tensor *t;
    OK(sp_bundle_create(&b));
    OK(sp_tensor_create(SP_DTYPE_F32, 1, &n, &t));
    for (int64_t i = 0; i < n; i++) ((float *)sp_tensor_data(t))[i] = value;
    OK(sp_bundle_add(b, "w", t));
    OK(sp_bundle_add_text(b, "note", "text", 4));
    sp_tensor_release(t);
    return b;
}

static float first_number(const char *path)
{
    sp_bundle *b;
    OK(sp_load(path, &with_crc, &b));
    float value = *(float *)sp_tensor_data(sp_bundle_tensor_at(b, 0));
    sp_bundle_release(b);
    return value;
}

static void assert_said(const char *words)
{
    if (strstr(sp_error_message(), words) == NULL) fail_msg("'%s' does not say '%s'", sp_error_message(), words);
}

static void a_file_is_replaced_whatever_its_mode(void **unused)
{
    (void)unused;
    mode_t before = umask(022);
    sp_bundle *b = sample(1, 4);
    write_blob(in_scratch("a.ckpt"), "old", 3);
    chmod(in_scratch("a.ckpt"), 0400);
    OK(sp_save(in_scratch("a.ckpt"), b, NULL));
    struct stat st;
    assert_int_equal(stat(in_scratch("a.ckpt"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    umask(077);
    OK(sp_save(in_scratch("a.ckpt"), b, NULL));
    assert_int_equal(stat(in_scratch("a.ckpt"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    umask(before);
    assert_int_equal(scratch_files(true), 1);
    sp_bundle_release(b);
}

static void links_are_followed(void **unused)
{
    (void)unused;
    sp_bundle *b = sample(3, 4);
    write_blob(in_scratch("real.ckpt"), "old", 3);
    assert_int_equal(symlink("real.ckpt", in_scratch("link.ckpt")), 0);
    OK(sp_save(in_scratch("link.ckpt"), b, NULL));
    struct stat st;
    assert_int_equal(lstat(in_scratch("link.ckpt"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_true(first_number(in_scratch("real.ckpt")) == 3);
    unlink(in_scratch("real.ckpt"));
    assert_int_equal(sp_save(in_scratch("link.ckpt"), b, NULL), SP_IO);
    assert_said("link");
    assert_int_equal(scratch_files(true), 1);
    sp_bundle_release(b);
}

static void wrong_targets_are_refused(void **unused)
{
    (void)unused;
    sp_bundle *b = sample(1, 4), *c = NULL;
    assert_int_equal(mkdir(in_scratch("folder"), 0755), 0);
    assert_int_equal(sp_save(in_scratch("folder"), b, &as_ckpt), SP_IO);
    assert_said("folder: is a folder");
    assert_int_equal(sp_load(in_scratch("folder"), NULL, &c), SP_IO);
    assert_said("is a folder");
    assert_int_equal(sp_save(in_scratch("missing/x.ckpt"), b, NULL), SP_IO);
    assert_said("missing/x.ckpt");
    assert_said("No such file");
    assert_int_equal(sp_load(in_scratch("missing.ckpt"), NULL, &c), SP_IO);
    assert_said("missing.ckpt: cannot be opened: No such file");
    assert_int_equal(sp_save("/dev/null", b, &as_ckpt), SP_IO);
    assert_said("not a regular file");
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    assert_int_equal(sp_load(in_scratch("pipe"), NULL, &c), SP_IO); /* and does not wait for a writer */
    assert_said("not a regular file");
    assert_int_equal(sp_save("", b, &as_ckpt), SP_VALUE);
    write_blob(in_scratch("empty.ckpt"), "", 0);
    assert_int_equal(sp_load(in_scratch("empty.ckpt"), NULL, &c), SP_FORMAT);
    assert_said("empty");
    assert_null(c);
    assert_int_equal(scratch_files(true), 3);
    sp_bundle_release(b);
}

/* Permissions do not bind root: drop it for the while. */
static void closed_folder_keeps_its_file(void **unused)
{
    (void)unused;
    sp_bundle *old = sample(1, 4), *new = sample(2, 4);
    chmod(scratch, 0755);
    OK(sp_save(in_scratch("a.ckpt"), old, NULL));
    bool root = geteuid() == 0;
    chmod(scratch, 0555);
    if (root) assert_int_equal(seteuid(65534), 0);
    sp_status status = sp_save(in_scratch("a.ckpt"), new, NULL);
    char message[1024];
    snprintf(message, sizeof message, "%s", sp_error_message());
    if (root) assert_int_equal(seteuid(0), 0);
    chmod(scratch, 0755);
    assert_int_equal(status, SP_IO);
    assert_non_null(strstr(message, "Permission denied"));
    assert_true(first_number(in_scratch("a.ckpt")) == 1);
    assert_int_equal(scratch_files(true), 1);
    sp_bundle_release(old);
    sp_bundle_release(new);
}

/* A full disk, played by a limit on file sizes: at any point of the writing the old file stays. */
static void full_disk_keeps_the_old_file(void **unused)
{
    (void)unused;
    sp_bundle *old = sample(1, 4), *new = sample(2, 100000);
    OK(sp_save(in_scratch("a.ckpt"), old, &with_crc));
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    for (rlim_t limit = 0; limit < 400000; limit = limit * 3 + 7) {
        small = before;
        small.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &small);
        sp_status status = sp_save(in_scratch("a.ckpt"), new, &with_crc);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, SP_IO);
        assert_said("a.ckpt");
        assert_said("writing stopped after");
        assert_said("File too large");
        assert_true(first_number(in_scratch("a.ckpt")) == 1);
        assert_int_equal(scratch_files(false), 1);
    }
    signal(SIGXFSZ, handler);
    OK(sp_save(in_scratch("a.ckpt"), new, &with_crc));
    assert_true(first_number(in_scratch("a.ckpt")) == 2);
    scratch_files(true);
    sp_bundle_release(old);
    sp_bundle_release(new);
}

/* Every allocation fails once. Whatever stays allocated then is a leak: the library's own count must come back. */
static size_t used(void)
{
    sp_memory_stats stats;
    sp_memory_get(&stats);
    return stats.used_bytes;
}

static void no_memory_for_loading(void **unused)
{
    (void)unused;
    static const char *const files[] = {DATA "append_dict.ckpt", DATA "slices.ckpt", DATA "dtypes.ckpt",
                                        DATA "lenet_mnist_1.1.1.ckpt"};
    for (int i = 0; i < 4; i++) {
        int64_t n = 1;
        for (;; n++) {
            size_t before = used();
            sp_bundle *b = NULL;
            sp__alloc_fail_at(n);
            sp_status status = sp_load(files[i], &with_crc, &b);
            sp__alloc_fail_at(0);
            if (status == SP_OK) {
                sp_bundle_release(b);
                break;
            }
            assert_int_equal(status, SP_NOMEM);
            assert_null(b);
            assert_int_equal(used(), before);
            assert_said(files[i]);
        }
        assert_true(n > 10); /* a few for each of at least three entries */
    }
}

static void no_memory_for_saving(void **unused)
{
    (void)unused;
    sp_bundle *old = sample(1, 4), *b;
    OK(sp_load(DATA "append_dict.ckpt", NULL, &b));
    static const int64_t dims[] = {3, 2}, strides[] = {1, 3};
    static const int64_t plain[] = {2, 3};
    sp_tensor *t, *v;
    OK(sp_tensor_create_zeros(SP_DTYPE_F64, 2, plain, &t));
    OK(sp_tensor_view(t, 2, dims, strides, 0, &v)); /* needs a row-major copy */
    OK(sp_bundle_add(b, "strided", v));
    OK(sp_save(in_scratch("a.ckpt"), old, NULL));
    int64_t n = 1;
    for (;; n++) {
        size_t before = used();
        sp__alloc_fail_at(n);
        sp_status status = sp_save(in_scratch("a.ckpt"), b, &with_crc);
        sp__alloc_fail_at(0);
        assert_int_equal(used(), before);
        assert_int_equal(scratch_files(false), 1);
        if (status == SP_OK) break;
        assert_int_equal(status, SP_NOMEM);
        assert_true(first_number(in_scratch("a.ckpt")) == 1);
    }
    assert_true(n > 6);
    scratch_files(true);
    sp_tensor_release(t);
    sp_tensor_release(v);
    sp_bundle_release(b);
    sp_bundle_release(old);
}

/* Savers of one name side by side: a reader sees a whole file of one of them at any time. */
static const char *race_path;

static void *save_often(void *bundle)
{
    for (int i = 0; i < 40; i++)
        if (sp_save(race_path, bundle, &with_crc) != SP_OK) return bundle;
    return NULL;
}

static void savers_do_not_mix(void **unused)
{
    (void)unused;
    sp_bundle *one = sample(1, 20000), *two = sample(2, 30000);
    race_path = in_scratch("race.ckpt");
    OK(sp_save(race_path, one, &with_crc));
    pthread_t a, b;
    assert_int_equal(pthread_create(&a, NULL, save_often, one), 0);
    assert_int_equal(pthread_create(&b, NULL, save_often, two), 0);
    for (int i = 0; i < 100; i++) {
        sp_bundle *found;
        OK(sp_load(race_path, &with_crc, &found));
        sp_tensor *t = sp_bundle_tensor_at(found, 0);
        float value = *(float *)sp_tensor_data(t);
        assert_true(sp_tensor_count(t) == (value == 1 ? 20000 : 30000));
        sp_bundle_release(found);
    }
    void *failed_a, *failed_b;
    pthread_join(a, &failed_a);
    pthread_join(b, &failed_b);
    assert_null(failed_a);
    assert_null(failed_b);
    assert_int_equal(scratch_files(true), 1);
    sp_bundle_release(one);
    sp_bundle_release(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_whatever_its_mode),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(wrong_targets_are_refused),
        cmocka_unit_test(closed_folder_keeps_its_file),
        cmocka_unit_test(full_disk_keeps_the_old_file),
        cmocka_unit_test(no_memory_for_loading),
        cmocka_unit_test(no_memory_for_saving),
        cmocka_unit_test(savers_do_not_mix),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
