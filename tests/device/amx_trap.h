/* SPDX-License-Identifier: Apache-2.0 */
/* amx_trap.h - the AMX instructions on a CPU that has none: each raises SIGILL, and the handler decodes the bytes at the instruction pointer,
 * checks all that the processor would check, and executes them on tiles that belong to the thread. What runs is the machine code that the
 * compiler made, so a wrong encoding, a missing ldtilecfg, tiles that do not fit each other or a stride in the wrong register come to light
 * without the hardware.
 *
 * Written after the encodings and the pseudo-code of Intel's manual (volume 2, "Intel AMX instruction set reference"), not after tiles_emulated.c:
 * the two are compared. Arithmetic of TDPBF16PS is that of vector FMA with denormals flushed, as the manual has it.
 *
 * A fault prints what is wrong and ends the process, unless the thread waits for one (trap_expect). */
#ifndef SPORE_TEST_AMX_TRAP_H
#define SPORE_TEST_AMX_TRAP_H

#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_TILES = 8, TRAP_ROWS = 16, TRAP_BYTES = 64 };

typedef struct trap_config { /* as it lies in memory */
    uint8_t palette, start_row, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} trap_config;

typedef struct trap_state {
    trap_config config; /* palette 0: no tiles configured */
    _Alignas(64) uint8_t tile[TRAP_TILES][TRAP_ROWS][TRAP_BYTES];
} trap_state;

static _Thread_local trap_state trap_thread;
static _Thread_local sigjmp_buf *trap_expected;
static _Thread_local const char *trap_seen;
static _Thread_local uint64_t trap_count; /* instructions executed here */

static _Noreturn void trap_fault(const char *what)
{
    if (trap_expected) {
        trap_seen = what;
        siglongjmp(*trap_expected, 1);
    }
    static const char start[] = "AMX instruction: ";
    (void)!write(2, start, sizeof start - 1);
    (void)!write(2, what, strlen(what));
    (void)!write(2, "\n", 1);
    _exit(97);
}

/* --- decoding ---------------------------------------------------------------------------------------------------- */

enum { TRAP_NONE, TRAP_66, TRAP_F3, TRAP_F2 }; /* field pp of VEX */

typedef struct trap_instruction {
    int prefix, opcode, length;
    int reg, rm, vvvv; /* rm: register, when not memory */
    bool memory, sib;
    char *base;     /* address without the index */
    int64_t stride; /* the index register, scaled; 0 without one */
} trap_instruction;

static int64_t trap_register(const greg_t *r, int number)
{
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return r[places[number]];
}

/* False: not an instruction of AMX. */
static bool trap_decode(const greg_t *r, trap_instruction *d)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)r[REG_RIP], *p = code;
    if (p[0] != 0xC4 || (p[1] & 0x1F) != 2) return false; /* VEX of three bytes, map 0F38 */
    bool r_bit = !(p[1] & 0x80), x_bit = !(p[1] & 0x40), b_bit = !(p[1] & 0x20);
    bool w = p[2] & 0x80, l = p[2] & 0x04;
    *d = (trap_instruction){.prefix = p[2] & 3, .vvvv = ~(p[2] >> 3) & 15, .opcode = p[3]};
    if (d->opcode != 0x49 && d->opcode != 0x4B && d->opcode != 0x5C && d->opcode != 0x5E) return false;
    if (w || l) trap_fault("#UD: VEX.W and VEX.L must be 0");
    uint8_t modrm = p[4];
    int mod = modrm >> 6, rm = modrm & 7;
    d->reg = (modrm >> 3 & 7) + (r_bit ? 8 : 0);
    p += 5;
    d->memory = mod != 3;
    d->rm = rm + (b_bit ? 8 : 0);
    if (d->memory) {
        int64_t address = 0;
        int32_t displacement = 0;
        bool far = mod == 2, relative = false;
        d->sib = rm == 4;
        if (d->sib) {
            uint8_t sib = *p++;
            int index = (sib >> 3 & 7) + (x_bit ? 8 : 0), base = sib & 7;
            if (index != 4) d->stride = (int64_t)((uint64_t)trap_register(r, index) << (sib >> 6));
            if (base == 5 && mod == 0) far = true;
            else address = trap_register(r, base + (b_bit ? 8 : 0));
        } else if (rm == 5 && mod == 0) {
            far = relative = true;
        } else {
            address = trap_register(r, d->rm);
        }
        if (far) {
            memcpy(&displacement, p, 4);
            p += 4;
        } else if (mod == 1) {
            displacement = (int8_t)*p++;
        }
        address += displacement;
        if (relative) address += (int64_t)(uintptr_t)p; /* none of these has an immediate: p is the next instruction */
        d->base = (char *)(uintptr_t)address;
    }
    d->length = (int)(p - code);
    return true;
}

/* --- execution --------------------------------------------------------------------------------------------------- */

static bool trap_all_zero(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((const uint8_t *)bytes)[i]) return false;
    return true;
}

static void trap_load_config(trap_state *s, const char *from)
{
    trap_config c;
    memcpy(&c, from, sizeof c);
    if (c.palette > 1) trap_fault("#GP: ldtilecfg, no such palette");
    if (!trap_all_zero(c.zero, sizeof c.zero)) trap_fault("#GP: ldtilecfg, reserved bytes are not zero");
    if (c.palette == 0) {
        memset(s, 0, sizeof *s);
        return;
    }
    if (c.start_row >= TRAP_ROWS) trap_fault("#GP: ldtilecfg, first row too large");
    for (int t = 0; t < 16; t++) {
        if (t >= TRAP_TILES && (c.row_bytes[t] || c.rows[t])) trap_fault("#GP: ldtilecfg, a ninth tile");
        if (c.row_bytes[t] > TRAP_BYTES) trap_fault("#GP: ldtilecfg, more than 64 bytes a row");
        if (c.rows[t] > TRAP_ROWS) trap_fault("#GP: ldtilecfg, more than 16 rows");
        if ((c.rows[t] == 0) != (c.row_bytes[t] == 0)) trap_fault("#GP: ldtilecfg, rows without columns");
    }
    memset(s, 0, sizeof *s);
    s->config = c;
}

static void trap_need(const trap_state *s, int tile)
{
    if (s->config.palette == 0) trap_fault("#UD: no tiles are configured");
    if (tile >= TRAP_TILES) trap_fault("#UD: no such tile");
    if (s->config.rows[tile] == 0) trap_fault("#UD: the tile has no rows");
}

static void trap_move(trap_state *s, const trap_instruction *d, bool load)
{
    if (!d->memory || !d->sib) trap_fault("#UD: tiles are loaded and stored with base and index");
    if (d->vvvv) trap_fault("#UD: VEX.vvvv must be 1111b");
    trap_need(s, d->reg);
    int row_bytes = s->config.row_bytes[d->reg], rows = s->config.rows[d->reg];
    uint8_t (*tile)[TRAP_BYTES] = s->tile[d->reg];
    if (load) memset(tile[s->config.start_row], 0, (size_t)(TRAP_ROWS - s->config.start_row) * TRAP_BYTES);
    for (int i = s->config.start_row; i < rows; i++) {
        char *row = d->base + i * d->stride;
        if (load) memcpy(tile[i], row, (size_t)row_bytes);
        else memcpy(row, tile[i], (size_t)row_bytes);
    }
    s->config.start_row = 0;
}

/* d.reg += d.rm d.vvvv: rows of A, words of K, columns. */
static void trap_check_product(const trap_state *s, const trap_instruction *d)
{
    int c = d->reg, a = d->rm, b = d->vvvv;
    if (d->memory) trap_fault("#UD: products take tiles");
    if (s->config.palette == 0) trap_fault("#UD: no tiles are configured");
    if (c >= TRAP_TILES || a >= TRAP_TILES || b >= TRAP_TILES) trap_fault("#UD: no such tile");
    if (c == a || c == b || a == b) trap_fault("#UD: a tile is named twice");
    const uint16_t *n = s->config.row_bytes;
    const uint8_t *rows = s->config.rows;
    if (n[c] % 4 || n[a] % 4 || n[b] % 4) trap_fault("#UD: rows of a tile are no whole words");
    if (rows[c] != rows[a] || n[c] != n[b] || n[a] / 4 != rows[b]) trap_fault("#UD: tiles do not fit each other");
    if (rows[c] == 0 || n[c] == 0 || n[a] == 0) trap_fault("#UD: an empty tile");
}

/* Sixteen columns at a time; what lies behind the last column of a tile is zero and is not written back. */
static __attribute__((target("avx512f"))) void trap_bf16(trap_state *s, const trap_instruction *d)
{
    int rows = s->config.rows[d->reg], row_bytes = s->config.row_bytes[d->reg], words = s->config.rows[d->vvvv];
    unsigned control = _mm_getcsr();
    _mm_setcsr(0x1F80 | 0x8040); /* nearest, no exceptions, denormals are zero on both sides */
    for (int m = 0; m < rows; m++) {
        __m512 low = _mm512_setzero_ps(), high = _mm512_setzero_ps();
        for (int k = 0; k < words; k++) {
            uint16_t a[2];
            memcpy(a, &s->tile[d->rm][m][4 * k], 4);
            __m512i b = _mm512_loadu_si512((const void *)s->tile[d->vvvv][k]);
            __m512 a_low = _mm512_castsi512_ps(_mm512_set1_epi32((int)((uint32_t)a[0] << 16)));
            __m512 a_high = _mm512_castsi512_ps(_mm512_set1_epi32((int)((uint32_t)a[1] << 16)));
            low = _mm512_fmadd_ps(a_low, _mm512_castsi512_ps(_mm512_slli_epi32(b, 16)), low);
            high = _mm512_fmadd_ps(a_high, _mm512_castsi512_ps(_mm512_and_si512(b, _mm512_set1_epi32((int)0xFFFF0000))),
                                   high);
        }
        float sums[16];
        _mm512_storeu_ps(sums,
                         _mm512_add_ps(_mm512_loadu_ps((const void *)s->tile[d->reg][m]), _mm512_add_ps(low, high)));
        memcpy(s->tile[d->reg][m], sums, (size_t)row_bytes);
    }
    _mm_setcsr(control);
}

static int32_t trap_byte(uint8_t x, bool has_sign) { return has_sign ? (int8_t)x : x; }

static void trap_bytes(trap_state *s, const trap_instruction *d)
{
    bool a_sign = d->prefix == TRAP_F2 || d->prefix == TRAP_F3, b_sign = d->prefix == TRAP_F2 || d->prefix == TRAP_66;
    int rows = s->config.rows[d->reg], columns = s->config.row_bytes[d->reg] / 4, words = s->config.rows[d->vvvv];
    for (int m = 0; m < rows; m++)
        for (int k = 0; k < words; k++)
            for (int n = 0; n < columns; n++) {
                uint32_t sum;
                memcpy(&sum, &s->tile[d->reg][m][4 * n], 4);
                for (int i = 0; i < 4; i++)
                    sum += (uint32_t)(trap_byte(s->tile[d->rm][m][4 * k + i], a_sign) *
                                      trap_byte(s->tile[d->vvvv][k][4 * n + i], b_sign));
                memcpy(&s->tile[d->reg][m][4 * n], &sum, 4);
            }
}

static void trap_execute(trap_state *s, const trap_instruction *d)
{
    if (d->opcode == 0x5C) {
        if (d->prefix != TRAP_F3) trap_fault("#UD: a product of no known kind");
        trap_check_product(s, d);
        trap_bf16(s, d);
    } else if (d->opcode == 0x5E) {
        trap_check_product(s, d);
        trap_bytes(s, d);
    } else if (d->opcode == 0x4B) {
        if (d->prefix == TRAP_NONE) trap_fault("#UD: a load of no known kind");
        trap_move(s, d, d->prefix != TRAP_F3);
    } else { /* 0x49 */
        if (d->vvvv) trap_fault("#UD: VEX.vvvv must be 1111b");
        if (d->memory && d->reg == 0 && d->prefix == TRAP_NONE) trap_load_config(s, d->base);
        else if (d->memory && d->reg == 0 && d->prefix == TRAP_66) memcpy(d->base, &s->config, sizeof s->config);
        else if (!d->memory && d->reg == 0 && d->rm == 0 && d->prefix == TRAP_NONE) memset(s, 0, sizeof *s);
        else if (!d->memory && d->rm == 0 && d->prefix == TRAP_F2) {
            trap_need(s, d->reg);
            memset(s->tile[d->reg], 0, sizeof s->tile[d->reg]);
            s->config.start_row = 0;
        } else {
            trap_fault("#UD: no such instruction");
        }
    }
    trap_count++;
}

static void trap_handler(int number, siginfo_t *info, void *context)
{
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    trap_instruction d;
    if (!trap_decode(r, &d)) { /* somebody else's: it ends the process when it runs again */
        signal(number, SIG_DFL);
        return;
    }
    trap_execute(&trap_thread, &d);
    r[REG_RIP] += d.length;
}

static void trap_install(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};
    action.sa_sigaction = trap_handler;
    sigaction(SIGILL, &action, NULL);
}

/* Run statement(s); the fault they raise, or NULL. */
#define TRAP_EXPECT(what, ...)                                                                                         \
    do {                                                                                                               \
        sigjmp_buf here;                                                                                               \
        trap_seen = NULL;                                                                                              \
        if (sigsetjmp(here, 1) == 0) {                                                                                 \
            trap_expected = &here;                                                                                     \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
        trap_expected = NULL;                                                                                          \
        (what) = trap_seen;                                                                                            \
    } while (0)

#endif
