/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c - `spore diff`: what two files of weights have in common, entry by entry; of models also their inputs, outputs and operators. Exit
 * code as of diff(1): 0 equal, 1 different, 2 trouble. */
#define _POSIX_C_SOURCE 200809L

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 };

static const char help[] =
    "usage: spore diff A B [--tolerance X] [--json] [options]\n\n"
    "Compares the entries of two files, of any format that spore inspect knows: which are only in one, whose dtype or\n"
    "shape changed, whose values differ and by how much at most; of two models also inputs, outputs and operators.\n"
    "Exit code: 0 equal, 1 different, 2 trouble.\n\n"
    "  --tolerance X        values may differ by X (absolute); default 0: they are equal, NaN to NaN, too\n"
    "  --json               for programs\n" TOOL_KEY_HELP "\nexamples:\n"
    "  spore diff before.ckpt after.ckpt\n"
    "  spore diff model.pth model.ckpt --tolerance 1e-6\n";

typedef struct {
    const sp_bundle *a, *b;
    double tolerance;
    bool json;
    int64_t n_same, n_reported;
    sp_model *model_a, *model_b; /* both, or none */
} comparison;

/* --- values ------------------------------------------------------------------------------------------------------ */

typedef struct {
    double largest;
    int64_t n_different;
    bool nan_differs;
} difference;

static void count_difference(double d, double tolerance, difference *out)
{
    if (isnan(d)) out->nan_differs = true;
    if (d > out->largest) out->largest = d;
    if (!(d <= tolerance)) out->n_different++;
}

/* Elements of both as doubles, side by side: B is kept whole, A comes in pieces. */
typedef struct {
    const double *other;
    int64_t at;
    double tolerance;
    difference *out;
} walk;

static void compare_piece(void *context, const double *values, int64_t n)
{
    walk *w = context;
    for (int64_t i = 0; i < n; i++) {
        double x = values[i], y = w->other[w->at + i];
        if (x == y || (isnan(x) && isnan(y))) continue;
        count_difference(fabs(x - y), w->tolerance, w->out);
    }
    w->at += n;
}

/* Whole numbers of 64 bits do not fit into doubles. */
static void compare_whole(const sp_tensor *x, const sp_tensor *y, double tolerance, difference *out)
{
    const uint64_t *p = sp_tensor_data(x), *q = sp_tensor_data(y);
    const bool is_signed = sp_tensor_dtype(x) == SP_DTYPE_I64;
    for (int64_t i = 0, n = sp_tensor_count(x); i < n; i++) {
        if (p[i] == q[i]) continue;
        const bool more = is_signed ? (int64_t)p[i] > (int64_t)q[i] : p[i] > q[i];
        count_difference((double)(more ? p[i] - q[i] : q[i] - p[i]), tolerance, out);
    }
}

/* How far the numbers are from each other in the plane. */
static void compare_complex(const sp_tensor *x, const sp_tensor *y, double tolerance, difference *out)
{
    const bool single = sp_tensor_dtype(x) == SP_DTYPE_C64;
    const void *p = sp_tensor_data(x), *q = sp_tensor_data(y);
    for (int64_t i = 0, n = sp_tensor_count(x); i < n; i++) {
        double d[2];
        for (int64_t k = 0; k < 2; k++) {
            const double a = single ? (double)((const float *)p)[2 * i + k] : ((const double *)p)[2 * i + k],
                         b = single ? (double)((const float *)q)[2 * i + k] : ((const double *)q)[2 * i + k];
            d[k] = a == b || (isnan(a) && isnan(b)) ? 0 : a - b;
        }
        if (d[0] != 0 || d[1] != 0)
            count_difference(isnan(d[0]) || isnan(d[1]) ? NAN : hypot(d[0], d[1]), tolerance, out);
    }
}

typedef struct {
    double *to;
    int64_t at;
} gather;

static void gather_piece(void *context, const double *values, int64_t n)
{
    gather *g = context;
    memcpy(g->to + g->at, values, (size_t)n * sizeof *values);
    g->at += n;
}

static sp_status compare_values(const comparison *c, int64_t i, int64_t k, difference *out)
{
    sp_tensor *x = NULL, *y = NULL;
    *out = (difference){0};
    sp_status status = sp_bundle_copy_at(c->a, i, &x);
    if (status == SP_OK) status = sp_bundle_copy_at(c->b, k, &y);
    bool equal = status == SP_OK && sp_tensor_dtype(x) == sp_tensor_dtype(y) &&
                 memcmp(sp_tensor_data(x), sp_tensor_data(y), sp_tensor_bytes(x)) == 0;
    const sp_dtype dtype =
        status == SP_OK && sp_tensor_dtype(x) == sp_tensor_dtype(y) ? sp_tensor_dtype(x) : SP_DTYPE_NONE;
    if (status != SP_OK || equal) {
        /* nothing to compare */
    } else if (dtype == SP_DTYPE_I64 || dtype == SP_DTYPE_U64) compare_whole(x, y, c->tolerance, out);
    else if (dtype == SP_DTYPE_C64 || dtype == SP_DTYPE_C128) compare_complex(x, y, c->tolerance, out);
    else if (sp_tensor_count(x) > 0) {
        double *other = malloc((size_t)sp_tensor_count(y) * sizeof *other);
        if (other == NULL) exit(tool_complain(TROUBLE, "out of memory"));
        status = tool_for_values(y, gather_piece, &(gather){other, 0});
        walk w = {.other = other, .tolerance = c->tolerance, .out = out};
        if (status == SP_OK) status = tool_for_values(x, compare_piece, &w);
        free(other);
    }
    sp_tensor_release(x);
    sp_tensor_release(y);
    return status;
}

/* --- reports ----------------------------------------------------------------------------------------------------- */

static void begin(comparison *c, const char *name, const char *what)
{
    char shown[512];
    if (c->json) {
        printf("%s\n    {\"name\": ", c->n_reported > 0 ? "," : "");
        tool_json_text(name, strlen(name));
        printf(", \"change\": \"%s\"", what);
    } else {
        printf("%s: %s", tool_plain(name, shown, sizeof shown), what);
    }
    c->n_reported++;
}

static void end(const comparison *c) { printf(c->json ? "}" : "\n"); }

static void report_text(const comparison *c, const char *key, const char *value)
{
    char shown[512];
    if (c->json) {
        printf(", \"%s\": ", key);
        tool_json_text(value, strlen(value));
    } else printf(", %s %s", tool_plain(value, shown, sizeof shown), key);
}

/* d: of the values, where only the dtype is another; else NULL. */
static void report_geometry(comparison *c, int64_t i, int64_t k, const difference *d)
{
    int rank_a = 0, rank_b = 0;
    const int64_t *dims_a = NULL, *dims_b = NULL;
    sp_dtype x = sp_bundle_shape_at(c->a, i, &rank_a, &dims_a), y = sp_bundle_shape_at(c->b, k, &rank_b, &dims_b);
    char from[300], to[300], shape[256];
    snprintf(from, sizeof from, "%s%s", x == SP_DTYPE_NONE ? "text" : sp_dtype_name(x),
             x == SP_DTYPE_NONE ? "" : tool_shape(rank_a, dims_a, shape));
    snprintf(to, sizeof to, "%s%s", y == SP_DTYPE_NONE ? "text" : sp_dtype_name(y),
             y == SP_DTYPE_NONE ? "" : tool_shape(rank_b, dims_b, shape));
    begin(c, sp_bundle_name_at(c->a, i), "other dtype or shape");
    report_text(c, "in A", from);
    report_text(c, "in B", to);
    if (d != NULL && !d->nan_differs) printf(c->json ? ", \"largest\": %.9g" : ", largest difference %.9g", d->largest);
    end(c);
}

static void report_values(comparison *c, int64_t i, const difference *d)
{
    char text[64];
    begin(c, sp_bundle_name_at(c->a, i), "other values");
    if (c->json) {
        if (d->nan_differs) printf(", \"largest\": null");
        else printf(", \"largest\": %.9g", d->largest);
        printf(", \"elements\": %lld", (long long)d->n_different);
    } else {
        snprintf(text, sizeof text, "%lld", (long long)d->n_different);
        report_text(c, d->n_different == 1 ? "element" : "elements", text);
        if (d->nan_differs) printf(", NaN in one of the files only");
        else printf(", largest difference %.9g", d->largest);
    }
    end(c);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

static int compare_texts(comparison *c, int64_t i, int64_t k)
{
    size_t n = 0, m = 0;
    const char *p = sp_bundle_text_at(c->a, i, &n), *q = sp_bundle_text_at(c->b, k, &m);
    if (n == m && memcmp(p, q, n) == 0) {
        c->n_same++;
        return 0;
    }
    begin(c, sp_bundle_name_at(c->a, i), "other text");
    end(c);
    return 0;
}

/* Entry of B that is entry i of A by name; -1: there is none. An .npy file has one array, which is called as the file is. */
static int64_t other_entry(const comparison *c, int64_t i)
{
    const int64_t k = sp_bundle_find(c->b, sp_bundle_name_at(c->a, i));
    const bool arrays = strcmp(sp_format_name(sp_bundle_format(c->a)), "npy") == 0 &&
                        strcmp(sp_format_name(sp_bundle_format(c->b)), "npy") == 0;
    return k < 0 && arrays ? 0 : k;
}

static int compare_entry(comparison *c, int64_t i)
{
    const char *name = sp_bundle_name_at(c->a, i);
    int64_t k = other_entry(c, i);
    if (k < 0) {
        begin(c, name, "only in A");
        end(c);
        return 0;
    }
    int rank_a = 0, rank_b = 0;
    const int64_t *dims_a = NULL, *dims_b = NULL;
    sp_dtype x = sp_bundle_shape_at(c->a, i, &rank_a, &dims_a), y = sp_bundle_shape_at(c->b, k, &rank_b, &dims_b);
    if (x == SP_DTYPE_NONE && y == SP_DTYPE_NONE) return compare_texts(c, i, k);
    if (x == SP_DTYPE_NONE || y == SP_DTYPE_NONE || rank_a != rank_b ||
        memcmp(dims_a, dims_b, (size_t)rank_a * sizeof *dims_a) != 0) {
        report_geometry(c, i, k, NULL);
        return 0;
    }
    difference d;
    if (compare_values(c, i, k, &d) != SP_OK) return tool_complain(TROUBLE, "diff: %s", sp_error_message());
    if (x != y) report_geometry(c, i, k, &d);
    else if (d.n_different > 0) report_values(c, i, &d);
    else c->n_same++;
    return 0;
}

/* --- graphs ------------------------------------------------------------------------------------------------------ */

static void face_text(const sp_model *m, int i, bool input, char *out, size_t room)
{
    const sp_spec *s = input ? sp_model_input_spec(m, i) : sp_model_output_spec(m, i);
    char shape[256];
    snprintf(out, room, "%s%s", s->dtype != SP_DTYPE_NONE ? sp_dtype_name(s->dtype) : "?",
             s->rank >= 0 ? tool_shape(s->rank, s->dims, shape) : "");
}

static void report_pair(comparison *c, const char *name, const char *what, const char *a, const char *b)
{
    begin(c, name, what);
    report_text(c, "in A", a);
    report_text(c, "in B", b);
    end(c);
}

/* Inputs, or outputs, by their place: names may be those of another writer. */
static void compare_faces(comparison *c, bool input)
{
    int n = input ? sp_model_inputs(c->model_a) : sp_model_outputs(c->model_a),
        m = input ? sp_model_inputs(c->model_b) : sp_model_outputs(c->model_b);
    for (int i = 0; i < n || i < m; i++) {
        char a[320] = "none", b[320] = "none";
        const sp_model *named = i < n ? c->model_a : c->model_b;
        if (i < n) face_text(c->model_a, i, input, a, sizeof a);
        if (i < m) face_text(c->model_b, i, input, b, sizeof b);
        if (strcmp(a, b) != 0)
            report_pair(c, input ? sp_model_input_name(named, i) : sp_model_output_name(named, i),
                        input ? "other input" : "other output", a, b);
    }
}

static int count_of(const tool_kind *kinds, int n, const char *type)
{
    for (int i = 0; i < n; i++)
        if (strcmp(kinds[i].type, type) == 0) return kinds[i].n;
    return 0;
}

static void report_kind(comparison *c, const char *type, int a, int b)
{
    char text[2][24];
    snprintf(text[0], sizeof text[0], "%d", a);
    snprintf(text[1], sizeof text[1], "%d", b);
    report_pair(c, type, "other number of nodes", text[0], text[1]);
}

static void compare_graphs(comparison *c)
{
    enum { KINDS_MAX = 512 };
    tool_kind a[KINDS_MAX], b[KINDS_MAX];
    int64_t before = c->n_reported;
    compare_faces(c, true);
    compare_faces(c, false);
    int n = tool_kinds(c->model_a, a, KINDS_MAX), m = tool_kinds(c->model_b, b, KINDS_MAX);
    for (int i = 0; i < n; i++)
        if (count_of(b, m, a[i].type) != a[i].n) report_kind(c, a[i].type, a[i].n, count_of(b, m, a[i].type));
    for (int i = 0; i < m; i++)
        if (count_of(a, n, b[i].type) == 0) report_kind(c, b[i].type, 0, b[i].n);
    /* As many of each, but elsewhere? */
    for (int i = 0; c->n_reported == before && i < sp_model_nodes(c->model_a); i++) {
        const sp_model_node *x = sp_model_node_at(c->model_a, i), *y = sp_model_node_at(c->model_b, i);
        char name[64];
        snprintf(name, sizeof name, "node %d", i);
        if (strcmp(x->type, y->type) != 0 || x->n_in != y->n_in || x->n_out != y->n_out)
            report_pair(c, name, "other operator", x->type, y->type);
    }
}

/* Both, where both files are models that can be read; the rest is compared without. */
static void load_models(comparison *c, const char *const *paths, const sp_file_options *options)
{
    if (!tool_holds_model(c->a) || !tool_holds_model(c->b)) return;
    if (sp_model_load(paths[0], options, &c->model_a) != SP_OK) c->model_a = NULL;
    if (c->model_a == NULL || sp_model_load(paths[1], options, &c->model_b) == SP_OK) return;
    sp_model_release(c->model_a);
    c->model_a = c->model_b = NULL;
}

static int compare(comparison *c)
{
    if (c->json) printf("{\n  \"differences\": [");
    if (c->model_a != NULL) compare_graphs(c);
    for (int64_t i = 0; i < sp_bundle_count(c->a); i++) {
        int code = compare_entry(c, i);
        if (code != 0) return code;
    }
    for (int64_t i = 0; i < sp_bundle_count(c->b); i++)
        if (other_entry(&(comparison){.a = c->b, .b = c->a}, i) < 0) {
            begin(c, sp_bundle_name_at(c->b, i), "only in B");
            end(c);
        }
    if (c->json) printf("%s],\n  \"equal\": %lld\n}\n", c->n_reported > 0 ? "\n  " : "", (long long)c->n_same);
    else
        printf("%lld %s equal, %lld different\n", (long long)c->n_same, c->n_same == 1 ? "entry" : "entries",
               (long long)c->n_reported);
    if (fflush(stdout) != 0 || ferror(stdout)) return TROUBLE; /* the answer did not arrive; main says so */
    return c->n_reported > 0 ? DIFFERENT : SAME;
}

static int load(const char *path, tool_key *key, sp_bundle **out)
{
    const char *cipher = NULL;
    sp_file_options options = {0};
    if (tool_key_for("diff", key, path, &cipher, &options) != 0) return TROUBLE;
    sp_status status = sp_load(path, &options, out);
    tool_key_clear(key);
    return status == SP_OK ? 0 : tool_complain(TROUBLE, "diff: %s", sp_error_message());
}

int verb_diff(int argc, char **argv)
{
    comparison c = {0};
    tool_key key = {0};
    const char *tolerance = NULL, *paths[2];
    bool helped;
    int n;
    const tool_option options[] = {{"--json", &c.json, NULL, NULL},
                                   {"--tolerance", NULL, &tolerance, NULL},
                                   TOOL_KEY_OPTIONS(key),
                                   {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, help, (const int[]){2, 2}, paths, &n, &helped);
    if (code != 0 || helped) return code;
    if (tolerance != NULL) {
        if (tool_number("diff", "--tolerance", tolerance, 0, DBL_MAX, &c.tolerance) != 0) return TROUBLE;
    }
    sp_bundle *a = NULL, *b = NULL;
    code = load(paths[0], &key, &a);
    if (code == 0) code = load(paths[1], &key, &b);
    if (code == 0 && tool_key_used("diff", &key) != 0) code = TROUBLE;
    c.a = a;
    c.b = b;
    if (code == 0)
        load_models(&c, paths, &(sp_file_options){0}); /* models are not encrypted, or they are compared without */
    if (code == 0) code = compare(&c);
    sp_model_release(c.model_a);
    sp_model_release(c.model_b);
    sp_bundle_release(a);
    sp_bundle_release(b);
    return code;
}
