/* SPDX-License-Identifier: Apache-2.0 */
/* rows_avx2.c - row kernels for AVX2. */
#define ROWS_TABLE sp__float_rows_avx2
#include "device/cpu/rows_impl.h"
