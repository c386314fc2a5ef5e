/* SPDX-License-Identifier: Apache-2.0 */
/* bodies.c - requests of the Open Inference Protocol whose bodies are the tensors themselves, told by Content-Type, and replies in the form that Accept asks for.
 *
 *     application/x-npy           one array, for a model of one input
 *     application/x-npz           arrays by the names of inputs
 *     application/octet-stream    the bytes of the one input, without Inference-Header-Content-Length, or with 0 there. Clients that name no type for JSON say this, too
 *                                 (aiohttp's default, and so tritonclient.http.aio): an object that has "inputs" is JSON
 *     image/...                   a picture, where the model has a setting `preprocess` */
#include <string.h>

#include "base/plain.h"
#include "formats/zip.h"
#include "serve/decode.h"
#include "serve/preprocess.h"

static const char npy[] = "application/x-npy", npz[] = "application/x-npz", raw[] = "application/octet-stream";

/* Is it this type, whatever parameters stand behind? */
static bool is_type(const char *text, const char *type)
{
    const size_t n = strlen(type);
    return text != NULL && sp__same_letters_n(text, type, n) && (text[n] == '\0' || strchr(" ;,", text[n]) != NULL);
}

/* --- requests ------------------------------------------------------------------------------------------------------ */

static sp_status one_input(const sp_job *job, const char *type)
{
    SP_CHECK(job->model->n_in == 1, SP_VALUE,
             "a body of %s is one tensor, the model has %d inputs; send application/x-npz or JSON", type,
             job->model->n_in);
    return SP_OK;
}

static sp_status take_raw(sp_job *job)
{
    SP_TRY(one_input(job, raw));
    const sp_spec *s = sp_model_input_spec(job->model->model, 0);
    const char *name = sp_model_input_name(job->model->model, 0);
    const size_t element = s->dtype != SP_DTYPE_NONE ? sp_dtype_bytes(s->dtype) : 0;
    int64_t dims[SP_RANK_MAX], known = 1;
    int open = -1;
    SP_CHECK(element > 0 && s->rank >= 0, SP_VALUE,
             "input '%s' has no type or shape in the file, so that bytes alone do not tell what it is", name);
    for (int k = 0; k < s->rank; k++) {
        dims[k] = s->dims[k];
        SP_CHECK(dims[k] >= 0 || open < 0, SP_VALUE,
                 "input '%s' leaves several sizes open, so that bytes alone do not tell its shape", name);
        if (dims[k] < 0) open = k;
        else SP_CHECK(sp__mul_i64(known, dims[k], &known), SP_VALUE, "input '%s' is too large", name);
    }
    const uint64_t unit = (uint64_t)known * element, bytes = job->x->body_bytes;
    if (open >= 0) {
        SP_CHECK(unit > 0 && bytes % unit == 0 && bytes > 0, SP_VALUE,
                 "the body has %llu bytes, input '%s' takes a multiple of %llu", (unsigned long long)bytes, name,
                 (unsigned long long)unit);
        dims[open] = (int64_t)(bytes / unit);
    }
    return sp__decode_raw(job, 0, s->dtype, s->rank, dims, job->x->body, bytes);
}

/* What is packed into a small archive may be huge. */
static sp_status check_archive(sp_job *job, const sp_source *s)
{
    sp_zip zip = {0};
    uint64_t total = 0;
    const uint64_t most = job->server->o.max_body_bytes;
    SP_TRY(sp__zip_open(s, &zip));
    for (size_t i = 0; i < zip.count && total <= most; i++)
        total = zip.entries[i].bytes > most ? most + 1 : total + zip.entries[i].bytes;
    sp__zip_close(&zip);
    if (total <= most) return SP_OK;
    job->fail_status = 413;
    return sp__fail(SP_VALUE,
                    "the archive has more than the %llu bytes that are allowed (--max-body) when it is unpacked",
                    (unsigned long long)most);
}

static sp_status take_array(sp_job *job, int i, sp_tensor *t)
{
    const sp_dtype wanted = sp_model_input_spec(job->model->model, i)->dtype;
    SP_CHECK(t != NULL, SP_TYPE, "the array for input '%s' holds no numbers",
             sp_model_input_name(job->model->model, i));
    SP_CHECK(wanted == SP_DTYPE_NONE || sp_tensor_dtype(t) == wanted, SP_TYPE, "input '%s' is %s, it must be %s",
             sp_model_input_name(job->model->model, i), sp_dtype_name(sp_tensor_dtype(t)), sp_dtype_name(wanted));
    return sp_tensor_contiguous(t, &job->in[i]);
}

static sp_status take_arrays(sp_job *job, const sp_bundle *arrays, bool archive)
{
    for (int64_t k = 0; k < sp_bundle_count(arrays); k++) {
        int i = 0;
        if (archive) SP_TRY(sp__decode_input(job, sp_bundle_name_at(arrays, k), &i));
        SP_CHECK(job->in[i] == NULL, SP_VALUE, "input '%s' is given twice", sp_model_input_name(job->model->model, i));
        SP_TRY(take_array(job, i, sp_bundle_tensor_at(arrays, k)));
    }
    return SP_OK;
}

static sp_status take_numpy(sp_job *job, bool archive)
{
    const sp_file_options o = {.format = archive ? "npz" : "npy", .flags = SP_FILE_COPY};
    const sp_exchange *x = job->x;
    sp_source s;
    sp_bundle *arrays = NULL;
    if (!archive) SP_TRY(one_input(job, npy));
    SP_TRY(sp__source_open_memory(x->body, x->body_bytes, &o, &s));
    sp_status status = archive ? check_archive(job, &s) : SP_OK;
    sp__source_close(&s);
    if (status == SP_OK) status = sp_load_memory(x->body, x->body_bytes, &o, &arrays);
    if (status == SP_OK) status = take_arrays(job, arrays, archive);
    sp_bundle_release(arrays);
    if (status != SP_OK && status != SP_NOMEM && job->fail_status == 0)
        job->fail_status = 400; /* also what a reader calls otherwise */
    return status;
}

static sp_status take_picture(sp_job *job)
{
    const sp_preprocess *p = job->model->preprocess;
    const void *file = job->x->body;
    if (p == NULL) {
        job->fail_status = 415;
        return sp__fail(
            SP_VALUE,
            "the model takes no pictures: it has no setting preprocess, which says how they become its input");
    }
    const sp_status status = sp__preprocess_run(p, 1, &file, &job->x->body_bytes, &job->in[sp__preprocess_input(p)]);
    if (status != SP_OK && status != SP_NOMEM) job->fail_status = 400;
    return status;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Is it a request in JSON, whatever its type says? */
static bool is_request(const sp_exchange *x)
{
    static const char inputs[] = "\"inputs\"";
    const char *from = (const char *)x->body, *end = from + x->body_bytes;
    while (from < end && is_blank(*from)) from++;
    while (end > from && is_blank(end[-1])) end--;
    if (end - from < 12 || *from != '{' || end[-1] != '}') return false;
    for (const char *p = from; end - p >= (ptrdiff_t)sizeof inputs; p++)
        if (*p == '"' && memcmp(p, inputs, sizeof inputs - 1) == 0) return true;
    return false;
}

sp_status sp__decode_typed(sp_job *job, bool *done)
{
    const char *type = sp__exchange_header(job->x, "content-type"),
               *length = sp__exchange_header(job->x, "inference-header-content-length");
    const bool picture = type != NULL && sp__same_letters_n(type, "image/", 6), array = is_type(type, npy),
               arrays = is_type(type, npz),
               bytes = length != NULL ? strcmp(length, "0") == 0 : is_type(type, raw) && !is_request(job->x);
    *done = picture || array || arrays || bytes;
    if (!*done) return SP_OK;
    SP_CHECK(job->x->body_bytes > 0, SP_VALUE, "the request has no body");
    return picture ? take_picture(job) : bytes ? take_raw(job) : take_numpy(job, arrays);
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

static sp_status gather(const sp_job *job, sp_bundle *b)
{
    const int n = job->wanted != NULL ? job->n_wanted : job->model->n_out;
    for (int k = 0; k < n; k++) {
        const int i = job->wanted != NULL ? job->wanted[k].index : k;
        sp_tensor *t = NULL;
        SP_TRY(sp__encode_plain(job, i, &t));
        const sp_status status = sp_bundle_add(b, sp_model_output_name(job->model->model, i), t);
        sp_tensor_release(t);
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status write_numpy(const sp_bundle *b, const char *format, sp_wire_out *out)
{
    sp_sink *sink = NULL;
    SP_TRY(sp__sink_open_memory(out, &sink));
    const sp_status status = sp_format_find(format)->write(sink, b);
    if (status == SP_OK) return sp__sink_take_commit(sink);
    sp__sink_abort(sink);
    return status;
}

static sp_status write_all(const sp_bundle *b, const char *type, sp_wire_out *out)
{
    if (type != raw) return write_numpy(b, type == npy ? "npy" : "npz", out);
    const sp_tensor *t = sp_bundle_tensor_at(b, 0);
    return sp__wire_put(out, sp_tensor_data(t), sp_tensor_bytes(t));
}

/* The form of the reply that the client asks for; NULL: the protocol's own. */
static const char *wanted_type(const sp_job *job)
{
    const char *accept = sp__exchange_header(job->x, "accept");
    return is_type(accept, npy) ? npy : is_type(accept, npz) ? npz : is_type(accept, raw) ? raw : NULL;
}

sp_status sp__decode_accept(sp_job *job)
{
    const char *type = wanted_type(job);
    const int n = job->wanted != NULL ? job->n_wanted : job->model->n_out;
    if (type == NULL) return SP_OK;
    for (int k = 0; k < job->n_wanted; k++)
        SP_CHECK(job->wanted[k].classes == 0, SP_VALUE, "Accept asks for %s, which holds no classes; ask for JSON",
                 type);
    if ((type == npz || n == 1) && !job->model->items) return SP_OK;
    job->fail_status = 406;
    SP_CHECK(!job->model->items, SP_VALUE, "Accept asks for %s, which holds no texts; ask for JSON", type);
    return sp__fail(SP_VALUE, "Accept asks for %s, which holds one tensor, but there are %d outputs; ask for %s", type,
                    n, npz);
}

sp_status sp__encode_typed(sp_job *job, bool *done)
{
    const char *type = wanted_type(job);
    sp_bundle *b = NULL;
    sp_wire_out out = {0};
    *done = type != NULL;
    if (type == NULL) return SP_OK;
    SP_TRY(sp_bundle_create(&b));
    sp_status status = gather(job, b);
    if (status == SP_OK) status = write_all(b, type, &out);
    sp_bundle_release(b);
    if (status != SP_OK) {
        sp__wire_out_free(&out);
        return status;
    }
    sp_net_reply *r = &job->x->reply;
    sp__free(r->body);
    r->status = 200;
    r->type = type;
    r->body = out.data;
    r->body_bytes = out.bytes;
    return SP_OK;
}
