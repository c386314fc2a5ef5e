/* SPDX-License-Identifier: Apache-2.0 */
/* test_size.c - sizes that do not fit the machine are refused, not cut: shapes come from files. tests/device/armhf runs this where sizes
 * have 32 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "spore/spore.h"

static void refused(int rank, const int64_t *dims, sp_dtype dtype)
{
    sp_tensor *t = NULL;
    assert_true(sp_tensor_create(dtype, rank, dims, &t) == SP_VALUE);
    assert_null(t);
    assert_true(strstr(sp_error_message(), "too many elements") != NULL);
}

static void bytes_of_a_shape_fit(void **unused)
{
    (void)unused;
    refused(3, (const int64_t[]){INT64_C(1) << 31, INT64_C(1) << 31, 4}, SP_DTYPE_I8);
    refused(2, (const int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}, SP_DTYPE_F32);
    refused(1, (const int64_t[]){INT64_MAX}, SP_DTYPE_F64);
    if (sizeof(void *) == 4) {
        /* 4 GB are 0 bytes, and a little more are a few, in 32 bits. */
        refused(2, (const int64_t[]){32768, 32768}, SP_DTYPE_F32);
        refused(2, (const int64_t[]){32769, 32769}, SP_DTYPE_F32);
        refused(1, (const int64_t[]){(INT64_C(1) << 28) + 1}, SP_DTYPE_C128);
        refused(1, (const int64_t[]){INT64_C(1) << 32}, SP_DTYPE_U8);
    }
    /* A dimension of nothing makes a tensor of nothing, whatever the others are. */
    sp_tensor *t = NULL;
    assert_true(sp_tensor_create(SP_DTYPE_F64, 2, (const int64_t[]){INT64_C(1) << 40, 0}, &t) == SP_OK);
    assert_true(sp_tensor_bytes(t) == 0);
    sp_tensor_release(t);
}

/* A file that is larger than addresses reach is refused, mapped and read; 100 bytes of it are not taken for the whole. */
static void bytes_of_a_file_fit(void **unused)
{
    (void)unused;
    if (sizeof(void *) == 8) skip();
    char path[] = "/tmp/spore-size-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (INT64_C(1) << 32) + 100), 0); /* holes: it takes no room */
    close(fd);
    sp_map *map = NULL;
    sp_file_copy *copies = NULL;
    assert_int_equal(sp__map_open(path, &map), SP_IO);
    assert_true(strstr(sp_error_message(), "do not fit the address space") != NULL);
    sp__map_copy_begin(&copies);
    assert_int_equal(sp__map_open(path, &map), SP_IO);
    sp__map_copy_end();
    assert_true(strstr(sp_error_message(), "do not fit the address space") != NULL);
    sp__copies_free(copies);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_of_a_shape_fit), cmocka_unit_test(bytes_of_a_file_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
