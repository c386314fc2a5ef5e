/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_write.c - models into files: MindIR, ONNX or MindSpore Lite of a recorded function. */
#include "base/plain.h"
#include "formats/format_impl.h"
#include "formats/model_impl.h"
#include "formats/mindir/mindir_build.h"
#include "base/text.h"
#include "formats/lite/lite_out.h"
#include "formats/onnx/onnx_out.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { RECORD = 64, WEIGHTS_MAX = 1 << 30 };

static sp_status write_bytes(const char *path, const sp_file_options *options, const void *data, size_t bytes)
{
    sp_sink *sink;
    SP_TRY(sp__sink_open(path, options, bytes, &sink));
    sp_status status = sp__sink_write(sink, data, bytes);
    if (status == SP_OK) return sp__sink_take_commit(sink);
    sp__sink_abort(sink);
    return status;
}

/* A front record that tells the byte order, then the weights, each at a multiple of 64. */
static sp_status write_outside(const char *path, const sp_file_options *options, const sp_mindir_outside *o)
{
    static const uint8_t zeros[RECORD];
    const uint8_t front[RECORD] = {1};
    sp_sink *sink;
    SP_TRY(sp__sink_open(path, options, o->bytes, &sink));
    sp_status status = sp__sink_write(sink, front, RECORD);
    for (int i = 0; i < o->n && status == SP_OK; i++) {
        sp_tensor *plain;
        size_t bytes = sp_tensor_bytes(o->tensors[i]);
        status = sp_tensor_contiguous(o->tensors[i], &plain);
        if (status != SP_OK) break;
        status = sp__sink_write(sink, sp_tensor_data(plain), bytes);
        if (status == SP_OK) status = sp__sink_write(sink, zeros, (RECORD - bytes % RECORD) % RECORD);
        sp_tensor_release(plain);
    }
    if (status == SP_OK) return sp__sink_take_commit(sink);
    sp__sink_abort(sink);
    return status;
}

/* NAME.mindir becomes NAME_graph.mindir and NAME_variables/data_0, as MindSpore has it. */
static sp_status save_split(const char *path, sp_function *f, const sp_model_names *names,
                            const sp_file_options *options)
{
    sp__text graph = {0}, folder = {0}, data = {0}, location = {0};
    size_t stem = strlen(path);
    if (stem > 7 && !strcmp(path + stem - 7, ".mindir")) stem -= 7;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    sp__text_put(&graph, "%.*s_graph.mindir", (int)stem, path);
    sp__text_put(&folder, "%.*s_variables", (int)stem, path);
    sp__text_put(&data, "%.*s_variables/data_0", (int)stem, path);
    sp__text_put(&location, "%.*s_variables/data_0", (int)(stem - (size_t)(name - path)), name);
    sp_wire_out out = {0};
    sp_mindir_outside outside = {.location = location.data,
                                 .bytes = RECORD,
                                 .tensors = sp__alloc_zero((size_t)names->n_parameters * sizeof(sp_tensor *) + 1)};
    sp_status status =
        graph.failed || folder.failed || data.failed || location.failed || !outside.tensors ? SP_NOMEM : SP_OK;
    if (status == SP_OK) status = sp__mindir_build(f, names, &outside, &out);
    if (status == SP_OK && mkdir(folder.data, 0777) != 0 && errno != EEXIST)
        status = sp__fail(SP_IO, "the folder %s cannot be made: %s", folder.data, sp__strerror(errno));
    if (status == SP_OK) status = write_outside(data.data, options, &outside);
    if (status == SP_OK) status = write_bytes(graph.data, options, out.data, out.bytes);
    sp__wire_out_free(&out);
    sp__free(outside.tensors);
    sp__free(graph.data);
    sp__free(folder.data);
    sp__free(data.data);
    sp__free(location.data);
    return status;
}

static sp_status save_mindir(const char *path, sp_function *f, const sp_model_names *names,
                             const sp_file_options *options)
{
    uint64_t bytes = 0;
    for (int i = 0; i < names->n_parameters; i++) bytes += sp_tensor_bytes(names->parameters[i]);
    if (bytes > (options->shard_bytes ? options->shard_bytes : WEIGHTS_MAX)) return save_split(path, f, names, options);
    sp_wire_out out = {0};
    sp_status status = sp__mindir_build(f, names, NULL, &out);
    /* MindSpore reads a file as one protobuf message. */
    if (status == SP_OK && out.bytes > INT32_MAX)
        status = sp__fail(SP_VALUE, "the model has %zu bytes, a MindIR file holds at most 2 GB", out.bytes);
    if (status == SP_OK) status = write_bytes(path, options, out.data, out.bytes);
    sp__wire_out_free(&out);
    return status;
}

static bool is_lite(const char *path, const sp_file_options *options)
{
    size_t n = strlen(path);
    return options->format ? !strcmp(options->format, "lite") : n >= 3 && !strcmp(path + n - 3, ".ms");
}

static bool is_onnx(const char *path, const sp_file_options *options)
{
    size_t n = strlen(path);
    return options->format ? !strcmp(options->format, "onnx") : n >= 5 && !strcmp(path + n - 5, ".onnx");
}

sp_status sp__model_check_opset(const char *path, int opset, const sp_file_options *options)
{
    static const sp_file_options none = {0};
    SP_CHECK(opset == 0 || is_onnx(path, options ? options : &none), SP_VALUE,
             "opset %d is for .onnx, it would change nothing in %s", opset, path);
    return SP_OK;
}

sp_status sp_model_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options)
{
    static const sp_file_options none = {0};
    SP_CHECK(path && f && names, SP_VALUE, "path, f and names must not be NULL");
    if (!options) options = &none;
    sp_status status = is_lite(path, options)   ? sp__lite_save(path, f, names, options)
                       : is_onnx(path, options) ? sp__onnx_save(path, f, names, options)
                                                : save_mindir(path, f, names, options);
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}
