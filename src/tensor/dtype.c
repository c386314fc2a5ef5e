/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c - facts about element types, and the type two operands meet in. */
#include <complex.h>

#if SP_HAVE_X86
#include <immintrin.h>
#endif

#include "base/parts.h"
#include "tensor/half.h"
#include "tensor/tensor_impl.h"

static const struct {
    const char *name, *text;
    uint8_t bytes;
    char kind;
} dtype_table[] = {
#define X(e, name, text, bytes, kind) {name, text, bytes, kind},
    SP_DTYPE_LIST(X)
#undef X
};

static bool known(sp_dtype d) { return (int)d >= 0 && d < SP_DTYPE_COUNT; }

const char *sp_dtype_name(sp_dtype d) { return known(d) ? dtype_table[d].name : "none"; }
const char *sp_dtype_text(sp_dtype d) { return known(d) ? dtype_table[d].text : "None"; }
size_t sp_dtype_bytes(sp_dtype d) { return known(d) ? dtype_table[d].bytes : 0; }
char sp_dtype_kind(sp_dtype d) { return known(d) ? dtype_table[d].kind : '?'; }

sp_dtype sp_dtype_parse(const char *name)
{
    for (int i = 0; i < SP_DTYPE_COUNT; i++)
        if (strcmp(name, dtype_table[i].name) == 0 || strcmp(name, dtype_table[i].text) == 0) return (sp_dtype)i;
    return SP_DTYPE_NONE;
}

/* Signed type that holds an unsigned one of the given size; MindSpore, like its peers, has nothing above int64. */
static sp_dtype signed_above(size_t unsigned_bytes)
{
    return unsigned_bytes == 1 ? SP_DTYPE_I16 : unsigned_bytes == 2 ? SP_DTYPE_I32 : SP_DTYPE_I64;
}

sp_dtype sp_dtype_promote(sp_dtype a, sp_dtype b)
{
    if (a == b) return a;
    if (!known(a) || !known(b)) return SP_DTYPE_NONE;
    char ka = sp_dtype_kind(a), kb = sp_dtype_kind(b);
    if (ka == 's' || kb == 's') return SP_DTYPE_NONE;
    if (ka == 'c' || kb == 'c') {
        if (a == SP_DTYPE_C128 || b == SP_DTYPE_C128 || a == SP_DTYPE_F64 || b == SP_DTYPE_F64) return SP_DTYPE_C128;
        return SP_DTYPE_C64;
    }
    if (ka == 'f' && kb == 'f') {
        if (a == SP_DTYPE_F64 || b == SP_DTYPE_F64) return SP_DTYPE_F64;
        return SP_DTYPE_F32; /* float16 with bfloat16 meet in float32 too */
    }
    if (ka == 'f') return a;
    if (kb == 'f') return b;
    if (ka == 'b') return b;
    if (kb == 'b') return a;
    if (ka == kb) return sp_dtype_bytes(a) > sp_dtype_bytes(b) ? a : b;
    sp_dtype u = ka == 'u' ? a : b, s = ka == 'u' ? b : a;
    sp_dtype above = signed_above(sp_dtype_bytes(u));
    return sp_dtype_bytes(above) > sp_dtype_bytes(s) ? above : s;
}

/* --- conversion --------------------------------------------------------------------------------------------------
 * Every pair of types. Complex to real keeps the real part, as numpy and MindSpore do. */

typedef float complex c64;
typedef double complex c128;

static inline int64_t to_integer(double x)
{
    /* Out-of-range conversion is undefined in C; saturate, NaN to the lowest value like the x86 instruction. */
    if (!(x >= -9223372036854775808.0)) return INT64_MIN;
    if (x >= 9223372036854775808.0) return INT64_MIN;
    return (int64_t)x;
}
static inline uint64_t to_unsigned(double x)
{
    if (x >= 9223372036854775808.0 && x < 18446744073709551616.0) return (uint64_t)x;
    return (uint64_t)to_integer(x);
}

/* LOAD_x gives a C number of the value's own kind; STORE_x takes any kind. */
#define LOAD_BOOL(p) ((int64_t)(*(const uint8_t *)(p) != 0))
#define LOAD_U8(p) ((int64_t)*(const uint8_t *)(p))
#define LOAD_U16(p) ((int64_t)*(const uint16_t *)(p))
#define LOAD_U32(p) ((int64_t)*(const uint32_t *)(p))
#define LOAD_U64(p) (*(const uint64_t *)(p))
#define LOAD_I8(p) ((int64_t)*(const int8_t *)(p))
#define LOAD_I16(p) ((int64_t)*(const int16_t *)(p))
#define LOAD_I32(p) ((int64_t)*(const int32_t *)(p))
#define LOAD_I64(p) (*(const int64_t *)(p))
#define LOAD_F16(p) sp__f16_f32(*(const sp_f16 *)(p))
#define LOAD_BF16(p) sp__bf16_f32(*(const sp_bf16 *)(p))
#define LOAD_F32(p) (*(const float *)(p))
#define LOAD_F64(p) (*(const double *)(p))
#define LOAD_C64(p) (*(const c64 *)(p))
#define LOAD_C128(p) (*(const c128 *)(p))

#define REAL(v) _Generic((v), c64: crealf((c64)(v)), c128: creal((c128)(v)), default: (v))
#define AS_INT(v)                                                                                                      \
    _Generic((v), int64_t: (int64_t)REAL(v), uint64_t: (int64_t)REAL(v), default: to_integer((double)REAL(v)))
#define AS_UINT(v)                                                                                                     \
    _Generic((v), int64_t: (uint64_t)REAL(v), uint64_t: (uint64_t)REAL(v), default: to_unsigned((double)REAL(v)))
#define STORE_BOOL(p, v) (*(uint8_t *)(p) = (v) != 0)
#define STORE_U8(p, v) (*(uint8_t *)(p) = (uint8_t)AS_INT(v))
#define STORE_U16(p, v) (*(uint16_t *)(p) = (uint16_t)AS_INT(v))
#define STORE_U32(p, v) (*(uint32_t *)(p) = (uint32_t)AS_INT(v))
#define STORE_U64(p, v) (*(uint64_t *)(p) = AS_UINT(v))
#define STORE_I8(p, v) (*(int8_t *)(p) = (int8_t)AS_INT(v))
#define STORE_I16(p, v) (*(int16_t *)(p) = (int16_t)AS_INT(v))
#define STORE_I32(p, v) (*(int32_t *)(p) = (int32_t)AS_INT(v))
#define STORE_I64(p, v) (*(int64_t *)(p) = AS_INT(v))
#define STORE_F16(p, v) (*(sp_f16 *)(p) = sp__f32_f16((float)REAL(v)))
#define STORE_BF16(p, v) (*(sp_bf16 *)(p) = sp__f32_bf16((float)REAL(v)))
#define STORE_F32(p, v) (*(float *)(p) = (float)REAL(v))
#define STORE_F64(p, v) (*(double *)(p) = (double)REAL(v))
#define STORE_C64(p, v) (*(c64 *)(p) = (c64)(v))
#define STORE_C128(p, v) (*(c128 *)(p) = (c128)(v))

/* Those of this build (base/parts.h), those that shapes and numbers come in, and those that the runs below are for. The outer list is another macro than the inner one: a macro
 * is not expanded inside itself. */
#define HAVE_ALWAYS 1
#if SP_HAVE_X86
#define HAVE_HALF 1
#define HAVE_BRAIN 1
#else
#define HAVE_HALF SP_HAVE_F16
#define HAVE_BRAIN SP_HAVE_BF16
#endif
#define INNER(have, ...) SP_IF(have, __VA_ARGS__)
#define OUTER(have, ...) OUTER_JOINED(have, __VA_ARGS__)
#define OUTER_JOINED(have, ...) OUTER_##have(__VA_ARGS__)
#define OUTER_0(...)
#define OUTER_1(...) __VA_ARGS__
/* clang-format off */
#define DTYPES(X, A)                                                                                                   \
    INNER(HAVE_ALWAYS, X(A, BOOL)) \
    INNER(HAVE_ALWAYS, X(A, U8)) \
    INNER(SP_HAVE_U16, X(A, U16)) \
    INNER(SP_HAVE_U32, X(A, U32)) \
    INNER(SP_HAVE_U64, X(A, U64)) \
    INNER(HAVE_ALWAYS, X(A, I8)) \
    INNER(SP_HAVE_I16, X(A, I16)) \
    INNER(HAVE_ALWAYS, X(A, I32)) \
    INNER(HAVE_ALWAYS, X(A, I64)) \
    INNER(HAVE_HALF, X(A, F16)) \
    INNER(HAVE_BRAIN, X(A, BF16)) \
    INNER(HAVE_ALWAYS, X(A, F32)) \
    INNER(HAVE_ALWAYS, X(A, F64)) \
    INNER(SP_HAVE_C64, X(A, C64)) \
    INNER(SP_HAVE_C128, X(A, C128))
#define DTYPES_OUTER(X)                                                                                                \
    OUTER(HAVE_ALWAYS, X(BOOL)) \
    OUTER(HAVE_ALWAYS, X(U8)) \
    OUTER(SP_HAVE_U16, X(U16)) \
    OUTER(SP_HAVE_U32, X(U32)) \
    OUTER(SP_HAVE_U64, X(U64)) \
    OUTER(HAVE_ALWAYS, X(I8)) \
    OUTER(SP_HAVE_I16, X(I16)) \
    OUTER(HAVE_ALWAYS, X(I32)) \
    OUTER(HAVE_ALWAYS, X(I64)) \
    OUTER(HAVE_HALF, X(F16)) \
    OUTER(HAVE_BRAIN, X(BF16)) \
    OUTER(HAVE_ALWAYS, X(F32)) \
    OUTER(HAVE_ALWAYS, X(F64)) \
    OUTER(SP_HAVE_C64, X(C64)) \
    OUTER(SP_HAVE_C128, X(C128))
/* clang-format on */

#define CAST(FROM, TO)                                                                                                 \
    static void cast_##FROM##_##TO(int64_t n, char *const *ptr, const int64_t *step, const void *context)              \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        char *d = ptr[0], *s = ptr[1];                                                                                 \
        const int64_t ds = step[0], ss = step[1];                                                                      \
        for (int64_t i = 0; i < n; i++) STORE_##TO(d + i * ds, LOAD_##FROM(s + i * ss));                               \
    }
#define CAST_ROW(FROM) DTYPES(CAST, FROM)
DTYPES_OUTER(CAST_ROW)

/* Same type: move bits, so that NaN payloads and every string survive. */
/* Runs of which source and target lie differently in their lines are copied by vectors: some processors have a string move that libc
 * takes for runs of this length, and it is several times slower then. */
static void move_run(char *to, const char *from, size_t bytes)
{
    const uintptr_t gap = (uintptr_t)to - (uintptr_t)from;
    size_t i = 0;
    if (gap % 64 != 0 && bytes >= 2048 && bytes < (1u << 20) && gap >= bytes &&
        (uintptr_t)from - (uintptr_t)to >= bytes)
        for (; i + 64 <= bytes; i += 64) memcpy(to + i, from + i, 64);
    memmove(to + i, from + i, bytes - i);
}

#define MOVE(T, name)                                                                                                  \
    static void move_##name(int64_t n, char *const *ptr, const int64_t *step, const void *context)                     \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        char *d = ptr[0], *s = ptr[1];                                                                                 \
        if (n == 0) return; /* then there may be no memory to point at */                                              \
        if (step[0] == (int64_t)sizeof(T) && step[1] == (int64_t)sizeof(T)) {                                          \
            move_run(d, s, (size_t)n * sizeof(T));                                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++) *(T *)(d + i * step[0]) = *(const T *)(s + i * step[1]);                       \
    }
MOVE(uint8_t, 1)
MOVE(uint16_t, 2)
MOVE(uint32_t, 4)
MOVE(uint64_t, 8)
MOVE(c128, 16)

#define ENTRY(FROM, TO) [SP_DTYPE_##TO] = cast_##FROM##_##TO,
#define ENTRY_ROW(FROM) [SP_DTYPE_##FROM] = {DTYPES(ENTRY, FROM)},
static const sp_loop_fn cast_table[15][15] = {DTYPES_OUTER(ENTRY_ROW)};

/* --- runs ---------------------------------------------------------------------------------------------------------
 * Bytes, int32 and float32 without gaps, as quantised networks convert them all the time: loops that the compiler makes vectors of. */

#define WIDEN(FROM, F, TO, T)                                                                                          \
    static void run_##FROM##_##TO(int64_t n, char *const *ptr, const int64_t *step, const void *context)               \
    {                                                                                                                  \
        if (step[0] != (int64_t)sizeof(T) || step[1] != (int64_t)sizeof(F)) {                                          \
            cast_##FROM##_##TO(n, ptr, step, context);                                                                 \
            return;                                                                                                    \
        }                                                                                                              \
        T *to = (T *)(void *)ptr[0];                                                                                   \
        const F *from = (const F *)(const void *)ptr[1];                                                               \
        for (int64_t i = 0; i < n; i++) to[i] = (T)from[i];                                                            \
    }
WIDEN(U8, uint8_t, F32, float)
WIDEN(I8, int8_t, F32, float)
WIDEN(I32, int32_t, F32, float)
WIDEN(U8, uint8_t, I32, int32_t)
WIDEN(I8, int8_t, I32, int32_t)

enum { RUN = 256 };

/* Are all below 2^31, and none NaN? Then cutting off goes through int32, with the same result. Told by their bits: compares of floats, which may
 * raise a flag, are left alone by the compiler. */
static bool all_fit(int n, const float *x)
{
    int bad = 0;
    for (int i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & 0x7FFFFFFF) >= 0x4F000000;
    }
    return bad == 0;
}

#define NARROW(TO, T)                                                                                                  \
    static void run_F32_##TO(int64_t n, char *const *ptr, const int64_t *step, const void *context)                    \
    {                                                                                                                  \
        bool run = step[0] == (int64_t)sizeof(T) && step[1] == (int64_t)sizeof(float);                                 \
        for (int64_t at = 0; at < n; at += RUN) {                                                                      \
            int m = n - at < RUN ? (int)(n - at) : RUN;                                                                \
            char *place[2] = {ptr[0] + at * step[0], ptr[1] + at * step[1]};                                           \
            T *to = (T *)(void *)place[0];                                                                             \
            const float *from = (const float *)(const void *)place[1];                                                 \
            if (run && all_fit(m, from))                                                                               \
                for (int i = 0; i < m; i++) to[i] = (T)(int32_t)from[i];                                               \
            else cast_F32_##TO(m, place, step, context);                                                               \
        }                                                                                                              \
    }
NARROW(U8, uint8_t)
NARROW(I8, int8_t)
NARROW(I32, int32_t)

static sp_loop_fn run_loop(sp_dtype from, sp_dtype to)
{
    if (to == SP_DTYPE_F32)
        return from == SP_DTYPE_U8    ? run_U8_F32
               : from == SP_DTYPE_I8  ? run_I8_F32
               : from == SP_DTYPE_I32 ? run_I32_F32
                                      : NULL;
    if (to == SP_DTYPE_I32 && from != SP_DTYPE_F32)
        return from == SP_DTYPE_U8 ? run_U8_I32 : from == SP_DTYPE_I8 ? run_I8_I32 : NULL;
    if (from != SP_DTYPE_F32) return NULL;
    return to == SP_DTYPE_U8 ? run_F32_U8 : to == SP_DTYPE_I8 ? run_F32_I8 : to == SP_DTYPE_I32 ? run_F32_I32 : NULL;
}

/* Between floats: float16 by the conversions that every CPU with AVX2 has, eight elements at once, the same bits as half.h. */
#if SP_HAVE_X86
__attribute__((target("avx2,f16c"))) static void convert_F32_F16(int64_t n, char *const *ptr, const int64_t *step,
                                                                 const void *context)
{
    const float *from = (const float *)(const void *)ptr[1];
    sp_f16 *to = (sp_f16 *)(void *)ptr[0];
    int64_t i = 0;
    if (step[0] != 2 || step[1] != 4) {
        cast_F32_F16(n, ptr, step, context);
        return;
    }
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++) to[i] = sp__f32_f16(from[i]);
}

__attribute__((target("avx2,f16c"))) static void convert_F16_F32(int64_t n, char *const *ptr, const int64_t *step,
                                                                 const void *context)
{
    const sp_f16 *from = (const sp_f16 *)(const void *)ptr[1];
    float *to = (float *)(void *)ptr[0];
    int64_t i = 0;
    if (step[0] != 4 || step[1] != 2) {
        cast_F16_F32(n, ptr, step, context);
        return;
    }
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
    for (; i < n; i++) to[i] = sp__f16_f32(from[i]);
}

/* bfloat16 is a matter of integers: the compiler makes vectors of its conversions. */
#define CONVERT_RUN(FROM, F, TO, T, of)                                                                                \
    __attribute__((target("avx2"))) static void convert_##FROM##_##TO(int64_t n, char *const *ptr,                     \
                                                                      const int64_t *step, const void *context)        \
    {                                                                                                                  \
        const F *from = (const F *)(const void *)ptr[1];                                                               \
        T *to = (T *)(void *)ptr[0];                                                                                   \
        if (step[0] != (int64_t)sizeof(T) || step[1] != (int64_t)sizeof(F)) cast_##FROM##_##TO(n, ptr, step, context); \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) to[i] = of(from[i]);                                                       \
    }
CONVERT_RUN(F32, float, BF16, sp_bf16, sp__f32_bf16)
CONVERT_RUN(BF16, sp_bf16, F32, float, sp__bf16_f32)
CONVERT_RUN(F64, double, F32, float, (float))
CONVERT_RUN(F32, float, F64, double, (double))

static sp_loop_fn converter(sp_dtype from, sp_dtype to)
{
    if (from == SP_DTYPE_F32)
        return to == SP_DTYPE_F16    ? convert_F32_F16
               : to == SP_DTYPE_BF16 ? convert_F32_BF16
               : to == SP_DTYPE_F64  ? convert_F32_F64
                                     : NULL;
    if (to != SP_DTYPE_F32) return NULL;
    return from == SP_DTYPE_F16    ? convert_F16_F32
           : from == SP_DTYPE_BF16 ? convert_BF16_F32
           : from == SP_DTYPE_F64  ? convert_F64_F32
                                   : NULL;
}
#endif

sp_loop_fn sp__cast_loop(sp_dtype from, sp_dtype to)
{
#if SP_HAVE_X86
    sp_loop_fn convert = sp__cpu_features() & SP_CPU_AVX2 ? converter(from, to) : NULL;
    if (convert) return convert;
#endif
    if (from == to) {
        switch (sp_dtype_bytes(from)) {
        case 1: return move_1;
        case 2: return move_2;
        case 4: return move_4;
        case 8: return move_8;
        default: return move_16;
        }
    }
    if (from >= SP_DTYPE_STR || to >= SP_DTYPE_STR) return NULL;
    sp_loop_fn run = run_loop(from, to);
    return run != NULL ? run : cast_table[from][to];
}
