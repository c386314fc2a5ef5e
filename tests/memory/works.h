/* SPDX-License-Identifier: Apache-2.0 */
/* works.h - kinds of work that test_out_of_memory.c and long_out_of_memory.c starve of memory (starve.h). */
#ifndef SPORE_TEST_WORKS_H
#define SPORE_TEST_WORKS_H

#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cipher.h"
#include "memory/starve.h"

#define FORMATS "tests/formats/data/"
#define IMAGES "tests/oracle_vision/images/"

static char scratch[64];
static char scratch_paths[4][128];
static const char *in_scratch(const char *name)
{
    static int next;
    char *path = scratch_paths[next++ % 4];
    snprintf(path, sizeof scratch_paths[0], "%s/%s", scratch, name);
    return path;
}

static void add_bytes(uint64_t *digest, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++) *digest = (*digest ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

static void add_tensor(uint64_t *digest, const sp_tensor *t)
{
    if (!t) return;
    add_bytes(digest, sp_tensor_dims(t), (size_t)sp_tensor_rank(t) * sizeof(int64_t));
    if (sp_tensor_is_contiguous(t)) add_bytes(digest, sp_tensor_data(t), sp_tensor_bytes(t));
}

/* A whole file into a fixed buffer: reading it must not be what fails. */
static unsigned char file_data[600 << 10];
static size_t read_whole(const char *path)
{
    const int f = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    for (ssize_t k; f >= 0 && n < sizeof file_data && (k = read(f, file_data + n, sizeof file_data - n)) > 0;)
        n += (size_t)k;
    if (f >= 0) close(f);
    return n;
}

static void add_file(uint64_t *digest, const char *path)
{
    const size_t n = read_whole(path);
    add_bytes(digest, file_data, n);
}

/* Numbers that follow from their place. */
static sp_status numbers(sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out)
{
    SP_TRY(sp_tensor_create_zeros(dtype, rank, dims, out));
    const size_t bytes = sp_tensor_bytes(*out);
    if (dtype == SP_DTYPE_F32)
        for (size_t i = 0; i < bytes / 4; i++)
            ((float *)sp_tensor_data(*out))[i] = (float)((int)(i * 37 % 101) - 50) / 64;
    else if (dtype == SP_DTYPE_I64 || dtype == SP_DTYPE_I32)
        for (size_t i = 0; i < bytes / sp_dtype_bytes(dtype); i++)
            ((unsigned char *)sp_tensor_data(*out))[i * sp_dtype_bytes(dtype)] = 1;
    else memset(sp_tensor_data(*out), 1, bytes);
    return SP_OK;
}

/* --- weights in files ---------------------------------------------------------------------------------------------- */

static sp_status load_weights(const char *path, const sp_file_options *options, uint64_t *digest)
{
    sp_bundle *bundle = NULL;
    sp_status status = sp_load(path, options, &bundle);
    for (int64_t i = 0; status == SP_OK && i < sp_bundle_count(bundle); i++) {
        add_bytes(digest, sp_bundle_name_at(bundle, i), strlen(sp_bundle_name_at(bundle, i)));
        if (sp_bundle_text_at(bundle, i, NULL)) continue;
        sp_tensor *t = sp_bundle_tensor_at(bundle, i);
        if (t) add_tensor(digest, t);
        else status = SP_NOMEM;
    }
    sp_bundle_release(bundle);
    return status;
}

static sp_status make_bundle(sp_bundle **out)
{
    SP_TRY(sp_bundle_create(out));
    for (int i = 0; i < 6; i++) {
        char name[32];
        sp_tensor *t = NULL;
        snprintf(name, sizeof name, "layer%d.weight", i);
        sp_status status = numbers(SP_DTYPE_F32, 2, (const int64_t[]){i + 3, 40}, &t);
        if (status == SP_OK) status = sp_bundle_add(*out, name, t);
        sp_tensor_release(t);
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status save_weights(const char *name, const sp_file_options *options, uint64_t *digest)
{
    sp_bundle *bundle = NULL;
    const char *path = in_scratch(name);
    sp_status status = make_bundle(&bundle);
    if (status == SP_OK) status = sp_save(path, bundle, options);
    sp_bundle_release(bundle);
    if (status == SP_OK && !(options && options->key)) add_file(digest, path);
    return status;
}

static const sp_file_options crc_options = {.flags = SP_FILE_CRC};
static const sp_file_options packed_options = {.flags = SP_FILE_COMPRESS};
static const sp_file_options gcm_options = {.key = "0123456789ABCDEF", .key_bytes = 16};
static const sp_file_options cbc_options = {.key = "ABCDEFGH01234567", .key_bytes = 16, .key_mode = "AES-CBC"};

static sp_status ckpt_load(uint64_t *d) { return load_weights(FORMATS "append_dict.ckpt", &crc_options, d); }
static sp_status ckpt_save(uint64_t *d) { return save_weights("a.ckpt", &crc_options, d); }
static sp_status safetensors_load(uint64_t *d)
{
    return load_weights(FORMATS "safetensors/model.safetensors.index.json", NULL, d);
}
static sp_status safetensors_save(uint64_t *d) { return save_weights("a.safetensors", &crc_options, d); }
static sp_status npz_load(uint64_t *d) { return load_weights(FORMATS "numpy/packed.npz", NULL, d); }
static sp_status npz_save(uint64_t *d) { return save_weights("a.npz", &packed_options, d); }
static sp_status torch_load(uint64_t *d) { return load_weights(FORMATS "nets/vision.pth", NULL, d); }
static sp_status torch_old_load(uint64_t *d) { return load_weights(FORMATS "torch/views_legacy.pt", NULL, d); }
static sp_status h5_load(uint64_t *d) { return load_weights(FORMATS "h5/kinds.h5", NULL, d); }
static sp_status h5_new_load(uint64_t *d) { return load_weights(FORMATS "h5/newest_small.h5", NULL, d); }
static sp_status tensorflow_load(uint64_t *d) { return load_weights(FORMATS "tensorflow/partitioned.index", NULL, d); }
static sp_status keras_load(uint64_t *d) { return load_weights(FORMATS "nets/keras_vision.index", NULL, d); }
static sp_status encrypted_load(uint64_t *d)
{
    return load_weights(FORMATS "enc_AES-GCM_key_0123456789ABCDEF.ckpt", &gcm_options, d);
}
static sp_status encrypted_save(uint64_t *d)
{
    SP_TRY(save_weights("e.ckpt", &cbc_options, d));
    return load_weights(in_scratch("e.ckpt"), &cbc_options, d);
}

/* --- models ---------------------------------------------------------------------------------------------------------- */

static sp_status model_inputs(sp_model *m, int n, int64_t size, sp_tensor **in)
{
    for (int i = 0; i < n; i++) {
        sp_spec s = *sp_model_input_spec(m, i);
        for (int k = 0; k < s.rank; k++) s.dims[k] = s.dims[k] < 0 ? size : s.dims[k];
        SP_TRY(numbers(s.dtype, s.rank, s.dims, &in[i]));
    }
    return SP_OK;
}

static sp_status run_size(sp_model *m, int64_t size, uint64_t *digest)
{
    sp_tensor *in[8] = {0}, *out[8] = {0};
    const int n_in = sp_model_inputs(m), n_out = sp_model_outputs(m);
    sp_status status = model_inputs(m, n_in, size, in);
    if (status == SP_OK) status = sp_model_run(m, n_in, in, n_out, out);
    for (int i = 0; status == SP_OK && i < n_out; i++) add_tensor(digest, out[i]);
    for (int i = 0; i < 8; i++) sp_tensor_release(in[i]), sp_tensor_release(out[i]);
    return status;
}

static sp_status run_model(sp_model *m, uint64_t *digest) { return run_size(m, 2, digest); }

/* One program, then one that leaves sizes open. */
static sp_status run_sizes(const char *path, uint64_t *digest)
{
    sp_model *m = NULL;
    sp_status status = sp_model_load(path, NULL, &m);
    for (int64_t size = 2; size < 5 && status == SP_OK; size++) status = run_size(m, size, digest);
    sp_model_release(m);
    return status;
}

static sp_status run_file(const char *path, const sp_file_options *options, uint64_t *digest)
{
    sp_model *m = NULL;
    sp_status status = sp_model_load(path, options, &m);
    if (status == SP_OK) status = run_model(m, digest);
    sp_model_release(m);
    return status;
}

static sp_status convert_file(const char *path, const char *to, uint64_t *digest)
{
    sp_model *m = NULL;
    const char *made = in_scratch(to);
    sp_status status = sp_model_load(path, NULL, &m);
    if (status == SP_OK) status = sp_model_convert(m, made, 0, NULL);
    sp_model_release(m);
    if (status == SP_OK) add_file(digest, made);
    return status;
}

static sp_status onnx_run(uint64_t *d) { return run_file("tests/onnx/data/convnet.onnx", NULL, d); }
static sp_status onnx_sizes_run(uint64_t *d) { return run_sizes("tests/onnx/data/convnet.onnx", d); }
static sp_status mindir_sizes_run(uint64_t *d) { return run_sizes(FORMATS "mindir/dynamic.mindir", d); }
static sp_status onnx_mlp_run(uint64_t *d) { return run_file(FORMATS "onnx/mlp.onnx", NULL, d); }
static sp_status onnx_branch_run(uint64_t *d) { return run_file("tests/onnx/data/branch.onnx", NULL, d); }
static sp_status onnx_attention_run(uint64_t *d) { return run_file("tests/onnx/data/attention.onnx", NULL, d); }
static sp_status onnx_bytes_run(uint64_t *d) { return run_file("tests/onnx/data/between_bytes.onnx", NULL, d); }
static sp_status onnx_quantised_run(uint64_t *d) { return run_file("tests/onnx/data/quantised.onnx", NULL, d); }
static sp_status mindir_run(uint64_t *d) { return run_file(FORMATS "mindir/lenet.mindir", NULL, d); }
static sp_status mindir_loop_run(uint64_t *d) { return run_file(FORMATS "mindir/while_net.mindir", NULL, d); }
static sp_status mindir_encrypted_run(uint64_t *d)
{
    return run_file(FORMATS "mindir/enc_AES-GCM_key_0123456789ABCDEF.mindir", &gcm_options, d);
}
static sp_status tflite_run(uint64_t *d) { return run_file(FORMATS "tflite/dense_float.tflite", NULL, d); }
static sp_status tflite_int8_run(uint64_t *d) { return run_file(FORMATS "tflite/dense_int8.tflite", NULL, d); }
static sp_status lite_run(uint64_t *d) { return run_file("tests/lite/data/small/chain.ms", NULL, d); }
static sp_status lite_packed_run(uint64_t *d) { return run_file("tests/lite/data/small/fse.ms", NULL, d); }
static sp_status lite_train_run(uint64_t *d) { return run_file("tests/lite/data/conv_train_model.ms", NULL, d); }
static sp_status mindir_to_onnx(uint64_t *d) { return convert_file(FORMATS "mindir/lenet.mindir", "a.onnx", d); }
static sp_status onnx_to_mindir(uint64_t *d) { return convert_file("tests/onnx/data/convnet.onnx", "a.mindir", d); }
static sp_status onnx_to_onnx(uint64_t *d) { return convert_file(FORMATS "onnx/mlp.onnx", "b.onnx", d); }
static sp_status model_inspect(uint64_t *d)
{
    sp_model *m = NULL;
    char *text = NULL;
    sp_status status = sp_model_load(FORMATS "onnx/mlp.onnx", NULL, &m);
    uint64_t work = 0;
    if (status == SP_OK) status = sp_model_work(m, NULL, &work);
    if (status == SP_OK) status = run_model(m, d);
    if (status == SP_OK) status = sp_model_report(m, &text);
    add_bytes(d, &work, sizeof work);
    sp_text_free(text);
    sp_model_release(m);
    return status;
}

/* --- operators, gradients, graphs ------------------------------------------------------------------------------------- */

/* loss(w) of a small network: convolution, bias, pooling, product. */
static sp_tensor *small_loss(sp_builder *b, sp_tensor *x, sp_tensor *const *w)
{
    sp_tensor *c =
        sp_builder_call(b, "conv2d", "stride=(1, 1), pad=(1, 1, 1, 1)", 3, (sp_tensor *const[]){x, w[0], NULL});
    sp_tensor *p =
        sp_builder_call(b, "max_pool2d", "kernel_size=(2, 2), stride=(2, 2)", 1, (sp_tensor *const[]){sp_relu(b, c)});
    sp_tensor *flat = sp_reshape(b, p, 2, (const int64_t[]){2, -1});
    sp_tensor *y = sp_builder_call(b, "softmax", NULL, 1, (sp_tensor *const[]){sp_matmul(b, flat, w[1], false, false)});
    return sp_reduce_mean(b, sp_square(b, y), 0, NULL, false);
}

static sp_status small_weights(sp_tensor **x, sp_tensor **w)
{
    SP_TRY(numbers(SP_DTYPE_F32, 4, (const int64_t[]){2, 3, 8, 8}, x));
    SP_TRY(numbers(SP_DTYPE_F32, 4, (const int64_t[]){4, 3, 3, 3}, &w[0]));
    return numbers(SP_DTYPE_F32, 2, (const int64_t[]){4 * 4 * 4, 5}, &w[1]);
}

static sp_status gradients(sp_builder *b, sp_tensor *x, sp_tensor **w, sp_tensor **grads)
{
    sp_grad_begin();
    sp_status status = sp_grad_watch(w[0]);
    bool watched[2] = {status == SP_OK, false};
    if (status == SP_OK) status = sp_grad_watch(w[1]);
    watched[1] = watched[0] && status == SP_OK;
    sp_tensor *loss = status == SP_OK ? small_loss(b, x, w) : NULL;
    if (status == SP_OK) status = sp_builder_status(b);
    if (status == SP_OK) status = sp_grad_backward(1, &loss, NULL, 2, w, false, grads);
    sp_grad_end();
    for (int i = 0; i < 2; i++)
        if (watched[i]) sp_grad_unwatch(w[i]);
    return status;
}

static sp_status train(uint64_t *digest, bool step)
{
    sp_tensor *x = NULL, *w[2] = {0}, *grads[2] = {0}, *velocity[2] = {0}, *rate = NULL;
    sp_builder *b = NULL;
    sp_status status = sp_builder_create(&b);
    if (status == SP_OK) status = small_weights(&x, w);
    if (status == SP_OK) status = sp_tensor_create_f64(SP_DTYPE_F32, 0.125, &rate);
    if (status == SP_OK) status = gradients(b, x, w, grads);
    for (int i = 0; status == SP_OK && step && i < 2; i++) {
        status = sp_tensor_create_zeros(SP_DTYPE_F32, sp_tensor_rank(w[i]), sp_tensor_dims(w[i]), &velocity[i]);
        if (status != SP_OK) break;
        sp_builder_call(b, "momentum_update", NULL, 5, (sp_tensor *const[]){w[i], velocity[i], rate, grads[i], rate});
        status = sp_builder_status(b);
    }
    for (int i = 0; status == SP_OK && i < 2; i++) add_tensor(digest, step ? w[i] : grads[i]);
    sp_builder_release(b);
    for (int i = 0; i < 2; i++) sp_tensor_release(w[i]), sp_tensor_release(grads[i]), sp_tensor_release(velocity[i]);
    sp_tensor_release(x);
    sp_tensor_release(rate);
    return status;
}
static sp_status conv_gradient(uint64_t *d) { return train(d, false); }
static sp_status train_step(uint64_t *d) { return train(d, true); }

/* Record the network as a function of its weights; what is recorded stays with the graph. */
static sp_status record_loss(sp_graph *g, sp_tensor *x, sp_function **f)
{
    const sp_spec specs[2] = {{.dtype = SP_DTYPE_F32, .rank = 4, .dims = {4, 3, 3, 3}},
                              {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {64, 5}}};
    sp_tensor *w[2] = {0};
    sp_builder *b = NULL;
    SP_TRY(sp_builder_create(&b));
    sp_status status = sp_function_begin(g, "loss", 2, specs, f, w);
    if (status == SP_OK) {
        sp_tensor *loss = small_loss(b, x, w);
        status = sp_builder_status(b);
        if (status == SP_OK) status = sp_function_end(*f, 1, &loss);
        else sp_function_abandon(*f);
    }
    for (int i = 0; i < 2; i++) sp_tensor_release(w[i]);
    sp_builder_release(b);
    return status;
}

static sp_status record_gradient(sp_graph *g, sp_function *loss, sp_function **f)
{
    const sp_spec specs[2] = {{.dtype = SP_DTYPE_F32, .rank = 4, .dims = {4, 3, 3, 3}},
                              {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {64, 5}}};
    sp_tensor *w[2] = {0}, *out[3] = {0};
    SP_TRY(sp_function_begin(g, "step", 2, specs, f, w));
    sp_status status = sp_function_grad(loss, 2, w, 2, (const int[]){0, 1}, out);
    if (status == SP_OK) status = sp_function_end(*f, 3, out);
    else sp_function_abandon(*f);
    for (int i = 0; i < 2; i++) sp_tensor_release(w[i]);
    for (int i = 0; i < 3; i++) sp_tensor_release(out[i]);
    return status;
}

static sp_status graph_run(uint64_t *digest)
{
    sp_graph *g = NULL;
    sp_function *loss = NULL, *step = NULL;
    sp_program *p = NULL;
    sp_tensor *x = NULL, *w[2] = {0}, *out[3] = {0};
    sp_status status = small_weights(&x, w);
    if (status == SP_OK) status = sp_graph_create(&g);
    if (status == SP_OK) status = record_loss(g, x, &loss);
    if (status == SP_OK) status = record_gradient(g, loss, &step);
    if (status == SP_OK) status = sp_program_create(step, NULL, &p);
    for (int i = 0; status == SP_OK && i < 2; i++) {
        for (int k = 0; k < 3; k++) sp_tensor_release(out[k]), out[k] = NULL;
        status = sp_program_run(p, 2, w, 3, out);
    }
    for (int i = 0; status == SP_OK && i < 3; i++) add_tensor(digest, out[i]);
    for (int i = 0; i < 3; i++) sp_tensor_release(out[i]);
    for (int i = 0; i < 2; i++) sp_tensor_release(w[i]);
    sp_tensor_release(x);
    sp_program_release(p);
    sp_graph_release(g);
    return status;
}

static sp_status graph_text(uint64_t *digest)
{
    sp_graph *g = NULL, *again = NULL;
    sp_function *loss = NULL;
    char *text = NULL;
    sp_tensor *x = NULL, *w[2] = {0};
    sp_status status = small_weights(&x, w);
    if (status == SP_OK) status = sp_graph_create(&g);
    if (status == SP_OK) status = record_loss(g, x, &loss);
    if (status == SP_OK) status = sp_graph_text(g, &text);
    if (status == SP_OK) add_bytes(digest, text, strlen(text));
    if (status == SP_OK) status = sp_graph_parse(text, &again);
    sp_text_free(text);
    for (int i = 0; i < 2; i++) sp_tensor_release(w[i]);
    sp_tensor_release(x);
    sp_graph_release(g);
    sp_graph_release(again);
    return status;
}

/* ONNX and MindIR of what was recorded here. */
static sp_status export_as(const char *name, uint64_t *digest)
{
    sp_graph *g = NULL;
    sp_function *loss = NULL;
    sp_tensor *x = NULL, *w[2] = {0};
    const char *path = in_scratch(name);
    const sp_model_names names = {.n_inputs = 2, .inputs = (const char *const[]){"kernel", "matrix"}};
    sp_status status = small_weights(&x, w);
    if (status == SP_OK) status = sp_graph_create(&g);
    if (status == SP_OK) status = record_loss(g, x, &loss);
    if (status == SP_OK) status = sp_model_save(path, loss, &names, NULL);
    if (status == SP_OK) add_file(digest, path);
    for (int i = 0; i < 2; i++) sp_tensor_release(w[i]);
    sp_tensor_release(x);
    sp_graph_release(g);
    return status;
}
static sp_status onnx_export(uint64_t *d) { return export_as("c.onnx", d); }
static sp_status mindir_export(uint64_t *d) { return export_as("c.mindir", d); }

/* vmap: one product of a vector for many vectors. */
static sp_status vmap(uint64_t *digest)
{
    sp_graph *g = NULL;
    sp_function *f = NULL;
    sp_builder *b = NULL;
    sp_tensor *x = NULL, *w = NULL, *in = NULL, *out = NULL;
    bool batched = false;
    const sp_spec row = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {16}};
    sp_status status = numbers(SP_DTYPE_F32, 2, (const int64_t[]){5, 16}, &x);
    if (status == SP_OK) status = numbers(SP_DTYPE_F32, 2, (const int64_t[]){16, 7}, &w);
    if (status == SP_OK) status = sp_builder_create(&b);
    if (status == SP_OK) status = sp_graph_create(&g);
    if (status == SP_OK) status = sp_function_begin(g, "row", 1, &row, &f, &in);
    if (status == SP_OK) {
        sp_tensor *y =
            sp_builder_call(b, "softmax", NULL, 1, (sp_tensor *const[]){sp_matmul(b, sp_tanh(b, in), w, false, false)});
        y = sp_builder_call(b, "sort", NULL, 1, &y);
        status = sp_builder_status(b);
        if (status == SP_OK) status = sp_function_end(f, 1, &y);
        else sp_function_abandon(f);
    }
    const sp_batch_spec spec = {.size = 5, .batched = (const bool[]){true}};
    if (status == SP_OK) status = sp_function_batch(f, &spec, 1, &x, 1, &out, &batched, NULL);
    if (status == SP_OK) add_tensor(digest, out);
    sp_tensor_release(in);
    sp_tensor_release(out);
    sp_tensor_release(x);
    sp_tensor_release(w);
    sp_builder_release(b);
    sp_graph_release(g);
    return status;
}

/* A program from the cache on disk. */
static sp_status cached_program(uint64_t *digest)
{
    sp_status status = sp_program_cache(in_scratch("cache"), 0);
    if (status == SP_OK) status = graph_run(digest);
    sp_program_cache(NULL, 0);
    return status;
}

/* --- data ------------------------------------------------------------------------------------------------------------- */

static sp_status decode(const char *path, uint64_t *digest)
{
    const size_t bytes = read_whole(path);
    sp_tensor *t = NULL;
    sp_status status = sp_image_decode(file_data, bytes, SP_DECODE_COLOR, &t);
    if (status == SP_OK) add_tensor(digest, t);
    sp_tensor_release(t);
    return status;
}
static sp_status png_decode(uint64_t *d) { return decode(IMAGES "astronaut_palette.png", d); }
static sp_status jpeg_decode(uint64_t *d) { return decode(IMAGES "china.jpg", d); }
static sp_status jpeg_progressive_decode(uint64_t *d) { return decode(IMAGES "china_progressive.jpg", d); }
static sp_status webp_decode(uint64_t *d) { return decode(IMAGES "flower.webp", d); }
static sp_status webp_lossless_decode(uint64_t *d) { return decode(IMAGES "flower_lossless.webp", d); }
static sp_status gif_decode(uint64_t *d) { return decode(IMAGES "flower.gif", d); }
static sp_status bmp_decode(uint64_t *d) { return decode(IMAGES "flower.bmp", d); }

static sp_status encode(uint64_t *digest, bool png)
{
    sp_tensor *t = NULL, *out = NULL;
    sp_status status = numbers(SP_DTYPE_U8, 3, (const int64_t[]){40, 50, 3}, &t);
    if (status == SP_OK) status = png ? sp_image_encode_png(t, 6, &out) : sp_image_encode_jpeg(t, 90, &out);
    if (status == SP_OK) add_tensor(digest, out);
    sp_tensor_release(t);
    sp_tensor_release(out);
    return status;
}
static sp_status png_encode(uint64_t *d) { return encode(d, true); }
static sp_status jpeg_encode(uint64_t *d) { return encode(d, false); }

static sp_status record_write(uint64_t *digest)
{
    const sp_record_field fields[] = {
        {"label", SP_RECORD_INT32, -1, {0}}, {"name", SP_RECORD_STRING, -1, {0}}, {"data", SP_RECORD_BYTES, -1, {0}}};
    const sp_record_plan plan = {.overwrite = true, .header_bytes = 16384, .page_bytes = 32768};
    sp_record_writer *w = NULL;
    const char *path = in_scratch("w.mindrecord");
    sp_status status = sp_record_create(path, fields, 3, &plan, &w);
    for (int i = 0; status == SP_OK && i < 20; i++)
        status = sp_record_write(
            w, (const sp_record_value[]){{.type = SP_RECORD_INT32, .rank = -1, .i = i},
                                         {.type = SP_RECORD_STRING, .rank = -1, .data = "abcdefgh", .bytes = 8},
                                         {.type = SP_RECORD_BYTES, .rank = -1, .data = IMAGES, .bytes = 20}});
    if (status == SP_OK) status = sp_record_commit(w);
    sp_record_writer_release(w);
    if (status == SP_OK) add_file(digest, path);
    return status;
}

static sp_status record_read(uint64_t *digest)
{
    sp_record *r = NULL;
    sp_record_row *row = NULL;
    sp_status status = sp_record_open("tests/data/files/ms210/alltypes.mindrecord", NULL, &r);
    if (status == SP_OK) status = sp_record_row_create(r, NULL, 0, &row);
    for (int64_t i = 0; status == SP_OK && i < sp_record_count(r); i++) {
        status = sp_record_read(r, i, row);
        for (int k = 0; status == SP_OK && k < sp_record_row_count(row); k++) {
            const sp_record_value *v = &sp_record_row_values(row)[k];
            add_bytes(digest, &v->i, sizeof v->i);
            if (v->data) add_bytes(digest, v->data, v->bytes);
        }
    }
    sp_record_row_release(row);
    sp_record_release(r);
    return status;
}

static sp_status encrypted_record_read(uint64_t *digest)
{
    const sp_record_secret secret = {.key = "89012345678901AB", .key_bytes = 16, .mode = "AES-GCM"};
    sp_record *r = NULL;
    sp_status status =
        sp_record_open("tests/data/files/ms210/enc_AES-GCM_key_89012345678901AB.mindrecord", &secret, &r);
    if (status == SP_OK) *digest += (uint64_t)sp_record_count(r);
    sp_record_release(r);
    return status;
}

static void no_report(void *context, const char *text) { (void)context, (void)text; }

/* A healthy file has no problems, also not when the check runs out of memory. */
static sp_status record_check(uint64_t *digest)
{
    int64_t n = 0;
    SP_TRY(sp_record_check("tests/data/files/ms210/shapes.mindrecord", NULL, no_report, NULL, &n));
    *digest += (uint64_t)n;
    return SP_OK;
}

/* Rows of a data set; with tolerate, good rows must not be dropped because there was no memory for them. */
static sp_status read_rows(sp_dataset *ds, int n_workers, uint64_t *digest)
{
    sp_iterator *it = NULL;
    SP_TRY(sp_iterator_create(ds, &(sp_iterator_plan){.n_workers = n_workers, .seed = 7}, &it));
    sp_status status = SP_OK;
    int64_t n_rows = 0;
    for (bool more = true; status == SP_OK && more;) {
        sp_tensor *row[8] = {0};
        status = sp_iterator_next(it, row, &more);
        for (int i = 0; i < 8; i++) {
            if (status == SP_OK && more) add_tensor(digest, row[i]);
            sp_tensor_release(row[i]);
        }
        n_rows += status == SP_OK && more;
    }
    add_bytes(digest, &n_rows, sizeof n_rows);
    sp_iterator_release(it);
    return status;
}

static sp_status image_rows(bool tolerate, int n_workers, uint64_t *digest)
{
    static const char *const paths[] = {IMAGES "china.jpg", IMAGES "astronaut_palette.png", IMAGES "flower.webp",
                                        IMAGES "coffee.jpg"};
    sp_transform *t[2] = {0};
    sp_dataset *files = NULL, *mapped = NULL, *good = NULL, *batches = NULL;
    const double size[2] = {16, 16};
    sp_status status = sp_dataset_from_files(4, 1, paths, 1, NULL, (const char *const[]){"image"},
                                             &(sp_order){.shuffle = true}, &files);
    if (status == SP_OK) status = sp_transform_create("Decode", 0, NULL, 0, NULL, &t[0]);
    if (status == SP_OK)
        status = sp_transform_create("Resize", 1, &(sp_transform_arg){"size", 2, size}, 0, NULL, &t[1]);
    if (status == SP_OK) status = sp_dataset_map(files, 2, t, 1, (const char *const[]){"image"}, 0, NULL, &mapped);
    if (status == SP_OK && tolerate) status = sp_dataset_tolerate(mapped, false, &good);
    if (status == SP_OK) status = sp_dataset_batch(tolerate ? good : mapped, 2, false, &batches);
    if (status == SP_OK) status = read_rows(batches, n_workers, digest);
    sp_dataset_release(batches);
    sp_dataset_release(good);
    sp_dataset_release(mapped);
    sp_dataset_release(files);
    for (int i = 0; i < 2; i++) sp_transform_release(t[i]);
    return status;
}
static sp_status pipeline_images(uint64_t *d) { return image_rows(false, 0, d); }
static sp_status pipeline_workers(uint64_t *d) { return image_rows(false, 2, d); }
static sp_status pipeline_tolerate(uint64_t *d) { return image_rows(true, 0, d); }

static sp_status pipeline_record(uint64_t *digest)
{
    sp_record *r = NULL;
    sp_dataset *ds = NULL, *shuffled = NULL;
    sp_status status = sp_record_open("tests/data/files/ms210/images.mindrecord", NULL, &r);
    if (status == SP_OK) status = sp_dataset_from_record(r, NULL, 0, &(sp_order){.shuffle = true}, &ds);
    if (status == SP_OK) status = sp_dataset_shuffle(ds, 4, &shuffled);
    if (status == SP_OK) status = read_rows(shuffled, 0, digest);
    sp_dataset_release(shuffled);
    sp_dataset_release(ds);
    sp_record_release(r);
    return status;
}

static uint32_t crc32c(const unsigned char *p, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

/* Example{features{feature{key "a" value{int64_list{value 1, 2, 3}}}}} */
static void tfrecord_make(void)
{
    static const unsigned char example[] = {0x0a, 0x0e, 0x0a, 0x0c, 0x0a, 0x01, 'a', 0x12,
                                            0x07, 0x1a, 0x05, 0x0a, 0x03, 1,    2,   3};
    const uint64_t n = sizeof example;
    unsigned char head[12];
    memcpy(head, &n, 8);
    uint32_t crc = crc32c(head, 8);
    memcpy(head + 8, &crc, 4);
    crc = crc32c(example, n);
    FILE *f = fopen(in_scratch("a.tfrecord"), "wb");
    for (int i = 0; f && i < 3; i++) fwrite(head, 1, 12, f), fwrite(example, 1, n, f), fwrite(&crc, 1, 4, f);
    if (f) fclose(f);
}

static sp_status tfrecord_read(uint64_t *digest)
{
    sp_tfrecord *file = NULL;
    sp_example *e = NULL;
    sp_status status = sp_tfrecord_open(in_scratch("a.tfrecord"), &file);
    if (status == SP_OK) status = sp_example_create(&e);
    for (;;) {
        const void *data = NULL;
        size_t bytes = 0;
        if (status == SP_OK) status = sp_tfrecord_next(file, &data, &bytes);
        if (status != SP_OK || !data) break;
        status = sp_example_parse(e, data, bytes);
        const sp_feature *a = status == SP_OK ? sp_example_find(e, "a") : NULL;
        if (a) add_bytes(digest, a->ints, a->count * sizeof *a->ints);
    }
    sp_example_release(e);
    sp_tfrecord_release(file);
    return status;
}

/* --- all of them -------------------------------------------------------------------------------------------------------- */

#include "memory/works_deploy.h"
#include "memory/works_servers.h"

/* libwebp 1.2.4 frees tables that it did not make, when it has no memory for them: webp_lossless_decode. */
static const starve_work works[] = {
    {"ckpt_load", ckpt_load, NULL, STARVE_BOTH},
    {"ckpt_save", ckpt_save, NULL, STARVE_BOTH},
    {"safetensors_load", safetensors_load, NULL, STARVE_BOTH},
    {"safetensors_save", safetensors_save, NULL, STARVE_BOTH},
    {"npz_load", npz_load, NULL, STARVE_BOTH},
    {"npz_save", npz_save, NULL, STARVE_BOTH},
    {"torch_load", torch_load, NULL, STARVE_BOTH},
    {"torch_old_load", torch_old_load, NULL, STARVE_BOTH},
    {"h5_load", h5_load, NULL, STARVE_BOTH},
    {"h5_new_load", h5_new_load, NULL, STARVE_BOTH},
    {"tensorflow_load", tensorflow_load, NULL, STARVE_BOTH},
    {"keras_load", keras_load, NULL, STARVE_BOTH},
    {"encrypted_load", encrypted_load, NULL, STARVE_USES_OPENSSL},
    {"encrypted_save", encrypted_save, NULL, STARVE_USES_OPENSSL},
    {"onnx_run", onnx_run, NULL, STARVE_BOTH},
    {"onnx_sizes_run", onnx_sizes_run, NULL, STARVE_BOTH},
    {"mindir_sizes_run", mindir_sizes_run, NULL, STARVE_BOTH},
    {"onnx_mlp_run", onnx_mlp_run, NULL, STARVE_BOTH},
    {"onnx_branch_run", onnx_branch_run, NULL, STARVE_BOTH},
    {"onnx_attention_run", onnx_attention_run, NULL, STARVE_BOTH},
    {"onnx_bytes_run", onnx_bytes_run, NULL, STARVE_BOTH},
    {"onnx_quantised_run", onnx_quantised_run, NULL, STARVE_BOTH},
    {"mindir_run", mindir_run, NULL, STARVE_BOTH},
    {"mindir_loop_run", mindir_loop_run, NULL, STARVE_BOTH},
    {"mindir_encrypted_run", mindir_encrypted_run, NULL, STARVE_USES_OPENSSL},
    {"tflite_run", tflite_run, NULL, STARVE_BOTH},
    {"tflite_int8_run", tflite_int8_run, NULL, STARVE_BOTH},
    {"lite_run", lite_run, NULL, STARVE_BOTH},
    {"lite_packed_run", lite_packed_run, NULL, STARVE_BOTH},
    {"lite_train_run", lite_train_run, NULL, STARVE_BOTH},
    {"mindir_to_onnx", mindir_to_onnx, NULL, STARVE_BOTH},
    {"onnx_to_mindir", onnx_to_mindir, NULL, STARVE_BOTH},
    {"onnx_to_onnx", onnx_to_onnx, NULL, STARVE_BOTH},
    {"model_inspect", model_inspect, NULL, STARVE_BOTH},
    {"conv_gradient", conv_gradient, NULL, STARVE_BOTH},
    {"train_step", train_step, NULL, STARVE_BOTH},
    {"graph_run", graph_run, NULL, STARVE_BOTH},
    {"graph_text", graph_text, NULL, STARVE_BOTH},
    {"onnx_export", onnx_export, NULL, STARVE_BOTH},
    {"mindir_export", mindir_export, NULL, STARVE_BOTH},
    {"vmap", vmap, NULL, STARVE_BOTH},
    {"cached_program", cached_program, NULL, STARVE_BOTH},
    {"png_decode", png_decode, NULL, STARVE_BOTH},
    {"jpeg_decode", jpeg_decode, NULL, STARVE_BOTH},
    {"jpeg_progressive_decode", jpeg_progressive_decode, NULL, STARVE_BOTH},
    {"webp_decode", webp_decode, NULL, STARVE_BOTH},
    {"webp_lossless_decode", webp_lossless_decode, NULL, STARVE_ENGINE_ALONE},
    {"gif_decode", gif_decode, NULL, STARVE_BOTH},
    {"bmp_decode", bmp_decode, NULL, STARVE_BOTH},
    {"png_encode", png_encode, NULL, STARVE_BOTH},
    {"jpeg_encode", jpeg_encode, NULL, STARVE_BOTH},
    {"record_write", record_write, NULL, STARVE_BOTH},
    {"record_read", record_read, NULL, STARVE_BOTH},
    {"encrypted_record_read", encrypted_record_read, NULL, STARVE_USES_OPENSSL},
    {"record_check", record_check, NULL, STARVE_BOTH},
    {"pipeline_images", pipeline_images, NULL, STARVE_BOTH},
    {"pipeline_workers", pipeline_workers, NULL, STARVE_STARTS_THREADS},
    {"pipeline_tolerate", pipeline_tolerate, NULL, STARVE_BOTH},
    {"pipeline_record", pipeline_record, NULL, STARVE_BOTH},
    {"tfrecord_read", tfrecord_read, NULL, STARVE_BOTH},
    {"serve", serve, NULL, STARVE_STARTS_THREADS},
    {"serve_request", ask_model, serve_before, STARVE_STARTS_THREADS},
    {"serve_answers", serve_answers, serve_before, STARVE_STARTS_THREADS},
    {"serve_config", serve_config, NULL, STARVE_STARTS_THREADS},
    {"cache_client", cache_client, cache_before, STARVE_BOTH},
    {"cache_server", cache_server, NULL, STARVE_STARTS_THREADS},
    {"board", board, NULL, STARVE_STARTS_THREADS},
    {"quantize", quantize_static, NULL, STARVE_BOTH},
    {"quantize_weights", quantize_weights, NULL, STARVE_BOTH},
    {"codegen", codegen, NULL, STARVE_BOTH},
    {"codegen_train", codegen_train, NULL, STARVE_BOTH},
    {"lite_write", lite_write, NULL, STARVE_BOTH},
    {"lite_step", lite_step, NULL, STARVE_BOTH},
    {"lite_watched", lite_watched, NULL, STARVE_BOTH},
    {"profile", profile, NULL, STARVE_BOTH},
    {"device", device, NULL, STARVE_BOTH},
};

static void works_begin(void)
{
    snprintf(scratch, sizeof scratch, "/tmp/spore_starve_XXXXXX");
    if (!mkdtemp(scratch)) exit(2);
    memcpy(starve_folder, scratch, sizeof starve_folder);
    tfrecord_make();
    servers_make();
}

static void empty_folder(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        char name[400];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (unlink(name) != 0) empty_folder(name);
    }
    if (d) closedir(d);
    rmdir(path);
}

static void works_end(void) { empty_folder(scratch); }

/* Those whose name has `only` in it (NULL: all), each starved in both ways. Returns how many attempts did not hold. */
static int works_starve(bool every, const char *only, int64_t n, int way)
{
    int n_failed = 0;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        if (only && strcmp(only, works[i].name) && !(only[0] == '*' && strstr(works[i].name, only + 1))) continue;
        for (int k = 0; k < 2; k++)
            if (way < 0 || way == k) n_failed += starve(&works[i], (starve_way)k, every, n);
    }
    return n_failed;
}

#endif
