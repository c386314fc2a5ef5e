/* SPDX-License-Identifier: Apache-2.0 */
/* loops.h - inner loops of element-wise operators as the vector unit does them; loops.def lists them. */
#ifndef SPORE_CPU_LOOPS_H
#define SPORE_CPU_LOOPS_H

#include "ir/op_impl.h"

enum {
#define LOOP(name, cost) SP_CPU_LOOP_##name,
#include "device/cpu/loops.def"
#undef LOOP
    SP_CPU_LOOPS
};

/* One row per operator of loops.def, for float32, float16, bfloat16, float64; NULL: the reference does it, libm in most cases. */
typedef struct sp__cpu_loop_row {
    sp_loop_fn f32, f16, bf16, f64;
} sp__cpu_loop_row;
extern const sp__cpu_loop_row sp__cpu_loops_portable[SP_CPU_LOOPS];
#if SP_HAVE_X86
extern const sp__cpu_loop_row sp__cpu_loops_avx2[SP_CPU_LOOPS];
extern const sp__cpu_loop_row sp__cpu_loops_avx512[SP_CPU_LOOPS];
#endif

#endif
