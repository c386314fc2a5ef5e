/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_image.c - any bytes as a picture file: refused with a message, or decoded into an image of the size its header
 * says, whole, in gray and in part.
 *
 * With clang: clang -fsanitize=fuzzer,address,undefined ... fuzz/fuzz_image.c. Without: tests/data/test_fuzz_image.c runs
 * it over the sample pictures and mutations of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "spore/transform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_image: %s (%s)\n", what, sp_error_message());
    abort();
}

static void check_mode(const uint8_t *data, size_t bytes, sp_decode_mode mode, const sp_image_info *info)
{
    sp_tensor *image = NULL;
    const sp_status status = sp_image_decode(data, bytes, mode, &image);
    if (status != SP_OK) {
        must(image == NULL && sp_error_message()[0] != '\0', "refused without a message");
        return;
    }
    const int64_t *dims = sp_tensor_dims(image);
    must(sp_tensor_rank(image) == 3 && dims[0] == info->height && dims[1] == info->width,
         "other size than the header's");
    must(dims[2] == (mode == SP_DECODE_GRAY ? 1 : mode == SP_DECODE_COLOR ? 3 : dims[2]), "other number of channels");
    /* Every byte must be readable. */
    unsigned sum = 0;
    const uint8_t *p = sp_tensor_data(image);
    for (size_t i = 0; i < sp_tensor_bytes(image); i++) sum += p[i];
    must(sum != 1u << 31, "impossible");
    sp_tensor_release(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    sp_image_info info;
    if (sp_image_probe(data, bytes, &info) != SP_OK) {
        must(sp_error_message()[0] != '\0', "refused without a message");
        return 0;
    }
    if (info.height * info.width > 1 << 20) return 0; /* correct, but slow: nothing new is found there */
    for (int mode = SP_DECODE_UNCHANGED; mode <= SP_DECODE_COLOR; mode++)
        check_mode(data, bytes, (sp_decode_mode)mode, &info);

    sp_transform *crop = NULL;
    sp_tensor *in = NULL, *out = NULL;
    const double size[2] = {9, 7};
    const sp_transform_arg args[] = {{"size", 2, size}};
    sp_stream stream = {.seed = 7, .row = bytes};
    must(sp_transform_create("RandomCropDecodeResize", 1, args, 0, NULL, &crop) == SP_OK, "no transform");
    must(sp_tensor_create_from(SP_DTYPE_U8, 1, (int64_t[]){(int64_t)bytes}, data, &in) == SP_OK, "no memory");
    if (sp_transform_run(crop, &stream, 1, &in, 1, &out, NULL) == SP_OK) {
        must(sp_tensor_dims(out)[0] == 9 && sp_tensor_dims(out)[1] == 7, "other size than asked for");
        sp_tensor_release(out);
    }
    sp_tensor_release(in);
    sp_transform_release(crop);
    return 0;
}
