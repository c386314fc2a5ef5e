/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_text.c - ONNX operators on texts. Tensors of texts hold numbers of the table in c->texts (onnx_texts.c). */
#include <locale.h>
#include <string.h>
#include <wctype.h>

#include "formats/onnx/onnx_model.h"
#include "formats/onnx/onnx_regex.h"

/* The numbers of input i, row by row, owned by the builder. */
static sp_status codes_in(sp_onnx_call *c, int i, sp_tensor **out)
{
    sp_tensor *x = sp__onnx_in(c, i), *rows = NULL;
    SP_CHECK(x != NULL && sp__onnx_in_type(c, i) == SP_ONNX_STRING, SP_TYPE, "input %d must be a tensor of texts", i);
    SP_TRY(sp__tensor_need_value(x));
    SP_TRY(sp_tensor_contiguous(x, &rows));
    *out = sp_builder_take_tensor(c->b, rows);
    return sp_builder_status(c->b);
}

static const char *text_of(const sp_onnx_call *c, const sp_tensor *codes, int64_t i)
{
    return sp__onnx_text_at(c->texts, ((const int64_t *)sp_tensor_data(codes))[i]);
}

/* --- joining and dividing ---------------------------------------------------------------------------------------- */

static sp_status concat_texts(sp_onnx_call *c)
{
    sp_tensor *x, *y, *out = NULL;
    SP_TRY(codes_in(c, 0, &x));
    SP_TRY(codes_in(c, 1, &y));
    /* Broadcast both as tensors of numbers: adding zeros of the other's shape. */
    sp_tensor *zero_x = sp__zeros_like(c->b, x), *zero_y = sp__zeros_like(c->b, y);
    x = sp_add(c->b, x, zero_y);
    y = sp_add(c->b, y, zero_x);
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, sp_tensor_rank(x), sp_tensor_dims(x), &out));
    sp__text joined = {0};
    sp_status status = SP_OK;
    for (int64_t i = 0; i < sp_tensor_count(x) && status == SP_OK; i++) {
        joined.used = 0;
        sp__text_put(&joined, "%s%s", text_of(c, x, i), text_of(c, y, i));
        status = joined.data != NULL ? sp__onnx_text_code(c->texts, joined.data, strlen(joined.data),
                                                          (int64_t *)sp_tensor_data(out) + i)
                                     : SP_NOMEM;
    }
    sp__free(joined.data);
    SP_TRY(status);
    c->out_type[0] = SP_ONNX_STRING;
    return sp__onnx_return(c, out);
}

/* The next part of a text from *at on, NULL in *at when it was the last. No delimiter: white space, however much of it. */
static const char *next_part(const char **at, const char *delimiter, bool last, size_t *bytes)
{
    static const char white[] = " \t\n\r\f\v";
    const char *start = *at;
    if (delimiter[0] == '\0') {
        start += strspn(start, white);
        if (*start == '\0') {
            *at = NULL;
            return NULL;
        }
        *bytes = last ? strlen(start) : strcspn(start, white);
        *at = start + *bytes;
        if ((*at)[strspn(*at, white)] == '\0') *at = NULL;
        return start;
    }
    const char *end = last ? NULL : strstr(start, delimiter);
    *bytes = end != NULL ? (size_t)(end - start) : strlen(start);
    *at = end != NULL ? end + strlen(delimiter) : NULL;
    return start;
}

/* Parts of text i; written when `to` is given. */
static sp_status split_one(sp_onnx_call *c, const sp_tensor *x, int64_t i, int64_t *to, int64_t *n)
{
    const char *delimiter = sp__onnx_attr_text(c, "delimiter", ""), *at = text_of(c, x, i);
    const sp_onnx_attr *a = sp__onnx_attr(c, "maxsplit");
    *n = 0;
    if (at[0] == '\0' && delimiter[0] == '\0') return SP_OK;
    while (at != NULL) {
        size_t bytes = 0;
        const char *part = next_part(&at, delimiter, a != NULL && a->i >= 0 && *n >= a->i, &bytes);
        if (part == NULL) break;
        if (to != NULL) SP_TRY(sp__onnx_text_code(c->texts, part, bytes, &to[*n]));
        (*n)++;
    }
    return SP_OK;
}

static sp_status split_texts(sp_onnx_call *c)
{
    sp_tensor *x, *parts = NULL, *counts = NULL;
    SP_TRY(codes_in(c, 0, &x));
    int rank = sp_tensor_rank(x);
    int64_t dims[SP_RANK_MAX], most = 0, n = 0;
    SP_CHECK(rank < SP_RANK_MAX, SP_VALUE, "rank %d, at most %d is possible", rank, SP_RANK_MAX - 1);
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, rank, sp_tensor_dims(x), &counts));
    for (int64_t i = 0; i < sp_tensor_count(x); i++) {
        SP_TRY(split_one(c, x, i, NULL, &n));
        ((int64_t *)sp_tensor_data(counts))[i] = n;
        if (n > most) most = n;
    }
    for (int i = 0; i < rank; i++) dims[i] = sp_tensor_dims(x)[i];
    dims[rank] = most;
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, rank + 1, dims, &parts));
    for (int64_t i = 0; i < sp_tensor_count(x); i++)
        SP_TRY(split_one(c, x, i, (int64_t *)sp_tensor_data(parts) + i * most, &n));
    c->out_type[0] = SP_ONNX_STRING;
    c->out[0] = parts;
    if (c->n_out > 1) c->out[1] = counts;
    return SP_OK;
}

/* --- normalising ------------------------------------------------------------------------------------------------- */

/* Letters of any script in lower or upper case. */
static sp_status change_case(const char *text, bool upper, locale_t locale, sp__text *out)
{
    out->used = 0;
    sp__text_put(out, "%s", "");
    while (*text != '\0') {
        char one[8] = "";
        wint_t ch = (wint_t)sp__regex_next_char(&text);
        ch = upper ? towupper_l(ch, locale) : towlower_l(ch, locale);
        one[sp__utf8_put(one, (uint32_t)ch)] = '\0';
        sp__text_put(out, "%s", one);
    }
    return out->data != NULL ? SP_OK : SP_NOMEM;
}

static bool is_stopword(const sp_onnx_attr *words, const char *text, bool sensitive, locale_t locale, sp__text *a,
                        sp__text *b)
{
    for (int i = 0; words != NULL && i < words->n; i++) {
        if (sensitive ? strcmp(words->strings[i], text) == 0
                      : change_case(words->strings[i], false, locale, a) == SP_OK &&
                            change_case(text, false, locale, b) == SP_OK && strcmp(a->data, b->data) == 0)
            return true;
    }
    return false;
}

static sp_status normalise_row(sp_onnx_call *c, const sp_tensor *x, locale_t locale, int64_t *to, int64_t *n)
{
    const sp_onnx_attr *words = sp__onnx_attr(c, "stopwords");
    bool sensitive = sp__onnx_attr_int(c, "is_case_sensitive", 0) != 0;
    const char *action = sp__onnx_attr_text(c, "case_change_action", "NONE");
    sp__text a = {0}, b = {0};
    sp_status status = SP_OK;
    *n = 0;
    for (int64_t i = 0; i < sp_tensor_count(x) && status == SP_OK; i++) {
        const char *text = text_of(c, x, i);
        if (is_stopword(words, text, sensitive, locale, &a, &b)) continue;
        if (strcmp(action, "NONE") != 0) {
            status = change_case(text, strcmp(action, "UPPER") == 0, locale, &a);
            text = a.data;
        }
        if (status == SP_OK) status = sp__onnx_text_code(c->texts, text, strlen(text), &to[(*n)++]);
    }
    sp__free(a.data);
    sp__free(b.data);
    return status;
}

static sp_status normalise(sp_onnx_call *c)
{
    sp_tensor *x, *out = NULL;
    SP_TRY(codes_in(c, 0, &x));
    int rank = sp_tensor_rank(x);
    SP_CHECK(rank == 1 || (rank == 2 && sp_tensor_dims(x)[0] == 1), SP_VALUE,
             "texts must have the shape [n] or [1, n]");
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, 1, (int64_t[]){sp_tensor_count(x) + 1}, &out));
    int64_t n = 0;
    locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    SP_CHECK(locale != (locale_t)0, SP_DECLINED,
             "the case of letters cannot be changed: the C library has no locale C.UTF-8");
    sp_status status = normalise_row(c, x, locale, sp_tensor_data(out), &n);
    freelocale(locale);
    SP_TRY(status);
    if (n == 0) n = 1; /* one empty text: a tensor without elements is not wanted here */
    c->out_type[0] = SP_ONNX_STRING;
    out = sp__take_range(c->b, out, 0, 0, n);
    return sp__onnx_return(c, rank == 2 ? sp_reshape(c->b, out, 2, (int64_t[]){1, n}) : out);
}

/* --- matching ---------------------------------------------------------------------------------------------------- */

static sp_status full_match(sp_onnx_call *c)
{
    sp_tensor *x, *out = NULL;
    sp__arena arena = {0};
    sp_regex *regex = NULL;
    SP_TRY(codes_in(c, 0, &x));
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_BOOL, sp_tensor_rank(x), sp_tensor_dims(x), &out));
    sp_status status = sp__regex_compile(&arena, sp__onnx_attr_text(c, "pattern", ""), &regex);
    for (int64_t i = 0; i < sp_tensor_count(x) && status == SP_OK; i++)
        ((uint8_t *)sp_tensor_data(out))[i] = sp__regex_matches(regex, text_of(c, x, i));
    sp__arena_free(&arena);
    SP_TRY(status);
    return sp__onnx_return(c, out);
}

/* --- counting n-grams -------------------------------------------------------------------------------------------- */

typedef struct ngrams {
    int64_t shortest, longest, skips;
    const sp_onnx_attr *counts, *indexes, *weights;
    int64_t n_pool;
    int64_t *pool; /* numbers, or numbers of texts */
    char mode;     /* T: TF, I: IDF, F: TFIDF */
} ngrams;

static sp_status ngrams_of(sp_onnx_call *c, bool texts, ngrams *g)
{
    const sp_onnx_attr *pool = sp__onnx_attr(c, texts ? "pool_strings" : "pool_int64s");
    const char *mode = sp__onnx_attr_text(c, "mode", "TF");
    *g = (ngrams){.shortest = sp__onnx_attr_int(c, "min_gram_length", 1),
                  .longest = sp__onnx_attr_int(c, "max_gram_length", 1),
                  .skips = sp__onnx_attr_int(c, "max_skip_count", 0),
                  .counts = sp__onnx_attr(c, "ngram_counts"),
                  .indexes = sp__onnx_attr(c, "ngram_indexes"),
                  .weights = sp__onnx_attr(c, "weights"),
                  .mode = strcmp(mode, "TF") == 0    ? 'T'
                          : strcmp(mode, "IDF") == 0 ? 'I'
                                                     : 'F'};
    SP_CHECK(g->counts != NULL && g->indexes != NULL && pool != NULL, SP_FORMAT,
             "ngram_counts, ngram_indexes or the pool is missing");
    SP_CHECK(g->shortest >= 1 && g->longest >= g->shortest && g->longest <= g->counts->n && g->skips >= 0, SP_VALUE,
             "lengths from %lld to %lld and %d counts", (long long)g->shortest, (long long)g->longest, g->counts->n);
    sp_tensor *held = NULL;
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, 1, (int64_t[]){pool->n + 1}, &held));
    g->pool = sp_tensor_data(held);
    g->n_pool = pool->n;
    for (int i = 0; i < pool->n; i++) {
        if (!texts) g->pool[i] = pool->ints[i];
        else SP_TRY(sp__onnx_text_code(c->texts, pool->strings[i], strlen(pool->strings[i]), &g->pool[i]));
    }
    int64_t last = 0, at = 0;
    for (int k = 0; k < g->counts->n; k++) {
        SP_CHECK(g->counts->ints[k] >= last && g->counts->ints[k] <= g->n_pool, SP_VALUE,
                 "ngram_counts do not fit the pool");
        last = g->counts->ints[k];
        int64_t end = k + 1 < g->counts->n ? g->counts->ints[k + 1] : g->n_pool;
        at += (end - last) / (k + 1);
    }
    SP_CHECK(at <= g->indexes->n, SP_VALUE, "%d ngram_indexes for %lld n-grams", g->indexes->n, (long long)at);
    return SP_OK;
}

/* n-grams of one length whose elements stand `step` apart. */
static void count_grams(const ngrams *g, const int64_t *row, int64_t n, int64_t length, int64_t step, float *out,
                        int64_t n_out)
{
    int64_t first = 0; /* number of the first n-gram of this length */
    for (int64_t k = 1; k < length; k++) first += (g->counts->ints[k] - g->counts->ints[k - 1]) / k;
    int64_t from = g->counts->ints[length - 1], end = length < g->counts->n ? g->counts->ints[length] : g->n_pool;
    for (int64_t start = 0; start + (length - 1) * step < n; start++) {
        for (int64_t at = from, which = first; at + length <= end; at += length, which++) {
            bool same = true;
            for (int64_t k = 0; k < length && same; k++) same = g->pool[at + k] == row[start + k * step];
            if (same && g->indexes->ints[which] >= 0 && g->indexes->ints[which] < n_out) out[g->indexes->ints[which]]++;
        }
    }
}

static sp_status tfidf(sp_onnx_call *c)
{
    bool texts = sp__onnx_in_type(c, 0) == SP_ONNX_STRING;
    ngrams g;
    sp_tensor *x = c->in[0], *rows = NULL, *out = NULL;
    SP_TRY(sp__tensor_need_value(x));
    SP_TRY(ngrams_of(c, texts, &g));
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_I64, sp_tensor_rank(x), sp_tensor_dims(x), &rows));
    SP_TRY(sp_tensor_assign(rows, x));
    int rank = sp_tensor_rank(x);
    SP_CHECK(rank == 1 || rank == 2, SP_VALUE, "rank %d, it must be 1 or 2", rank);
    int64_t n_rows = rank == 2 ? sp_tensor_dims(x)[0] : 1, n = sp_tensor_dims(x)[rank - 1], n_out = 0;
    for (int i = 0; i < g.indexes->n; i++)
        if (g.indexes->ints[i] >= n_out) n_out = g.indexes->ints[i] + 1;
    const int64_t skips = g.skips < n ? g.skips : n; /* longer steps leave the row */
    SP_CHECK(n_out < INT32_MAX, SP_VALUE, "an index of %lld", (long long)n_out);
    SP_TRY(sp__onnx_zeros(c, SP_DTYPE_F32, rank, rank == 2 ? (int64_t[]){n_rows, n_out} : (int64_t[]){n_out}, &out));
    for (int64_t r = 0; r < n_rows; r++) {
        float *to = (float *)sp_tensor_data(out) + r * n_out;
        for (int64_t length = g.shortest; length <= g.longest; length++) /* single elements cannot stand apart */
            for (int64_t step = 1; step <= (length > 1 ? skips : 0) + 1; step++)
                count_grams(&g, (const int64_t *)sp_tensor_data(rows) + r * n, n, length, step, to, n_out);
        for (int64_t k = 0; k < g.indexes->n; k++) {
            int64_t at = g.indexes->ints[k];
            double weight = g.weights != NULL && k < g.weights->n ? g.weights->floats[k] : 1;
            if (at < 0 || to[at] == 0) continue;
            if (g.mode == 'I') to[at] = (float)weight;
            else if (g.mode == 'F') to[at] *= (float)weight;
        }
    }
    return sp__onnx_return(c, out);
}

const sp_onnx_handler sp__onnx_text[] = {
    {"StringConcat", 20, concat_texts, NULL, SP_ONNX_TYPED},  {"StringSplit", 20, split_texts, NULL, SP_ONNX_TYPED},
    {"StringNormalizer", 10, normalise, NULL, SP_ONNX_TYPED}, {"RegexFullMatch", 20, full_match, NULL, SP_ONNX_TYPED},
    {"TfIdfVectorizer", 9, tfidf, NULL, SP_ONNX_TYPED},       {NULL, 0, NULL, NULL, 0},
};
