/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c - weights by name: made when a layer first asks for them, taken from files, written to files. */
#include <math.h>
#include <stdio.h>

#include "base/messages.h"
#include "base/plain.h"
#include "spore/graph.h"
#include "train/weights.h"

sp_status sp_nn_create(uint64_t seed, sp_nn **out)
{
    SP_CHECK(out, SP_VALUE, "out must not be NULL");
    sp_nn *n = sp__alloc_zero(sizeof *n);
    if (!n) return SP_NOMEM;
    n->seed = seed;
    n->training = true;
    const sp_status status = sp_generator_create(seed, &n->generator);
    if (status == SP_OK) *out = n;
    else sp__free(n);
    return status;
}

void sp_nn_release(sp_nn *n)
{
    if (!n) return;
    for (int i = 0; i < n->n; i++) {
        sp_tensor_release(n->entries[i].t);
        sp__free(n->entries[i].name);
    }
    sp_generator_release(n->generator);
    sp__free(n->entries);
    sp__free(n);
}

/* --- entries ------------------------------------------------------------------------------------------------------- */

sp_nn_entry *sp__weights_entry(const sp_nn *n, const char *name)
{
    for (int i = 0; i < n->n; i++)
        if (strcmp(n->entries[i].name, name) == 0) return &n->entries[i];
    return NULL;
}

int sp_nn_count(const sp_nn *n) { return n ? n->n : 0; }
static const sp_nn_entry *at(const sp_nn *n, int i) { return n && i >= 0 && i < n->n ? &n->entries[i] : NULL; }
const char *sp_nn_name_at(const sp_nn *n, int i) { return at(n, i) ? at(n, i)->name : NULL; }
sp_tensor *sp_nn_tensor_at(const sp_nn *n, int i) { return at(n, i) ? at(n, i)->t : NULL; }
bool sp_nn_is_trained_at(const sp_nn *n, int i) { return at(n, i) && sp__weights_trains(at(n, i)); }

sp_tensor *sp_nn_find(const sp_nn *n, const char *name)
{
    const sp_nn_entry *e = n && name ? sp__weights_entry(n, name) : NULL;
    return e ? e->t : NULL;
}

void sp_nn_set_training(sp_nn *n, bool training)
{
    if (n) n->training = training;
}
bool sp_nn_training(const sp_nn *n) { return n && n->training; }

sp_status sp_nn_set_trained(sp_nn *n, const char *prefix, bool trained)
{
    SP_CHECK(n && prefix, SP_VALUE, "the net and the prefix must not be NULL");
    bool any = false;
    for (int i = 0; i < n->n; i++) {
        if (strncmp(n->entries[i].name, prefix, strlen(prefix)) != 0) continue;
        n->entries[i].trained = trained;
        any = true;
    }
    SP_CHECK(any, SP_KEY,
             "no weight of the net begins with '%s'; weights are there once their layers were called, or loaded",
             prefix);
    return SP_OK;
}

/* t is taken over. */
static sp_status append(sp_nn *n, const char *name, sp_tensor *t, sp_nn_entry **out)
{
    sp_status status = SP_NOMEM;
    char *kept = sp__alloc(strlen(name) + 1);
    if (!kept) goto failed;
    if (n->n == n->capacity) {
        const size_t old = (size_t)n->capacity * sizeof *n->entries, more = old ? 2 * old : 32 * sizeof *n->entries;
        sp_nn_entry *entries = sp__realloc(n->entries, old, more);
        if (!entries) goto failed;
        n->entries = entries;
        n->capacity = (int)(more / sizeof *entries);
    }
    memcpy(kept, name, strlen(name) + 1);
    sp_graph_variable_mark(t);
    *out = &n->entries[n->n++];
    **out = (sp_nn_entry){.name = kept, .t = t, .trained = true};
    return SP_OK;
failed:
    sp__free(kept);
    sp_tensor_release(t);
    return status;
}

/* A seed for a weight: of the net's and its name, so that it does not matter which layer is called first. */
static uint64_t seed_of(const sp_nn *n, const char *name)
{
    uint64_t h = 14695981039346656037u ^ n->seed;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 31;
}

static sp_status make(const sp_nn *n, const char *name, int rank, const int64_t *dims, sp_fill fill, double value,
                      sp_tensor **out)
{
    sp_tensor *t;
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F32, rank, dims, &t));
    sp_status status = SP_OK;
    if (fill == SP_FILL_UNIFORM) {
        status = sp_initial_fill(t, SP_INITIAL_UNIFORM, seed_of(n, name), (const double[4]){-value, value, 0, 0});
    } else if (fill == SP_FILL_NORMAL) {
        status = sp_initial_fill(t, SP_INITIAL_NORMAL, seed_of(n, name), (const double[4]){0, value, 0, 0});
    } else if (fill == SP_FILL_CONSTANT) {
        float *v = sp_tensor_data(t);
        for (int64_t i = 0; i < sp_tensor_count(t); i++) v[i] = (float)value;
    } else {
        status = sp__fail(SP_VALUE, "weight %s is to be filled in way %d, which there is not", name, (int)fill);
    }
    if (status == SP_OK) *out = t;
    else sp_tensor_release(t);
    return status;
}

static sp_status check_shape(const sp_nn_entry *e, int rank, const int64_t *dims)
{
    const int64_t *found = sp_tensor_dims(e->t);
    bool same = sp_tensor_rank(e->t) == rank && sp_tensor_dtype(e->t) == SP_DTYPE_F32;
    for (int i = 0; same && i < rank; i++) same = found[i] == dims[i];
    if (same) return SP_OK;
    char has[SP_SHAPE_TEXT], wants[SP_SHAPE_TEXT];
    return sp__fail(SP_VALUE, "weight %s is %s %s, but its layer wants float32 %s", e->name,
                    sp_dtype_name(sp_tensor_dtype(e->t)), sp__shape_text(sp_tensor_rank(e->t), found, has),
                    sp__shape_text(rank, dims, wants));
}

static sp_status ask(sp_nn *n, const char *name, bool state, int rank, const int64_t *dims, sp_fill fill, double value,
                     sp_tensor **out)
{
    SP_CHECK(n && name && *name, SP_VALUE, "a weight must have a net and a name");
    sp_nn_entry *e = sp__weights_entry(n, name);
    if (e) {
        SP_TRY(check_shape(e, rank, dims));
        SP_CHECK(!e->asked || e->state == state, SP_VALUE, "%s is a weight for one layer and a state for another",
                 name);
    } else {
        sp_tensor *t;
        SP_TRY(make(n, name, rank, dims, fill, value, &t));
        SP_TRY(append(n, name, t, &e));
    }
    e->asked = true;
    e->state = state;
    if (n->watching && sp__weights_trains(e) && !e->watched) {
        SP_TRY(sp_grad_watch(e->t));
        e->watched = true;
    }
    *out = e->t;
    return SP_OK;
}

void sp__weights_unwatch(sp_nn *n)
{
    for (int i = 0; i < n->n; i++) {
        if (n->entries[i].watched) sp_grad_unwatch(n->entries[i].t);
        n->entries[i].watched = false;
    }
}

static sp_tensor *ask_builder(sp_builder *b, sp_nn *n, const char *name, bool state, int rank, const int64_t *dims,
                              sp_fill fill, double value)
{
    sp_tensor *t = NULL;
    if (sp_builder_status(b) != SP_OK) return NULL;
    const sp_status status = ask(n, name, state, rank, dims, fill, value, &t);
    return status == SP_OK ? t : sp__builder_fail(b, status);
}

sp_tensor *sp_nn_weight(sp_builder *b, sp_nn *n, const char *name, int rank, const int64_t *dims, sp_fill fill,
                        double value)
{
    return ask_builder(b, n, name, false, rank, dims, fill, value);
}

sp_tensor *sp_nn_state(sp_builder *b, sp_nn *n, const char *name, int rank, const int64_t *dims, double value)
{
    return ask_builder(b, n, name, true, rank, dims, SP_FILL_CONSTANT, value);
}

/* --- files --------------------------------------------------------------------------------------------------------- */

/* The name in a file: prefix and name, in a block to be freed. */
static char *joined(const char *prefix, const char *name)
{
    const size_t room = strlen(prefix) + strlen(name) + 1;
    char *text = sp__alloc(room);
    if (text) sp__snprintf(text, room, "%s%s", prefix, name);
    return text;
}

/* The value of the file for one entry, copied. */
static sp_status value_of(const sp_nn_entry *e, const sp_bundle *from, const char *prefix, sp_tensor **out)
{
    char *name = joined(prefix, e->name);
    if (!name) return SP_NOMEM;
    const int64_t i = sp_bundle_find(from, name);
    sp_status status = SP_OK;
    sp_tensor *t = NULL;
    if (i < 0) status = sp__fail(SP_KEY, "it has no '%s', which the net has", name);
    if (status == SP_OK) status = sp_bundle_copy_at(from, i, &t);
    sp__free(name);
    if (status != SP_OK) return status;
    const sp_nn_entry there = {.name = e->name, .t = t};
    status = check_shape(&there, sp_tensor_rank(e->t), sp_tensor_dims(e->t));
    if (status == SP_OK) *out = t;
    else sp_tensor_release(t);
    return status;
}

/* What is in the file beyond the net waits for its layer. */
static sp_status take_rest(sp_nn *n, const sp_bundle *from, const char *prefix)
{
    for (int64_t i = 0; i < sp_bundle_count(from); i++) {
        const char *name = sp_bundle_name_at(from, i);
        sp_tensor *t;
        sp_nn_entry *e;
        if (strncmp(name, prefix, strlen(prefix)) != 0 || sp_bundle_text_at(from, i, NULL)) continue;
        name += strlen(prefix);
        if (sp__weights_entry(n, name)) continue;
        SP_TRY(sp_bundle_copy_at(from, i, &t));
        SP_TRY(append(n, name, t, &e));
    }
    return SP_OK;
}

sp_status sp__weights_take(sp_nn *n, const sp_bundle *from, const char *prefix, bool check)
{
    const int before = n->n;
    sp_status status = SP_OK;
    sp_tensor **values = sp__alloc_zero((size_t)(before ? before : 1) * sizeof *values);
    if (!values) return SP_NOMEM;
    for (int i = 0; i < before && status == SP_OK; i++) status = value_of(&n->entries[i], from, prefix, &values[i]);
    if (status == SP_OK && !check) status = take_rest(n, from, prefix);
    /* of equal dtypes and shapes, in memory that is there: it does not fail */
    for (int i = 0; i < before && status == SP_OK && !check; i++) status = sp_tensor_assign(n->entries[i].t, values[i]);
    for (int i = 0; i < before; i++) sp_tensor_release(values[i]);
    sp__free(values);
    if (status == SP_OK) return SP_OK;
    while (n->n > before) {
        sp_tensor_release(n->entries[--n->n].t);
        sp__free(n->entries[n->n].name);
    }
    return status;
}

sp_status sp__weights_put(const sp_nn *n, sp_bundle *to, const char *prefix)
{
    for (int i = 0; i < n->n; i++) {
        char *name = joined(prefix, n->entries[i].name);
        if (!name) return SP_NOMEM;
        const sp_status status = sp_bundle_add(to, name, n->entries[i].t);
        sp__free(name);
        if (status != SP_OK) return status;
    }
    return SP_OK;
}

sp_status sp_nn_save(const sp_nn *n, const char *path, const sp_file_options *options)
{
    SP_CHECK(n && path, SP_VALUE, "the net and the path must not be NULL");
    SP_CHECK(n->n, SP_VALUE, "%s: the net has no weights yet; layers make them when they are first called", path);
    sp_bundle *to;
    SP_TRY(sp_bundle_create(&to));
    sp_status status = sp__weights_put(n, to, "");
    if (status == SP_OK) status = sp_save(path, to, options);
    sp_bundle_release(to);
    return status;
}

sp_status sp_nn_load(sp_nn *n, const char *path, const sp_file_options *options)
{
    SP_CHECK(n && path, SP_VALUE, "the net and the path must not be NULL");
    sp_bundle *from;
    SP_TRY(sp_load(path, options, &from));
    const sp_status status = sp__weights_take(n, from, "", false);
    sp_bundle_release(from);
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}

sp_status sp_nn_check_loaded(const sp_nn *n)
{
    SP_CHECK(n, SP_VALUE, "the net must not be NULL");
    char names[400] = "";
    int count = 0;
    for (int i = 0; i < n->n; i++) {
        if (n->entries[i].asked) continue;
        const size_t used = strlen(names);
        if (count++ < 5)
            sp__snprintf(names + used, sizeof names - used, "%s%.60s", used ? ", " : "", n->entries[i].name);
    }
    SP_CHECK(
        !count, SP_KEY,
        "%d weights were loaded that no layer has asked for: %s%s; either layers have other names, or the file is of another network",
        count, names, count > 5 ? ", ..." : "");
    return SP_OK;
}
