/* SPDX-License-Identifier: Apache-2.0 */
/* dots_portable.c - products of bytes by the compiler's own vectors, and the choice between the files of its kind. */
#include "device/cpu/vec.h"

#define DOTS_TABLE sp__dots_portable
#define DOTS_NAME "plain vectors"
#define DOTS_DEPTH 0
enum { DOTS_ROWS = 4, DOTS_BLOCKS = 1 };

typedef struct {
    int32_t v[4];
} dx;
typedef struct {
    vi v[4];
} dw;

static inline dx dots_x(const uint8_t *p, uint32_t flip)
{
    const uint8_t f = (uint8_t)flip;
    return (dx){{p[0] ^ f, p[1] ^ f, p[2] ^ f, p[3] ^ f}};
}
static inline dw dots_w(const int8_t *p)
{
    vi w;
    memcpy(&w, p, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (dw){{w >> 24, (vi)((w << 8)) >> 24, (vi)((w << 16)) >> 24, (vi)((w << 24)) >> 24}};
#else
    return (dw){{(vi)(w << 24) >> 24, (vi)(w << 16) >> 24, (vi)(w << 8) >> 24, w >> 24}};
#endif
}
static inline vi dots_dot(vi sum, dx x, dw w)
{
    for (int i = 0; i < 4; i++) sum = sum + w.v[i] * x.v[i];
    return sum;
}

#include "device/cpu/dots_impl.h"

static const sp__dots_kernels *override;

void sp__dots_override(const sp__dots_kernels *kernels) { override = kernels; }

const sp__dots_kernels *sp__dots_find(void)
{
    if (override) return override;
#if SP_HAVE_X86
    const unsigned features = sp__cpu_features(), vnni = SP_CPU_AVX512 | SP_CPU_VNNI;
    if ((features & vnni) == vnni) return &sp__dots_vnni;
    if (features & SP_CPU_AVX2) return &sp__dots_avx2;
#endif
    return &sp__dots_portable;
}
