/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_sizes.c - models that meet many batch sizes: one program serves them, with the results of a program for each. */
#include "formats_util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "base/share.h"
#include "graph/plan.h"
#include "spore/model.h"

#if defined(__SANITIZE_THREAD__)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
#endif

enum { ENDS_MAX = 64 };
static const char convnet[] = "tests/onnx/data/convnet.onnx";

/* Numbers that follow from their place; of integers small ones, which are places in tables, too. */
static sp_tensor *numbers(const sp_spec *s)
{
    sp_tensor *t;
    OK(sp_tensor_create_zeros(s->dtype, s->rank, s->dims, &t));
    char *data = sp_tensor_data(t);
    for (int64_t i = 0; i < sp_tensor_count(t); i++)
        if (s->dtype == SP_DTYPE_F32) ((float *)(void *)data)[i] = (float)((int)(i * 37 % 101) - 50) / 64;
        else data[i * (int64_t)sp_dtype_bytes(s->dtype)] = (char)(i % 2);
    return t;
}

typedef struct {
    int n_in, n_out;
    sp_status status;
    sp_tensor *in[ENDS_MAX], *out[ENDS_MAX];
} run;

/* Arguments with `size` where the file leaves sizes open or, of a kind that takes any, in front. */
static void fill(const sp_model *m, bool any, int64_t size, run *r)
{
    *r = (run){.n_in = sp_model_inputs(m), .n_out = sp_model_outputs(m)};
    for (int i = 0; i < r->n_in; i++) {
        sp_spec s = *sp_model_input_spec(m, i);
        if (s.rank < 0) s = (sp_spec){.dtype = s.dtype, .rank = 2, .dims = {-1, 3}};
        if (any && s.rank > 0) s.dims[0] = size;
        for (int k = 0; k < s.rank; k++)
            if (s.dims[k] < 0) s.dims[k] = size;
        r->in[i] = numbers(&s);
    }
}

static void empty(run *r)
{
    for (int i = 0; i < r->n_in; i++) sp_tensor_release(r->in[i]);
    for (int i = 0; i < r->n_out && r->status == SP_OK; i++) sp_tensor_release(r->out[i]);
}

static run run_at(sp_model *m, bool any, int64_t size)
{
    run r;
    fill(m, any, size, &r);
    OK(sp_model_reset(m));
    r.status = sp_model_run(m, r.n_in, r.in, r.n_out, r.out);
    return r;
}

static sp_model *load(const char *path, bool any)
{
    sp_model *m = NULL;
    if (sp_model_load(path, NULL, &m) != SP_OK) return NULL;
    if (any) OK(sp_model_allow_sizes(m));
    return m;
}

static bool same(const run *a, const run *b)
{
    if (a->status != b->status) return false;
    for (int i = 0; i < a->n_out && a->status == SP_OK; i++) {
        const sp_tensor *x = a->out[i], *y = b->out[i];
        if (sp_tensor_rank(x) != sp_tensor_rank(y) || sp_tensor_bytes(x) != sp_tensor_bytes(y)) return false;
        for (int k = 0; k < sp_tensor_rank(x); k++)
            if (sp_tensor_dims(x)[k] != sp_tensor_dims(y)[k]) return false;
        sp_tensor *p, *q;
        OK(sp_tensor_copy(x, &p));
        OK(sp_tensor_copy(y, &q));
        const bool equal =
            sp_tensor_bytes(p) == 0 || memcmp(sp_tensor_data(p), sp_tensor_data(q), sp_tensor_bytes(p)) == 0;
        sp_tensor_release(p);
        sp_tensor_release(q);
        if (!equal) return false;
    }
    return true;
}

/* The same by a model that has met no other size. */
static run run_alone(const char *path, bool any, int64_t size)
{
    sp_model *m = load(path, any);
    run r = run_at(m, any, size);
    sp_model_release(m);
    return r;
}

/* How often a line of the report begins so. */
static int lines(sp_model *m, const char *begin)
{
    char *text;
    int n = 0;
    OK(sp_model_report(m, &text));
    for (const char *at = text; at != NULL; at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : NULL)
        n += strncmp(at, begin, strlen(begin)) == 0;
    sp_text_free(text);
    return n;
}

static void twenty_sizes_are_one_program(void **unused)
{
    (void)unused;
    sp_model *m = load(convnet, false);
    for (int64_t size = 1; size <= 20; size++) {
        run r = run_at(m, false, size);
        assert_int_equal(r.status, SP_OK);
        empty(&r);
    }
    assert_int_equal(lines(m, "program "), 1);
    assert_int_equal(lines(m, "recorded 20 times, compiled 2 times; 20 sets of sizes"), 1);
    run r = run_at(m, false, 7); /* known */
    empty(&r);
    assert_int_equal(lines(m, "recorded 20 times, compiled 2 times; 20 sets of sizes"), 1);
    sp_model_release(m);
}

static void one_size_is_one_program_of_its_own(void **unused)
{
    (void)unused;
    sp_model *m = load(convnet, false);
    for (int i = 0; i < 3; i++) {
        run r = run_at(m, false, 4);
        empty(&r);
    }
    assert_int_equal(lines(m, "program "), 1);
    assert_int_equal(lines(m, "recorded"), 0); /* once */
    sp_model_release(m);
}

/* Sizes whose recordings differ in more get programs of their own: the longest unused goes, and comes back with the same results. */
static void programs_of_their_own_are_bounded(void **unused)
{
    (void)unused;
    static const char path[] = DATA "mindir/dynamic.mindir";
    enum { MOST = 64 };
    sp_model *m = load(path, false);
    for (int64_t size = 2; size < MOST + 8; size++) {
        run r = run_at(m, false, size);
        assert_int_equal(r.status, SP_OK);
        empty(&r);
    }
    assert_int_equal(lines(m, "program "), MOST);
    assert_int_equal(lines(m, "a program of its own: reshape has a shape of which more than one size is another"),
                     MOST);
    run again = run_at(m, false, 2), alone = run_alone(path, false, 2);
    assert_true(same(&again, &alone));
    empty(&again);
    empty(&alone);
    sp_model_release(m);
}

/* Kernels have weights in the form they like once, not once a size. */
static void weights_are_prepared_once(void **unused)
{
    (void)unused;
    int64_t before, blocks, after;
    uint64_t made_before, made_first, made;
    sp__packs_count(&before, &made_before);
    sp_model *m = load(convnet, false);
    for (int64_t size = 32; size < 40; size++) {
        run r = run_at(m, false, size);
        empty(&r);
        if (size == 32) sp__packs_count(&blocks, &made_first);
    }
    sp__packs_count(&blocks, &made);
    assert_true(made_first > made_before);
    assert_int_equal(made, made_first);
    assert_int_equal(blocks - before, made - made_before);
    sp_model_release(m);
    sp__packs_count(&after, &made);
    assert_int_equal(after, before);
}

static int n_files, n_one, n_several, n_stepwise, n_fixed;

static bool leaves_open(const sp_model *m)
{
    bool open = false;
    for (int i = 0; i < sp_model_inputs(m); i++)
        for (int k = 0; k < sp_model_input_spec(m, i)->rank; k++) open |= sp_model_input_spec(m, i)->dims[k] < 0;
    return open;
}

static void compare_sizes(const char *path, bool any)
{
    static const int64_t sizes[] = {3, 1, 5, 2, 8, 3, 0, 4};
    sp_model *m = load(path, any);
    int done = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run a = run_at(m, any, sizes[i]), b = run_alone(path, any, sizes[i]);
        if (!same(&a, &b)) fail_msg("%s gives another result with size %d after others", path, (int)sizes[i]);
        done += a.status == SP_OK;
        empty(&a);
        empty(&b);
    }
    n_files++;
    const int programs = lines(m, "program ");
    if (getenv("SIZES_SHOW")) {
        char *text;
        OK(sp_model_report(m, &text));
        printf("%s: %d of 8 sizes run, %d programs\n%.*s", path, done, programs, programs > 1 ? 4000 : 0, text);
        sp_text_free(text);
    }
    if (done <= 2 || !(any || leaves_open(m))) n_fixed++;
    else if (programs == 0) n_stepwise++;
    else if (programs == 1) n_one++;
    else n_several++;
    sp_model_release(m);
}

static void compare_file(const char *path)
{
    sp_model *m = load(path, false);
    if (m == NULL) return; /* it needs a key */
    if (sp_model_needs_items(m) || sp_model_inputs(m) > ENDS_MAX || sp_model_outputs(m) > ENDS_MAX) {
        sp_model_release(m);
        return;
    }
    const bool any = sp_model_allow_sizes(m) == SP_OK;
    sp_model_release(m);
    compare_sizes(path, false);
    if (any) compare_sizes(path, true);
}

static void all_files_give_what_they_give_alone(void **unused)
{
    (void)unused;
    static const char *const folders[] = {"tests/onnx/data",   DATA "onnx",   DATA "mindir",
                                          DATA "mindir/forms", DATA "tflite", "tests/tflite/data"};
    int number = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *folder = opendir(folders[i]);
        assert_non_null(folder);
        for (const struct dirent *e; (e = readdir(folder)) != NULL;) {
            char path[512];
            const char *end = strrchr(e->d_name, '.');
            if (end == NULL ||
                (strcmp(end, ".onnx") != 0 && strcmp(end, ".mindir") != 0 && strcmp(end, ".tflite") != 0) ||
                !share_takes(number++))
                continue;
            snprintf(path, sizeof path, "%s/%s", folders[i], e->d_name);
            compare_file(path);
        }
        closedir(folder);
    }
    print_message(
        "%d ways to run files: %d with one program for all sizes, %d with several, %d operator by operator, %d of one size\n",
        n_files, n_one, n_several, n_stepwise, n_fixed);
    assert_true(share() > 1 || n_one > 2 * n_several); /* files that compute with their sizes have several */
}

/* --- threads and fork ---------------------------------------------------------------------------------------------- */

enum { THREADS = 4, TURNS = 12 };
static sp_model *shared;
static run expected[TURNS + THREADS];

static void *run_sizes(void *first)
{
    const int from = *(const int *)first;
    for (int i = 0; i < TURNS; i++) {
        const int at = from + i;
        run r = run_at(shared, false, at + 1);
        const bool right = same(&r, &expected[at]);
        empty(&r);
        if (!right) return first;
    }
    return NULL;
}

static void threads_ask_for_different_sizes(void **unused)
{
    (void)unused;
    int first[THREADS];
    pthread_t threads[THREADS];
    shared = load(convnet, false);
    for (int i = 0; i < TURNS + THREADS; i++) expected[i] = run_alone(convnet, false, i + 1);
    for (int i = 0; i < THREADS; i++) {
        first[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, run_sizes, &first[i]), 0);
    }
    void *failed = NULL;
    for (int i = 0; i < THREADS; i++) {
        void *one;
        pthread_join(threads[i], &one);
        if (one != NULL) failed = one;
    }
    assert_null(failed);
    assert_int_equal(lines(shared, "program "), 1);
    sp_model_release(shared);
    for (int i = 0; i < TURNS + THREADS; i++) empty(&expected[i]);
}

static atomic_bool stop;

static void *compile_on(void *unused)
{
    (void)unused;
    for (int64_t size = 1; !atomic_load(&stop); size = size % 500 + 1) {
        run r = run_at(shared, false, size);
        empty(&r);
    }
    return NULL;
}

static void a_child_runs_while_others_compile(void **unused)
{
    (void)unused;
    pthread_t thread;
    shared = load(convnet, false);
    atomic_store(&stop, false);
    run wanted = run_alone(convnet, false, 600);
    assert_int_equal(pthread_create(&thread, NULL, compile_on, NULL), 0);
    int right = 0;
    for (int i = 0; i < 10; i++) {
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(60);
            run r = run_at(shared, false, 600);
            _exit(same(&r, &wanted) ? 0 : 1);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        right += status == 0;
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(right, 10);
    empty(&wanted);
    sp_model_release(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_sizes_are_one_program),        cmocka_unit_test(one_size_is_one_program_of_its_own),
        cmocka_unit_test(programs_of_their_own_are_bounded),   cmocka_unit_test(weights_are_prepared_once),
        cmocka_unit_test(all_files_give_what_they_give_alone), cmocka_unit_test(threads_ask_for_different_sizes),
        cmocka_unit_test(a_child_runs_while_others_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
