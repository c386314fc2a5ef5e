/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - write a MindRecord data set, and read it back in another order. MindSpore reads the file as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spore/record.h"

static void must(sp_status status)
{
    if (status == SP_OK) return;
    fprintf(stderr, "record: %s\n", sp_error_message());
    exit(1);
}

static void write_rows(const char *path)
{
    const sp_record_field fields[] = {
        {.name = "label", .type = SP_RECORD_INT32, .rank = -1},
        {.name = "text", .type = SP_RECORD_STRING, .rank = -1},
        {.name = "vector", .type = SP_RECORD_FLOAT32, .rank = 1, .dims = {-1}}, /* any number of floats */
    };
    const sp_record_plan plan = {.description = "an example", .overwrite = true};
    sp_record_writer *writer;
    must(sp_record_create(path, fields, 3, &plan, &writer));
    for (int i = 0; i < 5; i++) {
        char text[32];
        float vector[5];
        int64_t n = i + 1;
        snprintf(text, sizeof text, "row number %d", i);
        for (int k = 0; k < n; k++) vector[k] = (float)i / 2;
        const sp_record_value row[] = {
            {.type = SP_RECORD_INT32, .rank = -1, .i = i % 2},
            {.type = SP_RECORD_STRING, .rank = -1, .data = text, .bytes = strlen(text)},
            {.type = SP_RECORD_FLOAT32, .rank = 1, .dims = &n, .data = vector, .bytes = (size_t)n * sizeof *vector},
        };
        must(sp_record_write(writer, row));
    }
    must(sp_record_commit(writer)); /* now the file is there */
    sp_record_writer_release(writer);
}

static void read_rows(const char *path)
{
    const char *const columns[] = {"text", "vector"};
    sp_record *record;
    sp_record_row *row;
    must(sp_record_open(path, NULL, &record));
    must(sp_record_row_create(record, columns, 2, &row));
    for (int64_t i = sp_record_count(record) - 1; i >= 0; i--) {
        must(sp_record_read(record, i, row));
        const sp_record_value *v = sp_record_row_values(row);
        printf("%.*s: %lld floats\n", (int)v[0].bytes, (const char *)v[0].data, (long long)v[1].dims[0]);
    }
    sp_record_row_release(row);
    sp_record_release(record);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "example.mindrecord";
    write_rows(path);
    read_rows(path);
    return 0;
}
