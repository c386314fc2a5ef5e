/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - what the files behind `spore record` share. */
#ifndef SPORE_TOOLS_RECORD_H
#define SPORE_TOOLS_RECORD_H

#include "spore/record.h"
#include "tools.h"

int record_cat(int argc, char **argv);
int record_make(int argc, char **argv);
int record_show(int argc, char **argv);

/* Key for a file: given on the command line, or SPORE_KEY when the file is encrypted. */
int record_secret(const char *verb, const char *path, tool_key *key, sp_record_secret *out);

/* A bar on standard error while rows are written, when that is a terminal. */
typedef struct record_bar {
    int64_t done, total; /* total 0: not known */
} record_bar;
void record_bar_step(record_bar *bar);
void record_bar_end(record_bar *bar);

/* "a,b,c" cut in place; the number of names, at most room. */
int record_names(char *text, const char **out, int room);

/* --- where `spore record make` takes its rows from ------------------------------------------------------------------ */

enum { RECORD_FIELDS_MAX = 1024, RECORD_SHARDS_MAX = 100000 };

/* Rows to be. next() fills values, in the order of fields, valid until it is called again: 1, or 0 at the end, or -1 after
 * a complaint. */
typedef struct record_rows {
    int n_fields;
    sp_record_field *fields;
    int64_t total;
    const char *origin; /* the file that the present row comes from; NULL: the source as a whole */
    void *state;
    int (*next)(struct record_rows *rows, sp_record_value *values);
    void (*close)(struct record_rows *rows);
} record_rows;

/* 0 or an exit code after a complaint. Everything that can be known about the fields is found out here. */
int record_rows_folder(const char *path, record_rows *out);
int record_rows_csv(const char *path, record_rows *out);
int record_rows_json(const char *path, record_rows *out);
int record_rows_tfrecord(const char *path, char **strings, int n_strings, record_rows *out);
int record_rows_idx(const char *path, const char *labels, record_rows *out);

#endif
