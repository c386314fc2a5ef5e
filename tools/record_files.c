/* SPDX-License-Identifier: Apache-2.0 */
/* record_files.c - rows for `spore record make` from folders of images, IDX files and TFRecord files. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L

#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "spore/tfrecord.h"
#include "spore/transform.h"

static int no_memory(void) { return tool_complain(EXIT_FAILED, "out of memory"); }

/* A whole file; free it. NULL after a complaint. */
static unsigned char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0 && (data = malloc((size_t)size + 1)) != NULL) {
        rewind(file);
        if (fread(data, 1, (size_t)size, file) != (size_t)size) {
            free(data);
            data = NULL;
        }
    }
    if (data == NULL) tool_complain(EXIT_FAILED, "record make: %s cannot be read: %s", path, strerror(errno));
    if (file != NULL) fclose(file);
    *bytes = size < 0 ? 0 : (size_t)size;
    return data;
}

/* --- folders of images ---------------------------------------------------------------------------------------------------- */

typedef struct picture {
    char *path; /* below the folder */
    int label;
} picture;

typedef struct folder {
    char *root;
    picture *pictures;
    size_t n, room, at;
    unsigned char *data; /* of the present one */
    sp_record_field fields[3];
} folder;

static void folder_close(record_rows *rows)
{
    folder *f = rows->state;
    for (size_t i = 0; i < f->n; i++) free(f->pictures[i].path);
    free(f->pictures);
    free(f->data);
    free(f->root);
    free(f);
}

static bool is_picture(const char *name)
{
    static const char *const ends[] = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(dot, ends[i]) == 0) return true;
    return false;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static int add_picture(folder *f, const char *below, const char *name, int label)
{
    if (f->n == f->room) {
        size_t room = f->room * 2 + 64;
        picture *more = realloc(f->pictures, room * sizeof *more);
        if (more == NULL) return no_memory();
        f->pictures = more;
        f->room = room;
    }
    size_t bytes = strlen(below) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path == NULL) return no_memory();
    snprintf(path, bytes, "%s%s%s", below, below[0] != '\0' ? "/" : "", name);
    f->pictures[f->n++] = (picture){path, label};
    return 0;
}

/* Pictures of one folder, in the order of their names; with classes also those of its subfolders, one a class. */
static int scan(folder *f, const char *below, int label, int *n_classes)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", f->root, below) >= (int)sizeof path)
        return tool_complain(EXIT_FAILED, "record make: a path in %s is too long", f->root);
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, by_name);
    if (n < 0)
        return tool_complain(EXIT_FAILED, "record make: the folder %s cannot be read: %s", path, strerror(errno));
    int code = 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        struct stat info;
        char inside[4096 + 300];
        snprintf(inside, sizeof inside, "%s/%s", path, name);
        bool folder_inside = name[0] != '.' && stat(inside, &info) == 0 && S_ISDIR(info.st_mode);
        if (code == 0 && folder_inside && n_classes != NULL) {
            size_t before = f->n;
            code = scan(f, name, *n_classes, NULL);
            if (f->n > before) (*n_classes)++;
        } else if (code == 0 && name[0] != '.' && !folder_inside && is_picture(name)) {
            code = add_picture(f, below, name, label);
        }
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int folder_next(record_rows *rows, sp_record_value *values)
{
    folder *f = rows->state;
    if (f->at == f->n) return 0;
    const picture *p = &f->pictures[f->at++];
    char path[8192];
    size_t bytes;
    snprintf(path, sizeof path, "%s/%s", f->root, p->path);
    free(f->data);
    f->data = read_file(path, &bytes);
    if (f->data == NULL) return -1;
    rows->origin = p->path;
    values[0] = (sp_record_value){.type = SP_RECORD_STRING, .rank = -1, .data = p->path, .bytes = strlen(p->path)};
    values[1] = (sp_record_value){.type = SP_RECORD_BYTES, .rank = -1, .data = f->data, .bytes = bytes};
    if (rows->n_fields > 2) values[2] = (sp_record_value){.type = SP_RECORD_INT32, .rank = -1, .i = p->label};
    return 1;
}

int record_rows_folder(const char *path, record_rows *out)
{
    folder *f = calloc(1, sizeof *f);
    if (f == NULL || (f->root = strdup(path)) == NULL) {
        free(f);
        return no_memory();
    }
    *out = (record_rows){.state = f, .next = folder_next, .close = folder_close, .fields = f->fields};
    f->fields[0] = (sp_record_field){.name = "file_name", .type = SP_RECORD_STRING, .rank = -1};
    f->fields[1] = (sp_record_field){.name = "image", .type = SP_RECORD_BYTES, .rank = -1};
    f->fields[2] = (sp_record_field){.name = "label", .type = SP_RECORD_INT32, .rank = -1};
    int n_classes = 0;
    int code = scan(f, "", 0, &n_classes);
    if (code == 0 && f->n == 0)
        code = tool_complain(EXIT_FAILED,
                             "record make: %s holds no images (.jpg, .jpeg, .png, .bmp, .gif, .webp, .tif)", path);
    out->n_fields = n_classes > 0 ? 3 : 2; /* no classes, no label */
    out->total = (int64_t)f->n;
    return code;
}

/* --- IDX ------------------------------------------------------------------------------------------------------------------- */

typedef struct idx {
    unsigned char *data, *labels;
    size_t at;
    int64_t dims[3]; /* of an item: height, width, 1 */
    const unsigned char *items, *label_items;
    sp_tensor *png; /* of the present item */
    sp_record_field fields[2];
} idx;

static void idx_close(record_rows *rows)
{
    idx *x = rows->state;
    free(x->data);
    free(x->labels);
    sp_tensor_release(x->png);
    free(x);
}

static size_t big32(const unsigned char *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

/* A file of bytes: its dimensions and where its elements are. NULL after a complaint. */
static unsigned char *idx_read(const char *path, int rank, size_t *dims, const unsigned char **items)
{
    size_t bytes;
    unsigned char *data = read_file(path, &bytes);
    if (data == NULL) return NULL;
    size_t header = 4 + 4 * (size_t)rank, total = 1;
    bool fine = bytes >= header && data[0] == 0 && data[1] == 0 && data[2] == 8 && data[3] == rank;
    for (int i = 0; fine && i < rank; i++) {
        dims[i] = big32(data + 4 + 4 * i);
        fine = dims[i] == 0 || total <= SIZE_MAX / dims[i];
        total *= dims[i];
    }
    if (fine && total == bytes - header) {
        *items = data + header;
        return data;
    }
    if (bytes >= 2 && data[0] == 0x1F && data[1] == 0x8B)
        tool_complain(EXIT_FAILED, "record make: %s is packed by gzip; unpack it first (gunzip)", path);
    else if (!fine)
        tool_complain(EXIT_FAILED, "record make: %s is not an IDX file of bytes with %d dimensions", path, rank);
    else
        tool_complain(EXIT_FAILED, "record make: %s names %zu elements and holds %zu bytes", path, total,
                      bytes - header);
    free(data);
    return NULL;
}

static int idx_next(record_rows *rows, sp_record_value *values)
{
    idx *x = rows->state;
    if ((int64_t)x->at == rows->total) return 0;
    sp_tensor *image = NULL;
    const unsigned char *pixels = x->items + x->at * (size_t)(x->dims[0] * x->dims[1]);
    sp_tensor_release(x->png);
    x->png = NULL;
    sp_status status = sp_tensor_create_from(SP_DTYPE_U8, 3, x->dims, pixels, &image);
    if (status == SP_OK) status = sp_image_encode_png(image, 6, &x->png);
    sp_tensor_release(image);
    if (status != SP_OK) {
        tool_engine_failed("record make");
        return -1;
    }
    values[0] = (sp_record_value){
        .type = SP_RECORD_BYTES, .rank = -1, .data = sp_tensor_data(x->png), .bytes = sp_tensor_bytes(x->png)};
    if (x->labels != NULL)
        values[1] = (sp_record_value){.type = SP_RECORD_INT32, .rank = -1, .i = x->label_items[x->at]};
    x->at++;
    return 1;
}

int record_rows_idx(const char *path, const char *labels, record_rows *out)
{
    idx *x = calloc(1, sizeof *x);
    if (x == NULL) return no_memory();
    *out = (record_rows){.state = x, .next = idx_next, .close = idx_close, .fields = x->fields, .n_fields = 1};
    size_t dims[3], n_labels;
    x->data = idx_read(path, 3, dims, &x->items);
    if (x->data == NULL) return EXIT_FAILED;
    x->dims[0] = (int64_t)dims[1];
    x->dims[1] = (int64_t)dims[2];
    x->dims[2] = 1;
    out->total = (int64_t)dims[0];
    x->fields[0] = (sp_record_field){.name = "image", .type = SP_RECORD_BYTES, .rank = -1};
    x->fields[1] = (sp_record_field){.name = "label", .type = SP_RECORD_INT32, .rank = -1};
    if (labels == NULL) return 0;
    x->labels = idx_read(labels, 1, &n_labels, &x->label_items);
    if (x->labels == NULL) return EXIT_FAILED;
    if (n_labels != dims[0])
        return tool_complain(EXIT_FAILED, "record make: %s holds %zu labels, %s holds %zu images", labels, n_labels,
                             path, dims[0]);
    out->n_fields = 2;
    return 0;
}

/* --- TFRecord -------------------------------------------------------------------------------------------------------------- */

typedef struct tfrows {
    char *path;
    sp_tfrecord *file;
    sp_example *example;
    sp_record_field *fields;
    char **features; /* their names in the file; fields have names that a schema may have */
    int64_t *dims;
    int n;
    int64_t row;
} tfrows;

static void tf_close(record_rows *rows)
{
    tfrows *t = rows->state;
    for (int i = 0; i < t->n; i++) {
        free(t->features[i]);
        free((void *)(uintptr_t)t->fields[i].name);
    }
    free(t->features);
    free(t->fields);
    free(t->dims);
    free(t->path);
    sp_tfrecord_release(t->file);
    sp_example_release(t->example);
    free(t);
}

/* feature NULL: it is about the whole row. */
static int tf_failed(const tfrows *t, const char *feature, const char *what)
{
    if (feature == NULL)
        return tool_complain(EXIT_FAILED, "record make: %s: row %lld: %s", t->path, (long long)t->row, what);
    return tool_complain(EXIT_FAILED, "record make: %s: row %lld, feature '%s': %s", t->path, (long long)t->row,
                         feature, what);
}

/* 1, 0 at the end, -1 after a complaint. */
static int tf_step(tfrows *t)
{
    const void *data = NULL;
    size_t bytes = 0;
    if (sp_tfrecord_next(t->file, &data, &bytes) != SP_OK) {
        tool_engine_failed("record make");
        return -1;
    }
    if (data == NULL) return 0;
    if (sp_example_parse(t->example, data, bytes) == SP_OK) return 1;
    tf_failed(t, NULL, sp_error_message());
    return -1;
}

static char *schema_name(const sp_feature *f)
{
    char *name = malloc(f->name_bytes + 1);
    for (size_t i = 0; name != NULL && i < f->name_bytes; i++) {
        char c = f->name[i];
        bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        name[i] = fine ? c : '_';
    }
    if (name != NULL) name[f->name_bytes] = '\0';
    return name;
}

static int tf_add_field(tfrows *t, const sp_feature *f, char **strings, int n_strings)
{
    int i = t->n;
    t->features[i] = malloc(f->name_bytes + 1);
    char *name = schema_name(f);
    if (t->features[i] == NULL || name == NULL) {
        free(t->features[i]);
        free(name);
        return no_memory();
    }
    memcpy(t->features[i], f->name, f->name_bytes);
    t->features[i][f->name_bytes] = '\0';
    bool text = false;
    for (int k = 0; k < n_strings; k++) text = text || strcmp(strings[k], t->features[i]) == 0;
    sp_record_type type = f->kind == SP_FEATURE_INT64   ? SP_RECORD_INT64
                          : f->kind == SP_FEATURE_FLOAT ? SP_RECORD_FLOAT32
                          : text                        ? SP_RECORD_STRING
                                                        : SP_RECORD_BYTES;
    t->fields[i] = (sp_record_field){.name = name, .type = type, .rank = -1};
    t->n++;
    return 0;
}

/* One value everywhere: a number; else an array, of a fixed size when it is always the same. */
static void tf_learn_count(sp_record_field *field, const sp_feature *f, bool first)
{
    if (field->type == SP_RECORD_BYTES || field->type == SP_RECORD_STRING) return;
    int64_t n = (int64_t)f->count;
    int64_t known = field->rank < 0 ? 1 : field->dims[0];
    if (first ? n == 1 : n == known) return;
    field->rank = 1;
    field->dims[0] = first && n > 0 ? n : -1;
}

static int tf_learn(tfrows *t, char **strings, int n_strings, int64_t *total)
{
    int step = tf_step(t);
    if (step == 0) return tool_complain(EXIT_FAILED, "record make: %s holds no records", t->path);
    if (step < 0) return EXIT_FAILED;
    int n = sp_example_count(t->example);
    t->features = calloc((size_t)n + 1, sizeof *t->features);
    t->fields = calloc((size_t)n + 1, sizeof *t->fields);
    t->dims = calloc((size_t)n + 1, sizeof *t->dims);
    if (t->features == NULL || t->fields == NULL || t->dims == NULL) return no_memory();
    if (n > RECORD_FIELDS_MAX) return tf_failed(t, NULL, "too many features");
    for (int i = 0; i < n; i++) {
        int code = tf_add_field(t, sp_example_at(t->example, i), strings, n_strings);
        if (code != 0) return code;
    }
    for (; step > 0; step = tf_step(t), t->row++)
        for (int i = 0; i < t->n; i++) {
            const sp_feature *f = sp_example_find(t->example, t->features[i]);
            if (f == NULL) return tf_failed(t, t->features[i], "is missing; row 0 has it");
            tf_learn_count(&t->fields[i], f, t->row == 0);
        }
    *total = t->row;
    t->row = 0;
    return step < 0 ? EXIT_FAILED : 0;
}

static int tf_next(record_rows *rows, sp_record_value *values)
{
    tfrows *t = rows->state;
    int step = tf_step(t);
    for (int i = 0; step > 0 && i < t->n; i++) {
        const sp_feature *f = sp_example_find(t->example, t->features[i]);
        sp_record_value *v = &values[i];
        *v = (sp_record_value){.type = t->fields[i].type, .rank = t->fields[i].rank};
        bool text = v->type == SP_RECORD_BYTES || v->type == SP_RECORD_STRING;
        sp_feature_kind wanted = text                         ? SP_FEATURE_BYTES
                                 : v->type == SP_RECORD_INT64 ? SP_FEATURE_INT64
                                                              : SP_FEATURE_FLOAT;
        if (f->kind != wanted && f->count > 0) {
            tf_failed(t, t->features[i], "is of another kind than in row 0");
            return -1;
        }
        if (text && f->count != 1) {
            tf_failed(t, t->features[i], "holds no or several texts; one is possible");
            return -1;
        }
        t->dims[i] = (int64_t)f->count;
        v->dims = &t->dims[i];
        v->data = text ? f->texts[0] : v->type == SP_RECORD_INT64 ? (const void *)f->ints : (const void *)f->floats;
        v->bytes = text ? f->text_bytes[0] : f->count * (v->type == SP_RECORD_INT64 ? 8 : 4);
        if (!text && v->rank < 0 && v->type == SP_RECORD_INT64) v->i = f->ints[0];
        if (!text && v->rank < 0 && v->type == SP_RECORD_FLOAT32) v->f = (double)f->floats[0];
    }
    t->row++;
    return step;
}

int record_rows_tfrecord(const char *path, char **strings, int n_strings, record_rows *out)
{
    tfrows *t = calloc(1, sizeof *t);
    if (t == NULL || (t->path = strdup(path)) == NULL) {
        free(t);
        return no_memory();
    }
    *out = (record_rows){.state = t, .next = tf_next, .close = tf_close};
    if (sp_tfrecord_open(path, &t->file) != SP_OK || sp_example_create(&t->example) != SP_OK)
        return tool_engine_failed("record make");
    int code = tf_learn(t, strings, n_strings, &out->total);
    if (code != 0) return code;
    sp_tfrecord_release(t->file); /* once more from the front */
    t->file = NULL;
    if (sp_tfrecord_open(path, &t->file) != SP_OK) return tool_engine_failed("record make");
    out->fields = t->fields;
    out->n_fields = t->n;
    return 0;
}
