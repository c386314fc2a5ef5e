/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out.c - values and nodes of MindIR models being written: see mindir_out.h. */
#include "base/plain.h"
#include "formats/mindir/mindir_out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- messages ---------------------------------------------------------------------------------------------------- */

void sp__mindir_out_put_number(sp_mindir_out_msg *m, uint32_t field, int64_t v)
{
    if (m->status == SP_OK) m->status = sp__wire_put_number(&m->out, field, (uint64_t)v);
}

void sp__mindir_out_put_bytes(sp_mindir_out_msg *m, uint32_t field, const void *data, size_t bytes)
{
    if (m->status == SP_OK) m->status = sp__wire_put_head(&m->out, field, bytes);
    if (m->status == SP_OK && bytes) m->status = sp__wire_put(&m->out, data, bytes);
}

void sp__mindir_out_put_text(sp_mindir_out_msg *m, uint32_t field, const char *s)
{
    sp__mindir_out_put_bytes(m, field, s, strlen(s));
}

static void put_float(sp_mindir_out_msg *m, uint32_t field, float f)
{
    if (m->status == SP_OK) m->status = sp__wire_put_varint(&m->out, field << 3 | SP_WIRE_FIXED32);
    if (m->status == SP_OK) m->status = sp__wire_put(&m->out, &f, sizeof f);
}

void sp__mindir_out_put_fields(sp_mindir_out_msg *m, sp_mindir_out_msg *part)
{
    if (m->status == SP_OK) m->status = part->status;
    if (m->status == SP_OK && part->out.bytes) m->status = sp__wire_put(&m->out, part->out.data, part->out.bytes);
    sp__wire_out_free(&part->out);
    *part = (sp_mindir_out_msg){.status = SP_OK};
}

void sp__mindir_out_put_message(sp_mindir_out_msg *m, uint32_t field, sp_mindir_out_msg *inner)
{
    if (m->status == SP_OK) m->status = inner->status;
    if (m->status == SP_OK) sp__mindir_out_put_bytes(m, field, inner->out.data, inner->out.bytes);
    sp__wire_out_free(&inner->out);
    *inner = (sp_mindir_out_msg){.status = SP_OK};
}

/* --- types ------------------------------------------------------------------------------------------------------- */

static const struct {
    sp_dtype dtype;
    int data_type, type_number;
} dtypes[] = {{SP_DTYPE_F32, 1, 43},  {SP_DTYPE_U8, 2, 37},    {SP_DTYPE_I8, 3, 32},   {SP_DTYPE_U16, 4, 38},
              {SP_DTYPE_I16, 5, 33},  {SP_DTYPE_I32, 6, 34},   {SP_DTYPE_I64, 7, 35},  {SP_DTYPE_BOOL, 9, 30},
              {SP_DTYPE_F16, 10, 42}, {SP_DTYPE_F64, 11, 44},  {SP_DTYPE_U32, 12, 39}, {SP_DTYPE_U64, 13, 40},
              {SP_DTYPE_C64, 14, 48}, {SP_DTYPE_C128, 15, 49}, {SP_DTYPE_BF16, 16, 45}};

int sp__mindir_out_data_type(sp_dtype d)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == d) return dtypes[i].data_type;
    return 0;
}

int sp__mindir_out_type_number(sp_dtype d)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == d) return dtypes[i].type_number;
    return 0;
}

void sp__mindir_out_put_tensor_type(sp_mindir_out_msg *m, uint32_t field, const sp_meta *meta)
{
    sp_mindir_out_msg t = {.status = SP_OK};
    for (int i = 0; i < meta->rank; i++) sp__mindir_out_put_number(&t, 1, meta->dims[i]);
    if (meta->rank < 0) sp__mindir_out_put_number(&t, 1, -2);
    sp__mindir_out_put_number(&t, 2, sp__mindir_out_data_type(meta->dtype));
    sp__mindir_out_put_message(m, field, &t);
}

static void put_type(sp_mindir_out_msg *m, uint32_t field, const char *name, const sp_meta *meta)
{
    sp_mindir_out_msg a = {.status = SP_OK};
    if (name) sp__mindir_out_put_text(&a, 1, name);
    sp__mindir_out_put_tensor_type(&a, 12, meta);
    sp__mindir_out_put_number(&a, 16, SP_MINDIR_OUT_TENSORS);
    sp__mindir_out_put_message(m, field, &a);
}

/* The type of several values: a tuple. */
void sp__mindir_out_put_types(sp_mindir_out_msg *m, uint32_t field, const char *name, int n,
                              const sp_meta *const *types)
{
    sp_mindir_out_msg a = {.status = SP_OK}, info = {.status = SP_OK};
    if (name) sp__mindir_out_put_text(&a, 1, name);
    sp__mindir_out_put_number(&a, 16, SP_MINDIR_OUT_TUPLE);
    for (int i = 0; i < n; i++) put_type(&a, 17, NULL, types[i]);
    sp__mindir_out_put_number(&info, 1, 0);
    sp__mindir_out_put_message(&a, 18, &info);
    sp__mindir_out_put_message(m, field, &a);
}

void sp__mindir_out_put_tensor(sp_mindir_out_msg *m, uint32_t field, sp_tensor *t, const char *name,
                               const char *ref_key)
{
    sp_mindir_out_msg p = {.status = SP_OK};
    sp_tensor *plain;
    m->status = m->status == SP_OK ? sp_tensor_contiguous(t, &plain) : m->status;
    if (m->status != SP_OK) return;
    for (int i = 0; i < plain->rank; i++) sp__mindir_out_put_number(&p, 1, plain->dims[i]);
    sp__mindir_out_put_number(&p, 2, sp__mindir_out_data_type((sp_dtype)plain->dtype));
    sp__mindir_out_put_text(&p, 7, name);
    sp__mindir_out_put_bytes(&p, 9, sp_tensor_data(plain), sp_tensor_bytes(plain));
    if (ref_key) {
        sp__mindir_out_put_text(&p, 13, ref_key);
        sp__mindir_out_put_number(&p, 16, 0);
    }
    sp_tensor_release(plain);
    sp__mindir_out_put_message(m, field, &p);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

const char *sp__mindir_out_text(sp_mindir_out *o, const char *format, ...)
{
    char buffer[1024];
    va_list list;
    va_start(list, format);
    sp__vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    const char *kept = sp__arena_text(&o->arena, buffer);
    if (!kept) o->model.status = SP_NOMEM;
    return kept ? kept : "";
}

sp_mindir_id sp__mindir_out_function(sp_mindir_out *o, const sp_function *f)
{
    return sp__mindir_out_text(o, "%d_%s", f->id, f->name);
}

sp_mindir_id sp__mindir_out_fresh(sp_mindir_out *o)
{
    ++o->counter;
    return sp__mindir_out_text(o, "%s:CNode_t%d:%d", sp__mindir_out_function(o, o->fn), o->counter, o->counter);
}

const sp_value *sp__mindir_out_behind(const sp_value *v)
{
    while (sp__mindir_out_is(v, &sp_op_identity) || sp__mindir_out_is(v, &sp_op_copy) ||
           sp__mindir_out_is(v, &sp_op_stop_gradient) || sp__mindir_out_is(v, &sp_op_after))
        v = v->node->in[0];
    return v;
}

sp_mindir_id sp__mindir_out_name(sp_mindir_out *o, const sp_value *v)
{
    v = sp__mindir_out_behind(v);
    if (v->origin == SP_VALUE_FUNCTION) return sp__mindir_out_function(o, v->target);
    if (v->origin == SP_VALUE_CONSTANT) return sp__mindir_out_text(o, "Constant_%d", v->id);
    const char *owner = sp__mindir_out_function(o, v->owner);
    if (v->origin == SP_VALUE_PARAM && v->owner == o->entry && v->index < o->names->n_inputs)
        return sp__mindir_out_text(o, "%s:%s", owner, o->names->inputs[v->index]);
    return sp__mindir_out_text(o, "%s:CNode_%d:%d", owner, v->id,
                               v->id); /* as MindSpore calls them: no weight is called so */
}

/* --- constants --------------------------------------------------------------------------------------------------- */

/* A Constant node with this attribute, whose fields but the name are in `value`. */
static sp_mindir_id put_constant(sp_mindir_out *o, sp_mindir_out_msg *value, sp_mindir_id name)
{
    sp_mindir_out_msg node = {.status = SP_OK}, a = {.status = SP_OK};
    if (!name) name = sp__mindir_out_text(o, "ValueNode_%d", ++o->counter);
    sp__mindir_out_put_text(&a, 1, "value");
    sp__mindir_out_put_fields(&a, value);
    sp__mindir_out_put_text(&node, 2, name);
    sp__mindir_out_put_text(&node, 3, name);
    sp__mindir_out_put_text(&node, 4, "Constant");
    sp__mindir_out_put_message(&node, 5, &a);
    sp__mindir_out_put_message(&o->graph_out, 1, &node);
    return name;
}

static sp_mindir_id put_typed(sp_mindir_out *o, int type, bool has_value, int64_t v)
{
    sp_mindir_out_msg m = {.status = SP_OK};
    if (has_value) sp__mindir_out_put_number(&m, 3, v);
    sp__mindir_out_put_number(&m, 16, type);
    return put_constant(o, &m, NULL);
}

sp_mindir_id sp__mindir_out_int(sp_mindir_out *o, int64_t v) { return put_typed(o, SP_MINDIR_OUT_INT64, true, v); }
sp_mindir_id sp__mindir_out_bool(sp_mindir_out *o, bool v) { return put_typed(o, SP_MINDIR_OUT_BOOL, true, v); }
sp_mindir_id sp__mindir_out_none(sp_mindir_out *o) { return put_typed(o, SP_MINDIR_OUT_NONE, false, 0); }

sp_mindir_id sp__mindir_out_monad(sp_mindir_out *o)
{
    if (!o->monad) o->monad = put_typed(o, SP_MINDIR_OUT_UMONAD, false, 0);
    return o->monad;
}

sp_mindir_id sp__mindir_out_float(sp_mindir_out *o, double v)
{
    sp_mindir_out_msg m = {.status = SP_OK};
    put_float(&m, 2, (float)v);
    sp__mindir_out_put_number(&m, 16, SP_MINDIR_OUT_FLOAT);
    return put_constant(o, &m, NULL);
}

sp_mindir_id sp__mindir_out_string(sp_mindir_out *o, const char *s, size_t bytes)
{
    sp_mindir_out_msg m = {.status = SP_OK};
    sp__mindir_out_put_bytes(&m, 5, s, bytes);
    sp__mindir_out_put_number(&m, 16, SP_MINDIR_OUT_STRING);
    return put_constant(o, &m, NULL);
}

static void put_ints(sp_mindir_out_msg *m, int n, const int64_t *v)
{
    sp__mindir_out_put_number(m, 16, SP_MINDIR_OUT_TUPLE);
    for (int i = 0; i < n; i++) {
        sp_mindir_out_msg e = {.status = SP_OK};
        sp__mindir_out_put_number(&e, 10, v[i]);
        sp__mindir_out_put_number(&e, 16, SP_MINDIR_OUT_INT64);
        sp__mindir_out_put_message(m, 17, &e);
    }
}

sp_mindir_id sp__mindir_out_ints(sp_mindir_out *o, int n, const int64_t *v)
{
    sp_mindir_out_msg m = {.status = SP_OK};
    put_ints(&m, n, v);
    return put_constant(o, &m, NULL);
}

sp_mindir_id sp__mindir_out_tensor(sp_mindir_out *o, sp_tensor *t, sp_mindir_id name)
{
    sp_mindir_out_msg m = {.status = SP_OK};
    sp__mindir_out_put_tensor(&m, 12, t, "value0", NULL);
    sp__mindir_out_put_number(&m, 16, SP_MINDIR_OUT_TENSORS);
    return put_constant(o, &m, name);
}

sp_mindir_id sp__mindir_out_scalar(sp_mindir_out *o, sp_dtype dtype, double v)
{
    sp_tensor *t;
    if (sp_tensor_create_f64(dtype, v, &t) != SP_OK) {
        o->model.status = SP_NOMEM;
        return "";
    }
    sp_mindir_id name = sp__mindir_out_tensor(o, t, NULL);
    sp_tensor_release(t);
    return name;
}

sp_mindir_id sp__mindir_out_use(sp_mindir_out *o, const sp_value *v)
{
    v = sp__mindir_out_behind(v);
    sp_mindir_id name = sp__mindir_out_name(o, v);
    if (v->origin != SP_VALUE_CONSTANT || o->written[v->id]) return name;
    o->written[v->id] = 1;
    return sp__mindir_out_tensor(o, v->constant, name);
}

/* --- primitives -------------------------------------------------------------------------------------------------- */

/* One attribute of an attribute text, "True", "'text'", "(1,2)", "0.5" or "3", as fields of an AttributeProto. */
static void put_attr(sp_mindir_out_msg *m, const char *name, size_t name_bytes, const char *value, size_t bytes)
{
    sp_mindir_out_msg a = {.status = SP_OK};
    sp__mindir_out_put_bytes(&a, 1, name, name_bytes);
    if (*value == '\'') {
        sp__mindir_out_put_bytes(&a, 5, value + 1, bytes - 2);
        sp__mindir_out_put_number(&a, 16, SP_MINDIR_OUT_STRING);
    } else if (*value == '(') {
        int64_t list[64];
        int n = 0;
        for (const char *p = value + 1; *p != ')' && n < 64;) {
            char *end;
            list[n++] = strtoll(p, &end, 10);
            p = end + strspn(end, ", ");
        }
        put_ints(&a, n, list);
    } else if (*value == 'T' || *value == 'F') {
        sp__mindir_out_put_number(&a, 3, *value == 'T');
        sp__mindir_out_put_number(&a, 16, SP_MINDIR_OUT_BOOL);
    } else if (memchr(value, '.', bytes) || memchr(value, 'e', bytes) || memchr(value, 'n', bytes)) {
        put_float(&a, 2, sp__strtof(value, NULL));
        sp__mindir_out_put_number(&a, 16, SP_MINDIR_OUT_FLOAT);
    } else {
        sp__mindir_out_put_number(&a, 3, strtoll(value, NULL, 10));
        sp__mindir_out_put_number(&a, 16, SP_MINDIR_OUT_INT64);
    }
    sp__mindir_out_put_message(m, 3, &a);
}

static void put_attrs(sp_mindir_out_msg *m, const char *text)
{
    for (const char *p = text; *p; p += strspn(p, ", ")) {
        const char *name = p;
        size_t name_bytes = strcspn(p, "= ");
        const char *value = name + name_bytes + strspn(name + name_bytes, "= ");
        const char *end = *value == '(' ? strchr(value, ')') : *value == '\'' ? strchr(value + 1, '\'') : NULL;
        p = end ? end + 1 : value + strcspn(value, ", ");
        put_attr(m, name, name_bytes, value, (size_t)(p - value));
    }
}

/* MindSpore has two kinds of primitives: functions, whose arguments are all inputs, and those with attributes. These are the latter. */
static const char with_attributes[] =
    " AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool3D ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA "
    "ApplyAdamWithAmsgradV2 ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyGradientDescent ApplyKerasMomentum ApplyMomentum "
    "ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp ApproximateEqual AvgPool3D BesselI0 BesselI0e "
    "BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Bincount BitwiseAnd BitwiseOr "
    "BitwiseXor BoundingBoxDecode BoundingBoxEncode CTCLossV2 CheckValid Col2Im ComplexAbs Conv2D Conv2DBackpropFilter "
    "Conv2DBackpropInput Conv2DTranspose Conv3D Conv3DBackpropFilter Conv3DBackpropInput Conv3DTranspose CropAndResize CumulativeLogsumexp "
    "DeformableOffsets Depend DepthToSpace Digamma DivNoNan Eigh EqualCount FillV2 Fmax Fmin FusedCastAdamWeightDecay "
    "FusedWeightScaleApplyMomentum Ger Heaviside Histogram Hypot IOU Igamma Igammac Im2Col Imag Invert IsNan L2Loss L2Normalize LRN "
    "LSTM LU Lcm LeakyReLU Lgamma Load MakeTuple MatrixInverse MaxPool MaxPool3D MaxPool3DWithArgmax MaxPoolWithArgmaxV2 Median Mish "
    "Mod MulNoNan Multinomial NMSWithMask PadV3 Partial Polygamma ROIAlign ScatterNdUpdate SeLU SigmoidCrossEntropyWithLogits "
    "SoftmaxCrossEntropyWithLogits Softplus Softsign Sort SpaceToDepth SparseSoftmaxCrossEntropyWithLogits SquaredDifference Stack "
    "StandardNormal Switch TensorScatterDiv TensorScatterMax TensorScatterMin TensorScatterMul TensorScatterSub TensorScatterUpdate "
    "TopK Tril TruncateDiv TruncateMod TruncatedNormal TupleGetItem UniformInt UniformReal Unique Unstack UpdateState Xdivy Zeta ";

static int kind_of(const char *type)
{
    char spaced[96];
    snprintf(spaced, sizeof spaced, " %s ", type);
    return strstr(with_attributes, spaced) ? 1 : 2;
}

sp_mindir_id sp__mindir_out_instance(sp_mindir_out *o, const char *type, const char *attrs)
{
    if (!attrs) attrs = "";
    for (struct known *k = o->known; k; k = k->next)
        if (!strcmp(k->type, type) && !strcmp(k->attrs, attrs)) return k->name;
    struct known *k = sp__arena_alloc(&o->arena, sizeof *k);
    if (!k) {
        o->model.status = SP_NOMEM;
        return "";
    }
    snprintf(k->name, sizeof k->name, "%s:%d", type, ++o->counter);
    k->type = sp__mindir_out_text(o, "%s", type);
    k->attrs = sp__mindir_out_text(o, "%s", attrs);
    k->next = o->known;
    o->known = k;
    sp_mindir_out_msg p = {.status = SP_OK};
    sp__mindir_out_put_text(&p, 1, k->name);
    sp__mindir_out_put_text(&p, 2, type);
    put_attrs(&p, attrs);
    sp__mindir_out_put_text(&p, 4, "");
    sp__mindir_out_put_number(&p, 5, kind_of(type));
    sp__mindir_out_put_message(&o->primitives, 12, &p);
    return k->name;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* REF::<what> of these inputs, its result called `name`, of the type whose fields are in `type` (NULL: not said). */
void sp__mindir_out_node(sp_mindir_out *o, const char *what, int n, const sp_mindir_id *in, sp_mindir_id name,
                         sp_mindir_out_msg *type)
{
    sp_mindir_out_msg m = {.status = SP_OK};
    for (int i = 0; i < n; i++) sp__mindir_out_put_text(&m, 1, in[i]);
    sp__mindir_out_put_text(&m, 2, name);
    sp__mindir_out_put_text(&m, 3, name);
    sp__mindir_out_put_text(&m, 4, sp__mindir_out_text(o, "REF::%s", what));
    if (type) sp__mindir_out_put_fields(&m, type);
    sp__mindir_out_put_text(&m, 7, sp__mindir_out_text(o, "Default/%s-op%d", what, ++o->counter));
    sp__mindir_out_put_message(&o->graph_out, 1, &m);
}

void sp__mindir_out_put_value_type(sp_mindir_out_msg *m, const sp_meta *meta) { put_type(m, 5, "shape", meta); }

static void put_value(sp_mindir_out *o, const char *what, int n, const sp_mindir_id *in, sp_mindir_id name,
                      const sp_meta *meta)
{
    sp_mindir_out_msg type = {.status = SP_OK};
    put_type(&type, 5, "shape", meta);
    sp__mindir_out_node(o, what, n, in, name, &type);
}

sp_mindir_id sp__mindir_out_op(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in,
                               const sp_meta *meta)
{
    sp_mindir_id name = sp__mindir_out_fresh(o);
    put_value(o, sp__mindir_out_instance(o, type, attrs), n, in, name, meta);
    return name;
}

sp_mindir_id sp__mindir_out_item(sp_mindir_out *o, sp_mindir_id tuple, int i, const sp_meta *meta, sp_mindir_id name)
{
    sp_mindir_id in[2] = {tuple, sp__mindir_out_int(o, i)};
    if (!name) name = sp__mindir_out_fresh(o);
    put_value(o, sp__mindir_out_instance(o, "TupleGetItem", NULL), 2, in, name, meta);
    return name;
}

/* The node of an operator or call: its results get their names, through a tuple when there are several. */
sp_mindir_id sp__mindir_out_results(sp_mindir_out *o, const char *what, int n, const sp_mindir_id *in, int n_out,
                                    sp_value *const *out, bool tuple)
{
    sp_mindir_id name = n_out == 1 && !tuple ? sp__mindir_out_name(o, out[0]) : sp__mindir_out_fresh(o);
    if (n_out == 1 && !tuple) {
        put_value(o, what, n, in, name, &out[0]->meta);
        return name;
    }
    const sp_meta **metas = sp__arena_alloc(&o->arena, (size_t)(n_out + 1) * sizeof *metas);
    sp_mindir_out_msg type = {.status = SP_OK};
    if (!metas) {
        o->model.status = SP_NOMEM;
        return name;
    }
    for (int i = 0; i < n_out; i++) metas[i] = &out[i]->meta;
    sp__mindir_out_put_types(&type, 5, "shape", n_out, metas);
    sp__mindir_out_node(o, what, n, in, name, &type);
    for (int i = 0; i < n_out; i++)
        if (o->used[out[i]->id]) sp__mindir_out_item(o, name, i, &out[i]->meta, sp__mindir_out_name(o, out[i]));
    return name;
}

void sp__mindir_out_give(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in)
{
    const sp_node *node = o->node;
    sp__mindir_out_results(o, sp__mindir_out_instance(o, type, attrs), n, in, node->n_out, node->out,
                           node->n_out > 1 || node->op->n_out < 0);
}

sp_mindir_id sp__mindir_out_many(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in,
                                 int n_out, const sp_meta *const *metas)
{
    sp_mindir_id name = sp__mindir_out_fresh(o);
    sp_mindir_out_msg t = {.status = SP_OK};
    sp__mindir_out_put_types(&t, 5, "shape", n_out, metas);
    sp__mindir_out_node(o, sp__mindir_out_instance(o, type, attrs), n, in, name, &t);
    return name;
}

sp_mindir_id sp__mindir_out_tuple(sp_mindir_out *o, int n, sp_value *const *v)
{
    sp_mindir_id *names = sp__arena_alloc(&o->arena, (size_t)(n + 1) * sizeof *names);
    const sp_meta **metas = sp__arena_alloc(&o->arena, (size_t)(n + 1) * sizeof *metas);
    if (!names || !metas) {
        o->model.status = SP_NOMEM;
        return "";
    }
    for (int i = 0; i < n; i++) {
        names[i] = sp__mindir_out_use(o, v[i]);
        metas[i] = &v[i]->meta;
    }
    return sp__mindir_out_many(o, "MakeTuple", NULL, n, names, n, metas);
}

sp_mindir_id sp__mindir_out_reshape(sp_mindir_out *o, sp_mindir_id x, sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_meta meta = {.dtype = dtype, .rank = rank};
    if (rank) memcpy(meta.dims, dims, (size_t)rank * sizeof *dims);
    return SP_MINDIR_OUT(o, "Reshape", NULL, &meta, x, sp__mindir_out_ints(o, rank, dims));
}

sp_mindir_id sp__mindir_out_transpose(sp_mindir_out *o, sp_mindir_id x, const sp_meta *meta, const int64_t *perm)
{
    sp_meta t = *meta;
    for (int i = 0; i < t.rank; i++) t.dims[i] = meta->dims[perm[i]];
    return SP_MINDIR_OUT(o, "Transpose", NULL, &t, x, sp__mindir_out_ints(o, t.rank, perm));
}

sp_mindir_id sp__mindir_out_cast(sp_mindir_out *o, sp_mindir_id x, sp_meta meta, sp_dtype dtype)
{
    if (meta.dtype == dtype) return x;
    meta.dtype = dtype;
    return SP_MINDIR_OUT(o, "Cast", NULL, &meta, x, sp__mindir_out_int(o, sp__mindir_out_type_number(dtype)));
}

/* --- attributes of our operators --------------------------------------------------------------------------------- */

sp_mindir_id sp__mindir_out_in(sp_mindir_out *o, int i)
{
    if (!sp__mindir_out_has(o->node, i)) return sp__mindir_out_none(o);
    return sp__mindir_out_number_of(o, o->node, NULL, i) ? sp__mindir_out_varying(o, o->node, i)
                                                         : sp__mindir_out_use(o, o->node->in[i]);
}

int64_t sp__mindir_out_attr_int(const sp_node *n, const char *name)
{
    sp_attr_type type;
    const void *p = sp__node_attr_at(n, name, &type);
    return !p ? 0 : type == SP_ATTR_BOOL ? *(const bool *)p : *(const int64_t *)p;
}

double sp__mindir_out_attr_float(const sp_node *n, const char *name)
{
    sp_attr_type type;
    const double *p = sp__node_attr_at(n, name, &type);
    return p ? *p : 0;
}

sp_ints sp__mindir_out_attr_list(const sp_node *n, const char *name)
{
    sp_attr_type type;
    const void *p = sp__node_attr_at(n, name, &type);
    return p ? *(const sp_ints *)p : (sp_ints){.n = -1};
}

const char *sp__mindir_out_attr_text(const sp_node *n, const char *name)
{
    sp_attr_type type;
    const char *const *p = sp__node_attr_at(n, name, &type);
    return p && *p ? *p : "";
}

int sp__mindir_out_axis(const sp_node *n, const char *name, int rank)
{
    int64_t axis = sp__mindir_out_attr_int(n, name);
    return (int)(axis < 0 ? axis + rank : axis);
}

sp_mindir_id sp__mindir_out_attr(sp_mindir_out *o, const char *name)
{
    sp_attr_type type = SP_ATTR_INT;
    const void *p = sp__node_attr_at(o->node, name, &type);
    if (!p) return sp__mindir_out_none(o);
    switch (type) {
    case SP_ATTR_INT:
        return *(const int64_t *)p == SP_INT_NONE ? sp__mindir_out_none(o) : sp__mindir_out_int(o, *(const int64_t *)p);
    case SP_ATTR_BOOL: return sp__mindir_out_bool(o, *(const bool *)p);
    case SP_ATTR_FLOAT: return sp__mindir_out_float(o, *(const double *)p);
    case SP_ATTR_DTYPE: return sp__mindir_out_int(o, sp__mindir_out_type_number(*(const sp_dtype *)p));
    case SP_ATTR_INTS: {
        const sp_ints *v = p;
        return sp__mindir_out_ints(o, v->n < 0 ? 0 : v->n, v->v); /* None: all axes, which is an empty tuple there */
    }
    default: return sp__mindir_out_none(o);
    }
}

sp_mindir_id sp__mindir_out_sizes(sp_mindir_out *o)
{
    sp_ints shape = sp__mindir_out_attr_list(o->node, "shape");
    return sp__mindir_out_numbers(o, "shape", shape.n, shape.v);
}

sp_mindir_id sp__mindir_out_lift(sp_mindir_out *o, sp_meta *m)
{
    *m = *sp__mindir_out_meta(o, 0);
    sp_mindir_id x = sp__mindir_out_in(o, 0);
    if (m->rank > 0) return x;
    m->rank = 1;
    m->dims[0] = 1;
    return sp__mindir_out_reshape(o, x, m->dtype, 1, m->dims);
}

void sp__mindir_out_give_lifted(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in)
{
    const sp_meta *m = sp__mindir_out_result(o), one = {.dtype = m->dtype, .rank = 1, .dims = {1}};
    if (m->rank > 0) sp__mindir_out_give(o, type, attrs, n, in);
    else
        SP_MINDIR_OUT_GIVE(o, "Reshape", NULL, sp__mindir_out_op(o, type, attrs, n, in, &one),
                           sp__mindir_out_ints(o, 0, NULL));
}

void sp__mindir_out_spread(sp_ints v, int n, int64_t initial, int64_t *out)
{
    for (int i = 0; i < n; i++) out[i] = v.n <= 0 ? initial : v.v[v.n == 1 ? 0 : i];
}

bool sp__mindir_out_is(const sp_value *v, const sp_op *op)
{
    return v && v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP && v->node->op == op;
}
