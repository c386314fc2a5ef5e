/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt.h - what tests need to know of ckpt.c. */
#ifndef SPORE_CKPT_H
#define SPORE_CKPT_H

#include <stddef.h>

/* Most bytes of contents in one entry of a checkpoint: 512 MiB, which tests lower. A multiple of 16, so that no element
 * is cut. */
extern size_t sp__checkpoint_slice_bytes;

#endif
