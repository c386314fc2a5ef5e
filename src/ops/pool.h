/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - what others may know of pooling. */
#ifndef SPORE_POOL_H
#define SPORE_POOL_H

#include "ir/window.h"

/* The windows of max_pool2d over x. */
sp_status sp__max_pool2d_window(const sp_tensor *x, const void *attrs, sp__window *out);
/* The windows of avg_pool2d; whether padding counts, and what sums are divided by (0: by the elements that count). */
sp_status sp__mean_pool2d_window(const sp_tensor *x, const void *attrs, sp__window *out, bool *include_pad,
                                 int64_t *divisor);

#endif
