/* SPDX-License-Identifier: Apache-2.0 */
/* loops_double.h - the part of loops_impl.h that computes in double: loops of float64, and functions of floats that are widened for it. */

typedef void (*double_row)(int64_t n, double *o, const double *x);

static inline void double_loop(double_row row, int64_t n, char *const *ptr, const int64_t *step)
{
    if (step[0] == 8 && step[1] == 8) {
        row(n, (double *)(void *)ptr[0], (const double *)(const void *)ptr[1]);
        return;
    }
    double block[LOOP_BLOCK / 2];
    for (int64_t at = 0; at < n; at += LOOP_BLOCK / 2) {
        const int64_t m = n - at < LOOP_BLOCK / 2 ? n - at : LOOP_BLOCK / 2;
        for (int64_t i = 0; i < m; i++) block[i] = *(const double *)(const void *)(ptr[1] + (at + i) * step[1]);
        row(m, block, block);
        for (int64_t i = 0; i < m; i++) *(double *)(void *)(ptr[0] + (at + i) * step[0]) = block[i];
    }
}

#define DOUBLE(name, expr)                                                                                             \
    static void name##_row64(int64_t n, double *o, const double *x_)                                                   \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + DOUBLES <= n; i += DOUBLES) {                                                                       \
            const vd x = vd_load(x_ + i);                                                                              \
            vd_store(o + i, expr);                                                                                     \
        }                                                                                                              \
        if (i < n) {                                                                                                   \
            const vd x = vd_load_n(x_ + i, n - i);                                                                     \
            vd_store_n(o + i, expr, n - i);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_f64(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        double_loop(name##_row64, n, ptr, step);                                                                       \
    }

typedef void (*double_pair_row)(int64_t n, double *o, const double *x, const double *y);

/* Operand of a block: where it lies if it is a run, else copied; one number for all only the first time. */
static inline const double *double_operand(int64_t n, int64_t at, const char *from, int64_t step, double *room)
{
    if (step == 8) return (const double *)(const void *)(from + at * 8);
    for (int64_t i = 0; (step != 0 || at == 0) && i < n; i++)
        room[i] = *(const double *)(const void *)(from + (at + i) * step);
    return room;
}

static inline void double_pair_loop(double_pair_row row, int64_t n, char *const *ptr, const int64_t *step)
{
    enum { PAIR = LOOP_BLOCK / 4 };
    double xs[PAIR], ys[PAIR], os[PAIR];
    if (step[0] == 8 && step[1] == 8 && step[2] == 8) {
        row(n, (double *)(void *)ptr[0], (const double *)(const void *)ptr[1], (const double *)(const void *)ptr[2]);
        return;
    }
    for (int64_t at = 0; at < n; at += PAIR) {
        const int64_t m = n - at < PAIR ? n - at : PAIR;
        const double *x = double_operand(m, at, ptr[1], step[1], xs), *y = double_operand(m, at, ptr[2], step[2], ys);
        double *o = step[0] == 8 ? (double *)(void *)(ptr[0] + at * 8) : os;
        row(m, o, x, y);
        for (int64_t i = 0; step[0] != 8 && i < m; i++) *(double *)(void *)(ptr[0] + (at + i) * step[0]) = os[i];
    }
}

#define DOUBLE_PAIR(name, expr)                                                                                        \
    static void name##_row64(int64_t n, double *o, const double *x_, const double *y_)                                 \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + DOUBLES <= n; i += DOUBLES) {                                                                       \
            const vd x = vd_load(x_ + i), y = vd_load(y_ + i);                                                         \
            vd_store(o + i, expr);                                                                                     \
        }                                                                                                              \
        if (i < n) {                                                                                                   \
            const vd x = vd_load_n(x_ + i, n - i), y = vd_load_n(y_ + i, n - i);                                       \
            vd_store_n(o + i, expr, n - i);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_f64(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        double_pair_loop(name##_row64, n, ptr, step);                                                                  \
    }

/* y, but libm's answer in the lanes that are told. */
static inline vd double_mend(vdm lanes, vd x, vd y, double (*libm)(double))
{
    if (!vdm_any(lanes)) return y;
    double in[DOUBLES], out[DOUBLES], told[DOUBLES];
    vd_store(in, x);
    vd_store(out, y);
    vd_store(told, vd_select(lanes, vd_set(1), vd_set(0)));
    for (int i = 0; i < DOUBLES; i++)
        if (told[i] != 0) out[i] = libm(in[i]);
    return vd_load(out);
}
static inline vf float_mend(vm lanes, vf x, vf y, vf z, float (*libm)(float, float))
{
    if (!vm_any(lanes)) return z;
    float a[LANES], b[LANES], out[LANES], told[LANES];
    vf_store(a, x);
    vf_store(b, y);
    vf_store(out, z);
    vf_store(told, vf_select(lanes, vf_set(1), vf_set(0)));
    for (int i = 0; i < LANES; i++)
        if (told[i] != 0) out[i] = libm(a[i], b[i]);
    return vf_load(out);
}

DOUBLE(sqrt, vd_sqrt(x))
DOUBLE(reciprocal, vd_set(1) / x)
DOUBLE(sign, vd_select(vdm_lt(vd_set(0), x), vd_set(1), vd_select(vdm_lt(x, vd_set(0)), vd_set(-1), x)))
DOUBLE_PAIR(div, x / y)
DOUBLE(rsqrt, vd_set(1) / vd_sqrt(x))
static inline vd double_round(vd x)
{
    const vd size = vd_abs(x), r = (size + vd_set(0x1p52)) - vd_set(0x1p52);
    return vd_select(vdm_lt(size, vd_set(0x1p52)), vd_copysign(r, x), x);
}
static inline vd double_floor(vd x)
{
    const vd r = double_round(x);
    return vd_select(vdm_lt(x, r), r - vd_set(1), r);
}
DOUBLE(round, double_round(x))
DOUBLE(floor, double_floor(x))
DOUBLE(ceil, vd_neg(double_floor(vd_neg(x))))
DOUBLE(trunc, vd_copysign(double_floor(vd_abs(x)), x))
DOUBLE(exp, vd_exp(x))
DOUBLE(expm1, vd_expm1(x))
DOUBLE(log, vd_log(x))
DOUBLE(log1p, vd_log1p(x))
DOUBLE(tanh, vd_tanh(x))
DOUBLE(sigmoid, vd_sigmoid(x))
DOUBLE(sinh, vd_sinh(x))
DOUBLE(cosh, vd_cosh(x))
DOUBLE(asin, vd_asin(x))
DOUBLE(acos, vd_acos(x))
DOUBLE(atan, vd_atan(x))

/* The same function for floats. */
#define BOTH_HALVES(fn) vf_join(fn(vd_low(x)), fn(vd_high(x)))
UNARY(asin, BOTH_HALVES(vd_asin))
UNARY(acos, BOTH_HALVES(vd_acos))
UNARY(atan, BOTH_HALVES(vd_atan))
UNARY(sinh, BOTH_HALVES(vd_sinh))
UNARY(cosh, BOTH_HALVES(vd_cosh))
UNARY(erfc, BOTH_HALVES(vd_erfc_single))

#if VEC_FMA
#define FAR ((vdm)~vdm_lt(vd_abs(x), vd_set(VD_TURN_MOST)))
static inline vd double_tan(vd x) { return double_mend(FAR, x, vd_tan(x), tan); }
DOUBLE(sin, double_mend(FAR, x, vd_sin(x), sin))
DOUBLE(cos, double_mend(FAR, x, vd_cos(x), cos))
DOUBLE(tan, double_tan(x))
UNARY(tan, BOTH_HALVES(double_tan))
#else
#define sin_f64 NULL
#define cos_f64 NULL
#define tan_f64 NULL
#endif

/* Angles of points at the origin or infinitely far in both directions are matters of convention. */
static inline vf float_atan2(vf up, vf across)
{
    const vm odd =
        (vm_eq(up, ZERO) & vm_eq(across, ZERO)) | (vm_eq(vf_abs(up), K(INFINITY)) & vm_eq(vf_abs(across), K(INFINITY)));
    return float_mend(odd, up, across,
                      vf_join(vd_atan2(vd_low(up), vd_low(across)), vd_atan2(vd_high(up), vd_high(across))), atan2f);
}
BINARY(atan2, float_atan2(x, y))

/* Squares, cubes and roots as the reference computes them; other powers of positive numbers by logarithm and exponential in double. */
static inline vd double_power(vd x, vd y) { return vd_exp_single(y * vd_log_single(x)); }
static inline vf float_pow(vf x, vf y)
{
    const vm square = vm_eq(y, K(2)), cube = vm_eq(y, K(3)), plain = vm_lt(ZERO, x) & vm_lt(x, K(INFINITY));
    if (!vm_any((vm)~square)) return x * x;
    const vd low = vd_low(x), high = vd_high(x);
    const vf cubed = vf_join(low * low * low, high * high * high);
    if (!vm_any((vm)~cube)) return cubed;
    const vm root = plain & vm_eq(y, K(0.5));
    if (!vm_any((vm)~root)) return vf_sqrt(x);
    vf z = vf_join(double_power(low, vd_low(y)), double_power(high, vd_high(y)));
    z = vf_select(square, x * x, vf_select(cube, cubed, vf_select(root, vf_sqrt(x), z)));
    return float_mend((vm) ~((plain & vm_lt(vf_abs(y), K(INFINITY))) | square | cube), x, y, z, powf);
}
BINARY(pow, float_pow(x, y))

/* What is left of x after whole times y, with x's sign: exact, because a quotient below 2^29 times 24 bits fits a double. */
static inline vd double_rest(vd x, vd y, vd *quotient)
{
    const vd a = vd_abs(x), b = vd_abs(y);
    *quotient = a / b;
    return vd_copysign(a - double_floor(*quotient) * b, x);
}
static inline vf float_rest(vf x, vf y)
{
    vd low, high;
    const vf r = vf_join(double_rest(vd_low(x), vd_low(y), &low), double_rest(vd_high(x), vd_high(y), &high));
    const vm plain = vm_lt(vf_join(low, high), K(0x1p28)) & vm_lt(vf_abs(y), K(INFINITY));
    return float_mend((vm)~plain, x, y, r, fmodf);
}
static inline vf float_rest_up(vf x, vf y)
{
    const vf r = float_rest(x, y);
    const vm differs =
        (vm_lt(r, ZERO) & (vm)~vm_lt(y, ZERO)) | (vm_lt(ZERO, r) & vm_lt(y, ZERO)) | (vm_nan(r) & vm_lt(y, ZERO));
    return vf_select(differs, r + y, r);
}
BINARY(trunc_mod, float_rest(x, y))
BINARY(floor_mod, float_rest_up(x, y))
