/* SPDX-License-Identifier: Apache-2.0 */
/* predict_rest.c - POST /v1/models/NAME[/versions/V or /labels/L]:predict, as KServe v1 and TensorFlow Serving have it.
 *
 *     {"instances": [{"x": [0.5, 1]}, ...]}   or, for a model with one input, {"instances": [[0.5, 1], ...]}     gives {"predictions": [...]}
 *     {"inputs": {"x": [[0.5, 1], ...]}}      or, for a model with one input, {"inputs": [[0.5, 1], ...]}        gives {"outputs": ...}
 *
 * Instances are rows, as in MindSpore Serving's way; inputs are whole tensors. Outputs of a model with one are given without its name. */
#include <string.h>

#include "serve/decode.h"
#include "serve/mindspore.h"
#include "serve/routes.h"

/* An object of inputs by name or, for a model with one input, its value alone. */
static sp_status read_named(sp_job *job, sp_json *j, sp_tensor **row)
{
    const sp_model *m = job->model->model;
    const char *key;
    sp_status status;
    if (sp__json_peek(j) != '{') {
        SP_CHECK(job->model->n_in == 1, SP_VALUE, "the model has %d inputs: give them by name, {\"NAME\": VALUE, ...}",
                 job->model->n_in);
        const sp_dtype wanted = sp_model_input_spec(m, 0)->dtype;
        return sp__decode_array(j, sp_model_input_name(m, 0), wanted != SP_DTYPE_NONE ? wanted : SP_DTYPE_F32, &row[0]);
    }
    for (bool more = false; (status = sp__json_member(j, &job->arena, &more, &key)) == SP_OK && more;) {
        int i;
        SP_TRY(sp__decode_input(job, key, &i));
        SP_CHECK(row[i] == NULL, SP_VALUE, "input '%s' is given twice", key);
        const sp_dtype wanted = sp_model_input_spec(m, i)->dtype;
        SP_TRY(sp__decode_array(j, key, wanted != SP_DTYPE_NONE ? wanted : SP_DTYPE_F32, &row[i]));
    }
    return status;
}

static sp_status read_instances(sp_job *job, sp_json *j, sp_instances *all)
{
    sp_status status;
    for (bool more = false; (status = sp__json_each(j, '[', &more)) == SP_OK && more;) {
        sp_tensor **row;
        SP_TRY(sp__instances_add(job, all, &row));
        status = read_named(job, j, row);
        if (status != SP_OK) {
            sp__error_context("instance %lld", (long long)all->n - 1);
            return status;
        }
    }
    return status;
}

/* The name of a signature: a model has one, which is the default. */
static sp_status read_signature(sp_job *job, sp_json *j)
{
    const char *text;
    SP_TRY(sp__json_text(j, &job->arena, &text, NULL));
    SP_CHECK(text[0] == '\0' || strcmp(text, "serving_default") == 0, SP_VALUE,
             "signature_name is '%.64s'; a model has one signature, serving_default", text);
    return SP_OK;
}

static sp_status read_body(sp_job *job, sp_json *j, sp_instances *all)
{
    const char *key;
    sp_status status;
    int n = 0;
    for (bool more = false; (status = sp__json_member(j, &job->arena, &more, &key)) == SP_OK && more;) {
        const bool instances = strcmp(key, "instances") == 0, inputs = strcmp(key, "inputs") == 0;
        if (strcmp(key, "signature_name") == 0) {
            SP_TRY(read_signature(job, j));
            continue;
        }
        if (!instances && !inputs)
            return sp__json_fail(j, "'%.32s' is not known; the request has instances or inputs, and signature_name",
                                 key);
        if (n++ > 0) return sp__json_fail(j, "instances or inputs are given once");
        job->columns = inputs;
        SP_TRY(inputs ? read_named(job, j, job->in) : read_instances(job, j, all));
    }
    SP_TRY(status);
    SP_CHECK(n == 1, SP_VALUE, "the request has neither instances nor inputs");
    return sp__json_end(j);
}

static sp_status decode(sp_job *job)
{
    sp_instances all = {0};
    SP_TRY(sp__decode_encoding(job));
    sp_json j = sp__json_open(job->x->body, job->x->body_bytes);
    SP_CHECK(job->x->body_bytes > 0, SP_VALUE, "the request has no body");
    sp_status status = read_body(job, &j, &all);
    if (status == SP_OK && !job->columns) status = sp__instances_stack(job, &all);
    sp__instances_free(job, &all);
    return status;
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

/* Outputs by name or, where there is one, alone: all of it, or row r. */
static void put_outputs(const sp_job *job, sp__text *t, sp_tensor *const *plain, int64_t r)
{
    const int n = job->model->n_out;
    const bool rows = !job->columns && job->bare;
    for (int i = 0; i < n; i++) {
        const char *name = sp_model_output_name(job->model->model, i);
        const size_t step = rows ? sp_tensor_bytes(plain[i]) / (size_t)job->rows : 0;
        if (n > 1) {
            sp__text_put(t, i > 0 ? "," : "{");
            sp__json_put_text(t, name, strlen(name));
            sp__text_put(t, ":");
        }
        sp__json_put_nested(t, sp_tensor_dtype(plain[i]), sp_tensor_rank(plain[i]) - rows,
                            sp_tensor_dims(plain[i]) + rows, (const char *)sp_tensor_data(plain[i]) + (size_t)r * step);
    }
    if (n > 1) sp__text_put(t, "}");
}

static sp_status encode(sp_job *job)
{
    sp__text t = {0};
    const int n_out = job->model->n_out;
    sp_tensor **plain = sp__arena_alloc(&job->arena, (size_t)n_out * sizeof *plain + 1);
    if (plain == NULL) return SP_NOMEM;
    const sp_status status = sp__instances_results(job, plain);
    if (status == SP_OK && job->columns) {
        sp__text_put(&t, "{\"outputs\":");
        put_outputs(job, &t, plain, 0);
        sp__text_put(&t, "}");
    } else if (status == SP_OK) {
        sp__text_put(&t, "{\"predictions\":[");
        for (int64_t r = 0; r < job->n_instances; r++) {
            if (r > 0) sp__text_put(&t, ",");
            put_outputs(job, &t, plain, r);
        }
        sp__text_put(&t, "]}");
    }
    for (int i = 0; i < n_out; i++) sp_tensor_release(plain[i]);
    if (status != SP_OK) sp__free(t.data);
    else sp__reply_text(job->x, 200, "application/json", &t);
    return status;
}

static void fail(sp_job *job) { sp__reply_error(job->x, job->status, job->error.message); }

const sp_protocol sp__protocol_predict_rest = {
    .name = "predict_rest", .decode = decode, .encode = encode, .fail = fail};

/* --- state ---------------------------------------------------------------------------------------------------------- */

void sp__predict_state(sp_entry *e, sp__text *t)
{
    int64_t versions[SP_SERVE_VERSIONS_MAX];
    const int n = sp__entry_versions(e, versions);
    char why[400];
    sp__entry_unavailable(e, why);
    sp__text_put(t, "{\"name\":");
    sp__json_put_text(t, e->name, strlen(e->name));
    sp__text_put(t, ",\"ready\":%s,\"model_version_status\":[", n > 0 ? "true" : "false");
    for (int i = n - 1; i >= 0; i--)
        sp__text_put(
            t,
            "{\"version\":\"%lld\",\"state\":\"AVAILABLE\",\"status\":{\"error_code\":\"OK\",\"error_message\":\"\"}}%s",
            (long long)versions[i], i > 0 ? "," : "");
    if (n == 0) {
        sp__text_put(t, "{\"version\":\"0\",\"state\":\"%s\",\"status\":{\"error_code\":\"UNKNOWN\",\"error_message\":",
                     why[0] != '\0' ? "END" : "LOADING");
        sp__json_put_text(t, why, strlen(why));
        sp__text_put(t, "}}");
    }
    sp__text_put(t, "]}\n");
}
