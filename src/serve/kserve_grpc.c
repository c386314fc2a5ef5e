/* SPDX-License-Identifier: Apache-2.0 */
/* kserve_grpc.c - inference.GRPCInferenceService of the Open Inference Protocol.
 *
 * Fields of messages, by number (repeated ones with *):
 *   ModelInferRequest   1 model_name  2 model_version  3 id  4* parameters  5* inputs  6* outputs  7* raw_input_contents
 *   InferInputTensor    1 name  2 datatype  3* shape  4* parameters  5 contents         requested output: 1 name  2* parameters
 *   InferTensorContents 1* bool  2* int32 (also of 8 and 16 bits)  3* int64  4* uint32 (also of 8 and 16 bits)  5* uint64  6* fp32  7* fp64  8* bytes
 *   ModelInferResponse  1 model_name  2 model_version  3 id  5* outputs (1 name  2 datatype  3* shape  4* parameters)  6* raw_output_contents
 *   InferParameter      1 bool  2 int64  3 string; a map's entry has 1 key  2 value
 * Replies hold their data in raw_output_contents. */
#include <stdio.h>
#include <string.h>

#include "serve/grpc.h"
#include "serve/kserve_parameters.h"
#include "serve/regions.h"
#include "serve/texts.h"
#include "serve/triton.h"

enum { FIELDS_MAX = 100000 }; /* of a message that is looked through on the loop's thread */

/* --- requests: parameters --------------------------------------------------------------------------------------------- */

/* An entry of a map of parameters. Its value is 1 bool, 2 int64, 3 string, 4 double or 5 uint64. */
static sp_status read_parameter(sp_job *job, sp_wire w, sp_parameter *p)
{
    sp_wire value;
    *p = (sp_parameter){0};
    SP_TRY(sp__grpc_read_entry(w, "a parameter", &job->arena, &p->key, &value));
    while (sp__wire_more(&value)) {
        uint32_t number;
        uint64_t v = 0;
        int type;
        SP_TRY(sp__wire_field(&value, &number, &type));
        if (number == 3) SP_TRY(sp__grpc_read_text(&value, "a parameter", type, &job->arena, &p->text));
        else if (number == 1 || number == 2 || number == 5)
            SP_TRY(sp__wire_take_number(&value, "a parameter", type, &v));
        else SP_TRY(sp__wire_skip(&value, number, type));
        p->kind = number == 3 ? 's' : number == 1 ? 'b' : number == 2 || number == 5 ? 'i' : 0;
        p->flag = v != 0;
        p->integer = number == 5 && v > INT64_MAX ? INT64_MAX : (int64_t)v;
    }
    return SP_OK;
}

/* --- requests: tensors ----------------------------------------------------------------------------------------------- */

typedef struct input {
    const char *name, *datatype;
    int64_t rank, dims[SP_RANK_MAX];
    sp_wire contents;
    bool has_contents;
    int64_t binary_bytes; /* that the input says its raw contents have, as REST does (KServe's SDK); -1: it does not */
    sp_region_words shared;
} input;

static sp_status read_input(sp_job *job, sp_wire w, input *in)
{
    *in = (input){.name = "", .datatype = "", .binary_bytes = -1};
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__grpc_read_text(&w, "name", type, &job->arena, &in->name));
        else if (number == 2) SP_TRY(sp__grpc_read_text(&w, "datatype", type, &job->arena, &in->datatype));
        else if (number == 3) SP_TRY(sp__grpc_read_dims(&w, type, &in->rank, in->dims));
        else if (number == 4) {
            sp_wire part;
            sp_parameter p;
            SP_TRY(sp__wire_take_bytes(&w, "parameters", type, &part));
            SP_TRY(read_parameter(job, part, &p));
            SP_TRY(sp__kserve_input_parameter(&p, in->name, &in->binary_bytes, &in->shared));
        } else if (number == 5) {
            SP_TRY(sp__wire_take_bytes(&w, "contents", type, &in->contents));
            in->has_contents = true;
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

/* The field of InferTensorContents that holds elements of a dtype, and how one is encoded. */
static uint32_t contents_field(sp_dtype dtype, int *wire_type)
{
    const size_t bytes = sp_dtype_bytes(dtype);
    *wire_type = SP_WIRE_VARINT;
    switch (sp_dtype_kind(dtype)) {
    case 'b': return 1;
    case 'i': return bytes == 8 ? 3 : 2;
    case 'u': return bytes == 8 ? 5 : 4;
    default: break;
    }
    *wire_type = dtype == SP_DTYPE_F64 ? SP_WIRE_FIXED64 : SP_WIRE_FIXED32;
    return dtype == SP_DTYPE_F32 ? 6 : dtype == SP_DTYPE_F64 ? 7 : 0;
}

/* One element from its encoding; integers must fit. */
static sp_status read_element(sp_wire *w, sp_dtype dtype, int wire_type, const char *name, void *out)
{
    const size_t bytes = sp_dtype_bytes(dtype);
    if (wire_type != SP_WIRE_VARINT) {
        SP_CHECK(sp__wire_left(w) >= bytes, SP_FORMAT, "input '%s': its contents end in the middle of a number", name);
        memcpy(out, w->at, bytes);
        w->at += bytes;
        return SP_OK;
    }
    uint64_t v;
    SP_TRY(sp__wire_varint(w, &v));
    const int unused = 64 - 8 * (int)bytes;
    const bool is_signed = sp_dtype_kind(dtype) == 'i';
    const bool fits = sp_dtype_kind(dtype) == 'b' ? v <= 1
                      : is_signed                 ? (int64_t)(v << unused) >> unused == (int64_t)v
                                                  : v << unused >> unused == v;
    SP_CHECK(fits, SP_VALUE, "input '%s' holds a number that does not fit %s", name, sp_dtype_name(dtype));
    memcpy(out, &v, bytes); /* little-endian */
    return SP_OK;
}

static sp_status take_contents(sp_job *job, int i, const input *in, sp_dtype dtype)
{
    int64_t count = 0, done = 0;
    int wire_type;
    const uint32_t wanted = contents_field(dtype, &wire_type);
    sp_wire w = in->contents;
    SP_CHECK(wanted != 0, SP_TYPE, "input '%s' is %s, which goes into raw_input_contents alone", in->name,
             in->datatype);
    SP_TRY(sp__decode_count(in->name, in->rank, in->dims, &count));
    SP_CHECK((uint64_t)count <= sp__wire_left(&w), SP_VALUE,
             "input '%s' has contents for fewer elements than the %lld of its shape", in->name, (long long)count);
    SP_TRY(sp_tensor_create(dtype, (int)in->rank, in->dims, &job->in[i]));
    char *at = sp_tensor_data(job->in[i]);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        SP_CHECK(number == wanted, SP_TYPE, "input '%s' is %s, but its contents are of another type", in->name,
                 in->datatype);
        sp_wire packed = w;
        if (type == SP_WIRE_BYTES) SP_TRY(sp__wire_bytes(&w, &packed));
        else SP_TRY(sp__wire_expect(&w, "contents", type, wire_type));
        do {
            if (type == SP_WIRE_BYTES && !sp__wire_more(&packed)) break;
            SP_CHECK(done < count, SP_VALUE, "input '%s' has more elements than the %lld of its shape", in->name,
                     (long long)count);
            SP_TRY(read_element(type == SP_WIRE_BYTES ? &packed : &w, dtype, wire_type, in->name, at));
            at += sp_dtype_bytes(dtype);
            done++;
        } while (type == SP_WIRE_BYTES);
    }
    SP_CHECK(done == count, SP_VALUE, "input '%s' has %lld elements, its shape has %lld", in->name, (long long)done,
             (long long)count);
    return SP_OK;
}

/* raw: the bytes of this input, NULL: it has contents. */
static sp_status take_input(sp_job *job, const input *in, const sp_wire *raw)
{
    int i;
    SP_TRY(sp__decode_input(job, in->name, &i));
    SP_CHECK(job->in[i] == NULL, SP_VALUE, "input '%s' is given twice", in->name);
    const sp_dtype dtype = sp__kserve_dtype(in->datatype), wanted = sp_model_input_spec(job->model->model, i)->dtype;
    const bool texts = dtype == SP_DTYPE_STR && sp__texts_taken(job, i);
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_TYPE,
             "input '%s' has the datatype '%.32s', which is not taken; the model wants %s", in->name, in->datatype,
             sp__kserve_datatype(wanted));
    SP_CHECK(texts || wanted == SP_DTYPE_NONE || dtype == wanted, SP_TYPE, "input '%s' is %s, it must be %s", in->name,
             in->datatype, sp__kserve_datatype(wanted));
    SP_CHECK(in->rank <= SP_RANK_MAX, SP_VALUE, "input '%s' has %lld dimensions, at most %d are possible", in->name,
             (long long)in->rank, SP_RANK_MAX);
    const int64_t raw_bytes = raw != NULL ? (int64_t)sp__wire_left(raw) : -1;
    SP_CHECK(in->binary_bytes < 0 || in->binary_bytes == raw_bytes, SP_VALUE,
             "parameter 'binary_data_size' of input '%s' is %lld, its raw_input_contents have %lld bytes", in->name,
             (long long)in->binary_bytes, (long long)(raw_bytes > 0 ? raw_bytes : 0));
    if (sp__region_given(&in->shared)) {
        SP_CHECK(!in->has_contents, SP_VALUE, "input '%s' has both shared memory and contents", in->name);
        return sp__region_take_input(job, i, dtype, (int)in->rank, in->dims, &in->shared);
    }
    if (texts)
        return raw == NULL ? sp__texts_from_fields(job, i, (int)in->rank, in->dims, in->contents)
                           : sp__texts_from_binary(job, i, (int)in->rank, in->dims, raw->at, sp__wire_left(raw));
    if (raw == NULL) return take_contents(job, i, in, dtype);
    SP_CHECK(!in->has_contents, SP_VALUE, "input '%s' has contents, and there are raw_input_contents, too", in->name);
    return sp__decode_raw(job, i, dtype, (int)in->rank, in->dims, raw->at, sp__wire_left(raw));
}

/* --- requests: the whole --------------------------------------------------------------------------------------------- */

static sp_status read_output(sp_job *job, sp_wire w)
{
    const char *name = "";
    sp_wanted wanted = {.binary = true};
    sp_region_words shared = {0};
    bool says_binary;
    sp_wire part, rest = w;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__grpc_read_text(&w, "name", type, &job->arena, &name));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    while (sp__wire_more(&rest)) { /* once more, so that messages can name it */
        uint32_t number;
        int type;
        sp_parameter p;
        SP_TRY(sp__wire_field(&rest, &number, &type));
        if (number != 2) SP_TRY(sp__wire_skip(&rest, number, type));
        else {
            SP_TRY(sp__wire_take_bytes(&rest, "parameters", type, &part));
            SP_TRY(read_parameter(job, part, &p));
            SP_TRY(sp__kserve_output_parameter(&p, name, &says_binary, &wanted, &shared));
        }
    }
    SP_TRY(sp__decode_output(job, name, &wanted.index));
    SP_TRY(sp__kserve_check_classes(job->model, &wanted));
    if (job->wanted == NULL)
        job->wanted = sp__arena_alloc(&job->arena, (size_t)job->model->n_out * sizeof *job->wanted + 1);
    if (job->wanted == NULL) return SP_NOMEM;
    for (int k = 0; k < job->n_wanted; k++)
        SP_CHECK(job->wanted[k].index != wanted.index, SP_VALUE, "output '%s' is asked for twice", name);
    if (sp__region_given(&shared)) SP_TRY(sp__region_want_output(job, name, &shared, &wanted));
    job->wanted[job->n_wanted++] = wanted;
    return SP_OK;
}

typedef struct parts { /* of a request, which come in any order */
    sp_wire inputs[SP_SERVE_INPUTS_MAX], raw[SP_SERVE_INPUTS_MAX];
    int n_inputs, n_raw;
} parts;

static sp_status gather(sp_wire *w, int type, const char *what, sp_wire *list, int *n)
{
    SP_CHECK(*n < SP_SERVE_INPUTS_MAX, SP_VALUE, "the request has more than %d %s", SP_SERVE_INPUTS_MAX, what);
    return sp__wire_take_bytes(w, what, type, &list[(*n)++]);
}

static sp_status decode(sp_job *job)
{
    parts p = {.n_inputs = 0};
    sp_wire w, part;
    SP_TRY(sp__grpc_timeout(job));
    SP_TRY(sp__grpc_decode(job));
    SP_TRY(sp__grpc_open(job->x, &w));
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 3) SP_TRY(sp__grpc_read_text(&w, "id", type, &job->arena, &job->id));
        else if (number == 4) {
            sp_parameter parameter;
            SP_TRY(sp__wire_take_bytes(&w, "parameters", type, &part));
            SP_TRY(read_parameter(job, part, &parameter));
            SP_TRY(sp__kserve_request_parameter(job, &parameter));
        } else if (number == 5) SP_TRY(gather(&w, type, "inputs", p.inputs, &p.n_inputs));
        else if (number == 6) {
            SP_TRY(sp__wire_take_bytes(&w, "outputs", type, &part));
            SP_TRY(read_output(job, part));
        } else if (number == 7) SP_TRY(gather(&w, type, "raw_input_contents", p.raw, &p.n_raw));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    int n_raw = 0;
    for (int i = 0; i < p.n_inputs; i++) {
        input in;
        SP_TRY(read_input(job, p.inputs[i], &in));
        const bool raw = p.n_raw > 0 && !sp__region_given(&in.shared);
        SP_CHECK(!raw || n_raw < p.n_raw, SP_VALUE, "there are %d inputs, but %d raw_input_contents", p.n_inputs,
                 p.n_raw);
        SP_TRY(take_input(job, &in, raw ? &p.raw[n_raw++] : NULL));
    }
    SP_CHECK(n_raw == p.n_raw, SP_VALUE, "there are %d inputs, but %d raw_input_contents", p.n_inputs, p.n_raw);
    return SP_OK;
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

/* An entry of a map of parameters, whose value was written from `inner` on, behind its key at `at`. */
static sp_status end_parameter(sp_wire_out *o, size_t at, size_t inner)
{
    SP_TRY(sp__grpc_end_part(o, 2, inner));
    return sp__grpc_end_part(o, 4, at);
}

static sp_status put_integer(sp_wire_out *o, const char *key, uint64_t value)
{
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, key));
    const size_t inner = o->bytes;
    SP_TRY(sp__wire_put_number(o, 2, value));
    return end_parameter(o, at, inner);
}

/* Where an output went: parameters of its face. */
static sp_status put_shared(sp_wire_out *o, const sp_wanted *w, size_t bytes)
{
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, "shared_memory_region"));
    const size_t inner = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 3, w->region_name));
    SP_TRY(end_parameter(o, at, inner));
    SP_TRY(put_integer(o, "shared_memory_offset", w->region_offset));
    return put_integer(o, "shared_memory_byte_size", bytes);
}

static sp_status put_tensor_face(sp_wire_out *o, uint32_t number, const char *name, const char *datatype, int rank,
                                 const int64_t *dims)
{
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, name));
    SP_TRY(sp__grpc_put_text(o, 2, datatype != NULL ? datatype : "UNKNOWN"));
    SP_TRY(sp__grpc_put_dims(o, 3, rank, dims));
    return sp__grpc_end_part(o, number, at);
}

/* What an output has in the reply: the tensor's bytes, or texts. */
typedef struct output {
    sp_wanted wanted;
    sp_tensor *plain;
    sp__text texts; /* its own, or its classes */
    const char *datatype;
    int rank;
    const int64_t *dims;
    int64_t class_dims[2];
    const void *data;
    size_t bytes;
} output;

static sp_status read_output_values(const sp_job *job, const char *name, output *out)
{
    const sp_item *texts = sp__texts_output(job, out->wanted.index);
    out->datatype = "BYTES";
    if (texts != NULL) {
        SP_CHECK(out->wanted.classes == 0, SP_TYPE, "output '%s' is BYTES, which has no classes", name);
        out->rank = sp_item_texts(texts)->rank;
        out->dims = sp_item_texts(texts)->dims;
        sp__texts_put_binary(texts, &out->texts);
    } else {
        SP_TRY(sp__encode_plain(job, out->wanted.index, &out->plain));
        const sp_tensor *t = out->plain;
        if (out->wanted.classes == 0) {
            out->datatype = sp__kserve_datatype(sp_tensor_dtype(t));
            out->rank = sp_tensor_rank(t);
            out->dims = sp_tensor_dims(t);
            out->data = sp_tensor_data(t);
            out->bytes = sp_tensor_bytes(t);
            SP_CHECK(out->datatype != NULL, SP_TYPE, "output '%s' is %s, which the protocol has no datatype for", name,
                     sp_dtype_name(sp_tensor_dtype(t)));
            return SP_OK;
        }
        SP_TRY(sp__kserve_put_classes(job->model, t, name, out->wanted.classes, false, &out->texts, &out->rank,
                                      out->class_dims));
        out->dims = out->class_dims;
    }
    out->data = out->texts.data;
    out->bytes = out->texts.used;
    return out->texts.failed ? SP_NOMEM : SP_OK;
}

static sp_status put_output_face(sp_job *job, sp_wire_out *o, output *out)
{
    const char *name = sp_model_output_name(job->model->model, out->wanted.index);
    SP_TRY(read_output_values(job, name, out));
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, name));
    SP_TRY(sp__grpc_put_text(o, 2, out->datatype));
    SP_TRY(sp__grpc_put_dims(o, 3, out->rank, out->dims));
    if (out->wanted.region != NULL) {
        SP_TRY(sp__region_put(job, &out->wanted, name, out->data, out->bytes));
        SP_TRY(put_shared(o, &out->wanted, out->bytes));
        out->bytes = 0; /* it has an empty place among the raw_output_contents */
    }
    return sp__grpc_end_part(o, 5, at);
}

/* parameters["triton_final_response"] = true: every message gets one reply. */
static sp_status put_final(sp_wire_out *o)
{
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, "triton_final_response"));
    const size_t inner = o->bytes;
    SP_TRY(sp__wire_put_number(o, 1, 1));
    return end_parameter(o, at, inner);
}

static sp_status put_reply(sp_job *job, sp_wire_out *o, output *outputs, int n)
{
    char version[24];
    snprintf(version, sizeof version, "%lld", (long long)job->model->version);
    SP_TRY(sp__grpc_begin(o));
    SP_TRY(sp__grpc_put_text(o, 1, job->model->entry->name));
    SP_TRY(sp__grpc_put_text(o, 2, version));
    if (job->id != NULL) SP_TRY(sp__grpc_put_text(o, 3, job->id));
    if (job->final_wanted) SP_TRY(put_final(o));
    for (int k = 0; k < n; k++) SP_TRY(put_output_face(job, o, &outputs[k]));
    for (int k = 0; k < n; k++) SP_TRY(sp__grpc_put_bytes(o, 6, outputs[k].data, outputs[k].bytes));
    return SP_OK;
}

static sp_status encode(sp_job *job)
{
    sp_wire_out o = {0};
    const int n = job->wanted != NULL ? job->n_wanted : job->model->n_out;
    output *outputs = sp__arena_alloc(&job->arena, (size_t)n * sizeof *outputs + 1); /* zeroed */
    if (outputs == NULL) return SP_NOMEM;
    for (int k = 0; k < n; k++)
        outputs[k].wanted = job->wanted != NULL ? job->wanted[k] : (sp_wanted){.index = k, .binary = true};
    sp_status status = put_reply(job, &o, outputs, n);
    for (int k = 0; k < n; k++) {
        sp_tensor_release(outputs[k].plain);
        sp__free(outputs[k].texts.data);
    }
    if (status == SP_OK && job->protocol == &sp__protocol_kserve_stream)
        status = sp__grpc_end_part(&o, 2, SP_GRPC_PREFIX);
    if (status == SP_OK) sp__grpc_reply(job->x, &o);
    else sp__wire_out_free(&o);
    return status;
}

static void fail(sp_job *job)
{
    /* gRPC has a code of its own for this: RESOURCE_EXHAUSTED. */
    sp__grpc_refuse(job->x, job->error.status == SP_NOMEM ? 429 : job->status, job->error.message);
}

const sp_protocol sp__protocol_kserve_grpc = {.name = "kserve_grpc", .decode = decode, .encode = encode, .fail = fail};

/* --- what is answered at once ---------------------------------------------------------------------------------------- */

static sp_status put_flag(sp_wire_out *o, bool value) { return value ? sp__wire_put_number(o, 1, 1) : SP_OK; }

static sp_status put_server_metadata(sp_wire_out *o)
{
    SP_TRY(sp__grpc_put_text(o, 1, "spore"));
    SP_TRY(sp__grpc_put_text(o, 2, sp_version()));
    static const char *const extensions[] = {"classification", "model_repository", "model_configuration", "statistics",
                                             "trace",          "logging",          "system_shared_memory"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) SP_TRY(sp__grpc_put_text(o, 3, extensions[i]));
    return SP_OK;
}

static sp_status put_model_metadata(sp_wire_out *o, const sp_served *m)
{
    char version[24], platform[40];
    int64_t versions[SP_SERVE_VERSIONS_MAX];
    const int n = sp__entry_versions(m->entry, versions);
    snprintf(platform, sizeof platform, "spore_%s", sp__served_kind(m));
    SP_TRY(sp__grpc_put_text(o, 1, m->entry->name));
    for (int i = 0; i < n; i++) {
        snprintf(version, sizeof version, "%lld", (long long)versions[i]);
        SP_TRY(sp__grpc_put_text(o, 2, version));
    }
    SP_TRY(sp__grpc_put_text(o, 3, platform));
    for (int i = 0; i < m->n_in; i++) {
        const sp_spec *s = sp_model_input_spec(m->model, i);
        SP_TRY(
            put_tensor_face(o, 4, sp_model_input_name(m->model, i), sp__kserve_datatype(s->dtype), s->rank, s->dims));
    }
    for (int i = 0; i < m->n_out; i++) {
        const sp_spec *s = sp_model_output_spec(m->model, i);
        SP_TRY(
            put_tensor_face(o, 5, sp_model_output_name(m->model, i), sp__kserve_datatype(s->dtype), s->rank, s->dims));
    }
    return SP_OK;
}

/* Name (field 1) and version (field 2) of the model that a message is for. */
static sp_status read_model(struct sp_server *s, const sp_exchange *x, char name[256], int64_t *version)
{
    sp_wire w;
    char text[64] = "";
    uint8_t head[1024];
    size_t n_head;
    name[0] = '\0';
    SP_TRY(sp__grpc_peek(x, head, sizeof head, &n_head));
    if (n_head > 0) w = sp__wire_open(head, n_head);
    else SP_TRY(sp__grpc_open(x, &w));
    for (int n = 0; sp__wire_more(&w); n++) {
        uint32_t number;
        int type;
        SP_CHECK(n < FIELDS_MAX, SP_FORMAT, "the message has more than %d fields", FIELDS_MAX);
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "the model's name", type, name, 256));
        else if (number == 2) SP_TRY(sp__wire_take_text(&w, "the model's version", type, text, sizeof text));
        else if (n_head > 0) break; /* fields come in order where messages are compressed, and the rest is not there */
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    *version = text[0] != '\0' ? sp__route_version(s, name, text, strlen(text)) : 0;
    SP_CHECK(*version >= 0, SP_VALUE, "the version is '%s', which is no number and no label", text);
    return SP_OK;
}

/* An error of one message of a call that stays open is a message, too: ModelStreamInferResponse has 1 error_message  2 infer_response. */
static void stream_error(sp_exchange *x, const char *text)
{
    sp_wire_out o = {0};
    sp_status status = sp__grpc_begin(&o);
    if (status == SP_OK) status = sp__grpc_put_text(&o, 1, text);
    if (status == SP_OK) sp__grpc_reply(x, &o);
    else {
        sp__wire_out_free(&o);
        sp__grpc_refuse(x, 503, "out of memory");
    }
}

static void fail_stream(sp_job *job) { stream_error(job->x, job->error.message); }

const sp_protocol sp__protocol_kserve_stream = {
    .name = "kserve_stream", .decode = decode, .encode = encode, .fail = fail_stream};

static void answer(sp_exchange *x, sp_wire_out *o, sp_status status)
{
    if (status == SP_OK) sp__grpc_reply(x, o);
    else {
        sp__wire_out_free(o);
        sp__grpc_refuse(x, status == SP_KEY ? 404 : sp__http_status(status), sp_error_message());
    }
    sp__exchange_reply(x);
}

static void route_model(struct sp_server *s, sp_exchange *x, const char *method)
{
    char name[256], why[600];
    int64_t version = 0;
    int http_status = 404;
    sp_wire_out o = {0};
    const bool stream = strcmp(method, "ModelStreamInfer") == 0;
    const sp_status read = read_model(s, x, name, &version);
    if (read != SP_OK) {
        if (stream) stream_error(x, sp_error_message());
        else sp__grpc_refuse(x, sp__http_status(read), sp_error_message());
        sp__exchange_reply(x);
        return;
    }
    sp_served *m = sp__route_model(s, name, version, &http_status, why, sizeof why);
    if (m != NULL && (stream || strcmp(method, "ModelInfer") == 0)) {
        sp__job_begin(s, x, m, stream ? &sp__protocol_kserve_stream : &sp__protocol_kserve_grpc);
        return;
    }
    if (stream) {
        stream_error(x, why);
        sp__exchange_reply(x);
        return;
    }
    sp_status status = sp__grpc_begin(&o);
    if (strcmp(method, "ModelReady") == 0) {
        if (status == SP_OK) status = put_flag(&o, m != NULL);
        answer(x, &o, status);
    } else if (m != NULL) {
        if (status == SP_OK)
            status = strcmp(method, "ModelConfig") == 0       ? sp__model_config_put(m, &o, 1)
                     : strcmp(method, "ModelStatistics") == 0 ? sp__statistics_put(m, &o, 1)
                                                              : put_model_metadata(&o, m);
        answer(x, &o, status);
    } else {
        sp__wire_out_free(&o);
        sp__grpc_refuse(x, http_status, why);
        sp__exchange_reply(x);
    }
    sp__served_release(m);
}

bool sp__kserve_grpc_route(struct sp_server *s, sp_exchange *x)
{
    static const char service[] = "/inference.GRPCInferenceService/";
    if (strncmp(x->path, service, sizeof service - 1) != 0) return false;
    const char *method = x->path + sizeof service - 1;
    if (strcmp(method, "ModelInfer") == 0 || strcmp(method, "ModelStreamInfer") == 0 ||
        strcmp(method, "ModelReady") == 0 || strcmp(method, "ModelMetadata") == 0 ||
        strcmp(method, "ModelConfig") == 0 ||
        (strcmp(method, "ModelStatistics") == 0 && x->body_bytes > SP_GRPC_PREFIX)) {
        route_model(s, x, method);
        return true;
    }
    if (sp__triton_grpc_route(s, x, method)) return true;
    sp_wire_out o = {0};
    sp_status status = sp__grpc_begin(&o);
    if (status == SP_OK && strcmp(method, "ServerLive") == 0) status = put_flag(&o, true);
    else if (status == SP_OK && strcmp(method, "ServerReady") == 0) status = put_flag(&o, sp__server_ready(s));
    else if (status == SP_OK && strcmp(method, "ServerMetadata") == 0) status = put_server_metadata(&o);
    else if (status == SP_OK) status = sp__fail(SP_DECLINED, "there is no method '%.64s'", method);
    answer(x, &o, status);
    return true;
}
