/* SPDX-License-Identifier: Apache-2.0 */
/* gemv_portable.c - products of a few rows for any CPU. */
#define GEMV_TABLE sp__gemv_portable
#define GEMV_NAME "portable"
#include "device/cpu/gemv_impl.h"
