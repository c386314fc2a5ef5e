/* SPDX-License-Identifier: Apache-2.0 */
/* jit.h - programs for a function that is recorded for the arguments it meets: one for all sizes where that is possible.
 *
 * Whoever has such a function (a model from a file) gives a recorder, which records it for arguments of given dtypes and shapes. To record is quick.
 * To compile a recording, and to bring its weights into the form that kernels want, is not, and every program has memory of its own. So:
 *
 *   1. The first sizes get a program for just these: a function that never meets others has what suits it best.
 *   2. For other sizes the function is recorded again, and the recording compared with the one of the program, node by node (jit_open.c). Where they are the same
 *      but for sizes, those that differ are opened, and the program that is compiled with them open is the one for all but the sizes that have
 *      one already. From then on a new size costs a recording, a comparison and a plan (plan.h): nothing is compiled.
 *   3. Where they differ in more (a constant is made of the size, the function takes another course) the sizes get a program of their own. The one that was not used
 *      for longest goes when there are SP_JIT_PROGRAMS_MAX.
 *
 * Nothing is concluded about sizes from others: each set of them has been recorded before a program runs with it, so results are those of a
 * program for that set alone, bit for bit.
 *
 * Threads may ask at any time. Sizes that are known are found without waiting for others that are being compiled. */
#ifndef SPORE_JIT_H
#define SPORE_JIT_H

#include "base/text.h"
#include "ir/graph_impl.h"

enum {
    SP_JIT_PROGRAMS_MAX = 64, /* that are kept, of one function */
    SP_JIT_SIZES_MAX = 256,   /* sets of sizes that are known to be right for a program; others are recorded again */
    SP_JIT_OPENED_MAX = 8     /* how often more sizes of a program are opened; then others get their own */
};

typedef struct sp_jit sp_jit;

/* Arguments, and the way to record the function for them. */
typedef struct sp_jit_call {
    uint64_t which; /* what else decides about a recording: which optional arguments are there */
    uint64_t stamp; /* of what recordings hold as constants: programs made under another one are dropped */
    int n;
    const sp_spec *specs; /* all sizes known; what lies behind the rank is zero */
    /* The graph is the caller's. Called by one thread at a time. */
    sp_status (*record)(const void *context, int n, const sp_spec *specs, sp_graph **graph, sp_function **out);
    const void *context;
} sp_jit_call;

sp_status sp__jit_create(sp_jit **out);
void sp__jit_free(sp_jit *j);
/* The program for these arguments, found or made; to be released. Fails with what the recorder or the compiler fails with, and then keeps nothing. */
sp_status sp__jit_program(sp_jit *j, const sp_jit_call *call, sp_program **out);

typedef struct sp_jit_counts {
    uint64_t n_recorded, n_compiled; /* since it was made */
    int n_programs, n_sizes;         /* at hand */
} sp_jit_counts;
sp_jit_counts sp__jit_count(sp_jit *j);
/* The programs, latest first, each with its report and, where it stands beside others, why. */
sp_status sp__jit_report(sp_jit *j, sp__text *out);

/* Memory between the operators of a run, and the least that is possible, of the latest plans of a program; 0 before its first run. */
void sp__program_memory(const sp_program *p, size_t *arena, size_t *least);

/* --- recordings compared (jit_open.c) ---------------------------------------------------------------------------- */

/* Is `f` what `open` is with the sizes of f? SP_DECLINED: no; the message says which of their parts is otherwise. f stays as it is. */
sp_status sp__recording_fits(const sp_function *open, sp_function *f);
/* Open sizes in the recording f such that also what fits `base` fits f. SP_DECLINED: they differ in more than sizes that can be
 * open; the message says in what, and f is as it was. After another failure f is of no use. */
sp_status sp__recording_open(const sp_function *base, sp_function *f);

#endif
