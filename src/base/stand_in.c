/* SPDX-License-Identifier: Apache-2.0 */
/* stand_in.c - HTML pages and pointers of Git LFS, told by how they begin. */
#include "base/stand_in.h"

#include <string.h>

#include "base/plain.h"

enum { LOOK_BYTES = 1024, SHOWN_BYTES = 48 }; /* a page may have a comment or two in front */

static const uint8_t *find(const uint8_t *data, size_t bytes, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= bytes; i++)
        if (sp__same_letters_n((const char *)data + i, word, n)) return data + i;
    return NULL;
}

static bool begins(const uint8_t *data, size_t bytes, const char *word)
{
    return find(data, bytes < strlen(word) ? bytes : strlen(word), word) != NULL;
}

static bool is_html(const uint8_t *data, size_t bytes)
{
    while (bytes > 0 && memchr("\xEF\xBB\xBF \t\r\n", data[0], 7) != NULL) { /* a byte order mark, blanks */
        data++;
        bytes--;
    }
    if (begins(data, bytes, "<!doctype html") || begins(data, bytes, "<html")) return true;
    return (begins(data, bytes, "<?xml") || begins(data, bytes, "<!--")) &&
           find(data, bytes < LOOK_BYTES ? bytes : LOOK_BYTES, "<html") != NULL;
}

/* The number behind "size " of a pointer; 0: it says none. */
static unsigned long long pointed_bytes(const uint8_t *data, size_t bytes)
{
    unsigned long long n = 0;
    const uint8_t *at = find(data, bytes, "\nsize "), *end = data + bytes;
    for (at = at != NULL ? at + strlen("\nsize ") : end; at < end && *at >= '0' && *at <= '9' && n < (1ULL << 60); at++)
        n = 10 * n + (unsigned)(*at - '0');
    return n;
}

/* Its printable part. */
static const char *first_line(const uint8_t *data, size_t bytes, char out[SHOWN_BYTES])
{
    size_t n = 0;
    while (bytes > 0 && (data[0] <= ' ' || data[0] > '~')) {
        data++;
        bytes--;
    }
    for (; n < bytes && n + 1 < SHOWN_BYTES && data[n] >= ' ' && data[n] <= '~'; n++) out[n] = (char)data[n];
    out[n] = '\0';
    return out;
}

sp_status sp__refuse_stand_in(const uint8_t *data, size_t bytes)
{
    static const char pointer[] = "version https://git-lfs.github.com/spec/";
    char shown[SHOWN_BYTES];
    SP_CHECK(
        !is_html(data, bytes), SP_FORMAT,
        "the file is a text that begins \"%s\", an HTML page: probably a server's error message that was saved under this name; download it again",
        first_line(data, bytes, shown));
    SP_CHECK(
        !begins(data, bytes, pointer), SP_FORMAT,
        "the file is a text that begins \"%s\", a pointer of Git LFS: the file itself, of %llu bytes, is fetched with `git lfs pull`",
        first_line(data, bytes, shown), pointed_bytes(data, bytes < LOOK_BYTES ? bytes : LOOK_BYTES));
    return SP_OK;
}
