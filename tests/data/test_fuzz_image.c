/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz_image.c - the fuzz target over sample pictures: whole, cut, with bits turned, bytes put in and taken out. The
 * generator is seeded, so a failure repeats; SPORE_FUZZ_ROUNDS runs it longer. */
#include "../../fuzz/fuzz_image.c"
#include "formats/formats_util.h"
#include "formats/fuzz_util.h"

#define PICTURES "tests/oracle_vision/images/"
static const char *const samples[] = {
    PICTURES "astronaut.png",
    PICTURES "astronaut_palette.png",
    PICTURES "astronaut_rgba.png",
    PICTURES "camera_16bit.png",
    PICTURES "camera_gray.jpg",
    PICTURES "camera_gray.png",
    PICTURES "china.jpg",
    PICTURES "china_progressive.jpg",
    PICTURES "flower.bmp",
    PICTURES "flower.gif",
    PICTURES "flower.webp",
    PICTURES "flower_cmyk.jpg",
    PICTURES "flower_lossless.webp",
    PICTURES "flower_palette.bmp",
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static void run(const uint8_t *data, size_t bytes) { run_exact(LLVMFuzzerTestOneInput, data, bytes); }

static void samples_are_decoded(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i]);
        sp_tensor *image = NULL;
        OK(sp_image_decode(b.data, b.bytes, SP_DECODE_COLOR, &image));
        sp_tensor_release(image);
        run(b.data, b.bytes);
        free(b.data);
    }
}

static void cut_samples_are_refused(void **unused)
{
    (void)unused;
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i]);
        for (int k = 0; k < 40; k++) {
            const size_t n = k < 30 ? (size_t)k : draw((uint32_t)(b.bytes * 3 / 4));
            sp_tensor *image = NULL;
            uint8_t *exact = malloc(n > 0 ? n : 1);
            memcpy(exact, b.data, n);
            if (sp_image_decode(exact, n, SP_DECODE_COLOR, &image) == SP_OK)
                fail_msg("%s is decoded from its first %zu bytes", samples[i], n);
            assert_null(image);
            free(exact);
            run(b.data, n);
        }
        free(b.data);
    }
}

static void mutations_do_no_harm(void **unused)
{
    (void)unused;
    const long n_rounds = fuzz_rounds(40);
    for (int i = 0; i < N_SAMPLES; i++) {
        blob b = read_blob(samples[i]);
        uint8_t *copy = malloc(b.bytes + EDIT_ROOM);
        for (long k = 0; k < n_rounds; k++) {
            size_t n = b.bytes;
            memcpy(copy, b.data, n);
            const bool near_start = draw(2) != 0;
            for (uint32_t edits = 1 + draw(6); edits > 0; edits--)
                n = edit(copy, n, b.bytes + EDIT_ROOM, draw(near_start && n > 200 ? 200 : (uint32_t)n));
            run(copy, n);
        }
        free(copy);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_decoded),
        cmocka_unit_test(cut_samples_are_refused),
        cmocka_unit_test(mutations_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
