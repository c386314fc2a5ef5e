/* SPDX-License-Identifier: Apache-2.0 */
/* utf.c - UTF-8, which names and texts of a bundle are in, from and to UTF-32, which some files hold. */
#include <string.h>

#include "formats/bundle.h"

/* Length of the UTF-8 character at p (1 to 4), 0 if there is none: overlong forms, surrogates and numbers above 10FFFF
 * are not characters. */
static size_t utf8_char(const uint8_t *p, size_t left)
{
    uint8_t b = p[0];
    size_t n = b < 0x80 ? 1 : b >= 0xC2 && b < 0xE0 ? 2 : b >= 0xE0 && b < 0xF0 ? 3 : b >= 0xF0 && b < 0xF5 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if (b == 0xE0 && p[1] < 0xA0) return 0;
    if (b == 0xED && p[1] > 0x9F) return 0;
    if (b == 0xF0 && p[1] < 0x90) return 0;
    if (b == 0xF4 && p[1] > 0x8F) return 0;
    return n;
}

size_t sp__utf8_valid(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        size_t n = utf8_char((const uint8_t *)text + at, bytes - at);
        if (n == 0) break;
        at += n;
    }
    return at;
}

const char *sp__name_shown(const char *name, size_t bytes, char out[SP_NAME_SHOWN])
{
    size_t max = SP_NAME_SHOWN - 4;
    size_t take = sp__utf8_valid(name, bytes < max ? bytes : max);
    if (take > 0) memcpy(out, name, take);
    for (size_t i = 0; i < take; i++)
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7F) out[i] = '?';
    memcpy(out + take, "...", 4);
    if (take == bytes) out[take] = '\0';
    return out;
}

size_t sp__utf8_put(char *at, uint32_t c)
{
    if (c < 0x80) {
        at[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6) at[i] = (char)(0x80 | (c & 0x3F));
    at[0] = (char)(lead[n] | c);
    return n;
}

sp_status sp__bundle_add_utf32(sp_bundle *bundle, const char *name, const uint8_t *chars, size_t n)
{
    size_t room;
    char *text = sp__alloc(sp__mul_size(n, 4, &room) ? room : SIZE_MAX); /* UTF-8 is never longer */
    if (text == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    size_t bytes = 0, keep = 0;
    for (size_t i = 0; i < n && status == SP_OK; i++) {
        uint32_t c;
        memcpy(&c, chars + i * 4, 4);
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
            status = sp__fail(SP_FORMAT, "character %zu of a text is %#lx, which does not exist", i, (unsigned long)c);
        } else {
            bytes += sp__utf8_put(text + bytes, c);
            if (c != 0) keep = bytes;
        }
    }
    if (status == SP_OK) status = sp_bundle_add_text(bundle, name, text, keep);
    sp__free(text);
    return status;
}

sp_status sp__utf32_from(const char *text, size_t bytes, uint32_t **out, size_t *n)
{
    size_t room, count = 0;
    if (!sp__mul_size(bytes + 1, 4, &room)) room = SIZE_MAX;
    uint32_t *chars = sp__alloc(room);
    if (chars == NULL) return SP_NOMEM;
    for (size_t i = 0; i < bytes;) {
        uint8_t b = (uint8_t)text[i];
        int more = b < 0x80 ? 0 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
        uint32_t c = more == 0 ? b : b & (0x3Fu >> more);
        for (i++; more > 0; more--, i++) c = c << 6 | ((uint8_t)text[i] & 0x3F);
        chars[count++] = c;
    }
    if (count == 0) chars[count++] = 0;
    *out = chars;
    *n = count;
    return SP_OK;
}
