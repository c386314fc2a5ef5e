/* SPDX-License-Identifier: Apache-2.0 */
/* kserve_names.c - what the Open Inference Protocol calls things. */
#include <string.h>

#include "serve/json.h"
#include "serve/preprocess.h"
#include "serve/routes.h"

static const struct {
    sp_dtype dtype;
    const char *name;
} datatypes[] = {{SP_DTYPE_BOOL, "BOOL"},  {SP_DTYPE_U8, "UINT8"}, {SP_DTYPE_U16, "UINT16"}, {SP_DTYPE_U32, "UINT32"},
                 {SP_DTYPE_U64, "UINT64"}, {SP_DTYPE_I8, "INT8"},  {SP_DTYPE_I16, "INT16"},  {SP_DTYPE_I32, "INT32"},
                 {SP_DTYPE_I64, "INT64"},  {SP_DTYPE_F16, "FP16"}, {SP_DTYPE_BF16, "BF16"},  {SP_DTYPE_F32, "FP32"},
                 {SP_DTYPE_F64, "FP64"},   {SP_DTYPE_STR, "BYTES"}};
enum { N_DATATYPES = sizeof datatypes / sizeof *datatypes };

const char *sp__kserve_datatype(sp_dtype dtype)
{
    for (int i = 0; i < N_DATATYPES; i++)
        if (datatypes[i].dtype == dtype) return datatypes[i].name;
    return NULL;
}

sp_dtype sp__kserve_dtype(const char *datatype)
{
    for (int i = 0; i < N_DATATYPES; i++)
        if (strcmp(datatypes[i].name, datatype) == 0) return datatypes[i].dtype;
    return SP_DTYPE_NONE;
}

static void put_value(sp__text *t, const char *name, const sp_spec *s)
{
    const char *datatype = sp__kserve_datatype(s->dtype);
    sp__text_put(t, "{\"name\":");
    sp__json_put_text(t, name, strlen(name));
    sp__text_put(t, ",\"datatype\":\"%s\",\"shape\":[", datatype != NULL ? datatype : "UNKNOWN");
    for (int k = 0; k < s->rank; k++) sp__text_put(t, "%s%lld", k ? "," : "", (long long)s->dims[k]);
    sp__text_put(t, "]}");
}

void sp__kserve_metadata(const sp_served *m, sp__text *t)
{
    sp__text_put(t, "{\"name\":");
    sp__json_put_text(t, m->entry->name, strlen(m->entry->name));
    int64_t versions[SP_SERVE_VERSIONS_MAX];
    const int n = sp__entry_versions(m->entry, versions);
    for (int i = 0; i < n; i++) sp__text_put(t, "%s\"%lld\"", i > 0 ? "," : ",\"versions\":[", (long long)versions[i]);
    sp__text_put(t, "%s],\"platform\":\"spore_%s\",\"inputs\":[", n == 0 ? ",\"versions\":[" : "", sp__served_kind(m));
    for (int i = 0; i < m->n_in; i++) {
        if (i > 0) sp__text_put(t, ",");
        put_value(t, sp_model_input_name(m->model, i), sp_model_input_spec(m->model, i));
    }
    sp__text_put(t, "],\"outputs\":[");
    for (int i = 0; i < m->n_out; i++) {
        if (i > 0) sp__text_put(t, ",");
        put_value(t, sp_model_output_name(m->model, i), sp_model_output_spec(m->model, i));
    }
    sp__text_put(t, "],\"max_batch\":%d,\"batch_exact\":%s", m->max_batch, m->exact ? "true" : "false");
    if (m->preprocess != NULL) {
        const char *name = sp_model_input_name(m->model, sp__preprocess_input(m->preprocess));
        sp__text_put(t, ",\"pictures\":");
        sp__json_put_text(t, name, strlen(name));
    }
    for (int i = 0; i < m->n_classes; i++) {
        sp__text_put(t, i > 0 ? "," : ",\"classes\":[");
        sp__json_put_text(t, m->classes[i], strlen(m->classes[i]));
    }
    sp__text_put(t, "%s}\n", m->n_classes > 0 ? "]" : "");
}
