/* SPDX-License-Identifier: Apache-2.0 */
/* mapped.h - tensors whose memory is a mapped file, which is only as good as the file is what it was. */
#ifndef SPORE_MAPPED_H
#define SPORE_MAPPED_H

#include "base/file.h"
#include "tensor/tensor_impl.h"

static inline bool sp__storage_is_mapped(const sp_storage *s) { return s != NULL && s->release == sp__map_release; }

/* SP_IO, if the file was changed or cut since. What was written over is the process's own. */
static inline sp_status sp__storage_check(sp_storage *s)
{
    if (!sp__storage_is_mapped(s)) return SP_OK;
    return atomic_load_explicit(&s->version, memory_order_relaxed) == 0 ? sp__map_check(s->context)
                                                                        : sp__map_check_cut(s->context);
}

#endif
