/* SPDX-License-Identifier: Apache-2.0 */
/* Devices besides the CPU: tensors that go there and back, operators where their inputs are, gradients through copies, what a device declines, and all that
 * can go wrong. `far` (tests/device/far) keeps its memory out of reach and works behind everybody's back, `null` computes nothing. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/devices.h"
#include "spore/device.h"
#include "spore/grad.h"
#include "spore/ops.h"
#include "spore/spore.h"

#define OK(expr)                                                                                                       \
    do {                                                                                                               \
        if ((expr) != SP_OK) fail_msg("%s", sp_error_message());                                                       \
    } while (0)

static sp_device *far, *other;

static int start(void **state)
{
    (void)state;
    setenv("SPORE_FAR_BYTES", "16777216", 1);
    OK(sp_device_load(FAR_LIBRARY));
    OK(sp_device_load(FAR_LIBRARY)); /* once */
    OK(sp_device_open("far", &far));
    OK(sp_device_open("far:1", &other));
    return 0;
}

static sp_tensor *numbers(int64_t n, float from)
{
    float *v = malloc((size_t)n * sizeof *v);
    for (int64_t i = 0; i < n; i++) v[i] = from + (float)i;
    sp_tensor *t = NULL;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 1, &n, v, &t));
    free(v);
    return t;
}

static sp_tensor *on(sp_device *d, sp_tensor *t)
{
    sp_tensor *moved = NULL;
    OK(sp_tensor_to(t, d, &moved));
    sp_tensor_release(t);
    return moved;
}

static sp_tensor *apply2(const char *op, sp_tensor *a, sp_tensor *b)
{
    sp_tensor *out = NULL, *in[2] = {a, b};
    int n;
    OK(sp_apply(sp_op_find(op), NULL, b ? 2 : 1, in, 1, &out, &n));
    return out;
}

static void equals(sp_tensor *t, const float *wanted, int n)
{
    sp_tensor *here = NULL;
    OK(sp_tensor_to(t, NULL, &here));
    assert_int_equal(sp_tensor_count(here), n);
    assert_memory_equal(sp_tensor_data(here), wanted, (size_t)n * sizeof *wanted);
    sp_tensor_release(here);
}

static void there_and_back(void **state)
{
    (void)state;
    sp_tensor *x = numbers(5, 1), *there = NULL, *same = NULL;
    OK(sp_tensor_to(x, far, &there));
    assert_ptr_equal(sp_tensor_device(there), far);
    assert_null(sp_tensor_device(x));
    OK(sp_tensor_to(there, far, &same));
    assert_ptr_equal(same, there);
    equals(there, (const float[]){1, 2, 3, 4, 5}, 5);
    /* Another device, through main memory. */
    sp_tensor *elsewhere = NULL;
    OK(sp_tensor_to(there, other, &elsewhere));
    assert_string_equal(sp_device_name(sp_tensor_device(elsewhere)), "far:1");
    equals(elsewhere, (const float[]){1, 2, 3, 4, 5}, 5);
    sp_tensor_release(elsewhere);
    sp_tensor_release(same);
    sp_tensor_release(there);
    sp_tensor_release(x);
}

static void doors_say_where_it_is(void **state)
{
    (void)state;
    sp_tensor *x = on(far, numbers(1, 7));
    assert_null(sp_tensor_data(x));
    assert_non_null(strstr(sp_error_message(), "is on device far"));
    double v = 0;
    OK(sp_tensor_item_f64(x, &v)); /* this one fetches */
    assert_true(v == 7);
    sp_tensor_release(x);
}

static void operators_run_where_inputs_are(void **state)
{
    (void)state;
    sp_device_statistics before, after;
    sp_tensor *x = on(far, numbers(4, 1)), *here = numbers(4, 10);
    sp_device_count(far, &before);
    sp_tensor *y = apply2("mul", x, x), *z = apply2("add", y, here), *w = apply2("add", here, y);
    sp_device_count(far, &after);
    assert_ptr_equal(sp_tensor_device(y), far);
    assert_ptr_equal(sp_tensor_device(z), far); /* `here` was brought there */
    assert_int_equal(after.kernels - before.kernels, 3);
    assert_int_equal(after.copies_in - before.copies_in, 2);
    assert_int_equal(after.copies_out - before.copies_out, 0);
    equals(z, (const float[]){11, 15, 21, 29}, 4);
    equals(w, (const float[]){11, 15, 21, 29}, 4);
    sp_tensor *on_other = on(other, numbers(4, 0)), *mixed = apply2("add", x, on_other);
    assert_ptr_equal(sp_tensor_device(mixed), far); /* the first one decides */
    equals(mixed, (const float[]){1, 3, 5, 7}, 4);
    sp_tensor *all[] = {x, here, y, z, w, on_other, mixed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
}

static void views_are_free(void **state)
{
    (void)state;
    sp_device_statistics before, after;
    sp_tensor *x = on(far, numbers(6, 0)), *m = NULL, *t = NULL, *sum = NULL;
    OK(sp_device_wait(far));
    sp_device_count(far, &before);
    OK(sp_tensor_view(x, 2, (const int64_t[]){2, 3}, (const int64_t[]){3, 1}, 0, &m));
    OK(sp_tensor_view(x, 2, (const int64_t[]){3, 2}, (const int64_t[]){1, 3}, 0, &t));
    sp_device_count(far, &after);
    assert_int_equal(after.used_bytes, before.used_bytes);
    sum = apply2("add", t, t);
    equals(sum, (const float[]){0, 6, 2, 8, 4, 10}, 6);
    equals(t, (const float[]){0, 3, 1, 4, 2, 5}, 6); /* strided, fetched as a stretch */
    /* Writing through a view leaves what lies between. */
    sp_tensor *column = NULL, *value = on(far, numbers(2, 100));
    OK(sp_tensor_view(x, 1, (const int64_t[]){2}, (const int64_t[]){3}, 1, &column));
    OK(sp_tensor_assign(column, value));
    equals(x, (const float[]){0, 100, 2, 3, 101, 5}, 6);
    sp_tensor *all[] = {x, m, t, sum, column, value};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
}

static void gradients_come_back(void **state)
{
    (void)state;
    sp_tensor *x = numbers(3, 1), *there = NULL, *square = NULL, *grad = NULL;
    sp_grad_begin();
    OK(sp_grad_watch(x));
    OK(sp_tensor_to(x, far, &there));
    square = apply2("mul", there, there);
    sp_tensor *y = apply2("reduce_sum", square, NULL);
    assert_ptr_equal(sp_tensor_device(y), far);
    OK(sp_grad_backward(1, &y, NULL, 1, &x, false, &grad));
    sp_grad_end();
    assert_null(sp_tensor_device(grad)); /* where x is */
    equals(grad, (const float[]){2, 4, 6}, 3);
    sp_tensor *all[] = {x, there, square, y, grad};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
}

static void null_counts_and_computes_nothing(void **state)
{
    (void)state;
    sp_device *null = NULL;
    OK(sp_device_open("null", &null));
    const int64_t dims[2] = {1 << 20, 1 << 20}; /* 4 TiB of float32: more than this machine has */
    sp_tensor *small = on(null, numbers(3, 1)), *wide = NULL, *big = NULL, *twice = NULL;
    sp_tensor *one = on(null, numbers(1, 1));
    OK(sp_tensor_view(one, 2, dims, (const int64_t[]){0, 0}, 0, &wide));
    OK(sp_tensor_copy(wide, &big));
    twice = apply2("add", big, big);
    sp_device_statistics s;
    sp_device_count(null, &s);
    assert_true(s.used_bytes >= (uint64_t)2 << 42);
    assert_int_equal(s.declined, 0);
    equals(small, (const float[]){0, 0, 0}, 3);
    sp_tensor *all[] = {small, wide, big, twice, one};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
}

static void wrong_names(void **state)
{
    (void)state;
    sp_device *d = NULL;
    assert_int_equal(sp_device_open("nowhere", &d), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "SPORE_DEVICES"));
    assert_int_equal(sp_device_open("far:7", &d), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "has 2 of that kind"));
    assert_int_equal(sp_device_open("far:x", &d), SP_VALUE);
    assert_int_equal(sp_device_load("no/such/file.so"), SP_IO);
    assert_int_equal(sp_device_load("libm.so.6"), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "sp_device_plugin"));
    OK(sp_device_open("cpu", &d));
    assert_null(d);
    char names[256];
    assert_true(sp_device_names(names, sizeof names) >= 3);
    assert_non_null(strstr(names, "cpu, null"));
}

/* Memory of `far` is 16 MiB here. What is kept for later tensors is given back before anybody is refused. */
static void memory_runs_out(void **state)
{
    (void)state;
    const int64_t n = 3 << 19; /* 6 MiB */
    sp_tensor *one = NULL, *a = NULL, *b = NULL, *c = NULL;
    one = on(far, numbers(1, 1));
    sp_tensor *wide = NULL;
    OK(sp_tensor_view(one, 1, &n, (const int64_t[]){0}, 0, &wide));
    OK(sp_tensor_copy(wide, &a));
    OK(sp_tensor_copy(wide, &b));
    assert_int_equal(sp_tensor_copy(wide, &c), SP_NOMEM);
    assert_non_null(strstr(sp_error_message(), "out of memory on device far"));
    sp_tensor_release(a);
    sp_tensor_release(b);
    /* Of another size: the two buffers that were kept have to go. */
    const int64_t m = 3 << 20;
    sp_tensor *wider = NULL;
    OK(sp_tensor_view(one, 1, &m, (const int64_t[]){0}, 0, &wider));
    OK(sp_tensor_copy(wider, &c));
    OK(sp_device_wait(far));
    sp_tensor *all[] = {one, wide, wider, c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
    sp_device_trim(far);
}

static void a_child_is_told(void **state)
{
    (void)state;
    sp_tensor *x = on(far, numbers(2, 1));
    OK(sp_device_wait(far));
    const pid_t pid = fork();
    if (pid == 0) {
        double v;
        sp_tensor *one = NULL, *y = NULL;
        const bool told = sp_tensor_view(x, 0, NULL, NULL, 0, &one) == SP_OK &&
                          sp_tensor_item_f64(one, &v) == SP_RUNTIME &&
                          strstr(sp_error_message(), "before fork") != NULL;
        sp_tensor *in[2] = {x, x};
        int n;
        const bool refused = sp_apply(sp_op_find("add"), NULL, 2, in, 1, &y, &n) == SP_RUNTIME;
        _exit(told && refused ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    equals(x, (const float[]){1, 2}, 2);
    sp_tensor_release(x);
}

static void steps_leave_nothing(void **state)
{
    (void)state;
    sp_device_statistics before, after;
    sp_tensor *x = on(far, numbers(64, 1));
    for (int i = 0; i < 300; i++) {
        sp_tensor *y = apply2("mul", x, x), *z = apply2("reduce_sum", y, NULL);
        sp_tensor_release(y);
        sp_tensor_release(z);
        if (i == 10) sp_device_count(far, &before);
    }
    OK(sp_device_wait(far));
    sp_device_count(far, &after);
    assert_int_equal(after.used_bytes, before.used_bytes);
    assert_int_equal(after.kept_bytes, before.kept_bytes);
    sp_tensor_release(x);
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

/* Two streams of `far`, whose threads work at their own pace: what one makes the other uses, in turns, without anybody saying so. */
static void streams_wait_for_each_other(void **state)
{
    (void)state;
    sp_stream *one = NULL, *two = NULL;
    OK(sp_stream_create(far, &one));
    OK(sp_stream_create(far, &two));
    assert_ptr_equal(sp_stream_device(one), far);
    for (int round = 0; round < 40; round++) {
        assert_null(sp_stream_set(far, one));
        sp_tensor *x = on(far, numbers(3, (float)round)), *y = apply2("add", x, x);
        assert_ptr_equal(sp_stream_set(far, two), one);
        sp_tensor *z = apply2("mul", y, x);
        assert_ptr_equal(sp_stream_set(far, NULL), two);
        sp_tensor *w = apply2("add", z, y), *u = apply2("sub", z, z);
        float wanted[3];
        for (int i = 0; i < 3; i++) wanted[i] = 2 * ((float)round + (float)i) * ((float)(round + i) + 1);
        equals(w, wanted, 3);
        sp_tensor *all[] = {x, y, z, w, u};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            sp_tensor_release(all[i]); /* their buffers serve the next round, in other streams */
    }
    OK(sp_stream_wait(one));
    OK(sp_stream_wait(two));
    OK(sp_device_wait(far));
    sp_stream_release(one);
    sp_stream_release(two);
}

/* The same on `null`, which keeps book of who knows of whom. */
static void null_checks_the_order_of_streams(void **state)
{
    (void)state;
    sp_device *null = NULL;
    sp_stream *s = NULL;
    OK(sp_device_open("null", &null));
    OK(sp_stream_create(null, &s));
    for (int round = 0; round < 20; round++) {
        sp_tensor *x = on(null, numbers(3, 1)), *y = apply2("add", x, x);
        (void)sp_stream_set(null, s);
        sp_tensor *z = apply2("mul", y, x);
        (void)sp_stream_set(null, NULL);
        sp_tensor *w = apply2("mul", z, x), *v = apply2("mul", y, y);
        sp_tensor *all[] = {x, y, z, w, v};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
    }
    OK(sp_stream_wait(s));
    sp_stream_release(s);
}

/* --- a device that does not wait: the checks above must notice --- */

static sp_device_table deaf_table;
static sp_status deaf(void *device, void *event, void *stream)
{
    (void)device;
    (void)event;
    (void)stream;
    return SP_OK;
}

static const sp_device_table *make_deaf(sp_device *d)
{
    const sp_device_table *before = d->table;
    deaf_table = *before;
    deaf_table.event_follow = deaf;
    d->table = &deaf_table;
    return before;
}

static void a_forgotten_wait_is_noticed(void **state)
{
    (void)state;
    sp_device *null = NULL;
    sp_stream *s = NULL;
    OK(sp_device_open("null", &null));
    OK(sp_stream_create(null, &s));
    sp_tensor *x = on(null, numbers(3, 1)), *y = NULL, *in[2] = {x, x};
    const sp_device_table *before = make_deaf(null);
    int n;
    (void)sp_stream_set(null, s);
    assert_int_equal(sp_apply(sp_op_find("add"), NULL, 2, in, 1, &y, &n), SP_RUNTIME);
    assert_non_null(strstr(sp_error_message(), "reads a buffer that stream 0 writes, and no event is between them"));
    (void)sp_stream_set(null, NULL);
    null->table = before;
    sp_tensor_release(x);
    sp_stream_release(s);
}

/* `far` delays its work at random: a number is wrong soon, or two streams meet. */
static void a_forgotten_wait_shows(void **state)
{
    (void)state;
    sp_stream *s = NULL;
    bool shown = false;
    OK(sp_stream_create(far, &s));
    const sp_device_table *before = make_deaf(far);
    for (int i = 0; i < 500 && !shown; i++) {
        sp_tensor *x = on(far, numbers(4096, 1)), *y = NULL, *here = NULL, *in[2] = {x, x};
        int n;
        (void)sp_stream_set(far, s);
        shown = sp_apply(sp_op_find("add"), NULL, 2, in, 1, &y, &n) != SP_OK || sp_tensor_to(y, NULL, &here) != SP_OK ||
                ((const float *)sp_tensor_data(here))[7] != 16;
        (void)sp_stream_set(far, NULL);
        sp_tensor_release(x);
        sp_tensor_release(y);
        sp_tensor_release(here);
        sp_device_trim(far); /* so that memory does not have the number from the last time */
    }
    assert_true(shown);
    far->table = before;
    (void)sp_device_wait(far); /* its failures have been seen */
    (void)sp_device_wait(far);
    sp_stream_release(s);
}

static void events_come_in_their_turn(void **state)
{
    (void)state;
    sp_stream *s = NULL;
    sp_event *start = NULL, *end = NULL, *elsewhere = NULL;
    bool done = true;
    OK(sp_stream_create(far, &s));
    OK(sp_event_create(far, &start));
    OK(sp_event_create(far, &end));
    OK(sp_event_query(end, &done)); /* never recorded: nothing to wait for */
    assert_true(done);
    OK(sp_event_wait(end));
    (void)sp_stream_set(far, s);
    OK(sp_event_record(start, NULL));
    sp_tensor *x = on(far, numbers(2, 1)), *y = apply2("add", x, x);
    OK(sp_event_record(end, s));
    (void)sp_stream_set(far, NULL);
    OK(sp_event_follow(end, NULL));
    OK(sp_event_wait(end));
    OK(sp_event_query(end, &done));
    assert_true(done);
    double ms = -1;
    OK(sp_event_elapsed(start, end, &ms));
    assert_true(ms >= 0 && ms < 60000);
    OK(sp_event_create(other, &elsewhere));
    assert_int_equal(sp_event_record(elsewhere, s), SP_VALUE);
    assert_non_null(strstr(sp_error_message(), "device far:1 cannot be in a stream of device far"));
    OK(sp_stream_query(s, &done));
    sp_tensor_release(x);
    sp_tensor_release(y);
    sp_event_release(start);
    sp_event_release(end);
    sp_event_release(elsewhere);
    sp_stream_release(s);
}

static void the_cpu_has_streams_by_name(void **state)
{
    (void)state;
    sp_stream *s = NULL;
    sp_event *e = NULL;
    bool done = false;
    OK(sp_stream_create(NULL, &s));
    OK(sp_event_create(NULL, &e));
    OK(sp_event_record(e, s));
    OK(sp_event_follow(e, s));
    OK(sp_event_query(e, &done));
    assert_true(done);
    OK(sp_stream_wait(s));
    sp_event_release(e);
    sp_stream_release(s);
}

static void *stream_work(void *seed)
{
    sp_stream *s = NULL;
    const float from = (float)(intptr_t)seed;
    bool good = sp_stream_create(far, &s) == SP_OK;
    (void)sp_stream_set(far, s);
    for (int i = 0; i < 50 && good; i++) {
        sp_tensor *x = on(far, numbers(16, from)), *y = apply2("add", x, x), *here = NULL;
        good = sp_tensor_to(y, NULL, &here) == SP_OK;
        for (int k = 0; k < 16 && good; k++) good = ((const float *)sp_tensor_data(here))[k] == 2 * (from + (float)k);
        sp_tensor_release(x);
        sp_tensor_release(y);
        sp_tensor_release(here);
    }
    (void)sp_stream_set(far, NULL);
    sp_stream_release(s);
    return good ? seed : NULL;
}

static void two_threads_on_two_streams(void **state)
{
    (void)state;
    pthread_t threads[2];
    for (intptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, stream_work, (void *)(i + 1)), 0);
    for (int i = 0; i < 2; i++) {
        void *good = NULL;
        pthread_join(threads[i], &good);
        assert_non_null(good);
    }
    OK(sp_device_wait(far));
}

/* --- programs ----------------------------------------------------------------------------------------------------- */

/* f(x, y) = exp(x + c) * y, reduce_sum; c a constant of 4 numbers. */
static sp_program *small_program(void)
{
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {4}};
    sp_graph *g = NULL;
    sp_function *f = NULL;
    sp_tensor *p[2], *c = numbers(4, -3);
    sp_program *program = NULL;
    sp_builder *b = NULL;
    OK(sp_graph_create(&g));
    OK(sp_builder_create(&b));
    OK(sp_function_begin(g, "small", 2, (const sp_spec[]){spec, spec}, &f, p));
    sp_tensor *y = sp_reduce_sum(b, sp_mul(b, sp_exp(b, sp_add(b, p[0], c)), p[1]), 0, NULL, false);
    OK(sp_builder_status(b));
    OK(sp_function_end(f, 1, &y));
    OK(sp_program_create(f, NULL, &program));
    sp_builder_release(b);
    sp_tensor_release(p[0]);
    sp_tensor_release(p[1]);
    sp_tensor_release(c);
    sp_graph_release(g);
    return program;
}

/* The CPU's number; one argument on the device, the other brought; constants are brought by the first run alone. */
static void programs_are_planned(void **state)
{
    (void)state;
    sp_program *program = small_program();
    sp_tensor *x = numbers(4, 1), *y = numbers(4, 2), *wanted = NULL, *there = on(far, numbers(4, 1));
    OK(sp_program_run(program, 2, (sp_tensor *[]){x, y}, 1, &wanted));
    for (int i = 0; i < 3; i++) {
        sp_device_statistics before, after;
        sp_tensor *found = NULL;
        sp_device_count(far, &before);
        OK(sp_program_run(program, 2, (sp_tensor *[]){there, y}, 1, &found));
        sp_device_count(far, &after);
        assert_ptr_equal(sp_tensor_device(found), far);
        assert_int_equal(after.copies_in - before.copies_in, i == 0 ? 2 : 1);
        assert_int_equal(after.copies_out, before.copies_out);
        equals(found, sp_tensor_data(wanted), 1);
        sp_tensor_release(found);
    }
    char *report = NULL;
    OK(sp_program_report(program, &report));
    assert_non_null(strstr(report, "on far: 4 kernel calls"));
    sp_text_free(report);
    sp_program_release(program);
    sp_tensor *all[] = {x, y, wanted, there};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
}

/* Programs and operators, in the first queue and in another one: what they took is there again. */
static void many_steps_leave_nothing(void **state)
{
    (void)state;
    const int n = getenv("SPORE_STEPS") ? atoi(getenv("SPORE_STEPS")) : 300;
    sp_program *program = small_program();
    sp_stream *s = NULL;
    sp_device_statistics before = {0}, after;
    sp_tensor *x = on(far, numbers(4, 1)), *y = on(far, numbers(4, 2));
    OK(sp_stream_create(far, &s));
    for (int i = 0; i < n; i++) {
        sp_tensor *found = NULL, *z = apply2("mul", x, y), *w = NULL;
        OK(sp_program_run(program, 2, (sp_tensor *[]){z, y}, 1, &found));
        (void)sp_stream_set(far, s);
        w = apply2("add", z, x);
        (void)sp_stream_set(far, NULL);
        sp_tensor_release(found);
        sp_tensor_release(z);
        sp_tensor_release(w);
        if (i % 50 == 0) OK(sp_device_wait(far));
        if (i == 20) sp_device_count(far, &before);
    }
    OK(sp_device_wait(far));
    sp_device_count(far, &after);
    assert_int_equal(after.used_bytes, before.used_bytes);
    assert_true(after.kept_bytes <= before.kept_bytes + 4096);
    assert_int_equal(after.declined, before.declined);
    sp_program_release(program);
    sp_tensor_release(x);
    sp_tensor_release(y);
    sp_stream_release(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(doors_say_where_it_is),
        cmocka_unit_test(operators_run_where_inputs_are),
        cmocka_unit_test(views_are_free),
        cmocka_unit_test(gradients_come_back),
        cmocka_unit_test(null_counts_and_computes_nothing),
        cmocka_unit_test(wrong_names),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(a_child_is_told),
        cmocka_unit_test(steps_leave_nothing),
        cmocka_unit_test(streams_wait_for_each_other),
        cmocka_unit_test(null_checks_the_order_of_streams),
        cmocka_unit_test(a_forgotten_wait_is_noticed),
        cmocka_unit_test(a_forgotten_wait_shows),
        cmocka_unit_test(events_come_in_their_turn),
        cmocka_unit_test(the_cpu_has_streams_by_name),
        cmocka_unit_test(two_threads_on_two_streams),
        cmocka_unit_test(programs_are_planned),
        cmocka_unit_test(many_steps_leave_nothing),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
