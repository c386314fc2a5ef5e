/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - the datatype BYTES. */
#include "serve/texts.h"

#include <string.h>

#include "formats/bundle.h"
#include "serve/preprocess.h"

typedef struct elements {
    int64_t count, done;
    const char **data; /* NUL-terminated, in the job's arena */
    size_t *bytes;
} elements;

static const char *name_of(const sp_job *job, int i) { return sp_model_input_name(job->model->model, i); }

static bool is_picture(const sp_job *job, int i)
{
    return job->model->preprocess != NULL && sp__preprocess_input(job->model->preprocess) == i;
}

bool sp__texts_taken(const sp_job *job, int i)
{
    return sp_model_input_spec(job->model->model, i)->dtype == SP_DTYPE_STR || is_picture(job, i);
}

/* room: elements that the body can hold, so that a shape alone reserves nothing. */
static sp_status begin(sp_job *job, int i, int rank, const int64_t *dims, size_t room, elements *e)
{
    *e = (elements){0};
    SP_TRY(sp__decode_count(name_of(job, i), rank, dims, &e->count));
    SP_CHECK((uint64_t)e->count <= room, SP_VALUE, "input '%s' has data for fewer elements than the %lld of its shape",
             name_of(job, i), (long long)e->count);
    e->data = sp__arena_alloc(&job->arena, (size_t)e->count * sizeof *e->data + 1);
    e->bytes = sp__arena_alloc(&job->arena, (size_t)e->count * sizeof *e->bytes + 1);
    return e->data != NULL && e->bytes != NULL ? SP_OK : SP_NOMEM;
}

static sp_status add(sp_job *job, int i, elements *e, const void *data, size_t bytes)
{
    SP_CHECK(e->done < e->count, SP_VALUE, "input '%s' has more elements than the %lld of its shape", name_of(job, i),
             (long long)e->count);
    char *copy = sp__arena_alloc(&job->arena, bytes + 1);
    if (copy == NULL) return SP_NOMEM;
    if (bytes > 0) memcpy(copy, data, bytes);
    copy[bytes] = '\0';
    e->data[e->done] = copy;
    e->bytes[e->done++] = bytes;
    return SP_OK;
}

/* Texts, or pictures. */
static sp_status finish(sp_job *job, int i, int rank, const int64_t *dims, const elements *e)
{
    SP_CHECK(e->done == e->count, SP_VALUE, "input '%s' has %lld elements, its shape has %lld", name_of(job, i),
             (long long)e->done, (long long)e->count);
    if (is_picture(job, i)) {
        SP_CHECK(e->count > 0 && e->count <= SP_SERVE_BATCH_MAX, SP_VALUE,
                 "input '%s' has %lld pictures, it may have 1 to %d", name_of(job, i), (long long)e->count,
                 SP_SERVE_BATCH_MAX);
        const sp_status status = sp__preprocess_run(job->model->preprocess, (int)e->count, (const void *const *)e->data,
                                                    e->bytes, &job->in[i]);
        if (status != SP_OK && status != SP_NOMEM) job->fail_status = 400;
        return status;
    }
    for (int64_t k = 0; k < e->count; k++)
        SP_CHECK(strlen(e->data[k]) == e->bytes[k] && sp__utf8_valid(e->data[k], e->bytes[k]) == e->bytes[k], SP_VALUE,
                 "element %lld of input '%s' is no text in UTF-8, or holds a NUL", (long long)k, name_of(job, i));
    return sp_item_create_texts(rank, dims, e->data, &job->texts[i]);
}

/* --- in ------------------------------------------------------------------------------------------------------------ */

/* Texts in arrays, nested in any way. */
static sp_status read_json(sp_job *job, int i, sp_json *j, elements *e)
{
    int depth = 0;
    bool more[SP_RANK_MAX + 1] = {false};
    SP_CHECK(sp__json_peek(j) == '[', SP_VALUE, "the data of input '%s' is no array", name_of(job, i));
    for (depth = 1; depth > 0;) {
        SP_TRY(sp__json_each(j, '[', &more[depth]));
        if (!more[depth]) {
            depth--;
            continue;
        }
        if (sp__json_peek(j) == '[') {
            SP_CHECK(depth < SP_RANK_MAX, SP_VALUE, "the data of input '%s' has more than %d levels of arrays",
                     name_of(job, i), SP_RANK_MAX);
            more[++depth] = false;
            continue;
        }
        const char *text;
        size_t bytes = 0;
        SP_CHECK(sp__json_peek(j) == '"', SP_TYPE, "the data of input '%s' holds something that is no text",
                 name_of(job, i));
        SP_TRY(sp__json_text(j, &job->arena, &text, &bytes));
        SP_TRY(add(job, i, e, text, bytes));
    }
    return SP_OK;
}

sp_status sp__texts_from_json(sp_job *job, int i, int rank, const int64_t *dims, sp_json j)
{
    elements e;
    SP_TRY(begin(job, i, rank, dims, (size_t)(j.end - j.at) / 2, &e));
    SP_TRY(read_json(job, i, &j, &e));
    return finish(job, i, rank, dims, &e);
}

sp_status sp__texts_from_binary(sp_job *job, int i, int rank, const int64_t *dims, const uint8_t *data, size_t bytes)
{
    elements e;
    SP_TRY(begin(job, i, rank, dims, bytes / 4, &e));
    for (size_t at = 0; at < bytes;) {
        SP_CHECK(bytes - at >= 4, SP_VALUE, "input '%s' ends in the middle of a length", name_of(job, i));
        const size_t n =
            (size_t)data[at] | (size_t)data[at + 1] << 8 | (size_t)data[at + 2] << 16 | (size_t)data[at + 3] << 24;
        SP_CHECK(n <= bytes - at - 4, SP_VALUE, "input '%s': element %lld has %zu bytes, %zu are left", name_of(job, i),
                 (long long)e.done, n, bytes - at - 4);
        SP_TRY(add(job, i, &e, data + at + 4, n));
        at += 4 + n;
    }
    return finish(job, i, rank, dims, &e);
}

sp_status sp__texts_from_fields(sp_job *job, int i, int rank, const int64_t *dims, sp_wire w)
{
    elements e;
    SP_TRY(begin(job, i, rank, dims, sp__wire_left(&w), &e));
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire part;
        SP_TRY(sp__wire_field(&w, &number, &type));
        SP_CHECK(number == 8, SP_TYPE, "input '%s' is BYTES, but its contents are of another type", name_of(job, i));
        SP_TRY(sp__wire_take_bytes(&w, "bytes_contents", type, &part));
        SP_TRY(add(job, i, &e, part.at, sp__wire_left(&part)));
    }
    return finish(job, i, rank, dims, &e);
}

/* --- out ----------------------------------------------------------------------------------------------------------- */

const sp_item *sp__texts_output(const sp_job *job, int i)
{
    return job->texts != NULL ? job->texts[job->model->n_in + i] : NULL;
}

static int64_t count(const sp_item *texts)
{
    const sp_spec *s = sp_item_texts(texts);
    int64_t n = 1;
    for (int k = 0; k < s->rank; k++) n *= s->dims[k];
    return n;
}

void sp__texts_put_json(const sp_item *texts, sp__text *out)
{
    const int64_t n = count(texts);
    for (int64_t k = 0; k < n; k++) {
        const char *text = sp_item_text(texts, k);
        if (k > 0) sp__text_put(out, ",");
        sp__json_put_text(out, text, strlen(text));
    }
}

void sp__texts_put_binary(const sp_item *texts, sp__text *out)
{
    const int64_t n = count(texts);
    for (int64_t k = 0; k < n; k++) {
        const char *text = sp_item_text(texts, k);
        const uint32_t bytes = (uint32_t)strlen(text); /* little-endian */
        sp__text_add(out, (const char *)&bytes, sizeof bytes);
        sp__text_add(out, text, bytes);
    }
}

/* --- running ------------------------------------------------------------------------------------------------------- */

static sp_status run_items(sp_job *job, sp_item **in, sp_item **out)
{
    const sp_served *m = job->model;
    for (int i = 0; i < m->n_in; i++) {
        if (job->texts[i] != NULL) in[i] = sp_item_retain(job->texts[i]);
        else if (job->in[i] != NULL) SP_TRY(sp_item_create_tensor(job->in[i], &in[i]));
    }
    SP_TRY(sp_model_run_items(m->model, m->n_in, in, m->n_out, out));
    for (int i = 0; i < m->n_out; i++) {
        if (out[i] == NULL) continue;
        sp_tensor *t = sp_item_tensor(out[i]);
        SP_CHECK(t != NULL || sp_item_texts(out[i]) != NULL, SP_DECLINED,
                 "output '%s' is a sequence, which is not served", sp_model_output_name(m->model, i));
        if (t != NULL) job->out[i] = sp_tensor_retain(t);
        else job->texts[m->n_in + i] = sp_item_retain(out[i]);
    }
    return SP_OK;
}

sp_status sp__texts_run(sp_job *job)
{
    const int n_in = job->model->n_in, n_out = job->model->n_out;
    sp_item **all = sp__alloc_zero((size_t)(n_in + n_out) * sizeof *all + 1);
    if (all == NULL) return SP_NOMEM;
    const sp_status status = run_items(job, all, all + n_in);
    for (int i = 0; i < n_in + n_out; i++) sp_item_release(all[i]);
    sp__free(all);
    return status;
}

void sp__texts_release(sp_job *job)
{
    for (int i = 0; job->texts != NULL && i < job->model->n_in + job->model->n_out; i++) sp_item_release(job->texts[i]);
}
