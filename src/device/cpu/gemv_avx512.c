/* SPDX-License-Identifier: Apache-2.0 */
/* gemv_avx512.c - products of a few rows for AVX-512. */
#define GEMV_TABLE sp__gemv_avx512
#define GEMV_NAME "avx512"
#include "device/cpu/gemv_impl.h"
