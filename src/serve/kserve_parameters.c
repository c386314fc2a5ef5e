/* SPDX-License-Identifier: Apache-2.0 */
/* kserve_parameters.c - what requests of the Open Inference Protocol ask for besides their tensors: done, or refused by name. What is accepted and not done would be
 * believed in. Values that ask for nothing (priority 0, sequence_end false) are what clients send by default, and are taken. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/kserve_parameters.h"
#include "serve/regions.h"
#include "serve/routes.h"

static sp_status want(const sp_parameter *p, char kind)
{
    SP_CHECK(p->kind == kind, SP_TYPE, "parameter '%.64s' must be %s", p->key,
             kind == 'b'   ? "true or false"
             : kind == 'i' ? "an integer"
                           : "a text");
    return SP_OK;
}

static sp_status unknown(const sp_parameter *p, const char *of, const char *known)
{
    return sp__fail(SP_VALUE, "parameter '%.64s' of %s is not supported; there are: %s", p->key, of, known);
}

static bool asks_nothing(const sp_parameter *p)
{
    return p->kind == 'b' ? !p->flag : p->kind == 'i' ? p->integer == 0 : p->kind == 's' && p->text[0] == '\0';
}

/* which: sequence_id, sequence_start or sequence_end */
static sp_status sequence_parameter(sp_job *job, const sp_parameter *p, int which)
{
    char number[24];
    if (which > 0) {
        SP_TRY(want(p, 'b'));
        *(which == 1 ? &job->sequence_start : &job->sequence_end) = p->flag;
        return SP_OK;
    }
    SP_CHECK(p->kind == 'i' || (p->kind == 's' && strlen(p->text) <= 128), SP_TYPE,
             "parameter 'sequence_id' must be an integer, or a text of up to 128 bytes");
    snprintf(number, sizeof number, "%lld", (long long)p->integer);
    job->sequence_id = sp__arena_text(&job->arena, p->kind == 'i' ? number : p->text);
    return job->sequence_id != NULL ? SP_OK : SP_NOMEM;
}

sp_status sp__kserve_request_parameter(sp_job *job, const sp_parameter *p)
{
    static const char *const of_sequences[] = {"sequence_id", "sequence_start", "sequence_end"};
    if (strcmp(p->key, "timeout") == 0) {
        SP_TRY(want(p, 'i'));
        SP_CHECK(p->integer >= 0, SP_VALUE, "parameter 'timeout' is %lld, it must not be negative",
                 (long long)p->integer);
        sp__decode_timeout(job, p->integer);
        return SP_OK;
    }
    if (strcmp(p->key, "binary_data_output") == 0) {
        SP_TRY(want(p, 'b'));
        job->binary = p->flag;
        return SP_OK;
    }
    if (strcmp(p->key, "priority") == 0) {
        SP_TRY(want(p, 'i'));
        const int most = job->model->settings.n_priorities;
        SP_CHECK(
            p->integer == 0 || most > 0, SP_VALUE,
            "parameter 'priority' is not supported: the model has no setting priorities, and requests are run in the order in which they come");
        SP_CHECK(p->integer >= 0 && p->integer <= most, SP_VALUE,
                 "parameter 'priority' is %lld, it must be 1 (first) to %d", (long long)p->integer, most);
        if (p->integer > 0) job->priority = (int)p->integer;
        return SP_OK;
    }
    if (strcmp(p->key, "triton_enable_empty_final_response") == 0) {
        SP_TRY(want(p, 'b'));
        SP_CHECK(
            asks_nothing(p) || job->protocol == &sp__protocol_kserve_stream, SP_VALUE,
            "parameter 'triton_enable_empty_final_response' is not supported here: it belongs to ModelStreamInfer");
        job->final_wanted = p->flag;
        return SP_OK;
    }
    for (size_t i = 0; i < sizeof of_sequences / sizeof *of_sequences; i++)
        if (strcmp(p->key, of_sequences[i]) == 0) {
            SP_CHECK(
                asks_nothing(p) || job->model->n_states > 0, SP_VALUE,
                "parameter '%s' is not supported: the model has no setting state, and keeps nothing from request to request",
                p->key);
            return asks_nothing(p) ? SP_OK : sequence_parameter(job, p, (int)i);
        }
    return unknown(p, "the request", "timeout, binary_data_output");
}

/* numpy's is the only form that there is. */
static sp_status content_type(const sp_parameter *p, const char *name)
{
    SP_TRY(want(p, 's'));
    SP_CHECK(strcmp(p->text, "np") == 0, SP_VALUE,
             "parameter 'content_type' of '%.100s' is '%.32s'; only 'np' is supported", name, p->text);
    return SP_OK;
}

/* *is_one: it is one of those that name shared memory. */
static sp_status shared_parameter(const sp_parameter *p, const char *kind, const char *name, sp_region_words *shared,
                                  bool *is_one)
{
    char of[120];
    snprintf(of, sizeof of, "%s '%.100s'", kind, name);
    return sp__region_parameter(p, of, shared, is_one);
}

sp_status sp__kserve_input_parameter(const sp_parameter *p, const char *name, int64_t *binary_bytes,
                                     sp_region_words *shared)
{
    bool is_shared;
    SP_TRY(shared_parameter(p, "input", name, shared, &is_shared));
    if (is_shared) return SP_OK;
    if (strcmp(p->key, "content_type") == 0) return content_type(p, name);
    if (strcmp(p->key, "binary_data_size") != 0)
        return unknown(p, "an input", "binary_data_size, shared_memory_region");
    SP_TRY(want(p, 'i'));
    SP_CHECK(p->integer >= 0, SP_VALUE, "parameter 'binary_data_size' is %lld, it must not be negative",
             (long long)p->integer);
    *binary_bytes = p->integer;
    return SP_OK;
}

sp_status sp__kserve_output_parameter(const sp_parameter *p, const char *name, bool *says_binary, sp_wanted *w,
                                      sp_region_words *shared)
{
    bool is_shared;
    SP_TRY(shared_parameter(p, "output", name, shared, &is_shared));
    if (is_shared) return SP_OK;
    if (strcmp(p->key, "content_type") == 0) return content_type(p, name);
    if (strcmp(p->key, "binary_data") == 0) {
        SP_TRY(want(p, 'b'));
        w->binary = p->flag;
        *says_binary = true;
        return SP_OK;
    }
    if (strcmp(p->key, "classification") != 0)
        return unknown(p, "an output", "binary_data, classification, shared_memory_region");
    SP_TRY(want(p, 'i'));
    SP_CHECK(p->integer >= 0, SP_VALUE, "parameter 'classification' is %lld, it must be the number of classes to tell",
             (long long)p->integer);
    w->classes = p->integer;
    return SP_OK;
}

/* --- classes ------------------------------------------------------------------------------------------------------- */

static bool has_classes(sp_dtype dtype) { return strchr("biuf", sp_dtype_kind(dtype)) != NULL; }

sp_status sp__kserve_check_classes(const sp_served *m, const sp_wanted *w)
{
    const sp_dtype dtype = sp_model_output_spec(m->model, w->index)->dtype;
    const char *datatype = sp__kserve_datatype(dtype);
    SP_CHECK(w->classes == 0 || dtype == SP_DTYPE_NONE || has_classes(dtype), SP_TYPE,
             "output '%s' is %s, which has no classes", sp_model_output_name(m->model, w->index),
             datatype != NULL ? datatype : sp_dtype_name(dtype));
    return SP_OK;
}

typedef struct score {
    double value;
    int64_t index;
} score;

/* The largest first, of equal ones the first; NaN last. */
static int by_score(const void *a, const void *b)
{
    const score *x = a, *y = b;
    const bool no_x = isnan(x->value), no_y = isnan(y->value);
    if (no_x != no_y) return no_x ? 1 : -1;
    if (!no_x && x->value != y->value) return x->value < y->value ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static sp_status read_scores(const sp_tensor *t, int64_t from, int64_t n, score *out)
{
    for (int64_t i = 0; i < n; i++) {
        sp_tensor *one = NULL;
        SP_TRY(sp_tensor_view(t, 0, NULL, NULL, from + i, &one));
        sp_status status = sp_tensor_item_f64(one, &out[i].value);
        sp_tensor_release(one);
        SP_TRY(status);
        out[i].index = i;
    }
    return SP_OK;
}

static void put_class(const sp_served *m, const sp_tensor *t, int64_t from, const score *s, bool json, sp__text *out)
{
    const size_t size = sp_dtype_bytes(sp_tensor_dtype(t));
    sp__text one = {0};
    if (isfinite(s->value))
        sp__json_put_elements(&one, sp_tensor_dtype(t), 1,
                              (const char *)sp_tensor_data(t) + (size_t)(from + s->index) * size);
    else sp__text_put(&one, "%s", isnan(s->value) ? "nan" : s->value > 0 ? "inf" : "-inf");
    sp__text_put(&one, ":%lld", (long long)s->index);
    if (s->index < m->n_classes) sp__text_put(&one, ":%s", m->classes[s->index]);
    if (one.failed) out->failed = true;
    else if (json) sp__json_put_text(out, one.data, one.used);
    else {
        const uint32_t bytes = (uint32_t)one.used; /* little-endian */
        sp__text_add(out, (const char *)&bytes, sizeof bytes);
        sp__text_add(out, one.data, one.used);
    }
    sp__free(one.data);
}

sp_status sp__kserve_put_classes(const sp_served *m, const sp_tensor *t, const char *name, int64_t classes, bool json,
                                 sp__text *out, int *rank, int64_t dims[2])
{
    const int64_t count = sp_tensor_count(t), rows = sp_tensor_rank(t) > 1 ? sp_tensor_dims(t)[0] : 1,
                  n = rows > 0 ? count / rows : 0, k = classes < n ? classes : n;
    SP_CHECK(has_classes(sp_tensor_dtype(t)), SP_TYPE, "output '%s' is %s, which has no classes", name,
             sp_dtype_name(sp_tensor_dtype(t)));
    score *scores = sp__alloc((size_t)n * sizeof *scores + 1);
    if (scores == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int64_t r = 0; r < rows && n > 0 && status == SP_OK; r++) {
        status = read_scores(t, r * n, n, scores);
        if (status != SP_OK) break;
        qsort(scores, (size_t)n, sizeof *scores, by_score);
        for (int64_t i = 0; i < k; i++) {
            if (json && (r > 0 || i > 0)) sp__text_put(out, ",");
            put_class(m, t, r * n, &scores[i], json, out);
        }
    }
    sp__free(scores);
    *rank = sp_tensor_rank(t) > 1 ? 2 : 1;
    dims[0] = *rank == 2 ? rows : k;
    dims[1] = k;
    return status;
}
