/* SPDX-License-Identifier: Apache-2.0 */
/* like.h - inputs that must look like each other. Kernels read all of them with the sizes of one, so inference refuses what does not fit. */
#ifndef SPORE_LIKE_H
#define SPORE_LIKE_H

#include "ir/op_impl.h"

/* Input i, where it is given, has the shape of input k; its dtype too. */
sp_status sp__input_shaped_like(const sp_call *c, int i, int k);
sp_status sp__input_like(const sp_call *c, int i, int k);
/* All inputs are like the first; inference for results that are like it too. */
sp_status sp__inputs_alike(const sp_call *c);
sp_status sp__infer_alike(const sp_call *c, sp_meta *out);
/* Input i, where it is given, has this shape. what: for the message, "one number per channel". */
sp_status sp__input_shaped(const sp_call *c, int i, int rank, const int64_t *dims, const char *what);

#endif
