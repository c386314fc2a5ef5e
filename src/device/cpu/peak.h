/* SPDX-License-Identifier: Apache-2.0 */
/* peak.h - loops that do nothing but one kind of operation, to measure what a core can do; peak_*.c have them, one file per instruction
 * set. */
#ifndef SPORE_CPU_PEAK_H
#define SPORE_CPU_PEAK_H

#include "base/base.h"
#include "spore/tensor.h"

typedef struct sp__peak {
    const char *name;
    unsigned cpu; /* features it needs */
    sp_dtype dtype;
    double operations; /* of one turn */
    void (*run)(int64_t turns);
} sp__peak;
extern const sp__peak sp__peaks_portable[1];
#if SP_HAVE_X86
extern const sp__peak sp__peaks_avx2[2], sp__peaks_avx512[2], sp__peaks_vnni[2], sp__peaks_amx[2];
#endif

/* Read memory, with the widest loads there are. */
void sp__peak_read_portable(const void *memory, size_t bytes);
void sp__peak_read_avx512(const void *memory, size_t bytes);

/* A one that the compiler does not know, or it would know the results; and the end of a value that nobody wants. */
static const volatile float sp__peak_one = 1;
#define SP_PEAK_USE(v) __asm__ volatile("" : : "m"(v))

#endif
