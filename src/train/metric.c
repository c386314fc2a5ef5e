/* SPDX-License-Identifier: Apache-2.0 */
/* metric.c - how good guesses are, batch by batch. */
#include <math.h>

#include "base/messages.h"
#include "tensor/tensor_impl.h"
#include "spore/train.h"

struct sp_metric {
    sp_metric_kind kind;
    int k;
    double sum; /* of what is averaged: hits, distances */
    int64_t count;
    int64_t n_classes;
    int64_t *confusion; /* [n_classes, n_classes], rows are true classes */
};

enum { CLASSES_MAX = 4096 }; /* of a confusion matrix */

static bool of_classes(const sp_metric *m) { return m->kind <= SP_METRIC_F1; }
static bool by_confusion(const sp_metric *m) { return m->kind >= SP_METRIC_PRECISION && m->kind <= SP_METRIC_F1; }

sp_status sp_metric_create(sp_metric_kind kind, int k, sp_metric **out)
{
    SP_CHECK(out, SP_VALUE, "out must not be NULL");
    SP_CHECK((int)kind >= 0 && kind <= SP_METRIC_RMSE, SP_VALUE, "there is no metric number %d", (int)kind);
    SP_CHECK(kind == SP_METRIC_TOP_K ? k >= 1 : k == 0, SP_VALUE, "k is %d, it must be %s", k,
             kind == SP_METRIC_TOP_K ? "1 or more" : "0 for a metric other than TOP_K");
    sp_metric *m = sp__alloc_zero(sizeof *m);
    if (!m) return SP_NOMEM;
    m->kind = kind;
    m->k = k;
    *out = m;
    return SP_OK;
}

void sp_metric_clear(sp_metric *m)
{
    if (!m) return;
    sp__free(m->confusion);
    m->confusion = NULL;
    m->sum = 0;
    m->count = m->n_classes = 0;
}

void sp_metric_release(sp_metric *m)
{
    sp_metric_clear(m);
    sp__free(m);
}

/* Row-major, in another dtype; to be released. */
static sp_status as(sp_tensor *t, sp_dtype dtype, sp_tensor **out)
{
    sp_builder *b;
    SP_TRY(sp_builder_create(&b));
    sp_tensor *cast = sp_cast(b, t, dtype);
    sp_status status = sp_builder_status(b);
    if (status == SP_OK) status = sp_tensor_contiguous(cast, out);
    sp_builder_release(b);
    return status;
}

static sp_status grow(sp_metric *m, int64_t n)
{
    if (n <= m->n_classes) return SP_OK;
    SP_CHECK(n <= CLASSES_MAX, SP_VALUE, "class %lld is counted, but there is room for %d classes", (long long)n - 1,
             CLASSES_MAX);
    int64_t *wider = sp__alloc_zero((size_t)(n * n) * sizeof *wider);
    if (!wider) return SP_NOMEM;
    for (int64_t i = 0; i < m->n_classes; i++)
        for (int64_t j = 0; j < m->n_classes; j++) wider[i * n + j] = m->confusion[i * m->n_classes + j];
    sp__free(m->confusion);
    m->confusion = wider;
    m->n_classes = n;
    return SP_OK;
}

/* Where the best score is, and how many are better than that of `truth`. NaN is worse than all. */
static int64_t best_of(const float *scores, int64_t n, int64_t truth, int64_t *better)
{
    int64_t best = 0;
    *better = 0;
    for (int64_t i = 0; i < n; i++) {
        if (scores[i] > scores[best] || isnan(scores[best])) best = i;
        *better += truth < n && (scores[i] > scores[truth] || (scores[i] == scores[truth] && i < truth));
    }
    return best;
}

static sp_status count_row(sp_metric *m, int64_t guessed, int64_t truth, int64_t better)
{
    SP_CHECK(truth >= 0 && guessed >= 0, SP_VALUE, "class %lld is counted, but classes begin with 0",
             (long long)(truth < 0 ? truth : guessed));
    if (by_confusion(m)) {
        SP_TRY(grow(m, (guessed > truth ? guessed : truth) + 1));
        m->confusion[truth * m->n_classes + guessed]++;
    }
    m->sum += m->kind == SP_METRIC_TOP_K ? better < m->k : guessed == truth;
    m->count++;
    return SP_OK;
}

static sp_status count_classes(sp_metric *m, const sp_tensor *guess, const sp_tensor *scores, const sp_tensor *truth)
{
    const int64_t n = scores ? guess->dims[1] : 0;
    const int64_t *classes = sp_tensor_data(truth);
    for (int64_t i = 0; i < truth->count; i++) {
        int64_t better = 0, guessed;
        if (scores) guessed = best_of((const float *)sp_tensor_data(scores) + i * n, n, classes[i], &better);
        else guessed = ((const int64_t *)sp_tensor_data(guess))[i];
        if (scores && classes[i] >= n) better = n;
        SP_TRY(count_row(m, guessed, classes[i], better));
    }
    return SP_OK;
}

static sp_status update_classes(sp_metric *m, sp_tensor *guess, sp_tensor *truth)
{
    const char kind = sp_dtype_kind((sp_dtype)truth->dtype);
    char a[SP_SHAPE_TEXT], c[SP_SHAPE_TEXT];
    const bool scores = guess->rank == 2 && sp_dtype_kind((sp_dtype)guess->dtype) == 'f';
    SP_CHECK((kind == 'i' || kind == 'u') && truth->rank == 1, SP_VALUE,
             "truth is %s %s, it must be classes: integers [n]", sp_dtype_name((sp_dtype)truth->dtype),
             sp__shape_text(truth->rank, truth->dims, a));
    SP_CHECK(
        (scores || (guess->rank == 1 && m->kind != SP_METRIC_TOP_K && sp_dtype_kind((sp_dtype)guess->dtype) != 'f')) &&
            guess->dims[0] == truth->dims[0] && (!scores || guess->dims[1] > 0),
        SP_VALUE, "guesses are %s %s for %s true classes, they must be scores [n, classes]%s",
        sp_dtype_name((sp_dtype)guess->dtype), sp__shape_text(guess->rank, guess->dims, a),
        sp__shape_text(truth->rank, truth->dims, c), m->kind == SP_METRIC_TOP_K ? "" : " or classes [n]");
    sp_tensor *g = NULL, *t = NULL;
    sp_status status = as(guess, scores ? SP_DTYPE_F32 : SP_DTYPE_I64, &g);
    if (status == SP_OK) status = as(truth, SP_DTYPE_I64, &t);
    if (status == SP_OK) status = count_classes(m, g, scores ? g : NULL, t);
    sp_tensor_release(g);
    sp_tensor_release(t);
    return status;
}

static sp_status update_numbers(sp_metric *m, sp_tensor *guess, sp_tensor *truth)
{
    char a[SP_SHAPE_TEXT], c[SP_SHAPE_TEXT];
    SP_CHECK(sp__tensor_same_shape(guess, truth), SP_VALUE, "guesses have shape %s, the truth %s; they must be equal",
             sp__shape_text(guess->rank, guess->dims, a), sp__shape_text(truth->rank, truth->dims, c));
    sp_tensor *g = NULL, *t = NULL;
    sp_status status = as(guess, SP_DTYPE_F64, &g);
    if (status == SP_OK) status = as(truth, SP_DTYPE_F64, &t);
    for (int64_t i = 0; status == SP_OK && i < guess->count; i++) {
        const double d = ((const double *)sp_tensor_data(g))[i] - ((const double *)sp_tensor_data(t))[i];
        m->sum += m->kind == SP_METRIC_MAE ? fabs(d) : d * d;
    }
    if (status == SP_OK) m->count += guess->count;
    sp_tensor_release(g);
    sp_tensor_release(t);
    return status;
}

sp_status sp_metric_update(sp_metric *m, sp_tensor *guess, sp_tensor *truth)
{
    SP_CHECK(m && guess && truth, SP_VALUE, "the metric, the guesses and the truth must not be NULL");
    SP_TRY(sp__tensor_need_value(guess));
    SP_TRY(sp__tensor_need_value(truth));
    return of_classes(m) ? update_classes(m, guess, truth) : update_numbers(m, guess, truth);
}

/* Precision, recall or F1 of one class; false: it occurs neither among the guesses nor in truth. */
static bool of_class(const sp_metric *m, int64_t c, double *out)
{
    int64_t right = m->confusion[c * m->n_classes + c], guessed = 0, there = 0;
    for (int64_t i = 0; i < m->n_classes; i++) {
        guessed += m->confusion[i * m->n_classes + c];
        there += m->confusion[c * m->n_classes + i];
    }
    const double precision = guessed ? (double)right / (double)guessed : 0,
                 recall = there ? (double)right / (double)there : 0;
    *out = m->kind == SP_METRIC_PRECISION ? precision : recall;
    if (m->kind == SP_METRIC_F1) *out = right ? 2 * precision * recall / (precision + recall) : 0;
    return guessed || there;
}

sp_status sp_metric_value(const sp_metric *m, double *out)
{
    SP_CHECK(m && out, SP_VALUE, "the metric and out must not be NULL");
    SP_CHECK(m->count, SP_VALUE, "nothing was counted yet: sp_metric_update comes first");
    const double mean = m->sum / (double)m->count;
    if (!by_confusion(m)) {
        *out = m->kind == SP_METRIC_RMSE ? sqrt(mean) : mean;
        return SP_OK;
    }
    double sum = 0, one;
    int64_t n = 0;
    for (int64_t c = 0; c < m->n_classes; c++)
        if (of_class(m, c, &one)) sum += one, n++;
    *out = sum / (double)n;
    return SP_OK;
}

sp_status sp_metric_confusion(const sp_metric *m, sp_tensor **out)
{
    SP_CHECK(m && out && by_confusion(m), SP_VALUE, "a confusion matrix is kept by precision, recall and F1");
    return sp_tensor_create_from(SP_DTYPE_I64, 2, (const int64_t[]){m->n_classes, m->n_classes},
                                 m->confusion ? (const void *)m->confusion : (const void *)"", out);
}
