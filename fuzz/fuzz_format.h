/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_format.h - any bytes as a file of one format: refused with a message, or read into entries that can all be looked
 * at. Used by fuzz_format.c and by tests/formats/test_fuzz_formats.c. */
#ifndef SPORE_FUZZ_FORMAT_H
#define SPORE_FUZZ_FORMAT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spore/format.h"

static inline void fuzz_must(int condition, const char *format, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_format %s: %s (%s)\n", format, what, sp_error_message());
    abort();
}

/* Read every byte of every entry, so that a sanitizer sees what does not belong to it. */
static inline uint64_t fuzz_look(const sp_bundle *b, const char *format)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < sp_bundle_count(b); i++) {
        fuzz_must(sp_bundle_find(b, sp_bundle_name_at(b, i)) == i, format, "an entry that is not found");
        size_t n = 0;
        const unsigned char *p = (const unsigned char *)sp_bundle_text_at(b, i, &n);
        if (p == NULL) {
            const sp_tensor *t = sp_bundle_tensor_at(b, i);
            fuzz_must(t != NULL, format, "neither text nor tensor");
            p = sp_tensor_data(t);
            n = sp_tensor_bytes(t);
        }
        for (size_t k = 0; k < n; k++) sum += p[k];
    }
    return sum;
}

/* 1: it was read, 0: refused. */
static inline int fuzz_format(const char *format, const uint8_t *data, size_t bytes)
{
    sp_bundle *b = NULL;
    const sp_file_options options = {.format = format, .flags = bytes % 2 ? SP_FILE_CRC : 0};
    if (sp_load_memory(data, bytes, &options, &b) != SP_OK) {
        fuzz_must(b == NULL && sp_error_message()[0] != '\0', format, "refused without a message");
        return 0;
    }
    volatile uint64_t keep = fuzz_look(b, format);
    (void)keep;
    sp_bundle_release(b);
    /* As anybody's file: the probes see it too. */
    const sp_file_options any = {.flags = 0};
    sp_bundle *again = NULL;
    if (sp_load_memory(data, bytes, &any, &again) == SP_OK) sp_bundle_release(again);
    return 1;
}

#endif
