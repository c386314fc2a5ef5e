/* SPDX-License-Identifier: Apache-2.0 */
/* loops_avx512.c - element-wise loops for AVX512. */
#define LOOPS_TABLE sp__cpu_loops_avx512
#include "device/cpu/loops_impl.h"
