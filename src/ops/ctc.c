/* SPDX-License-Identifier: Apache-2.0 */
/* ctc.c - connectionist temporal classification: the likelihood of a label sequence over all its alignments.
 *
 * Labels l of length S are stretched to 2 S + 1 states: blank, l1, blank, l2, ..., blank. alpha[t][s] is the log
 * probability of all beginnings that are in state s at time t, beta[t][s] that of all endings; both include time t. The
 * derivative towards log_probs[t][c] is minus the share of the alignments that are in a state of class c at time t. */
#include "ops/nn.h"

typedef struct {
    int64_t blank;
    bool zero_infinity, normalized, merge_repeated;
} ctc_attrs;
static const sp_attr ctc_attr_table[] = {
    SP_ATTR(ctc_attrs, blank, INT, "0"), SP_ATTR(ctc_attrs, zero_infinity, BOOL, "False"),
    SP_ATTR(ctc_attrs, normalized, BOOL, "False"), SP_ATTR(ctc_attrs, merge_repeated, BOOL, "True")};

/* log_probs [time, batch, classes], targets [batch, longest], lengths [batch] each; all integers int64. */
static sp_status ctc_infer(const sp_call *c, sp_meta *out)
{
    const ctc_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    SP_CHECK(x->rank == 3 && c->in[1]->rank == 2 && c->in[1]->dims[0] == x->dims[1], SP_VALUE,
             "log_probs must be [time, batch, classes] and targets [batch, length]");
    for (int i = 1; i < 4; i++)
        SP_CHECK(c->in[i]->dtype == SP_DTYPE_I64, SP_TYPE, "%s must be int64", sp__op_inputs(c->op)->names[i]);
    for (int i = 2; i < 4; i++)
        SP_CHECK(c->in[i]->count == x->dims[1], SP_VALUE, "%s must have one element per sample, %lld",
                 sp__op_inputs(c->op)->names[i], (long long)x->dims[1]);
    SP_CHECK(a->blank >= 0 && a->blank < x->dims[2], SP_VALUE, "blank is %lld, but there are %lld classes",
             (long long)a->blank, (long long)x->dims[2]);
    sp__meta_of(x, out);
    if (c->op == &sp_op_ctc_terms) *out = (sp_meta){.dtype = (sp_dtype)x->dtype, .rank = 1, .dims = {x->dims[1]}};
    return SP_OK;
}

static int64_t states_max(const sp_call *c) { return 2 * c->in[1]->dims[1] + 1; }
static size_t ctc_workspace(const sp_call *c)
{
    return c->in[0]->rank == 3 && c->in[1]->rank == 2
               ? (size_t)(c->in[0]->dims[1] * c->in[0]->dims[0] * states_max(c) * 2) * sizeof(double) : 0;
}

static double log_add(double a, double b)
{
    if (a < b) {
        const double t = a;
        a = b;
        b = t;
    }
    return b == -INFINITY ? a : a + log1p(exp(b - a));
}

typedef struct {
    const sp_call *c;
    int64_t time, batch, classes, states;
    char *loss, *dx; /* one of them is wanted */
} ctc_job;

/* Class of state s. */
static int64_t class_of(const int64_t *labels, int64_t blank, int64_t s) { return s % 2 ? labels[s / 2] : blank; }
/* May state s be reached from s - 2? Not over a blank, and not between equal labels when those would merge. */
static bool may_skip(const ctc_attrs *a, const int64_t *labels, int64_t s)
{
    return s % 2 && s >= 3 && (!a->merge_repeated || labels[s / 2] != labels[s / 2 - 1]);
}
/* What staying in state s adds: labels are said once when repetitions do not merge. */
static double stay(const ctc_attrs *a, int64_t s, double p) { return a->merge_repeated || s % 2 == 0 ? p : -INFINITY; }

#define CTC(D, T, C, LOAD, STORE, ...)                                                                                 \
    static void ctc_##D(void *context, int64_t begin, int64_t end)                                                     \
    {                                                                                                                  \
        const ctc_job *j = context;                                                                                    \
        const ctc_attrs *a = j->c->attrs;                                                                              \
        const int64_t M = j->states;                                                                                   \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            const int64_t *labels = (const int64_t *)(const void *)j->c->in[1]->data + n * j->c->in[1]->dims[1];       \
            const int64_t steps = ((const int64_t *)(const void *)j->c->in[2]->data)[n];                               \
            const int64_t S = 2 * ((const int64_t *)(const void *)j->c->in[3]->data)[n] + 1;                           \
            double *alpha = (double *)j->c->work + n * j->time * M * 2, *beta = alpha + j->time * M;                   \
            const T *x = (const T *)(const void *)j->c->in[0]->data + n * j->classes;                                  \
            T *dx = (T *)(void *)j->dx + n * j->classes;                                                               \
            const int64_t row = j->batch * j->classes;                                                                 \
            for (int64_t t = 0; t < steps; t++)                                                                        \
                for (int64_t s = 0; s < S; s++) {                                                                      \
                    const double p = (double)LOAD(x[t * row + class_of(labels, a->blank, s)]);                         \
                    double sum = t ? stay(a, s, alpha[(t - 1) * M + s]) : s < 2 ? 0 : -INFINITY;                       \
                    if (t && s) sum = log_add(sum, alpha[(t - 1) * M + s - 1]);                                        \
                    if (t && may_skip(a, labels, s)) sum = log_add(sum, alpha[(t - 1) * M + s - 2]);                   \
                    alpha[t * M + s] = sum + p;                                                                        \
                }                                                                                                      \
            for (int64_t t = steps - 1; j->dx && t >= 0; t--)                                                          \
                for (int64_t s = S - 1; s >= 0; s--) {                                                                 \
                    const double p = (double)LOAD(x[t * row + class_of(labels, a->blank, s)]);                         \
                    double sum = t + 1 < steps ? stay(a, s, beta[(t + 1) * M + s]) : s >= S - 2 ? 0 : -INFINITY;       \
                    if (t + 1 < steps && s + 1 < S) sum = log_add(sum, beta[(t + 1) * M + s + 1]);                     \
                    if (t + 1 < steps && s + 2 < S && may_skip(a, labels, s + 2))                                      \
                        sum = log_add(sum, beta[(t + 1) * M + s + 2]);                                                 \
                    beta[t * M + s] = sum + p;                                                                         \
                }                                                                                                      \
            double total = steps ? alpha[(steps - 1) * M + S - 1] : S == 1 ? 0 : -INFINITY;                            \
            if (steps && S > 1) total = log_add(total, alpha[(steps - 1) * M + S - 2]);                                \
            const bool none = total == -INFINITY;                                                                      \
            if (j->loss) ((T *)(void *)j->loss)[n] = STORE((C)(none && a->zero_infinity ? 0 : -total));                \
            for (int64_t t = 0; j->dx && t < j->time; t++)                                                             \
                for (int64_t k = 0; k < j->classes; k++) {                                                             \
                    double share = 0;                                                                                  \
                    const double p = (double)LOAD(x[t * row + k]);                                                     \
                    for (int64_t s = 0; t < steps && !none && s < S; s++)                                              \
                        if (class_of(labels, a->blank, s) == k) share += exp(alpha[t * M + s] + beta[t * M + s] - p - total);\
                    double d = a->normalized && t < steps ? exp(p) - share : -share;                                   \
                    if (none) d = a->zero_infinity || t >= steps ? 0 : NAN;                                            \
                    dx[t * row + k] = STORE((C)d);                                                                     \
                }                                                                                                      \
        }                                                                                                              \
    }
SP_EACH_FLOAT(CTC, , )

static sp_status ctc_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, ctc, )};
    const sp_tensor *x = c->in[0];
    const bool loss = c->op == &sp_op_ctc_terms;
    const ctc_job j = {c, x->dims[0], x->dims[1], x->dims[2], states_max(c), loss ? c->out[0]->data : NULL,
                       loss ? NULL : c->out[0]->data};
    const int64_t *targets = (const int64_t *)(const void *)c->in[1]->data, longest = c->in[1]->dims[1];
    for (int64_t n = 0; n < j.batch; n++) {
        const int64_t steps = ((const int64_t *)(const void *)c->in[2]->data)[n];
        const int64_t labels = ((const int64_t *)(const void *)c->in[3]->data)[n];
        SP_CHECK(steps >= 0 && steps <= j.time, SP_VALUE, "input_lengths[%lld] is %lld, but there are %lld steps",
                 (long long)n, (long long)steps, (long long)j.time);
        SP_CHECK(labels >= 0 && labels <= longest, SP_VALUE, "target_lengths[%lld] is %lld, but targets hold %lld labels",
                 (long long)n, (long long)labels, (long long)longest);
        for (int64_t i = 0; i < labels; i++)
            SP_CHECK(targets[n * longest + i] >= 0 && targets[n * longest + i] < j.classes, SP_VALUE,
                     "target %lld of sample %lld is %lld, but there are %lld classes", (long long)i, (long long)n,
                     (long long)targets[n * longest + i], (long long)j.classes);
    }
    return sp__parallel_for(j.batch, 1, fns[x->dtype], (void *)&j);
}
static sp_status ctc_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0])
        v->din[0] = sp_mul(b, sp_builder_apply(b, &sp_op_ctc_terms_grad, v->attrs, 4, v->in), sp__along(b, v->dout[0], 3, 1));
    return SP_OK;
}
#define CTC_ENTRY(name_, ...)                                                                                          \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "log_probs, targets, input_lengths, target_lengths",                        \
                                 SP_ATTRS(ctc_attr_table, ctc_attrs),                                                  \
                                 .dtypes = SP_DT_FLOATS,                                                               \
                                 .infer = ctc_infer,                                                                   \
                                 .reference = ctc_reference,                                                           \
                                 .workspace = ctc_workspace,                                                           \
                                 .samples = "[1,2,4](-2,-1) [2,3]i<4 [2]i<1 [2]i<1; "                                  \
                                            "[3,2,3](-2,-1) [2,2]i<3 [2]i<3 [2]i<2 zero_infinity=True",                \
                                 __VA_ARGS__}
CTC_ENTRY(ctc_terms, .vjp = ctc_vjp, .saves = SP_SAVE_ALL_IN, .mindir = "CTCLossV2",
          .doc = "Minus the log likelihood of label sequences, per sample. normalized: the gradient is that of log_probs "
                 "that came out of log_softmax.");
CTC_ENTRY(ctc_terms_grad, .no_vjp = "the gradient of ctc_terms has no gradient itself",
          .doc = "Derivative of ctc_terms towards log_probs.");
