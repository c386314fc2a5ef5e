/* SPDX-License-Identifier: Apache-2.0 */
/* record_make.c - `spore record make`: a data set from files of other kinds. Where rows come from is in record_files.c
 * (folders of images, IDX, TFRecord) and record_text.c (CSV, JSON lines). */
#define _POSIX_C_SOURCE 200809L

#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: spore record make OUT SOURCE [LABELS] [--kind KIND] [--shards N] [--index A,B] [--overwrite] ...\n\n"
    "Writes a MindRecord data set. SOURCE is\n"
    "  a folder             of images, in subfolders one for each class: columns image, label, file_name\n"
    "  a .csv file          whose first line names the columns; types are found out\n"
    "  a .jsonl file        of JSON objects, one a line: numbers, strings, lists of numbers, {\"base64\": \"...\"}\n"
    "  a .tfrecord file     of tf.train.Example messages\n"
    "  an IDX file          of images (MNIST), LABELS the file of their labels: columns image (PNG) and label\n\n"
    "  --kind KIND          folder, csv, json, tfrecord or idx, when the name does not tell\n"
    "  --shards N           write N files\n"
    "  --index A,B          columns for the index; default: all numbers and strings\n"
    "  --strings A,B        TFRecord: these features are text, not bytes\n"
    "  --about TEXT         description of the data set\n"
    "  --page-size N        bytes of a page, default 33554432; a row must fit into one\n"
    "  --header-size N      bytes of the header, default 16777216; it grows with the number of pages\n" TOOL_FORCE_HELP
        TOOL_OUTPUT_HELP TOOL_KEY_HELP "\nexamples:\n"
    "  spore record make flowers.mindrecord flowers/ --shards 4\n"
    "  spore record make digits.mindrecord train-images-idx3-ubyte train-labels-idx1-ubyte\n";

typedef struct make_options {
    const char *kind, *shards, *index, *strings, *about, *page, *header;
    bool overwrite;
    tool_key key;
} make_options;

static const char *guess_kind(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return "folder";
    if (tool_ends_in(path, ".csv")) return "csv";
    if (tool_ends_in(path, ".jsonl") || tool_ends_in(path, ".ndjson") || tool_ends_in(path, ".json")) return "json";
    if (tool_ends_in(path, ".tfrecord") || tool_ends_in(path, ".tfrecords") || tool_ends_in(path, ".tfrec"))
        return "tfrecord";
    if (strstr(path, "-ubyte") != NULL || strstr(path, ".idx") != NULL || strstr(path, "-idx") != NULL) return "idx";
    return NULL;
}

static int open_rows(const make_options *o, const char *source, const char *labels, record_rows *out)
{
    struct stat info;
    if (stat(source, &info) != 0) return tool_complain(EXIT_FAILED, "record make: %s: %s", source, strerror(errno));
    const char *kind = o->kind != NULL ? o->kind : guess_kind(source);
    if (kind == NULL)
        return tool_complain(EXIT_USAGE, "record make: what %s is cannot be told by its name; give --kind", source);
    if (o->strings != NULL && strcmp(kind, "tfrecord") != 0)
        return tool_complain(EXIT_USAGE, "record make: --strings is for TFRecord files, it would change nothing in %s",
                             source);
    if (labels != NULL && strcmp(kind, "idx") != 0)
        return tool_complain(EXIT_USAGE, "record make: a second source is for IDX files only, found '%s'", labels);
    if (strcmp(kind, "folder") == 0) return record_rows_folder(source, out);
    if (strcmp(kind, "csv") == 0) return record_rows_csv(source, out);
    if (strcmp(kind, "json") == 0) return record_rows_json(source, out);
    if (strcmp(kind, "idx") == 0) return record_rows_idx(source, labels, out);
    if (strcmp(kind, "tfrecord") != 0)
        return tool_complain(EXIT_USAGE, "record make: --kind is folder, csv, json, tfrecord or idx, found '%s'", kind);
    char *strings[RECORD_FIELDS_MAX];
    char *own = o->strings == NULL ? NULL : strdup(o->strings);
    int n = own == NULL ? 0 : record_names(own, (const char **)strings, RECORD_FIELDS_MAX);
    int code = record_rows_tfrecord(source, strings, n, out);
    free(own);
    return code;
}

/* A complaint about the row that could not be written, with the file it comes from. */
static int row_failed(const record_rows *rows)
{
    char verb[1200], plain[1024];
    if (rows->origin == NULL) return tool_engine_failed("record make");
    snprintf(verb, sizeof verb, "record make: %s", tool_plain(rows->origin, plain, sizeof plain));
    return tool_engine_failed(verb);
}

static int write_rows(record_rows *rows, sp_record_writer *w)
{
    sp_record_value *values = calloc((size_t)rows->n_fields, sizeof *values);
    if (values == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    record_bar bar = {0, rows->total};
    int code = 0, more = 1;
    /* The number of rows is known, so every shard gets its part of them in one piece. */
    if (rows->total > 0) sp_record_writer_batch(w, rows->total);
    while (code == 0 && (more = rows->next(rows, values)) > 0) {
        if (sp_record_write(w, values) != SP_OK) code = row_failed(rows);
        record_bar_step(&bar);
    }
    record_bar_end(&bar);
    free(values);
    return code != 0 ? code : more < 0 ? EXIT_FAILED : 0;
}

static int make(const sp_record_plan *plan, const char *out, record_rows *rows)
{
    sp_record_writer *w = NULL;
    if (sp_record_create(out, rows->fields, rows->n_fields, plan, &w) != SP_OK)
        return tool_engine_failed("record make");
    int code = write_rows(rows, w);
    if (code == 0 && sp_record_commit(w) != SP_OK) code = tool_engine_failed("record make");
    if (code == 0) printf("%lld rows\n", (long long)sp_record_writer_count(w));
    sp_record_writer_release(w);
    return code;
}

static int fill_plan(const make_options *o, sp_record_plan *plan)
{
    long long shards = 1, page = 0, header = 0;
    int code = tool_whole("record make", "--shards", o->shards, 1, RECORD_SHARDS_MAX, &shards);
    if (code == 0) code = tool_whole("record make", "--page-size", o->page, 1, INT64_MAX, &page);
    if (code == 0) code = tool_whole("record make", "--header-size", o->header, 1, INT64_MAX, &header);
    plan->n_shards = (int)shards;
    plan->page_bytes = (uint64_t)page;
    plan->header_bytes = (uint64_t)header;
    plan->overwrite = o->overwrite;
    plan->description = o->about;
    return code;
}

int record_make(int argc, char **argv)
{
    make_options o = {0};
    sp_record_plan plan = {0};
    sp_record_secret secret = {0};
    static const char *index[RECORD_FIELDS_MAX];
    const char *others[3] = {NULL, NULL, NULL}, *out = NULL;
    bool helped;
    int n;
    const tool_option options[] = {{"--kind", NULL, &o.kind, NULL},
                                   {"--shards", NULL, &o.shards, NULL},
                                   {"--index", NULL, &o.index, NULL},
                                   {"--strings", NULL, &o.strings, NULL},
                                   {"--about", NULL, &o.about, NULL},
                                   {"--page-size", NULL, &o.page, NULL},
                                   {"--header-size", NULL, &o.header, NULL},
                                   TOOL_FORCE_OPTION(o.overwrite),
                                   TOOL_OUTPUT_OPTIONS(out),
                                   TOOL_KEY_OPTIONS(o.key),
                                   {NULL, NULL, NULL, NULL}};
    int code = tool_parse_output(argc, argv, options, help, (const int[]){2, 3}, 0, &out, others, &n, &helped);
    if (code != 0 || helped) return code;
    code = fill_plan(&o, &plan);
    if (code == 0 && (o.key.file != NULL || o.key.variable != NULL || o.key.mode != NULL))
        code = record_secret(argv[0], others[0], &o.key, &secret);
    char *own = o.index == NULL ? NULL : strdup(o.index);
    if (own != NULL) plan.n_index = record_names(own, index, RECORD_FIELDS_MAX);
    plan.index = index;
    plan.secret = &secret;
    record_rows rows = {0};
    if (code == 0) code = open_rows(&o, others[1], n > 2 ? others[2] : NULL, &rows);
    if (code == 0) code = make(&plan, others[0], &rows);
    if (rows.close != NULL) rows.close(&rows);
    tool_key_clear(&o.key);
    free(own);
    return code;
}
