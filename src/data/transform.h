/* SPDX-License-Identifier: Apache-2.0 */
/* transform.h - what a transform is: the sp_transform_op entry, and what kernels use.
 *
 * An entry names its arguments as data (name, how many numbers, range, default), so parsing, checking and listing are
 * written once. `run` gets the arguments as numbers and makes output columns. A random transform is written in two
 * steps: a function that draws parameters from the stream, and a kernel that does not know about chance; the kernel is
 * the same that the deterministic transform of that name uses.
 *
 * Kernels work on sp_image: a view of a tensor whose pixels are dense and whose rows may be apart, so that a crop costs
 * nothing. What leaves sp_transform_run is made dense. */
#ifndef SPORE_DATA_TRANSFORM_H
#define SPORE_DATA_TRANSFORM_H

#include <math.h>

#include "spore/transform.h"
#include "tensor/tensor_impl.h"

/* --- images ------------------------------------------------------------------------------------------------------ */

typedef struct sp_image {
    uint8_t *data;
    sp_dtype dtype;
    int rank; /* 2: no dimension of channels */
    int h, w, c;
    int64_t stride;   /* bytes from row to row */
    int pixel_bytes;  /* c * bytes of an element */
    sp_tensor *owner; /* borrowed, or owned after sp__image_create */
} sp_image;

static inline void *sp__image_row(const sp_image *m, int y) { return m->data + (int64_t)y * m->stride; }

enum { SP_IMAGE_SIDE_MAX = 1 << 24 };

/* View of a tensor of rank 2 or 3; `copy` receives a dense copy to be released if one had to be made, else NULL. who:
 * name for messages. */
sp_status sp__image_view(const char *who, sp_tensor *t, sp_image *out, sp_tensor **copy);
/* New image; out->owner is the caller's. */
sp_status sp__image_create(sp_dtype dtype, int rank, int h, int w, int c, sp_image *out);
/* The same in a tensor that is there already, if it has the shape and type. NULL: a new one. */
sp_status sp__image_create_into(sp_tensor *into, sp_dtype dtype, int rank, int h, int w, int c, sp_image *out);
/* A view of a rectangle as a tensor that shares memory. */
sp_status sp__image_crop(const sp_image *m, int y, int x, int h, int w, sp_tensor **out);
sp_status sp__image_copy(const sp_image *m, sp_image *out);      /* dense copy */
sp_status sp__need_numbers(const char *who, const sp_image *in); /* of uint8 or float32 */
void sp__cubic_weights(float x, float *w); /* of four neighbours, x behind the second one; a = -0.75 */

/* --- random draws ------------------------------------------------------------------------------------------------ */

uint32_t sp__draw_bits(sp_stream *s);
double sp__draw_unit(sp_stream *s); /* [0, 1) */
double sp__draw_uniform(sp_stream *s, double lo, double hi);
int64_t sp__draw_below(sp_stream *s, int64_t n); /* 0 .. n-1; 0 if n < 1 */
double sp__draw_normal(sp_stream *s);
double sp__draw_beta(sp_stream *s, double alpha);     /* Beta(alpha, alpha) */
void sp__draw_order(sp_stream *s, int n, int *order); /* a permutation of 0 .. n-1 */

/* --- entries ----------------------------------------------------------------------------------------------------- */

enum { SP_TRANSFORM_ATTRS = 8, SP_ATTR_DEFAULTS = 4 };

typedef struct sp_transform_attr {
    const char *name; /* NULL ends the list */
    int n_min, n_max; /* how many numbers; n_max 0: any number */
    double lo, hi;    /* both 0: any finite number */
    int n_default;    /* -1: must be given */
    double preset[SP_ATTR_DEFAULTS];
} sp_transform_attr;
#define SP_NEED (-1)

typedef struct sp_transform_call sp_transform_call;

typedef struct sp_transform_op {
    const char *name;
    bool random;
    bool compound; /* takes children */
    /* Takes and makes all columns; else run is called for each column alone, from the same place of the stream. */
    bool whole_row;
    bool batched; /* takes images of more dimensions: those before the last three count images, all treated alike */
    sp_transform_attr attrs[SP_TRANSFORM_ATTRS];
    sp_status (*check)(const sp_transform *t); /* optional: rules between arguments */
    sp_status (*run)(sp_transform_call *c);
} sp_transform_op;

struct sp_transform {
    atomic_int refs;
    bool random;
    const sp_transform_op *op;
    struct {
        int n;
        double *v;
    } attr[SP_TRANSFORM_ATTRS];
    int n_children;
    sp_transform **children;
};

struct sp_transform_call {
    const sp_transform *t;
    sp_tensor *into;   /* if not NULL: the result may be written here, if its shape and type are these */
    sp_stream *stream; /* never NULL */
    int n_in;
    sp_tensor *const *in;
    int n_out, max_out;
    sp_tensor **out;
};

/* Numbers of an argument by its place in the entry. */
static inline double sp__arg(const sp_transform_call *c, int attr, int i) { return c->t->attr[attr].v[i]; }
static inline int sp__arg_n(const sp_transform_call *c, int attr) { return c->t->attr[attr].n; }
static inline int sp__arg_int(const sp_transform_call *c, int attr, int i) { return (int)c->t->attr[attr].v[i]; }
/* The i-th of several, or the only one. */
static inline double sp__arg_or_first(const sp_transform_call *c, int attr, int i)
{
    return c->t->attr[attr].v[i < c->t->attr[attr].n ? i : 0];
}

/* sp_transform_run_all, and if there is one result it may be written to `into`, which is given out then; NULL: no such place. */
sp_status sp__transform_run_into(int n, sp_transform *const *list, sp_stream *stream, int n_in, sp_tensor *const *in,
                                 sp_tensor *into, int max_out, sp_tensor **out, int *n_out);

/* Hand over a result; takes the reference also when there is no room. */
sp_status sp__give(sp_transform_call *c, sp_tensor *result);

/* One image in, one out: the common shape of `run`. kernel fills *out (owner set). */
typedef sp_status (*sp_image_kernel)(sp_transform_call *c, const sp_image *in, sp_image *out);
sp_status sp__run_image(sp_transform_call *c, sp_image_kernel kernel);

#define SP_TRANSFORM(name) extern const sp_transform_op sp_transform_##name;
#include "data/transforms.def"
#undef SP_TRANSFORM

/* --- kernels shared between entries ------------------------------------------------------------------------------- */

typedef struct sp_rect {
    int y, x, h, w;
} sp_rect;

/* resample.c */
/* What is left of the resized image by a crop, without the rest. SP_DECLINED, without a message: not by this way. */
sp_status sp__image_resize_part(const sp_image *in, int h, int w, const sp_rect *part, sp_inter mode, sp_image *out);
sp_status sp__image_resize(const sp_image *in, int h, int w, sp_inter mode, sp_image *out);
/* sizing.c: Resize and CenterCrop in one; SP_DECLINED as above. */
sp_status sp__image_resize_crop(const sp_transform *resize, const sp_transform *crop, const sp_image *in,
                                sp_image *out);
/* The longer side, when the shorter one of a ratio becomes `to`. */
static inline int sp__follow(int side, int shorter, int to) { return (int)((float)side / (float)shorter * (float)to); }
/* warp.c: dst(x, y) = src(m * (x, y)); m maps source to destination and is inverted inside. fill: one per channel. */
sp_status sp__image_warp_affine(const sp_image *in, const double m[6], int h, int w, sp_inter mode,
                                const double fill[4], sp_image *out);
sp_status sp__image_rotate(const sp_image *in, double degrees, sp_inter mode, bool expand, const double *center,
                           const double fill[4], sp_image *out);
sp_status sp__image_affine(const sp_image *in, double degrees, const double translate[2], double scale,
                           const double shear[2], sp_inter mode, const double fill[4], sp_image *out);
/* color.c, tone.c, filter.c: same size and dtype */
sp_status sp__image_brightness(const sp_image *in, double factor, sp_image *out);
sp_status sp__image_contrast(const sp_image *in, double factor, sp_image *out);
sp_status sp__image_saturation(const sp_image *in, double factor, sp_image *out);
sp_status sp__image_hue(const sp_image *in, double factor, sp_image *out);
sp_status sp__image_sharpness(const sp_image *in, double factor, sp_image *out);
sp_status sp__image_equalize(const sp_image *in, sp_image *out);
sp_status sp__image_auto_contrast(const sp_image *in, double cutoff, int n_ignore, const double *ignore, sp_image *out);
sp_status sp__image_invert(const sp_image *in, sp_image *out);
sp_status sp__image_posterize(const sp_image *in, int bits, sp_image *out);
sp_status sp__image_solarize(const sp_image *in, double lo, double hi, sp_image *out);
/* geometry.c */
sp_status sp__image_pad(const sp_image *in, int top, int bottom, int left, int right, sp_border mode,
                        const double fill[4], sp_image *out);
sp_status sp__image_flip(const sp_image *in, bool horizontal, sp_image *out);
/* normalize.c: mean and std for each channel; chw: channels first in the result, fused. into: as of a call */
sp_status sp__image_normalize(const sp_transform *t, const sp_image *in, bool chw, sp_tensor *into, sp_image *out);

/* Parameters drawn for RandomResizedCrop and its kin. */
sp_rect sp__draw_resized_crop(sp_stream *s, int h, int w, const double scale[2], const double ratio[2], int attempts);

/* fill colours from an argument of 1 or 3 numbers */
static inline void sp__fill_of(const sp_transform_call *c, int attr, double fill[4])
{
    for (int i = 0; i < 3; i++) fill[i] = sp__arg_or_first(c, attr, i);
    fill[3] = 0; /* there is no way to name a fourth */
}

/* --- rounding ----------------------------------------------------------------------------------------------------- */

static inline uint8_t sp__u8_from_int(int v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v); }
/* To the nearest, ties to even, clamped. */
static inline uint8_t sp__u8_from_float(float v)
{
    v = v < 0 ? 0 : v > 255 ? 255 : v;
    return (uint8_t)(v + 12582912.0f - 12582912.0f); /* 1.5 * 2^23: the sum has no fraction left */
}

#endif
