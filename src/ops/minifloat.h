/* SPDX-License-Identifier: Apache-2.0 */
/* minifloat.h - floats of 8 bits and fewer. There is no dtype of them: their values are carried as float32, which holds each
 * of them exactly. */
#ifndef SPORE_MINIFLOAT_H
#define SPORE_MINIFLOAT_H

#include "ops/ops_impl.h"

typedef struct sp_minifloat_format {
    const char *name; /* "e4m3fn" */
    int exponent_bits, mantissa_bits, bias;
    float max;     /* greatest finite value */
    bool has_inf;  /* else what is too large becomes NaN */
    bool has_nan;  /* else NaN becomes 0 */
    bool one_zero; /* no negative zero: its code is NaN ("uz") */
} sp_minifloat_format;

const sp_minifloat_format *sp__minifloat_find(const char *name); /* NULL: there is none */
float sp__minifloat_value(const sp_minifloat_format *f, unsigned code);

#endif
