/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - what a rank's program costs: time of its operators and exchanges, and memory, from figures measured once (sp_costs_measure, `spore
 * bench --comm`) and kept in a file. The search for strategies and `spore plan` read them; without a file round numbers serve.
 *
 * Figures hold for so many ranks on a host at work at once, since these share memory and processors. Only + - * / and comparisons are used, so
 * that all ranks come to the same numbers, and rank 0's figures are everybody's. */
#ifndef SPORE_COST_H
#define SPORE_COST_H

#include "ir/graph_impl.h"
#include "parallel/parallel_impl.h"

enum { SP_COST_PRODUCTS = 7, SP_COST_EXCHANGES = 9, SP_COST_KINDS = 4 };

typedef struct sp_costs {
    double ranks;                     /* on a host, measured together */
    double node;                      /* ns for an operator, whatever it does */
    double element;                   /* ns for an element of an element-wise operator among others */
    double byte;                      /* ns for a byte that is read or written by others */
    double product[SP_COST_PRODUCTS]; /* ns for 2^(10 + 3 i) multiplications of a matrix product */
    double exchange[SP_COST_KINDS]
                   [SP_COST_EXCHANGES]; /* ns for a tensor of 4 * 8^i bytes: all_reduce, all_gather (of the
                                                        * slice), reduce_scatter, all_to_all */
    double link_latency, link_byte;     /* ns, between hosts: assumed, SPORE_LINK says otherwise */
} sp_costs;

/* Figures for so many ranks on a host, the same on all ranks; all call it. */
sp_status sp__costs_find(sp_costs *out);
/* ns for an exchange of a tensor of so many bytes among n ranks, on `hosts` hosts. */
double sp__cost_exchange(const sp_costs *c, const sp_op *op, int n, int hosts, double bytes);

/* Multiplications of a product of tensors; 0: the node is none. */
sp_status sp__cost_products(const sp_node *n, double *out);

/* Hosts of a group: ranks of a host come one after the other. */
int sp__cost_hosts(const sp_comm *group);

typedef struct sp_cost {
    double compute, exchange; /* ns */
    double
        step; /* their sum, less what exchanges between hosts hide behind computing; those of a host need its processors themselves */
    double sent;            /* bytes that this rank sends */
    double variables, peak; /* bytes: of slices that stay, and of values at most */
    int n_nodes, n_exchanges;
} sp_cost;

/* Of the program of a graph's entry, whose nodes have the geometry of this rank's slices. `table` (may be NULL) gets JSON. */
sp_status sp__cost_graph(const sp_costs *c, const sp_graph *g, sp_cost *out, sp__text *table);

#endif
