/* SPDX-License-Identifier: Apache-2.0 */
/* py_examples.c - the examples in the docstrings of faces. scripts/make-examples writes them, from the samples of the
 * operators; a face that is newer than the last run has none until the next one. */
#include <stdlib.h>

#include "py_faces.h"

typedef struct example {
    const char *face, *code, *output; /* "ops.relu"; lines of code; what they print */
} example;

static const example examples[] = {
#include "py_examples.inc"
};

static int compare(const void *name, const void *row) { return strcmp(name, ((const example *)row)->face); }

/* Every line of text behind a prefix; returns the end. */
static char *put_lines(char *o, const char *prefix, const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        o = (char *)memcpy(o, prefix, strlen(prefix)) + strlen(prefix);
        o = (char *)memcpy(o, text, (size_t)(end - text)) + (end - text);
        *o++ = '\n';
    }
    return o;
}

static size_t count_lines(const char *text)
{
    size_t n = 1;
    for (; *text; text++) n += *text == '\n';
    return n;
}

char *sp__py_face_example(const face *f)
{
    static const char title[] = "\n\nExamples:\n", prompt[] = "    >>> ", indent[] = "    ";
    char name[sizeof f->place + sizeof f->name + 1];
    PyOS_snprintf(name, sizeof name, "%s.%s", f->place, f->name);
    const example *e = bsearch(name, examples, sizeof examples / sizeof *examples, sizeof *examples, compare);
    const char *code = e ? e->code : "", *output = e ? e->output : "";
    size_t room = sizeof title + strlen(code) + count_lines(code) * sizeof prompt + strlen(output) +
                  count_lines(output) * sizeof indent + 1;
    char *text = PyMem_Malloc(room), *o = text;
    if (!text) return sp__py_no_memory(), NULL;
    if (e) {
        o = (char *)memcpy(o, title, sizeof title - 1) + sizeof title - 1;
        o = put_lines(o, prompt, code);
        o = put_lines(o, indent, output);
    }
    *o = '\0';
    return text;
}
