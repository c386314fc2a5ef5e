/* SPDX-License-Identifier: Apache-2.0 */
/* fail.h - what base.h does not say about failing: for those who must tell why somebody else failed, and for tests. */
#ifndef SPORE_BASE_FAIL_H
#define SPORE_BASE_FAIL_H

#include "base/base.h"

/* The status that came with this thread's message. */
sp_status sp__fail_status(void);
/* Is memory short just now? For libraries that fail without saying why: asks for some. */
bool sp__memory_is_out(void);

/* What pthread_create's answer means, told: SP_NOMEM, or SP_RUNTIME. `whom` the thread was for: "the network". */
sp_status sp__fail_thread(int answer, const char *whom);

/* Tests. sp__alloc_fail_at makes one allocation fail; this one the n-th from now (1 = the next) and all that follow, as when memory has run
 * out, until 0 switches it off. */
void sp__alloc_fail_from(int64_t n);
/* How many failed since it was last set. */
uint64_t sp__alloc_failed(void);

#endif
