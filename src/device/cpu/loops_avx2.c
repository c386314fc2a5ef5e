/* SPDX-License-Identifier: Apache-2.0 */
/* loops_avx2.c - element-wise loops for AVX2. */
#define LOOPS_TABLE sp__cpu_loops_avx2
#include "device/cpu/loops_impl.h"
