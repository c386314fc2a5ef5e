/* SPDX-License-Identifier: Apache-2.0 */
/* Generators hand out states that do not overlap; operators turn a state into the same numbers every time. Also array
 * operators from C, on geometry that has caught mistakes: empty tensors, repeated positions, views. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/ops_impl.h"
#include "spore/random.h"

static sp_builder *b;

static int setup(void **state)
{
    (void)state;
    return sp_builder_create(&b) == SP_OK ? 0 : -1;
}
static int teardown(void **state)
{
    (void)state;
    sp_builder_release(b);
    return 0;
}

static sp_tensor *call(const char *op, const char *attrs, int n, sp_tensor *const *in)
{
    sp_tensor *t = sp_builder_call(b, op, attrs, n, in);
    if (!t && sp_builder_status(b) != SP_OK) fail_msg("%s", sp_error_message());
    return t;
}
#define COUNT(...) (int)(sizeof((sp_tensor *[]){__VA_ARGS__}) / sizeof(sp_tensor *))
#define CALL(op, attrs, ...) call(op, attrs, COUNT(__VA_ARGS__), (sp_tensor *const[]){__VA_ARGS__})

static sp_tensor *floats(int rank, const int64_t *dims, const float *v)
{
    sp_tensor *t;
    assert_int_equal(sp_tensor_create_from(SP_DTYPE_F32, rank, dims, v, &t), SP_OK);
    return sp_builder_take_tensor(b, t);
}

static void expect(const sp_tensor *t, int n, const double *want)
{
    assert_int_equal(t->count, n);
    sp_tensor *dense;
    assert_int_equal(sp_tensor_create(SP_DTYPE_F64, t->rank, t->dims, &dense), SP_OK);
    assert_int_equal(sp_tensor_assign(dense, t), SP_OK);
    for (int i = 0; i < n; i++)
        if (((double *)(void *)dense->data)[i] != want[i])
            fail_msg("element %d is %g, wanted %g", i, ((double *)(void *)dense->data)[i], want[i]);
    sp_tensor_release(dense);
}
#define EXPECT(t, ...) expect(t, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__})

/* --- generators -------------------------------------------------------------------------------------------------- */

static sp_tensor *next(sp_generator *g, int64_t n)
{
    sp_tensor *state;
    assert_int_equal(sp_generator_next(g, n, &state), SP_OK);
    return sp_builder_take_tensor(b, state);
}

static void states_follow_each_other(void **state)
{
    (void)state;
    sp_generator *g;
    assert_int_equal(sp_generator_create(9, &g), SP_OK);
    EXPECT(next(g, 5), 9, 0);
    EXPECT(next(g, 7), 9, 5);
    sp_tensor *kept;
    assert_int_equal(sp_generator_state(g, &kept), SP_OK);
    EXPECT(kept, 9, 12);
    sp_generator_seed(g, 4);
    assert_int_equal(sp_generator_initial_seed(g), 4);
    EXPECT(next(g, 1), 4, 0);
    assert_int_equal(sp_generator_set_state(g, kept), SP_OK);
    EXPECT(next(g, 1), 9, 12);
    sp_tensor_release(kept);
    assert_int_equal(sp_generator_set_state(g, floats(1, (const int64_t[]){2}, (const float[]){1, 2})), SP_VALUE);
    sp_tensor *none;
    assert_int_equal(sp_generator_next(g, -1, &none), SP_VALUE);
    sp_generator_release(sp_generator_retain(g));
    sp_generator_release(g);
    sp_generator_release(NULL);
}

static void *draw_many(void *context)
{
    int64_t *sum = context;
    for (int i = 0; i < 1000; i++) {
        sp_tensor *state;
        if (sp_generator_next(sp_generator_default(), 3, &state) != SP_OK) continue;
        *sum += ((const int64_t *)sp_tensor_data(state))[1];
        sp_tensor_release(state);
    }
    return NULL;
}

static void threads_get_different_states(void **state)
{
    (void)state;
    pthread_t threads[4];
    int64_t sums[4] = {0}, total = 0;
    sp_generator_seed(sp_generator_default(), 0);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, draw_many, &sums[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i];
    }
    /* 0, 3, 6, ... 3 * 3999, each handed out once. */
    assert_int_equal(total, (int64_t)3 * 3999 * 4000 / 2);
}

static void numbers_depend_on_the_state_alone(void **state)
{
    (void)state;
    sp_generator *g;
    assert_int_equal(sp_generator_create(1, &g), SP_OK);
    sp_tensor *s = next(g, 100000);
    sp_tensor *x = CALL("random_normal", "shape=(100000,)", s), *y = CALL("random_normal", "shape=(100000,)", s);
    assert_memory_equal(x->data, y->data, 400000);
    /* A shorter tensor of the same state is a prefix: elements do not depend on how many there are. */
    sp_tensor *z = CALL("random_normal", "shape=(7, 3)", s);
    assert_memory_equal(x->data, z->data, 84);
    sp_tensor *other = CALL("random_normal", "shape=(100000,)", next(g, 1));
    assert_memory_not_equal(x->data, other->data, 400000);
    sp_generator_release(g);
}

/* --- array operators --------------------------------------------------------------------------------------------- */

static void sorting_empty_and_equal(void **state)
{
    (void)state;
    sp_tensor *none = floats(2, (const int64_t[]){2, 0}, NULL), *out[3];
    int n;
    assert_int_equal(sp_builder_apply_many(b, &sp_op_sort, NULL, 1, &none, 2, out, &n), SP_OK);
    assert_int_equal(out[0]->count, 0);
    assert_int_equal(sp_builder_apply_many(b, &sp_op_unique, NULL, 1, &none, 3, out, &n), SP_OK);
    assert_int_equal(out[2]->count, 0);
    float v[40];
    for (int i = 0; i < 40; i++) v[i] = (float)(i % 2);
    sp_tensor *x = floats(1, (const int64_t[]){40}, v);
    assert_int_equal(sp_builder_apply_many(b, &sp_op_sort, NULL, 1, &x, 2, out, &n), SP_OK);
    for (int i = 0; i < 40; i++) /* stable: positions rise inside each half */
        assert_int_equal(((int64_t *)(void *)out[1]->data)[i], i < 20 ? 2 * i : 2 * (i - 20) + 1);
}

static void joining_and_padding_views(void **state)
{
    (void)state;
    sp_tensor *x = floats(2, (const int64_t[]){2, 2}, (const float[]){1, 2, 3, 4});
    sp_tensor *t = sp_transpose(b, x, 2, (const int64_t[]){1, 0});
    EXPECT(CALL("concat", "axis=1", x, t, t), 1, 2, 1, 3, 1, 3, 3, 4, 2, 4, 2, 4);
    EXPECT(CALL("stack", "axis=2", x, t), 1, 1, 2, 3, 3, 2, 4, 4);
    EXPECT(CALL("pad", "pads=(0,0,1,1), mode=reflect", t), 3, 1, 3, 1, 4, 2, 4, 2);
    EXPECT(CALL("pad", "pads=(-1,0,0,1), value=9", t), 2, 4, 9);
    EXPECT(CALL("tile", "dims=(1,2)", t), 1, 3, 1, 3, 2, 4, 2, 4);
    EXPECT(CALL("roll", "shifts=(1,), dims=(0,)", t), 2, 4, 1, 3);
    CALL("diagonal_put", "", t, floats(1, (const int64_t[]){2}, (const float[]){7, 8}));
    EXPECT(x, 7, 2, 3, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(states_follow_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_get_different_states, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_depend_on_the_state_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(sorting_empty_and_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(joining_and_padding_views, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
