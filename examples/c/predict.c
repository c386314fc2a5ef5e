/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c - run a network that comes out of a file, ONNX or MindIR.
 *
 *     predict [model]       what it takes and gives, and its answer to inputs of ones; without one a small network is made
 *
 * Free dimensions (a batch, most often) are taken as 1. */
#include <stdio.h>
#include <stdlib.h>

#include <spore/spore.h>

static void check(sp_status status)
{
    if (status == SP_OK) return;
    fprintf(stderr, "predict: %s\n", sp_error_message());
    exit(1);
}

/* softmax(x w) as predict.onnx, for three numbers and two classes. */
static const char *make_model(void)
{
    static const float weight[6] = {1, -1, 0.5f, 0, 0, 2};
    const sp_spec row = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {1, 3}};
    sp_graph *g;
    sp_builder *b;
    sp_function *f;
    sp_tensor *x, *w;
    check(sp_builder_create(&b));
    check(sp_graph_create(&g));
    check(sp_tensor_create_from(SP_DTYPE_F32, 2, (int64_t[]){3, 2}, weight, &w));
    check(sp_function_begin(g, "main", 1, &row, &f, &x));
    sp_tensor *scores = sp_matmul(b, x, w, false, false), *y = sp_softmax(b, scores, NULL);
    check(sp_builder_status(b));
    check(sp_function_end(f, 1, &y));
    const sp_model_names names = {
        .n_inputs = 1, .inputs = (const char *[]){"numbers"}, .n_outputs = 1, .outputs = (const char *[]){"classes"}};
    check(sp_model_save("predict.onnx", f, &names, NULL));
    sp_tensor_release(x);
    sp_tensor_release(w);
    sp_builder_release(b);
    sp_graph_release(g);
    return "predict.onnx";
}

static void print_spec(const char *what, const char *name, const sp_spec *spec)
{
    printf("%s %s: %s (", what, name, sp_dtype_name(spec->dtype));
    for (int k = 0; k < spec->rank; k++) printf(k > 0 ? ", %lld" : "%lld", (long long)spec->dims[k]);
    printf(")\n");
}

/* Ones of the wanted shape. */
static sp_tensor *make_input(const sp_spec *spec)
{
    sp_builder *b;
    int64_t dims[SP_RANK_MAX];
    for (int k = 0; k < spec->rank; k++) dims[k] = spec->dims[k] < 0 ? 1 : spec->dims[k];
    check(sp_builder_create(&b));
    sp_tensor *one = NULL;
    check(sp_tensor_create_f64(spec->dtype, 1, &one));
    sp_tensor *all = sp_broadcast_to(b, one, spec->rank > 0 ? spec->rank : 0, dims);
    check(sp_builder_status(b));
    sp_tensor_retain(all); /* past the builder's end */
    sp_tensor_release(one);
    sp_builder_release(b);
    return all;
}

int main(int argc, char **argv)
{
    enum { MAX = 16, SHOWN = 8 };
    sp_model *model;
    sp_tensor *in[MAX], *out[MAX];
    check(sp_model_load(argc > 1 ? argv[1] : make_model(), NULL, &model));
    int n_in = sp_model_inputs(model), n_out = sp_model_outputs(model);
    if (n_in > MAX || n_out > MAX) return 1;
    for (int i = 0; i < n_in; i++) {
        print_spec("takes", sp_model_input_name(model, i), sp_model_input_spec(model, i));
        in[i] = make_input(sp_model_input_spec(model, i));
    }
    check(sp_model_run(model, n_in, in, n_out, out));
    for (int i = 0; i < n_out; i++) {
        print_spec("gives", sp_model_output_name(model, i), sp_model_output_spec(model, i));
        if (out[i] != NULL && sp_tensor_dtype(out[i]) == SP_DTYPE_F32)
            for (int64_t k = 0; k < sp_tensor_count(out[i]) && k < SHOWN; k++)
                printf("  %g\n", (double)((float *)sp_tensor_data(out[i]))[k]);
        sp_tensor_release(out[i]);
    }
    for (int i = 0; i < n_in; i++) sp_tensor_release(in[i]);
    sp_model_release(model);
    return 0;
}
