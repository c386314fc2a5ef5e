/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.c - the stack machine that pickles are programs for, without its dangerous half.
 *
 * A pickle is a row of one-byte instructions with arguments. They push plain values, collect what lies above a mark into
 * containers, keep values in numbered places (memo), name classes and functions (GLOBAL), and ask for calls (REDUCE),
 * instances (NEWOBJ) and their state (BUILD). Here GLOBAL is a text, an instance is a value that holds its class and
 * arguments, and calls go to the hooks.
 *
 * Bounds: an instruction makes at most one value, containers grow only by instructions, memo numbers are below the
 * number of bytes, and the number of instructions is limited: a pickle of weights has some ten for each tensor. */
#include "formats/pickle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "formats/bundle.h"

enum { STACK_MAX = 1 << 24, STEPS_MAX = 1 << 25, NUMBER_TEXT = 64 };

typedef struct {
    const uint8_t *start, *at, *end;
    const sp_pickle_hooks *hooks;
    sp__arena *arena;
    sp_pickle_value **stack; /* NULL entries are marks */
    size_t depth, room;
    sp_pickle_value **memo;
    size_t memo_room;
    size_t memo_next;
} machine;

/* --- values ------------------------------------------------------------------------------------------------------ */

sp_pickle_value *sp__pickle_new(sp__arena *arena, sp_pickle_kind kind)
{
    sp_pickle_value *v = sp__arena_alloc(arena, sizeof *v);
    if (v != NULL) v->kind = kind;
    return v;
}

sp_status sp__pickle_append(sp__arena *arena, sp_pickle_value *to, sp_pickle_value *item)
{
    if (to->count == to->capacity) {
        size_t capacity = to->capacity == 0 ? 4 : to->capacity * 2;
        sp_pickle_value **larger = sp__arena_alloc(arena, capacity * sizeof(sp_pickle_value *));
        if (larger == NULL) return SP_NOMEM;
        if (to->count > 0) memcpy(larger, to->items, to->count * sizeof(sp_pickle_value *));
        to->items = larger;
        to->capacity = capacity;
    }
    to->items[to->count++] = item;
    return SP_OK;
}

bool sp__pickle_is(const sp_pickle_value *v, const char *global)
{
    return v->kind == SP_PICKLE_GLOBAL && strcmp(v->text, global) == 0;
}

sp_pickle_value *sp__pickle_get(const sp_pickle_value *dict, const char *key)
{
    for (size_t i = 0; i + 1 < dict->count; i += 2) {
        const sp_pickle_value *k = dict->items[i];
        if (k->kind == SP_PICKLE_STR && strlen(key) == k->bytes && memcmp(k->text, key, k->bytes) == 0)
            return dict->items[i + 1];
    }
    return NULL;
}

/* --- stack and memo ---------------------------------------------------------------------------------------------- */

static size_t offset(const machine *m) { return (size_t)(m->at - m->start); }

static sp_status push(machine *m, sp_pickle_value *v)
{
    if (m->depth == m->room) {
        size_t room = m->room == 0 ? 256 : m->room * 2;
        SP_CHECK(room <= STACK_MAX, SP_FORMAT, "byte %zu: the pickle's stack is too deep", offset(m));
        sp_pickle_value **larger = sp__realloc(m->stack, m->depth * sizeof(void *), room * sizeof(void *));
        if (larger == NULL) return SP_NOMEM;
        m->stack = larger;
        m->room = room;
    }
    m->stack[m->depth++] = v;
    return SP_OK;
}

static sp_status push_new(machine *m, sp_pickle_kind kind, sp_pickle_value **out)
{
    *out = sp__pickle_new(m->arena, kind);
    return *out != NULL ? push(m, *out) : SP_NOMEM;
}

static sp_status pop(machine *m, sp_pickle_value **out)
{
    SP_CHECK(m->depth > 0 && m->stack[m->depth - 1] != NULL, SP_FORMAT, "byte %zu: the pickle's stack is empty",
             offset(m));
    *out = m->stack[--m->depth];
    return SP_OK;
}

/* The value on top, which must be of a kind (or one of two). */
static sp_status top(machine *m, sp_pickle_value **out)
{
    SP_TRY(pop(m, out));
    m->depth++;
    return SP_OK;
}

/* Index of the first value above the last mark, which is taken away by the caller. */
static sp_status find_mark(const machine *m, size_t *first)
{
    size_t i = m->depth;
    while (i > 0 && m->stack[i - 1] != NULL) i--;
    SP_CHECK(i > 0, SP_FORMAT, "byte %zu: the pickle has no mark", offset(m));
    *first = i;
    return SP_OK;
}

/* Everything above the last mark into a container; the mark goes too. */
static sp_status collect(machine *m, sp_pickle_value *into)
{
    size_t first = 0;
    SP_TRY(find_mark(m, &first));
    for (size_t i = first; i < m->depth; i++) SP_TRY(sp__pickle_append(m->arena, into, m->stack[i]));
    m->depth = first - 1;
    return SP_OK;
}

static sp_status memo_put(machine *m, uint64_t number)
{
    sp_pickle_value *v = NULL;
    SP_TRY(top(m, &v));
    SP_CHECK(number <= (uint64_t)(m->end - m->start), SP_FORMAT, "byte %zu: memo number %llu is too large", offset(m),
             (unsigned long long)number);
    if (number >= m->memo_room) {
        size_t room = m->memo_room * 2 > number + 64 ? m->memo_room * 2 : (size_t)number + 64;
        sp_pickle_value **larger = sp__realloc(m->memo, m->memo_room * sizeof(void *), room * sizeof(void *));
        if (larger == NULL) return SP_NOMEM;
        memset(larger + m->memo_room, 0, (room - m->memo_room) * sizeof(void *));
        m->memo = larger;
        m->memo_room = room;
    }
    m->memo[number] = v;
    return SP_OK;
}

static sp_status memo_get(machine *m, uint64_t number)
{
    SP_CHECK(number < m->memo_room && m->memo[number] != NULL, SP_FORMAT, "byte %zu: memo number %llu is empty",
             offset(m), (unsigned long long)number);
    return push(m, m->memo[number]);
}

/* --- arguments of instructions ----------------------------------------------------------------------------------- */

static sp_status take(machine *m, size_t n, const uint8_t **out)
{
    SP_CHECK((size_t)(m->end - m->at) >= n, SP_FORMAT, "byte %zu: the pickle is cut", offset(m));
    *out = m->at;
    m->at += n;
    return SP_OK;
}

static sp_status take_number(machine *m, int bytes, uint64_t *out)
{
    const uint8_t *p = NULL;
    SP_TRY(take(m, (size_t)bytes, &p));
    *out = 0;
    for (int i = bytes - 1; i >= 0; i--) *out = *out << 8 | p[i];
    return SP_OK;
}

/* Up to the end of the line, which is not part of it. */
static sp_status take_line(machine *m, const char **text, size_t *bytes)
{
    const uint8_t *line = memchr(m->at, '\n', (size_t)(m->end - m->at));
    SP_CHECK(line != NULL, SP_FORMAT, "byte %zu: the pickle is cut", offset(m));
    *text = (const char *)m->at;
    *bytes = (size_t)(line - m->at);
    m->at = line + 1;
    return SP_OK;
}

static sp_status line_number(machine *m, char out[NUMBER_TEXT])
{
    const char *text = NULL;
    size_t bytes = 0;
    SP_TRY(take_line(m, &text, &bytes));
    SP_CHECK(bytes < NUMBER_TEXT, SP_FORMAT, "byte %zu: a number of %zu characters", offset(m), bytes);
    memcpy(out, text, bytes);
    out[bytes] = '\0';
    return SP_OK;
}

/* --- pushing plain values ---------------------------------------------------------------------------------------- */

static sp_status push_int(machine *m, int64_t i)
{
    sp_pickle_value *v = NULL;
    SP_TRY(push_new(m, SP_PICKLE_INT, &v));
    v->i = i;
    return SP_OK;
}

static sp_status push_bool(machine *m, bool b)
{
    sp_pickle_value *v = NULL;
    SP_TRY(push_new(m, SP_PICKLE_BOOL, &v));
    v->i = b;
    return SP_OK;
}

/* A text: copied, so that it has an end. Old pickles mix text and bytes: what is not UTF-8 is bytes. */
static sp_status push_text(machine *m, const char *text, size_t bytes, sp_pickle_kind kind)
{
    sp_pickle_value *v = NULL;
    if (kind == SP_PICKLE_STR && sp__utf8_valid(text, bytes) != bytes) kind = SP_PICKLE_BYTES;
    SP_TRY(push_new(m, kind, &v));
    v->bytes = bytes;
    if (kind == SP_PICKLE_BYTES) { /* may be large: stays where it is */
        v->text = text;
        return SP_OK;
    }
    char *copy = sp__arena_alloc(m->arena, bytes + 1);
    if (copy == NULL) return SP_NOMEM;
    memcpy(copy, text, bytes);
    v->text = copy;
    return SP_OK;
}

static sp_status push_counted(machine *m, int length_bytes, sp_pickle_kind kind)
{
    uint64_t n = 0;
    const uint8_t *p = NULL;
    SP_TRY(take_number(m, length_bytes, &n));
    SP_CHECK(n <= (uint64_t)(m->end - m->at), SP_FORMAT, "byte %zu: a text of %llu bytes begins, but only %zu are left",
             offset(m), (unsigned long long)n, (size_t)(m->end - m->at));
    SP_TRY(take(m, (size_t)n, &p));
    return push_text(m, (const char *)p, (size_t)n, kind);
}

static sp_status push_long(machine *m, int length_bytes)
{
    uint64_t n = 0;
    const uint8_t *p = NULL;
    SP_TRY(take_number(m, length_bytes, &n));
    SP_CHECK(n <= (uint64_t)(m->end - m->at), SP_FORMAT,
             "byte %zu: a number of %llu bytes begins, but only %zu are left", offset(m), (unsigned long long)n,
             (size_t)(m->end - m->at));
    SP_TRY(take(m, (size_t)n, &p));
    if (n > 8) return push_text(m, (const char *)p, (size_t)n, SP_PICKLE_BYTES);
    uint64_t value = n > 0 && (p[n - 1] & 0x80) ? UINT64_MAX : 0; /* two's complement, little-endian */
    for (uint64_t i = n; i-- > 0;) value = value << 8 | p[i];
    return push_int(m, (int64_t)value);
}

static sp_status push_line_int(machine *m, bool allow_bool)
{
    char text[NUMBER_TEXT], *end;
    SP_TRY(line_number(m, text));
    if (allow_bool && (strcmp(text, "00") == 0 || strcmp(text, "01") == 0)) return push_bool(m, text[1] == '1');
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*end == 'L') end++;
    SP_CHECK(end > text && *end == '\0' && errno == 0, SP_FORMAT, "byte %zu: '%s' is no number of 64 bits", offset(m),
             text);
    return push_int(m, value);
}

static sp_status push_float(machine *m, bool as_line)
{
    sp_pickle_value *v = NULL;
    double value;
    if (as_line) {
        char text[NUMBER_TEXT], *end;
        SP_TRY(line_number(m, text));
        value = sp__strtod(text, &end);
        SP_CHECK(end > text && *end == '\0', SP_FORMAT, "byte %zu: '%s' is no number", offset(m), text);
    } else {
        const uint8_t *p = NULL;
        uint64_t bits = 0;
        SP_TRY(take(m, 8, &p)); /* big-endian */
        for (int i = 0; i < 8; i++) bits = bits << 8 | p[i];
        memcpy(&value, &bits, 8);
    }
    SP_TRY(push_new(m, SP_PICKLE_FLOAT, &v));
    v->f = value;
    return SP_OK;
}

/* A quoted line; escapes stay as they are, no name in a file of weights has any. */
static sp_status push_quoted_line(machine *m)
{
    const char *text = NULL;
    size_t n = 0;
    SP_TRY(take_line(m, &text, &n));
    SP_CHECK(n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n - 1] == text[0], SP_FORMAT,
             "byte %zu: a text is not in quotes", offset(m));
    return push_text(m, text + 1, n - 2, SP_PICKLE_STR);
}

/* Value of n hexadecimal digits; -1 if they are none. */
static int64_t hexadecimal(const char *text, size_t n)
{
    char digits[9];
    memcpy(digits, text, n);
    digits[n] = '\0';
    return strspn(digits, "0123456789abcdefABCDEF") == n ? (int64_t)strtoul(digits, NULL, 16) : -1;
}

/* A line of text: a byte a character, others as \uXXXX or \UXXXXXXXX. */
static sp_status push_line(machine *m)
{
    const char *line = NULL;
    size_t n = 0, bytes = 0;
    SP_TRY(take_line(m, &line, &n));
    char *text = sp__arena_alloc(m->arena, 2 * n + 1); /* a byte becomes at most two, an escape at most four */
    if (text == NULL) return SP_NOMEM;
    for (size_t i = 0; i < n; i++) {
        int64_t c = (uint8_t)line[i];
        size_t digits = c == '\\' && i + 1 < n ? (line[i + 1] == 'u' ? 4 : line[i + 1] == 'U' ? 8 : 0) : 0;
        if (digits > 0 && n - i >= digits + 2) {
            int64_t escaped = hexadecimal(line + i + 2, digits);
            SP_CHECK(escaped >= 0 && escaped <= 0x10FFFF && (escaped < 0xD800 || escaped > 0xDFFF), SP_FORMAT,
                     "byte %zu: a character that does not exist", offset(m));
            c = escaped;
            i += digits + 1;
        }
        bytes += sp__utf8_put(text + bytes, (uint32_t)c);
    }
    sp_pickle_value *v = NULL;
    SP_TRY(push_new(m, SP_PICKLE_STR, &v));
    v->text = text;
    v->bytes = bytes;
    return SP_OK;
}

/* --- containers -------------------------------------------------------------------------------------------------- */

static sp_status push_marked(machine *m, sp_pickle_kind kind)
{
    sp_pickle_value *v = sp__pickle_new(m->arena, kind);
    if (v == NULL) return SP_NOMEM;
    SP_TRY(collect(m, v));
    SP_CHECK(kind != SP_PICKLE_DICT || v->count % 2 == 0, SP_FORMAT, "byte %zu: a dict with half a pair", offset(m));
    return push(m, v);
}

static sp_status push_tuple(machine *m, size_t n)
{
    sp_pickle_value *v = sp__pickle_new(m->arena, SP_PICKLE_TUPLE), *item = NULL;
    if (v == NULL) return SP_NOMEM;
    SP_CHECK(m->depth >= n, SP_FORMAT, "byte %zu: the pickle's stack is empty", offset(m));
    for (size_t i = m->depth - n; i < m->depth; i++) {
        SP_CHECK(m->stack[i] != NULL, SP_FORMAT, "byte %zu: a mark where a value is wanted", offset(m));
        SP_TRY(sp__pickle_append(m->arena, v, m->stack[i]));
    }
    for (size_t i = 0; i < n; i++) SP_TRY(pop(m, &item));
    return push(m, v);
}

/* Containers that items may be added to: instances of classes derived from list and dict keep them as well. */
static bool can_grow(const sp_pickle_value *v)
{
    return v->kind == SP_PICKLE_LIST || v->kind == SP_PICKLE_DICT || v->kind == SP_PICKLE_OBJECT ||
           v->kind == SP_PICKLE_OTHER;
}

/* APPEND, APPENDS, SETITEM, SETITEMS, ADDITEMS: n values from the top (0: all above the mark) into what lies below. */
static sp_status add_items(machine *m, size_t n)
{
    size_t first = 0;
    if (n > 0) {
        SP_CHECK(m->depth > n, SP_FORMAT, "byte %zu: the pickle's stack is empty", offset(m));
        first = m->depth - n;
    } else {
        SP_TRY(find_mark(m, &first));
    }
    size_t below = n > 0 ? first : first - 1;
    SP_CHECK(below > 0 && m->stack[below - 1] != NULL && can_grow(m->stack[below - 1]), SP_FORMAT,
             "byte %zu: items for something that is no container", offset(m));
    sp_pickle_value *into = m->stack[below - 1];
    for (size_t i = first; i < m->depth; i++) {
        SP_CHECK(m->stack[i] != NULL, SP_FORMAT, "byte %zu: a mark where a value is wanted", offset(m));
        if (into->kind != SP_PICKLE_OTHER) SP_TRY(sp__pickle_append(m->arena, into, m->stack[i]));
    }
    SP_CHECK(into->kind != SP_PICKLE_DICT || into->count % 2 == 0, SP_FORMAT, "byte %zu: a dict with half a pair",
             offset(m));
    m->depth = below;
    return SP_OK;
}

/* --- classes and calls ------------------------------------------------------------------------------------------- */

static sp_status push_global(machine *m, const char *module, size_t n_module, const char *name, size_t n_name)
{
    sp_pickle_value *v = NULL;
    SP_TRY(push_new(m, SP_PICKLE_GLOBAL, &v));
    char *text = sp__arena_alloc(m->arena, n_module + n_name + 2);
    if (text == NULL) return SP_NOMEM;
    memcpy(text, module, n_module);
    text[n_module] = '.';
    memcpy(text + n_module + 1, name, n_name);
    v->bytes = n_module + 1 + n_name;
    v->text = text;
    SP_CHECK(strlen(text) == v->bytes && sp__utf8_valid(text, v->bytes) == v->bytes, SP_FORMAT,
             "byte %zu: the name of a class is not text", offset(m));
    return SP_OK;
}

static sp_status global_lines(machine *m)
{
    const char *module = NULL, *name = NULL;
    size_t n_module = 0, n_name = 0;
    SP_TRY(take_line(m, &module, &n_module));
    SP_TRY(take_line(m, &name, &n_name));
    return push_global(m, module, n_module, name, n_name);
}

static sp_status global_stack(machine *m)
{
    sp_pickle_value *name = NULL, *module = NULL;
    SP_TRY(pop(m, &name));
    SP_TRY(pop(m, &module));
    SP_CHECK(name->kind == SP_PICKLE_STR && module->kind == SP_PICKLE_STR, SP_FORMAT,
             "byte %zu: the name of a class is no text", offset(m));
    return push_global(m, module->text, module->bytes, name->text, name->bytes);
}

static sp_status check_args(const machine *m, const sp_pickle_value *args)
{
    SP_CHECK(args->kind == SP_PICKLE_TUPLE, SP_FORMAT, "byte %zu: arguments are no tuple", offset(m));
    return SP_OK;
}

static sp_status reduce(machine *m)
{
    sp_pickle_value *args = NULL, *callable = NULL, *result = NULL;
    SP_TRY(pop(m, &args));
    SP_TRY(pop(m, &callable));
    SP_TRY(check_args(m, args));
    sp_status status = m->hooks->call(m->hooks->context, m->arena, callable, args, &result);
    if (status != SP_OK) {
        sp__error_context("byte %zu of the pickle", offset(m));
        return status;
    }
    return push(m, result);
}

static sp_status push_object(machine *m, sp_pickle_value *of, const sp_pickle_value *args)
{
    sp_pickle_value *v = NULL;
    SP_CHECK(of->kind == SP_PICKLE_GLOBAL, SP_FORMAT, "byte %zu: an instance of something that is no class", offset(m));
    SP_TRY(push_new(m, SP_PICKLE_OBJECT, &v));
    v->of = of;
    for (size_t i = 0; i < args->count; i++) SP_TRY(sp__pickle_append(m->arena, v, args->items[i]));
    return SP_OK;
}

static sp_status new_object(machine *m, bool with_keywords)
{
    sp_pickle_value *args = NULL, *of = NULL, *keywords = NULL;
    if (with_keywords) SP_TRY(pop(m, &keywords));
    SP_TRY(pop(m, &args));
    SP_TRY(pop(m, &of));
    SP_TRY(check_args(m, args));
    return push_object(m, of, args);
}

/* INST and OBJ, of old pickles: class (on the stack or in two lines) and arguments above a mark. */
static sp_status old_object(machine *m, bool from_lines)
{
    sp_pickle_value *all = sp__pickle_new(m->arena, SP_PICKLE_TUPLE), *of = NULL;
    if (all == NULL) return SP_NOMEM;
    SP_TRY(collect(m, all));
    if (from_lines) {
        SP_TRY(global_lines(m));
        SP_TRY(pop(m, &of));
    } else {
        SP_CHECK(all->count > 0, SP_FORMAT, "byte %zu: an instance without a class", offset(m));
        of = all->items[0];
        all->items++;
        all->count--;
        all->capacity = all->count;
    }
    return push_object(m, of, all);
}

static sp_status build(machine *m)
{
    sp_pickle_value *state = NULL, *object = NULL;
    SP_TRY(pop(m, &state));
    SP_TRY(top(m, &object));
    if (m->hooks->build != NULL) SP_TRY(m->hooks->build(m->hooks->context, m->arena, object, state));
    object->state = state;
    return SP_OK;
}

static sp_status persistent(machine *m)
{
    sp_pickle_value *id = NULL, *result = NULL;
    SP_TRY(pop(m, &id));
    SP_CHECK(m->hooks->persistent != NULL, SP_FORMAT, "byte %zu: a persistent id, which such a pickle cannot have",
             offset(m));
    SP_TRY(m->hooks->persistent(m->hooks->context, m->arena, id, &result));
    return push(m, result);
}

/* --- instructions ------------------------------------------------------------------------------------------------ */

static sp_status with_number(machine *m, int bytes, sp_status (*then)(machine *, uint64_t))
{
    uint64_t number = 0;
    SP_TRY(take_number(m, bytes, &number));
    return then(m, number);
}

static sp_status with_line_number(machine *m, sp_status (*then)(machine *, uint64_t))
{
    sp_pickle_value *v = NULL;
    SP_TRY(push_line_int(m, false));
    SP_TRY(pop(m, &v));
    SP_CHECK(v->i >= 0, SP_FORMAT, "byte %zu: memo number %lld", offset(m), (long long)v->i);
    return then(m, (uint64_t)v->i);
}

static sp_status push_unsigned(machine *m, uint64_t n) { return push_int(m, (int64_t)n); }
static sp_status push_int32(machine *m, uint64_t n) { return push_int(m, (int32_t)(uint32_t)n); }

static sp_status ignore(machine *m, uint64_t n)
{
    (void)m, (void)n;
    return SP_OK;
}

static sp_status pop_mark(machine *m)
{
    size_t first = 0;
    SP_TRY(find_mark(m, &first));
    m->depth = first - 1;
    return SP_OK;
}

static sp_status duplicate(machine *m)
{
    sp_pickle_value *v = NULL;
    SP_TRY(top(m, &v));
    return push(m, v);
}

static sp_status step(machine *m, uint8_t code)
{
    sp_pickle_value *v = NULL;
    switch (code) {
    case 0x80: return with_number(m, 1, ignore); /* PROTO */
    case 0x95: return with_number(m, 8, ignore); /* FRAME */
    case '(': return push(m, NULL);              /* MARK */
    case '0': return m->depth > 0 && m->stack[m->depth - 1] == NULL ? pop_mark(m) : pop(m, &v);
    case '1': return pop_mark(m);
    case '2': return duplicate(m);
    case 'N': return push_new(m, SP_PICKLE_NONE, &v);
    case 0x88: return push_bool(m, true);
    case 0x89: return push_bool(m, false);
    case 'I': return push_line_int(m, true);
    case 'L': return push_line_int(m, false);
    case 'J': return with_number(m, 4, push_int32);
    case 'K': return with_number(m, 1, push_unsigned);
    case 'M': return with_number(m, 2, push_unsigned);
    case 0x8A: return push_long(m, 1);
    case 0x8B: return push_long(m, 4);
    case 'F': return push_float(m, true);
    case 'G': return push_float(m, false);
    case 'S': return push_quoted_line(m);
    case 'V': return push_line(m);
    case 'T': return push_counted(m, 4, SP_PICKLE_STR);
    case 'U': return push_counted(m, 1, SP_PICKLE_STR);
    case 'X': return push_counted(m, 4, SP_PICKLE_STR);
    case 0x8C: return push_counted(m, 1, SP_PICKLE_STR);
    case 0x8D: return push_counted(m, 8, SP_PICKLE_STR);
    case 'B': return push_counted(m, 4, SP_PICKLE_BYTES);
    case 'C': return push_counted(m, 1, SP_PICKLE_BYTES);
    case 0x8E:
    case 0x96: return push_counted(m, 8, SP_PICKLE_BYTES);
    case ']':
    case 0x8F: return push_new(m, SP_PICKLE_LIST, &v); /* EMPTY_LIST, EMPTY_SET */
    case '}': return push_new(m, SP_PICKLE_DICT, &v);
    case ')': return push_tuple(m, 0);
    case 0x85: return push_tuple(m, 1);
    case 0x86: return push_tuple(m, 2);
    case 0x87: return push_tuple(m, 3);
    case 't': return push_marked(m, SP_PICKLE_TUPLE);
    case 'l':
    case 0x91: return push_marked(m, SP_PICKLE_LIST); /* LIST, FROZENSET */
    case 'd': return push_marked(m, SP_PICKLE_DICT);
    case 'a': return add_items(m, 1);
    case 's': return add_items(m, 2);
    case 'e':
    case 'u':
    case 0x90: return add_items(m, 0); /* APPENDS, SETITEMS, ADDITEMS */
    case 'c': return global_lines(m);
    case 0x93: return global_stack(m);
    case 'R': return reduce(m);
    case 'b': return build(m);
    case 'i': return old_object(m, true);
    case 'o': return old_object(m, false);
    case 0x81: return new_object(m, false);
    case 0x92: return new_object(m, true);
    case 'P': SP_TRY(push_line(m)); return persistent(m);
    case 'Q': return persistent(m);
    case 'g': return with_line_number(m, memo_get);
    case 'h': return with_number(m, 1, memo_get);
    case 'j': return with_number(m, 4, memo_get);
    case 'p': return with_line_number(m, memo_put);
    case 'q': return with_number(m, 1, memo_put);
    case 'r': return with_number(m, 4, memo_put);
    case 0x94: return memo_put(m, m->memo_next++);
    default: return sp__fail(SP_FORMAT, "byte %zu: instruction %#x of a pickle is not known", offset(m) - 1, code);
    }
}

static sp_status run(machine *m, sp_pickle_value **out)
{
    for (int64_t n = 0; n < STEPS_MAX; n++) {
        const uint8_t *code = NULL;
        SP_TRY(take(m, 1, &code));
        if (*code == '.') return pop(m, out); /* STOP */
        SP_TRY(step(m, *code));
    }
    return sp__fail(SP_FORMAT, "byte %zu: the pickle has more than %d instructions", offset(m), STEPS_MAX);
}

sp_status sp__pickle_read(const uint8_t *data, size_t bytes, const sp_pickle_hooks *hooks, sp__arena *arena,
                          size_t *used, sp_pickle_value **out)
{
    machine m = {.start = data, .at = data, .end = data + bytes, .hooks = hooks, .arena = arena};
    sp_status status = run(&m, out);
    *used = offset(&m);
    sp__free(m.stack);
    sp__free(m.memo);
    return status;
}
