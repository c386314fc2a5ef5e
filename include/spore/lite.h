/* SPDX-License-Identifier: Apache-2.0 */
/* lite.h - models of MindSpore Lite: training on the device, and runs that are watched node by node. What all models have is in model.h.
 *
 *     sp_model *m, *predict;
 *     sp_model_load("lenet_train.ms", NULL, &m);
 *     sp_model_run(m, 2, (sp_tensor *[]){x, labels}, 1, &loss);        a step: forward, backward, update
 *     sp_lite_evaluation(m, 0, NULL, &predict);                        the same weights, up to where the loss begins
 *     sp_lite_save(m, "lenet_trained.ms");                             to go on later; sp_model_convert(predict, "lenet.ms", ..) to use it
 *
 * MindSpore Lite's own C interface over this one is in include/spore/lite. */
#ifndef SPORE_LITE_H
#define SPORE_LITE_H

#include "spore/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether it is a model of MindSpore Lite with optimizer nodes: each run of it is a step. */
SP_API bool sp_lite_trains(const sp_model *m);
/* Its predictions as a model of its own, which shares the weights and holds m. Nodes whose names hold one of these parts are the loss (n 0: "loss_fct", "_loss_fn" and
 * "SigmoidCrossEntropy", as MindSpore Lite has them); what goes into them from in front is the result. */
SP_API sp_status sp_lite_evaluation(sp_model *m, int n, const char *const *loss_names, sp_model **out);
/* The learning rate of its optimizer, 0 without one; another one from the next step on. */
SP_API float sp_lite_learning_rate(const sp_model *m);
SP_API sp_status sp_lite_set_learning_rate(sp_model *m, float rate);
/* Write a training model with the weights and moments that it has now. */
SP_API sp_status sp_lite_save(const sp_model *m, const char *path, const sp_file_options *options);

/* Called in front of each node and behind it, with its tensors (NULL: left out); false ends the run with SP_INTERRUPTED. */
typedef bool (*sp_lite_watch)(void *context, bool after, const char *name, const char *type, int n_in,
                              sp_tensor *const *in, int n_out, sp_tensor *const *out);
/* sp_model_run of a model of MindSpore Lite, operator by operator, watched. */
SP_API sp_status sp_lite_run_watched(sp_model *m, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out,
                                     sp_lite_watch watch, void *context);

#ifdef __cplusplus
}
#endif
#endif
