/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out_place.c - rules of operators that read and write at places that tensors tell. */
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"

/* Index tensors that address the first axes, in order. */
static bool leading(const sp_node *n)
{
    sp_ints axes = sp__mindir_out_attr_list(n, "axes");
    for (int i = 0; i < axes.n; i++)
        if (axes.v[i] != i) return false;
    return true;
}

/* Index tensor k of axis `axis` in the shape of all of them, as int64 and not negative. */
static sp_mindir_id coordinate(sp_mindir_out *o, const sp_value *v, int64_t size, const sp_meta *shape)
{
    sp_mindir_id x = sp__mindir_out_use(o, v);
    sp_meta m = v->meta, flags = v->meta;
    x = sp__mindir_out_cast(o, x, m, SP_DTYPE_I64);
    m.dtype = SP_DTYPE_I64;
    flags.dtype = SP_DTYPE_BOOL;
    sp_mindir_id zero = sp__mindir_out_scalar(o, SP_DTYPE_I64, 0),
                 wrapped = SP_MINDIR_OUT(o, "Add", NULL, &m, x, sp__mindir_out_scalar(o, SP_DTYPE_I64, (double)size));
    x = SP_MINDIR_OUT(o, "Select", NULL, &m, SP_MINDIR_OUT(o, "Less", NULL, &flags, x, zero), wrapped, x);
    if (sp__shape_equal(m.rank, m.dims, shape->rank, shape->dims)) return x;
    return SP_MINDIR_OUT(o, "BroadcastTo", NULL, shape, x, sp__mindir_out_ints(o, shape->rank, shape->dims));
}

/* All index tensors from operand `first` on as one: (shape of the indices, how many). The shape is left in *out. flat: at least one
 * dimension comes before the last. */
static sp_mindir_id coordinates(sp_mindir_out *o, int first, bool flat, sp_meta *out)
{
    int n = o->node->n_in - first;
    sp_mindir_id parts[SP_RANK_MAX];
    sp_meta shape = {.dtype = SP_DTYPE_I64};
    for (int i = first; i < o->node->n_in; i++) { /* broadcast */
        const sp_meta *m = sp__mindir_out_meta(o, i);
        for (int k = 0; k < m->rank; k++) {
            int from_end = m->rank - 1 - k;
            if (from_end >= shape.rank) {
                memmove(shape.dims + (from_end + 1 - shape.rank), shape.dims, (size_t)shape.rank * sizeof *shape.dims);
                for (int j = 0; j < from_end + 1 - shape.rank; j++) shape.dims[j] = 1;
                shape.rank = from_end + 1;
            }
            int64_t *d = &shape.dims[shape.rank - 1 - from_end];
            if (m->dims[k] != 1) *d = m->dims[k];
        }
    }
    for (int i = 0; i < n; i++)
        parts[i] = coordinate(o, o->node->in[first + i], sp__mindir_out_meta(o, 0)->dims[i], &shape);
    if (flat && shape.rank == 0) { /* one place */
        shape.rank = 1;
        shape.dims[0] = 1;
        for (int i = 0; i < n; i++) parts[i] = sp__mindir_out_reshape(o, parts[i], SP_DTYPE_I64, 1, shape.dims);
    }
    const sp_meta *metas[SP_RANK_MAX];
    for (int i = 0; i < n; i++) metas[i] = &shape;
    sp_mindir_id tuple = sp__mindir_out_many(o, "MakeTuple", NULL, n, parts, n, metas);
    *out = shape;
    out->dims[out->rank++] = n;
    return SP_MINDIR_OUT(o, "Stack", sp__mindir_out_text(o, "axis=%d", shape.rank), out, tuple);
}

static bool index_fits(const sp_node *n)
{
    for (int i = 1; i < n->n_in; i++)
        for (int k = 0; k < n->in[i]->meta.rank; k++)
            if (n->in[i]->meta.dims[k] < 0 && n->n_in > 2) return false;
    return n->n_in == 2 || leading(n);
}

static void write_index(sp_mindir_out *o)
{
    sp_ints axes = sp__mindir_out_attr_list(o->node, "axes");
    sp_meta shape;
    sp_mindir_id x = sp__mindir_out_in(o, 0);
    if (o->node->n_in == 2)
        SP_MINDIR_OUT_GIVE(o, "Gather", NULL, x, sp__mindir_out_in(o, 1),
                           sp__mindir_out_int(o, axes.n > 0 ? axes.v[0] : 0), sp__mindir_out_int(o, 0));
    else SP_MINDIR_OUT_GIVE(o, "GatherNd", NULL, x, coordinates(o, 1, false, &shape));
}

/* The value in the shape that is written: that of the indices, then the axes that no index addresses. */
static sp_mindir_id updates(sp_mindir_out *o, const sp_meta *places)
{
    const sp_meta *x = sp__mindir_out_meta(o, 0), *v = sp__mindir_out_meta(o, 1);
    sp_meta m = {.dtype = x->dtype};
    int n_index = (int)places->dims[places->rank - 1];
    for (int i = 0; i < places->rank - 1; i++) m.dims[m.rank++] = places->dims[i];
    for (int i = n_index; i < x->rank; i++) m.dims[m.rank++] = x->dims[i];
    sp_mindir_id value = sp__mindir_out_cast(o, sp__mindir_out_in(o, 1), *v, x->dtype);
    if (sp__shape_equal(v->rank, v->dims, m.rank, m.dims)) return value;
    return SP_MINDIR_OUT(o, "BroadcastTo", NULL, &m, value, sp__mindir_out_ints(o, m.rank, m.dims));
}

static void write_index_put(sp_mindir_out *o)
{
    sp_meta shape;
    const char *reduce = sp__mindir_out_attr_text(o->node, "reduce");
    static const struct {
        const char *reduce, *type;
    } ways[] = {{"add", "TensorScatterAdd"}, {"mul", "TensorScatterMul"}, {"max", "TensorScatterMax"},
                {"min", "TensorScatterMin"}, {"sub", "TensorScatterSub"}, {"div", "TensorScatterDiv"}};
    const char *type = sp__mindir_out_attr_int(o->node, "accumulate") ? "TensorScatterAdd" : "TensorScatterUpdate";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(reduce, ways[i].reduce)) type = ways[i].type;
    sp_mindir_id x = sp__mindir_out_in(o, 0), at = coordinates(o, 2, true, &shape);
    SP_MINDIR_OUT_GIVE(o, type, NULL, x, at, updates(o, &shape));
}

static bool put_fits(const sp_node *n)
{
    static const char known[] = " none add mul max min sub div ";
    char spaced[32];
    for (int i = 0; i < n->n_in; i++)
        for (int k = 0; k < n->in[i]->meta.rank; k++)
            if (n->in[i]->meta.dims[k] < 0) return false;
    snprintf(spaced, sizeof spaced, " %.20s ", sp__mindir_out_attr_text(n, "reduce"));
    return n->n_in > 2 && leading(n) && (n->op == &sp_op_index_put || strstr(known, spaced));
}

static void write_scatter_elements(sp_mindir_out *o)
{
    const char *reduce = sp__mindir_out_attr_text(o->node, "reduce");
    int64_t number = !strcmp(reduce, "add") ? 1 : 0;
    SP_MINDIR_OUT_GIVE(o, "TensorScatterElements", NULL, sp__mindir_out_in(o, 0), sp__mindir_out_in(o, 1),
                       sp__mindir_out_in(o, 2), sp__mindir_out_attr(o, "axis"), sp__mindir_out_int(o, number));
}

static bool sets_or_adds(const sp_node *n)
{
    const char *reduce = sp__mindir_out_attr_text(n, "reduce");
    return !strcmp(reduce, "none") || !strcmp(reduce, "add");
}

const sp_mindir_out_rule sp__mindir_out_place[] = {
    SP_MINDIR_OUT_TEXT("gather", "Gather(input_params, input_indices, axis, batch_dims)"),
    SP_MINDIR_OUT_TEXT("gather_elements", "GatherD(x, dim, index)"),
    SP_MINDIR_OUT_TEXT("one_hot", "OneHot(indices, depth, on_value, off_value, axis)"),
    SP_MINDIR_OUT_CODE_IF("index", write_index, index_fits),
    SP_MINDIR_OUT_CODE_IF("index_put", write_index_put, put_fits),
    SP_MINDIR_OUT_CODE_IF("index_combine", write_index_put, put_fits),
    SP_MINDIR_OUT_CODE_IF("scatter_elements", write_scatter_elements, sets_or_adds),
    {.op = NULL},
};
