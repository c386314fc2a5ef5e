/* SPDX-License-Identifier: Apache-2.0 */
/* lite_c.h - what handles of MindSpore Lite's C interface point to. */
#ifndef SPORE_LITE_C_H
#define SPORE_LITE_C_H

#include "c_api/model_c.h"
#include "spore/lite.h"

enum { LITE_RANK_MAX = 32 };

typedef struct lite_tensor {
    char *name;
    MSDataType type;
    MSFormat format;
    size_t rank;
    int64_t shape[LITE_RANK_MAX];
    void *data;
    bool owned;      /* data is freed with it */
    sp_tensor *kept; /* data lies in this one; NULL: elsewhere */
} lite_tensor;

typedef struct lite_device {
    MSDeviceType type;
    char *provider, *device;
    bool fp16;
    int frequency;
} lite_device;

typedef struct lite_context {
    int32_t threads, *cores;
    size_t n_cores, n_devices;
    int affinity;
    bool parallel;
    lite_device **devices;
} lite_context;

typedef struct lite_train_cfg {
    char **names;
    size_t n_names;
    MSOptimizationLevel level;
} lite_train_cfg;

char *lite_text(const char *text); /* a copy */
sp_dtype lite_dtype(MSDataType type);
MSDataType lite_type(sp_dtype dtype);
/* Bytes of its shape; 0: it is not known, or too large. */
size_t lite_tensor_bytes(const lite_tensor *t);
void lite_tensor_drop(lite_tensor *t); /* its contents */
void lite_tensor_free(lite_tensor *t);
/* Contents and shape of a tensor, where they lie; x is retained. */
sp_status lite_tensor_show(lite_tensor *t, sp_tensor *x);
/* The status of a failure, whose reason is told on the standard error, with what was being done. */
MSStatus lite_status(sp_status status, const char *what);
MSStatus lite_refuse(MSStatus status, const char *what, const char *why);

#endif
