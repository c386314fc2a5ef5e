/* SPDX-License-Identifier: Apache-2.0 */
/* gemv_avx2.c - products of a few rows for AVX2. */
#define GEMV_TABLE sp__gemv_avx2
#define GEMV_NAME "avx2"
#include "device/cpu/gemv_impl.h"
