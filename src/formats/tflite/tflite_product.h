/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_product.h - what convolutions and products share, of TensorFlow Lite's models and of MindSpore Lite's: sums of integers that are scaled and
 * rounded once, and windows. */
#ifndef SPORE_TFLITE_PRODUCT_H
#define SPORE_TFLITE_PRODUCT_H

#include "formats/tflite/tflite_model.h"

/* What a product is made of, whatever its kind. */
typedef struct sp_tflite_product {
    sp_tensor *x, *w, *bias; /* numbers ready to be multiplied */
    bool integers;           /* the result is to be scaled and rounded */
    float *scales; /* of x times of w, divided by that of the result: one, or one for each channel of the result */
    int n_scales;
} sp_tflite_product;

enum { SP_TFLITE_PAD_SAME = 0, SP_TFLITE_PAD_VALID = 1 }; /* Padding */

typedef struct sp_tflite_window {
    int n; /* spatial dimensions */
    int64_t kernel[3], stride[3], dilation[3], pads[6];
} sp_tflite_window;

typedef struct sp_tflite_window_text {
    sp_tflite_text kernel, stride, dilation, pads;
} sp_tflite_window_text;

/* Inputs `x` and `w`, which have been brought into the layout of the product; bias is input i_bias, -1: there is none. rows: first axis of what is rounded
 * together when only the weights are integers. */
sp_status sp__tflite_prepare(sp_tflite_call *c, int i_x, int i_w, int i_bias, sp_tensor *x, sp_tensor *w, int rows,
                             bool symmetric, sp_tflite_product *p);
/* The weights of a product of floats by their scales; those that are rounded as well. */
sp_tensor *sp__tflite_real_weights(sp_tflite_call *c, int i_x, int i_w);
/* The same of `rank` dimensions, transposed. Constant weights are made once for all runs and recordings, in one piece: kernels then pack them once, too. */
sp_tensor *sp__tflite_weights(sp_tflite_call *c, int i_x, int i_w, int rank, const int64_t *perm);
/* What this node made of the constant `from` in a recording before; t, kept for the next ones if `from` is a constant. One tensor a node. */
bool sp__tflite_kept(sp_tflite_call *c, sp_tensor *from, sp_tensor **t);
sp_tensor *sp__tflite_keep(sp_tflite_call *c, sp_tensor *from, sp_tensor *t);
/* The sums y to results: scaled, with its activation, rounded. channel: axis of the channels in y. */
sp_status sp__tflite_finish(sp_tflite_call *c, sp_tflite_product *p, sp_tensor *y, int channel, int64_t activation,
                            bool planes);
void sp__tflite_product_free(sp_tflite_product *p);

sp_status sp__tflite_window_fill(sp_tflite_window *w, const int64_t *in, int64_t padding);
void sp__tflite_window_print(const sp_tflite_window *w, sp_tflite_window_text *t);
sp_status sp__tflite_check_weights(sp_tflite_call *c, sp_tensor *x, sp_tensor *w, int rank);
sp_status sp__tflite_convolve(sp_tflite_call *c, sp_tflite_product *p, const sp_tflite_window *w, int64_t groups,
                              sp_tensor **out);
/* One axis resized to `out` elements, each the nearest: positions as the interpreter computes them, in float32. */
sp_tensor *sp__tflite_nearest(sp_tflite_call *c, sp_tensor *x, int axis, int64_t out, bool corners, bool half);

#endif
