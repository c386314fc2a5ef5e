/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_regex.c - see onnx_regex.h. A pattern becomes a tree, the tree a program of a few kinds of instructions, and a match
 * follows all paths through the program at once (Thompson's way), so no pattern takes more than time * size.
 *
 * Understood: literals, ., [sets], \d \w \s and their opposites, [:names:], groups, |, * + ? {m,n} (lazy or not), ^ $ \A \z \b \B,
 * (?i) and (?s). Not: \p classes. */
#include <stdlib.h>
#include <string.h>

#include "formats/onnx/onnx_regex.h"

enum { DEPTH_MAX = 200, PROGRAM_MAX = 20000, REPEAT_MAX = 1000, RANGES_MAX = 256 };

typedef struct range {
    uint32_t low, high;
} range;

typedef struct set {
    bool negated, fold; /* fold: upper and lower case of ASCII are one */
    int n;
    range *list;
} set;

typedef enum { EMPTY, SET, CAT, ALT, REPEAT, ASSERT } kind;

typedef struct tree {
    kind kind;
    struct tree *left, *right;
    int min, max; /* REPEAT; max -1: no limit */
    char what;    /* ASSERT: ^ $ b B */
    set set;
} tree;

typedef struct instruction {
    enum { TAKE, FORK, JUMP, LOOK, MATCH } op;
    int to, other;
    char what;
    const set *set;
} instruction;

struct sp_regex {
    int n;
    instruction *program;
    int *now, *next, *stack;
    uint32_t *seen; /* by instruction: number of the step it was reached in */
    uint32_t step;
};

typedef struct parser {
    sp__arena *arena;
    const char *pattern, *at;
    int depth;
    bool fold, dot_all;
    int n;
    instruction *program;
} parser;

static sp_status bad(const parser *p, const char *why)
{
    return sp__fail(SP_VALUE, "the pattern '%.80s' is not understood at character %td: %s", p->pattern,
                    p->at - p->pattern, why);
}

uint32_t sp__regex_next_char(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    int more = s[0] >= 0xf0 && s[0] < 0xf8 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    uint32_t c = more == 0 ? s[0] : s[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            (*at)++;
            return s[0];
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    *at += more + 1;
    return c;
}

/* --- parsing ----------------------------------------------------------------------------------------------------- */

static tree *make(parser *p, kind k, tree *left, tree *right)
{
    tree *t = sp__arena_alloc(p->arena, sizeof *t);
    if (t != NULL) *t = (tree){.kind = k, .left = left, .right = right};
    return t;
}

static sp_status add_range(parser *p, set *s, uint32_t low, uint32_t high)
{
    if (s->list == NULL && !(s->list = sp__arena_alloc(p->arena, RANGES_MAX * sizeof *s->list))) return SP_NOMEM;
    if (s->n == RANGES_MAX) return bad(p, "the set is too long");
    s->list[s->n++] = (range){low, high};
    return SP_OK;
}

static const struct {
    const char *name;
    range list[4];
} classes[] = {
    {"d", {{'0', '9'}}},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}},
    {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
    {"digit", {{'0', '9'}}},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}},
    {"space", {{'\t', '\r'}, {' ', ' '}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
    {"upper", {{'A', 'Z'}}},
    {"lower", {{'a', 'z'}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"blank", {{'\t', '\t'}, {' ', ' '}}},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
    {"cntrl", {{1, 31}, {127, 127}}},
    {"print", {{' ', '~'}}},
    {"graph", {{'!', '~'}}},
};

/* The ranges of a class, or everything else. */
static sp_status add_class(parser *p, set *s, const char *name, size_t bytes, bool negated, bool *found)
{
    *found = false;
    for (size_t i = 0; i < sizeof classes / sizeof *classes && !*found; i++) {
        if (strlen(classes[i].name) != bytes || strncmp(classes[i].name, name, bytes) != 0) continue;
        *found = true;
        uint32_t from = 0;
        for (int k = 0; k < 4 && classes[i].list[k].high != 0; k++) {
            const range *r = &classes[i].list[k];
            if (!negated) SP_TRY(add_range(p, s, r->low, r->high));
            else if (r->low > from) SP_TRY(add_range(p, s, from, r->low - 1));
            from = r->high + 1;
        }
        if (negated) SP_TRY(add_range(p, s, from, 0x10ffff));
    }
    return SP_OK;
}

/* After a backslash: a character, or a class added to s. */
static sp_status take_escape(parser *p, set *s, uint32_t *c, bool *is_class)
{
    char e = *p->at;
    char low = (char)(e >= 'A' && e <= 'Z' ? e + 32 : e);
    *is_class = false;
    if (e == '\0') return bad(p, "a backslash at the end");
    if (strchr("dws", low) != NULL) {
        p->at++;
        return add_class(p, s, &low, 1, low != e, is_class);
    }
    static const char from[] = "tnrfva", to[] = "\t\n\r\f\v\a";
    const char *named = strchr(from, e);
    if (e == 'x') {
        char digits[9] = "", *end;
        bool braces = p->at[1] == '{';
        const char *start = p->at + 1 + braces;
        size_t n = braces ? strcspn(start, "}") : 2;
        if (n == 0 || n > 8 || strnlen(start, n + braces) < n + braces) return bad(p, "\\x without digits");
        memcpy(digits, start, n);
        *c = (uint32_t)strtoul(digits, &end, 16);
        if (*end != '\0' || *c > 0x10ffff) return bad(p, "\\x without digits");
        p->at = start + n + braces;
    } else if (named != NULL) {
        *c = (uint32_t)to[named - from];
        p->at++;
    } else if ((e >= '0' && e <= '9') || (low >= 'a' && low <= 'z')) return bad(p, "this escape is not supported");
    else *c = sp__regex_next_char(&p->at);
    return SP_OK;
}

static sp_status parse_set(parser *p, tree *t)
{
    set *s = &t->set;
    s->fold = p->fold;
    if ((s->negated = *p->at == '^')) p->at++;
    for (bool first = true; *p->at != ']' || first; first = false) {
        if (*p->at == '\0') return bad(p, "a set without ]");
        uint32_t low = 0, high;
        bool is_class = false;
        if (p->at[0] == '[' && p->at[1] == ':') {
            bool negated = p->at[2] == '^';
            const char *name = p->at + 2 + negated, *end = strstr(name, ":]");
            if (end != NULL) SP_TRY(add_class(p, s, name, (size_t)(end - name), negated, &is_class));
            if (!is_class) return bad(p, "an unknown [:class:]");
            p->at = end + 2;
            continue;
        }
        if (*p->at == '\\') {
            p->at++;
            SP_TRY(take_escape(p, s, &low, &is_class));
        } else low = sp__regex_next_char(&p->at);
        if (is_class) continue;
        high = low;
        if (p->at[0] == '-' && p->at[1] != ']' && p->at[1] != '\0') {
            p->at++;
            if (*p->at == '\\') {
                p->at++;
                SP_TRY(take_escape(p, s, &high, &is_class));
            } else high = sp__regex_next_char(&p->at);
            if (is_class || high < low) return bad(p, "a range that is none");
        }
        SP_TRY(add_range(p, s, low, high));
    }
    p->at++;
    return SP_OK;
}

static sp_status parse_alternatives(parser *p, tree **out);

/* "(": flags, a group with or without a name, or a plain one. */
static sp_status parse_group(parser *p, tree **out)
{
    bool fold = p->fold, dot_all = p->dot_all;
    if (p->at[0] == '?') {
        p->at++;
        if (p->at[0] == 'P' || p->at[0] == '<') {
            const char *end = strchr(p->at, '>');
            if (end == NULL) return bad(p, "a group without a name");
            p->at = end + 1;
        } else {
            bool on = true;
            for (; *p->at != ':' && *p->at != ')'; p->at++) {
                if (*p->at == '-') on = false;
                else if (*p->at == 'i') p->fold = on;
                else if (*p->at == 's') p->dot_all = on;
                else return bad(p, "this flag is not supported");
            }
            if (*p->at++ == ')')
                return (*out = make(p, EMPTY, NULL, NULL)) != NULL ? SP_OK : SP_NOMEM; /* flags for the rest */
        }
    }
    SP_TRY(parse_alternatives(p, out));
    if (*p->at != ')') return bad(p, "a group without )");
    p->at++;
    p->fold = fold;
    p->dot_all = dot_all;
    return SP_OK;
}

static sp_status parse_atom(parser *p, tree **out)
{
    tree *t = make(p, SET, NULL, NULL);
    if (t == NULL) return SP_NOMEM;
    *out = t;
    t->set.fold = p->fold;
    uint32_t c = 0;
    bool is_class = false;
    switch (*p->at) {
    case '(': p->at++; return parse_group(p, out);
    case '[': p->at++; return parse_set(p, t);
    case '.':
        p->at++;
        t->set.negated = true;
        return p->dot_all ? SP_OK : add_range(p, &t->set, '\n', '\n');
    case '^':
    case '$':
        t->kind = ASSERT;
        t->what = *p->at++;
        return SP_OK;
    case '*':
    case '+':
    case '?': return bad(p, "nothing to repeat");
    case '\\':
        p->at++;
        if (*p->at != '\0' && strchr("bBAz", *p->at) != NULL) {
            t->kind = ASSERT;
            t->what = *p->at == 'A' ? '^' : *p->at == 'z' ? '$' : *p->at;
            p->at++;
            return SP_OK;
        }
        SP_TRY(take_escape(p, &t->set, &c, &is_class));
        return is_class ? SP_OK : add_range(p, &t->set, c, c);
    default: c = sp__regex_next_char(&p->at); return add_range(p, &t->set, c, c);
    }
}

/* {m}, {m,} or {m,n}; anything else is a literal brace. */
static bool take_counts(parser *p, int *min, int *max)
{
    char *end;
    long m = strtol(p->at + 1, &end, 10), n = m;
    if (end == p->at + 1 || m < 0) return false;
    if (*end == ',') {
        const char *second = end + 1;
        n = strtol(second, &end, 10);
        if (end == second) n = -1;
    }
    if (*end != '}' || m > REPEAT_MAX || n > REPEAT_MAX || (n >= 0 && n < m)) return false;
    p->at = end + 1;
    *min = (int)m;
    *max = (int)n;
    return true;
}

static sp_status parse_repeated(parser *p, tree **out)
{
    SP_TRY(parse_atom(p, out));
    for (;;) {
        int min = *p->at == '+', max = *p->at == '?' ? 1 : -1;
        if (*p->at == '*' || *p->at == '+' || *p->at == '?') p->at++;
        else if (*p->at != '{' || !take_counts(p, &min, &max)) return SP_OK;
        if (*p->at == '?') p->at++; /* lazy: the same texts match */
        tree *t = make(p, REPEAT, *out, NULL);
        if (t == NULL) return SP_NOMEM;
        t->min = min;
        t->max = max;
        *out = t;
    }
}

static sp_status parse_alternatives(parser *p, tree **out)
{
    if (p->depth >= DEPTH_MAX) return bad(p, "groups are nested too deeply");
    p->depth++;
    tree *all = NULL;
    for (;;) {
        tree *row = make(p, EMPTY, NULL, NULL);
        while (row != NULL && *p->at != '\0' && *p->at != '|' && *p->at != ')') {
            tree *one = NULL;
            SP_TRY(parse_repeated(p, &one));
            row = row->kind == EMPTY ? one : make(p, CAT, row, one);
        }
        if (row == NULL || !(all = all == NULL ? row : make(p, ALT, all, row))) return SP_NOMEM;
        if (*p->at != '|') break;
        p->at++;
    }
    p->depth--;
    *out = all;
    return SP_OK;
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static sp_status emit(parser *p, instruction i, int *at)
{
    if (p->n == PROGRAM_MAX) return bad(p, "the pattern is too large");
    if (at != NULL) *at = p->n;
    p->program[p->n++] = i;
    return SP_OK;
}

static sp_status emit_tree(parser *p, const tree *t);

static sp_status emit_repeat(parser *p, const tree *t)
{
    int fork = 0;
    for (int i = 0; i < t->min; i++) SP_TRY(emit_tree(p, t->left));
    if (t->max < 0) {
        SP_TRY(emit(p, (instruction){.op = FORK}, &fork));
        SP_TRY(emit_tree(p, t->left));
        SP_TRY(emit(p, (instruction){.op = JUMP, .to = fork}, NULL));
        p->program[fork].to = fork + 1;
        p->program[fork].other = p->n;
        return SP_OK;
    }
    for (int i = t->min; i < t->max; i++) { /* each may be the last */
        SP_TRY(emit(p, (instruction){.op = FORK}, &fork));
        SP_TRY(emit_tree(p, t->left));
        p->program[fork].to = fork + 1;
        p->program[fork].other = p->n;
    }
    return SP_OK;
}

static sp_status emit_tree(parser *p, const tree *t)
{
    int fork = 0, jump = 0;
    switch (t->kind) {
    case EMPTY: return SP_OK;
    case SET: return emit(p, (instruction){.op = TAKE, .set = &t->set}, NULL);
    case ASSERT: return emit(p, (instruction){.op = LOOK, .what = t->what}, NULL);
    case CAT: SP_TRY(emit_tree(p, t->left)); return emit_tree(p, t->right);
    case ALT:
        SP_TRY(emit(p, (instruction){.op = FORK}, &fork));
        SP_TRY(emit_tree(p, t->left));
        SP_TRY(emit(p, (instruction){.op = JUMP}, &jump));
        p->program[fork].to = fork + 1;
        p->program[fork].other = p->n;
        SP_TRY(emit_tree(p, t->right));
        p->program[jump].to = p->n;
        return SP_OK;
    case REPEAT: return emit_repeat(p, t);
    }
    return SP_OK;
}

sp_status sp__regex_compile(sp__arena *arena, const char *pattern, sp_regex **out)
{
    enum { PATTERN_MAX = 4000 }; /* trees of rows are as deep as rows are long */
    parser p = {.arena = arena, .pattern = pattern, .at = pattern};
    tree *t = NULL;
    if (strlen(pattern) > PATTERN_MAX)
        return sp__fail(SP_VALUE, "a pattern of %zu bytes, at most %d are possible", strlen(pattern), PATTERN_MAX);
    SP_TRY(parse_alternatives(&p, &t));
    if (*p.at != '\0') return bad(&p, "a ) without (");
    sp_regex *r = sp__arena_alloc(arena, sizeof *r);
    p.program = sp__arena_alloc(arena, PROGRAM_MAX * sizeof *p.program);
    if (r == NULL || p.program == NULL) return SP_NOMEM;
    SP_TRY(emit_tree(&p, t));
    SP_TRY(emit(&p, (instruction){.op = MATCH}, NULL));
    size_t bytes = (size_t)p.n * sizeof(int);
    *r = (sp_regex){.n = p.n,
                    .program = p.program,
                    .now = sp__arena_alloc(arena, bytes),
                    .next = sp__arena_alloc(arena, bytes),
                    .stack = sp__arena_alloc(arena, 2 * bytes + sizeof(int)),
                    .seen = sp__arena_alloc(arena, bytes)};
    if (r->now == NULL || r->next == NULL || r->stack == NULL || r->seen == NULL) return SP_NOMEM;
    memset(r->seen, 0, bytes);
    *out = r;
    return SP_OK;
}

/* --- matching ---------------------------------------------------------------------------------------------------- */

static bool is_word(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool set_has(const set *s, uint32_t c)
{
    uint32_t other = s->fold && c < 128 && ((c | 32) >= 'a' && (c | 32) <= 'z') ? c ^ 32 : c;
    bool in = false;
    for (int i = 0; i < s->n && !in; i++)
        in = (c >= s->list[i].low && c <= s->list[i].high) || (other >= s->list[i].low && other <= s->list[i].high);
    return in != s->negated;
}

/* Add what is reached from `start` without taking a character; prev and next are 0 at the ends of the text. */
static void follow(sp_regex *r, int start, uint32_t prev, uint32_t next, int *list, int *n)
{
    int depth = 0;
    r->stack[depth++] = start;
    while (depth > 0) {
        int at = r->stack[--depth];
        if (r->seen[at] == r->step) continue;
        r->seen[at] = r->step;
        const instruction *i = &r->program[at];
        bool edge = is_word(prev) != is_word(next);
        switch (i->op) {
        case FORK:
            r->stack[depth++] = i->other;
            r->stack[depth++] = i->to;
            break;
        case JUMP: r->stack[depth++] = i->to; break;
        case LOOK:
            if (i->what == '^' ? prev == 0 : i->what == '$' ? next == 0 : i->what == 'b' ? edge : !edge)
                r->stack[depth++] = at + 1;
            break;
        default: list[(*n)++] = at;
        }
    }
}

bool sp__regex_matches(sp_regex *r, const char *text)
{
    int n_now = 0;
    const char *peek = text;
    uint32_t next = *peek != '\0' ? sp__regex_next_char(&peek) : 0;
    r->step++;
    follow(r, 0, 0, next, r->now, &n_now);
    while (next != 0 && n_now > 0) {
        uint32_t c = next;
        int n_next = 0;
        next = *peek != '\0' ? sp__regex_next_char(&peek) : 0;
        r->step++;
        for (int i = 0; i < n_now; i++) {
            const instruction *at = &r->program[r->now[i]];
            if (at->op == TAKE && set_has(at->set, c)) follow(r, r->now[i] + 1, c, next, r->next, &n_next);
        }
        int *list = r->now;
        r->now = r->next;
        r->next = list;
        n_now = n_next;
    }
    for (int i = 0; i < n_now && next == 0; i++)
        if (r->program[r->now[i]].op == MATCH) return true;
    return false;
}
