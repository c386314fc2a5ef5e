/* SPDX-License-Identifier: Apache-2.0 */
/* reduced.h - what operators that reduce over axes share. */
#ifndef SPORE_OPS_REDUCED_H
#define SPORE_OPS_REDUCED_H

/* Shape of x without these axes, and its dtype. */
sp_status sp__infer_reduced(const sp_tensor *x, sp_ints axis, bool keepdims, sp_meta *out);

#endif
