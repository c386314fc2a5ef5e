/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_impl.h - the tensor from inside: storage, geometry, and the loops over strided operands.
 *
 * A tensor is a handle: geometry (dtype, dims, strides, address of the first element) over a storage. Storage is one
 * block of memory with a count of its own and a version that every in-place write increments, so that whoever kept a
 * tensor for later (the gradient) can tell that its contents are not what they were.
 * A tensor without storage has geometry only ("meta"), or stands for a value of a function that is being recorded: a
 * symbol (src/ir/graph_impl.h). Dimensions of -1, not known before run time, occur in these two alone. */
#ifndef SPORE_TENSOR_IMPL_H
#define SPORE_TENSOR_IMPL_H

#include <string.h>

#include "base/base.h"
#include "spore/tensor.h"

typedef struct sp_storage {
    atomic_int refs;
    atomic_uint version;
    atomic_uint recorded; /* version of the last in-place write that belongs to a history */
    atomic_uint
        holders; /* outside that may write without a word: numpy arrays over it; SP_STORAGE_OPEN: somebody for ever */
    atomic_uint left; /* how many of them have gone */
    uint64_t id;      /* no other storage has had it */
    size_t bytes;
    void *data;
    void (*release)(void *context); /* foreign memory; NULL: the block follows this header */
    void *context;
} sp_storage;

#define SP_STORAGE_OPEN 0x80000000u

/* Contents of a storage that are known to be the same as long as this is: for whoever keeps something made from them. */
typedef struct sp_storage_mark {
    uint64_t id;
    unsigned version, left;
    bool closed; /* nobody outside can write */
} sp_storage_mark;
static inline sp_storage_mark sp__storage_mark(sp_storage *s)
{
    return (sp_storage_mark){.id = s->id,
                             .version = atomic_load(&s->version),
                             .left = atomic_load(&s->left),
                             .closed = atomic_load(&s->holders) == 0};
}
static inline bool sp__storage_unchanged(sp_storage_mark a, sp_storage_mark b)
{
    return a.id == b.id && a.version == b.version && a.left == b.left && a.closed && b.closed;
}
/* Somebody outside gets the address, and gives it back. */
static inline void sp__storage_lend(sp_storage *s) { atomic_fetch_add(&s->holders, 1); }
static inline void sp__storage_return(sp_storage *s)
{
    atomic_fetch_add(&s->left, 1);
    atomic_fetch_sub(&s->holders, 1);
}
static inline void sp__storage_open(sp_storage *s)
{
    if (s) atomic_fetch_or(&s->holders, SP_STORAGE_OPEN);
}

struct sp_grad_node; /* src/eager/grad.h: the history of a value */
struct sp_value;     /* src/ir/graph_impl.h: a value of a recorded function */

enum {
    SP_TENSOR_CONTIGUOUS = 1, /* row-major, computed when the handle is made */
    SP_TENSOR_WEAK = 2,       /* made from a Python number: its dtype yields to the other operand's inside a kind */
    SP_TENSOR_VIEW = 4,       /* shares storage with the tensor it was made from */
    SP_TENSOR_PARAMETER = 8,  /* a weight: cast on use in mixed precision; belongs to the handle, not to its views */
    SP_TENSOR_VARIABLE = 16,  /* read and written by programs like a weight; belongs to the handle too */
    SP_TENSOR_OUTSIDE =
        32, /* a constant of the function being recorded that others hold too: what writes to it makes it a variable; the handle's too */
    SP_TENSOR_KEPT =
        64, /* whoever records it as a constant sees to it that its contents stay as long as programs hold them */
    SP_TENSOR_SPLIT = 128 /* programs over several ranks use it: src/parallel knows the whole; the handle's too */
};

struct sp_tensor {
    atomic_int refs;
    int8_t dtype;
    int8_t rank;
    uint8_t flags;
    int64_t count;
    char *data;
    sp_storage *storage;
    /* History. `node` made output number `node_index` of itself; NULL: a constant. Owned by src/eager. */
    struct sp_grad_node *node;
    int node_index;
    struct sp_value *symbol; /* what it stands for; NULL: an ordinary tensor. Owned by src/ir */
    struct sp_tensor *base;  /* of a view: the tensor whose memory it shows, itself no view; NULL: unknown or none */
    unsigned seen;           /* storage version that this handle's history accounts for */
    int64_t dims[SP_RANK_MAX];
    int64_t strides[SP_RANK_MAX]; /* in elements */
};

/* Geometry alone: what inference computes. */
typedef sp_spec sp_meta;

/* A handle without history; storage retained. Flags are computed. data is the address of element zero. */
sp_status sp__tensor_handle(sp_dtype dtype, int rank, const int64_t *dims, const int64_t *strides, sp_storage *storage,
                            void *data, sp_tensor **out);
/* The same for the time of a kernel: on its stack, without a count, never given away; so that kernels allocate nothing. */
sp_tensor sp__tensor_window(const sp_tensor *of, int rank, const int64_t *dims, const int64_t *strides, void *data);
sp_status sp__tensor_from_meta(const sp_meta *meta, sp_tensor **out); /* with memory, contents undefined */
sp_status sp__tensor_meta_only(const sp_tensor *t, sp_tensor **out);  /* same geometry, no memory, no history */
sp_status sp__tensor_alias(const sp_tensor *t, sp_tensor **out);      /* same view, no history */
/* Stand for a value, or for none any more. The values are counted through sp__symbol_hook. */
void sp__tensor_set_symbol(sp_tensor *t, struct sp_value *symbol);
/* SP_SYMBOL for a symbol: asked before memory is touched. */
sp_status sp__tensor_need_value(const sp_tensor *t);
/* Let handle t show what `from` shows (storage, geometry, dtype); the history of t is dropped. For set_data. */
void sp__tensor_rebind(sp_tensor *t, const sp_tensor *from);
void sp__storage_retain(sp_storage *s);
void sp__storage_release(sp_storage *s);
static inline void sp__tensor_wrote(sp_tensor *t)
{
    atomic_fetch_add_explicit(&t->storage->version, 1, memory_order_relaxed);
}

/* src/eager sets this; called when a handle with history dies. */
extern void (*sp__grad_node_release_hook)(struct sp_grad_node *node);
/* src/ir sets this; called with +1 and -1 when a handle starts and stops standing for a value. */
extern void (*sp__symbol_hook)(struct sp_value *symbol, int change);

/* src/parallel sets these when a tensor is split over ranks: a handle with SP_TENSOR_SPLIT dies; its geometry as a whole. */
extern void (*sp__split_forget_hook)(const sp_tensor *t);
extern void (*sp__whole_meta_hook)(const sp_tensor *t, sp_spec *m);

/* Note that `view` shows the memory of `of`. */
void sp__tensor_set_base(sp_tensor *view, sp_tensor *of);

/* Has contents, now or when the program runs; false for geometry alone. */
static inline bool sp__tensor_has_value(const sp_tensor *t) { return t->storage || t->symbol; }

/* --- shapes ------------------------------------------------------------------------------------------------------ */

/* Number of elements; SP_VALUE with a message when negative or when it does not fit 63 bits. */
sp_status sp__shape_count(int rank, const int64_t *dims, int64_t *out);
void sp__shape_strides(int rank, const int64_t *dims, int64_t *strides); /* row-major */
/* dims of a and b broadcast together into out. */
sp_status sp__shape_broadcast(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank, int64_t *out);
/* Axis in [-rank, rank) to [0, rank). what: name used in the message. */
sp_status sp__shape_axis(int64_t axis, int rank, const char *what, int *out);
/* "(2, 3)" into buf, for messages; returns buf. */
#define SP_SHAPE_TEXT 128
const char *sp__shape_text(int rank, const int64_t *dims, char buf[SP_SHAPE_TEXT]);
static inline bool sp__shape_equal(int rank_a, const int64_t *a, int rank_b, const int64_t *b)
{
    return rank_a == rank_b && memcmp(a, b, (size_t)rank_a * sizeof *a) == 0;
}
static inline bool sp__tensor_same_shape(const sp_tensor *a, const sp_tensor *b)
{
    return sp__shape_equal(a->rank, a->dims, b->rank, b->dims);
}
/* Does a reshape of (dims, strides) to new dims exist without copying? Fills strides_out when so. */
bool sp__shape_reshape_strides(int rank, const int64_t *dims, const int64_t *strides, int new_rank,
                               const int64_t *new_dims, int64_t *strides_out);

/* --- loops over strided operands ----------------------------------------------------------------------------------
 *
 * sp__loop_run visits every element of `dims`, for operands broadcast to it, calling the inner function with runs along
 * the last (merged) dimension: n elements, ptr[k] the first of operand k, step[k] its distance in bytes (0: broadcast).
 * Dimensions that can be merged are merged; large loops are split over threads into parts of fixed size. */
#define SP_LOOP_MAX 16
typedef void (*sp_loop_fn)(int64_t n, char *const *ptr, const int64_t *step, const void *context);
typedef struct sp_loop {
    int n_operands;
    int rank;
    int64_t dims[SP_RANK_MAX];
    int64_t steps[SP_LOOP_MAX][SP_RANK_MAX]; /* bytes */
    char *ptr[SP_LOOP_MAX];
} sp_loop;
/* Operand 0.. are tensors broadcastable to `dims`. */
void sp__loop_init(sp_loop *loop, int rank, const int64_t *dims, int n, const sp_tensor *const *operands);
/* cost: rough nanoseconds per 16 elements, decides when to go parallel. */
sp_status sp__loop_run(const sp_loop *loop, sp_loop_fn fn, const void *context, int cost);

/* A copy (operand 0 from operand 1, elements of one size) that runs along different dimensions on its two sides, such as a
 * transposition: by tiles. */
bool sp__transpose_takes(const sp_loop *loop, int64_t size);
sp_status sp__transpose_run(const sp_loop *loop, int64_t size);

/* dst[i] = (dst type) src[i], both strided; C conversion rules, floats to integers truncate, to bool != 0. */
sp_loop_fn sp__cast_loop(sp_dtype from, sp_dtype to);

#endif
