/* SPDX-License-Identifier: Apache-2.0 */
/* test_pipeline.c - data sets from C: order with any number of workers, positions, failures, memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka needs those first */
#include <cmocka.h>

#include "base/base.h"
#include "spore/pipeline.h"

enum { ROWS = 200 };

/* Rows of one int64: 10 * id; id 13 fails when the context says so. */
static sp_status read_row(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in;
    (void)in;
    (void)n_out;
    if (context && call->id == 13) return sp__fail(SP_VALUE, "number 13");
    return sp_tensor_create_i64(SP_DTYPE_I64, 10 * call->id, &out[0]);
}

static sp_status add_one(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    int64_t value;
    (void)context;
    (void)call;
    (void)n_in;
    (void)n_out;
    SP_TRY(sp_tensor_item_i64(in[0], &value));
    return sp_tensor_create_i64(SP_DTYPE_I64, value + 1, &out[0]);
}

static sp_status keep_even_tens(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out,
                                sp_tensor **out)
{
    int64_t value;
    (void)context;
    (void)call;
    (void)n_in;
    (void)n_out;
    SP_TRY(sp_tensor_item_i64(in[0], &value));
    return sp_tensor_create_i64(SP_DTYPE_I64, value / 10 % 2 == 0, &out[0]);
}

static const char *const column[] = {"n"};

/* source (shuffled) -> map -> filter -> shuffle -> batch of 7, each part optional */
static sp_status build(bool fails, bool lane, sp_dataset **out)
{
    static char mark;
    sp_dataset *list[5] = {NULL};
    sp_status status;
    const sp_row_function read = {.name = "numbers", .run = read_row, .context = fails ? &mark : NULL, .lane = lane};
    const sp_row_function add = {.name = "add", .run = add_one}, keep = {.name = "keep", .run = keep_even_tens};
    SP_GOTO(done, sp_dataset_from_function(&read, ROWS, 1, column, &(sp_order){.shuffle = true}, &list[0]));
    SP_GOTO(done, sp_dataset_map_function(list[0], &add, 1, column, 0, NULL, &list[1]));
    SP_GOTO(done, sp_dataset_filter(list[1], &keep, 1, column, &list[2]));
    SP_GOTO(done, sp_dataset_shuffle(list[2], 16, &list[3]));
    SP_GOTO(done, sp_dataset_batch(list[3], 7, false, &list[4]));
    *out = sp_dataset_retain(list[4]);
done:
    for (int i = 0; i < 5; i++) sp_dataset_release(list[i]);
    return status;
}

/* Everything of `epochs` epochs; the number of values. */
static int read_all(sp_dataset *ds, int workers, int epochs, int64_t *values)
{
    sp_iterator *it = NULL;
    int n = 0;
    assert_int_equal(sp_iterator_create(ds, &(sp_iterator_plan){.n_workers = workers, .seed = 5}, &it), SP_OK);
    while (epochs > 0) {
        sp_tensor *row = NULL;
        bool more = false;
        assert_int_equal(sp_iterator_next(it, &row, &more), SP_OK);
        if (!more) {
            epochs--;
            continue;
        }
        memcpy(values + n, sp_tensor_data(row), sp_tensor_bytes(row));
        n += (int)sp_tensor_count(row);
        sp_tensor_release(row);
    }
    sp_iterator_release(it);
    return n;
}

static void order_is_a_function_of_seed_and_epoch(void **state)
{
    static int64_t first[3 * ROWS], again[3 * ROWS];
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        sp_dataset *ds = NULL;
        assert_int_equal(build(false, lane, &ds), SP_OK);
        const int n = read_all(ds, 0, 3, first);
        assert_int_equal(n, 3 * ROWS / 2);
        assert_memory_not_equal(first, first + ROWS / 2, ROWS / 2 * sizeof *first);
        for (int workers = 1; workers <= 8; workers += 3) {
            assert_int_equal(read_all(ds, workers, 3, again), n);
            assert_memory_equal(first, again, (size_t)n * sizeof *first);
        }
        sp_dataset_release(ds);
    }
}

static void positions_are_exact(void **state)
{
    static int64_t all[2 * ROWS];
    sp_dataset *ds = NULL;
    (void)state;
    assert_int_equal(build(false, false, &ds), SP_OK);
    read_all(ds, 2, 2, all);
    for (int at = 0; at < 14; at++) {
        sp_iterator *it = NULL;
        sp_tensor *row = NULL;
        bool more = false;
        int64_t epoch, number;
        assert_int_equal(sp_iterator_create(ds, &(sp_iterator_plan){.n_workers = 2, .seed = 5}, &it), SP_OK);
        assert_int_equal(sp_iterator_seek(it, 1, at), SP_OK);
        assert_int_equal(sp_iterator_next(it, &row, &more), SP_OK);
        assert_true(more);
        assert_memory_equal(sp_tensor_data(row), all + ROWS / 2 + 7 * at, sp_tensor_bytes(row));
        sp_iterator_tell(it, &epoch, &number);
        assert_int_equal(epoch, 1);
        assert_int_equal(number, at + 1);
        sp_tensor_release(row);
        assert_int_equal(sp_iterator_seek(it, 0, 1000), SP_VALUE);
        sp_iterator_release(it);
    }
    sp_dataset_release(ds);
}

static void a_failure_is_one_rows_failure(void **state)
{
    (void)state;
    for (int workers = 0; workers < 3; workers++) {
        sp_dataset *ds = NULL;
        sp_iterator *it = NULL;
        int failures = 0, rows = 0;
        bool more = true;
        assert_int_equal(build(true, false, &ds), SP_OK);
        assert_int_equal(sp_iterator_create(ds, &(sp_iterator_plan){.n_workers = workers}, &it), SP_OK);
        while (more) {
            sp_tensor *row = NULL;
            if (sp_iterator_next(it, &row, &more) != SP_OK) {
                assert_non_null(strstr(sp_error_message(), "row 13 of the source"));
                assert_non_null(strstr(sp_error_message(), "number 13"));
                failures++;
            } else if (more) {
                rows++;
            }
            sp_tensor_release(row);
        }
        assert_int_equal(failures, 1);
        assert_int_equal(rows + failures, (ROWS / 2 + 1 + 6) / 7);
        sp_iterator_release(it);
        sp_dataset_release(ds);
    }
}

static void an_iterator_can_end_anywhere(void **state)
{
    (void)state;
    sp_dataset *ds = NULL;
    assert_int_equal(build(false, false, &ds), SP_OK);
    for (int rows = 0; rows < 10; rows++) {
        sp_iterator *it = NULL;
        assert_int_equal(sp_iterator_create(ds, &(sp_iterator_plan){.n_workers = 3, .seed = 5}, &it), SP_OK);
        for (int i = 0; i < rows; i++) {
            sp_tensor *row = NULL;
            bool more;
            assert_int_equal(sp_iterator_next(it, &row, &more), SP_OK);
            sp_tensor_release(row);
        }
        sp_iterator_release(it);
    }
    sp_dataset_release(ds);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 400; n++) {
        sp_dataset *ds = NULL;
        sp_iterator *it = NULL;
        bool more = true;
        sp__alloc_fail_at(n);
        sp_status status = build(false, false, &ds);
        if (status == SP_OK) status = sp_iterator_create(ds, &(sp_iterator_plan){.n_workers = 0}, &it);
        for (int i = 0; i < 3 && status == SP_OK && more; i++) {
            sp_tensor *row = NULL;
            status = sp_iterator_next(it, &row, &more);
            sp_tensor_release(row);
        }
        sp__alloc_fail_at(0);
        sp_iterator_release(it);
        sp_dataset_release(ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_a_function_of_seed_and_epoch), cmocka_unit_test(positions_are_exact),
        cmocka_unit_test(a_failure_is_one_rows_failure),         cmocka_unit_test(an_iterator_can_end_anywhere),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
