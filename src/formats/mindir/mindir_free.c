/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_free.c - free sizes of a network being written. What is of another size in other recordings gets the size -1 in types; numbers in attributes that
 * depend on free sizes are computed in the file from shapes (Shape, TupleGetItem, ScalarMul and their like) or, where MindIR can say so, are -1 or counted from
 * the end. What can be said in neither way is refused. */
#include <string.h>

#include "formats/mindir/mindir_out.h"
#include "formats/twins.h"

/* --- numbers in the file ----------------------------------------------------------------------------------------- */

const sp_mindir_out_number *sp__mindir_out_number_of(const sp_mindir_out *o, const sp_node *n, const char *attr,
                                                     int element)
{
    for (const sp_mindir_out_number *p = o->numbers ? o->numbers[n->id] : NULL; p; p = p->next)
        if (p->element == element && (attr ? p->attr && !strcmp(p->attr, attr) : !p->attr)) return p;
    return NULL;
}

static sp_mindir_id put_plain(sp_mindir_out *o, const char *primitive, int n, const sp_mindir_id *in)
{
    sp_mindir_id name = sp__mindir_out_fresh(o);
    sp__mindir_out_node(o, sp__mindir_out_instance(o, primitive, NULL), n, in, name, NULL);
    return name;
}
#define PUT(o, primitive, ...)                                                                                         \
    put_plain((o), (primitive), (int)(sizeof((sp_mindir_id[]){__VA_ARGS__}) / sizeof(sp_mindir_id)),                   \
              (sp_mindir_id[]){__VA_ARGS__})

static sp_mindir_id dimension(sp_mindir_out *o, const sp_value *v, int axis)
{
    return PUT(o, "TupleGetItem", PUT(o, "Shape", sp__mindir_out_use(o, v)), sp__mindir_out_int(o, axis));
}

/* A source as a number, not as a tensor. */
static sp_mindir_id source(sp_mindir_out *o, const sp_size_source *from)
{
    int axis;
    if (from->axis >= 0) return dimension(o, from->v, from->axis);
    if (from->v->origin == SP_VALUE_NODE && sp__node_is_size(from->v->node, &axis))
        return dimension(o, from->v->node->in[0], axis);
    return PUT(o, "TensorToScalar", sp__mindir_out_use(o, from->v));
}

static sp_mindir_id put_number(sp_mindir_out *o, const sp_mindir_out_number *p)
{
    const sp_size_form *f = &p->form;
    sp_mindir_id x = source(o, &p->of[0]);
    for (int i = 1; i < f->n && !f->sum; i++) x = PUT(o, "ScalarMul", x, source(o, &p->of[i]));
    if (f->sum) x = PUT(o, f->mul < 0 ? "ScalarSub" : "ScalarAdd", x, source(o, &p->of[1]));
    else {
        if (f->add) x = PUT(o, "ScalarAdd", x, sp__mindir_out_int(o, f->add));
        if (f->mul != 1) x = PUT(o, "ScalarMul", x, sp__mindir_out_int(o, f->mul));
        if (f->div != 1) x = PUT(o, "ScalarFloorDiv", x, sp__mindir_out_int(o, f->div));
    }
    return f->plus ? PUT(o, "ScalarAdd", x, sp__mindir_out_int(o, f->plus)) : x;
}

sp_mindir_id sp__mindir_out_number(sp_mindir_out *o, const char *attr, int element, int64_t plain)
{
    const sp_mindir_out_number *p = sp__mindir_out_number_of(o, o->node, attr, element);
    return p ? put_number(o, p) : sp__mindir_out_int(o, plain);
}

sp_mindir_id sp__mindir_out_numbers(sp_mindir_out *o, const char *attr, int n, const int64_t *plain)
{
    sp_mindir_id items[2 * SP_RANK_MAX];
    bool fixed = n > 2 * SP_RANK_MAX;
    for (int i = 0, some = 0; i < n && !fixed; i++) {
        some |= sp__mindir_out_number_of(o, o->node, attr, i) != NULL;
        fixed = i == n - 1 && !some;
    }
    if (fixed || n <= 0) return sp__mindir_out_ints(o, n, plain);
    for (int i = 0; i < n; i++) items[i] = sp__mindir_out_number(o, attr, i, plain[i]);
    return put_plain(o, "MakeTuple", n, items);
}

sp_mindir_id sp__mindir_out_image_size(sp_mindir_out *o, const char *attr, int axis)
{
    const sp_value *x = o->node->in[0];
    const int other = axis == 2 ? 3 : 2;
    int64_t plain[2];
    plain[axis - 2] = sp__mindir_out_attr_int(o->node, attr);
    plain[other - 2] = x->meta.dims[other];
    if (plain[other - 2] >= 0 && !sp__mindir_out_number_of(o, o->node, attr, 0))
        return sp__mindir_out_ints(o, 2, plain);
    sp_mindir_id size[2];
    size[axis - 2] = sp__mindir_out_number(o, attr, 0, plain[axis - 2]);
    size[other - 2] = plain[other - 2] < 0 ? dimension(o, x, other) : sp__mindir_out_int(o, plain[other - 2]);
    return put_plain(o, "MakeTuple", 2, size);
}

sp_mindir_id sp__mindir_out_result_size(sp_mindir_out *o, int lead)
{
    const sp_meta *m = sp__mindir_out_result(o);
    sp_mindir_id size[SP_RANK_MAX];
    int64_t plain[SP_RANK_MAX];
    int n = 0, n_open = 0;
    for (int k = 0; k < m->rank; k++) {
        for (int i = 0; k == 2 && i < lead; i++) plain[n++] = 1;
        n_open += m->dims[k] < 0;
        plain[n++] = m->dims[k];
    }
    if (!n_open) return sp__mindir_out_ints(o, n, plain);
    for (int i = 0; i < n; i++)
        size[i] = plain[i] < 0 ? sp__mindir_out_number(o, "input_size", i < 2 ? i : i - lead, 0)
                               : sp__mindir_out_int(o, plain[i]);
    return put_plain(o, "MakeTuple", n, size);
}

static sp_mindir_id as_tensor(sp_mindir_out *o, sp_mindir_id number, sp_dtype dtype, sp_mindir_id name)
{
    const sp_meta meta = {.dtype = dtype, .rank = 0};
    sp_mindir_id in[2] = {number, sp__mindir_out_int(o, sp__mindir_out_type_number(dtype))};
    if (!name) return sp__mindir_out_op(o, "ScalarToTensor", NULL, 2, in, &meta);
    sp_mindir_out_msg type = {.status = SP_OK};
    sp__mindir_out_put_value_type(&type, &meta);
    sp__mindir_out_node(o, sp__mindir_out_instance(o, "ScalarToTensor", NULL), 2, in, name, &type);
    return name;
}

void sp__mindir_out_size(sp_mindir_out *o, const sp_node *n)
{
    int axis = 0;
    sp__node_is_size(n, &axis);
    as_tensor(o, dimension(o, n->in[0], axis), SP_DTYPE_I64, sp__mindir_out_name(o, n->out[0]));
}

sp_mindir_id sp__mindir_out_varying(sp_mindir_out *o, const sp_node *n, int i)
{
    const sp_meta *m = &n->in[i]->meta;
    sp_mindir_id x = as_tensor(o, put_number(o, sp__mindir_out_number_of(o, n, NULL, i)), m->dtype, NULL);
    return m->rank ? sp__mindir_out_reshape(o, x, m->dtype, m->rank, m->dims) : x;
}

/* --- finding them ------------------------------------------------------------------------------------------------ */

static void open_dims(const sp_sizes *s, sp_value *const *values, const int64_t *at, int axis)
{
    if (!sp__sizes_fixed(s, at)) (*values)->meta.dims[axis] = -1;
}

static sp_status unsaid(const sp_node *n, const char *name)
{
    return sp__fail(
        SP_DECLINED,
        "%s: its attribute '%s' depends on sizes that are free in the file, in a way that MindIR cannot say",
        n->op->name, name);
}

static sp_status add_number(sp_mindir_out *o, const sp_node *n, const char *attr, int element, const int64_t *at)
{
    sp_size_form form;
    if (!o->sizes.n_sources) sp__sizes_sources(&o->sizes, n, false);
    if (!sp__sizes_solve(&o->sizes, at, &form))
        return attr
                   ? unsaid(n, attr)
                   : sp__fail(
                         SP_DECLINED,
                         "%s takes a number that depends on sizes that are free in the file, in a way that MindIR cannot say",
                         n->op->name);
    sp_mindir_out_number *p = sp__arena_alloc(&o->arena, sizeof *p);
    if (!p) return SP_NOMEM;
    *p = (sp_mindir_out_number){.attr = attr, .element = element, .form = form, .next = o->numbers[n->id]};
    for (int i = 0; i < form.n; i++) p->of[i] = *form.of[i];
    o->numbers[n->id] = p;
    return SP_OK;
}

/* A shape that is an attribute: one number may be left to be inferred, the others are what the result has. */
static sp_status open_shape(sp_mindir_out *o, sp_node *n)
{
    const sp_meta *m = &n->out[0]->meta;
    sp_ints shape = sp__mindir_out_attr_list(n, "shape");
    int64_t at[SP_TRIALS_MAX];
    int n_open = 0, last = -1, inferred = -1;
    const bool reshape = n->op == &sp_op_reshape;
    if (shape.n != m->rank) return unsaid(n, "shape");
    for (int k = 0; k < m->rank; k++) {
        sp__sizes_result(&o->sizes, n, 0, k, at);
        if (!sp__sizes_fixed(&o->sizes, at)) last = k, n_open++;
        if (reshape && shape.v[k] == -1) inferred = k;
    }
    for (int k = 0; k < m->rank; k++) {
        int64_t *v = (int64_t *)(uintptr_t)&shape.v[k];
        sp__sizes_result(&o->sizes, n, 0, k, at);
        if (k == inferred) continue;
        if (sp__sizes_fixed(&o->sizes, at)) *v = at[0];
        else if (reshape && inferred < 0 && n_open == 1 && k == last) *v = -1;
        else SP_TRY(add_number(o, n, "shape", k, at));
    }
    return SP_OK;
}

/* Start or stop of a slice: fixed, counted from the end, or computed. */
static sp_status open_bound(sp_mindir_out *o, sp_node *n, const char *name)
{
    const sp_ints list = sp__mindir_out_attr_list(n, name), step = sp__mindir_out_attr_list(n, "step");
    const sp_sizes *s = &o->sizes;
    int64_t at[SP_TRIALS_MAX], size[SP_TRIALS_MAX], from_end[SP_TRIALS_MAX];
    for (int k = 0; k < list.n; k++) {
        int64_t *v = (int64_t *)(uintptr_t)&list.v[k];
        if (!sp__sizes_attr(s, n, name, k, at)) return unsaid(n, name);
        if (*v > INT32_MAX) *v = INT32_MAX;
        if (sp__sizes_fixed(s, at)) continue;
        const bool back = k < step.n && step.v[k] < 0, slice = n->op == &sp_op_slice;
        sp__sizes_operand(s, n, 0, k, size);
        bool whole = true;
        for (int i = 0; i < s->n; i++) {
            from_end[i] = at[i] - size[i];
            whole = whole && from_end[i] >= 0;
        }
        if (slice && !back && whole) *v = INT32_MAX;
        else if (slice && back && !strcmp(name, "start") && step.v[k] == -1 && sp__sizes_fixed(s, from_end) &&
                 from_end[0] == -1)
            *v = -1; /* turned round as a whole */
        else if (slice && !back && sp__sizes_fixed(s, from_end)) *v = from_end[0];
        else if (back) return unsaid(n, name);
        else SP_TRY(add_number(o, n, name, k, at));
    }
    return SP_OK;
}

static sp_status open_constants(sp_mindir_out *o, sp_node *n)
{
    int64_t at[SP_TRIALS_MAX];
    for (int i = 0; i < n->n_in; i++) {
        const sp_node *t = n->mark;
        bool same = true;
        for (int k = 1; k < o->sizes.n && n->in[i] && n->in[i]->origin == SP_VALUE_CONSTANT; k++, t = t->mark)
            same = same && sp__constant_equal(n->in[i], t->in[i]);
        if (same) continue;
        SP_CHECK(n->kind == SP_NODE_OP && sp__constant_numbers(&o->sizes, n, i, at), SP_DECLINED,
                 "%s takes a constant that depends on sizes that are free in the file, which is not written to MindIR",
                 n->op ? n->op->name : "a call");
        SP_TRY(add_number(o, n, NULL, i, at));
    }
    return SP_OK;
}

static sp_status open_arange(sp_mindir_out *o, sp_node *n)
{
    static const char *const names[] = {"start", "end", "step"};
    int64_t at[SP_TRIALS_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!sp__sizes_attr(&o->sizes, n, names[i], 0, at)) return sp__sizes_check_attrs(&o->sizes, n, "");
        if (!sp__sizes_fixed(&o->sizes, at)) SP_TRY(add_number(o, n, names[i], 0, at));
    }
    return SP_OK;
}

static sp_status open_resize(sp_mindir_out *o, sp_node *n)
{
    int64_t at[SP_TRIALS_MAX];
    sp__sizes_result(&o->sizes, n, 0, sp__mindir_out_axis(n, "axis", n->out[0]->meta.rank), at);
    return sp__sizes_fixed(&o->sizes, at) ? SP_OK : add_number(o, n, "out_size", 0, at);
}

/* The size that a transposed convolution is told: element k is dimension k of the result. Where it is padded as "same" the result has `stride` times as many
 * elements as what it is made of, so that its paddings are always the same. */
static sp_status open_transposed(sp_mindir_out *o, sp_node *n)
{
    int64_t at[SP_TRIALS_MAX], of[SP_TRIALS_MAX];
    const sp_ints stride = sp__mindir_out_attr_list(n, "stride");
    const bool same = !strcmp(sp__mindir_out_attr_text(n, "pad_mode"), "same");
    for (int k = 0; k < n->out[0]->meta.rank; k++) {
        sp__sizes_result(&o->sizes, n, 0, k, at);
        if (sp__sizes_fixed(&o->sizes, at)) continue;
        SP_TRY(add_number(o, n, "input_size", k, at));
        sp__sizes_operand(&o->sizes, n, 0, k, of);
        const int64_t step = stride.n < 1 ? 1 : stride.n == 1 ? stride.v[0] : k >= 2 ? stride.v[k - 2] : 1;
        for (int i = 0; same && k >= 2 && i < o->sizes.n; i++)
            if (at[i] != of[i] * step) return unsaid(n, "input_size");
    }
    return SP_OK;
}

/* Padding: where the dimension is free, `stop` counts from its end, INT32_MAX being the end itself. */
static sp_status open_pad(sp_mindir_out *o, sp_node *n)
{
    int64_t before[SP_RANK_MAX][SP_TRIALS_MAX], behind[SP_RANK_MAX][SP_TRIALS_MAX], at[SP_TRIALS_MAX];
    const sp_ints start = sp__mindir_out_attr_list(n, "start"), stop = sp__mindir_out_attr_list(n, "stop");
    if (!sp__sizes_frame(&o->sizes, n, before, behind)) return sp__sizes_check_attrs(&o->sizes, n, "");
    for (int k = 0; k < start.n; k++) {
        sp__sizes_operand(&o->sizes, n, 1, k, at);
        int64_t size[SP_TRIALS_MAX];
        sp__sizes_result(&o->sizes, n, 0, k, size);
        if (sp__sizes_fixed(&o->sizes, at) && sp__sizes_fixed(&o->sizes, size)) continue;
        /* MindSpore's PadV3 takes no numbers that the run computes. */
        if (!sp__sizes_fixed(&o->sizes, before[k])) return unsaid(n, "start");
        if (!sp__sizes_fixed(&o->sizes, behind[k])) return unsaid(n, "stop");
        *(int64_t *)(uintptr_t)&stop.v[k] = behind[k][0] ? -behind[k][0] : INT32_MAX;
    }
    return SP_OK;
}

static sp_status open_node(sp_mindir_out *o, sp_node *n)
{
    o->sizes.n_sources = 0;
    SP_TRY(open_constants(o, n));
    if (n->kind != SP_NODE_OP) return SP_OK;
    const sp_op *op = n->op;
    const char *done = "";
    if (sp__sizes_only_frames(&o->sizes, n)) return SP_OK;
    if (op == &sp_op_reshape || op == &sp_op_broadcast_to || op == &sp_op_full) {
        SP_TRY(open_shape(o, n));
        done = " shape ";
    } else if (op == &sp_op_slice) {
        SP_TRY(open_bound(o, n, "start"));
        SP_TRY(open_bound(o, n, "stop"));
        done = " start stop ";
    } else if (op == &sp_op_arange) {
        SP_TRY(open_arange(o, n));
        done = " start end step ";
    } else if (op == &sp_op_slice_put) {
        SP_TRY(open_pad(o, n));
        done = " start stop ";
    } else if (op == &sp_op_resample_axis) {
        SP_TRY(open_resize(o, n));
        done = " in_size out_size ";
    } else if (op == &sp_op_conv1d_input_grad || op == &sp_op_conv2d_input_grad) {
        SP_TRY(open_transposed(o, n));
        done = " input_size ";
    }
    return sp__sizes_check_attrs(&o->sizes, n, done);
}

sp_status sp__mindir_out_free_sizes(sp_mindir_out *o)
{
    int64_t at[SP_TRIALS_MAX];
    SP_TRY(sp__sizes_begin(&o->sizes, o->entry, o->names));
    /* Types last: sizes of operands tell where sizes in attributes come from. */
    for (sp_function *f = o->graph->first; f; f = f->next)
        for (sp_node *n = f->first; n; n = n->next) {
            sp_status status = open_node(o, n);
            if (status != SP_OK && n->place && n->place->file)
                sp__error_context("%s:%d", n->place->file, n->place->line);
            SP_TRY(status);
        }
    for (sp_function *f = o->graph->first; f; f = f->next) {
        for (int i = 0; i < f->n_params; i++)
            for (int axis = 0; axis < f->params[i]->meta.rank; axis++) {
                const sp_function *t = f;
                for (int k = 0; k < o->sizes.n; k++, t = t->mark) at[k] = t->params[i]->meta.dims[axis];
                open_dims(&o->sizes, &f->params[i], at, axis);
            }
        for (sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_out; i++)
                for (int axis = 0; axis < n->out[i]->meta.rank; axis++) {
                    const sp_node *t = n;
                    for (int k = 0; k < o->sizes.n; k++, t = t->mark)
                        at[k] = k ? t->out[i]->meta.dims[axis] : n->out[i]->meta.dims[axis];
                    open_dims(&o->sizes, &n->out[i], at, axis);
                }
    }
    return SP_OK;
}
