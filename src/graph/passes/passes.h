/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - what is done to a program's graph before it becomes code. A pass is one file with one entry; passes.def lists
 * them in the order they run. Each can be left out by name: sp_program_options.off, or SPORE_PASSES=-fold,-share. */
#ifndef SPORE_PASSES_H
#define SPORE_PASSES_H

#include "graph/program.h"

typedef struct sp_pass {
    const char *name;
    const char *what; /* what it counts, for the report: "nodes removed" */
    const char *doc;  /* one line */
    sp_status (*run)(sp_graph *g, int *count);
    unsigned planning; /* instead of run: what plans may do, SP_PLAN_... */
    bool fast;         /* results may differ in rounding: runs only when fast numerics was asked for */
} sp_pass;

typedef struct sp_pass_report {
    const char *name, *what;
    int count;
    double us;
} sp_pass_report;

#define SP_PASS(name) extern const sp_pass sp_pass_##name;
#include "graph/passes/passes.def"
#undef SP_PASS

/* Which passes are not switched off, by options and environment, as bits in the order of the list; what of them plans may do. */
sp_status sp__passes_choose(const sp_program_options *options, unsigned *chosen);
unsigned sp__passes_planning(unsigned chosen);
/* Run them; p->reports says what they did. */
sp_status sp__passes_run(sp_program *p, unsigned chosen);

/* save_graphs.c: prepare what the options ask for; write the graph as captured (last NULL) or as the last pass left it. */
sp_status sp__save_graphs_begin(sp_program *p, const sp_program_options *options);
sp_status sp__save_graphs_step(sp_program *p, const sp_pass_report *last);

/* Before them, apart.c: mark the values that results of the entry show. */
void sp__results_mark(sp_graph *g);

/* --- for passes -------------------------------------------------------------------------------------------------- */

/* May the node be dropped, moved and shared like an expression? */
static inline bool sp__node_pure(const sp_node *n)
{
    return n->kind == SP_NODE_OP || n->kind == SP_NODE_PARTIAL || n->kind == SP_NODE_SWITCH ||
           (n->kind == SP_NODE_HOST && n->host->pure);
}
/* A pass replaces a value by setting its mark to another one; chains are followed. The node that made it may be removed. */
static inline sp_value *sp__value_forwarded(sp_value *v)
{
    while (v && v->mark) v = v->mark;
    return v;
}
static inline void sp__node_forward(sp_node *n)
{
    for (int i = 0; i < n->n_in; i++) n->in[i] = sp__value_forwarded(n->in[i]);
}
/* Replace values by what their marks point to (NULL: themselves), through chains, everywhere. Marks are left as they are. */
void sp__values_forward(sp_graph *g);
void sp__marks_clear(sp_graph *g);
/* What may stand for the result of a node of one result: v itself, or a copy of it, put before the node, where writes to what
 * the program gives back could tell the difference. */
sp_status sp__value_stand_in(sp_node *n, sp_value *v, sp_value **out);
/* Functions that cannot be reached from the entry leave the list. */
void sp__functions_drop(sp_graph *g);
/* Mark the functions whose operators may be recorded for a GRAD node. */
void sp__recorded_mark(sp_graph *g);

#endif
