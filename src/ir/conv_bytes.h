/* SPDX-License-Identifier: Apache-2.0 */
/* conv_bytes.h - what the operator conv_bytes and its kernels share. */
#ifndef SPORE_CONV_BYTES_H
#define SPORE_CONV_BYTES_H

#include "ir/window.h"

/* Its inputs; all behind the weight may be missing. */
enum {
    SP_BYTES_X,
    SP_BYTES_WEIGHT,
    SP_BYTES_X_ZERO,
    SP_BYTES_W_ZERO,
    SP_BYTES_BIAS,
    SP_BYTES_SCALE,
    SP_BYTES_ZERO,
    SP_BYTES_INPUTS
};

/* Results of bytes: scaled sums are cut to [low, high], rounded, and the zero point is added. */
typedef struct sp__bytes_range {
    float low, high;
    int32_t zero;
} sp__bytes_range;

static inline sp__bytes_range sp__bytes_range_of(sp_dtype dtype, int32_t zero)
{
    const int32_t least = dtype == SP_DTYPE_U8 ? 0 : -128;
    return (sp__bytes_range){.low = (float)(least - zero), .high = (float)(least + 255 - zero), .zero = zero};
}

#endif
