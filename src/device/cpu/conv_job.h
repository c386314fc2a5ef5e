/* SPDX-License-Identifier: Apache-2.0 */
/* conv_job.h - one convolution in work, shared by its parts: conv_forward.c, conv_gradient.c, and cpu_conv.c, which has the entries. */
#ifndef SPORE_CPU_CONV_JOB_H
#define SPORE_CPU_CONV_JOB_H

#include <string.h>

#include "device/cpu/gemm.h"
#include "device/cpu/tiles.h"
#include "device/cpu/winograd.h"
#include "device/device.h"
#include "ir/window.h"

#define SP_CONV_TASK_FLOPS 1e6 /* what one task should have to do */

static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* What the vectors of a forward convolution are. */
typedef enum { FORM_CHANNELS, FORM_ROWS, FORM_PANELS } conv_form;

typedef struct sp__conv_job {
    const sp__gemm_kernels *kernels;
    sp_dtype dtype;
    int64_t size;          /* of an element */
    sp__conv_geometry g;   /* of the convolution as it is computed: for the gradient by input, the mirrored one */
    int64_t ic_g, oc_g, k; /* channels per group; taps times in channels per group */
    int64_t padded[SP_SPATIAL], plane, positions;
    bool copies, mirrored;
    double flops;
    /* scratch */
    size_t offsets_bytes, padded_bytes, panels_bytes;
    int64_t *offsets; /* k of them: where the element under each tap lies */
    int64_t *starts;  /* where the window of each position begins, when panels are gathered */
    char *padded_x, *panels;
    /* operands */
    const char *x, *weight, *bias, *dout;
    char *out;
    /* tasks */
    conv_form form;
    int64_t width;       /* of a panel of weights: rows or columns of the register block */
    int64_t band, bands; /* output rows, or positions, of a task; tasks per image and group */
    int64_t per_task, n_panels, m_panels;
    int64_t slice, slices; /* FORM_CHANNELS: panels of weights of a task; tasks per band */
    const sp_epilogue *epilogue;
    const char *prepared;           /* weights made ahead (sp__conv_prepare), or NULL */
    bool pointwise, winograd;       /* conv_pointwise.c; winograd.h first */
    const sp__tiles_kernels *tiles; /* NULL: by vectors */
    size_t tables_bytes, tiles_bytes;
    sp__tiles_range x_range;
} sp__conv_job;

/* Sizes that all three operators need; job->g is set. */
void sp__conv_plan(sp_dtype dtype, sp__conv_job *job);
/* Tasks to threads, or all of them here when there is little to do. */
sp_status sp__conv_share(const sp__conv_job *job, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t),
                         void *context);
/* Scratch: offsets, padded input, panels. */
void sp__conv_place(sp__conv_job *job, char *work);
/* x with its padding; afterwards x is read without checks. */
sp_status sp__conv_pad(sp__conv_job *job);

bool sp__conv_is_product(const sp__conv_geometry *g);
sp__gemm_shape sp__conv_product_shape(const sp__conv_job *job);
/* `n` elements from position `from` on of some channels. */
void sp__conv_fill_bias(const sp__conv_job *job, int64_t channel, int64_t n_channels, int64_t from, int64_t n,
                        char *out);
/* A window of one element over enough positions: conv_pointwise.c. */
bool sp__conv_is_pointwise(const sp__conv_job *job);
size_t sp__pointwise_prepared_bytes(const sp__conv_job *job);
sp_status sp__pointwise_prepare(sp__conv_job *job, void *to);
size_t sp__pointwise_work(const sp__conv_job *job);
sp_status sp__pointwise_forward(sp__conv_job *job, char *work);
void sp__conv_plan_forward(sp__conv_job *job);
/* Whether a window of several elements goes by tiles; the plan is made. */
bool sp__conv_is_tiled(const sp__conv_job *job);
/* Constant weights in the form that the forward convolution wants; the plan is made. */
size_t sp__conv_prepared_bytes(const sp__conv_job *job);
sp_status sp__conv_prepare(sp__conv_job *job, void *to);
size_t sp__conv_forward_work(sp__conv_job *job);
sp_status sp__conv_forward(sp__conv_job *job, char *work);

bool sp__conv_mirror(const sp__conv_geometry *g, sp__conv_geometry *out);
size_t sp__conv_input_work(const sp__conv_geometry *g, sp_dtype dtype, bool prepared);
sp_status sp__conv_input(const sp__conv_geometry *g, sp_dtype dtype, const void *dout, const void *weight, void *out,
                         const void *prepared, char *work);
/* The gradient by input with a stride, as convolutions of dout: conv_phases.c. */
bool sp__conv_has_phases(const sp__conv_geometry *g);
size_t sp__conv_phases_work(const sp__conv_job *job);
sp_status sp__conv_phases_run(const sp__conv_job *job, char *work);
size_t sp__conv_weight_work(sp__conv_job *job);
sp_status sp__conv_weight(sp__conv_job *job, char *work);

#endif
