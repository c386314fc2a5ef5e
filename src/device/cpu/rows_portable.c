/* SPDX-License-Identifier: Apache-2.0 */
/* rows_portable.c - row kernels for any machine; NEON where there is one. */
#define ROWS_TABLE sp__float_rows_portable
#include "device/cpu/rows_impl.h"
