/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.c - exchanges between ranks as operators, so that programs, gradients and Python have them as they have all others. An operator
 * holds the name of its group; every name that ends in "world_group" means all ranks. */
#include <string.h>

#include "ops/ops_impl.h"
#include "parallel/parallel_impl.h"
#include "spore/ops_attrs.h"

#define WORLD "world_group"

SP_ATTR_TABLE(reduce_attr_table, sp_all_reduce_attrs, (TEXT, op, "sum"), (TEXT, group, WORLD));
SP_ATTR_TABLE(group_attr_table, sp_rank_group_attrs, (TEXT, group, WORLD));
SP_ATTR_TABLE(root_attr_table, sp_rank_root_attrs, (INT, root, 0), (TEXT, group, WORLD));
SP_ATTR_TABLE(root_reduce_attr_table, sp_rank_reduce_attrs, (INT, root, 0), (TEXT, op, "sum"), (TEXT, group, WORLD));
SP_ATTR_TABLE(parts_attr_table, sp_rank_parts_attrs, (INTS_NEEDED, to), (INTS_NEEDED, from), (TEXT, group, WORLD));
SP_ATTR_TABLE(all_to_all_attr_table, sp_all_to_all_attrs, (INT, split_axis, 0), (INT, concat_axis, 0),
              (TEXT, group, WORLD));

static sp_status run(const sp_call *c, const char *group, sp_exchange e)
{
    sp_comm *comm;
    SP_TRY(sp_comm_find(group, &comm));
    e.dtype = (sp_dtype)c->in[0]->dtype;
    e.in = c->in[0]->data;
    e.out = c->out[0]->data;
    return sp__call_exchange(c, comm, &e);
}

static sp_status size_of_group(const char *group, int64_t *size)
{
    sp_comm *comm;
    SP_TRY(sp_comm_find(group, &comm));
    *size = comm->size;
    return SP_OK;
}

/* The first dimension times n, or divided by it. */
static sp_status infer_first(const sp_call *c, const char *group, bool divide, sp_meta *out)
{
    int64_t n;
    SP_TRY(size_of_group(group, &n));
    sp__meta_of(c->in[0], &out[0]);
    SP_CHECK(out[0].rank > 0, SP_VALUE, "%s: a Tensor of rank 0 has no first dimension to %s", c->op->name,
             divide ? "split" : "join along");
    if (out[0].dims[0] < 0) return SP_OK;
    if (divide) {
        SP_CHECK(out[0].dims[0] % n == 0, SP_VALUE,
                 "%s: the first dimension is %lld, which %lld ranks cannot split evenly", c->op->name,
                 (long long)out[0].dims[0], (long long)n);
        out[0].dims[0] /= n;
    } else {
        SP_CHECK(sp__mul_i64(out[0].dims[0], n, &out[0].dims[0]), SP_VALUE,
                 "%s: the first dimension times %lld ranks is too large", c->op->name, (long long)n);
    }
    return SP_OK;
}

/* The root of an exchange is a rank of its group. Checked before a number of 64 bits becomes an int. */
static sp_status check_root(const sp_call *c, const char *group, int64_t root)
{
    int64_t n;
    SP_TRY(size_of_group(group, &n));
    SP_CHECK(root >= 0 && root < n, SP_VALUE, "%s: root is %lld, which is no rank of the group: it has ranks 0 to %lld",
             c->op->name, (long long)root, (long long)(n - 1));
    return SP_OK;
}

static sp_status root_infer_first(const sp_call *c, bool divide, sp_meta *out)
{
    const sp_rank_root_attrs *a = c->attrs;
    SP_TRY(check_root(c, a->group, a->root));
    return infer_first(c, a->group, divide, out);
}

/* vmap: what is done to every element alike takes all slices at once; what is about the first dimension finds the slices in the second. */
static sp_status batch_whole(sp_builder *b, const sp_batch *v) { return sp__batch_apply(b, v, NULL, v->in); }

static sp_status batch_first(sp_builder *b, const sp_batch *v)
{
    if (sp__batch_rank(v, 0) < 1) return SP_DECLINED;
    sp_tensor *x = sp__batch_move(b, v->in[0], 0, 1);
    SP_TRY(sp__batch_apply(b, v, NULL, &x));
    v->out[0] = sp__batch_move(b, v->out[0], 1, 0);
    return sp__builder_status(b);
}

/* --- all_reduce -------------------------------------------------------------------------------------------------- */

static sp_status all_reduce_infer(const sp_call *c, sp_meta *out)
{
    const sp_all_reduce_attrs *a = c->attrs;
    sp_reduce how;
    SP_TRY(sp_reduce_parse(a->op, &how));
    SP_TRY(sp__reduce_check((sp_dtype)c->in[0]->dtype, how));
    return sp__infer_same(c, out);
}

static sp_status all_reduce_reference(const sp_call *c)
{
    const sp_all_reduce_attrs *a = c->attrs;
    sp_exchange e = {.kind = SP_EXCHANGE_ALL_REDUCE, .n = c->in[0]->count};
    SP_TRY(sp_reduce_parse(a->op, &e.reduce));
    return run(c, a->group, e);
}

static sp_tensor *all_reduce(sp_builder *b, sp_tensor *x, const char *op, const char *group)
{
    return sp_builder_apply(b, &sp_op_all_reduce, &(sp_all_reduce_attrs){op, group}, 1, &x);
}

static sp_status all_reduce_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_all_reduce_attrs *a = v->attrs;
    sp_reduce how;
    SP_TRY(sp_reduce_parse(a->op, &how));
    switch (how) {
    case SP_REDUCE_SUM:
    case SP_REDUCE_MEAN: v->din[0] = all_reduce(b, v->dout[0], a->op, a->group); break;
    case SP_REDUCE_PROD:
        v->din[0] = sp_div(b, all_reduce(b, sp_mul(b, v->dout[0], v->out[0]), "sum", a->group), v->in[0]);
        break;
    case SP_REDUCE_MAX:
    case SP_REDUCE_MIN: /* to every rank that has the extremum */
        v->din[0] = sp_mul(b, all_reduce(b, v->dout[0], "sum", a->group),
                           sp_cast(b, sp_equal(b, v->in[0], v->out[0]), (sp_dtype)v->in[0]->dtype));
        break;
    default: return sp__fail(SP_VALUE, "all_reduce: '%s' has no gradient", a->op);
    }
    return sp__builder_status(b);
}

const sp_op sp_op_all_reduce = {
    .name = "all_reduce",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_all_reduce_attrs),
    .infer = all_reduce_infer,
    .reference = all_reduce_reference,
    .vjp = all_reduce_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0),
    .collective = true,
    .await = sp__call_await,
    .doc = "The sum (prod, max, min, and, or, avg) of the ranks' tensors, on all ranks of a group.",
    .batch = batch_whole,
    .samples = "[2,3]; [4]",
};

/* --- all_gather, reduce_scatter: each the other's gradient --------------------------------------------------------- */

static sp_status all_gather_infer(const sp_call *c, sp_meta *out)
{
    return infer_first(c, ((const sp_rank_group_attrs *)c->attrs)->group, false, out);
}

static sp_status all_gather_reference(const sp_call *c)
{
    return run(c, ((const sp_rank_group_attrs *)c->attrs)->group,
               (sp_exchange){.kind = SP_EXCHANGE_ALL_GATHER, .n = c->in[0]->count});
}

static sp_status all_gather_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_rank_group_attrs *a = v->attrs;
    v->din[0] = sp_builder_apply(b, &sp_op_reduce_scatter, &(sp_all_reduce_attrs){"sum", a->group}, 1, v->dout);
    return sp__builder_status(b);
}

const sp_op sp_op_all_gather = {
    .name = "all_gather",
    .inputs = "x",
    SP_ATTRS(group_attr_table, sp_rank_group_attrs),
    .infer = all_gather_infer,
    .reference = all_gather_reference,
    .vjp = all_gather_vjp,
    .collective = true,
    .await = sp__call_await,
    .doc = "The ranks' tensors joined along the first dimension, on all ranks of a group.",
    .batch = batch_first,
    .samples = "[2,3]; [4]",
};

static sp_status reduce_scatter_infer(const sp_call *c, sp_meta *out)
{
    const sp_all_reduce_attrs *a = c->attrs;
    sp_reduce how;
    SP_TRY(sp_reduce_parse(a->op, &how));
    SP_TRY(sp__reduce_check((sp_dtype)c->in[0]->dtype, how));
    return infer_first(c, a->group, true, out);
}

static sp_status reduce_scatter_reference(const sp_call *c)
{
    const sp_all_reduce_attrs *a = c->attrs;
    sp_exchange e = {.kind = SP_EXCHANGE_REDUCE_SCATTER, .n = c->out[0]->count};
    SP_TRY(sp_reduce_parse(a->op, &e.reduce));
    return run(c, a->group, e);
}

static sp_status reduce_scatter_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_all_reduce_attrs *a = v->attrs;
    sp_reduce how;
    int64_t n;
    SP_TRY(sp_reduce_parse(a->op, &how));
    SP_TRY(size_of_group(a->group, &n));
    SP_CHECK(how == SP_REDUCE_SUM || how == SP_REDUCE_MEAN, SP_RUNTIME,
             "reduce_scatter: '%s' has no gradient, sum and avg have", a->op);
    sp_tensor *whole = sp_builder_apply(b, &sp_op_all_gather, &(sp_rank_group_attrs){a->group}, 1, v->dout);
    v->din[0] = how == SP_REDUCE_MEAN && whole ? sp__mul_number(b, whole, 1 / (double)n) : whole;
    return sp__builder_status(b);
}

const sp_op sp_op_reduce_scatter = {
    .name = "reduce_scatter",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_all_reduce_attrs),
    .infer = reduce_scatter_infer,
    .reference = reduce_scatter_reference,
    .vjp = reduce_scatter_vjp,
    .collective = true,
    .await = sp__call_await,
    .doc = "This rank's part, along the first dimension, of the sum of the ranks' tensors.",
    .batch = batch_first,
    .samples = "[2,3]; [4]",
};

/* --- broadcast --------------------------------------------------------------------------------------------------- */

static sp_status broadcast_reference(const sp_call *c)
{
    const sp_rank_root_attrs *a = c->attrs;
    return run(c, a->group, (sp_exchange){.kind = SP_EXCHANGE_BROADCAST, .n = c->in[0]->count, .root = (int)a->root});
}

static sp_status broadcast_infer(const sp_call *c, sp_meta *out)
{
    const sp_rank_root_attrs *a = c->attrs;
    SP_TRY(check_root(c, a->group, a->root));
    return sp__infer_same(c, out);
}

/* As MindSpore has it: every rank's gradient is its own. */
static sp_status broadcast_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_identity(b, v->dout[0]);
    return sp__builder_status(b);
}

const sp_op sp_op_rank_broadcast = {
    .name = "rank_broadcast",
    .inputs = "x",
    SP_ATTRS(root_attr_table, sp_rank_root_attrs),
    .infer = broadcast_infer,
    .reference = broadcast_reference,
    .vjp = broadcast_vjp,
    .collective = true,
    .await = sp__call_await,
    .batch = batch_whole,
    .doc = "The tensor of one rank, on all ranks of a group. Gradients stay with their ranks.",
    .samples = "[2,3]",
};

/* --- one rank and the others --------------------------------------------------------------------------------------- */

static sp_status is_root(const char *group, int64_t root, bool *out)
{
    sp_comm *comm;
    SP_TRY(sp_comm_find(group, &comm));
    *out = comm->rank == root;
    return SP_OK;
}

static sp_status rank_reduce_infer(const sp_call *c, sp_meta *out)
{
    const sp_rank_reduce_attrs *a = c->attrs;
    sp_reduce how;
    SP_TRY(sp_reduce_parse(a->op, &how));
    SP_TRY(sp__reduce_check((sp_dtype)c->in[0]->dtype, how));
    SP_TRY(check_root(c, a->group, a->root));
    return sp__infer_same(c, out);
}

static sp_status rank_reduce_reference(const sp_call *c)
{
    const sp_rank_reduce_attrs *a = c->attrs;
    sp_exchange e = {.kind = SP_EXCHANGE_REDUCE, .n = c->in[0]->count, .root = (int)a->root};
    bool root;
    SP_TRY(is_root(a->group, a->root, &root));
    SP_TRY(sp_reduce_parse(a->op, &e.reduce));
    if (!root) memset(c->out[0]->data, 0, sp_tensor_bytes(c->out[0])); /* the result is elsewhere */
    return run(c, a->group, e);
}

static sp_status rank_reduce_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_rank_reduce_attrs *a = v->attrs;
    SP_CHECK(strcmp(a->op, "sum") == 0, SP_VALUE, "rank_reduce: '%s' has no gradient, sum has", a->op);
    v->din[0] = sp_builder_apply(b, &sp_op_rank_broadcast, &(sp_rank_root_attrs){a->root, a->group}, 1, v->dout);
    return sp__builder_status(b);
}

const sp_op sp_op_rank_reduce = {
    .name = "rank_reduce",
    .inputs = "x",
    SP_ATTRS(root_reduce_attr_table, sp_rank_reduce_attrs),
    .infer = rank_reduce_infer,
    .reference = rank_reduce_reference,
    .vjp = rank_reduce_vjp,
    .collective = true,
    .await = sp__call_await,
    .doc = "The sum (prod, max, min, and, or, avg) of the ranks' tensors at one rank; zeros elsewhere.",
    .batch = batch_whole,
    .samples = "[2,3]",
};

static sp_status rank_gather_infer(const sp_call *c, sp_meta *out) { return root_infer_first(c, false, out); }

static sp_status rank_gather_reference(const sp_call *c)
{
    const sp_rank_root_attrs *a = c->attrs;
    bool root;
    SP_TRY(is_root(a->group, a->root, &root));
    if (!root) memset(c->out[0]->data, 0, sp_tensor_bytes(c->out[0]));
    return run(c, a->group, (sp_exchange){.kind = SP_EXCHANGE_GATHER, .n = c->in[0]->count, .root = (int)a->root});
}

static sp_status rank_gather_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_builder_apply(b, &sp_op_rank_scatter, v->attrs, 1, v->dout);
    return sp__builder_status(b);
}

const sp_op sp_op_rank_gather = {
    .name = "rank_gather",
    .inputs = "x",
    SP_ATTRS(root_attr_table, sp_rank_root_attrs),
    .infer = rank_gather_infer,
    .reference = rank_gather_reference,
    .vjp = rank_gather_vjp,
    .collective = true,
    .await = sp__call_await,
    .doc = "The ranks' tensors joined along the first dimension at one rank; zeros elsewhere.",
    .batch = batch_first,
    .samples = "[2,3]; [4]",
};

static sp_status rank_scatter_infer(const sp_call *c, sp_meta *out) { return root_infer_first(c, true, out); }

static sp_status rank_scatter_reference(const sp_call *c)
{
    const sp_rank_root_attrs *a = c->attrs;
    return run(c, a->group, (sp_exchange){.kind = SP_EXCHANGE_SCATTER, .n = c->out[0]->count, .root = (int)a->root});
}

static sp_status rank_scatter_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_builder_apply(b, &sp_op_rank_gather, v->attrs, 1, v->dout);
    return sp__builder_status(b);
}

const sp_op sp_op_rank_scatter = {
    .name = "rank_scatter",
    .inputs = "x",
    SP_ATTRS(root_attr_table, sp_rank_root_attrs),
    .infer = rank_scatter_infer,
    .reference = rank_scatter_reference,
    .vjp = rank_scatter_vjp,
    .collective = true,
    .await = sp__call_await,
    .doc = "This rank's part, along the first dimension, of one rank's tensor.",
    .batch = batch_first,
    .samples = "[2,3]; [4]",
};

/* --- all_to_all -------------------------------------------------------------------------------------------------- */

/* Parts along split_axis go to their ranks; what comes is joined along concat_axis. Written with views around the plain exchange of the first
 * dimension, which is the operator rank_exchange. */
static sp_status rank_exchange_infer(const sp_call *c, sp_meta *out)
{
    int64_t n;
    SP_TRY(size_of_group(((const sp_rank_group_attrs *)c->attrs)->group, &n));
    sp__meta_of(c->in[0], &out[0]);
    SP_CHECK(out[0].rank > 0 && (out[0].dims[0] < 0 || out[0].dims[0] == n), SP_VALUE,
             "rank_exchange: the first dimension must be the %lld ranks", (long long)n);
    return SP_OK;
}

static sp_status rank_exchange_reference(const sp_call *c)
{
    const sp_rank_group_attrs *a = c->attrs;
    int64_t n;
    SP_TRY(size_of_group(a->group, &n));
    return run(c, a->group, (sp_exchange){.kind = SP_EXCHANGE_ALL_TO_ALL, .n = c->in[0]->count / n});
}

static sp_status rank_exchange_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_builder_apply(b, &sp_op_rank_exchange, v->attrs, 1, v->dout);
    return sp__builder_status(b);
}

const sp_op sp_op_rank_exchange = {
    .name = "rank_exchange",
    .inputs = "x",
    SP_ATTRS(group_attr_table, sp_rank_group_attrs),
    .infer = rank_exchange_infer,
    .reference = rank_exchange_reference,
    .vjp = rank_exchange_vjp,
    .collective = true,
    .await = sp__call_await,
    .doc = "x[i] goes to rank i, and what comes from rank i is result[i].",
    .batch = batch_first,
    .samples = "[1,3]",
};

static sp_status all_to_all_compose(sp_builder *b, const sp_call *c)
{
    const sp_all_to_all_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    int64_t n, dims[SP_RANK_MAX + 1], split = a->split_axis, join = a->concat_axis;
    SP_TRY(size_of_group(a->group, &n));
    SP_CHECK(split >= -x->rank && split < x->rank && join >= -x->rank && join < x->rank, SP_VALUE,
             "all_to_all: axes %lld and %lld are out of range for rank %d", (long long)split, (long long)join, x->rank);
    split += split < 0 ? x->rank : 0;
    join += join < 0 ? x->rank : 0;
    SP_CHECK(x->dims[split] % n == 0, SP_VALUE,
             "all_to_all: dimension %lld is %lld, which %lld ranks cannot split evenly", (long long)split,
             (long long)x->dims[split], (long long)n);
    sp_tensor *parts[64];
    SP_CHECK(n <= 64, SP_VALUE, "all_to_all: %lld ranks, at most 64 are supported", (long long)n);
    for (int64_t i = 0; i < n; i++)
        parts[i] = sp__take_range(b, x, (int)split, i * (x->dims[split] / n), x->dims[split] / n);
    sp_tensor *come = sp_builder_apply(b, &sp_op_rank_exchange, &(sp_rank_group_attrs){a->group}, 1,
                                       (sp_tensor *const[]){sp__stack(b, 0, (int)n, parts)});
    for (int k = 0; k < x->rank; k++) dims[k] = x->dims[k] / (k == split ? n : 1);
    for (int64_t i = 0; i < n; i++) parts[i] = sp_reshape(b, sp__take_range(b, come, 0, i, 1), x->rank, dims);
    c->out[0] = sp__concat(b, join, (int)n, parts);
    return sp__builder_status(b);
}

const sp_op sp_op_all_to_all = {
    .name = "all_to_all",
    .inputs = "x",
    SP_ATTRS(all_to_all_attr_table, sp_all_to_all_attrs),
    .compose = all_to_all_compose,
    .doc = "Parts along split_axis go to their ranks, what comes from them is joined along concat_axis.",
    .samples = "[2,3]; [4] ; [2,4] split_axis=1",
};

/* --- parts of unequal size ----------------------------------------------------------------------------------------- */

static sp_status check_parts(const sp_call *c, const sp_comm *comm, int64_t *n_from)
{
    const sp_rank_parts_attrs *a = c->attrs;
    int64_t n_to = 0;
    *n_from = 0;
    SP_CHECK(a->to.n == comm->size && a->from.n == comm->size, SP_VALUE,
             "rank_parts: %d sizes to send and %d to receive, wanted one for each of %d ranks", (int)a->to.n,
             (int)a->from.n, comm->size);
    for (int i = 0; i < comm->size; i++)
        SP_CHECK(a->to.v[i] >= 0 && a->from.v[i] >= 0 && !__builtin_add_overflow(n_to, a->to.v[i], &n_to) &&
                     !__builtin_add_overflow(*n_from, a->from.v[i], n_from),
                 SP_VALUE, "rank_parts: %lld elements to rank %d and %lld from it", (long long)a->to.v[i], i,
                 (long long)a->from.v[i]);
    SP_CHECK(c->in[0]->rank == 1 && (c->in[0]->dims[0] < 0 || c->in[0]->dims[0] == n_to), SP_VALUE,
             "rank_parts: the parts have %lld elements together, but x has another number, or more than one dimension",
             (long long)n_to);
    return SP_OK;
}

static sp_status parts_infer(const sp_call *c, sp_meta *out)
{
    sp_comm *comm;
    int64_t n;
    SP_TRY(sp_comm_find(((const sp_rank_parts_attrs *)c->attrs)->group, &comm));
    SP_TRY(check_parts(c, comm, &n));
    out[0] = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype, .rank = 1, .dims = {n}};
    return SP_OK;
}

static sp_status parts_reference(const sp_call *c)
{
    const sp_rank_parts_attrs *a = c->attrs;
    sp_comm *comm;
    SP_TRY(sp_comm_find(a->group, &comm));
    return sp_comm_run(comm, &(sp_exchange){.kind = SP_EXCHANGE_ALL_TO_ALL,
                                            .dtype = (sp_dtype)c->in[0]->dtype,
                                            .in = c->in[0]->data,
                                            .out = c->out[0]->data,
                                            .n_to = a->to.v,
                                            .n_from = a->from.v});
}

static sp_status parts_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_rank_parts_attrs *a = v->attrs;
    v->din[0] = sp_builder_apply(b, &sp_op_rank_parts, &(sp_rank_parts_attrs){a->from, a->to, a->group}, 1, v->dout);
    return sp__builder_status(b);
}

const sp_op sp_op_rank_parts = {
    .name = "rank_parts",
    .inputs = "x",
    SP_ATTRS(parts_attr_table, sp_rank_parts_attrs),
    .infer = parts_infer,
    .reference = parts_reference,
    .vjp = parts_vjp,
    .collective = true,
    .await = sp__call_await,
    .doc =
        "Parts of x, with `to` elements each, go to the ranks of a group; the result is what comes, with `from` elements each.",
    .samples = "[3] to=(3,) from=(3,)",
};
