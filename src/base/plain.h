/* SPDX-License-Identifier: Apache-2.0 */
/* plain.h - numbers and letters as the C locale has them, whatever locale the program or its thread is in: a program that
 * called setlocale (GTK, Qt and R do) reads and writes 0,5 with the C library's own functions, which files, attributes and
 * JSON do not know. scripts/check-source keeps those functions out of every other file of the library. */
#ifndef SPORE_PLAIN_H
#define SPORE_PLAIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* The C library's functions of these names, in the C locale. */
double sp__strtod(const char *text, char **end);
float sp__strtof(const char *text, char **end);
int sp__snprintf(char *out, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
int sp__vsnprintf(char *out, size_t room, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* What went wrong, in English and so in ASCII; valid until the thread asks again. */
const char *sp__strerror(int code);
const char *sp__gai_strerror(int code);
const char *sp__dlerror(void);

/* Letters of ASCII alone are letters. */
static inline bool sp__is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool sp__is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline bool sp__is_alpha(char c) { return sp__is_upper(c) || (c >= 'a' && c <= 'z'); }
static inline bool sp__is_alnum(char c) { return sp__is_alpha(c) || sp__is_digit(c); }
static inline bool sp__is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline char sp__to_lower(char c) { return sp__is_upper(c) ? (char)(c - 'A' + 'a') : c; }
/* Equal but for the case of ASCII letters; of the first n characters at most. */
bool sp__same_letters(const char *a, const char *b);
bool sp__same_letters_n(const char *a, const char *b, size_t n);

/* Around calls of libraries that read or write numbers with the C library: the calling thread is in the C locale between
 * the two. Neither can fail nor allocates. */
typedef struct {
    void *locale;
} sp__outside;
sp__outside sp__plain_enter(void);
void sp__plain_leave(sp__outside outside);

#endif
