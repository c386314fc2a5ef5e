/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - run a network in memory of one's own: one block, known before, and nothing allocated while it runs.
 *
 *     session [model]       without a model a small network is made
 *
 * Here the block is an array of the program, as it would be on a machine without a heap to spare. */
#include <stdio.h>
#include <stdlib.h>

#include <spore/spore.h>

enum { BLOCK_BYTES = 64 << 10, NUMBERS_MAX = 1 << 16 };
static _Alignas(SP_SESSION_ALIGN) char block[BLOCK_BYTES];
static float numbers[NUMBERS_MAX], answers[NUMBERS_MAX];

static void check(sp_status status)
{
    if (status == SP_OK) return;
    fprintf(stderr, "session: %s\n", sp_error_message());
    exit(1);
}

/* softmax(relu(x w) w') as session.onnx, for three numbers and two classes. */
static const char *make_model(void)
{
    static const float first[12] = {1, -1, 0.5f, 0, 0, 2, 1, 1, -2, 0, 1, 3}, second[8] = {1, 0, 0, 1, -1, 1, 0.5f, 2};
    const sp_spec row = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {1, 3}};
    sp_graph *g;
    sp_builder *b;
    sp_function *f;
    sp_tensor *x, *w, *v;
    check(sp_builder_create(&b));
    check(sp_graph_create(&g));
    check(sp_tensor_create_from(SP_DTYPE_F32, 2, (int64_t[]){3, 4}, first, &w));
    check(sp_tensor_create_from(SP_DTYPE_F32, 2, (int64_t[]){4, 2}, second, &v));
    check(sp_function_begin(g, "main", 1, &row, &f, &x));
    sp_tensor *hidden = sp_relu(b, sp_matmul(b, x, w, false, false));
    sp_tensor *scores = sp_matmul(b, hidden, v, false, false);
    sp_tensor *y = sp_softmax(b, scores, NULL);
    check(sp_builder_status(b));
    check(sp_function_end(f, 1, &y));
    const sp_model_names names = {
        .n_inputs = 1, .inputs = (const char *[]){"numbers"}, .n_outputs = 1, .outputs = (const char *[]){"classes"}};
    check(sp_model_save("session.onnx", f, &names, NULL));
    sp_tensor_release(x);
    sp_tensor_release(w);
    sp_tensor_release(v);
    sp_builder_release(b);
    sp_graph_release(g);
    return "session.onnx";
}

static size_t count(const sp_spec *s)
{
    size_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= (size_t)s->dims[i];
    if (s->dtype == SP_DTYPE_F32 && n <= NUMBERS_MAX) return n;
    fprintf(stderr, "session: this program takes float32 and at most %d elements\n", NUMBERS_MAX);
    exit(1);
}

int main(int argc, char **argv)
{
    sp_model *m;
    sp_session *s;
    size_t bytes;
    check(sp_model_load(argc > 1 ? argv[1] : make_model(), NULL, &m));
    if (sp_model_inputs(m) != 1 || sp_model_outputs(m) != 1) {
        fprintf(stderr, "session: this program takes models with one input and one output\n");
        return 1;
    }
    check(sp_session_bytes(m, NULL, &bytes));
    printf("a run needs %zu bytes; the block has %d\n", bytes, BLOCK_BYTES);
    check(sp_session_create(m, NULL, block, sizeof block, &s));
    const size_t n_in = count(sp_session_input_spec(s, 0)), n_out = count(sp_session_output_spec(s, 0));
    for (int run = 0; run < 3; run++) {
        for (size_t i = 0; i < n_in; i++) numbers[i] = (float)(run + 1) / (float)(i + 1);
        check(sp_session_run(s, 1, (const void *[]){numbers}, 1, (void *[]){answers}));
        printf("run %d:", run + 1);
        for (size_t i = 0; i < n_out && i < 8; i++) printf(" %.4f", (double)answers[i]);
        printf("\n");
    }
    sp_session_release(s);
    sp_model_release(m);
    return 0;
}
