/* SPDX-License-Identifier: Apache-2.0 */
/* model_config.c - the model configuration extension: how a version is served, in Triton's words.
 *
 *   ModelConfig  1 name  2 platform  3 version_policy (1 latest {1 num_versions}  2 all  3 specific {1* versions})  4 max_batch_size  5* input (1 name  2 data_type
 *   4* dims)  6* output (1 name  2 data_type  3* dims)  7* instance_group (1 name  2 count  4 kind: 2 is KIND_CPU)  11 dynamic_batching (2 max_queue_delay_microseconds)  17 backend
 * Where rows can be joined, dims lack the axis of rows. */
#include <stdio.h>
#include <string.h>

#include "serve/grpc.h"
#include "serve/triton.h"

static int batch_size(const sp_served *m) { return m->max_batch > 1 ? m->max_batch : 0; }

/* Triton's number and name of a dtype. */
static int data_type(sp_dtype dtype, const char **name)
{
    static const struct {
        sp_dtype dtype;
        const char *name;
    } types[] = {{SP_DTYPE_NONE, "TYPE_INVALID"}, {SP_DTYPE_BOOL, "TYPE_BOOL"},  {SP_DTYPE_U8, "TYPE_UINT8"},
                 {SP_DTYPE_U16, "TYPE_UINT16"},   {SP_DTYPE_U32, "TYPE_UINT32"}, {SP_DTYPE_U64, "TYPE_UINT64"},
                 {SP_DTYPE_I8, "TYPE_INT8"},      {SP_DTYPE_I16, "TYPE_INT16"},  {SP_DTYPE_I32, "TYPE_INT32"},
                 {SP_DTYPE_I64, "TYPE_INT64"},    {SP_DTYPE_F16, "TYPE_FP16"},   {SP_DTYPE_F32, "TYPE_FP32"},
                 {SP_DTYPE_F64, "TYPE_FP64"},     {SP_DTYPE_STR, "TYPE_STRING"}, {SP_DTYPE_BF16, "TYPE_BF16"}};
    int i = (int)(sizeof types / sizeof *types) - 1;
    while (i > 0 && types[i].dtype != dtype) i--;
    *name = types[i].name;
    return i;
}

static void put_tensor(sp__text *t, const sp_served *m, bool input, int i)
{
    const sp_spec *s = input ? sp_model_input_spec(m->model, i) : sp_model_output_spec(m->model, i);
    const char *name = input ? sp_model_input_name(m->model, i) : sp_model_output_name(m->model, i), *type;
    data_type(s->dtype, &type);
    sp__text_put(t, "%s{\"name\":", i > 0 ? "," : "");
    sp__json_put_text(t, name, strlen(name));
    sp__text_put(t, ",\"data_type\":\"%s\",\"dims\":[", type);
    const int from = batch_size(m) > 0;
    for (int k = from; k < s->rank; k++) sp__text_put(t, "%s%lld", k > from ? "," : "", (long long)s->dims[k]);
    sp__text_put(
        t,
        input
            ? "],\"format\":\"FORMAT_NONE\",\"is_shape_tensor\":false,\"allow_ragged_batch\":false,\"optional\":false}"
            : "],\"label_filename\":\"\",\"is_shape_tensor\":false}");
}

void sp__model_config_json(const sp_served *m, sp__text *t)
{
    const sp_settings *s = &m->settings;
    sp__text_put(t, "{\"name\":");
    sp__json_put_text(t, m->entry->name, strlen(m->entry->name));
    sp__text_put(t, ",\"platform\":\"spore_%s\",\"backend\":\"spore\",\"version_policy\":{", sp__served_kind(m));
    if (s->n_versions > 0) {
        sp__text_put(t, "\"specific\":{\"versions\":[");
        for (int i = 0; i < s->n_versions; i++) sp__text_put(t, "%s%lld", i > 0 ? "," : "", (long long)s->versions[i]);
        sp__text_put(t, "]}");
    } else if (s->n_newest == SP_SERVE_VERSIONS_MAX) sp__text_put(t, "\"all\":{}");
    else sp__text_put(t, "\"latest\":{\"num_versions\":%d}", s->n_newest);
    sp__text_put(t, "},\"max_batch_size\":%d,\"input\":[", batch_size(m));
    for (int i = 0; i < m->n_in; i++) put_tensor(t, m, true, i);
    sp__text_put(t, "],\"output\":[");
    for (int i = 0; i < m->n_out; i++) put_tensor(t, m, false, i);
    sp__text_put(t, "],\"instance_group\":[{\"name\":");
    sp__json_put_text(t, m->entry->name, strlen(m->entry->name));
    sp__text_put(t, ",\"kind\":\"KIND_CPU\",\"count\":%d,\"gpus\":[],\"profile\":[]}]", s->n_instances);
    if (batch_size(m) > 0)
        sp__text_put(
            t,
            ",\"dynamic_batching\":{\"preferred_batch_size\":[],\"max_queue_delay_microseconds\":%lld,\"preserve_ordering\":false}",
            (long long)s->max_delay_us);
    sp__text_put(t, ",\"parameters\":{}}\n");
}

static sp_status wire_policy(sp_wire_out *o, const sp_settings *s)
{
    const size_t at = o->bytes;
    if (s->n_versions > 0) SP_TRY(sp__grpc_put_dims(o, 1, s->n_versions, s->versions));
    else if (s->n_newest < SP_SERVE_VERSIONS_MAX) SP_TRY(sp__wire_put_number(o, 1, (uint64_t)s->n_newest));
    SP_TRY(sp__grpc_end_part(o, s->n_versions > 0 ? 3 : s->n_newest < SP_SERVE_VERSIONS_MAX ? 1 : 2, at));
    return sp__grpc_end_part(o, 3, at);
}

static sp_status wire_tensor(sp_wire_out *o, const sp_served *m, bool input, int i)
{
    const sp_spec *s = input ? sp_model_input_spec(m->model, i) : sp_model_output_spec(m->model, i);
    const size_t at = o->bytes;
    const char *name;
    const int from = batch_size(m) > 0;
    SP_TRY(sp__grpc_put_text(o, 1, input ? sp_model_input_name(m->model, i) : sp_model_output_name(m->model, i)));
    SP_TRY(sp__wire_put_number(o, 2, (uint64_t)data_type(s->dtype, &name)));
    if (s->rank > from) SP_TRY(sp__grpc_put_dims(o, input ? 4 : 3, s->rank - from, s->dims + from));
    return sp__grpc_end_part(o, input ? 5 : 6, at);
}

sp_status sp__model_config_put(const sp_served *m, sp_wire_out *o, uint32_t field)
{
    const size_t at = o->bytes;
    size_t inner;
    char platform[40];
    snprintf(platform, sizeof platform, "spore_%s", sp__served_kind(m));
    SP_TRY(sp__grpc_put_text(o, 1, m->entry->name));
    SP_TRY(sp__grpc_put_text(o, 2, platform));
    SP_TRY(wire_policy(o, &m->settings));
    SP_TRY(sp__wire_put_number(o, 4, (uint64_t)batch_size(m)));
    for (int i = 0; i < m->n_in; i++) SP_TRY(wire_tensor(o, m, true, i));
    for (int i = 0; i < m->n_out; i++) SP_TRY(wire_tensor(o, m, false, i));
    inner = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, m->entry->name));
    SP_TRY(sp__wire_put_number(o, 2, (uint64_t)m->settings.n_instances));
    SP_TRY(sp__wire_put_number(o, 4, 2));
    SP_TRY(sp__grpc_end_part(o, 7, inner));
    if (batch_size(m) > 0) {
        inner = o->bytes;
        SP_TRY(sp__wire_put_number(o, 2, (uint64_t)m->settings.max_delay_us));
        SP_TRY(sp__grpc_end_part(o, 11, inner));
    }
    SP_TRY(sp__grpc_put_text(o, 17, "spore"));
    return sp__grpc_end_part(o, field, at);
}
