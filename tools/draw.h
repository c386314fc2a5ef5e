/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - pictures of graphs: boxes with edges between them, laid out in layers and written as SVG. */
#ifndef SPORE_DRAW_H
#define SPORE_DRAW_H

#include <stdio.h>

typedef enum { DRAW_NODE, DRAW_GROUP, DRAW_INPUT, DRAW_OUTPUT } draw_kind;

enum { DRAW_LINES = 4 };

/* A box: lines of text, the first one a title. */
typedef struct draw_box {
    draw_kind kind;
    int n_lines;
    char lines[DRAW_LINES][96];
    char tip[512]; /* shown when the mouse rests on it */
} draw_box;

typedef struct draw_edge {
    int from, to; /* boxes; an edge that leads back is drawn like the others */
} draw_edge;

typedef struct draw_graph {
    const char *title;
    int n_boxes, n_edges;
    draw_box *boxes; /* in an order in which edges mostly lead forward */
    draw_edge *edges;
} draw_graph;

/* 0, or -1 when there is no memory. */
int draw_svg(const draw_graph *g, FILE *out);

#endif
