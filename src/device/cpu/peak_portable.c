/* SPDX-License-Identifier: Apache-2.0 */
/* peak_portable.c - multiply and add over the compiler's 16-byte vectors, as the portable kernels do. */
#include "device/cpu/peak.h"

#include <string.h>

typedef float vec __attribute__((vector_size(16)));
typedef uint64_t words __attribute__((vector_size(16)));

static void f32(int64_t turns)
{
    float f = sp__peak_one;
    vec acc[12], x = {f, f, f, f}, y = x;
    for (int i = 0; i < 12; i++) acc[i] = x * (float)i; /* different, or one chain would do for all */
    for (int64_t t = 0; t < turns; t++)
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) acc[i] = acc[i] * x + y;
    for (int i = 0; i < 12; i++) SP_PEAK_USE(acc[i]);
}
const sp__peak sp__peaks_portable[1] = {{"portable float32", 0, SP_DTYPE_F32, 12 * 8, f32}};

void sp__peak_read_portable(const void *memory, size_t bytes)
{
    const char *p = memory;
    words acc[4] = {{0}};
    for (size_t i = 0; i + 64 <= bytes; i += 64)
        for (int l = 0; l < 4; l++) {
            words w;
            memcpy(&w, p + i + l * 16, 16);
            acc[l] |= w;
        }
    for (int l = 0; l < 4; l++) SP_PEAK_USE(acc[l]);
}
