/* SPDX-License-Identifier: Apache-2.0 */
/* formats_util.h - what tests of file formats share: whole files, a scratch folder, and a small reader of numpy's .npz
 * (a zip of arrays), which holds expected values. Failures end the test: nothing here is tested itself. */
#ifndef SPORE_TEST_FORMATS_UTIL_H
#define SPORE_TEST_FORMATS_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "spore/format.h"

#define DATA "tests/formats/data/"
#define OK(expr)                                                                                                       \
    do {                                                                                                               \
        sp_status ok_ = (expr);                                                                                        \
        if (ok_ != SP_OK) fail_msg("%s: %s", #expr, sp_error_message());                                               \
    } while (0)

/* Options of checkpoints in several tests. */
static const sp_file_options with_crc __attribute__((unused)) = {.flags = SP_FILE_CRC};

typedef struct {
    uint8_t *data;
    size_t bytes;
} blob;

static inline blob read_blob(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) fail_msg("%s: cannot be opened (tests run in the folder of the sources)", path);
    fseek(f, 0, SEEK_END);
    blob b = {NULL, (size_t)ftell(f)};
    rewind(f);
    b.data = malloc(b.bytes + 1);
    assert_int_equal(fread(b.data, 1, b.bytes, f), b.bytes);
    fclose(f);
    return b;
}

static inline void write_blob(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

static inline void assert_same_file(const char *a, const char *b)
{
    blob x = read_blob(a), y = read_blob(b);
    if (x.bytes != y.bytes || memcmp(x.data, y.data, x.bytes) != 0) fail_msg("%s and %s differ", a, b);
    free(x.data);
    free(y.data);
}

static char scratch[64];

static inline const char *in_scratch(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

static inline int make_scratch(void **state)
{
    (void)state;
    snprintf(scratch, sizeof scratch, "/tmp/spore-test-XXXXXX");
    return mkdtemp(scratch) == NULL;
}

/* Number of files in the folder; with remove, none afterwards. */
static inline int scratch_files(bool remove)
{
    DIR *d = opendir(scratch);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        n++;
        char path[400];
        snprintf(path, sizeof path, "%s/%s", scratch, e->d_name);
        if (remove && unlink(path) != 0) rmdir(path);
    }
    closedir(d);
    return n;
}

static inline int remove_scratch(void **state)
{
    (void)state;
    scratch_files(true);
    return rmdir(scratch);
}

/* --- .npz -------------------------------------------------------------------------------------------------------- */

typedef struct {
    char name[64];  /* without ".npy" */
    char descr[8];  /* "<f4" */
    char shape[64]; /* "(2, 3)" */
    uint8_t *data;
    size_t bytes;
} array;

typedef struct {
    int count;
    array arrays[64];
} npz;

static inline uint32_t le(const uint8_t *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

static inline void copy_between(char *out, size_t room, const char *from, const char *before, const char *open,
                                char close)
{
    const char *a = strstr(from, before);
    assert_non_null(a);
    a = strstr(a, open);
    assert_non_null(a);
    const char *b = strchr(a + 1, close);
    assert_non_null(b);
    if (close == ')') b++;
    else a++;
    assert_true((size_t)(b - a) < room);
    memcpy(out, a, (size_t)(b - a));
    out[b - a] = '\0';
}

/* Entries are stored or deflated, with their sizes in front: what numpy.savez writes. */
static inline npz read_npz(const char *path)
{
    npz z = {.count = 0};
    blob b = read_blob(path);
    for (size_t at = 0; at + 30 <= b.bytes && le(b.data + at, 4) == 0x04034B50;) {
        const uint8_t *h = b.data + at;
        size_t packed = le(h + 18, 4), plain = le(h + 22, 4), n_name = le(h + 26, 2), n_extra = le(h + 28, 2);
        const uint8_t *from = h + 30 + n_name + n_extra;
        if (packed == 0xFFFFFFFF) { /* sizes stand in the zip64 field */
            const uint8_t *extra = h + 30 + n_name;
            assert_int_equal(le(extra, 2), 1);
            plain = le(extra + 4, 4);
            packed = le(extra + 12, 4);
        }
        array *a = &z.arrays[z.count++];
        assert_true(z.count < 64 && n_name - 4 < sizeof a->name);
        memcpy(a->name, h + 30, n_name - 4);
        a->name[n_name - 4] = '\0';
        uint8_t *raw = malloc(plain + 1);
        if (le(h + 8, 2) == 0) {
            memcpy(raw, from, plain);
        } else {
            z_stream s = {.next_in = (Bytef *)(uintptr_t)from,
                          .avail_in = (uInt)packed,
                          .next_out = raw,
                          .avail_out = (uInt)plain};
            assert_int_equal(inflateInit2(&s, -MAX_WBITS), Z_OK);
            assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
            inflateEnd(&s);
        }
        size_t header = 10 + le(raw + 8, 2);
        char text[256];
        assert_true(header - 10 < sizeof text);
        memcpy(text, raw + 10, header - 10);
        text[header - 10] = '\0';
        copy_between(a->descr, sizeof a->descr, strstr(text, "'descr': ") + 9, "'", "'", '\'');
        copy_between(a->shape, sizeof a->shape, text, "'shape': ", "(", ')');
        a->bytes = plain - header;
        a->data = malloc(a->bytes + 1);
        memcpy(a->data, raw + header, a->bytes);
        free(raw);
        at = (size_t)(from - b.data) + packed;
    }
    free(b.data);
    assert_true(z.count > 0);
    return z;
}

static inline void free_npz(npz *z)
{
    for (int i = 0; i < z->count; i++) free(z->arrays[i].data);
}

static inline const array *find_array(const npz *z, const char *name)
{
    for (int i = 0; i < z->count; i++)
        if (strcmp(z->arrays[i].name, name) == 0) return &z->arrays[i];
    return NULL;
}

#endif
