/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore_grpc.c - mindspore.serving.proto.MSService/Predict.
 *
 * Fields of messages, by number (repeated ones with *):
 *   PredictRequest  1 servable_spec  2* instances            PredictReply  1 servable_spec  3* instances  4* error_msg
 *   ServableSpec    1 name  2 method_name  3 version_number (0: the newest)
 *   Instance        1* items: a map's entry has 1 key  2 tensor
 *   Tensor          1 shape (1* dims)  2 dtype  3 data  4* bytes_val  5 shm_data
 *   ErrorMsg        1 error_code  2 error_msg
 * Failures of requests travel inside the reply, with gRPC's status OK. */
#include <stdio.h>
#include <string.h>

#include "serve/decode.h"
#include "serve/grpc.h"
#include "serve/mindspore.h"
#include "serve/servable.h"
#include "serve/routes.h"

static const sp_dtype dtypes[] = {SP_DTYPE_NONE, SP_DTYPE_BOOL, SP_DTYPE_I8,  SP_DTYPE_U8,  SP_DTYPE_I16,
                                  SP_DTYPE_U16,  SP_DTYPE_I32,  SP_DTYPE_U32, SP_DTYPE_I64, SP_DTYPE_U64,
                                  SP_DTYPE_F16,  SP_DTYPE_F32,  SP_DTYPE_F64};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes, FIELDS_MAX = 100000 };

/* --- requests ------------------------------------------------------------------------------------------------------ */

typedef struct spec {
    char name[256], method[256];
    uint64_t version;
} spec;

static sp_status read_spec(sp_wire w, spec *out)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "the servable's name", type, out->name, sizeof out->name));
        else if (number == 2)
            SP_TRY(sp__wire_take_text(&w, "the method's name", type, out->method, sizeof out->method));
        else if (number == 3) SP_TRY(sp__wire_take_number(&w, "the version", type, &out->version));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status read_shape(sp_wire w, int64_t *rank, int64_t *dims)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__grpc_read_dims(&w, type, rank, dims));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status read_tensor(sp_wire w, const char *name, sp_tensor **out)
{
    int64_t rank = 0, dims[SP_RANK_MAX], count = 0;
    uint64_t dtype = 0;
    bool texts = false;
    sp_wire data = {0}, part;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) {
            SP_TRY(sp__wire_take_bytes(&w, "shape", type, &part));
            SP_TRY(read_shape(part, &rank, dims));
        } else if (number == 2) SP_TRY(sp__wire_take_number(&w, "dtype", type, &dtype));
        else if (number == 3) SP_TRY(sp__wire_take_bytes(&w, "data", type, &data));
        else {
            SP_CHECK(number != 5, SP_DECLINED, "input '%s' is in shared memory, which is not supported", name);
            texts = texts || number == 4;
            SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    SP_CHECK(dtype > 0 && dtype < N_DTYPES, SP_TYPE, "input '%s' has the type %llu, which is no number's", name,
             (unsigned long long)dtype);
    SP_CHECK(!texts, SP_TYPE, "input '%s' has bytes_val, which is for texts and bytes; numbers are in data", name);
    SP_TRY(sp__decode_count(name, rank, dims, &count));
    const size_t size = sp_dtype_bytes(dtypes[dtype]), bytes = sp__wire_left(&data);
    SP_CHECK((uint64_t)count * size == bytes, SP_VALUE, "input '%s' has %zu bytes, its shape and type need %llu", name,
             bytes, (unsigned long long)count * size);
    if (dtypes[dtype] == SP_DTYPE_BOOL)
        for (size_t k = 0; k < bytes; k++)
            SP_CHECK(data.at[k] <= 1, SP_VALUE, "input '%s' has a byte %d where 0 or 1 is wanted", name, data.at[k]);
    return sp_tensor_create_from(dtypes[dtype], (int)rank, dims, bytes > 0 ? data.at : (const uint8_t *)"", out);
}

/* An entry of the map of items. */
static sp_status read_item(sp_job *job, sp_wire w, sp_tensor **row)
{
    const char *name;
    sp_wire value;
    int i;
    SP_TRY(sp__grpc_read_entry(w, "an input", &job->arena, &name, &value));
    SP_TRY(sp__decode_input(job, name, &i));
    sp_tensor_release(row[i]); /* of equal keys the last one counts, in protobuf's maps */
    row[i] = NULL;
    return read_tensor(value, name, &row[i]);
}

static sp_status read_instance(sp_job *job, sp_wire w, sp_instances *all)
{
    sp_tensor **row;
    sp_wire part;
    SP_TRY(sp__instances_add(job, all, &row));
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) {
            SP_TRY(sp__wire_take_bytes(&w, "items", type, &part));
            SP_TRY(read_item(job, part, row));
        } else {
            SP_CHECK(number != 2, SP_DECLINED, "output_buffers are not supported");
            SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    return SP_OK;
}

static sp_status read_instances(sp_job *job, sp_instances *all)
{
    sp_wire w, part;
    SP_TRY(sp__grpc_open(job->x, &w));
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != 2) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "instances", type, &part));
        sp_status status = read_instance(job, part, all);
        if (status != SP_OK) {
            sp__error_context("instance %lld", (long long)all->n - 1);
            return status;
        }
    }
    return SP_OK;
}

static sp_status decode(sp_job *job)
{
    sp_instances all = {0};
    sp_status status = sp__grpc_timeout(job);
    if (status == SP_OK) status = read_instances(job, &all);
    if (status == SP_OK) status = sp__instances_stack(job, &all);
    sp__instances_free(job, &all);
    return status;
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

static sp_status put_spec(sp_wire_out *o, const char *name, const char *method, uint64_t version)
{
    sp_wire_out t = {0};
    sp_status status = sp__grpc_put_text(&t, 1, name);
    if (status == SP_OK) status = sp__grpc_put_text(&t, 2, method);
    if (status == SP_OK && version > 0) status = sp__wire_put_number(&t, 3, version);
    if (status == SP_OK) return sp__grpc_put_message(o, 1, &t);
    sp__wire_out_free(&t);
    return status;
}

/* Row r of a result as an entry of the map of items. */
static sp_status put_item(sp_wire_out *o, const char *name, const sp_tensor *t, int64_t r, int64_t rows, bool bare)
{
    sp_wire_out shape = {0}, tensor = {0}, entry = {0};
    const size_t bytes = bare ? sp_tensor_bytes(t) / (size_t)rows : sp_tensor_bytes(t);
    uint64_t dtype = 0;
    for (int k = 1; k < N_DTYPES; k++)
        if (dtypes[k] == sp_tensor_dtype(t)) dtype = (uint64_t)k;
    sp_status status = dtype != 0 ? SP_OK
                                  : sp__fail(SP_TYPE, "output '%s' is %s, which the protocol has no type for", name,
                                             sp_dtype_name(sp_tensor_dtype(t)));
    if (status == SP_OK) status = sp__grpc_put_dims(&shape, 1, sp_tensor_rank(t) - bare, sp_tensor_dims(t) + bare);
    if (status == SP_OK) status = sp__grpc_put_message(&tensor, 1, &shape);
    if (status == SP_OK) status = sp__wire_put_number(&tensor, 2, dtype);
    if (status == SP_OK)
        status =
            sp__grpc_put_bytes(&tensor, 3, (const char *)sp_tensor_data(t) + (bare ? (size_t)r * bytes : 0), bytes);
    if (status == SP_OK) status = sp__grpc_put_text(&entry, 1, name);
    if (status == SP_OK) status = sp__grpc_put_message(&entry, 2, &tensor);
    if (status == SP_OK) status = sp__grpc_put_message(o, 1, &entry);
    sp__wire_out_free(&shape);
    sp__wire_out_free(&tensor);
    sp__wire_out_free(&entry);
    return status;
}

static sp_status put_reply(sp_job *job, sp_wire_out *o, sp_tensor **plain)
{
    SP_TRY(sp__instances_results(job, plain));
    SP_TRY(sp__grpc_begin(o));
    SP_TRY(put_spec(o, job->model->entry->name, "predict", (uint64_t)job->model->version));
    for (int64_t r = 0; r < job->n_instances; r++) {
        sp_wire_out instance = {0};
        sp_status status = SP_OK;
        for (int i = 0; i < job->model->n_out && status == SP_OK; i++)
            status = put_item(&instance, sp_model_output_name(job->model->model, i), plain[i], r, job->rows, job->bare);
        if (status == SP_OK) status = sp__grpc_put_message(o, 3, &instance);
        sp__wire_out_free(&instance);
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status encode(sp_job *job)
{
    sp_wire_out o = {0};
    sp_tensor **plain = sp__arena_alloc(&job->arena, (size_t)job->model->n_out * sizeof *plain + 1);
    if (plain == NULL) return SP_NOMEM;
    sp_status status = put_reply(job, &o, plain);
    for (int i = 0; i < job->model->n_out; i++) sp_tensor_release(plain[i]);
    if (status == SP_OK) sp__grpc_reply(job->x, &o);
    else sp__wire_out_free(&o);
    return status;
}

/* 1 failed, 2 invalid inputs, 3 system error, 5 servable unavailable */
static uint64_t error_code(int http_status)
{
    if (http_status == 404 || http_status == 503) return 5;
    return http_status == 500 ? 3 : http_status < 500 ? 2 : 1;
}

void sp__mindspore_grpc_error(sp_exchange *x, int http_status, const char *text)
{
    sp_wire_out o = {0}, error = {0};
    sp_status status = sp__grpc_begin(&o);
    if (status == SP_OK) status = sp__wire_put_number(&error, 1, error_code(http_status));
    if (status == SP_OK) status = sp__grpc_put_text(&error, 2, text);
    if (status == SP_OK) status = sp__grpc_put_message(&o, 4, &error);
    if (status == SP_OK) sp__grpc_reply(x, &o);
    else sp__grpc_refuse(x, 503, "out of memory");
    sp__wire_out_free(&error);
    sp__wire_out_free(&o);
}

static void fail(sp_job *job) { sp__mindspore_grpc_error(job->x, job->status, job->error.message); }

const sp_protocol sp__protocol_mindspore_grpc = {
    .name = "mindspore_grpc", .decode = decode, .encode = encode, .fail = fail};

/* --- the route ----------------------------------------------------------------------------------------------------- */

static sp_status find_spec(const sp_exchange *x, spec *out)
{
    sp_wire w, part;
    SP_TRY(sp__grpc_open(x, &w));
    for (int n = 0; sp__wire_more(&w); n++) {
        uint32_t number;
        int type;
        SP_CHECK(n < FIELDS_MAX, SP_FORMAT, "the message has more than %d fields", FIELDS_MAX);
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != 1) SP_TRY(sp__wire_skip(&w, number, type));
        else {
            SP_TRY(sp__wire_take_bytes(&w, "servable_spec", type, &part));
            SP_TRY(read_spec(part, out));
        }
    }
    SP_CHECK(out->version <= INT64_MAX, SP_VALUE, "there is no version %llu", (unsigned long long)out->version);
    return SP_OK;
}

bool sp__mindspore_grpc_route(struct sp_server *s, sp_exchange *x)
{
    if (strcmp(x->path, "/mindspore.serving.proto.MSService/Predict") != 0) return false;
    spec wanted = {.version = 0};
    char why[600];
    int http_status = 400;
    sp_served *m = NULL;
    if (find_spec(x, &wanted) != SP_OK) snprintf(why, sizeof why, "%.590s", sp_error_message());
    else if (sp__servable_find(s, wanted.name, 0) != NULL) {
        sp_servable *v = sp__servable_find(s, wanted.name, (int64_t)wanted.version);
        if (v != NULL) {
            sp__servable_call(v, x, wanted.method, true);
            return true;
        }
        http_status = 404;
        snprintf(why, sizeof why, "servable is not available: '%s' has no version %llu", wanted.name,
                 (unsigned long long)wanted.version);
    } else if (strcmp(wanted.method, "predict") != 0)
        snprintf(why, sizeof why, "method '%s' is not available; a model has one, predict", wanted.method);
    else m = sp__route_model(s, wanted.name, (int64_t)wanted.version, &http_status, why, sizeof why);
    if (m != NULL) {
        sp__job_begin(s, x, m, &sp__protocol_mindspore_grpc);
        return true;
    }
    sp__mindspore_grpc_error(x, http_status, why);
    sp__exchange_reply(x);
    return true;
}
