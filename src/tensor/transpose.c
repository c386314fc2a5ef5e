/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - copies whose source and destination run along different dimensions.
 *
 * Element by element such a copy touches a cache line per element on one side. Here it goes by tiles: TILE_ROWS runs of the source,
 * each TILE_LENGTH elements long, are turned in a buffer that stays in the first cache, and leave it as whole lines of the
 * destination. Every line of memory is read or written once, in one piece, however unlucky the distance between rows is for the
 * cache. */
#include "base/scratch.h"
#include "tensor/tensor_impl.h"

#if SP_HAVE_X86
#include <emmintrin.h>
#endif

enum {
    TILE_ROWS = 16,
    TILE_LENGTH = 64,
    PART = 64 * 1024,  /* elements that one thread takes at a time */
    STREAM = 16 << 20, /* bytes from which on a result is written around the caches: it would not stay there anyway */
};

typedef struct {
    const sp_loop *l;
    int64_t size; /* of an element */
    int run;      /* the dimension along which the source is contiguous; the destination is along the last one */
    int64_t tiles_row, tiles; /* tiles along the last dimension; per plane */
    bool stream;
} turn_job;

/* A whole line that nobody reads soon: memory need not be fetched before it is overwritten. */
static inline void stream_line(char *to, const char *from)
{
#if SP_HAVE_X86
    for (int k = 0; k < 64; k += 16)
        _mm_stream_si128((__m128i *)(void *)(to + k), _mm_load_si128((const __m128i *)(const void *)(from + k)));
#else
    memcpy(to, from, 64);
#endif
}
static inline void stream_end(void)
{
#if SP_HAVE_X86
    _mm_sfence();
#endif
}

/* m runs of n elements, `from_row` bytes apart, become n runs of TILE_ROWS places. */
#define TURN(T, name)                                                                                                  \
    static void name(int64_t m, int64_t n, const char *from, int64_t from_row, void *to_)                              \
    {                                                                                                                  \
        T *to = to_;                                                                                                   \
        for (int64_t r = 0; r < m; r++) {                                                                              \
            const T *x = (const T *)(const void *)(from + r * from_row);                                               \
            for (int64_t i = 0; i < n; i++) to[i * TILE_ROWS + r] = x[i];                                              \
        }                                                                                                              \
    }
typedef struct {
    uint64_t half[2];
} pair;
TURN(uint8_t, turn_1)
TURN(uint16_t, turn_2)
TURN(uint32_t, turn_4_some)
TURN(uint64_t, turn_8)
TURN(pair, turn_16)

/* Four by four in registers. */
static void turn_4(int64_t m, int64_t n, const char *from, int64_t from_row, void *to_)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    if (m % 4 || n % 4) {
        turn_4_some(m, n, from, from_row, to_);
        return;
    }
    uint32_t *to = to_;
    for (int64_t r = 0; r < m; r += 4)
        for (int64_t i = 0; i < n; i += 4) {
            four x[4];
            for (int k = 0; k < 4; k++) memcpy(&x[k], from + (r + k) * from_row + i * 4, 16);
            const four a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5),
                       b = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
            const four c = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5),
                       d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
            x[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
            x[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
            x[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
            x[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
            for (int k = 0; k < 4; k++) memcpy(to + (i + k) * TILE_ROWS + r, &x[k], 16);
        }
}

static void turn_tile(const turn_job *j, int64_t plane, int64_t row, int64_t at)
{
    const sp_loop *l = j->l;
    const int last = l->rank - 1;
    const int64_t m = l->dims[last] - row < TILE_ROWS ? l->dims[last] - row : TILE_ROWS;
    const int64_t n = l->dims[j->run] - at < TILE_LENGTH ? l->dims[j->run] - at : TILE_LENGTH, size = j->size;
    char *to = l->ptr[0] + row * size + at * l->steps[0][j->run];
    const char *from = l->ptr[1] + row * l->steps[1][last] + at * size;
    for (int i = last - 1; i >= 0; i--) {
        if (i == j->run) continue;
        to += plane % l->dims[i] * l->steps[0][i];
        from += plane % l->dims[i] * l->steps[1][i];
        plane /= l->dims[i];
    }
    char *const tile = sp__scratch_take((size_t)(TILE_ROWS * TILE_LENGTH * size));
    switch (size) {
    case 1: turn_1(m, n, from, l->steps[1][last], tile); break;
    case 2: turn_2(m, n, from, l->steps[1][last], tile); break;
    case 4: turn_4(m, n, from, l->steps[1][last], tile); break;
    case 8: turn_8(m, n, from, l->steps[1][last], tile); break;
    default: turn_16(m, n, from, l->steps[1][last], tile); break;
    }
    const int64_t to_row = l->steps[0][j->run];
    if (m == TILE_ROWS && size == 4 && j->stream && (uintptr_t)to % 64 == 0 && to_row % 64 == 0)
        for (int64_t i = 0; i < n; i++) stream_line(to + i * to_row, tile + i * 64);
    else if (m == TILE_ROWS && size == 4)
        for (int64_t i = 0; i < n; i++) memcpy(to + i * to_row, tile + i * 64, 64);
    else
        for (int64_t i = 0; i < n; i++) memcpy(to + i * to_row, tile + i * TILE_ROWS * size, (size_t)(m * size));
    sp__scratch_give(tile);
}

static void turn_part(void *context, int64_t begin, int64_t end)
{
    const turn_job *j = context;
    for (int64_t t = begin; t < end; t++) {
        const int64_t tile = t % j->tiles;
        turn_tile(j, t / j->tiles, tile % j->tiles_row * TILE_ROWS, tile / j->tiles_row * TILE_LENGTH);
    }
    if (j->stream) stream_end();
}

bool sp__transpose_takes(const sp_loop *l, int64_t size)
{
    const int last = l->rank - 1;
    if (l->rank < 2 || l->steps[0][last] != size || l->steps[1][last] == size || l->dims[last] < 4) return false;
    for (int i = 0; i < last; i++)
        if (l->steps[1][i] == size && l->dims[i] >= 4)
            return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
    return false;
}

sp_status sp__transpose_run(const sp_loop *l, int64_t size)
{
    const int last = l->rank - 1;
    turn_job j = {.l = l, .size = size};
    while (l->steps[1][j.run] != size || l->dims[j.run] < 4) j.run++;
    int64_t planes = 1;
    for (int i = 0; i < last; i++)
        if (i != j.run) planes *= l->dims[i];
    j.stream = planes * l->dims[last] * l->dims[j.run] * size >= STREAM;
    j.tiles_row = (l->dims[last] + TILE_ROWS - 1) / TILE_ROWS;
    j.tiles = j.tiles_row * ((l->dims[j.run] + TILE_LENGTH - 1) / TILE_LENGTH);
    return sp__parallel_for(planes * j.tiles, PART / (TILE_ROWS * TILE_LENGTH), turn_part, &j);
}
