/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - how much of its stack a thread has left. */
#include "base/stack.h"

#include <pthread.h>

/* For what a level calls besides itself: operators, messages, the C library. */
enum { RESERVE_BYTES = 24 << 10 };

static _Thread_local uintptr_t lowest; /* address of the stack's end; 0: not asked yet; 1: nobody knows */

static void find_lowest(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;
    lowest = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    if (pthread_attr_getstack(&attributes, &start, &bytes) == 0 && start) lowest = (uintptr_t)start;
    pthread_attr_destroy(&attributes);
}

sp_status sp__stack_check(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!lowest) find_lowest();
    if (here < lowest) return SP_OK; /* a stack of the program's own making (coroutines): its end is not known */
    SP_CHECK(here - lowest > RESERVE_BYTES, SP_VALUE,
             "nested too deep for the stack of this thread; use a thread with a larger one");
    return SP_OK;
}
