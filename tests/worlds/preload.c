/* SPDX-License-Identifier: Apache-2.0 */
/* preload.c - for LD_PRELOAD: the program has called setlocale before main, as programs with GTK, Qt or R do later. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void enter_locale(void)
{
    const char *name = getenv("SPORE_WORLD_LOCALE");
    if (name == NULL || setlocale(LC_ALL, name) != NULL) return;
    fprintf(stderr, "there is no locale %s in %s; run scripts/deps\n", name, getenv("LOCPATH"));
    _exit(1);
}
