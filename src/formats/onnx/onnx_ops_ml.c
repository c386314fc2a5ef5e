/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_ml.c - the operators of ai.onnx.ml that the standard's own tests use: labels, thresholds, features, trees. */
#include <math.h>

#include "formats/onnx/onnx_model.h"
#include "ir/builder_keep.h"

static sp_status binarizer(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *limit = sp__const(c->b, sp__onnx_attr_float(c, "threshold", 0), x);
    return sp__onnx_return(c, sp_cast(c->b, sp_greater(c->b, x, limit), sp_tensor_dtype(x)));
}

static sp_status feature_extractor(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *at = sp_reshape(c->b, c->in[1], 1, (int64_t[]){-1});
    if (sp_tensor_rank(x) == 1) x = sp_reshape(c->b, x, 2, (int64_t[]){1, -1});
    SP_TRY(sp_builder_status(c->b));
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather", x, at, "axis=%d", sp_tensor_rank(x) - 1));
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

/* Keys, values or the default under one of its names (tensor, texts, integers, floats); NULL: not given. */
static sp_status list_of(sp_onnx_call *c, const char *const names[4], sp_tensor **out, int *type)
{
    const sp_onnx_attr *a;
    sp_tensor *t = NULL;
    *out = NULL;
    *type = 0;
    if ((a = sp__onnx_attr(c, names[0])) != NULL && a->tensor != NULL) {
        *out = a->tensor;
        *type = a->tensor_type;
        return SP_OK;
    }
    if ((a = sp__onnx_attr(c, names[1])) != NULL) {
        bool one = a->s != NULL;
        SP_TRY(sp_tensor_create(SP_DTYPE_I64, 1, (int64_t[]){one ? 1 : a->n}, &t));
        SP_TRY(sp__builder_keep(c->b, &t));
        *out = t;
        for (int i = 0; i < (one ? 1 : a->n); i++) {
            const char *text = one ? a->s : a->strings[i];
            SP_TRY(sp__onnx_text_code(c->texts, text, strlen(text), (int64_t *)sp_tensor_data(t) + i));
        }
        *type = SP_ONNX_STRING;
    } else if ((a = sp__onnx_attr(c, names[2])) != NULL) {
        SP_TRY(
            sp_tensor_create_from(SP_DTYPE_I64, 1, (int64_t[]){a->n > 0 ? a->n : 1}, a->n > 0 ? a->ints : &a->i, &t));
        SP_TRY(sp__builder_keep(c->b, &t));
        *out = t;
    } else if ((a = sp__onnx_attr(c, names[3])) != NULL) {
        SP_TRY(sp_tensor_create(SP_DTYPE_F32, 1, (int64_t[]){a->n > 0 ? a->n : 1}, &t));
        SP_TRY(sp__builder_keep(c->b, &t));
        *out = t;
        for (int i = 0; i < (a->n > 0 ? a->n : 1); i++)
            ((float *)sp_tensor_data(t))[i] = (float)(a->n > 0 ? a->floats[i] : a->f);
    }
    return sp_builder_status(c->b);
}

/* What stands for a key that is not there: -1, "_Unused", or minus zero. */
static sp_status default_label(sp_onnx_call *c, sp_dtype dtype, int type, sp_tensor **out)
{
    int64_t code = -1;
    if (type == SP_ONNX_STRING) SP_TRY(sp__onnx_text_code(c->texts, "_Unused", 7, &code));
    *out = sp__onnx_scalar(c, dtype, sp_dtype_kind(dtype) == 'f' ? -0.0 : (double)code);
    return sp_builder_status(c->b);
}

static sp_status label_encoder(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *keys, *values, *missing;
    int key_type, type, missing_type;
    SP_TRY(list_of(c, (const char *const[]){"keys_tensor", "keys_strings", "keys_int64s", "keys_floats"}, &keys,
                   &key_type));
    SP_TRY(list_of(c, (const char *const[]){"values_tensor", "values_strings", "values_int64s", "values_floats"},
                   &values, &type));
    SP_CHECK(keys != NULL && values != NULL && sp_tensor_count(keys) == sp_tensor_count(values), SP_FORMAT,
             "keys and values do not fit");
    SP_CHECK(key_type == sp__onnx_in_type(c, 0), SP_TYPE, "the keys are of another type than the input");
    SP_TRY(list_of(
        c,
        (const char *const[]){"default_tensor", type == SP_ONNX_STRING ? "default_string" : "-",
                              type == 0 && sp_dtype_kind(sp_tensor_dtype(values)) == 'i' ? "default_int64" : "-",
                              type == 0 && sp_dtype_kind(sp_tensor_dtype(values)) == 'f' ? "default_float" : "-"},
        &missing, &missing_type));
    if (missing == NULL) SP_TRY(default_label(c, sp_tensor_dtype(values), type, &missing));
    /* One comparison with all keys; a key that is not there finds the default, which stands behind the values. */
    int rank = sp_tensor_rank(x);
    int64_t dims[SP_RANK_MAX], n = sp_tensor_count(keys);
    SP_CHECK(rank < SP_RANK_MAX, SP_VALUE, "rank %d, at most %d is possible", rank, SP_RANK_MAX - 1);
    for (int i = 0; i < rank; i++) dims[i] = sp_tensor_dims(x)[i];
    dims[rank] = 1;
    sp_tensor *same = sp_equal(c->b, sp_reshape(c->b, x, rank + 1, dims), sp_reshape(c->b, keys, 1, (int64_t[]){-1}));
    sp_tensor *number = sp__positions(c->b, rank + 1, rank, n), *none = sp__onnx_scalar(c, SP_DTYPE_I64, (double)n);
    sp_tensor *at = SP_ONNX_OP1(c, "reduce_min", sp_select(c->b, same, number, none), "axis=(-1,), keepdims=False");
    sp_tensor *all = sp__concat(
        c->b, 0, 2,
        (sp_tensor *[]){sp_reshape(c->b, values, 1, (int64_t[]){-1}),
                        sp_cast(c->b, sp_reshape(c->b, missing, 1, (int64_t[]){1}), sp_tensor_dtype(values))});
    c->out_type[0] = type;
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather", all, at, "axis=0"));
}

/* --- trees ------------------------------------------------------------------------------------------------------- */

typedef struct trees {
    int64_t n_nodes, n_leafs, n_members;
    const sp_onnx_attr *features, *yes, *no, *yes_leaf, *no_leaf, *targets, *missing_yes;
    const double *splits, *weights, *members;
    const double *modes;
    double *first_member; /* by node: place of its members */
} trees;

static sp_status doubles_of(sp_onnx_call *c, const char *name, bool needed, const double **out, int64_t *n)
{
    const sp_onnx_attr *a = sp__onnx_attr(c, name);
    sp_tensor *t = NULL;
    *n = 0;
    *out = NULL;
    SP_CHECK(!needed || (a != NULL && a->tensor != NULL), SP_FORMAT, "attribute '%s' is missing", name);
    if (a == NULL || a->tensor == NULL) return SP_OK;
    SP_TRY(sp_tensor_create(SP_DTYPE_F64, sp_tensor_rank(a->tensor), sp_tensor_dims(a->tensor), &t));
    SP_TRY(sp__builder_keep(c->b, &t));
    SP_TRY(sp_tensor_assign(t, a->tensor));
    *out = sp_tensor_data(t);
    *n = sp_tensor_count(t);
    return SP_OK;
}

static sp_status trees_of(sp_onnx_call *c, int64_t n_features, trees *t)
{
    int64_t n = 0;
    *t = (trees){.features = sp__onnx_attr(c, "nodes_featureids"),
                 .yes = sp__onnx_attr(c, "nodes_truenodeids"),
                 .no = sp__onnx_attr(c, "nodes_falsenodeids"),
                 .yes_leaf = sp__onnx_attr(c, "nodes_trueleafs"),
                 .no_leaf = sp__onnx_attr(c, "nodes_falseleafs"),
                 .targets = sp__onnx_attr(c, "leaf_targetids"),
                 .missing_yes = sp__onnx_attr(c, "nodes_missing_value_tracks_true")};
    SP_TRY(doubles_of(c, "nodes_splits", true, &t->splits, &t->n_nodes));
    SP_TRY(doubles_of(c, "nodes_modes", true, &t->modes, &n));
    SP_CHECK(n == t->n_nodes, SP_FORMAT, "nodes_modes has %lld entries, nodes_splits %lld", (long long)n,
             (long long)t->n_nodes);
    SP_TRY(doubles_of(c, "leaf_weights", true, &t->weights, &t->n_leafs));
    SP_TRY(doubles_of(c, "membership_values", false, &t->members, &t->n_members));
    const sp_onnx_attr *all[] = {t->features, t->yes, t->no, t->yes_leaf, t->no_leaf};
    for (int i = 0; i < 5; i++)
        SP_CHECK(all[i] != NULL && all[i]->n == t->n_nodes, SP_FORMAT, "the lists of nodes have different lengths");
    SP_CHECK(t->targets != NULL && t->targets->n == t->n_leafs, SP_FORMAT,
             "the lists of leaves have different lengths");
    sp_tensor *places = NULL;
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F64, 1, (int64_t[]){t->n_nodes + 1}, &places));
    SP_TRY(sp__builder_keep(c->b, &places));
    t->first_member = sp_tensor_data(places);
    int64_t member = 0;
    for (int64_t i = 0; i < t->n_nodes; i++) {
        SP_CHECK(t->features->ints[i] >= 0 && t->features->ints[i] < n_features, SP_INDEX, "feature %lld of %lld",
                 (long long)t->features->ints[i], (long long)n_features);
        for (int k = 0; k < 2; k++) {
            const sp_onnx_attr *to = k ? t->yes : t->no, *leaf = k ? t->yes_leaf : t->no_leaf;
            SP_CHECK(to->ints[i] >= 0 && to->ints[i] < (leaf->ints[i] ? t->n_leafs : t->n_nodes), SP_INDEX,
                     "node %lld leads nowhere", (long long)i);
        }
        if (t->modes[i] != 6) continue;
        t->first_member[i] = (double)member;
        while (member < t->n_members && !isnan(t->members[member])) member++;
        member++;
    }
    return SP_OK;
}

static bool goes_yes(const trees *t, int64_t node, double v)
{
    double split = t->splits[node];
    if (isnan(v) && t->missing_yes != NULL && node < t->missing_yes->n && t->missing_yes->ints[node]) return true;
    switch ((int)t->modes[node]) {
    case 0: return v <= split;
    case 1: return v < split;
    case 2: return v >= split;
    case 3: return v > split;
    case 4: return v == split;
    case 5: return v != split;
    default:
        for (int64_t i = (int64_t)t->first_member[node]; i < t->n_members && !isnan(t->members[i]); i++)
            if (t->members[i] == v) return true;
        return false;
    }
}

/* The leaf a row ends in; -1: it goes in a circle. */
static int64_t leaf_of(const trees *t, int64_t node, const double *row)
{
    for (int64_t steps = 0; steps <= t->n_nodes; steps++) {
        bool yes = goes_yes(t, node, row[t->features->ints[node]]);
        int64_t next = (yes ? t->yes : t->no)->ints[node];
        if ((yes ? t->yes_leaf : t->no_leaf)->ints[node]) return next;
        node = next;
    }
    return -1;
}

static sp_status tree_ensemble(sp_onnx_call *c)
{
    sp_tensor *x = NULL, *out = NULL;
    const sp_onnx_attr *roots = sp__onnx_attr(c, "tree_roots");
    trees t;
    int64_t n_targets = sp__onnx_attr_int(c, "n_targets", 1), how = sp__onnx_attr_int(c, "aggregate_function", 1);
    SP_CHECK(sp_tensor_rank(c->in[0]) == 2 && n_targets > 0 && n_targets < INT32_MAX && roots != NULL, SP_VALUE,
             "x must be [rows, features]");
    SP_CHECK(sp__onnx_attr_int(c, "post_transform", 0) == 0, SP_DECLINED, "this post_transform is not supported");
    const int64_t *d = sp_tensor_dims(c->in[0]);
    SP_TRY(sp__tensor_need_value(c->in[0]));
    SP_TRY(trees_of(c, d[1], &t));
    SP_TRY(sp_tensor_create(SP_DTYPE_F64, 2, d, &x));
    SP_TRY(sp__builder_keep(c->b, &x));
    SP_TRY(sp_tensor_assign(x, c->in[0]));
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F64, 2, (int64_t[]){d[0], n_targets}, &out));
    SP_TRY(sp__builder_keep(c->b, &out));
    for (int64_t r = 0; r < d[0]; r++) {
        double *to = (double *)sp_tensor_data(out) + r * n_targets;
        for (int i = 0; i < roots->n; i++) {
            SP_CHECK(roots->ints[i] >= 0 && roots->ints[i] < t.n_nodes, SP_INDEX, "root %lld is no node",
                     (long long)roots->ints[i]);
            int64_t leaf = leaf_of(&t, roots->ints[i], (const double *)sp_tensor_data(x) + r * d[1]);
            SP_CHECK(leaf >= 0, SP_FORMAT, "the nodes of a tree form a circle");
            int64_t target = t.targets->ints[leaf];
            SP_CHECK(target >= 0 && target < n_targets, SP_INDEX, "target %lld of %lld", (long long)target,
                     (long long)n_targets);
            double w = t.weights[leaf];
            to[target] = how < 2 || i == 0 ? to[target] + w : how == 2 ? fmin(to[target], w) : fmax(to[target], w);
        }
        for (int64_t k = 0; how == 0 && k < n_targets; k++) to[k] /= roots->n > 0 ? roots->n : 1;
    }
    return sp__onnx_return(c, sp_cast(c->b, out, sp_tensor_dtype(c->in[0])));
}

const sp_onnx_handler sp__onnx_ml[] = {
    {"ai.onnx.ml:Binarizer", 1, binarizer, NULL, 0},
    {"ai.onnx.ml:ArrayFeatureExtractor", 1, feature_extractor, NULL, SP_ONNX_KEEPS},
    {"ai.onnx.ml:LabelEncoder", 2, label_encoder, NULL, SP_ONNX_TYPED},
    {"ai.onnx.ml:TreeEnsemble", 5, tree_ensemble, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
