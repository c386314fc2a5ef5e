/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore_rest.c - POST /model/NAME[/version/V]:predict, the way of MindSpore Serving.
 *
 *     {"instances": [{"x": [0.5, 1]}, {"x": {"b64": "AAAAPwAAgD8=", "type": "fp32", "shape": [2]}}]}
 *
 * An instance is one row: its inputs lack the first axis of the model's, and all instances of a request become one batch. A single instance may
 * have that axis. Numbers take the dtype of the model's input, where MindSpore Serving makes int32 and float32 of them. */
#include <string.h>

#include "serve/decode.h"
#include "serve/mindspore.h"

/* --- base64 -------------------------------------------------------------------------------------------------------- */

/* RFC 4648 with its filling, in place of `text`; -1: it is none. */
static int64_t decode_base64(const char *text, size_t bytes, uint8_t *out)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int64_t n = 0;
    if (bytes % 4 != 0) return -1;
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t v = 0;
        int filling = 0;
        for (int k = 0; k < 4; k++) {
            const char c = text[i + (size_t)k];
            const char *found = c != '\0' && c != '=' ? strchr(alphabet, c) : NULL;
            if (c == '=' && i + 4 == bytes && k >= 2) filling++;
            else if (found == NULL || filling > 0) return -1;
            v = v << 6 | (found != NULL ? (uint32_t)(found - alphabet) : 0);
        }
        if ((filling == 1 && (v & 0xFF) != 0) || (filling == 2 && (v & 0xFFFF) != 0)) return -1;
        for (int k = 0; k < 3 - filling; k++) out[n++] = (uint8_t)(v >> (16 - 8 * k));
    }
    return n;
}

static sp_dtype type_of(const char *name)
{
    static const char *const shorts[][2] = {{"fp16", "float16"}, {"fp32", "float32"}, {"fp64", "float64"}};
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
        if (strcmp(name, shorts[i][0]) == 0) name = shorts[i][1];
    const sp_dtype d = sp_dtype_parse(name);
    return d != SP_DTYPE_NONE && strchr("biuf", sp_dtype_kind(d)) != NULL && d != SP_DTYPE_BF16 ? d : SP_DTYPE_NONE;
}

/* --- values -------------------------------------------------------------------------------------------------------- */

/* {"b64": ..., "type": ..., "shape": [...]} */
static sp_status read_b64(sp_job *job, sp_json *j, const char *name, sp_dtype wanted, sp_tensor **out)
{
    const char *key, *text = NULL, *type = NULL;
    size_t bytes = 0;
    int64_t dims[SP_RANK_MAX], rank = 0, count = 0, size;
    sp_status status;
    for (bool more = false; (status = sp__json_member(j, &job->arena, &more, &key)) == SP_OK && more;) {
        if (strcmp(key, "b64") == 0) SP_TRY(sp__json_text(j, &job->arena, &text, &bytes));
        else if (strcmp(key, "type") == 0) SP_TRY(sp__json_text(j, &job->arena, &type, NULL));
        else if (strcmp(key, "shape") == 0) {
            rank = 0;
            for (bool inner = false; (status = sp__json_each(j, '[', &inner)) == SP_OK && inner; rank++) {
                int64_t d;
                SP_TRY(sp__json_int(j, &d));
                if (rank < SP_RANK_MAX) dims[rank] = d;
            }
            SP_TRY(status);
        } else return sp__json_fail(j, "'%.32s' is none of b64, type and shape", key);
    }
    SP_TRY(status);
    SP_CHECK(text != NULL, SP_VALUE, "input '%s' has no b64", name);
    const sp_dtype dtype = type != NULL ? type_of(type) : SP_DTYPE_NONE;
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_TYPE, "input '%s' has the type '%.32s', which is not taken; the model wants %s",
             name, type != NULL ? type : "bytes", sp_dtype_name(wanted));
    SP_TRY(sp__decode_count(name, rank, dims, &count));
    uint8_t *data = sp__arena_alloc(&job->arena, bytes / 4 * 3 + 3);
    if (data == NULL) return SP_NOMEM;
    size = decode_base64(text, bytes, data);
    SP_CHECK(size >= 0, SP_VALUE, "input '%s': the text of b64 is not base64", name);
    SP_CHECK((uint64_t)size == (uint64_t)count * sp_dtype_bytes(dtype), SP_VALUE,
             "input '%s' has %lld bytes, its shape and type need %llu", name, (long long)size,
             (unsigned long long)count * sp_dtype_bytes(dtype));
    return sp_tensor_create_from(dtype, (int)rank, dims, data, out);
}

static sp_status read_value(sp_job *job, sp_json *j, const char *name, sp_dtype wanted, sp_tensor **out)
{
    return sp__json_peek(j) == '{' ? read_b64(job, j, name, wanted, out) : sp__decode_array(j, name, wanted, out);
}

/* --- instances ----------------------------------------------------------------------------------------------------- */

static sp_status read_instance(sp_job *job, sp_json *j, sp_instances *all)
{
    const char *key;
    sp_status status;
    sp_tensor **row;
    SP_TRY(sp__instances_add(job, all, &row));
    if (sp__json_peek(j) != '{') return sp__json_fail(j, "an instance is an object: {\"NAME OF AN INPUT\": VALUE}");
    for (bool more = false; (status = sp__json_member(j, &job->arena, &more, &key)) == SP_OK && more;) {
        int i;
        SP_TRY(sp__decode_input(job, key, &i));
        SP_CHECK(row[i] == NULL, SP_VALUE, "input '%s' is given twice", key);
        sp_dtype wanted = sp_model_input_spec(job->model->model, i)->dtype;
        SP_TRY(read_value(job, j, key, wanted != SP_DTYPE_NONE ? wanted : SP_DTYPE_F32, &row[i]));
    }
    return status;
}

static sp_status read_body(sp_job *job, sp_json *j, sp_instances *all)
{
    const char *key;
    sp_status status;
    bool found = false;
    for (bool more = false; (status = sp__json_member(j, &job->arena, &more, &key)) == SP_OK && more;) {
        if (strcmp(key, "instances") != 0)
            return sp__json_fail(j, "'%.32s' is not known; the request has one key, instances", key);
        if (found) return sp__json_fail(j, "key 'instances' expects to exist once");
        found = true;
        if (sp__json_peek(j) == '{') SP_TRY(read_instance(job, j, all));
        else
            for (bool inner = false; (status = sp__json_each(j, '[', &inner)) == SP_OK && inner;) {
                status = read_instance(job, j, all);
                if (status != SP_OK) {
                    sp__error_context("instance %lld", (long long)all->n - 1);
                    return status;
                }
            }
        SP_TRY(status);
    }
    SP_TRY(status);
    SP_CHECK(found && all->n > 0, SP_VALUE,
             found ? "there are no instances" : "key 'instances' expects to exist once, and is not there");
    return sp__json_end(j);
}

static sp_status decode(sp_job *job)
{
    sp_instances all = {0};
    SP_TRY(sp__decode_encoding(job));
    sp_json j = sp__json_open(job->x->body, job->x->body_bytes);
    SP_CHECK(job->x->body_bytes > 0, SP_VALUE, "http message invalid: the request has no body");
    sp_status status = read_body(job, &j, &all);
    if (status == SP_OK) status = sp__instances_stack(job, &all);
    sp__instances_free(job, &all);
    return status;
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

static sp_status encode(sp_job *job)
{
    sp__text t = {0};
    const int n_out = job->model->n_out;
    sp_status status;
    sp_tensor **plain = sp__arena_alloc(&job->arena, (size_t)n_out * sizeof *plain + 1);
    if (plain == NULL) return SP_NOMEM;
    const int64_t n = job->n_instances;
    status = sp__instances_results(job, plain);
    sp__text_put(&t, "{\"instances\":[");
    for (int64_t r = 0; r < n && status == SP_OK; r++) {
        sp__text_put(&t, r ? ",{" : "{");
        for (int i = 0; i < n_out; i++) {
            const char *name = sp_model_output_name(job->model->model, i);
            const size_t step = job->bare ? sp_tensor_bytes(plain[i]) / (size_t)job->rows : 0;
            if (i > 0) sp__text_put(&t, ",");
            sp__json_put_text(&t, name, strlen(name));
            sp__text_put(&t, ":");
            sp__json_put_nested(&t, sp_tensor_dtype(plain[i]), sp_tensor_rank(plain[i]) - job->bare,
                                sp_tensor_dims(plain[i]) + job->bare,
                                (const char *)sp_tensor_data(plain[i]) + (size_t)r * step);
        }
        sp__text_put(&t, "}");
    }
    sp__text_put(&t, "]}");
    for (int i = 0; i < n_out; i++) sp_tensor_release(plain[i]);
    if (status != SP_OK) sp__free(t.data);
    else sp__reply_text(job->x, 200, "application/json", &t);
    return status;
}

static void fail(sp_job *job)
{
    sp__text t = {0};
    sp__text_put(&t, "{\"error_msg\":");
    sp__json_put_text(&t, job->error.message, strlen(job->error.message));
    sp__text_put(&t, "}\n");
    sp__reply_text(job->x, job->status, "application/json", &t);
    if (job->status == 503) job->x->reply.headers[0] = (sp_net_header){"retry-after", "1"};
}

const sp_protocol sp__protocol_mindspore_rest = {
    .name = "mindspore_rest", .decode = decode, .encode = encode, .fail = fail};
