/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_care.c - looking after data sets on disk: check them, make their index anew, encrypt and decrypt them. */
#include "data/mindrecord.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plain.h"
#include "data/codecs/codec.h"

/* --- check ------------------------------------------------------------------------------------------------------------------ */

enum { PROBLEMS_MAX = 100 };

typedef struct checker {
    void (*report)(void *context, const char *text);
    void *context;
    int64_t n_problems;
    int n_told; /* in the present file */
} checker;

static void pass_on(void *context, const char *text)
{
    checker *c = context;
    c->n_problems++;
    if (c->n_told++ < PROBLEMS_MAX && c->report != NULL) c->report(c->context, text);
}

static void complain(checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(checker *c, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    sp__vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pass_on(c, text);
}

/* What the values of a bytes column are: pictures, or something else without a form that could be checked. */
typedef struct picture_column {
    int64_t n_good, n_other;
    uint64_t other; /* the first row that is none */
} picture_column;

static void check_picture(checker *c, const sp_mindrecord_shard *shard, uint64_t row, const sp_record_field *f,
                          const sp_record_value *v, picture_column *column)
{
    if (sp__codec_check(v->data, v->bytes) == SP_OK) {
        column->n_good++;
    } else if (sp__codec_marked(v->data, v->bytes)) {
        column->n_good++; /* was one */
        complain(c, "%s: row %llu: column '%s': %s", shard->path, (unsigned long long)row, f->name, sp_error_message());
    } else if (column->n_other++ == 0) {
        column->other = row;
    }
}

/* A few values that are no pictures among many that are have lost their beginning. */
static void check_column(checker *c, const sp_mindrecord_shard *shard, const sp_record_field *f,
                         const picture_column *column)
{
    if (column->n_other > 0 && column->n_good > column->n_other)
        complain(c, "%s: column '%s' holds pictures, but in %lld row%s (the first is %llu) it does not", shard->path,
                 f->name, (long long)column->n_other, column->n_other == 1 ? "" : "s",
                 (unsigned long long)column->other);
}

static void check_row(checker *c, const sp_mindrecord_shard *shard, uint64_t row,
                      const sp_mindrecord_record_place *place, sp_record_value *values, int64_t *dims,
                      sp_mindrecord_buffer *scratch, picture_column *pictures)
{
    const sp_mindrecord_schema *s = shard->header->schema;
    if (sp__mindrecord_scalars_parse(s, place->raw, place->raw_bytes, NULL, values) != SP_OK ||
        sp__mindrecord_blobs_parse(s, place->blob, place->blob_bytes, NULL, values, dims, scratch) != SP_OK) {
        complain(c, "%s: row %llu: %s", shard->path, (unsigned long long)row, sp_error_message());
        return;
    }
    for (int i = 0; i < s->n_fields; i++) {
        const sp_record_field *f = &s->fields[i];
        if (f->type == SP_RECORD_BYTES && f->rank < 0) check_picture(c, shard, row, f, &values[i], &pictures[i]);
        if (f->type == SP_RECORD_INT32 && f->rank < 0 && (values[i].i < INT32_MIN || values[i].i > INT32_MAX))
            complain(c, "%s: row %llu: column '%s': %lld does not fit int32", shard->path, (unsigned long long)row,
                     f->name, (long long)values[i].i);
    }
}

/* The records of a group must fill what its page says is used. */
static void check_group_end(checker *c, const sp_mindrecord_shard *shard, const sp_mindrecord_group *g,
                            const sp_mindrecord_record_place *last)
{
    uint64_t end = last->blob_at + SP_MINDRECORD_LENGTH_BYTES + last->blob_bytes;
    if (end != g->blob_used)
        complain(c, "%s: page %llu: its records end at byte %llu, it uses %llu", shard->path,
                 (unsigned long long)g->blob_slot, (unsigned long long)end, (unsigned long long)g->blob_used);
}

static sp_status check_pages(checker *c, const sp_mindrecord_shard *shard)
{
    const sp_mindrecord_schema *s = shard->header->schema;
    sp_record_value *values = sp__alloc_zero((size_t)s->n_fields * sizeof *values);
    int64_t *dims = sp__alloc_zero((size_t)s->n_fields * SP_RANK_MAX * sizeof *dims);
    picture_column *pictures = sp__alloc_zero((size_t)s->n_fields * sizeof *pictures);
    sp_mindrecord_buffer scratch = {NULL, 0, 0};
    bool have = values != NULL && dims != NULL && pictures != NULL;
    for (int64_t g = 0; have && g < shard->header->n_groups; g++) {
        const sp_mindrecord_group *group = &shard->header->groups[g];
        sp_mindrecord_record_place place = {0};
        uint64_t row = group->start_row;
        for (; row < group->end_row; row++) {
            if (sp__mindrecord_shard_find(shard, g, row, &place) != SP_OK) {
                complain(c, "%s", sp_error_message());
                break; /* what follows in this group cannot be found */
            }
            check_row(c, shard, row, &place, values, dims, &scratch, pictures);
        }
        if (row == group->end_row && row > group->start_row) check_group_end(c, shard, group, &place);
    }
    for (int i = 0; have && i < s->n_fields; i++) check_column(c, shard, &s->fields[i], &pictures[i]);
    sp__free(values);
    sp__free(dims);
    sp__free(pictures);
    sp__mindrecord_buffer_release(&scratch);
    return have ? SP_OK : SP_NOMEM;
}

static sp_status check_shard(checker *c, const char *path, const sp_record_secret *secret,
                             const sp_mindrecord_header *first, int number)
{
    sp_mindrecord_shard shard;
    sp_record_secret plain = secret != NULL ? *secret : (sp_record_secret){0};
    plain.hash = NULL; /* a wrong digest is one problem; there may be more to tell */
    c->n_told = 0;
    sp_status status = sp__mindrecord_shard_open(path, &plain, &shard);
    if (status == SP_NOMEM) return status;
    if (status != SP_OK) {
        complain(c, "%s", sp_error_message());
        return SP_OK;
    }
    bool wants_digest = secret != NULL && secret->hash != NULL;
    if ((shard.source.digest != NULL || wants_digest) &&
        sp__mindrecord_source_verify(&shard.source, wants_digest ? secret->hash : NULL) != SP_OK)
        complain(c, "%s: %s", path, sp_error_message());
    if (sp__mindrecord_schema_compare(first->schema, shard.header->schema) != SP_OK)
        complain(c, "%s: %s", path, sp_error_message());
    const char *name = sp__mindrecord_base_name(path);
    size_t length = strlen(name), end = strlen(".partial");
    if (length > end && strcmp(name + length - end, ".partial") == 0)
        complain(c, "%s: left by a writer that died; `spore record recover` completes it", path);
    else if (strcmp(name, shard.header->shard_names[shard.header->shard]) != 0)
        complain(c, "%s: the header calls it '%s'; MindSpore does not read renamed files", path,
                 shard.header->shard_names[shard.header->shard]);
    else if (shard.header->shard != number)
        complain(c, "%s: the header says shard %d, it is number %d", path, shard.header->shard, number);
    status = check_pages(c, &shard);
    char *db = sp__mindrecord_path(path, ".db");
    if (db == NULL) status = SP_NOMEM;
    if (status == SP_OK) status = sp__mindrecord_index_check(&shard, name, db, &plain, pass_on, c);
    sp__free(db);
    sp__mindrecord_shard_close(&shard);
    return status;
}

sp_status sp_record_check(const char *path, const sp_record_secret *secret,
                          void (*report)(void *context, const char *text), void *context, int64_t *out)
{
    checker c = {report, context, 0, 0};
    char **paths = NULL;
    int n = 0;
    sp_record_secret quick = secret != NULL ? *secret : (sp_record_secret){0};
    quick.hash = NULL;
    sp_mindrecord_shard first;
    SP_TRY(sp__mindrecord_paths(path, &quick, &paths, &n));
    sp_status status = sp__mindrecord_shard_open(path, &quick, &first);
    if (status == SP_OK) {
        for (int i = 0; i < n && status == SP_OK; i++) status = check_shard(&c, paths[i], secret, first.header, i);
        sp__mindrecord_shard_close(&first);
    }
    sp__mindrecord_paths_release(paths, n);
    if (status == SP_OK) *out = c.n_problems;
    return status;
}

/* --- index ------------------------------------------------------------------------------------------------------------------ */

static sp_status reindex_shard(const char *path)
{
    sp_mindrecord_shard shard;
    SP_TRY(sp__mindrecord_shard_open(path, NULL, &shard));
    char *fresh = sp__mindrecord_path(path, ".partial.db"), *db = sp__mindrecord_path(path, ".db");
    sp_status status = fresh == NULL || db == NULL ? SP_NOMEM : SP_OK;
    if (status == SP_OK && shard.source.digest != NULL)
        status =
            sp__fail(SP_VALUE, "%s: ends in a digest, its index needs one too; take the protection off first", path);
    if (status == SP_OK) {
        unlink(fresh);
        status = sp__mindrecord_index_write(&shard, sp__mindrecord_base_name(path), fresh);
        if (status != SP_OK) sp__error_context("%s", path);
    }
    if (status == SP_OK) {
        sp_mindrecord_source made;
        status = sp__mindrecord_source_open(fresh, NULL, &made);
        if (status == SP_OK) {
            status = sp__mindrecord_source_save(db, made.data, made.bytes, NULL);
            sp__mindrecord_source_close(&made);
        }
        unlink(fresh);
    }
    sp__free(fresh);
    sp__free(db);
    sp__mindrecord_shard_close(&shard);
    return status;
}

sp_status sp_record_reindex(const char *path)
{
    char **paths = NULL;
    int n = 0;
    SP_TRY(sp__mindrecord_paths(path, NULL, &paths, &n));
    sp_status status = SP_OK;
    for (int i = 0; i < n && status == SP_OK; i++) status = reindex_shard(paths[i]);
    sp__mindrecord_paths_release(paths, n);
    return status;
}

/* --- protection ---------------------------------------------------------------------------------------------------------------- */

/* Read with one secret, write with the other: the shard, then its index. */
static sp_status rewrap(const char *path, const sp_record_secret *from, const sp_record_secret *to)
{
    for (int is_index = 0; is_index < 2; is_index++) {
        char *name = sp__mindrecord_path(path, is_index ? ".db" : "");
        if (name == NULL) return SP_NOMEM;
        sp_mindrecord_source source;
        sp_status status = sp__mindrecord_source_open(name, from, &source);
        if (status == SP_OK) {
            status = sp__mindrecord_source_save(name, source.data, source.bytes, to);
            sp__mindrecord_source_close(&source);
        }
        if (status != SP_OK) sp__error_context("%s", name);
        sp__free(name);
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status rewrap_all(const char *path, const sp_record_secret *from, const sp_record_secret *to)
{
    char **paths = NULL;
    int n = 0;
    SP_TRY(sp__mindrecord_paths(path, from, &paths, &n));
    sp_status status = SP_OK;
    for (int i = 0; i < n && status == SP_OK; i++) status = rewrap(paths[i], from, to);
    sp__mindrecord_paths_release(paths, n);
    return status;
}

sp_status sp_record_protect(const char *path, const sp_record_secret *secret)
{
    SP_CHECK(secret != NULL && (secret->key != NULL || secret->hash != NULL), SP_VALUE,
             "neither key nor hash is given");
    return rewrap_all(path, NULL, secret);
}

sp_status sp_record_unprotect(const char *path, const sp_record_secret *secret)
{
    return rewrap_all(path, secret, NULL);
}
