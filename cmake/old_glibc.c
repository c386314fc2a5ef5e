/* SPDX-License-Identifier: Apache-2.0 */
/* old_glibc.c - functions whose newest version glibc got after 2.28, by their first version, which every glibc has: linked with --wrap into the module
 * of a wheel (scripts/make-wheel). The first versions compute the same and set errno besides. */
#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#else
#define FIRST "GLIBC_2.17"
#endif

#define ONE(name)                                                                                                      \
    __asm__(".symver first_" #name "," #name "@" FIRST);                                                               \
    double first_##name(double x);                                                                                     \
    double __wrap_##name(double x);                                                                                    \
    double __wrap_##name(double x) { return first_##name(x); }

ONE(exp)
ONE(exp2)
ONE(log)
ONE(log2)

__asm__(".symver first_pow,pow@" FIRST);
double first_pow(double x, double y);
double __wrap_pow(double x, double y);
double __wrap_pow(double x, double y) { return first_pow(x, y); }
