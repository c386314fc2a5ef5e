/* SPDX-License-Identifier: Apache-2.0 */
/* grid_sample.c - images and volumes read at places given by a tensor, and the windows of deformable convolutions.
 *
 * Both are sums over the 2^n elements around a place, by nearness. For every place the kernels work out these elements
 * and how their weights move with the place; the gradients follow from that. A unit of work is one sample, since all
 * channels share places and the gradients of places are sums over channels. */
#include "ops/nn.h"

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

/* --- grid_sample ------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *mode, *padding_mode;
    bool align_corners;
} grid_attrs;
static const sp_attr grid_attr_table[] = {SP_ATTR(grid_attrs, mode, TEXT, "bilinear"),
                                          SP_ATTR(grid_attrs, padding_mode, TEXT, "zeros"),
                                          SP_ATTR(grid_attrs, align_corners, BOOL, "False")};

static sp_status grid_check(const sp_call *c)
{
    const grid_attrs *a = c->attrs;
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
static sp_status grid_grad_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(grid_check(c));
    sp__meta_of(c->in[0], &out[0]);
    sp__meta_of(c->in[1], &out[1]);
    return SP_OK;
}

/* From [-1, 1] to elements; *slope: how the element moves with the coordinate. */
static double unnormalize(const grid_attrs *a, double v, int64_t size, double *slope)
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
        spot_find(j->axes, j->sizes, at, strcmp(((const grid_attrs *)j->c->attrs)->mode, "nearest") == 0, s);          \
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
                    const double g = (double)LOAD(((const T *)(const void *)j->dout)[(n * j->channels + ch) * j->places + p]);\
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
static sp_status grid_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *out[2];
    int n;
    SP_TRY(sp__builder_apply_many(b, &sp_op_grid_sample_grad, v->attrs, 3,
                                  (sp_tensor *const[]){v->in[0], v->in[1], v->dout[0]}, 2, out, &n));
    v->din[0] = out[0];
    v->din[1] = out[1];
    return SP_OK;
}
const sp_op sp_op_grid_sample = {
    .name = "grid_sample", .inputs = "x, grid", SP_ATTRS(grid_attr_table, grid_attrs), .dtypes = SP_DT_FLOATS,
    .infer = grid_infer, .reference = grid_reference, .vjp = grid_vjp, .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "GridSampler2D", .onnx = "GridSample",
    .python = "ops.GridSampler2D(interpolation_mode:mode='bilinear', padding_mode='zeros', align_corners=False)(input_x, grid); "
              "ops.GridSampler3D(interpolation_mode:mode='bilinear', padding_mode='zeros', align_corners=False)(input_x, grid)",
    .doc = "Images or volumes read at places between -1 and 1 (last axis of the grid: x, y and z).",
    .samples = "[2,2,3,4] [2,2,3,2](-0.7,0.7); [1,2,4,4] [1,2,2,2] padding_mode=border align_corners=True; "
               "[1,1,3,3,3] [1,2,2,1,3](-0.6,0.6); [1,2,4,5] [1,3,2,2](1.1,1.4) padding_mode=reflection",
};
const sp_op sp_op_grid_sample_grad = {
    .name = "grid_sample_grad", .inputs = "x, grid, dout", .n_out = 2, SP_ATTRS(grid_attr_table, grid_attrs),
    .dtypes = SP_DT_FLOATS, .infer = grid_grad_infer, .reference = grid_grad_reference,
    .no_vjp = "the gradient of grid_sample has no gradient itself", .doc = "Gradients of grid_sample towards x and the grid.",
    .samples = "[2,2,3,4] [2,2,3,2] [2,2,2,3]",
};

/* --- deformable windows ------------------------------------------------------------------------------------------ */

typedef struct {
    sp_ints kernel_size, stride, padding, dilation; /* two each; padding: top, bottom, left, right */
    int64_t groups;
    bool modulated;
} deform_attrs;
static const sp_attr deform_attr_table[] = {
    SP_ATTR(deform_attrs, kernel_size, INTS, NULL), SP_ATTR(deform_attrs, stride, INTS, "(1, 1)"),
    SP_ATTR(deform_attrs, padding, INTS, "(0, 0, 0, 0)"), SP_ATTR(deform_attrs, dilation, INTS, "(1, 1)"),
    SP_ATTR(deform_attrs, groups, INT, "1"), SP_ATTR(deform_attrs, modulated, BOOL, "True")};

typedef struct {
    const sp_call *c;
    int64_t sizes[2], out[2], kernel[2], stride[2], pad[2], dilation[2], channels, groups, taps, parts;
    const char *dout;
} deform_job;

/* offsets: [n, parts * groups * taps, out height, out width]: shifts along x, along y, and factors if modulated. */
static sp_status deform_measure(const sp_call *c, deform_job *j)
{
    const deform_attrs *a = c->attrs;
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
        SP_CHECK(j->kernel[d] > 0 && j->stride[d] > 0 && j->dilation[d] > 0, SP_VALUE, "kernel_size, stride and dilation must be positive");
        j->out[d] = (j->sizes[d] + j->pad[d] + a->padding.v[2 * d + 1] - j->dilation[d] * (j->kernel[d] - 1) - 1) / j->stride[d] + 1;
        j->taps *= j->kernel[d];
    }
    SP_CHECK(o->dims[1] == j->parts * j->groups * j->taps && o->dims[2] == j->out[0] && o->dims[3] == j->out[1], SP_VALUE,
             "offsets must be [n, %lld, %lld, %lld]", (long long)(j->parts * j->groups * j->taps), (long long)j->out[0],
             (long long)j->out[1]);
    return SP_OK;
}
static sp_status deform_infer(const sp_call *c, sp_meta *out)
{
    deform_job j;
    SP_TRY(deform_measure(c, &j));
    *out = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype, .rank = 4,
                     .dims = {c->in[0]->dims[0], j.channels * j.taps, j.out[0], j.out[1]}};
    return SP_OK;
}
static sp_status deform_grad_infer(const sp_call *c, sp_meta *out)
{
    deform_job j;
    SP_TRY(deform_measure(c, &j));
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
            (double)(cell / j->out[1] * j->stride[0] - j->pad[0] + tap / j->kernel[1] * j->dilation[0]) + (double)LOAD(at[step]),\
            (double)(cell % j->out[1] * j->stride[1] - j->pad[1] + tap % j->kernel[1] * j->dilation[1]) + (double)LOAD(at[0])};\
        spot_find(2, j->sizes, place, false, s);                                                                       \
        return j->parts == 3 ? (double)LOAD(at[2 * step]) : 1;                                                         \
    }                                                                                                                  \
    static void deform_##D(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const deform_job *j = context;                                                                                 \
        const int64_t cells = j->out[0] * j->out[1], pixels = j->sizes[0] * j->sizes[1], per = j->channels / j->groups;\
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
        const int64_t cells = j->out[0] * j->out[1], pixels = j->sizes[0] * j->sizes[1], per = j->channels / j->groups;\
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
static sp_status deform_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *out[2];
    int n;
    SP_TRY(sp__builder_apply_many(b, &sp_op_deformable_columns_grad, v->attrs, 3,
                                  (sp_tensor *const[]){v->in[0], v->in[1], v->dout[0]}, 2, out, &n));
    v->din[0] = out[0];
    v->din[1] = out[1];
    return SP_OK;
}
const sp_op sp_op_deformable_columns = {
    .name = "deformable_columns", .inputs = "x, offsets", SP_ATTRS(deform_attr_table, deform_attrs), .dtypes = SP_DT_FLOATS,
    .infer = deform_infer, .reference = deform_reference, .vjp = deform_vjp, .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "DeformableOffsets",
    .doc = "Windows whose elements are read at shifted places and scaled: [n, channels * kernel, out height, out width].",
    .samples = "[2,2,4,4] [2,12,3,3](0.1,0.4) kernel_size=(2,2); "
               "[1,2,4,4] [1,16,3,3](0.1,0.4) kernel_size=(2,2) modulated=False groups=2",
};
const sp_op sp_op_deformable_columns_grad = {
    .name = "deformable_columns_grad", .inputs = "x, offsets, dout", .n_out = 2, SP_ATTRS(deform_attr_table, deform_attrs),
    .dtypes = SP_DT_FLOATS, .infer = deform_grad_infer, .reference = deform_grad_reference,
    .no_vjp = "the gradient of deformable_columns has no gradient itself",
    .doc = "Gradients of deformable_columns towards x and the offsets.", .samples = "[1,2,4,4] [1,12,3,3] [1,8,3,3] kernel_size=(2,2)",
};
