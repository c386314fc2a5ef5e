/* SPDX-License-Identifier: Apache-2.0 */
/* train.h - networks that are trained from C: weights by name, layers, optimizers with schedules, metrics.
 *
 *     static sp_tensor *scores(sp_builder *b, sp_nn *n, sp_tensor *x)
 *     {
 *         return sp_nn_dense(b, n, "fc2", sp_relu(b, sp_nn_dense(b, n, "fc1", x, 128, true)), 10, true);
 *     }
 *     static sp_tensor *loss(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in)
 *     {
 *         return sp_cross_entropy(b, scores(b, n, in[0]), in[1], NULL, NULL);
 *     }
 *     sp_nn_create(seed, &net);
 *     sp_trainer_options o = sp_trainer_defaults(SP_OPTIMIZER_ADAM);
 *     sp_trainer_create(net, loss, NULL, &o, &t);
 *     sp_trainer_step(t, 2, (sp_tensor *[]){x, labels}, &value);       as often as there are batches
 *     sp_nn_save(net, "net.ckpt", NULL);                              Python's layers have the same names
 *
 * A layer makes its weights when it is first called, in the shapes that its input asks for, or takes those that were loaded. Weights are
 * tensors like any other: layers can be mixed with operators and with weights of one's own (sp_nn_weight), and called while a function is
 * recorded (graph.h), to save the network as ONNX or MindIR.
 *
 * A step is recorded and compiled when it first meets arguments of certain dtypes and shapes; it reads and writes weights in place. A net and
 * its trainer are used by one thread at a time. */
#ifndef SPORE_TRAIN_H
#define SPORE_TRAIN_H

#include "spore/format.h"
#include "spore/grad.h"
#include "spore/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- weights ------------------------------------------------------------------------------------------------------- */

typedef struct sp_nn sp_nn;

/* The seed decides about initial weights (by their names, in whatever order they are made) and about dropout. */
SP_API sp_status sp_nn_create(uint64_t seed, sp_nn **out);
SP_API void sp_nn_release(sp_nn *n); /* NULL is fine */

typedef enum {
    SP_FILL_CONSTANT, /* value */
    SP_FILL_UNIFORM,  /* in [-value, value) */
    SP_FILL_NORMAL    /* of standard deviation value */
} sp_fill;
/* The float32 weight of that name, made if there is none; it belongs to the net. A weight is trained, a state is not (running averages, tables
 * that stand still). */
SP_API sp_tensor *sp_nn_weight(sp_builder *b, sp_nn *n, const char *name, int rank, const int64_t *dims, sp_fill fill,
                               double value);
SP_API sp_tensor *sp_nn_state(sp_builder *b, sp_nn *n, const char *name, int rank, const int64_t *dims, double value);

SP_API int sp_nn_count(const sp_nn *n);
SP_API const char *sp_nn_name_at(const sp_nn *n, int i); /* borrowed, as all of these; NULL: there is none */
SP_API sp_tensor *sp_nn_tensor_at(const sp_nn *n, int i);
SP_API sp_tensor *sp_nn_find(const sp_nn *n, const char *name);
SP_API bool sp_nn_is_trained_at(const sp_nn *n, int i);
/* Let weights whose names begin with `prefix` stand still (false), or be trained again. SP_KEY: there are none. Before a trainer's first step. */
SP_API sp_status sp_nn_set_trained(sp_nn *n, const char *prefix, bool trained);

/* What layers do: batch norm takes statistics of the batch and dropout drops while training. True at first; a trainer's step is training, whatever
 * this says. */
SP_API void sp_nn_set_training(sp_nn *n, bool training);
SP_API bool sp_nn_training(const sp_nn *n);

/* All weights and states to a file, its kind by the ending (.ckpt, .safetensors, .npz ...). */
SP_API sp_status sp_nn_save(const sp_nn *n, const char *path, const sp_file_options *options);
/* Weights that there are get the values of the file; what else is in it waits for the layer of that name. A layer that wants another shape or
 * dtype says so. Fails when a weight that there is is missing in the file; then nothing was changed. */
SP_API sp_status sp_nn_load(sp_nn *n, const char *path, const sp_file_options *options);
/* SP_KEY, with their names, if something was loaded that no layer has asked for. Behind a first call of the network. */
SP_API sp_status sp_nn_check_loaded(const sp_nn *n);

/* --- layers: weights called NAME.weight and so on, as Python's ----------------------------------------------------- */

/* x times NAME.weight [width, features] transposed, plus NAME.bias. */
SP_API sp_tensor *sp_nn_dense(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x, int64_t width, bool bias);
/* NAME.weight [channels, in / group, height, width], NAME.bias. attrs: stride, padding, groups; NULL: none of them. */
SP_API sp_tensor *sp_nn_conv2d(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x, int64_t channels,
                               int64_t height, int64_t width, bool bias, const sp_conv2d_attrs *attrs);
/* Over axis 1: NAME.gamma, NAME.beta, and the states NAME.moving_mean and NAME.moving_variance. */
SP_API sp_tensor *sp_nn_batch_norm(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x);
/* Over the last axis: NAME.gamma, NAME.beta. */
SP_API sp_tensor *sp_nn_layer_norm(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x);
/* Rows of NAME.embedding_table [count, width]. */
SP_API sp_tensor *sp_nn_embedding(sp_builder *b, sp_nn *n, const char *name, sp_tensor *ids, int64_t count,
                                  int64_t width);
/* Elements are zero with probability p while training, the others larger, so that the mean stays. */
SP_API sp_tensor *sp_nn_dropout(sp_builder *b, sp_nn *n, sp_tensor *x, double p);
/* One recurrent layer over x [time, batch, features], from a state of zeros: NAME.weight_ih_l0, NAME.weight_hh_l0, NAME.bias_ih_l0, NAME.bias_hh_l0.
 * kind: "lstm", "gru", "rnn_tanh" or "rnn_relu". Gives y [time, batch, width]. */
SP_API sp_tensor *sp_nn_recurrent(sp_builder *b, sp_nn *n, const char *name, const char *kind, sp_tensor *x,
                                  int64_t width);
/* Self-attention over x [batch, time, features]: NAME.query, NAME.key, NAME.value and NAME.out are dense layers. */
SP_API sp_tensor *sp_nn_attention(sp_builder *b, sp_nn *n, const char *name, sp_tensor *x, int64_t heads, bool causal);

/* --- learning rates ------------------------------------------------------------------------------------------------ */

typedef enum {
    SP_SCHEDULE_CONSTANT,
    SP_SCHEDULE_LINEAR, /* straight from the rate to last_rate, in `steps` */
    SP_SCHEDULE_COSINE, /* along half a cosine wave */
    SP_SCHEDULE_STAIRS, /* times `decay` every `steps` */
    SP_SCHEDULE_OWN
} sp_schedule_kind;

typedef struct sp_schedule {
    sp_schedule_kind kind;
    uint64_t warmup; /* steps at the start in which the rate rises evenly to its full size */
    uint64_t steps;  /* behind the warm-up */
    double last_rate, decay;
    double (*own)(void *context, uint64_t step); /* gives the rate of a step, the first is 0 */
    void *context;
} sp_schedule;
/* The rate of a step. */
SP_API double sp_schedule_rate(const sp_schedule *s, double rate, uint64_t step);

/* --- training ------------------------------------------------------------------------------------------------------ */

typedef enum {
    SP_OPTIMIZER_SGD,      /* plain, with weight decay */
    SP_OPTIMIZER_MOMENTUM, /* or Nesterov's */
    SP_OPTIMIZER_ADAM,
    SP_OPTIMIZER_ADAMW, /* Adam, decay of weights apart from the gradients */
    SP_OPTIMIZER_RMSPROP,
    SP_OPTIMIZER_ADAGRAD /* sums begin with 0.1 */
} sp_optimizer;

typedef struct sp_trainer_options {
    uint32_t struct_size;
    sp_optimizer optimizer;
    double rate;
    sp_schedule schedule;
    double momentum; /* Momentum, RMSProp */
    bool nesterov;   /* Momentum, Adam */
    double beta1, beta2, epsilon;
    double decay;             /* of RMSProp's average */
    double weight_decay;      /* times the weight, added to its gradient (AdamW: to its step) */
    bool decay_matrices_only; /* not of weights of rank 0 and 1: biases and norms */
    double clip_norm;         /* gradients together are no longer than this; 0: as long as they are */
    double clip_value;        /* no element is further from zero than this; 0: no limit */
    int accumulate;           /* steps whose gradients are averaged for one update; 0 stands for 1 */
    sp_dtype precision;       /* of products and convolutions: float32, bfloat16 or float16; weights stay float32 */
    double loss_scale;        /* float16: at first; it follows what overflows. 0: 65536 */
} sp_trainer_options;
/* Usual values: rate 0.01 (Adam, AdamW, RMSProp: 0.001), momentum 0.9 (RMSProp 0), betas 0.9 and 0.999, epsilon 1e-8, decay 0.9. */
SP_API sp_trainer_options sp_trainer_defaults(sp_optimizer optimizer);

/* Writes the loss of a batch down: a float tensor of one element. */
typedef sp_tensor *(*sp_loss_fn)(void *context, sp_builder *b, sp_nn *n, int n_in, sp_tensor *const *in);

typedef struct sp_trainer sp_trainer;
SP_API sp_status sp_trainer_create(sp_nn *n, sp_loss_fn loss, void *context, const sp_trainer_options *options,
                                   sp_trainer **out);
SP_API void sp_trainer_release(sp_trainer *t); /* before the net; NULL is fine */
/* Loss, gradients, update. *loss (may be NULL) is that of before the update. Fails, with the weights as they were, when a weight that is trained
 * has no part in the loss (sp_nn_set_trained). */
SP_API sp_status sp_trainer_step(sp_trainer *t, int n_in, sp_tensor *const *in, double *loss);

SP_API uint64_t sp_trainer_steps(const sp_trainer *t);   /* taken */
SP_API uint64_t sp_trainer_skipped(const sp_trainer *t); /* of them without an update: float16 had overflowed */
SP_API double sp_trainer_rate(const sp_trainer *t);      /* of the next update */
SP_API double sp_trainer_loss_scale(const sp_trainer *t);
/* Everything that decides about further steps: weights, moments, numbers of steps, states of random numbers. Who loads it into an equal net and
 * trainer goes on bit for bit. */
SP_API sp_status sp_trainer_save(const sp_trainer *t, const char *path, const sp_file_options *options);
SP_API sp_status sp_trainer_load(sp_trainer *t, const char *path, const sp_file_options *options);

/* --- metrics ------------------------------------------------------------------------------------------------------- */

typedef enum {
    SP_METRIC_ACCURACY,  /* scores [n, classes], classes [n] */
    SP_METRIC_TOP_K,     /* the class is among the k best scores */
    SP_METRIC_PRECISION, /* mean over classes that occur, of scores or classes [n] and classes [n] */
    SP_METRIC_RECALL,
    SP_METRIC_F1,
    SP_METRIC_MAE, /* numbers of any shape */
    SP_METRIC_MSE,
    SP_METRIC_RMSE
} sp_metric_kind;

typedef struct sp_metric sp_metric;
/* k: of TOP_K; else 0. */
SP_API sp_status sp_metric_create(sp_metric_kind kind, int k, sp_metric **out);
SP_API void sp_metric_release(sp_metric *m); /* NULL is fine */
SP_API sp_status sp_metric_update(sp_metric *m, sp_tensor *guess, sp_tensor *truth);
SP_API sp_status sp_metric_value(const sp_metric *m, double *out); /* SP_VALUE: nothing was counted */
/* int64 [classes, classes], rows are true classes; of PRECISION, RECALL and F1. To be released. */
SP_API sp_status sp_metric_confusion(const sp_metric *m, sp_tensor **out);
SP_API void sp_metric_clear(sp_metric *m);

#ifdef __cplusplus
}
#endif
#endif
