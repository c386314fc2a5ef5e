/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.c - JSON, written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "formats/bundle.h"
#include "serve/json.h"
#include "tensor/half.h"

void sp__json_put_text(sp__text *t, const char *text, size_t bytes)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    sp__text_add(t, "\"", 1);
    while (bytes > 0) {
        size_t good = sp__utf8_valid(text, bytes), from = 0;
        for (size_t i = 0; i < good; i++) {
            unsigned char c = (unsigned char)text[i];
            if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
            sp__text_add(t, text + from, i - from);
            if (c == '"' || c == '\\') sp__text_put(t, "\\%c", c);
            else if (c == '\n') sp__text_add(t, "\\n", 2);
            else sp__text_put(t, "\\u%04x", c);
            from = i + 1;
        }
        sp__text_add(t, text + from, good - from);
        if (good < bytes) {
            sp__text_add(t, replacement, 3);
            good++;
        }
        text += good;
        bytes -= good;
    }
    sp__text_add(t, "\"", 1);
}

enum { ELEMENT_BYTES = 48 }; /* no element's text is longer */

/* Digits d (no more than 10 of them) with `point` of them behind the point. */
static size_t put_decimal(char *out, bool negative, uint64_t d, int point)
{
    char digits[24];
    int n = 0;
    size_t used = 0;
    while (point > 0 && d % 10 == 0) {
        d /= 10;
        point--;
    }
    for (; d > 0 || n <= point; d /= 10) digits[n++] = (char)('0' + d % 10);
    if (negative) out[used++] = '-';
    while (n > 0) {
        if (n == point) out[used++] = '.';
        out[used++] = digits[--n];
    }
    return used;
}

/* As many digits as it takes to read the same float again. Most need six to nine, found by exact steps in double; the very large and very small
 * are left to printf. */
static size_t put_f32(char *out, float f)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};
    const double v = fabs((double)f);
    if (!isfinite(f)) return (size_t)sprintf(out, "null");
    if (f == 0) return (size_t)sprintf(out, signbit(f) ? "-0.0" : "0.0");
    if (v >= 1e-4 && v < 1e7) {
        int whole = 0; /* digits in front of the point; below 1 the zeros behind it, negative */
        if (v >= 1)
            while (v >= powers[whole]) whole++;
        else
            while (v * powers[-whole + 1] < 1) whole--;
        for (int digits = 6; digits <= 9; digits++) {
            int point = digits - whole;
            if (point < 1) point = 1;
            if (point > 13) break;
            double scaled = nearbyint(v * powers[point]);
            if ((float)(scaled / powers[point]) != fabsf(f)) continue;
            size_t n = put_decimal(out, f < 0, (uint64_t)scaled, point);
            return memchr(out, '.', n) != NULL ? n : n + (size_t)sprintf(out + n, ".0");
        }
    }
    return (size_t)sp__snprintf(out, ELEMENT_BYTES, "%.9g", (double)f);
}

static size_t put_f64(char *out, double v)
{
    if (!isfinite(v)) return (size_t)sprintf(out, "null");
    size_t n = (size_t)sp__snprintf(out, ELEMENT_BYTES, "%.15g", v);
    return sp__strtod(out, NULL) == v ? n : (size_t)sp__snprintf(out, ELEMENT_BYTES, "%.17g", v);
}

/* A float that looks like one. */
static size_t tidy(char *out, size_t n)
{
    if (memchr(out, '.', n) == NULL && memchr(out, 'e', n) == NULL && memchr(out, 'u', n) == NULL)
        n += (size_t)sprintf(out + n, ".0");
    return n;
}

static size_t put_element(char *out, sp_dtype dtype, const void *p)
{
    switch (dtype) {
    case SP_DTYPE_BOOL: return (size_t)sprintf(out, *(const bool *)p ? "true" : "false");
    case SP_DTYPE_U8: return (size_t)sprintf(out, "%u", *(const uint8_t *)p);
    case SP_DTYPE_U16: return (size_t)sprintf(out, "%u", *(const uint16_t *)p);
    case SP_DTYPE_U32: return (size_t)sprintf(out, "%" PRIu32, *(const uint32_t *)p);
    case SP_DTYPE_U64: return (size_t)sprintf(out, "%" PRIu64, *(const uint64_t *)p);
    case SP_DTYPE_I8: return (size_t)sprintf(out, "%d", *(const int8_t *)p);
    case SP_DTYPE_I16: return (size_t)sprintf(out, "%d", *(const int16_t *)p);
    case SP_DTYPE_I32: return (size_t)sprintf(out, "%" PRId32, *(const int32_t *)p);
    case SP_DTYPE_I64: return (size_t)sprintf(out, "%" PRId64, *(const int64_t *)p);
    case SP_DTYPE_F16: return tidy(out, put_f32(out, sp__f16_f32(*(const sp_f16 *)p)));
    case SP_DTYPE_BF16: return tidy(out, put_f32(out, sp__bf16_f32(*(const sp_bf16 *)p)));
    case SP_DTYPE_F32: return tidy(out, put_f32(out, *(const float *)p));
    case SP_DTYPE_F64: return tidy(out, put_f64(out, *(const double *)p));
    default: return (size_t)sprintf(out, "null");
    }
}

void sp__json_put_elements(sp__text *t, sp_dtype dtype, int64_t count, const void *data)
{
    const size_t size = sp_dtype_bytes(dtype);
    const char *p = data;
    char buffer[4096];
    size_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        if (used + ELEMENT_BYTES + 1 > sizeof buffer) {
            sp__text_add(t, buffer, used);
            used = 0;
        }
        if (i > 0) buffer[used++] = ',';
        used += put_element(buffer + used, dtype, p + (size_t)i * size);
    }
    sp__text_add(t, buffer, used);
}

void sp__json_put_nested(sp__text *t, sp_dtype dtype, int rank, const int64_t *dims, const void *data)
{
    if (rank == 0) {
        sp__json_put_elements(t, dtype, 1, data);
        return;
    }
    size_t step = sp_dtype_bytes(dtype);
    for (int k = 1; k < rank; k++) step *= (size_t)dims[k];
    sp__text_add(t, "[", 1);
    if (rank == 1) sp__json_put_elements(t, dtype, dims[0], data);
    for (int64_t i = 0; rank > 1 && i < dims[0]; i++) {
        if (i > 0) sp__text_add(t, ",", 1);
        sp__json_put_nested(t, dtype, rank - 1, dims + 1, (const char *)data + (size_t)i * step);
    }
    sp__text_add(t, "]", 1);
}
