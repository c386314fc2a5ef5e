/* SPDX-License-Identifier: Apache-2.0 */
/* record_cat.c - `spore record cat`: rows as JSON lines, which `spore record make` reads again.
 *
 * Arrays are nested lists, bytes {"base64": "..."}. JSON has no NaN and no infinity: those are the strings "NaN", "Infinity"
 * and "-Infinity". */
#include "record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: spore record cat FILE [--columns A,B] [--rows FROM:TO] [--short]\n\n"
    "Prints the rows of a data set, one JSON object a line.\n\n"
    "  --columns A,B        only these\n"
    "  --rows FROM:TO       only these, counted from 0, TO not included; FROM: and :TO are fine\n"
    "  --short              of bytes only their number\n" TOOL_KEY_HELP "\nexamples:\n"
    "  spore record cat train.mindrecord --rows :3 --short\n"
    "  spore record cat train.mindrecord --columns label | sort | uniq -c\n";

static void print_float(double v, bool single)
{
    char text[40];
    if (isnan(v)) fputs("\"NaN\"", stdout);
    else if (isinf(v)) fputs(v > 0 ? "\"Infinity\"" : "\"-Infinity\"", stdout);
    else {
        /* The shortest text that is this number again. */
        for (int digits = single ? 6 : 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, v);
            double back = strtod(text, NULL);
            if (single ? (float)back == (float)v : back == v) break;
        }
        fputs(text, stdout);
        if (strpbrk(text, ".en") == NULL) fputs(".0", stdout);
    }
}

static void print_base64(const unsigned char *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
        putchar(digits[v >> 18]);
        putchar(digits[v >> 12 & 63]);
        putchar(i + 1 < n ? digits[v >> 6 & 63] : '=');
        putchar(i + 2 < n ? digits[v & 63] : '=');
    }
}

static void print_element(const sp_record_value *v, size_t i)
{
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } x;
    size_t width = v->type == SP_RECORD_INT32 || v->type == SP_RECORD_FLOAT32 ? 4 : 8;
    memcpy(&x, (const char *)v->data + i * width, width);
    if (v->type == SP_RECORD_INT32) printf("%d", x.i32);
    else if (v->type == SP_RECORD_INT64) printf("%lld", (long long)x.i64);
    else if (v->type == SP_RECORD_FLOAT32) print_float((double)x.f32, true);
    else print_float(x.f64, false);
}

static void print_array(const sp_record_value *v, int axis, size_t *at)
{
    if (axis == v->rank) {
        print_element(v, (*at)++);
        return;
    }
    putchar('[');
    for (int64_t i = 0; i < v->dims[axis]; i++) {
        if (i > 0) putchar(',');
        print_array(v, axis + 1, at);
    }
    putchar(']');
}

static void print_value(const sp_record_value *v, bool brief)
{
    size_t at = 0;
    if (v->rank >= 0) print_array(v, 0, &at);
    else if (v->type == SP_RECORD_INT32 || v->type == SP_RECORD_INT64) printf("%lld", (long long)v->i);
    else if (v->type == SP_RECORD_FLOAT32 || v->type == SP_RECORD_FLOAT64)
        print_float(v->f, v->type == SP_RECORD_FLOAT32);
    else if (v->type == SP_RECORD_STRING) tool_json_text(v->data, v->bytes);
    else if (brief) printf("{\"bytes\":%zu}", v->bytes);
    else {
        fputs("{\"base64\":\"", stdout);
        print_base64(v->data, v->bytes);
        fputs("\"}", stdout);
    }
}

/* FROM:TO, cut to what there is. */
static int parse_rows(const char *text, int64_t count, int64_t *from, int64_t *to)
{
    char *end;
    *from = 0;
    *to = count;
    if (text == NULL) return 0;
    long long first = strtoll(text, &end, 10), last = count;
    bool fine = *end == ':' && first >= 0;
    if (fine && end[1] != '\0') {
        last = strtoll(end + 1, &end, 10);
        fine = *end == '\0' && last >= first;
    }
    if (!fine) return tool_complain(EXIT_USAGE, "record cat: --rows wants FROM:TO, found '%s'", text);
    *from = first < count ? first : count;
    *to = last < count ? last : count;
    return 0;
}

static int print_rows(sp_record *r, char *columns, const char *rows, bool brief)
{
    static const char *names[RECORD_FIELDS_MAX];
    int n = columns == NULL ? 0 : record_names(columns, names, RECORD_FIELDS_MAX);
    int64_t from, to;
    int code = parse_rows(rows, sp_record_count(r), &from, &to);
    sp_record_row *row = NULL;
    if (code == 0 && sp_record_row_create(r, columns == NULL ? NULL : names, n, &row) != SP_OK)
        code = tool_engine_failed("record cat");
    for (int64_t i = from; code == 0 && i < to; i++) {
        if (sp_record_read(r, i, row) != SP_OK) {
            code = tool_engine_failed("record cat");
            break;
        }
        const sp_record_value *values = sp_record_row_values(row);
        putchar('{');
        for (int k = 0; k < sp_record_row_count(row); k++) {
            const char *name = columns != NULL ? names[k] : sp_record_field_at(r, k)->name;
            if (k > 0) putchar(',');
            tool_json_text(name, strlen(name));
            putchar(':');
            print_value(&values[k], brief);
        }
        puts("}");
        if (ferror(stdout)) break; /* somebody has read enough */
    }
    sp_record_row_release(row);
    return code;
}

int record_cat(int argc, char **argv)
{
    tool_key key = {0};
    sp_record_secret secret = {0};
    const char *path, *columns = NULL, *rows = NULL;
    bool brief = false, helped;
    int n;
    const tool_option options[] = {{"--columns", NULL, &columns, NULL},
                                   {"--rows", NULL, &rows, NULL},
                                   {"--short", &brief, NULL, NULL},
                                   TOOL_KEY_OPTIONS(key),
                                   {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, help, (const int[]){1, 1}, &path, &n, &helped);
    if (code != 0 || helped) return code;
    sp_record *r = NULL;
    code = record_secret(argv[0], path, &key, &secret);
    if (code == 0 && sp_record_open(path, &secret, &r) != SP_OK) code = tool_engine_failed(argv[0]);
    tool_key_clear(&key);
    if (code != 0) return code;
    char *own = NULL;
    if (columns != NULL) {
        size_t bytes = strlen(columns) + 1;
        own = malloc(bytes);
        if (own != NULL) memcpy(own, columns, bytes);
        else code = tool_complain(EXIT_FAILED, "out of memory");
    }
    if (code == 0) code = print_rows(r, own, rows, brief);
    free(own);
    sp_record_release(r);
    return code;
}
