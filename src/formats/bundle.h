/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h - what bundle.c shares with the formats. */
#ifndef SPORE_BUNDLE_H
#define SPORE_BUNDLE_H

#include "base/base.h"

/* Number of leading bytes that are whole UTF-8 characters: equal to `bytes` when all of the text is. */
size_t sp__utf8_valid(const char *text, size_t bytes);

#endif
