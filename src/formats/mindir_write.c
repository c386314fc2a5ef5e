/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_write.c - models into files: MindIR or ONNX of a recorded function. */
#include "formats/format_impl.h"
#include "formats/mindir_build.h"
#include "formats/onnx_out.h"

#include <string.h>

static sp_status save_mindir(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options)
{
    sp_wire_out out = {0};
    sp_sink *sink = NULL;
    sp_status status = sp__mindir_build(f, names, &out);
    /* MindSpore reads a file as one protobuf message. */
    if (status == SP_OK && out.bytes > INT32_MAX)
        status = sp__fail(SP_VALUE, "the model has %zu bytes, a MindIR file holds at most 2 GB", out.bytes);
    if (status == SP_OK) status = sp__sink_open(path, options, out.bytes, &sink);
    if (status == SP_OK && (status = sp__sink_write(sink, out.data, out.bytes)) != SP_OK) sp__sink_abort(sink);
    else if (status == SP_OK) status = sp__sink_take_commit(sink);
    sp__wire_out_free(&out);
    return status;
}

static bool is_onnx(const char *path, const sp_file_options *options)
{
    size_t n = strlen(path);
    return options->format ? !strcmp(options->format, "onnx") : n >= 5 && !strcmp(path + n - 5, ".onnx");
}

sp_status sp_model_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options)
{
    static const sp_file_options none = {0};
    SP_CHECK(path && f && names, SP_VALUE, "path, f and names must not be NULL");
    if (!options) options = &none;
    sp_status status = is_onnx(path, options) ? sp__onnx_save(path, f, names, options) : save_mindir(path, f, names, options);
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}
