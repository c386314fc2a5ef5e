/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c - layers as functions over a net: each asks for its weights, in the shapes that its input tells, and applies operators. Initial
 * values are those of Python's layers. */
#include <math.h>
#include <stdio.h>

#include "base/messages.h"
#include "base/plain.h"
#include "ir/graph_impl.h"
#include "train/weights.h"

enum { NAME_ROOM = 200 };

/* NAME.part, or NULL after a failure. */
static const char *part(sp_builder *b, const char *name, const char *what, char room[NAME_ROOM])
{
    const int n = name ? sp__snprintf(room, NAME_ROOM, "%s.%s", name, what) : -1;
    if (n > 0 && n < NAME_ROOM) return room;
    return sp__builder_fail(b,
                            sp__fail(SP_VALUE, "a layer must have a name, of at most %d characters", NAME_ROOM - 32));
}

static sp_tensor *weight(sp_builder *b, sp_nn *n, const char *name, const char *what, int rank, const int64_t *dims,
                         sp_fill fill, double value)
{
    char room[NAME_ROOM];
    const char *whole = part(b, name, what, room);
    return whole ? sp_nn_weight(b, n, whole, rank, dims, fill, value) : NULL;
}

/* Is there an input to go on with, of a known size along an axis? Fails in the layer's words. */
static bool measure(sp_builder *b, const char *name, const sp_tensor *x, int least, int most, int axis, int64_t *size)
{
    if (sp_builder_status(b) != SP_OK) return false;
    if (!x) return sp__builder_fail(b, sp__fail(SP_VALUE, "layer %s has no input", name ? name : "")), false;
    if (x->rank < least || x->rank > most) {
        char shape[SP_SHAPE_TEXT];
        const char *text = sp__shape_text(x->rank, x->dims, shape);
        if (least == most)
            sp__builder_fail(b, sp__fail(SP_VALUE, "layer %s: the input has shape %s, it must have %d dimensions", name,
                                         text, least));
        else
            sp__builder_fail(b,
                             sp__fail(SP_VALUE, "layer %s: the input has shape %s, it must have %d dimensions at least",
                                      name, text, least));
        return false;
    }
    *size = x->dims[axis < 0 ? x->rank + axis : axis];
    if (*size > 0) return true;
    return sp__builder_fail(b, sp__fail(SP_VALUE,
                                        "layer %s: its weights need the size of axis %d of the input, which is %lld",
                                        name, axis, (long long)*size)),
           false;
}

static bool positive(sp_builder *b, const char *name, const char *what, int64_t value)
{
    if (value > 0) return true;
    return sp__builder_fail(
               b, sp__fail(SP_VALUE, "layer %s: %s is %lld, it must be 1 or more", name, what, (long long)value)),
           false;
}

sp_tensor *sp_nn_dense(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x, int64_t width, bool bias)
{
    int64_t features;
    if (!measure(b, name, x, 1, SP_RANK_MAX, -1, &features) || !positive(b, name, "width", width)) return NULL;
    const double bound = 1 / sqrt((double)features);
    sp_tensor *w = weight(b, n, name, "weight", 2, (const int64_t[]){width, features}, SP_FILL_UNIFORM, bound);
    sp_tensor *add = bias ? weight(b, n, name, "bias", 1, &width, SP_FILL_UNIFORM, bound) : NULL;
    return sp_builder_status(b) == SP_OK ? sp_dense(b, x, w, add) : NULL;
}

sp_tensor *sp_nn_conv2d(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x, int64_t channels, int64_t height,
                        int64_t width, bool bias, const sp_conv2d_attrs *attrs)
{
    int64_t in;
    const int64_t groups = attrs ? attrs->group : 1;
    if (!measure(b, name, x, 4, 4, 1, &in) || !positive(b, name, "channels", channels) ||
        !positive(b, name, "height", height) || !positive(b, name, "width", width) ||
        !positive(b, name, "group", groups))
        return NULL;
    if (in % groups || channels % groups)
        return sp__builder_fail(b, sp__fail(SP_VALUE,
                                            "layer %s: %lld channels in and %lld out do not divide into %lld groups",
                                            name, (long long)in, (long long)channels, (long long)groups));
    const int64_t dims[4] = {channels, in / groups, height, width};
    const double bound = 1 / sqrt((double)dims[1] * (double)height * (double)width);
    sp_tensor *w = weight(b, n, name, "weight", 4, dims, SP_FILL_UNIFORM, bound);
    sp_tensor *add = bias ? weight(b, n, name, "bias", 1, &channels, SP_FILL_UNIFORM, bound) : NULL;
    return sp_builder_status(b) == SP_OK ? sp_conv2d(b, x, w, add, attrs) : NULL;
}

sp_tensor *sp_nn_batch_norm(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x)
{
    int64_t channels;
    char room[NAME_ROOM];
    if (!measure(b, name, x, 2, SP_RANK_MAX, 1, &channels)) return NULL;
    sp_tensor *gamma = weight(b, n, name, "gamma", 1, &channels, SP_FILL_CONSTANT, 1);
    sp_tensor *beta = weight(b, n, name, "beta", 1, &channels, SP_FILL_CONSTANT, 0), *mean = NULL, *variance = NULL,
              *out[3];
    if (part(b, name, "moving_mean", room)) mean = sp_nn_state(b, n, room, 1, &channels, 0);
    if (part(b, name, "moving_variance", room)) variance = sp_nn_state(b, n, room, 1, &channels, 1);
    if (sp_builder_status(b) != SP_OK) return NULL;
    sp_batch_norm_attrs attrs = sp_batch_norm_defaults();
    attrs.is_training = n->training;
    return sp_batch_norm(b, x, gamma, beta, mean, variance, &attrs, out);
}

sp_tensor *sp_nn_layer_norm(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x)
{
    int64_t features;
    if (!measure(b, name, x, 1, SP_RANK_MAX, -1, &features)) return NULL;
    sp_tensor *gamma = weight(b, n, name, "gamma", 1, &features, SP_FILL_CONSTANT, 1), *out[3];
    sp_tensor *beta = weight(b, n, name, "beta", 1, &features, SP_FILL_CONSTANT, 0);
    if (sp_builder_status(b) != SP_OK) return NULL;
    sp_layer_norm_attrs attrs = sp_layer_norm_defaults();
    attrs.begin_norm_axis = attrs.begin_params_axis = x->rank - 1;
    return sp_layer_norm(b, x, gamma, beta, &attrs, out);
}

sp_tensor *sp_nn_embedding(sp_builder *b, sp_nn *n, const char *name, sp_tensor *ids, int64_t count, int64_t width)
{
    if (sp_builder_status(b) != SP_OK || !positive(b, name, "count", count) || !positive(b, name, "width", width))
        return NULL;
    sp_tensor *table = weight(b, n, name, "embedding_table", 2, (const int64_t[]){count, width}, SP_FILL_NORMAL, 0.01);
    return sp_builder_status(b) == SP_OK ? sp_gather(b, table, ids, NULL) : NULL;
}

/* --- dropout ------------------------------------------------------------------------------------------------------- */

/* In a program the state of the random numbers is drawn each time it gets there. */
typedef struct {
    sp_generator *generator;
    int64_t count;
} drawing;

static sp_status draw(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in, (void)in, (void)n_out;
    const drawing *d = context;
    return sp_generator_next(d->generator, d->count, out);
}

static void release_drawing(void *context)
{
    sp_generator_release(((drawing *)context)->generator);
    sp__free(context);
}

static sp_status next_state(sp_nn *n, const sp_tensor *x, sp_tensor **out)
{
    if (!sp_function_recording()) return sp_generator_next(n->generator, x->count, out);
    const sp_spec spec = {.dtype = SP_DTYPE_I64, .rank = 1, .dims = {2}};
    drawing *d = sp__alloc(sizeof *d);
    if (!d) return SP_NOMEM;
    *d = (drawing){sp_generator_retain(n->generator), x->count};
    const sp_status status = sp_function_host("draw", draw, release_drawing, d, 0, NULL, 1, &spec, out);
    if (status != SP_OK) release_drawing(d);
    return status;
}

sp_tensor *sp_nn_dropout(sp_builder *b, sp_nn *n, sp_tensor *x, double p)
{
    if (sp_builder_status(b) != SP_OK || !x) return NULL;
    if (!n || !(p >= 0 && p < 1))
        return sp__builder_fail(b, sp__fail(SP_VALUE, "dropout: p is %g, it must be at least 0 and below 1", p));
    if (!n->training || p == 0) return x;
    sp_tensor *state = NULL, *out[2];
    const sp_status status = next_state(n, x, &state);
    if (status != SP_OK) return sp__builder_fail(b, status);
    sp_dropout_attrs attrs = sp_dropout_defaults();
    attrs.keep_prob = 1 - p;
    return sp_dropout(b, x, sp_builder_take_tensor(b, state), &attrs, out);
}

/* --- sequences ----------------------------------------------------------------------------------------------------- */

sp_tensor *sp_nn_recurrent(sp_builder *b, sp_nn *n, const char *name, const char *kind, sp_tensor *x, int64_t width)
{
    int64_t features;
    if (!measure(b, name, x, 3, 3, -1, &features) || !positive(b, name, "width", width)) return NULL;
    const bool lstm = kind && strcmp(kind, "lstm") == 0, gru = kind && strcmp(kind, "gru") == 0;
    const int64_t gates = (lstm ? 4 : gru ? 3 : 1) * width;
    const double bound = 1 / sqrt((double)width);
    sp_tensor *w_ih = weight(b, n, name, "weight_ih_l0", 2, (const int64_t[]){gates, features}, SP_FILL_UNIFORM, bound);
    sp_tensor *w_hh = weight(b, n, name, "weight_hh_l0", 2, (const int64_t[]){gates, width}, SP_FILL_UNIFORM, bound);
    sp_tensor *b_ih = weight(b, n, name, "bias_ih_l0", 1, &gates, SP_FILL_UNIFORM, bound);
    sp_tensor *b_hh = weight(b, n, name, "bias_hh_l0", 1, &gates, SP_FILL_UNIFORM, bound), *out[3];
    if (sp_builder_status(b) != SP_OK) return NULL;
    const int64_t state[2] = {x->dims[1], width};
    sp_tensor *h0 = sp_broadcast_to(b, sp_scalar(b, (sp_dtype)x->dtype, 0), 2, state);
    const sp_rnn_layer_attrs attrs = {.mode = kind ? kind : "", .reverse = false};
    return sp_rnn_layer(b, x, h0, lstm ? h0 : NULL, w_ih, w_hh, b_ih, b_hh, NULL, &attrs, out);
}

sp_tensor *sp_nn_attention(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x, int64_t heads, bool causal)
{
    static const char *const parts[3] = {"query", "key", "value"};
    int64_t features;
    char room[NAME_ROOM];
    if (!measure(b, name, x, 3, 3, -1, &features) || !positive(b, name, "heads", heads)) return NULL;
    if (features % heads)
        return sp__builder_fail(b, sp__fail(SP_VALUE, "layer %s: %lld features do not divide into %lld heads", name,
                                            (long long)features, (long long)heads));
    const int64_t batch = x->dims[0], time = x->dims[1], split[4] = {batch, time, heads, features / heads};
    sp_tensor *all[3];
    for (int i = 0; i < 3; i++) {
        if (!part(b, name, parts[i], room)) return NULL;
        all[i] = sp_reshape(b, sp_nn_dense(b, n, room, x, features, true), 4, split);
        all[i] = sp_transpose(b, all[i], 4, (const int64_t[]){0, 2, 1, 3});
    }
    sp_attention_attrs attrs = sp_attention_defaults();
    attrs.scale = 1 / sqrt((double)split[3]);
    attrs.causal = causal;
    sp_tensor *y = sp_attention(b, all[0], all[1], all[2], NULL, &attrs);
    y = sp_reshape(b, sp_transpose(b, y, 4, (const int64_t[]){0, 2, 1, 3}), 3,
                   (const int64_t[]){batch, time, features});
    return part(b, name, "out", room) ? sp_nn_dense(b, n, room, y, features, true) : NULL;
}
