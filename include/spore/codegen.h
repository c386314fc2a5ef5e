/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.h - models as plain C99, for microcontrollers.
 *
 *     sp_model *m;
 *     sp_model_load("net.onnx", NULL, &m);
 *     char *report;
 *     sp_codegen_write(1, &m, NULL, "net_c", NULL, &report);       net_c/model.c, weights.c, model.h, main.c, Makefile
 *
 * The code needs no heap, no operating system, no interpreter: constant weights, one static arena whose places were planned here, and a function
 * model_run(in, out). docs/guides/microcontrollers.md tells more. */
#ifndef SPORE_CODEGEN_H
#define SPORE_CODEGEN_H

#include "spore/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_codegen_options {
    uint32_t struct_size;            /* sizeof(sp_codegen_options) */
    const char *target;              /* what the Makefile is for: a name of sp_codegen_target; NULL: "host" */
    uint64_t ram_bytes, flash_bytes; /* what the board has: a model that needs more is refused; 0: any */
    /* Training, of one model: model_train(in, label, rate, loss) beside model_run, both over the weights in RAM. */
    int n_train; /* 0: none */
    const char *const
        *train; /* weights to be trained, by what their names begin with; "" is all of them. The others stay in flash */
    const char *optimizer; /* "sgd" (also NULL), "momentum" or "adam" */
    const char
        *loss; /* "cross_entropy" (also NULL): labels are numbers of classes; "mse": labels as the first output */
} sp_codegen_options;

/* Names of the targets, and a line about each; NULL beyond the last. Static memory. */
SP_API const char *sp_codegen_target(int i, const char **doc);

/* Write n models as one project into a folder, which is made when needed; files that are there are replaced. Shapes of all inputs must be known
 * (sp_model_set_input_shape). names: C identifiers, prefixes of their functions; NULL for one model: "model". Several models share one arena. Fails
 * with everything in the models that has no C, before anything is written. report: RAM and flash by part, for people; freed with sp_text_free. */
SP_API sp_status sp_codegen_write(int n, sp_model *const *models, const char *const *names, const char *folder,
                                  const sp_codegen_options *options, char **report);

#ifdef __cplusplus
}
#endif
#endif
