/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_index.c - the index of a shard: an SQLite database beside it, for MindSpore's sake.
 *
 *     SHARD_NAME(NAME)    one row: base name of the shard
 *     INDEXES(ROW_ID, PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, ROW_GROUP_ID, PAGE_ID_BLOB, PAGE_OFFSET_BLOB,
 *             PAGE_OFFSET_BLOB_END, and for index field i: INC_i (0), <field>_0 (its value))
 *                         one row for each row; offsets are those of the record's length field and behind the record
 *
 * It says nothing that the shard does not say, so it is always made from the finished shard, in one go: by the writer at
 * its commit and by sp_record_reindex. Reading never needs it. */
#include "data/mindrecord.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/plain.h"

enum { FIXED_COLUMNS = 8, PROBLEMS_MAX = 100 };

static const char *const column_types[] = {"INTEGER", "INTEGER", "REAL", "REAL", "TEXT", "BLOB"};

static bool no_memory(sqlite3 *db)
{
    const int code = db != NULL ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    return code == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM || sp__memory_is_out();
}

static sp_status failed(sqlite3 *db, const char *what)
{
    if (no_memory(db)) return sp__fail(SP_NOMEM, "the index: out of memory");
    return sp__fail(SP_IO, "the index: %s: %s", what, sqlite3_errmsg(db));
}

static sp_status run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? SP_OK : failed(db, sql);
}

/* --- writing -------------------------------------------------------------------------------------------------------------- */

static sp_status append(sp_mindrecord_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static sp_status append(sp_mindrecord_buffer *b, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = sp__vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SP_CHECK(n >= 0 && (size_t)n < sizeof text, SP_VALUE, "a field's name is too long for the index");
    SP_TRY(sp__mindrecord_buffer_reserve(b, (size_t)n + 1));
    memcpy(b->data + b->bytes, text, (size_t)n + 1);
    b->bytes += (size_t)n;
    return SP_OK;
}

static sp_status create_table(sqlite3 *db, const sp_mindrecord_schema *s, sp_mindrecord_buffer *sql)
{
    SP_TRY(append(sql,
                  "CREATE TABLE INDEXES(ROW_ID INT NOT NULL, PAGE_ID_RAW INT NOT NULL, PAGE_OFFSET_RAW INT NOT NULL, "
                  "PAGE_OFFSET_RAW_END INT NOT NULL, ROW_GROUP_ID INT NOT NULL, PAGE_ID_BLOB INT NOT NULL, "
                  "PAGE_OFFSET_BLOB INT NOT NULL, PAGE_OFFSET_BLOB_END INT NOT NULL"));
    for (int i = 0; i < s->n_index; i++) {
        const sp_record_field *f = &s->fields[s->index[i]];
        SP_TRY(append(sql, ", INC_%d INT, \"%s_0\" %s", i, f->name, column_types[f->type]));
    }
    SP_TRY(append(sql, ", PRIMARY KEY(ROW_ID"));
    for (int i = 0; i < s->n_index; i++) SP_TRY(append(sql, ", INC_%d", i));
    SP_TRY(append(sql, "))"));
    return run(db, (const char *)sql->data);
}

static sp_status prepare_insert(sqlite3 *db, const sp_mindrecord_schema *s, sp_mindrecord_buffer *sql,
                                sqlite3_stmt **out)
{
    sql->bytes = 0;
    SP_TRY(append(sql, "INSERT INTO INDEXES VALUES(?1"));
    for (int i = 1; i < FIXED_COLUMNS; i++) SP_TRY(append(sql, ", ?%d", i + 1));
    for (int i = 0; i < s->n_index; i++) SP_TRY(append(sql, ", 0, ?%d", FIXED_COLUMNS + i + 1));
    SP_TRY(append(sql, ")"));
    return sqlite3_prepare_v3(db, (const char *)sql->data, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK
               ? SP_OK
               : failed(db, "rows");
}

static int bind_value(sqlite3_stmt *statement, int at, const sp_record_value *v)
{
    switch (v->type) {
    case SP_RECORD_INT32:
    case SP_RECORD_INT64: return sqlite3_bind_int64(statement, at, v->i);
    case SP_RECORD_FLOAT32:
    case SP_RECORD_FLOAT64: return sqlite3_bind_double(statement, at, v->f);
    default:
        return sqlite3_bind_text64(statement, at, v->bytes > 0 ? v->data : "", v->bytes, SQLITE_STATIC, SQLITE_UTF8);
    }
}

/* The first columns of a row of INDEXES. */
static void fixed_columns(const sp_mindrecord_group *g, uint64_t row, const sp_mindrecord_record_place *p,
                          int64_t out[FIXED_COLUMNS])
{
    int64_t columns[FIXED_COLUMNS] = {(int64_t)row,
                                      (int64_t)g->raw_slot,
                                      (int64_t)p->raw_at,
                                      (int64_t)(p->raw_at + SP_MINDRECORD_LENGTH_BYTES + p->raw_bytes),
                                      g->id,
                                      (int64_t)g->blob_slot,
                                      (int64_t)p->blob_at,
                                      (int64_t)(p->blob_at + SP_MINDRECORD_LENGTH_BYTES + p->blob_bytes)};
    memcpy(out, columns, sizeof columns);
}

static sp_status insert_row(sqlite3 *db, sqlite3_stmt *insert, const sp_mindrecord_shard *shard, int64_t g,
                            uint64_t row, const bool *want, sp_record_value *values)
{
    const sp_mindrecord_schema *s = shard->header->schema;
    sp_mindrecord_record_place place;
    SP_TRY(sp__mindrecord_shard_find(shard, g, row, &place));
    if (s->n_index > 0) SP_TRY(sp__mindrecord_scalars_parse(s, place.raw, place.raw_bytes, want, values));
    int64_t fixed[FIXED_COLUMNS];
    fixed_columns(&shard->header->groups[g], row, &place, fixed);
    int bad = SQLITE_OK;
    for (int i = 0; i < FIXED_COLUMNS; i++) bad |= sqlite3_bind_int64(insert, i + 1, fixed[i]);
    for (int i = 0; i < s->n_index; i++) bad |= bind_value(insert, FIXED_COLUMNS + i + 1, &values[s->index[i]]);
    if (bad != SQLITE_OK || sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
        return failed(db, "a row cannot be inserted");
    return SP_OK;
}

static sp_status insert_rows(sqlite3 *db, sqlite3_stmt *insert, const sp_mindrecord_shard *shard)
{
    const sp_mindrecord_schema *s = shard->header->schema;
    sp_record_value *values = sp__alloc_zero((size_t)s->n_fields * sizeof *values);
    bool *want = sp__alloc_zero((size_t)s->n_fields);
    sp_status status = values == NULL || want == NULL ? SP_NOMEM : SP_OK;
    for (int i = 0; i < s->n_index && status == SP_OK; i++) want[s->index[i]] = true;
    for (int64_t g = 0; g < shard->header->n_groups && status == SP_OK; g++) {
        const sp_mindrecord_group *group = &shard->header->groups[g];
        for (uint64_t row = group->start_row; row < group->end_row && status == SP_OK; row++) {
            status = insert_row(db, insert, shard, g, row, want, values);
            if (status != SP_OK) sp__error_context("row %llu", (unsigned long long)row);
        }
    }
    sp__free(values);
    sp__free(want);
    return status;
}

static sp_status fill(sqlite3 *db, const sp_mindrecord_shard *shard, const char *name, sp_mindrecord_buffer *sql)
{
    /* Nobody sees the file before it is complete, so the journal has nothing to protect. The commit syncs. */
    SP_TRY(run(db, "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536; "
                   "BEGIN; CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)"));
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, "INSERT INTO SHARD_NAME VALUES(?1)", -1, &statement, NULL) != SQLITE_OK)
        return failed(db, "name");
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int step = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (step != SQLITE_DONE) return failed(db, "name");
    SP_TRY(create_table(db, shard->header->schema, sql));
    statement = NULL;
    sp_status status = prepare_insert(db, shard->header->schema, sql, &statement);
    if (status == SP_OK) status = insert_rows(db, statement, shard);
    sqlite3_finalize(statement);
    SP_TRY(status);
    return run(db, "COMMIT");
}

sp_status sp__mindrecord_index_write(const sp_mindrecord_shard *shard, const char *name, const char *db_path)
{
    sqlite3 *db = NULL;
    sp_mindrecord_buffer sql = {NULL, 0, 0};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_NOMUTEX;
    sp__section_begin(); /* a child must not inherit a connection, nor a lock of SQLite's */
    sp_status status = sqlite3_open_v2(db_path, &db, flags, NULL) == SQLITE_OK ? fill(db, shard, name, &sql)
                                                                               : failed(db, "it cannot be made");
    if (sqlite3_close(db) != SQLITE_OK && status == SP_OK) status = failed(db, "it cannot be closed");
    sp__section_end();
    sp__mindrecord_buffer_release(&sql);
    if (status != SP_OK) unlink(db_path);
    return status;
}

/* --- checking --------------------------------------------------------------------------------------------------------------- */

typedef struct checker {
    const sp_mindrecord_shard *shard;
    sp_mindrecord_report report;
    void *context;
    int n_problems;
    bool starved; /* memory ran out: values could not be compared */
} checker;

static void complain(checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(checker *c, const char *format, ...)
{
    char text[600];
    if (c->n_problems++ >= PROBLEMS_MAX) return;
    int n = snprintf(text, sizeof text, "%s.db: ", c->shard->path);
    va_list args;
    va_start(args, format);
    if (n >= 0 && (size_t)n < sizeof text) sp__vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    sp__section_end(); /* what it does may take long, or wait */
    c->report(c->context, text);
    sp__section_begin();
}

static bool same_value(sqlite3_stmt *q, int column, const sp_mindrecord_schema *s, const sp_record_value *v)
{
    int type = sqlite3_column_type(q, column);
    if (v->type == SP_RECORD_INT32 || v->type == SP_RECORD_INT64)
        return type == SQLITE_INTEGER && sqlite3_column_int64(q, column) == v->i;
    if (v->type == SP_RECORD_FLOAT32 || v->type == SP_RECORD_FLOAT64) {
        if (type == SQLITE_NULL) return v->f != v->f; /* SQLite stores no NaN */
        double found = sqlite3_column_double(q, column), off = found - v->f;
        /* Older writers put the number into the statement as text, with about 15 digits. */
        return found == v->f || (off < 0 ? -off : off) <= 1e-9 * (v->f < 0 ? -v->f : v->f);
    }
    const char *text = (const char *)sqlite3_column_text(q, column);
    size_t n = (size_t)sqlite3_column_bytes(q, column);
    bool quoted = strcmp(s->version, "2.0") == 0 && n == v->bytes + 2; /* JSON text in those files */
    if (quoted) return text != NULL && memcmp(text + 1, v->data, v->bytes) == 0;
    return text != NULL && n == v->bytes && (n == 0 || memcmp(text, v->data, n) == 0);
}

static void check_row(checker *c, sqlite3_stmt *q, uint64_t row, sp_record_value *values)
{
    const sp_mindrecord_schema *s = c->shard->header->schema;
    int64_t g = sp__mindrecord_shard_group(c->shard, row);
    sp_mindrecord_record_place place;
    if (sp__mindrecord_shard_find(c->shard, g, row, &place) != SP_OK ||
        sp__mindrecord_scalars_parse(s, place.raw, place.raw_bytes, NULL, values) != SP_OK)
        return; /* told by the check of the pages */
    int64_t wanted[FIXED_COLUMNS];
    fixed_columns(&c->shard->header->groups[g], row, &place, wanted);
    for (int i = 0; i < FIXED_COLUMNS; i++) {
        int64_t found = sqlite3_column_int64(q, i);
        if (found == wanted[i]) continue;
        complain(c, "row %llu: %s is %lld, the pages say %lld", (unsigned long long)row, sqlite3_column_name(q, i),
                 (long long)found, (long long)wanted[i]);
        return;
    }
    for (int i = 0; i < s->n_index; i++)
        if (!same_value(q, FIXED_COLUMNS + i, s, &values[s->index[i]])) {
            c->starved |= no_memory(sqlite3_db_handle(q));
            if (c->starved) return;
            complain(c, "row %llu: the value of '%s' is not the one in the page", (unsigned long long)row,
                     s->fields[s->index[i]].name);
        }
}

static sp_status check_rows(checker *c, sqlite3 *db, sp_mindrecord_buffer *sql)
{
    const sp_mindrecord_schema *s = c->shard->header->schema;
    SP_TRY(append(sql, "SELECT ROW_ID, PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, ROW_GROUP_ID, PAGE_ID_BLOB, "
                       "PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END"));
    for (int i = 0; i < s->n_index; i++) SP_TRY(append(sql, ", \"%s_0\"", s->fields[s->index[i]].name));
    SP_TRY(append(sql, " FROM INDEXES ORDER BY ROW_ID"));
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(db, (const char *)sql->data, -1, &q, NULL) != SQLITE_OK) {
        if (no_memory(db)) return failed(db, "");
        complain(c, "%s", sqlite3_errmsg(db));
        return SP_OK;
    }
    sp_record_value *values = sp__alloc_zero((size_t)s->n_fields * sizeof *values);
    uint64_t row = 0, n_rows = sp__mindrecord_header_rows(c->shard->header);
    int step = SQLITE_ROW;
    for (; values != NULL && (step = sqlite3_step(q)) == SQLITE_ROW; row++)
        if (row < n_rows) check_row(c, q, row, values);
    sqlite3_finalize(q);
    const bool starved = values == NULL;
    sp__free(values);
    if (starved) return SP_NOMEM;
    if (c->starved || (step != SQLITE_DONE && no_memory(db))) return failed(NULL, "");
    if (step != SQLITE_DONE) complain(c, "cannot be read to its end: %s", sqlite3_errmsg(db));
    else if (row != n_rows)
        complain(c, "holds %llu rows, the pages hold %llu", (unsigned long long)row, (unsigned long long)n_rows);
    return SP_OK;
}

static sp_status check_name(checker *c, sqlite3 *db, const char *name)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(db, "SELECT NAME FROM SHARD_NAME", -1, &q, NULL) != SQLITE_OK) {
        if (no_memory(db)) return failed(db, "");
        complain(c, "%s", sqlite3_errmsg(db));
        return SP_OK;
    }
    const char *found = sqlite3_step(q) == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
    const bool starved = found == NULL && no_memory(db);
    if (!starved && (found == NULL || strcmp(found, name) != 0))
        complain(c, "belongs to a file named '%s'; MindSpore will not read '%s' with it", found != NULL ? found : "",
                 name);
    sqlite3_finalize(q);
    return starved ? failed(NULL, "") : SP_OK;
}

/* From memory, since the plain contents of an encrypted index are nowhere else. SQLite wants memory of its own. */
static sp_status open_copy(const sp_mindrecord_source *source, sqlite3 **db)
{
    SP_CHECK(sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK, SP_NOMEM,
             "out of memory");
    /* Somebody else's file: its views and triggers may not call anything that reaches outside. */
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    uint8_t *copy = sqlite3_malloc64(source->bytes + 1);
    SP_CHECK(copy != NULL, SP_NOMEM, "out of memory");
    memcpy(copy, source->data, source->bytes);
    int bad = sqlite3_deserialize(*db, "main", copy, (sqlite3_int64)source->bytes, (sqlite3_int64)source->bytes,
                                  SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    return bad == SQLITE_OK ? SP_OK : failed(*db, "it cannot be opened");
}

sp_status sp__mindrecord_index_check(const sp_mindrecord_shard *shard, const char *name, const char *db_path,
                                     const sp_record_secret *secret, sp_mindrecord_report report, void *context)
{
    checker c = {shard, report, context, 0, false};
    sp_mindrecord_source source;
    sp_status status = sp__mindrecord_source_open(db_path, secret, &source);
    if (status == SP_NOMEM) return status;
    sp__section_begin();
    if (status != SP_OK) {
        complain(&c, "%s", sp_error_message());
        sp__section_end();
        return SP_OK;
    }
    sqlite3 *db = NULL;
    sp_mindrecord_buffer sql = {NULL, 0, 0};
    status = source.bytes == 0 ? SP_OK : open_copy(&source, &db);
    if (source.bytes == 0) complain(&c, "is empty");
    else if (status == SP_OK) {
        status = check_name(&c, db, name);
        if (status == SP_OK) status = check_rows(&c, db, &sql);
    }
    sqlite3_close(db);
    sp__section_end();
    sp__mindrecord_buffer_release(&sql);
    sp__mindrecord_source_close(&source);
    return status;
}
