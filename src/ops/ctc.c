/* SPDX-License-Identifier: Apache-2.0 */
/* ctc.c - connectionist temporal classification: the likelihood of a label sequence over all its alignments.
 *
 * Labels l of length S are stretched to 2 S + 1 states: blank, l1, blank, l2, ..., blank. alpha[t][s] is the log
 * probability of all beginnings that are in state s at time t, beta[t][s] that of all endings; both include time t. The
 * derivative towards log_probs[t][c] is minus the share of the alignments that are in a state of class c at time t.
 * A kernel works this out; when it is to be differentiated itself, the rule does, of elementary operators. */
#include "ir/refuse.h"
#include "ops/norm.h"

SP_ATTR_TABLE(ctc_attr_table, sp_ctc_attrs, (INT, blank, 0), (BOOL, zero_infinity, False), (BOOL, normalized, False),
              (BOOL, merge_repeated, True));

static int64_t states_max(const sp_call *c) { return 2 * c->in[1]->dims[1] + 1; }

/* log_probs [time, batch, classes], targets [batch, longest], lengths [batch] each; all integers int64. */
static sp_status ctc_infer(const sp_call *c, sp_meta *out)
{
    const sp_ctc_attrs *a = c->attrs;
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
    if (c->op == &sp_op_ctc_alphas)
        *out = (sp_meta){.dtype = (sp_dtype)x->dtype, .rank = 3, .dims = {x->dims[1], x->dims[0], states_max(c)}};
    return SP_OK;
}

static size_t ctc_workspace(const sp_call *c)
{
    return c->in[0]->rank == 3 && c->in[1]->rank == 2
               ? (size_t)(c->in[0]->dims[1] * c->in[0]->dims[0] * states_max(c) * 2) * sizeof(double)
               : 0;
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
    char *loss, *dx, *alphas; /* one of them is wanted */
} ctc_job;

/* Class of state s. */
static int64_t class_of(const int64_t *labels, int64_t blank, int64_t s) { return s % 2 ? labels[s / 2] : blank; }
/* May state s be reached from s - 2? Not over a blank, and not between equal labels when those would merge. */
static bool may_skip(const sp_ctc_attrs *a, const int64_t *labels, int64_t s)
{
    return s % 2 && s >= 3 && (!a->merge_repeated || labels[s / 2] != labels[s / 2 - 1]);
}
/* What staying in state s adds: labels are said once when repetitions do not merge. */
static double stay(const sp_ctc_attrs *a, int64_t s, double p)
{
    return a->merge_repeated || s % 2 == 0 ? p : -INFINITY;
}

#define CTC(D, T, C, LOAD, STORE, ...)                                                                                 \
    static void ctc_##D(void *context, int64_t begin, int64_t end)                                                     \
    {                                                                                                                  \
        const ctc_job *j = context;                                                                                    \
        const sp_ctc_attrs *a = j->c->attrs;                                                                           \
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
            T *seen = (T *)(void *)j->alphas + n * j->time * M;                                                        \
            for (int64_t t = 0; j->alphas && t < j->time; t++)                                                         \
                for (int64_t s = 0; s < M; s++)                                                                        \
                    seen[t * M + s] = STORE((C)(t < steps && s < S ? alpha[t * M + s] : -INFINITY));                   \
            for (int64_t t = 0; j->dx && t < j->time; t++)                                                             \
                for (int64_t k = 0; k < j->classes; k++) {                                                             \
                    double share = 0;                                                                                  \
                    const double p = (double)LOAD(x[t * row + k]);                                                     \
                    for (int64_t s = 0; t < steps && !none && s < S; s++)                                              \
                        if (class_of(labels, a->blank, s) == k)                                                        \
                            share += exp(alpha[t * M + s] + beta[t * M + s] - p - total);                              \
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
    ctc_job j = {.c = c, .time = x->dims[0], .batch = x->dims[1], .classes = x->dims[2], .states = states_max(c)};
    *(c->op == &sp_op_ctc_terms ? &j.loss : c->op == &sp_op_ctc_alphas ? &j.alphas : &j.dx) = c->out[0]->data;
    const int64_t *targets = (const int64_t *)(const void *)c->in[1]->data, longest = c->in[1]->dims[1];
    for (int64_t n = 0; n < j.batch; n++) {
        const int64_t steps = ((const int64_t *)(const void *)c->in[2]->data)[n];
        const int64_t labels = ((const int64_t *)(const void *)c->in[3]->data)[n];
        SP_CHECK(steps >= 0 && steps <= j.time, SP_VALUE, "input_lengths[%lld] is %lld, but there are %lld steps",
                 (long long)n, (long long)steps, (long long)j.time);
        SP_CHECK(labels >= 0 && labels <= longest, SP_VALUE,
                 "target_lengths[%lld] is %lld, but targets hold %lld labels", (long long)n, (long long)labels,
                 (long long)longest);
        for (int64_t i = 0; i < labels; i++)
            SP_CHECK(targets[n * longest + i] >= 0 && targets[n * longest + i] < j.classes, SP_VALUE,
                     "target %lld of sample %lld is %lld, but there are %lld classes", (long long)i, (long long)n,
                     (long long)targets[n * longest + i], (long long)j.classes);
    }
    return sp__parallel_for(j.batch, 1, fns[x->dtype], &j);
}
/* --- the rule, composed ------------------------------------------------------------------------------------------ */

/* The logarithm of what cannot be: finite, so that it has gradients, and far enough away. */
#define NEVER (-1e30)

/* Per sample and state, [batch, states], worked out from the labels: all constants. */
typedef struct {
    sp_builder *b;
    const sp_ctc_attrs *a;
    int64_t batch, states, classes;
    sp_tensor *class_;                    /* of the state, int64; states behind the last have the blank */
    sp_tensor *of_class;                  /* [batch, states, classes]: 1 where a state that exists has the class */
    sp_tensor *stay, *skip, *start, *end; /* 0 where that is possible, else NEVER */
    const int64_t *steps;
} ctc_tables;

static sp_tensor *constant(ctc_tables *k, sp_dtype dtype, int rank, int64_t last, char **data)
{
    const int64_t dims[3] = {k->batch, k->states, last};
    sp_tensor *t = sp__full(k->b, 0, dtype, rank, dims);
    *data = t ? t->data : NULL;
    return t;
}

static sp_status ctc_tables_fill(ctc_tables *k, const sp_vjp *v)
{
    char *class_, *of_class, *stay_, *skip, *start, *end;
    k->class_ = constant(k, SP_DTYPE_I64, 2, 0, &class_);
    k->of_class = constant(k, SP_DTYPE_F64, 3, k->classes, &of_class);
    k->stay = constant(k, SP_DTYPE_F64, 2, 0, &stay_);
    k->skip = constant(k, SP_DTYPE_F64, 2, 0, &skip);
    k->start = constant(k, SP_DTYPE_F64, 2, 0, &start);
    k->end = constant(k, SP_DTYPE_F64, 2, 0, &end);
    SP_TRY(sp__builder_status(k->b));
    for (int i = 1; i <= 3; i++) SP_TRY(sp__tensor_need_value(v->in[i])); /* labels decide what is computed */
    k->steps = (const int64_t *)(const void *)v->in[2]->data;
    for (int64_t n = 0; n < k->batch; n++) {
        const int64_t *labels = (const int64_t *)(const void *)v->in[1]->data + n * v->in[1]->dims[1];
        const int64_t S = 2 * ((const int64_t *)(const void *)v->in[3]->data)[n] + 1;
        for (int64_t s = 0; s < k->states; s++) {
            const int64_t at = n * k->states + s, c = s < S ? class_of(labels, k->a->blank, s) : k->a->blank;
            ((int64_t *)(void *)class_)[at] = c;
            if (s < S) ((double *)(void *)of_class)[at * k->classes + c] = 1;
            ((double *)(void *)stay_)[at] = s < S && stay(k->a, s, 0) == 0 ? 0 : NEVER;
            ((double *)(void *)skip)[at] = s < S && may_skip(k->a, labels, s) ? 0 : NEVER;
            ((double *)(void *)start)[at] = s < 2 && s < S ? 0 : NEVER;
            ((double *)(void *)end)[at] = s < S && s >= S - 2 ? 0 : NEVER;
        }
    }
    return SP_OK;
}

/* x[s - by], or x[s + by] when by is negative; NEVER at the border. */
static sp_tensor *shifted(ctc_tables *k, sp_tensor *x, int64_t by)
{
    const int64_t width = by < 0 ? -by : by, n = k->states - width;
    if (n <= 0) return sp__full(k->b, NEVER, SP_DTYPE_F64, 2, (const int64_t[]){k->batch, k->states});
    sp_tensor *border = sp__full(k->b, NEVER, SP_DTYPE_F64, 2, (const int64_t[]){k->batch, width});
    sp_tensor *rest = sp__take_range(k->b, x, 1, by < 0 ? width : 0, n);
    return sp__concat(k->b, 1, 2, by < 0 ? (sp_tensor *const[]){rest, border} : (sp_tensor *const[]){border, rest});
}
static sp_tensor *log_sum(sp_builder *b, sp_tensor *x, int64_t axis, bool keepdims)
{
    const sp_logsumexp_attrs attrs = {{1, &axis}, keepdims};
    return sp_builder_apply(b, &sp_op_logsumexp, &attrs, 1, &x);
}
static sp_tensor *log_sum3(sp_builder *b, sp_tensor *x, sp_tensor *y, sp_tensor *z)
{
    return log_sum(b, sp__stack(b, 0, 3, (sp_tensor *const[]){x, y, z}), 0, false);
}
/* [batch, 1]: does `t` lie in front of the end by at least `left` steps? */
static sp_tensor *runs(ctc_tables *k, int64_t t, int64_t left)
{
    sp_tensor *m = sp__full(k->b, 0, SP_DTYPE_BOOL, 2, (const int64_t[]){k->batch, 1});
    for (int64_t n = 0; m && n < k->batch; n++) ((uint8_t *)(void *)m->data)[n] = t + left <= k->steps[n];
    return m;
}

/* Derivatives [batch, classes] at one time from alpha, beta and emission of the states. */
static sp_tensor *derivative_at(ctc_tables *k, sp_tensor *row, sp_tensor *alpha, sp_tensor *beta, sp_tensor *emission,
                                sp_tensor *total, int64_t t)
{
    sp_builder *b = k->b;
    sp_tensor *zero = sp__full(b, 0, SP_DTYPE_F64, 0, NULL), *never = sp__full(b, NEVER / 2, SP_DTYPE_F64, 0, NULL);
    sp_tensor *some = sp_greater(b, total, never), *now = runs(k, t, 1);
    sp_tensor *share = sp_sub(b, sp_sub(b, sp_add(b, alpha, beta), emission), sp_select(b, some, total, zero));
    share = sp_exp(b, sp_select(b, sp_logical_and(b, some, now), share, never));
    share = sp_matmul(b, sp_reshape(b, share, 3, (const int64_t[]){k->batch, 1, k->states}), k->of_class, false, false);
    sp_tensor *d = sp_neg(b, sp_reshape(b, share, 2, (const int64_t[]){k->batch, k->classes}));
    if (k->a->normalized) d = sp_add(b, d, sp_select(b, now, sp_exp(b, row), zero));
    sp_tensor *without = k->a->zero_infinity ? zero : sp__full(b, NAN, SP_DTYPE_F64, 0, NULL);
    return sp_select(b, now, sp_select(b, some, d, without), zero);
}

/* What ctc_terms_grad gives, [time, batch, classes]. `lists` has room for four per time. */
static sp_tensor *ctc_composed(ctc_tables *k, sp_tensor *x, int64_t time, sp_tensor **lists)
{
    sp_builder *b = k->b;
    sp_tensor **row = lists, **emission = lists + time, **alpha = emission + time, **d = alpha + time;
    sp_tensor *last = NULL, *beta = NULL;
    const int64_t axis = 1;
    for (int64_t t = 0; t < time; t++) {
        row[t] = sp_reshape(b, sp__take_range(b, x, 0, t, 1), 2, (const int64_t[]){k->batch, k->classes});
        emission[t] = sp_builder_apply(b, &sp_op_gather_elements, &axis, 2, (sp_tensor *const[]){row[t], k->class_});
        sp_tensor *from = k->start;
        if (t)
            from = log_sum3(b, sp_add(b, alpha[t - 1], k->stay), shifted(k, alpha[t - 1], 1),
                            sp_add(b, shifted(k, alpha[t - 1], 2), k->skip));
        alpha[t] = sp_add(b, from, emission[t]);
        last = last ? sp_select(b, runs(k, t, 1), alpha[t], last) : alpha[t];
    }
    sp_tensor *total = log_sum(b, sp_add(b, last, k->end), 1, true);
    for (int64_t t = time - 1; t >= 0; t--) {
        sp_tensor *from = k->end;
        if (beta)
            from = sp_select(
                b, runs(k, t, 2),
                log_sum3(b, sp_add(b, beta, k->stay), shifted(k, beta, -1), shifted(k, sp_add(b, beta, k->skip), -2)),
                from);
        beta = sp_add(b, from, emission[t]);
        d[t] = derivative_at(k, row[t], alpha[t], beta, emission[t], total, t);
    }
    return sp__stack(b, 0, (int)time, d);
}

static sp_status ctc_again(sp_builder *b, const sp_vjp *v, sp_tensor **out)
{
    const sp_tensor *x = v->in[0];
    const int64_t time = x->dims[0];
    ctc_tables k = {
        .b = b, .a = v->attrs, .batch = x->dims[1], .classes = x->dims[2], .states = 2 * v->in[1]->dims[1] + 1};
    SP_TRY(ctc_tables_fill(&k, v));
    sp_tensor **lists = sp__alloc_zero((size_t)(4 * time) * sizeof *lists);
    if (!lists) return SP_NOMEM;
    *out = sp_cast(b, ctc_composed(&k, sp_cast(b, v->in[0], SP_DTYPE_F64), time, lists), (sp_dtype)x->dtype);
    sp__free(lists);
    return SP_OK;
}

static sp_status ctc_vjp(sp_builder *b, const sp_vjp *v)
{
    if (!v->needs[0]) return SP_OK;
    sp_tensor *d = NULL;
    if (sp__vjp_again(v) && v->in[0]->dims[0]) SP_TRY(ctc_again(b, v, &d));
    else d = sp_builder_apply(b, &sp_op_ctc_terms_grad, v->attrs, 4, v->in);
    v->din[0] = sp_mul(b, d, sp__along(b, v->dout[0], 3, 1));
    return SP_OK;
}
#define CTC_ENTRY(name_, ...)                                                                                          \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "log_probs, targets, input_lengths, target_lengths",                        \
                                 SP_ATTRS(ctc_attr_table, sp_ctc_attrs),                                               \
                                 .dtypes = SP_DT_FLOATS,                                                               \
                                 .infer = ctc_infer,                                                                   \
                                 .reference = ctc_reference,                                                           \
                                 .workspace = ctc_workspace,                                                           \
                                 .samples = "[1,2,4](-2,-1) [2,3]i<4 [2]i<1 [2]i<1; "                                  \
                                            "[3,2,3](-2,-1) [2,2]i<3 [2]i<3 [2]i<2 zero_infinity=True",                \
                                 __VA_ARGS__}
CTC_ENTRY(ctc_terms, .vjp = ctc_vjp, .saves = SP_SAVE_ALL_IN, .mindir = "CTCLossV2",
          .doc =
              "Minus the log likelihood of label sequences, per sample. normalized: the gradient is that of log_probs "
              "that came out of log_softmax.");
CTC_ENTRY(ctc_terms_grad, .vjp = sp__vjp_refuse,
          .no_vjp = "ctc_terms composes its gradient when that is differentiated",
          .doc = "Derivative of ctc_terms towards log_probs.");
CTC_ENTRY(ctc_alphas, .no_vjp = "what CTC keeps on its way; zero, as in MindSpore",
          .doc = "Log probabilities [batch, time, states] of all beginnings that are in a state at a time.");
