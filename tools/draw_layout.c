/* SPDX-License-Identifier: Apache-2.0 */
/* draw_layout.c - graphs in layers (after Sugiyama), as SVG.
 *
 * A box lies one layer below the lowest that leads to it. An edge over several layers gets a thin place in each of them, so that boxes
 * make room for it. Within a layer places are ordered by the middle of their neighbours above and below, a few times up and down; then they
 * move towards these as far as order and width allow. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"

enum { CHAR = 7, LINE = 16, PAD = 8, GAP = 24, LAYER_GAP = 34, THIN = 6, MARGIN = 24, SWEEPS = 12 };

typedef struct {
    int box; /* -1: part of a long edge */
    int layer;
    double x, width, height, key; /* x: middle */
} place;

typedef struct {
    int from, to; /* places in neighbouring layers */
    int edge;
} link;

typedef struct {
    const draw_graph *g;
    int n_places, n_links, n_layers;
    place *places;
    link *links;
    int **layers, *counts; /* places of each layer, in order */
    double *tops, *heights, width;
} layout;

/* --- layers ------------------------------------------------------------------------------------------------------ */

static void measure(const draw_box *b, place *p)
{
    size_t longest = 6;
    for (int i = 0; i < b->n_lines; i++)
        if (strlen(b->lines[i]) > longest) longest = strlen(b->lines[i]);
    p->width = (double)longest * CHAR + 2 * PAD;
    p->height = b->n_lines * LINE + 2 * PAD - 2;
}

/* Longest path from the start; edges that lead back do not count. */
static int *layer_of_boxes(const draw_graph *g)
{
    int *layer = calloc((size_t)g->n_boxes + 1, sizeof *layer);
    for (int turn = 0, moved = 1; layer && moved && turn <= g->n_boxes; turn++) {
        moved = 0;
        for (int i = 0; i < g->n_edges; i++) {
            const draw_edge *e = &g->edges[i];
            if (e->from < e->to && layer[e->to] <= layer[e->from]) {
                layer[e->to] = layer[e->from] + 1;
                moved = 1;
            }
        }
    }
    return layer;
}

static int make_places(layout *l, const int *layer)
{
    const draw_graph *g = l->g;
    int n = g->n_boxes, n_links = 0;
    for (int i = 0; i < g->n_edges; i++) {
        int span = abs(layer[g->edges[i].to] - layer[g->edges[i].from]);
        n += span > 1 ? span - 1 : 0;
        n_links += span > 0 ? span : 1;
    }
    l->places = calloc((size_t)n + 1, sizeof *l->places);
    l->links = calloc((size_t)n_links + 1, sizeof *l->links);
    if (!l->places || !l->links) return -1;
    for (int i = 0; i < g->n_boxes; i++) {
        l->places[i] = (place){.box = i, .layer = layer[i]};
        measure(&g->boxes[i], &l->places[i]);
        if (layer[i] + 1 > l->n_layers) l->n_layers = layer[i] + 1;
    }
    l->n_places = g->n_boxes;
    for (int i = 0; i < g->n_edges; i++) {
        int from = g->edges[i].from, to = g->edges[i].to, step = layer[to] > layer[from] ? 1 : -1, at = from;
        for (int k = layer[from] + step; (layer[to] - k) * step > 0; k += step) {
            l->places[l->n_places] = (place){.box = -1, .layer = k, .width = THIN};
            l->links[l->n_links++] = (link){at, l->n_places, i};
            at = l->n_places++;
        }
        l->links[l->n_links++] = (link){at, to, i};
    }
    return 0;
}

static int fill_layers(layout *l)
{
    l->layers = calloc((size_t)l->n_layers + 1, sizeof *l->layers);
    l->counts = calloc((size_t)l->n_layers + 1, sizeof *l->counts);
    l->tops = calloc((size_t)l->n_layers + 1, sizeof *l->tops);
    l->heights = calloc((size_t)l->n_layers + 1, sizeof *l->heights);
    if (!l->layers || !l->counts || !l->tops || !l->heights) return -1;
    for (int i = 0; i < l->n_places; i++) l->counts[l->places[i].layer]++;
    for (int k = 0; k < l->n_layers; k++)
        if (!(l->layers[k] = calloc((size_t)l->counts[k] + 1, sizeof **l->layers))) return -1;
    memset(l->counts, 0, (size_t)l->n_layers * sizeof *l->counts);
    for (int i = 0; i < l->n_places; i++) {
        int k = l->places[i].layer;
        l->layers[k][l->counts[k]++] = i;
        if (l->places[i].height > l->heights[k]) l->heights[k] = l->places[i].height;
    }
    for (int k = 0; k < l->n_layers; k++)
        l->tops[k] = k ? l->tops[k - 1] + l->heights[k - 1] + LAYER_GAP : MARGIN + 2 * LINE;
    return 0;
}

/* --- order and positions ----------------------------------------------------------------------------------------- */

/* The mean position of neighbours above (or below, or both), -1 elsewhere: kept in key. */
static void neighbours(layout *l, int above, int below)
{
    double *sum = calloc((size_t)l->n_places + 1, sizeof *sum);
    int *n = calloc((size_t)l->n_places + 1, sizeof *n);
    for (int i = 0; sum && n && i < l->n_links; i++) {
        int a = l->links[i].from, b = l->links[i].to;
        if (l->places[a].layer > l->places[b].layer) a = l->links[i].to, b = l->links[i].from;
        if (above) sum[b] += l->places[a].x, n[b]++;
        if (below) sum[a] += l->places[b].x, n[a]++;
    }
    for (int i = 0; sum && n && i < l->n_places; i++) l->places[i].key = n[i] ? sum[i] / n[i] : l->places[i].x;
    free(sum);
    free(n);
}

/* Places of a layer side by side, in its order, around 0. */
static void spread(layout *l, int k)
{
    double x = 0;
    for (int i = 0; i < l->counts[k]; i++) {
        place *p = &l->places[l->layers[k][i]];
        p->x = x + p->width / 2;
        x += p->width + GAP;
    }
    for (int i = 0; i < l->counts[k]; i++) l->places[l->layers[k][i]].x -= (x - GAP) / 2;
}

static void sort_layer(layout *l, int k)
{
    for (int i = 1; i < l->counts[k]; i++)
        for (int j = i; j > 0 && l->places[l->layers[k][j]].key < l->places[l->layers[k][j - 1]].key; j--) {
            int t = l->layers[k][j];
            l->layers[k][j] = l->layers[k][j - 1];
            l->layers[k][j - 1] = t;
        }
}

/* Towards the keys, without passing or touching each other: the mean of what is possible from the left and from the right. */
static void settle(layout *l, int k)
{
    int n = l->counts[k];
    double *left = calloc((size_t)n + 1, sizeof *left), *right = calloc((size_t)n + 1, sizeof *right);
    for (int i = 0; left && right && i < n; i++) {
        const place *p = &l->places[l->layers[k][i]];
        double room = i ? left[i - 1] + (l->places[l->layers[k][i - 1]].width + p->width) / 2 + GAP : p->key;
        left[i] = p->key > room ? p->key : room;
    }
    for (int i = n - 1; left && right && i >= 0; i--) {
        const place *p = &l->places[l->layers[k][i]];
        double room = i + 1 < n ? right[i + 1] - (l->places[l->layers[k][i + 1]].width + p->width) / 2 - GAP : p->key;
        right[i] = p->key < room ? p->key : room;
    }
    for (int i = 0; left && right && i < n; i++) l->places[l->layers[k][i]].x = (left[i] + right[i]) / 2;
    free(left);
    free(right);
}

static void arrange(layout *l)
{
    for (int k = 0; k < l->n_layers; k++) spread(l, k);
    for (int turn = 0; turn < SWEEPS; turn++) {
        neighbours(l, turn % 2 == 0, turn % 2 == 1);
        for (int k = 0; k < l->n_layers; k++) {
            sort_layer(l, k);
            spread(l, k);
        }
    }
    for (int turn = 0; turn < 2 * SWEEPS; turn++) {
        neighbours(l, 1, 1);
        for (int k = 0; k < l->n_layers; k++) settle(l, k);
    }
    double low = 0, high = 0;
    for (int i = 0; i < l->n_places; i++) {
        const place *p = &l->places[i];
        if (p->x - p->width / 2 < low) low = p->x - p->width / 2;
        if (p->x + p->width / 2 > high) high = p->x + p->width / 2;
    }
    for (int i = 0; i < l->n_places; i++) l->places[i].x += MARGIN - low;
    l->width = high - low + 2 * MARGIN;
}

/* --- SVG --------------------------------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') fputs("&lt;", out);
        else if (*text == '>') fputs("&gt;", out);
        else if (*text == '&') fputs("&amp;", out);
        else if ((unsigned char)*text >= ' ') fputc(*text, out);
    }
}

static void put_box(const layout *l, const place *p, FILE *out)
{
    static const char *const fills[] = {"#eef3fb", "#fdf3e1", "#e8f6ec", "#f6e9f4"}, *const edges[] = {
                                                                                         "#6b8fc9", "#d19a3b",
                                                                                         "#58a36f", "#a86b9f"};
    const draw_box *b = &l->g->boxes[p->box];
    double y = l->tops[p->layer] + (l->heights[p->layer] - p->height) / 2;
    fprintf(out, "<g><title>");
    put_text(out, b->tip);
    fprintf(out,
            "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\" fill=\"%s\" stroke=\"%s\"/>",
            p->x - p->width / 2, y, p->width, p->height, fills[b->kind], edges[b->kind]);
    for (int i = 0; i < b->n_lines; i++) {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", p->x, y + PAD + LINE * (i + 1) - 6, i ? " class=\"s\"" : "");
        put_text(out, b->lines[i]);
        fprintf(out, "</text>");
    }
    fprintf(out, "</g>\n");
}

static double edge_y(const layout *l, const place *p, int bottom)
{
    double middle = l->tops[p->layer] + l->heights[p->layer] / 2,
           half = p->box < 0 ? l->heights[p->layer] / 2 : p->height / 2;
    return bottom ? middle + half : middle - half;
}

static void put_link(const layout *l, const link *k, FILE *out)
{
    const place *a = &l->places[k->from], *b = &l->places[k->to];
    int down = b->layer >= a->layer;
    double y0 = edge_y(l, a, down), y1 = edge_y(l, b, !down), bend = (y1 - y0) / 2;
    fprintf(out, "<path d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\"%s/>\n", a->x, y0, a->x, y0 + bend, b->x,
            y1 - bend, b->x, y1, b->box >= 0 ? " marker-end=\"url(#a)\"" : "");
    if (b->box < 0) fprintf(out, "<path d=\"M%.1f %.1f V%.1f\"/>\n", b->x, y1, edge_y(l, b, down));
}

static void put_svg(const layout *l, FILE *out)
{
    int last = l->n_layers - 1;
    double height = last >= 0 ? l->tops[last] + l->heights[last] + MARGIN : 4 * MARGIN,
           width = l->width < 320 ? 320 : l->width;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
        "<style>text{font:12px sans-serif;text-anchor:middle;fill:#222}.s{font-size:10.5px;fill:#555}.t{font-size:14px;text-anchor:start}"
        "path{fill:none;stroke:#8a94a3;stroke-width:1.2}</style>\n"
        "<defs><marker id=\"a\" markerWidth=\"7\" markerHeight=\"7\" refX=\"6\" refY=\"3\" orient=\"auto\">"
        "<path d=\"M0 0 L6 3 L0 6 z\" style=\"fill:#8a94a3;stroke:none\"/></marker></defs>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text class=\"t\" x=\"%d\" y=\"%d\">",
        width, height, width, height, MARGIN, MARGIN + 4);
    put_text(out, l->g->title);
    fprintf(out, "</text>\n");
    for (int i = 0; i < l->n_links; i++) put_link(l, &l->links[i], out);
    for (int i = 0; i < l->n_places; i++)
        if (l->places[i].box >= 0) put_box(l, &l->places[i], out);
    fprintf(out, "</svg>\n");
}

int draw_svg(const draw_graph *g, FILE *out)
{
    layout l = {.g = g};
    int *layer = layer_of_boxes(g), code = layer ? make_places(&l, layer) : -1;
    if (code == 0) code = fill_layers(&l);
    if (code == 0) {
        arrange(&l);
        put_svg(&l, out);
    }
    for (int k = 0; l.layers && k < l.n_layers; k++) free(l.layers[k]);
    free(l.layers);
    free(l.counts);
    free(l.tops);
    free(l.heights);
    free(l.places);
    free(l.links);
    free(layer);
    return code;
}
