/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.h - free sizes of a network that is written to a file: which numbers depend on them, and how.
 *
 * The network is recorded several times, with other sizes of the free dimensions each time (twins.h: the mark of a node is the same one in the next
 * recording). A number of the network - a size, an element of an attribute - is then one number a recording. Where these are equal it is a constant.
 * Where they are not it is a number of the run: a whole number that the program itself computes from sizes (sp__function_size and arithmetic), the size of
 * an operand, or made of these by one multiplication, division and addition. What is none of these is refused by the writers, never frozen. */
#ifndef SPORE_SIZES_H
#define SPORE_SIZES_H

#include "ir/graph_impl.h"
#include "spore/model.h"

enum { SP_TRIALS_MAX = 8, SP_SIZE_SOURCES_MAX = 160 };

/* Numbers of the run that others are made of: dimension `axis` of v, or (axis -1) v itself, which has one element. */
typedef struct sp_size_source {
    const sp_value *v;
    int axis;
    int64_t at[SP_TRIALS_MAX];
} sp_size_source;

/* (x * y * z + add) * mul / div + plus, rounded down; or (sum) x + mul * y + plus. */
typedef struct sp_size_form {
    int n;
    const sp_size_source *of[3];
    bool sum;
    int64_t add, mul, div, plus;
} sp_size_form;

typedef struct sp_sizes {
    int n; /* recordings */
    const sp_function *entry;
    int n_values;
    sp_tensor *(*known)
        [SP_TRIALS_MAX]; /* by value: what it is in each recording, where it follows from sizes alone and has few elements */
    int n_sources;
    sp_size_source *sources; /* for the node being written, room for SP_SIZE_SOURCES_MAX */
} sp_sizes;

int sp__sizes_trials(const sp_model_names *names);
/* The recordings paired (sp__graph_pair), and what follows from sizes found out. */
sp_status sp__sizes_begin(sp_sizes *s, const sp_function *entry, const sp_model_names *names);
void sp__sizes_free(sp_sizes *s);

/* The same dimension of a result (or operand) of n in all recordings, and an element of a list that is an attribute. */
void sp__sizes_result(const sp_sizes *s, const sp_node *n, int i, int axis, int64_t *at);
void sp__sizes_operand(const sp_sizes *s, const sp_node *n, int i, int axis, int64_t *at);
bool sp__sizes_attr(const sp_sizes *s, const sp_node *n, const char *name, int k,
                    int64_t *at); /* false: not there in all of them */
static inline bool sp__sizes_fixed(const sp_sizes *s, const int64_t *at)
{
    for (int k = 1; k < s->n; k++)
        if (at[k] != at[0]) return false;
    return true;
}

/* What numbers of node n can be made of: numbers of the run made before it in its function (and in the entry, where `outer`), sizes of its operands, of the entry's
 * arguments. */
void sp__sizes_sources(sp_sizes *s, const sp_node *n, bool outer);
/* A number that is at[k] in recording k, in terms of the sources; false: it cannot be said. */
bool sp__sizes_solve(const sp_sizes *s, const int64_t *at, sp_size_form *out);
/* Operand i of n is a constant of one element, a whole number in each recording? */
bool sp__constant_numbers(const sp_sizes *s, const sp_node *n, int i, int64_t *at);
/* Does v follow from sizes alone? Then what it is in each recording, as an int64. */
bool sp__sizes_known(const sp_sizes *s, const sp_value *v, int64_t *at);
/* Is n a slice_put that sets a value into a frame of one number, without gaps and in all recordings? Then how many elements of the frame lie before and behind
 * it in each dimension (before[k][i]: dimension k in recording i). */
bool sp__sizes_frame(const sp_sizes *s, const sp_node *n, int64_t (*before)[SP_TRIALS_MAX],
                     int64_t (*behind)[SP_TRIALS_MAX]);
/* Is n a `full` that nothing takes but slice_puts of that kind, as their frame? */
bool sp__sizes_only_frames(const sp_sizes *s, const sp_node *n);
/* Attributes of n that differ between recordings must be among those that the writer takes care of: `written` is a list "shape start stop". */
sp_status sp__sizes_check_attrs(const sp_sizes *s, const sp_node *n, const char *written);

#endif
