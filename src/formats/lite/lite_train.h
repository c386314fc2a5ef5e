/* SPDX-License-Identifier: Apache-2.0 */
/* lite_train.h - what handlers of networks and those of their gradients share. */
#ifndef SPORE_LITE_TRAIN_H
#define SPORE_LITE_TRAIN_H

#include "formats/lite/lite_model.h"

/* A window by its fields: strides and dilations (-1: none), padding, which is listed in field `pads` (-1: nowhere) where mode says so; `in` is the size of the picture. */
sp_status sp__lite_window(sp_tflite_call *c, const int64_t *kernel, int stride, int dilation, int64_t mode, int pads,
                          const int64_t *in, sp_tflite_window *w);

#endif
