/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_avx2.c - kernels for blocked images: avx2. */
#define BLOCKS_TABLE sp__blocks_avx2
#include "device/cpu/blocks_impl.h"
