/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ckpt.c - any bytes as a checkpoint: refused with a message, or read into tensors that are stored and read back
 * to the same values.
 *
 * With clang: clang -fsanitize=fuzzer,address,undefined ... fuzz/fuzz_ckpt.c. Without: tests/formats/test_fuzz_ckpt.c
 * runs it over the sample files and mutations of them; FUZZ_MAIN gives a program that runs the files named as
 * arguments. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spore/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_ckpt: %s (%s)\n", what, sp_error_message());
    abort();
}

static void compare(const sp_bundle *a, const sp_bundle *b)
{
    must(sp_bundle_count(a) == sp_bundle_count(b), "other number of entries");
    for (int64_t i = 0; i < sp_bundle_count(a); i++) {
        must(strcmp(sp_bundle_name_at(a, i), sp_bundle_name_at(b, i)) == 0, "other name");
        size_t n, m;
        const char *p = sp_bundle_text_at(a, i, &n), *q = sp_bundle_text_at(b, i, &m);
        must((p != NULL) == (q != NULL), "other kind");
        if (p != NULL) {
            must(n == m && memcmp(p, q, n) == 0, "other text");
            continue;
        }
        const sp_tensor *x = sp_bundle_tensor_at(a, i), *y = sp_bundle_tensor_at(b, i);
        must(sp_tensor_dtype(x) == sp_tensor_dtype(y) && sp_tensor_rank(x) == sp_tensor_rank(y), "other geometry");
        must(sp_tensor_bytes(x) == sp_tensor_bytes(y), "other size");
        must(sp_tensor_bytes(x) == 0 || memcmp(sp_tensor_data(x), sp_tensor_data(y), sp_tensor_bytes(x)) == 0,
             "other contents");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static char path[64];
    if (path[0] == '\0') snprintf(path, sizeof path, "/tmp/spore-fuzz-%ld.ckpt", (long)getpid());
    const sp_file_options options = {.format = "ckpt", .flags = bytes % 2 ? SP_FILE_CRC : 0};
    sp_bundle *first = NULL, *second = NULL;
    sp_status status = sp_load_memory(data, bytes, &options, &first);
    if (status != SP_OK) {
        must(first == NULL && sp_error_message()[0] != '\0', "refused without a message");
        return 0;
    }
    if (sp_bundle_count(first) > 0) {
        must(sp_save(path, first, &options) == SP_OK, "what was read cannot be saved");
        must(sp_load(path, &options, &second) == SP_OK, "what was saved cannot be read");
        compare(first, second);
        unlink(path);
    }
    sp_bundle_release(first);
    sp_bundle_release(second);
    return 0;
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        must(f != NULL, argv[i]);
        static uint8_t buffer[1 << 24];
        size_t n = fread(buffer, 1, sizeof buffer, f);
        fclose(f);
        LLVMFuzzerTestOneInput(buffer, n);
    }
    return 0;
}
#endif
