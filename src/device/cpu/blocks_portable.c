/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_portable.c - kernels for blocked images: portable. */
#define BLOCKS_TABLE sp__blocks_portable
#include "device/cpu/blocks_impl.h"
