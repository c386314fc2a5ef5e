/* SPDX-License-Identifier: Apache-2.0 */
/* minifloat.c - numbers rounded to what a float of 8 bits or fewer can hold.
 *
 * A format has exponent and mantissa bits and a bias. e8m0 alone is different: an exponent without sign and mantissa, so only
 * powers of two. Rounding is to the nearest, ties to even; what is too large becomes the greatest value (saturate), or
 * infinity or NaN, whichever the format has. */
#include "ops/minifloat.h"
#include "ops/kernels.h"

static const sp_minifloat_format formats[] = {
    {"e4m3fn", 4, 3, 7, 448, false, true, false}, {"e4m3fnuz", 4, 3, 8, 240, false, true, true},
    {"e5m2", 5, 2, 15, 57344, true, true, false}, {"e5m2fnuz", 5, 2, 16, 57344, false, true, true},
    {"e2m1", 2, 1, 1, 6, false, false, false},    {"e2m3", 2, 3, 1, 7.5f, false, false, false},
    {"e3m2", 3, 2, 3, 28, false, false, false},   {"e8m0", 8, 0, 127, 0x1p127f, false, true, true},
};

const sp_minifloat_format *sp__minifloat_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

float sp__minifloat_value(const sp_minifloat_format *f, unsigned code)
{
    if (f->exponent_bits == 8) return code == 255 ? NAN : ldexpf(1, (int)code - 127);
    unsigned sign = code >> (f->exponent_bits + f->mantissa_bits) & 1, all = (1u << f->exponent_bits) - 1;
    unsigned exponent = code >> f->mantissa_bits & all, mantissa = code & ((1u << f->mantissa_bits) - 1);
    if (f->one_zero && sign && exponent == 0 && mantissa == 0) return NAN;
    if (f->has_inf && exponent == all) return mantissa != 0 ? NAN : sign ? -INFINITY : INFINITY;
    float value = ldexpf((float)(exponent != 0 ? mantissa + (1u << f->mantissa_bits) : mantissa),
                         (exponent != 0 ? (int)exponent : 1) - f->bias - f->mantissa_bits);
    if (f->has_nan && !f->one_zero && !f->has_inf && value > f->max) return NAN; /* all bits set */
    return sign ? -value : value;
}

/* --- rounding ---------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(minifloat_attr_table, sp_minifloat_attrs, (TEXT, format, "e4m3fn"), (BOOL, saturate, True),
              (TEXT, mode, "nearest"));

typedef struct {
    const sp_minifloat_format *f;
    bool saturate;
    char mode; /* n, u, d */
} rounding;

static float round_signed(const rounding *r, float x)
{
    const sp_minifloat_format *f = r->f;
    if (isnan(x)) return f->has_nan ? x : 0;
    float size = fabsf(x), rounded = INFINITY;
    if (!isinf(x)) {
        int exponent;
        frexpf(size, &exponent);
        if (exponent < 2 - f->bias) exponent = 2 - f->bias; /* below the smallest normal number steps stay the same */
        float step = ldexpf(1, exponent - 1 - f->mantissa_bits);
        rounded = rintf(size / step) * step;
    }
    if (rounded > f->max) rounded = r->saturate || !f->has_nan ? f->max : f->has_inf ? INFINITY : NAN;
    return rounded == 0 && f->one_zero ? 0 : copysignf(rounded, x);
}

/* A power of two; zero and below it become the smallest. */
static float round_power(const rounding *r, float x)
{
    uint32_t bits;
    if (isnan(x) || isinf(x)) return NAN;
    memcpy(&bits, &x, sizeof bits);
    uint32_t exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
    bool up = r->mode == 'u' ? fraction != 0
                             : r->mode == 'n' && fraction >= 0x400000 && (fraction > 0x400000 || exponent > 0);
    if (up && !(exponent == 254 && r->saturate)) exponent++;
    return sp__minifloat_value(r->f, exponent);
}

static void round_loop(int64_t n, char *const *ptr, const int64_t *step, const void *context)
{
    const rounding *r = context;
    for (int64_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, ptr[1] + i * step[1], sizeof x);
        x = r->f->exponent_bits == 8 ? round_power(r, x) : round_signed(r, x);
        memcpy(ptr[0] + i * step[0], &x, sizeof x);
    }
}

static sp_status minifloat_infer(const sp_call *c, sp_meta *out)
{
    const sp_minifloat_attrs *a = c->attrs;
    SP_CHECK(sp__minifloat_find(a->format) != NULL, SP_VALUE,
             "format is '%s', it must be one of e4m3fn, e4m3fnuz, e5m2, "
             "e5m2fnuz, e2m1, e2m3, e3m2, e8m0",
             a->format);
    SP_CHECK(strcmp(a->mode, "nearest") == 0 || strcmp(a->mode, "up") == 0 || strcmp(a->mode, "down") == 0, SP_VALUE,
             "mode is '%s', it must be nearest, up or down", a->mode);
    return sp__infer_same(c, out);
}

static sp_status minifloat_reference(const sp_call *c)
{
    const sp_minifloat_attrs *a = c->attrs;
    rounding r = {sp__minifloat_find(a->format), a->saturate, a->mode[0]};
    return sp__call_loop(c, round_loop, &r, 80);
}

static sp_status minifloat_vjp(sp_builder *b, const sp_vjp *v)
{
    (void)b;
    v->din[0] = v->dout[0];
    return SP_OK;
}

const sp_op sp_op_minifloat = {
    .batch = sp__batch_elementwise,
    .name = "minifloat",
    .inputs = "x",
    SP_ATTRS(minifloat_attr_table, sp_minifloat_attrs),
    .dtypes = SP_DT(F32),
    .infer = minifloat_infer,
    .reference = minifloat_reference,
    .strided = true,
    .vjp = minifloat_vjp,
    .doc = "Each element rounded to a value that a float of 8 bits or fewer can hold. Gradients pass unchanged.",
    .samples = "[2,3]; [] format=e5m2; [2,3] format=e8m0",
};
