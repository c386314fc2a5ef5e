/* SPDX-License-Identifier: Apache-2.0 */
/* winograd.h - 3x3 convolutions with unit stride by Winograd's F(2x2, 3x3): four outputs of a channel for 16 multiplications
 * instead of 36, and the same for both gradients.
 *
 * The output is cut into tiles of 2 x 2; a tile sees a patch of 4 x 4 of the input. With the transforms
 *
 *            1  0 -1  0            1   0   0
 *     B' =   0  1  1  0      G =  1/2 1/2 1/2      A' =  1  1  1  0
 *            0 -1  1  0           1/2-1/2 1/2            0  1 -1 -1
 *            0  1  0 -1            0   0   1
 *
 *     forward      tile  = A' [ sum over in channels of (G g G') . (B' d B) ] A
 *     by input     the same for the output's gradient and mirrored weights
 *     by weight    taps  = G' [ sum over tiles of (B' d B) . (A y A') ] G
 *
 * where . multiplies element by element: a sum is 16 matrix products, one for each of the 16 points of a tile.
 *
 * Error. The transforms add without multiplying (but for exact halves), at most 4 + 4 + 4 roundings. What they can enlarge: |A'| |G| |B'| is at
 * most 8 in one direction where the sum itself has 3, so 64 for 9 in both. With X and W the largest magnitudes of the patch and of the weights
 * and c channels, the error is at most (c + 12) u * 64 c X W, where a chain of 9 c FMA has 9 c u * 9 c X W: no more from 46 channels on, less than 1.5 times
 * from 17 on; measured, both are alike (tests/device/test_winograd.c). By weight it is (b + n/b + 12) u * 9 n X Y for n positions, added up in blocks of b / 4 tiles,
 * against n u * n X Y. It holds for the patch as a whole: an output that is small beside its neighbours has their absolute error.
 *
 * Infinities and NaN would spread over a tile, and very large numbers might overflow: what is not below 2^56 is looked for first, and the
 * convolution then computed without this. */
#ifndef SPORE_CPU_WINOGRAD_H
#define SPORE_CPU_WINOGRAD_H

#include "base/base.h"

enum { SP_WIN_TILES = 32, SP_WIN_POINTS = 16 }; /* of a panel, at most; of a tile */

/* Neighbouring tiles of one row of an image; x and y are the place of the first in the output. */
typedef struct sp__winograd_run {
    int64_t image, y, x, n;
    int64_t at; /* number of the first in the panel */
} sp__winograd_run;

typedef struct sp__winograd_panel {
    int n_runs;
    int64_t n; /* tiles */
    sp__winograd_run runs[SP_WIN_TILES];
} sp__winograd_panel;

/* A channel of all images, from the element that is given with it. */
typedef struct sp__winograd_picture {
    int64_t size[2], pad[2];
    int64_t image_step;
    int64_t begin, end; /* elements that may be read lie here */
} sp__winograd_picture;

struct sp__conv_job;
/* Whether this convolution (its plan made, job->mirrored set) is computed this way. Depends on shapes alone. */
bool sp__winograd_takes(const struct sp__conv_job *job);
/* Its time, in parts of the direct way's, as measured and counted. */
double sp__winograd_share(const struct sp__conv_job *job);
/* Weights that are constant, transformed once. */
size_t sp__winograd_prepared_bytes(const struct sp__conv_job *job);
sp_status sp__winograd_prepare(struct sp__conv_job *job, void *to);
size_t sp__winograd_work(const struct sp__conv_job *job);
/* SP_DECLINED: numbers out of range, nothing was written. */
sp_status sp__winograd_forward(struct sp__conv_job *job, char *work);

bool sp__winograd_takes_weight(const struct sp__conv_job *job);
size_t sp__winograd_weight_work(const struct sp__conv_job *job);
sp_status sp__winograd_weight(struct sp__conv_job *job, char *work);

#endif
