/* SPDX-License-Identifier: Apache-2.0 */
/* twins.h - one function recorded again, with different sizes of the dimensions that are to be free in a file: what differs depends on them (sizes.h). */
#ifndef SPORE_TWINS_H
#define SPORE_TWINS_H

#include "ir/graph_impl.h"

/* The mark of every function and node of g becomes its twin in the other recording (NULL: there is none). Fails when they are not the same
 * but for sizes: constants may be larger when they are filled with one number or count, and other numbers when they have one element. Both graphs are closed. */
sp_status sp__graph_pair(sp_graph *g, sp_graph *other);
/* Are two constants the same, in dtype, shape and contents? */
bool sp__constant_equal(const sp_value *x, const sp_value *y);
/* Are the elements start, start + step, start + 2 step ... in row-major order? They must be whole numbers (int64), two at least. */
bool sp__constant_counts(const sp_tensor *t, int64_t *start, int64_t *step);

#endif
