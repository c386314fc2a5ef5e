/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_record.c - any bytes as a MindRecord file: refused with a message, or every row is read or refused with one, and what
 * was read is written and read back to the same values.
 *
 * With clang: clang -fsanitize=fuzzer,address,undefined ... fuzz/fuzz_record.c. Without: tests/data/test_fuzz_record.c
 * runs it over the sample files and mutations of them; FUZZ_MAIN gives a program that runs the files named as
 * arguments. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/mindrecord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_record: %s (%s)\n", what, sp_error_message());
    abort();
}

/* Bit for bit: a NaN is itself. */
static void compare(const sp_mindrecord_schema *s, const sp_record_value *a, const sp_record_value *b)
{
    for (int i = 0; i < s->n_fields; i++) {
        must(a[i].type == b[i].type && a[i].rank == b[i].rank, "other type");
        must(a[i].bytes == b[i].bytes, "other size");
        must(a[i].bytes == 0 || memcmp(a[i].data, b[i].data, a[i].bytes) == 0, "other bytes");
        if (sp__mindrecord_is_blob(&s->fields[i])) continue;
        must(a[i].i == b[i].i && memcmp(&a[i].f, &b[i].f, sizeof a[i].f) == 0, "other number");
    }
}

typedef struct row {
    sp_record_value *values;
    int64_t *dims;
    sp_mindrecord_buffer scratch;
} row;

static row row_create(const sp_mindrecord_schema *s)
{
    size_t n = (size_t)s->n_fields;
    return (row){calloc(n, sizeof(sp_record_value)), calloc(n * SP_RANK_MAX, sizeof(int64_t)), {NULL, 0, 0}};
}

static void row_release(row *r)
{
    free(r->values);
    free(r->dims);
    sp__mindrecord_buffer_release(&r->scratch);
}

static sp_status row_parse(const sp_mindrecord_schema *s, const uint8_t *raw, size_t raw_bytes, const uint8_t *blob,
                           size_t blob_bytes, row *out)
{
    SP_TRY(sp__mindrecord_scalars_parse(s, raw, raw_bytes, NULL, out->values));
    return sp__mindrecord_blobs_parse(s, blob, blob_bytes, NULL, out->values, out->dims, &out->scratch);
}

static void round_trip(const sp_mindrecord_schema *s, const row *first, row *second, sp_mindrecord_buffer *raw,
                       sp_mindrecord_buffer *blob)
{
    int64_t saved = 0;
    raw->bytes = blob->bytes = 0;
    must(sp__mindrecord_scalars_print(s, first->values, raw) == SP_OK, "scalars cannot be written");
    must(sp__mindrecord_blobs_print(s, first->values, blob, &saved) == SP_OK, "blobs cannot be written");
    must(row_parse(s, raw->data, raw->bytes, blob->data, blob->bytes, second) == SP_OK, "what was written is refused");
    compare(s, first->values, second->values);
}

static void read_rows(const sp_mindrecord_shard *shard)
{
    const sp_mindrecord_schema *s = shard->header->schema;
    row first = row_create(s), second = row_create(s);
    sp_mindrecord_buffer raw = {NULL, 0, 0}, blob = {NULL, 0, 0};
    for (int64_t g = 0; g < shard->header->n_groups; g++) {
        const sp_mindrecord_group *group = &shard->header->groups[g];
        for (uint64_t i = group->start_row; i < group->end_row; i++) {
            sp_mindrecord_record_place p;
            must(sp__mindrecord_shard_group(shard, i) == g, "a row is looked for in another group");
            if (sp__mindrecord_shard_find(shard, g, i, &p) != SP_OK) break;
            if (row_parse(s, p.raw, p.raw_bytes, p.blob, p.blob_bytes, &first) == SP_OK)
                round_trip(s, &first, &second, &raw, &blob);
            else must(sp_error_message()[0] != '\0', "refused without a message");
        }
    }
    sp__mindrecord_buffer_release(&raw);
    sp__mindrecord_buffer_release(&blob);
    row_release(&first);
    row_release(&second);
}

/* A header that was accepted prints to one that says the same. */
static void print_header(const sp_mindrecord_header *h, size_t bytes)
{
    char *text = NULL;
    size_t n = 0;
    must(sp__mindrecord_header_print(h, &text, &n) == SP_OK, "the header cannot be written");
    /* Pages are checked against the size of the file, so it has to have that. */
    size_t room = bytes > n + 8 ? bytes : n + 8;
    uint8_t *file = calloc(1, room);
    sp__mindrecord_put64(file, n);
    memcpy(file + 8, text, n);
    sp_mindrecord_header *again = NULL;
    must(sp__mindrecord_header_parse(file, room, &again) == SP_OK, "the header that was written is refused");
    must(again->n_groups == h->n_groups && again->n_raw == h->n_raw, "other pages");
    must(h->n_groups == 0 || memcmp(again->groups, h->groups, (size_t)h->n_groups * sizeof *h->groups) == 0,
         "other groups");
    must(sp__mindrecord_schema_compare(h->schema, again->schema) == SP_OK, "other schema");
    sp__mindrecord_header_release(again);
    sp__free(text);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    sp_mindrecord_shard shard;
    sp_status status = sp__mindrecord_shard_parse("fuzz", data, bytes, &shard);
    if (status != SP_OK) {
        must(sp_error_message()[0] != '\0', "refused without a message");
        return 0;
    }
    read_rows(&shard);
    print_header(shard.header, bytes);
    sp__mindrecord_shard_close(&shard);
    return 0;
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        must(f != NULL, argv[i]);
        static uint8_t buffer[1 << 24];
        size_t n = fread(buffer, 1, sizeof buffer, f);
        fclose(f);
        LLVMFuzzerTestOneInput(buffer, n);
    }
    return 0;
}
#endif
