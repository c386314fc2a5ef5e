/* SPDX-License-Identifier: Apache-2.0 */
/* generator.c - a seed and a counter behind a lock. */
#include "base/base.h"
#include "base/handle.h"
#include "base/lock.h"
#include "spore/random.h"

struct sp_generator {
    atomic_int refs;
    sp_lock lock;
    uint64_t seed, counter;
};

static sp_generator the_default = {.refs = 1, .lock = SP_LOCK_INIT};

sp_generator *sp_generator_default(void) { return &the_default; }

sp_status sp_generator_create(uint64_t seed, sp_generator **out)
{
    sp_generator *g = sp__alloc(sizeof *g);
    if (!g) return SP_NOMEM;
    atomic_init(&g->refs, 1);
    sp__lock_init(&g->lock);
    g->seed = seed;
    g->counter = 0;
    *out = g;
    return SP_OK;
}

sp_generator *sp_generator_retain(sp_generator *g)
{
    if (!g) return NULL;
    atomic_fetch_add_explicit(&g->refs, 1, memory_order_relaxed);
    return g;
}

void sp_generator_release(sp_generator *g)
{
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1) return;
    sp__lock_destroy(&g->lock);
    sp__free(g);
}

void sp_generator_seed(sp_generator *g, uint64_t seed)
{
    if (!g) return;
    sp__lock(&g->lock);
    g->seed = seed;
    g->counter = 0;
    sp__unlock(&g->lock);
}

/* Reading takes the lock too; const means that nothing visible changes. */
static void read_state(const sp_generator *g, int64_t state[2])
{
    sp_lock *lock = (sp_lock *)&g->lock;
    sp__lock(lock);
    state[0] = (int64_t)g->seed;
    state[1] = (int64_t)g->counter;
    sp__unlock(lock);
}

uint64_t sp_generator_initial_seed(const sp_generator *g)
{
    if (!g) return 0;
    int64_t state[2];
    read_state(g, state);
    return (uint64_t)state[0];
}

sp_status sp_generator_state(const sp_generator *g, sp_tensor **out)
{
    SP_HANDLE(g);
    int64_t state[2];
    read_state(g, state);
    return sp_tensor_create_from(SP_DTYPE_I64, 1, (const int64_t[]){2}, state, out);
}

sp_status sp_generator_set_state(sp_generator *g, const sp_tensor *state)
{
    SP_HANDLE(g);
    SP_HANDLE(state);
    SP_CHECK(sp_tensor_dtype(state) == SP_DTYPE_I64 && sp_tensor_count(state) == 2 && sp_tensor_is_contiguous(state),
             SP_VALUE, "a state is an int64 tensor of 2 elements, but this one has dtype %s and %lld elements",
             sp_dtype_name(sp_tensor_dtype(state)), (long long)sp_tensor_count(state));
    const int64_t *v = sp_tensor_data(state);
    sp__lock(&g->lock);
    g->seed = (uint64_t)v[0];
    g->counter = (uint64_t)v[1];
    sp__unlock(&g->lock);
    return SP_OK;
}

sp_status sp_generator_next(sp_generator *g, int64_t count, sp_tensor **state)
{
    SP_HANDLE(g);
    SP_CHECK(count >= 0, SP_VALUE, "%lld numbers are asked for, the count must not be negative", (long long)count);
    sp_tensor *t;
    SP_TRY(sp_tensor_create(SP_DTYPE_I64, 1, (const int64_t[]){2}, &t));
    int64_t *v = sp_tensor_data(t);
    sp__lock(&g->lock);
    v[0] = (int64_t)g->seed;
    v[1] = (int64_t)g->counter;
    g->counter += (uint64_t)count;
    sp__unlock(&g->lock);
    *state = t;
    return SP_OK;
}
