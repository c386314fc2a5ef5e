/* SPDX-License-Identifier: Apache-2.0 */
/* test_rowcache.c - the dataset cache from inside: rows as bytes, leases and what becomes of them, sessions, a pipeline through a server in a thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cache/cache.h"

#define OK(call) assert_int_equal((call), SP_OK)

/* --- rows -------------------------------------------------------------------------------------------------------------- */

static void rows_come_back(void **unused)
{
    (void)unused;
    const int64_t big[2] = {70, 1000}, none[1] = {0};
    sp_tensor *in[4] = {NULL}, *out[4] = {NULL}, *turned = NULL;
    OK(sp_tensor_create(SP_DTYPE_F32, 2, big, &in[0]));
    for (int64_t i = 0; i < in[0]->count; i++) ((float *)(void *)in[0]->data)[i] = (float)i;
    OK(sp_tensor_create(SP_DTYPE_I64, 1, none, &in[1]));
    OK(sp_tensor_create_i64(SP_DTYPE_I32, 7, &in[2]));
    OK(sp_tensor_view(in[0], 2, (const int64_t[2]){1000, 70}, (const int64_t[2]){1, 1000}, 0, &turned));
    in[3] = turned; /* not dense */
    for (int n = 1; n <= 4; n++) {
        const int fd = memfd_create("test", MFD_CLOEXEC);
        const uint64_t bytes = sp__rowcache_row_bytes(n, in), offset = 4096;
        OK(sp__rowcache_row_write(fd, offset, n, in));
        sp_tensor *memory = NULL;
        OK(sp_tensor_create(SP_DTYPE_U8, 1, &(int64_t){(int64_t)bytes}, &memory));
        memset(memory->data, 0x55, (size_t)bytes);
        assert_true(pread(fd, memory->data, (size_t)bytes, (off_t)offset) > 0);
        OK(sp__rowcache_row_read((const uint8_t *)memory->data, bytes, memory->storage, n, out));
        for (int i = 0; i < n; i++) {
            sp_tensor *dense = NULL;
            OK(sp_tensor_contiguous(in[i], &dense));
            assert_int_equal(out[i]->dtype, dense->dtype);
            assert_true(sp__tensor_same_shape(out[i], dense));
            assert_memory_equal(out[i]->data, dense->data, sp_tensor_bytes(dense));
            sp_tensor_release(dense);
            sp_tensor_release(out[i]);
        }
        assert_int_equal(sp__rowcache_row_read((const uint8_t *)memory->data, bytes, memory->storage, n + 1, out),
                         SP_FORMAT);
        assert_int_equal(sp__rowcache_row_read((const uint8_t *)memory->data, bytes / 2, memory->storage, n, out),
                         SP_FORMAT);
        assert_int_equal(sp__rowcache_row_read((const uint8_t *)memory->data, 3, memory->storage, n, out), SP_FORMAT);
        sp_tensor_release(memory);
        close(fd);
    }
    for (int i = 0; i < 4; i++) sp_tensor_release(in[i]);
}

/* --- leases --------------------------------------------------------------------------------------------------------------- */

static sp_cache_request asks(uint64_t bytes, uint32_t wish, uint64_t end)
{
    return (sp_cache_request){.a = bytes, .wish = wish, .b = end};
}

static void leases_end(void **unused)
{
    (void)unused;
    sp_cache_budget all = {.most = 1 << 20};
    const sp_cache_request open = {.session = 1, .a = 100, .b = 256 << 10};
    sp_cache_keep *k = NULL;
    sp_cache_reply r, r2;
    sp_cache_figures f;
    OK(sp__rowcache_keep_create(&open, &all, &k));
    const uint64_t fixed = all.used;
    assert_int_equal(fixed, sp__rowcache_fixed_bytes(100));
    sp_cache_request q = asks(5000, 64 << 10, 0);
    assert_int_equal(sp__rowcache_lease(k, &all, 1, &q, &r), SP_CACHE_DONE);
    assert_int_equal(r.bytes, 64 << 10);
    assert_int_equal(all.used, fixed + (64 << 10));
    /* Only its owner commits, inside of it, rows that there are. */
    assert_false(sp__rowcache_commit(k, 2, 0, r.offset, 100));
    assert_false(sp__rowcache_commit(k, 1, 0, r.offset + (64 << 10) - 50, 100));
    assert_false(sp__rowcache_commit(k, 1, 100, r.offset, 100));
    assert_false(sp__rowcache_commit(k, 1, 0, r.offset, 0));
    assert_true(sp__rowcache_commit(k, 1, 3, r.offset + 4000, 1000));
    assert_true(sp__rowcache_commit(k, 1, 4, r.offset, 4000)); /* threads are done in any order */
    assert_int_equal(atomic_load(&k->index[3].bytes), 1000);
    assert_true(sp__rowcache_commit(k, 1, 3, r.offset + 5000, 10)); /* a second one changes nothing */
    assert_int_equal(atomic_load(&k->index[3].offset), r.offset + 4000);
    /* A new lease gives the rest of the old one back. */
    q = asks(9000, 0, r.offset + 5010);
    assert_int_equal(sp__rowcache_lease(k, &all, 1, &q, &r2), SP_CACHE_DONE);
    assert_int_equal(r2.bytes, 12288);
    assert_int_equal(all.used, fixed + 8192 + 12288);
    /* The limit is hard, whoever asks. */
    uint64_t got = 0;
    q = asks(100, 4 << 20, 0);
    while (sp__rowcache_lease(k, &all, 2, &q, &r) == SP_CACHE_DONE) got += r.bytes;
    assert_int_equal(k->memory.used, 256 << 10);
    assert_int_equal(got, (256 << 10) - 8192 - 12288);
    atomic_store(&k->claims[7], 2u);
    atomic_store(&k->claims[8], 1u);
    sp__rowcache_client_gone(k, &all, 2);
    assert_int_equal(atomic_load(&k->claims[7]), 0);
    assert_int_equal(atomic_load(&k->claims[8]), 1);
    assert_int_equal(all.used, fixed + 8192 + 12288);
    sp__rowcache_client_gone(k, &all, 1);
    assert_int_equal(all.used, fixed + 8192); /* two rows of 5000 bytes */
    sp__rowcache_figures(k, &f);
    assert_int_equal(f.rows_in_memory, 2);
    assert_int_equal(f.row_bytes, 2500);
    sp__rowcache_keep_release(k, &all);
    assert_int_equal(all.used, 0);
}

/* Many clients that come and go: bytes are never lost and never found twice. */
static void stretches_do_not_overlap(void **unused)
{
    (void)unused;
    enum { ROUNDS = 3000, ROWS = 4000 };
    sp_cache_budget all = {.most = 8 << 20};
    const sp_cache_request open = {.session = 1, .a = ROWS, .b = 4 << 20};
    sp_cache_keep *k = NULL;
    unsigned seed = 1;
    uint64_t next = 0;
    OK(sp__rowcache_keep_create(&open, &all, &k));
    uint8_t *taken = calloc(1, (4 << 20) / 64);
    for (int i = 0; i < ROUNDS; i++) {
        sp_cache_reply r;
        const uint32_t client = 1 + (seed = seed * 1103515245 + 12345) / 65536 % 5;
        const uint64_t bytes = 64 * (1 + (seed = seed * 1103515245 + 12345) / 65536 % 300);
        const sp_cache_request q = asks(bytes, seed & 1 ? 32768 : 0, 0);
        if (sp__rowcache_lease(k, &all, client, &q, &r) == SP_CACHE_DONE && next < ROWS && seed & 2) {
            assert_true(sp__rowcache_commit(k, client, next++, r.offset, bytes));
            for (uint64_t at = r.offset / 64; at < (r.offset + bytes) / 64; at++) {
                assert_false(taken[at]);
                taken[at] = 1;
            }
        }
        if (i % 7 == 0) sp__rowcache_client_gone(k, &all, client);
    }
    for (uint32_t client = 1; client <= 5; client++) sp__rowcache_client_gone(k, &all, client);
    assert_null(k->leases);
    assert_true(k->memory.used <= 4 << 20);
    sp__rowcache_keep_release(k, &all);
    assert_int_equal(all.used, 0);
    free(taken);
}

/* --- a server, and a pipeline through it ------------------------------------------------------------------------------------- */

static void *serve(void *server)
{
    assert_int_equal(sp_cache_server_run(server), SP_OK);
    return NULL;
}

static atomic_int n_made;

static sp_status make_row(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)context;
    (void)n_in;
    (void)in;
    (void)n_out;
    atomic_fetch_add(&n_made, 1);
    const int64_t dims = call->id % 7 * 1000 + 1;
    SP_TRY(sp_tensor_create(SP_DTYPE_I32, 1, &dims, &out[0]));
    for (int64_t i = 0; i < dims; i++) ((int32_t *)(void *)out[0]->data)[i] = (int32_t)(call->id * 3 + i);
    return SP_OK;
}

static sp_status say_nothing(void *context, bool files, void (*note)(void *to, const void *data, size_t bytes),
                             void *to)
{
    (void)files;
    note(to, context, 1);
    return SP_OK;
}

static int64_t read_epoch(sp_iterator *it)
{
    int64_t sum = 0;
    bool more = true;
    for (int64_t n = 0; more; n++) {
        sp_tensor *row = NULL;
        OK(sp_iterator_next(it, &row, &more));
        if (!more) break;
        sum = sum * 31 + ((int32_t *)(void *)row->data)[row->count - 1] + row->count;
        sp_tensor_release(row);
    }
    return sum;
}

static void a_pipeline_reads_what_it_wrote(void **unused)
{
    (void)unused;
    enum { ROWS = 50 };
    char address[40];
    sp_cache_server *server = NULL;
    pthread_t thread;
    uint32_t session;
    sp_cache *cache = NULL;
    sp_dataset *source = NULL, *kept = NULL;
    sp_iterator *plain = NULL, *it = NULL;
    sp_cache_figures f;
    static char name = 'x';
    const char *column = "n";
    const sp_row_function read = {.name = "numbers", .run = make_row, .identify = say_nothing, .context = &name};
    snprintf(address, sizeof address, "test-%ld", (long)getpid());
    OK(sp_cache_server_create(&(sp_cache_server_options){.address = address, .max_bytes = 64 << 20}, &server));
    assert_int_equal(sp_cache_server_create(&(sp_cache_server_options){.address = address}, &(sp_cache_server *){NULL}),
                     SP_VALUE);
    assert_int_equal(pthread_create(&thread, NULL, serve, server), 0);
    OK(sp_cache_session_create(address, &session));
    OK(sp_cache_create(&(sp_cache_options){.address = address, .session = session, .strict = true}, &cache));
    assert_int_equal(sp_cache_stat(cache, &f), SP_RUNTIME);
    OK(sp_dataset_from_function(&read, ROWS, 1, &column, &(sp_order){.shuffle = true}, &source));
    OK(sp_dataset_cache(source, cache, NULL, &kept));
    const sp_iterator_plan plan = {.n_workers = 3, .seed = 5};
    OK(sp_iterator_create(source, &plan, &plain));
    OK(sp_iterator_create(kept, &plan, &it));
    for (int epoch = 0; epoch < 3; epoch++) {
        const int64_t wanted = read_epoch(plain);
        atomic_store(&n_made, 0);
        assert_int_equal(read_epoch(it), wanted);
        assert_int_equal(atomic_load(&n_made), epoch ? 0 : ROWS);
    }
    OK(sp_cache_stat(cache, &f));
    assert_int_equal(f.rows_in_memory, ROWS);
    sp_cache_entry *list;
    int n;
    OK(sp_cache_list(address, &list, &n));
    assert_true(n == 1 && list[0].session == session && list[0].n_clients == 1);
    free(list);
    OK(sp_cache_stop(address));
    pthread_join(thread, NULL);
    sp_cache_server_release(server);
    sp_tensor *row = NULL;
    bool more = true;
    sp_status status = SP_OK;
    for (int i = 0; i < 200 && status == SP_OK; i++) {
        status = sp_iterator_next(it, &row, &more);
        if (status == SP_OK && more) sp_tensor_release(row);
    }
    assert_int_equal(status, SP_RUNTIME); /* strict */
    sp_iterator_release(it);
    sp_iterator_release(plain);
    sp_dataset_release(kept);
    sp_dataset_release(source);
    sp_cache_release(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_come_back), cmocka_unit_test(leases_end),
                                       cmocka_unit_test(stretches_do_not_overlap),
                                       cmocka_unit_test(a_pipeline_reads_what_it_wrote)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
