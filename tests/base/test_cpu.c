/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu.c - SPORE_ISA lowers what kernels may use; each case asks in a process of its own, as the answer is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

static unsigned features_with(const char *cap)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (cap == NULL) unsetenv("SPORE_ISA");
        else setenv("SPORE_ISA", cap, 1);
        _exit((int)sp__cpu_features());
    }
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return (unsigned)WEXITSTATUS(result);
}

static void cap_only_takes_away(void **unused)
{
    (void)unused;
    unsigned all = features_with(NULL);
    assert_int_equal(features_with("portable"), 0);
    assert_int_equal(features_with("avx2"), all & SP_CPU_AVX2);
    assert_int_equal(features_with("avx512"), all & (SP_CPU_AVX2 | SP_CPU_AVX512 | SP_CPU_VNNI | SP_CPU_BF16));
    assert_int_equal(features_with("amx"), all & ~(unsigned)SP_CPU_NEON);
    assert_int_equal(features_with("neon"), all & SP_CPU_NEON);
    assert_int_equal(features_with(""), all);
}

static void higher_levels_include_lower(void **unused)
{
    (void)unused;
    unsigned all = features_with(NULL);
    if (all & (SP_CPU_AVX512 | SP_CPU_AMX)) assert_true(all & SP_CPU_AVX2);
    if (all & (SP_CPU_VNNI | SP_CPU_BF16 | SP_CPU_AMX)) assert_true(all & SP_CPU_AVX512);
#if defined(__x86_64__)
    /* The compiler's own view of the processor must not be narrower than what is claimed. */
    if (all & SP_CPU_AVX2) assert_true(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    if (all & SP_CPU_AVX512) assert_true(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"));
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        assert_true(all & SP_CPU_AVX512);
    assert_int_equal(all & SP_CPU_NEON, 0);
#elif defined(__aarch64__)
    assert_int_equal(all, SP_CPU_NEON);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cap_only_takes_away),
        cmocka_unit_test(higher_levels_include_lower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
