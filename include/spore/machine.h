/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what this machine can do, and which kernels the library chose for it: what `spore doctor` and `spore bench` print. */
#ifndef SPORE_MACHINE_H
#define SPORE_MACHINE_H

#include "spore/op.h"
#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instruction sets in use, after SPORE_ISA: "avx2 avx512 vnni bf16". Lives forever. */
SP_API const char *sp_machine_features(void);
/* Bytes of a data cache, level 1 to 3; 0 when not known. */
SP_API size_t sp_machine_cache(int level);
/* How products of a dtype are computed: "avx512", "amx", "" when by the reference. Lives forever. */
SP_API const char *sp_machine_products(sp_dtype dtype);
/* Kernels beyond the reference for an operator, best first, as "name, name"; number of them. */
SP_API int sp_machine_kernels(const sp_op *op, char *text, size_t bytes);

/* One measured limit: operations, or bytes, a second. */
typedef struct sp_machine_peak {
    char name[40];   /* "avx512 float32", "reading 32 KB" */
    sp_dtype dtype;  /* SP_DTYPE_NONE: bytes */
    double one, all; /* with one thread, with all of them */
} sp_machine_peak;
/* Measures them, best of several short runs; takes a second or two. Returns how many there are; at most `max` are written. */
SP_API int sp_machine_peaks(sp_machine_peak *out, int max);

#ifdef __cplusplus
}
#endif
#endif
