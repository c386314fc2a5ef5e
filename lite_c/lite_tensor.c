/* SPDX-License-Identifier: Apache-2.0 */
/* lite_tensor.c - tensors of MindSpore Lite's C interface, and what all parts of it share. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite_c.h"

/* --- shared ------------------------------------------------------------------------------------------------------ */

char *lite_text(const char *text)
{
    const size_t n = text != NULL ? strlen(text) + 1 : 1;
    char *copy = malloc(n);
    if (copy != NULL) memcpy(copy, text != NULL ? text : "", n);
    return copy;
}

static const struct {
    MSDataType type;
    sp_dtype dtype;
} types[] = {{kMSDataTypeNumberTypeBool, SP_DTYPE_BOOL},   {kMSDataTypeNumberTypeInt8, SP_DTYPE_I8},
             {kMSDataTypeNumberTypeInt16, SP_DTYPE_I16},   {kMSDataTypeNumberTypeInt32, SP_DTYPE_I32},
             {kMSDataTypeNumberTypeInt64, SP_DTYPE_I64},   {kMSDataTypeNumberTypeUInt8, SP_DTYPE_U8},
             {kMSDataTypeNumberTypeUInt16, SP_DTYPE_U16},  {kMSDataTypeNumberTypeUInt32, SP_DTYPE_U32},
             {kMSDataTypeNumberTypeUInt64, SP_DTYPE_U64},  {kMSDataTypeNumberTypeFloat16, SP_DTYPE_F16},
             {kMSDataTypeNumberTypeFloat32, SP_DTYPE_F32}, {kMSDataTypeNumberTypeFloat64, SP_DTYPE_F64}};

sp_dtype lite_dtype(MSDataType type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) return types[i].dtype;
    return SP_DTYPE_NONE;
}

MSDataType lite_type(sp_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype) return types[i].type;
    return kMSDataTypeUnknown;
}

MSStatus lite_refuse(MSStatus status, const char *what, const char *why)
{
    fprintf(stderr, "spore: %s: %s\n", what, why);
    return status;
}

MSStatus lite_status(sp_status status, const char *what)
{
    if (status == SP_OK) return kMSStatusSuccess;
    lite_refuse(kMSStatusLiteError, what, sp_error_message());
    switch (status) {
    case SP_NOMEM: return kMSStatusLiteMemoryFailed;
    case SP_IO: return kMSStatusLiteFileError;
    case SP_FORMAT: return kMSStatusLiteGraphFileError;
    case SP_DECLINED: return kMSStatusLiteNotFindOp;
    case SP_VALUE:
    case SP_TYPE: return kMSStatusLiteInputTensorError;
    default: return kMSStatusLiteError;
    }
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

size_t lite_tensor_bytes(const lite_tensor *t)
{
    const sp_dtype dtype = lite_dtype(t->type);
    size_t n = dtype != SP_DTYPE_NONE ? sp_dtype_bytes(dtype) : 0;
    for (size_t k = 0; k < t->rank; k++) {
        if (t->shape[k] < 0 || (t->shape[k] > 0 && n > SIZE_MAX / 2 / (size_t)t->shape[k])) return 0;
        n *= (size_t)t->shape[k];
    }
    return n;
}

void lite_tensor_drop(lite_tensor *t)
{
    if (t->owned) free(t->data);
    sp_tensor_release(t->kept);
    t->data = NULL;
    t->kept = NULL;
    t->owned = false;
}

void lite_tensor_free(lite_tensor *t)
{
    if (t == NULL) return;
    lite_tensor_drop(t);
    free(t->name);
    free(t);
}

sp_status lite_tensor_show(lite_tensor *t, sp_tensor *x)
{
    sp_tensor *rows = NULL;
    SP_TRY(sp_tensor_contiguous(x, &rows));
    lite_tensor_drop(t);
    t->kept = rows;
    t->data = sp_tensor_data(rows);
    t->type = lite_type(sp_tensor_dtype(rows));
    t->rank = (size_t)sp_tensor_rank(rows);
    for (size_t k = 0; k < t->rank; k++) t->shape[k] = sp_tensor_dims(rows)[k];
    return SP_OK;
}

MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num,
                              const void *data, size_t data_len)
{
    if (name == NULL || shape_num > LITE_RANK_MAX || (shape == NULL && shape_num > 0)) return NULL;
    lite_tensor *t = calloc(1, sizeof *t);
    if (t == NULL || (t->name = lite_text(name)) == NULL) {
        free(t);
        return NULL;
    }
    t->type = type;
    t->format = kMSFormatNHWC;
    t->rank = shape_num;
    if (shape_num > 0) memcpy(t->shape, shape, shape_num * sizeof *shape);
    if (data == NULL) return t;
    if (data_len != lite_tensor_bytes(t) || (t->data = malloc(data_len + 1)) == NULL) {
        lite_tensor_free(t);
        return NULL;
    }
    t->owned = true;
    memcpy(t->data, data, data_len);
    return t;
}

void MSTensorDestroy(MSTensorHandle *tensor)
{
    if (tensor == NULL) return;
    lite_tensor_free(*tensor);
    *tensor = NULL;
}

MSTensorHandle MSTensorClone(MSTensorHandle tensor)
{
    const lite_tensor *t = tensor;
    if (t == NULL) return NULL;
    lite_tensor *copy =
        MSTensorCreate(t->name, t->type, t->shape, t->rank, t->data, t->data != NULL ? lite_tensor_bytes(t) : 0);
    if (copy != NULL) copy->format = t->format;
    return copy;
}

void MSTensorSetName(MSTensorHandle tensor, const char *name)
{
    lite_tensor *t = tensor;
    char *copy = t != NULL && name != NULL ? lite_text(name) : NULL;
    if (copy == NULL) return;
    free(t->name);
    t->name = copy;
}

const char *MSTensorGetName(const MSTensorHandle tensor)
{
    return tensor != NULL ? ((const lite_tensor *)tensor)->name : NULL;
}

void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type)
{
    if (tensor != NULL) ((lite_tensor *)tensor)->type = type;
}

MSDataType MSTensorGetDataType(const MSTensorHandle tensor)
{
    return tensor != NULL ? ((const lite_tensor *)tensor)->type : kMSDataTypeUnknown;
}

void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num)
{
    lite_tensor *t = tensor;
    if (t == NULL || shape_num > LITE_RANK_MAX || (shape == NULL && shape_num > 0)) return;
    t->rank = shape_num;
    if (shape_num > 0) memcpy(t->shape, shape, shape_num * sizeof *shape);
    if (t->owned || t->kept != NULL) lite_tensor_drop(t); /* memory of another size */
}

const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num)
{
    const lite_tensor *t = tensor;
    if (t == NULL || shape_num == NULL) return NULL;
    *shape_num = t->rank;
    return t->shape;
}

void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format)
{
    if (tensor != NULL) ((lite_tensor *)tensor)->format = format;
}

MSFormat MSTensorGetFormat(const MSTensorHandle tensor)
{
    return tensor != NULL ? ((const lite_tensor *)tensor)->format : kMSFormatNHWC;
}

void MSTensorSetData(MSTensorHandle tensor, void *data)
{
    lite_tensor *t = tensor;
    if (t == NULL) return;
    lite_tensor_drop(t);
    t->data = data;
}

const void *MSTensorGetData(const MSTensorHandle tensor)
{
    return tensor != NULL ? ((const lite_tensor *)tensor)->data : NULL;
}

void *MSTensorGetMutableData(const MSTensorHandle tensor)
{
    lite_tensor *t = tensor;
    if (t == NULL || t->data != NULL) return t != NULL ? t->data : NULL;
    const size_t bytes = lite_tensor_bytes(t);
    if (bytes == 0 || (t->data = calloc(1, bytes)) == NULL) return NULL;
    t->owned = true;
    return t->data;
}

int64_t MSTensorGetElementNum(const MSTensorHandle tensor)
{
    const lite_tensor *t = tensor;
    int64_t n = 1;
    for (size_t k = 0; t != NULL && k < t->rank; k++) n = t->shape[k] < 0 || n < 0 ? -1 : n * t->shape[k];
    return t != NULL ? n : -1;
}

size_t MSTensorGetDataSize(const MSTensorHandle tensor) { return tensor != NULL ? lite_tensor_bytes(tensor) : 0; }
