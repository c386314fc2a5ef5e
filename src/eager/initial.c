/* SPDX-License-Identifier: Apache-2.0 */
/* initial.c - initial weights out of a seed, as MindSpore makes them, so that a program that sets a seed starts from the same weights.
 *
 * Philox with the seed as its key and as the high half of its counter gives the words of elements 4 i to 4 i + 3 at counter i. Computed in
 * double precision; what there is of float32 (bits of a word, constants) is MindSpore's and decides the last bit. */
#include <math.h>

#include "base/base.h"
#include "base/philox.h"
#include "spore/random.h"

typedef struct {
    uint64_t seed;
    float *out;
    int64_t count;
    void (*make)(const double *arguments, const uint32_t *words, float *values); /* four of them */
    double arguments[4];
} job;

enum { BLOCKS = 4096 }; /* that one thread takes at a time */

static void part(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        const sp__philox_block b = sp__philox(j->seed, (uint64_t)i, j->seed);
        float values[4];
        j->make(j->arguments, b.w, values);
        for (int64_t k = 4 * i; k < 4 * i + 4 && k < j->count; k++) j->out[k] = values[k - 4 * i];
    }
}

static double unit(uint32_t word) { return (double)word * 0x1p-32; }

static void uniform(const double *arguments, const uint32_t *words, float *values)
{
    const double low = arguments[0], high = arguments[1];
    for (int k = 0; k < 4; k++) values[k] = (float)((high - low) * unit(words[k]) + low);
}

/* The low 23 bits of a word as a number in [1e-7, 1). */
static double open_unit(uint32_t word)
{
    const float u = (float)(word & 0x7fffff) * 0x1p-23f;
    return (double)(u > 1.0e-7f ? u : 1.0e-7f);
}

/* Two words make two normal numbers (Box and Muller). */
static void normal(const double *arguments, const uint32_t *words, float *values)
{
    const double mean = arguments[0], deviation = arguments[1];
    for (int k = 0; k < 4; k += 2) {
        const double radius = sqrt(-2.0 * log(open_unit(words[k]))) * deviation;
        const double angle = 2.0 * (double)3.1415926f * open_unit(words[k + 1]);
        values[k] = (float)(mean + radius * cos(angle));
        values[k + 1] = (float)(mean + radius * sin(angle));
    }
}

/* --- truncated normal numbers: the quantiles of uniform ones ------------------------------------------------------- */

static double polynomial(const double *c, double x)
{
    double sum = c[7];
    for (int i = 6; i >= 0; i--) sum = sum * x + c[i];
    return sum;
}

/* The quantile of the normal distribution to double precision: Wichura, "Algorithm AS 241", Applied Statistics 37 (1988). */
static double quantile(double p)
{
    static const double A[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double B[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double C[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double D[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double E[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double F[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    const double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(A, r) / polynomial(B, r);
    }
    const double r = sqrt(-log(q < 0 ? p : 1 - p));
    const double x =
        r <= 5 ? polynomial(C, r - 1.6) / polynomial(D, r - 1.6) : polynomial(E, r - 5) / polynomial(F, r - 5);
    return q < 0 ? -x : x;
}

static const double ROOT_TWO = 1.4142135f;

/* arguments: mean, deviation, and the share of the distribution below either end of the interval */
static void truncated(const double *arguments, const uint32_t *words, float *values)
{
    const double below = arguments[2], share = arguments[3] - arguments[2];
    for (int k = 0; k < 4; k++) {
        double twice = 2.0 * (below + unit(words[k]) * share);
        if (twice <= 0) twice = 0x1p-149;
        if (twice >= 2.0) twice = 0x1.fffffep0;
        values[k] = (float)(arguments[0] + quantile(0.5 * twice) * (ROOT_TWO / 1.4142135623730951) * arguments[1]);
    }
}

static double share_below(double x) { return erfc(-x / ROOT_TWO) / 2.0; }

sp_status sp_initial_fill(sp_tensor *t, sp_initial kind, uint64_t seed, const double arguments[4])
{
    SP_CHECK(t && sp_tensor_dtype(t) == SP_DTYPE_F32 && sp_tensor_is_contiguous(t), SP_TYPE,
             "initial values: a float32 tensor in one piece is wanted");
    job j = {.seed = seed, .out = sp_tensor_data(t), .count = sp_tensor_count(t)};
    for (int i = 0; i < 4; i++) j.arguments[i] = (double)(float)arguments[i];
    switch (kind) {
    case SP_INITIAL_UNIFORM: j.make = uniform; break;
    case SP_INITIAL_NORMAL:
        SP_CHECK(arguments[1] >= 0, SP_VALUE, "initial values: the standard deviation is %g, it must not be negative",
                 arguments[1]);
        j.make = normal;
        break;
    case SP_INITIAL_TRUNCATED:
        SP_CHECK(arguments[1] > 0, SP_VALUE, "initial values: the standard deviation is %g, it must be positive",
                 arguments[1]);
        SP_CHECK(arguments[2] < arguments[3], SP_VALUE, "initial values: the interval from %g to %g is empty",
                 arguments[2], arguments[3]);
        for (int i = 2; i < 4; i++) j.arguments[i] = share_below((j.arguments[i] - j.arguments[0]) / j.arguments[1]);
        j.make = truncated;
        break;
    default: return sp__fail(SP_VALUE, "initial values: there is no kind %d", (int)kind);
    }
    return sp__parallel_for((j.count + 3) / 4, BLOCKS, part, &j);
}
