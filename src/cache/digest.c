/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - what a cache holds, in 32 bytes: the nodes below it, the numbers and names in them, their files as they are now. Orders
 * are left out: rows are kept under their numbers, so that shards and shuffles of one data set share them. */
#include "base/stack.h"
#include "cache/cache.h"

#include "base/cipher.h"
#include "data/pipeline.h"
#include "data/transform.h"

/* Bytes that pile up until they are digested. */
typedef struct pile {
    uint8_t *bytes;
    size_t n, room;
    bool failed;
} pile;

static void note(void *to, const void *data, size_t bytes)
{
    pile *p = to;
    if (p->failed) return;
    if (bytes > p->room - p->n) {
        const size_t room = (p->room + bytes) * 2 + 256;
        uint8_t *more = sp__realloc(p->bytes, p->room, room);
        if (!more) {
            p->failed = true;
            return;
        }
        p->bytes = more;
        p->room = room;
    }
    if (bytes) memcpy(p->bytes + p->n, data, bytes);
    p->n += bytes;
}

static void note_number(pile *p, int64_t n) { note(p, &n, sizeof n); }

/* With its length, so that texts side by side cannot be mistaken for others. */
static void note_text(pile *p, const char *text)
{
    const size_t n = text ? strlen(text) : 0;
    note_number(p, text ? (int64_t)n : -1);
    note(p, text, n);
}

static void note_transform(pile *p, const sp_transform *t)
{
    note_text(p, t->op->name);
    for (int i = 0; i < SP_TRANSFORM_ATTRS && t->op->attrs[i].name; i++) {
        note_number(p, t->attr[i].n);
        note(p, t->attr[i].v, (size_t)t->attr[i].n * sizeof *t->attr[i].v);
    }
    note_number(p, t->n_children);
    for (int i = 0; i < t->n_children; i++) note_transform(p, t->children[i]);
}

static sp_status note_node(pile *p, const sp_dataset *ds, bool files, const char *key)
{
    SP_TRY(sp__stack_check());
    if (ds->kind == &sp__node_shuffle || ds->kind == &sp__node_repeat)
        return note_node(p, ds->parents[0], files, key); /* orders */
    note_text(p, ds->kind->name);
    note_number(p, ds->n_columns);
    for (int i = 0; i < ds->n_columns; i++) note_text(p, ds->columns[i]);
    note_number(p, ds->n_in);
    for (int i = 0; i < ds->n_in; i++) note_number(p, ds->in[i]);
    for (int i = 0; ds->from && i < ds->n_columns; i++) note_number(p, ds->from[i]);
    note_number(p, ds->n_transforms);
    for (int i = 0; i < ds->n_transforms; i++) note_transform(p, ds->transforms[i]);
    if (ds->n_parents == 0) note_number(p, ds->n);
    const sp_row_function *f = &ds->function;
    if (f->run) {
        note_text(p, f->name);
        SP_CHECK(f->identify || key, SP_VALUE,
                 "cache: the function of '%s' may be any; give a key that says what it does",
                 f->name ? f->name : ds->kind->name);
        if (f->identify) SP_TRY(f->identify(f->context, files, note, p));
    }
    for (int i = 0; i < ds->n_parents; i++) SP_TRY(note_node(p, ds->parents[i], files, key));
    return SP_OK;
}

/* files false: of the tree alone, which is the same whatever is in the files. */
static sp_status digest(const sp_dataset *ds, const char *key, bool files, uint8_t out[SP_CACHE_DIGEST])
{
    pile p = {.bytes = NULL};
    uint8_t whole[SP_DIGEST_MAX];
    size_t n;
    note_text(&p, sp_version());
    note_text(&p, key);
    sp_status status = note_node(&p, ds, files, key);
    if (status == SP_OK && p.failed) status = SP_NOMEM;
    if (status == SP_OK) status = sp__digest("sha256", p.bytes, p.n, whole, &n);
    if (status == SP_OK) memcpy(out, whole, SP_CACHE_DIGEST);
    sp__free(p.bytes);
    return status;
}

sp_status sp__rowcache_digest(const sp_dataset *ds, const char *key, uint8_t out[SP_CACHE_DIGEST])
{
    return digest(ds, key, true, out);
}
sp_status sp__rowcache_tree_digest(const sp_dataset *ds, const char *key, uint8_t out[SP_CACHE_DIGEST])
{
    return digest(ds, key, false, out);
}

/* --- what can be kept ------------------------------------------------------------------------------------------------------------- */

sp_status sp__rowcache_check(const sp_dataset *ds, int64_t *n_rows)
{
    for (const sp_dataset *at = ds;; at = at->parents[0]) {
        const sp_dataset_kind *k = at->kind;
        if (k == &sp__node_source) {
            *n_rows = at->n;
            return SP_OK;
        }
        SP_CHECK(k == &sp__node_map || k == &sp__node_project || k == &sp__node_shuffle || k == &sp__node_repeat ||
                     k == &sp__node_tolerate,
                 SP_RUNTIME,
                 "cache: rows are kept under their numbers in a source, which '%s' has not; put the cache below it",
                 k->name);
        for (int i = 0; i < at->n_transforms; i++)
            SP_CHECK(!at->transforms[i]->random, SP_RUNTIME,
                     "cache: %s is a random operation, which is not supported below a cache; put it behind",
                     at->transforms[i]->op->name);
    }
}
