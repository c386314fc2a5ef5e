/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as text: what is printed reads back to the same text; broken texts are refused with a line number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spore/spore.h"

#include "ir/graph_impl.h"

#define OK(expr) assert_int_equal(expr, SP_OK)

static const sp_spec vector = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {3}}, scalar = {.dtype = SP_DTYPE_F32};

/* A function with a constant, a variable, a branch, a loop, a gradient and host code. */
static sp_status note(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)context, (void)n_in, (void)in, (void)n_out, (void)out;
    return SP_OK;
}

static sp_graph *make_graph(void)
{
    sp_graph *g;
    sp_function *f, *yes, *no, *test, *body;
    sp_builder *b;
    OK(sp_graph_create(&g));
    OK(sp_builder_create(&b));
    const float numbers[3] = {1, 2, 3};
    const int64_t dims[1] = {3};
    sp_tensor *w, *x, *p, *c, *out[2], *state;
    OK(sp_tensor_create_from(SP_DTYPE_F32, 1, dims, numbers, &w));
    sp_graph_variable_mark(w);
    OK(sp_function_begin(g, "main", 1, &vector, &f, &x));
    sp_tensor *y = sp_mul(b, x, w), *sum = sp_builder_call(b, "reduce_sum", "axis=(0,), keepdims=False", 1, &y);

    OK(sp_function_begin(g, "yes", 1, &vector, &yes, &p));
    sp_tensor *r = sp_add(b, p, y); /* a value of the outer function */
    OK(sp_function_end(yes, 1, &r));
    sp_tensor_release(p);
    OK(sp_function_begin(g, "no", 1, &vector, &no, &p));
    OK(sp_tensor_create_f64(SP_DTYPE_F32, 0.5, &c));
    r = sp_mul(b, p, c);
    OK(sp_function_end(no, 1, &r));
    sp_tensor_release(p);
    OK(sp_function_if(sum, yes, no, 1, &x, 1, out));
    sp_tensor_release(out[0]);

    OK(sp_function_begin(g, "test", 1, &scalar, &test, &p));
    sp_tensor *go = sp_less(b, p, c);
    OK(sp_function_end(test, 1, &go));
    sp_tensor_release(p);
    OK(sp_function_begin(g, "body", 1, &scalar, &body, &p));
    r = sp_add(b, p, c);
    OK(sp_function_end(body, 1, &r));
    sp_tensor_release(p);
    OK(sp_function_while(test, body, 1, &sum, &state));

    const int position = 0;
    OK(sp_function_grad(yes, 1, &x, 1, &position, out));
    OK(sp_function_host("note", note, NULL, NULL, 1, &x, 0, NULL, NULL));
    sp_tensor *pair[2] = {w, out[1]};
    sp_builder_call(b, "assign", NULL, 2, pair);
    OK(sp_builder_status(b));
    sp_tensor *results[2] = {out[0], state};
    OK(sp_function_end(f, 2, results));
    sp_tensor_release(out[0]);
    sp_tensor_release(out[1]);
    sp_tensor_release(state);
    sp_tensor_release(c);
    sp_tensor_release(x);
    sp_tensor_release(w);
    sp_builder_release(b);
    return g;
}

/* Numbers of values differ after reading; the second and third printing must agree. */
static void round_trip_is_stable(void **unused)
{
    (void)unused;
    for (int closed = 0; closed < 2; closed++) {
        sp_graph *g = make_graph(), *again, *third;
        char *a, *b, *c;
        if (closed) OK(sp__graph_close(g));
        OK(sp__graph_verify(g));
        OK(sp_graph_text(g, &a));
        OK(sp_graph_parse(a, &again));
        OK(sp_graph_text(again, &b));
        OK(sp_graph_parse(b, &third));
        OK(sp_graph_text(third, &c));
        assert_string_equal(b, c);
        assert_non_null(strstr(b, ", strict}"));
        assert_int_equal(g->n_functions, again->n_functions);
        assert_int_equal(strlen(a) > 400, 1);
        sp_text_free(a);
        sp_text_free(b);
        sp_text_free(c);
        sp_graph_release(g);
        sp_graph_release(again);
        sp_graph_release(third);
    }
}

static void closing_leaves_no_free_values(void **unused)
{
    (void)unused;
    sp_graph *g = make_graph();
    OK(sp__graph_close(g));
    for (sp_function *f = g->first; f; f = f->next)
        for (sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i] && (n->in[i]->origin == SP_VALUE_NODE || n->in[i]->origin == SP_VALUE_PARAM))
                    assert_ptr_equal(n->in[i]->owner, f);
    sp_graph_release(g);
}

static void drawing_names_every_function(void **unused)
{
    (void)unused;
    sp_graph *g = make_graph();
    char *dot;
    OK(sp_graph_dot(g, &dot));
    assert_non_null(strstr(dot, "label=\"loop\""));
    assert_non_null(strstr(dot, "reduce_sum"));
    sp_text_free(dot);
    sp_graph_release(g);
}

static void broken_texts_are_refused(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "function f#0(%0: float32[2]) {\n    return %1\n}\n",
        "function f#0(%0: float33[2]) {\n    return %0\n}\n",
        "function f#0(%0: float32[2]) {\n    %1: float32[2] = nosuch(%0)\n    return %1\n}\n",
        "function f#0(%0: float32[2]) {\n    %1: float32[2] = add(%0)\n    return %1\n}\n",
        "function f#0(%0: float32[2]) {\n    %1: float32[2] = const 00\n    return %1\n}\n",
        "function f#0(%0: float32[2]) {\n    %0: float32[2] = neg(%0)\n    return %0\n}\n",
        "function f#0(%0: float32[2]) {\n    %1: float32[2] = call %0()\n    return %1\n}\n",
        "function f#0() {\n    tail call &g#1()\n}\n",
        "function f#0() {\n    store @0, %3\n    return\n}\n",
        "function f#0() {\n",
        "function f#99999999999() {\n    return\n}\n",
        "nonsense",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sp_graph *g = NULL;
        assert_int_equal(sp_graph_parse(texts[i], &g), SP_FORMAT);
        assert_null(g);
        assert_true(strlen(sp_error_message()) > 10);
    }
    /* Cut anywhere: an error or a graph, never a crash. */
    sp_graph *g = make_graph();
    char *text;
    OK(sp_graph_text(g, &text));
    sp_graph_release(g);
    for (size_t n = strlen(text); n-- > 0;) {
        text[n] = '\0';
        if (sp_graph_parse(text, &g) == SP_OK) sp_graph_release(g);
    }
    sp_text_free(text);
}

static void parsing_survives_lack_of_memory(void **unused)
{
    (void)unused;
    sp_graph *g = make_graph(), *again;
    char *text;
    OK(sp_graph_text(g, &text));
    sp_graph_release(g);
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        sp__alloc_fail_at(n);
        sp_status status = sp_graph_parse(text, &again);
        sp__alloc_fail_at(0);
        done = status == SP_OK;
        if (done) sp_graph_release(again);
        else assert_int_equal(status, SP_NOMEM);
        assert_true(n < 10000);
    }
    sp_text_free(text);
}

static void abandoned_recording_leaves_nothing(void **unused)
{
    (void)unused;
    sp_graph *g;
    sp_function *f, *inner;
    sp_tensor *x, *p, *local;
    sp_builder *b;
    const int64_t dims[1] = {3};
    OK(sp_graph_create(&g));
    OK(sp_builder_create(&b));
    OK(sp_tensor_create_zeros(SP_DTYPE_F32, 1, dims, &local));
    OK(sp_function_begin(g, "outer", 1, &vector, &f, &x));
    OK(sp_function_begin(g, "inner", 1, &vector, &inner, &p));
    sp_tensor *pair[2] = {local, x};
    sp_builder_call(b, "assign", NULL, 2, pair); /* local stands for x now */
    OK(sp_builder_status(b));
    assert_true(sp_tensor_is_symbol(local));
    sp_function_abandon(f);
    assert_null(sp_function_recording());
    assert_false(sp_tensor_is_symbol(local));
    double v;
    sp_tensor *first;
    OK(sp_tensor_view(local, 0, NULL, NULL, 0, &first));
    OK(sp_tensor_item_f64(first, &v));
    assert_true(v == 0);
    sp_tensor_release(first);
    sp_tensor_release(local);
    sp_tensor_release(p);
    sp_builder_release(b);
    sp_graph_release(g);
    assert_true(sp_tensor_is_symbol(x)); /* its graph lives as long as it does */
    assert_int_equal(sp_tensor_item_f64(x, &v), SP_SYMBOL);
    sp_tensor_release(x);
}

/* begin .. end of a function that gives its parameter times `factor`. */
static sp_function *scaling(sp_graph *g, const char *name, double factor)
{
    sp_function *f;
    sp_builder *b;
    sp_tensor *x, *c;
    OK(sp_builder_create(&b));
    OK(sp_tensor_create_f64(SP_DTYPE_F32, factor, &c));
    OK(sp_function_begin(g, name, 1, &scalar, &f, &x));
    sp_tensor *y = sp_mul(b, sp_builder_take_tensor(b, x), sp_builder_take_tensor(b, c));
    OK(sp_function_end(f, 1, &y));
    sp_builder_release(b);
    return f;
}

static double run_entry(const sp_graph *g, double value)
{
    sp_program *p;
    sp_tensor *x, *y;
    OK(sp_program_create(sp_graph_entry(g), NULL, &p));
    OK(sp_tensor_create_f64(SP_DTYPE_F32, value, &x));
    OK(sp_program_run(p, 1, &x, 1, &y));
    OK(sp_tensor_item_f64(y, &value));
    sp_tensor_release(x);
    sp_tensor_release(y);
    sp_program_release(p);
    return value;
}

static void functions_are_found_and_one_is_the_entry(void **unused)
{
    (void)unused;
    sp_graph *g, *again, *other;
    sp_function *gone, *open;
    sp_tensor *x;
    char *text;
    OK(sp_graph_create(&g));
    OK(sp_graph_create(&other));
    assert_null(sp_graph_entry(g));
    assert_int_equal(sp_graph_functions(g), 0);
    assert_null(sp_graph_function_at(g, 0));
    sp_function *twice = scaling(g, "twice", 2);
    OK(sp_function_begin(g, "gone", 1, &scalar, &gone, &x));
    sp_tensor_release(x);
    sp_function_abandon(gone); /* is not among them */
    sp_function *thrice = scaling(g, "thrice", 3), *foreign = scaling(other, "thrice", 4);
    assert_int_equal(sp_graph_functions(g), 2);
    assert_ptr_equal(sp_graph_function_at(g, 0), twice);
    assert_ptr_equal(sp_graph_function_at(g, 1), thrice);
    assert_null(sp_graph_function_at(g, 2));
    assert_null(sp_graph_function_at(g, -1));
    assert_ptr_equal(sp_graph_function_find(g, "thrice"), thrice);
    assert_null(sp_graph_function_find(g, "gone"));
    assert_string_equal(sp_function_name(thrice), "thrice");
    assert_int_equal(sp_function_params(thrice), 1);
    assert_int_equal(sp_function_results(thrice), 1);
    assert_ptr_equal(sp_graph_entry(g), twice);
    assert_true(run_entry(g, 5) == 10);

    assert_int_equal(sp_graph_set_entry(g, foreign), SP_VALUE);
    assert_int_equal(sp_graph_set_entry(g, gone), SP_RUNTIME);
    assert_int_equal(sp_graph_set_entry(g, NULL), SP_VALUE);
    OK(sp_function_begin(g, "open", 1, &scalar, &open, &x));
    assert_int_equal(sp_function_results(open), -1);
    assert_int_equal(sp_graph_set_entry(g, open), SP_RUNTIME);
    sp_function *inner = scaling(g, "inner", 7);
    assert_int_equal(sp_graph_set_entry(g, inner), SP_VALUE);
    OK(sp_function_end(open, 1, &x));
    sp_tensor_release(x);

    OK(sp_graph_set_entry(g, thrice));
    assert_true(run_entry(g, 5) == 15);
    OK(sp_graph_text(g, &text)); /* the entry is part of the text */
    OK(sp_graph_parse(text, &again));
    assert_string_equal(sp_function_name(sp_graph_entry(again)), "thrice");
    assert_true(run_entry(again, 5) == 15);
    sp_text_free(text);
    sp_graph_release(again);
    sp_graph_release(other);
    sp_graph_release(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_is_stable),
        cmocka_unit_test(closing_leaves_no_free_values),
        cmocka_unit_test(drawing_names_every_function),
        cmocka_unit_test(broken_texts_are_refused),
        cmocka_unit_test(parsing_survives_lack_of_memory),
        cmocka_unit_test(abandoned_recording_leaves_nothing),
        cmocka_unit_test(functions_are_found_and_one_is_the_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
