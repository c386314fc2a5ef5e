/* SPDX-License-Identifier: Apache-2.0 */
/* lite_weights.c - weights of MindSpore Lite models, the entry of the format; lite_file.h says what lies where.
 *
 * Entries: tensors with contents, unpacked; of quantised ones also "<name>.scale" and "<name>.zero_point". A name that returns gets "#2", "#3". */
#include <stdio.h>
#include <string.h>

#include "formats/lite/lite_model.h"

typedef struct reader {
    const sp_source *source;
    sp_bundle *bundle;
    sp_lite_file t;
    char name[SP_TFLITE_NAME_MAX], full[SP_TFLITE_NAME_MAX];
} reader;

static sp_status add_quant(reader *r, const sp_lite_tensor *x)
{
    sp_tensor *scale = NULL, *zero = NULL;
    const int64_t n = x->n_quant;
    sp_status status = sp_tensor_create(SP_DTYPE_F32, 1, &n, &scale);
    if (status == SP_OK) status = sp_tensor_create(SP_DTYPE_I64, 1, &n, &zero);
    for (int i = 0; i < n && status == SP_OK; i++) {
        sp_lite_quant q;
        status = sp__lite_quant(&r->t, x, i, &q);
        if (status != SP_OK) break;
        ((float *)sp_tensor_data(scale))[i] = (float)q.scale;
        ((int64_t *)sp_tensor_data(zero))[i] = q.zero;
    }
    memcpy(r->name, r->full, SP_TFLITE_NAME_MAX);
    for (int k = 0; k < 2 && status == SP_OK; k++) {
        snprintf(r->full, SP_TFLITE_NAME_MAX, "%.4000s%s", r->name, k == 0 ? ".scale" : ".zero_point");
        status = sp__bundle_check_new(r->bundle, r->full);
        if (status == SP_OK) status = sp_bundle_add(r->bundle, r->full, k == 0 ? scale : zero);
    }
    sp_tensor_release(scale);
    sp_tensor_release(zero);
    return status;
}

static sp_status read_tensor(reader *r, size_t table, uint64_t number)
{
    sp_lite_tensor x;
    bool added = false;
    SP_TRY(sp__tflite_text(&r->t.t, table, 9, r->name));
    if (r->name[0] == '\0') snprintf(r->name, sizeof r->name, "tensor_%llu", (unsigned long long)number);
    SP_TRY(sp__lite_tensor(&r->t, table, &x));
    snprintf(r->full, sizeof r->full, "%.4000s", r->name);
    for (int k = 2; sp_bundle_find(r->bundle, r->full) >= 0; k++)
        snprintf(r->full, sizeof r->full, "%.4000s#%d", r->name, k);
    SP_TRY(sp__lite_add(r->source, &r->t, &x, r->bundle, r->full, &added));
    return added && x.n_quant > 0 && sp_dtype_kind(x.meta.dtype) != 'f' ? add_quant(r, &x) : SP_OK;
}

static sp_status read_tensors(reader *r)
{
    char shown[SP_NAME_SHOWN];
    SP_TRY(sp__lite_open(r->source, &r->t));
    SP_TRY(sp__tflite_text(&r->t.t, r->t.t.model, 1, r->name));
    SP_TRY(sp_bundle_set_note(r->bundle, "version", r->name));
    for (uint64_t i = 0; i < r->t.tensors.n; i++) {
        size_t table = 0;
        SP_TRY(sp__flat_table_at(&r->t.t.f, &r->t.tensors, i, &table));
        sp_status status = read_tensor(r, table, i);
        if (status != SP_OK)
            sp__error_context("tensor %llu ('%s')", (unsigned long long)i,
                              sp__name_shown(r->name, strlen(r->name), shown));
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    reader *r = sp__alloc_zero(sizeof *r); /* names are too large for the stack */
    if (r == NULL) return SP_NOMEM;
    r->source = s;
    r->bundle = bundle;
    sp_status status = read_tensors(r);
    sp__free(r);
    return status;
}

const sp_format sp__format_lite = {
    .name = "lite",
    .title = "MindSpore Lite model",
    .extensions = ".ms",
    .probe = sp__lite_probe,
    .read = read_file,
};
