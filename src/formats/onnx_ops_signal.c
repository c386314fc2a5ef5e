/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/onnx_model.h"
const sp_onnx_handler sp__onnx_signal[] = {{NULL, 0, NULL, NULL, 0}};
