/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - sliding windows of convolution and pooling, in two dimensions; one dimension is a row of height 1. */
#ifndef SPORE_OPENCL_WINDOW_H
#define SPORE_OPENCL_WINDOW_H

#include "opencl.h"

typedef struct ocl_window {
    int64_t in[2], out[2], kernel[2], stride[2], dilation[2], pad[2], pad_end[2];
} ocl_window;

#define OCL_WINDOW_ONE {.in = {1, 1}, .out = {1, 1}, .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}}

/* One value for all of n dimensions, one for each, or two ones before them; false: neither. */
bool ocl_window_list(sp_ints v, int n, int64_t *out);
/* From pad_mode and pad; needs in, kernel, stride and dilation. */
bool ocl_window_pads(const sp_device_call *c, int n, ocl_window *w);
/* The last n dimensions. */
void ocl_window_spatial(const sp_device_operand *o, int n, int64_t *out);

#endif
