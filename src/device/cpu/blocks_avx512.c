/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_avx512.c - kernels for blocked images: avx512. */
#define BLOCKS_TABLE sp__blocks_avx512
#include "device/cpu/blocks_impl.h"
