/* SPDX-License-Identifier: Apache-2.0 */
/* used.h - what a piece of work needs of the library: operators, primitives of files, dtypes. Watched by one thread at a time, for a build that has nothing else
 * (spore/trim.h); while nobody watches, a call costs a look at a flag. */
#ifndef SPORE_USED_H
#define SPORE_USED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/parts.h"
#include "base/text.h"
#include "spore/status.h"

typedef enum { SP_USED_OPERATOR, SP_USED_PRIMITIVE, SP_USED_ONNX, SP_USED_FORMAT, SP_USED_KINDS } sp_used_kind;

extern atomic_bool sp__used_flag;
static inline bool sp__used_watched(void)
{
    return SP_HAVE_TEXTS && atomic_load_explicit(&sp__used_flag, memory_order_relaxed);
}

/* SP_RUNTIME: somebody watches already. */
sp_status sp__used_begin(void);
/* Names are copied; what finds no memory is told by sp__used_list. */
void sp__used_note(sp_used_kind kind, const char *name);
void sp__used_note_dtype(int dtype);
/* The names of a kind in the order of the alphabet, with `between` between them; dtypes as bits by number. */
sp_status sp__used_list(sp_used_kind kind, const char *between, sp__text *out);
uint32_t sp__used_dtypes(void);
void sp__used_end(void);

#endif
