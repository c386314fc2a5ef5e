/* SPDX-License-Identifier: Apache-2.0 */
/* data_type_c.h - types of elements, as MindSpore Lite numbers them. */
#ifndef SPORE_LITE_DATA_TYPE_C_H
#define SPORE_LITE_DATA_TYPE_C_H

#include <stdint.h>

typedef enum MSDataType {
    kMSDataTypeUnknown = 0,
    kMSDataTypeObjectTypeString = 12,
    kMSDataTypeObjectTypeList = 13,
    kMSDataTypeObjectTypeTuple = 14,
    kMSDataTypeObjectTypeTensor = 17,
    kMSDataTypeNumberTypeBegin = 29,
    kMSDataTypeNumberTypeBool = 30,
    kMSDataTypeNumberTypeInt8 = 32,
    kMSDataTypeNumberTypeInt16 = 33,
    kMSDataTypeNumberTypeInt32 = 34,
    kMSDataTypeNumberTypeInt64 = 35,
    kMSDataTypeNumberTypeUInt8 = 37,
    kMSDataTypeNumberTypeUInt16 = 38,
    kMSDataTypeNumberTypeUInt32 = 39,
    kMSDataTypeNumberTypeUInt64 = 40,
    kMSDataTypeNumberTypeFloat16 = 42,
    kMSDataTypeNumberTypeFloat32 = 43,
    kMSDataTypeNumberTypeFloat64 = 44,
    kMSDataTypeNumberTypeEnd = 46,
    kMSDataTypeInvalid = INT32_MAX
} MSDataType;

#endif
