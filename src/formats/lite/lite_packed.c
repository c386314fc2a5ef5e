/* SPDX-License-Identifier: Apache-2.0 */
/* lite_packed.c - packed weights of MindSpore Lite's files, unpacked; nothing here trusts the lengths that they name.
 *
 *   bits       (4, and 0 where a type is wider than its numbers)  values + 2^(bits-1), least significant bit first, one after the other
 *   indexing   (1)  most significant bit first: number of distinct values (`bits` bits, 0: all), the values, an index an element
 *   sparse     (2)  8 bits: width of a gap, 32 bits: stored elements; values as in 1, an index each, a gap in front of each; gaps hold the zero point
 *   FSE        (3, 5, 6)  u16 symbols | u16 log of states | u32 words | u32 frequencies | pad to 8 | 4-byte centroids | pad to 8 | 64-bit words | u8 bits in the
 *              last; the string of bits is read from its end, and elements come from the last to the first
 *   Huffman    (-1)  "keys#codes#" as texts, then bits, most significant first; a key of 128 ends them */
#include <stdlib.h>
#include <string.h>

#include "formats/lite/lite_file.h"

enum {
    INDEXING = 1,
    SPARSE = 2,
    FSE = 3,
    BITS = 4,
    FSE_INT = 5,
    FSE_INFER = 6,
    HUFFMAN = -1,
    LOG_MAX = 16,
    HUFFMAN_END = 128,
    HUFFMAN_KEYS = 512
};

/* Bits, most significant first. */
typedef struct bits {
    const uint8_t *data;
    uint64_t n, at;
} bits;

static sp_status take_bits(bits *b, int n, uint32_t *out)
{
    SP_CHECK((uint64_t)n <= b->n - b->at, SP_FORMAT, "packed weights end after %llu bits", (unsigned long long)b->n);
    *out = 0;
    for (int i = 0; i < n; i++, b->at++) *out = *out << 1 | (b->data[b->at / 8] >> (7 - b->at % 8) & 1);
    return SP_OK;
}

static int first_bits(const sp_lite_file *t, const sp_lite_tensor *x)
{
    sp_lite_quant q = {.bits = 0};
    return x->quant.n > 0 && sp__lite_quant(t, x, 0, &q) == SP_OK ? q.bits : 0;
}

sp_dtype sp__lite_unpacked(const sp_lite_tensor *x)
{
    const sp_dtype dtype = x->meta.dtype;
    const size_t wanted = x->meta.dtype != SP_DTYPE_NONE ? sp_dtype_bytes(dtype) : 0;
    uint64_t n = 1;
    if (x->packing == FSE || x->packing == FSE_INFER) return SP_DTYPE_F32;
    if (x->packing != 0) return dtype == SP_DTYPE_I16 ? SP_DTYPE_I16 : SP_DTYPE_I8;
    /* Narrow numbers without a mark: fewer bytes than elements. */
    if (x->n_quant == 0 || (dtype != SP_DTYPE_I8 && dtype != SP_DTYPE_I16)) return SP_DTYPE_NONE;
    for (int k = 0; k < x->meta.rank; k++) {
        if (x->meta.dims[k] < 0 || (x->meta.dims[k] > 0 && n > UINT64_MAX / 4 / (uint64_t)x->meta.dims[k]))
            return SP_DTYPE_NONE;
        n *= (uint64_t)x->meta.dims[k];
    }
    return x->bytes < n * wanted ? dtype : SP_DTYPE_NONE;
}

/* Element i of int8 or int16. */
static sp_status put(sp_tensor *out, int64_t i, int64_t v)
{
    const bool wide = sp_tensor_dtype(out) == SP_DTYPE_I16;
    SP_CHECK(wide ? v >= -32768 && v <= 32767 : v >= -128 && v <= 127, SP_FORMAT, "packed value %lld does not fit %s",
             (long long)v, sp_dtype_name(sp_tensor_dtype(out)));
    if (wide) ((int16_t *)sp_tensor_data(out))[i] = (int16_t)v;
    else ((int8_t *)sp_tensor_data(out))[i] = (int8_t)v;
    return SP_OK;
}

static sp_status check_width(int width)
{
    SP_CHECK(width >= 1 && width <= 16, SP_FORMAT, "packed weights of %d bits; 1 to 16 are possible", width);
    return SP_OK;
}

static sp_status unpack_bits(const sp_lite_tensor *x, int width, sp_tensor *out)
{
    const int64_t n = sp_tensor_count(out);
    SP_TRY(check_width(width));
    SP_CHECK(((uint64_t)n * (uint64_t)width + 7) / 8 <= x->bytes, SP_FORMAT, "%zu bytes for %lld numbers of %d bits",
             x->bytes, (long long)n, width);
    uint64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = 0;
        for (int k = 0; k < width; k++, at++) v |= (int64_t)(x->data[at / 8] >> at % 8 & 1) << k;
        SP_TRY(put(out, i, v - (1 << (width - 1))));
    }
    return SP_OK;
}

/* The distinct values in front of indices, and the bits of an index. */
static sp_status take_values(bits *b, int width, int32_t *values, uint32_t *n, int *index_bits)
{
    SP_TRY(take_bits(b, width, n));
    if (*n == 0) *n = 1u << width;
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t raw = 0;
        SP_TRY(take_bits(b, width, &raw));
        values[i] = (int32_t)raw - (1 << (width - 1));
    }
    for (*index_bits = 0; 1u << *index_bits < *n; ++*index_bits) {}
    return SP_OK;
}

static sp_status take_value(bits *b, const int32_t *values, uint32_t n, int index_bits, int32_t *out)
{
    uint32_t index = 0;
    SP_TRY(take_bits(b, index_bits, &index));
    SP_CHECK(index < n, SP_FORMAT, "value %u of %u in packed weights", index, n);
    *out = values[index];
    return SP_OK;
}

static sp_status unpack_indexed(const sp_lite_tensor *x, int width, int32_t *values, sp_tensor *out)
{
    bits b = {x->data, 8 * (uint64_t)x->bytes, 0};
    uint32_t n = 0;
    int index_bits = 0;
    SP_TRY(take_values(&b, width, values, &n, &index_bits));
    for (int64_t i = 0; i < sp_tensor_count(out); i++) {
        int32_t v = 0;
        SP_TRY(take_value(&b, values, n, index_bits, &v));
        SP_TRY(put(out, i, v));
    }
    return SP_OK;
}

/* Where nothing is stored: the zero point of the channel, channels being rows. */
static sp_status fill_zero_points(const sp_lite_file *t, const sp_lite_tensor *x, sp_tensor *out)
{
    const int64_t n = sp_tensor_count(out), channels = (int64_t)x->quant.n;
    SP_CHECK(channels > 0 && n >= channels, SP_FORMAT, "%lld scales for %lld sparse weights", (long long)channels,
             (long long)n);
    sp_lite_quant q;
    for (int64_t i = 0, last = -1; i < n; i++) {
        int64_t channel = i / (n / channels);
        if (channel >= channels) channel = channels - 1;
        if (channel != last) SP_TRY(sp__lite_quant(t, x, (int)channel, &q));
        last = channel;
        SP_TRY(put(out, i, q.zero));
    }
    return SP_OK;
}

static sp_status unpack_sparse(const sp_lite_file *t, const sp_lite_tensor *x, int width, int32_t *values,
                               sp_tensor *out)
{
    bits b = {x->data, 8 * (uint64_t)x->bytes, 0}, gaps;
    uint32_t gap_bits = 0, stored = 0, n = 0, gap = 0;
    int index_bits = 0;
    int64_t at = 0;
    SP_TRY(fill_zero_points(t, x, out));
    SP_TRY(take_bits(&b, 8, &gap_bits));
    SP_TRY(take_bits(&b, 32, &stored));
    SP_CHECK(gap_bits <= 32 && stored <= (uint64_t)sp_tensor_count(out), SP_FORMAT,
             "%u weights of %lld are stored, with gaps of %u bits", stored, (long long)sp_tensor_count(out), gap_bits);
    SP_TRY(take_values(&b, width, values, &n, &index_bits));
    gaps = b;
    SP_CHECK((uint64_t)stored * (uint64_t)index_bits <= b.n - b.at, SP_FORMAT, "packed weights end after %llu bits",
             (unsigned long long)b.n);
    gaps.at += (uint64_t)stored * (uint64_t)index_bits;
    for (uint32_t i = 0; i < stored; i++) {
        int32_t v = 0;
        SP_TRY(take_value(&b, values, n, index_bits, &v));
        SP_TRY(take_bits(&gaps, (int)gap_bits, &gap));
        at += gap;
        SP_CHECK(at < sp_tensor_count(out), SP_FORMAT, "sparse weight %u lies beyond the %lld of the tensor", i,
                 (long long)sp_tensor_count(out));
        SP_TRY(put(out, at++, v));
    }
    return SP_OK;
}

/* --- finite state entropy ---------------------------------------------------------------------------------------- */

typedef struct fse {
    uint32_t n, log, words; /* symbols, log of the number of states, words of 64 bits */
    size_t frequencies, centroids, string;
    uint64_t n_bits, left; /* of the string; not read yet */
    uint16_t *symbol, *next;
    uint8_t *width;
} fse;

static sp_status fse_head(const sp_flat *f, fse *s)
{
    uint64_t n = 0, log = 0, words = 0, last = 0;
    SP_TRY(sp__flat_get(f, 0, 2, &n));
    SP_TRY(sp__flat_get(f, 2, 2, &log));
    SP_TRY(sp__flat_get(f, 4, 4, &words));
    SP_CHECK(n > 0 && log >= 1 && log <= LOG_MAX && words >= 1 && words <= f->bytes / 8, SP_FORMAT,
             "%llu symbols, 2^%llu states, %llu words of packed weights", (unsigned long long)n,
             (unsigned long long)log, (unsigned long long)words);
    *s = (fse){.n = (uint32_t)n, .log = (uint32_t)log, .words = (uint32_t)words, .frequencies = 8};
    s->centroids = (8 + 4 * (size_t)n + 7) & ~(size_t)7;
    s->string = (s->centroids + 4 * (size_t)n + 7) & ~(size_t)7;
    SP_TRY(sp__flat_get(f, s->string + 8 * (size_t)words, 1, &last));
    SP_CHECK(last <= 64, SP_FORMAT, "%llu bits in the last word of packed weights", (unsigned long long)last);
    s->left = s->n_bits = 64 * (words - 1) + last;
    return SP_OK;
}

/* States: which symbol, how many bits to read, where they lead from. */
static sp_status fse_states(const sp_flat *f, fse *s, uint32_t *frequency)
{
    const uint32_t size = 1u << s->log, step = (size >> 1) + (size >> 3) + 3;
    uint32_t at = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t raw = 0;
        SP_TRY(sp__flat_get(f, s->frequencies + 4 * (size_t)i, 4, &raw));
        total += raw;
        SP_CHECK(total <= size, SP_FORMAT, "frequencies of packed weights sum up to more than %u", size);
        frequency[i] = (uint32_t)raw;
        for (uint32_t k = 0; k < frequency[i]; k++, at = (at + step) & (size - 1)) s->symbol[at] = (uint16_t)i;
    }
    SP_CHECK(total == size, SP_FORMAT, "frequencies of packed weights sum up to %llu, they must to %u",
             (unsigned long long)total, size);
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t x = frequency[s->symbol[i]]++;
        uint32_t log = 0;
        SP_CHECK(x > 0, SP_FORMAT, "a symbol of packed weights that never occurs");
        while (x >> (log + 1) != 0) log++;
        SP_CHECK(log <= s->log, SP_FORMAT, "frequency %u of packed weights", x);
        s->width[i] = (uint8_t)(s->log - log);
        s->next[i] = (uint16_t)((x << s->width[i]) - size);
    }
    return SP_OK;
}

/* n bits from the end of the string, in which each word has its most significant bit first. */
static sp_status fse_pop(const sp_flat *f, fse *s, uint32_t n, uint32_t *out)
{
    SP_CHECK(n <= s->left, SP_FORMAT, "packed weights end before the tensor is full");
    s->left -= n;
    *out = 0;
    for (uint64_t p = s->left; p < s->left + n; p++) {
        const uint8_t byte = f->data[s->string + 8 * (size_t)(p / 64) + (7 - (size_t)(p % 64) / 8)];
        *out = *out << 1 | (byte >> (7 - p % 8) & 1);
    }
    return SP_OK;
}

static sp_status fse_fill(const sp_flat *f, fse *s, bool integers, sp_tensor *out)
{
    uint32_t state = 0, more = 0;
    SP_TRY(fse_pop(f, s, s->log, &state));
    for (int64_t i = sp_tensor_count(out) - 1; i >= 0; i--) {
        uint64_t raw = 0;
        SP_CHECK(state < 1u << s->log, SP_FORMAT, "state %u of packed weights", state);
        SP_TRY(sp__flat_get(f, s->centroids + 4 * (size_t)s->symbol[state], 4, &raw));
        const uint32_t low = (uint32_t)raw;
        if (integers) SP_TRY(put(out, i, (int32_t)low));
        else memcpy((float *)sp_tensor_data(out) + i, &low, sizeof low);
        if (i == 0) break;
        SP_TRY(fse_pop(f, s, s->width[state], &more));
        state = s->next[state] + more;
    }
    return SP_OK;
}

static sp_status unpack_fse(const sp_lite_tensor *x, sp_tensor *out)
{
    const sp_flat f = {x->data, x->bytes};
    fse s = {0};
    SP_TRY(fse_head(&f, &s));
    const size_t size = (size_t)1 << s.log;
    uint32_t *frequency = sp__alloc(s.n * sizeof *frequency);
    s.symbol = sp__alloc_zero(2 * size * sizeof *s.symbol + size);
    sp_status status = frequency != NULL && s.symbol != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        s.next = s.symbol + size;
        s.width = (uint8_t *)(s.next + size);
        status = fse_states(&f, &s, frequency);
    }
    if (status == SP_OK) status = fse_fill(&f, &s, x->packing == FSE_INT, out);
    sp__free(frequency);
    sp__free(s.symbol);
    return status;
}

/* --- Huffman ----------------------------------------------------------------------------------------------------- */

/* A tree: node i leads to child[i][bit], or is a leaf with a key. */
typedef struct huffman {
    int n;
    int16_t child[2 * HUFFMAN_KEYS][2];
    int16_t key[2 * HUFFMAN_KEYS];
} huffman;

static sp_status huffman_add(huffman *h, const char *code, size_t n, long key)
{
    int at = 0;
    SP_CHECK(n > 0 && key >= -32768 && key <= 32767, SP_FORMAT, "key %ld of packed weights has no code", key);
    for (size_t i = 0; i < n; i++) {
        const int bit = code[i] == '1';
        SP_CHECK(code[i] == '0' || code[i] == '1', SP_FORMAT, "a code of packed weights that is not of 0 and 1");
        if (h->child[at][bit] == 0) {
            SP_CHECK(h->n < 2 * HUFFMAN_KEYS, SP_FORMAT, "packed weights have too many codes");
            h->child[at][bit] = (int16_t)h->n++;
        }
        at = h->child[at][bit];
    }
    h->key[at] = (int16_t)key;
    return SP_OK;
}

/* The texts "1 -3 128 #010 11 00 #": each key has the code at the same place. */
static sp_status huffman_codes(const char *keys, const char *codes, huffman *h)
{
    h->n = 1;
    for (;;) {
        char *end = NULL;
        while (*keys == ' ') keys++;
        while (*codes == ' ') codes++;
        if (*keys == '#' || *codes == '#') break;
        const long key = strtol(keys, &end, 10);
        const size_t n = strcspn(codes, " #");
        SP_CHECK(end != keys, SP_FORMAT, "packed weights have a key that is no number");
        SP_TRY(huffman_add(h, codes, n, key));
        keys = end;
        codes += n;
    }
    SP_CHECK(*keys == '#' && *codes == '#' && h->n > 1, SP_FORMAT,
             "packed weights have other numbers of keys and codes");
    return SP_OK;
}

static sp_status huffman_fill(const huffman *h, const uint8_t *data, size_t bytes, sp_tensor *out)
{
    bits b = {data, 8 * (uint64_t)bytes, 0};
    for (int64_t i = 0; i < sp_tensor_count(out); i++) {
        int at = 0;
        do {
            uint32_t bit = 0;
            SP_TRY(take_bits(&b, 1, &bit));
            at = h->child[at][bit];
            SP_CHECK(at != 0, SP_FORMAT, "packed weights have a code that stands for nothing");
        } while (h->child[at][0] != 0 || h->child[at][1] != 0);
        SP_CHECK(h->key[at] != HUFFMAN_END, SP_FORMAT, "packed weights end after %lld of %lld", (long long)i,
                 (long long)sp_tensor_count(out));
        SP_TRY(put(out, i, h->key[at]));
    }
    return SP_OK;
}

static sp_status unpack_huffman(const sp_lite_tensor *x, sp_tensor *out)
{
    const uint8_t *first = memchr(x->data, '#', x->bytes);
    const uint8_t *second = first != NULL ? memchr(first + 1, '#', x->bytes - (size_t)(first + 1 - x->data)) : NULL;
    SP_CHECK(second != NULL, SP_FORMAT, "packed weights without their codes");
    const size_t head = (size_t)(second + 1 - x->data);
    char *texts = sp__alloc(head + 1);
    huffman *h = sp__alloc_zero(sizeof *h);
    sp_status status = texts != NULL && h != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        memcpy(texts, x->data, head);
        texts[head] = '\0';
        status = memchr(texts, 0, head) == NULL ? huffman_codes(texts, texts + (first + 1 - x->data), h)
                                                : sp__fail(SP_FORMAT, "packed weights without their codes");
    }
    if (status == SP_OK) status = huffman_fill(h, x->data + head, x->bytes - head, out);
    sp__free(texts);
    sp__free(h);
    return status;
}

sp_status sp__lite_unpack(const sp_lite_file *t, const sp_lite_tensor *x, sp_tensor *out)
{
    const int width = first_bits(t, x);
    if (x->packing == HUFFMAN) return unpack_huffman(x, out);
    if (x->packing == FSE || x->packing == FSE_INT || x->packing == FSE_INFER) return unpack_fse(x, out);
    if (x->packing == 0 || x->packing == BITS) return unpack_bits(x, width, out);
    SP_TRY(check_width(width));
    int32_t *values = sp__alloc(sizeof *values << width);
    if (values == NULL) return SP_NOMEM;
    sp_status status =
        x->packing == INDEXING ? unpack_indexed(x, width, values, out) : unpack_sparse(t, x, width, values, out);
    sp__free(values);
    return status;
}
