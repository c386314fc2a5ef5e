/* SPDX-License-Identifier: Apache-2.0 */
/* Every public function that takes a handle is called with NULL in its place (scripts/make-null-calls reads the headers): one that gives a status fails and
 * says why; others give nothing: no pointer, no text, no count. Calls run in a child, which is made again behind one that crashes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "spore/board.h"
#include "spore/cache.h"
#include "spore/codegen.h"
#include "spore/data.h"
#include "spore/device.h"
#include "spore/lite.h"
#include "spore/machine.h"
#include "spore/ops_typed.h"
#include "spore/parallel.h"
#include "spore/profile.h"
#include "spore/provider.h"
#include "spore/quantize.h"
#include "spore/serve.h"
#include "spore/session.h"
#include "spore/spore.h"
#include "spore/trim.h"

#define OK(expr) assert_int_equal(expr, SP_OK)

/* Where a call finds lists of nothing, texts, and room for what it gives. */
static void *const nothing[16];
static const char *const texts[16] = {"x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x"};
static _Alignas(64) char room[1 << 16];
static const _Alignas(64) char given[1 << 16];
#define no_handles ((void *)nothing)
#define some_texts texts

/* Real handles, for the places that are not NULL. */
static sp_tensor *tensor;
static sp_builder *builder;
static sp_bundle *bundle;
static sp_graph *graph;
static sp_function *function;
static sp_dataset *dataset;
static sp_model *model;
static sp_generator *generator;

static sp_tensor *make_sp_tensor(void) { return tensor; }
static sp_builder *make_sp_builder(void)
{
    sp_builder_reset(builder); /* it remembers the first failure */
    return builder;
}
static const sp_op *make_sp_op(void) { return sp_op_find("add"); }
static sp_bundle *make_sp_bundle(void) { return bundle; }
static sp_function *make_sp_function(void) { return function; }
static sp_device *make_sp_device(void) { return sp_device_default(); }
static sp_dataset *make_sp_dataset(void) { return dataset; }
static sp_model *make_sp_model(void) { return model; }
static sp_generator *make_sp_generator(void) { return generator; }

#include "null_calls.h"

/* NULL means something there: what the header says about it. */
static const struct {
    const char *name, *arguments, *why;
} means[] = {
    {"sp_device_name", NULL, "the CPU"},
    {"sp_device_wait", NULL, "the CPU has nothing to wait for"},
    {"sp_device_describe", NULL, "the CPU"},
    {"sp_stream_create", NULL, "the CPU"},
    {"sp_event_create", NULL, "the CPU"},
    {"sp_tensor_to", "make_sp_tensor(), NULL, (void *)room", "main memory"},
    {"sp_model_set_device", "make_sp_model(), NULL", "the CPU"},
    {"sp_comm_size", NULL, "before a job is joined there is one process"},
    {"sp_comm_ranks", NULL, "the same"},
    {"sp_comm_local_size", NULL, "the same"},
    {"sp_dataset_from_files", NULL, "one column, and it is made of files"},
};

static bool is_meant(const char *name, const char *arguments)
{
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        if (strcmp(means[i].name, name) == 0 && (!means[i].arguments || strcmp(means[i].arguments, arguments) == 0))
            return true;
    return false;
}

static const char unsaid[] = "nothing was said";

/* 0: as it should be, else what was wrong. */
static int judge(size_t i)
{
    sp__fail(SP_RUNTIME, "%s", unsaid);
    memset(room, 0, sizeof room);
    const long long got = null_calls[i].call();
    /* An operator may do without some of its operands; which, its entry says. */
    if (null_calls[i].back == 'p' && strncmp(null_calls[i].arguments, "make_sp_builder()", 17) == 0 &&
        strcmp(null_calls[i].name, "sp_builder_apply") != 0)
        return 0;
    if (is_meant(null_calls[i].name, null_calls[i].arguments)) return 0;
    switch (null_calls[i].back) {
    case 's': return got == SP_OK ? 1 : strcmp(sp_error_message(), unsaid) == 0 ? 2 : 0;
    case 'n': return got != 0 && got != -1 ? 3 : 0;
    case 'v': return 0;
    default: return got ? 4 : 0;
    }
}
static const char *const wrong[] = {"", "SP_OK", "fails without a message", "a number that is neither 0 nor -1",
                                    "an answer"};

typedef struct {
    size_t at;
    int found[sizeof null_calls / sizeof *null_calls]; /* negative: by that signal */
} progress;

static void no_function_crashes(void **state)
{
    (void)state;
    const size_t n = sizeof null_calls / sizeof *null_calls;
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    for (p->at = 0; p->at < n; p->at++) {
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL); /* cmocka's own */
            signal(SIGFPE, SIG_DFL);
            signal(SIGBUS, SIG_DFL);
            for (; p->at < n; p->at++) {
                alarm(60);
                p->found[p->at] = judge(p->at);
            }
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (p->at < n) p->found[p->at] = WIFSIGNALED(status) ? -WTERMSIG(status) : -1000;
    }
    int bad = 0;
    for (size_t i = 0; i < n; i++) {
        const int f = p->found[i];
        if (f == 0) continue;
        bad++;
        print_message("%s(%s): ", null_calls[i].name, null_calls[i].arguments);
        if (f < -999) print_message("ends the process\n");
        else if (f < 0) print_message("signal %d\n", -f);
        else print_message("%s\n", wrong[f]);
    }
    munmap(p, sizeof *p);
    if (bad > 0) fail_msg("%d of %zu calls", bad, n);
}

/* Places that are not there. */
static void no_index_reads_beside(void **state)
{
    (void)state;
    const int odd[] = {-1, 1, 7, 100000, INT32_MAX, INT32_MIN};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        const int i = odd[k];
        assert_null(sp_model_input_name(model, i));
        assert_null(sp_model_output_name(model, i));
        assert_null(sp_model_input_spec(model, i));
        assert_null(sp_model_output_spec(model, i));
        assert_null(sp_model_input_axis(model, i, 0));
        assert_null(sp_model_output_axis(model, 0, i < 0 ? i : SP_RANK_MAX + i));
        assert_null(sp_model_node_at(model, i < 0 ? i : sp_model_nodes(model) - 1 + i));
        assert_null(sp_bundle_name_at(bundle, i));
        assert_null(sp_bundle_tensor_at(bundle, i));
        assert_null(sp_bundle_text_at(bundle, i, NULL));
        assert_null(sp_bundle_note_at(bundle, i, NULL));
        assert_int_equal(sp_bundle_shape_at(bundle, i, NULL, NULL), SP_DTYPE_NONE);
        assert_false(sp_bundle_waits_at(bundle, i));
        assert_null(sp_dataset_column(dataset, i));
        assert_null(sp_op_at(i < 0 ? i : sp_op_count() - 1 + i));
        assert_null(sp_format_at(i < 0 ? i : sp_format_count() - 1 + i));
        assert_null(sp_transform_name_at(i < 0 ? i : sp_transform_count() - 1 + i));
    }
}

static int setup(void **state)
{
    (void)state;
    const int64_t dims[1] = {1};
    OK(sp_tensor_create_zeros(SP_DTYPE_F32, 1, dims, &tensor));
    OK(sp_builder_create(&builder));
    OK(sp_bundle_create(&bundle));
    OK(sp_generator_create(1, &generator));
    OK(sp_graph_create(&graph));
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {1}};
    sp_tensor *x;
    OK(sp_function_begin(graph, "f", 1, &spec, &function, &x));
    OK(sp_function_end(function, 1, (sp_tensor *[]){sp_neg(builder, x)}));
    sp_tensor_release(x);
    const char *const columns[] = {"x"};
    OK(sp_dataset_from_arrays(1, &tensor, columns, NULL, &dataset));
    char path[64];
    snprintf(path, sizeof path, "/tmp/null_handles_%d.mindir", (int)getpid());
    OK(sp_model_save(path, function, &(sp_model_names){.n_inputs = 1, .inputs = columns}, NULL));
    const sp_status status = sp_model_load(path, NULL, &model);
    unlink(path);
    OK(status);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sp_model_release(model);
    sp_dataset_release(dataset);
    sp_graph_release(graph);
    sp_generator_release(generator);
    sp_bundle_release(bundle);
    sp_builder_release(builder);
    sp_tensor_release(tensor);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_function_crashes), cmocka_unit_test(no_index_reads_beside)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
