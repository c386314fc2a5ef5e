/* SPDX-License-Identifier: Apache-2.0 */
/* quant.h - how a network becomes one that computes with small integers. Read this one. The public face is spore/quantize.h.
 *
 *     recording --prepare--> weights in plain sight --plan--> layers, values that live as bytes, groups of values with one scale
 *     data --observe--> ranges of groups --settle--> scales, rounded weights --apply--> a recording with quantize_linear and dequantize_linear in it
 *
 * A model is recorded anew for everything that is done with it (sp__model_record): recordings are cheap, and are edited in place. What is
 * known about the network is kept in the plan, by places, which are the same in all recordings of a model: nodes are numbered in their
 * order, values too (parameters first). So one plan serves recordings of other sizes, too.
 *
 * Invariants:
 *  1. A value lives as bytes or does not; all users that compute with integers take the same bytes. What a quantised layer made, everybody takes as bytes.
 *  2. Values of one group have one scale and zero point: what only moves elements (reshape, transpose, concat, max_pool) joins groups.
 *  3. Results of calibration do not depend on the order of values inside a sample, nor on threads: sums are made in one order, bins are powers of two wide.
 *  4. Weights of layers are in the plan as float32 (equalised and corrected), so whatever is done with a layer begins with those. */
#ifndef SPORE_QUANT_H
#define SPORE_QUANT_H

#include "formats/model_impl.h"
#include "ir/graph_impl.h"
#include "spore/quantize.h"

/* --- observers: what a value's numbers were like, in one pass ---------------------------------------------------- */

enum { SP_QUANT_BINS = 4096 };        /* on each side of zero */
enum { SP_QUANT_EFFECT_SAMPLES = 8 }; /* unless the caller says otherwise */

typedef struct sp_quant_observer {
    int64_t n, n_zero, n_samples;
    float low, high;                    /* of all; both 0 at first */
    double average_low, average_high;   /* moving averages of the samples' ends */
    double quantile_low, quantile_high; /* sums of the samples' 0.01 % and 99.99 % quantiles */
    int exponent;                       /* bins reach from -2^exponent to 2^exponent */
    uint64_t *bins;                     /* 2 * SP_QUANT_BINS, NULL: nothing was seen */
} sp_quant_observer;

/* A tensor of one sample. Fails at NaN and infinity. */
sp_status sp__quant_observe(sp_quant_observer *o, const float *x, int64_t n, bool quantiles);
void sp__quant_observer_free(sp_quant_observer *o);
/* What both saw: of samples that had several tensors of one scale. */
sp_status sp__quant_observer_join(sp_quant_observer *o, const sp_quant_observer *other);

typedef struct sp_quant_range {
    float low, high; /* low <= 0 <= high */
} sp_quant_range;

/* By a method of sp_quant_options. bits: of the integers, symmetric: around zero; both matter to those that search. */
sp_status sp__quant_range(const sp_quant_observer *o, const char *method, double percentile, int bits, bool symmetric,
                          sp_quant_range *out);
bool sp__quant_method_known(const char *method);

/* --- scales ------------------------------------------------------------------------------------------------------ */

typedef struct sp_quant_scale {
    float scale;
    int32_t zero, least, most; /* the integers are in [least, most] */
} sp_quant_scale;

sp_quant_scale sp__quant_scale_of(sp_quant_range r, int bits, bool symmetric);
/* The relative error of rounding what an observer saw: root of the mean square, by that of the values. */
double sp__quant_error(const sp_quant_observer *o, const sp_quant_scale *s);

/* A weight as integers. axis: of the channels of the result; -1: one scale. */
typedef struct sp_quant_weight {
    sp_tensor *q;     /* int8 */
    sp_tensor *scale; /* float32: rank 0, or by channel, or in blocks */
    sp_tensor *zero;  /* int8, like the scale; all 0 */
    int axis, block, bits;
    double error; /* relative, root of the mean square */
} sp_quant_weight;

/* least[c] (may be NULL): scales are not smaller than these. Scales follow from w; what is rounded to them is `values`, or w (NULL). */
sp_status sp__quant_weight_make(sp_tensor *w, const sp_tensor *values, int axis, int bits, const float *least,
                                sp_quant_weight *out);
/* One scale for each block of so many elements along an axis. */
sp_status sp__quant_weight_blocks(sp_tensor *w, const sp_tensor *values, int axis, int block, int bits,
                                  sp_quant_weight *out);
void sp__quant_weight_free(sp_quant_weight *w);

/* --- the plan ---------------------------------------------------------------------------------------------------- */

typedef enum { SP_QUANT_CONV, SP_QUANT_MATMUL, SP_QUANT_GATHER } sp_quant_layer_kind;

/* An operator with weights, its bias and, where rounding does its work, the activation behind it. */
typedef struct sp_quant_layer {
    const char *name; /* in the plan's arena */
    const sp_op *op;
    sp_quant_layer_kind kind;
    int node, bias_node, act_node; /* by order; -1: none */
    int cut_node;                  /* the first of an activation of two nodes, maximum and minimum; -1: none */
    float act_low, act_high;       /* what the activation cuts to */
    int x, y, out;                 /* values: what it takes, gives, and gives behind bias and activation */
    int channel_axis;              /* of the weight: channels of the result */
    int y_axis;                    /* of the result */
    bool gemm;                     /* operands of rank 2: the bias is int32, too */
    const char *kept;              /* why it stays float; NULL: it does not */
    bool fold_act;                 /* the activation is what cutting to the range does anyway */
    sp_tensor *w, *b;              /* float32; b may be NULL; both owned */
    sp_tensor *corrected;          /* b with what rounding shifts taken back; NULL: it is not corrected */
    bool changed;                  /* they are not those of the model any more */
    int64_t groups;                /* of a convolution */
    sp_tensor *
        adapted; /* weights that adaptive rounding has chosen, multiples of their scales; NULL: w is rounded to the nearest */
    struct sp_quant_products *products; /* while these are chosen (adapt.c) */
    sp_quant_weight weight;
    sp_tensor *bias_q, *bias_scale; /* int32 and float32 */
    double *shift;                  /* by channel: sum of the differences that rounding makes, for bias correction */
    int64_t n_shift;
    double effect; /* relative change of the results when it alone is quantised; NaN: not measured */
    uint64_t multiply_adds;
} sp_quant_layer;

/* How an operator between layers takes part. */
typedef enum {
    SP_QUANT_FLOAT = 0, /* not at all */
    SP_QUANT_MOVE,      /* only moves elements: works on the bytes themselves */
    SP_QUANT_KEEP,      /* picks elements: computes with dequantised numbers, bytes in and out have one scale */
    SP_QUANT_COMPUTE    /* computes with dequantised numbers, results have a scale of their own */
} sp_quant_part;

typedef struct sp_quant_value {
    bool bytes; /* it lives as bytes */
    bool all;   /* everybody takes them, not only who computes with integers */
    int group;  /* -1: none */
} sp_quant_value;

typedef struct sp_quant_group {
    const char *name; /* of a layer that makes or takes it */
    bool used;
    sp_quant_observer seen; /* of all its members, joined when scales are settled */
    sp_quant_range range;
    sp_quant_scale scale;
    double error;
} sp_quant_group;

typedef struct sp_quant_plan {
    sp__arena arena;
    int n_nodes, n_values, n_layers, n_groups;
    const sp_op **ops;      /* by node, to recognise other recordings; NULL: no operator */
    sp_quant_part *parts;   /* by node */
    int *layer_of;          /* by node: its product, bias or activation belongs to that layer; -1: none */
    sp_quant_value *values; /* by value */
    sp_quant_layer *layers;
    sp_quant_group *groups;  /* by the first value of theirs */
    sp_quant_observer *seen; /* by value; of those that live as bytes and are not made of other bytes */
} sp_quant_plan;

/* Is the value made of other bytes, without computing? */
static inline bool sp__quant_is_moved(const sp_quant_plan *p, const sp_value *v, int place)
{
    const sp_quant_part part =
        v->origin == SP_VALUE_NODE && p->layer_of[v->node->order] < 0 ? p->parts[v->node->order] : SP_QUANT_FLOAT;
    return p->values[place].all && (part == SP_QUANT_MOVE || part == SP_QUANT_KEEP);
}

/* A recording with its nodes and values by number. */
typedef struct sp_quant_recording {
    sp_graph *graph;
    sp_function *f;
    int n_nodes, n_values;
    sp_node **nodes;
    sp_value **values;
} sp_quant_recording;

struct sp_quantized {
    sp_model *model;
    sp_quant_options options; /* texts in the arena; defaults filled in */
    sp__arena arena;
    sp_quant_plan *plan; /* NULL: not made yet */
    int only;            /* the layer that alone is quantised, for effects; -1: all that are planned */
    int64_t n_samples;
    int n_kept;                  /* samples held for corrections and effects */
    sp_tensor ***kept;           /* n_kept lists of inputs */
    sp_tensor **kept_labels;     /* NULL where there is none */
    double metric, float_metric; /* of options.target; NaN: none */
    double error, cosine,
        agreement; /* of the results beside those of the float network, on what was kept; NaN: not measured */
};

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* Record the model for these inputs and bring weights into plain sight: batch norms folded, the plan's weights (if there is a plan) put in. */
sp_status sp__quant_record(const sp_quantized *q, const sp_spec *specs, sp_quant_recording *out);
/* For the shapes of these tensors. */
sp_status sp__quant_record_for(const sp_quantized *q, sp_tensor *const *in, sp_quant_recording *out);
/* The same for a recording that somebody else made; only nodes and values are owned then. */
sp_status sp__quant_number(sp_function *f, const sp_quant_plan *plan, sp_quant_recording *out);
void sp__quant_recording_free(sp_quant_recording *r);
/* Shapes of tensors; n tensors released, and their places set to NULL; is it a convolution? */
void sp__quant_specs(int n, sp_tensor *const *in, sp_spec *out);
void sp__quant_release(int n, sp_tensor **t);
bool sp__quant_is_conv(const sp_op *op);
/* The contents of a value that does not depend on the inputs, computed; NULL: it does. Owned by the caller. */
sp_status sp__quant_constant(const sp_value *v, sp_tensor **out);
sp_status sp__quant_fold_norms(sp_function *f);

sp_status sp__quant_plan_make(sp_quantized *q, const sp_quant_recording *r);
/* Which values live as bytes, given which layers do; called again when layers are kept float. */
sp_status sp__quant_plan_values(const sp_quantized *q, const sp_quant_recording *r);
void sp__quant_plan_free(sp_quant_plan *p);

/* Watch the network work on all data: fills the groups' observers, keeps the first samples. */
sp_status sp__quant_calibrate(sp_quantized *q, const sp_quant_data *data);
/* Does a sample fit the model? */
sp_status sp__quant_check_sample(const sp_quantized *q, int64_t i, sp_tensor *const *in);
/* The plan from the first sample, where nothing else needs data. */
sp_status sp__quant_plan_from(sp_quantized *q, const sp_quant_data *data);
/* Host code in front of `before` (NULL: at the end) that is given values and gives nothing; its context is a watcher. */
typedef struct sp_quant_watcher {
    sp_quantized *q;
    int place; /* of the value; or the layer */
} sp_quant_watcher;
sp_status sp__quant_put_watcher(sp_quantized *q, sp_quant_recording *r, sp_node *before, int place, int n_in,
                                sp_value *const *in, sp_host_fn run);
/* Weights that are rounded so that results change least (sp_quant_layer.adapted); behind it numbers are settled anew. */
sp_status sp__quant_adapt(sp_quantized *q, const sp_quant_data *data);
/* Ranges, scales and integer weights from what was seen. */
sp_status sp__quant_settle(sp_quantized *q);
sp_status sp__quant_correct_bias(sp_quantized *q);
sp_status sp__quant_equalize(sp_quantized *q, const sp_quant_recording *r);
/* Which values live as bytes, and all numbers, anew: after other layers were kept float. Layers whose sums could leave int32 stay float, too. */
sp_status sp__quant_replan(sp_quantized *q);
/* Edit a recording as the plan says. */
sp_status sp__quant_apply(const sp_quantized *q, sp_quant_recording *r);
/* Effects of single layers and of all, on the samples that were kept; and the search for a target. */
sp_status sp__quant_measure(sp_quantized *q);
sp_status sp__quant_reach_target(sp_quantized *q, const sp_quant_data *data);
sp_status sp__quant_target_check(const char *text);

/* --- programs over samples --------------------------------------------------------------------------------------- */

/* Run on the inputs of a sample: results are owned by the caller. edit: NULL, or what is done to the recording first. */
typedef sp_status (*sp_quant_edit)(void *context, sp_quant_recording *r);
typedef struct sp_quant_runner {
    const sp_quantized *q;
    sp_quant_edit edit;
    void *context;
    int n;
    struct sp_quant_program {
        sp_program *program;
        sp_spec specs[64];
    } *programs; /* one for each set of shapes met, the latest 8 */
} sp_quant_runner;

sp_status sp__quant_run(sp_quant_runner *r, sp_tensor *const *in, sp_tensor **out);
void sp__quant_runner_free(sp_quant_runner *r);

#endif
