/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_more.c - ONNX operators that are written as loops of their own or in several steps: Resize, recurrent layers. */
#include "formats/onnx_model.h"

const sp_onnx_handler sp__onnx_more[] = {{NULL, 0, NULL, NULL, 0}};
