/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - tests with many cases or repetitions do one in n of them where SPORE_TEST_SHARE=n says so: for emulators, which take a hundred
 * times as long (tests/device/armhf). Without it they do all. */
#ifndef SPORE_TEST_SHARE_H
#define SPORE_TEST_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline int share(void)
{
    const char *text = getenv("SPORE_TEST_SHARE");
    const int n = text ? atoi(text) : 1;
    return n > 1 ? n : 1;
}

/* How many of n repetitions. */
static inline int share_of(int n) { return n > share() ? n / share() : 1; }

/* Is case i, of all that a test counts, among those to do? Remainders go round, so that no kind of case is always left out. */
static inline bool share_takes(int64_t i) { return (i + i / share()) % share() == 0; }

#endif
