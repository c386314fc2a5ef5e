/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_text.h - what a tensor is, in a few words. */
#ifndef SPORE_TENSOR_TEXT_H
#define SPORE_TENSOR_TEXT_H

#include "base/plain.h"
#include "tensor/tensor_impl.h"

#define SP_TENSOR_TEXT (SP_SHAPE_TEXT + 24)
/* "float32 (2, 3)"; "" for NULL. */
static inline const char *sp__tensor_text(const sp_tensor *t, char text[SP_TENSOR_TEXT])
{
    char shape[SP_SHAPE_TEXT];
    text[0] = '\0';
    if (t)
        sp__snprintf(text, SP_TENSOR_TEXT, "%s %s", sp_dtype_name((sp_dtype)t->dtype),
                     sp__shape_text(t->rank, t->dims, shape));
    return text;
}

#endif
