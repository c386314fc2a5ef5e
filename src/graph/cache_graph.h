/* SPDX-License-Identifier: Apache-2.0 */
/* cache_graph.h - what writing and reading graphs of the cache share. */
#ifndef SPORE_CACHE_GRAPH_H
#define SPORE_CACHE_GRAPH_H

#include "graph/program_cache.h"

enum { SP_MADE_BYTES = 4 << 20 }; /* of a constant that passes made, to be kept */
/* References to values: number * SP_REF_KINDS + kind, 0 for none. */
enum { SP_REF_VALUE = 1, SP_REF_CONSTANT, SP_REF_MADE, SP_REF_FUNCTION, SP_REF_KINDS = 5 };

/* Things by address, in the order they were met, and back. */
typedef struct sp_numbering {
    const void **things;
    int n, capacity;
    int *places; /* number + 1 by hash, 0: free; twice the capacity */
} sp_numbering;

struct sp_outer_program {
    sp_function *f;
    sp_numbering functions, values; /* of the recording; values of nodes and parameters */
    sp_numbering constants;         /* sp_value */
    int *distinct;                  /* by number of a constant: its number among those with different contents */
    int *first_of;                  /* by that number: the first constant */
    int n_distinct;
    sp_numbering variables; /* their tensors: copies of a graph have variables of their own */
    sp_numbering hosts, places;
    sp_numbering copies; /* constants of the copy that is being compiled */
    int *copy_of;        /* by number in `copies`: number in `constants` */
    sp_cache_key key;
};

#endif
