/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h - what models need of the library, for a build of it that has nothing else.
 *
 *     char *options;
 *     sp_trim_options(1, (const char *[]){"lenet.mindir"}, NULL, &options);       a file for cmake -C
 *
 * `spore trim` does that and builds the library. docs/guides/small.md tells more. */
#ifndef SPORE_TRIM_H
#define SPORE_TRIM_H

#include "spore/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Load every model, run it on zeros, and write down which operators, dtypes, formats and primitives that took, as options of the build
 * (cmake/SporeParts.cmake). Sizes that a file leaves open are 1. What only other values or sizes lead to is not seen: a trimmed library says by name
 * what it lacks. isa: "portable" (also NULL), "avx2", "avx512" or "all". One call at a time; nothing else may use the library meanwhile, or it is
 * counted, too. *text is freed with sp_text_free. */
SP_API sp_status sp_trim_options(int n, const char *const *paths, const char *isa, char **text);

#ifdef __cplusplus
}
#endif

#endif
