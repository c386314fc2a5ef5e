/* SPDX-License-Identifier: Apache-2.0 */
/* record_show.c - `spore record show`: the pictures of a data set, small, on one sheet.
 *
 * A cell for every picture, all pictures of a row side by side. What cannot be decoded is crossed out in red and named on
 * standard error. */
#include "record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spore/transform.h"

static const char help[] =
    "usage: spore record show FILE OUT.png [--columns A,B] [--count N] [--from N] [--size N]\n\n"
    "Draws the pictures in the bytes columns of a data set on a sheet, a PNG file.\n\n"
    "  --columns A,B        only these; default: all whose first row is a picture\n"
    "  --count N            rows, default 48\n"
    "  --from N             the first row, default 0\n"
    "  --size N             pixels of a cell, default 96\n" TOOL_FORCE_HELP TOOL_OUTPUT_HELP TOOL_KEY_HELP;

enum { COLUMNS_MAX = 16, GAP = 4 };

typedef struct sheet {
    uint8_t *pixels; /* height, width, RGB */
    int64_t height, width, cell;
    sp_tensor *tensor;
} sheet;

/* The mean of the source pixels that fall on each pixel: fine enough for a small picture, and never aliased. */
static void draw_scaled(sheet *s, int64_t top, int64_t left, const uint8_t *image, int64_t height, int64_t width)
{
    double scale = (double)s->cell / (double)(height > width ? height : width);
    if (scale > 1) scale = 1;
    int64_t h = (int64_t)((double)height * scale), w = (int64_t)((double)width * scale);
    if (h < 1) h = 1;
    if (w < 1) w = 1;
    top += (s->cell - h) / 2;
    left += (s->cell - w) / 2;
    for (int64_t y = 0; y < h; y++) {
        int64_t y0 = y * height / h, y1 = (y + 1) * height / h > y0 ? (y + 1) * height / h : y0 + 1;
        for (int64_t x = 0; x < w; x++) {
            int64_t x0 = x * width / w, x1 = (x + 1) * width / w > x0 ? (x + 1) * width / w : x0 + 1;
            uint64_t sum[3] = {0, 0, 0};
            for (int64_t v = y0; v < y1; v++)
                for (int64_t u = x0; u < x1; u++)
                    for (int c = 0; c < 3; c++) sum[c] += image[(v * width + u) * 3 + c];
            uint64_t n = (uint64_t)((y1 - y0) * (x1 - x0));
            for (int c = 0; c < 3; c++)
                s->pixels[((top + y) * s->width + left + x) * 3 + c] = (uint8_t)((sum[c] + n / 2) / n);
        }
    }
}

static void draw_cross(sheet *s, int64_t top, int64_t left)
{
    for (int64_t i = 0; i < s->cell; i++)
        for (int side = 0; side < 2; side++) {
            int64_t x = side == 0 ? i : s->cell - 1 - i;
            uint8_t *p = &s->pixels[((top + i) * s->width + left + x) * 3];
            p[0] = 200;
            p[1] = p[2] = 0;
        }
}

static void draw_picture(sheet *s, int64_t top, int64_t left, const sp_record_value *v, int64_t row, const char *column)
{
    sp_tensor *image = NULL;
    if (sp_image_decode(v->data, v->bytes, SP_DECODE_COLOR, &image) != SP_OK) {
        tool_complain(0, "record show: row %lld, column '%s': %s", (long long)row, column, sp_error_message());
        draw_cross(s, top, left);
        return;
    }
    const int64_t *dims = sp_tensor_dims(image);
    draw_scaled(s, top, left, sp_tensor_data(image), dims[0], dims[1]);
    sp_tensor_release(image);
}

/* Columns that hold pictures, by their first row. */
static int find_columns(sp_record *r, int64_t row_id, const char **names)
{
    int n = 0;
    for (int i = 0; i < sp_record_field_count(r) && n < COLUMNS_MAX; i++) {
        const sp_record_field *f = sp_record_field_at(r, i);
        sp_record_row *row = NULL;
        sp_image_info info;
        if (f->type != SP_RECORD_BYTES || sp_record_row_create(r, &f->name, 1, &row) != SP_OK) continue;
        if (sp_record_read(r, row_id, row) == SP_OK) {
            const sp_record_value *v = sp_record_row_values(row);
            if (sp_image_probe(v->data, v->bytes, &info) == SP_OK) names[n++] = f->name;
        }
        sp_record_row_release(row);
    }
    return n;
}

static int make_sheet(int64_t n_rows, int n_columns, int64_t cell, int64_t *across, sheet *out)
{
    *across = (int64_t)ceil(sqrt((double)n_rows / n_columns));
    if (*across < 1) *across = 1;
    int64_t down = (n_rows + *across - 1) / *across;
    out->cell = cell;
    out->width = *across * n_columns * (cell + GAP) + GAP;
    out->height = down * (cell + GAP) + GAP;
    if (out->width > 30000 || out->height > 30000)
        return tool_complain(EXIT_FAILED,
                             "record show: the sheet would have %lld by %lld pixels; take less with --count or "
                             "--size",
                             (long long)out->width, (long long)out->height);
    const int64_t dims[] = {out->height, out->width, 3};
    if (sp_tensor_create(SP_DTYPE_U8, 3, dims, &out->tensor) != SP_OK) return tool_engine_failed("record show");
    out->pixels = sp_tensor_data(out->tensor);
    memset(out->pixels, 255, sp_tensor_bytes(out->tensor));
    return 0;
}

static int save(const sheet *s, const char *path, bool force)
{
    sp_tensor *png = NULL;
    tool_output out;
    if (sp_image_encode_png(s->tensor, 6, &png) != SP_OK) return tool_engine_failed("record show");
    int code = tool_output_open("record show", path, force, &out);
    if (code == 0) {
        fwrite(sp_tensor_data(png), 1, sp_tensor_bytes(png), out.file); /* what fails, closing tells */
        code = tool_output_close(&out, true);
    }
    sp_tensor_release(png);
    return code;
}

typedef struct show_options {
    long long count, from, size;
    char *columns;
    bool force;
} show_options;

static int show(sp_record *r, const char *out, const show_options *o)
{
    const char *names[COLUMNS_MAX];
    int64_t end = o->from + o->count < sp_record_count(r) ? o->from + o->count : sp_record_count(r), across = 1;
    if (o->from >= end) return tool_complain(EXIT_FAILED, "record show: there is no row %lld", o->from);
    int n = o->columns != NULL ? record_names(o->columns, names, COLUMNS_MAX) : find_columns(r, o->from, names);
    if (n == 0) return tool_complain(EXIT_FAILED, "record show: no column holds pictures");
    sp_record_row *row = NULL;
    sheet s = {0};
    if (sp_record_row_create(r, names, n, &row) != SP_OK) return tool_engine_failed("record show");
    int code = make_sheet(end - o->from, n, o->size, &across, &s);
    for (int64_t i = o->from; i < end && code == 0; i++) {
        int64_t place = i - o->from;
        int64_t top = place / across * (s.cell + GAP) + GAP, left = place % across * n * (s.cell + GAP) + GAP;
        if (sp_record_read(r, i, row) != SP_OK) code = tool_engine_failed("record show");
        for (int k = 0; k < n && code == 0; k++)
            draw_picture(&s, top, left + k * (s.cell + GAP), &sp_record_row_values(row)[k], i, names[k]);
    }
    if (code == 0) code = save(&s, out, o->force);
    if (code == 0)
        printf("%lld rows, %d picture%s each, %lld by %lld pixels\n", (long long)(end - o->from), n, n == 1 ? "" : "s",
               (long long)s.width, (long long)s.height);
    sp_tensor_release(s.tensor);
    sp_record_row_release(row);
    return code;
}

int record_show(int argc, char **argv)
{
    tool_key key = {0};
    sp_record_secret secret = {0};
    const char *paths[2], *out = NULL, *columns = NULL, *count = NULL, *from = NULL, *size = NULL;
    show_options o = {.count = 48, .from = 0, .size = 96};
    bool helped;
    int n;
    const tool_option options[] = {
        TOOL_FORCE_OPTION(o.force),      TOOL_OUTPUT_OPTIONS(out),      {"--columns", NULL, &columns, NULL},
        {"--count", NULL, &count, NULL}, {"--from", NULL, &from, NULL}, {"--size", NULL, &size, NULL},
        TOOL_KEY_OPTIONS(key),           {NULL, NULL, NULL, NULL}};
    int code = tool_parse_output(argc, argv, options, help, (const int[]){2, 2}, 1, &out, paths, &n, &helped);
    if (code != 0 || helped) return code;
    code = tool_whole(argv[0], "--count", count, 1, INT32_MAX, &o.count);
    if (code == 0) code = tool_whole(argv[0], "--from", from, 0, INT64_MAX - INT32_MAX, &o.from);
    if (code == 0) code = tool_whole(argv[0], "--size", size, 8, 30000, &o.size);
    if (code == 0) code = tool_output_check(argv[0], paths[1], o.force);
    sp_record *r = NULL;
    if (code == 0) code = record_secret(argv[0], paths[0], &key, &secret);
    if (code == 0 && sp_record_open(paths[0], &secret, &r) != SP_OK) code = tool_engine_failed(argv[0]);
    tool_key_clear(&key);
    if (code != 0) return code;
    size_t bytes = columns == NULL ? 0 : strlen(columns) + 1;
    o.columns = bytes == 0 ? NULL : malloc(bytes);
    if (o.columns != NULL) memcpy(o.columns, columns, bytes);
    code = show(r, paths[1], &o);
    free(o.columns);
    sp_record_release(r);
    return code;
}
