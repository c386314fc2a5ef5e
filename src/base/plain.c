/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - numbers and letters as the C locale has them, in any locale.
 *
 * glibc and musl hand out one constant object for the C locale: asking for it takes nanoseconds, allocates nothing and
 * cannot fail, so nothing is kept here that a fork or a thread could meet half made. */
#include "base/plain.h"

#include <dlfcn.h>
#include <locale.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double sp__strtod(const char *text, char **end) { return strtod_l(text, end, c_locale()); }
float sp__strtof(const char *text, char **end) { return strtof_l(text, end, c_locale()); }

sp__outside sp__plain_enter(void) { return (sp__outside){uselocale(c_locale())}; }
void sp__plain_leave(sp__outside outside) { uselocale(outside.locale); }

int sp__vsnprintf(char *out, size_t room, const char *format, va_list args)
{
    sp__outside outside = sp__plain_enter();
    int n = vsnprintf(out, room, format, args);
    sp__plain_leave(outside);
    return n;
}

int sp__snprintf(char *out, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = sp__vsnprintf(out, room, format, args);
    va_end(args);
    return n;
}

const char *sp__strerror(int code) { return strerror_l(code, c_locale()); }

const char *sp__gai_strerror(int code)
{
    sp__outside outside = sp__plain_enter();
    const char *text = gai_strerror(code);
    sp__plain_leave(outside);
    return text;
}

const char *sp__dlerror(void)
{
    sp__outside outside = sp__plain_enter();
    const char *text = dlerror();
    sp__plain_leave(outside);
    return text ? text : "no reason given";
}

bool sp__same_letters_n(const char *a, const char *b, size_t n)
{
    for (; n > 0; n--, a++, b++) {
        if (sp__to_lower(*a) != sp__to_lower(*b)) return false;
        if (*a == '\0') return true;
    }
    return true;
}

bool sp__same_letters(const char *a, const char *b) { return sp__same_letters_n(a, b, (size_t)-1); }
