/* SPDX-License-Identifier: Apache-2.0 */
/* record_text.c - rows for `spore record make` from CSV files and JSON lines. Both are read twice: once to find out the type of
 * every column, once for the values. */
#define _POSIX_C_SOURCE 200809L

#include "record.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void) { return tool_complain(EXIT_FAILED, "out of memory"); }

static FILE *open_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) tool_complain(EXIT_FAILED, "record make: %s cannot be opened: %s", path, strerror(errno));
    return file;
}

/* --- CSV: RFC 4180, quotes doubled inside quotes, any line end ------------------------------------------------------------- */

typedef struct cells {
    char *text; /* all cells of a line, each with a NUL behind */
    size_t bytes, room;
    size_t begin[RECORD_FIELDS_MAX];
    int n;
    bool fits; /* not too many cells */
} cells;

static bool push(cells *c, char letter)
{
    if (c->bytes == c->room) {
        size_t room = c->room * 2 + 256;
        char *more = realloc(c->text, room);
        if (more == NULL) return false;
        c->text = more;
        c->room = room;
    }
    c->text[c->bytes++] = letter;
    return true;
}

static bool begin_cell(cells *c)
{
    c->fits = c->n < RECORD_FIELDS_MAX;
    if (c->fits) c->begin[c->n++] = c->bytes;
    return c->fits;
}

/* The next line that is not empty: 1, 0 at the end, -1 for lack of memory or too many cells. */
static int read_line(FILE *file, cells *c)
{
    int letter = getc(file);
    while (letter == '\n' || letter == '\r') letter = getc(file);
    if (letter == EOF) return 0;
    c->bytes = 0;
    c->n = 0;
    bool fine = begin_cell(c), quoted = false, at_begin = true;
    for (; fine && letter != EOF && (quoted || (letter != '\n' && letter != '\r')); letter = getc(file)) {
        if (quoted && letter == '"') {
            int next = getc(file);
            if (next == '"') fine = push(c, '"');
            else {
                quoted = false;
                ungetc(next, file);
            }
        } else if (!quoted && letter == '"' && at_begin) {
            quoted = true;
        } else if (!quoted && letter == ',') {
            fine = push(c, '\0') && begin_cell(c);
            at_begin = true;
            continue;
        } else {
            fine = push(c, (char)letter);
        }
        at_begin = false;
    }
    return fine && push(c, '\0') ? 1 : -1;
}

typedef struct csv {
    char *path;
    FILE *file;
    cells line;
    int n;
    sp_record_field *fields;
    bool *truth; /* columns of True and False */
    int64_t row;
} csv;

static void csv_close(record_rows *rows)
{
    csv *c = rows->state;
    for (int i = 0; i < c->n; i++) free((void *)(uintptr_t)c->fields[i].name);
    if (c->file != NULL) fclose(c->file);
    free(c->line.text);
    free(c->fields);
    free(c->truth);
    free(c->path);
    free(c);
}

static int truth_of(const char *text)
{
    if (strcmp(text, "True") == 0 || strcmp(text, "true") == 0 || strcmp(text, "TRUE") == 0) return 1;
    return strcmp(text, "False") == 0 || strcmp(text, "false") == 0 || strcmp(text, "FALSE") == 0 ? 0 : -1;
}

static bool to_int(const char *text, long long *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    while (isspace((unsigned char)*end)) end++;
    return end != text && *end == '\0' && errno == 0;
}

static bool to_float(const char *text, double *out)
{
    char *end;
    if (text[0] == '\0') {
        *out = NAN; /* missing */
        return true;
    }
    *out = strtod(text, &end);
    while (isspace((unsigned char)*end)) end++;
    /* Not what C takes besides: hexadecimal numbers. */
    return end != text && *end == '\0' && strpbrk(text, "xX") == NULL;
}

/* Types from narrow to wide: truth (int32), int64, float64, string. */
static void csv_learn(csv *c, int i, const char *text)
{
    sp_record_field *f = &c->fields[i];
    long long whole;
    double real;
    if (c->truth[i]) {
        if (truth_of(text) >= 0) return;
        c->truth[i] = false;
        f->type = c->row == 0 ? SP_RECORD_INT64 : SP_RECORD_STRING;
    }
    if (f->type == SP_RECORD_INT64 && !to_int(text, &whole)) f->type = SP_RECORD_FLOAT64;
    if (f->type == SP_RECORD_FLOAT64 && !to_float(text, &real)) f->type = SP_RECORD_STRING;
}

static int csv_failed(const csv *c, const char *what)
{
    return tool_complain(EXIT_FAILED, "record make: %s: row %lld: %s", c->path, (long long)c->row, what);
}

static int csv_header(csv *c)
{
    int got = read_line(c->file, &c->line);
    if (got == 0) return tool_complain(EXIT_FAILED, "record make: %s is empty", c->path);
    if (got < 0) return c->line.fits ? no_memory() : csv_failed(c, "too many columns");
    if (c->fields != NULL) return 0; /* second time */
    c->fields = calloc((size_t)c->line.n, sizeof *c->fields);
    c->truth = calloc((size_t)c->line.n, sizeof *c->truth);
    if (c->fields == NULL || c->truth == NULL) return no_memory();
    for (int i = 0; i < c->line.n; i++) {
        const char *name = c->line.text + c->line.begin[i];
        if (i == 0 && strncmp(name, "\xEF\xBB\xBF", 3) == 0) name += 3; /* mark of UTF-8 */
        char *own = strdup(name);
        if (own == NULL) return no_memory();
        c->fields[i] = (sp_record_field){.name = own, .type = SP_RECORD_INT32, .rank = -1};
        c->truth[i] = true;
        c->n++;
    }
    return 0;
}

/* 1, 0, -1 as next(); lines with fewer cells end in empty ones. */
static int csv_line(csv *c)
{
    int got = read_line(c->file, &c->line);
    if (got == 0) return 0;
    if (got < 0 && c->line.fits) no_memory();
    else if (got < 0 || c->line.n > c->n) csv_failed(c, "more values than the first line has names");
    else {
        while (c->line.n < c->n) {
            if (!begin_cell(&c->line) || !push(&c->line, '\0')) return -1;
        }
        return 1;
    }
    return -1;
}

static int csv_next(record_rows *rows, sp_record_value *values)
{
    csv *c = rows->state;
    int got = csv_line(c);
    for (int i = 0; got > 0 && i < c->n; i++) {
        const char *text = c->line.text + c->line.begin[i];
        sp_record_value *v = &values[i];
        *v = (sp_record_value){.type = c->fields[i].type, .rank = -1};
        long long whole = 0;
        if (c->truth[i]) v->i = truth_of(text);
        else if (v->type == SP_RECORD_INT64) {
            to_int(text, &whole);
            v->i = whole;
        } else if (v->type == SP_RECORD_FLOAT64) to_float(text, &v->f);
        else {
            v->data = text;
            v->bytes = strlen(text);
        }
    }
    c->row++;
    return got;
}

int record_rows_csv(const char *path, record_rows *out)
{
    csv *c = calloc(1, sizeof *c);
    if (c == NULL || (c->path = strdup(path)) == NULL) {
        free(c);
        return no_memory();
    }
    *out = (record_rows){.state = c, .next = csv_next, .close = csv_close};
    c->file = open_text(path);
    int code = c->file == NULL ? EXIT_FAILED : csv_header(c);
    int got = 0;
    while (code == 0 && (got = csv_line(c)) > 0) {
        for (int i = 0; i < c->n; i++) csv_learn(c, i, c->line.text + c->line.begin[i]);
        c->row++;
    }
    if (code != 0 || got < 0) return EXIT_FAILED;
    out->total = c->row;
    out->fields = c->fields;
    out->n_fields = c->n;
    c->row = 0;
    rewind(c->file);
    return csv_header(c);
}

/* --- JSON lines -------------------------------------------------------------------------------------------------------------- */

typedef struct jsonl {
    char *path;
    FILE *file;
    json_t *object; /* of the present line */
    char *line;
    size_t line_room;
    int64_t number; /* of the line, from 1 */
    int n;
    sp_record_field *fields;
    bool *known;   /* has the column been seen with a type */
    void **memory; /* of arrays and bytes, by column */
    int64_t (*dims)[SP_RANK_MAX];
} jsonl;

static void json_close(record_rows *rows)
{
    jsonl *j = rows->state;
    for (int i = 0; i < j->n; i++) {
        free((void *)(uintptr_t)j->fields[i].name);
        free(j->memory[i]);
    }
    if (j->file != NULL) fclose(j->file);
    json_decref(j->object);
    free(j->line);
    free(j->fields);
    free(j->known);
    free(j->memory);
    free(j->dims);
    free(j->path);
    free(j);
}

static int json_failed(const jsonl *j, const char *column, const char *what)
{
    if (column == NULL)
        return tool_complain(EXIT_FAILED, "record make: %s: line %lld: %s", j->path, (long long)j->number, what);
    return tool_complain(EXIT_FAILED, "record make: %s: line %lld, column '%s': %s", j->path, (long long)j->number,
                         column, what);
}

/* 1, 0, -1 as next(). */
static int json_line(jsonl *j)
{
    json_decref(j->object);
    j->object = NULL;
    for (;;) {
        ssize_t n = getline(&j->line, &j->line_room, j->file);
        if (n < 0) return 0;
        j->number++;
        while (n > 0 && isspace((unsigned char)j->line[n - 1])) n--;
        if (n == 0) continue;
        json_error_t error;
        j->object = json_loadb(j->line, (size_t)n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
        if (j->object == NULL) json_failed(j, NULL, error.text);
        else if (!json_is_object(j->object)) json_failed(j, NULL, "is not a JSON object");
        else return 1;
        return -1;
    }
}

static bool is_special(const json_t *v)
{
    const char *text = json_string_value(v);
    return text != NULL &&
           (strcmp(text, "NaN") == 0 || strcmp(text, "Infinity") == 0 || strcmp(text, "-Infinity") == 0);
}

/* Depth of nested lists, and whether a number in them is a float; false: something else is in them, or they are ragged. */
static bool list_shape(const json_t *v, int axis, int *rank, int64_t *dims, bool *real)
{
    if (!json_is_array(v)) {
        if (*rank == -1) *rank = axis;
        *real = *real || json_is_real(v) || is_special(v);
        return axis == *rank && (json_is_number(v) || is_special(v));
    }
    if (axis >= SP_RANK_MAX || (*rank != -1 && axis >= *rank)) return false;
    int64_t n = (int64_t)json_array_size(v);
    if (dims[axis] != -1 && dims[axis] != n) return false;
    dims[axis] = n;
    if (n == 0 && *rank == -1) *rank = axis + 1;
    for (size_t i = 0; i < (size_t)n; i++)
        if (!list_shape(json_array_get(v, i), axis + 1, rank, dims, real)) return false;
    return true;
}

static int json_field_type(const jsonl *j, const char *name, const json_t *v, sp_record_field *out)
{
    out->rank = -1;
    if (json_is_integer(v)) out->type = SP_RECORD_INT64;
    else if (json_is_real(v)) out->type = SP_RECORD_FLOAT64;
    else if (json_is_boolean(v)) out->type = SP_RECORD_INT32;
    else if (json_is_string(v)) out->type = SP_RECORD_STRING;
    else if (json_is_object(v) && json_is_string(json_object_get(v, "base64"))) out->type = SP_RECORD_BYTES;
    else if (json_is_array(v)) {
        bool real = false;
        for (int i = 0; i < SP_RANK_MAX; i++) out->dims[i] = -1;
        if (!list_shape(v, 0, &out->rank, out->dims, &real))
            return json_failed(j, name, "a list must hold numbers, or lists of them that are equally long");
        out->type = real ? SP_RECORD_FLOAT64 : SP_RECORD_INT64;
    } else
        return json_failed(
            j, name, json_is_null(v) ? "null has no place in MindRecord" : "an object other than {\"base64\": ...}");
    return 0;
}

static bool is_empty(const sp_record_field *f) { return f->rank >= 1 && f->dims[f->rank - 1] == 0; }

/* Sizes that differ become -1. An empty list tells nothing but that its first size varies. */
static int json_widen_shape(const jsonl *j, sp_record_field *f, const sp_record_field *now)
{
    if (is_empty(f) && !is_empty(now)) {
        const char *name = f->name;
        *f = *now;
        f->name = name;
        f->dims[0] = -1;
    } else if (is_empty(now) && !is_empty(f)) {
        f->dims[0] = -1;
    } else if (f->rank != now->rank) {
        return json_failed(j, f->name, "another kind of value than in the lines before");
    }
    int n_any = 0;
    for (int i = 0; i < f->rank; i++) {
        if (!is_empty(now) && f->dims[i] != now->dims[i]) f->dims[i] = -1;
        n_any += f->dims[i] == -1;
    }
    if (n_any > 1) return json_failed(j, f->name, "more than one size of its lists varies; one may");
    return 0;
}

/* The field after one more value: integers widen to floats. */
static int json_widen(const jsonl *j, sp_record_field *f, const sp_record_field *now, const json_t *v)
{
    bool numbers = (f->type == SP_RECORD_INT64 || f->type == SP_RECORD_FLOAT64) &&
                   (now->type == SP_RECORD_INT64 || now->type == SP_RECORD_FLOAT64);
    if (f->rank < 0 && now->rank < 0 && is_special(v) && f->type == SP_RECORD_FLOAT64) return 0;
    if ((f->type != now->type && !numbers) || (f->rank < 0) != (now->rank < 0))
        return json_failed(j, f->name, "another kind of value than in the lines before");
    if (f->type != now->type && !is_empty(now)) f->type = is_empty(f) ? now->type : SP_RECORD_FLOAT64;
    sp_record_type type = f->type;
    int code = f->rank < 0 ? 0 : json_widen_shape(j, f, now);
    f->type = type;
    return code;
}

static int json_learn_line(jsonl *j)
{
    for (void *at = json_object_iter(j->object); at != NULL; at = json_object_iter_next(j->object, at)) {
        const char *name = json_object_iter_key(at);
        int i = 0;
        while (i < j->n && strcmp(j->fields[i].name, name) != 0) i++;
        if (i == j->n) {
            if (j->number > 1 && j->known[RECORD_FIELDS_MAX]) return json_failed(j, name, "is not in the lines before");
            if (i == RECORD_FIELDS_MAX) return json_failed(j, name, "too many columns");
            j->fields[i].name = strdup(name);
            if (j->fields[i].name == NULL) return no_memory();
            j->n++;
        }
        sp_record_field now = {0};
        int code = json_field_type(j, name, json_object_iter_value(at), &now);
        if (code == 0 && j->known[i]) code = json_widen(j, &j->fields[i], &now, json_object_iter_value(at));
        else if (code == 0) {
            now.name = j->fields[i].name;
            j->fields[i] = now;
            j->known[i] = true;
        }
        if (code != 0) return code;
    }
    j->known[RECORD_FIELDS_MAX] = true; /* the first line has named the columns */
    for (int i = 0; i < j->n; i++)
        if (json_object_get(j->object, j->fields[i].name) == NULL)
            return json_failed(j, j->fields[i].name, "is missing");
    return 0;
}

static double number_of(const json_t *v)
{
    if (!json_is_string(v)) return json_number_value(v);
    const char *text = json_string_value(v);
    return text[0] == 'N' ? NAN : text[0] == '-' ? -INFINITY : INFINITY;
}

static void flatten(const json_t *v, sp_record_type type, char **to)
{
    if (json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v); i++) flatten(json_array_get(v, i), type, to);
        return;
    }
    int64_t whole = json_integer_value(v);
    double real = number_of(v);
    memcpy(*to, type == SP_RECORD_INT64 ? (const void *)&whole : (const void *)&real, 8);
    *to += 8;
}

static int array_value(jsonl *j, int i, const json_t *v, sp_record_value *out)
{
    bool real = false;
    int rank = -1;
    size_t count = 1;
    for (int k = 0; k < SP_RANK_MAX; k++) j->dims[i][k] = -1;
    list_shape(v, 0, &rank, j->dims[i], &real);
    for (int k = 0; k < rank; k++) count *= (size_t)j->dims[i][k];
    free(j->memory[i]);
    j->memory[i] = malloc(count * 8 + 1);
    if (j->memory[i] == NULL) return no_memory();
    char *to = j->memory[i];
    flatten(v, out->type, &to);
    out->rank = rank;
    out->dims = j->dims[i];
    out->data = j->memory[i];
    out->bytes = count * 8;
    return 0;
}

static int bytes_value(jsonl *j, int i, const json_t *v, sp_record_value *out)
{
    const json_t *text = json_object_get(v, "base64");
    const char *p = json_string_value(text);
    size_t n = json_string_length(text), bytes = 0;
    free(j->memory[i]);
    unsigned char *to = malloc(n + 1);
    j->memory[i] = to;
    if (to == NULL) return no_memory();
    unsigned bits = 0, n_bits = 0;
    for (size_t k = 0; k < n && p[k] != '='; k++) {
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *digit = p[k] == '\0' ? NULL : strchr(digits, p[k]);
        if (digit == NULL) return json_failed(j, j->fields[i].name, "is not base64");
        bits = bits << 6 | (unsigned)(digit - digits);
        n_bits += 6;
        if (n_bits >= 8) to[bytes++] = (unsigned char)(bits >> (n_bits -= 8));
    }
    out->data = to;
    out->bytes = bytes;
    return 0;
}

static int json_next(record_rows *rows, sp_record_value *values)
{
    jsonl *j = rows->state;
    int got = json_line(j), code = 0;
    for (int i = 0; got > 0 && code == 0 && i < j->n; i++) {
        const json_t *v = json_object_get(j->object, j->fields[i].name);
        sp_record_value *out = &values[i];
        *out = (sp_record_value){.type = j->fields[i].type, .rank = -1};
        if (j->fields[i].rank >= 0) code = array_value(j, i, v, out);
        else if (out->type == SP_RECORD_BYTES) code = bytes_value(j, i, v, out);
        else if (out->type == SP_RECORD_STRING) {
            out->data = json_string_value(v);
            out->bytes = json_string_length(v);
        } else if (out->type == SP_RECORD_FLOAT64) out->f = number_of(v);
        else out->i = json_is_boolean(v) ? json_is_true(v) : json_integer_value(v);
    }
    return code != 0 ? -1 : got;
}

int record_rows_json(const char *path, record_rows *out)
{
    jsonl *j = calloc(1, sizeof *j);
    if (j == NULL || (j->path = strdup(path)) == NULL) {
        free(j);
        return no_memory();
    }
    *out = (record_rows){.state = j, .next = json_next, .close = json_close};
    j->fields = calloc(RECORD_FIELDS_MAX, sizeof *j->fields);
    j->known = calloc(RECORD_FIELDS_MAX + 1, sizeof *j->known); /* the last: is there a first line */
    j->memory = calloc(RECORD_FIELDS_MAX, sizeof *j->memory);
    j->dims = calloc(RECORD_FIELDS_MAX, sizeof *j->dims);
    if (j->fields == NULL || j->known == NULL || j->memory == NULL || j->dims == NULL) return no_memory();
    j->file = open_text(path);
    if (j->file == NULL) return EXIT_FAILED;
    int got;
    while ((got = json_line(j)) > 0) {
        int code = json_learn_line(j);
        if (code != 0) return code;
        out->total++;
    }
    if (got < 0) return EXIT_FAILED;
    if (out->total == 0) return tool_complain(EXIT_FAILED, "record make: %s holds no JSON objects", path);
    /* A size that is 0 in every line cannot be declared: any size. */
    for (int i = 0; i < j->n; i++)
        for (int k = 0; k < j->fields[i].rank; k++)
            if (j->fields[i].dims[k] == 0) j->fields[i].dims[k] = -1;
    out->fields = j->fields;
    out->n_fields = j->n;
    j->number = 0;
    rewind(j->file);
    return 0;
}
