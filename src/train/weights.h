/* SPDX-License-Identifier: Apache-2.0 */
/* weights.h - weights by name, as layers and trainers see them. */
#ifndef SPORE_TRAIN_WEIGHTS_H
#define SPORE_TRAIN_WEIGHTS_H

#include "ir/op_impl.h"
#include "spore/random.h"
#include "spore/train.h"

typedef struct sp_nn_entry {
    char *name;
    sp_tensor *t;
    bool state;   /* not trained whatever the caller says */
    bool trained; /* by the caller's will */
    bool asked;   /* a layer has asked for it: else it came out of a file and waits */
    bool watched; /* in the pass that is recorded now */
} sp_nn_entry;

struct sp_nn {
    uint64_t seed;
    bool training;
    bool watching; /* a trainer records a step: weights are watched when they are asked for */
    int n, capacity;
    sp_nn_entry *entries; /* in the order in which they were made */
    sp_generator *generator;
};

/* The entry of a name, NULL: there is none. */
sp_nn_entry *sp__weights_entry(const sp_nn *n, const char *name);
static inline bool sp__weights_trains(const sp_nn_entry *e) { return e->asked && !e->state && e->trained; }

/* Values of a bundle for everything that the net has, under prefix + name; others with that prefix wait for their layers. Nothing is changed after
 * a failure. check: only find out whether it would fail. */
sp_status sp__weights_take(sp_nn *n, const sp_bundle *from, const char *prefix, bool check);
sp_status sp__weights_put(const sp_nn *n, sp_bundle *to, const char *prefix);

/* Restore what a recording has left: weights that are watched. */
void sp__weights_unwatch(sp_nn *n);

#endif
