/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_boxes.c - what stands behind detection networks: suppression of boxes that overlap, and the custom operator
 * TFLite_Detection_PostProcess. How many boxes are left depends on their contents, so these run on tensors alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tflite/tflite_model.h"

typedef struct box {
    float y1, x1, y2, x2;
} box;

typedef struct ranked {
    float score;
    int at;
} ranked;

/* The better first; of equals the earlier. */
static int by_score(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static float overlap(const box *a, const box *b)
{
    const float area_a = (a->y2 - a->y1) * (a->x2 - a->x1), area_b = (b->y2 - b->y1) * (b->x2 - b->x1);
    if (area_a <= 0 || area_b <= 0) return 0;
    const float height = fmaxf(fminf(a->y2, b->y2) - fmaxf(a->y1, b->y1), 0),
                width = fmaxf(fminf(a->x2, b->x2) - fmaxf(a->x1, b->x1), 0);
    return height * width / (area_a + area_b - height * width);
}

/* Corners in any order. */
static box ordered(const float *v)
{
    return (box){fminf(v[0], v[2]), fminf(v[1], v[3]), fmaxf(v[0], v[2]), fmaxf(v[1], v[3])};
}

/* Contents of input i as float32, row by row, to be released by the caller. */
static sp_status floats_in(sp_tflite_call *c, int i, sp_tensor **out)
{
    sp_tensor *t = sp__tflite_real(c, sp__tflite_plain(c, i), sp__tflite_in_face(c, i), false);
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(t != NULL, SP_FORMAT, "input %d is missing", i);
    SP_TRY(sp__tensor_need_value(t));
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, sp_tensor_rank(t), sp_tensor_dims(t), out));
    sp_status status = sp_tensor_assign(*out, t);
    if (status != SP_OK) {
        sp_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

static sp_status number_in(sp_tflite_call *c, int i, double *out)
{
    c->in[i] = sp__tflite_plain(c, i);
    return sp__tflite_number(c, i, out);
}

static sp_status give(sp_tflite_call *c, int i, sp_dtype dtype, int rank, const int64_t *dims, const void *data)
{
    sp_tensor *t = NULL;
    if (i >= c->node->n_out) return SP_OK;
    SP_TRY(sp_tensor_create_from(dtype, rank, dims, data, &t));
    return sp__tflite_put(c, i, sp_builder_take_tensor(c->b, t), false);
}

/* --- NON_MAX_SUPPRESSION_V4, _V5 --------------------------------------------------------------------------------- */

typedef struct suppression {
    int64_t most;
    float overlap, score, sigma;
} suppression;

/* Whether the candidate stays; its score sinks with every overlap when sigma is not 0. */
static bool stays(const suppression *s, const float *boxes, const int32_t *chosen, int64_t n, ranked *candidate)
{
    const box mine = ordered(boxes + 4 * candidate->at);
    for (int64_t k = n - 1; k >= 0; k--) {
        const box other = ordered(boxes + 4 * chosen[k]);
        const float shared = overlap(&mine, &other);
        if (shared >= s->overlap) return false;
        if (s->sigma > 0) candidate->score *= expf(-0.5f * shared * shared / s->sigma);
        if (candidate->score <= s->score) return false;
    }
    return true;
}

/* Greedy: the best that is left, again and again. With a sigma scores change, so candidates are looked at once more. */
static int64_t suppress(const suppression *s, const float *boxes, ranked *list, int64_t n, int32_t *chosen,
                        float *scores)
{
    int64_t count = 0;
    qsort(list, (size_t)n, sizeof *list, by_score);
    for (int64_t i = 0; i < n && count < s->most; i++) {
        ranked now = list[i];
        const float before = now.score;
        if (!stays(s, boxes, chosen, count, &now)) continue;
        if (now.score < before && i + 1 < n &&
            now.score < list[i + 1].score) { /* not the best any more: back into the order */
            int64_t k = i;
            for (; k + 1 < n && by_score(&list[k + 1], &now) < 0; k++) list[k] = list[k + 1];
            list[k] = now;
            i--;
            continue;
        }
        chosen[count] = now.at;
        scores[count++] = now.score;
    }
    return count;
}

static sp_status non_max_suppression(sp_tflite_call *c)
{
    const bool soft = c->node->handler->code == 121;
    double v[4] = {0, 0, 0, 0};
    sp_tensor *boxes = NULL, *scores = NULL;
    for (int i = 0; i < (soft ? 4 : 3); i++) SP_TRY(number_in(c, 2 + i, &v[i]));
    suppression s = {.most = (int64_t)v[0], .overlap = (float)v[1], .score = (float)v[2], .sigma = (float)v[3]};
    SP_TRY(floats_in(c, 0, &boxes));
    sp_status status = floats_in(c, 1, &scores);
    const int64_t n = status == SP_OK ? sp_tensor_count(scores) : 0;
    if (status == SP_OK && (sp_tensor_count(boxes) != 4 * n || s.most < 0 || s.most > INT32_MAX))
        status = sp__fail(SP_FORMAT, "boxes and scores do not fit");
    ranked *list = status == SP_OK ? sp__alloc_zero((size_t)(n + 1) * sizeof *list) : NULL;
    int32_t *chosen = status == SP_OK ? sp__alloc_zero((size_t)(s.most + 1) * sizeof *chosen) : NULL;
    float *kept = status == SP_OK ? sp__alloc_zero((size_t)(s.most + 1) * sizeof *kept) : NULL;
    if (status == SP_OK && (list == NULL || chosen == NULL || kept == NULL)) status = SP_NOMEM;
    if (status == SP_OK) {
        int64_t room = 0;
        const float *score = sp_tensor_data(scores);
        for (int64_t i = 0; i < n; i++)
            if (score[i] > s.score) list[room++] = (ranked){score[i], (int)i};
        const int32_t count = (int32_t)suppress(&s, sp_tensor_data(boxes), list, room, chosen, kept);
        status = give(c, 0, SP_DTYPE_I32, 1, &s.most, chosen);
        if (status == SP_OK && soft) status = give(c, 1, SP_DTYPE_F32, 1, &s.most, kept);
        if (status == SP_OK) status = give(c, soft ? 2 : 1, SP_DTYPE_I32, 0, NULL, &count);
    }
    sp__free(list);
    sp__free(chosen);
    sp__free(kept);
    sp_tensor_release(boxes);
    sp_tensor_release(scores);
    return status;
}

/* --- options of custom operators --------------------------------------------------------------------------------- */

/* A flexbuffer: the last byte is the width of the root, the one before its type. A map is a vector of values with their types behind them;
 * in front of it stand its keys (distance and width) and its length. */
typedef struct flex {
    const uint8_t *data;
    size_t bytes;
} flex;

static bool flex_uint(const flex *f, size_t at, size_t width, uint64_t *out)
{
    if (width > 8 || at > f->bytes || f->bytes - at < width) return false;
    *out = 0;
    for (size_t i = width; i-- > 0;) *out = *out << 8 | f->data[at + i];
    return true;
}

/* What the distance at `at` leads back to. */
static bool flex_back(const flex *f, size_t at, size_t width, size_t *out)
{
    uint64_t distance = 0;
    if (!flex_uint(f, at, width, &distance) || distance > at) return false;
    *out = at - (size_t)distance;
    return true;
}

static bool flex_number(const flex *f, size_t at, size_t width, unsigned type, double *out)
{
    uint64_t raw = 0;
    if (!flex_uint(f, at, width, &raw)) return false;
    if (type == 3 && width == 4) {
        const uint32_t bits = (uint32_t)raw;
        float v;
        memcpy(&v, &bits, sizeof v);
        *out = (double)v;
    } else if (type == 3 && width == 8) memcpy(out, &raw, sizeof raw);
    else if (type == 1)
        *out = (double)(width < 8 && raw >> (8 * width - 1) & 1 ? (int64_t)(raw - ((uint64_t)1 << (8 * width)))
                                                                : (int64_t)raw);
    else *out = (double)raw; /* unsigned, bool */
    return true;
}

/* The number under a key; `missing` when there is none. */
static double flex_find(const flex *f, const char *key, double missing)
{
    size_t map = 0, keys = 0, text = 0;
    uint64_t n = 0, key_width = 0;
    if (f->bytes < 3) return missing;
    const size_t root_width = f->data[f->bytes - 1], width = (size_t)1 << (f->data[f->bytes - 2] & 3);
    if (f->data[f->bytes - 2] >> 2 != 9 || root_width > f->bytes - 2) return missing;
    if (!flex_back(f, f->bytes - 2 - root_width, root_width, &map) || map < 3 * width) return missing;
    if (!flex_uint(f, map - width, width, &n) || !flex_uint(f, map - 2 * width, width, &key_width) || key_width == 0)
        return missing;
    if (!flex_back(f, map - 3 * width, width, &keys) || n > f->bytes) return missing;
    for (uint64_t i = 0; i < n; i++) {
        const size_t at = map + (size_t)i * width, types = map + (size_t)n * width + (size_t)i;
        double v = missing;
        if (types >= f->bytes || !flex_back(f, keys + (size_t)(i * key_width), (size_t)key_width, &text))
            return missing;
        const size_t left = f->bytes - text;
        if (strnlen((const char *)f->data + text, left) == left || strcmp((const char *)f->data + text, key) != 0)
            continue;
        return flex_number(f, at, width, f->data[types] >> 2, &v) ? v : missing;
    }
    return missing;
}

/* --- TFLite_Detection_PostProcess -------------------------------------------------------------------------------- */

typedef struct detection {
    int64_t n, most, classes, columns, each,
        per_class; /* boxes, results, classes, with background, classes of a box, boxes of a class */
    float score, overlap, scale[4];
    const float *scores;
    box *boxes;
    int64_t *found; /* results: box * columns + class, and how many */
    float *found_score;
    int64_t n_found;
} detection;

static void decode(const detection *d, const float *code, const float *anchor, box *out)
{
    const float y = code[0] / d->scale[0] * anchor[2] + anchor[0], x = code[1] / d->scale[1] * anchor[3] + anchor[1];
    const float h = 0.5f * expf(code[2] / d->scale[2]) * anchor[2], w = 0.5f * expf(code[3] / d->scale[3]) * anchor[3];
    *out = (box){y - h, x - w, y + h, x + w};
}

/* Of a list in the order of scores, those that do not overlap a better one; moved to its front. */
static int64_t thin_out(const detection *d, ranked *list, int64_t n, int64_t most)
{
    int64_t count = 0;
    qsort(list, (size_t)n, sizeof *list, by_score);
    for (int64_t i = 0; i < n && count < most; i++) {
        bool free_of_others = true;
        for (int64_t k = 0; k < count && free_of_others; k++)
            free_of_others = overlap(&d->boxes[list[i].at], &d->boxes[list[k].at]) <= d->overlap;
        if (free_of_others) list[count++] = list[i];
    }
    return count;
}

static float score_of(const detection *d, int64_t at, int64_t class)
{
    return d->scores[at * d->columns + d->columns - d->classes + class];
}

static void note(detection *d, int64_t at, int64_t class)
{
    d->found[d->n_found] = at * d->columns + class;
    d->found_score[d->n_found++] = score_of(d, at, class);
}

/* Every box by its best class; the best `each` classes of those that stay. */
static void detect_fast(detection *d, ranked *list, ranked *classes)
{
    int64_t room = 0;
    for (int64_t i = 0; i < d->n; i++) {
        float best = score_of(d, i, 0);
        for (int64_t k = 1; k < d->classes; k++) best = fmaxf(best, score_of(d, i, k));
        if (best >= d->score) list[room++] = (ranked){best, (int)i};
    }
    const int64_t kept = thin_out(d, list, room, d->most);
    for (int64_t i = 0; i < kept; i++) {
        for (int64_t k = 0; k < d->classes; k++) classes[k] = (ranked){score_of(d, list[i].at, k), (int)k};
        qsort(classes, (size_t)d->classes, sizeof *classes, by_score);
        for (int64_t k = 0; k < d->each && d->n_found < d->most; k++) note(d, list[i].at, classes[k].at);
    }
}

/* Every class by itself; the best of all together. */
static void detect_regular(detection *d, ranked *list)
{
    for (int64_t class = 0; class < d->classes; class++) {
        int64_t room = 0;
        for (int64_t i = 0; i < d->n; i++)
            if (score_of(d, i, class) >= d->score) list[room++] = (ranked){score_of(d, i, class), (int)i};
        const int64_t kept = thin_out(d, list, room, d->per_class < d->most ? d->per_class : d->most);
        for (int64_t i = 0; i < kept; i++) {
            int64_t k = d->n_found;
            if (k == d->most && d->found_score[k - 1] >= list[i].score) break;
            if (k == d->most) k--;
            else d->n_found++;
            for (; k > 0 && d->found_score[k - 1] < list[i].score; k--) {
                d->found[k] = d->found[k - 1];
                d->found_score[k] = d->found_score[k - 1];
            }
            d->found[k] = list[i].at * d->columns + class;
            d->found_score[k] = list[i].score;
        }
    }
}

static sp_status give_detections(sp_tflite_call *c, const detection *d)
{
    float *out = sp__alloc_zero((size_t)(6 * d->most + 1) * sizeof *out), count = (float)d->n_found;
    if (out == NULL) return SP_NOMEM;
    float *classes = out + 4 * d->most, *scores = classes + d->most;
    for (int64_t i = 0; i < d->n_found; i++) {
        memcpy(out + 4 * i, &d->boxes[d->found[i] / d->columns], sizeof(box));
        classes[i] = (float)(d->found[i] % d->columns);
        scores[i] = d->found_score[i];
    }
    sp_status status = give(c, 0, SP_DTYPE_F32, 3, (int64_t[]){1, d->most, 4}, out);
    if (status == SP_OK) status = give(c, 1, SP_DTYPE_F32, 2, (int64_t[]){1, d->most}, classes);
    if (status == SP_OK) status = give(c, 2, SP_DTYPE_F32, 2, (int64_t[]){1, d->most}, scores);
    if (status == SP_OK) status = give(c, 3, SP_DTYPE_F32, 1, (int64_t[]){1}, &count);
    sp__free(out);
    return status;
}

static sp_status detect(sp_tflite_call *c, detection *d, const float *codes, const float *anchors, bool regular)
{
    ranked *list = sp__alloc_zero((size_t)(d->n + d->classes + 1) * sizeof *list);
    d->boxes = sp__alloc_zero((size_t)(d->n + 1) * sizeof *d->boxes);
    d->found = sp__alloc_zero((size_t)(d->most + 1) * sizeof *d->found);
    d->found_score = sp__alloc_zero((size_t)(d->most + 1) * sizeof *d->found_score);
    sp_status status =
        list != NULL && d->boxes != NULL && d->found != NULL && d->found_score != NULL ? SP_OK : SP_NOMEM;
    for (int64_t i = 0; i < d->n && status == SP_OK; i++) decode(d, codes + 4 * i, anchors + 4 * i, &d->boxes[i]);
    if (status == SP_OK && regular) detect_regular(d, list);
    else if (status == SP_OK) detect_fast(d, list, list + d->n);
    if (status == SP_OK) status = give_detections(c, d);
    sp__free(list);
    sp__free(d->boxes);
    sp__free(d->found);
    sp__free(d->found_score);
    return status;
}

/* Inputs: codes of boxes [1, n, 4], scores [1, n, classes], anchors [n, 4] (middle and size). */
static sp_status post_process(sp_tflite_call *c)
{
    const flex f = {c->node->custom, c->node->custom_bytes};
    sp_tensor *in[3] = {NULL};
    sp_status status = SP_OK;
    for (int i = 0; i < 3 && status == SP_OK; i++) status = floats_in(c, i, &in[i]);
    if (status == SP_OK) {
        const int rank = sp_tensor_rank(in[1]);
        detection d = {.n = sp_tensor_count(in[2]) / 4,
                       .most = (int64_t)flex_find(&f, "max_detections", 0),
                       .classes = (int64_t)flex_find(&f, "num_classes", 0),
                       .columns = rank > 0 ? sp_tensor_dims(in[1])[rank - 1] : 0,
                       .each = (int64_t)flex_find(&f, "max_classes_per_detection", 1),
                       .per_class = (int64_t)flex_find(&f, "detections_per_class", 100),
                       .score = (float)flex_find(&f, "nms_score_threshold", 0),
                       .overlap = (float)flex_find(&f, "nms_iou_threshold", 0.5),
                       .scale = {(float)flex_find(&f, "y_scale", 1), (float)flex_find(&f, "x_scale", 1),
                                 (float)flex_find(&f, "h_scale", 1), (float)flex_find(&f, "w_scale", 1)},
                       .scores = sp_tensor_data(in[1])};
        if (d.each > d.classes) d.each = d.classes;
        if (d.most <= 0 || d.most > 1 << 20 || d.classes <= 0 || d.classes > d.columns || d.each <= 0 ||
            sp_tensor_count(in[0]) != 4 * d.n || sp_tensor_count(in[1]) != d.n * d.columns || d.n > INT32_MAX)
            status = sp__fail(SP_FORMAT, "options or shapes do not fit: %lld boxes, %lld classes, %lld results",
                              (long long)d.n, (long long)d.classes, (long long)d.most);
        else
            status =
                detect(c, &d, sp_tensor_data(in[0]), sp_tensor_data(in[2]), flex_find(&f, "use_regular_nms", 0) != 0);
    }
    for (int i = 0; i < 3; i++) sp_tensor_release(in[i]);
    return status;
}

const sp_tflite_handler sp__tflite_boxes[] = {
    {120, "NON_MAX_SUPPRESSION_V4", non_max_suppression, NULL, SP_TFLITE_RAW, 5, -1},
    {121, "NON_MAX_SUPPRESSION_V5", non_max_suppression, NULL, SP_TFLITE_RAW, 6, -1},
    {32, "TFLite_Detection_PostProcess", post_process, NULL, SP_TFLITE_RAW, 3, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
