/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_record.c - a model as a function whose weights are constants, and its test vector. */
#include "codegen/codegen_record.h"

#include "codegen/codegen.h"
#include "formats/model_impl.h"

static sp_status check_faces(const sp_model *m)
{
    SP_CHECK(m->n_inputs >= 1 && m->n_inputs <= 16 && m->n_outputs >= 1 && m->n_outputs <= 16, SP_DECLINED,
             "the model has %d inputs and %d outputs, 1 to 16 of each are possible", m->n_inputs, m->n_outputs);
    for (int i = 0; i < m->n_inputs; i++) {
        const sp_model_value *v = &m->inputs[i];
        SP_CHECK(v->spec.dtype >= 0 && sp__codegen_type(v->spec.dtype) != NULL, SP_DECLINED,
                 "input '%s' is no tensor of numbers that C99 has", v->name);
        SP_CHECK(v->spec.rank >= 0, SP_VALUE,
                 "the file does not say of which rank input '%s' is: give its shape (--shape %s=1,2,3)", v->name,
                 v->name);
        for (int k = 0; k < v->spec.rank; k++)
            SP_CHECK(v->spec.dims[k] > 0, SP_VALUE,
                     "dimension %d of input '%s' is open: give the shape (--shape %s=1,2,3)", k, v->name, v->name);
    }
    return SP_OK;
}

bool sp__codegen_is_shared(const sp_codegen_shared *shared, const sp_tensor *t)
{
    for (int i = 0; shared != NULL && i < shared->n; i++)
        if (shared->tensors[i] == t) return true;
    return false;
}

sp_status sp__codegen_weights(const sp_model *m, const sp_codegen_shared *shared, sp_bundle **out)
{
    SP_TRY(sp__model_frozen_weights(m, out));
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++) {
        sp_tensor *t = sp_bundle_tensor_at(m->parameters, i);
        if (t == NULL || (m->kind->freezes && !sp__codegen_is_shared(shared, t))) continue;
        const sp_status status = sp_bundle_add(*out, sp_bundle_name_at(m->parameters, i), t);
        if (status != SP_OK) {
            sp_bundle_release(*out);
            return status;
        }
    }
    return SP_OK;
}

sp_status sp__codegen_record(const sp_model *m, const sp_codegen_shared *shared, sp__arena *places, sp_graph **graph,
                             sp_function **out)
{
    SP_TRY(check_faces(m));
    sp_spec specs[16];
    sp_bundle *weights = NULL;
    SP_TRY(sp__codegen_weights(m, shared, &weights));
    const sp_model frozen = {.kind = m->kind,
                             .data = m->data,
                             .n_inputs = m->n_inputs,
                             .n_outputs = m->n_outputs,
                             .inputs = m->inputs,
                             .outputs = m->outputs,
                             .parameters = weights};
    for (int i = 0; i < m->n_inputs; i++) specs[i] = m->inputs[i].spec;
    sp__model_places = places;
    sp_status status = sp__model_record(&frozen, ((uint64_t)1 << m->n_inputs) - 1, m->n_inputs, specs, graph, out);
    sp__model_places = NULL;
    sp_bundle_release(weights);
    if (status == SP_SYMBOL) status = sp__fail(SP_DECLINED, "shapes in the model depend on the contents of its inputs");
    return status;
}

/* --- the test vector --------------------------------------------------------------------------------------------- */

/* Noise that is the same on every machine: floats in [-1, 1), bytes of all values, small numbers for what may be an index. */
sp_status sp__codegen_noise(const sp_spec *s, uint32_t *state, sp_tensor **out)
{
    SP_TRY(sp_tensor_create(s->dtype, s->rank, s->dims, out));
    for (int64_t i = 0; i < (*out)->count; i++) {
        *state = *state * 1664525u + 1013904223u;
        const uint32_t bits = *state >> 8;
        void *at = (*out)->data + i * (int64_t)sp_dtype_bytes(s->dtype);
        switch (s->dtype) {
        case SP_DTYPE_F32: *(float *)at = (float)bits / 8388608.0f - 1.0f; break;
        case SP_DTYPE_F64: *(double *)at = (double)bits / 8388608.0 - 1.0; break;
        case SP_DTYPE_I8:
        case SP_DTYPE_U8: *(uint8_t *)at = (uint8_t)(bits >> 8); break;
        case SP_DTYPE_BOOL: *(uint8_t *)at = bits >> 12 & 1; break;
        case SP_DTYPE_I16:
        case SP_DTYPE_U16: *(int16_t *)at = (int16_t)(bits >> 4 & 0x7fff); break;
        case SP_DTYPE_I32:
        case SP_DTYPE_U32: *(int32_t *)at = (int32_t)(bits >> 12 & 3); break;
        default: *(int64_t *)at = (int64_t)(bits >> 12 & 3); break;
        }
    }
    return SP_OK;
}

sp_status sp__codegen_vector_make(sp_model *m, sp_codegen_vector *out)
{
    uint32_t state = 12345;
    *out = (sp_codegen_vector){.n_in = m->n_inputs, .n_out = m->n_outputs};
    out->in = sp__alloc_zero((size_t)m->n_inputs * sizeof *out->in);
    out->out = sp__alloc_zero((size_t)m->n_outputs * sizeof *out->out);
    const char **names = sp__alloc_zero((size_t)(m->n_inputs + m->n_outputs) * sizeof *names);
    out->in_names = names;
    if (out->in == NULL || out->out == NULL || names == NULL) return SP_NOMEM;
    out->out_names = names + m->n_inputs;
    for (int i = 0; i < m->n_inputs; i++) {
        names[i] = m->inputs[i].name;
        SP_TRY(sp__codegen_noise(&m->inputs[i].spec, &state, &out->in[i]));
    }
    for (int i = 0; i < m->n_outputs; i++) names[m->n_inputs + i] = m->outputs[i].name;
    SP_TRY(sp_model_reset(m));
    SP_TRY(sp_model_run(m, m->n_inputs, out->in, m->n_outputs, out->out));
    for (int i = 0; i < m->n_outputs; i++) {
        sp_tensor *plain;
        SP_TRY(sp_tensor_contiguous(out->out[i], &plain));
        sp_tensor_release(out->out[i]);
        out->out[i] = plain;
    }
    return sp_model_reset(m);
}

void sp__codegen_vector_free(sp_codegen_vector *v)
{
    for (int i = 0; i < v->n_in && v->in != NULL; i++) sp_tensor_release(v->in[i]);
    for (int i = 0; i < v->n_out && v->out != NULL; i++) sp_tensor_release(v->out[i]);
    sp__free(v->in);
    sp__free(v->out);
    sp__free((void *)v->in_names);
}
