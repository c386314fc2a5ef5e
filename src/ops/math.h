/* SPDX-License-Identifier: Apache-2.0 */
/* math.h - special functions that more than one operator file needs. */
#ifndef SPORE_OPS_MATH_H
#define SPORE_OPS_MATH_H

/* Hurwitz zeta: the sum over k >= 0 of 1 / (k + q)^s. */
double sp__zeta(double s, double q);

#endif
