/* SPDX-License-Identifier: Apache-2.0 */
/* grid_sample.c - images and volumes read at places given by a tensor, and the windows of deformable convolutions.
 *
 * Both are sums over the 2^n elements around a place, by nearness. For every place the kernels work out these elements
 * and how their weights move with the place; the gradients follow from that. A unit of work is one sample, since all
 * channels share places and the gradients of places are sums over channels.
 * When a gradient is to be differentiated itself, the rules work out the same of elementary operators instead: the parts
 * of a place that lie between elements are then tensors with gradients, and so are the weights made of them. */
#include "ir/like.h"
#include "ir/refuse.h"
#include "ops/norm.h"

enum { AXES = 3, CORNERS = 8 };

/* Elements around a place: address inside one channel, weight, and slope of the weight along each axis. */
typedef struct {
    int n;
    int64_t at[CORNERS];
    double w[CORNERS], slope[CORNERS][AXES];
} spot;

/* n axes with sizes; elements outside are left out. nearest: the one element, without slopes. */
static void spot_find(int n, const int64_t *sizes, const double *place, bool nearest, spot *s)
{
    double base[AXES], part[AXES];
    for (int d = 0; d < n; d++) {
        base[d] = nearest ? nearbyint(place[d]) : floor(place[d]);
        part[d] = nearest ? 0 : place[d] - base[d];
    }
    s->n = 0;
    for (int k = 0; k < (nearest ? 1 : 1 << n); k++) {
        int64_t at = 0;
        double w = 1;
        bool inside = true;
        for (int d = 0; d < n; d++) {
            const bool up = k >> (n - 1 - d) & 1;
            const double i = base[d] + up;
            inside = inside && i >= 0 && i < (double)sizes[d];
            at = at * sizes[d] + (inside ? (int64_t)i : 0);
            w *= up ? part[d] : 1 - part[d];
        }
        if (!inside) continue;
        s->at[s->n] = at;
        s->w[s->n] = w;
        for (int d = 0; d < n; d++) {
            double slope = nearest ? 0 : k >> (n - 1 - d) & 1 ? 1 : -1;
            for (int e = 0; e < n; e++)
                if (e != d) slope *= k >> (n - 1 - e) & 1 ? part[e] : 1 - part[e];
            s->slope[s->n][d] = slope;
        }
        s->n++;
    }
}

/* --- the same of operators --------------------------------------------------------------------------------------- */

/* Gradients of reading x [n, channels, pixels] at P places, of operators that have gradients. */
typedef struct {
    sp_builder *b;
    int axes;
    int64_t sizes[AXES];
    bool nearest;
    sp_tensor *x, *g;                     /* g: [n, channels, P], gradient of what was read */
    sp_tensor *place[AXES];               /* [n, 1, P], counted in elements */
    sp_tensor *dx, *dplace[AXES], *value; /* results; value is what was read. NULL: zero */
} composed_spots;

/* One of the elements around the places: adds its share to the results. */
static void composed_corner(composed_spots *s, int k, sp_tensor *const *base, sp_tensor *const *part)
{
    sp_builder *b = s->b;
    sp_tensor *inside = NULL, *at = NULL, *w = NULL, *slope[AXES] = {NULL};
    if (b->status != SP_OK) return; /* some place may be missing */
    for (int d = 0; d < s->axes; d++) {
        const bool up = k >> (s->axes - 1 - d) & 1;
        sp_tensor *i = up ? sp__add_number(b, base[d], 1) : base[d];
        sp_tensor *in = sp_logical_and(b, sp_greater_equal(b, i, sp__const(b, 0, i)),
                                       sp_less(b, i, sp__const(b, (double)s->sizes[d], i)));
        inside = inside ? sp_logical_and(b, inside, in) : in;
        at = at ? sp_add(b, sp__mul_number(b, at, (double)s->sizes[d]), i) : i;
        if (s->nearest) continue;
        sp_tensor *near_ = up ? part[d] : sp__add_number(b, sp_neg(b, part[d]), 1);
        sp_tensor *sign = sp__full(b, up ? 1 : -1, (sp_dtype)s->place[0]->dtype, 0, NULL);
        for (int e = 0; e < d; e++) slope[e] = sp_mul(b, slope[e], near_);
        slope[d] = w ? sp_mul(b, w, sign) : sign;
        w = w ? sp_mul(b, w, near_) : near_;
    }
    if (b->status != SP_OK) return;
    const int64_t dims[3] = {s->x->dims[0], s->x->dims[1], s->g->dims[2]}, channels = 1;
    const sp_scatter_elements_attrs along = {2, "add"};
    sp_tensor *zero = sp__const(b, 0, s->place[0]);
    sp_tensor *index = sp_broadcast_to(b, sp_cast(b, sp_select(b, inside, at, zero), SP_DTYPE_I64), 3, dims);
    w = sp_select(b, inside, w ? w : sp__full(b, 1, (sp_dtype)s->place[0]->dtype, 0, NULL), zero);
    sp_tensor *found = sp_builder_apply(b, &sp_op_gather_elements, &along.axis, 2, (sp_tensor *const[]){s->x, index});
    s->dx =
        sp_builder_apply(b, &sp_op_scatter_elements, &along, 3, (sp_tensor *const[]){s->dx, index, sp_mul(b, s->g, w)});
    s->value = sp__add_some(b, s->value, sp_mul(b, found, w));
    sp_tensor *moved = s->nearest ? NULL : sp_reduce_sum(b, sp_mul(b, s->g, found), 1, &channels, true);
    for (int d = 0; moved && d < s->axes; d++)
        s->dplace[d] = sp__add_some(b, s->dplace[d], sp_mul(b, moved, sp_select(b, inside, slope[d], zero)));
}

static void composed_gradients(composed_spots *s)
{
    sp_tensor *base[AXES], *part[AXES];
    if (s->b->status != SP_OK) return;
    for (int d = 0; d < s->axes; d++) {
        base[d] = s->nearest ? sp_round(s->b, s->place[d]) : sp_floor(s->b, s->place[d]);
        part[d] = sp_sub(s->b, s->place[d], base[d]);
    }
    s->dx = sp__zeros_like(s->b, s->x);
    for (int k = 0; k < (s->nearest ? 1 : 1 << s->axes); k++) composed_corner(s, k, base, part);
}

/* Halves are too coarse for places. */
static sp_tensor *widened(sp_builder *b, sp_tensor *x)
{
    return sp_cast(b, x, x->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32);
}
static sp_tensor *as_rows(sp_builder *b, sp_tensor *x, int64_t rows, int64_t channels, int64_t n)
{
    return sp_reshape(b, x, 3, (const int64_t[]){rows, channels, n});
}
/* With the shape and dtype of `like`. */
static sp_tensor *restored(sp_builder *b, sp_tensor *x, const sp_tensor *like)
{
    return sp_cast(b, sp_reshape(b, x, like->rank, like->dims), (sp_dtype)like->dtype);
}

/* --- grid_sample ------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(grid_attr_table, sp_grid_sample_attrs, (TEXT, mode, "bilinear"), (TEXT, padding_mode, "zeros"),
              (BOOL, align_corners, False));

static sp_status grid_check(const sp_call *c)
{
    const sp_grid_sample_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0], *grid = c->in[1];
    SP_CHECK((x->rank == 4 || x->rank == 5) && grid->rank == x->rank && grid->dims[x->rank - 1] == x->rank - 2 &&
                 grid->dims[0] == x->dims[0],
             SP_VALUE, "x must be [n, channels, height, width] with grid [n, height, width, 2], or a volume with 3");
    SP_CHECK(grid->dtype == x->dtype, SP_TYPE, "x has dtype %s but grid %s", sp_dtype_name((sp_dtype)x->dtype),
             sp_dtype_name((sp_dtype)grid->dtype));
    SP_CHECK(strcmp(a->mode, "bilinear") == 0 || strcmp(a->mode, "nearest") == 0, SP_VALUE,
             "mode is '%s', it must be 'bilinear' or 'nearest'", a->mode);
    SP_CHECK(strcmp(a->padding_mode, "zeros") == 0 || strcmp(a->padding_mode, "border") == 0 ||
                 strcmp(a->padding_mode, "reflection") == 0,
             SP_VALUE, "padding_mode is '%s', it must be 'zeros', 'border' or 'reflection'", a->padding_mode);
    return SP_OK;
}
static sp_status grid_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(grid_check(c));
    sp__meta_of(c->in[0], out);
    for (int i = 2; i < c->in[0]->rank; i++) out->dims[i] = c->in[1]->dims[i - 1];
    return SP_OK;
}
/* The gradient is like what forward gives. */
static sp_status check_dout(const sp_call *c, const sp_meta *forward)
{
    SP_CHECK(c->in[2]->dtype == (int)forward->dtype, SP_TYPE, "dout has dtype %s, it must be %s",
             sp_dtype_name((sp_dtype)c->in[2]->dtype), sp_dtype_name(forward->dtype));
    return sp__input_shaped(c, 2, forward->rank, forward->dims, "that of the result");
}
static sp_status grid_grad_infer(const sp_call *c, sp_meta *out)
{
    sp_meta forward;
    SP_TRY(grid_infer(c, &forward));
    SP_TRY(check_dout(c, &forward));
    sp__meta_of(c->in[0], &out[0]);
    sp__meta_of(c->in[1], &out[1]);
    return SP_OK;
}

/* From [-1, 1] to elements; *slope: how the element moves with the coordinate. */
static double unnormalize(const sp_grid_sample_attrs *a, double v, int64_t size, double *slope)
{
    const double n = (double)size, last = n - 1;
    double at = a->align_corners ? (v + 1) / 2 * last : ((v + 1) * n - 1) / 2;
    *slope = a->align_corners ? last / 2 : n / 2;
    if (strcmp(a->padding_mode, "reflection") == 0) {
        const double low = a->align_corners ? 0 : -0.5, span = a->align_corners ? last : n;
        if (span <= 0) {
            *slope = 0;
            return 0;
        }
        double d = at - low;
        if (d < 0) d = -d, *slope = -*slope;
        const double turns = floor(d / span);
        d -= turns * span;
        if (fmod(turns, 2) != 0) d = span - d, *slope = -*slope;
        at = d + low;
    }
    if (strcmp(a->padding_mode, "zeros") != 0 && (at < 0 || at > last)) {
        *slope = 0;
        at = at < 0 ? 0 : last;
    }
    return at;
}

typedef struct {
    const sp_call *c;
    int axes;
    int64_t sizes[AXES], channels, pixels, places;
    const char *dout;
} grid_job;
#define GRID(D, T, C, LOAD, STORE, ...)                                                                                \
    static void grid_place_##D(const grid_job *j, int64_t place, spot *s, double *slope)                               \
    {                                                                                                                  \
        const T *grid = (const T *)(const void *)j->c->in[1]->data + place * j->axes;                                  \
        double at[AXES];                                                                                               \
        for (int d = 0; d < j->axes; d++) /* the grid names the last axis first */                                     \
            at[d] = unnormalize(j->c->attrs, (double)LOAD(grid[j->axes - 1 - d]), j->sizes[d], &slope[d]);             \
        spot_find(j->axes, j->sizes, at, strcmp(((const sp_grid_sample_attrs *)j->c->attrs)->mode, "nearest") == 0,    \
                  s);                                                                                                  \
    }                                                                                                                  \
    static void grid_##D(void *context, int64_t begin, int64_t end)                                                    \
    {                                                                                                                  \
        const grid_job *j = context;                                                                                   \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            spot s;                                                                                                    \
            double slope[AXES];                                                                                        \
            grid_place_##D(j, u, &s, slope);                                                                           \
            const int64_t n = u / j->places, p = u % j->places;                                                        \
            for (int64_t ch = 0; ch < j->channels; ch++) {                                                             \
                const T *x = (const T *)(const void *)j->c->in[0]->data + (n * j->channels + ch) * j->pixels;          \
                double sum = 0;                                                                                        \
                for (int k = 0; k < s.n; k++) sum += s.w[k] * (double)LOAD(x[s.at[k]]);                                \
                ((T *)(void *)j->c->out[0]->data)[(n * j->channels + ch) * j->places + p] = STORE((C)sum);             \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void grid_grad_##D(void *context, int64_t begin, int64_t end)                                               \
    {                                                                                                                  \
        const grid_job *j = context;                                                                                   \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            T *dx = (T *)(void *)j->c->out[0]->data + n * j->channels * j->pixels;                                     \
            const T *x = (const T *)(const void *)j->c->in[0]->data + n * j->channels * j->pixels;                     \
            memset(dx, 0, (size_t)(j->channels * j->pixels) * sizeof(T));                                              \
            for (int64_t p = 0; p < j->places; p++) {                                                                  \
                spot s;                                                                                                \
                double slope[AXES], moved[AXES] = {0};                                                                 \
                grid_place_##D(j, n * j->places + p, &s, slope);                                                       \
                for (int64_t ch = 0; ch < j->channels; ch++) {                                                         \
                    const double g =                                                                                   \
                        (double)LOAD(((const T *)(const void *)j->dout)[(n * j->channels + ch) * j->places + p]);      \
                    for (int k = 0; k < s.n; k++) {                                                                    \
                        T *to = dx + ch * j->pixels + s.at[k];                                                         \
                        *to = STORE((C)((double)LOAD(*to) + s.w[k] * g));                                              \
                        for (int d = 0; d < j->axes; d++)                                                              \
                            moved[d] += g * s.slope[k][d] * (double)LOAD(x[ch * j->pixels + s.at[k]]);                 \
                    }                                                                                                  \
                }                                                                                                      \
                T *dgrid = (T *)(void *)j->c->out[1]->data + (n * j->places + p) * j->axes;                            \
                for (int d = 0; d < j->axes; d++) dgrid[j->axes - 1 - d] = STORE((C)(moved[d] * slope[d]));            \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(GRID, , )
static grid_job grid_job_of(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    grid_job j = {.c = c, .axes = x->rank - 2, .channels = x->dims[1], .pixels = 1, .places = 1};
    for (int d = 0; d < j.axes; d++) {
        j.sizes[d] = x->dims[2 + d];
        j.pixels *= x->dims[2 + d];
        j.places *= c->in[1]->dims[1 + d];
    }
    return j;
}
static sp_status grid_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, grid, )};
    grid_job j = grid_job_of(c);
    return sp__parallel_for(c->in[0]->dims[0] * j.places, sp__grain(16 * j.channels), fns[c->in[0]->dtype], &j);
}
static sp_status grid_grad_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, grid_grad, )};
    grid_job j = grid_job_of(c);
    j.dout = c->in[2]->data;
    return sp__parallel_for(c->in[0]->dims[0], 1, fns[c->in[0]->dtype], &j);
}
/* unnormalize() of operators: the places, and their slopes, which are constants piece by piece. */
static sp_tensor *composed_place(sp_builder *b, const sp_grid_sample_attrs *a, sp_tensor *v, int64_t size,
                                 sp_tensor **slope)
{
    const double n = (double)size, last = n - 1, scale = a->align_corners ? last / 2 : n / 2;
    sp_tensor *at = sp__add_number(b, sp__mul_number(b, v, scale), last / 2);
    *slope = sp__full(b, scale, (sp_dtype)v->dtype, v->rank, v->dims);
    if (strcmp(a->padding_mode, "reflection") == 0) {
        const double low = a->align_corners ? 0 : -0.5, span = a->align_corners ? last : n;
        if (span <= 0) {
            *slope = sp__zeros_like(b, v);
            return *slope;
        }
        sp_tensor *d = sp__add_number(b, at, -low), *back = sp_less(b, d, sp__const(b, 0, d));
        *slope = sp_select(b, back, sp_neg(b, *slope), *slope);
        d = sp_select(b, back, sp_neg(b, d), d);
        sp_tensor *turns = sp_floor(b, sp__mul_number(b, d, 1 / span)), *half = sp__mul_number(b, turns, 0.5);
        sp_tensor *odd = sp_not_equal(b, half, sp_floor(b, half));
        d = sp_sub(b, d, sp__mul_number(b, turns, span));
        d = sp_select(b, odd, sp__add_number(b, sp_neg(b, d), span), d);
        *slope = sp_select(b, odd, sp_neg(b, *slope), *slope);
        at = sp__add_number(b, d, low);
    }
    if (strcmp(a->padding_mode, "zeros") != 0) {
        sp_tensor *zero = sp__const(b, 0, at), *end = sp__const(b, last, at);
        sp_tensor *below = sp_less(b, at, zero), *above = sp_greater(b, at, end);
        at = sp_select(b, below, zero, sp_select(b, above, end, at));
        *slope = sp_select(b, sp_logical_or(b, below, above), zero, *slope);
    }
    return at;
}

static sp_status grid_composed(sp_builder *b, const sp_vjp *v)
{
    const sp_grid_sample_attrs *a = v->attrs;
    const sp_call call = {.op = v->op, .attrs = a, .n_in = 2, .in = v->in};
    const grid_job j = grid_job_of(&call);
    const int64_t n = v->in[0]->dims[0];
    composed_spots s = {.b = b, .axes = j.axes, .nearest = strcmp(a->mode, "nearest") == 0};
    s.x = as_rows(b, widened(b, v->in[0]), n, j.channels, j.pixels);
    s.g = as_rows(b, widened(b, v->dout[0]), n, j.channels, j.places);
    sp_tensor *grid = as_rows(b, widened(b, v->in[1]), n, j.places, j.axes), *slope[AXES], *parts[AXES];
    for (int d = 0; d < j.axes && grid; d++) {
        s.sizes[d] = j.sizes[d];
        sp_tensor *one = as_rows(b, sp__take_range(b, grid, 2, j.axes - 1 - d, 1), n, 1, j.places);
        if (one) s.place[d] = composed_place(b, a, one, j.sizes[d], &slope[d]);
    }
    SP_TRY(sp__builder_status(b));
    composed_gradients(&s);
    for (int d = 0; d < j.axes; d++) {
        sp_tensor *moved = s.dplace[d] ? sp_mul(b, s.dplace[d], slope[d]) : sp__zeros_like(b, s.place[d]);
        parts[j.axes - 1 - d] = as_rows(b, moved, n, j.places, 1);
    }
    v->din[0] = restored(b, s.dx, v->in[0]);
    v->din[1] = restored(b, sp__concat(b, 2, j.axes, parts), v->in[1]);
    return SP_OK;
}

static sp_status grid_vjp(sp_builder *b, const sp_vjp *v)
{
    if (sp__vjp_again(v)) return grid_composed(b, v);
    sp_tensor *out[2];
    int n;
    SP_TRY(sp_builder_apply_many(b, &sp_op_grid_sample_grad, v->attrs, 3,
                                 (sp_tensor *const[]){v->in[0], v->in[1], v->dout[0]}, 2, out, &n));
    v->din[0] = out[0];
    v->din[1] = out[1];
    return SP_OK;
}
const sp_op sp_op_grid_sample = {
    .batch = sp__batch_fold,
    .name = "grid_sample",
    .inputs = "x, grid",
    SP_ATTRS(grid_attr_table, sp_grid_sample_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = grid_infer,
    .reference = grid_reference,
    .vjp = grid_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "GridSampler2D",
    .onnx = "GridSample",
    .python =
        "ops.GridSampler2D(interpolation_mode:mode='bilinear', padding_mode='zeros', align_corners=False)(input_x, grid); "
        "ops.GridSampler3D(interpolation_mode:mode='bilinear', padding_mode='zeros', align_corners=False)(input_x, grid)",
    .doc = "Images or volumes read at places between -1 and 1 (last axis of the grid: x, y and z).",
    .samples =
        "[2,2,3,4] [2,2,3,2](-0.7,0.7); [1,2,4,4] [1,2,2,2] padding_mode=border align_corners=True; "
        "[1,1,3,3,3] [1,2,2,1,3](-0.6,0.6); [1,2,4,5] [1,3,2,2](1.1,1.4) padding_mode=reflection; "
        "[1,2,4,5] [1,3,2,2] padding_mode=reflection align_corners=True; [1,2,4,4] [1,2,2,2](-0.9,0.9) mode=nearest",
};
const sp_op sp_op_grid_sample_grad = {
    .batch = sp__batch_fold,
    .name = "grid_sample_grad",
    .inputs = "x, grid, dout",
    .n_out = 2,
    SP_ATTRS(grid_attr_table, sp_grid_sample_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = grid_grad_infer,
    .reference = grid_grad_reference,
    .vjp = sp__vjp_refuse,
    .no_vjp = "grid_sample composes its gradient when that is differentiated",
    .doc = "Gradients of grid_sample towards x and the grid.",
    .samples = "[2,2,3,4] [2,2,3,2] [2,2,2,3]",
};

/* --- deformable windows ------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(deform_attr_table, sp_deformable_columns_attrs, (INTS_NEEDED, kernel_size), (INTS, stride, 1, 1),
              (INTS, padding, 0, 0, 0, 0), (INTS, dilation, 1, 1), (INT, groups, 1), (BOOL, modulated, True));

typedef struct {
    const sp_call *c;
    int64_t sizes[2], out[2], kernel[2], stride[2], pad[2], dilation[2], channels, groups, taps, parts;
    const char *dout;
} deform_job;

/* offsets: [n, parts * groups * taps, out height, out width]: shifts along x, along y, and factors if modulated. */
static sp_status deform_measure(const sp_call *c, deform_job *j)
{
    const sp_deformable_columns_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0], *o = c->in[1];
    SP_CHECK(x->rank == 4 && o->rank == 4 && o->dims[0] == x->dims[0] && o->dtype == x->dtype, SP_VALUE,
             "x and offsets must have rank 4, one batch size and one dtype");
    SP_CHECK(a->kernel_size.n == 2 && a->stride.n == 2 && a->padding.n == 4 && a->dilation.n == 2, SP_VALUE,
             "kernel_size, stride and dilation must have 2 elements, padding 4");
    SP_CHECK(a->groups > 0 && x->dims[1] % a->groups == 0, SP_VALUE, "groups is %lld, it must divide the %lld channels",
             (long long)a->groups, (long long)x->dims[1]);
    *j = (deform_job){.c = c, .channels = x->dims[1], .groups = a->groups, .parts = a->modulated ? 3 : 2, .taps = 1};
    for (int d = 0; d < 2; d++) {
        j->sizes[d] = x->dims[2 + d];
        j->kernel[d] = a->kernel_size.v[d];
        j->stride[d] = a->stride.v[d];
        j->pad[d] = a->padding.v[2 * d];
        j->dilation[d] = a->dilation.v[d];
        const int64_t limit = INT64_C(1) << 30, after = a->padding.v[2 * d + 1]; /* their products fit 63 bits */
        SP_CHECK(j->kernel[d] > 0 && j->stride[d] > 0 && j->dilation[d] > 0 && j->kernel[d] <= limit &&
                     j->stride[d] <= limit && j->dilation[d] <= limit,
                 SP_VALUE, "kernel_size, stride and dilation must be positive and at most 2^30");
        SP_CHECK(j->pad[d] >= -limit && j->pad[d] <= limit && after >= -limit && after <= limit, SP_VALUE,
                 "padding is %lld and %lld, which is out of range", (long long)j->pad[d], (long long)after);
        j->out[d] = (j->sizes[d] + j->pad[d] + a->padding.v[2 * d + 1] - j->dilation[d] * (j->kernel[d] - 1) - 1) /
                        j->stride[d] +
                    1;
        j->taps *= j->kernel[d];
    }
    SP_CHECK(o->dims[1] == j->parts * j->groups * j->taps && o->dims[2] == j->out[0] && o->dims[3] == j->out[1],
             SP_VALUE, "offsets must be [n, %lld, %lld, %lld]", (long long)(j->parts * j->groups * j->taps),
             (long long)j->out[0], (long long)j->out[1]);
    return SP_OK;
}
static sp_status deform_infer(const sp_call *c, sp_meta *out)
{
    deform_job j;
    SP_TRY(deform_measure(c, &j));
    *out = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype,
                     .rank = 4,
                     .dims = {c->in[0]->dims[0], j.channels * j.taps, j.out[0], j.out[1]}};
    return SP_OK;
}
static sp_status deform_grad_infer(const sp_call *c, sp_meta *out)
{
    sp_meta forward;
    SP_TRY(deform_infer(c, &forward));
    SP_TRY(check_dout(c, &forward));
    sp__meta_of(c->in[0], &out[0]);
    sp__meta_of(c->in[1], &out[1]);
    return SP_OK;
}
#define DEFORM(D, T, C, LOAD, STORE, ...)                                                                              \
    /* Spot of tap `tap` of group `group` at cell `cell`; returns the factor. */                                       \
    static double deform_spot_##D(const deform_job *j, const T *o, int64_t group, int64_t tap, int64_t cell, spot *s)  \
    {                                                                                                                  \
        const int64_t cells = j->out[0] * j->out[1], step = j->groups * j->taps * cells;                               \
        const T *at = o + (group * j->taps + tap) * cells + cell;                                                      \
        const double place[2] = {                                                                                      \
            (double)(cell / j->out[1] * j->stride[0] - j->pad[0] + tap / j->kernel[1] * j->dilation[0]) +              \
                (double)LOAD(at[step]),                                                                                \
            (double)(cell % j->out[1] * j->stride[1] - j->pad[1] + tap % j->kernel[1] * j->dilation[1]) +              \
                (double)LOAD(at[0])};                                                                                  \
        spot_find(2, j->sizes, place, false, s);                                                                       \
        return j->parts == 3 ? (double)LOAD(at[2 * step]) : 1;                                                         \
    }                                                                                                                  \
    static void deform_##D(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const deform_job *j = context;                                                                                 \
        const int64_t cells = j->out[0] * j->out[1], pixels = j->sizes[0] * j->sizes[1],                               \
                      per = j->channels / j->groups;                                                                   \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            const T *o = (const T *)(const void *)j->c->in[1]->data + n * j->parts * j->groups * j->taps * cells;      \
            const T *x = (const T *)(const void *)j->c->in[0]->data + n * j->channels * pixels;                        \
            T *y = (T *)(void *)j->c->out[0]->data + n * j->channels * j->taps * cells;                                \
            for (int64_t u = 0; u < j->groups * j->taps * cells; u++) {                                                \
                const int64_t group = u / (j->taps * cells), tap = u / cells % j->taps, cell = u % cells;              \
                spot s;                                                                                                \
                const double factor = deform_spot_##D(j, o, group, tap, cell, &s);                                     \
                for (int64_t ch = group * per; ch < (group + 1) * per; ch++) {                                         \
                    double sum = 0;                                                                                    \
                    for (int k = 0; k < s.n; k++) sum += s.w[k] * (double)LOAD(x[ch * pixels + s.at[k]]);              \
                    y[(ch * j->taps + tap) * cells + cell] = STORE((C)(sum * factor));                                 \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void deform_grad_##D(void *context, int64_t begin, int64_t end)                                             \
    {                                                                                                                  \
        const deform_job *j = context;                                                                                 \
        const int64_t cells = j->out[0] * j->out[1], pixels = j->sizes[0] * j->sizes[1],                               \
                      per = j->channels / j->groups;                                                                   \
        const int64_t step = j->groups * j->taps * cells;                                                              \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            const T *o = (const T *)(const void *)j->c->in[1]->data + n * j->parts * step;                             \
            const T *x = (const T *)(const void *)j->c->in[0]->data + n * j->channels * pixels;                        \
            const T *dy = (const T *)(const void *)j->dout + n * j->channels * j->taps * cells;                        \
            T *dx = (T *)(void *)j->c->out[0]->data + n * j->channels * pixels;                                        \
            T *doff = (T *)(void *)j->c->out[1]->data + n * j->parts * step;                                           \
            memset(dx, 0, (size_t)(j->channels * pixels) * sizeof(T));                                                 \
            for (int64_t u = 0; u < step; u++) {                                                                       \
                const int64_t group = u / (j->taps * cells), tap = u / cells % j->taps, cell = u % cells;              \
                spot s;                                                                                                \
                const double factor = deform_spot_##D(j, o, group, tap, cell, &s);                                     \
                double moved[3] = {0};                                                                                 \
                for (int64_t ch = group * per; ch < (group + 1) * per; ch++) {                                         \
                    const double g = (double)LOAD(dy[(ch * j->taps + tap) * cells + cell]);                            \
                    for (int k = 0; k < s.n; k++) {                                                                    \
                        T *to = dx + ch * pixels + s.at[k];                                                            \
                        const double v = (double)LOAD(x[ch * pixels + s.at[k]]);                                       \
                        *to = STORE((C)((double)LOAD(*to) + s.w[k] * g * factor));                                     \
                        moved[0] += g * factor * s.slope[k][1] * v;                                                    \
                        moved[1] += g * factor * s.slope[k][0] * v;                                                    \
                        moved[2] += g * s.w[k] * v;                                                                    \
                    }                                                                                                  \
                }                                                                                                      \
                for (int64_t part = 0; part < j->parts; part++) doff[part * step + u] = STORE((C)moved[part]);         \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(DEFORM, , )
static sp_status deform_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, deform, )};
    deform_job j;
    SP_TRY(deform_measure(c, &j));
    return sp__parallel_for(c->in[0]->dims[0], 1, fns[c->in[0]->dtype], &j);
}
static sp_status deform_grad_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, deform_grad, )};
    deform_job j;
    SP_TRY(deform_measure(c, &j));
    j.dout = c->in[2]->data;
    return sp__parallel_for(c->in[0]->dims[0], 1, fns[c->in[0]->dtype], &j);
}
/* Where tap `tap` of the windows lies along each axis without shifts: [1, 1, taps * cells]. */
static sp_tensor *window_places(sp_builder *b, const deform_job *j, int axis, sp_dtype dtype)
{
    const int64_t cells = j->out[0] * j->out[1], dims[3] = {1, 1, j->taps * cells};
    sp_tensor *t;
    sp_status status = sp_tensor_create(SP_DTYPE_F64, 3, dims, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t cell = i % cells, tap = i / cells;
        const int64_t at = axis ? cell % j->out[1] : cell / j->out[1],
                      k = axis ? tap % j->kernel[1] : tap / j->kernel[1];
        ((double *)(void *)t->data)[i] = (double)(at * j->stride[axis] - j->pad[axis] + k * j->dilation[axis]);
    }
    return sp_cast(b, sp_builder_take_tensor(b, t), dtype);
}

static sp_status deform_composed(sp_builder *b, const sp_vjp *v)
{
    const sp_call call = {.op = v->op, .attrs = v->attrs, .n_in = 2, .in = v->in};
    deform_job j;
    SP_TRY(deform_measure(&call, &j));
    const int64_t n = v->in[0]->dims[0], rows = n * j.groups, per = j.channels / j.groups, channels = 1;
    const int64_t taps = j.taps * j.out[0] * j.out[1], shares[4] = {n, j.parts, j.groups, taps};
    composed_spots s = {.b = b, .axes = 2, .sizes = {j.sizes[0], j.sizes[1]}};
    s.x = as_rows(b, widened(b, v->in[0]), rows, per, j.sizes[0] * j.sizes[1]);
    sp_tensor *g = as_rows(b, widened(b, v->dout[0]), rows, per, taps), *part[3] = {NULL};
    sp_tensor *offsets = sp_reshape(b, widened(b, v->in[1]), 4, shares);
    for (int64_t k = 0; k < j.parts; k++) part[k] = as_rows(b, sp__take_range(b, offsets, 1, k, 1), rows, 1, taps);
    SP_TRY(sp__builder_status(b));
    const sp_dtype dtype = (sp_dtype)offsets->dtype;
    s.g = part[2] ? sp_mul(b, g, part[2]) : g;
    s.place[0] = sp_add(b, part[1], window_places(b, &j, 0, dtype));
    s.place[1] = sp_add(b, part[0], window_places(b, &j, 1, dtype));
    composed_gradients(&s);
    sp_tensor *moved[3] = {s.dplace[1], s.dplace[0],
                           part[2] ? sp_reduce_sum(b, sp_mul(b, g, s.value), 1, &channels, true) : NULL};
    for (int64_t k = 0; k < j.parts; k++)
        moved[k] = sp_reshape(b, moved[k], 4, (const int64_t[]){n, 1, j.groups, taps});
    v->din[0] = restored(b, s.dx, v->in[0]);
    v->din[1] = restored(b, sp__concat(b, 1, (int)j.parts, moved), v->in[1]);
    return SP_OK;
}

static sp_status deform_vjp(sp_builder *b, const sp_vjp *v)
{
    if (sp__vjp_again(v)) return deform_composed(b, v);
    sp_tensor *out[2];
    int n;
    SP_TRY(sp_builder_apply_many(b, &sp_op_deformable_columns_grad, v->attrs, 3,
                                 (sp_tensor *const[]){v->in[0], v->in[1], v->dout[0]}, 2, out, &n));
    v->din[0] = out[0];
    v->din[1] = out[1];
    return SP_OK;
}
const sp_op sp_op_deformable_columns = {
    .batch = sp__batch_fold,
    .name = "deformable_columns",
    .inputs = "x, offsets",
    SP_ATTRS(deform_attr_table, sp_deformable_columns_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = deform_infer,
    .reference = deform_reference,
    .vjp = deform_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "DeformableOffsets",
    .doc =
        "Windows whose elements are read at shifted places and scaled: [n, channels * kernel, out height, out width].",
    .samples = "[2,2,4,4] [2,12,3,3](0.1,0.4) kernel_size=(2,2); "
               "[1,2,4,4] [1,16,3,3](0.1,0.4) kernel_size=(2,2) modulated=False groups=2",
};
const sp_op sp_op_deformable_columns_grad = {
    .batch = sp__batch_fold,
    .name = "deformable_columns_grad",
    .inputs = "x, offsets, dout",
    .n_out = 2,
    SP_ATTRS(deform_attr_table, sp_deformable_columns_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = deform_grad_infer,
    .reference = deform_grad_reference,
    .vjp = sp__vjp_refuse,
    .no_vjp = "deformable_columns composes its gradient when that is differentiated",
    .doc = "Gradients of deformable_columns towards x and the offsets.",
    .samples = "[1,2,4,4] [1,12,3,3] [1,8,3,3] kernel_size=(2,2)",
};
