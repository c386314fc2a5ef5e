/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.c - cross-layer equalisation: channels between two layers get like ranges on both sides.
 *
 * Where one layer alone feeds the next, through nothing but a ReLU or what keeps proportions, channel c of what flows can be divided by s and the
 * next layer's weights for it multiplied by s: the network stays the same. s = sqrt(r1 * r2) / r2 makes the ranges of both layers' weights
 * for the channel equal. One scale for a whole tensor then serves all channels well. */
#include <math.h>
#include <string.h>

#include "quant/quant.h"

enum { ROUNDS = 20 };

/* How the weights of a layer lie by channel: element i belongs to channel i / inner % n. */
typedef struct {
    int64_t n, inner;
} by_channel;

static by_channel channels(const sp_tensor *w, int axis)
{
    by_channel c = {w->dims[axis], 1};
    for (int k = axis + 1; k < w->rank; k++) c.inner *= w->dims[k];
    return c;
}

static bool is_depthwise(const sp_quant_layer *l) { return l->kind == SP_QUANT_CONV && l->w->dims[1] == 1; }

/* The axis of a layer's weight that what it takes is summed over; of depthwise ones the channel itself. */
static int in_axis(const sp_quant_layer *l)
{
    if (l->kind == SP_QUANT_CONV) return is_depthwise(l) ? 0 : 1;
    return 1 - l->channel_axis;
}

/* The layer that alone takes what l gives; NULL: there is none, or something stands between. */
static sp_quant_layer *next_of(sp_quant_plan *p, const sp_quant_recording *r, const sp_quant_layer *l)
{
    sp_quant_layer *found = NULL;
    const int n = sp__function_uses(r->f, r->values[l->out]);
    for (int i = 0; i < p->n_layers && n == 1; i++)
        if (p->layers[i].x == l->out) found = &p->layers[i];
    if (!found || found->kind != l->kind || (l->act_node >= 0 && (l->act_low != 0 || l->act_high != INFINITY)))
        return NULL; /* ReLU6 has an end that does not move along */
    return found->w->dims[in_axis(found)] == l->w->dims[l->channel_axis] ? found : NULL;
}

static void greatest(const sp_tensor *w, int axis, double *out)
{
    const by_channel c = channels(w, axis);
    const float *x = (const float *)(const void *)w->data;
    memset(out, 0, (size_t)c.n * sizeof *out);
    for (int64_t i = 0; i < w->count; i++) out[i / c.inner % c.n] = fmax(out[i / c.inner % c.n], fabs((double)x[i]));
}

static void multiply(sp_tensor *w, int axis, const double *s, bool divide)
{
    const by_channel c = channels(w, axis);
    float *x = (float *)(void *)w->data;
    for (int64_t i = 0; i < w->count; i++) {
        const double by = s[i / c.inner % c.n];
        x[i] = (float)(divide ? (double)x[i] / by : (double)x[i] * by);
    }
}

static sp_status own_weights(sp_quant_layer *l)
{
    sp_tensor *copy;
    if (l->changed) return SP_OK;
    SP_TRY(sp_tensor_copy(l->w, &copy));
    sp_tensor_release(l->w);
    l->w = copy;
    if (l->b) {
        SP_TRY(sp_tensor_copy(l->b, &copy));
        sp_tensor_release(l->b);
        l->b = copy;
    }
    l->changed = true;
    return SP_OK;
}

/* How far from equal the two were, as the largest factor. */
static sp_status equalize_pair(sp_quant_layer *a, sp_quant_layer *b, double *off)
{
    const int64_t n = a->w->dims[a->channel_axis];
    double *s = sp__alloc(2 * (size_t)n * sizeof *s);
    if (!s) return SP_NOMEM;
    sp_status status = own_weights(a);
    if (status == SP_OK) status = own_weights(b);
    if (status == SP_OK) {
        greatest(a->w, a->channel_axis, s);
        greatest(b->w, in_axis(b), s + n);
        for (int64_t i = 0; i < n; i++) {
            s[i] = s[i] > 0 && s[n + i] > 0 ? sqrt(s[i] * s[n + i]) / s[n + i] : 1;
            *off = fmax(*off, fmax(s[i], 1 / s[i]));
        }
        multiply(a->w, a->channel_axis, s, true);
        multiply(b->w, in_axis(b), s, false);
        for (int64_t i = 0; a->b && i < n; i++)
            ((float *)(void *)a->b->data)[i] = (float)((double)((float *)(void *)a->b->data)[i] / s[i]);
    }
    sp__free(s);
    return status;
}

sp_status sp__quant_equalize(sp_quantized *q, const sp_quant_recording *r)
{
    sp_quant_plan *p = q->plan;
    double off = 2;
    for (int round = 0; round < ROUNDS && off > 1.01; round++) {
        off = 1;
        for (int i = 0; i < p->n_layers; i++) {
            sp_quant_layer *l = &p->layers[i], *next = next_of(p, r, l);
            if (next) SP_TRY(equalize_pair(l, next, &off));
        }
    }
    return SP_OK;
}
