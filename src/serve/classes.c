/* SPDX-License-Identifier: Apache-2.0 */
/* classes.c - names of the classes that a model tells apart, from a file with one a line. */
#include <stdio.h>
#include <string.h>

#include "formats/bundle.h"
#include "serve/serve_impl.h"

enum { FILE_BYTES_MAX = 4 << 20, CLASSES_MAX = 100000 };

static sp_status read_text(sp_served *m, size_t *bytes)
{
    FILE *file = fopen(m->settings.classes, "rb");
    SP_CHECK(file != NULL, SP_IO, "the file of classes %s cannot be read", m->settings.classes);
    m->classes_text = sp__alloc(FILE_BYTES_MAX + 1);
    *bytes = m->classes_text != NULL ? fread(m->classes_text, 1, FILE_BYTES_MAX + 1, file) : 0;
    const bool failed = ferror(file) != 0;
    fclose(file);
    if (m->classes_text == NULL) return SP_NOMEM;
    SP_CHECK(!failed && *bytes <= FILE_BYTES_MAX, SP_IO,
             "the file of classes %s cannot be read, or has more than %d bytes", m->settings.classes, FILE_BYTES_MAX);
    SP_CHECK(sp__utf8_valid(m->classes_text, *bytes) == *bytes && memchr(m->classes_text, 0, *bytes) == NULL, SP_FORMAT,
             "the file of classes %s is no text in UTF-8", m->settings.classes);
    m->classes_text[*bytes] = '\0';
    return SP_OK;
}

sp_status sp__served_classes(sp_served *m)
{
    size_t bytes = 0;
    int n = 0;
    if (m->settings.classes[0] == '\0') return SP_OK;
    SP_TRY(read_text(m, &bytes));
    for (const char *p = m->classes_text; *p != '\0'; p++) n += *p == '\n' || p[1] == '\0';
    SP_CHECK(n <= CLASSES_MAX, SP_VALUE, "the file of classes %s has more than %d lines", m->settings.classes,
             CLASSES_MAX);
    m->classes = sp__alloc_zero((size_t)n * sizeof *m->classes + 1);
    if (m->classes == NULL) return SP_NOMEM;
    for (char *p = m->classes_text; *p != '\0';) {
        char *end = p + strcspn(p, "\n");
        const bool last = *end == '\0';
        *end = '\0';
        if (end > p && end[-1] == '\r') end[-1] = '\0';
        m->classes[m->n_classes++] = p;
        p = last ? end : end + 1;
    }
    return SP_OK;
}
