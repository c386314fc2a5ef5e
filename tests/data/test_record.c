/* SPDX-License-Identifier: Apache-2.0 */
/* test_record.c - MindRecord from C: round trips, a writer killed at any moment, lack of memory, many threads. */
#include "formats/formats_util.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/share.h"
#include "data/mindrecord.h"
#include "spore/tfrecord.h"

static const sp_record_field fields[] = {
    {.name = "name", .type = SP_RECORD_STRING, .rank = -1},
    {.name = "id", .type = SP_RECORD_INT64, .rank = -1},
    {.name = "data", .type = SP_RECORD_BYTES, .rank = -1},
    {.name = "vector", .type = SP_RECORD_INT32, .rank = 1, .dims = {-1}},
};
enum { N_FIELDS = 4, BLOB_BYTES = 3000 };

static const sp_record_plan small_pages = {.header_bytes = 16384, .page_bytes = 32768, .overwrite = true};

/* The values of row i, valid until the next call on this thread. */
static const sp_record_value *row_values(int64_t i)
{
    static _Thread_local sp_record_value v[N_FIELDS];
    static _Thread_local char name[32];
    static _Thread_local uint8_t data[BLOB_BYTES];
    static _Thread_local int32_t vector[8];
    static _Thread_local int64_t dims[1];
    snprintf(name, sizeof name, "row %lld", (long long)i);
    for (int k = 0; k < BLOB_BYTES; k++) data[k] = (uint8_t)(i * 7 + k);
    for (int k = 0; k < 8; k++) vector[k] = (int32_t)(i << (3 * k));
    dims[0] = i % 8;
    v[0] = (sp_record_value){.type = SP_RECORD_STRING, .rank = -1, .data = name, .bytes = strlen(name)};
    v[1] = (sp_record_value){.type = SP_RECORD_INT64, .rank = -1, .i = i};
    v[2] = (sp_record_value){.type = SP_RECORD_BYTES, .rank = -1, .data = data, .bytes = (size_t)(i * 31 % BLOB_BYTES)};
    v[3] = (sp_record_value){
        .type = SP_RECORD_INT32, .rank = 1, .dims = dims, .data = vector, .bytes = (size_t)dims[0] * 4};
    return v;
}

static sp_status write_rows(const char *path, const sp_record_plan *plan, int64_t n)
{
    sp_record_writer *w = NULL;
    SP_TRY(sp_record_create(path, fields, N_FIELDS, plan, &w));
    sp_status status = SP_OK;
    for (int64_t i = 0; i < n && status == SP_OK; i++) status = sp_record_write(w, row_values(i));
    if (status == SP_OK) status = sp_record_commit(w);
    sp_record_writer_release(w);
    return status;
}

static const char *const all_columns[] = {"name", "id", "data", "vector"};

static sp_status read_rows(sp_record *r, int64_t first, int64_t step)
{
    sp_record_row *row = NULL;
    SP_TRY(sp_record_row_create(r, all_columns, N_FIELDS, &row));
    sp_status status = SP_OK;
    for (int64_t i = first; i < sp_record_count(r) && status == SP_OK; i += step) {
        status = sp_record_read(r, i, row);
        if (status != SP_OK) break;
        const sp_record_value *found = sp_record_row_values(row), *wanted = row_values(found[1].i);
        for (int k = 0; k < N_FIELDS; k++) {
            assert_int_equal(found[k].bytes, wanted[k].bytes);
            if (found[k].bytes > 0) assert_memory_equal(found[k].data, wanted[k].data, wanted[k].bytes);
        }
        assert_int_equal(found[3].rank, 1);
        assert_int_equal(found[3].dims[0], wanted[3].dims[0]);
    }
    sp_record_row_release(row);
    return status;
}

static int64_t count_rows(const char *path)
{
    sp_record *r = NULL;
    OK(sp_record_open(path, NULL, &r));
    OK(read_rows(r, 0, 1));
    int64_t n = sp_record_count(r);
    sp_record_release(r);
    return n;
}

static void assert_said(const char *words)
{
    if (strstr(sp_error_message(), words) == NULL) fail_msg("'%s' does not say '%s'", sp_error_message(), words);
}

/* --- round trips ------------------------------------------------------------------------------------------------------------ */

static void rows_come_back(void **unused)
{
    (void)unused;
    OK(write_rows(in_scratch("a"), &small_pages, 300));
    assert_int_equal(count_rows(in_scratch("a")), 300);
    sp_record *r = NULL;
    OK(sp_record_open(in_scratch("a"), NULL, &r));
    sp_record_info info;
    sp_record_describe(r, &info);
    assert_true(info.n_groups > 5);
    assert_string_equal(sp_record_field_at(r, 0)->name, "data"); /* alphabetical */
    assert_int_equal(sp_record_field_find(r, "vector"), 3);
    assert_int_equal(sp_record_field_find(r, "none"), -1);
    sp_record_release(r);
    int64_t problems = -1;
    OK(sp_record_check(in_scratch("a"), NULL, NULL, NULL, &problems));
    assert_int_equal(problems, 0);
    assert_int_equal(scratch_files(true), 2);
}

static void compressed_integers_are_as_described(void **unused)
{
    (void)unused;
    const sp_record_field field = {.name = "x", .type = SP_RECORD_INT64, .rank = 1, .dims = {-1}};
    const int64_t numbers[] = {0, -129, 40000, 8589934592};
    const int64_t four = 4;
    const uint8_t wanted[] = {0, 0, 0, 4, 0x1B, 0, 0x7F, 0xFF, 0x40, 0x9C, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0};
    sp_mindrecord_schema *s = NULL;
    OK(sp__mindrecord_schema_create(&field, 1, NULL, "3.0", &s));
    sp_record_value v = {.type = SP_RECORD_INT64, .rank = 1, .dims = &four, .data = numbers, .bytes = sizeof numbers};
    sp_mindrecord_buffer out = {NULL, 0, 0};
    int64_t saved = 0;
    OK(sp__mindrecord_blobs_print(s, &v, &out, &saved));
    assert_int_equal(out.bytes, sizeof wanted);
    assert_memory_equal(out.data, wanted, sizeof wanted);
    assert_int_equal(saved, 32 - (int)sizeof wanted);
    sp__mindrecord_buffer_release(&out);
    sp__mindrecord_schema_release(s);
}

/* A name with a NUL behind it and more is another name, and is not read past its end. */
static void keys_may_hold_nul(void **unused)
{
    (void)unused;
    const sp_record_field field = {.name = "x", .type = SP_RECORD_INT32, .rank = -1};
    uint8_t record[] = {0x82, 0xBF, 'x', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,   0, 0,
                        0,    0,    0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0xA1, 'x', 5};
    sp_mindrecord_schema *s = NULL;
    sp_record_value v;
    OK(sp__mindrecord_schema_create(&field, 1, NULL, "3.0", &s));
    OK(sp__mindrecord_scalars_parse(s, record, sizeof record, NULL, &v));
    assert_int_equal(v.i, 5);
    sp__mindrecord_schema_release(s);
}

/* A field that stands twice is not taken for the one that is missing, whose value would be that of an earlier row. */
static void a_key_that_stands_twice(void **unused)
{
    (void)unused;
    const sp_record_field two[] = {{.name = "x", .type = SP_RECORD_INT32, .rank = -1},
                                   {.name = "y", .type = SP_RECORD_INT32, .rank = -1}};
    const uint8_t record[] = {0x82, 0xA1, 'x', 5, 0xA1, 'x', 6};
    sp_mindrecord_schema *s = NULL;
    sp_record_value v[2];
    OK(sp__mindrecord_schema_create(two, 2, NULL, "3.0", &s));
    assert_int_equal(sp__mindrecord_scalars_parse(s, record, sizeof record, NULL, v), SP_FORMAT);
    assert_said("column 'x' stands twice");
    sp__mindrecord_schema_release(s);
}

/* 2^32 + 1 elements are one, cut to 32 bits, and 2^32 none. */
static void elements_of_a_shape_are_counted_in_full(void **unused)
{
    (void)unused;
    const int32_t number = 7;
    const int64_t one = 1;
    const sp_record_value v = {
        .type = SP_RECORD_INT32, .rank = 1, .dims = &one, .data = &number, .bytes = sizeof number};
    for (int64_t more = 0; more < 2; more++) {
        const sp_record_field wide = {
            .name = "x", .type = SP_RECORD_INT32, .rank = 2, .dims = {more ? 1 : -1, (INT64_C(1) << 32) + more}};
        sp_record_writer *w = NULL;
        OK(sp_record_create(in_scratch("a"), &wide, 1, &small_pages, &w));
        assert_int_equal(sp_record_write(w, &v), SP_VALUE);
        sp_record_writer_release(w);
    }
    scratch_files(true);
}

static void mistakes_are_told(void **unused)
{
    (void)unused;
    sp_record_writer *w = NULL;
    assert_int_equal(sp_record_create("", fields, N_FIELDS, NULL, &w), SP_VALUE);
    assert_int_equal(sp_record_create(in_scratch("a"), fields, 0, NULL, &w), SP_VALUE);
    const sp_record_field twice[] = {fields[0], fields[0]};
    assert_int_equal(sp_record_create(in_scratch("a"), twice, 2, NULL, &w), SP_VALUE);
    assert_said("twice");
    const char *index[] = {"data"};
    sp_record_plan plan = {.index = index, .n_index = 1};
    assert_int_equal(sp_record_create(in_scratch("a"), fields, N_FIELDS, &plan, &w), SP_VALUE);
    assert_said("index field 'data' is bytes");
    plan = (sp_record_plan){.page_bytes = 100};
    assert_int_equal(sp_record_create(in_scratch("a"), fields, N_FIELDS, &plan, &w), SP_VALUE);
    plan = (sp_record_plan){.n_shards = 1001};
    assert_int_equal(sp_record_create(in_scratch("a"), fields, N_FIELDS, &plan, &w), SP_VALUE);
    assert_int_equal(sp_record_create(in_scratch("none/a"), fields, N_FIELDS, NULL, &w), SP_IO);

    OK(sp_record_create(in_scratch("a"), fields, N_FIELDS, &small_pages, &w));
    sp_record_value v[N_FIELDS];
    memcpy(v, row_values(3), sizeof v);
    v[1].type = SP_RECORD_FLOAT64;
    assert_int_equal(sp_record_write(w, v), SP_TYPE);
    assert_string_equal(sp_error_message(), "row 0, column 'id': found float64, declared is int64");
    memcpy(v, row_values(3), sizeof v);
    v[0].data = "\xC3(";
    v[0].bytes = 2;
    assert_int_equal(sp_record_write(w, v), SP_VALUE);
    assert_said("not UTF-8");
    OK(sp_record_write(w, row_values(0)));
    OK(sp_record_commit(w));
    assert_int_equal(sp_record_write(w, row_values(1)), SP_VALUE);
    assert_int_equal(sp_record_commit(w), SP_VALUE);
    sp_record_writer_release(w);
    assert_int_equal(count_rows(in_scratch("a")), 1);
    scratch_files(true);
}

/* --- a writer that dies ------------------------------------------------------------------------------------------------------ */

/* Rows without end over an existing file, until somebody kills us. */
static void write_forever(const char *path, bool append, int ready)
{
    sp_record_writer *w = NULL;
    sp_status status =
        append ? sp_record_append(path, NULL, &w) : sp_record_create(path, fields, N_FIELDS, &small_pages, &w);
    if (status != SP_OK) _exit(1);
    if (write(ready, "x", 1) != 1) _exit(1);
    int64_t first = append ? 10 : 0;
    const sp_record_value *v;
    for (int64_t i = first;; i++) {
        sp_record_value sorted[N_FIELDS];
        v = row_values(i);
        /* After sp_record_append the order is alphabetical. */
        if (append) {
            sorted[0] = v[2];
            sorted[1] = v[1];
            sorted[2] = v[0];
            sorted[3] = v[3];
            v = sorted;
        }
        if (i < 600 && sp_record_write(w, v) != SP_OK) _exit(2);
        if (i >= 600) pause();
    }
}

static void kill_a_writer(bool append, long nanoseconds)
{
    int pipe_ends[2];
    char path[256], letter;
    snprintf(path, sizeof path, "%s", in_scratch("a"));
    OK(write_rows(path, &small_pages, 10));
    blob before = read_blob(path);
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) write_forever(path, append, pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &letter, 1), 1);
    nanosleep(&(struct timespec){0, nanoseconds}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    close(pipe_ends[0]);
    close(pipe_ends[1]);

    /* The earlier file is what it was. */
    blob after = read_blob(path);
    assert_int_equal(before.bytes, after.bytes);
    assert_memory_equal(before.data, after.data, after.bytes);
    assert_int_equal(count_rows(path), 10);
    free(before.data);
    free(after.data);

    /* What the writer left is refused by one that may not overwrite, and can be completed. */
    sp_record_writer *w = NULL;
    int64_t rows = -1;
    assert_int_equal(sp_record_recover(path, &rows), SP_VALUE);
    assert_said("exists already");
    unlink(in_scratch("a"));
    unlink(in_scratch("a.db"));
    sp_record_plan careful = small_pages;
    careful.overwrite = false;
    sp_status refused = sp_record_create(path, fields, N_FIELDS, &careful, &w);
    if (refused == SP_OK) { /* it died before its first page was full */
        sp_record_writer_release(w);
    } else {
        assert_said("of a writer that died");
        OK(sp_record_recover(path, &rows));
        assert_true(rows > 0);
        assert_int_equal(count_rows(path), rows);
        int64_t problems = -1;
        OK(sp_record_check(path, NULL, NULL, NULL, &problems));
        assert_int_equal(problems, 0);
    }
    scratch_files(true);
}

static void a_killed_writer_costs_one_page(void **unused)
{
    (void)unused;
    for (long n = 0; n < share_of(30); n++) kill_a_writer(n % 2 == 1, n * 300000);
}

/* All pages that were full are there: at most the rows of one page are missing. */
static void recovery_finds_every_full_page(void **unused)
{
    (void)unused;
    sp_record_writer *w = NULL;
    OK(sp_record_create(in_scratch("a"), fields, N_FIELDS, &small_pages, &w));
    for (int64_t i = 0; i < 200; i++) OK(sp_record_write(w, row_values(i)));
    /* The file as a crash would leave it. */
    blob left = read_blob(in_scratch("a.partial"));
    sp_record_writer_release(w);
    assert_int_equal(scratch_files(false), 0);
    write_blob(in_scratch("a.partial"), left.data, left.bytes);
    int64_t rows = 0;
    OK(sp_record_recover(in_scratch("a"), &rows));
    assert_int_equal(count_rows(in_scratch("a")), rows);
    size_t lost = 0;
    for (int64_t i = rows; i < 200; i++) lost += row_values(i)[2].bytes;
    assert_true(rows < 200 && lost < 32768);
    scratch_files(true);
    /* Cut anywhere, it is still refused or completed, and what is completed is right. */
    for (size_t n = 0; n < left.bytes; n += 4999) {
        write_blob(in_scratch("a.partial"), left.data, n);
        if (sp_record_recover(in_scratch("a"), &rows) == SP_OK) assert_int_equal(count_rows(in_scratch("a")), rows);
        scratch_files(true);
    }
    free(left.data);
}

/* --- lack of memory ---------------------------------------------------------------------------------------------------------- */

static void lack_of_memory_is_told(void **unused)
{
    (void)unused;
    OK(write_rows(in_scratch("a"), &small_pages, 60));
    int n_failed = 0;
    for (int64_t n = 1;; n++) {
        sp_record *r = NULL;
        sp__alloc_fail_at(n);
        sp_status status = sp_record_open(in_scratch("a"), NULL, &r);
        if (status == SP_OK) status = read_rows(r, 0, 1);
        sp__alloc_fail_at(0);
        sp_record_release(r);
        if (status == SP_OK) break;
        assert_int_equal(status, SP_NOMEM);
        n_failed++;
    }
    assert_true(n_failed > 10);
    for (int64_t n = 1;; n++) {
        sp__alloc_fail_at(n);
        sp_status status = write_rows(in_scratch("b"), &small_pages, 60);
        sp__alloc_fail_at(0);
        if (status == SP_OK) break;
        assert_int_equal(status, SP_NOMEM);
        assert_int_equal(scratch_files(false), 2); /* a and its index */
    }
    assert_int_equal(count_rows(in_scratch("b")), 60);
    scratch_files(true);
}

/* --- threads ------------------------------------------------------------------------------------------------------------------ */

static void *read_some(void *context)
{
    sp_record *r = context;
    for (int64_t k = 0; k < 3; k++)
        if (read_rows(r, k, 3) != SP_OK) return r;
    return NULL;
}

static void threads_share_a_data_set(void **unused)
{
    (void)unused;
    sp_record_plan plan = small_pages;
    plan.n_shards = 3;
    OK(write_rows(in_scratch("a"), &plan, 300));
    for (int turn = 0; turn < 3; turn++) {
        sp_record *r = NULL;
        pthread_t threads[4];
        OK(sp_record_open(in_scratch("a1"), NULL, &r));
        assert_int_equal(sp_record_count(r), 300);
        for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, read_some, r), 0);
        for (int i = 0; i < 4; i++) {
            void *failed;
            pthread_join(threads[i], &failed);
            assert_null(failed);
        }
        sp_record_release(r);
    }
    scratch_files(true);
}

/* --- TFRecord ------------------------------------------------------------------------------------------------------------------ */

/* Any bytes as an Example: refused, or features that can be looked at. */
static void examples_of_any_bytes(void **unused)
{
    (void)unused;
    static const uint8_t good[] = {0x0A, 0x1F, 0x0A, 0x0A, 0x0A, 0x01, 'n',  0x12, 0x05, 0x1A, 0x03,
                                   0x0A, 0x01, 0x05, 0x0A, 0x11, 0x0A, 0x01, 'f',  0x12, 0x0C, 0x12,
                                   0x0A, 0x0A, 0x08, 0,    0,    0x80, 0x3F, 0,    0,    0,    0x40};
    sp_example *e = NULL;
    OK(sp_example_create(&e));
    OK(sp_example_parse(e, good, sizeof good));
    assert_int_equal(sp_example_count(e), 2);
    const sp_feature *f = sp_example_find(e, "f");
    assert_int_equal(f->count, 2);
    assert_true(f->floats[1] == 2.0f && sp_example_find(e, "n")->ints[0] == 5 && sp_example_find(e, "x") == NULL);
    uint64_t seed = 1;
    for (int round = 0; round < share_of(20000); round++) {
        uint8_t *m = malloc(sizeof good);
        memcpy(m, good, sizeof good);
        for (int edits = 0; edits < 3; edits++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            m[(seed >> 33) % sizeof good] = (uint8_t)(seed >> 50);
        }
        size_t n = sizeof good - (seed >> 20) % 4;
        uint8_t *exact = malloc(n);
        memcpy(exact, m, n);
        if (sp_example_parse(e, exact, n) == SP_OK) {
            volatile double sum = 0;
            for (int i = 0; i < sp_example_count(e); i++) {
                const sp_feature *g = sp_example_at(e, i);
                for (size_t k = 0; k < g->count; k++) {
                    if (g->kind == SP_FEATURE_FLOAT) sum = sum + (double)g->floats[k];
                    if (g->kind == SP_FEATURE_INT64) sum = sum + (double)g->ints[k];
                    if (g->kind == SP_FEATURE_BYTES && g->text_bytes[k] > 0)
                        sum = sum + ((const uint8_t *)g->texts[k])[0];
                }
            }
        }
        free(exact);
        free(m);
    }
    sp_example_release(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back),
        cmocka_unit_test(compressed_integers_are_as_described),
        cmocka_unit_test(keys_may_hold_nul),
        cmocka_unit_test(a_key_that_stands_twice),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(elements_of_a_shape_are_counted_in_full),
        cmocka_unit_test(a_killed_writer_costs_one_page),
        cmocka_unit_test(recovery_finds_every_full_page),
        cmocka_unit_test(lack_of_memory_is_told),
        cmocka_unit_test(threads_share_a_data_set),
        cmocka_unit_test(examples_of_any_bytes),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
