/* SPDX-License-Identifier: Apache-2.0 */
/* machine_peaks.c - what the library found and chose, and measured limits of this machine. */
#include "spore/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "device/cpu/gemm.h"
#include "device/cpu/peak.h"
#include "device/cpu/tiles.h"
#include "device/provided.h"

static const struct {
    unsigned bit;
    const char *name;
} features[] = {{SP_CPU_AVX2, "avx2"}, {SP_CPU_AVX512, "avx512"}, {SP_CPU_VNNI, "vnni"},
                {SP_CPU_BF16, "bf16"}, {SP_CPU_AMX, "amx"},       {SP_CPU_NEON, "neon"}};

static char features_text[64];
static sp_once features_once = SP_ONCE_INIT;
static void features_write(void)
{
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (!(sp__cpu_features() & features[i].bit)) continue;
        if (features_text[0]) strcat(features_text, " ");
        strcat(features_text, features[i].name);
    }
    if (!features_text[0]) strcpy(features_text, "portable");
}

const char *sp_machine_features(void)
{
    sp__once(&features_once, features_write);
    return features_text;
}

size_t sp_machine_cache(int level)
{
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    long bytes = level >= 1 && level <= 3 ? sysconf(names[level - 1]) : 0;
    return bytes > 0 ? (size_t)bytes : 0;
#else
    return level * 0u;
#endif
}

const char *sp_machine_products(sp_dtype dtype)
{
    const sp__tiles_kernels *tiles = sp__tiles_find(dtype);
    if (tiles) return tiles->name;
    return dtype == SP_DTYPE_F32 || dtype == SP_DTYPE_F64 ? sp__gemm_find(dtype)->name : "";
}

int sp_machine_kernels(const sp_op *op, char *text, size_t bytes)
{
    if (!op) return 0;
    int n, found = sp__provider_kernels(op, text, bytes);
    const sp_kernel_entry *list = sp__cpu_kernels(&n);
    size_t used = bytes ? strlen(text) : 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(list[i].op, sp_op_name(op)) != 0 || (list[i].cpu & sp__cpu_features()) != list[i].cpu) continue;
        const char *name = list[i].name ? list[i].name : list[i].op;
        if (used < bytes) used += (size_t)snprintf(text + used, bytes - used, "%s%s", found ? ", " : "", name);
        found++;
    }
    return found;
}

/* --- peaks ------------------------------------------------------------------------------------------------------- */

static double seconds(void) { return 1e-9 * (double)sp__clock_ns(); }

typedef struct {
    void (*run)(int64_t turns); /* one of these */
    void (*read)(const void *memory, size_t bytes);
    int64_t turns;
    char *memory; /* a part per thread */
    size_t bytes;
} trial;

static void run_trial(void *context, int64_t begin, int64_t end)
{
    const trial *t = context;
    for (int64_t i = begin; i < end; i++) {
        if (t->run) t->run(t->turns);
        else
            for (int64_t k = 0; k < t->turns; k++) t->read(t->memory + (size_t)i * t->bytes, t->bytes);
    }
}

/* Seconds of a trial on n threads, best of several. */
static double best_of(trial *t, int n)
{
    double best = 1e9;
    for (int i = 0; i < 7; i++) {
        double start = seconds();
        if (n == 1) run_trial(t, 0, 1);
        else if (sp__parallel_for(n, 1, run_trial, t) != SP_OK) return best;
        double each = seconds() - start;
        if (each < best) best = each;
    }
    return best;
}

/* Turns for some milliseconds. */
static void calibrate(trial *t)
{
    for (t->turns = 1; t->turns < INT64_MAX / 2; t->turns *= 2) {
        double start = seconds();
        run_trial(t, 0, 1);
        if (seconds() - start > 4e-3) return;
    }
}

static void fill(sp_machine_peak *out, const char *name, sp_dtype dtype, trial *t, double of_a_turn)
{
    int threads = sp_threads();
    snprintf(out->name, sizeof out->name, "%s", name);
    out->dtype = dtype;
    calibrate(t);
    double units = of_a_turn * (double)t->turns;
    out->one = units / best_of(t, 1);
    out->all = threads > 1 ? units * threads / best_of(t, threads) : out->one;
}

int sp_machine_peaks(sp_machine_peak *out, int max)
{
    const sp__peak *all[16];
    int n_all = 0, n = 0;
    all[n_all++] = &sp__peaks_portable[0];
    void (*read)(const void *, size_t) = sp__peak_read_portable;
#if SP_HAVE_X86
    const sp__peak *const x86[] = {sp__peaks_avx2, sp__peaks_avx512, sp__peaks_vnni, sp__peaks_amx};
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 2; l++) all[n_all++] = &x86[i][l];
    if (sp__cpu_features() & SP_CPU_AVX512) read = sp__peak_read_avx512;
#endif
    for (int i = 0; i < n_all; i++) {
        if ((all[i]->cpu & sp__cpu_features()) != all[i]->cpu) continue;
        trial t = {.run = all[i]->run};
        if (n < max) fill(&out[n], all[i]->name, all[i]->dtype, &t, all[i]->operations);
        n++;
    }
    /* Reading from each cache, at a part of its size, and from memory. A virtual machine may tell the size of a cache it has a small share
     * of, hence the bounds. */
    size_t last = sp_machine_cache(3) ? sp_machine_cache(3) : 32u << 20;
    const size_t sizes[] = {sp_machine_cache(1) / 2, sp_machine_cache(2) / 2, last < (32u << 20) ? last / 4 : 8u << 20,
                            128u << 20};
    static const char *const places[] = {"reading, first cache", "reading, second cache", "reading, third cache",
                                         "reading, memory"};
    for (int i = 0; i < 4; i++) {
        if (sizes[i] == 0) continue;
        if (n++ >= max) continue;
        size_t bytes = sizes[i] / 512 * 512;
        trial t = {.read = read, .bytes = bytes, .memory = sp__alloc(bytes * (size_t)sp_threads())};
        if (!t.memory) return n - 1;
        memset(t.memory, 1, bytes * (size_t)sp_threads());
        fill(&out[n - 1], places[i], SP_DTYPE_NONE, &t, (double)bytes);
        sp__free(t.memory);
    }
    return n;
}
