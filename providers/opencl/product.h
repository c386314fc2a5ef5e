/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - our own kernel for products (kernels/product.cl), which convolutions use, too. */
#ifndef SPORE_OPENCL_PRODUCT_H
#define SPORE_OPENCL_PRODUCT_H

#include "opencl.h"

/* Definitions for tiles that suit m rows; the type computed in must be defined. */
void ocl_tiles_add(ocl_device *d, ocl_text *t, sp_dtype dtype, int64_t m);
/* "tiles" or "groups". */
const char *ocl_tiles_kernel(const ocl_device *d);
/* Enqueues; the first three arguments (m, n, k) were given before the others. */
sp_status ocl_tiles_run(ocl_launch *l, int64_t m, int64_t n, int64_t batch);

#endif
