/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_serve.c - the fuzz target over sample requests: whole, cut, with bits turned, bytes put in and taken out. The generator is seeded, so a
 * failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#include "../../fuzz/fuzz_serve.c"
#include "formats/formats_util.h"
#include "formats/fuzz_util.h"
#include "serve/zstd.h"

#define REQUESTS "tests/serve/requests/"
static const char *const samples[] = {REQUESTS "head",
                                      REQUESTS "head_chunked",
                                      REQUESTS "chunks",
                                      REQUESTS "kserve_rest",
                                      REQUESTS "kserve_rest_binary",
                                      REQUESTS "kserve_grpc_raw",
                                      REQUESTS "kserve_grpc",
                                      REQUESTS "mindspore_rest",
                                      REQUESTS "mindspore_rest_whole",
                                      REQUESTS "mindspore_grpc",
                                      REQUESTS "texts_rest",
                                      REQUESTS "texts_rest_binary",
                                      REQUESTS "texts_grpc",
                                      REQUESTS "texts_grpc_raw",
                                      REQUESTS "npy",
                                      REQUESTS "npz",
                                      REQUESTS "octets",
                                      REQUESTS "stream",
                                      REQUESTS "gzip",
                                      REQUESTS "zstd",
                                      REQUESTS "region_rest",
                                      REQUESTS "region_grpc",
                                      REQUESTS "override",
                                      REQUESTS "reflection",
                                      REQUESTS "reflection_symbol"};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

/* Samples are good requests: what the target makes of them is an answer. */
static void samples_are_answered(void **unused)
{
    static const struct {
        const char *name;
        const sp_protocol *protocol;
    } all[] = {{REQUESTS "kserve_rest", &sp__protocol_kserve_rest},
               {REQUESTS "kserve_grpc_raw", &sp__protocol_kserve_grpc},
               {REQUESTS "kserve_grpc", &sp__protocol_kserve_grpc},
               {REQUESTS "mindspore_rest", &sp__protocol_mindspore_rest},
               {REQUESTS "mindspore_rest_whole", &sp__protocol_mindspore_rest},
               {REQUESTS "mindspore_grpc", &sp__protocol_mindspore_grpc}};
    (void)unused;
    sp_served *served = make_model(NUMBERS);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        blob b = read_blob(all[i].name);
        sp_exchange x = {.body = b.data + 1, .body_bytes = b.bytes - 1, .reply = {.grpc_status = -1}};
        sp_tensor *tensors[4] = {NULL};
        sp_job job = {.x = &x,
                      .server = the_server(),
                      .model = served,
                      .deadline_us = INT64_MAX,
                      .in = tensors,
                      .out = tensors + 2};
        OK(all[i].protocol->decode(&job));
        job.rows = 2;
        OK(sp_model_run(served->model, 2, job.in, 2, job.out));
        OK(all[i].protocol->encode(&job));
        assert_int_equal(x.reply.status, 200);
        assert_true(x.reply.grpc_status <= 0 && x.reply.body_bytes > 20);
        for (int k = 0; k < 4; k++) sp_tensor_release(tensors[k]);
        sp__arena_free(&job.arena);
        sp__free(x.reply.body);
        free(b.data);
    }
}

/* The same of those that need more around them than a job. */
static void more_samples_are_answered(void **unused)
{
    static const char *const names[] = {"texts_rest", "texts_grpc_raw", "npy",         "npz",         "octets",
                                        "gzip",       "zstd",           "region_rest", "region_grpc", "override"};
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[80];
        snprintf(path, sizeof path, REQUESTS "%s", names[i]);
        blob b = read_blob(path);
        last_status = 0;
        run_exact(LLVMFuzzerTestOneInput, b.data, b.bytes);
        if (strcmp(names[i], "zstd") == 0 && !sp__zstd_there()) assert_int_equal(last_status, 415);
        else if (last_status != 200) fail_msg("%s: %d, %s", names[i], last_status, sp_error_message());
        free(b.data);
    }
}

static size_t used_bytes(void)
{
    sp_memory_stats stats;
    sp_memory_get(&stats);
    return stats.used_bytes;
}

/* However often a request comes, nothing of it stays. */
static void answers_leave_nothing(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i]);
        for (int k = 0; k < 4; k++)
            run_exact(LLVMFuzzerTestOneInput, b.data, b.bytes); /* programs are made, caches filled */
        const size_t before = used_bytes();
        for (int k = 0; k < 100; k++) run_exact(LLVMFuzzerTestOneInput, b.data, b.bytes);
        if (used_bytes() != before) fail_msg("%s: %zu bytes before, %zu behind", samples[i], before, used_bytes());
        free(b.data);
    }
}

static void mutations_do_no_harm(void **unused)
{
    const long n_rounds = fuzz_rounds(20000);
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i]);
        uint8_t *copy = malloc(b.bytes + EDIT_ROOM);
        for (size_t n = 0; n <= b.bytes; n += (size_t)share()) run_exact(LLVMFuzzerTestOneInput, b.data, n);
        for (long round = 0; round < n_rounds; round++) {
            size_t n = b.bytes;
            memcpy(copy, b.data, n);
            for (uint32_t k = 0, edits = 1 + draw(6); k < edits; k++)
                n = edit(copy, n, b.bytes + EDIT_ROOM, 1 + draw((uint32_t)n - 1));
            run_exact(LLVMFuzzerTestOneInput, copy, n);
        }
        free(copy);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_are_answered),
                                       cmocka_unit_test(more_samples_are_answered),
                                       cmocka_unit_test(answers_leave_nothing), cmocka_unit_test(mutations_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
