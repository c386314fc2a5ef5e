/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - `spore draw`: a model as a picture.
 *
 * A large net is folded until its boxes can be looked at: first by scope, as deep as still fits, then straight chains of nodes become one
 * box; a net without scopes is cut where a single value passes. */
#define _POSIX_C_SOURCE 200809L

#include "draw.h"

#include <stdlib.h>
#include <string.h>

#include "spore/model.h"
#include "tools.h"

static const char help[] =
    "usage: spore draw MODEL -o PICTURE.svg [options]\n\n"
    "Draws the graph of a model (MindIR, ONNX, TFLite, MindSpore Lite) as SVG, with what is in branches, loops and functions. Large ones are folded:\n"
    "parts of one scope (a layer) are one box, and so are chains of operators. Rest the mouse on a box to see what is in it.\n\n"
    "  -o, --output FILE    where to; - for standard output (default: MODEL with .svg)\n" TOOL_FORCE_HELP
    "  --depth N            fold scopes below N levels; 0 folds nothing (default: what gives at most --boxes boxes)\n"
    "  --boxes N            how many boxes there may be before parts are folded (default 60)\n" TOOL_KEY_HELP
    "\nexamples:\n"
    "  spore draw lenet.mindir -o lenet.svg\n"
    "  spore draw resnet50.onnx -o resnet50.svg --depth 2\n"
    "  spore draw model.onnx -o - | rsvg-convert -o model.png\n";

typedef struct {
    sp_model *model;
    const char *path;
    int most, depth; /* depth -1: by number of boxes */
    int n;           /* nodes */
    int *box_of;     /* by node */
    int n_boxes;
    struct maker {
        const char *name;
        int node;
    } *makers; /* values and who makes them, by name */
    int n_makers;
    draw_graph graph;
} job;

/* --- who makes what ---------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct maker *)a)->name, ((const struct maker *)b)->name);
}

static int list_makers(job *j)
{
    int n = sp_model_inputs(j->model);
    for (int i = 0; i < j->n; i++) n += sp_model_node_at(j->model, i)->n_out;
    j->makers = calloc((size_t)n + 1, sizeof *j->makers);
    if (j->makers == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    for (int i = 0; i < j->n; i++) {
        const sp_model_node *node = sp_model_node_at(j->model, i);
        for (int k = 0; k < node->n_out; k++) j->makers[j->n_makers++] = (struct maker){node->out[k], i};
    }
    for (int i = 0; i < sp_model_inputs(j->model); i++)
        j->makers[j->n_makers++] = (struct maker){sp_model_input_name(j->model, i), -1 - i};
    qsort(j->makers, (size_t)j->n_makers, sizeof *j->makers, by_name);
    return 0;
}

/* Node that makes a value; -1 - i for input i; INT_MIN-like -1000000: a weight or constant. */
enum { NOBODY = -1000000 };
static int maker_of(const job *j, const char *name)
{
    struct maker key = {name, 0},
                 *found = *name ? bsearch(&key, j->makers, (size_t)j->n_makers, sizeof key, by_name) : NULL;
    return found != NULL ? found->node : NOBODY;
}

/* --- folding ----------------------------------------------------------------------------------------------------- */

static int levels(const char *scope)
{
    int n = *scope != '\0';
    for (; *scope; scope++) n += *scope == '/';
    return n;
}

static size_t prefix(const char *scope, int depth)
{
    const char *p = scope;
    for (; *p; p++)
        if (*p == '/' && --depth == 0) break;
    return (size_t)(p - scope);
}

/* Nodes below `depth` levels of scope share a box; depth 0: none do. Gives the number of boxes. */
static int fold_scopes(job *j, int depth)
{
    int n = 0;
    for (int i = 0; i < j->n; i++) {
        const char *scope = sp_model_node_at(j->model, i)->scope;
        size_t bytes = depth > 0 ? prefix(scope, depth) : 0;
        j->box_of[i] = -1;
        for (int k = i - 1; k >= 0 && bytes > 0 && j->box_of[i] < 0; k--) {
            const char *other = sp_model_node_at(j->model, k)->scope;
            if (prefix(other, depth) == bytes && strncmp(scope, other, bytes) == 0) j->box_of[i] = j->box_of[k];
        }
        if (j->box_of[i] < 0) j->box_of[i] = n++;
    }
    return n;
}

static void choose_depth(job *j)
{
    int deepest = 0;
    for (int i = 0; i < j->n; i++) {
        int n = levels(sp_model_node_at(j->model, i)->scope);
        deepest = n > deepest ? n : deepest;
    }
    int depth = j->depth >= 0 ? j->depth : 0;
    j->n_boxes = fold_scopes(j, depth);
    for (depth = deepest; j->depth < 0 && j->n_boxes > j->most && depth >= 1; depth--)
        j->n_boxes = fold_scopes(j, depth);
}

/* Boxes that have one box behind them, which has only them in front, become one with it. */
static void fold_chains(job *j)
{
    int *next = malloc((size_t)(j->n_boxes + 1) * sizeof *next),
        *before = malloc((size_t)(j->n_boxes + 1) * sizeof *before),
        *head = malloc((size_t)(j->n_boxes + 1) * sizeof *head),
        *number = calloc((size_t)j->n_boxes + 1, sizeof *number);
    for (int b = 0; next && before && head && number && b < j->n_boxes; b++)
        next[b] = before[b] = -1, head[b] = b; /* -1: none, -2: several */
    for (int i = 0; next && before && head && number && i < j->n; i++) {
        const sp_model_node *node = sp_model_node_at(j->model, i);
        for (int k = 0; k < node->n_in; k++) {
            int from = maker_of(j, node->in[k]), to = j->box_of[i];
            if (from == NOBODY) continue;
            from = from < 0 ? -2 : j->box_of[from];
            if (from == to) continue;
            before[to] = before[to] == -1 || before[to] == from ? from : -2;
            if (from >= 0) next[from] = next[from] == -1 || next[from] == to ? to : -2;
        }
    }
    for (int i = 0; next && before && head && number && i < sp_model_outputs(j->model); i++) {
        int from = maker_of(j, sp_model_output_name(j->model, i));
        if (from >= 0) next[j->box_of[from]] = -2; /* results are shown */
    }
    int n = 0;
    for (int b = 0; next && before && head && number && b < j->n_boxes; b++) {
        int p = before[b];
        head[b] = p >= 0 && p < b && next[p] == b ? head[p] : b;
        if (head[b] == b) number[b] = n++;
    }
    for (int i = 0; next && before && head && number && i < j->n; i++) j->box_of[i] = number[head[j->box_of[i]]];
    if (n > 0) j->n_boxes = n;
    free(next);
    free(before);
    free(head);
    free(number);
}

/* Still too many: stretches between points that one value passes alone, several of them to a box where need be. */
static void fold_stretches(job *j)
{
    int *last_use = malloc((size_t)(j->n + 1) * sizeof *last_use),
        *stretch = malloc((size_t)(j->n + 1) * sizeof *stretch), n = 0, open_ends = 0;
    for (int i = 0; last_use && stretch && i < j->n; i++) last_use[i] = i;
    for (int i = 0; last_use && stretch && i < j->n; i++) {
        const sp_model_node *node = sp_model_node_at(j->model, i);
        for (int k = 0; k < node->n_in; k++) {
            int from = maker_of(j, node->in[k]);
            if (from >= 0 && i > last_use[from]) last_use[from] = i;
        }
    }
    for (int i = 0; last_use && stretch && i < j->n; i++) {
        stretch[i] = n;
        open_ends = 0;
        for (int k = 0; k <= i; k++) open_ends += last_use[k] > i;
        if (open_ends <= 1) n++;
    }
    int together = n > j->most ? (n + j->most - 1) / j->most : 1;
    for (int i = 0; last_use && stretch && i < j->n; i++) j->box_of[i] = stretch[i] / together;
    if (last_use && stretch && j->n > 0) j->n_boxes = j->box_of[j->n - 1] + 1;
    free(last_use);
    free(stretch);
}

/* --- texts ------------------------------------------------------------------------------------------------------- */

static const char *elements(int64_t n, char out[32])
{
    if (n >= 1000000) snprintf(out, 32, "%.1f M", (double)n / 1e6);
    else if (n >= 10000) snprintf(out, 32, "%.1f k", (double)n / 1e3);
    else snprintf(out, 32, "%lld", (long long)n);
    return out;
}

static int64_t weights_of(const job *j, const sp_model_node *node, char shape[256])
{
    const sp_bundle *b = sp_model_parameters(j->model);
    int64_t sum = 0;
    for (int k = 0; k < node->n_in; k++) {
        int64_t at = *node->in[k] ? sp_bundle_find(b, node->in[k]) : -1, n = 1;
        int rank;
        const int64_t *dims;
        if (at < 0) continue;
        sp_bundle_shape_at(b, at, &rank, &dims);
        for (int d = 0; d < rank; d++) n *= dims[d];
        if (sum == 0) tool_shape(rank, dims, shape);
        sum += n;
    }
    return sum;
}

static void put_line(draw_box *b, const char *text)
{
    if (b->n_lines < DRAW_LINES)
        snprintf(b->lines[b->n_lines++], sizeof b->lines[0], "%.44s%s", text, strlen(text) > 44 ? "..." : "");
}

/* Types of the nodes of a box in order, "Conv, BatchNorm, Relu"; several of one kind as "9 Conv". */
static void list_types(const job *j, int box, char *out, size_t room)
{
    const char *seen[64];
    int counts[64] = {0}, n = 0;
    size_t used = 0;
    for (int i = 0; i < j->n; i++) {
        const char *type = sp_model_node_at(j->model, i)->type;
        int k = 0;
        if (j->box_of[i] != box) continue;
        while (k < n && strcmp(seen[k], type) != 0) k++;
        if (k == 64) continue;
        if (k == n) seen[n++] = type;
        counts[k]++;
    }
    out[0] = '\0';
    for (int k = 0; k < n && used < room; k++) {
        if (counts[k] > 1)
            used += (size_t)snprintf(out + used, room - used, "%s%d %s", k ? ", " : "", counts[k], seen[k]);
        else used += (size_t)snprintf(out + used, room - used, "%s%s", k ? ", " : "", seen[k]);
    }
}

/* The scope that all nodes of a box share. */
static void common_scope(const job *j, int box, char *out, size_t room)
{
    bool first = true;
    for (int i = 0; i < j->n; i++) {
        const char *scope = sp_model_node_at(j->model, i)->scope;
        if (j->box_of[i] != box) continue;
        if (first) snprintf(out, room, "%s", scope);
        first = false;
        size_t n = 0;
        while (out[n] && out[n] == scope[n]) n++;
        if (out[n] == '\0' && (scope[n] == '/' || scope[n] == '\0')) continue;
        if (!(scope[n] == '\0' && out[n] == '/')) /* back to the last level they share as a whole */
            while (n > 0 && out[n] != '/') n--;
        out[n] = '\0';
    }
}

/* The last level of a scope; of a branch or body also what it belongs to: "if_1/then". */
static const char *shown_scope(const char *scope)
{
    const char *leaf = strrchr(scope, '/');
    if (leaf == NULL) return scope;
    if (strcmp(leaf, "/then") != 0 && strcmp(leaf, "/else") != 0 && strcmp(leaf, "/body") != 0 &&
        strcmp(leaf, "/cond") != 0)
        return leaf + 1;
    while (leaf > scope && leaf[-1] != '/') leaf--;
    return leaf;
}

static void describe_box(const job *j, int box, draw_box *out)
{
    char scope[512] = "", types[256], shape[256] = "", amount[32], text[600];
    int64_t weights = 0;
    int n = 0;
    const sp_model_node *last = NULL;
    for (int i = 0; i < j->n; i++) {
        if (j->box_of[i] != box) continue;
        last = sp_model_node_at(j->model, i);
        weights += weights_of(j, last, shape);
        n++;
    }
    list_types(j, box, types, sizeof types);
    common_scope(j, box, scope, sizeof scope);
    if (n == 1) {
        out->kind = DRAW_NODE;
        put_line(out, last->type);
        if (*scope) put_line(out, shown_scope(scope));
    } else {
        out->kind = *scope ? DRAW_GROUP : DRAW_NODE;
        if (*scope) put_line(out, scope);
        put_line(out, types);
    }
    if (weights) {
        snprintf(text, sizeof text, n == 1 ? "%s, %s weights" : "%s%s weights", n == 1 ? shape : "",
                 elements(weights, amount));
        put_line(out, text);
    }
    snprintf(out->tip, sizeof out->tip, "%.240s\n%d node%s: %.240s", n == 1 ? last->name : scope, n, n == 1 ? "" : "s",
             types);
}

static void describe_face(const job *j, draw_box *out, draw_kind kind, int i)
{
    char shape[768], text[900];
    bool input = kind == DRAW_INPUT;
    const char *name = input ? sp_model_input_name(j->model, i) : sp_model_output_name(j->model, i);
    const sp_spec *spec = input ? sp_model_input_spec(j->model, i) : sp_model_output_spec(j->model, i);
    const char *colon = strchr(name, ':'); /* MindIR: "function:node:number"; the function is that of the whole model */
    if (!input && colon != NULL && strchr(colon + 1, ':') != NULL) name = colon + 1;
    out->kind = kind;
    put_line(out, name);
    snprintf(text, sizeof text, "%s %s", spec->dtype == SP_DTYPE_NONE ? "" : sp_dtype_name(spec->dtype),
             spec->rank >= 0 ? tool_face_shape(j->model, input, i, shape, sizeof shape) : "");
    put_line(out, text);
    snprintf(out->tip, sizeof out->tip, "%s %s", kind == DRAW_INPUT ? "input" : "output", name);
}

/* --- the graph --------------------------------------------------------------------------------------------------- */

static void add_edge(draw_graph *g, int from, int to)
{
    for (int i = 0; i < g->n_edges; i++)
        if (g->edges[i].from == from && g->edges[i].to == to) return;
    if (from != to) g->edges[g->n_edges++] = (draw_edge){from, to};
}

/* Of a result; those of a tuple have the name of the tuple with a number behind: "name", "name_1". */
static int maker_of_output(const job *j, int i)
{
    const char *name = sp_model_output_name(j->model, i), *last = strrchr(name, '_');
    int from = maker_of(j, name);
    if (from != NOBODY || last == NULL || last[1] == '\0' || last[1 + strspn(last + 1, "0123456789")] != '\0')
        return from;
    char *base = strndup(name, (size_t)(last - name));
    if (base != NULL) from = maker_of(j, base);
    free(base);
    return from;
}

/* Inputs first, then the boxes, then outputs. */
static int make_graph(job *j)
{
    draw_graph *g = &j->graph;
    int n_in = sp_model_inputs(j->model), n_out = sp_model_outputs(j->model), n_edges = n_out;
    for (int i = 0; i < j->n; i++) n_edges += sp_model_node_at(j->model, i)->n_in;
    g->n_boxes = n_in + j->n_boxes + n_out;
    g->boxes = calloc((size_t)g->n_boxes + 1, sizeof *g->boxes);
    g->edges = calloc((size_t)n_edges + 1, sizeof *g->edges);
    if (g->boxes == NULL || g->edges == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    for (int i = 0; i < n_in; i++) describe_face(j, &g->boxes[i], DRAW_INPUT, i);
    for (int b = 0; b < j->n_boxes; b++) describe_box(j, b, &g->boxes[n_in + b]);
    for (int i = 0; i < j->n; i++) {
        const sp_model_node *node = sp_model_node_at(j->model, i);
        for (int k = 0; k < node->n_in; k++) {
            int from = maker_of(j, node->in[k]);
            if (from != NOBODY) add_edge(g, from < 0 ? -1 - from : n_in + j->box_of[from], n_in + j->box_of[i]);
        }
    }
    for (int i = 0; i < n_out; i++) {
        int at = n_in + j->n_boxes + i, from = maker_of_output(j, i);
        describe_face(j, &g->boxes[at], DRAW_OUTPUT, i);
        if (from != NOBODY) add_edge(g, from < 0 ? -1 - from : n_in + j->box_of[from], at);
    }
    return 0;
}

static int write_picture(job *j, const char *path, bool force)
{
    char title[1024];
    tool_output out = {0};
    const char *slash = strrchr(j->path, '/');
    snprintf(title, sizeof title, "%s: %d nodes", slash != NULL ? slash + 1 : j->path, j->n);
    j->graph.title = title;
    bool standard = strcmp(path, "-") == 0;
    int code = standard ? 0 : tool_output_open("draw", path, force, &out);
    if (code != 0) return code;
    bool drawn = draw_svg(&j->graph, standard ? stdout : out.file) == 0;
    if (!drawn) code = tool_complain(EXIT_FAILED, "draw: out of memory");
    int written = standard ? 0 : tool_output_close(&out, drawn);
    return code != 0 ? code : written;
}

int verb_draw(int argc, char **argv)
{
    job j = {.most = 60, .depth = -1};
    const char *output = NULL, *boxes = NULL, *depth = NULL;
    bool force = false, helped;
    long long n_boxes = 60, n_levels = -1;
    tool_key key = {0};
    const tool_option options[] = {TOOL_FORCE_OPTION(force),        {"--output", NULL, &output, NULL},
                                   {"-o", NULL, &output, NULL},     {"--boxes", NULL, &boxes, NULL},
                                   {"--depth", NULL, &depth, NULL}, TOOL_KEY_OPTIONS(key),
                                   {NULL, NULL, NULL, NULL}};
    int n, code = tool_parse(argc, argv, options, help, (const int[]){1, 1}, &j.path, &n, &helped);
    if (code != 0 || helped) return code;
    if (boxes != NULL && depth != NULL)
        return tool_complain(EXIT_USAGE, "draw: give --boxes or --depth: each says how far parts are folded");
    if (output != NULL && strcmp(output, "-") != 0 && !tool_ends_in(output, ".svg"))
        return tool_complain(
            EXIT_USAGE,
            "draw: SVG is written, '%s' must end in .svg; another program makes other pictures of it: spore draw %s -o - | rsvg-convert -o "
            "picture.png",
            output, j.path);
    code = tool_whole("draw", "--boxes", boxes, 1, 1000000, &n_boxes);
    if (code == 0) code = tool_whole("draw", "--depth", depth, 0, 1000, &n_levels);
    if (code != 0) return code;
    j.most = (int)n_boxes;
    j.depth = (int)n_levels;
    sp_file_options file = {0};
    const char *cipher = NULL;
    char made[4096];
    code = tool_key_for("draw", &key, j.path, &cipher, &file);
    if (code != 0) return code;
    snprintf(made, sizeof made, "%s.svg", j.path);
    if (sp_model_load(j.path, &file, &j.model) != SP_OK) code = tool_engine_failed("draw");
    tool_key_clear(&key);
    if (code == 0) code = tool_key_used("draw", &key);
    if (code == 0) {
        j.n = sp_model_nodes(j.model);
        j.box_of = calloc((size_t)j.n + 1, sizeof *j.box_of);
        code = j.box_of != NULL ? list_makers(&j) : tool_complain(EXIT_FAILED, "out of memory");
    }
    if (code == 0) {
        choose_depth(&j);
        if (j.depth < 0 && j.n_boxes > j.most / 2) fold_chains(&j);
        if (j.depth < 0 && j.n_boxes > j.most) fold_stretches(&j);
        code = make_graph(&j);
    }
    if (code == 0) code = write_picture(&j, output != NULL ? output : made, force);
    free(j.box_of);
    free(j.makers);
    free(j.graph.boxes);
    free(j.graph.edges);
    sp_model_release(j.model);
    return code;
}
