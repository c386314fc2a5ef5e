/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_composed.c - ONNX operators made in several steps: attention, losses, sampling of grids, order along time. */
#include <math.h>

#include "formats/onnx/onnx_model.h"

/* --- attention --------------------------------------------------------------------------------------------------- */

/* [batch, length, heads * size] as [batch, heads, length, size]. */
static sp_tensor *split_heads(sp_onnx_call *c, sp_tensor *x, int64_t heads)
{
    if (sp_tensor_rank(x) == 4 || heads <= 0) return x;
    const int64_t *d = sp_tensor_dims(x);
    sp_tensor *y = sp_reshape(c->b, x, 4, (int64_t[]){d[0], d[1], heads, d[2] / heads});
    return sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 1, 3});
}

/* Every head n times, one after the other. */
sp_tensor *sp__onnx_repeat_heads(sp_onnx_call *c, sp_tensor *x, int64_t n)
{
    if (n <= 1 || x == NULL) return x;
    const int64_t *d = sp_tensor_dims(x);
    sp_tensor *y = sp_reshape(c->b, x, 5, (int64_t[]){d[0], d[1], 1, d[2], d[3]});
    y = sp_broadcast_to(c->b, y, 5, (int64_t[]){d[0], d[1], n, d[2], d[3]});
    return sp_reshape(c->b, y, 4, (int64_t[]){d[0], d[1] * n, d[2], d[3]});
}

static sp_tensor *bias_of(sp_onnx_call *c, sp_tensor *allowed, sp_dtype dtype)
{
    return sp_select(c->b, allowed, sp__onnx_scalar(c, dtype, 0), sp__onnx_scalar(c, dtype, -HUGE_VAL));
}

/* The mask with as many columns as there are keys: those that are missing are not to be seen. */
static sp_tensor *fill_mask(sp_onnx_call *c, sp_tensor *mask, int64_t keys, sp_dtype dtype)
{
    int rank = sp_tensor_rank(mask);
    int64_t dims[SP_RANK_MAX], have = rank > 0 ? sp_tensor_dims(mask)[rank - 1] : keys;
    if (sp_tensor_dtype(mask) == SP_DTYPE_BOOL) mask = bias_of(c, mask, dtype);
    if (have >= keys || mask == NULL) return mask;
    for (int i = 0; i < rank; i++) dims[i] = i == rank - 1 ? keys - have : sp_tensor_dims(mask)[i];
    return sp__concat(c->b, rank - 1, 2, (sp_tensor *[]){mask, sp__full(c->b, -HUGE_VAL, dtype, rank, dims)});
}

/* What is added to the scores: mask, causality, windows and the ends of padded samples. NULL: nothing. */
static sp_tensor *attention_bias(sp_onnx_call *c, sp_dtype dtype, int64_t queries, int64_t keys, int64_t past)
{
    sp_tensor *mask = sp__onnx_in(c, 3), *ends = sp__onnx_in(c, 6), *bias = NULL;
    int64_t left = sp__onnx_attr_int(c, "left_window_size", -1), right = sp__onnx_attr_int(c, "right_window_size", -1);
    bool causal = sp__onnx_attr_int(c, "is_causal", 0) != 0;
    if (mask != NULL) bias = fill_mask(c, mask, keys, dtype);
    sp_tensor *row = sp__positions(c->b, 4, 2, queries), *column = sp__positions(c->b, 4, 3, keys);
    if (ends != NULL) ends = sp_reshape(c->b, sp_cast(c->b, ends, SP_DTYPE_I64), 4, (int64_t[]){-1, 1, 1, 1});
    sp_tensor *offset = ends != NULL ? sp_sub(c->b, ends, sp__onnx_scalar(c, SP_DTYPE_I64, (double)queries))
                                     : sp__onnx_scalar(c, SP_DTYPE_I64, (double)past);
    sp_tensor *ahead = sp_sub(c->b, column, sp_add(c->b, row, offset)); /* key's place minus query's */
    sp_tensor *allowed[4];
    int n = 0;
    if (causal) allowed[n++] = sp_less_equal(c->b, ahead, sp__onnx_scalar(c, SP_DTYPE_I64, 0));
    if (left >= 0) allowed[n++] = sp_greater_equal(c->b, ahead, sp__onnx_whole(c, -left));
    if (right >= 0) allowed[n++] = sp_less_equal(c->b, ahead, sp__onnx_whole(c, right));
    if (ends != NULL) allowed[n++] = sp_less(c->b, column, ends);
    for (int i = 0; i < n; i++) {
        sp_tensor *more = bias_of(c, allowed[i], dtype);
        bias = bias != NULL ? sp_add(c->b, bias, more) : more;
    }
    return bias;
}

static sp_status attention(sp_onnx_call *c)
{
    sp_tensor *q = c->in[0], *k = c->in[1], *v = c->in[2], *past_k = sp__onnx_in(c, 4), *past_v = sp__onnx_in(c, 5);
    int rank = sp_tensor_rank(q);
    sp_dtype dtype = sp_tensor_dtype(q);
    int64_t q_heads = sp__onnx_attr_int(c, "q_num_heads", 0), kv_heads = sp__onnx_attr_int(c, "kv_num_heads", 0);
    double softcap = sp__onnx_attr_float(c, "softcap", 0);
    q = split_heads(c, q, q_heads);
    k = split_heads(c, k, kv_heads);
    v = split_heads(c, v, kv_heads);
    if (past_k != NULL) k = sp__concat(c->b, 2, 2, (sp_tensor *[]){past_k, k});
    if (past_v != NULL) v = sp__concat(c->b, 2, 2, (sp_tensor *[]){past_v, v});
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(q) == 4 && sp_tensor_rank(k) == 4 && sp_tensor_rank(v) == 4 && sp_tensor_dims(k)[1] > 0,
             SP_VALUE, "queries, keys and values must have rank 3 with numbers of heads, or 4");
    if (c->n_out > 1) c->out[1] = k;
    if (c->n_out > 2) c->out[2] = v;
    int64_t queries = sp_tensor_dims(q)[2], keys = sp_tensor_dims(k)[2],
            times = sp_tensor_dims(q)[1] / sp_tensor_dims(k)[1];
    double scale = sqrt(sp__onnx_attr_float(c, "scale", 1 / sqrt((double)sp_tensor_dims(q)[3])));
    k = sp__onnx_repeat_heads(c, k, times);
    v = sp__onnx_repeat_heads(c, v, times);
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *scores = sp_matmul(c->b, sp__mul_number(c->b, q, scale), sp__mul_number(c->b, k, scale), false, true),
              *shown[4];
    SP_TRY(sp_builder_status(c->b));
    shown[0] = scores;
    if (softcap != 0) scores = sp__mul_number(c->b, sp_tanh(c->b, sp__mul_number(c->b, scores, 1 / softcap)), softcap);
    shown[1] = scores;
    sp_tensor *bias = attention_bias(c, dtype, queries, keys, past_k != NULL ? sp_tensor_dims(past_k)[2] : 0);
    if (bias != NULL) scores = sp_add(c->b, scores, bias);
    shown[2] = scores;
    const sp_onnx_attr *precision = sp__onnx_attr(c, "softmax_precision");
    sp_dtype wide = precision != NULL ? sp__onnx_dtype((uint64_t)precision->i) : dtype;
    if (wide != SP_DTYPE_NONE && wide != dtype) scores = sp_cast(c->b, scores, wide);
    sp_tensor *weights = SP_ONNX_OP1(c, "softmax", scores, "axis=(-1,)");
    SP_TRY(sp_builder_status(c->b));
    if (bias != NULL) { /* a row in which nothing may be seen gives zeros */
        sp_tensor *top = SP_ONNX_OP1(c, "reduce_max", bias, "axis=(-1,), keepdims=True");
        weights = sp_select(c->b, SP_ONNX_OP1(c, "isneginf", top, NULL),
                            sp__onnx_scalar(c, sp_tensor_dtype(weights), 0), weights);
    }
    weights = sp_cast(c->b, weights, dtype);
    shown[3] = weights;
    sp_tensor *y = sp_matmul(c->b, weights, v, false, false);
    SP_TRY(sp_builder_status(c->b));
    if (rank == 3) {
        const int64_t *d = sp_tensor_dims(y);
        y = sp_reshape(c->b, sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 1, 3}), 3,
                       (int64_t[]){d[0], d[2], d[1] * d[3]});
    }
    c->out[0] = y;
    int64_t mode = sp__onnx_attr_int(c, "qk_matmul_output_mode", 0);
    if (c->n_out > 3) c->out[3] = shown[mode >= 0 && mode < 4 ? mode : 0];
    return sp_builder_status(c->b);
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

/* Of log-probabilities [n, classes, ...] and labels [n, ...]. */
static sp_status negative_log_likelihood(sp_onnx_call *c, sp_tensor *log_p)
{
    sp_tensor *labels = sp_cast(c->b, c->in[1], SP_DTYPE_I64), *weight = sp__onnx_in(c, 2);
    const char *how = sp__onnx_attr_text(c, "reduction", "mean");
    const sp_onnx_attr *ignore = sp__onnx_attr(c, "ignore_index");
    sp_dtype dtype = sp_tensor_dtype(log_p);
    SP_TRY(sp_builder_status(c->b));
    int rank = sp_tensor_rank(labels);
    SP_CHECK(rank + 1 == sp_tensor_rank(log_p), SP_VALUE, "labels have rank %d, the scores %d", rank,
             sp_tensor_rank(log_p));
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i <= rank; i++) dims[i] = i == 1 ? 1 : sp_tensor_dims(labels)[i < 1 ? 0 : i - 1];
    sp_tensor *counted = NULL, *index = labels;
    if (ignore != NULL) {
        sp_tensor *ignored = sp__onnx_whole(c, ignore->i);
        counted = sp_cast(c->b, sp_not_equal(c->b, labels, ignored), dtype);
        index = sp_select(c->b, sp_equal(c->b, labels, ignored), sp__onnx_scalar(c, SP_DTYPE_I64, 0), labels);
    }
    sp_tensor *picked = SP_ONNX_OP2(c, "gather_elements", log_p, sp_reshape(c->b, index, rank + 1, dims), "dim=1");
    sp_tensor *loss = sp_neg(c->b, sp_reshape(c->b, picked, rank, sp_tensor_dims(labels)));
    sp_tensor *w = weight != NULL ? SP_ONNX_OP2(c, "gather", weight, index, "axis=0") : NULL;
    if (counted != NULL) w = w != NULL ? sp_mul(c->b, w, counted) : counted;
    if (w != NULL) loss = sp_mul(c->b, loss, w);
    if (strcmp(how, "none") == 0) return sp__onnx_return(c, loss);
    sp_tensor *sum = sp_reduce_sum(c->b, loss, 0, NULL, false);
    if (strcmp(how, "sum") == 0) return sp__onnx_return(c, sum);
    if (w != NULL) return sp__onnx_return(c, sp_div(c->b, sum, sp_reduce_sum(c->b, w, 0, NULL, false)));
    return sp__onnx_return(c, sp_reduce_mean(c->b, loss, 0, NULL, false));
}

static sp_status nll_loss(sp_onnx_call *c) { return negative_log_likelihood(c, c->in[0]); }

static sp_status softmax_loss(sp_onnx_call *c)
{
    sp_tensor *log_p = SP_ONNX_OP1(c, "log_softmax", c->in[0], "axis=(1,)");
    SP_TRY(sp_builder_status(c->b));
    if (c->n_out > 1) c->out[1] = log_p;
    return negative_log_likelihood(c, log_p);
}

/* --- places ------------------------------------------------------------------------------------------------------ */

/* The first lengths[b] elements of sample b in reverse, the others as they are. */
static sp_status reverse_sequence(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int64_t time_axis = sp__onnx_attr_int(c, "time_axis", 0), batch_axis = sp__onnx_attr_int(c, "batch_axis", 1);
    int rank = sp_tensor_rank(x);
    SP_CHECK(rank >= 2 && time_axis + batch_axis == 1 && time_axis * batch_axis == 0, SP_VALUE,
             "time_axis and batch_axis must be 0 and 1");
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) dims[i] = i == batch_axis ? -1 : 1;
    sp_tensor *lengths = sp_reshape(c->b, sp_cast(c->b, c->in[1], SP_DTYPE_I64), rank, dims);
    sp_tensor *at = sp__positions(c->b, rank, (int)time_axis, sp_tensor_dims(x)[time_axis]);
    sp_tensor *mirrored = sp_sub(c->b, sp_sub(c->b, lengths, at), sp__onnx_scalar(c, SP_DTYPE_I64, 1));
    sp_tensor *index = sp_select(c->b, sp_less(c->b, at, lengths), mirrored, at);
    index = sp_broadcast_to(c->b, index, rank, sp_tensor_dims(x));
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather_elements", x, index, "dim=%lld", (long long)time_axis));
}

static sp_status center_crop_pad(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints to, axes;
    bool found = false;
    int rank = sp_tensor_rank(x);
    int64_t start[SP_RANK_MAX], stop[SP_RANK_MAX], pads[2 * SP_RANK_MAX] = {0};
    sp_onnx_text t[2];
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 1), &to));
    SP_TRY(sp__onnx_ints_of(c, "axes", -1, &axes, &found));
    SP_CHECK(to.n == (found ? axes.n : rank), SP_VALUE, "%d sizes for %d axes", to.n, found ? axes.n : rank);
    for (int i = 0; i < rank; i++) {
        start[i] = 0;
        stop[i] = sp_tensor_dims(x)[i];
    }
    for (int i = 0; i < to.n; i++) {
        int at = 0;
        SP_TRY(sp__shape_axis(found ? axes.v[i] : i, rank, "axes", &at));
        int64_t more = to.v[i] - sp_tensor_dims(x)[at];
        if (more < 0) {
            start[at] = -more / 2;
            stop[at] = start[at] + to.v[i];
        } else {
            pads[2 * at] = more / 2;
            pads[2 * at + 1] = more - more / 2;
        }
    }
    x = SP_ONNX_OP1(c, "slice", x, "start=%s, stop=%s", sp__onnx_list(&t[0], rank, start),
                    sp__onnx_list(&t[1], rank, stop));
    return sp__onnx_return(c, SP_ONNX_OP1(c, "pad", x, "pads=%s", sp__onnx_list(&t[0], 2 * rank, pads)));
}

/* --- on contents ------------------------------------------------------------------------------------------------- */

/* a - b cos + e cos of the double angle: Hann, Hamming and Blackman. */
static sp_status window_function(sp_onnx_call *c)
{
    static const double factors[3][3] = {{0.5, 0.5, 0}, {25.0 / 46, 21.0 / 46, 0}, {0.42, 0.5, 0.08}};
    const double *f = factors[c->node->handler->detail[0] - '0'];
    sp_onnx_ints size;
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 0), &size));
    SP_CHECK(size.n == 1 && size.v[0] >= 0 && size.v[0] < INT32_MAX, SP_VALUE,
             "the size must be one number that is not negative");
    double n = (double)size.v[0] - (sp__onnx_attr_int(c, "periodic", 1) ? 0 : 1);
    sp_tensor *t = NULL;
    SP_TRY(sp_tensor_create(SP_DTYPE_F64, 1, size.v, &t));
    for (int64_t i = 0; i < size.v[0]; i++) {
        double angle = 2 * 3.14159265358979323846 * (double)i / (n > 0 ? n : 1);
        ((double *)sp_tensor_data(t))[i] = f[0] - f[1] * cos(angle) + f[2] * cos(2 * angle);
    }
    sp_dtype dtype = sp__onnx_dtype((uint64_t)sp__onnx_attr_int(c, "output_datatype", 1));
    t = sp_builder_take_tensor(c->b, t);
    return sp__onnx_return(c, sp_cast(c->b, t, dtype != SP_DTYPE_NONE ? dtype : SP_DTYPE_F32));
}

/* Overlap of two boxes: corners in any order, or centre and size. */
static double overlap(const float *x, const float *y, bool centre)
{
    double a[4], b[4];
    for (int k = 0; k < 2; k++) {
        const float *box = k == 0 ? x : y;
        double *to = k == 0 ? a : b;
        if (centre) {
            to[0] = (double)box[1] - (double)box[3] / 2;
            to[1] = (double)box[0] - (double)box[2] / 2;
            to[2] = (double)box[1] + (double)box[3] / 2;
            to[3] = (double)box[0] + (double)box[2] / 2;
        } else {
            to[0] = fmin((double)box[0], (double)box[2]);
            to[1] = fmin((double)box[1], (double)box[3]);
            to[2] = fmax((double)box[0], (double)box[2]);
            to[3] = fmax((double)box[1], (double)box[3]);
        }
    }
    double h = fmin(a[2], b[2]) - fmax(a[0], b[0]), w = fmin(a[3], b[3]) - fmax(a[1], b[1]);
    if (h <= 0 || w <= 0) return 0;
    double both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);
    return h * w / (both - h * w);
}

typedef struct suppression {
    int64_t n, most;
    double overlap_limit, score_limit;
    bool scored, centre;
} suppression;

/* Indices of the boxes to keep, best first; the number of them. */
static int64_t suppress(const suppression *s, const float *boxes, const float *scores, bool *used, int64_t *kept)
{
    int64_t n_kept = 0;
    memset(used, 0, (size_t)s->n);
    while (n_kept < s->most) {
        int64_t best = -1;
        for (int64_t i = 0; i < s->n; i++)
            if (!used[i] && (!s->scored || (double)scores[i] > s->score_limit) &&
                (best < 0 || scores[i] > scores[best]))
                best = i;
        if (best < 0) break;
        used[best] = true;
        bool keep = true;
        for (int64_t k = 0; k < n_kept && keep; k++)
            keep = overlap(boxes + 4 * kept[k], boxes + 4 * best, s->centre) <= s->overlap_limit;
        if (keep) kept[n_kept++] = best;
    }
    return n_kept;
}

static sp_status non_max_suppression(sp_onnx_call *c)
{
    double most = 0;
    suppression s = {.centre = sp__onnx_attr_int(c, "center_point_box", 0) != 0};
    for (int i = 0; i < 2; i++) {
        SP_TRY(sp__tensor_need_value(c->in[i]));
        SP_CHECK(sp_tensor_rank(c->in[i]) == 3 && sp_tensor_dtype(c->in[i]) == SP_DTYPE_F32 &&
                     sp_tensor_is_contiguous(c->in[i]),
                 SP_VALUE, "boxes and scores must be float32 of rank 3");
    }
    if (sp__onnx_in(c, 2) != NULL) SP_TRY(sp__onnx_number(c->in[2], &most));
    if (sp__onnx_in(c, 3) != NULL) SP_TRY(sp__onnx_number(c->in[3], &s.overlap_limit));
    if ((s.scored = sp__onnx_in(c, 4) != NULL)) SP_TRY(sp__onnx_number(c->in[4], &s.score_limit));
    const int64_t *d = sp_tensor_dims(c->in[1]);
    SP_CHECK(sp_tensor_dims(c->in[0])[0] == d[0] && sp_tensor_dims(c->in[0])[1] == d[2] &&
                 sp_tensor_dims(c->in[0])[2] == 4,
             SP_VALUE, "boxes and scores do not fit each other");
    s.n = d[2];
    s.most = most > (double)s.n ? s.n : most > 0 ? (int64_t)most : 0;
    bool *used = sp__alloc((size_t)s.n + 1);
    int64_t *kept = sp__alloc(sizeof(int64_t) * (size_t)(s.n + 1)), total = 0;
    int64_t *rows = sp__alloc(sizeof(int64_t) * 3 * (size_t)(d[0] * d[1] * s.most + 1));
    sp_status status = used != NULL && kept != NULL && rows != NULL ? SP_OK : SP_NOMEM;
    for (int64_t i = 0; i < d[0] * d[1] && status == SP_OK; i++) {
        const float *boxes = (const float *)sp_tensor_data(c->in[0]) + i / d[1] * s.n * 4;
        int64_t n = suppress(&s, boxes, (const float *)sp_tensor_data(c->in[1]) + i * s.n, used, kept);
        for (int64_t k = 0; k < n; k++, total++) {
            rows[3 * total] = i / d[1];
            rows[3 * total + 1] = i % d[1];
            rows[3 * total + 2] = kept[k];
        }
    }
    sp_tensor *t = NULL;
    if (status == SP_OK) status = sp_tensor_create_from(SP_DTYPE_I64, 2, (int64_t[]){total, 3}, rows, &t);
    sp__free(used);
    sp__free(kept);
    sp__free(rows);
    SP_TRY(status);
    return sp__onnx_return(c, sp_builder_take_tensor(c->b, t));
}

/* --- Einstein's sums --------------------------------------------------------------------------------------------- */

typedef struct labels {
    int n;
    char of[SP_RANK_MAX]; /* letters; digits stand for axes under an ellipsis, counted from behind */
} labels;

static sp_status read_labels(const char *text, size_t bytes, int rank, labels *out)
{
    int letters = 0;
    bool dots = false;
    for (size_t i = 0; i < bytes; i++) letters += text[i] != '.' && text[i] != ' ';
    out->n = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == ' ' || (text[i] == '.' && dots)) continue;
        int n = text[i] == '.' ? rank - letters : 1;
        SP_CHECK(n >= 0 && out->n + n <= SP_RANK_MAX, SP_VALUE, "the equation does not fit operands of rank %d", rank);
        for (int k = 0; k < n; k++) out->of[out->n++] = text[i] == '.' ? (char)('0' + n - 1 - k) : text[i];
        dots = dots || text[i] == '.';
    }
    return SP_OK;
}

/* An operand with its axes at the places of all labels, 1 where it has none. A letter twice takes the diagonal. */
static sp_status spread_operand(sp_onnx_call *c, sp_tensor *x, labels l, const char *all, int n_all, sp_tensor **out)
{
    SP_CHECK(l.n == sp_tensor_rank(x), SP_VALUE, "%d labels for an operand of rank %d", l.n, sp_tensor_rank(x));
    for (int i = 0; i < l.n; i++)
        for (int k = i + 1; k < l.n; k++)
            if (l.of[i] == l.of[k]) {
                x = SP_ONNX_OP1(c, "diagonal", x, "offset=0, dim1=%d, dim2=%d", i, k);
                char letter = l.of[i];
                memmove(l.of + k, l.of + k + 1, (size_t)(l.n - k - 1));
                memmove(l.of + i, l.of + i + 1, (size_t)(l.n - i - 2));
                l.n--;
                l.of[l.n - 1] = letter; /* the diagonal stands last */
                i = -1;
                break;
            }
    int64_t perm[SP_RANK_MAX], dims[SP_RANK_MAX];
    int n = 0;
    SP_TRY(sp_builder_status(c->b));
    for (int i = 0; i < n_all; i++) {
        dims[i] = 1;
        for (int k = 0; k < l.n; k++)
            if (l.of[k] == all[i]) {
                perm[n++] = k;
                dims[i] = sp_tensor_dims(x)[k];
            }
    }
    *out = sp_reshape(c->b, sp_transpose(c->b, x, n, perm), n_all, dims);
    return sp_builder_status(c->b);
}

static sp_status einsum(sp_onnx_call *c)
{
    const char *equation = sp__onnx_attr_text(c, "equation", ""), *arrow = strstr(equation, "->");
    const char *end = arrow != NULL ? arrow : equation + strlen(equation), *at = equation;
    char all[SP_RANK_MAX * 8], counts[128] = {0};
    int n_all = 0, n_kept = 0;
    labels in[16], out = {0};
    SP_CHECK(c->n_in <= 16, SP_VALUE, "%d operands, at most 16 are possible", c->n_in);
    for (int i = 0; i < c->n_in; i++) {
        size_t bytes = strcspn(at, ",");
        if (at + bytes > end) bytes = (size_t)(end - at);
        SP_TRY(read_labels(at, bytes, sp_tensor_rank(c->in[i]), &in[i]));
        for (int k = 0; k < in[i].n; k++) counts[in[i].of[k] & 127]++;
        at += bytes + (at + bytes < end);
    }
    if (arrow != NULL) {
        int dots = 0;
        for (int d = '0'; d <= '9'; d++) dots += counts[d] > 0;
        size_t bytes = strlen(arrow + 2);
        int letters = 0;
        for (const char *p = arrow + 2; *p != '\0'; p++) letters += *p != '.' && *p != ' ';
        SP_TRY(read_labels(arrow + 2, bytes, letters + (strchr(arrow + 2, '.') != NULL ? dots : 0), &out));
    } else { /* the ellipsis, then what occurs once, by name */
        for (int d = '9'; d >= '0'; d--)
            if (counts[d] > 0 && out.n < SP_RANK_MAX) out.of[out.n++] = (char)d;
        for (int d = 'A'; d <= 'z'; d++)
            if (counts[d] == 1 && out.n < SP_RANK_MAX) out.of[out.n++] = (char)d;
    }
    for (int i = 0; i < out.n; i++) all[n_all++] = out.of[i];
    n_kept = n_all;
    for (int d = '0'; d <= 'z'; d++)
        if (counts[d] > 0 && memchr(all, d, (size_t)n_all) == NULL) {
            SP_CHECK(n_all < SP_RANK_MAX, SP_VALUE, "more than %d different labels", SP_RANK_MAX);
            all[n_all++] = (char)d;
        }
    sp_tensor *product = NULL;
    for (int i = 0; i < c->n_in; i++) {
        sp_tensor *x = NULL;
        SP_TRY(spread_operand(c, c->in[i], in[i], all, n_all, &x));
        product = product == NULL ? x : sp_mul(c->b, product, x);
    }
    int64_t axes[SP_RANK_MAX];
    for (int i = n_kept; i < n_all; i++) axes[i - n_kept] = i;
    if (n_all > n_kept) product = sp_reduce_sum(c->b, product, n_all - n_kept, axes, false);
    return sp__onnx_return(c, product);
}

const sp_onnx_handler sp__onnx_composed[] = {
    {"Attention", 23, attention, NULL, 0},
    {"NegativeLogLikelihoodLoss", 12, nll_loss, NULL, 0},
    {"SoftmaxCrossEntropyLoss", 12, softmax_loss, NULL, 0},
    {"ReverseSequence", 10, reverse_sequence, NULL, SP_ONNX_KEEPS},
    {"CenterCropPad", 18, center_crop_pad, NULL, SP_ONNX_KEEPS},
    {"Einsum", 12, einsum, NULL, 0},
    {"HannWindow", 17, window_function, "0", 0},
    {"HammingWindow", 17, window_function, "1", 0},
    {"BlackmanWindow", 17, window_function, "2", 0},
    {"NonMaxSuppression", 10, non_max_suppression, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
