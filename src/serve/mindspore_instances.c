/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore_instances.c - instances as rows of one run, and its results as instances. */
#include <string.h>

#include "serve/decode.h"
#include "serve/mindspore.h"

sp_status sp__instances_add(sp_job *job, sp_instances *all, sp_tensor ***row)
{
    if (all->n == all->room) {
        const int64_t room = all->room > 0 ? 2 * all->room : 16;
        sp_tensor ***more = sp__realloc(all->values, (size_t)all->room * sizeof *more, (size_t)room * sizeof *more);
        if (more == NULL) return SP_NOMEM;
        all->values = more;
        all->room = room;
    }
    *row = sp__arena_alloc(&job->arena, (size_t)job->model->n_in * sizeof **row + 1);
    if (*row == NULL) return SP_NOMEM;
    all->values[all->n++] = *row;
    return SP_OK;
}

void sp__instances_free(const sp_job *job, sp_instances *all)
{
    for (int64_t r = 0; r < all->n; r++)
        for (int i = 0; i < job->model->n_in; i++) sp_tensor_release(all->values[r][i]);
    sp__free(all->values);
    *all = (sp_instances){0};
}

/* All instances' values of input i, one below the other, as job->in[i]. */
static sp_status stack(sp_job *job, const sp_instances *all, int i)
{
    const char *name = sp_model_input_name(job->model->model, i);
    const sp_spec *face = sp_model_input_spec(job->model->model, i);
    const sp_tensor *first = all->values[0][i];
    int64_t dims[SP_RANK_MAX + 1];
    for (int64_t r = 0; r < all->n; r++) {
        const sp_tensor *t = all->values[r][i];
        SP_CHECK(t != NULL, SP_KEY, "Cannot find input %s in instance input %lld", name, (long long)r);
        bool same = sp_tensor_dtype(t) == sp_tensor_dtype(first) && sp_tensor_rank(t) == sp_tensor_rank(first);
        for (int k = 0; same && k < sp_tensor_rank(t); k++) same = sp_tensor_dims(t)[k] == sp_tensor_dims(first)[k];
        SP_CHECK(same, SP_VALUE, "input '%s' of instance %lld has another type or shape than that of instance 0", name,
                 (long long)r);
    }
    const int rank = sp_tensor_rank(first);
    const bool whole = face->rank == rank && all->n == 1; /* with its first axis */
    SP_CHECK(i == 0 || whole == !job->bare, SP_VALUE,
             "some inputs of the instance have the first axis of the model's, others lack it");
    if (whole) {
        job->in[i] = all->values[0][i];
        all->values[0][i] = NULL;
        return SP_OK;
    }
    SP_CHECK(
        rank < SP_RANK_MAX && (face->rank < 0 || face->rank == rank + 1), SP_VALUE,
        "input '%s' of an instance has %d dimensions; it must have %d, one less than the model's input: instances become its rows",
        name, rank, face->rank - 1);
    job->bare = true;
    /* A model of a fixed number of rows gets the first instance again in place of those that are missing. */
    const bool fixed = job->model->max_batch == 1 && face->rank > 0 && face->dims[0] > 1;
    SP_CHECK(!fixed || all->n <= face->dims[0], SP_VALUE,
             "%lld instances are more than the %lld rows that the model takes", (long long)all->n,
             (long long)face->dims[0]);
    SP_CHECK(all->n == 1 || job->model->max_batch > 1 || face->rank < 0 || face->dims[0] != 1, SP_VALUE,
             "%lld instances are given, but the model takes one at a time: %s", (long long)all->n,
             job->model->why_single);
    const int64_t rows = fixed ? face->dims[0] : all->n;
    dims[0] = rows;
    memcpy(dims + 1, sp_tensor_dims(first), (size_t)rank * sizeof *dims);
    SP_TRY(sp_tensor_create(sp_tensor_dtype(first), rank + 1, dims, &job->in[i]));
    const size_t bytes = sp_tensor_bytes(first);
    for (int64_t r = 0; r < rows && bytes > 0; r++)
        memcpy((char *)sp_tensor_data(job->in[i]) + (size_t)r * bytes,
               sp_tensor_data(all->values[r < all->n ? r : 0][i]), bytes);
    return SP_OK;
}

sp_status sp__instances_stack(sp_job *job, sp_instances *all)
{
    SP_CHECK(all->n > 0, SP_VALUE, "there are no instances");
    job->n_instances = all->n;
    for (int i = 0; i < job->model->n_in; i++) SP_TRY(stack(job, all, i));
    return SP_OK;
}

sp_status sp__instances_results(const sp_job *job, sp_tensor **plain)
{
    for (int i = 0; i < job->model->n_out; i++) {
        const char *name = sp_model_output_name(job->model->model, i);
        SP_TRY(sp__encode_plain(job, i, &plain[i]));
        SP_CHECK(strchr("biuf", sp_dtype_kind(sp_tensor_dtype(plain[i]))) != NULL, SP_TYPE,
                 "output '%s' is %s, which the protocol has no type for", name,
                 sp_dtype_name(sp_tensor_dtype(plain[i])));
        SP_CHECK(!job->bare || (sp_tensor_rank(plain[i]) > 0 && sp_tensor_dims(plain[i])[0] == job->rows), SP_RUNTIME,
                 "output '%s' has no row for each instance; send one instance, with the first axis", name);
    }
    return SP_OK;
}
