/* SPDX-License-Identifier: Apache-2.0 */
/* loops_portable.c - element-wise loops for any machine; NEON where there is one. */
#define LOOPS_TABLE sp__cpu_loops_portable
#include "device/cpu/loops_impl.h"
