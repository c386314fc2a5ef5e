/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.h - attributes of the operators of quantize.c, for those who make such nodes. */
#ifndef SPORE_QUANTIZE_OPS_H
#define SPORE_QUANTIZE_OPS_H

#include <stdint.h>

typedef struct sp__quantize_attrs {
    int64_t axis;
} sp__quantize_attrs;

typedef struct sp__dequantize_attrs {
    int64_t axis, block, bits;
} sp__dequantize_attrs;

#endif
