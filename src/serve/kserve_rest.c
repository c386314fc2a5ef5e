/* SPDX-License-Identifier: Apache-2.0 */
/* kserve_rest.c - POST /v2/models/NAME/infer: JSON, or JSON with the bytes of tensors behind it.
 *
 *     {"id": "7", "inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [0.5, 1]}], "outputs": [{"name": "y"}]}
 *
 * With the header Inference-Header-Content-Length: N the first N bytes of the body are the JSON. An input whose parameters say
 * "binary_data_size": M has its M bytes behind that, in the order of the inputs. Replies are made in the same way, for outputs that ask for
 * "binary_data": true, or all with "binary_data_output": true. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/kserve_parameters.h"
#include "serve/regions.h"
#include "serve/routes.h"
#include "serve/texts.h"

/* --- requests ------------------------------------------------------------------------------------------------------ */

/* What is said of an input or output. */
typedef struct tensor_text {
    const char *name, *datatype;
    int64_t rank; /* -1: no shape */
    int64_t dims[SP_RANK_MAX];
    sp_json data;         /* at its value; start NULL: none */
    int64_t binary_bytes; /* -1: none */
    bool is_output, says_binary;
    sp_wanted wanted;
    sp_region_words shared;
} tensor_text;

static sp_status read_shape(sp_json *j, tensor_text *t)
{
    sp_status status;
    t->rank = 0;
    for (bool more = false; (status = sp__json_each(j, '[', &more)) == SP_OK && more; t->rank++) {
        int64_t d;
        SP_TRY(sp__json_int(j, &d));
        if (t->rank < SP_RANK_MAX) t->dims[t->rank] = d;
    }
    return status;
}

static sp_status read_parameter(sp_json *j, sp__arena *a, sp_parameter *p)
{
    const char kind = sp__json_peek(j);
    p->kind = kind == 't' || kind == 'f' ? 'b' : kind == '"' ? 's' : kind == '0' ? 'i' : 0;
    if (p->kind == 'b') return sp__json_bool(j, &p->flag);
    if (p->kind == 's') return sp__json_text(j, a, &p->text, NULL);
    if (p->kind == 'i') return sp__json_int(j, &p->integer);
    return sp__json_skip(j);
}

static sp_status read_tensor_parameters(sp_json *j, sp__arena *a, tensor_text *t)
{
    sp_parameter p = {0};
    const char *name = t->name != NULL ? t->name : "";
    sp_status status;
    for (bool more = false; (status = sp__json_member(j, a, &more, &p.key)) == SP_OK && more;) {
        SP_TRY(read_parameter(j, a, &p));
        SP_TRY(t->is_output ? sp__kserve_output_parameter(&p, name, &t->says_binary, &t->wanted, &t->shared)
                            : sp__kserve_input_parameter(&p, name, &t->binary_bytes, &t->shared));
    }
    return status;
}

/* Which of `keys` a member is; fails for others, which would have no effect, and for a second one of the same name. seen: those before it. */
static sp_status find_key(const sp_json *j, const char *key, const char *const *keys, const char *of, unsigned *seen,
                          int *out)
{
    char all[160] = "";
    for (int i = 0; keys[i] != NULL; i++) {
        if (strcmp(key, keys[i]) == 0) {
            if (*seen >> i & 1)
                return sp__json_fail(j, "%s of %s %s given twice", key, of, key[strlen(key) - 1] == 's' ? "are" : "is");
            *seen |= 1u << i;
            *out = i;
            return SP_OK;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", keys[i]);
    }
    return sp__json_fail(j, "'%.64s' is not known; %s has: %s", key, of, all);
}

static sp_status read_tensor(sp_json *j, sp__arena *a, bool is_output, tensor_text *t)
{
    static const char *const of_input[] = {"name", "parameters", "datatype", "shape", "data", NULL},
                             *const of_output[] = {"name", "parameters", NULL};
    const char *key;
    sp_status status;
    unsigned seen = 0;
    sp_json parameters = {0};
    *t = (tensor_text){.rank = -1, .binary_bytes = -1, .is_output = is_output};
    for (bool more = false; (status = sp__json_member(j, a, &more, &key)) == SP_OK && more;) {
        int which = 0;
        SP_TRY(find_key(j, key, is_output ? of_output : of_input, is_output ? "an output" : "an input", &seen, &which));
        if (which == 0) SP_TRY(sp__json_text(j, a, &t->name, NULL));
        else if (which == 2) SP_TRY(sp__json_text(j, a, &t->datatype, NULL));
        else if (which == 3) SP_TRY(read_shape(j, t));
        else {
            *(which == 1 ? &parameters : &t->data) = *j; /* parameters later: messages name what they are of */
            SP_TRY(sp__json_skip(j));
        }
    }
    SP_TRY(status);
    return parameters.start != NULL ? read_tensor_parameters(&parameters, a, t) : SP_OK;
}

static sp_status take_data(sp_job *job, int i, const tensor_text *t, sp_dtype dtype)
{
    int64_t count = 0;
    sp_json j = t->data;
    SP_TRY(sp__decode_count(t->name, t->rank, t->dims, &count));
    /* Every element takes a byte of the body and one for the comma, so that a shape alone reserves nothing. */
    SP_CHECK(count <= (j.end - j.at) / 2 + 1, SP_VALUE,
             "input '%s' has data for fewer elements than the %lld of its shape", t->name, (long long)count);
    SP_TRY(sp_tensor_create(dtype, (int)t->rank, t->dims, &job->in[i]));
    sp_status status = sp__json_elements(&j, dtype, count, sp_tensor_data(job->in[i]));
    if (status != SP_OK) sp__error_context("input '%s'", t->name);
    return status;
}

/* binary: where the bytes behind the JSON go on. */
static sp_status take_input(sp_job *job, const tensor_text *t, const uint8_t **binary)
{
    int i;
    const uint8_t *end = job->x->body + job->x->body_bytes;
    SP_CHECK(t->name != NULL, SP_VALUE, "an input has no name");
    SP_TRY(sp__decode_input(job, t->name, &i));
    SP_CHECK(job->in[i] == NULL, SP_VALUE, "input '%s' is given twice", t->name);
    SP_CHECK(t->datatype != NULL && t->rank >= 0, SP_VALUE, "input '%s' has no %s", t->name,
             t->datatype == NULL ? "datatype" : "shape");
    const sp_dtype dtype = sp__kserve_dtype(t->datatype), wanted = sp_model_input_spec(job->model->model, i)->dtype;
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_TYPE,
             "input '%s' has the datatype '%.32s', which is not taken; the model wants %s", t->name, t->datatype,
             sp__kserve_datatype(wanted));
    const bool texts = dtype == SP_DTYPE_STR && sp__texts_taken(job, i);
    SP_CHECK(texts || wanted == SP_DTYPE_NONE || dtype == wanted, SP_TYPE, "input '%s' is %s, it must be %s", t->name,
             t->datatype, sp__kserve_datatype(wanted));
    if (texts) SP_TRY(sp__decode_count(t->name, t->rank, t->dims, &(int64_t){0}));
    if (sp__region_given(&t->shared)) {
        SP_CHECK(t->data.start == NULL && t->binary_bytes < 0, SP_VALUE, "input '%s' has both shared memory and %s",
                 t->name, t->data.start != NULL ? "data" : "binary_data_size");
        return sp__region_take_input(job, i, dtype, (int)t->rank, t->dims, &t->shared);
    }
    if (t->binary_bytes < 0) {
        SP_CHECK(t->data.start != NULL, SP_VALUE, "input '%s' has no data", t->name);
        if (texts) return sp__texts_from_json(job, i, (int)t->rank, t->dims, t->data);
        return take_data(job, i, t, dtype);
    }
    SP_CHECK(t->data.start == NULL, SP_VALUE, "input '%s' has both data and binary_data_size", t->name);
    SP_CHECK(t->binary_bytes <= end - *binary, SP_VALUE,
             "input '%s' has binary_data_size %lld, but the body has %lld bytes left", t->name,
             (long long)t->binary_bytes, (long long)(end - *binary));
    SP_TRY(sp__decode_count(t->name, t->rank, t->dims, &(int64_t){0}));
    SP_TRY(texts ? sp__texts_from_binary(job, i, (int)t->rank, t->dims, *binary, (size_t)t->binary_bytes)
                 : sp__decode_raw(job, i, dtype, (int)t->rank, t->dims, *binary, (size_t)t->binary_bytes));
    *binary += t->binary_bytes;
    return SP_OK;
}

static sp_status read_inputs(sp_job *job, sp_json *j, const uint8_t **binary)
{
    sp_status status;
    tensor_text t;
    for (bool more = false; (status = sp__json_each(j, '[', &more)) == SP_OK && more;) {
        SP_TRY(read_tensor(j, &job->arena, false, &t));
        SP_TRY(take_input(job, &t, binary));
    }
    return status;
}

static sp_status read_outputs(sp_job *job, sp_json *j)
{
    sp_status status;
    tensor_text t;
    job->wanted = sp__arena_alloc(&job->arena, (size_t)job->model->n_out * sizeof *job->wanted + 1);
    if (job->wanted == NULL) return SP_NOMEM;
    for (bool more = false; (status = sp__json_each(j, '[', &more)) == SP_OK && more; job->n_wanted++) {
        int i;
        SP_TRY(read_tensor(j, &job->arena, true, &t));
        SP_CHECK(t.name != NULL, SP_VALUE, "an output has no name");
        SP_TRY(sp__decode_output(job, t.name, &i));
        for (int k = 0; k < job->n_wanted; k++)
            SP_CHECK(job->wanted[k].index != i, SP_VALUE, "output '%s' is asked for twice", t.name);
        sp_wanted *w = &job->wanted[job->n_wanted];
        *w = (sp_wanted){
            .index = i, .binary = t.says_binary ? t.wanted.binary : job->binary, .classes = t.wanted.classes};
        SP_TRY(sp__kserve_check_classes(job->model, w));
        if (sp__region_given(&t.shared)) SP_TRY(sp__region_want_output(job, t.name, &t.shared, w));
    }
    if (job->n_wanted == 0) job->wanted = NULL; /* an empty list asks for all, as none does */
    return status;
}

static sp_status read_parameters(sp_job *job, sp_json *j)
{
    sp_parameter p = {0};
    sp_status status;
    for (bool more = false; (status = sp__json_member(j, &job->arena, &more, &p.key)) == SP_OK && more;) {
        SP_TRY(read_parameter(j, &job->arena, &p));
        SP_TRY(sp__kserve_request_parameter(job, &p));
    }
    return status;
}

/* Some clients repeat what the path says; it must be the same. */
static sp_status check_model(sp_job *job, sp_json *j, bool is_name)
{
    char version[24];
    const char *text;
    SP_TRY(sp__json_text(j, &job->arena, &text, NULL));
    snprintf(version, sizeof version, "%lld", (long long)job->model->version);
    const char *wanted = is_name ? job->model->entry->name : version;
    SP_CHECK(strcmp(text, wanted) == 0 || (!is_name && text[0] == '\0'), SP_VALUE,
             "%s is '%.100s', the path is that of '%s'", is_name ? "model_name" : "model_version", text, wanted);
    return SP_OK;
}

static sp_status read_request(sp_job *job, sp_json *j, const uint8_t **binary)
{
    static const char *const keys[] = {"inputs", "id", "parameters", "outputs", "model_name", "model_version", NULL};
    const char *key;
    sp_status status;
    sp_json outputs = {0};
    unsigned seen = 0;
    for (bool more = false; (status = sp__json_member(j, &job->arena, &more, &key)) == SP_OK && more;) {
        int which = 0;
        SP_TRY(find_key(j, key, keys, "the request", &seen, &which));
        if (which == 0) SP_TRY(read_inputs(job, j, binary));
        else if (which == 1) SP_TRY(sp__json_text(j, &job->arena, &job->id, NULL));
        else if (which == 2) SP_TRY(read_parameters(job, j));
        else if (which == 3) {
            outputs = *j; /* read later: parameters say what is their default */
            SP_TRY(sp__json_skip(j));
        } else SP_TRY(check_model(job, j, which == 4));
    }
    SP_TRY(status);
    SP_TRY(sp__json_end(j));
    SP_CHECK(seen & 1, SP_VALUE, "the request has no inputs");
    return outputs.start != NULL ? read_outputs(job, &outputs) : SP_OK;
}

static sp_status decode(sp_job *job)
{
    const sp_exchange *x = job->x;
    const char *length = sp__exchange_header(x, "inference-header-content-length");
    bool done;
    SP_TRY(sp__decode_encoding(job));
    SP_TRY(sp__decode_typed(job, &done));
    if (done) return sp__decode_accept(job);
    size_t json_bytes = x->body_bytes;
    SP_CHECK(x->body_bytes > 0, SP_VALUE, "the request has no body");
    if (length != NULL) {
        const int64_t n = sp__path_version(length, strlen(length));
        SP_CHECK(n >= 0 && (uint64_t)n <= x->body_bytes, SP_VALUE,
                 "Inference-Header-Content-Length is '%.32s', the body has %zu bytes", length, x->body_bytes);
        json_bytes = (size_t)n;
    }
    sp_json j = sp__json_open(x->body, json_bytes);
    const uint8_t *binary = x->body + json_bytes;
    SP_TRY(read_request(job, &j, &binary));
    SP_CHECK(binary == x->body + x->body_bytes, SP_VALUE, "%zu bytes follow the inputs' data",
             (size_t)(x->body + x->body_bytes - binary));
    return sp__decode_accept(job);
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

static void put_face(sp__text *head, const char *name, const char *datatype, int rank, const int64_t *dims)
{
    sp__text_put(head, "{\"name\":");
    sp__json_put_text(head, name, strlen(name));
    sp__text_put(head, ",\"datatype\":\"%s\",\"shape\":[", datatype);
    for (int k = 0; k < rank; k++) sp__text_put(head, "%s%lld", k ? "," : "", (long long)dims[k]);
}

/* The same for its classes. */
static sp_status put_classes(const sp_served *m, const sp_tensor *t, const char *name, const sp_wanted *w,
                             sp__text *head, sp__text *tail)
{
    sp__text texts = {0};
    int rank;
    int64_t dims[2];
    sp_status status = sp__kserve_put_classes(m, t, name, w->classes, !w->binary, &texts, &rank, dims);
    if (status == SP_OK && texts.failed) status = SP_NOMEM;
    if (status == SP_OK) {
        put_face(head, name, "BYTES", rank, dims);
        if (w->binary) {
            sp__text_put(head, "],\"parameters\":{\"binary_data_size\":%zu}}", texts.used);
            if (texts.used > 0) sp__text_add(tail, texts.data, texts.used);
        } else sp__text_put(head, "],\"data\":[%s]}", texts.used > 0 ? texts.data : "");
    }
    sp__free(texts.data);
    return status;
}

/* The end of what is said of an output that goes into shared memory. */
static sp_status put_shared(sp_job *job, const sp_wanted *w, const char *name, const void *data, size_t bytes,
                            sp__text *head)
{
    SP_TRY(sp__region_put(job, w, name, data, bytes));
    sp__text_put(head, "],\"parameters\":{\"shared_memory_region\":");
    sp__json_put_text(head, w->region_name, strlen(w->region_name));
    sp__text_put(head, ",\"shared_memory_offset\":%llu,\"shared_memory_byte_size\":%zu}}",
                 (unsigned long long)w->region_offset, bytes);
    return SP_OK;
}

static sp_status put_texts(sp_job *job, const sp_item *texts, const sp_wanted *w, sp__text *head, sp__text *tail)
{
    const sp_spec *s = sp_item_texts(texts);
    const char *name = sp_model_output_name(job->model->model, w->index);
    const size_t before = tail->used;
    SP_CHECK(w->classes == 0, SP_TYPE, "output '%s' is BYTES, which has no classes", name);
    put_face(head, name, "BYTES", s->rank, s->dims);
    if (w->region != NULL) {
        sp__text data = {0};
        sp__texts_put_binary(texts, &data);
        const sp_status status = data.failed ? SP_NOMEM : put_shared(job, w, name, data.data, data.used, head);
        sp__free(data.data);
        return status;
    }
    if (w->binary) {
        sp__texts_put_binary(texts, tail);
        sp__text_put(head, "],\"parameters\":{\"binary_data_size\":%zu}}", tail->used - before);
        return SP_OK;
    }
    sp__text_put(head, "],\"data\":[");
    sp__texts_put_json(texts, head);
    sp__text_put(head, "]}");
    return SP_OK;
}

/* Append what is said of an output to `head` and, if it is binary, its bytes to `tail`. */
static sp_status put_output(sp_job *job, const sp_wanted *w, sp__text *head, sp__text *tail)
{
    sp_tensor *t;
    const sp_item *texts = sp__texts_output(job, w->index);
    if (texts != NULL) return put_texts(job, texts, w, head, tail);
    SP_TRY(sp__encode_plain(job, w->index, &t));
    sp_status status = SP_OK;
    const char *name = sp_model_output_name(job->model->model, w->index),
               *datatype = sp__kserve_datatype(sp_tensor_dtype(t));
    if (w->classes > 0) status = put_classes(job->model, t, name, w, head, tail);
    else if (datatype == NULL)
        status = sp__fail(SP_TYPE, "output '%s' is %s, which the protocol has no datatype for", name,
                          sp_dtype_name(sp_tensor_dtype(t)));
    else {
        put_face(head, name, datatype, sp_tensor_rank(t), sp_tensor_dims(t));
        if (w->region != NULL) status = put_shared(job, w, name, sp_tensor_data(t), sp_tensor_bytes(t), head);
        else if (w->binary) {
            sp__text_put(head, "],\"parameters\":{\"binary_data_size\":%zu}}", sp_tensor_bytes(t));
            if (sp_tensor_bytes(t) > 0) sp__text_add(tail, sp_tensor_data(t), sp_tensor_bytes(t));
        } else {
            sp__text_put(head, "],\"data\":[");
            sp__json_put_elements(head, sp_tensor_dtype(t), sp_tensor_count(t), sp_tensor_data(t));
            sp__text_put(head, "]}");
        }
    }
    sp_tensor_release(t);
    return status;
}

static sp_status encode(sp_job *job)
{
    sp__text head = {0}, tail = {0};
    sp_status status = SP_OK;
    bool binary = false, done;
    const sp_served *m = job->model;
    SP_TRY(sp__encode_typed(job, &done));
    if (done) return SP_OK;
    sp__text_put(&head, "{\"model_name\":");
    sp__json_put_text(&head, m->entry->name, strlen(m->entry->name));
    sp__text_put(&head, ",\"model_version\":\"%lld\"", (long long)m->version);
    if (job->id != NULL) {
        sp__text_put(&head, ",\"id\":");
        sp__json_put_text(&head, job->id, strlen(job->id));
    }
    sp__text_put(&head, ",\"outputs\":[");
    const int n = job->wanted != NULL ? job->n_wanted : m->n_out;
    for (int k = 0; k < n && status == SP_OK; k++) {
        const sp_wanted w = job->wanted != NULL ? job->wanted[k] : (sp_wanted){.index = k, .binary = job->binary};
        if (k > 0) sp__text_put(&head, ",");
        status = put_output(job, &w, &head, &tail);
        binary = binary || (w.binary && w.region == NULL);
    }
    sp__text_put(&head, "]}");
    const size_t head_bytes = head.used;
    if (tail.used > 0) sp__text_add(&head, tail.data, tail.used);
    if (status == SP_OK && (head.failed || tail.failed)) status = SP_NOMEM;
    sp__free(tail.data);
    if (status != SP_OK) {
        sp__free(head.data);
        return status;
    }
    sp_exchange *x = job->x;
    sp__reply_text(x, 200, binary ? "application/octet-stream" : "application/json", &head);
    if (binary) {
        snprintf(x->reply.values[0], sizeof x->reply.values[0], "%zu", head_bytes);
        x->reply.headers[0] = (sp_net_header){"inference-header-content-length", x->reply.values[0]};
    }
    return SP_OK;
}

static void fail(sp_job *job) { sp__reply_error(job->x, job->status, job->error.message); }

const sp_protocol sp__protocol_kserve_rest = {.name = "kserve_rest", .decode = decode, .encode = encode, .fail = fail};
