/* SPDX-License-Identifier: Apache-2.0 */
/* shard_rule.c - the sharding rule of an operator (sp_op.shard), read for one node.
 *
 *     "... i k, ... k j -> ... i j"        letters for the axes of inputs and results; "...": all others, aligned from the right
 *     "same"                               inputs and results are broadcast together; element-wise operators need not say so
 *     "fold"                               results are the first input without the axes that an attribute names (or with 1 there)
 *     "permute", "reshape", "slice", "index"    axes as attributes and sizes have it
 *
 * After a semicolon, separated by commas:
 *     "k whole"           this letter is not split; "... whole": nor any of those
 *     "axis whole"        nor the axes that this attribute names
 *     "axis sum"          they may be: their parts are added (or: mean prod max min and or)
 *     "k whole if bias"   not split when that input is given, or that attribute is not what it is by default
 *     "swap 1 if transpose_b"   the last two letters of input 1 change places
 *     "none if axis"      there is no rule then
 *     "from begin"        the axes from the one that this attribute names on are not split
 *     "sizes shape"       this attribute holds the sizes of the result
 *
 * A letter that a result does not have is summed over where it is split. */
#include "ops/ops_impl.h"
#include "parallel/shard.h"

typedef struct rule {
    const sp_node *n;
    const sp_meta *const *in, *const *out;
    sp_shard_map *map;
    int8_t by_char[128];      /* letter of a character */
    int8_t rest[SP_RANK_MAX]; /* letters of "...", from the right */
    int8_t axes[SP_RANK_MAX]; /* letters of the first input's axes */
} rule;

bool sp__op_has_shard(const sp_op *op) { return op->shard || op->loop; }

/* --- letters ----------------------------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t c = a % b;
        a = b;
        b = c;
    }
    return a;
}

static sp_status new_letter(sp_shard_map *map, int8_t *out)
{
    if (map->n_letters == SP_SHARD_LETTERS) return SP_DECLINED;
    *out = (int8_t)map->n_letters;
    map->size[map->n_letters] = 0;
    map->whole[map->n_letters] = false;
    map->reduce[map->n_letters++] = SP_REDUCE_SUM;
    return SP_OK;
}

/* An axis of this size has the letter. Axes of one element are broadcast and stay whole. */
static void meet(sp_shard_map *map, int8_t letter, int64_t size, int8_t *axis)
{
    *axis = -1;
    if (letter < 0 || size == 1) return;
    *axis = letter;
    map->size[letter] = gcd(map->size[letter], size);
}

/* --- attributes by name ------------------------------------------------------------------------------------------ */

static const void *field(const sp_node *n, const sp_attr *a) { return (const char *)n->attrs + a->offset; }

/* Axes that an attribute names, of a tensor of this rank; all of them when it names none. SP_DECLINED: it is no such attribute. */
static sp_status axes_named(const rule *r, const char *name, size_t length, int rank, unsigned *out)
{
    const sp_attr *a = sp__attr_find(r->n->op, name, length);
    int64_t one;
    sp_ints v = {0};
    *out = 0;
    if (!a) return SP_DECLINED;
    if (a->type == SP_ATTR_INT) {
        memcpy(&one, field(r->n, a), sizeof one);
        if (one == SP_INT_NONE) return SP_DECLINED;
        v = (sp_ints){1, &one};
    } else if (a->type == SP_ATTR_INTS) {
        memcpy(&v, field(r->n, a), sizeof v);
    } else {
        return SP_DECLINED;
    }
    if (v.n <= 0) *out = (1u << rank) - 1;
    for (int i = 0; i < v.n; i++) {
        const int64_t axis = v.v[i] < 0 ? v.v[i] + rank : v.v[i];
        if (axis < 0 || axis >= rank) return SP_DECLINED;
        *out |= 1u << axis;
    }
    return SP_OK;
}

/* "if NAME": the input is there, or the attribute is not its default. */
static bool holds(const rule *r, const char *name, size_t length)
{
    const sp_op *op = r->n->op;
    const sp_inputs *inputs = sp__op_inputs(op);
    for (int i = 0; i < inputs->n; i++)
        if (strlen(inputs->names[i]) == length && memcmp(inputs->names[i], name, length) == 0)
            return i < r->n->n_in && r->n->in[i];
    const sp_attr *a = sp__attr_find(op, name, length);
    if (!a || !op->defaults) return true;
    const void *given = field(r->n, a), *usual = (const char *)op->defaults + a->offset;
    if (a->type == SP_ATTR_TEXT) {
        const char *x, *y;
        memcpy(&x, given, sizeof x);
        memcpy(&y, usual, sizeof y);
        return !x || !y ? x != y : strcmp(x, y) != 0;
    }
    return memcmp(given, usual,
                  a->type == SP_ATTR_BOOL   ? sizeof(bool)
                  : a->type == SP_ATTR_INTS ? sizeof(sp_ints)
                                            : sizeof(int64_t)) != 0;
}

/* --- words ------------------------------------------------------------------------------------------------------- */

typedef struct word {
    const char *at;
    size_t n;
} word;

static word next_word(const char **text, const char *end)
{
    while (*text < end && **text == ' ') ++*text;
    word w = {*text, 0};
    while (*text < end && **text != ' ') ++*text, w.n++;
    return w;
}

static bool is(word w, const char *text) { return w.n == strlen(text) && memcmp(w.at, text, w.n) == 0; }

/* --- letters as written ------------------------------------------------------------------------------------------ */

static sp_status letter_of(rule *r, char c, int8_t *out)
{
    int8_t *known = &r->by_char[c & 127];
    if (*known < 0) SP_TRY(new_letter(r->map, known));
    *out = *known;
    return SP_OK;
}

/* The letters of one operand. `swap`: the last two change places. */
static sp_status read_operand(rule *r, const char *text, const char *end, bool swap, const sp_meta *m, int8_t *axes)
{
    int8_t letters[SP_RANK_MAX];
    int n = 0, rest = -1;
    const char *at = text;
    for (word w = next_word(&at, end); w.n; w = next_word(&at, end)) {
        if (is(w, "...")) {
            rest = n;
            continue;
        }
        if (n == SP_RANK_MAX) return SP_DECLINED;
        if (is(w, "*")) letters[n++] = -1;
        else SP_TRY(letter_of(r, w.at[0], &letters[n++]));
    }
    if (swap && n >= 2) {
        const int8_t kept = letters[n - 1];
        letters[n - 1] = letters[n - 2];
        letters[n - 2] = kept;
    }
    const int more = m->rank - n;
    if (more < 0 || (more > 0 && rest < 0)) return SP_DECLINED;
    for (int i = 0; i < m->rank; i++) {
        int8_t letter;
        if (rest >= 0 && i >= rest && i < rest + more) {
            int8_t *known = &r->rest[more - 1 - (i - rest)];
            if (*known < 0) SP_TRY(new_letter(r->map, known));
            letter = *known;
        } else {
            letter = letters[rest >= 0 && i >= rest ? i - more : i];
        }
        meet(r->map, letter, m->dims[i], &axes[i]);
    }
    return SP_OK;
}

/* Is input i swapped, by a clause "swap i if NAME"? */
static bool swapped(const rule *r, const char *clauses, int i)
{
    for (const char *at = clauses; at && *at;) {
        const char *end = strchr(at, ',');
        if (!end) end = at + strlen(at);
        const char *t = at;
        if (is(next_word(&t, end), "swap")) {
            const word which = next_word(&t, end);
            next_word(&t, end);
            const word name = next_word(&t, end);
            if (which.n == 1 && which.at[0] - '0' == i && holds(r, name.at, name.n)) return true;
        }
        at = *end ? end + 1 : end;
    }
    return false;
}

static sp_status read_letters(rule *r, const char *text, const char *arrow, const char *end, const char *clauses)
{
    const char *at = text, *stop = arrow;
    for (int side = 0; side < 2; side++) {
        const int n = side ? r->map->n_out : r->map->n_in;
        for (int i = 0; i < n; i++) {
            const char *comma = memchr(at, ',', (size_t)(stop - at));
            const char *last = comma ? comma : stop;
            const sp_meta *m = side ? r->out[i] : r->in[i];
            if (at > stop) return SP_DECLINED;
            if (m)
                SP_TRY(read_operand(r, at, last, !side && swapped(r, clauses, i), m,
                                    side ? r->map->out[i] : r->map->in[i]));
            at = last < stop ? last + 1 : stop + 1;
        }
        at = arrow + 2;
        stop = end;
    }
    return SP_OK;
}

/* --- families ---------------------------------------------------------------------------------------------------- */

static sp_status family_same(rule *r)
{
    sp_shard_map *map = r->map;
    const int loop_axis = r->n->op->loop ? r->n->op->loop_axis : 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side ? map->n_out : map->n_in); i++) {
            const sp_meta *m = side ? r->out[i] : r->in[i];
            for (int k = 0; m && k < m->rank; k++) {
                int from_right = m->rank - 1 - k;
                if (loop_axis && m->rank == 1 && r->out[0]->rank > 1) from_right = r->out[0]->rank - 1 - loop_axis;
                int8_t *known = &r->rest[from_right];
                if (*known < 0) SP_TRY(new_letter(map, known));
                meet(map, *known, m->dims[k], side ? &map->out[i][k] : &map->in[i][k]);
            }
        }
    for (int k = 0; r->in[0] && k < r->in[0]->rank; k++) r->axes[k] = r->rest[r->in[0]->rank - 1 - k];
    return SP_OK;
}

/* `axes`: of the first input, those that go. */
static sp_status family_fold(rule *r, unsigned axes)
{
    const sp_meta *x = r->in[0];
    if (!x || r->map->n_in != 1) return SP_DECLINED;
    for (int k = 0; k < x->rank; k++) {
        SP_TRY(new_letter(r->map, &r->axes[k]));
        meet(r->map, r->axes[k], x->dims[k], &r->map->in[0][k]);
    }
    for (int i = 0; i < r->map->n_out; i++) {
        const sp_meta *y = r->out[i];
        int at = 0;
        for (int k = 0; k < x->rank; k++) {
            const bool gone = axes >> k & 1;
            if (gone && y->rank != x->rank) continue;
            if (at >= y->rank) return SP_DECLINED;
            meet(r->map, gone ? -1 : r->axes[k], y->dims[at], &r->map->out[i][at]);
            at++;
        }
        if (at != y->rank) return SP_DECLINED;
    }
    return SP_OK;
}

static sp_status family_permute(rule *r)
{
    const sp_meta *x = r->in[0], *y = r->out[0];
    const sp_attr *a = sp__attr_find(r->n->op, "perm", 4);
    sp_ints perm;
    if (!a) return SP_DECLINED;
    memcpy(&perm, field(r->n, a), sizeof perm);
    for (int k = 0; k < x->rank; k++) {
        SP_TRY(new_letter(r->map, &r->axes[k]));
        meet(r->map, r->axes[k], x->dims[k], &r->map->in[0][k]);
    }
    for (int k = 0; k < y->rank; k++) {
        int64_t from = perm.n > 0 ? perm.v[k] : y->rank - 1 - k;
        if (from < 0) from += y->rank;
        if (from < 0 || from >= x->rank) return SP_DECLINED;
        meet(r->map, r->axes[from], y->dims[k], &r->map->out[0][k]);
    }
    return SP_OK;
}

/* Runs of axes with the same number of elements on both sides: their first axes are split together. */
static sp_status family_reshape(rule *r)
{
    const sp_meta *x = r->in[0], *y = r->out[0];
    int i = 0, k = 0;
    while (i < x->rank && k < y->rank) {
        int first_i = i, first_k = k;
        int64_t a = x->dims[i++], b = y->dims[k++];
        while (a != b) {
            if (a < b) {
                if (i == x->rank) return SP_DECLINED;
                a *= x->dims[i++];
            } else {
                if (k == y->rank) return SP_DECLINED;
                b *= y->dims[k++];
            }
        }
        if (a == 0) return SP_DECLINED;
        while (first_i < i && x->dims[first_i] == 1) first_i++;
        while (first_k < k && y->dims[first_k] == 1) first_k++;
        if (first_i == i || first_k == k) continue; /* nothing but ones */
        int8_t letter;
        SP_TRY(new_letter(r->map, &letter));
        meet(r->map, letter, x->dims[first_i], &r->map->in[0][first_i]);
        meet(r->map, letter, y->dims[first_k], &r->map->out[0][first_k]);
    }
    return SP_OK;
}

/* The part that start:stop:step takes: axes that are taken whole may be split. */
static bool takes_all(const rule *r, int axis, int64_t size)
{
    const sp_attr *names[3] = {sp__attr_find(r->n->op, "start", 5), sp__attr_find(r->n->op, "stop", 4),
                               sp__attr_find(r->n->op, "step", 4)};
    sp_ints v[3];
    for (int i = 0; i < 3; i++) {
        if (!names[i]) return false;
        memcpy(&v[i], field(r->n, names[i]), sizeof v[i]);
    }
    if (axis >= v[0].n) return true;
    return v[0].v[axis] == 0 && v[1].v[axis] >= size && (v[2].n < 0 || v[2].v[axis] == 1);
}

static sp_status family_slice(rule *r)
{
    SP_TRY(family_same(r));
    for (int k = 0; k < r->in[0]->rank; k++)
        if (r->axes[k] >= 0 && !takes_all(r, k, r->in[0]->dims[k])) r->map->whole[r->axes[k]] = true;
    return SP_OK;
}

/* index(x, i) and index_put(x, value, i) with one tensor of indices: what it addresses is whole; the other axes of x, and those of the
 * indices, are split as they are. What is put is added up over them, which is right where it is added to zeros. */
static sp_status family_index(rule *r)
{
    const bool put = r->n->op->writes & 1;
    const int at = put ? 2 : 1;
    unsigned axes;
    if (r->map->n_in != at + 1) return SP_DECLINED;
    SP_TRY(axes_named(r, "axes", 4, r->in[0]->rank, &axes));
    if (r->in[0]->rank == 0 || (axes & (axes - 1))) return SP_DECLINED;
    const int axis = __builtin_ctz(axes);
    const sp_meta *x = r->in[0], *i = r->in[at], *y = put ? r->in[1] : r->out[0];
    int8_t *of_y = put ? r->map->in[1] : r->map->out[0], letter;
    if (y->rank != x->rank - 1 + i->rank) return SP_DECLINED;
    for (int k = 0; k < y->rank; k++) {
        const bool indexed = k >= axis && k < axis + i->rank;
        const int of_x = k < axis ? k : k - i->rank + 1;
        SP_TRY(new_letter(r->map, &letter));
        meet(r->map, letter, y->dims[k], &of_y[k]);
        if (indexed) {
            meet(r->map, letter, i->dims[k - axis], &r->map->in[at][k - axis]);
            continue;
        }
        meet(r->map, letter, x->dims[of_x], &r->map->in[0][of_x]);
        if (put) meet(r->map, letter, x->dims[of_x], &r->map->out[0][of_x]);
    }
    if (!put) return SP_OK;
    const sp_node *from = r->n->in[0]->node;
    const sp_attr *adds = sp__attr_find(r->n->op, "accumulate", 10), *value;
    bool zeros = false, accumulate = false;
    if (adds) memcpy(&accumulate, field(r->n, adds), sizeof accumulate);
    if (r->n->in[0]->origin == SP_VALUE_NODE && from->op == &sp_op_full &&
        (value = sp__attr_find(from->op, "value", 5)) != NULL) {
        sp_number v;
        memcpy(&v, field(from, value), sizeof v);
        zeros = v.kind == 'f' ? v.f == 0 : v.i == 0;
    }
    for (int k = 0; k < i->rank && !(zeros && accumulate); k++)
        if (of_y[axis + k] >= 0) r->map->whole[of_y[axis + k]] = true;
    return SP_OK;
}

/* --- clauses ----------------------------------------------------------------------------------------------------- */

static void keep_whole(rule *r, unsigned axes)
{
    for (int k = 0; k < SP_RANK_MAX; k++)
        if (axes >> k & 1 && r->axes[k] >= 0) r->map->whole[r->axes[k]] = true;
}

static sp_status clause(rule *r, const char *at, const char *end)
{
    const word what = next_word(&at, end), how = next_word(&at, end), rest = next_word(&at, end),
               name = next_word(&at, end);
    const int rank = r->in[0] ? r->in[0]->rank : 0;
    unsigned axes;
    if (is(what, "swap") || is(what, "sizes")) return SP_OK;
    if (is(what, "none")) return holds(r, rest.at, rest.n) ? SP_DECLINED : SP_OK;
    if (is(what, "from")) {
        SP_TRY(axes_named(r, how.at, how.n, rank, &axes));
        keep_whole(r, ~((axes & -axes) - 1));
        return SP_OK;
    }
    if (is(rest, "if") && !holds(r, name.at, name.n)) return SP_OK;
    if (is(what, "...")) {
        for (int k = 0; k < SP_RANK_MAX; k++)
            if (r->rest[k] >= 0) r->map->whole[r->rest[k]] = true;
        return SP_OK;
    }
    if (what.n == 1) {
        const int8_t letter = r->by_char[what.at[0] & 127];
        if (letter >= 0) r->map->whole[letter] = true;
        return SP_OK;
    }
    SP_TRY(axes_named(r, what.at, what.n, rank, &axes));
    if (is(how, "whole")) {
        keep_whole(r, axes);
        return SP_OK;
    }
    char text[16];
    sp_reduce reduce;
    if (how.n >= sizeof text) return SP_DECLINED;
    memcpy(text, how.at, how.n);
    text[how.n] = 0;
    SP_TRY(sp_reduce_parse(text, &reduce));
    for (int k = 0; k < rank; k++)
        if (axes >> k & 1 && r->axes[k] >= 0) r->map->reduce[r->axes[k]] = (uint8_t)reduce;
    return SP_OK;
}

static sp_status family(rule *r, const char *text, const char *end, const char *clauses)
{
    const char *arrow = strstr(text, "->"), *at = text;
    if (arrow && arrow < end) return read_letters(r, text, arrow, end, clauses);
    const word name = next_word(&at, end);
    if (is(name, "same")) return family_same(r);
    if (is(name, "permute")) return family_permute(r);
    if (is(name, "reshape")) return family_reshape(r);
    if (is(name, "slice")) return family_slice(r);
    if (is(name, "index")) return family_index(r);
    if (!is(name, "fold") || !clauses) return SP_DECLINED;
    unsigned axes;
    const word attr = next_word(&clauses, clauses + strlen(clauses));
    if (!r->in[0]) return SP_DECLINED;
    SP_TRY(axes_named(r, attr.at, attr.n, r->in[0]->rank, &axes));
    return family_fold(r, axes);
}

sp_status sp__shard_map(const sp_node *n, const sp_meta *const *in, const sp_meta *const *out, sp_shard_map *map)
{
    if (n->kind != SP_NODE_OP || !sp__op_has_shard(n->op) || n->n_in == 0 || n->n_in > SP_SHARD_OPERANDS ||
        n->n_out > SP_SHARD_OPERANDS)
        return SP_DECLINED;
    rule r = {.n = n, .in = in, .out = out, .map = map};
    const char *text = n->op->shard ? n->op->shard : "same";
    const char *semicolon = strchr(text, ';'), *end = semicolon ? semicolon : text + strlen(text);
    const char *clauses = semicolon ? semicolon + 1 : NULL;
    map->n_in = n->n_in;
    map->n_out = n->n_out;
    map->n_letters = 0;
    memset(map->in, -1, sizeof map->in);
    memset(map->out, -1, sizeof map->out);
    memset(r.by_char, -1, sizeof r.by_char);
    memset(r.rest, -1, sizeof r.rest);
    memset(r.axes, -1, sizeof r.axes);
    for (int i = 0; i < n->n_in; i++)
        if (in[i] && !sp__meta_known(in[i])) return SP_DECLINED;
    for (int i = 0; i < n->n_out; i++)
        if (!sp__meta_known(out[i])) return SP_DECLINED;
    SP_TRY(family(&r, text, end, clauses));
    if (r.axes[0] < 0 && in[0])
        for (int k = 0; k < in[0]->rank; k++) r.axes[k] = map->in[0][k];
    for (const char *at = clauses; at && *at;) {
        const char *comma = strchr(at, ','), *last = comma ? comma : at + strlen(at);
        SP_TRY(clause(&r, at, last));
        at = comma ? comma + 1 : last;
    }
    return SP_OK;
}

/* --- sizes among attributes -------------------------------------------------------------------------------------- */

sp_status sp__shard_attrs(sp_node *n, const sp_meta *const *whole_in, const sp_meta *local_in0,
                          const sp_meta *local_out0)
{
    const char *text = n->op->shard, *sizes = text ? strstr(text, "sizes ") : NULL;
    char room[SP_ATTRS_ROOM];
    int64_t stop[SP_RANK_MAX];
    sp_ints v;
    if (!text || n->op->attrs_bytes > sizeof room) return SP_OK;
    if (sizes) {
        const char *name = sizes + 6;
        const sp_attr *a = sp__attr_find(n->op, name, strcspn(name, ", "));
        if (!a) return SP_OK;
        memcpy(room, n->attrs, n->op->attrs_bytes);
        v = (sp_ints){local_out0->rank, local_out0->dims};
        memcpy(room + a->offset, &v, sizeof v);
        return sp__node_set_op(n, n->op, room);
    }
    if (strncmp(text, "slice", 5) != 0) return SP_OK;
    const sp_attr *a = sp__attr_find(n->op, "stop", 4);
    memcpy(room, n->attrs, n->op->attrs_bytes);
    memcpy(&v, room + a->offset, sizeof v);
    for (int i = 0; i < v.n; i++) stop[i] = local_in0->dims[i] != whole_in[0]->dims[i] ? local_in0->dims[i] : v.v[i];
    v.v = stop;
    memcpy(room + a->offset, &v, sizeof v);
    return sp__node_set_op(n, n->op, room);
}
