/* SPDX-License-Identifier: Apache-2.0 */
/* normal.c - the standard normal distribution. */
#include "ops/unary.h"

/* By erfc, whose small values below 0 are not lost in a sum with 1; float32 by way of double, for there an error of the argument is a multiple
 * of its square in the result. */
FLOAT_FUNCTION(ndtr, (float)(0.5 * erfc(-0.70710678118654752440 * (double)x)), 0.5 * erfc(-0.70710678118654752440 * x),
               160)
RULE(ndtr, sp_mul(b, sp__mul_number(b, g, 0.39894228040143267794), sp_exp(b, sp__mul_number(b, sp_square(b, x), -0.5))))
ENTRY(ndtr, FLOATING, .vjp = ndtr_vjp, .saves = SP_SAVE_IN(0), .python = "ops.ndtr(input); mint.special.ndtr(input)",
      .doc = "The share of the standard normal distribution that is below each element.", .samples = "[2,3]; []");
