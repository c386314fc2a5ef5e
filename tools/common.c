/* SPDX-License-Identifier: Apache-2.0 */
/* common.c - messages, command lines, keys and numbers for the verbs; see tools.h. */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools.h"

int tool_complain(int code, const char *format, ...)
{
    char text[8192], plain[sizeof text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "spore: %s\n", tool_plain(text, plain, sizeof plain)); /* names of files may hold anything */
    return code;
}

int tool_engine_failed(const char *verb) { return tool_complain(EXIT_FAILED, "%s: %s", verb, sp_error_message()); }

/* --- verbs ------------------------------------------------------------------------------------------------------- */

void tool_verbs_print(FILE *file, const tool_verb *verbs)
{
    char left[64];
    int width = 0;
    for (const tool_verb *v = verbs; v->name; v++) {
        int n = snprintf(left, sizeof left, "%s %s", v->name, v->arguments);
        if (n > width) width = n;
    }
    for (const tool_verb *v = verbs; v->name; v++) {
        snprintf(left, sizeof left, "%s %s", v->name, v->arguments);
        fprintf(file, "  %-*s  %s\n", width, left, v->summary);
    }
}

/* Edit distance (insert, delete, replace one letter); names longer than the table count as far away. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t n_a = strlen(a), n_b = strlen(b);
    int row[LONGEST + 1];
    if (n_a > LONGEST || n_b > LONGEST) return LONGEST;
    for (size_t j = 0; j <= n_b; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n_a; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= n_b; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n_b];
}

const tool_verb *tool_verbs_find(const tool_verb *verbs, const char *command, const char *name)
{
    const tool_verb *nearest = verbs;
    for (const tool_verb *v = verbs; v->name; v++) {
        if (strcmp(name, v->name) == 0) return v;
        if (distance(name, v->name) < distance(name, nearest->name)) nearest = v;
    }
    const char *group = strchr(command, ' '); /* "spore record": " record" */
    const char *front = group ? group + 1 : "", *colon = group ? ": " : "";
    if (distance(name, nearest->name) <= (int)strlen(name) / 3 + (strlen(name) > 1))
        tool_complain(EXIT_USAGE, "%s%sunknown verb '%s'; nearest is '%s', all are in %s --help", front, colon, name,
                      nearest->name, command);
    else tool_complain(EXIT_USAGE, "%s%sunknown verb '%s'; all are in %s --help", front, colon, name, command);
    return NULL;
}

/* --- command lines ----------------------------------------------------------------------------------------------- */

static const tool_option *find_option(const tool_option *options, const char *word, const char **value)
{
    size_t n = strcspn(word, "=");
    for (; options->name != NULL; options++)
        if (strlen(options->name) == n && strncmp(options->name, word, n) == 0) {
            *value = word[n] == '=' ? word + n + 1 : NULL;
            return options;
        }
    return NULL;
}

/* Lists of options that may be repeated. They live as long as the command. */
enum { LISTS_MAX = 16 };
static const char **lists[LISTS_MAX];

static int append(const char ***values, const char *value)
{
    size_t n = 0;
    int at = 0;
    while (*values != NULL && (*values)[n] != NULL) n++;
    while (at < LISTS_MAX && lists[at] != *values) at++; /* the first free one for a new list */
    const char **larger = at < LISTS_MAX ? realloc(*values, (n + 2) * sizeof *larger) : NULL;
    if (larger == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    lists[at] = larger;
    larger[n] = value;
    larger[n + 1] = NULL;
    *values = larger;
    return 0;
}

/* Two values for one option: which of them is meant is not for us to say. seen: pointers to values that were set, in a list that ends
 * with NULL. */
static bool seen_before(const char **const *seen, const char **value)
{
    while (*seen != NULL && *seen != value) seen++;
    return *seen != NULL;
}

static int set_option(const char *verb, const tool_option *o, const char *value, int argc, char **argv, int *i,
                      const char ***seen)
{
    if (o->flag != NULL) {
        if (value != NULL) return tool_complain(EXIT_USAGE, "%s: %s takes no value", verb, o->name);
        *o->flag = true;
        return 0;
    }
    if (value == NULL) {
        if (*i + 1 >= argc) return tool_complain(EXIT_USAGE, "%s: %s wants a value", verb, o->name);
        value = argv[++*i];
    }
    if (o->values != NULL) return append(o->values, value);
    if (seen_before((const char **const *)seen, o->value))
        return tool_complain(EXIT_USAGE, "%s: %s is given twice, the second time with '%s'", verb, o->name, value);
    while (*seen != NULL) seen++;
    *seen = o->value;
    *o->value = value;
    return 0;
}

static int check_count(const char *verb, int n, int least)
{
    if (n >= least) return 0;
    return tool_complain(EXIT_USAGE, "%s: %d argument%s given, %d wanted; see spore %s --help", verb, n,
                         n == 1 ? "" : "s", least, verb);
}

int tool_parse(int argc, char **argv, const tool_option *options, const char *help, const int n_wanted[2],
               const char **others, int *n_others, bool *helped)
{
    enum { OPTIONS_MAX = 64 };
    const char **seen[OPTIONS_MAX + 1] = {NULL};
    bool only_others = false;
    *n_others = 0;
    *helped = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = NULL;
        if (!only_others && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            fputs(help, stdout);
            *helped = true;
            return 0;
        }
        if (!only_others && strcmp(word, "--") == 0) {
            only_others = true;
            continue;
        }
        if (!only_others && word[0] == '-' && word[1] != '\0') {
            const tool_option *o = find_option(options, word, &value);
            if (o == NULL)
                return tool_complain(EXIT_USAGE, "%s: unknown option '%s'; see spore %s --help", argv[0], word,
                                     argv[0]);
            int code = set_option(argv[0], o, value, argc, argv, &i, seen);
            if (code != 0) return code;
            continue;
        }
        if (*n_others == n_wanted[1])
            return tool_complain(EXIT_USAGE, "%s: one argument too many: '%s'; see spore %s --help", argv[0], word,
                                 argv[0]);
        others[(*n_others)++] = word;
    }
    return check_count(argv[0], *n_others, n_wanted[0]);
}

int tool_parse_output(int argc, char **argv, const tool_option *options, const char *help, const int n_wanted[2],
                      int place, const char *const *output, const char **others, int *n_others, bool *helped)
{
    int code = tool_parse(argc, argv, options, help, (const int[]){0, n_wanted[1]}, others, n_others, helped);
    if (code != 0 || *helped) return code;
    if (*output == NULL) return check_count(argv[0], *n_others, n_wanted[0]);
    code = check_count(argv[0], *n_others, n_wanted[0] - 1);
    if (code != 0) return code;
    if (*n_others == n_wanted[1])
        return tool_complain(EXIT_USAGE, "%s: OUT is given twice, as '%s' and by -o; see spore %s --help", argv[0],
                             others[place], argv[0]);
    memmove(&others[place + 1], &others[place], (size_t)(*n_others - place) * sizeof *others);
    others[place] = *output;
    ++*n_others;
    return 0;
}

int tool_number(const char *verb, const char *option, const char *text, double low, double high, double *out)
{
    char *end;
    if (text == NULL) return 0;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(v >= low && v <= high))
        return tool_complain(EXIT_USAGE, "%s: %s is '%s', it must be a number from %g to %g", verb, option, text, low,
                             high);
    *out = v;
    return 0;
}

int tool_whole(const char *verb, const char *option, const char *text, long long low, long long high, long long *out)
{
    char *end;
    if (text == NULL) return 0;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || v < low || v > high)
        return tool_complain(EXIT_USAGE, "%s: %s is '%s', it must be a whole number of at least %lld and at most %lld",
                             verb, option, text, low, high);
    *out = v;
    return 0;
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

void tool_key_clear(tool_key *key)
{
    volatile unsigned char *p = key->bytes; /* volatile: the compiler must not leave it out */
    for (size_t i = 0; i < sizeof key->bytes; i++) p[i] = 0;
    key->n = 0;
}

/* text: the key as it was given; never repeated in a message. */
static int decode_key(const char *verb, tool_key *key, const char *text, size_t n)
{
    if (n > 4 && strncmp(text, "hex:", 4) == 0) {
        size_t digits = n - 4;
        if (digits % 2 != 0 || digits / 2 > sizeof key->bytes)
            return tool_complain(EXIT_FAILED, "%s: the key has %zu hexadecimal digits; 32, 48 or 64 are wanted", verb,
                                 digits);
        for (size_t i = 0; i < digits; i += 2) {
            char pair[3] = {text[4 + i], text[5 + i], '\0'};
            if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]))
                return tool_complain(EXIT_FAILED, "%s: the key has a character that is no hexadecimal digit", verb);
            key->bytes[i / 2] = (unsigned char)strtoul(pair, NULL, 16);
        }
        key->n = digits / 2;
        return 0;
    }
    if (n > sizeof key->bytes)
        return tool_complain(EXIT_FAILED, "%s: the key is too long; 16, 24 or 32 bytes are wanted", verb);
    memcpy(key->bytes, text, n);
    key->n = n;
    return 0;
}

static int key_from_file(const char *verb, tool_key *key)
{
    FILE *file = tool_input_open(verb, "the key file", key->file);
    if (file == NULL) return EXIT_FAILED;
    char text[256];
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    if (n > 0 && text[n - 1] == '\n') n--;
    if (n > 0 && text[n - 1] == '\r') n--;
    int code = decode_key(verb, key, text, n);
    volatile char *p = text;
    for (size_t i = 0; i < sizeof text; i++) p[i] = 0;
    return code;
}

int tool_key_read(const char *verb, tool_key *key, bool required, sp_file_options *options)
{
    const char *text = getenv(key->variable != NULL ? key->variable : "SPORE_KEY");
    int code = 0;
    if (key->file != NULL && key->variable != NULL)
        return tool_complain(EXIT_USAGE, "%s: give --key-file or --key-env, not both", verb);
    if (key->file != NULL) code = key_from_file(verb, key);
    else if (text != NULL) code = decode_key(verb, key, text, strlen(text));
    else if (key->variable != NULL)
        return tool_complain(EXIT_FAILED, "%s: the environment variable %s is not set", verb, key->variable);
    else if (key->mode != NULL)
        return tool_complain(EXIT_USAGE, "%s: --mode is for a key, and there is none; see spore %s --help", verb, verb);
    else if (required)
        return tool_complain(EXIT_USAGE,
                             "%s: a key is wanted: --key-file FILE, --key-env NAME, or SPORE_KEY in the "
                             "environment",
                             verb);
    else return 0;
    options->key = key->bytes;
    options->key_bytes = key->n;
    options->key_mode = key->mode;
    return code;
}

int tool_key_for(const char *verb, tool_key *key, const char *path, const char **cipher, sp_file_options *options)
{
    if (sp_file_cipher(path, cipher) != SP_OK) *cipher = NULL; /* several files, or none: reading tells */
    if (*cipher == NULL) return 0;
    key->used = true;
    return options->key != NULL ? 0 : tool_key_read(verb, key, false, options);
}

int tool_key_used(const char *verb, const tool_key *key)
{
    const char *given = key->file != NULL       ? "--key-file"
                        : key->variable != NULL ? "--key-env"
                        : key->mode != NULL     ? "--mode"
                                                : NULL;
    if (given == NULL || key->used) return 0;
    return tool_complain(EXIT_USAGE,
                         "%s: %s is for encrypted files, and nothing here is encrypted: it would change nothing", verb,
                         given);
}

/* --- output ------------------------------------------------------------------------------------------------------ */

bool tool_progress(void *context, uint64_t done, uint64_t total)
{
    enum { LONG_WORK = 256 << 20, WIDTH = 40 };
    (void)context;
    if (total < LONG_WORK || !isatty(STDERR_FILENO)) return true;
    int filled = (int)((double)done / (double)total * WIDTH);
    fprintf(stderr, "\r[%.*s%.*s] %3d %%", filled, "########################################", WIDTH - filled,
            "                                        ", (int)((double)done / (double)total * 100));
    if (done >= total) fputs("\r\033[K", stderr);
    return true;
}

/* Bytes of the UTF-8 character at text; 0: there is none. */
static size_t character_bytes(const char *text, size_t room)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xC2 && p[0] < 0xE0 ? 2
               : (p[0] & 0xF0) == 0xE0       ? 3
               : p[0] >= 0xF0 && p[0] < 0xF5 ? 4
                                             : 0;
    if (n > room) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    bool beyond = n == 3 && ((p[0] == 0xE0 && p[1] < 0xA0) ||
                             (p[0] == 0xED && p[1] >= 0xA0)); /* overlong; half of a surrogate pair */
    beyond |= n == 4 && ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] >= 0x90));
    return beyond ? 0 : n;
}

void tool_json_text(const char *text, size_t bytes)
{
    putchar('"');
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        size_t n = character_bytes(text + i, bytes - i);
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20 || c == 0x7F) printf("\\u%04x", c);
        else if (n == 0) fputs("\\ufffd", stdout); /* names of files are bytes, JSON is UTF-8 */
        else fwrite(text + i, 1, n, stdout);
        if (n > 1) i += n - 1;
    }
    putchar('"');
}

const char *tool_bytes(uint64_t bytes, char out[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int u = 0;
    while (value >= 1024 && u < 4) {
        value /= 1024;
        u++;
    }
    snprintf(out, 32, u == 0 ? "%.0f %s" : "%.1f %s", value, units[u]);
    return out;
}

const char *tool_shape(int rank, const int64_t *dims, char out[256])
{
    size_t n = 0;
    n += (size_t)snprintf(out, 256, "(");
    for (int i = 0; i < rank && n < 230; i++)
        n += (size_t)snprintf(out + n, 256 - n, "%s%lld", i > 0 ? ", " : "", (long long)dims[i]);
    snprintf(out + n, 256 - n, rank == 1 ? ",)" : ")");
    return out;
}

void tool_print_lines(const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        putchar((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F ? '?' : c);
    }
}

const char *tool_plain(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; text[n] != '\0' && n + 4 < room; n++) {
        unsigned char c = (unsigned char)text[n];
        out[n] = c < 0x20 || c == 0x7F ? '?' : (char)c;
    }
    if (text[n] != '\0') {
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) n--; /* not inside a character */
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n] = '\0';
    return out;
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* The piece of a row-major tensor that begins at element `at`, as a vector. */
static sp_status piece_of(const sp_tensor *t, int64_t at, int64_t n, sp_tensor **out)
{
    const int64_t one = 1;
    return sp_tensor_view(t, 1, &n, &one, at, out);
}

static void magnitudes(const sp_tensor *piece, int64_t n, double *out)
{
    bool single = sp_tensor_dtype(piece) == SP_DTYPE_C64;
    const void *data = sp_tensor_data(piece);
    for (int64_t i = 0; i < n; i++)
        out[i] = single ? (double)hypotf(((const float *)data)[2 * i], ((const float *)data)[2 * i + 1])
                        : hypot(((const double *)data)[2 * i], ((const double *)data)[2 * i + 1]);
}

sp_status tool_for_values(sp_tensor *t, void (*fn)(void *context, const double *values, int64_t n), void *context)
{
    enum { PIECE = 1 << 18 };
    sp_tensor *plain = NULL;
    sp_status status = sp_tensor_contiguous(t, &plain);
    int64_t count = sp_tensor_count(t);
    for (int64_t at = 0; status == SP_OK && at < count; at += PIECE) {
        int64_t n = count - at < PIECE ? count - at : PIECE;
        sp_tensor *piece = NULL, *values = NULL;
        status = piece_of(plain, at, n, &piece);
        if (status == SP_OK) status = sp_tensor_create(SP_DTYPE_F64, 1, &n, &values);
        if (status == SP_OK && sp_dtype_kind(sp_tensor_dtype(t)) == 'c') magnitudes(piece, n, sp_tensor_data(values));
        else if (status == SP_OK) status = sp_tensor_assign(values, piece);
        if (status == SP_OK) fn(context, sp_tensor_data(values), n);
        sp_tensor_release(piece);
        sp_tensor_release(values);
    }
    sp_tensor_release(plain);
    return status;
}

typedef struct {
    tool_stats *stats;
    double sum, squares, shift; /* of the differences from the first value, which keeps squares small */
    int64_t n;
} sums;

static void add_values(void *context, const double *values, int64_t n)
{
    sums *s = context;
    for (int64_t i = 0; i < n; i++) {
        double v = values[i];
        if (isnan(v)) {
            s->stats->n_nan++;
            continue;
        }
        if (isinf(v)) {
            s->stats->n_inf++;
            continue;
        }
        if (s->n++ == 0) s->stats->min = s->stats->max = s->shift = v;
        s->stats->n_zero += v == 0;
        if (v < s->stats->min) s->stats->min = v;
        if (v > s->stats->max) s->stats->max = v;
        s->sum += v - s->shift;
        s->squares += (v - s->shift) * (v - s->shift);
    }
}

sp_status tool_stats_of(sp_tensor *t, tool_stats *out)
{
    *out = (tool_stats){.count = sp_tensor_count(t), .min = NAN, .max = NAN, .mean = NAN, .std = NAN};
    sums s = {.stats = out};
    sp_status status = tool_for_values(t, add_values, &s);
    if (s.n > 0) {
        double mean = s.sum / (double)s.n, variance = s.squares / (double)s.n - mean * mean;
        out->mean = mean + s.shift;
        out->std = variance > 0 ? sqrt(variance) : 0;
    }
    return status;
}

bool tool_ends_in(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}
