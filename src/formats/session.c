/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - models bound to shapes and to memory of the caller's: the program of a model (model.c), bound (graph/bound.h). */
#include "spore/session.h"

#include "formats/model_impl.h"
#include "graph/bound.h"

struct sp_session {
    sp_model *model;
    sp_bound *bound;
    int n_in, n_out;
    sp_spec *in, *out;
    sp__arena memory;
    atomic_flag busy;
};

_Static_assert((int)SP_SESSION_ALIGN == (int)SP_BOUND_ALIGN, "blocks are aligned as bound programs want it");

/* Zeros of the shapes that are asked for, and the program for them. */
typedef struct {
    sp_spec specs[SP_MODEL_ENDS_MAX];
    sp_tensor *in[SP_MODEL_ENDS_MAX];
    sp_program *program;
} prepared;

static void prepared_clear(const sp_model *m, prepared *p)
{
    for (int i = 0; i < m->n_inputs; i++) sp_tensor_release(p->in[i]);
    sp_program_release(p->program);
}

static sp_status prepare(sp_model *m, const sp_spec *inputs, prepared *p)
{
    size_t bytes = 0;
    SP_TRY(sp__model_zeros(m, inputs, p->specs, p->in, &bytes));
    SP_TRY(sp__model_check(m, m->n_inputs, p->in, false));
    return sp__model_program(m, p->specs, &p->program);
}

sp_status sp_session_bytes(sp_model *m, const sp_spec *inputs, size_t *bytes)
{
    SP_CHECK(m != NULL && bytes != NULL, SP_VALUE, "m and bytes must not be NULL");
    prepared *p = sp__alloc_zero(sizeof *p);
    if (p == NULL) return SP_NOMEM;
    sp_status status = prepare(m, inputs, p);
    if (status == SP_OK) status = sp__bound_bytes(p->program, p->in, bytes);
    prepared_clear(m, p);
    sp__free(p);
    return status;
}

/* --- making ------------------------------------------------------------------------------------------------------ */

static sp_status fill_specs(sp_session *s, const prepared *p)
{
    const sp_model *m = s->model;
    s->n_in = m->n_inputs;
    s->n_out = m->n_outputs;
    s->in = sp__arena_alloc(&s->memory, (size_t)(s->n_in + 1) * sizeof *s->in);
    s->out = sp__arena_alloc(&s->memory, (size_t)(s->n_out + 1) * sizeof *s->out);
    if (s->in == NULL || s->out == NULL) return SP_NOMEM;
    for (int i = 0; i < s->n_in; i++) s->in[i] = p->specs[i];
    for (int i = 0; i < s->n_out; i++) {
        const sp_tensor *t = sp__bound_result(s->bound, i);
        s->out[i] = (sp_spec){.dtype = (sp_dtype)t->dtype, .rank = t->rank};
        memcpy(s->out[i].dims, t->dims, (size_t)t->rank * sizeof *t->dims);
    }
    return SP_OK;
}

/* Run once on zeros: threads, their stacks and all else that the first run makes is there afterwards. States are as they were. */
static sp_status warm_up(sp_session *s, const prepared *p)
{
    const void *in[SP_MODEL_ENDS_MAX];
    void *out[SP_MODEL_ENDS_MAX];
    sp_tensor *results[SP_MODEL_ENDS_MAX] = {NULL};
    sp_status status = SP_OK;
    for (int i = 0; i < s->n_in; i++) in[i] = p->in[i]->data;
    for (int i = 0; i < s->n_out && status == SP_OK; i++) {
        status = sp_tensor_create(s->out[i].dtype, s->out[i].rank, s->out[i].dims, &results[i]);
        if (status == SP_OK) out[i] = results[i]->data;
    }
    if (status == SP_OK) status = sp__bound_run(s->bound, in, out);
    for (int i = 0; i < s->n_out; i++) sp_tensor_release(results[i]);
    return status == SP_OK ? sp_model_reset(s->model) : status;
}

sp_status sp_session_create(sp_model *m, const sp_spec *inputs, void *block, size_t bytes, sp_session **out)
{
    SP_CHECK(m != NULL && out != NULL, SP_VALUE, "m and out must not be NULL");
    sp_session *s = sp__alloc_zero(sizeof *s);
    prepared *p = sp__alloc_zero(sizeof *p);
    sp_status status = s != NULL && p != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        s->model = sp_model_retain(m);
        atomic_flag_clear(&s->busy);
        status = prepare(m, inputs, p);
    }
    if (status == SP_OK) status = sp__bound_create(p->program, p->in, block, bytes, &s->bound);
    if (status == SP_OK) status = fill_specs(s, p);
    if (status == SP_OK) status = warm_up(s, p);
    if (p != NULL) prepared_clear(m, p);
    sp__free(p);
    if (status == SP_OK) *out = s;
    else sp_session_release(s);
    return status;
}

void sp_session_release(sp_session *s)
{
    if (s == NULL) return;
    sp__bound_free(s->bound);
    sp_model_release(s->model);
    sp__arena_free(&s->memory);
    sp__free(s);
}

const sp_spec *sp_session_input_spec(const sp_session *s, int i)
{
    return s && i >= 0 && i < s->n_in ? &s->in[i] : NULL;
}
const sp_spec *sp_session_output_spec(const sp_session *s, int i)
{
    return s && i >= 0 && i < s->n_out ? &s->out[i] : NULL;
}

/* --- running ----------------------------------------------------------------------------------------------------- */

static sp_status check_buffer(const char *what, const char *name, const sp_spec *spec, const void *data)
{
    const size_t size = sp_dtype_bytes(spec->dtype);
    SP_CHECK(data != NULL, SP_VALUE, "the buffer of %s '%s' is NULL", what, name);
    SP_CHECK((uintptr_t)data % size == 0, SP_VALUE,
             "the buffer of %s '%s' is at %p, which is no multiple of the %zu bytes of a %s", what, name, data, size,
             sp_dtype_name(spec->dtype));
    return SP_OK;
}

sp_status sp_session_run(sp_session *s, int n_in, const void *const *in, int n_out, void *const *out)
{
    SP_CHECK(s != NULL, SP_VALUE, "s must not be NULL");
    const sp_model *m = s->model;
    SP_CHECK(n_in == s->n_in && n_out == s->n_out, SP_VALUE,
             "the model takes %d inputs and gives %d outputs, but there are %d and %d buffers", s->n_in, s->n_out, n_in,
             n_out);
    for (int i = 0; i < n_in; i++) SP_TRY(check_buffer("input", m->inputs[i].name, &s->in[i], in[i]));
    for (int i = 0; i < n_out; i++) SP_TRY(check_buffer("output", m->outputs[i].name, &s->out[i], out[i]));
    SP_CHECK(!atomic_flag_test_and_set(&s->busy), SP_RUNTIME,
             "the session is being run by another thread; make one for each thread");
    sp_status status = sp__model_check_files(m);
    if (status == SP_OK) status = sp__bound_run(s->bound, in, out);
    if (status == SP_OK) status = sp__model_check_files(m);
    atomic_flag_clear(&s->busy);
    return status;
}
