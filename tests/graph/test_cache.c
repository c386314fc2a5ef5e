/* SPDX-License-Identifier: Apache-2.0 */
/* The compile cache on disk: what is read back computes the same bits; what is damaged, foreign or changed is not used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/share.h"
#include "graph/program_cache.h"
#include "spore/spore.h"

enum { LAYERS = 160, WIDTH = 32, HEADER = 48 };

static sp_builder *b;
static char folder[64];

#define OK(expr) check((expr), #expr)
static void check(sp_status status, const char *what)
{
    if (status != SP_OK) fail_msg("%s: %s", what, sp_error_message());
}

static sp_tensor *filled(int rows, int columns, int salt)
{
    sp_tensor *t = NULL;
    OK(sp_tensor_create(SP_DTYPE_F32, 2, (const int64_t[]){rows, columns}, &t));
    float *v = sp_tensor_data(t);
    for (int i = 0; i < rows * columns; i++) v[i] = (float)((i * 37 + salt * 11) % 19 - 9) / 50.0f;
    return sp_builder_take_tensor(b, t);
}

static sp_status pick(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)context;
    (void)n_in;
    (void)n_out;
    out[0] = sp_tensor_retain(in[0]);
    return SP_OK;
}

/* Layers with constants that fold, a branch, host code and a variable that is written. */
static void record(sp_graph **g, sp_function **f, sp_tensor *variable, float scale)
{
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {4, WIDTH}};
    sp_tensor *x = NULL, *big = NULL, *inner[1];
    sp_function *yes, *no;
    OK(sp_graph_create(g));
    OK(sp_function_begin(*g, "net", 1, &spec, f, &x));
    sp_builder_take_tensor(b, x);
    sp_tensor *y = x, *number = NULL;
    OK(sp_tensor_create_f64(SP_DTYPE_F32, scale, &number));
    sp_builder_take_tensor(b, number);
    for (int i = 0; i < LAYERS; i++) {
        sp_tensor *w = filled(WIDTH, WIDTH, i % 7);
        y = sp_tanh(
            b, sp_add(b, sp_builder_call(b, "matmul", NULL, 2, (sp_tensor *const[]){y, w}), sp_mul(b, number, number)));
        if (i % 10 == 0) y = sp_add(b, y, sp_builder_call(b, "reduce_sum", "axis=(1,), keepdims=True", 1, &y));
    }
    y = sp_add(b, y, variable);
    OK(sp_function_host("pick", pick, NULL, NULL, 1, &y, 1, &spec, &big));
    y = sp_builder_take_tensor(b, big);
    sp_tensor *both[2] = {variable, sp_mul(b, y, y)};
    sp_builder_call(b, "assign", NULL, 2, both);
    OK(sp_function_begin(*g, "yes", 1, &spec, &yes, inner));
    sp_builder_take_tensor(b, inner[0]);
    sp_tensor *result = sp_neg(b, inner[0]);
    OK(sp_function_end(yes, 1, &result));
    OK(sp_function_begin(*g, "no", 1, &spec, &no, inner));
    sp_builder_take_tensor(b, inner[0]);
    result = sp_exp(b, inner[0]);
    OK(sp_function_end(no, 1, &result));
    sp_tensor *sum = sp_builder_call(b, "reduce_sum", NULL, 1, &y), *zero = sp_sub(b, sum, sum), *out = NULL;
    OK(sp_function_if(sp_less(b, zero, sum), yes, no, 1, &y, 1, &out));
    sp_builder_take_tensor(b, out);
    OK(sp_function_end(*f, 1, &out));
    OK(sp_builder_status(b));
}

/* Compile and run twice; the report says `said`; out receives the results and the variable. */
static void run(float scale, const char *said, float *out)
{
    OK(sp_builder_create(&b));
    sp_graph *g;
    sp_function *f;
    sp_program *p;
    sp_tensor *variable = filled(4, WIDTH, 3), *x = filled(4, WIDTH, 5), *y;
    sp_graph_variable_mark(variable);
    record(&g, &f, variable, scale);
    OK(sp_program_create(f, NULL, &p));
    for (int i = 0; i < 2; i++) {
        OK(sp_program_run(p, 1, &x, 1, &y));
        memcpy(out + i * 4 * WIDTH, sp_tensor_data(y), 4 * WIDTH * sizeof *out);
        sp_tensor_release(y);
    }
    memcpy(out + 2 * 4 * WIDTH, sp_tensor_data(variable), 4 * WIDTH * sizeof *out);
    char *report;
    OK(sp_program_report(p, &report));
    if (said && !strstr(report, said)) fail_msg("the report does not say '%s': %.300s", said, report);
    if (!said) assert_null(strstr(report, "compile cache"));
    sp_text_free(report);
    sp_program_release(p);
    sp_graph_release(g);
    sp_builder_release(b);
}

static float plain[3 * 4 * WIDTH], kept[3 * 4 * WIDTH];

static void run_equal(const char *said)
{
    run(1.5f, said, kept);
    assert_memory_equal(plain, kept, sizeof plain);
}

/* Files of the folder: how many, their bytes, the name of the last one of a kind. */
static int files(const char *kind, char *last, uint64_t *bytes)
{
    int n = 0;
    char path[512];
    struct stat st;
    DIR *dir = opendir(folder);
    *bytes = 0;
    if (!dir) return 0;
    for (const struct dirent *e; (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%.300s", folder, e->d_name);
        if (e->d_name[0] == '.' || !strstr(e->d_name, kind) || stat(path, &st) != 0) continue;
        memcpy(last, path, sizeof path);
        *bytes += (uint64_t)st.st_size;
        n++;
    }
    closedir(dir);
    return n;
}

static void empty_folder(void)
{
    char path[512];
    uint64_t bytes;
    while (files("", path, &bytes)) assert_true(unlink(path) == 0 || errno == ENOENT); /* another process was first */
}

static size_t load(const char *path, uint8_t **out)
{
    sp_map *map;
    OK(sp__map_open(path, &map));
    *out = malloc(map->bytes + 1);
    memcpy(*out, map->data, map->bytes);
    const size_t n = map->bytes;
    sp__map_release(map);
    return n;
}

static void save(const char *path, const uint8_t *data, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/spore-cache-XXXXXX");
    assert_non_null(mkdtemp(folder));
    OK(sp_program_cache(NULL, 0));
    run(1.5f, NULL, plain);
    OK(sp_program_cache(folder, 0));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    OK(sp_program_cache(NULL, 0));
    empty_folder();
    return rmdir(folder);
}

static void what_is_read_back_gives_the_same_bits(void **state)
{
    (void)state;
    char path[512];
    uint64_t bytes;
    run_equal("written for the next time");
    assert_int_equal(files(".graph", path, &bytes), 1);
    assert_int_equal(files(".plan", path, &bytes), 1);
    run_equal("passes were spared");
    assert_int_equal(files("", path, &bytes), 2);
    float other[3 * 4 * WIDTH];
    run(1.25f, "written for the next time", other); /* a changed constant is another program */
    assert_memory_not_equal(plain, other, sizeof plain);
    run_equal("passes were spared");
    OK(sp_program_cache(NULL, 0));
    run_equal(NULL);
}

static void damaged_files_are_not_used_and_written_anew(void **state)
{
    (void)state;
    const char *kinds[] = {".graph", ".plan"};
    run_equal("written");
    for (int k = 0; k < 2; k++) {
        char path[512];
        uint64_t bytes;
        uint8_t *good, *now;
        assert_int_equal(files(kinds[k], path, &bytes), 1);
        const size_t n = load(path, &good);
        for (int i = 0; i < 24; i++) {
            uint8_t *bad = malloc(n + 1);
            memcpy(bad, good, n);
            const size_t at = i < 12 ? (size_t)i * 4 : (n - 1) * (size_t)(i - 12) / 11;
            if (i % 3 == 0) save(path, bad, at); /* cut */
            else {
                bad[at] ^= (uint8_t)(1 << i % 8);
                save(path, bad, n);
            }
            free(bad);
            run_equal(k == 0 ? "is not used" : "passes were spared");
            assert_int_equal(load(path, &now), n);
            assert_memory_equal(good, now, n);
            free(now);
        }
        free(good);
    }
}

static int occurrences(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

/* Bytes that were changed and sealed again: whatever is read from them is a sound graph, or nothing. Programs of those are not run:
 * what they compute is anybody's guess. */
static void the_reader_survives_any_payload(void **state)
{
    (void)state;
    OK(sp_builder_create(&b));
    sp_graph *g, *copy;
    sp_function *f;
    sp_outer_program *o;
    sp_tensor *variable = filled(4, WIDTH, 3);
    sp_graph_variable_mark(variable);
    record(&g, &f, variable, 1.5f);
    OK(sp__outer_create(f, "", &o));
    OK(sp__graph_copy(f, &copy));
    OK(sp__outer_follow(o, copy));
    OK(sp__graph_close(copy));
    sp_bytes bytes = {0};
    OK(sp__outer_write(o, copy, &bytes));
    uint64_t seed = 7;
    int n_read = 0;
    const int n_changed = share_of(3000);
    for (int i = 0; i < n_changed; i++) {
        uint8_t *bad = malloc(bytes.n);
        memcpy(bad, bytes.data, bytes.n);
        for (int k = 0; k < 1 + i % 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const uint8_t odd[] = {0, 1, 127, 128, 255};
            bad[(seed >> 20) % bytes.n] = i % 2 ? (uint8_t)(seed >> 50) : odd[(seed >> 50) % 5];
        }
        sp_bytes_in in = {bad, bad + (i % 5 ? bytes.n : (seed >> 12) % bytes.n), false};
        sp_graph *read = NULL;
        if (sp__outer_read(o, &in, &read) == SP_OK) n_read++;
        sp_graph_release(read);
        free(bad);
    }
    assert_true(n_read < n_changed);
    sp_bytes_in in = {bytes.data, bytes.data + bytes.n, false};
    sp_graph *read;
    OK(sp__outer_read(o, &in, &read));
    /* Equal constants are one now; apart from them it is the graph that was written. */
    char *one, *two;
    OK(sp_graph_text(copy, &one));
    OK(sp_graph_text(read, &two));
    assert_int_equal(occurrences(one, " = matmul("), LAYERS);
    const char *parts[] = {" = matmul(", " = ", "float32", "function ", "return", "@0", "pick"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(occurrences(one, parts[i]) - (i == 1 || i == 2 ? occurrences(one, "= const") : 0),
                         occurrences(two, parts[i]) - (i == 1 || i == 2 ? occurrences(two, "= const") : 0));
    sp_text_free(one);
    sp_text_free(two);
    sp_graph_release(read);
    sp_graph_release(copy);
    sp__free(bytes.data);
    sp__outer_free(o);
    sp_graph_release(g);
    sp_builder_release(b);
}

static void the_folder_stays_within_its_bound(void **state)
{
    (void)state;
    char path[512];
    uint64_t bytes;
    float other[3 * 4 * WIDTH];
    run_equal("written");
    (void)files(".graph", path, &bytes);
    const uint64_t most = 4 * bytes;
    OK(sp_program_cache(folder, most));
    for (int i = 0; i < 8; i++) {
        run(2.0f + (float)i, "written", other);
        files("", path, &bytes);
        assert_true(bytes <= most);
    }
    run(9.0f, "passes were spared", other); /* the latest is there */
    OK(sp_program_cache(folder, 100));
    run_equal("more than the cache may hold");
}

static void a_folder_that_cannot_be_written_costs_a_note(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/file", folder);
    save(path, (const uint8_t *)"x", 1);
    strncat(path, "/sub", sizeof path - strlen(path) - 1);
    OK(sp_program_cache(path, 0));
    run_equal("not written: the folder");
    assert_int_equal(sp_program_cache("", 0), SP_VALUE);
}

static void processes_write_and_read_side_by_side(void **state)
{
    (void)state;
    pid_t children[6];
    for (int i = 0; i < 6; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            bool equal = true;
            for (int k = 0; k < 4; k++) {
                run(1.5f, "compile cache", kept);
                equal = equal && memcmp(plain, kept, sizeof plain) == 0;
                if (i % 2 == 0) empty_folder();
            }
            _exit(equal ? 0 : 1);
        }
    }
    for (int i = 0; i < 6; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    run_equal("compile cache");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read_back_gives_the_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_files_are_not_used_and_written_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_reader_survives_any_payload, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_folder_stays_within_its_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_written_costs_a_note, set_up, tear_down),
        cmocka_unit_test_setup_teardown(processes_write_and_read_side_by_side, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
