/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - stable order of unsigned keys.
 *
 * Short rows: insertion into runs, then merges of runs. Longer ones: radix sort, lowest byte first. Records of key and
 * position move together, so that no pass reads memory at random; they take 8 bytes when key and position have 32 bits
 * each, else 16. A pass counts the bytes of every block, sums the counts up to the places where each block's records of
 * each byte go, and moves them. Blocks have a fixed size and fixed places: the result is the same for any number of
 * threads. Keys count from the least one, so that the passes are as few as their range needs: small integers of a wide
 * type are cheap. */
#include "ops/order.h"

#include <string.h>

enum { RUN = 16, SHORT = 192, BYTE_VALUES = 256 };

typedef struct {
    uint64_t key;
    int64_t at;
} wide_record;

typedef struct {
    const uint64_t *keys;
    uint64_t least;  /* key; records have the difference to it */
    void *src, *dst; /* records */
    int64_t *places; /* [block][byte]: how many, then where to; before the passes [block] least and greatest key */
    int64_t *at;
    int shift; /* of the byte this pass looks at */
} radix_job;

/* The four loops over a block, for a record of type T: made of a key and a position, and taken apart again. */
#define RECORD_LOOPS(name, T, MAKE, KEY, AT)                                                                           \
    static void name##_make(void *context, int64_t begin, int64_t end)                                                 \
    {                                                                                                                  \
        const radix_job *j = context;                                                                                  \
        T *dst = j->src;                                                                                               \
        for (int64_t i = begin; i < end; i++) dst[i] = MAKE(j->keys[i] - j->least, i);                                 \
    }                                                                                                                  \
    static void name##_count(void *context, int64_t begin, int64_t end)                                                \
    {                                                                                                                  \
        const radix_job *j = context;                                                                                  \
        const T *src = j->src;                                                                                         \
        int64_t *count = j->places + begin / SP__ORDER_BLOCK * BYTE_VALUES;                                            \
        memset(count, 0, BYTE_VALUES * sizeof *count);                                                                 \
        for (int64_t i = begin; i < end; i++) count[KEY(src[i]) >> j->shift & 0xFF]++;                                 \
    }                                                                                                                  \
    static void name##_move(void *context, int64_t begin, int64_t end)                                                 \
    {                                                                                                                  \
        const radix_job *j = context;                                                                                  \
        const T *src = j->src;                                                                                         \
        T *dst = j->dst;                                                                                               \
        int64_t *place = j->places + begin / SP__ORDER_BLOCK * BYTE_VALUES;                                            \
        for (int64_t i = begin; i < end; i++) dst[place[KEY(src[i]) >> j->shift & 0xFF]++] = src[i];                   \
    }                                                                                                                  \
    static void name##_take(void *context, int64_t begin, int64_t end)                                                 \
    {                                                                                                                  \
        const radix_job *j = context;                                                                                  \
        const T *src = j->src;                                                                                         \
        for (int64_t i = begin; i < end; i++) j->at[i] = (int64_t)AT(src[i]);                                          \
    }
#define PACKED_MAKE(key, i) ((key) << 32 | (uint64_t)(i))
#define PACKED_KEY(r) ((r) >> 32)
#define PACKED_AT(r) ((r) & UINT32_MAX)
#define WIDE_MAKE(k, i) ((wide_record){.key = (k), .at = (i)})
#define WIDE_KEY(r) ((r).key)
#define WIDE_AT(r) ((r).at)
RECORD_LOOPS(packed, uint64_t, PACKED_MAKE, PACKED_KEY, PACKED_AT)
RECORD_LOOPS(wide, wide_record, WIDE_MAKE, WIDE_KEY, WIDE_AT)

typedef struct {
    void (*make)(void *, int64_t, int64_t), (*count)(void *, int64_t, int64_t), (*move)(void *, int64_t, int64_t),
        (*take)(void *, int64_t, int64_t);
    size_t bytes;
} record_kind;
static const record_kind packed_kind = {packed_make, packed_count, packed_move, packed_take, sizeof(uint64_t)};
static const record_kind wide_kind = {wide_make, wide_count, wide_move, wide_take, sizeof(wide_record)};

static const record_kind *kind_for(int64_t n, int bits)
{
    return bits <= 32 && n <= (int64_t)UINT32_MAX ? &packed_kind : &wide_kind;
}

static int64_t block_count(int64_t n) { return (n + SP__ORDER_BLOCK - 1) / SP__ORDER_BLOCK; }

/* Counts to places: bytes in order, blocks in order within a byte. False when one byte has them all. */
static bool places_from_counts(int64_t n, int64_t *places)
{
    const int64_t blocks = block_count(n);
    int64_t next = 0;
    for (int byte = 0; byte < BYTE_VALUES; byte++) {
        const int64_t first = next;
        for (int64_t b = 0; b < blocks; b++) {
            int64_t *cell = &places[b * BYTE_VALUES + byte];
            const int64_t count = *cell;
            *cell = next;
            next += count;
        }
        if (next - first == n) return false;
    }
    return true;
}

static void block_range(void *context, int64_t begin, int64_t end)
{
    const radix_job *j = context;
    uint64_t least = UINT64_MAX, greatest = 0;
    for (int64_t i = begin; i < end; i++) {
        least = j->keys[i] < least ? j->keys[i] : least;
        greatest = j->keys[i] > greatest ? j->keys[i] : greatest;
    }
    uint64_t *range = (uint64_t *)(void *)j->places + 2 * (begin / SP__ORDER_BLOCK);
    range[0] = least;
    range[1] = greatest;
}

/* The least key into the job, and the bits that differences to it have. */
static sp_status key_range(int64_t n, radix_job *j, int *bits)
{
    SP_TRY(sp__parallel_for(n, SP__ORDER_BLOCK, block_range, j));
    const uint64_t *range = (const uint64_t *)(const void *)j->places;
    uint64_t least = range[0], greatest = range[1];
    for (int64_t b = 1; b < block_count(n); b++) {
        least = range[2 * b] < least ? range[2 * b] : least;
        greatest = range[2 * b + 1] > greatest ? range[2 * b + 1] : greatest;
    }
    j->least = least;
    *bits = greatest > least ? 64 - __builtin_clzll(greatest - least) : 0;
    return SP_OK;
}

static sp_status radix(int64_t n, const uint64_t *keys, int64_t *at, char *work)
{
    int bits;
    radix_job j = {.keys = keys, .src = work, .at = at, .places = (int64_t *)(void *)work};
    SP_TRY(key_range(n, &j, &bits));
    const record_kind *kind = kind_for(n, bits);
    const size_t records = (size_t)n * kind->bytes;
    j.dst = work + records;
    j.places = (int64_t *)(void *)(work + 2 * records);
    SP_TRY(sp__parallel_for(n, SP__ORDER_BLOCK, kind->make, &j));
    for (; j.shift < bits; j.shift += 8) {
        SP_TRY(sp__parallel_for(n, SP__ORDER_BLOCK, kind->count, &j));
        if (!places_from_counts(n, j.places)) continue;
        SP_TRY(sp__parallel_for(n, SP__ORDER_BLOCK, kind->move, &j));
        void *swap = j.src;
        j.src = j.dst;
        j.dst = swap;
    }
    return sp__parallel_for(n, SP__ORDER_BLOCK, kind->take, &j);
}

static void merge_sort(int64_t n, const uint64_t *keys, int64_t *at, int64_t *spare)
{
    for (int64_t from = 0; from < n; from += RUN) {
        const int64_t to = from + RUN < n ? from + RUN : n;
        for (int64_t i = from; i < to; i++) {
            int64_t k = i;
            for (; k > from && keys[at[k - 1]] > keys[i]; k--) at[k] = at[k - 1];
            at[k] = i;
        }
    }
    int64_t *src = at, *dst = spare;
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t from = 0; from < n; from += 2 * width) {
            const int64_t mid = from + width < n ? from + width : n, to = from + 2 * width < n ? from + 2 * width : n;
            int64_t i = from, j = mid, o = from;
            while (i < mid && j < to) dst[o++] = keys[src[j]] < keys[src[i]] ? src[j++] : src[i++];
            memcpy(dst + o, src + i, (size_t)(mid - i) * sizeof *dst);
            o += mid - i;
            memcpy(dst + o, src + j, (size_t)(to - j) * sizeof *dst);
        }
        int64_t *swap = src;
        src = dst;
        dst = swap;
    }
    if (src != at) memcpy(at, src, (size_t)n * sizeof *at);
}

bool sp__order_bytes(int64_t n, int bits, size_t *bytes)
{
    if (n <= SHORT) {
        *bytes = SHORT * sizeof(int64_t);
        return true;
    }
    size_t places;
    if ((int64_t)(size_t)n != n) return false; /* where sizes have 32 bits */
    return sp__mul_size((size_t)n, 2 * kind_for(n, bits)->bytes, bytes) &&
           sp__mul_size((size_t)block_count(n), BYTE_VALUES * sizeof(int64_t), &places) &&
           sp__add_size(*bytes, places, bytes);
}

sp_status sp__order(int64_t n, const uint64_t *keys, int64_t *at, void *work)
{
    if (n > SHORT) return radix(n, keys, at, work);
    merge_sort(n, keys, at, work);
    return SP_OK;
}
