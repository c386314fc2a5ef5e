/* SPDX-License-Identifier: Apache-2.0 */
/* test_fork.c - a child of fork uses everything, whatever the threads of its parent were doing: planning, running, loading models and weights,
 * drawing random numbers, reading records. A lock that fork does not know is found by a child that waits for it: an alarm ends that child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/share.h"
#include "spore/spore.h"

#if defined(__SANITIZE_THREAD__)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
enum { FORKS = 100 };
#else
enum { FORKS = 1000 };
#endif

enum { AT_ONCE = 8 };

#define ONNX_FILE "tests/formats/data/onnx/mlp.onnx"
#define TFLITE_FILE "tests/formats/data/tflite/dense_float.tflite"
#define WEIGHTS_FILE "tests/formats/data/safetensors/dtypes.safetensors"
#define RECORD_FILE "tests/data/files/ms210/alltypes.mindrecord"

static sp_model *shared;    /* run by the threads and by every child */
static sp_program *program; /* likewise, each time with another size, so that it is planned */
static atomic_bool stop;
static atomic_int n_failed;

static bool good(sp_status status, const char *what)
{
    if (status != SP_OK) fprintf(stderr, "%s: %s\n", what, sp_error_message());
    return status == SP_OK;
}

/* --- work -------------------------------------------------------------------------------------------------------- */

static bool run_model(sp_model *m, int64_t rows)
{
    const sp_spec *face = sp_model_input_spec(m, 0);
    sp_tensor *in = NULL, *out = NULL;
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < face->rank; i++) dims[i] = face->dims[i] >= 0 ? face->dims[i] : rows;
    if (!good(sp_tensor_create_zeros(face->dtype, face->rank, dims, &in), "input")) return false;
    const bool fine = good(sp_model_run(m, 1, &in, 1, &out), "model");
    sp_tensor_release(out);
    sp_tensor_release(in);
    return fine;
}

static bool run_shared(int64_t turn) { return run_model(shared, 1 + turn % 7); }

static bool load_and_run(const char *path)
{
    sp_model *m = NULL;
    const bool fine = good(sp_model_load(path, NULL, &m), path) && run_model(m, 2);
    sp_model_release(m);
    return fine;
}

static bool load_onnx(int64_t turn) { return turn % 4 != 0 || load_and_run(ONNX_FILE); }
static bool load_tflite(int64_t turn) { return turn % 4 != 1 || load_and_run(TFLITE_FILE); }

static bool plan(int64_t turn)
{
    sp_tensor *in = NULL, *out = NULL;
    if (!good(sp_tensor_create_zeros(SP_DTYPE_F32, 2, (const int64_t[]){1 + turn % 1000, 64}, &in), "input"))
        return false;
    bool fine = good(sp_program_run(program, 1, &in, 1, &out), "program");
    fine = fine && sp_tensor_dims(out)[0] == 1 + turn % 1000 && ((const float *)sp_tensor_data(out))[63] == 0.5f;
    sp_tensor_release(out);
    sp_tensor_release(in);
    return fine;
}

static bool draw(int64_t turn)
{
    sp_tensor *state = NULL;
    const bool fine = good(sp_generator_next(sp_generator_default(), turn, &state), "random numbers");
    sp_tensor_release(state);
    return fine;
}

static bool read_weights(int64_t turn)
{
    sp_bundle *weights = NULL;
    if (turn % 4 != 2) return true;
    bool fine = good(sp_load(WEIGHTS_FILE, NULL, &weights), WEIGHTS_FILE);
    for (int64_t i = 0; fine && i < sp_bundle_count(weights); i++) fine = sp_bundle_tensor_at(weights, i) != NULL;
    sp_bundle_release(weights);
    return fine;
}

static bool read_record(int64_t turn)
{
    sp_record *record = NULL;
    sp_record_row *row = NULL;
    if (turn % 4 != 3) return true;
    const bool fine = good(sp_record_open(RECORD_FILE, NULL, &record), RECORD_FILE) &&
                      good(sp_record_row_create(record, NULL, 0, &row), "row") &&
                      good(sp_record_read(record, 0, row), "row");
    sp_record_row_release(row);
    sp_record_release(record);
    return fine;
}

static bool set_cache(int64_t turn)
{
    (void)turn;
    return good(sp_program_cache(NULL, 0), "cache");
}

static bool list_providers(int64_t turn)
{
    char names[64];
    (void)turn;
    return sp_provider_names(names, sizeof names) >= 0;
}

static bool work(int64_t turn)
{
    static bool (*const parts[])(int64_t) = {run_shared,   plan,        load_onnx, load_tflite,   draw,
                                             read_weights, read_record, set_cache, list_providers};
    bool fine = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) fine = parts[i](turn) && fine;
    return fine;
}

static void *work_on(void *first)
{
    for (int64_t turn = (intptr_t)first; !atomic_load(&stop); turn += 3)
        if (!work(turn)) atomic_fetch_add(&n_failed, 1);
    return NULL;
}

/* --- tests ------------------------------------------------------------------------------------------------------- */

static int setup(void **unused)
{
    (void)unused;
    sp_graph *g = NULL;
    sp_function *f = NULL;
    sp_builder *b = NULL;
    sp_tensor *in = NULL, *weight = NULL;
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {-1, 64}};
    const int64_t square[2] = {64, 64};
    if (sp_model_load(ONNX_FILE, NULL, &shared) != SP_OK) return 1;
    if (sp_tensor_create_zeros(SP_DTYPE_F32, 2, square, &weight) != SP_OK) return 1;
    if (sp_graph_create(&g) != SP_OK || sp_builder_create(&b) != SP_OK ||
        sp_function_begin(g, "f", 1, &spec, &f, &in) != SP_OK)
        return 1;
    sp_tensor *x = sp_sigmoid(b, sp_matmul(b, in, weight, false, false));
    if (!x || sp_function_end(f, 1, &x) != SP_OK || sp_program_create(f, NULL, &program) != SP_OK) return 1;
    sp_tensor_release(in);
    sp_tensor_release(weight);
    sp_builder_release(b);
    sp_graph_release(g);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    sp_program_release(program);
    sp_model_release(shared);
    return 0;
}

static void end_well(pid_t pid, int i)
{
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    if (WIFSIGNALED(result)) fail_msg("child %d was ended by signal %d", i, WTERMSIG(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

static void every_child_works(void **unused)
{
    (void)unused;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* gcc 12's address sanitizer does not hold its own allocator's lock over a fork: now and then the child waits for it for ever */
#endif
    pthread_t threads[2];
    for (intptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_on, (void *)i), 0); /* NOLINT: a number */
    pid_t children[AT_ONCE] = {0}; /* some at a time: on a busy machine each waits for its turn */
    const int n_forks = share_of(FORKS);
    for (int i = 0; i < n_forks + AT_ONCE; i++) {
        if (children[i % AT_ONCE]) end_well(children[i % AT_ONCE], i - AT_ONCE);
        children[i % AT_ONCE] = 0;
        if (i >= n_forks) continue;
        nanosleep(&(struct timespec){0, i % 10 * 50000}, NULL); /* they get on a little, to another place each time */
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(100); /* a child that waits for a lock is ended by this */
            _exit(work(i % 4 + 4 * i) ? 0 : 1);
        }
        children[i % AT_ONCE] = pid;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&n_failed), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_child_works)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
