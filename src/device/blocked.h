/* SPDX-License-Identifier: Apache-2.0 */
/* blocked.h - images whose channels lie in blocks of 16: [image][channels / 16][row][column][16], the last block filled up with zeros.
 *
 * A convolution reads and writes such images by whole vectors, whatever their width: a window of one element is a product whose left operand
 * needs no packing, one channel per group is a vector, normalisation and activation are done in registers. Compiled programs keep images in this form
 * between convolutions (graph/plan_layout.c). Sums are made in the same order as in plain images, so results are bit for bit the same.
 *
 * Images are of float32, or of bytes (conv_bytes); what fills up the last block of bytes is of no account, since its weights are zero. */
#ifndef SPORE_BLOCKED_H
#define SPORE_BLOCKED_H

#include "device/device.h"
#include "ir/window.h"

enum { SP_BLOCK = 16 };
static inline int64_t sp__blocks_of(int64_t channels) { return (channels + SP_BLOCK - 1) / SP_BLOCK; }

/* The last two, of v with a slope for each channel: v where 0 < v, else v * slope; and v * slope where v < 0, else v (they differ for NaN and -0). */
typedef enum {
    SP_BLOCKED_AS_IT_IS,
    SP_BLOCKED_RELU,
    SP_BLOCKED_RELU6,
    SP_BLOCKED_PRELU,
    SP_BLOCKED_PRELU_BELOW,
    SP_BLOCKED_ACTIVATIONS
} sp_blocked_activation;

/* Attributes of a call of a blocked kernel. Its inputs: x, weight, bias, scale, shift, residual, slope; the last five may be missing. The result is
 * activation((conv + bias) * scale + shift + residual); only blocked results have what follows the bias, and the residual lies as the result does. */
enum {
    SP_BLOCKED_X,
    SP_BLOCKED_WEIGHT,
    SP_BLOCKED_BIAS,
    SP_BLOCKED_SCALE,
    SP_BLOCKED_SHIFT,
    SP_BLOCKED_RESIDUAL,
    SP_BLOCKED_SLOPE,
    SP_BLOCKED_INPUTS
};
typedef struct sp_blocked {
    sp__conv_geometry g;
    bool in, out; /* is x blocked, is the result? */
    sp_blocked_activation activation;
} sp_blocked;

/* What an entry of the kernel list offers besides plain images. */
struct sp_blocked_kernel {
    bool (*takes)(const sp_call *c); /* the operator's own call; looks at geometry only */
    /* From here on calls as above. As in sp_kernel_entry; unless inputs are its own, it runs c->epilogue, by elements of the result as they lie. */
    bool (*writes_plain)(const sp_call *c); /* may the result be plain? */
    size_t (*workspace)(const sp_call *c);
    size_t (*prepared_bytes)(const sp_call *c);
    sp_status (*prepare)(const sp_call *c, void *to);
    sp_prepared_form (*prepared_form)(const sp_call *c);
    sp_status (*run)(const sp_call *c);
    bool own_inputs; /* calls have the operator's own inputs and nothing behind the convolution */
};

/* A plain image [batch, channels, positions] to a blocked one and back: in[0] to out[0], of float32 or bytes; c->attrs is an sp_reorder. */
typedef struct sp_reorder {
    int64_t batch, channels, positions;
    bool block; /* to blocks; else from them */
} sp_reorder;
sp_status sp__blocked_reorder(const sp_call *c);

/* The maximum over windows without dilation, as the operator max_pool2d has it: of in[0] to out[0], both in blocks; c->attrs is an sp__window. */
sp_status sp__blocked_max_pool(const sp_call *c);
/* The mean over windows without dilation, as avg_pool2d has it: c->attrs is an sp_blocked_means. */
typedef struct sp_blocked_means {
    sp__window w;
    bool include_pad;
    int64_t divisor; /* 0: the number of elements */
} sp_blocked_means;
sp_status sp__blocked_mean_pool(const sp_call *c);

/* Of a blocked image in[0]; c->attrs is an sp_reorder (`block` is of no account). The mean of each channel, plain, with the bits that reduce_mean gives for
 * a plain image of 2 to SP_BLOCKED_MEAN positions; and each channel times its number in in[1], plain, [batch][channels]. Of float32. */
enum { SP_BLOCKED_MEAN = 65536 };
size_t sp__blocked_mean_work(const sp_reorder *r);
sp_status sp__blocked_mean(const sp_call *c);
sp_status sp__blocked_scale(const sp_call *c);

#endif
