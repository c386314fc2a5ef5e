/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_writer.c - rows in, shard files out: checks each row, cuts it in records, deals rows out to shards.
 *
 * Each batch is cut into consecutive parts, one for each shard, as MindSpore does; rows that are left over go to the
 * shards in turn (there: by chance), so files depend on the rows and calls alone. Of separate shards each batch fills one. */
#include "base/handle.h"
#include "data/mindrecord_partial.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct sp_record_writer {
    int n_shards, n_open;
    sp_mindrecord_partial *shards;
    bool overwrite, separate;
    bool done;   /* committed, or a commit failed half-way: nothing more may be written */
    bool broken; /* writing failed, a disk is full perhaps: pages and notes may disagree */
    int n_fields;
    sp_record_field *order;  /* fields in the caller's order; names belong to the schema of shard 0 */
    int *place;              /* caller's order -> schema */
    sp_record_value *sorted; /* values of a row in the order of the schema */
    sp_mindrecord_buffer raw, blob;
    int64_t n_rows;
    int shard, turn;   /* where rows go now; who gets the next spare row, or the next batch if shards are separate */
    int64_t part_left; /* rows for this shard, in the present batch */
    int64_t batch_rows, batch_left;
    sp_record_secret secret;
    uint8_t key[64];
    char mode[16], hash[16];
};

static const sp_mindrecord_schema *schema_of(const sp_record_writer *w) { return w->shards[0].header->schema; }

/* --- beginning ------------------------------------------------------------------------------------------------------------- */

void sp_record_writer_release(sp_record_writer *w)
{
    if (w == NULL) return;
    for (int i = 0; i < w->n_open; i++) sp__mindrecord_partial_close(&w->shards[i], true);
    sp__free(w->shards);
    sp__free(w->order);
    sp__free(w->place);
    sp__free(w->sorted);
    sp__mindrecord_buffer_release(&w->raw);
    sp__mindrecord_buffer_release(&w->blob);
    memset(w, 0, sizeof *w); /* there may be a key in it */
    sp__free(w);
}

static sp_status copy_secret(sp_record_writer *w, const sp_record_secret *s)
{
    if (s == NULL) return SP_OK;
    SP_CHECK(s->key_bytes <= sizeof w->key, SP_VALUE, "the key has %zu bytes; 16, 24 or 32 are wanted", s->key_bytes);
    SP_CHECK(s->mode == NULL || strlen(s->mode) < sizeof w->mode, SP_VALUE, "the encryption mode '%s' is not known",
             s->mode);
    SP_CHECK(s->hash == NULL || strlen(s->hash) < sizeof w->hash, SP_VALUE, "the hash '%s' is not known", s->hash);
    if (s->key != NULL) {
        memcpy(w->key, s->key, s->key_bytes);
        w->secret.key = w->key;
        w->secret.key_bytes = s->key_bytes;
    }
    if (s->mode != NULL) w->secret.mode = strcpy(w->mode, s->mode);
    if (s->hash != NULL) w->secret.hash = strcpy(w->hash, s->hash);
    return SP_OK;
}

static sp_status writer_create(int n_shards, const sp_record_secret *secret, sp_record_writer **out)
{
    sp_record_writer *w = sp__alloc_zero(sizeof *w);
    if (w == NULL) return SP_NOMEM;
    w->n_shards = n_shards;
    w->shards = sp__alloc_zero((size_t)n_shards * sizeof *w->shards);
    sp_status status = w->shards == NULL ? SP_NOMEM : copy_secret(w, secret);
    if (status != SP_OK) {
        sp_record_writer_release(w);
        return status;
    }
    *out = w;
    return SP_OK;
}

/* Remember the caller's order of the fields; NULL: that of the schema. */
static sp_status set_order(sp_record_writer *w, const sp_record_field *fields)
{
    const sp_mindrecord_schema *s = schema_of(w);
    size_t n = (size_t)s->n_fields;
    w->n_fields = s->n_fields;
    w->order = sp__alloc(n * sizeof *w->order);
    w->place = sp__alloc(n * sizeof *w->place);
    w->sorted = sp__alloc_zero(n * sizeof *w->sorted);
    if (w->order == NULL || w->place == NULL || w->sorted == NULL) return SP_NOMEM;
    for (int i = 0; i < w->n_fields; i++) {
        w->place[i] = fields == NULL ? i : sp__mindrecord_schema_find(s, fields[i].name);
        w->order[i] = s->fields[w->place[i]];
    }
    return SP_OK;
}

static sp_status check_size(const char *what, uint64_t bytes, uint64_t least, uint64_t most)
{
    SP_CHECK(bytes >= least && bytes <= most, SP_VALUE, "the %s size is %llu, %llu to %llu bytes are possible", what,
             (unsigned long long)bytes, (unsigned long long)least, (unsigned long long)most);
    SP_CHECK(bytes % 4 == 0, SP_VALUE, "the %s size is %llu, a multiple of 4 is wanted", what,
             (unsigned long long)bytes);
    return SP_OK;
}

static sp_status check_plan(const char *path, const sp_record_plan *plan)
{
    SP_CHECK(path != NULL && path[0] != '\0', SP_VALUE, "the file name is empty");
    SP_CHECK(sp__mindrecord_base_name(path)[0] != '\0', SP_VALUE, "%s: is a folder, a file name is wanted", path);
    SP_CHECK(plan->n_shards >= 0 && plan->n_shards <= SP_MINDRECORD_SHARDS_MAX, SP_VALUE,
             "%d shards; 1 to %d are possible", plan->n_shards, SP_MINDRECORD_SHARDS_MAX);
    if (plan->header_bytes != 0)
        SP_TRY(check_size("header", plan->header_bytes, SP_MINDRECORD_HEADER_MIN, SP_MINDRECORD_HEADER_MAX));
    if (plan->page_bytes != 0)
        SP_TRY(check_size("page", plan->page_bytes, SP_MINDRECORD_PAGE_MIN, SP_MINDRECORD_PAGE_MAX));
    return SP_OK;
}

static void shard_suffix(int shard, int n_shards, char *out, size_t room)
{
    int width = 1;
    for (int most = n_shards - 1; most >= 10; most /= 10) width++;
    if (n_shards == 1) out[0] = '\0';
    else snprintf(out, room, "%0*d", width, shard);
}

static sp_status name_shards(sp_mindrecord_header *h, const char *path, int shard, int n_shards, bool separate)
{
    char suffix[16];
    h->shard = separate ? 0 : shard;
    h->shard_names = sp__alloc_zero((size_t)n_shards * sizeof *h->shard_names);
    if (h->shard_names == NULL) return SP_NOMEM;
    h->n_shards = separate ? 1 : n_shards;
    for (int i = 0; i < h->n_shards; i++) {
        shard_suffix(separate ? shard : i, n_shards, suffix, sizeof suffix);
        h->shard_names[i] = sp__mindrecord_path(sp__mindrecord_base_name(path), suffix);
        if (h->shard_names[i] == NULL) return SP_NOMEM;
    }
    return SP_OK;
}

static sp_status make_header(const char *path, int shard, int n_shards, const sp_record_field *fields, int n_fields,
                             const sp_record_plan *plan, sp_mindrecord_header **out)
{
    sp_mindrecord_header *h = sp__alloc_zero(sizeof *h);
    if (h == NULL) return SP_NOMEM;
    h->header_bytes = plan->header_bytes != 0 ? plan->header_bytes : SP_MINDRECORD_HEADER_DEFAULT;
    h->page_bytes = plan->page_bytes != 0 ? plan->page_bytes : SP_MINDRECORD_PAGE_DEFAULT;
    sp_status status = sp__mindrecord_schema_create(fields, n_fields, plan->description, "3.0", &h->schema);
    if (status == SP_OK)
        status = sp__mindrecord_schema_set_index(h->schema, plan->n_index > 0 ? plan->index : NULL, plan->n_index);
    if (status == SP_OK) status = name_shards(h, path, shard, n_shards, plan->separate);
    if (status != SP_OK) {
        sp__mindrecord_header_release(h);
        return status;
    }
    *out = h;
    return SP_OK;
}

static sp_status refuse_existing(const char *path, const char *advice)
{
    char *db = sp__mindrecord_path(path, ".db");
    if (db == NULL) return SP_NOMEM;
    bool data_there = access(path, F_OK) == 0, db_there = access(db, F_OK) == 0;
    sp__free(db);
    SP_CHECK(!data_there && !db_there, SP_VALUE, "%s%s: exists already; %s", path, data_there ? "" : ".db", advice);
    return SP_OK;
}

static sp_status open_new_shard(sp_record_writer *w, const char *path, int i, const sp_record_field *fields,
                                int n_fields, const sp_record_plan *plan)
{
    char suffix[16];
    shard_suffix(i, w->n_shards, suffix, sizeof suffix);
    char *name = sp__mindrecord_path(path, suffix);
    if (name == NULL) return SP_NOMEM;
    sp_mindrecord_header *h = NULL;
    sp_status status =
        plan->overwrite
            ? SP_OK
            : refuse_existing(name,
                              "choose another name, or allow overwriting (overwrite=True, --overwrite of the command)");
    if (status == SP_OK) status = make_header(path, i, w->n_shards, fields, n_fields, plan, &h);
    if (status == SP_OK) status = sp__mindrecord_partial_create(name, h, plan->overwrite, &w->shards[i]);
    if (status == SP_OK) w->n_open++;
    sp__free(name);
    return status;
}

sp_status sp_record_create(const char *path, const sp_record_field *fields, int n_fields, const sp_record_plan *plan,
                           sp_record_writer **out)
{
    static const sp_record_plan nothing;
    if (plan == NULL) plan = &nothing;
    SP_TRY(check_plan(path, plan));
    sp_record_writer *w = NULL;
    SP_TRY(writer_create(plan->n_shards == 0 ? 1 : plan->n_shards, plan->secret, &w));
    w->overwrite = plan->overwrite;
    w->separate = plan->separate;
    sp_status status = SP_OK;
    for (int i = 0; i < w->n_shards && status == SP_OK; i++)
        status = open_new_shard(w, path, i, fields, n_fields, plan);
    if (status == SP_OK) status = set_order(w, fields);
    if (status != SP_OK) {
        sp_record_writer_release(w);
        return status;
    }
    *out = w;
    return SP_OK;
}

sp_status sp_record_append(const char *path, const sp_record_secret *secret, sp_record_writer **out)
{
    sp_record *old = NULL;
    sp_record_writer *w = NULL;
    sp_record_info info;
    SP_TRY(sp_record_open(path, secret, &old));
    sp_record_describe(old, &info);
    sp_status status = writer_create(info.n_shards, secret, &w);
    for (int i = 0; status == SP_OK && i < info.n_shards; i++) {
        status = sp__mindrecord_partial_copy(sp__mindrecord_record_shard(old, i), &w->shards[i]);
        if (status == SP_OK) w->n_open++;
    }
    sp_record_release(old);
    if (status == SP_OK) {
        w->overwrite = true;
        status = set_order(w, NULL);
    }
    if (status != SP_OK) {
        sp_record_writer_release(w);
        return status;
    }
    *out = w;
    return SP_OK;
}

int sp_record_writer_field_count(const sp_record_writer *w) { return w ? w->n_fields : 0; }
const sp_record_field *sp_record_writer_field_at(const sp_record_writer *w, int i)
{
    return w && i >= 0 && i < w->n_fields ? &w->order[i] : NULL;
}
int64_t sp_record_writer_count(const sp_record_writer *w) { return w ? w->n_rows : 0; }

/* --- checks ---------------------------------------------------------------------------------------------------------------- */

static bool is_utf8(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint8_t c = p[i++];
        if (c < 0x80) continue;
        int more = c >= 0xF0 && c <= 0xF4 ? 3 : c >= 0xE0 && c <= 0xEF ? 2 : c >= 0xC2 && c <= 0xDF ? 1 : 0;
        if (more == 0 || n - i < (size_t)more) return false;
        uint8_t d = p[i];
        /* Too long a form, a surrogate, or beyond the last character. */
        if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) || (c == 0xF0 && d < 0x90) || (c == 0xF4 && d > 0x8F))
            return false;
        for (; more > 0; more--, i++)
            if ((p[i] & 0xC0) != 0x80) return false;
    }
    return true;
}

static bool shape_fits(const sp_record_field *f, const sp_record_value *v)
{
    size_t n = v->bytes / sp_dtype_bytes(sp_record_type_dtype(f->type)), known = 1;
    bool any = false;
    for (int i = 0; i < f->rank; i++) {
        if (f->dims[i] == -1) any = true;
        else if (__builtin_mul_overflow(known, f->dims[i], &known)) return false;
    }
    return any ? n % known == 0 : n == known;
}

static sp_status check_value(const sp_record_field *f, const sp_record_value *v)
{
    char declared[64], found[64];
    sp__mindrecord_type_text(f->type, f->rank, f->dims, declared);
    SP_CHECK(v->type == f->type && (v->rank >= 0) == (f->rank >= 0), SP_TYPE, "found %s, declared is %s",
             sp__mindrecord_type_text(v->type, v->rank, v->dims, found), declared);
    if (f->rank >= 0)
        SP_CHECK(shape_fits(f, v), SP_VALUE, "found %s, declared is %s: it cannot be reshaped to that",
                 sp__mindrecord_type_text(v->type, v->rank, v->dims, found), declared);
    else if (f->type == SP_RECORD_INT32)
        SP_CHECK(v->i >= INT32_MIN && v->i <= INT32_MAX, SP_VALUE,
                 "found %lld, declared is int32, which cannot hold it", (long long)v->i);
    else if (f->type == SP_RECORD_STRING)
        SP_CHECK(is_utf8(v->data, v->bytes), SP_VALUE, "found text that is not UTF-8, declared is string");
    return SP_OK;
}

/* Equal types are the rule: everything else is looked at by check_value, which prepares messages. */
static bool surely_fits(const sp_record_field *f, const sp_record_value *v)
{
    if (v->type != f->type || f->rank >= 0 || v->rank >= 0) return false;
    return f->type != SP_RECORD_STRING && (f->type != SP_RECORD_INT32 || (v->i >= INT32_MIN && v->i <= INT32_MAX));
}

sp_status sp_record_writer_check(const sp_record_writer *w, const sp_record_value *values, int64_t row)
{
    SP_HANDLE(w);
    for (int i = 0; i < w->n_fields; i++) {
        if (surely_fits(&w->order[i], &values[i])) continue;
        sp_status status = check_value(&w->order[i], &values[i]);
        if (status == SP_OK) continue;
        sp__error_context("row %lld, column '%s'", (long long)row, w->order[i].name);
        return status;
    }
    return SP_OK;
}

/* --- rows ------------------------------------------------------------------------------------------------------------------ */

/* Rows of the present batch that shard i gets. */
static int64_t part_of(const sp_record_writer *w, int i)
{
    if (w->separate) return i == w->turn ? w->batch_rows : 0;
    int64_t spare = w->batch_rows % w->n_shards;
    return w->batch_rows / w->n_shards + ((i - w->turn + w->n_shards) % w->n_shards < spare);
}

sp_status sp_record_writer_batch(sp_record_writer *w, int64_t n_rows)
{
    SP_HANDLE(w);
    SP_CHECK(n_rows >= 0, SP_VALUE, "a batch of %lld rows", (long long)n_rows);
    w->batch_rows = w->batch_left = n_rows;
    w->shard = 0;
    w->part_left = part_of(w, 0);
    return SP_OK;
}

static sp_mindrecord_partial *next_shard(sp_record_writer *w)
{
    while (w->part_left == 0) w->part_left = part_of(w, ++w->shard);
    w->part_left--;
    if (--w->batch_left == 0)
        w->turn = (int)((w->turn + (w->separate ? 1 : w->batch_rows % w->n_shards)) % w->n_shards);
    return &w->shards[w->shard];
}

static sp_status append_record(sp_mindrecord_buffer *page, const sp_mindrecord_buffer *record)
{
    SP_TRY(sp__mindrecord_buffer_reserve(page, SP_MINDRECORD_LENGTH_BYTES + record->bytes));
    uint8_t *p = page->data + page->bytes;
    sp__mindrecord_put64(p, record->bytes);
    if (record->bytes > 0) memcpy(p + SP_MINDRECORD_LENGTH_BYTES, record->data, record->bytes);
    page->bytes += SP_MINDRECORD_LENGTH_BYTES + record->bytes;
    return SP_OK;
}

static sp_status print_row(sp_record_writer *w, const sp_record_value *values, int64_t *saved)
{
    const sp_mindrecord_schema *s = schema_of(w);
    for (int i = 0; i < w->n_fields; i++) w->sorted[w->place[i]] = values[i];
    w->raw.bytes = w->blob.bytes = 0;
    SP_TRY(sp__mindrecord_scalars_print(s, w->sorted, &w->raw));
    SP_TRY(sp__mindrecord_blobs_print(s, w->sorted, &w->blob, saved));
    return sp__mindrecord_partial_check_size(&w->shards[0], w->raw.bytes, w->blob.bytes);
}

static sp_status store_row(const sp_record_writer *w, sp_mindrecord_partial *p, int64_t saved)
{
    SP_TRY(sp__mindrecord_partial_reserve(p, w->raw.bytes, w->blob.bytes));
    /* Both or none: a record without its partner would shift all that follow. */
    SP_TRY(sp__mindrecord_buffer_reserve(&p->blob, SP_MINDRECORD_LENGTH_BYTES + w->blob.bytes));
    SP_TRY(append_record(&p->raw, &w->raw));
    SP_TRY(append_record(&p->blob, &w->blob));
    p->saved += saved;
    return sp__mindrecord_partial_count_row(p);
}

static sp_status check_alive(const sp_record_writer *w)
{
    SP_CHECK(!w->done, SP_VALUE, "the files are committed; open them with sp_record_append to add rows");
    SP_CHECK(!w->broken, SP_IO, "writing failed earlier, so the files cannot be completed");
    return SP_OK;
}

sp_status sp_record_write(sp_record_writer *w, const sp_record_value *values)
{
    SP_HANDLE(w);
    int64_t saved = 0;
    SP_TRY(check_alive(w));
    SP_TRY(sp_record_writer_check(w, values, w->n_rows));
    sp_status status = print_row(w, values, &saved);
    if (status == SP_OK) {
        if (w->batch_left == 0) SP_TRY(sp_record_writer_batch(w, 1));
        status = store_row(w, next_shard(w), saved);
        w->broken = status != SP_OK;
    }
    if (status != SP_OK) sp__error_context("row %lld", (long long)w->n_rows);
    else w->n_rows++;
    return status;
}

sp_status sp_record_commit(sp_record_writer *w)
{
    SP_HANDLE(w);
    SP_TRY(check_alive(w));
    w->done = true;
    for (int i = 0; i < w->n_shards; i++) SP_TRY(sp__mindrecord_partial_finish(&w->shards[i]));
    /* Everything is on disk; what follows is renaming (or, for protected files, writing their protected form). */
    for (int i = 0; i < w->n_shards; i++)
        SP_TRY(sp__mindrecord_partial_publish(&w->shards[i], w->overwrite, &w->secret));
    return SP_OK;
}

/* --- after a crash --------------------------------------------------------------------------------------------------------- */

static sp_status recover_shard(const char *path, uint64_t *rows)
{
    sp_mindrecord_partial p;
    SP_TRY(sp__mindrecord_partial_reopen(path, &p));
    sp_status status = refuse_existing(path, "move it away first");
    if (status == SP_OK) {
        *rows += sp__mindrecord_header_rows(p.header);
        status = sp__mindrecord_partial_finish(&p);
    }
    if (status == SP_OK) status = sp__mindrecord_partial_publish(&p, false, NULL);
    sp__mindrecord_partial_close(&p, false);
    return status;
}

sp_status sp_record_recover(const char *path, int64_t *out)
{
    sp_mindrecord_partial first;
    uint64_t rows = 0;
    SP_CHECK(path != NULL && path[0] != '\0', SP_VALUE, "the file name is empty");
    SP_TRY(sp__mindrecord_partial_reopen(path, &first));
    sp_mindrecord_header *h = first.header; /* for the names of the other shards */
    first.header = NULL;
    sp__mindrecord_partial_close(&first, false);
    size_t folder = (size_t)(sp__mindrecord_base_name(path) - path);
    sp_status status = SP_OK;
    for (int i = 0; i < h->n_shards && status == SP_OK; i++) {
        char *name = sp__strdup(path);
        char *shard = NULL;
        if (name != NULL) {
            name[folder] = '\0';
            shard = sp__mindrecord_path(name, h->shard_names[i]);
        }
        char *partial = shard == NULL ? NULL : sp__mindrecord_path(shard, ".partial");
        if (partial == NULL) status = SP_NOMEM;
        else if (access(partial, F_OK) == 0)
            status = recover_shard(shard, &rows); /* else: got its name before the crash */
        sp__free(name);
        sp__free(shard);
        sp__free(partial);
    }
    sp__mindrecord_header_release(h);
    if (status == SP_OK && out != NULL) *out = (int64_t)rows;
    return status;
}
