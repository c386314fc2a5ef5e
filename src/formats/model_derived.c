/* SPDX-License-Identifier: Apache-2.0 */
/* model_derived.c - constants that recordings of a model compute from its weights, kept for the next recording.
 *
 * A model is recorded again for other sizes (graph/jit.h). What handlers compute from weights alone (a convolution with the normalisation behind it) is the same then. It is found
 * by the place that asks and by what it was computed from: storages and their versions. */
#include "formats/model_impl.h"
#include "ir/constant.h"

enum { FROM_MAX = 6 };

typedef struct sp_derived_value {
    struct sp_derived_value *next;
    const void *site;
    int n_from;
    uint64_t id[FROM_MAX]; /* of storages; 0: left out */
    unsigned version[FROM_MAX];
    int64_t offset[FROM_MAX];
    sp_tensor *result[SP_DERIVED_MAX];
} derived;

/* What this thread records with. */
static _Thread_local sp_derived *current __attribute__((tls_model("initial-exec")));

static void derived_free(derived *d)
{
    for (int i = 0; i < SP_DERIVED_MAX; i++) sp_tensor_release(d->result[i]);
    sp__free(d);
}

void sp__derived_clear(sp_derived *s)
{
    for (derived *d = s->first, *next; d != NULL; d = next) {
        next = d->next;
        derived_free(d);
    }
    *s = (sp_derived){0};
}

void sp__derived_begin(sp_derived *s)
{
    s->last = NULL;
    current = s;
}

void sp__derived_end(void) { current = NULL; }

static void describe(derived *d, const void *site, int n, sp_tensor *const *from)
{
    d->site = site;
    d->n_from = n;
    for (int i = 0; i < n; i++) {
        sp_storage *s = from[i] != NULL ? from[i]->storage : NULL;
        d->id[i] = s != NULL ? s->id : 0;
        d->version[i] = s != NULL ? atomic_load_explicit(&s->version, memory_order_relaxed) : 0;
        d->offset[i] = s != NULL ? from[i]->data - (char *)s->data : 0;
    }
}

static bool same(const derived *a, const derived *b)
{
    return a->site == b->site && a->n_from == b->n_from && memcmp(a->id, b->id, sizeof a->id) == 0 &&
           memcmp(a->version, b->version, sizeof a->version) == 0 &&
           memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

/* Recordings ask in one order: what follows the last one found is looked at first. */
static derived *find_from(derived *from, const derived *end, const derived *wanted)
{
    while (from != end && !same(from, wanted)) from = from->next;
    return from != end ? from : NULL;
}

bool sp__derived_find(const void *site, int n, sp_tensor *const *from, sp_tensor **result)
{
    derived wanted = {0};
    if (current == NULL || n > FROM_MAX) return false;
    describe(&wanted, site, n, from);
    derived *after = current->last != NULL ? current->last->next : current->first, *d = find_from(after, NULL, &wanted);
    if (d == NULL) d = find_from(current->first, after, &wanted);
    if (d == NULL) return false;
    current->last = d;
    for (int i = 0; i < SP_DERIVED_MAX; i++) result[i] = d->result[i];
    return true;
}

void sp__derived_keep(const void *site, int n, sp_tensor *const *from, int n_results, sp_tensor *const *result)
{
    if (current == NULL || n > FROM_MAX || current->n_kept >= SP_DERIVED_KEPT) return;
    derived *d = sp__alloc_zero(sizeof *d);
    if (d == NULL) return; /* computed again next time */
    describe(d, site, n, from);
    for (int i = 0; i < n_results; i++) {
        d->result[i] = sp_tensor_retain(result[i]);
        d->result[i]->flags |= SP_TENSOR_KEPT; /* as the weights: see model.c */
    }
    derived **at = current->last != NULL ? &current->last->next : &current->first;
    while (*at != NULL) at = &(*at)->next;
    *at = d;
    current->last = d;
    current->n_kept++;
}
