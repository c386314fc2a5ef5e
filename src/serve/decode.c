/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - what the protocols share. */
#include <string.h>

#include "serve/decode.h"

static sp_status unknown(const char *kind, const char *name, int n, const char *(*name_at)(const sp_model *, int),
                         const sp_model *m)
{
    char all[512] = "";
    for (int i = 0; i < n && strlen(all) < 400; i++) {
        strncat(all, i ? ", '" : "'", 4);
        strncat(all, name_at(m, i), 80);
        strncat(all, "'", 2);
    }
    return sp__fail(SP_KEY, "the model has no %s '%.100s'; it has %s", kind, name, n > 0 ? all : "none");
}

sp_status sp__decode_input(const sp_job *job, const char *name, int *index)
{
    const sp_model *m = job->model->model;
    for (int i = 0; i < job->model->n_in; i++)
        if (strcmp(sp_model_input_name(m, i), name) == 0) {
            *index = i;
            return SP_OK;
        }
    return unknown("input", name, job->model->n_in, sp_model_input_name, m);
}

sp_status sp__decode_output(const sp_job *job, const char *name, int *index)
{
    const sp_model *m = job->model->model;
    for (int i = 0; i < job->model->n_out; i++)
        if (strcmp(sp_model_output_name(m, i), name) == 0) {
            *index = i;
            return SP_OK;
        }
    return unknown("output", name, job->model->n_out, sp_model_output_name, m);
}

sp_status sp__decode_count(const char *input, int64_t rank, const int64_t *dims, int64_t *count)
{
    SP_CHECK(rank <= SP_RANK_MAX, SP_VALUE, "input '%s' has %lld dimensions, at most %d are possible", input,
             (long long)rank, SP_RANK_MAX);
    *count = 1;
    for (int64_t k = 0; k < rank; k++) {
        SP_CHECK(dims[k] >= 0, SP_VALUE, "input '%s' has a dimension of %lld", input, (long long)dims[k]);
        SP_CHECK(sp__mul_i64(*count, dims[k], count) && *count <= INT64_MAX / 16, SP_VALUE,
                 "input '%s' has more elements than can be addressed", input);
    }
    return SP_OK;
}

static sp_status check_bytes(const char *name, sp_dtype dtype, int rank, const int64_t *dims, size_t bytes)
{
    int64_t count = 0;
    SP_TRY(sp__decode_count(name, rank, dims, &count));
    SP_CHECK((uint64_t)count * sp_dtype_bytes(dtype) == bytes, SP_VALUE,
             "input '%s' has %zu bytes, its shape and type need %llu", name, bytes,
             (unsigned long long)count * sp_dtype_bytes(dtype));
    return SP_OK;
}

static sp_status check_values(const char *name, sp_dtype dtype, const uint8_t *data, size_t bytes)
{
    if (dtype != SP_DTYPE_BOOL) return SP_OK;
    for (size_t k = 0; k < bytes; k++)
        SP_CHECK(data[k] <= 1, SP_VALUE, "input '%s' has a byte %d where 0 or 1 is wanted", name, data[k]);
    return SP_OK;
}

sp_status sp__decode_room(sp_job *job, int i, sp_dtype dtype, int rank, const int64_t *dims, size_t bytes)
{
    SP_TRY(check_bytes(sp_model_input_name(job->model->model, i), dtype, rank, dims, bytes));
    return sp_tensor_create(dtype, rank, dims, &job->in[i]);
}

sp_status sp__decode_check(const sp_job *job, int i)
{
    const sp_tensor *t = job->in[i];
    return check_values(sp_model_input_name(job->model->model, i), sp_tensor_dtype(t), sp_tensor_data(t),
                        sp_tensor_bytes(t));
}

sp_status sp__decode_raw(sp_job *job, int i, sp_dtype dtype, int rank, const int64_t *dims, const void *data,
                         size_t bytes)
{
    const char *name = sp_model_input_name(job->model->model, i);
    SP_TRY(check_bytes(name, dtype, rank, dims, bytes));
    SP_TRY(check_values(name, dtype, data, bytes));
    return sp_tensor_create_from(dtype, rank, dims, data, &job->in[i]);
}

sp_status sp__decode_array(sp_json *j, const char *name, sp_dtype wanted, sp_tensor **out)
{
    int rank;
    int64_t dims[SP_RANK_MAX], count = 0;
    SP_TRY(sp__json_shape(*j, &rank, dims));
    SP_TRY(sp__decode_count(name, rank, dims, &count));
    SP_CHECK(count <= (j->end - j->at) / 2 + 1, SP_VALUE, "input '%s': its arrays are not of equal lengths", name);
    SP_TRY(sp_tensor_create(wanted, rank, dims, out));
    sp_status status = sp__json_elements(j, wanted, count, sp_tensor_data(*out));
    if (status != SP_OK) {
        sp_tensor_release(*out);
        *out = NULL;
        sp__error_context("input '%s'", name);
    }
    return status;
}

void sp__decode_timeout(sp_job *job, int64_t us)
{
    if (us <= 0 || us > INT64_MAX / 2)
        return; /* 0: as long as the server allows, which is less than the longest times */
    const int64_t deadline = job->x->began_us + us;
    if (deadline < job->deadline_us) job->deadline_us = deadline;
}

sp_status sp__encode_plain(const sp_job *job, int i, sp_tensor **out)
{
    SP_CHECK(job->out[i] != NULL, SP_RUNTIME, "output '%s' was not given by the model",
             sp_model_output_name(job->model->model, i));
    return sp_tensor_contiguous(job->out[i], out);
}
