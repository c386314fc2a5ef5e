/* SPDX-License-Identifier: Apache-2.0 */
/* types_c.h - kinds of files, devices and precisions, as MindSpore Lite numbers them. */
#ifndef SPORE_LITE_TYPES_C_H
#define SPORE_LITE_TYPES_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef MS_API
#define MS_API __attribute__((visibility("default")))
#endif

typedef enum MSModelType { kMSModelTypeMindIR = 0, kMSModelTypeInvalid = -1 } MSModelType;

typedef enum MSDeviceType {
    kMSDeviceTypeCPU = 0,
    kMSDeviceTypeGPU = 1,
    kMSDeviceTypeKirinNPU = 2,
    kMSDeviceTypeInvalid = 100
} MSDeviceType;

/* Precision of training; float32 (kMSKO0, kMSKAUTO) is what there is here. */
typedef enum MSOptimizationLevel {
    kMSKO0 = 0,
    kMSKO2 = 2,
    kMSKO3 = 3,
    kMSKAUTO = 4,
    kMSKOPTIMIZATIONTYPE = -1
} MSOptimizationLevel;

typedef enum MSQuantizationType {
    kMSNO_QUANT = 0,
    kMSWEIGHT_QUANT = 1,
    kMSFULL_QUANT = 2,
    kMSUNKNOWN_QUANT_TYPE = -1
} MSQuantizationType;

#endif
