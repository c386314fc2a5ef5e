/* SPDX-License-Identifier: Apache-2.0 */
/* long_fuzz_formats.c - test_fuzz_formats.c with many more random edits. */
#define FUZZ_ROUNDS 400000
#include "test_fuzz_formats.c"
