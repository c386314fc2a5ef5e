/* SPDX-License-Identifier: Apache-2.0 */
/* plan_pack.c - constant weights in the form kernels want, one for all plans.
 *
 * A network has a plan for each batch size, and weights are most of its memory: plans that want the same form of the same weights share it. A form is
 * the same when the kernel says so (sp_prepared_form) and the weights are unchanged. Without a word of the kernel, and of weights that somebody outside may write to at
 * any time (and whose recorder does not look after that, SP_TENSOR_KEPT), a plan has its own.
 *
 * Blocks live as long as plans use them, and keep the storage they were made of, so that no other can be taken for it. */
#include "base/lock.h"
#include "graph/plan.h"
#include "ir/constant.h"

typedef struct pack {
    struct pack *next; /* of its bucket */
    int refs;          /* under the lock */
    bool listed;
    /* What it was made of, and how. */
    sp_storage *storage;
    sp_storage_mark mark; /* when it was made */
    const char *data;
    sp_dtype dtype;
    int rank;
    int64_t dims[SP_RANK_MAX], strides[SP_RANK_MAX];
    sp_status (*prepare)(const sp_call *c, void *to);
    sp_prepared_form form;
    size_t bytes;
    void *block, *aligned; /* to 64 bytes */
} pack;

struct sp_pack_use {
    struct sp_pack_use *next;
    pack *pack;
};

enum { BUCKETS = 1024 };
static sp_lock lock = SP_LOCK_INIT;
static pack *buckets[BUCKETS];
static int64_t n_blocks;
static uint64_t n_made;

static pack **bucket_of(const sp_storage_mark *mark) { return &buckets[mark->id * 0x9E3779B97F4A7C15u >> 54]; }

static bool same(const pack *a, const pack *b)
{
    return a->storage == b->storage && a->mark.version == b->mark.version && a->data == b->data &&
           a->dtype == b->dtype && a->rank == b->rank && a->prepare == b->prepare && a->bytes == b->bytes &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0 && memcmp(a->strides, b->strides, sizeof a->strides) == 0 &&
           memcmp(&a->form, &b->form, sizeof a->form) == 0;
}

static pack *find(const pack *wanted)
{
    sp__lock(&lock);
    pack *k = *bucket_of(&wanted->mark);
    while (k != NULL && !same(k, wanted)) k = k->next;
    if (k != NULL) k->refs++;
    sp__unlock(&lock);
    return k;
}

static void pack_free(pack *k)
{
    sp__storage_release(k->storage);
    sp__free(k->block);
    sp__free(k);
}

static void pack_release(pack *k)
{
    sp__lock(&lock);
    const bool last = --k->refs == 0;
    if (last) n_blocks--;
    for (pack **at = last && k->listed ? bucket_of(&k->mark) : NULL; at != NULL && *at != NULL; at = &(*at)->next) {
        if (*at != k) continue;
        *at = k->next;
        break;
    }
    sp__unlock(&lock);
    if (last) pack_free(k);
}

/* Plans are made one at a time, so nobody makes the same meanwhile. */
static sp_status make(const pack *wanted, const sp_call *c, bool listed, pack **out)
{
    pack *k = sp__alloc_zero(sizeof *k);
    if (k == NULL) return SP_NOMEM;
    *k = *wanted;
    k->refs = 1;
    k->listed = listed;
    sp__storage_retain(k->storage);
    k->block = sp__alloc(k->bytes + 63);
    sp_status status = k->block != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        k->aligned = (char *)k->block + -(uintptr_t)k->block % 64;
        status = k->prepare(c, k->aligned);
    }
    if (status != SP_OK) {
        pack_free(k);
        return status;
    }
    sp__lock(&lock);
    if (listed) {
        pack **bucket = bucket_of(&k->mark);
        k->next = *bucket;
        *bucket = k;
    }
    n_blocks++;
    n_made++;
    sp__unlock(&lock);
    *out = k;
    return SP_OK;
}

sp_status sp__plan_pack(sp_plan *p, sp_step *s, const sp_call *c, const sp_tensor *constant, size_t bytes)
{
    const sp_tensor *t = c->in[1];
    struct sp_pack_use *use = sp__arena_alloc(&p->arena, sizeof *use);
    if (use == NULL) return SP_NOMEM;
    pack wanted = {.storage = constant->storage,
                   .mark = sp__storage_mark(constant->storage),
                   .data = t->data,
                   .dtype = (sp_dtype)t->dtype,
                   .rank = t->rank,
                   .prepare = s->prepare,
                   .bytes = bytes};
    for (int k = 0; k < t->rank; k++) {
        wanted.dims[k] = t->dims[k];
        wanted.strides[k] = t->strides[k];
    }
    const bool shared = s->prepared_form != NULL && (wanted.mark.closed || constant->flags & SP_TENSOR_KEPT);
    if (shared) wanted.form = s->prepared_form(c);
    pack *k = shared ? find(&wanted) : NULL;
    if (k == NULL) SP_TRY(make(&wanted, c, shared, &k));
    use->pack = k;
    use->next = p->packs;
    p->packs = use;
    s->prepared = k->aligned;
    return SP_OK;
}

void sp__plan_unpack(sp_plan *p)
{
    for (const struct sp_pack_use *use = p->packs; use != NULL; use = use->next) pack_release(use->pack);
    p->packs = NULL;
}

void sp__packs_count(int64_t *blocks, uint64_t *made)
{
    sp__lock(&lock);
    *blocks = n_blocks;
    *made = n_made;
    sp__unlock(&lock);
}
