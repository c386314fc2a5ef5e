/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - which instruction sets kernels may use here.
 *
 * A feature counts only when the processor has it and the operating system saves its registers (XCR0). AMX tile data must
 * also be asked for once per process; without the permission the first tile instruction would raise SIGILL, so the bit is
 * set only when the request succeeded. SPORE_ISA lowers the answer, never raises it: kernels of every level can be tested
 * on one machine. */
#include "base/base.h"
#include "base/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static const struct {
    const char *name;
    unsigned features;
} levels[] = {
    {"portable", 0},
    {"avx2", SP_CPU_AVX2},
    {"avx512", SP_CPU_AVX2 | SP_CPU_AVX512 | SP_CPU_VNNI | SP_CPU_BF16},
    {"amx", SP_CPU_AVX2 | SP_CPU_AVX512 | SP_CPU_VNNI | SP_CPU_BF16 | SP_CPU_AMX},
    {"neon", SP_CPU_NEON},
};

#if defined(__x86_64__)
static uint64_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool request_amx(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { REQUEST_XSTATE = 0x1023, XSTATE_TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_XSTATE, XSTATE_TILE_DATA) == 0;
#else
    return false;
#endif
}

static bool has(uint32_t word, int bit) { return word >> bit & 1; }

/* Palette 1 is what the kernels were written for: at least eight tiles of 16 rows of 64 bytes. Virtual machines that end CPUID before
   leaf 0x1D still tell how much room the tiles take where the system keeps them. */
static bool has_palette(void)
{
    enum { STATE_LEAF = 0xD, TILE_DATA = 18, PALETTE_LEAF = 0x1D, PALETTE_BYTES = 8 * 16 * 64 };
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(PALETTE_LEAF, 0, &a, &b, &c, &d))
        return __get_cpuid_count(STATE_LEAF, TILE_DATA, &a, &b, &c, &d) && a == PALETTE_BYTES;
    if (a < 1 || !__get_cpuid_count(PALETTE_LEAF, 1, &a, &b, &c, &d)) return false;
    return b >> 16 >= 8 && (b & 0xFFFF) == 64 && (c & 0xFFFF) == 16;
}

static unsigned detect(unsigned allowed)
{
    enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xE6, XCR0_TILE = 0x60000 };
    uint32_t a, b1, c1, d1, b7, c7, d7;
    unsigned found = 0;
    if (!__get_cpuid(1, &a, &b1, &c1, &d1)) return 0;
    bool osxsave = has(c1, 27), avx = has(c1, 28), fma = has(c1, 12), f16c = has(c1, 29);
    if (!osxsave || !avx || !fma || !f16c) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return 0;
    uint32_t n_leaves = a; /* leaf 7 answers how many sub-leaves it has */
    uint64_t xcr0 = read_xcr0();
    if ((xcr0 & XCR0_AVX) != XCR0_AVX || !has(b7, 5)) return 0;
    found |= SP_CPU_AVX2;

    bool f = has(b7, 16), dq = has(b7, 17), cd = has(b7, 28), bw = has(b7, 30), vl = has(b7, 31);
    if ((xcr0 & XCR0_AVX512) == XCR0_AVX512 && f && dq && cd && bw && vl) {
        found |= SP_CPU_AVX512;
        if (has(c7, 11)) found |= SP_CPU_VNNI;
        uint32_t a71, b71, c71, d71;
        if (n_leaves >= 1 && __get_cpuid_count(7, 1, &a71, &b71, &c71, &d71) && has(a71, 5)) found |= SP_CPU_BF16;
    }
    /* Tiles are fed by code for AVX-512 with BF16, which a virtual machine may hide while it shows AMX. Bits: 24 tile, 22 bf16, 25 int8. */
    const unsigned feeds = SP_CPU_AVX512 | SP_CPU_VNNI | SP_CPU_BF16;
    bool amx = has(d7, 24) && has(d7, 22) && has(d7, 25) && (xcr0 & XCR0_TILE) == XCR0_TILE && has_palette();
    if (amx && (found & feeds) == feeds && (allowed & SP_CPU_AMX) && request_amx()) found |= SP_CPU_AMX;
    return found & allowed;
}
#elif defined(__aarch64__)
static unsigned detect(unsigned allowed) { return SP_CPU_NEON & allowed; }
#else
static unsigned detect(unsigned allowed) { return 0 & allowed; }
#endif

static unsigned allowed_by_user(void)
{
    const char *cap = getenv("SPORE_ISA");
    if (cap == NULL || *cap == '\0') return ~0u;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(cap, levels[i].name) == 0) return levels[i].features;
    /* A misspelt cap must not pass unseen, and there is no caller who could be told by a status. */
    fprintf(stderr, "spore: SPORE_ISA='%s' is ignored: wanted portable, avx2, avx512, amx or neon\n", cap);
    return ~0u;
}

static unsigned features;
static sp_once features_once = SP_ONCE_INIT;
static void features_find(void) { features = detect(allowed_by_user()); }

unsigned sp__cpu_features(void)
{
    sp__once(&features_once, features_find);
    return features;
}
