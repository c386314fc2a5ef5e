/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - graphs from text, as print.c writes it.
 *
 * Two walks over the text: the first makes all functions, so that bodies can mention any of them, the second reads the bodies.
 * Values are found by the number they have in the text; they get numbers of their own. Variables become zeros, host code
 * becomes code that fails when it is reached: texts hold programs, not what they run on. */
#include <stdlib.h>

#include "base/plain.h"
#include "ir/graph_impl.h"

typedef struct {
    const char *at;
    int line;
    sp_graph *g;
    sp_value **values; /* by number in the text */
    int n_values;
    sp_function **functions; /* by number in the text */
    int n_functions;
} parser;

static sp_status wrong(const parser *p, const char *wanted)
{
    int n = 0;
    while (n < 30 && p->at[n] && p->at[n] != '\n') n++;
    return sp__fail(SP_FORMAT, "line %d: %s is expected at '%.*s'", p->line, wanted, n, p->at);
}

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t') p->at++;
}

/* To the first thing of the next line that has one. */
static void skip_lines(parser *p)
{
    for (;;) {
        skip_blanks(p);
        if (*p->at == '#')
            while (*p->at && *p->at != '\n') p->at++;
        if (*p->at != '\n') return;
        p->at++;
        p->line++;
    }
}

static bool accept(parser *p, const char *word)
{
    skip_blanks(p);
    size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0) return false;
    if (sp__is_alnum(word[n - 1]) && (sp__is_alnum(p->at[n]) || p->at[n] == '_')) return false;
    p->at += n;
    return true;
}

static sp_status expect(parser *p, const char *word) { return accept(p, word) ? SP_OK : wrong(p, word); }

static sp_status read_int(parser *p, int64_t *out)
{
    skip_blanks(p);
    char *end;
    *out = strtoll(p->at, &end, 10);
    if (end == p->at) return wrong(p, "a number");
    p->at = end;
    return SP_OK;
}

/* A number that indexes something of ours: small, not negative. */
static sp_status read_id(parser *p, int *out)
{
    int64_t v;
    SP_TRY(read_int(p, &v));
    if (v < 0 || v > 10000000)
        return sp__fail(SP_FORMAT, "line %d: number %lld is out of range", p->line, (long long)v);
    *out = (int)v;
    return SP_OK;
}

static sp_status read_name(parser *p, char *name, size_t room)
{
    skip_blanks(p);
    size_t n = 0;
    while (p->at[n] && !strchr("#(){}[],:=\n\"", p->at[n]) && !sp__is_space(p->at[n])) n++;
    if (!n || n >= room) return wrong(p, "a name");
    memcpy(name, p->at, n);
    name[n] = '\0';
    p->at += n;
    return SP_OK;
}

static sp_status read_spec(parser *p, sp_meta *meta, bool *is_function)
{
    char name[32];
    *is_function = accept(p, "function");
    *meta = (sp_meta){.dtype = SP_DTYPE_BOOL};
    if (*is_function) return SP_OK;
    SP_TRY(read_name(p, name, sizeof name));
    meta->dtype = sp_dtype_parse(name);
    if (meta->dtype == SP_DTYPE_NONE) return sp__fail(SP_FORMAT, "line %d: '%s' is no dtype", p->line, name);
    SP_TRY(expect(p, "["));
    while (!accept(p, "]")) {
        if (meta->rank) SP_TRY(expect(p, ","));
        if (meta->rank == SP_RANK_MAX)
            return sp__fail(SP_FORMAT, "line %d: more than %d dimensions", p->line, SP_RANK_MAX);
        int64_t d = -1;
        if (!accept(p, "?")) SP_TRY(read_int(p, &d));
        if (d < -1) return sp__fail(SP_FORMAT, "line %d: dimension %lld", p->line, (long long)d);
        meta->dims[meta->rank++] = d;
    }
    return SP_OK;
}

/* Room for entry `id` in a table of pointers. */
static sp_status table_room(void ***table, int *n, int id)
{
    if (id < *n) return SP_OK;
    int more = id < 64 ? 128 : 2 * id;
    void **bigger = sp__realloc(*table, (size_t)*n * sizeof *bigger, (size_t)more * sizeof *bigger);
    if (!bigger) return SP_NOMEM;
    memset(bigger + *n, 0, (size_t)(more - *n) * sizeof *bigger);
    *table = bigger;
    *n = more;
    return SP_OK;
}

static sp_status define(parser *p, int id, sp_value *v)
{
    if (!v) return SP_NOMEM;
    void **table = (void **)p->values;
    SP_TRY(table_room(&table, &p->n_values, id));
    p->values = (sp_value **)table;
    if (p->values[id]) return sp__fail(SP_FORMAT, "line %d: value %%%d exists already", p->line, id);
    p->values[id] = v;
    return SP_OK;
}

static sp_status read_function(parser *p, sp_function **out)
{
    char name[128];
    int id;
    SP_TRY(read_name(p, name, sizeof name));
    SP_TRY(expect(p, "#"));
    SP_TRY(read_id(p, &id));
    if (id >= p->n_functions || !p->functions[id])
        return sp__fail(SP_FORMAT, "line %d: there is no function %s#%d", p->line, name, id);
    *out = p->functions[id];
    return SP_OK;
}

static sp_status read_use(parser *p, sp_function *f, sp_value **out)
{
    if (accept(p, "_")) {
        *out = NULL;
        return SP_OK;
    }
    if (accept(p, "&")) {
        sp_function *target;
        SP_TRY(read_function(p, &target));
        *out = sp__value_function(f, target);
        return *out ? SP_OK : SP_NOMEM;
    }
    int id;
    SP_TRY(expect(p, "%"));
    SP_TRY(read_id(p, &id));
    if (id >= p->n_values || !p->values[id]) return sp__fail(SP_FORMAT, "line %d: there is no value %%%d", p->line, id);
    *out = p->values[id];
    return SP_OK;
}

enum { USES_MAX = 4096 };
typedef struct {
    int n;
    sp_value *v[USES_MAX];
} use_list;

static sp_status read_uses(parser *p, sp_function *f, const char *end, use_list *uses)
{
    bool first = true;
    while (end ? !accept(p, end) : (skip_blanks(p), *p->at != '\n' && *p->at && *p->at != '#')) {
        if (!first) SP_TRY(expect(p, ","));
        first = false;
        if (uses->n == USES_MAX)
            return sp__fail(SP_FORMAT, "line %d: more than %d values in a list", p->line, USES_MAX);
        SP_TRY(read_use(p, f, &uses->v[uses->n++]));
    }
    return SP_OK;
}

static sp_status read_variable(parser *p, sp_variable **out)
{
    int id;
    SP_TRY(expect(p, "@"));
    SP_TRY(read_id(p, &id));
    if (id >= p->g->n_variables) return sp__fail(SP_FORMAT, "line %d: there is no variable @%d", p->line, id);
    *out = p->g->variables[id];
    return SP_OK;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* Results announced in front of the equals sign. */
typedef struct {
    int n;
    int ids[256];
    sp_meta metas[256];
    bool is_function[256];
} announced;

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static sp_status read_constant(parser *p, sp_function *f, const announced *a)
{
    if (a->n != 1 || a->is_function[0] || !sp__meta_known(&a->metas[0]))
        return wrong(p, "one result of known shape in front of 'const'");
    bool weak = accept(p, "weak");
    sp_tensor *t;
    skip_blanks(p);
    size_t given = strspn(p->at, "0123456789abcdef");
    int64_t count;
    SP_TRY(sp__shape_count(a->metas[0].rank, a->metas[0].dims, &count));
    if (given / 2 / sp_dtype_bytes(a->metas[0].dtype) != (size_t)count || given % 2)
        return wrong(p, "as many bytes as the shape says");
    SP_TRY(sp__tensor_from_meta(&a->metas[0], &t));
    for (size_t i = 0; i < given / 2; i++) t->data[i] = (char)(hex(p->at[2 * i]) << 4 | hex(p->at[2 * i + 1]));
    p->at += given;
    if (!given && !accept(p, "-")) {
        sp_tensor_release(t);
        return wrong(p, "-");
    }
    if (weak) t->flags |= SP_TENSOR_WEAK;
    sp_value *v = sp__value_constant(f, t);
    sp_tensor_release(t);
    return define(p, a->ids[0], v);
}

static sp_status fails_when_run(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)context, (void)n_in, (void)in, (void)n_out, (void)out;
    return sp__fail(SP_RUNTIME, "the program was read from a text, which does not hold its host code");
}

static sp_status read_host(parser *p, sp_node *n, const char *name, bool pure)
{
    sp_host *h = sp__alloc_zero(sizeof *h);
    if (!h) return SP_NOMEM;
    atomic_init(&h->refs, 1);
    h->name = sp__arena_text(&p->g->arena, name);
    h->run = fails_when_run;
    h->pure = pure;
    sp_status status = h->name ? sp__node_set_host(n, h) : SP_NOMEM;
    sp__host_release(h);
    return status;
}

static sp_status read_grad(parser *p, sp_node *n)
{
    sp_grad_spec *g = n->grad = sp__arena_alloc(&p->g->arena, sizeof *g);
    int *positions = sp__arena_alloc(&p->g->arena, (size_t)(n->n_in + 1) * sizeof *positions);
    sp_variable **variables = sp__arena_alloc(&p->g->arena, (size_t)(p->g->n_variables + 1) * sizeof *variables);
    if (!g || !positions || !variables) return SP_NOMEM;
    int64_t v;
    SP_TRY(expect(p, "{"));
    SP_TRY(expect(p, "results="));
    SP_TRY(read_id(p, &g->n_results));
    SP_TRY(expect(p, ","));
    SP_TRY(expect(p, "differentiated="));
    SP_TRY(read_int(p, &v));
    g->n_differentiated = (int)v;
    SP_TRY(expect(p, ","));
    SP_TRY(expect(p, "seeds="));
    SP_TRY(read_id(p, &g->n_seeds));
    SP_TRY(expect(p, ","));
    SP_TRY(expect(p, "positions="));
    SP_TRY(expect(p, "("));
    while (!accept(p, ")")) {
        if (g->n_positions == n->n_in) return wrong(p, "at most one position per argument");
        SP_TRY(read_id(p, &positions[g->n_positions++]));
        SP_TRY(expect(p, ","));
    }
    SP_TRY(expect(p, ","));
    SP_TRY(expect(p, "variables="));
    SP_TRY(expect(p, "("));
    while (!accept(p, ")")) {
        if (g->n_variables == p->g->n_variables) return wrong(p, "each variable once at most");
        SP_TRY(read_variable(p, &variables[g->n_variables++]));
        SP_TRY(expect(p, ","));
    }
    g->positions = positions;
    g->variables = variables;
    if (accept(p, ",")) {
        SP_TRY(expect(p, "strict"));
        g->strict = true;
    }
    return expect(p, "}");
}

static sp_status read_attrs(parser *p, sp_node *n)
{
    skip_blanks(p);
    if (*p->at != '{') return sp__node_set_op(n, n->op, n->op->n_attrs ? n->op->defaults : NULL);
    const char *end = p->at;
    for (char quote = '\0'; *end && *end != '\n' && (quote || *end != '}'); end++)
        if (*end == '"') quote = quote ? '\0' : '"';
    if (*end != '}') return wrong(p, "attributes in braces");
    size_t length = (size_t)(end - p->at - 1);
    char *text = sp__alloc(length + 1);
    void *attrs = sp__alloc(n->op->attrs_bytes + 1);
    sp_attr_text keep = {.n_blocks = 0};
    sp_status status = text && attrs ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        memcpy(text, p->at + 1, length);
        text[length] = '\0';
        status = sp__attrs_parse(n->op, text, attrs, &keep);
    }
    if (status == SP_OK) status = sp__node_set_op(n, n->op, attrs);
    sp__attr_text_free(&keep);
    sp__free(text);
    sp__free(attrs);
    p->at = end + 1;
    return status;
}

static sp_status add_node(parser *p, sp_function *f, sp_node_kind kind, const use_list *in, const announced *a,
                          sp_node **out)
{
    sp_node *n = *out = sp__node_append(f, kind, in->n, in->v, a->n);
    if (!n) return SP_NOMEM;
    for (int i = 0; i < a->n; i++) {
        n->out[i]->meta = a->metas[i];
        n->out[i]->is_function = a->is_function[i];
        SP_TRY(define(p, a->ids[i], n->out[i]));
    }
    return SP_OK;
}

static sp_status read_operator(parser *p, sp_function *f, use_list *in, const announced *a)
{
    char name[64];
    SP_TRY(read_name(p, name, sizeof name));
    const sp_op *op = sp_op_find(name);
    if (!op) return sp__fail(SP_FORMAT, "line %d: there is no operator '%s'", p->line, name);
    SP_TRY(expect(p, "("));
    SP_TRY(read_uses(p, f, ")", in));
    const sp_inputs *names = sp__op_inputs(op);
    if (names->variadic ? in->n < names->n - 1 : in->n != names->n)
        return sp__fail(SP_FORMAT, "line %d: %s takes %d inputs, but got %d", p->line, name, names->n, in->n);
    sp_node *n;
    SP_TRY(add_node(p, f, SP_NODE_OP, in, a, &n));
    n->op = op;
    return read_attrs(p, n);
}

/* What follows the results: one kind of node. */
static sp_status read_node(parser *p, sp_function *f, use_list *in, const announced *a)
{
    static const struct {
        const char *word;
        sp_node_kind kind;
    } calls[] = {{"call", SP_NODE_CALL}, {"partial", SP_NODE_PARTIAL}, {"grad", SP_NODE_GRAD}};
    sp_node *n;
    in->n = 0;
    if (accept(p, "const")) return read_constant(p, f, a);
    if (accept(p, "read")) {
        sp_variable *variable = NULL;
        SP_TRY(read_variable(p, &variable));
        SP_TRY(add_node(p, f, SP_NODE_READ, in, a, &n));
        n->variable = variable;
        return SP_OK;
    }
    if (accept(p, "store")) {
        sp_variable *variable = NULL;
        SP_TRY(read_variable(p, &variable));
        SP_TRY(expect(p, ","));
        SP_TRY(read_use(p, f, &in->v[in->n++]));
        SP_TRY(add_node(p, f, SP_NODE_STORE, in, a, &n));
        n->variable = variable;
        variable->written = true;
        return SP_OK;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (!accept(p, calls[i].word)) continue;
        SP_TRY(read_use(p, f, &in->v[in->n++]));
        SP_TRY(expect(p, "("));
        SP_TRY(read_uses(p, f, ")", in));
        SP_TRY(add_node(p, f, calls[i].kind, in, a, &n));
        return calls[i].kind == SP_NODE_GRAD ? read_grad(p, n) : SP_OK;
    }
    if (accept(p, "switch")) {
        SP_TRY(expect(p, "("));
        SP_TRY(read_uses(p, f, ")", in));
        return add_node(p, f, SP_NODE_SWITCH, in, a, &n);
    }
    if (accept(p, "host")) {
        char name[64];
        SP_TRY(expect(p, "\""));
        size_t length = strcspn(p->at, "\"\n");
        if (length >= sizeof name) return wrong(p, "a shorter name of host code");
        memcpy(name, p->at, length);
        name[length] = '\0';
        p->at += length;
        SP_TRY(expect(p, "\""));
        SP_TRY(expect(p, "("));
        SP_TRY(read_uses(p, f, ")", in));
        SP_TRY(add_node(p, f, SP_NODE_HOST, in, a, &n));
        return read_host(p, n, name, accept(p, "pure"));
    }
    return read_operator(p, f, in, a);
}

static sp_status read_announced(parser *p, announced *a)
{
    a->n = 0;
    skip_blanks(p);
    while (*p->at == '%') {
        if (a->n == (int)(sizeof a->ids / sizeof *a->ids)) return wrong(p, "fewer results");
        SP_TRY(expect(p, "%"));
        SP_TRY(read_id(p, &a->ids[a->n]));
        SP_TRY(expect(p, ":"));
        SP_TRY(read_spec(p, &a->metas[a->n], &a->is_function[a->n]));
        a->n++;
        if (!accept(p, ",")) break;
        skip_blanks(p);
    }
    return a->n ? expect(p, "=") : SP_OK;
}

static sp_status read_return(parser *p, sp_function *f, use_list *uses)
{
    uses->n = 0;
    SP_TRY(read_uses(p, f, NULL, uses));
    f->results = sp__arena_alloc(&p->g->arena, (size_t)(uses->n + 1) * sizeof *f->results);
    if (!f->results) return SP_NOMEM;
    for (int i = 0; i < uses->n; i++) {
        if (!uses->v[i]) return wrong(p, "a value for each result");
        f->results[i] = uses->v[i];
    }
    f->n_results = uses->n;
    return SP_OK;
}

/* --- functions --------------------------------------------------------------------------------------------------- */

static sp_status read_body(parser *p, sp_function *f, use_list *uses, announced *a)
{
    bool ended = false;
    SP_TRY(expect(p, "{"));
    for (;;) {
        skip_lines(p);
        if (accept(p, "}")) break;
        if (!*p->at || ended) return wrong(p, "}");
        if (accept(p, "return")) {
            SP_TRY(read_return(p, f, uses));
            ended = true;
            continue;
        }
        bool tail = accept(p, "tail");
        SP_TRY(read_announced(p, a));
        SP_TRY(read_node(p, f, uses, a));
        if (tail) {
            if (f->last->kind != SP_NODE_CALL) return wrong(p, "a call after 'tail'");
            f->tail = f->last;
            ended = true;
        }
    }
    f->finished = true;
    return ended ? SP_OK : wrong(p, "return or a tail call");
}

static sp_status read_header(parser *p, bool make, sp_function **out)
{
    char name[128];
    int id;
    const char *start = p->at;
    SP_TRY(read_name(p, name, sizeof name));
    SP_TRY(expect(p, "#"));
    SP_TRY(read_id(p, &id));
    if (make) {
        void **table = (void **)p->functions;
        SP_TRY(table_room(&table, &p->n_functions, id));
        p->functions = (sp_function **)table;
        if (p->functions[id]) return sp__fail(SP_FORMAT, "line %d: function #%d exists already", p->line, id);
        p->functions[id] = *out = sp__function_create(p->g, NULL, name);
        return *out ? SP_OK : SP_NOMEM;
    }
    p->at = start;
    SP_TRY(read_function(p, out));
    SP_TRY(expect(p, "("));
    for (bool first = true; !accept(p, ")"); first = false) {
        sp_meta meta;
        bool is_function;
        if (!first) SP_TRY(expect(p, ","));
        SP_TRY(expect(p, "%"));
        SP_TRY(read_id(p, &id));
        SP_TRY(expect(p, ":"));
        SP_TRY(read_spec(p, &meta, &is_function));
        SP_TRY(define(p, id, sp__function_add_param(*out, &meta, is_function)));
    }
    return SP_OK;
}

static sp_status read_variables(parser *p)
{
    for (skip_lines(p); accept(p, "variable"); skip_lines(p)) {
        sp_variable *v = NULL;
        int id;
        sp_meta meta;
        bool is_function;
        SP_TRY(expect(p, "@"));
        SP_TRY(read_id(p, &id));
        SP_TRY(expect(p, ":"));
        SP_TRY(read_spec(p, &meta, &is_function));
        if (id != p->g->n_variables || is_function || !sp__meta_known(&meta))
            return wrong(p, "variables in order, of known shape");
        sp_tensor *t;
        SP_TRY(sp_tensor_create_zeros(meta.dtype, meta.rank, meta.dims, &t));
        sp_graph_variable_mark(t);
        v = sp__graph_variable(p->g, t);
        sp_tensor_release(t);
        if (!v) return SP_NOMEM;
    }
    return SP_OK;
}

static sp_status read_all(parser *p, use_list *uses, announced *a)
{
    const char *text = p->at;
    sp_function *f = NULL;
    /* First walk: lines that begin with "function". */
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        p->line++;
        if (strncmp(line, "function ", 9) != 0) continue;
        p->at = line + 9;
        SP_TRY(read_header(p, true, &f));
    }
    p->at = text;
    p->line = 1;
    SP_TRY(read_variables(p));
    if (accept(p, "entry")) {
        SP_TRY(expect(p, "&"));
        SP_TRY(read_function(p, &p->g->entry));
    }
    for (skip_lines(p); *p->at; skip_lines(p)) {
        SP_TRY(expect(p, "function"));
        SP_TRY(read_header(p, false, &f));
        SP_TRY(read_body(p, f, uses, a));
    }
    return sp__graph_verify(p->g);
}

sp_status sp_graph_parse(const char *text, sp_graph **out)
{
    parser p = {.at = text, .line = 0};
    use_list *uses = sp__alloc(sizeof *uses);
    announced *a = sp__alloc(sizeof *a);
    sp_status status = uses && a ? sp_graph_create(&p.g) : SP_NOMEM;
    if (status == SP_OK) status = read_all(&p, uses, a);
    sp__free(uses);
    sp__free(a);
    sp__free(p.values);
    sp__free(p.functions);
    if (status != SP_OK) {
        sp_graph_release(p.g);
        return status;
    }
    *out = p.g;
    return SP_OK;
}
