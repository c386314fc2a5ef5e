/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - JSON, read. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "formats/bundle.h"
#include "serve/json.h"
#include "tensor/half.h"

enum { DEPTH_MAX = 64 };

sp_status sp__json_fail(const sp_json *j, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    sp__vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sp__fail(SP_FORMAT, "JSON, byte %zu: %s", (size_t)(j->at - j->start), text);
}

static void skip_space(sp_json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\r' || *j->at == '\t')) j->at++;
}

char sp__json_peek(sp_json *j)
{
    skip_space(j);
    if (j->at == j->end) return 0;
    char c = *j->at;
    if (c == '-' || (c >= '0' && c <= '9')) return '0';
    return c == '{' || c == '[' || c == '"' || c == 't' || c == 'f' || c == 'n' ? c : 0;
}

/* --- arrays and objects -------------------------------------------------------------------------------------------- */

sp_status sp__json_each(sp_json *j, char open, bool *more)
{
    const char close = open == '[' ? ']' : '}';
    skip_space(j);
    if (!*more) {
        if (j->at == j->end || *j->at != open)
            return sp__json_fail(j, "%s is wanted here", open == '[' ? "an array" : "an object");
        if (j->depth == DEPTH_MAX) return sp__json_fail(j, "more than %d levels", DEPTH_MAX);
        j->depth++;
        j->at++;
        skip_space(j);
        *more = true;
        if (j->at < j->end && *j->at == close) goto closed;
        return SP_OK;
    }
    if (j->at < j->end && *j->at == close) goto closed;
    if (j->at == j->end || *j->at != ',') return sp__json_fail(j, ", or %c is wanted here", close);
    j->at++;
    return SP_OK;
closed:
    j->at++;
    j->depth--;
    *more = false;
    return SP_OK;
}

sp_status sp__json_member(sp_json *j, sp__arena *a, bool *more, const char **key)
{
    SP_TRY(sp__json_each(j, '{', more));
    if (!*more) return SP_OK;
    SP_TRY(sp__json_text(j, a, key, NULL));
    skip_space(j);
    if (j->at == j->end || *j->at != ':') return sp__json_fail(j, ": is wanted here");
    j->at++;
    return SP_OK;
}

/* --- texts --------------------------------------------------------------------------------------------------------- */

/* Four hexadecimal digits behind \u; -1: there are none. */
static int read_hex4(const sp_json *j, const char *p)
{
    int v = 0;
    if (j->end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (d < 0) return -1;
        v = v << 4 | d;
    }
    return v;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) *out++ = (char)c;
    else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 63));
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    }
    return out;
}

/* What stands behind a backslash at j->at; out == NULL: only checked. */
static sp_status read_escape(sp_json *j, char **out)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *p = j->at + 1;
    if (p == j->end) return sp__json_fail(j, "a text does not end");
    const char *found = *p != '\0' ? strchr(letters, *p) : NULL;
    if (found != NULL) {
        if (*out != NULL) *(*out)++ = values[found - letters];
        j->at += 2;
        return SP_OK;
    }
    int c = *p == 'u' ? read_hex4(j, p + 1) : -1, low = -1;
    if (c < 0) return sp__json_fail(j, "a \\ that means nothing");
    j->at += 6;
    if (c >= 0xD800 && c < 0xE000) { /* half of a pair */
        if (c < 0xDC00 && j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u') low = read_hex4(j, j->at + 2);
        if (low < 0xDC00 || low > 0xDFFF) return sp__json_fail(j, "half of a surrogate pair");
        j->at += 6;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    if (*out != NULL) *out = put_utf8(*out, (uint32_t)c);
    return SP_OK;
}

/* Read over a text, and write it to `out` unless that is NULL; it never gets longer than it was. */
static sp_status read_text(sp_json *j, char **out)
{
    skip_space(j);
    if (j->at == j->end || *j->at != '"') return sp__json_fail(j, "a text is wanted here");
    const char *start = j->at++;
    for (;;) {
        const char *plain = j->at;
        while (j->at < j->end && *j->at != '"' && *j->at != '\\' && (unsigned char)*j->at >= 0x20) j->at++;
        size_t n = (size_t)(j->at - plain), good = sp__utf8_valid(plain, n);
        if (good < n) {
            j->at = plain + good;
            return sp__json_fail(j, "bytes that are no UTF-8");
        }
        if (*out != NULL) {
            memcpy(*out, plain, n);
            *out += n;
        }
        if (j->at == j->end) {
            j->at = start;
            return sp__json_fail(j, "a text does not end");
        }
        if (*j->at == '"') break;
        if (*j->at != '\\') return sp__json_fail(j, "a control character in a text");
        SP_TRY(read_escape(j, out));
    }
    j->at++;
    return SP_OK;
}

sp_status sp__json_text(sp_json *j, sp__arena *a, const char **out, size_t *bytes)
{
    sp_json probe = *j;
    char *none = NULL;
    SP_TRY(read_text(&probe, &none));
    char *block = sp__arena_alloc(a, (size_t)(probe.at - j->at)), *end = block;
    if (block == NULL) return SP_NOMEM;
    SP_TRY(read_text(j, &end));
    *end = '\0';
    if (bytes != NULL) *bytes = (size_t)(end - block);
    else if (memchr(block, '\0', (size_t)(end - block)) != NULL) return sp__json_fail(j, "a text holds a NUL");
    *out = block;
    return SP_OK;
}

/* --- words and numbers --------------------------------------------------------------------------------------------- */

static sp_status read_word(sp_json *j, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(j->end - j->at) < n || memcmp(j->at, word, n) != 0)
        return sp__json_fail(j, "a word that is not true, false or null");
    j->at += n;
    return SP_OK;
}

sp_status sp__json_bool(sp_json *j, bool *out)
{
    char c = sp__json_peek(j);
    if (c != 't' && c != 'f') return sp__json_fail(j, "true or false is wanted here");
    *out = c == 't';
    return read_word(j, *out ? "true" : "false");
}

typedef struct {
    bool negative, whole, exact; /* exact: digits holds it all */
    uint64_t digits;
    int exponent; /* value = digits * 10^exponent */
    const char *text;
    size_t bytes;
} number;

static const char *read_digits(const char *p, const char *end, number *n, bool fraction)
{
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t more;
        if (!n->exact || __builtin_mul_overflow(n->digits, 10, &more) ||
            __builtin_add_overflow(more, (uint64_t)(*p - '0'), &more)) {
            n->exact = false; /* strtod will read it */
        } else {
            n->digits = more;
            n->exponent -= fraction;
        }
    }
    return p;
}

static sp_status read_number(sp_json *j, number *n)
{
    skip_space(j);
    const char *p = j->at, *from;
    *n = (number){.whole = true, .exact = true, .text = p};
    if (p < j->end && *p == '-') {
        n->negative = true;
        p++;
    }
    from = p;
    p = read_digits(p, j->end, n, false);
    if (p == from) return sp__json_fail(j, "a number is wanted here");
    if (*from == '0' && p - from > 1) return sp__json_fail(j, "a number begins with 0");
    if (p < j->end && *p == '.') {
        n->whole = false;
        from = ++p;
        p = read_digits(p, j->end, n, true);
        if (p == from) return sp__json_fail(j, "a number ends in a point");
    }
    if (p < j->end && (*p == 'e' || *p == 'E')) {
        bool minus = false;
        int e = 0;
        n->whole = false;
        if (++p < j->end && (*p == '+' || *p == '-')) minus = *p++ == '-';
        for (from = p; p < j->end && *p >= '0' && *p <= '9'; p++) e = e < 100000 ? e * 10 + (*p - '0') : e;
        if (p == from) return sp__json_fail(j, "a number ends in its exponent");
        n->exponent += minus ? -e : e;
    }
    n->bytes = (size_t)(p - n->text);
    j->at = p;
    return SP_OK;
}

static double parse_slowly(const number *n)
{
    char room[64], *text = n->bytes < sizeof room ? room : sp__alloc(n->bytes + 1);
    double v = NAN;
    if (text == NULL) return v;
    memcpy(text, n->text, n->bytes);
    text[n->bytes] = '\0';
    v = sp__strtod(text, NULL);
    if (text != room) sp__free(text);
    return v;
}

static double number_value(const number *n)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!n->exact || n->digits > (uint64_t)1 << 53 || n->exponent < -22 || n->exponent > 22) return parse_slowly(n);
    /* Both are exact as doubles, so that one operation rounds once. */
    double v = n->exponent < 0 ? (double)n->digits / powers[-n->exponent] : (double)n->digits * powers[n->exponent];
    return n->negative ? -v : v;
}

sp_status sp__json_int(sp_json *j, int64_t *out)
{
    number n;
    SP_TRY(read_number(j, &n));
    if (!n.whole || !n.exact || n.digits > (uint64_t)INT64_MAX + n.negative)
        return sp__json_fail(j, "%.*s is no integer of 64 bits", n.bytes < 40 ? (int)n.bytes : 40, n.text);
    *out = n.negative ? (int64_t)(0 - n.digits) : (int64_t)n.digits;
    return SP_OK;
}

/* --- elements ------------------------------------------------------------------------------------------------------ */

static sp_status out_of_range(const sp_json *j, const number *n, sp_dtype dtype)
{
    return sp__json_fail(j, "%.*s does not fit %s", n->bytes < 40 ? (int)n->bytes : 40, n->text, sp_dtype_name(dtype));
}

static sp_status put_int(const sp_json *j, const number *n, sp_dtype dtype, void *out)
{
    number whole = *n;
    while (whole.exponent < 0 && whole.digits % 10 == 0 && whole.exact) { /* 3.0 is whole */
        whole.digits /= 10;
        if (++whole.exponent == 0) break;
        if (whole.digits == 0) whole.exponent = 0;
    }
    if (whole.exponent != 0 || !whole.exact) return out_of_range(j, n, dtype);
    const bool is_signed = sp_dtype_kind(dtype) == 'i';
    const int bits = (int)sp_dtype_bytes(dtype) * 8;
    uint64_t most = is_signed ? ((uint64_t)1 << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (whole.negative && !is_signed && whole.digits != 0) return out_of_range(j, n, dtype);
    if (whole.digits > most + (whole.negative && is_signed)) return out_of_range(j, n, dtype);
    uint64_t v = whole.negative ? 0 - whole.digits : whole.digits;
    switch (bits) {
    case 8: *(uint8_t *)out = (uint8_t)v; break;
    case 16: *(uint16_t *)out = (uint16_t)v; break;
    case 32: *(uint32_t *)out = (uint32_t)v; break;
    default: *(uint64_t *)out = v; break;
    }
    return SP_OK;
}

static sp_status put_float(const sp_json *j, const number *n, sp_dtype dtype, void *out)
{
    double v = number_value(n);
    switch (dtype) {
    case SP_DTYPE_F16: *(sp_f16 *)out = sp__f32_f16((float)v); return SP_OK;
    case SP_DTYPE_BF16: *(sp_bf16 *)out = sp__f32_bf16((float)v); return SP_OK;
    case SP_DTYPE_F32: *(float *)out = (float)v; return isfinite((float)v) ? SP_OK : out_of_range(j, n, dtype);
    case SP_DTYPE_F64: *(double *)out = v; return isfinite(v) ? SP_OK : out_of_range(j, n, dtype);
    default: return sp__json_fail(j, "elements of dtype %s cannot be written in JSON", sp_dtype_name(dtype));
    }
}

sp_status sp__json_element(sp_json *j, sp_dtype dtype, void *out)
{
    number n;
    char c = sp__json_peek(j), kind = sp_dtype_kind(dtype);
    if (kind == 'b') {
        bool v;
        if (c == '0') { /* 0 and 1 are taken, too */
            int64_t i = 0;
            SP_TRY(sp__json_int(j, &i));
            if (i != 0 && i != 1) return sp__json_fail(j, "true or false is wanted here");
            v = i == 1;
        } else SP_TRY(sp__json_bool(j, &v));
        *(bool *)out = v;
        return SP_OK;
    }
    if (c != '0') return sp__json_fail(j, "a number is wanted here");
    SP_TRY(read_number(j, &n));
    return kind == 'i' || kind == 'u' ? put_int(j, &n, dtype, out) : put_float(j, &n, dtype, out);
}

static sp_status elements_inside(sp_json *j, sp_dtype dtype, size_t size, char **at, const char *end)
{
    sp_status status = SP_OK;
    for (bool more = false; (status = sp__json_each(j, '[', &more)) == SP_OK && more;) {
        if (sp__json_peek(j) == '[') SP_TRY(elements_inside(j, dtype, size, at, end));
        else {
            if (*at == end) return sp__json_fail(j, "more elements than the shape has");
            SP_TRY(sp__json_element(j, dtype, *at));
            *at += size;
        }
    }
    return status;
}

sp_status sp__json_elements(sp_json *j, sp_dtype dtype, int64_t count, void *out)
{
    const size_t size = sp_dtype_bytes(dtype);
    char *at = out, *end = at + (size_t)count * size;
    if (sp__json_peek(j) == '[') SP_TRY(elements_inside(j, dtype, size, &at, end));
    else {
        if (count != 1) return sp__json_fail(j, "an array of %lld elements is wanted here", (long long)count);
        SP_TRY(sp__json_element(j, dtype, out));
        at = end;
    }
    if (at != end)
        return sp__json_fail(j, "%zu elements, the shape has %lld", (size_t)(at - (char *)out) / size,
                             (long long)count);
    return SP_OK;
}

/* Elements of the array that begins at j. */
static sp_status count_elements(sp_json j, int64_t *out)
{
    sp_status status;
    *out = 0;
    for (bool more = false; (status = sp__json_each(&j, '[', &more)) == SP_OK && more; ++*out)
        SP_TRY(sp__json_skip(&j));
    return status;
}

sp_status sp__json_shape(sp_json j, int *rank, int64_t *dims)
{
    *rank = 0;
    while (sp__json_peek(&j) == '[') {
        bool more = false;
        if (*rank == SP_RANK_MAX) return sp__json_fail(&j, "more than %d levels of arrays", SP_RANK_MAX);
        SP_TRY(count_elements(j, &dims[*rank]));
        if (dims[*rank] == 0) return sp__json_fail(&j, "an empty array");
        ++*rank;
        SP_TRY(sp__json_each(&j, '[', &more));
    }
    return SP_OK;
}

/* --- the rest ------------------------------------------------------------------------------------------------------ */

sp_status sp__json_skip(sp_json *j)
{
    number n;
    sp_status status = SP_OK;
    char c = sp__json_peek(j), *none = NULL;
    switch (c) {
    case '"': return read_text(j, &none);
    case '0': return read_number(j, &n);
    case 't': return read_word(j, "true");
    case 'f': return read_word(j, "false");
    case 'n': return read_word(j, "null");
    case 0: return sp__json_fail(j, "a value is wanted here");
    default: break;
    }
    for (bool more = false; (status = sp__json_each(j, c, &more)) == SP_OK && more;) {
        if (c == '{') {
            SP_TRY(read_text(j, &none));
            skip_space(j);
            if (j->at == j->end || *j->at != ':') return sp__json_fail(j, ": is wanted here");
            j->at++;
        }
        SP_TRY(sp__json_skip(j));
    }
    return status;
}

sp_status sp__json_end(sp_json *j)
{
    skip_space(j);
    return j->at == j->end ? SP_OK : sp__json_fail(j, "something follows the value");
}
