/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - the version of the library. The build passes SPORE_VERSION; the default serves builds by hand. */
#include "base/base.h"

#ifndef SPORE_VERSION
#define SPORE_VERSION "0.1.0"
#endif

const char *sp_version(void) { return SPORE_VERSION; }
