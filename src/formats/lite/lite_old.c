/* SPDX-License-Identifier: Apache-2.0 */
/* lite_old.c - operators of Lite 1.0's files; see lite_model.h. */
#include "formats/lite/lite_file.h"

const sp_lite_op sp__lite_old_schema[] = {{0, NULL, NULL}};
