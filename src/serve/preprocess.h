/* SPDX-License-Identifier: Apache-2.0 */
/* preprocess.h - pictures as an input: decoded, resized and normalised as the model's setting `preprocess` says, by the transforms of src/data. */
#ifndef SPORE_PREPROCESS_H
#define SPORE_PREPROCESS_H

#include "spore/model.h"

typedef struct sp_preprocess sp_preprocess;

/* text: "input=x,size=224x224,color=rgb,fit=crop,scale=0.00392,mean=0.485 0.456 0.406,std=0.229 0.224 0.225"; what is left out follows from the model's input. */
sp_status sp__preprocess_create(const char *text, const sp_model *m, sp_preprocess **out);
void sp__preprocess_release(sp_preprocess *p);    /* NULL is fine */
int sp__preprocess_input(const sp_preprocess *p); /* which input */
/* A tensor for that input: a row for each of n pictures. The shape of the model's input, one row where it has no axis of rows. */
sp_status sp__preprocess_run(const sp_preprocess *p, int n, const void *const *files, const size_t *bytes,
                             sp_tensor **out);

#endif
