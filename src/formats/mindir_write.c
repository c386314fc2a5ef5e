/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_write.c - models into files: MindIR of a recorded function. */
#include "formats/format_impl.h"
#include "formats/mindir_build.h"

sp_status sp_model_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options)
{
    static const sp_file_options none = {0};
    sp_wire_out out = {0};
    sp_sink *sink = NULL;
    SP_CHECK(path && f && names, SP_VALUE, "path, f and names must not be NULL");
    sp_status status = sp__mindir_build(f, names, &out);
    /* MindSpore reads a file as one protobuf message. */
    if (status == SP_OK && out.bytes > INT32_MAX)
        status = sp__fail(SP_VALUE, "the model has %zu bytes, a MindIR file holds at most 2 GB", out.bytes);
    if (status == SP_OK) status = sp__sink_open(path, options ? options : &none, out.bytes, &sink);
    if (status == SP_OK && (status = sp__sink_write(sink, out.data, out.bytes)) != SP_OK) sp__sink_abort(sink);
    else if (status == SP_OK) status = sp__sink_take_commit(sink);
    sp__wire_out_free(&out);
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}
