/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_lower_bytes.c - convolutions of bytes, which MindSpore does not have, as convolutions of float32.
 *
 * Sums of whole numbers up to 2^24 are exact in float32. Where the weights could make larger ones, channels are cut into parts, whose sums are added in
 * int32. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"
#include "ir/conv_bytes.h"
#include "ops/ops_impl.h"
#include "spore/ops_attrs.h"

#define EXACT 16777216.0 /* 2^24 */
#define LARGEST 255      /* of the difference of two bytes */

static sp_tensor *centred(sp_builder *b, sp_tensor *x, sp_tensor *zero, int rank)
{
    sp_tensor *wide = sp_cast(b, x, SP_DTYPE_F32);
    if (!zero) return wide;
    int64_t dims[SP_RANK_MAX] = {-1, 1, 1, 1, 1};
    return sp_sub(b, wide, sp_reshape(b, sp_cast(b, zero, SP_DTYPE_F32), sp_tensor_count(zero) > 1 ? rank : 0, dims));
}

/* The greatest sum of magnitudes of a filter's weights over `size` channels, cut as sums_of cuts them. */
static double greatest_sum(const sp_tensor *w, int64_t size)
{
    const int64_t filters = sp_tensor_dims(w)[0], channels = sp_tensor_dims(w)[1], n = sp_tensor_count(w) / filters,
                  taps = n / channels;
    double most = 0;
    if (sp_tensor_is_symbol(w) || !sp_tensor_is_contiguous(w)) return LARGEST * (double)(size * taps);
    const float *at = sp_tensor_data((sp_tensor *)w);
    for (int64_t f = 0; f < filters; f++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            if (i % (size * taps) == 0) sum = 0;
            sum += fabs((double)at[f * n + i]);
            most = sum > most ? sum : most;
        }
    }
    return most;
}

/* In how many parts of the channels sums are exact, whatever x is. */
static int64_t parts_of(const sp_tensor *w)
{
    const int64_t channels = sp_tensor_dims(w)[1];
    int64_t parts = 1;
    while (parts < channels && greatest_sum(w, (channels + parts - 1) / parts) * LARGEST > EXACT) parts++;
    return parts;
}

/* The sums of one group, in int32. */
static sp_tensor *sums_of(sp_builder *b, const char *op, const char *attrs, sp_tensor *x, sp_tensor *w, int64_t parts)
{
    sp_tensor *sum = NULL;
    if (!x || !w) return NULL;
    const int64_t channels = sp_tensor_dims(w)[1], size = (channels + parts - 1) / parts;
    for (int64_t from = 0; from < channels; from += size) {
        const int64_t n = from + size < channels ? size : channels - from;
        sp_tensor *in[3] = {parts > 1 ? sp__take_range(b, x, 1, from, n) : x,
                            parts > 1 ? sp__take_range(b, w, 1, from, n) : w, NULL};
        sp_tensor *part = sp_cast(b, sp_builder_call(b, op, attrs, 3, in), SP_DTYPE_I32);
        sum = sum ? sp_add(b, sum, part) : part;
    }
    return sum;
}

/* Numbers by channel, as they meet a tensor of this rank. */
static sp_tensor *by_channel(sp_builder *b, sp_tensor *t, int rank)
{
    int64_t dims[SP_RANK_MAX] = {1, -1, 1, 1, 1};
    return sp_reshape(b, t, sp_tensor_count(t) > 1 ? rank : 0, dims);
}

sp_status sp__mindir_out_spell_conv_bytes(const sp_node *n, sp_builder *b, sp_tensor *const *in, sp_tensor **out)
{
    const sp_conv_attrs *a = n->attrs ? n->attrs : n->op->defaults;
    const int rank = sp_tensor_rank(in[SP_BYTES_X]);
    sp__text text = {0};
    char op[16];
    sp_tensor *x = centred(b, in[SP_BYTES_X], in[SP_BYTES_X_ZERO], rank),
              *w = centred(b, in[SP_BYTES_WEIGHT], in[SP_BYTES_W_ZERO], rank), *sum;
    SP_TRY(sp__builder_status(b));
    const int64_t parts = parts_of(w), group = parts > 1 ? a->group : 1, ic_g = sp_tensor_dims(w)[1],
                  oc_g = sp_tensor_dims(w)[0] / group;
    sp_conv_attrs one = *a;
    if (parts > 1) one.group = 1;
    sp_tensor *groups[64];
    SP_CHECK(group <= 64, SP_DECLINED, "%lld groups of channels whose sums are beyond float32", (long long)group);
    snprintf(op, sizeof op, "conv%dd", rank - 2);
    const sp_op *conv = sp_op_find(op);
    SP_CHECK(conv, SP_DECLINED, "operator %s is not in this build: SPORE_OPERATORS (cmake) does not name it", op);
    sp__attrs_print(&text, conv, &one);
    const char *attrs = text.data ? text.data : "";
    for (int64_t g = 0; g < group; g++)
        groups[g] = sums_of(b, op, attrs, group > 1 ? sp__take_range(b, x, 1, g * ic_g, ic_g) : x,
                            group > 1 ? sp__take_range(b, w, 0, g * oc_g, oc_g) : w, parts);
    sum = group > 1 ? sp__concat(b, 1, (int)group, groups) : groups[0];
    sp__free(text.data);
    if (in[SP_BYTES_BIAS]) sum = sp_add(b, sum, by_channel(b, in[SP_BYTES_BIAS], rank));
    out[0] = sum;
    if (!in[SP_BYTES_SCALE]) return sp__builder_status(b);
    /* Cut first: then adding 1.5 * 2^23 and taking it away rounds, halves to even. */
    const sp_dtype dtype = n->out[0]->meta.dtype;
    const sp__bytes_range range = sp__bytes_range_of(dtype, 0);
    sp_tensor *q = sp_mul(b, sp_cast(b, sum, SP_DTYPE_F32), by_channel(b, in[SP_BYTES_SCALE], rank));
    SP_TRY(sp__builder_status(b));
    sp_tensor *low = sp__const(b, range.low, q), *high = sp__const(b, range.high, q),
              *large = sp__const(b, 12582912, q), *back = large;
    if (in[SP_BYTES_ZERO]) {
        sp_tensor *zero = sp_reshape(b, sp_cast(b, in[SP_BYTES_ZERO], SP_DTYPE_F32), 0, NULL);
        low = sp_sub(b, low, zero);
        high = sp_sub(b, high, zero);
        back = sp_sub(b, large, zero);
    }
    q = sp_minimum(b, sp_maximum(b, q, low), high);
    out[0] = sp_cast(b, sp_sub(b, sp_add(b, q, large), back), dtype);
    return sp__builder_status(b);
}
