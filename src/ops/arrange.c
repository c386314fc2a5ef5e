/* SPDX-License-Identifier: Apache-2.0 */
/* arrange.c - the same elements in other places: padding, repetition, rotation, triangles and diagonals.
 *
 * Padding by neighbours (reflect, replicate, circular) reads along each axis through one list of positions, so its
 * gradient is that of `index`: elements read twice get two gradients. */
#include "ops/index_plan.h"
#include "ops/kernels.h"

/* --- pad --------------------------------------------------------------------------------------------------------- */

#define PAD_MAX (INT64_MAX / 8) /* a size and two of them can be added */
SP_ATTR_TABLE(pad_attr_table, sp_pad_attrs, (INTS_NEEDED, pads), (TEXT, mode, "constant"), (NUMBER, value, 0));

static sp_tensor *apply_slice(sp_builder *b, const sp_op *op, int n_in, sp_tensor *const *in, int rank,
                              const int64_t *start, const int64_t *stop)
{
    const sp_slice_attrs attrs = {{rank, start}, {rank, stop}, {-1, NULL}};
    return sp_builder_apply(b, op, &attrs, n_in, in);
}

static sp_status pad_constant(sp_builder *b, sp_tensor *x, const sp_pad_attrs *a, sp_tensor **out)
{
    int64_t dims[SP_RANK_MAX], from[SP_RANK_MAX], to[SP_RANK_MAX], at[SP_RANK_MAX], end[SP_RANK_MAX];
    bool cut = false, grow = false;
    for (int i = 0; i < x->rank; i++) {
        const int64_t before = a->pads.v[2 * i], after = a->pads.v[2 * i + 1];
        dims[i] = x->dims[i] + before + after;
        SP_CHECK(dims[i] >= 0, SP_VALUE, "padding %lld and %lld leaves %lld elements of dimension %d",
                 (long long)before, (long long)after, (long long)dims[i], i);
        from[i] = before < 0 ? -before : 0;
        to[i] = x->dims[i] + (after < 0 ? after : 0);
        if (to[i] < from[i]) to[i] = from[i] = 0;
        at[i] = before > 0 ? before : 0;
        end[i] = at[i] + to[i] - from[i];
        cut |= before < 0 || after < 0;
        grow |= before > 0 || after > 0;
    }
    if (cut) x = apply_slice(b, &sp_op_slice, 1, &x, x->rank, from, to);
    if (grow && x) {
        const sp_full_attrs full = {{x->rank, dims}, a->value, (sp_dtype)x->dtype};
        sp_tensor *frame = sp_builder_apply(b, &sp_op_full, &full, 0, NULL);
        x = apply_slice(b, &sp_op_slice_put, 2, (sp_tensor *const[]){frame, x}, frame ? frame->rank : 0, at, end);
    }
    *out = cut || grow ? x : SP_APPLY1(b, sp_op_copy, x);
    return SP_OK;
}

/* Where position p (may be outside) of a dimension of n elements reads from. */
static int64_t neighbour(char mode, int64_t p, int64_t n)
{
    switch (mode) {
    case 'r': p = p < 0 ? -p : p; return p >= n ? 2 * (n - 1) - p : p;   /* reflect: without the edge */
    case 's': p = p < 0 ? -p - 1 : p; return p >= n ? 2 * n - 1 - p : p; /* symmetric: with it */
    case 'c': return ((p % n) + n) % n;                                  /* circular */
    default: return p < 0 ? 0 : p >= n ? n - 1 : p;                      /* replicate */
    }
}

/* Where to read from along a dimension of n elements, by its padding. Circular padding goes around what is left after
 * cutting off; the others go by the whole dimension. */
static sp_status pad_positions(char mode, int64_t n, int64_t before, int64_t after, int64_t *at, int64_t count)
{
    int64_t first = 0, left = n;
    if (mode == 'c') {
        first = before < 0 ? -before : 0;
        left = n - first + (after < 0 ? after : 0);
        SP_CHECK(left > 0 && before <= left && after <= left, SP_VALUE,
                 "padding %lld and %lld goes around %lld elements, which is too few", (long long)before,
                 (long long)after, (long long)(left > 0 ? left : 0));
        if (before < 0) before = 0;
    }
    for (int64_t k = 0; k < count; k++) at[k] = first + neighbour(mode, k - before, left);
    return SP_OK;
}

static sp_status pad_compose(sp_builder *b, const sp_call *c)
{
    static const struct {
        const char *name;
        char mode;
    } modes[] = {{"constant", 'k'}, {"reflect", 'r'},   {"symmetric", 's'}, {"circular", 'c'},
                 {"wrap", 'c'},     {"replicate", 'e'}, {"edge", 'e'}};
    const sp_pad_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    SP_CHECK(a->pads.n == 2 * x->rank, SP_VALUE, "there are %d paddings, but a tensor of rank %d needs %d", a->pads.n,
             x->rank, 2 * x->rank);
    for (int i = 0; i < a->pads.n; i++)
        SP_CHECK(a->pads.v[i] >= -PAD_MAX && a->pads.v[i] <= PAD_MAX, SP_VALUE, "padding by %lld, %lld is the most",
                 (long long)a->pads.v[i], (long long)PAD_MAX);
    char mode = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (a->mode && strcmp(modes[i].name, a->mode) == 0) mode = modes[i].mode;
    SP_CHECK(mode, SP_VALUE, "mode is '%s', it must be constant, reflect, symmetric, circular or replicate",
             a->mode ? a->mode : "None");
    if (mode == 'k') return pad_constant(b, x, a, &c->out[0]);
    for (int i = 0; i < c->in[0]->rank && x; i++) {
        const int64_t n = x->dims[i], before = a->pads.v[2 * i], after = a->pads.v[2 * i + 1];
        if (!before && !after) continue;
        const int64_t most = mode == 'r' ? n - 1 : mode == 'e' ? INT64_MAX : n;
        SP_CHECK(n > 0 && before <= most && after <= most, SP_VALUE,
                 "padding %lld and %lld by mode %s is too much for dimension %d of size %lld", (long long)before,
                 (long long)after, a->mode, i, (long long)n);
        SP_CHECK(n + before + after >= 0, SP_VALUE, "padding %lld and %lld leaves nothing of dimension %d",
                 (long long)before, (long long)after, i);
        sp_tensor *list;
        SP_TRY(sp_tensor_create(SP_DTYPE_I64, 1, (const int64_t[]){n + before + after}, &list));
        sp_status status = pad_positions(mode, n, before, after, (int64_t *)(void *)list->data, list->count);
        list = sp_builder_take_tensor(b, list);
        SP_TRY(status);
        const int64_t axis = i;
        const sp_index_attrs attrs = {{1, &axis}};
        x = sp_builder_apply(b, &sp_op_index, &attrs, 2, (sp_tensor *const[]){x, list});
    }
    c->out[0] = x == c->in[0] ? SP_APPLY1(b, sp_op_copy, x) : x;
    return SP_OK;
}

const sp_op sp_op_pad = {
    .name = "pad",
    .inputs = "x",
    SP_ATTRS(pad_attr_table, sp_pad_attrs),
    .compose = pad_compose,
    .mindir = "PadV3",
    .onnx = "Pad",
    .doc = "More elements before and after each dimension: a constant, or what stands inside, mirrored, repeated or "
           "gone "
           "around. Negative paddings cut off.",
    .samples =
        "[2,3] pads=(1,0,0,2) value=1.5; [4] pads=(-1,2); [2,3] pads=(0,0,2,1) mode=reflect; "
        "[2,3] pads=(1,2,0,0) mode=symmetric; [2,3] pads=(1,0,2,1) mode=circular; [5] pads=(-2,2) mode=circular; [2,3] pads=(0,0,3,1) "
        "mode=replicate",
};

/* --- tile, repeat ------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(tile_attr_table, sp_tile_attrs, (INTS_NEEDED, dims));

/* x with dimension `axis` repeated: as a whole (tile) or element by element. */
static sp_tensor *repeat_axis(sp_builder *b, sp_tensor *x, int axis, int64_t times, bool elements)
{
    if (!x) return NULL;
    int64_t pre = 1, post = 1, dims[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) {
        dims[i] = x->dims[i];
        if (i < axis) pre *= dims[i];
        else if (i > axis) post *= dims[i];
    }
    const int64_t n = dims[axis];
    const int64_t flat[3] = {elements ? pre * n : pre, 1, elements ? post : n * post};
    const int64_t wide[3] = {flat[0], times, flat[2]};
    dims[axis] = n * times;
    return sp_reshape(b, sp_broadcast_to(b, sp_reshape(b, x, 3, flat), 3, wide), x->rank, dims);
}

static sp_status tile_compose(sp_builder *b, const sp_call *c)
{
    const sp_ints reps = ((const sp_tile_attrs *)c->attrs)->dims;
    sp_tensor *x = c->in[0];
    const int rank = reps.n > x->rank ? reps.n : x->rank;
    SP_CHECK(reps.n >= 0 && rank <= SP_RANK_MAX, SP_VALUE, "there are %d repetitions, at most %d are possible", reps.n,
             SP_RANK_MAX);
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) dims[i] = i < rank - x->rank ? 1 : x->dims[i - (rank - x->rank)];
    sp_tensor *y = rank > x->rank ? sp_reshape(b, x, rank, dims) : x;
    for (int i = 0; i < reps.n; i++) {
        SP_CHECK(reps.v[i] >= 0, SP_VALUE, "repetition %d is %lld, it must not be negative", i, (long long)reps.v[i]);
        if (reps.v[i] != 1) y = repeat_axis(b, y, rank - reps.n + i, reps.v[i], false);
    }
    c->out[0] = y == x ? SP_APPLY1(b, sp_op_copy, x) : y;
    return SP_OK;
}

const sp_op sp_op_tile = {
    .name = "tile",
    .inputs = "input",
    SP_ATTRS(tile_attr_table, sp_tile_attrs),
    .compose = tile_compose,
    .mindir = "Tile",
    .onnx = "Tile",
    .python = "ops.tile(input, dims); ops.Tile()(input, dims); mint.tile(input, dims)",
    .doc = "The tensor repeated as a whole along each dimension; missing repetitions are 1, missing dimensions are "
           "added in front.",
    .samples = "[2,3] dims=(2,1); [3] dims=(2,2); [2,1,2] dims=(3,); [2] dims=(1,)",
};

SP_ATTR_TABLE(repeat_attr_table, sp_repeat_attrs, (INT_NEEDED, repeats), (INT, axis, 0));

static sp_status repeat_compose(sp_builder *b, const sp_call *c)
{
    const sp_repeat_attrs *a = c->attrs;
    int axis;
    SP_CHECK(c->in[0]->rank > 0, SP_VALUE, "a tensor without dimensions has no axis to repeat along");
    SP_TRY(sp__shape_axis(a->axis, c->in[0]->rank, "axis", &axis));
    SP_CHECK(a->repeats >= 0, SP_VALUE, "repeats is %lld, it must not be negative", (long long)a->repeats);
    c->out[0] = repeat_axis(b, c->in[0], axis, a->repeats, true);
    return SP_OK;
}

const sp_op sp_op_repeat = {
    .name = "repeat",
    .inputs = "x",
    SP_ATTRS(repeat_attr_table, sp_repeat_attrs),
    .compose = repeat_compose,
    .doc = "Each slice along an axis repeated in place.",
    .samples = "[2,3] repeats=2; [2,3] repeats=3 axis=-1; [2,2,2] repeats=1 axis=1",
};

/* --- roll -------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(roll_attr_table, sp_roll_attrs, (INTS_NEEDED, shifts), (INTS_OR_NONE, dims));

static sp_status roll_compose(sp_builder *b, const sp_call *c)
{
    const sp_roll_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    const bool flat = a->dims.n < 0;
    SP_CHECK(flat ? a->shifts.n == 1 : a->shifts.n == a->dims.n, SP_VALUE, "there are %d shifts for %d dimensions",
             a->shifts.n, flat ? 1 : a->dims.n);
    if (flat) x = sp_reshape(b, x, 1, (const int64_t[]){-1});
    for (int k = 0; k < a->shifts.n && x; k++) {
        int axis = 0;
        if (!flat) SP_TRY(sp__shape_axis(a->dims.v[k], x->rank, "dimension", &axis));
        const int64_t n = x->rank ? x->dims[axis] : 1;
        const int64_t shift = n > 0 ? (a->shifts.v[k] % n + n) % n : 0;
        if (shift == 0) continue;
        sp_tensor *parts[2] = {sp__take_range(b, x, axis, n - shift, shift), sp__take_range(b, x, axis, 0, n - shift)};
        x = sp__concat(b, axis, 2, parts);
    }
    c->out[0] = sp_reshape(b, x, c->in[0]->rank, c->in[0]->dims);
    return SP_OK;
}

const sp_op sp_op_roll = {
    .name = "roll",
    .inputs = "input",
    SP_ATTRS(roll_attr_table, sp_roll_attrs),
    .compose = roll_compose,
    .mindir = "Roll",
    .python = "ops.roll(input, shifts, dims=None); ops.Roll(shifts, dims=None)(input); Tensor.roll(shifts, dims=None); "
              "mint.roll(input, shifts, dims=None)",
    .doc = "Elements moved along dimensions; what leaves at one end enters at the other. Without dimensions the "
           "tensor is "
           "taken as one row.",
    .samples = "[2,3] shifts=(1,) dims=(1,); [2,3] shifts=(1,-1) dims=(0,1); [2,3] shifts=(2,)",
};

/* --- triangles --------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(triangle_attr_table, sp_triangle_attrs, (INT, diagonal, 0));

static sp_status triangle_infer(const sp_call *c, sp_meta *out)
{
    SP_CHECK(c->in[0]->rank >= 2, SP_VALUE, "the tensor has rank %d, a triangle needs at least 2", c->in[0]->rank);
    return sp__infer_same(c, out);
}

static sp_status triangle(const sp_call *c, bool lower)
{
    const sp_tensor *x = c->in[0];
    const int64_t n = x->dims[x->rank - 2], m = x->dims[x->rank - 1],
                  asked = ((const sp_triangle_attrs *)c->attrs)->diagonal;
    const int64_t k = asked > m ? m : asked < -n ? -n : asked; /* farther out nothing changes, and sums may not fit */
    const size_t size = sp_dtype_bytes((sp_dtype)x->dtype);
    const int64_t rows = m > 0 ? x->count / m : 0;
    for (int64_t row = 0; row < rows; row++) {
        /* Columns [0, edge) are lower, the rest upper; the diagonal belongs to both. */
        int64_t edge = row % n + k + (lower ? 1 : 0);
        if (edge > m) edge = m;
        if (edge < 0) edge = 0;
        const int64_t from = lower ? 0 : edge, to = lower ? edge : m;
        char *o = c->out[0]->data + (size_t)(row * m) * size;
        const char *in = x->data + (size_t)(row * m) * size;
        memset(o, 0, (size_t)from * size);
        memcpy(o + (size_t)from * size, in + (size_t)from * size, (size_t)(to - from) * size);
        memset(o + (size_t)to * size, 0, (size_t)(m - to) * size);
    }
    return SP_OK;
}
static sp_status tril_reference(const sp_call *c) { return triangle(c, true); }
static sp_status triu_reference(const sp_call *c) { return triangle(c, false); }

static sp_status triangle_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_builder_apply(b, v->op, v->attrs, 1, &v->dout[0]);
    return SP_OK;
}

const sp_op sp_op_tril = {
    .batch = sp__batch_trailing,
    .name = "tril",
    .shard = "... i j -> ... i j; i whole, j whole",
    .inputs = "input",
    SP_ATTRS(triangle_attr_table, sp_triangle_attrs),
    .infer = triangle_infer,
    .reference = tril_reference,
    .vjp = triangle_vjp,
    .mindir = "Tril",
    .onnx = "Trilu",
    .python = "ops.tril(input, diagonal=0); ops.Tril(diagonal=0)(input); Tensor.tril(diagonal=0); mint.tril(input, "
              "diagonal=0)",
    .doc = "The lower triangle of each matrix, up to the given diagonal; zeros elsewhere.",
    .samples = "[3,3]; [2,3,4] diagonal=1; [3,2] diagonal=-1; [2,3] diagonal=-5",
};

const sp_op sp_op_triu = {
    .batch = sp__batch_trailing,
    .name = "triu",
    .shard = "... i j -> ... i j; i whole, j whole",
    .inputs = "input",
    SP_ATTRS(triangle_attr_table, sp_triangle_attrs),
    .infer = triangle_infer,
    .reference = triu_reference,
    .vjp = triangle_vjp,
    .mindir = "Triu",
    .onnx = "Trilu",
    .python = "ops.triu(input, diagonal=0); ops.Triu(diagonal=0)(input); Tensor.triu(diagonal=0); mint.triu(input, "
              "diagonal=0)",
    .doc = "The upper triangle of each matrix, from the given diagonal; zeros elsewhere.",
    .samples = "[3,3]; [2,3,4] diagonal=1; [3,2] diagonal=-1; [2,3] diagonal=5",
};

/* --- diagonals --------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(diagonal_attr_table, sp_diagonal_attrs, (INT, offset, 0), (INT, dim1, 0), (INT, dim2, 1));

/* The diagonal as a view: its dimension stands last. */
static sp_status diagonal_handle(const sp_tensor *x, const sp_diagonal_attrs *a, sp_tensor **out)
{
    int d1, d2, rank = 0;
    SP_CHECK(x->rank >= 2, SP_VALUE, "the tensor has rank %d, a diagonal needs at least 2", x->rank);
    SP_TRY(sp__shape_axis(a->dim1, x->rank, "dim1", &d1));
    SP_TRY(sp__shape_axis(a->dim2, x->rank, "dim2", &d2));
    SP_CHECK(d1 != d2, SP_VALUE, "dim1 and dim2 are both %d, they must differ", d1);
    const int64_t down = a->offset < 0 ? -a->offset : 0, right = a->offset > 0 ? a->offset : 0;
    int64_t n = x->dims[d1] - down < x->dims[d2] - right ? x->dims[d1] - down : x->dims[d2] - right;
    if (n < 0) n = 0;
    int64_t dims[SP_RANK_MAX], strides[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) {
        if (i == d1 || i == d2) continue;
        dims[rank] = x->dims[i];
        strides[rank++] = x->strides[i];
    }
    dims[rank] = n;
    strides[rank++] = x->strides[d1] + x->strides[d2];
    const int64_t first = n ? down * x->strides[d1] + right * x->strides[d2] : 0;
    SP_TRY(sp__tensor_handle((sp_dtype)x->dtype, rank, dims, strides, x->storage,
                             x->data + first * (int64_t)sp_dtype_bytes((sp_dtype)x->dtype), out));
    (*out)->flags |= SP_TENSOR_VIEW;
    return SP_OK;
}

static sp_status diagonal_infer(const sp_call *c, sp_meta *out)
{
    sp_tensor *t, *bare;
    SP_TRY(sp__tensor_meta_only(c->in[0], &bare));
    sp_status status = diagonal_handle(bare, c->attrs, &t);
    sp_tensor_release(bare);
    SP_TRY(status);
    sp__meta_of(t, out);
    sp_tensor_release(t);
    return SP_OK;
}

static sp_status diagonal_view(const sp_call *c) { return diagonal_handle(c->in[0], c->attrs, &c->out[0]); }

static sp_status diagonal_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *zeros = sp__full(b, 0, (sp_dtype)v->dout[0]->dtype, v->in[0]->rank, v->in[0]->dims);
    v->din[0] = sp_builder_apply(b, &sp_op_diagonal_put, v->attrs, 2, (sp_tensor *const[]){zeros, v->dout[0]});
    return SP_OK;
}

const sp_op sp_op_diagonal = {
    .batch = sp__batch_diagonal,
    .name = "diagonal",
    .inputs = "input",
    SP_ATTRS(diagonal_attr_table, sp_diagonal_attrs),
    .infer = diagonal_infer,
    .view = diagonal_view,
    .vjp = diagonal_vjp,
    .mindir = "Diagonal",
    .python = "ops.diagonal(input, offset=0, dim1=0, dim2=1); Tensor.diagonal(offset=0, axis1:dim1=0, axis2:dim2=1); "
              "mint.diagonal(input, offset=0, dim1=0, dim2=1)",
    .doc = "The diagonal of the matrices two dimensions make, as the last dimension of a view.",
    .samples = "[3,3]; [2,3,4] offset=1 dim1=1 dim2=2; [3,2] offset=-1; [2,2] offset=5",
};

static sp_status diagonal_put_reference(const sp_call *c)
{
    sp_tensor *target;
    SP_TRY(diagonal_handle(c->in[0], c->attrs, &target));
    sp_status status = sp__write_broadcast(target, c->in[1]);
    sp_tensor_release(target);
    return status;
}

static sp_status diagonal_put_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0]) {
        sp_tensor *kept = SP_APPLY1(b, sp_op_copy, v->dout[0]), *zero = sp__const(b, 0, v->dout[0]);
        v->din[0] = sp_builder_apply(b, &sp_op_diagonal_put, v->attrs, 2, (sp_tensor *const[]){kept, zero});
    }
    if (v->needs[1]) {
        sp_tensor *part = sp_builder_apply(b, &sp_op_diagonal, v->attrs, 1, &v->dout[0]);
        v->din[1] = sp__value_grad(b, part, v->in[1]);
    }
    return SP_OK;
}

const sp_op sp_op_diagonal_put = {
    .batch = sp__batch_diagonal,
    .name = "diagonal_put",
    .inputs = "x, value",
    SP_ATTRS(diagonal_attr_table, sp_diagonal_attrs),
    .infer = sp__infer_same,
    .reference = diagonal_put_reference,
    .strided = true,
    .writes = 1,
    .vjp = diagonal_put_vjp,
    .doc = "Write value, broadcast and converted, over the diagonal of x.",
    .samples = "[3,3] [3]; [2,3,4] [2,3] offset=1 dim1=1 dim2=2; [3,2] []",
};

static sp_status diag_embed_compose(sp_builder *b, const sp_call *c)
{
    const sp_diagonal_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    int d1, d2, k = 0;
    SP_CHECK(x->rank >= 1 && x->rank < SP_RANK_MAX, SP_VALUE, "the tensor has rank %d, it must be in [1, %d]", x->rank,
             SP_RANK_MAX - 1);
    SP_TRY(sp__shape_axis(a->dim1, x->rank + 1, "dim1", &d1));
    SP_TRY(sp__shape_axis(a->dim2, x->rank + 1, "dim2", &d2));
    SP_CHECK(d1 != d2, SP_VALUE, "dim1 and dim2 are both %d, they must differ", d1);
    const int64_t n = x->dims[x->rank - 1] + (a->offset < 0 ? -a->offset : a->offset);
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i <= x->rank; i++) dims[i] = i == d1 || i == d2 ? n : x->dims[k++];
    const sp_diagonal_attrs put = {a->offset, d1, d2};
    sp_tensor *zeros = sp__full(b, 0, (sp_dtype)x->dtype, x->rank + 1, dims);
    c->out[0] = sp_builder_apply(b, &sp_op_diagonal_put, &put, 2, (sp_tensor *const[]){zeros, c->in[0]});
    return SP_OK;
}

SP_ATTR_TABLE(diag_embed_attr_table, sp_diagonal_attrs, (INT, offset, 0), (INT, dim1, -2), (INT, dim2, -1));
const sp_op sp_op_diag_embed = {
    .name = "diag_embed",
    .inputs = "input",
    SP_ATTRS(diag_embed_attr_table, sp_diagonal_attrs),
    .compose = diag_embed_compose,
    .python = "ops.diag_embed(input, offset=0, dim1=-2, dim2=-1); mint.diag_embed(input, offset=0, dim1=-2, dim2=-1)",
    .doc = "Matrices of zeros with the last dimension of the input on a diagonal.",
    .samples = "[3]; [2,3] offset=1; [2,3] offset=-1 dim1=0 dim2=2",
};
