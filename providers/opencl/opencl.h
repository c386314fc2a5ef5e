/* SPDX-License-Identifier: Apache-2.0 */
/* opencl.h - a device over OpenCL 1.2, from inside; read this one first.
 *
 *     api.c          the OpenCL and CLBlast libraries, opened at run time
 *     context.c      devices, memory, copies, waiting: the table's functions
 *     program.c      kernels: compiled when first wanted, kept in memory and on disk; launches
 *     operands.c     geometry of operands: merged dimensions, attributes
 *     elementwise.c  element-wise families, from one generated source
 *     reduce.c       reductions     rows.c  softmax, norms, losses: work along rows
 *     product.c      matrix products, by CLBlast or our own kernel     convolve.c  convolutions as implicit products
 *     pool.c         pooling        place.c  copies of parts, concat, gather, scatter
 *     update.c       optimizers     noise.c  random numbers            recur.c     recurrent layers
 *     attend.c       attention      table.c  the list of kernels, and the function that is exported
 *
 * Invariants: 1. one in-order queue a device, so a buffer may be used again as soon as it is released. 2. Arguments of a kernel object belong to the
 * device, so a launch holds the device's lock from ocl_begin to ocl_run. 3. A kernel never allocates but for scratch buffers, which the queue outlives.
 * 4. Indices are checked where they are used; a wrong one sets `fault`, which the next wait tells. */
#ifndef SPORE_OPENCL_H
#define SPORE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>

#include "spore/device.h"

#define OCL_RANK 16 /* of tensors */

/* --- libraries --------------------------------------------------------------------------------------------------- */

#define OCL_FUNCTIONS(X)                                                                                               \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetDeviceIDs)                                                                                                  \
    X(clGetDeviceInfo)                                                                                                 \
    X(clCreateContext)                                                                                                 \
    X(clCreateCommandQueue)                                                                                            \
    X(clCreateBuffer)                                                                                                  \
    X(clReleaseMemObject)                                                                                              \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueCopyBuffer)                                                                                             \
    X(clEnqueueFillBuffer)                                                                                             \
    X(clCreateProgramWithSource)                                                                                       \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clBuildProgram)                                                                                                  \
    X(clGetProgramInfo)                                                                                                \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clReleaseProgram)                                                                                                \
    X(clCreateKernel)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clSetKernelArg)                                                                                                  \
    X(clEnqueueNDRangeKernel)                                                                                          \
    X(clSetEventCallback)                                                                                              \
    X(clReleaseEvent)                                                                                                  \
    X(clFlush)                                                                                                         \
    X(clFinish)

typedef struct ocl_api {
#define X(name) __typeof__(name) *name;
    OCL_FUNCTIONS(X)
#undef X
} ocl_api;
extern ocl_api cl;
extern const sp_device_host *engine;

/* Drivers bring compilers that set handlers of signals for the whole process, which is the program's matter: what was there is put back behind calls of them. */
typedef struct ocl_signals ocl_signals;
ocl_signals *ocl_signals_keep(void);
void ocl_signals_put_back(ocl_signals *kept);
/* Opens libOpenCL; SP_RUNTIME where there is none. */
sp_status ocl_api_open(void);
/* A function of CLBlast; NULL: it is not installed, or SPORE_OPENCL_CLBLAST=0. */
void *ocl_clblast(const char *name);

/* --- a device ---------------------------------------------------------------------------------------------------- */

typedef struct ocl_kernel {
    char *key; /* source, name and definitions */
    uint64_t hash;
    cl_kernel kernel;
    struct ocl_kernel *next;
} ocl_kernel;

enum { OCL_BUCKETS = 256, OCL_SCRATCH = 4 };

typedef struct ocl_scratch {
    cl_mem memory;
    size_t bytes;
} ocl_scratch;

typedef struct ocl_device {
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    pthread_mutex_t lock; /* of kernels and their arguments, scratch */
    bool cpu, has_double;
    size_t group;       /* work items of a group that work along a row: 1 on a CPU */
    char identity[640]; /* platform, device and driver: what binaries depend on */
    ocl_kernel *kernels[OCL_BUCKETS];
    ocl_scratch scratch[OCL_SCRATCH];
    cl_mem fault; /* four ints: which operator, index, limit; the first 0: nothing was wrong */
    bool fault_possible;
} ocl_device;

/* An OpenCL call that must succeed. */
#define OCL_TRY(what)                                                                                                  \
    do {                                                                                                               \
        const cl_int code_ = (what);                                                                                   \
        if (code_ != CL_SUCCESS) return ocl_fail(#what, code_);                                                        \
    } while (0)
sp_status ocl_fail(const char *what, cl_int code);
__attribute__((format(printf, 2, 3))) sp_status ocl_failf(sp_status status, const char *format, ...);

/* Memory that lives until the next call of a kernel that wants scratch `number`; contents undefined. */
sp_status ocl_scratch_get(ocl_device *d, int number, size_t bytes, cl_mem *out);

/* --- launches ---------------------------------------------------------------------------------------------------- */

/* What is put in front of a source: text that grows, cut off never (a failure is kept). */
typedef struct ocl_text {
    char *at;
    size_t used, room;
    bool failed;
} ocl_text;
__attribute__((format(printf, 2, 3))) void ocl_add(ocl_text *t, const char *format, ...);
/* #define T<suffix>, LD<suffix>, ST<suffix> for a dtype, and C<suffix>, the type it is computed in. */
void ocl_add_dtype(ocl_text *t, const char *suffix, sp_dtype dtype);
void ocl_text_free(ocl_text *t);

typedef struct ocl_launch {
    ocl_device *d;
    cl_kernel kernel;
    cl_uint n;
    cl_int code;
} ocl_launch;

/* Finds or compiles kernel `name` of the source after the definitions, and takes the device's lock; op: for messages. The text is freed. */
sp_status ocl_begin(ocl_device *d, const char *op, const char *source, const char *name, ocl_text *definitions,
                    ocl_launch *out);
void ocl_arg(ocl_launch *l, size_t bytes, const void *value);
void ocl_arg_int(ocl_launch *l, int64_t value);
void ocl_arg_float(ocl_launch *l, double value);
/* Buffer and offset in elements: two arguments. */
void ocl_arg_operand(ocl_launch *l, const sp_device_operand *o);
void ocl_arg_memory(ocl_launch *l, cl_mem memory, int64_t offset);
/* Enqueues and gives the lock back. global is rounded up to groups; kernels check their range. group NULL: one that suits the device. */
sp_status ocl_run(ocl_launch *l, int n_dims, const size_t *global, const size_t *group);
sp_status ocl_run_1d(ocl_launch *l, int64_t n);
/* A group for each of n rows. */
sp_status ocl_run_rows(ocl_launch *l, int64_t n);

/* --- operands ---------------------------------------------------------------------------------------------------- */

int64_t ocl_count(const sp_device_operand *o);
size_t ocl_bytes(sp_dtype dtype);
char ocl_kind(sp_dtype dtype);
const char *ocl_dtype_name(sp_dtype dtype);
bool ocl_row_major(const sp_device_operand *o);
/* May they have bytes in common? Tensors of a program are pieces of one buffer. */
bool ocl_overlap(const sp_device_operand *a, const sp_device_operand *b);
/* Some kernel computes with it here. */
bool ocl_computes(const ocl_device *d, sp_dtype dtype);
bool ocl_is_float(sp_dtype dtype);
static inline int64_t ocl_at(const sp_device_operand *o) { return (int64_t)(o->offset / ocl_bytes(o->dtype)); }

/* Attributes by name; otherwise: where there is none. */
int64_t ocl_int(const sp_device_call *c, const char *name, int64_t otherwise);
double ocl_float(const sp_device_call *c, const char *name, double otherwise);
bool ocl_bool(const sp_device_call *c, const char *name, bool otherwise);
const char *ocl_word(const sp_device_call *c, const char *name, const char *otherwise);
sp_ints ocl_ints(const sp_device_call *c, const char *name);

/* Dimensions that n operands share, with a stride for each; neighbours that are one piece everywhere are merged. */
enum { OCL_OPERANDS = 12 };
typedef struct ocl_shape {
    int rank, n;
    int64_t count;
    int64_t dims[OCL_RANK], strides[OCL_OPERANDS][OCL_RANK];
} ocl_shape;
/* Over dims, to which the operands broadcast. */
void ocl_shape_start(ocl_shape *s, int rank, const int64_t *dims);
void ocl_shape_add(ocl_shape *s, int rank, const int64_t *dims, const int64_t *strides);
void ocl_shape_merge(ocl_shape *s);
void ocl_row_major_strides(int rank, const int64_t *dims, int64_t *strides);

/* outer x n x inner around axes [first, last). */
typedef struct ocl_split {
    int64_t outer, n, inner;
} ocl_split;
ocl_split ocl_split_at(const sp_device_operand *o, int first, int last);

/* --- shared by kernels ------------------------------------------------------------------------------------------- */

/* out[i] = expression of x, y, z, ... (in's elements in the type `compute`), over s: operand 0 is out. */
sp_status ocl_map(ocl_device *d, const char *op, const char *expression, sp_dtype compute, const ocl_shape *s,
                  const sp_device_operand *out, int n_in, const sp_device_operand *in, int n_numbers,
                  const double *numbers);
/* out = in of any strides, over in's dimensions; out_strides NULL: row-major. */
sp_status ocl_copy_strided(ocl_device *d, const char *op, const sp_device_operand *in, const sp_device_operand *out,
                           const int64_t *out_strides, int64_t out_offset);

/* One product of matrices, row-major with rows `lda` elements apart, transposed or not; c = alpha a b + beta c; offsets in elements. */
typedef struct ocl_product {
    sp_dtype dtype;
    bool transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    cl_mem a, b, c;
    int64_t a_at, b_at, c_at;
    double beta;
    int64_t batch, a_step, b_step, c_step; /* batch 1: one */
} ocl_product;
sp_status ocl_multiply(ocl_device *d, const char *op, const ocl_product *p);

typedef bool ocl_takes(void *device, const sp_device_call *c);
typedef sp_status ocl_kernel_fn(void *device, const sp_device_call *c);
#define OCL_KERNEL(name)                                                                                               \
    ocl_takes name##_takes;                                                                                            \
    ocl_kernel_fn name##_run;
#define OCL_FAMILIES(X)                                                                                                \
    X(ocl_elementwise)                                                                                                 \
    X(ocl_reduce)                                                                                                      \
    X(ocl_softmax)                                                                                                     \
    X(ocl_softmax_grad)                                                                                                \
    X(ocl_layer_norm)                                                                                                  \
    X(ocl_layer_norm_grad)                                                                                             \
    X(ocl_batch_norm)                                                                                                  \
    X(ocl_batch_norm_grad)                                                                                             \
    X(ocl_affine)                                                                                                      \
    X(ocl_nll)                                                                                                         \
    X(ocl_nll_grad)                                                                                                    \
    X(ocl_matmul)                                                                                                      \
    X(ocl_conv)                                                                                                        \
    X(ocl_pool)                                                                                                        \
    X(ocl_slice_put)                                                                                                   \
    X(ocl_concat)                                                                                                      \
    X(ocl_index)                                                                                                       \
    X(ocl_index_put)                                                                                                   \
    X(ocl_full)                                                                                                        \
    X(ocl_update)                                                                                                      \
    X(ocl_random)                                                                                                      \
    X(ocl_scan)                                                                                                        \
    X(ocl_scan_grad)                                                                                                   \
    X(ocl_attention)                                                                                                   \
    X(ocl_attention_grad)
OCL_FAMILIES(OCL_KERNEL)

/* How many operators these families have, and which. */
int ocl_elementwise_start(void);
const char *ocl_elementwise_op(int i);
int ocl_update_start(void);
const char *ocl_update_op(int i);

/* Sources, from kernels/x.cl. */
typedef struct ocl_source {
    const char *name, *text;
} ocl_source;
extern const ocl_source ocl_sources[];

#endif
