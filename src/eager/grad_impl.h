/* SPDX-License-Identifier: Apache-2.0 */
/* grad_impl.h - what a history is made of, for grad.c and backward.c. */
#ifndef SPORE_GRAD_IMPL_H
#define SPORE_GRAD_IMPL_H

#include "eager/eager.h"

typedef struct sp_grad_hook_entry {
    struct sp_grad_hook_entry *next;
    int64_t id;
    int index; /* output of the node it belongs to */
    sp_grad_hook fn;
    void (*release)(void *context);
    void *context;
} sp_grad_hook_entry;

/* Kept tensors of a node that a saver has packed: n_in + n_out places, NULL where nothing is. */
typedef struct {
    sp_grad_saver saver;
    void *item[];
} sp_grad_packed;

struct sp_grad_node {
    atomic_int refs;
    int n_in, n_out;
    int watchers;  /* leaves: number of sp_grad_watch calls open */
    bool spent;    /* sp_grad_spend: no backward pass goes through here again */
    bool variable; /* made by sp_grad_variable */
    uint64_t number;
    const sp_op *op; /* NULL: a leaf or a custom function */
    void *attrs;
    sp_grad_node **edge; /* n_in: history of each input, NULL for constants */
    int *edge_index;
    sp_tensor **in;         /* n_in; NULL where the input was left out */
    sp_tensor **out;        /* n_out */
    unsigned *version;      /* n_in + n_out */
    sp_grad_packed *packed; /* NULL: they are in `in` and `out` */
    sp_grad_hook_entry *hooks;
    sp_grad_custom custom; /* a function with its own gradient */
    void (*custom_release)(void *context);
    void *custom_context;
    char *opaque;       /* what computed this, if that has no gradient; owned */
    sp_grad_node *next; /* work list while being released */
};

/* Give t the history `node`, of which it is result `index`. */
void sp__grad_set_history(sp_tensor *t, sp_grad_node *node, int index);
/* How often t's memory was written; values of a function that is being recorded never change. */
unsigned sp__grad_version_of(const sp_tensor *t);
/* A packed tensor again, owned by the builder; the place's own tensor where there is none. */
sp_status sp__grad_unpack(sp_builder *b, const sp_grad_node *n, int i, sp_tensor *like, sp_tensor **out);

#endif
