/* SPDX-License-Identifier: Apache-2.0 */
/* plan_layout.c - images stay in blocks of channels (device/blocked.h) between the convolutions of a plan, and what follows a convolution element by
 * element - normalisation with kept statistics, a residual, ReLU - is done by it in registers.
 *
 *   chains       the element-wise steps behind each convolution that it could do itself. The whole then runs where the last of them stood: what
 *                they need besides is made by then. Nobody else may look at what lies between them.
 *   images       memory of the plan that holds one image of known shape. Images that an element-wise step, a pooling, a resampling, a residual or a factor for
 *                each channel brings together are of one kind: all in blocks, or none. The mean of each channel is taken from blocks as well.
 *   decision     a kind is blocked where convolutions read and write it more often than others, who need, or leave, a plain copy; what leaves the
 *                plan is plain.
 *
 * Kernels sum blocked images in the order of plain ones, so results are the same bit for bit. */
#include "device/blocked.h"
#include "graph/plan.h"
#include "ops/ops_impl.h"
#include "ops/pool.h"
#include "spore/ops_attrs.h"

enum { COPY_COSTS = 2 }; /* a plain copy, in reads and writes by convolutions */

/* What becomes of a step. */
typedef struct {
    int into; /* the convolution that does it; -1: none */
    /* of a convolution */
    int last;                               /* the last step of its chain; itself: there is none */
    int scale, shift, residual, slope, out; /* handles; -1: none */
    sp_blocked_activation activation;
    bool in_blocks, out_blocks;
} fate;

typedef struct {
    sp_plan *p;
    fate *fates;           /* by step */
    int *image;            /* by root: a handle that shows all of it as an image; -1: there is none */
    int *kind;             /* by root: its representative */
    int *touches, *copies; /* by representative: reads and writes by convolutions, copies for others */
    bool *plain;           /* by representative */
    sp_step *steps;        /* the new ones */
    int n_steps;
} layout;

/* --- images -------------------------------------------------------------------------------------------------------- */

static const sp_handle *handle_of(const layout *l, int handle) { return &l->p->handles[handle]; }

static bool is_image(const layout *l, int handle)
{
    if (handle < 0) return false;
    const sp_handle *h = handle_of(l, handle);
    const sp_root *r = &l->p->roots[h->root];
    return r->kind == SP_ROOT_ARENA && h->offset == 0 &&
           (h->shape.dtype == SP_DTYPE_F32 || sp_dtype_bytes((sp_dtype)h->shape.dtype) == 1) && h->shape.rank == 4 &&
           (h->shape.flags & SP_TENSOR_CONTIGUOUS) && sp_tensor_bytes(&h->shape) == r->bytes && h->shape.count > 0;
}

/* Of the shape that the root is known by. */
static bool shows_image(const layout *l, int handle)
{
    if (!is_image(l, handle)) return false;
    const int known = l->image[handle_of(l, handle)->root];
    return known >= 0 && sp__tensor_same_shape(&handle_of(l, known)->shape, &handle_of(l, handle)->shape);
}

static int kind_of(const layout *l, int root)
{
    while (l->kind[root] != root) root = l->kind[root];
    return root;
}

static void bring_together(layout *l, int a, int b)
{
    a = kind_of(l, a);
    b = kind_of(l, b);
    if (a == b) return;
    l->kind[b] = a;
    l->touches[a] += l->touches[b];
    l->copies[a] += l->copies[b];
    l->plain[a] |= l->plain[b];
}

static bool is_blocked(const layout *l, int root)
{
    return root >= 0 && l->image[root] >= 0 && !l->plain[kind_of(l, root)];
}
static bool is_conv(const sp_step *s) { return s->blocked != NULL; }
static int out_handle(const sp_step *s) { return s->handles[s->n_in]; }

/* All operands are images of one shape, or single numbers. */
static bool is_element_wise(const layout *l, const sp_step *s)
{
    if (!sp__step_fusible(l->p, s) || !shows_image(l, out_handle(s))) return false;
    for (int k = 0; k < s->n_in + s->n_out; k++) {
        const sp_handle *h = handle_of(l, s->handles[k]);
        if (shows_image(l, s->handles[k]) ? !sp__tensor_same_shape(&h->shape, &handle_of(l, out_handle(s))->shape)
                                          : h->shape.count != 1)
            return false;
    }
    return true;
}

/* A maximum over windows between two images; attrs: which windows, if they are asked for. */
static bool is_pool(const layout *l, const sp_step *s, sp__window *w)
{
    sp__window here;
    if (s->op != &sp_op_max_pool2d || s->n_in != 1 || s->n_out != 1 || !shows_image(l, s->handles[0]) ||
        !shows_image(l, s->handles[1]))
        return false;
    if (sp__max_pool2d_window(&handle_of(l, s->handles[0])->shape, s->attrs, &here) != SP_OK || here.dilation[1] != 1 ||
        here.dilation[2] != 1)
        return false;
    if (w) *w = here;
    return true;
}

/* The mean over windows between two images. */
static bool is_mean_pool(const layout *l, const sp_step *s, sp_blocked_means *m)
{
    sp_blocked_means here;
    if (s->op != &sp_op_avg_pool2d || s->n_in != 1 || s->n_out != 1 || !shows_image(l, s->handles[0]) ||
        !shows_image(l, s->handles[1]) || handle_of(l, s->handles[0])->shape.dtype != SP_DTYPE_F32)
        return false;
    if (sp__mean_pool2d_window(&handle_of(l, s->handles[0])->shape, s->attrs, &here.w, &here.include_pad,
                               &here.divisor) != SP_OK)
        return false;
    if (m) *m = here;
    return true;
}

/* Rows or columns of an image made anew from weighted sums of others. */
static bool is_resampled(const layout *l, const sp_step *s)
{
    if (s->op != &sp_op_resample_axis || s->n_in != 1 || s->n_out != 1 || !shows_image(l, s->handles[0]) ||
        !shows_image(l, s->handles[1]) || handle_of(l, s->handles[0])->shape.dtype != SP_DTYPE_F32)
        return false;
    return (((const sp_resample_axis_attrs *)s->attrs)->axis + 4) % 4 > 1;
}

static bool is_float_image(const layout *l, int handle)
{
    return shows_image(l, handle) && handle_of(l, handle)->shape.dtype == SP_DTYPE_F32;
}

/* Images behind each other, along whole blocks of channels. */
static bool is_joined(const layout *l, const sp_step *s)
{
    if (s->op != &sp_op_concat || s->n_out != 1 || !is_float_image(l, out_handle(s))) return false;
    const int64_t axis = ((const sp_concat_attrs *)s->attrs)->axis;
    if (axis != 1 && axis != -3) return false;
    for (int k = 0; k < s->n_in; k++)
        if (!is_float_image(l, s->handles[k]) ||
            (k + 1 < s->n_in && handle_of(l, s->handles[k])->shape.dims[1] % SP_BLOCK))
            return false;
    return true;
}

/* An image put into a larger one, in whole blocks of channels: what padding is made of. */
static bool is_put(const layout *l, const sp_step *s)
{
    if (s->op != &sp_op_slice_put || s->n_in != 2 || s->n_out != 1) return false;
    if (!is_float_image(l, s->handles[0]) || !is_float_image(l, s->handles[1]) || !is_float_image(l, out_handle(s)) ||
        sp__step_root(l->p, s, 0) != sp__step_root(l->p, s, 2) ||
        sp__step_root(l->p, s, 0) == sp__step_root(l->p, s, 1))
        return false;
    const sp_slice_attrs *a = s->attrs;
    const sp_tensor *x = &handle_of(l, s->handles[0])->shape, *value = &handle_of(l, s->handles[1])->shape;
    if (a->start.n != 4 || a->stop.n != 4 || (a->step.n > 0 && a->step.n != 4)) return false;
    for (int d = 0; d < 4; d++)
        if (a->start.v[d] < 0 || a->stop.v[d] > x->dims[d] || a->stop.v[d] - a->start.v[d] != value->dims[d] ||
            (a->step.n > 0 && a->step.v[d] != 1))
            return false;
    return a->start.v[1] % SP_BLOCK == 0 && (value->dims[1] % SP_BLOCK == 0 || a->stop.v[1] == x->dims[1]);
}

/* One number everywhere in an image: which one. */
static bool is_frame(const layout *l, const sp_step *s, float *number)
{
    if (s->n_out != 1 || !is_float_image(l, out_handle(s))) return false;
    if (s->op == &sp_op_full) {
        const sp_number v = ((const sp_full_attrs *)s->attrs)->value;
        *number = v.kind == 'f' ? (float)v.f : 0;
        return v.kind == 'f' || v.kind == 'n' || v.i == 0;
    }
    if (s->op != &sp_op_copy || s->n_in != 1 || s->handles[0] < 0) return false;
    const sp_root *r = &l->p->roots[handle_of(l, s->handles[0])->root];
    if (r->kind != SP_ROOT_CONSTANT || r->constant->dtype != SP_DTYPE_F32 || !r->constant->data ||
        !(r->constant->flags & SP_TENSOR_CONTIGUOUS) || r->constant->count == 0)
        return false;
    const float *all = (const float *)(const void *)r->constant->data;
    for (int64_t i = 1; i < r->constant->count; i++)
        if (memcmp(&all[i], all, sizeof *all) != 0) return false;
    *number = *all;
    return true;
}

/* The mean of each channel of an image. */
static bool is_mean(const layout *l, const sp_step *s)
{
    if (s->op != &sp_op_reduce_mean || s->n_in != 1 || s->n_out != 1 || !shows_image(l, s->handles[0])) return false;
    const sp_ints axis = ((const sp_reduce_attrs *)s->attrs)->axis;
    const sp_tensor *x = &handle_of(l, s->handles[0])->shape;
    const int64_t positions = x->dims[2] * x->dims[3];
    if (x->dtype != SP_DTYPE_F32 || positions < 2 || positions > SP_BLOCKED_MEAN || axis.n != 2) return false;
    return (axis.v[0] + 4) % 4 + (axis.v[1] + 4) % 4 == 5 && (axis.v[0] + 4) % 4 != 1 && (axis.v[1] + 4) % 4 != 1;
}

/* An image times a number for each channel of each image: which input is the image; -1: it is something else. */
static int scaled_input(const layout *l, const sp_step *s)
{
    if (s->op != &sp_op_mul || s->n_in != 2 || s->n_out != 1 || !shows_image(l, out_handle(s))) return -1;
    const sp_tensor *out = &handle_of(l, out_handle(s))->shape;
    if (out->dtype != SP_DTYPE_F32 || out->dims[2] * out->dims[3] == 1) return -1;
    for (int k = 0; k < 2; k++) {
        const sp_tensor *by = s->handles[1 - k] >= 0 ? &handle_of(l, s->handles[1 - k])->shape : NULL;
        if (!by || !shows_image(l, s->handles[k]) || !sp__tensor_same_shape(&handle_of(l, s->handles[k])->shape, out))
            continue;
        if (by->dtype == SP_DTYPE_F32 && by->rank == 4 && by->dims[0] == out->dims[0] && by->dims[1] == out->dims[1] &&
            by->dims[2] * by->dims[3] == 1 && (by->flags & SP_TENSOR_CONTIGUOUS))
            return k;
    }
    return -1;
}

/* --- chains -------------------------------------------------------------------------------------------------------- */

static bool touches_root(const sp_plan *p, const sp_step *s, int root)
{
    for (int k = 0; k < s->n_in + s->n_out; k++)
        if (sp__step_root(p, s, k) == root) return true;
    return false;
}

static int next_touching(const sp_plan *p, int after, int root)
{
    for (int i = after + 1; i < p->n_steps; i++)
        if (touches_root(p, &p->steps[i], root)) return i;
    return -1;
}

/* One number a channel, side by side. */
static bool is_per_channel(const layout *l, int handle, int64_t channels)
{
    const sp_tensor *t = &handle_of(l, handle)->shape;
    return t->dtype == SP_DTYPE_F32 && t->count == channels && t->rank >= 1 && t->dims[0] == channels &&
           (channels == 1 || t->strides[0] == 1);
}

/* May step s be done by the convolution of `f`, whose result so far is in `root`? Then f says so. */
static bool takes_on(const layout *l, const sp_step *s, int root, fate *f)
{
    if (s->n_out != 1 || f->activation != SP_BLOCKED_AS_IT_IS || !sp__step_fusible(l->p, s) ||
        !is_image(l, out_handle(s)))
        return false;
    const sp_tensor *out = &handle_of(l, out_handle(s))->shape;
    int from = -1; /* which input is the convolution's */
    for (int k = 0; k < s->n_in; k++)
        if (is_image(l, s->handles[k]) && handle_of(l, s->handles[k])->root == root) from = from < 0 ? k : s->n_in;
    if (from < 0 || from == s->n_in || !sp__tensor_same_shape(&handle_of(l, s->handles[from])->shape, out))
        return false;
    if (s->op == &sp_op_relu || s->op == &sp_op_relu6) {
        f->activation = s->op == &sp_op_relu ? SP_BLOCKED_RELU : SP_BLOCKED_RELU6;
    } else if (s->op == &sp_op_channel_affine) {
        if (from != 0 || f->scale >= 0 || f->residual >= 0) return false;
        if (!is_per_channel(l, s->handles[1], out->dims[1]) || !is_per_channel(l, s->handles[2], out->dims[1]))
            return false;
        f->scale = s->handles[1];
        f->shift = s->handles[2];
    } else if (s->op == &sp_op_add) {
        const int other = s->handles[1 - from];
        if (f->residual >= 0 || !is_image(l, other) || !sp__tensor_same_shape(&handle_of(l, other)->shape, out))
            return false;
        f->residual = other;
    } else {
        return false;
    }
    return true;
}

/* The same of any shape that goes along the second of four dimensions. */
static bool is_along_channels(const layout *l, int handle, int64_t channels)
{
    if (handle < 0) return false;
    const sp_tensor *t = &handle_of(l, handle)->shape;
    if (t->dtype != SP_DTYPE_F32 || t->count != channels || t->rank < 3 || t->rank > 4) return false;
    return t->dims[t->rank - 3] == channels && (channels == 1 || t->strides[t->rank - 3] == 1);
}

/* A constant that is the number zero. */
static bool is_zero(const layout *l, int handle)
{
    double v = 1;
    if (handle < 0) return false;
    const sp_root *r = &l->p->roots[handle_of(l, handle)->root];
    return r->kind == SP_ROOT_CONSTANT && r->constant->count == 1 && sp_tensor_item_f64(r->constant, &v) == SP_OK &&
           v == 0;
}

/* Does a step between `from` and `to` write `root`? */
static bool is_written(const sp_plan *p, int from, int to, int root)
{
    for (int m = from + 1; root >= 0 && m < to; m++)
        for (int k = p->steps[m].n_in; k < p->steps[m].n_in + p->steps[m].n_out; k++)
            if (sp__step_root(p, &p->steps[m], k) == root) return true;
    return false;
}

/* May the convolution at i, with what it does by now, run at `to` instead, writing `out`? */
static bool can_wait(const layout *l, int i, int to, int out)
{
    const sp_plan *p = l->p;
    const fate *f = &l->fates[i];
    const int more[] = {f->scale, f->shift, f->residual, f->slope};
    for (int k = 0; k < p->steps[i].n_in; k++) {
        const int root = sp__step_root(p, &p->steps[i], k);
        if (root == out || is_written(p, f->last, to, root)) return false;
    }
    for (int k = 0; k < 4; k++)
        if (more[k] >= 0 && is_written(p, f->last, to, p->handles[more[k]].root)) return false;
    return true;
}

static bool shows_root(const layout *l, const sp_step *s, int k, int root)
{
    return is_image(l, s->handles[k]) && handle_of(l, s->handles[k])->root == root;
}

/* Steps j and after it: select(x < 0, x * slope, x), or select(x > 0, x, x * slope), where x is in `root` and slope one number for each channel. The
 * convolution of `f` may do them: then f says so, and parts has the three steps. */
static bool takes_slope(const layout *l, int j, int root, fate *f, int *parts)
{
    const sp_plan *p = l->p;
    const int second = next_touching(p, j, root), third = second < 0 ? -1 : next_touching(p, second, root);
    if (third < 0 || f->activation != SP_BLOCKED_AS_IT_IS) return false;
    const bool first_compares = p->steps[j].op != &sp_op_mul;
    const sp_step *test = &p->steps[first_compares ? j : second], *by = &p->steps[first_compares ? second : j],
                  *pick = &p->steps[third];
    const bool below = test->op == &sp_op_less;
    if ((!below && test->op != &sp_op_greater) || by->op != &sp_op_mul || pick->op != &sp_op_select_same) return false;
    const int x = shows_root(l, by, 0, root) ? 0 : 1, truths = sp__step_root(p, test, 2),
              scaled = sp__step_root(p, by, 2);
    if (!shows_root(l, test, 0, root) || !is_zero(l, test->handles[1]) || !shows_root(l, by, x, root)) return false;
    if (!shows_root(l, pick, 0, truths) || !shows_root(l, pick, below ? 1 : 2, scaled) ||
        !shows_root(l, pick, below ? 2 : 1, root) || !is_image(l, out_handle(pick)))
        return false;
    const sp_tensor *out = &handle_of(l, out_handle(pick))->shape;
    if (!is_along_channels(l, by->handles[1 - x], out->dims[1]) || out->dtype != SP_DTYPE_F32) return false;
    const sp_step *all[] = {test, by, pick};
    for (int k = 0; k < 3; k++)
        if (!sp__tensor_same_shape(&handle_of(l, out_handle(all[k]))->shape, out)) return false;
    const int to = sp__step_root(p, pick, 3);
    const int between[] = {truths, scaled}; /* nobody else looks at them */
    for (int k = 0; k < 2; k++)
        if (between[k] == root || next_touching(p, first_compares == (k == 0) ? j : second, between[k]) != third ||
            (between[k] != to && next_touching(p, third, between[k]) >= 0))
            return false;
    f->activation = below ? SP_BLOCKED_PRELU_BELOW : SP_BLOCKED_PRELU;
    f->slope = by->handles[1 - x];
    f->last = third;
    f->out = out_handle(pick);
    parts[0] = j;
    parts[1] = second;
    parts[2] = third;
    return true;
}

static void find_chain(layout *l, int i)
{
    const sp_plan *p = l->p;
    fate *f = &l->fates[i];
    int root = sp__step_root(p, &p->steps[i], p->steps[i].n_in);
    while (!p->steps[i].blocked->own_inputs) {
        const int j = next_touching(p, f->last, root);
        if (j < 0 || l->fates[j].into >= 0 || is_conv(&p->steps[j])) return;
        fate with = *f;
        int parts[3] = {j, j, j};
        if (takes_on(l, &p->steps[j], root, &with)) {
            with.last = j;
            with.out = out_handle(&p->steps[j]);
        } else if (!takes_slope(l, j, root, &with, parts)) {
            return;
        }
        const int out = handle_of(l, with.out)->root;
        if (out != root && next_touching(p, with.last, root) >= 0) return; /* somebody looks at it later */
        for (int k = 0; k < 3; k++)
            if (l->fates[parts[k]].into >= 0) return;
        f->slope = with.slope; /* it must not change meanwhile, either */
        if (!can_wait(l, i, with.last, out)) {
            f->slope = -1;
            return;
        }
        *f = with;
        for (int k = 0; k < 3; k++) l->fates[parts[k]].into = i;
        root = out;
    }
}

static void forget_chain(layout *l, int i)
{
    fate *f = &l->fates[i];
    for (int j = i + 1; j <= f->last; j++)
        if (l->fates[j].into == i) l->fates[j].into = -1;
    *f = (fate){.into = -1,
                .last = i,
                .scale = -1,
                .shift = -1,
                .residual = -1,
                .slope = -1,
                .out = out_handle(&l->p->steps[i])};
}

/* --- decision ------------------------------------------------------------------------------------------------------ */

/* Result k of a step that knows plain images only: all of an image, or a part of one that it gets, so that what it leaves alone is there. */
static bool can_be_copied(const layout *l, const sp_step *s, int k)
{
    if (shows_image(l, s->handles[k])) return true;
    for (int m = 0; m < s->n_in; m++)
        if (sp__step_root(l->p, s, m) == sp__step_root(l->p, s, k)) return true;
    return false;
}

static void note_step(layout *l, int i)
{
    const sp_plan *p = l->p;
    const sp_step *s = &p->steps[i];
    const fate *f = &l->fates[i];
    if (f->into >= 0) return;
    if (is_conv(s)) {
        const int x = sp__step_root(p, s, 0), out = handle_of(l, f->out)->root;
        for (int k = 1; k < s->n_in; k++)
            if (sp__step_root(p, s, k) >= 0) l->plain[kind_of(l, sp__step_root(p, s, k))] = true;
        if (f->slope >= 0) l->plain[kind_of(l, handle_of(l, f->slope)->root)] = true;
        if (shows_image(l, s->handles[0])) l->touches[kind_of(l, x)]++;
        else l->plain[kind_of(l, x)] = true;
        if (shows_image(l, f->out)) l->touches[kind_of(l, out)]++;
        if (f->residual >= 0 && shows_image(l, f->residual) && shows_image(l, f->out))
            bring_together(l, out, handle_of(l, f->residual)->root);
        else if (f->residual >= 0)
            l->plain[kind_of(l, out)] = l->plain[kind_of(l, handle_of(l, f->residual)->root)] = true;
        return;
    }
    float number;
    if (is_frame(l, s, &number)) return;
    if (is_element_wise(l, s) || is_pool(l, s, NULL) || is_mean_pool(l, s, NULL) || is_resampled(l, s) ||
        is_joined(l, s) || is_put(l, s)) {
        for (int k = 0; k < s->n_in + s->n_out; k++)
            if (shows_image(l, s->handles[k])) bring_together(l, sp__step_root(p, s, s->n_in), sp__step_root(p, s, k));
        return;
    }
    const int scaled = scaled_input(l, s);
    if (scaled >= 0) {
        bring_together(l, sp__step_root(p, s, 2), sp__step_root(p, s, scaled));
        l->plain[kind_of(l, sp__step_root(p, s, 1 - scaled))] = true;
        return;
    }
    if (is_mean(l, s)) {
        l->plain[kind_of(l, sp__step_root(p, s, 1))] = true;
        return;
    }
    for (int k = 0; k < s->n_in + s->n_out; k++) {
        const int root = sp__step_root(p, s, k);
        if (root < 0) continue;
        if (k < s->n_in || can_be_copied(l, s, k)) l->copies[kind_of(l, root)]++;
        else l->plain[kind_of(l, root)] = true;
    }
}

static void survey(layout *l)
{
    const sp_plan *p = l->p;
    for (int r = 0; r < p->n_roots; r++) {
        l->kind[r] = r;
        l->touches[r] = l->copies[r] = 0;
        l->plain[r] = l->image[r] < 0;
    }
    for (int i = 0; i < p->n_steps; i++) note_step(l, i);
    for (int r = 0; r < p->n_roots; r++)
        if (kind_of(l, r) == r && l->touches[r] <= COPY_COSTS * l->copies[r]) l->plain[r] = true;
}

static sp_status attrs_of(const layout *l, int i, sp_blocked *b)
{
    const sp_step *s = &l->p->steps[i];
    const fate *f = &l->fates[i];
    *b = (sp_blocked){.in = f->in_blocks, .out = f->out_blocks, .activation = f->activation};
    return sp__conv_measure(s->op->name, &handle_of(l, s->handles[0])->shape, &handle_of(l, s->handles[1])->shape,
                            s->attrs, &b->g);
}

/* What each convolution reads and writes. Another round is needed when one cannot do what was decided, or does less than was thought. */
static sp_status decide(layout *l, bool *again)
{
    *again = false;
    for (int i = 0; i < l->p->n_steps; i++) {
        sp_step *s = &l->p->steps[i];
        fate *f = &l->fates[i];
        if (!is_conv(s)) continue;
        f->in_blocks = shows_image(l, s->handles[0]) && is_blocked(l, sp__step_root(l->p, s, 0));
        f->out_blocks = shows_image(l, f->out) && is_blocked(l, handle_of(l, f->out)->root);
        if (!f->out_blocks && f->last != i) {
            forget_chain(l, i);
            *again = true;
        }
        sp_blocked b;
        SP_TRY(attrs_of(l, i, &b));
        const sp_call c = {.op = s->op, .attrs = &b};
        if (f->in_blocks && !f->out_blocks && !s->blocked->writes_plain(&c)) {
            s->blocked = NULL; /* stays as it is */
            *again = true;
        }
    }
    return SP_OK;
}

/* --- the new plan -------------------------------------------------------------------------------------------------- */

static int new_root(sp_plan *p, size_t bytes)
{
    p->roots[p->n_roots] = (sp_root){.kind = SP_ROOT_ARENA, .bytes = bytes, .first = INT32_MAX, .last = -1};
    return p->n_roots++;
}

static int new_handle(sp_plan *p, const sp_tensor *shape, int root, int64_t offset)
{
    p->handles[p->n_handles] = (sp_handle){.shape = *shape, .root = root, .offset = offset};
    return p->n_handles++;
}

/* The inputs of a blocked call that does its chain. */
static sp_status more_inputs(sp_plan *p, const fate *f, sp_step *s)
{
    int *handles = sp__arena_alloc(&p->arena, (SP_BLOCKED_INPUTS + 1) * sizeof *handles);
    if (!handles) return SP_NOMEM;
    const int in[] = {s->handles[0], s->handles[1], s->n_in > 2 ? s->handles[2] : -1, f->scale, f->shift, f->residual,
                      f->slope,      f->out};
    memcpy(handles, in, sizeof in);
    s->handles = handles;
    s->n_in = SP_BLOCKED_INPUTS;
    return SP_OK;
}

static sp_status emit_conv(layout *l, int i)
{
    sp_plan *p = l->p;
    sp_step s = p->steps[i];
    const fate *f = &l->fates[i];
    if (f->in_blocks || f->out_blocks) {
        sp_blocked *b = sp__arena_alloc(&p->arena, sizeof *b);
        if (!b) return SP_NOMEM;
        SP_TRY(attrs_of(l, i, b));
        if (!s.blocked->own_inputs) SP_TRY(more_inputs(p, f, &s));
        s.attrs = b;
        s.run = s.blocked->run;
        s.prepared_bytes = s.blocked->prepared_bytes;
        s.prepare = s.blocked->prepare;
        s.prepared_form = s.blocked->prepared_form;
        s.epilogue = !s.blocked->own_inputs;
        const size_t work = s.blocked->workspace(&(sp_call){.op = s.op, .attrs = b});
        if (work && s.work < 0) s.work = new_root(p, work);
        else if (work) p->roots[s.work].bytes = work;
        else s.work = -1;
        for (int j = i + 1; j <= f->last; j++) s.n_fused += l->fates[j].into == i;
        if (s.n_fused) s.n_fused++;
        p->n_blocked++;
    }
    l->steps[l->n_steps++] = s;
    return SP_OK;
}

/* The image of a root from blocks to the plain memory `copy`, or (back) the other way. */
static sp_status emit_reorder(layout *l, const sp_step *of, int root, int copy, bool back)
{
    sp_plan *p = l->p;
    const sp_tensor image = handle_of(l, l->image[root])->shape;
    sp_reorder *r = sp__arena_alloc(&p->arena, sizeof *r);
    int *handles = sp__arena_alloc(&p->arena, 2 * sizeof *handles);
    if (!r || !handles) return SP_NOMEM;
    *r = (sp_reorder){
        .batch = image.dims[0], .channels = image.dims[1], .positions = image.dims[2] * image.dims[3], .block = back};
    handles[back ? 1 : 0] = l->image[root];
    handles[back ? 0 : 1] = new_handle(p, &image, copy, 0);
    l->steps[l->n_steps++] = (sp_step){.node = of->node,
                                       .run = sp__blocked_reorder,
                                       .op = &sp_op_copy,
                                       .attrs = r,
                                       .n_in = 1,
                                       .n_out = 1,
                                       .handles = handles,
                                       .work = -1};
    p->n_copies++;
    return SP_OK;
}

/* The image of a root in its shape and order before. */
static sp_status emit_copy(layout *l, const sp_step *reader, int root, int *copy)
{
    *copy = new_root(l->p, sp_tensor_bytes(&handle_of(l, l->image[root])->shape));
    return emit_reorder(l, reader, root, *copy, false);
}

/* A step that knows plain images only: its blocked inputs and results through copies. */
static sp_status emit_plain(layout *l, int i)
{
    sp_plan *p = l->p;
    sp_step s = p->steps[i];
    const int n = s.n_in + s.n_out;
    int *handles = NULL;
    for (int k = 0; k < n; k++) {
        const int root = sp__step_root(p, &s, k);
        if (!is_blocked(l, root)) continue;
        if (!handles) {
            if (!(handles = sp__arena_alloc(&p->arena, (size_t)n * sizeof *handles))) return SP_NOMEM;
            memcpy(handles, s.handles, (size_t)n * sizeof *handles);
        }
        int copy = -1;
        for (int m = 0; m < k && copy < 0; m++)
            if (sp__step_root(p, &s, m) == root) copy = p->handles[handles[m]].root;
        if (copy < 0 && k < s.n_in) SP_TRY(emit_copy(l, &s, root, &copy));
        if (copy < 0) copy = new_root(p, sp_tensor_bytes(&handle_of(l, l->image[root])->shape));
        const sp_handle h = p->handles[s.handles[k]];
        handles[k] = new_handle(p, &h.shape, copy, h.offset);
    }
    const int *before = s.handles;
    if (handles) s.handles = handles;
    l->steps[l->n_steps++] = s;
    for (int k = s.n_in; handles && k < n; k++)
        if (handles[k] != before[k])
            SP_TRY(emit_reorder(l, &s, p->handles[before[k]].root, p->handles[handles[k]].root, true));
    return SP_OK;
}

static sp_status emit_pool(layout *l, int i)
{
    sp_step s = l->p->steps[i];
    sp__window *w = sp__arena_alloc(&l->p->arena, sizeof *w);
    if (!w) return SP_NOMEM;
    is_pool(l, &s, w);
    s.attrs = w;
    s.run = sp__blocked_max_pool;
    s.work = -1;
    l->steps[l->n_steps++] = s;
    return SP_OK;
}

static sp_status emit_mean_pool(layout *l, int i)
{
    sp_step s = l->p->steps[i];
    sp_blocked_means *m = sp__arena_alloc(&l->p->arena, sizeof *m);
    if (!m) return SP_NOMEM;
    is_mean_pool(l, &s, m);
    s.attrs = m;
    s.run = sp__blocked_mean_pool;
    s.work = -1;
    l->steps[l->n_steps++] = s;
    return SP_OK;
}

/* The operator's own kernel, over five dimensions: the axis is counted from the first one. */
static sp_status emit_resampled(layout *l, int i)
{
    sp_step s = l->p->steps[i];
    sp_resample_axis_attrs *a = sp__arena_alloc(&l->p->arena, sizeof *a);
    if (!a) return SP_NOMEM;
    *a = *(const sp_resample_axis_attrs *)s.attrs;
    a->axis = (a->axis + 4) % 4;
    s.attrs = a;
    l->steps[l->n_steps++] = s;
    return SP_OK;
}

static sp_status emit_joined(layout *l, int i)
{
    sp_step s = l->p->steps[i];
    sp_concat_attrs *a = sp__arena_alloc(&l->p->arena, sizeof *a);
    if (!a) return SP_NOMEM;
    *a = (sp_concat_attrs){.axis = 1};
    s.attrs = a;
    l->steps[l->n_steps++] = s;
    return SP_OK;
}

static sp_status emit_put(layout *l, int i)
{
    sp_step s = l->p->steps[i];
    const sp_slice_attrs *from = s.attrs;
    sp_slice_attrs *a = sp__arena_alloc(&l->p->arena, sizeof *a);
    int64_t *ends = sp__arena_alloc(&l->p->arena, 10 * sizeof *ends);
    if (!a || !ends) return SP_NOMEM;
    for (int d = 0; d < 4; d++) {
        ends[d] = from->start.v[d] / (d == 1 ? SP_BLOCK : 1);
        ends[5 + d] = d == 1 ? sp__blocks_of(from->stop.v[d]) : from->stop.v[d];
    }
    ends[4] = 0;
    ends[9] = SP_BLOCK;
    *a = (sp_slice_attrs){.start = {5, ends}, .stop = {5, ends + 5}, .step = {-1, NULL}};
    s.attrs = a;
    l->steps[l->n_steps++] = s;
    return SP_OK;
}

static sp_status emit_frame(layout *l, int i, float number)
{
    sp_plan *p = l->p;
    const sp_step *s = &p->steps[i];
    sp_full_attrs *a = sp__arena_alloc(&p->arena, sizeof *a);
    int *handle = sp__arena_alloc(&p->arena, sizeof *handle);
    if (!a || !handle) return SP_NOMEM;
    *a = (sp_full_attrs){.value = {.kind = 'f', .f = (double)number}, .dtype = SP_DTYPE_F32};
    *handle = out_handle(s);
    l->steps[l->n_steps++] = (sp_step){.node = s->node,
                                       .op = &sp_op_full,
                                       .attrs = a,
                                       .n_out = 1,
                                       .handles = handle,
                                       .run = sp_op_full.reference,
                                       .work = -1};
    return SP_OK;
}

/* A step that one of the kernels by channel does; x: which input is the image. */
static sp_status emit_by_channel(layout *l, int i, int x)
{
    sp_plan *p = l->p;
    sp_step s = p->steps[i];
    const sp_tensor *image = &handle_of(l, s.handles[x])->shape;
    sp_reorder *r = sp__arena_alloc(&p->arena, sizeof *r);
    int *handles = sp__arena_alloc(&p->arena, 3 * sizeof *handles);
    if (!r || !handles) return SP_NOMEM;
    *r =
        (sp_reorder){.batch = image->dims[0], .channels = image->dims[1], .positions = image->dims[2] * image->dims[3]};
    handles[0] = s.handles[x];
    for (int k = 1; k < s.n_in + s.n_out; k++) handles[k] = k < s.n_in ? s.handles[1 - x] : out_handle(&s);
    l->steps[l->n_steps++] = (sp_step){.node = s.node,
                                       .op = s.op,
                                       .attrs = r,
                                       .n_in = s.n_in,
                                       .n_out = s.n_out,
                                       .handles = handles,
                                       .run = s.n_in == 1 ? sp__blocked_mean : sp__blocked_scale,
                                       .work = s.n_in == 1 ? new_root(p, sp__blocked_mean_work(r)) : -1};
    return SP_OK;
}

static sp_status emit(layout *l, int i)
{
    const sp_plan *p = l->p;
    const fate *f = &l->fates[i];
    if (f->into >= 0) return l->fates[f->into].last == i ? emit_conv(l, f->into) : SP_OK;
    if (is_conv(&p->steps[i])) return f->last == i ? emit_conv(l, i) : SP_OK;
    float number;
    if (is_frame(l, &p->steps[i], &number) && is_blocked(l, sp__step_root(p, &p->steps[i], p->steps[i].n_in)))
        return emit_frame(l, i, number);
    if (p->steps[i].n_in > 0 && is_blocked(l, sp__step_root(p, &p->steps[i], 0))) {
        if (is_joined(l, &p->steps[i])) return emit_joined(l, i);
        if (is_put(l, &p->steps[i])) return emit_put(l, i);
        if (is_pool(l, &p->steps[i], NULL)) return emit_pool(l, i);
        if (is_mean_pool(l, &p->steps[i], NULL)) return emit_mean_pool(l, i);
        if (is_resampled(l, &p->steps[i])) return emit_resampled(l, i);
    }
    const int scaled = scaled_input(l, &p->steps[i]), x = is_mean(l, &p->steps[i]) ? 0 : scaled;
    if (x >= 0 && is_blocked(l, sp__step_root(p, &p->steps[i], x))) return emit_by_channel(l, i, x);
    if (is_element_wise(l, &p->steps[i])) {
        l->steps[l->n_steps++] = p->steps[i];
        return SP_OK;
    }
    return emit_plain(l, i);
}

/* Five dimensions, blocks of channels filled up. */
static void reshape(sp_tensor *t)
{
    t->rank = 5;
    t->dims[1] = sp__blocks_of(t->dims[1]);
    t->dims[4] = SP_BLOCK;
    sp__shape_strides(t->rank, t->dims, t->strides);
    t->count = t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3] * SP_BLOCK;
}

/* Handles that show blocked images. By the handle a root is known by the others are recognised: it comes last. */
static void reshape_images(layout *l, int n_handles, int n_roots)
{
    sp_plan *p = l->p;
    for (int h = 0; h < n_handles; h++) {
        const int root = p->handles[h].root;
        if (root >= n_roots || !is_blocked(l, root) || h == l->image[root] || !shows_image(l, h)) continue;
        reshape(&p->handles[h].shape);
    }
    for (int r = 0; r < n_roots; r++) {
        if (!is_blocked(l, r)) continue;
        reshape(&p->handles[l->image[r]].shape);
        p->roots[r].bytes = sp_tensor_bytes(&p->handles[l->image[r]].shape);
    }
}
static sp_status rebuild(layout *l)
{
    sp_plan *p = l->p;
    int n_extra = p->n_steps;
    for (int i = 0; i < p->n_steps; i++) n_extra += 2 * (p->steps[i].n_in + p->steps[i].n_out);
    const int n_roots = p->n_roots, n_handles = p->n_handles;
    sp_root *roots = sp__arena_alloc(&p->arena, (size_t)(n_roots + n_extra) * sizeof *roots);
    sp_handle *handles = sp__arena_alloc(&p->arena, (size_t)(n_handles + n_extra) * sizeof *handles);
    l->steps = sp__arena_alloc(&p->arena, (size_t)(p->n_steps + n_extra) * sizeof *l->steps);
    if (!roots || !handles || !l->steps) return SP_NOMEM;
    memcpy(roots, p->roots, (size_t)n_roots * sizeof *roots);
    memcpy(handles, p->handles, (size_t)n_handles * sizeof *handles);
    p->roots = roots;
    p->handles = handles;
    for (int i = 0; i < p->n_steps; i++) SP_TRY(emit(l, i));
    p->steps = l->steps;
    p->n_steps = l->n_steps;
    reshape_images(l, n_handles, n_roots);
    return SP_OK;
}

static sp_status run(layout *l)
{
    sp_plan *p = l->p;
    bool again = true, any = false;
    for (int r = 0; r < p->n_roots; r++) l->image[r] = -1;
    for (int h = 0; h < p->n_handles; h++) {
        const int root = p->handles[h].root;
        if (is_image(l, h) && l->image[root] < 0) l->image[root] = h;
    }
    for (int i = 0; i < p->n_steps; i++) forget_chain(l, (l->fates[i].last = i));
    for (int i = 0; i < p->n_steps; i++)
        if (is_conv(&p->steps[i])) find_chain(l, i);
    while (again) {
        survey(l);
        SP_TRY(decide(l, &again));
    }
    for (int i = 0; i < p->n_steps; i++)
        any |= is_conv(&p->steps[i]) && (l->fates[i].in_blocks || l->fates[i].out_blocks);
    return any ? rebuild(l) : SP_OK;
}

sp_status sp__plan_layout(sp_plan *p)
{
    int n_convs = 0;
    for (int i = 0; i < p->n_steps; i++) n_convs += is_conv(&p->steps[i]);
    if (n_convs < 2) return SP_OK;
    const size_t n = (size_t)p->n_roots + 1;
    layout l = {.p = p, .fates = sp__alloc_zero((size_t)(p->n_steps + 1) * sizeof *l.fates)};
    l.image = sp__alloc_zero(n * sizeof *l.image);
    l.kind = sp__alloc_zero(n * sizeof *l.kind);
    l.touches = sp__alloc_zero(n * sizeof *l.touches);
    l.copies = sp__alloc_zero(n * sizeof *l.copies);
    l.plain = sp__alloc_zero(n * sizeof *l.plain);
    const sp_status status = l.fates && l.image && l.kind && l.touches && l.copies && l.plain ? run(&l) : SP_NOMEM;
    sp__free(l.fates);
    sp__free(l.image);
    sp__free(l.kind);
    sp__free(l.touches);
    sp__free(l.copies);
    sp__free(l.plain);
    return status;
}
