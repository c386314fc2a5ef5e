/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - sliding windows over one to three spatial dimensions: index arithmetic of convolution and pooling, shared by
 * the operators and the kernels of devices. Three dimensions always: fewer are filled up in front with size one. */
#ifndef SPORE_WINDOW_H
#define SPORE_WINDOW_H

#include "ir/op_impl.h"
#include "spore/ops_attrs.h"

#define SP_SPATIAL 3

typedef struct sp__window {
    int n; /* spatial dimensions the caller has */
    int64_t in[SP_SPATIAL], out[SP_SPATIAL], kernel[SP_SPATIAL], stride[SP_SPATIAL], dilation[SP_SPATIAL];
    int64_t pad[SP_SPATIAL], pad_end[SP_SPATIAL]; /* before and after */
} sp__window;

/* Everything 1, no padding. */
void sp__window_init(sp__window *w, int n);
/* One value for all dimensions, one per dimension, or (1, 1, then one per dimension), each at least 1, into the last n. */
sp_status sp__window_list(const char *op, const char *what, sp_ints list, int n, int64_t *out);
/* Padding from mode and list (one value; one per dimension; before and after per dimension). 'same' makes
 * out = ceil(in / stride), with the odd element behind; 'valid' pads nothing; 'pad' takes the list. Needs in, kernel,
 * stride and dilation. */
sp_status sp__window_pads(const char *op, const char *mode, sp_ints pad, sp__window *w);
/* out from the rest. */
sp_status sp__window_outputs(const char *op, bool ceil_mode, sp__window *w);

/* Positions [*begin, *end) of the output along dimension d whose input index at kernel position k lies inside. */
static inline void sp__window_range(const sp__window *w, int d, int64_t k, int64_t *begin, int64_t *end)
{
    int64_t shift = k * w->dilation[d] - w->pad[d], s = w->stride[d];
    int64_t first = shift < 0 ? (-shift + s - 1) / s : 0;
    int64_t last = w->in[d] - 1 - shift; /* o * s <= last */
    int64_t stop = last < 0 ? 0 : last / s + 1;
    if (stop > w->out[d]) stop = w->out[d];
    *begin = first < stop ? first : stop;
    *end = stop;
}

/* --- convolution ------------------------------------------------------------------------------------------------- */

typedef struct sp__conv_geometry {
    sp__window w;
    int64_t batch, in_channels, out_channels, group;
} sp__conv_geometry;

/* The same numbers from what each of the three operators has. */
sp_status sp__conv_measure(const char *op, const sp_tensor *x, const sp_tensor *weight, const sp_conv_attrs *attrs,
                           sp__conv_geometry *out);
sp_status sp__conv_measure_input(const char *op, const sp_tensor *dout, const sp_tensor *weight,
                                 const sp_conv_attrs *attrs, sp__conv_geometry *out);
sp_status sp__conv_measure_weight(const char *op, const sp_tensor *x, const sp_tensor *dout, const sp_conv_attrs *attrs,
                                  sp__conv_geometry *out);

static inline int64_t sp__window_inputs(const sp__window *w) { return w->in[0] * w->in[1] * w->in[2]; }
static inline int64_t sp__window_positions(const sp__window *w) { return w->out[0] * w->out[1] * w->out[2]; }
static inline int64_t sp__window_taps(const sp__window *w) { return w->kernel[0] * w->kernel[1] * w->kernel[2]; }

#endif
