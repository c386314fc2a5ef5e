/* SPDX-License-Identifier: Apache-2.0 */
/* win_blocks.h - convolution by winograd.h with vectors across channels, forward and, in part, by weight, for float32 where a vector register pair holds whole blocks of 16
 * channels (AVX2, AVX-512). Images are in blocks (device/blocked.h) or plain: a plain one is turned piece by piece on the way, in cache. */
#ifndef SPORE_CPU_WIN_BLOCKS_H
#define SPORE_CPU_WIN_BLOCKS_H

#include "device/cpu/blocks.h"
#include "device/cpu/conv_job.h"

/* Whether this way is there for the convolution, which sp__winograd_takes. The plan of conv is made. */
bool sp__winograd_blocks_takes(const sp__conv_job *conv);
/* Transformed weights, conv->weight being [out, in, 3, 3], or mirrored; 64-byte aligned. */
size_t sp__winograd_blocks_weights_bytes(const sp__conv_job *conv);
sp_status sp__winograd_blocks_weights(const sp__conv_job *conv, void *to);

typedef struct sp__winograd_blocks {
    const sp__conv_job *conv;
    const float *x, *weights; /* transformed */
    bool in, out;             /* is x in blocks, is the result? */
    sp__block_tail tail;      /* of a plain result: the bias only */
    const float *residual;    /* of a blocked result; lies as it does */
    float *result;
    const sp_epilogue *epilogue; /* of a plain result */
} sp__winograd_blocks;
size_t sp__winograd_blocks_work(const sp__conv_job *conv);
/* For the gradient by weight: tiles [t0, t1) of all images of the convolution, n <= 16 channels from `channel` on of plain x (B' d B) or dout (A y A').
 * Points are `step` floats apart, tiles `tile_step`, channels lie side by side, zeros for those of 16 that are not asked for. */
void sp__winograd_blocks_input(const sp__conv_job *conv, int64_t t0, int64_t t1, int64_t channel, int64_t n,
                               float *points, int64_t step, int64_t tile_step);
void sp__winograd_blocks_dout(const sp__conv_job *conv, int64_t t0, int64_t t1, int64_t channel, int64_t n,
                              float *points, int64_t step, int64_t tile_step);
/* SP_DECLINED: numbers of x out of range, nothing was written. */
sp_status sp__winograd_blocks_forward(const sp__winograd_blocks *b, void *work);

#endif
