/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_sources.c - where rows come from: arrays in memory, MindRecord files, lists of files, parts of files. */
#include "base/plain.h"
#include "data/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cipher.h"
#include "base/file.h"
#include "base/lock.h"

/* --- what rows depend on ------------------------------------------------------------------------------------------------ */

typedef void note_fn(void *to, const void *data, size_t bytes);

static void note_path(const char *path, bool now, note_fn *note, void *to)
{
    sp_stamp stamp;
    note(to, path, strlen(path) + 1);
    if (!now || sp__stamp_read(path, &stamp) != SP_OK) return; /* one that is not there will say so when it is read */
    const int64_t numbers[3] = {(int64_t)stamp.inode, stamp.bytes, stamp.written_ns};
    note(to, numbers, sizeof numbers);
}

static sp_status note_tensor(const sp_tensor *t, bool now, note_fn *note, void *to)
{
    uint8_t digest[SP_DIGEST_MAX];
    size_t n = 0;
    const int64_t kind[2] = {t->dtype, t->rank};
    note(to, kind, sizeof kind);
    note(to, t->dims, (size_t)t->rank * sizeof *t->dims);
    if (!now) return SP_OK;
    SP_TRY(sp__digest("sha256", t->data, sp_tensor_bytes(t), digest, &n));
    note(to, digest, n);
    return SP_OK;
}

/* --- arrays ------------------------------------------------------------------------------------------------------------ */

typedef struct arrays {
    int n;
    sp_tensor **list; /* contiguous */
} arrays;

static void arrays_clear(arrays *a)
{
    for (int i = 0; i < a->n && a->list; i++) sp_tensor_release(a->list[i]);
    sp__free(a->list);
}

static void arrays_release(void *context)
{
    arrays_clear(context);
    sp__free(context);
}

static sp_status arrays_init(arrays *a, int n, sp_tensor *const *list, const char *const *columns, int64_t *count)
{
    a->list = sp__alloc_zero((size_t)(n + 1) * sizeof *a->list);
    if (!a->list) return SP_NOMEM;
    for (; a->n < n; a->n++) {
        const sp_tensor *t = list[a->n];
        SP_CHECK(t, SP_VALUE, "the array of column '%s' is NULL", columns[a->n]);
        SP_CHECK(t->rank >= 1, SP_VALUE, "column '%s' is a single value; rows are the elements of its first dimension",
                 columns[a->n]);
        if (*count < 0) *count = t->dims[0];
        SP_CHECK(t->dims[0] == *count, SP_VALUE, "column '%s' has %lld rows, but there are %lld", columns[a->n],
                 (long long)t->dims[0], (long long)*count);
        SP_TRY(sp_tensor_contiguous(list[a->n], &a->list[a->n]));
    }
    return SP_OK;
}

/* Element id of every array. Small ones are copied: a view would keep as much memory busy as it saves. */
static sp_status arrays_read(const arrays *a, int64_t id, sp_tensor **out)
{
    for (int i = 0; i < a->n; i++) {
        const sp_tensor *t = a->list[i];
        const int64_t each = t->dims[0] ? t->count / t->dims[0] : 0;
        const size_t bytes = (size_t)each * sp_dtype_bytes((sp_dtype)t->dtype);
        if (bytes <= 256)
            SP_TRY(sp_tensor_create_from((sp_dtype)t->dtype, t->rank - 1, t->dims + 1, t->data + (size_t)id * bytes,
                                         &out[i]));
        else SP_TRY(sp_tensor_view(t, t->rank - 1, t->dims + 1, t->strides + 1, id * each, &out[i]));
    }
    return SP_OK;
}

static sp_status arrays_identify(void *context, bool now, note_fn *note, void *to)
{
    const arrays *a = context;
    for (int i = 0; i < a->n; i++) SP_TRY(note_tensor(a->list[i], now, note, to));
    return SP_OK;
}

static sp_status arrays_run(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out,
                            sp_tensor **out)
{
    (void)n_in;
    (void)in;
    (void)n_out;
    return arrays_read(context, call->id, out);
}

sp_status sp_dataset_from_arrays(int n_columns, sp_tensor *const *list, const char *const *columns,
                                 const sp_order *order, sp_dataset **out)
{
    arrays *a = sp__alloc_zero(sizeof *a);
    int64_t count = -1;
    const sp_status status = a ? arrays_init(a, n_columns, list, columns, &count) : SP_NOMEM;
    if (status != SP_OK) {
        if (a) arrays_release(a);
        if (order && order->release) order->release(order->context);
        return status;
    }
    const sp_row_function read = {.name = "arrays",
                                  .run = arrays_run,
                                  .release = arrays_release,
                                  .context = a,
                                  .cheap = true,
                                  .identify = arrays_identify};
    return sp_dataset_from_function(&read, count < 0 ? 0 : count, n_columns, columns, order, out);
}

/* --- files ------------------------------------------------------------------------------------------------------------- */

typedef struct files {
    int64_t n; /* paths */
    char **paths;
    int each; /* a row */
    arrays more;
} files;

static void paths_release(int64_t n, char **paths)
{
    for (int64_t i = 0; i < n && paths; i++) sp__free(paths[i]);
    sp__free(paths);
}

static sp_status paths_copy(int64_t n, const char *const *paths, char ***out)
{
    char **own = sp__alloc_zero((size_t)(n + 1) * sizeof *own);
    if (!own) return SP_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        if ((own[i] = sp__strdup(paths[i]))) continue;
        paths_release(n, own);
        return SP_NOMEM;
    }
    *out = own;
    return SP_OK;
}

static void files_release(void *context)
{
    files *f = context;
    paths_release(f->n, f->paths);
    arrays_clear(&f->more);
    sp__free(f);
}

/* Exactly `bytes` bytes from `begin` on, unless the file is shorter now than it said it was. */
static sp_status read_part(int fd, char *to, int64_t begin, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t n = pread(fd, to + done, (size_t)(bytes - done), (off_t)(begin + done));
        if (n < 0 && errno == EINTR) continue;
        SP_CHECK(n >= 0, SP_RUNTIME, "it cannot be read: %s", sp__strerror(errno));
        SP_CHECK(n > 0, SP_RUNTIME, "it ends after %lld of %lld bytes", (long long)(begin + done),
                 (long long)(begin + bytes));
        done += n;
    }
    return SP_OK;
}

/* Bytes of a file; bytes -1: all of it. Read, not mapped: they are few, and taking mappings down disturbs all threads. */
static sp_status read_file(const char *path, int64_t begin, int64_t bytes, sp_tensor **out)
{
    struct stat info;
    sp_tensor *t = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    sp_status status = fd >= 0 ? SP_OK : sp__fail(SP_RUNTIME, "it cannot be opened: %s", sp__strerror(errno));
    if (status == SP_OK && bytes < 0) {
        if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) status = sp__fail(SP_RUNTIME, "it is no regular file");
        else bytes = (int64_t)info.st_size;
    }
    if (status == SP_OK) status = sp_tensor_create(SP_DTYPE_U8, 1, &bytes, &t);
    if (status == SP_OK) status = read_part(fd, t->data, begin, bytes);
    if (fd >= 0) close(fd);
    if (status == SP_OK) *out = t;
    else {
        sp_tensor_release(t);
        sp__error_context("%s", path);
    }
    return status;
}

static void files_origin(void *context, int64_t id, char *text, size_t room)
{
    const files *f = context;
    snprintf(text, room, "%s", f->paths[id * f->each]);
}

static sp_status files_identify(void *context, bool now, note_fn *note, void *to)
{
    files *f = context;
    for (int64_t i = 0; i < f->n; i++) note_path(f->paths[i], now, note, to);
    return arrays_identify(&f->more, now, note, to);
}

static sp_status files_run(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const files *f = context;
    (void)n_in;
    (void)in;
    (void)n_out;
    for (int i = 0; i < f->each; i++) SP_TRY(read_file(f->paths[call->id * f->each + i], 0, -1, &out[i]));
    return arrays_read(&f->more, call->id, out + f->each);
}

sp_status sp_dataset_from_files(int64_t n_rows, int n_files, const char *const *paths, int n_columns,
                                sp_tensor *const *list, const char *const *columns, const sp_order *order,
                                sp_dataset **out)
{
    files *f = sp__alloc_zero(sizeof *f);
    sp_status status = f ? SP_OK : SP_NOMEM;
    int64_t count = n_rows;
    if (f) {
        f->each = n_files;
        f->n = n_rows * n_files;
        status = paths_copy(f->n, paths, &f->paths);
        if (status == SP_OK) status = arrays_init(&f->more, n_columns - n_files, list, columns + n_files, &count);
    }
    if (status != SP_OK) {
        if (f) files_release(f);
        if (order && order->release) order->release(order->context);
        return status;
    }
    const sp_row_function read = {.name = "files",
                                  .run = files_run,
                                  .release = files_release,
                                  .origin = files_origin,
                                  .context = f,
                                  .identify = files_identify};
    return sp_dataset_from_function(&read, n_rows, n_columns, columns, order, out);
}

/* --- parts of files ----------------------------------------------------------------------------------------------------- */

typedef struct parts {
    int64_t n;
    char **paths;
    sp_tensor *at[3]; /* file, begin, length */
    bool text;
} parts;

static void parts_release(void *context)
{
    parts *p = context;
    paths_release(p->n, p->paths);
    for (int i = 0; i < 3; i++) sp_tensor_release(p->at[i]);
    sp__free(p);
}

/* UTF-8 into characters; what is no UTF-8 becomes U+FFFD, one for a byte. */
static sp_status text_tensor(const uint8_t *s, size_t bytes, sp_tensor **out)
{
    int64_t n = 0;
    const int64_t room = (int64_t)bytes;
    sp_tensor *t = NULL;
    SP_TRY(sp_tensor_create(SP_DTYPE_STR, 1, &room, &t));
    uint32_t *to = (uint32_t *)t->data;
    for (size_t i = 0; i < bytes;) {
        const uint8_t c = s[i];
        const int more = c < 0x80                ? 0
                         : c >= 0xC2 && c < 0xE0 ? 1
                         : c >= 0xE0 && c < 0xF0 ? 2
                         : c >= 0xF0 && c < 0xF5 ? 3
                                                 : -1;
        uint32_t x = more <= 0 ? c : c & (0x3Fu >> more);
        bool good = more >= 0 && i + (size_t)more < bytes;
        for (int k = 1; k <= more && good; k++) {
            good = (s[i + (size_t)k] & 0xC0) == 0x80;
            x = x << 6 | (s[i + (size_t)k] & 0x3Fu);
        }
        to[n++] = good ? x : 0xFFFD;
        i += good ? (size_t)more + 1 : 1;
    }
    const sp_status status = sp_tensor_view(t, 1, &n, t->strides, 0, out);
    sp_tensor_release(t);
    return status;
}

static void parts_origin(void *context, int64_t id, char *text, size_t room)
{
    const parts *p = context;
    const int64_t file = ((const int64_t *)p->at[0]->data)[id];
    snprintf(text, room, "%s%cbyte %lld", file >= 0 && file < p->n ? p->paths[file] : "?", SP_ORIGIN_PLACE,
             (long long)((const int64_t *)p->at[1]->data)[id]);
}

static sp_status parts_identify(void *context, bool now, note_fn *note, void *to)
{
    const parts *p = context;
    for (int64_t i = 0; i < p->n; i++) note_path(p->paths[i], now, note, to);
    for (int i = 0; i < 3; i++) SP_TRY(note_tensor(p->at[i], now, note, to));
    note(to, &p->text, sizeof p->text);
    return SP_OK;
}

static sp_status parts_run(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const parts *p = context;
    int64_t at[3];
    sp_tensor *bytes = NULL;
    (void)n_in;
    (void)in;
    (void)n_out;
    for (int i = 0; i < 3; i++) at[i] = ((const int64_t *)p->at[i]->data)[call->id];
    SP_CHECK(at[0] >= 0 && at[0] < p->n && at[1] >= 0 && at[2] >= 0, SP_VALUE, "row %lld is nowhere",
             (long long)call->id);
    SP_TRY(read_file(p->paths[at[0]], at[1], at[2], &bytes));
    if (!p->text) {
        out[0] = bytes;
        return SP_OK;
    }
    const sp_status status = text_tensor((const uint8_t *)bytes->data, (size_t)at[2], &out[0]);
    sp_tensor_release(bytes);
    return status;
}

sp_status sp_dataset_from_parts(int64_t n_paths, const char *const *paths, sp_tensor *file, sp_tensor *begin,
                                sp_tensor *length, bool text, const char *column, const sp_order *order,
                                sp_dataset **out)
{
    sp_tensor *at[3] = {file, begin, length};
    parts *p = sp__alloc_zero(sizeof *p);
    sp_status status = p ? paths_copy(n_paths, paths, &p->paths) : SP_NOMEM;
    if (p) p->n = p->paths ? n_paths : 0;
    for (int i = 0; i < 3 && status == SP_OK; i++) {
        if (!at[i] || at[i]->dtype != SP_DTYPE_I64 || at[i]->rank != 1 || at[i]->count != at[0]->count)
            status = sp__fail(SP_VALUE, "parts of files are three vectors of int64 of one length");
        else status = sp_tensor_contiguous(at[i], &p->at[i]);
    }
    if (status != SP_OK) {
        if (p) parts_release(p);
        if (order && order->release) order->release(order->context);
        return status;
    }
    p->text = text;
    const sp_row_function read = {.name = "files",
                                  .run = parts_run,
                                  .release = parts_release,
                                  .origin = parts_origin,
                                  .context = p,
                                  .identify = parts_identify};
    return sp_dataset_from_function(&read, file->count, 1, &column, order, out);
}

/* --- MindRecord ------------------------------------------------------------------------------------------------------- */

enum { ROWS_KEPT = 16 };

/* Rooms for rows are kept for whoever reads next. */
typedef struct record {
    sp_record *record;
    int n_shards;
    int n_columns;
    char **columns;
    sp_lock lock;
    int n_rows;
    sp_record_row *rows[ROWS_KEPT];
} record;

static void record_release(void *context)
{
    record *r = context;
    for (int i = 0; i < r->n_rows; i++) sp_record_row_release(r->rows[i]);
    for (int i = 0; i < r->n_columns && r->columns; i++) sp__free(r->columns[i]);
    sp__free(r->columns);
    sp__lock_destroy(&r->lock);
    sp_record_release(r->record);
    sp__free(r);
}

/* Bytes are one element, a vector of length 1, as MindSpore has them; zero bytes at the end are kept. */
static sp_status bytes_tensor(const uint8_t *s, size_t bytes, sp_tensor **out)
{
    const int64_t dims[2] = {1, bytes ? (int64_t)bytes : 1};
    SP_TRY(sp_tensor_create(SP_DTYPE_STR, 2, dims, out));
    uint32_t *to = (uint32_t *)(void *)(*out)->data;
    to[0] = SP_BYTE_CHARACTER;
    for (size_t i = 0; i < bytes; i++) to[i] = SP_BYTE_CHARACTER | s[i];
    return SP_OK;
}

static sp_status value_tensor(const sp_record_value *v, sp_tensor **out)
{
    if (v->rank >= 0) return sp_tensor_create_from(sp_record_type_dtype(v->type), v->rank, v->dims, v->data, out);
    switch (v->type) {
    case SP_RECORD_STRING: return text_tensor(v->data, v->bytes, out);
    case SP_RECORD_BYTES: return bytes_tensor(v->data, v->bytes, out);
    case SP_RECORD_FLOAT32:
    case SP_RECORD_FLOAT64: return sp_tensor_create_f64(sp_record_type_dtype(v->type), v->f, out);
    default: return sp_tensor_create_i64(sp_record_type_dtype(v->type), v->i, out);
    }
}

static sp_status record_run(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out,
                            sp_tensor **out)
{
    record *r = context;
    sp_record_row *row = NULL;
    sp_status status = SP_OK;
    (void)n_in;
    (void)in;
    sp__lock(&r->lock);
    if (r->n_rows) row = r->rows[--r->n_rows];
    sp__unlock(&r->lock);
    if (!row) SP_TRY(sp_record_row_create(r->record, (const char *const *)r->columns, r->n_columns, &row));
    status = sp_record_read(r->record, call->id, row);
    for (int i = 0; i < n_out && status == SP_OK; i++) status = value_tensor(&sp_record_row_values(row)[i], &out[i]);
    sp__lock(&r->lock);
    if (r->n_rows < ROWS_KEPT) {
        r->rows[r->n_rows++] = row;
        row = NULL;
    }
    sp__unlock(&r->lock);
    sp_record_row_release(row);
    return status;
}

static void record_origin(void *context, int64_t id, char *text, size_t room)
{
    const record *r = context;
    for (int i = 0; i < r->n_shards; i++) {
        const int64_t n = sp_record_shard_count(r->record, i);
        if (id < n) {
            snprintf(text, room, "%s%crow %lld", sp_record_shard_path(r->record, i), SP_ORIGIN_PLACE, (long long)id);
            return;
        }
        id -= n;
    }
}

static sp_status record_identify(void *context, bool now, note_fn *note, void *to)
{
    const record *r = context;
    for (int i = 0; i < r->n_shards; i++) note_path(sp_record_shard_path(r->record, i), now, note, to);
    return SP_OK;
}

static sp_status record_columns(record *r, const char *const *columns, int n_columns)
{
    r->n_columns = columns ? n_columns : sp_record_field_count(r->record);
    r->columns = sp__alloc_zero((size_t)(r->n_columns + 1) * sizeof *r->columns);
    if (!r->columns) return SP_NOMEM;
    for (int i = 0; i < r->n_columns; i++) {
        const char *name = columns ? columns[i] : sp_record_field_at(r->record, i)->name;
        SP_CHECK(sp_record_field_find(r->record, name) >= 0, SP_RUNTIME,
                 "Invalid data, column name: %s can not found in schema of %s. Please check the 'column_list'.", name,
                 sp_record_shard_path(r->record, 0));
        if (!(r->columns[i] = sp__strdup(name))) return SP_NOMEM;
    }
    return SP_OK;
}

sp_status sp_dataset_from_record(sp_record *opened, const char *const *columns, int n_columns, const sp_order *order,
                                 sp_dataset **out)
{
    record *r = opened ? sp__alloc_zero(sizeof *r) : NULL;
    sp_status status = opened ? SP_NOMEM : sp__fail(SP_VALUE, "the record is NULL");
    if (r) {
        sp__lock_init(&r->lock);
        r->record = sp_record_retain(opened);
        sp_record_info info;
        sp_record_describe(opened, &info);
        r->n_shards = info.n_shards;
        status = record_columns(r, columns, n_columns);
    }
    if (status != SP_OK) {
        if (r) record_release(r);
        if (order && order->release) order->release(order->context);
        return status;
    }
    const sp_row_function read = {.name = "MindRecord",
                                  .run = record_run,
                                  .release = record_release,
                                  .origin = record_origin,
                                  .context = r,
                                  .identify = record_identify};
    status = sp_dataset_from_function(&read, sp_record_count(opened), r->n_columns, (const char *const *)r->columns,
                                      order, out);
    if (status == SP_OK) (*out)->mixer = SP_MIX_MINSTD;
    return status;
}
