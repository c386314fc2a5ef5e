/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_util.h - what the tests over fuzz targets share: numbers from a seed, so that a failure repeats, exact copies, edits. */
#ifndef SPORE_TESTS_FUZZ_UTIL_H
#define SPORE_TESTS_FUZZ_UTIL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/share.h"

enum { EDIT_ROOM = 64 }; /* bytes that edits may add to a file */

static uint32_t draw(uint32_t below)
{
    static uint64_t state = 20240728;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static long fuzz_rounds(long by_default)
{
    const char *asked = getenv("SPORE_FUZZ_ROUNDS");
    return asked != NULL ? strtol(asked, NULL, 10) : share_of((int)by_default);
}

/* The target on an exact copy, so that the sanitizer sees a read one byte past the end. */
static int run_exact(int (*target)(const uint8_t *, size_t), const uint8_t *data, size_t bytes)
{
    uint8_t *exact = malloc(bytes > 0 ? bytes : 1);
    if (bytes > 0) memcpy(exact, data, bytes);
    const int result = target(exact, bytes);
    free(exact);
    return result;
}

/* Turns a bit, sets a byte, puts one in or takes one out at a place; the new size. */
static inline size_t edit(uint8_t *data, size_t bytes, size_t room, size_t at)
{
    switch (draw(4)) {
    case 0: data[at] ^= (uint8_t)(1u << draw(8)); return bytes;
    case 1: {
        const uint8_t telling[] = {0xFF, (uint8_t)('0' + draw(10)),
                                   (uint8_t)draw(256)}; /* a length, a number in text, anything */
        data[at] = telling[draw(3)];
        return bytes;
    }
    case 2:
        if (bytes == room) return bytes;
        memmove(data + at + 1, data + at, bytes - at);
        data[at] = (uint8_t)draw(256);
        return bytes + 1;
    default:
        if (bytes == 1) return bytes;
        memmove(data + at, data + at + 1, bytes - at - 1);
        return bytes - 1;
    }
}

#endif
