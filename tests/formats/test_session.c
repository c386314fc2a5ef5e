/* SPDX-License-Identifier: Apache-2.0 */
/* test_session.c - models in memory of the caller's: the results of sp_model_run, nothing written outside of the block, nothing allocated. */
#include "formats_util.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "spore/runtime.h"
#include "spore/session.h"

enum { ENDS_MAX = 64 };
static const char convnet[] = "tests/onnx/data/convnet.onnx", lenet[] = "tests/formats/data/mindir/lenet.mindir";

/* A block that ends where memory does that nobody may touch, and begins behind such memory. */
typedef struct {
    char *map, *at;
    size_t bytes, map_bytes;
} guarded;

static guarded guarded_make(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
    guarded g = {.bytes = bytes, .map_bytes = body + 2 * page};
    g.map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    assert_int_equal(mprotect(g.map + page, body, PROT_READ | PROT_WRITE), 0);
    memset(g.map + page, 0xA5, body);
    g.at = g.map + page + body - bytes;
    return g;
}

static void guarded_free(guarded *g) { assert_int_equal(munmap(g->map, g->map_bytes), 0); }

/* Between the guard in front and the block: untouched. */
static void check_front(const guarded *g)
{
    for (const char *p = g->map + sysconf(_SC_PAGESIZE); p < g->at; p++) assert_int_equal((unsigned char)*p, 0xA5);
}

static void fill(const sp_spec *s, void *data, int seed)
{
    int64_t count = 1;
    for (int k = 0; k < s->rank; k++) count *= s->dims[k];
    for (int64_t i = 0; i < count; i++)
        if (s->dtype == SP_DTYPE_F32) ((float *)data)[i] = (float)((int)((i + seed) * 37 % 101) - 50) / 64;
        else ((char *)data)[i * (int64_t)sp_dtype_bytes(s->dtype)] = (char)((i + seed) % 2);
}

static size_t bytes_of(const sp_spec *s)
{
    size_t bytes = sp_dtype_bytes(s->dtype);
    for (int k = 0; k < s->rank; k++) bytes *= (size_t)s->dims[k];
    return bytes;
}

typedef struct {
    int n_in, n_out;
    guarded in[ENDS_MAX], out[ENDS_MAX];
    const void *from[ENDS_MAX];
    void *to[ENDS_MAX];
} buffers;

static void buffers_make(const sp_model *m, const sp_session *s, int seed, buffers *b)
{
    b->n_in = sp_model_inputs(m);
    b->n_out = sp_model_outputs(m);
    for (int i = 0; i < b->n_in; i++) {
        b->in[i] = guarded_make(bytes_of(sp_session_input_spec(s, i)));
        memset(b->in[i].at, 0, b->in[i].bytes);
        fill(sp_session_input_spec(s, i), b->in[i].at, seed);
        b->from[i] = b->in[i].at;
    }
    for (int i = 0; i < b->n_out; i++) {
        b->out[i] = guarded_make(bytes_of(sp_session_output_spec(s, i)));
        b->to[i] = b->out[i].at;
    }
}

static void buffers_free(buffers *b)
{
    for (int i = 0; i < b->n_in; i++) guarded_free(&b->in[i]);
    for (int i = 0; i < b->n_out; i++) guarded_free(&b->out[i]);
}

/* Is it what sp_model_run gives for the same inputs? */
static bool agrees(sp_model *m, const sp_session *s, const buffers *b)
{
    sp_tensor *in[ENDS_MAX], *out[ENDS_MAX];
    bool same = true;
    OK(sp_model_reset(m));
    for (int i = 0; i < b->n_in; i++) {
        const sp_spec *spec = sp_session_input_spec(s, i);
        OK(sp_tensor_create_from(spec->dtype, spec->rank, spec->dims, b->from[i], &in[i]));
    }
    OK(sp_model_run(m, b->n_in, in, b->n_out, out));
    for (int i = 0; i < b->n_out; i++) {
        const sp_spec *spec = sp_session_output_spec(s, i);
        sp_tensor *dense;
        OK(sp_tensor_contiguous(out[i], &dense));
        assert_int_equal(sp_tensor_dtype(dense), spec->dtype);
        assert_int_equal(sp_tensor_bytes(dense), bytes_of(spec));
        same &= memcmp(sp_tensor_data(dense), b->to[i], bytes_of(spec)) == 0;
        sp_tensor_release(dense);
        sp_tensor_release(out[i]);
    }
    for (int i = 0; i < b->n_in; i++) sp_tensor_release(in[i]);
    return same;
}

/* A model that trains, or draws numbers, gives something else each time. */
static bool repeats_itself(sp_session *s, buffers *b)
{
    char first[64];
    const size_t n = b->out[0].bytes < sizeof first ? b->out[0].bytes : sizeof first;
    memcpy(first, b->to[0], n);
    OK(sp_session_run(s, b->n_in, b->from, b->n_out, b->to));
    return memcmp(first, b->to[0], n) == 0;
}

/* Allocations of the engine fail from here on. */
static void forbid(void) { sp_memory_set_limit(1); }
static void allow(void) { sp_memory_set_limit(0); }

/* Kernels that have workspace of their own, from the heap: what session.h leaves out. */
static bool takes_workspace(const char *message) { return strncmp(message, "fft: ", 5) == 0; }

/* 0: the model cannot be bound; -1: it cannot be loaded without more (encrypted, spoiled on purpose). */
static int check_model(const char *path)
{
    sp_model *m;
    size_t bytes = 0;
    if (sp_model_load(path, NULL, &m) != SP_OK) return -1;
    const sp_status status = sp_session_bytes(m, NULL, &bytes);
    if (status == SP_DECLINED) {
        sp_model_release(m);
        return 0;
    }
    if (status != SP_OK) { /* a size of one, where the file leaves it open, is not enough for it */
        sp_model_sizes sizes;
        assert_int_equal(sp_model_memory(m, NULL, &sizes), status);
        sp_model_release(m);
        return -1;
    }
    guarded block = guarded_make((bytes + 63) / 64 * 64);
    sp_session *s;
    OK(sp_session_create(m, NULL, block.at, bytes, &s));
    for (int turn = 0; turn < 3; turn++) {
        buffers b;
        buffers_make(m, s, turn, &b);
        OK(sp_model_reset(m));
        forbid();
        const sp_status ran = sp_session_run(s, b.n_in, b.from, b.n_out, b.to);
        allow();
        if (ran == SP_NOMEM && takes_workspace(sp_error_message())) { /* and works where that is there */
            OK(sp_session_run(s, b.n_in, b.from, b.n_out, b.to));
        } else if (ran != SP_OK) fail_msg("%s: %s", path, sp_error_message());
        if (!agrees(m, s, &b) && repeats_itself(s, &b)) fail_msg("%s: other results than sp_model_run", path);
        buffers_free(&b);
    }
    check_front(&block);
    sp_session_release(s);
    guarded_free(&block);
    sp_model_release(m);
    return 1;
}

static void models_run_in_the_block(void **state)
{
    (void)state;
    assert_int_equal(check_model(convnet), 1);
    assert_int_equal(check_model(lenet), 1);
}

static void every_file_of_the_tests(void **state)
{
    (void)state;
    static const char *const folders[] = {"tests/onnx/data/",   DATA "onnx/",   DATA "mindir/",
                                          DATA "mindir/forms/", DATA "tflite/", "tests/tflite/data/",
                                          "tests/lite/data/"};
    int n = 0, n_bound = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *folder = opendir(folders[i]);
        assert_non_null(folder);
        for (struct dirent *e; (e = readdir(folder)) != NULL;) {
            char path[512];
            const char *end = strrchr(e->d_name, '.');
            if (end == NULL || (strcmp(end, ".onnx") != 0 && strcmp(end, ".mindir") != 0 &&
                                strcmp(end, ".tflite") != 0 && strcmp(end, ".ms") != 0))
                continue;
            snprintf(path, sizeof path, "%s%s", folders[i], e->d_name);
            const int bound = check_model(path);
            n += bound >= 0;
            n_bound += bound > 0;
        }
        closedir(folder);
    }
    print_message("%d models, %d can be bound\n", n, n_bound);
    assert_true(n_bound > 10 && n_bound > n / 2);
}

static void a_small_block_is_told(void **state)
{
    (void)state;
    sp_model *m;
    sp_session *s = NULL;
    size_t bytes;
    OK(sp_model_load(convnet, NULL, &m));
    OK(sp_session_bytes(m, NULL, &bytes));
    char *block = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    assert_int_equal(sp_session_create(m, NULL, block, bytes - 1, &s), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "it needs"));
    assert_int_equal(sp_session_create(m, NULL, block + 4, bytes, &s), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "multiple of 64"));
    assert_int_equal(sp_session_create(m, NULL, NULL, bytes, &s), SP_VALUE);
    OK(sp_session_create(m, NULL, block, bytes, &s));
    const void *in[1] = {block};
    void *out[1] = {NULL};
    assert_int_equal(sp_session_run(s, 1, in, 1, out), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "is NULL"));
    assert_int_equal(sp_session_run(s, 2, in, 1, out), SP_VALUE);
    sp_session_release(s);
    sp_model_release(m);
    free(block);
}

static void other_shapes_take_other_blocks(void **state)
{
    (void)state;
    sp_model *m;
    size_t one, eight;
    OK(sp_model_load(convnet, NULL, &m));
    sp_spec spec = *sp_model_input_spec(m, 0);
    OK(sp_session_bytes(m, NULL, &one));
    spec.dims[0] = 8;
    for (int k = 1; k < spec.rank; k++)
        if (spec.dims[k] < 0) spec.dims[k] = 1;
    OK(sp_session_bytes(m, &spec, &eight));
    assert_true(eight > one);
    spec.rank = 1;
    assert_int_equal(sp_session_bytes(m, &spec, &eight), SP_VALUE);
    sp_model_release(m);
}

/* Wherever memory runs out while a session is made, it says so, and the next one works. */
/* Specs of a caller that no tensor has: refused wherever they are taken, before anything is read by them. */
static void specs_that_cannot_be(void **state)
{
    const sp_spec wrong[] = {{.dtype = SP_DTYPE_F32, .rank = SP_RANK_MAX + 1},
                             {.dtype = SP_DTYPE_F32, .rank = 1 << 20},
                             {.dtype = SP_DTYPE_F32, .rank = -7},
                             {.dtype = SP_DTYPE_COUNT, .rank = 1},
                             {.dtype = (sp_dtype)1000, .rank = 1}};
    sp_model *m;
    (void)state;
    OK(sp_model_load("tests/formats/data/onnx/mlp.onnx", NULL, &m));
    assert_int_equal(sp_model_inputs(m), 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sp_spec *one = malloc(sizeof *one); /* so that the sanitizer sees what is read behind it */
        sp_session *s = NULL;
        sp_model_sizes sizes;
        sp_graph *g;
        sp_function *f;
        sp_tensor *t;
        uint64_t work;
        size_t bytes = 0;
        *one = wrong[i];
        assert_int_not_equal(sp_session_bytes(m, one, &bytes), SP_OK);
        assert_int_not_equal(sp_session_create(m, one, NULL, 0, &s), SP_OK);
        assert_int_not_equal(sp_model_memory(m, one, &sizes), SP_OK);
        assert_int_not_equal(sp_model_work(m, one, &work), SP_OK);
        OK(sp_graph_create(&g));
        assert_int_not_equal(sp_function_begin(g, "f", 1, one, &f, &t), SP_OK);
        sp_graph_release(g);
        free(one);
    }
    sp_model_release(m);
}

static void making_one_can_fail(void **state)
{
    (void)state;
    sp_model *m;
    sp_session *s = NULL;
    size_t bytes;
    OK(sp_model_load(convnet, NULL, &m));
    OK(sp_session_bytes(m, NULL, &bytes));
    char *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    sp_status status = SP_NOMEM;
    for (int n = 1; status != SP_OK; n++) {
        sp__alloc_fail_at(n);
        status = sp_session_create(m, NULL, block, bytes, &s);
        sp__alloc_fail_at(0);
        assert_true(status == SP_OK || status == SP_NOMEM);
    }
    sp_session_release(s);
    free(block);
    sp_model_release(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_run_in_the_block), cmocka_unit_test(every_file_of_the_tests),
        cmocka_unit_test(a_small_block_is_told),   cmocka_unit_test(other_shapes_take_other_blocks),
        cmocka_unit_test(making_one_can_fail),     cmocka_unit_test(specs_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
