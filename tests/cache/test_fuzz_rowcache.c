/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_rowcache.c - the fuzz target over packets and rows: whole, cut, with bits turned, bytes put in and taken out. The generator is seeded, so a
 * failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_rowcache.c"
#include "formats/fuzz_util.h"

enum { PACKETS = 12, SAMPLE = 2 + PACKETS * (1 + (int)sizeof(sp_cache_request)) };

static size_t put_packet(uint8_t *to, uint8_t how, sp_cache_request q)
{
    q.version = SP_CACHE_VERSION;
    to[0] = how;
    memcpy(to + 1, &q, sizeof q);
    return 1 + sizeof q;
}

/* What a good client says, and another beside it. Session 1 stands for the one that there is. */
static size_t packets(uint8_t *to)
{
    static const sp_cache_request list[PACKETS] = {{.kind = SP_CACHE_SESSION_CREATE},
                                                   {.kind = SP_CACHE_OPEN, .session = 1, .a = 20, .b = 1 << 20},
                                                   {.kind = SP_CACHE_LEASE, .a = 5000, .wish = 1 << 16},
                                                   {.kind = SP_CACHE_COMMIT, .a = 3, .b = 0, .c = 5000},
                                                   {.kind = SP_CACHE_LEASE, .a = 5000, .b = 5000},
                                                   {.kind = SP_CACHE_FLUSH},
                                                   {.kind = SP_CACHE_ENTRIES},
                                                   {.kind = SP_CACHE_INFO},
                                                   {.kind = SP_CACHE_STAT, .session = 1},
                                                   {.kind = SP_CACHE_GIVE_UP},
                                                   {.kind = SP_CACHE_CLEAR},
                                                   {.kind = SP_CACHE_SESSION_DESTROY, .session = 1}};
    size_t n = 0;
    to[n++] = 1;
    for (int i = 0; i < PACKETS; i++) n += put_packet(to + n, (uint8_t)(2 | 4 | (i & 1)), list[i]);
    return n;
}

static size_t a_row(uint8_t *to)
{
    static const uint32_t head[2] = {0x72707331, 2};
    static const int32_t kinds[2][2] = {{SP_DTYPE_F32, 1}, {SP_DTYPE_U8, 0}};
    const int64_t dims = 3;
    memset(to, 0, 256);
    memcpy(to + 1, head, 8);
    memcpy(to + 9, kinds[0], 8);
    memcpy(to + 17, &dims, 8);
    memcpy(to + 25, kinds[1], 8);
    return 1 + 64 + 64 + 64;
}

static void mutations_do_no_harm(void **unused)
{
    const long n_rounds = fuzz_rounds(3000);
    (void)unused;
    uint8_t sample[SAMPLE > 256 ? SAMPLE : 256], copy[sizeof sample + EDIT_ROOM];
    for (int which = 0; which < 2; which++) {
        const size_t bytes = which ? a_row(sample) : packets(sample);
        assert_true(bytes <= sizeof sample);
        for (size_t n = 0; n <= bytes; n += which ? 1 : 37) run_exact(LLVMFuzzerTestOneInput, sample, n);
        for (long round = 0; round < n_rounds * (which ? 10 : 1); round++) {
            size_t n = bytes;
            memcpy(copy, sample, n);
            for (uint32_t k = 0, edits = 1 + draw(6); k < edits; k++)
                n = edit(copy, n, sizeof copy, 1 + draw((uint32_t)n - 1));
            run_exact(LLVMFuzzerTestOneInput, copy, n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mutations_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
