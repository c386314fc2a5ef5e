/* SPDX-License-Identifier: Apache-2.0 */
/* random.c - random numbers as functions of a state {seed, counter}.
 *
 * Philox (philox.h) maps a key, the seed, and a 128-bit counter to four 32-bit words. The low half of the counter is state[1] plus the number of the block of elements, so
 * every element can be computed alone and threads do not matter; the high half counts attempts where a method rejects.
 * A tensor of n elements uses at most n counters: the caller's next state starts at state[1] + n. */
#include "base/wide.h"
#include "ir/refuse.h"
#include "ops/kernels.h"
#include "base/philox.h"

typedef sp__philox_block block;

static inline uint64_t wide(const block *b, int k) { return (uint64_t)b->w[2 * k] << 32 | b->w[2 * k + 1]; }
static inline float unit_float(uint32_t bits) { return (float)(bits >> 8) * 0x1p-24f; }    /* [0, 1) */
static inline double unit_double(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; } /* [0, 1) */

/* --- shared by all ----------------------------------------------------------------------------------------------- */

static sp_status state_check(const sp_tensor *state)
{
    SP_CHECK(state->dtype == SP_DTYPE_I64 && state->count == 2, SP_TYPE,
             "the state is an int64 tensor of 2 elements, but this one has dtype %s and %lld elements",
             sp_dtype_name((sp_dtype)state->dtype), (long long)state->count);
    return SP_OK;
}

static sp_status shape_of(const sp_call *c, sp_ints shape, sp_dtype dtype, uint32_t allowed, sp_meta *out)
{
    SP_TRY(state_check(c->in[0]));
    SP_CHECK(dtype != SP_DTYPE_NONE && (allowed >> dtype & 1), SP_TYPE,
             "random numbers of this kind do not exist in dtype %s", sp_dtype_name(dtype));
    SP_CHECK(shape.n >= 0 && shape.n <= SP_RANK_MAX, SP_VALUE, "the shape has %d dimensions, at most %d are possible",
             shape.n, SP_RANK_MAX);
    out->dtype = dtype;
    out->rank = shape.n;
    for (int i = 0; i < shape.n; i++) {
        SP_CHECK(shape.v[i] >= 0, SP_VALUE, "dimension %d of the shape is %lld, it must not be negative", i,
                 (long long)shape.v[i]);
        out->dims[i] = shape.v[i];
    }
    return SP_OK;
}

/* Fills elements [4 * first_block, ...) of a run in float, two per block in double or int64. */
typedef struct fill_job fill_job;
struct fill_job {
    uint64_t seed, counter;
    sp_tensor *out;
    int per_block;
    void (*make)(const fill_job *j, const block *b, void *values); /* per_block values of type `from` */
    sp_dtype from;
    double a, b;      /* low and high, or mean and standard deviation */
    sp__part_fn part; /* NULL: fill_part */
    int64_t low;
    uint64_t range;
};

enum { PART = 2048 }; /* blocks one thread takes at a time */

static void fill_part(void *context, int64_t begin, int64_t end)
{
    const fill_job *j = context;
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)j->out->dtype), from_size = (int64_t)sp_dtype_bytes(j->from);
    const sp_loop_fn store = sp__cast_loop(j->from, (sp_dtype)j->out->dtype);
    _Alignas(16) char values[64 * 16];
    const int64_t step[2] = {size, from_size};
    for (int64_t first = begin; first < end; first += 64) {
        const int64_t n = end - first < 64 ? end - first : 64;
        for (int64_t k = 0; k < n; k++) {
            const block b = sp__philox(j->seed, j->counter + (uint64_t)(first + k), 0);
            j->make(j, &b, values + k * j->per_block * from_size);
        }
        int64_t count = n * j->per_block;
        if (first * j->per_block + count > j->out->count) count = j->out->count - first * j->per_block;
        char *ptr[2] = {j->out->data + first * j->per_block * size, values};
        store(count, ptr, step, NULL);
    }
}

/* philox of GROUP counters from `low` on, side by side, so that the compiler makes vectors of it. */
enum { GROUP = 16 };
static inline void philox_group(uint64_t seed, uint64_t low, uint32_t c[4][GROUP])
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int k = 0; k < GROUP; k++) {
        c[0][k] = (uint32_t)(low + (uint64_t)k);
        c[1][k] = (uint32_t)((low + (uint64_t)k) >> 32);
        c[2][k] = c[3][k] = 0;
    }
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
        for (int k = 0; k < GROUP; k++) {
            const uint64_t p0 = (uint64_t)0xD2511F53u * c[0][k], p1 = (uint64_t)0xCD9E8D57u * c[2][k];
            const uint32_t n0 = (uint32_t)(p1 >> 32) ^ c[1][k] ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c[3][k] ^ k1;
            c[1][k] = (uint32_t)p1;
            c[3][k] = (uint32_t)p0;
            c[0][k] = n0;
            c[2][k] = n2;
        }
}

/* Uniform numbers in float32, the most wanted ones (dropout): the same as fill_part with make_uniform_f. */
static void uniform_part(void *context, int64_t begin, int64_t end)
{
    const fill_job *j = context;
    const float low = (float)j->a, width = (float)(j->b - j->a), high = (float)j->b;
    const float top = width > 0 ? high : INFINITY, last = nextafterf(high, low);
    for (int64_t first = begin; first < end; first += GROUP) {
        uint32_t w[4][GROUP];
        float values[4 * GROUP];
        philox_group(j->seed, j->counter + (uint64_t)first, w);
        for (int k = 0; k < GROUP; k++)
            for (int i = 0; i < 4; i++) {
                const float v = low + unit_float(w[i][k]) * width;
                values[4 * k + i] = v >= top ? last : v;
            }
        const int64_t blocks = end - first < GROUP ? end - first : GROUP, left = j->out->count - first * 4;
        memcpy((float *)(void *)j->out->data + first * 4, values,
               (size_t)(blocks * 4 < left ? blocks * 4 : left) * sizeof(float));
    }
}
SP_WIDE(uniform_part)

static inline uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

static inline float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

/* log x for x in [2^-24, 1], within 2 units in the last place: vec_math.h's, without fused multiply-add, so that numbers are the same on every machine. */
static inline float log_unit(float x)
{
    const int32_t e = (int32_t)(bits_of(x) - 0x3F3504F3u) >> 23;
    const float f = float_of(bits_of(x) - ((uint32_t)e << 23)) - 1, s = f * f;
    float p = 0x1.161ef8p-4f * f + -0x1.e03e4ap-4f;
    p = p * f + 0x1.e73802p-4f;
    p = p * f + -0x1.fbcdc4p-4f;
    p = p * f + 0x1.232cb0p-3f;
    p = p * f + -0x1.555e78p-3f;
    p = p * f + 0x1.99a55cp-3f;
    p = p * f + -0x1.000002p-2f;
    p = p * f + 0x1.555546p-2f;
    const float y = p * f * s - 0.5f * s + (float)e * -2.12194440e-4f;
    return (f + y) + (float)e * 0.693359375f;
}

/* Box and Muller: two uniform numbers to two normal ones; 1 - u is never 0. The angle is so many 2^-24 of a turn: its quarter and what is beyond that
 * are exact. */
static inline void normal_pair(uint32_t u, uint32_t v, float mean, float deviation, float *first, float *second)
{
    const int32_t turn = (int32_t)(v >> 8), quarter = (turn + (1 << 21)) >> 22;
    const float r = (float)(turn - quarter * (1 << 22)) * (0x1.921fb6p+0f * 0x1p-22f), s = r * r;
    float p = -0x1.99547ap-13f * s + 0x1.11077ap-7f;
    p = p * s + -0x1.555546p-3f;
    p = p * (r * s) + r;
    float q = 0x1.99e9c2p-16f * s + -0x1.6c0c2cp-10f;
    q = q * s + 0x1.55554ap-5f;
    q = q * s + -0.5f;
    q = q * s + 1;
    const uint32_t odd = 0u - ((uint32_t)quarter & 1), sine = (bits_of(q) & odd) | (bits_of(p) & ~odd),
                   cosine = (bits_of(p) & odd) | (bits_of(q) & ~odd);
    const float length = deviation * sqrtf(-2 * log_unit(1 - unit_float(u)));
    *first = mean + length * float_of(cosine ^ ((uint32_t)(quarter + 1) & 2) << 30);
    *second = mean + length * float_of(sine ^ ((uint32_t)quarter & 2) << 30);
}

static void normal_part(void *context, int64_t begin, int64_t end)
{
    const fill_job *j = context;
    const float mean = (float)j->a, deviation = (float)j->b;
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)j->out->dtype), step[2] = {size, sizeof(float)};
    const sp_loop_fn store = sp__cast_loop(SP_DTYPE_F32, (sp_dtype)j->out->dtype);
    enum { GROUPS = 8 }; /* at a time: in one loop with what follows GCC 12 makes no vectors of philox */
    for (int64_t first = begin; first < end; first += GROUPS * GROUP) {
        uint32_t w[GROUPS][4][GROUP];
        float made[4][GROUP], values[GROUPS][4 * GROUP];
        for (int g = 0; g < GROUPS; g++)
            philox_group(j->seed, j->counter + (uint64_t)first + (uint64_t)g * GROUP, w[g]);
        for (int g = 0; g < GROUPS; g++) {
            for (int i = 0; i < 4; i += 2)
                for (int k = 0; k < GROUP; k++)
                    normal_pair(w[g][i][k], w[g][i + 1][k], mean, deviation, &made[i][k], &made[i + 1][k]);
            for (int k = 0; k < GROUP; k++)
                for (int i = 0; i < 4; i++) values[g][4 * k + i] = made[i][k];
        }
        const int64_t blocks = end - first < GROUPS * GROUP ? end - first : GROUPS * GROUP,
                      left = j->out->count - first * 4;
        char *ptr[2] = {j->out->data + first * 4 * size, (char *)values};
        store(blocks * 4 < left ? blocks * 4 : left, ptr, step, NULL);
    }
}
SP_WIDE(normal_part)

static sp_status fill(const sp_call *c, fill_job *j)
{
    SP_TRY(state_check(c->in[0]));
    const int64_t *state = (const int64_t *)(const void *)c->in[0]->data;
    j->seed = (uint64_t)state[0];
    j->counter = (uint64_t)state[1];
    j->out = c->out[0];
    j->per_block = 16 / (int)sp_dtype_bytes(j->from);
    return sp__parallel_for((j->out->count + j->per_block - 1) / j->per_block, PART, j->part ? j->part : fill_part, j);
}

/* --- bits -------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(bits_attr_table, sp_random_bits_attrs, (INTS_NEEDED, shape), (DTYPE, dtype, uint32));

static sp_status bits_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_bits_attrs *a = c->attrs;
    return shape_of(c, a->shape, a->dtype, SP_DT_INTS, out);
}

static void make_bits(const fill_job *j, const block *b, void *values)
{
    uint64_t *v = values;
    (void)j;
    v[0] = wide(b, 0);
    v[1] = wide(b, 1);
}

static sp_status bits_reference(const sp_call *c)
{
    fill_job j = {.from = SP_DTYPE_U64, .make = make_bits};
    return fill(c, &j);
}

const sp_op sp_op_random_bits = {
    .batch = sp__batch_random,
    .name = "random_bits",
    .inputs = "state",
    SP_ATTRS(bits_attr_table, sp_random_bits_attrs),
    .infer = bits_infer,
    .reference = bits_reference,
    .no_vjp = "random numbers do not depend on anything continuous",
    .doc = "Integers in which every bit is random.",
    .samples = "[2]i<99 shape=(2,3); [2]i<99 shape=(5,) dtype=int64",
};

/* --- uniform and normal ------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(uniform_attr_table, sp_random_uniform_attrs, (INTS_NEEDED, shape), (FLOAT, low, 0), (FLOAT, high, 1),
              (DTYPE, dtype, float32));
SP_ATTR_TABLE(normal_attr_table, sp_random_normal_attrs, (INTS_NEEDED, shape), (FLOAT, mean, 0), (FLOAT, std, 1),
              (DTYPE, dtype, float32));

static sp_status uniform_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_uniform_attrs *a = c->attrs;
    return shape_of(c, a->shape, a->dtype, SP_DT_FLOATS, out);
}
static sp_status normal_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_normal_attrs *a = c->attrs;
    return shape_of(c, a->shape, a->dtype, SP_DT_FLOATS, out);
}

static void make_uniform_f(const fill_job *j, const block *b, void *values)
{
    float *v = values;
    const float low = (float)j->a, width = (float)(j->b - j->a), high = (float)j->b;
    for (int k = 0; k < 4; k++) {
        v[k] = low + unit_float(b->w[k]) * width;
        if (v[k] >= high && width > 0) v[k] = nextafterf(high, low); /* rounding may reach the end that is excluded */
    }
}

static void make_uniform_d(const fill_job *j, const block *b, void *values)
{
    double *v = values;
    for (int k = 0; k < 2; k++) {
        v[k] = j->a + unit_double(wide(b, k)) * (j->b - j->a);
        if (v[k] >= j->b && j->b > j->a) v[k] = nextafter(j->b, j->a);
    }
}

/* Box and Muller, as normal_pair. */
static void make_normal_d(const fill_job *j, const block *b, void *values)
{
    double *v = values;
    const double r = sqrt(-2 * log(1 - unit_double(wide(b, 0)))), angle = 6.283185307179586 * unit_double(wide(b, 1));
    v[0] = j->a + j->b * r * cos(angle);
    v[1] = j->a + j->b * r * sin(angle);
}

static sp_status uniform_reference(const sp_call *c)
{
    const sp_random_uniform_attrs *a = c->attrs;
    const bool two = c->out[0]->dtype == SP_DTYPE_F64;
    fill_job j = {.from = two ? SP_DTYPE_F64 : SP_DTYPE_F32,
                  .make = two ? make_uniform_d : make_uniform_f,
                  .a = a->low,
                  .b = a->high};
    if (c->out[0]->dtype == SP_DTYPE_F32) j.part = SP_WIDEST(uniform_part);
    return fill(c, &j);
}

/* float32 and below are made in groups. */
static sp_status normal_reference(const sp_call *c)
{
    const sp_random_normal_attrs *a = c->attrs;
    const bool two = c->out[0]->dtype == SP_DTYPE_F64;
    fill_job j = {
        .from = two ? SP_DTYPE_F64 : SP_DTYPE_F32, .make = two ? make_normal_d : NULL, .a = a->mean, .b = a->std};
    if (!two) j.part = SP_WIDEST(normal_part);
    return fill(c, &j);
}

const sp_op sp_op_random_uniform = {
    .batch = sp__batch_random,
    .name = "random_uniform",
    .inputs = "state",
    SP_ATTRS(uniform_attr_table, sp_random_uniform_attrs),
    .infer = uniform_infer,
    .reference = uniform_reference,
    .no_vjp = "random numbers do not depend on anything continuous",
    .mindir = "UniformReal",
    .doc = "Numbers spread evenly over [low, high).",
    .samples = "[2]i<99 shape=(2,3); [2]i<99 shape=(5,) low=-1 high=3 dtype=float64",
};

const sp_op sp_op_random_normal = {
    .batch = sp__batch_random,
    .name = "random_normal",
    .inputs = "state",
    SP_ATTRS(normal_attr_table, sp_random_normal_attrs),
    .infer = normal_infer,
    .reference = normal_reference,
    .no_vjp = "random numbers do not depend on anything continuous",
    .mindir = "StandardNormal",
    .doc = "Normally distributed numbers.",
    .samples = "[2]i<99 shape=(2,3); [2]i<99 shape=(5,) mean=2 std=0.5 dtype=float64",
};

/* --- integers ---------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(int_attr_table, sp_random_int_attrs, (INTS_NEEDED, shape), (INT, low, 0), (INT_NEEDED, high),
              (DTYPE, dtype, int64));

static sp_status int_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_int_attrs *a = c->attrs;
    SP_CHECK(a->low < a->high, SP_VALUE, "low is %lld and high %lld, low must be smaller", (long long)a->low,
             (long long)a->high);
    return shape_of(c, a->shape, a->dtype, SP_DT_INTS | SP_DT_FLOATS, out);
}

/* The high word of bits * range: the bias is range / 2^64, beyond any sample's reach for ranges in use. */
static void make_int(const fill_job *j, const block *b, void *values)
{
    int64_t *v = values;
    for (int k = 0; k < 2; k++) {
        const uint64_t x = wide(b, k), xl = x & 0xFFFFFFFFu, xh = x >> 32;
        const uint64_t rl = j->range & 0xFFFFFFFFu, rh = j->range >> 32;
        const uint64_t mid = xh * rl + (xl * rl >> 32), low = xl * rh + (mid & 0xFFFFFFFFu);
        v[k] = (int64_t)((uint64_t)j->low + xh * rh + (mid >> 32) + (low >> 32));
    }
}

static sp_status int_reference(const sp_call *c)
{
    const sp_random_int_attrs *a = c->attrs;
    fill_job j = {.from = SP_DTYPE_I64, .make = make_int, .low = a->low, .range = (uint64_t)a->high - (uint64_t)a->low};
    return fill(c, &j);
}

const sp_op sp_op_random_int = {
    .batch = sp__batch_random,
    .name = "random_int",
    .inputs = "state",
    SP_ATTRS(int_attr_table, sp_random_int_attrs),
    .infer = int_infer,
    .reference = int_reference,
    .no_vjp = "integer result",
    .mindir = "UniformInt",
    .doc = "Whole numbers spread evenly over [low, high).",
    .samples = "[2]i<99 shape=(2,3) high=5; [2]i<99 shape=(7,) low=-3 high=4 dtype=int32",
};

/* --- methods that reject: one element, one counter, attempts in the high half ------------------------------------ */

typedef struct {
    uint64_t seed, counter, attempt;
    block now;
    int used;
} stream;

static double stream_unit(stream *s)
{
    if (s->used == 2) {
        s->now = sp__philox(s->seed, s->counter, s->attempt++);
        s->used = 0;
    }
    return unit_double(wide(&s->now, s->used++));
}

static double stream_normal(stream *s)
{
    const double u = stream_unit(s), v = stream_unit(s);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

/* Marsaglia and Tsang (2000); shapes below 1 are lifted by one and scaled back. */
static double draw_gamma(stream *s, double alpha)
{
    if (!(alpha > 0)) return alpha == 0 ? 0 : NAN;
    if (isinf(alpha)) return alpha;
    double lift = 1;
    if (alpha < 1) {
        lift = pow(1 - stream_unit(s), 1 / alpha);
        alpha += 1;
    }
    const double d = alpha - 1.0 / 3, k = 1 / sqrt(9 * d);
    for (;;) {
        const double x = stream_normal(s), t = 1 + k * x;
        if (t <= 0) continue;
        const double v = t * t * t, u = 1 - stream_unit(s);
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) return d * v * lift;
    }
}

/* Multiplication of uniforms for small rates; for large ones a gamma variate halves the problem (Ahrens and Dieter), which takes time
 * with the rate; beyond LARGE the distribution is normal but for a skewness below a thousandth. */
static double draw_poisson(stream *s, double rate)
{
    enum { LARGE = 1000000 };
    if (!(rate >= 0)) return NAN;
    if (isinf(rate)) return rate;
    if (rate > LARGE) return floor(rate + sqrt(rate) * stream_normal(s) + 0.5);
    double n = 0;
    while (rate > 24) {
        const double m = floor(rate * 7 / 8), x = draw_gamma(s, m);
        if (x > rate) { /* the m-th event is too late: binomial of the m - 1 before it */
            for (double i = 1; i < m; i++) n += stream_unit(s) < rate / x;
            return n;
        }
        n += m;
        rate -= x;
    }
    const double limit = exp(-rate);
    for (double p = 1 - stream_unit(s); p > limit; p *= 1 - stream_unit(s)) n++;
    return n;
}

/* Kind of one-number-per-element operators: parameters come as tensors that broadcast to the shape. */
SP_ATTR_TABLE(draw_attr_table, sp_random_draw_attrs, (INTS_NEEDED, shape), (DTYPE, dtype, float32));

static sp_status draw_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_draw_attrs *a = c->attrs;
    char t[SP_SHAPE_TEXT], s[SP_SHAPE_TEXT];
    SP_TRY(shape_of(c, a->shape, a->dtype, SP_DT_REAL, out));
    const sp_tensor *p = c->in[1];
    bool fits = p->rank <= out->rank;
    const int lead = out->rank - p->rank;
    for (int i = 0; fits && i < p->rank; i++) fits = p->dims[i] == 1 || p->dims[i] == out->dims[lead + i];
    SP_CHECK(fits, SP_VALUE, "a parameter of shape %s cannot be broadcast to shape %s",
             sp__shape_text(p->rank, p->dims, t), sp__shape_text(out->rank, out->dims, s));
    return SP_OK;
}

typedef struct {
    uint64_t seed, counter;
    const double *parameter; /* one per element */
    double *values;
    double (*draw)(stream *s, double parameter);
} draw_job;

static void draw_part(void *context, int64_t begin, int64_t end)
{
    const draw_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        stream s = {.seed = j->seed, .counter = j->counter + (uint64_t)i, .used = 2};
        j->values[i] = j->draw(&s, j->parameter[i]);
    }
}

static sp_status draw_all(const sp_call *c, double (*draw)(stream *, double))
{
    const int64_t *state = (const int64_t *)(const void *)c->in[0]->data;
    sp_tensor *o = c->out[0], *p = NULL;
    sp_status status;
    SP_GOTO(done, sp_tensor_create(SP_DTYPE_F64, o->rank, o->dims, &p));
    const sp_tensor *operands[2] = {p, c->in[1]};
    sp_loop loop;
    sp__loop_init(&loop, o->rank, o->dims, 2, operands);
    SP_GOTO(done, sp__loop_run(&loop, sp__cast_loop((sp_dtype)c->in[1]->dtype, SP_DTYPE_F64), NULL, 4));
    double *v = (double *)(void *)p->data;
    draw_job j = {.seed = (uint64_t)state[0], .counter = (uint64_t)state[1], .parameter = v, .values = v, .draw = draw};
    SP_GOTO(done, sp__parallel_for(o->count, 512, draw_part, &j));
    status = sp_tensor_assign(o, p);
done:
    sp_tensor_release(p);
    return status;
}
static sp_status gamma_reference(const sp_call *c) { return draw_all(c, draw_gamma); }
static sp_status poisson_reference(const sp_call *c) { return draw_all(c, draw_poisson); }

const sp_op sp_op_random_gamma = {
    .batch = sp__batch_random,
    .name = "random_gamma",
    .inputs = "state, alpha",
    SP_ATTRS(draw_attr_table, sp_random_draw_attrs),
    .infer = draw_infer,
    .reference = gamma_reference,
    .vjp = sp__vjp_refuse,
    .no_vjp = "samples are not differentiated with respect to the shape of the distribution",
    .doc = "Gamma distributed numbers of scale 1; alpha broadcasts to the shape.",
    .samples = "[2]i<99 [3](1,2) shape=(2,3); [2]i<99 [](0.2,0.5) shape=(4,)",
};

const sp_op sp_op_random_poisson = {
    .batch = sp__batch_random,
    .name = "random_poisson",
    .inputs = "state, rate",
    SP_ATTRS(draw_attr_table, sp_random_draw_attrs),
    .infer = draw_infer,
    .reference = poisson_reference,
    .vjp = sp__vjp_refuse,
    .no_vjp = "whole numbers are drawn, which do not change continuously with the rate",
    .doc = "Poisson distributed numbers; the rate broadcasts to the shape.",
    .samples = "[2]i<99 [3](1,2) shape=(2,3); [2]i<99 [](40,50) shape=(4,)",
};

/* --- truncated normal -------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(truncated_attr_table, sp_random_truncated_normal_attrs, (INTS_NEEDED, shape), (FLOAT, mean, 0),
              (FLOAT, std, 1), (FLOAT, low, -2), (FLOAT, high, 2), (DTYPE, dtype, float32));

static sp_status truncated_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_truncated_normal_attrs *a = c->attrs;
    SP_CHECK(a->low < a->high, SP_VALUE, "low is %g and high %g, low must be smaller", a->low, a->high);
    return shape_of(c, a->shape, a->dtype, SP_DT_FLOATS, out);
}

typedef struct {
    uint64_t seed, counter;
    const sp_random_truncated_normal_attrs *attrs;
    sp_tensor *out;
} truncated_job;

/* A wide interval takes normal numbers until one lies inside; a narrow or far one takes even numbers and keeps each
 * with the density relative to the highest in the interval (Robert 1995). */
static double draw_truncated(stream *s, double low, double high)
{
    const bool wide_enough = low <= 0 && high >= 0 && high - low > 2.5;
    const double peak = low > 0 ? low : high < 0 ? high : 0;
    if (!(low <= high)) return NAN;
    if (fabs(peak) > 1e150) return peak; /* its square is not a number any more, and nothing lies beside it */
    for (;;) {
        if (wide_enough) {
            const double x = stream_normal(s);
            if (x >= low && x <= high) return x;
            continue;
        }
        /* Beyond 12 standard deviations of the peak there is nothing left to find. */
        const double from = low < peak - 12 ? peak - 12 : low, to = high > peak + 12 ? peak + 12 : high;
        const double x = from + stream_unit(s) * (to - from);
        if (stream_unit(s) <= exp(0.5 * (peak * peak - x * x))) return x;
    }
}

static void truncated_part(void *context, int64_t begin, int64_t end)
{
    const truncated_job *j = context;
    const sp_random_truncated_normal_attrs *a = j->attrs;
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)j->out->dtype), step[2] = {0, 0};
    const sp_loop_fn store = sp__cast_loop(SP_DTYPE_F64, (sp_dtype)j->out->dtype);
    for (int64_t i = begin; i < end; i++) {
        stream s = {.seed = j->seed, .counter = j->counter + (uint64_t)i, .used = 2};
        double v = a->mean + a->std * draw_truncated(&s, a->low, a->high);
        char *ptr[2] = {j->out->data + i * size, (char *)&v};
        store(1, ptr, step, NULL);
    }
}

static sp_status truncated_reference(const sp_call *c)
{
    const int64_t *state = (const int64_t *)(const void *)c->in[0]->data;
    truncated_job j = {.seed = (uint64_t)state[0], .counter = (uint64_t)state[1], .attrs = c->attrs, .out = c->out[0]};
    return sp__parallel_for(c->out[0]->count, 1024, truncated_part, &j);
}

const sp_op sp_op_random_truncated_normal = {
    .batch = sp__batch_random,
    .name = "random_truncated_normal",
    .inputs = "state",
    SP_ATTRS(truncated_attr_table, sp_random_truncated_normal_attrs),
    .infer = truncated_infer,
    .reference = truncated_reference,
    .no_vjp = "random numbers do not depend on anything continuous",
    .mindir = "TruncatedNormal",
    .doc = "Normally distributed numbers between low and high standard deviations from the mean.",
    .samples = "[2]i<99 shape=(2,3); [2]i<99 shape=(5,) mean=1 std=2 low=1 high=1.5; [2]i<99 shape=(5,) low=3 high=9",
};

/* --- categories -------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(multinomial_attr_table, sp_random_multinomial_attrs, (INT_NEEDED, n), (BOOL, replacement, True),
              (DTYPE, dtype, int64));

static sp_status multinomial_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_multinomial_attrs *a = c->attrs;
    const sp_tensor *p = c->in[1];
    SP_TRY(state_check(c->in[0]));
    SP_CHECK(p->rank == 1 || p->rank == 2, SP_VALUE, "the weights have rank %d, it must be 1 or 2", p->rank);
    const int64_t k = p->dims[p->rank - 1];
    SP_CHECK(a->n >= 1 && k >= 1, SP_VALUE, "%lld samples of %lld categories are asked for, both must be positive",
             (long long)a->n, (long long)k);
    SP_CHECK(a->replacement || a->n <= k, SP_VALUE,
             "%lld samples without replacement are asked for, but there are %lld categories", (long long)a->n,
             (long long)k);
    SP_CHECK(a->dtype == SP_DTYPE_I32 || a->dtype == SP_DTYPE_I64, SP_TYPE,
             "categories come as int32 or int64, not as %s", sp_dtype_name(a->dtype));
    sp__meta_of(p, out);
    out->dims[p->rank - 1] = a->n;
    out->dtype = a->dtype;
    return SP_OK;
}

static size_t multinomial_workspace(const sp_call *c) { return (size_t)c->in[1]->count * sizeof(double) + 8; }

static sp_status multinomial_reference(const sp_call *c)
{
    const sp_random_multinomial_attrs *a = c->attrs;
    const sp_tensor *p = c->in[1];
    sp_tensor *o = c->out[0];
    const int64_t *state = (const int64_t *)(const void *)c->in[0]->data;
    const int64_t k = p->dims[p->rank - 1], rows = p->count / k;
    double *weights = c->work;
    char *ptr[2] = {c->work, p->data};
    const int64_t step[2] = {sizeof(double), (int64_t)sp_dtype_bytes((sp_dtype)p->dtype)};
    sp__cast_loop((sp_dtype)p->dtype, SP_DTYPE_F64)(p->count, ptr, step, NULL);
    for (int64_t row = 0; row < rows; row++) {
        double *w = weights + row * k, total = 0;
        for (int64_t i = 0; i < k; i++) {
            SP_CHECK(w[i] >= 0 && w[i] < INFINITY, SP_VALUE,
                     "weight %lld of row %lld is %g, it must be finite and not negative", (long long)i, (long long)row,
                     w[i]);
            total += w[i];
        }
        SP_CHECK(total > 0, SP_VALUE, "the weights of row %lld are all zero", (long long)row);
        for (int64_t i = 0; i < a->n; i++) {
            stream s = {
                .seed = (uint64_t)state[0], .counter = (uint64_t)state[1] + (uint64_t)(row * a->n + i), .used = 2};
            double left = stream_unit(&s) * total;
            int64_t at = 0, last = 0;
            for (; at < k; at++) {
                if (w[at] > 0) last = at;
                if (left < w[at]) break;
                left -= w[at];
            }
            if (at == k) at = last; /* rounding went past the end */
            if (o->dtype == SP_DTYPE_I32) ((int32_t *)(void *)o->data)[row * a->n + i] = (int32_t)at;
            else ((int64_t *)(void *)o->data)[row * a->n + i] = at;
            if (a->replacement || i + 1 == a->n) continue;
            w[at] = 0;
            total = 0;
            for (int64_t m = 0; m < k; m++) total += w[m];
            SP_CHECK(total > 0, SP_VALUE, "row %lld has fewer than %lld categories with a weight", (long long)row,
                     (long long)a->n);
        }
    }
    return SP_OK;
}

const sp_op sp_op_random_multinomial = {
    .name = "random_multinomial",
    .inputs = "state, weights",
    SP_ATTRS(multinomial_attr_table, sp_random_multinomial_attrs),
    .infer = multinomial_infer,
    .reference = multinomial_reference,
    .workspace = multinomial_workspace,
    .no_vjp = "integer result",
    .mindir = "Multinomial",
    .doc = "Categories drawn with the given weights, each row of weights for itself.",
    .samples = "[2]i<99 [4]>0 n=3; [2]i<99 [2,4](1,3) n=1 replacement=False dtype=int32",
};

/* --- permutation ------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(permutation_attr_table, sp_random_permutation_attrs, (INT_NEEDED, n), (DTYPE, dtype, int64));

static sp_status permutation_infer(const sp_call *c, sp_meta *out)
{
    const sp_random_permutation_attrs *a = c->attrs;
    SP_CHECK(a->n >= 0, SP_VALUE, "n is %lld, it must not be negative", (long long)a->n);
    return shape_of(c, (sp_ints){1, &a->n}, a->dtype, SP_DT_REAL, out);
}

static size_t permutation_workspace(const sp_call *c)
{
    const int64_t n = ((const sp_random_permutation_attrs *)c->attrs)->n;
    return n > 0 ? (size_t)n * sizeof(int64_t) : 0;
}

/* Fisher and Yates: position i changes places with one of those before it or itself. */
static sp_status permutation_reference(const sp_call *c)
{
    const int64_t *state = (const int64_t *)(const void *)c->in[0]->data;
    const int64_t n = c->out[0]->count;
    int64_t *order = c->work;
    for (int64_t i = 0; i < n; i++) {
        const block bits = sp__philox((uint64_t)state[0], (uint64_t)state[1] + (uint64_t)i, 0);
        const fill_job pick = {.low = 0, .range = (uint64_t)i + 1};
        int64_t at[2];
        make_int(&pick, &bits, at);
        order[i] = order[at[0]];
        order[at[0]] = i;
    }
    if (n == 0) return SP_OK;
    char *ptr[2] = {c->out[0]->data, (char *)order};
    const int64_t step[2] = {(int64_t)sp_dtype_bytes((sp_dtype)c->out[0]->dtype), sizeof *order};
    sp__cast_loop(SP_DTYPE_I64, (sp_dtype)c->out[0]->dtype)(n, ptr, step, NULL);
    return SP_OK;
}

const sp_op sp_op_random_permutation = {
    .name = "random_permutation",
    .inputs = "state",
    SP_ATTRS(permutation_attr_table, sp_random_permutation_attrs),
    .infer = permutation_infer,
    .reference = permutation_reference,
    .workspace = permutation_workspace,
    .no_vjp = "integer result",
    .mindir = "RandpermV2",
    .doc = "The numbers 0 to n - 1 in random order.",
    .samples = "[2]i<99 n=5; [2]i<99 n=300 dtype=int32; [2]i<99 n=0",
};
