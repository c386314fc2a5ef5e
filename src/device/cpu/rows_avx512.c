/* SPDX-License-Identifier: Apache-2.0 */
/* rows_avx512.c - row kernels for AVX512. */
#define ROWS_TABLE sp__float_rows_avx512
#include "device/cpu/rows_impl.h"
