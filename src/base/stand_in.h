/* SPDX-License-Identifier: Apache-2.0 */
/* stand_in.h - what people find under the name of a file that they wanted to download. */
#ifndef SPORE_STAND_IN_H
#define SPORE_STAND_IN_H

#include "base/base.h"

/* SP_FORMAT, saying what to do, when these are an HTML page (a server's error message) or a pointer of Git LFS; else SP_OK. */
sp_status sp__refuse_stand_in(const uint8_t *data, size_t bytes);

#endif
