/* SPDX-License-Identifier: Apache-2.0 */
/* draws.c - states of random numbers are drawn as early as they can be.
 *
 * A draw is code outside the graph and so divides a stretch of operators in two, each with memory of its own. Draws depend on
 * nothing, so they move up, past operators and variables, to where something stands that might draw too: a call, a
 * gradient, other code. Among themselves they keep their order, and with it the numbers that eager mode gives. */
#include "graph/passes/passes.h"

static bool is_draw(const sp_node *n)
{
    return n->kind == SP_NODE_HOST && n->n_in == 0 && strcmp(n->host->name, "random_state") == 0;
}

static bool is_passed(const sp_node *n)
{
    return n->kind == SP_NODE_READ || n->kind == SP_NODE_STORE || sp__node_pure(n);
}

static void move_before(sp_node *n, sp_node *at)
{
    sp_function *f = n->owner;
    n->prev->next = n->next; /* there is one before it: `at` */
    if (n->next) n->next->prev = n->prev;
    else f->last = n->prev;
    n->prev = at->prev;
    n->next = at;
    if (at->prev) at->prev->next = n;
    else f->first = n;
    at->prev = n;
}

static sp_status draws_run(sp_graph *g, int *count)
{
    for (sp_function *f = g->first; f; f = f->next) {
        sp_node *at = NULL; /* first of the nodes that a draw may pass */
        for (sp_node *n = f->first, *next; n; n = next) {
            next = n->next;
            if (is_draw(n) && at) {
                move_before(n, at);
                ++*count;
            } else if (is_passed(n)) {
                if (!at) at = n;
            } else if (!is_draw(n)) {
                at = NULL;
            }
        }
    }
    return SP_OK;
}

const sp_pass sp_pass_draws = {
    .name = "draws",
    .what = "nodes moved up",
    .doc = "Random states are drawn before the operators around them.",
    .run = draws_run,
};
