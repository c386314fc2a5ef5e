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

#if defined(__x86_64__) && defined(__linux__)
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* A container that does not know arch_prctl answers with an error. */
static bool forbid_arch_prctl(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(SYS_arch_prctl, 0x1023, 18) == -1 && errno == EPERM;
}
#else
static bool forbid_arch_prctl(void) { return false; }
#endif

static bool forbidden; /* the next child may not ask for AMX */

static unsigned features_with(const char *cap)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (forbidden && !forbid_arch_prctl()) _exit(255);
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

/* Without the permission for tiles everything else is there, and nothing is said. */
static void a_refused_permission_costs_amx_only(void **unused)
{
    (void)unused;
    unsigned all = features_with(NULL);
    forbidden = true;
    unsigned rest = features_with(NULL);
    forbidden = false;
    if (rest == 255) return; /* filters are not allowed here */
    assert_int_equal(rest, all & ~(unsigned)SP_CPU_AMX);
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
        cmocka_unit_test(a_refused_permission_costs_amx_only),
        cmocka_unit_test(higher_levels_include_lower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
