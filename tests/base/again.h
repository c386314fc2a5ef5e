/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - a test program starts itself again, as another process with other variables. Under an emulator, named by SPORE_EMULATOR
 * (tests/device/armhf), the kernel cannot start programs of the other machine, so the emulator is started with them. */
#ifndef SPORE_TEST_AGAIN_H
#define SPORE_TEST_AGAIN_H

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Does not return unless it fails. word: its only argument, or NULL. */
static inline void start_again(const char *word)
{
    const char *emulator = getenv("SPORE_EMULATOR");
    char path[PATH_MAX] = {0};
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return;
    if (emulator) execlp(emulator, emulator, path, word, (char *)NULL);
    else execl(path, path, word, (char *)NULL);
}

#endif
