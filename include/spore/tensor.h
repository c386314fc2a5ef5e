/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - dtypes, and strided views of reference-counted memory. */
#ifndef SPORE_TENSOR_H
#define SPORE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SP_RANK_MAX 8

/* One list: enum value, name, MindSpore's text, bytes per element, kind (b bool, i signed, u unsigned, f float,
 * c complex, s string). The order is the order of promotion inside a kind. */
/* clang-format off */
#define SP_DTYPE_LIST(X)                                                                                               \
    X(BOOL, "bool", "Bool", 1, 'b')                                                                                    \
    X(U8, "uint8", "UInt8", 1, 'u')                                                                                    \
    X(U16, "uint16", "UInt16", 2, 'u')                                                                                 \
    X(U32, "uint32", "UInt32", 4, 'u')                                                                                 \
    X(U64, "uint64", "UInt64", 8, 'u')                                                                                 \
    X(I8, "int8", "Int8", 1, 'i')                                                                                      \
    X(I16, "int16", "Int16", 2, 'i')                                                                                   \
    X(I32, "int32", "Int32", 4, 'i')                                                                                   \
    X(I64, "int64", "Int64", 8, 'i')                                                                                   \
    X(F16, "float16", "Float16", 2, 'f')                                                                               \
    X(BF16, "bfloat16", "BFloat16", 2, 'f')                                                                            \
    X(F32, "float32", "Float32", 4, 'f')                                                                               \
    X(F64, "float64", "Float64", 8, 'f')                                                                               \
    X(C64, "complex64", "Complex64", 8, 'c')                                                                           \
    X(C128, "complex128", "Complex128", 16, 'c')                                                                       \
    X(STR, "string", "String", 4, 's')
/* clang-format on */

#define X(e, name, text, bytes, kind) SP_DTYPE_##e,
typedef enum { SP_DTYPE_LIST(X) SP_DTYPE_COUNT, SP_DTYPE_NONE = -1 } sp_dtype;
#undef X

SP_API const char *sp_dtype_name(sp_dtype dtype); /* "float32" */
SP_API const char *sp_dtype_text(sp_dtype dtype); /* "Float32", MindSpore's spelling */
SP_API size_t sp_dtype_bytes(sp_dtype dtype);
SP_API char sp_dtype_kind(sp_dtype dtype);
SP_API sp_dtype sp_dtype_parse(const char *name); /* either spelling; SP_DTYPE_NONE if unknown */
/* The dtype two operands meet in; SP_DTYPE_NONE when there is none. */
SP_API sp_dtype sp_dtype_promote(sp_dtype a, sp_dtype b);

/* A strided view of memory. Shape and dtype never change; contents may, through in-place operators. Share it between
 * threads for reading freely. */
typedef struct sp_tensor sp_tensor;

/* Dtype and shape alone. In graphs (graph.h) a dimension of -1 is known at run time only. */
typedef struct sp_spec {
    sp_dtype dtype;
    int rank;
    int64_t dims[SP_RANK_MAX];
} sp_spec;

/* New tensor, contents undefined. */
SP_API sp_status sp_tensor_create(sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out);
SP_API sp_status sp_tensor_create_zeros(sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out);
/* New tensor holding a copy of `data` (row-major, as many bytes as dims say). */
SP_API sp_status sp_tensor_create_from(sp_dtype dtype, int rank, const int64_t *dims, const void *data,
                                       sp_tensor **out);
/* Rank-0 tensors from C numbers. */
SP_API sp_status sp_tensor_create_f64(sp_dtype dtype, double value, sp_tensor **out);
SP_API sp_status sp_tensor_create_i64(sp_dtype dtype, int64_t value, sp_tensor **out);
/* Foreign memory: `release(context)` is called once, when the last view of it is gone. strides in elements, NULL for
 * row-major. On failure release is not called. */
SP_API sp_status sp_tensor_wrap(sp_dtype dtype, int rank, const int64_t *dims, const int64_t *strides, void *data,
                                void (*release)(void *context), void *context, sp_tensor **out);
SP_API sp_tensor *sp_tensor_retain(sp_tensor *t);
SP_API void sp_tensor_release(sp_tensor *t); /* NULL is fine */

SP_API sp_dtype sp_tensor_dtype(const sp_tensor *t);
SP_API int sp_tensor_rank(const sp_tensor *t);
SP_API const int64_t *sp_tensor_dims(const sp_tensor *t);    /* lives as long as t */
SP_API const int64_t *sp_tensor_strides(const sp_tensor *t); /* in elements */
SP_API int64_t sp_tensor_count(const sp_tensor *t);          /* number of elements */
SP_API size_t sp_tensor_bytes(const sp_tensor *t);           /* count * element size */
SP_API void *sp_tensor_data(const sp_tensor *t); /* address of element [0,0,...]; NULL if it has no memory */
SP_API bool sp_tensor_is_contiguous(const sp_tensor *t);
/* True when both are views of the same memory block. */
SP_API bool sp_tensor_shares(const sp_tensor *a, const sp_tensor *b);

/* Views: same memory, other geometry. Not recorded for gradients; use the operators of ops.h for that. */
SP_API sp_status sp_tensor_view(const sp_tensor *t, int rank, const int64_t *dims, const int64_t *strides,
                                int64_t offset, sp_tensor **out);
/* Row-major copy, or `t` itself (retained) when it is that already. */
SP_API sp_status sp_tensor_contiguous(sp_tensor *t, sp_tensor **out);
/* New row-major tensor with the same contents. */
SP_API sp_status sp_tensor_copy(const sp_tensor *t, sp_tensor **out);
/* Write src (same shape, any dtype: converted) over dst. Strided on both sides. */
SP_API sp_status sp_tensor_assign(sp_tensor *dst, const sp_tensor *src);
/* One element of a tensor with count 1, converted. */
SP_API sp_status sp_tensor_item_f64(const sp_tensor *t, double *out);
SP_API sp_status sp_tensor_item_i64(const sp_tensor *t, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif
