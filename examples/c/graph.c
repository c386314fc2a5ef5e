/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - programs written once, compiled, and run many times: a loop, a recursion, and a training step.
 *
 * Between sp_function_begin and sp_function_end the ordinary operators record instead of computing. */
#include <math.h>
#include <stdio.h>
#include <spore/spore.h>

static const sp_spec number = {.dtype = SP_DTYPE_F32}; /* rank 0 */
static sp_builder *b;                                  /* owns all tensors of this program */

#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        sp_status s_ = (expr);                                                                                         \
        if (s_ != SP_OK) return s_;                                                                                    \
    } while (0)

static sp_tensor *keep(sp_tensor *t) { return sp_builder_take_tensor(b, t); }
static sp_tensor *constant(double v)
{
    sp_tensor *t = NULL;
    return sp_tensor_create_f64(SP_DTYPE_F32, v, &t) == SP_OK ? keep(t) : NULL;
}

static sp_status begin(sp_graph *g, const char *name, int n, sp_function **f, sp_tensor **params)
{
    const sp_spec specs[2] = {number, number};
    TRY(sp_function_begin(g, name, n, specs, f, params));
    for (int i = 0; i < n; i++) keep(params[i]);
    return SP_OK;
}

/* while (x > 1) x = x / 2, n = n + 1 */
static sp_status make_loop(sp_graph *g, sp_function **out)
{
    sp_function *test, *body;
    sp_tensor *p[2], *start[2], *end[2];
    TRY(begin(g, "halvings", 1, out, start));
    start[1] = constant(0);
    TRY(begin(g, "test", 2, &test, p));
    sp_tensor *go = sp_greater(b, p[0], constant(1));
    TRY(sp_function_end(test, 1, &go));
    TRY(begin(g, "body", 2, &body, p));
    sp_tensor *next[2] = {sp_div(b, p[0], constant(2)), sp_add(b, p[1], constant(1))};
    TRY(sp_function_end(body, 2, next));
    TRY(sp_function_while(test, body, 2, start, end));
    keep(end[0]);
    return sp_function_end(*out, 1, (sp_tensor *[]){keep(end[1])});
}

/* f(n) = n <= 1 ? 1 : n * f(n - 1) */
static sp_status make_factorial(sp_graph *g, sp_function **out)
{
    sp_function *more, *stop;
    sp_tensor *n, *self, *result;
    TRY(begin(g, "factorial", 1, out, &n));
    TRY(sp_function_value(*out, &self));
    keep(self);
    TRY(begin(g, "more", 0, &more, NULL)); /* uses n of the function around it */
    sp_tensor *less = sp_sub(b, n, constant(1));
    TRY(sp_function_call(self, 1, &less, 1, &number, &result));
    sp_tensor *product = sp_mul(b, n, keep(result));
    TRY(sp_function_end(more, 1, &product));
    TRY(begin(g, "stop", 0, &stop, NULL));
    sp_tensor *one = constant(1);
    TRY(sp_function_end(stop, 1, &one));
    TRY(sp_function_if(sp_greater(b, n, constant(1)), more, stop, 0, NULL, 1, &result));
    return sp_function_end(*out, 1, (sp_tensor *[]){keep(result)});
}

/* One step of gradient descent on (w x - y)^2; w is a variable, which the program reads and writes. */
static sp_status make_step(sp_graph *g, sp_tensor *w, sp_function **out)
{
    sp_tensor *p[2], *dw;
    TRY(begin(g, "step", 2, out, p));
    sp_grad_begin();
    TRY(sp_grad_watch(w));
    sp_tensor *error = sp_sub(b, sp_mul(b, w, p[0]), p[1]), *loss = sp_mul(b, error, error);
    TRY(sp_builder_status(b));
    TRY(sp_grad_backward(1, &loss, NULL, 1, &w, false, &dw));
    sp_grad_unwatch(w);
    sp_grad_end();
    sp_assign(b, w, sp_sub(b, w, sp_mul(b, keep(dw), constant(0.1))));
    TRY(sp_builder_status(b));
    return sp_function_end(*out, 1, &loss);
}

static sp_status run(sp_program *p, int n, const double *args, double *result)
{
    sp_tensor *in[2], *out = NULL;
    for (int i = 0; i < n; i++) in[i] = constant(args[i]);
    TRY(sp_program_run(p, n, in, 1, &out));
    return sp_tensor_item_f64(keep(out), result);
}

static sp_status show(void)
{
    sp_graph *g[3] = {NULL};
    sp_function *f[3];
    sp_program *p[3] = {NULL};
    sp_tensor *w = constant(0);
    double loop, factorial, loss = 0, weight;
    for (int i = 0; i < 3; i++) TRY(sp_graph_create(&g[i]));
    sp_graph_variable_mark(w);
    TRY(make_loop(g[0], &f[0]));
    TRY(make_factorial(g[1], &f[1]));
    TRY(make_step(g[2], w, &f[2]));
    for (int i = 0; i < 3; i++) TRY(sp_program_create(f[i], NULL, &p[i]));
    TRY(run(p[0], 1, (const double[]){1000}, &loop));
    TRY(run(p[1], 1, (const double[]){10}, &factorial));
    for (int i = 0; i < 100; i++) TRY(run(p[2], 2, (const double[]){2, 6}, &loss)); /* 2 w = 6 */
    TRY(sp_tensor_item_f64(w, &weight));
    printf("1000 can be halved %g times before it is at most 1\n10! = %g\nw = %g, loss %g\n", loop, factorial, weight,
           loss);
    for (int i = 0; i < 3; i++) {
        sp_program_release(p[i]);
        sp_graph_release(g[i]);
    }
    return loop == 10 && factorial == 3628800 && fabs(weight - 3) < 1e-5 ? SP_OK : SP_RUNTIME;
}

int main(void)
{
    if (sp_builder_create(&b) != SP_OK) return 1;
    sp_status status = show();
    if (status != SP_OK) fprintf(stderr, "graph: %s\n", sp_error_message());
    sp_builder_release(b);
    return status != SP_OK;
}
