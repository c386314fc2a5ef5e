/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_model.c - any bytes as a model: refused with a message, or described by its inputs and outputs, whose names and shapes can
 * all be looked at. It is not run, because a loop of a damaged model may be endless.
 *     clang -fsanitize=fuzzer,address,undefined -DFUZZ_FORMAT='"mindir"' ... fuzz/fuzz_model.c
 * Without clang, tests/formats/test_mindir.py and test_fuzz_model.c cut and change sample files. */
#include <stdint.h>
#include <string.h>

#include "spore/model.h"

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT NULL
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const sp_file_options options = {.format = FUZZ_FORMAT};
    static volatile size_t seen;
    (void)seen;
    sp_model *m;
    if (sp_model_load_memory(data, bytes, &options, &m) != SP_OK) return 0;
    for (int i = 0; i < sp_model_inputs(m); i++)
        seen += strlen(sp_model_input_name(m, i)) + (size_t)sp_model_input_spec(m, i)->rank;
    for (int i = 0; i < sp_model_outputs(m); i++)
        seen += strlen(sp_model_output_name(m, i)) + (size_t)sp_model_output_spec(m, i)->rank;
    sp_model_release(m);
    return 0;
}
