/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c - memory of devices: buffers, kept for the next tensor of their size; copies; tensors over them. */
#include <stdlib.h>
#include <sys/mman.h>

#include "device/streams.h"
#include "spore/ops_attrs.h"

/* --- buffers ----------------------------------------------------------------------------------------------------- */

enum { LEAST_BYTES = 256 };

/* Sizes go up in eighths of a power of two, so that a buffer serves tensors of nearly its size. */
static size_t rounded(size_t bytes, int *class)
{
    if (bytes <= LEAST_BYTES) {
        *class = 0;
        return LEAST_BYTES;
    }
    const int top = 63 - __builtin_clzll((unsigned long long)(bytes - 1));
    const size_t step = (size_t)1 << (top - 3), up = (bytes + step - 1) / step * step;
    *class = 8 * top + (int)(up / step - 8);
    if (*class >= SP_BUFFER_CLASSES) *class = SP_BUFFER_CLASSES - 1;
    return up;
}

static void buffer_free(sp_buffer *b)
{
    sp__buffer_last_use(b);
    if (sp__device_usable(b->device) == SP_OK) b->device->table->free(b->device->state, b->handle);
    munmap(b->range, b->bytes);
    sp__free(b);
}

static sp_buffer *take_kept(sp_device *d, size_t bytes, int class)
{
    sp__lock(&d->lock);
    sp_buffer **at = NULL;
    /* The one that was released last is warm; where there are streams, work with it may be under way, and the one that has rested longest is best. */
    const bool longest = atomic_load_explicit(&d->n_streams, memory_order_acquire) > 0;
    for (sp_buffer **i = &d->kept[class]; *i && (longest || !at); i = &(*i)->next)
        if ((*i)->bytes == bytes) at = i;
    sp_buffer *b = at ? *at : NULL;
    if (b) {
        *at = b->next;
        atomic_fetch_sub(&d->kept_bytes, bytes);
    }
    sp__unlock(&d->lock);
    return b;
}

void sp_device_trim(sp_device *d)
{
    if (!d || sp__device_usable(d) != SP_OK) return;
    for (int i = 0; i < SP_BUFFER_CLASSES; i++) {
        sp__lock(&d->lock);
        sp_buffer *list = d->kept[i];
        d->kept[i] = NULL;
        sp__unlock(&d->lock);
        while (list) {
            sp_buffer *b = list;
            list = b->next;
            atomic_fetch_sub(&d->kept_bytes, b->bytes);
            buffer_free(b);
        }
    }
}

static sp_status new_buffer(sp_device *d, size_t bytes, sp_buffer **out)
{
    sp_buffer *b = sp__alloc_zero(sizeof *b);
    if (!b) return SP_NOMEM;
    *b = (sp_buffer){.device = d, .bytes = bytes};
    b->range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->range == MAP_FAILED) {
        sp__free(b);
        return sp__fail(SP_NOMEM, "out of memory: no range of %zu addresses is left for a tensor on device %s", bytes,
                        d->name);
    }
    sp_status status = d->table->alloc(d->state, bytes, &b->handle);
    if (status == SP_NOMEM) { /* once more without what is kept, when the device has done with it */
        sp_device_trim(d);
        status = d->table->wait(d->state);
        if (status == SP_OK) status = d->table->alloc(d->state, bytes, &b->handle);
    }
    if (status != SP_OK) {
        munmap(b->range, bytes);
        sp__free(b);
        if (status == SP_NOMEM)
            return sp__fail(SP_NOMEM, "out of memory on device %s: %zu bytes were asked for, tensors have %llu there",
                            d->name, bytes, (unsigned long long)atomic_load(&d->used));
        return sp__device_told(d, status);
    }
    *out = b;
    return SP_OK;
}

static void count_used(sp_device *d, size_t bytes)
{
    const uint64_t used = atomic_fetch_add(&d->used, bytes) + bytes;
    uint64_t peak = atomic_load(&d->peak);
    while (used > peak && !atomic_compare_exchange_weak(&d->peak, &peak, used)) {}
}

static void release(sp_buffer *b)
{
    sp_device *d = b->device;
    int class;
    const size_t bytes = rounded(b->bytes, &class);
    sp__buffer_rests(b);
    atomic_fetch_sub(&d->used, bytes);
    atomic_fetch_add(&d->kept_bytes, bytes);
    sp__lock(&d->lock);
    b->next = d->kept[class];
    d->kept[class] = b;
    sp__unlock(&d->lock);
}

sp_status sp__device_tensor(sp_device *d, const sp_meta *m, sp_tensor **out)
{
    SP_TRY(sp__device_usable(d));
    int64_t count;
    SP_TRY(sp__shape_count(m->rank, m->dims, &count));
    int class;
    const size_t bytes = rounded((size_t)count * sp_dtype_bytes(m->dtype), &class);
    sp_buffer *b = take_kept(d, bytes, class);
    if (!b) SP_TRY(new_buffer(d, bytes, &b));
    const sp_status status = sp_tensor_wrap(m->dtype, m->rank, m->dims, NULL, b->range, sp__buffer_release, b, out);
    if (status != SP_OK) buffer_free(b);
    else count_used(d, bytes);
    return status;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

static size_t offset_of(const sp_tensor *t) { return (size_t)(t->data - (char *)t->storage->data); }

static sp_status bring_in(const sp_tensor *t, size_t offset, const void *from, size_t bytes)
{
    sp_buffer *b = sp__tensor_buffer(t);
    sp_device *d = b->device;
    SP_TRY(sp__device_usable(d));
    if (bytes == 0) return SP_OK;
    atomic_fetch_add(&d->copies_in, 1);
    atomic_fetch_add(&d->bytes_in, bytes);
    SP_TRY(sp__work_begin(d, 1, &b, 1));
    void *stream = sp__stream_handle(sp__stream_now(d));
    const sp_status status = stream ? d->table->stream_copy_in(d->state, stream, b->handle, offset, from, bytes)
                                    : d->table->copy_in(d->state, b->handle, offset, from, bytes);
    sp__work_end(d, 1, &b, 1);
    return sp__device_told(d, status);
}

static sp_status bring_out(const sp_tensor *t, size_t offset, void *to, size_t bytes)
{
    sp_buffer *b = sp__tensor_buffer(t);
    sp_device *d = b->device;
    SP_TRY(sp__device_usable(d));
    if (bytes == 0) return SP_OK;
    atomic_fetch_add(&d->copies_out, 1);
    atomic_fetch_add(&d->bytes_out, bytes);
    SP_TRY(sp__work_begin(d, 1, &b, 0));
    void *stream = sp__stream_handle(sp__stream_now(d));
    const sp_status status = stream ? d->table->stream_copy_out(d->state, stream, b->handle, offset, to, bytes)
                                    : d->table->copy_out(d->state, b->handle, offset, to, bytes);
    sp__work_end(d, 1, &b, 0);
    return sp__device_told(d, status);
}

/* The stretch of memory that a strided view lies in: where it begins in the buffer, how long it is, and where in it element zero is. */
typedef struct stretch {
    size_t offset, bytes, first;
} stretch;

static stretch stretch_of(const sp_tensor *t)
{
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)t->dtype);
    int64_t low = 0, high = 0;
    if (t->count == 0) return (stretch){offset_of(t), 0, 0};
    for (int i = 0; i < t->rank; i++) {
        const int64_t reach = (t->dims[i] - 1) * t->strides[i];
        if (reach < 0) low += reach;
        else high += reach;
    }
    return (stretch){(size_t)((int64_t)offset_of(t) + low * size), (size_t)((high - low + 1) * size),
                     (size_t)(-low * size)};
}

/* The stretch in main memory, and t's view of it. */
static sp_status stretch_here(const sp_tensor *t, stretch s, sp_tensor **memory, sp_tensor **view)
{
    const int64_t bytes = (int64_t)s.bytes;
    SP_TRY(sp_tensor_create(SP_DTYPE_U8, 1, &bytes, memory));
    sp_status status = bring_out(t, s.offset, (*memory)->data, s.bytes);
    if (status == SP_OK)
        status = sp__tensor_handle((sp_dtype)t->dtype, t->rank, t->dims, t->strides, (*memory)->storage,
                                   (*memory)->data + s.first, view);
    if (status != SP_OK) sp_tensor_release(*memory);
    return status;
}

static sp_status fetch(const sp_tensor *t, sp_tensor **out)
{
    if (t->flags & SP_TENSOR_CONTIGUOUS) {
        sp_tensor *here = NULL;
        SP_TRY(sp_tensor_create((sp_dtype)t->dtype, t->rank, t->dims, &here));
        const sp_status status = bring_out(t, offset_of(t), here->data, sp_tensor_bytes(here));
        if (status != SP_OK) sp_tensor_release(here);
        else *out = here;
        return status;
    }
    sp_tensor *memory = NULL, *view = NULL;
    SP_TRY(stretch_here(t, stretch_of(t), &memory, &view));
    const sp_status status = sp_tensor_copy(view, out);
    sp_tensor_release(view);
    sp_tensor_release(memory);
    return status;
}

static sp_status fill(sp_device *d, sp_tensor *t, sp_number value);

/* The value of a number, for a kernel's argument; kind 'n': it is none that a double or an int64 holds. */
static sp_number number_of(const sp_tensor *here)
{
    sp_number n = {.kind = 'n'};
    const char kind = sp_dtype_kind((sp_dtype)here->dtype);
    if (kind == 'f' && sp_tensor_item_f64(here, &n.f) == SP_OK) n.kind = 'f';
    if ((kind == 'i' || kind == 'b') && sp_tensor_item_i64(here, &n.i) == SP_OK) n.kind = 'i', n.f = (double)n.i;
    return n;
}

/* From main memory to a device, converted. */
static sp_status put(sp_tensor *dst, const sp_tensor *here)
{
    if (dst->flags & SP_TENSOR_CONTIGUOUS) {
        sp_tensor *plain = NULL;
        const sp_number number =
            here->count == 1 && here->dtype == dst->dtype ? number_of(here) : (sp_number){.kind = 'n'};
        if (number.kind != 'n') {
            const sp_status status = fill(sp__tensor_device(dst), dst, number);
            if (status != SP_DECLINED) return status;
        }
        if (here->dtype == dst->dtype && here->flags & SP_TENSOR_CONTIGUOUS)
            return bring_in(dst, offset_of(dst), here->data, sp_tensor_bytes(here));
        SP_TRY(sp_tensor_create((sp_dtype)dst->dtype, dst->rank, dst->dims, &plain));
        sp_status status = sp_tensor_assign(plain, here);
        if (status == SP_OK) status = bring_in(dst, offset_of(dst), plain->data, sp_tensor_bytes(plain));
        sp_tensor_release(plain);
        return status;
    }
    const stretch s = stretch_of(dst);
    sp_tensor *memory = NULL, *view = NULL;
    SP_TRY(stretch_here(dst, s, &memory, &view));
    sp_status status = sp_tensor_assign(view, here);
    if (status == SP_OK) status = bring_in(dst, s.offset, memory->data, s.bytes);
    sp_tensor_release(view);
    sp_tensor_release(memory);
    return status;
}

/* The same bytes. */
static sp_status copy_there(sp_device *d, sp_tensor *dst, const sp_tensor *src)
{
    sp_buffer *b[2] = {sp__tensor_buffer(src), sp__tensor_buffer(dst)};
    const size_t bytes = sp_tensor_bytes(dst);
    SP_TRY(sp__work_begin(d, 2, b, 1));
    void *stream = sp__stream_handle(sp__stream_now(d));
    const sp_status status =
        stream
            ? d->table->stream_copy(d->state, stream, b[1]->handle, offset_of(dst), b[0]->handle, offset_of(src), bytes)
            : d->table->copy(d->state, b[1]->handle, offset_of(dst), b[0]->handle, offset_of(src), bytes);
    sp__work_end(d, 2, b, 1);
    return sp__device_told(d, status);
}

/* Without leaving the device; SP_DECLINED: it cannot. */
static sp_status assign_there(sp_device *d, sp_tensor *dst, const sp_tensor *src)
{
    SP_TRY(sp__device_usable(d));
    if (!(dst->flags & SP_TENSOR_CONTIGUOUS)) return SP_DECLINED;
    if (dst->count == 0) return SP_OK;
    if (dst->dtype == src->dtype && src->flags & SP_TENSOR_CONTIGUOUS) return copy_there(d, dst, src);
    const bool converts = dst->dtype != src->dtype;
    const sp_cast_attrs attrs = {(sp_dtype)dst->dtype};
    sp_tensor *in = (sp_tensor *)(uintptr_t)src;
    return sp__device_run_kernel(d, &(sp_call){.op = sp_op_find(converts ? "cast" : "copy"),
                                               .attrs = converts ? &attrs : NULL,
                                               .n_in = 1,
                                               .n_out = 1,
                                               .in = &in,
                                               .out = &dst});
}

static sp_status assign(sp_tensor *dst, const sp_tensor *src)
{
    sp_device *to = sp__tensor_device(dst), *from = sp__tensor_device(src);
    if (to == from) {
        const sp_status status = assign_there(to, dst, src);
        if (status != SP_DECLINED) return status;
    }
    sp_tensor *here = NULL;
    if (from) SP_TRY(fetch(src, &here));
    const sp_status status = to ? put(dst, here ? here : src) : sp_tensor_assign(dst, here ? here : src);
    sp_tensor_release(here);
    return status;
}

static sp_status create_like(const sp_tensor *t, sp_tensor **out)
{
    sp_meta meta;
    sp__meta_of(t, &meta);
    return sp__device_tensor(sp__tensor_device(t), &meta, out);
}

/* By the device's own kernel: a number is no copy. */
static sp_status fill(sp_device *d, sp_tensor *t, sp_number value)
{
    const sp_full_attrs attrs = {{t->rank, t->dims}, value, (sp_dtype)t->dtype};
    SP_TRY(sp__device_usable(d));
    return sp__device_run_kernel(d, &(sp_call){.op = sp_op_find("full"), .attrs = &attrs, .n_out = 1, .out = &t});
}

static sp_status full(double value, sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out)
{
    sp_device *d = sp__place_now();
    sp_tensor *there = NULL, *one = NULL;
    if (!d) return SP_OK;
    sp_meta meta = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) meta.dims[i] = dims[i];
    SP_TRY(sp__device_tensor(d, &meta, &there));
    sp_status status = fill(d, there, (sp_number){.kind = 'f', .f = value});
    if (status == SP_DECLINED) {
        status = sp__tensor_from_meta(&meta, &one);
        if (status == SP_OK) {
            char *ptr[2] = {one->data, (char *)&value};
            sp__cast_loop(SP_DTYPE_F64, dtype)(one->count, ptr, (const int64_t[]){(int64_t)sp_dtype_bytes(dtype), 0},
                                               NULL);
            status = assign(there, one);
        }
        sp_tensor_release(one);
    }
    if (status != SP_OK) sp_tensor_release(there);
    else *out = there;
    return status;
}

void sp__device_hooks_start(void)
{
    static const sp_remote_hooks hooks = {.release = release,
                                          .name = sp_device_name,
                                          .assign = assign,
                                          .fetch = fetch,
                                          .create_like = create_like,
                                          .full = full};
    sp__remote = &hooks;
}

/* --- questions --------------------------------------------------------------------------------------------------- */

sp_device *sp_tensor_device(const sp_tensor *t) { return sp__tensor_device(t); }

void sp_device_reset_peak(sp_device *d)
{
    if (d) atomic_store(&d->peak, atomic_load(&d->used));
}

void sp_device_count(sp_device *d, sp_device_statistics *out)
{
    *out = (sp_device_statistics){.struct_size = sizeof *out};
    if (!d) return;
    out->used_bytes = atomic_load(&d->used);
    out->peak_bytes = atomic_load(&d->peak);
    out->kept_bytes = atomic_load(&d->kept_bytes);
    out->kernels = atomic_load(&d->kernels);
    out->declined = atomic_load(&d->declined);
    out->copies_in = atomic_load(&d->copies_in);
    out->bytes_in = atomic_load(&d->bytes_in);
    out->copies_out = atomic_load(&d->copies_out);
    out->bytes_out = atomic_load(&d->bytes_out);
}
