/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_c.h - tensors of MindSpore Lite's C interface. */
#ifndef SPORE_LITE_TENSOR_C_H
#define SPORE_LITE_TENSOR_C_H

#include "data_type_c.h"
#include "format_c.h"
#include "types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *MSTensorHandle;

/* A tensor of the caller; data is copied, NULL: it has none yet. NULL without memory, or when data_len is not the size of the shape. */
MS_API MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num,
                                     const void *data, size_t data_len);
MS_API void MSTensorDestroy(MSTensorHandle *tensor); /* also makes the handle NULL */
MS_API MSTensorHandle MSTensorClone(MSTensorHandle tensor);
MS_API void MSTensorSetName(MSTensorHandle tensor, const char *name);
MS_API const char *MSTensorGetName(const MSTensorHandle tensor);
MS_API void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type);
MS_API MSDataType MSTensorGetDataType(const MSTensorHandle tensor);
MS_API void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num);
MS_API const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num); /* lives with the tensor */
MS_API void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format);
MS_API MSFormat MSTensorGetFormat(const MSTensorHandle tensor);
/* The caller's memory from now on: it is used where it is and stays the caller's. */
MS_API void MSTensorSetData(MSTensorHandle tensor, void *data);
MS_API const void *MSTensorGetData(const MSTensorHandle tensor);  /* NULL: it has none */
MS_API void *MSTensorGetMutableData(const MSTensorHandle tensor); /* makes memory where there is none */
MS_API int64_t MSTensorGetElementNum(const MSTensorHandle tensor);
MS_API size_t MSTensorGetDataSize(const MSTensorHandle tensor);

#ifdef __cplusplus
}
#endif
#endif
