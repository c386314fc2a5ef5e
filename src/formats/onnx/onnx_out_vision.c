/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_vision.c - how operators on images and boxes are written to ONNX. */
#include <stdio.h>
#include <string.h>

#include "formats/onnx/onnx_out_run.h"

/* --- resampling -------------------------------------------------------------------------------------------------- */

/* Do the sizes of all recordings alone say where elements come from? */
static bool scale_is_ratio(const sp_onnx_out *o)
{
    const double scale = sp__onnx_out_float(o, "scale");
    const sp_node *t = o->node;
    for (int k = 0; scale > 0 && k < o->sizes.n; k++, t = t->mark) {
        sp_attr_type type;
        const double in = (double)*(const int64_t *)sp__node_attr_at(t, "in_size", &type),
                     out = (double)*(const int64_t *)sp__node_attr_at(t, "out_size", &type);
        if (fabs(scale * out - in) > 1e-9 * in) return false;
    }
    return true;
}

/* Does Resize choose positions and weights as the operator does? */
static bool resize_says(const sp_onnx_out *o)
{
    const char *mode = sp__onnx_out_text(o, "mode");
    if (sp__onnx_out_int(o, "transposed") || !scale_is_ratio(o) || !strcmp(mode, "area")) return false;
    return strcmp(mode, "cubic") != 0 || (sp__onnx_out_int(o, "steps") == 0 && sp__onnx_out_float(o, "cubic") == -0.75);
}

/* Sizes of an image (before, 1, n, behind), of which runtimes resize the last two axes in all modes. */
static void image_sizes(const sp_onnx_out *o, int axis, int64_t (*at)[SP_TRIALS_MAX])
{
    const sp_node *t = o->node;
    for (int k = 0; k < o->sizes.n; k++, t = t->mark) {
        const sp_meta *x = &t->in[0]->meta;
        at[0][k] = at[1][k] = at[3][k] = 1;
        for (int i = 0; i < x->rank; i++)
            if (i != axis) at[i < axis ? 0 : 3][k] *= x->dims[i];
        at[2][k] = x->dims[axis];
    }
}

/* Sizes that are free in the file: the operator itself, along one axis of an image. */
static void write_resize(sp_onnx_out *o, int axis)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    const char *mode = sp__onnx_out_text(o, "mode"), *places = sp__onnx_out_text(o, "coordinates");
    const char *rounding =
        strcmp(places, "asymmetric") != 0 ? ", nearest_mode='round_prefer_ceil'" : ", nearest_mode='floor'";
    int64_t at[4][SP_TRIALS_MAX], to[SP_TRIALS_MAX];
    sp_onnx_id in[4] = {sp__onnx_out_cast(o, o->in[0], SP_DTYPE_F32)};
    const bool image = x->rank == 4 && axis >= 2;
    if (image) in[3] = sp__onnx_out_result_shape(o, 0);
    else {
        image_sizes(o, axis, at);
        in[0] = SP_ONNX_OUT(o, "Reshape", NULL, in[0], sp__onnx_out_size_list(o, 4, at));
        sp__sizes_result(&o->sizes, o->node, 0, axis, to);
        memcpy(at[2], to, sizeof to);
        in[3] = sp__onnx_out_size_list(o, 4, at);
    }
    sp_onnx_id y = sp__onnx_out_op(o, "Resize", 4, in, "mode='%s', coordinate_transformation_mode='%s'%s", mode, places,
                                   !strcmp(mode, "nearest")        ? rounding
                                   : sp__onnx_out_int(o, "inside") ? ", exclude_outside=1"
                                                                   : "");
    o->out[0] = image ? y : SP_ONNX_OUT(o, "Reshape", NULL, y, sp__onnx_out_result_shape(o, 0));
}

/* Linear along one axis: that axis last, times a matrix. The matrix comes from the operator on a unit matrix. */
static void write_resample(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0), *y = sp__onnx_out_result(o, 0);
    int rank = x->rank, axis = sp__onnx_out_axis(o, "axis", rank);
    const bool open = sp__onnx_out_open(o, o->node->in[0], axis) || sp__onnx_out_open(o, o->node->out[0], axis);
    if (open && o->opset >= 13 && resize_says(o)) {
        write_resize(o, axis);
        return;
    }
    int64_t n = sp__onnx_out_fixed(o, 0, axis), to[SP_RANK_MAX], back[SP_RANK_MAX];
    sp_dtype d = sp_dtype_kind(x->dtype) == 'f' ? x->dtype : SP_DTYPE_F32;
    for (int k = 0; k < rank; k++) {
        to[k] = k == rank - 1 ? axis : k < axis ? k : k + 1;
        back[k] = k < axis ? k : k == axis ? rank - 1 : k - 1;
    }
    sp_onnx_id matrix = sp__onnx_out_axis_matrix(o, "axis", n, y->dims[axis], d);
    sp_onnx_id moved = sp__onnx_out_transpose(o, sp__onnx_out_cast(o, o->in[0], d), rank, to);
    o->out[0] = sp__onnx_out_transpose(o, SP_ONNX_OUT(o, "MatMul", NULL, moved, matrix), rank, back);
}

static void write_fold(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank;
    if (rank == 3) o->out[0] = sp__onnx_out_linear(o, 2, 3);
    else sp__onnx_out_fail(o, sp__fail(SP_DECLINED, "fold of a tensor of rank %d is not written to ONNX", rank));
}

/* --- places in images -------------------------------------------------------------------------------------------- */

typedef struct {
    int axes;
    int64_t n, channels, places, sizes[3];
    bool nearest;
    sp_onnx_id x;        /* (n, channels, pixels) */
    sp_onnx_id place[3]; /* (n, 1, places), counted in elements */
} spots;

/* The element of corner k around each place: its index and weight, zero outside. */
static void corner(sp_onnx_out *o, const spots *s, int k, const sp_onnx_id *base, const sp_onnx_id *part,
                   sp_onnx_id *index, sp_onnx_id *weight)
{
    sp_onnx_id inside = 0, at = 0, w = 0, zero = sp__onnx_out_number(o, 0);
    for (int d = 0; d < s->axes; d++) {
        bool up = k >> (s->axes - 1 - d) & 1;
        sp_onnx_id i = up ? sp__onnx_out_add(o, base[d], sp__onnx_out_number(o, 1)) : base[d];
        sp_onnx_id in = SP_ONNX_OUT(o, "And", NULL, SP_ONNX_OUT(o, "GreaterOrEqual", NULL, i, zero),
                                    SP_ONNX_OUT(o, "Less", NULL, i, sp__onnx_out_number(o, (double)s->sizes[d])));
        inside = inside ? SP_ONNX_OUT(o, "And", NULL, inside, in) : in;
        at = at ? sp__onnx_out_add(o, sp__onnx_out_mul(o, at, sp__onnx_out_number(o, (double)s->sizes[d])), i) : i;
        if (s->nearest) continue;
        sp_onnx_id near = up ? part[d] : sp__onnx_out_sub(o, sp__onnx_out_number(o, 1), part[d]);
        w = w ? sp__onnx_out_mul(o, w, near) : near;
    }
    *weight = w ? sp__onnx_out_where(o, inside, w, zero) : sp__onnx_out_cast(o, inside, sp__onnx_out_dtype(o, s->x));
    *index = sp__onnx_out_cast(o, sp__onnx_out_where(o, inside, at, zero), SP_DTYPE_I64);
}

/* x read at the places: (n, channels, places). */
static sp_onnx_id read_spots(sp_onnx_out *o, const spots *s)
{
    sp_onnx_id base[3], part[3], sum = 0;
    for (int d = 0; d < s->axes; d++) {
        base[d] = SP_ONNX_OUT(o, s->nearest ? "Round" : "Floor", NULL, s->place[d]);
        part[d] = sp__onnx_out_sub(o, s->place[d], base[d]);
    }
    sp_onnx_id shape = SP_ONNX_OUT_INTS(o, s->n, s->channels, s->places);
    for (int k = 0; k < (s->nearest ? 1 : 1 << s->axes); k++) {
        sp_onnx_id index, weight;
        corner(o, s, k, base, part, &index, &weight);
        sp_onnx_id found =
            SP_ONNX_OUT(o, "GatherElements", "axis=2", s->x, SP_ONNX_OUT(o, "Expand", NULL, index, shape));
        sp_onnx_id share = sp__onnx_out_mul(o, found, weight);
        sum = sum ? sp__onnx_out_add(o, sum, share) : share;
    }
    return sum;
}

/* Coordinate d of the grid in elements, brought inside as padding_mode says. */
static sp_onnx_id grid_place(sp_onnx_out *o, sp_onnx_id grid, int axes, int d, int64_t size, int64_t places, int64_t n)
{
    bool align = sp__onnx_out_int(o, "align_corners");
    const char *padding = sp__onnx_out_text(o, "padding_mode");
    sp_onnx_id g = SP_ONNX_OUT(o, "Gather", "axis=-1", grid,
                               sp__onnx_out_whole(o, SP_DTYPE_I64, axes - 1 - d)); /* x comes first */
    g = SP_ONNX_OUT_RESHAPE(o, g, n, 1, places);
    sp_onnx_id p = sp__onnx_out_add(o, g, sp__onnx_out_number(o, 1));
    p = align ? sp__onnx_out_mul(o, p, sp__onnx_out_number(o, (double)(size - 1) / 2))
              : sp__onnx_out_sub(o, sp__onnx_out_mul(o, p, sp__onnx_out_number(o, (double)size / 2)),
                                 sp__onnx_out_number(o, 0.5));
    if (!strcmp(padding, "reflection")) {
        double low = align ? 0 : -0.5, span = align ? (double)(size - 1) : (double)size;
        if (span == 0) p = sp__onnx_out_mul(o, p, sp__onnx_out_number(o, 0));
        else {
            sp_onnx_id a = SP_ONNX_OUT(o, "Abs", NULL, sp__onnx_out_sub(o, p, sp__onnx_out_number(o, low)));
            sp_onnx_id turns = SP_ONNX_OUT(o, "Floor", NULL, sp__onnx_out_div(o, a, sp__onnx_out_number(o, span)));
            sp_onnx_id rest = sp__onnx_out_sub(o, a, sp__onnx_out_mul(o, turns, sp__onnx_out_number(o, span)));
            sp_onnx_id odd =
                SP_ONNX_OUT(o, "Equal", NULL, SP_ONNX_OUT(o, "Mod", "fmod=1", turns, sp__onnx_out_number(o, 2)),
                            sp__onnx_out_number(o, 1));
            p = sp__onnx_out_add(
                o, sp__onnx_out_where(o, odd, sp__onnx_out_sub(o, sp__onnx_out_number(o, span), rest), rest),
                sp__onnx_out_number(o, low));
        }
    }
    if (strcmp(padding, "zeros") != 0)
        p = SP_ONNX_OUT(o, "Min", NULL, SP_ONNX_OUT(o, "Max", NULL, p, sp__onnx_out_number(o, 0)),
                        sp__onnx_out_number(o, (double)(size - 1)));
    return p;
}

static void write_grid_sample(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0), *y = sp__onnx_out_result(o, 0);
    int axes = x->rank - 2;
    const char *mode = sp__onnx_out_text(o, "mode");
    if (o->opset >= 16 && axes == 2) {
        const char *name = !strcmp(mode, "bilinear") ? (o->opset >= 20 ? "linear" : "bilinear") : mode;
        o->out[0] = sp__onnx_out_op(o, "GridSample", 2, o->in, "mode='%s', padding_mode='%s', align_corners=%d", name,
                                    sp__onnx_out_text(o, "padding_mode"), (int)sp__onnx_out_int(o, "align_corners"));
        return;
    }
    sp__onnx_out_fix(o, 0);
    sp__onnx_out_fix(o, 1);
    spots s = {.axes = axes, .n = x->dims[0], .channels = x->dims[1], .places = 1, .nearest = !strcmp(mode, "nearest")};
    for (int d = 0; d < axes; d++) {
        s.sizes[d] = x->dims[2 + d];
        s.places *= y->dims[2 + d];
    }
    s.x = SP_ONNX_OUT_RESHAPE(o, o->in[0], s.n, s.channels, -1);
    for (int d = 0; d < axes; d++) s.place[d] = grid_place(o, o->in[1], axes, d, s.sizes[d], s.places, s.n);
    o->out[0] = sp__onnx_out_reshape(o, read_spots(o, &s), y->rank, y->dims);
}

/* --- boxes ------------------------------------------------------------------------------------------------------- */

static sp_onnx_id column(sp_onnx_out *o, sp_onnx_id boxes, int k)
{
    return sp__onnx_out_op(o, "Gather", 2, (sp_onnx_id[]){boxes, sp__onnx_out_whole(o, SP_DTYPE_I64, k)}, "axis=1");
}

/* Size of the part that boxes a and b share along axis k, and each one's own; `more` is 1 where edges belong to boxes. */
static sp_onnx_id shared_side(sp_onnx_out *o, const sp_onnx_id *a, const sp_onnx_id *b, int k, double more)
{
    sp_onnx_id to = SP_ONNX_OUT(o, "Min", NULL, a[k + 2], b[k + 2]), from = SP_ONNX_OUT(o, "Max", NULL, a[k], b[k]);
    return SP_ONNX_OUT(o, "Max", NULL, sp__onnx_out_add(o, sp__onnx_out_sub(o, to, from), sp__onnx_out_number(o, more)),
                       sp__onnx_out_number(o, 0));
}

static sp_onnx_id area(sp_onnx_out *o, const sp_onnx_id *a, double more)
{
    sp_onnx_id w = sp__onnx_out_add(o, sp__onnx_out_sub(o, a[2], a[0]), sp__onnx_out_number(o, more)),
               h = sp__onnx_out_add(o, sp__onnx_out_sub(o, a[3], a[1]), sp__onnx_out_number(o, more));
    return sp__onnx_out_mul(o, w, h);
}

static void write_iou(sp_onnx_out *o)
{
    sp_onnx_id a[4], b[4]; /* anchors along columns, the others along rows */
    for (int k = 0; k < 4; k++) {
        a[k] = sp__onnx_out_unsqueeze(o, column(o, o->in[0], k), 0);
        b[k] = sp__onnx_out_unsqueeze(o, column(o, o->in[1], k), 1);
    }
    sp_onnx_id both = sp__onnx_out_mul(o, shared_side(o, a, b, 0, 1), shared_side(o, a, b, 1, 1)),
               theirs = area(o, b, 1);
    if (strcmp(sp__onnx_out_text(o, "mode"), "iof") != 0)
        theirs = sp__onnx_out_sub(o, sp__onnx_out_add(o, area(o, a, 1), theirs), both);
    o->out[0] = sp__onnx_out_div(o, both, theirs);
}

static double before(const void *context, int64_t i)
{
    int64_t n = *(const int64_t *)context;
    return i / n < i % n;
}

/* Best first; then box by box, each that is still there removes the later ones it overlaps. */
static void write_nms(sp_onnx_out *o)
{
    int64_t n = sp__onnx_out_fixed(o, 0, 0);
    sp_onnx_id sorted[2], a[4], b[4], start[1], end[1], out[2];
    sp__onnx_out_op_many(o, "TopK", 2, (sp_onnx_id[]){column(o, o->in[0], 4), SP_ONNX_OUT_INTS(o, n)}, 2, sorted,
                         "axis=0, largest=1, sorted=1");
    sp_onnx_id boxes = SP_ONNX_OUT(o, "Gather", "axis=0", o->in[0], sorted[1]);
    for (int k = 0; k < 4; k++) {
        sp_onnx_id c = column(o, boxes, k);
        a[k] = sp__onnx_out_unsqueeze(o, c, 1);
        b[k] = sp__onnx_out_unsqueeze(o, c, 0);
    }
    sp_onnx_id both = sp__onnx_out_mul(o, shared_side(o, a, b, 0, 0), shared_side(o, a, b, 1, 0));
    sp_onnx_id all = sp__onnx_out_sub(o, sp__onnx_out_add(o, area(o, a, 0), area(o, b, 0)), both);
    sp_onnx_id over =
        SP_ONNX_OUT(o, "Greater", NULL, both,
                    sp__onnx_out_mul(o, all, sp__onnx_out_number(o, sp__onnx_out_float(o, "iou_threshold"))));
    over = SP_ONNX_OUT(o, "And", NULL, over, sp__onnx_out_table(o, SP_DTYPE_BOOL, 2, (int64_t[]){n, n}, before, &n));
    start[0] = SP_ONNX_OUT(o, "Not", NULL, sp__onnx_out_table(o, SP_DTYPE_BOOL, 1, &n, sp__onnx_out_zero, NULL));
    sp_onnx_out_graph *body = sp__onnx_out_begin(o, "suppress", 3);
    if (!body || !sp__onnx_out_ok(o)) return;
    body->in[0] = sp__onnx_out_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__onnx_out_value(o, NULL, SP_DTYPE_BOOL);
    sp_onnx_id keep = body->in[2] = sp__onnx_out_value(o, NULL, SP_DTYPE_BOOL);
    sp_onnx_id mine = SP_ONNX_OUT(o, "Gather", "axis=0", sp__onnx_out_cast(o, keep, SP_DTYPE_I32), body->in[0]);
    sp_onnx_id row = SP_ONNX_OUT(o, "And", NULL, SP_ONNX_OUT(o, "Gather", "axis=0", over, body->in[0]),
                                 sp__onnx_out_cast(o, mine, SP_DTYPE_BOOL));
    out[0] = body->in[1];
    out[1] = SP_ONNX_OUT(o, "And", NULL, keep, SP_ONNX_OUT(o, "Not", NULL, row));
    sp__onnx_out_end(o, body, 2, out);
    sp__onnx_out_loop(o, sp__onnx_out_whole(o, SP_DTYPE_I64, n), sp__onnx_out_whole(o, SP_DTYPE_BOOL, 1), 1, start,
                      body, end);
    o->out[0] = boxes;
    o->out[1] = sp__onnx_out_table(o, SP_DTYPE_I64, 1, &n, sp__onnx_out_count, NULL);
    o->out[2] = end[0];
}

static double listed(const sp_onnx_out *o, const char *name, int k)
{
    sp_attr_type type;
    const sp_floats *list = sp__node_attr_at(o->node, name, &type);
    return list && k < list->n ? list->v[k] : 0;
}

static void write_box_code(sp_onnx_out *o)
{
    bool decode = o->node->op == &sp_op_bounding_box_decode;
    sp_ints most = sp__onnx_out_list(o, "max_shape");
    double bound = decode ? fabs(log(sp__onnx_out_float(o, "wh_ratio_clip"))) : 0;
    sp_onnx_id parts[4], half = sp__onnx_out_number(o, 0.5), one = sp__onnx_out_number(o, 1);
    for (int k = 0; k < 2; k++) {
        sp_onnx_id a0 = column(o, o->in[0], k), a1 = column(o, o->in[0], k + 2), b0 = column(o, o->in[1], k),
                   b1 = column(o, o->in[1], k + 2);
        sp_onnx_id size = sp__onnx_out_add(o, sp__onnx_out_sub(o, a1, a0), one),
                   middle = sp__onnx_out_mul(o, sp__onnx_out_add(o, a0, a1), half);
        if (!decode) {
            sp_onnx_id other = sp__onnx_out_mul(o, sp__onnx_out_add(o, b0, b1), half),
                       to = sp__onnx_out_add(o, sp__onnx_out_sub(o, b1, b0), one);
            parts[k] = sp__onnx_out_div(o, sp__onnx_out_sub(o, other, middle), size);
            parts[k + 2] = SP_ONNX_OUT(o, "Log", NULL, sp__onnx_out_div(o, to, size));
            for (int i = k; i < 4; i += 2)
                parts[i] =
                    sp__onnx_out_div(o, sp__onnx_out_sub(o, parts[i], sp__onnx_out_number(o, listed(o, "means", i))),
                                     sp__onnx_out_number(o, listed(o, "stds", i)));
            continue;
        }
        sp_onnx_id shift = sp__onnx_out_add(o, sp__onnx_out_mul(o, b0, sp__onnx_out_number(o, listed(o, "stds", k))),
                                            sp__onnx_out_number(o, listed(o, "means", k)));
        sp_onnx_id grow = sp__onnx_out_add(o, sp__onnx_out_mul(o, b1, sp__onnx_out_number(o, listed(o, "stds", k + 2))),
                                           sp__onnx_out_number(o, listed(o, "means", k + 2)));
        grow = SP_ONNX_OUT(o, "Min", NULL, SP_ONNX_OUT(o, "Max", NULL, grow, sp__onnx_out_number(o, -bound)),
                           sp__onnx_out_number(o, bound));
        sp_onnx_id reach = sp__onnx_out_mul(o, sp__onnx_out_mul(o, size, SP_ONNX_OUT(o, "Exp", NULL, grow)), half),
                   last = sp__onnx_out_number(o, (double)most.v[1 - k]);
        middle = sp__onnx_out_add(o, middle, sp__onnx_out_mul(o, size, shift));
        parts[k] = sp__onnx_out_add(o, sp__onnx_out_sub(o, middle, reach), half);
        parts[k + 2] = sp__onnx_out_sub(o, sp__onnx_out_add(o, middle, reach), half);
        for (int i = k; i < 4; i += 2)
            parts[i] =
                SP_ONNX_OUT(o, "Min", NULL, SP_ONNX_OUT(o, "Max", NULL, parts[i], sp__onnx_out_number(o, 0)), last);
    }
    for (int k = 0; k < 4; k++) parts[k] = sp__onnx_out_unsqueeze(o, parts[k], 1);
    o->out[0] = sp__onnx_out_op(o, "Concat", 4, parts, "axis=1");
}

static void write_check_valid(sp_onnx_out *o)
{
    sp_onnx_id m[3], b[4], zero = sp__onnx_out_number(o, 0), one = sp__onnx_out_number(o, 1);
    for (int k = 0; k < 3; k++)
        m[k] =
            sp__onnx_out_op(o, "Gather", 2, (sp_onnx_id[]){o->in[1], sp__onnx_out_whole(o, SP_DTYPE_I64, k)}, "axis=0");
    for (int k = 0; k < 4; k++) b[k] = column(o, o->in[0], k);
    sp_onnx_id height = sp__onnx_out_sub(o, sp__onnx_out_mul(o, m[0], m[2]), one),
               width = sp__onnx_out_sub(o, sp__onnx_out_mul(o, m[1], m[2]), one);
    sp_onnx_id low = SP_ONNX_OUT(o, "And", NULL, SP_ONNX_OUT(o, "GreaterOrEqual", NULL, b[0], zero),
                                 SP_ONNX_OUT(o, "GreaterOrEqual", NULL, b[1], zero));
    sp_onnx_id high = SP_ONNX_OUT(o, "And", NULL, SP_ONNX_OUT(o, "LessOrEqual", NULL, b[2], width),
                                  SP_ONNX_OUT(o, "LessOrEqual", NULL, b[3], height));
    o->out[0] = SP_ONNX_OUT(o, "And", NULL, low, high);
}

const sp_onnx_out_rule sp__onnx_out_vision[] = {
    SP_ONNX_OUT_CODE("resample_axis", write_resample),
    SP_ONNX_OUT_CODE("fold", write_fold),
    SP_ONNX_OUT_CODE("grid_sample", write_grid_sample),
    SP_ONNX_OUT_CODE("iou", write_iou),
    SP_ONNX_OUT_CODE("nms_with_mask", write_nms),
    SP_ONNX_OUT_CODE("bounding_box_encode", write_box_code),
    SP_ONNX_OUT_CODE("bounding_box_decode", write_box_code),
    SP_ONNX_OUT_CODE("check_valid", write_check_valid),
    {.op = NULL},
};
