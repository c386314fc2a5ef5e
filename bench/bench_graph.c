/* SPDX-License-Identifier: Apache-2.0 */
/* bench_graph.c - what running a compiled program costs beyond its kernels: 1000 adds of 4 elements, nanoseconds a node;
 * and turns of a loop on the machine. */
#include <stdio.h>
#include <time.h>

#include <spore/spore.h>

enum { CHAIN = 1000, ROUNDS = 300, TURNS = 100000 };

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_run(sp_program *p, int n, sp_tensor *const *args, int rounds)
{
    double best = 1e18;
    for (int i = 0; i < rounds; i++) {
        sp_tensor *out = NULL;
        double start = now();
        if (sp_program_run(p, n, args, 1, &out) != SP_OK) return -1;
        double t = now() - start;
        sp_tensor_release(out);
        if (t < best) best = t;
    }
    return best;
}

static sp_status chain(sp_builder *b, sp_graph *g, const char *off, double *ns)
{
    const sp_program_options options = {.struct_size = sizeof options, .off = off};
    const sp_spec spec = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {4}};
    sp_function *f;
    sp_tensor *v[2];
    SP_TRY(sp_function_begin(g, "chain", 2, (const sp_spec[]){spec, spec}, &f, v));
    sp_tensor *t = v[0];
    for (int i = 0; i < CHAIN; i++) t = sp_add(b, t, v[1]);
    SP_TRY(sp_function_end(f, 1, &t));
    sp_program *p;
    SP_TRY(sp_program_create(f, &options, &p));
    sp_tensor *args[2];
    for (int i = 0; i < 2; i++) {
        SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F32, 1, spec.dims, &args[i]));
        sp_builder_take_tensor(b, args[i]);
        sp_builder_take_tensor(b, v[i]);
    }
    *ns = best_run(p, 2, args, ROUNDS) / CHAIN;
    sp_program_release(p);
    return SP_OK;
}

/* while (i < n) i = i + 1 */
static sp_status loop(sp_builder *b, sp_graph *g, double *ns)
{
    const sp_spec number = {.dtype = SP_DTYPE_F32, .rank = 0};
    const sp_spec specs[2] = {number, number};
    sp_function *test, *body, *f;
    sp_tensor *v[2], *one, *zero, *n, *out[2];
    SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, 1, &one));
    SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, 0, &zero));
    SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, TURNS, &n));
    sp_builder_take_tensor(b, one);
    sp_builder_take_tensor(b, zero);
    sp_builder_take_tensor(b, n);
    SP_TRY(sp_function_begin(g, "test", 2, specs, &test, v));
    sp_tensor *less = sp_less(b, v[0], v[1]);
    SP_TRY(sp_function_end(test, 1, &less));
    for (int i = 0; i < 2; i++) sp_builder_take_tensor(b, v[i]);
    SP_TRY(sp_function_begin(g, "body", 2, specs, &body, v));
    sp_tensor *next[2] = {sp_add(b, v[0], one), v[1]};
    SP_TRY(sp_function_end(body, 2, next));
    for (int i = 0; i < 2; i++) sp_builder_take_tensor(b, v[i]);
    SP_TRY(sp_function_begin(g, "loop", 1, specs, &f, v));
    sp_tensor *start[2] = {zero, v[0]};
    SP_TRY(sp_function_while(test, body, 2, start, out));
    SP_TRY(sp_function_end(f, 1, out));
    for (int i = 0; i < 2; i++) sp_builder_take_tensor(b, out[i]);
    sp_builder_take_tensor(b, v[0]);
    sp_program *p;
    SP_TRY(sp_program_create(f, NULL, &p));
    *ns = best_run(p, 1, &n, 5) / TURNS;
    sp_program_release(p);
    return SP_OK;
}

int main(void)
{
    sp_builder *b;
    sp_graph *g;
    double fused = -1, apart = -1, turn = -1;
    if (sp_builder_create(&b) != SP_OK || sp_graph_create(&g) != SP_OK) return 1;
    sp_status status = chain(b, g, NULL, &fused);
    if (status == SP_OK) status = chain(b, g, "fuse", &apart);
    if (status == SP_OK) status = loop(b, g, &turn);
    if (status != SP_OK) fprintf(stderr, "bench_graph: %s\n", sp_error_message());
    printf("{\"graph_add_4_c\": %.1f, \"graph_add_4_plain_c\": %.1f, \"graph_loop_turn_c\": %.1f}\n", fused, apart,
           turn);
    sp_builder_release(b);
    sp_graph_release(g);
    return status != SP_OK;
}
