/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_format.c - one fuzz target a format, chosen when it is compiled:
 *     clang -fsanitize=fuzzer,address,undefined -DFUZZ_FORMAT='"safetensors"' ... fuzz/fuzz_format.c
 * Without clang, tests/formats/test_fuzz_formats.c runs all of them over sample files and mutations. */
#include "fuzz_format.h"

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT NULL
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_format(FUZZ_FORMAT, data, bytes);
    return 0;
}
