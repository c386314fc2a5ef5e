/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - making, viewing, copying and reading tensors. */
#include "tensor/half.h"
#include "tensor/remote.h"

void (*sp__grad_node_release_hook)(struct sp_grad_node *node);
void (*sp__split_forget_hook)(const sp_tensor *t);
void (*sp__whole_meta_hook)(const sp_tensor *t, sp_spec *m);
void (*sp__symbol_hook)(struct sp_value *symbol, int change);
const sp_remote_hooks *sp__remote;

/* --- storage ------------------------------------------------------------------------------------------------------
 * Header and data are one block: one allocation per tensor besides its handle, and the data keeps 64-byte alignment. */

enum { STORAGE_HEADER = 64 };
_Static_assert(sizeof(sp_storage) <= STORAGE_HEADER, "the storage header must fit in front of the data");

/* Numbers are taken in blocks, so that threads rarely meet. */
static uint64_t next_id(void)
{
    enum { BLOCK = 4096 };
    static _Atomic uint64_t blocks = 1;
    static _Thread_local uint64_t id __attribute__((tls_model("initial-exec"))); /* as in memory.c: saves calls */
    if (id % BLOCK == 0) id = atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed) * BLOCK;
    return id++;
}

static sp_storage *storage_create(size_t bytes)
{
    size_t total;
    if (!sp__add_size(bytes, STORAGE_HEADER, &total)) total = SIZE_MAX; /* sp__alloc refuses it with a message */
    sp_storage *s = sp__alloc(total);
    if (!s) return NULL;
    atomic_init(&s->refs, 1);
    atomic_init(&s->version, 0);
    atomic_init(&s->recorded, 0);
    atomic_init(&s->holders, 0);
    atomic_init(&s->left, 0);
    s->id = next_id();
    s->bytes = bytes;
    s->data = (char *)s + STORAGE_HEADER;
    s->release = NULL;
    s->context = NULL;
    return s;
}

void sp__storage_retain(sp_storage *s) { atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed); }

void sp__storage_release(sp_storage *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
    if (s->release) s->release(s->context);
    sp__free(s);
}

void sp__buffer_release(void *buffer) { sp__remote->release(buffer); }

/* --- handles ----------------------------------------------------------------------------------------------------- */

static bool is_row_major(int rank, const int64_t *dims, const int64_t *strides)
{
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        if (dims[i] == 0) return true;
        if (dims[i] != 1 && strides[i] != step) return false;
        step *= dims[i];
    }
    return true;
}

/* Geometry is checked by the caller; storage reference is taken over. */
static sp_tensor *handle_take(sp_dtype dtype, int rank, const int64_t *dims, const int64_t *strides, int64_t count,
                              sp_storage *storage, void *data)
{
    sp_tensor *t = sp__alloc(sizeof *t);
    if (!t) return NULL;
    atomic_init(&t->refs, 1);
    t->dtype = (int8_t)dtype;
    t->rank = (int8_t)rank;
    t->count = count;
    t->data = data;
    t->storage = storage;
    t->node = NULL;
    t->node_index = 0;
    t->symbol = NULL;
    t->base = NULL;
    t->seen = storage ? atomic_load_explicit(&storage->version, memory_order_relaxed) : 0;
    for (int i = 0; i < rank; i++) t->dims[i] = dims[i];
    if (strides) {
        for (int i = 0; i < rank; i++) t->strides[i] = strides[i];
        t->flags = is_row_major(rank, dims, strides) ? SP_TENSOR_CONTIGUOUS : 0;
    } else {
        sp__shape_strides(rank, dims, t->strides);
        t->flags = SP_TENSOR_CONTIGUOUS;
    }
    return t;
}

sp_status sp_tensor_create(sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out)
{
    SP_CHECK((int)dtype >= 0 && dtype < SP_DTYPE_COUNT, SP_TYPE, "dtype number %d does not exist", (int)dtype);
    int64_t count;
    SP_TRY(sp__shape_count(rank, dims, &count));
    sp_storage *s = storage_create((size_t)count * sp_dtype_bytes(dtype));
    if (!s) return SP_NOMEM;
    sp_tensor *t = handle_take(dtype, rank, dims, NULL, count, s, s->data);
    if (!t) {
        sp__storage_release(s);
        return SP_NOMEM;
    }
    *out = t;
    return SP_OK;
}

sp_status sp__tensor_from_meta(const sp_meta *m, sp_tensor **out)
{
    return sp_tensor_create(m->dtype, m->rank, m->dims, out);
}

sp_status sp_tensor_create_zeros(sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out)
{
    SP_TRY(sp_tensor_create(dtype, rank, dims, out));
    memset((*out)->data, 0, sp_tensor_bytes(*out));
    return SP_OK;
}

sp_status sp_tensor_create_from(sp_dtype dtype, int rank, const int64_t *dims, const void *data, sp_tensor **out)
{
    SP_TRY(sp_tensor_create(dtype, rank, dims, out));
    if ((*out)->count) memcpy((*out)->data, data, sp_tensor_bytes(*out));
    return SP_OK;
}

static sp_status create_scalar(sp_dtype dtype, sp_dtype from, void *value, sp_tensor **out)
{
    sp_loop_fn convert = sp__cast_loop(from, dtype);
    SP_CHECK(convert, SP_TYPE, "a number cannot become a tensor of dtype %s", sp_dtype_name(dtype));
    SP_TRY(sp_tensor_create(dtype, 0, NULL, out));
    char *ptr[2] = {(*out)->data, value};
    const int64_t step[2] = {0, 0};
    convert(1, ptr, step, NULL);
    return SP_OK;
}

sp_status sp_tensor_create_f64(sp_dtype dtype, double value, sp_tensor **out)
{
    return create_scalar(dtype, SP_DTYPE_F64, &value, out);
}

sp_status sp_tensor_create_i64(sp_dtype dtype, int64_t value, sp_tensor **out)
{
    return create_scalar(dtype, SP_DTYPE_I64, &value, out);
}

sp_status sp_tensor_wrap(sp_dtype dtype, int rank, const int64_t *dims, const int64_t *strides, void *data,
                         void (*release)(void *context), void *context, sp_tensor **out)
{
    SP_CHECK((int)dtype >= 0 && dtype < SP_DTYPE_COUNT, SP_TYPE, "dtype number %d does not exist", (int)dtype);
    int64_t count;
    SP_TRY(sp__shape_count(rank, dims, &count));
    SP_CHECK(data || count == 0, SP_VALUE, "the memory to wrap is NULL");
    sp_storage *s = storage_create(0);
    if (!s) return SP_NOMEM;
    sp_tensor *t = handle_take(dtype, rank, dims, strides, count, s, data);
    if (!t) {
        sp__storage_release(s);
        return SP_NOMEM;
    }
    s->data = data;
    sp__storage_open(s);
    s->bytes = (size_t)count * sp_dtype_bytes(dtype);
    s->release = release;
    s->context = context;
    *out = t;
    return SP_OK;
}

sp_status sp__tensor_handle(sp_dtype dtype, int rank, const int64_t *dims, const int64_t *strides, sp_storage *storage,
                            void *data, sp_tensor **out)
{
    int64_t count = 0;
    for (int i = 0; i < rank && !storage; i++)
        if (dims[i] == -1) count = -1;
    if (count == 0) SP_TRY(sp__shape_count(rank, dims, &count));
    sp_tensor *t = handle_take(dtype, rank, dims, strides, count, storage, data);
    if (!t) return SP_NOMEM;
    if (storage) sp__storage_retain(storage);
    *out = t;
    return SP_OK;
}

sp_tensor sp__tensor_window(const sp_tensor *of, int rank, const int64_t *dims, const int64_t *strides, void *data)
{
    sp_tensor t = {.dtype = of->dtype, .rank = (int8_t)rank, .count = 1, .data = data, .storage = of->storage};
    atomic_init(&t.refs, 1);
    for (int i = 0; i < rank; i++) {
        t.dims[i] = dims[i];
        t.strides[i] = strides[i];
        t.count *= dims[i];
    }
    if (is_row_major(rank, dims, strides)) t.flags = SP_TENSOR_CONTIGUOUS;
    return t;
}

void sp__tensor_set_symbol(sp_tensor *t, struct sp_value *symbol)
{
    if (symbol) sp__symbol_hook(symbol, 1);
    if (t->symbol) sp__symbol_hook(t->symbol, -1);
    t->symbol = symbol;
}

void sp__tensor_set_base(sp_tensor *view, sp_tensor *of)
{
    sp_tensor *base = of->base ? of->base : of;
    if (view->base == base || view == base || !view->storage || view->storage != base->storage) return;
    sp_tensor_release(view->base);
    view->base = sp_tensor_retain(base);
}

sp_status sp__tensor_need_value(const sp_tensor *t)
{
    SP_CHECK(t, SP_VALUE, "the tensor is NULL: an expression that should have made it has failed");
    char text[SP_SHAPE_TEXT];
    const sp_buffer *remote = sp__tensor_buffer(t);
    if (remote)
        return sp__fail(
            SP_RUNTIME,
            "a tensor (%s, shape %s) is on device %s, and its contents are needed in main memory: sp_tensor_to(t, NULL, ...), in Python "
            ".to('CPU') or .asnumpy(), brings it here",
            sp_dtype_name((sp_dtype)t->dtype), sp__shape_text(t->rank, t->dims, text),
            sp__remote->name(remote->device));
    if (!t->symbol) return SP_OK;
    return sp__fail(
        SP_SYMBOL,
        "the value of a Tensor (%s, shape %s) is needed while the function is being compiled, but it is known only "
        "when the function runs",
        sp_dtype_name((sp_dtype)t->dtype), sp__shape_text(t->rank, t->dims, text));
}

sp_status sp__tensor_meta_only(const sp_tensor *t, sp_tensor **out)
{
    return sp__tensor_handle((sp_dtype)t->dtype, t->rank, t->dims, t->strides, NULL, NULL, out);
}

sp_status sp__tensor_alias(const sp_tensor *t, sp_tensor **out)
{
    SP_CHECK(t, SP_VALUE, "the tensor is NULL: an expression that should have made it has failed");
    SP_TRY(sp__tensor_handle((sp_dtype)t->dtype, t->rank, t->dims, t->strides, t->storage, t->data, out));
    (*out)->flags =
        (uint8_t)((t->flags & ~(SP_TENSOR_PARAMETER | SP_TENSOR_VARIABLE | SP_TENSOR_OUTSIDE)) | SP_TENSOR_VIEW);
    sp__tensor_set_symbol(*out, t->symbol);
    return SP_OK;
}

void sp__tensor_rebind(sp_tensor *t, const sp_tensor *from)
{
    sp_storage *old = t->storage;
    if (from->storage) sp__storage_retain(from->storage);
    t->storage = from->storage;
    t->data = from->data;
    t->dtype = from->dtype;
    t->rank = from->rank;
    t->count = from->count;
    const int own = SP_TENSOR_PARAMETER | SP_TENSOR_VARIABLE | SP_TENSOR_OUTSIDE | SP_TENSOR_SPLIT;
    t->flags = (uint8_t)((from->flags & ~(SP_TENSOR_WEAK | own)) | (t->flags & own));
    sp__tensor_set_symbol(t, from->symbol);
    memcpy(t->dims, from->dims, sizeof t->dims);
    memcpy(t->strides, from->strides, sizeof t->strides);
    if (t->node && sp__grad_node_release_hook) sp__grad_node_release_hook(t->node);
    t->node = NULL;
    t->seen = t->storage ? atomic_load_explicit(&t->storage->version, memory_order_relaxed) : 0;
    sp_tensor_release(t->base);
    t->base = NULL;
    sp__storage_release(old);
}

sp_tensor *sp_tensor_retain(sp_tensor *t)
{
    if (!t) return NULL;
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void sp_tensor_release(sp_tensor *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    if (t->node && sp__grad_node_release_hook) sp__grad_node_release_hook(t->node);
    if (t->flags & SP_TENSOR_SPLIT && sp__split_forget_hook) sp__split_forget_hook(t);
    sp__tensor_set_symbol(t, NULL);
    sp__storage_release(t->storage);
    sp_tensor_release(t->base);
    sp__free(t);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

sp_dtype sp_tensor_dtype(const sp_tensor *t) { return t ? (sp_dtype)t->dtype : SP_DTYPE_NONE; }
int sp_tensor_rank(const sp_tensor *t) { return t ? t->rank : 0; }
const int64_t *sp_tensor_dims(const sp_tensor *t) { return t ? t->dims : NULL; }
const int64_t *sp_tensor_strides(const sp_tensor *t) { return t ? t->strides : NULL; }
int64_t sp_tensor_count(const sp_tensor *t) { return t ? t->count : 0; }
size_t sp_tensor_bytes(const sp_tensor *t) { return t ? (size_t)t->count * sp_dtype_bytes((sp_dtype)t->dtype) : 0; }
void *sp_tensor_data(const sp_tensor *t)
{
    if (!t) return NULL;
    if (sp__tensor_buffer(t)) {
        (void)sp__tensor_need_value(t); /* the message */
        return NULL;
    }
    sp__storage_open(t->storage); /* who has the address may write */
    return t->data;
}
bool sp_tensor_is_contiguous(const sp_tensor *t) { return t && t->flags & SP_TENSOR_CONTIGUOUS; }
bool sp_tensor_shares(const sp_tensor *a, const sp_tensor *b)
{
    return a && b && a->storage && a->storage == b->storage;
}

/* --- views and copies -------------------------------------------------------------------------------------------- */

sp_status sp_tensor_view(const sp_tensor *t, int rank, const int64_t *dims, const int64_t *strides, int64_t offset,
                         sp_tensor **out)
{
    if (!sp__tensor_buffer(t)) SP_TRY(sp__tensor_need_value(t));
    SP_CHECK(t->storage, SP_VALUE, "a tensor without memory has no views");
    int64_t count;
    SP_TRY(sp__shape_count(rank, dims, &count));
    /* The first and last element touched must lie in the block. */
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)t->dtype);
    int64_t low = (t->data - (char *)t->storage->data) / size + offset, high = low;
    for (int i = 0; i < rank && count; i++) {
        int64_t reach = (dims[i] - 1) * strides[i];
        if (reach < 0) low += reach;
        else high += reach;
    }
    SP_CHECK(count == 0 || (low >= 0 && (high + 1) * size <= (int64_t)t->storage->bytes), SP_VALUE,
             "the view reaches outside of its memory: elements %lld to %lld of %lld", (long long)low, (long long)high,
             (long long)(t->storage->bytes / (size_t)size));
    SP_TRY(sp__tensor_handle((sp_dtype)t->dtype, rank, dims, strides, t->storage, t->data + offset * size, out));
    (*out)->flags |= SP_TENSOR_VIEW;
    sp__tensor_set_base(*out, (sp_tensor *)(uintptr_t)t);
    return SP_OK;
}

sp_status sp_tensor_assign(sp_tensor *dst, const sp_tensor *src)
{
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    const bool remote = sp__tensor_buffer(dst) || sp__tensor_buffer(src);
    if (!remote) {
        SP_TRY(sp__tensor_need_value(dst));
        SP_TRY(sp__tensor_need_value(src));
    }
    SP_CHECK(sp__tensor_same_shape(dst, src), SP_VALUE, "a value of shape %s cannot be written to a tensor of shape %s",
             sp__shape_text(src->rank, src->dims, a), sp__shape_text(dst->rank, dst->dims, b));
    sp_loop_fn convert = sp__cast_loop((sp_dtype)src->dtype, (sp_dtype)dst->dtype);
    SP_CHECK(convert, SP_TYPE, "a value of dtype %s cannot be written to a tensor of dtype %s",
             sp_dtype_name((sp_dtype)src->dtype), sp_dtype_name((sp_dtype)dst->dtype));
    if (remote) return sp__remote->assign(dst, src);
    const sp_tensor *operands[2] = {dst, src};
    sp_loop loop;
    sp__loop_init(&loop, dst->rank, dst->dims, 2, operands);
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)dst->dtype);
    if (src->dtype == dst->dtype && dst->count && sp__transpose_takes(&loop, size))
        return sp__transpose_run(&loop, size);
    return sp__loop_run(&loop, convert, NULL, 4);
}

sp_status sp_tensor_copy(const sp_tensor *t, sp_tensor **out)
{
    sp_tensor *c = NULL;
    if (sp__tensor_buffer(t)) {
        SP_TRY(sp__remote->create_like(t, &c));
    } else {
        SP_TRY(sp__tensor_need_value(t));
        SP_TRY(sp_tensor_create((sp_dtype)t->dtype, t->rank, t->dims, &c));
    }
    sp_status status = sp_tensor_assign(c, t);
    if (status != SP_OK) {
        sp_tensor_release(c);
        return status;
    }
    *out = c;
    return SP_OK;
}

sp_status sp_tensor_contiguous(sp_tensor *t, sp_tensor **out)
{
    if (!sp__tensor_buffer(t)) SP_TRY(sp__tensor_need_value(t));
    if (!(t->flags & SP_TENSOR_CONTIGUOUS)) return sp_tensor_copy(t, out);
    *out = sp_tensor_retain(t);
    return SP_OK;
}

sp_status sp__tensor_here(sp_tensor *t, sp_tensor **out)
{
    if (sp__tensor_buffer(t)) return sp__remote->fetch(t, out);
    *out = sp_tensor_retain(t);
    return SP_OK;
}

static sp_status read_item(const sp_tensor *t, sp_dtype to, void *out)
{
    char text[SP_SHAPE_TEXT];
    if (sp__tensor_buffer(t) && t->count == 1) {
        sp_tensor *here = NULL;
        SP_TRY(sp__remote->fetch(t, &here));
        const sp_status status = read_item(here, to, out);
        sp_tensor_release(here);
        return status;
    }
    SP_TRY(sp__tensor_need_value(t));
    SP_CHECK(t->count == 1, SP_VALUE, "only a tensor of one element converts to a number, this one has shape %s",
             sp__shape_text(t->rank, t->dims, text));
    sp_loop_fn convert = sp__cast_loop((sp_dtype)t->dtype, to);
    SP_CHECK(convert, SP_TYPE, "a tensor of dtype %s does not convert to a number", sp_dtype_name((sp_dtype)t->dtype));
    char *ptr[2] = {out, t->data};
    const int64_t step[2] = {0, 0};
    convert(1, ptr, step, NULL);
    return SP_OK;
}

sp_status sp_tensor_item_f64(const sp_tensor *t, double *out) { return read_item(t, SP_DTYPE_F64, out); }
sp_status sp_tensor_item_i64(const sp_tensor *t, int64_t *out) { return read_item(t, SP_DTYPE_I64, out); }
