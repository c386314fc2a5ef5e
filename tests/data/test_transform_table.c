/* SPDX-License-Identifier: Apache-2.0 */
/* test_transform_table.c - every transform of the table on images of every awkward size and type: it gives something, the
 * same again for the same (seed, row), or refuses with a message. Sanitizers watch the edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/transform.h"

#define OK(expr)                                                                                                       \
    do {                                                                                                               \
        sp_status ok_ = (expr);                                                                                        \
        if (ok_ != SP_OK) fail_msg("%s: %s", #expr, sp_error_message());                                               \
    } while (0)

enum { SAMPLE_ARGS = 5, SAMPLE_NUMBERS = 8 };
typedef enum { IMAGE, BOXES, BATCH, BYTES, LABEL, SOUND } kind;

typedef struct sample {
    const char *name;
    kind in;
    struct {
        const char *name;
        int n;
        double v[SAMPLE_NUMBERS];
    } args[SAMPLE_ARGS];
} sample;

#define CORNERS {0, 0, 20, 0, 20, 30, 0, 30}
#define MOVED {2, 1, 18, 3, 19, 28, 1, 27}
/* Several lines for one name are several ways to call it. */
static const sample samples[] = {
    {"Decode", BYTES, {{0}}},
    {"RandomCropDecodeResize", BYTES, {{"size", 2, {9, 11}}}},
    {"Resize", IMAGE, {{"size", 2, {13, 17}}}},
    {"Resize", IMAGE, {{"size", 2, {13, 17}}, {"interpolation", 1, {SP_INTER_NEAREST}}}},
    {"Resize", IMAGE, {{"size", 2, {13, 17}}, {"interpolation", 1, {SP_INTER_CUBIC}}}},
    {"Resize", IMAGE, {{"size", 2, {3, 17}}, {"interpolation", 1, {SP_INTER_AREA}}}},
    {"Resize", IMAGE, {{"size", 2, {1, 1}}, {"interpolation", 1, {SP_INTER_AREA}}}},
    {"Resize", IMAGE, {{"size", 2, {13, 5}}, {"interpolation", 1, {SP_INTER_PILCUBIC}}}},
    {"Resize", IMAGE, {{"size", 1, {64}}}},
    {"RandomResize", IMAGE, {{"size", 2, {5, 40}}}},
    {"ResizedCrop",
     IMAGE,
     {{"top", 1, {0}}, {"left", 1, {0}}, {"height", 1, {1}}, {"width", 1, {1}}, {"size", 1, {4}}}},
    {"RandomResizedCrop", IMAGE, {{"size", 1, {6}}}},
    {"Crop", IMAGE, {{"coordinates", 2, {0, 0}}, {"size", 1, {1}}}},
    {"CenterCrop", IMAGE, {{"size", 2, {1, 9}}}},
    {"RandomCrop", IMAGE, {{"size", 1, {5}}, {"pad_if_needed", 1, {1}}, {"padding_mode", 1, {SP_BORDER_REFLECT}}}},
    {"Pad", IMAGE, {{"padding", 4, {1, 9, 3, 4}}, {"padding_mode", 1, {SP_BORDER_SYMMETRIC}}}},
    {"Pad", IMAGE, {{"padding", 1, {2}}, {"fill_value", 3, {1, 2, 3}}}},
    {"PadToSize", IMAGE, {{"size", 1, {70}}}},
    {"HorizontalFlip", IMAGE, {{0}}},
    {"VerticalFlip", IMAGE, {{0}}},
    {"RandomHorizontalFlip", IMAGE, {{0}}},
    {"RandomVerticalFlip", IMAGE, {{0}}},
    {"HWC2CHW", IMAGE, {{0}}},
    {"SlicePatches", IMAGE, {{"num_height", 1, {2}}, {"num_width", 1, {3}}}},
    {"Rotate", IMAGE, {{"degrees", 1, {33}}, {"resample", 1, {SP_INTER_LINEAR}}, {"expand", 1, {1}}}},
    {"Rotate", IMAGE, {{"degrees", 1, {-33}}, {"resample", 1, {SP_INTER_CUBIC}}, {"center", 2, {-900, 1e6}}}},
    {"RandomRotation", IMAGE, {{"degrees", 2, {-90, 90}}}},
    {"Affine",
     IMAGE,
     {{"degrees", 1, {15}},
      {"translate", 2, {1, -1}},
      {"scale", 1, {0.01}},
      {"shear", 2, {80, 89}},
      {"resample", 1, {SP_INTER_LINEAR}}}},
    {"RandomAffine", IMAGE, {{"degrees", 2, {-9, 9}}, {"shear", 4, {-5, 5, -5, 5}}}},
    {"Perspective", IMAGE, {{"start_points", 8, CORNERS}, {"end_points", 8, MOVED}}},
    {"AdjustBrightness", IMAGE, {{"brightness_factor", 1, {1e6}}}},
    {"AdjustContrast", IMAGE, {{"contrast_factor", 1, {3}}}},
    {"AdjustSaturation", IMAGE, {{"saturation_factor", 1, {3}}}},
    {"AdjustHue", IMAGE, {{"hue_factor", 1, {-0.3}}}},
    {"RandomColor", IMAGE, {{0}}},
    {"RandomColorAdjust",
     IMAGE,
     {{"brightness", 2, {0.5, 2}}, {"contrast", 2, {0.5, 2}}, {"saturation", 2, {0.5, 2}}, {"hue", 2, {-0.5, 0.5}}}},
    {"RandomLighting", IMAGE, {{"alpha", 1, {3}}}},
    {"ConvertColor", IMAGE, {{"convert_mode", 1, {7}}}},
    {"ConvertColor", IMAGE, {{"convert_mode", 1, {5}}}},
    {"ConvertColor", IMAGE, {{"convert_mode", 1, {9}}}},
    {"AdjustGamma", IMAGE, {{"gamma", 1, {0.3}}, {"gain", 1, {-2}}}},
    {"AutoContrast", IMAGE, {{"cutoff", 1, {49}}, {"ignore", 2, {0, 255}}}},
    {"Equalize", IMAGE, {{0}}},
    {"Invert", IMAGE, {{0}}},
    {"Posterize", IMAGE, {{"bits", 1, {0}}}},
    {"Solarize", IMAGE, {{"threshold", 2, {10, 90}}}},
    {"RandomAutoContrast", IMAGE, {{0}}},
    {"RandomEqualize", IMAGE, {{0}}},
    {"RandomInvert", IMAGE, {{0}}},
    {"RandomPosterize", IMAGE, {{"bits", 2, {1, 8}}}},
    {"RandomSolarize", IMAGE, {{0}}},
    {"AdjustSharpness", IMAGE, {{"sharpness_factor", 1, {9}}}},
    {"RandomSharpness", IMAGE, {{0}}},
    {"RandomAdjustSharpness", IMAGE, {{"degree", 1, {2}}}},
    {"GaussianBlur", IMAGE, {{"kernel_size", 2, {1, 41}}}},
    {"GaussianBlur", IMAGE, {{"kernel_size", 1, {5}}, {"sigma", 1, {100}}}},
    {"Rescale", IMAGE, {{"rescale", 1, {2}}, {"shift", 1, {1}}}},
    {"Normalize", IMAGE, {{"mean", 1, {3}}, {"std", 1, {2}}}},
    {"Normalize", IMAGE, {{"mean", 1, {3}}, {"std", 1, {2}}, {"is_hwc", 1, {0}}}},
    {"NormalizePad", IMAGE, {{"mean", 3, {1, 2, 3}}, {"std", 3, {1, 2, 3}}, {"dtype", 1, {SP_DTYPE_F16}}}},
    {"ToTensor", IMAGE, {{"output_type", 1, {SP_DTYPE_F64}}}},
    {"Erase", IMAGE, {{"top", 1, {0}}, {"left", 1, {0}}, {"height", 1, {90}}, {"width", 1, {1}}, {"value", 1, {7}}}},
    {"CutOut", IMAGE, {{"length", 1, {1}}, {"num_patches", 1, {9}}}},
    {"CutOut", IMAGE, {{"length", 1, {1}}, {"num_patches", 1, {9}}, {"is_hwc", 1, {0}}}},
    {"AutoAugment", IMAGE, {{"policy", 1, {1}}, {"interpolation", 1, {SP_INTER_LINEAR}}}},
    {"AutoAugment", IMAGE, {{"policy", 1, {2}}}},
    {"RandAugment", IMAGE, {{"num_ops", 1, {5}}}},
    {"TrivialAugmentWide", IMAGE, {{0}}},
    {"RandomHorizontalFlipWithBBox", BOXES, {{0}}},
    {"RandomVerticalFlipWithBBox", BOXES, {{0}}},
    {"ResizeWithBBox", BOXES, {{"size", 1, {9}}}},
    {"RandomResizeWithBBox", BOXES, {{"size", 2, {9, 4}}}},
    {"RandomCropWithBBox", BOXES, {{"size", 1, {3}}, {"pad_if_needed", 1, {1}}}},
    {"RandomResizedCropWithBBox", BOXES, {{"size", 1, {3}}}},
    {"BoundingBoxAugment", BOXES, {{"ratio", 1, {1}}}},
    {"MixUpBatch", BATCH, {{0}}},
    {"CutMixBatch", BATCH, {{"image_batch_format", 1, {0}}}},
    {"CutMixBatch", BATCH, {{"image_batch_format", 1, {1}}}},
    {"Compose", IMAGE, {{0}}},
    {"RandomApply", IMAGE, {{0}}},
    {"RandomChoice", IMAGE, {{0}}},
    {"RandomOrder", IMAGE, {{0}}},
    {"RandomSelectSubpolicy", IMAGE, {{"lengths", 1, {1}}, {"probs", 1, {0.5}}}},
    {"UniformAugment", IMAGE, {{"num_ops", 1, {1}}}},
    {"TypeCast", IMAGE, {{"data_type", 1, {SP_DTYPE_I16}}}},
    {"OneHot", LABEL, {{"num_classes", 1, {5}}, {"smoothing_rate", 1, {0.1}}}},
    {"Fill", IMAGE, {{"fill_value", 1, {3}}}},
    {"Mask", IMAGE, {{"operator", 1, {2}}, {"constant", 1, {3}}}},
    {"PadEnd", IMAGE, {{"pad_shape", 3, {9, -1, 2}}, {"pad_value", 1, {3}}}},
    {"Duplicate", IMAGE, {{0}}},
    {"LFilter", SOUND, {{"a_coeffs", 2, {1, 0.5}}, {"b_coeffs", 2, {1, 0.5}}}},
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static sp_transform *make(const sample *s)
{
    sp_transform_arg args[SAMPLE_ARGS];
    int n = 0;
    for (; n < SAMPLE_ARGS && s->args[n].name; n++)
        args[n] = (sp_transform_arg){s->args[n].name, s->args[n].n, s->args[n].v};
    sp_transform *t = NULL, *child = NULL;
    const bool compound = strstr("Compose RandomApply RandomChoice RandomOrder RandomSelectSubpolicy UniformAugment "
                                 "BoundingBoxAugment",
                                 s->name) != NULL;
    if (compound) OK(sp_transform_create("HorizontalFlip", 0, NULL, 0, NULL, &child));
    if (sp_transform_create(s->name, n, args, compound ? 1 : 0, &child, &t) != SP_OK)
        fail_msg("%s: %s", s->name, sp_error_message());
    sp_transform_release(child);
    return t;
}

static sp_tensor *filled(sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *t = NULL, *levels = NULL;
    OK(sp_tensor_create(dtype, rank, dims, &t));
    OK(sp_tensor_create(SP_DTYPE_U8, rank, dims, &levels));
    uint8_t *p = sp_tensor_data(levels);
    for (size_t i = 0; i < sp_tensor_bytes(levels); i++) p[i] = (uint8_t)(i * 37 + i / 11);
    OK(sp_tensor_assign(t, levels));
    sp_tensor_release(levels);
    return t;
}

/* The row for a sample, by number; its length, 0 when there are no more. */
static int row_of(kind in, int i, sp_tensor *row[2])
{
    static const int64_t sizes[][3] = {{1, 1, 3},   {1, 9, 3},   {9, 1, 3},  {2, 2, 3}, {3, 3, 1},
                                       {31, 21, 3}, {33, 47, 4}, {8, 64, 2}, {40, 5, 1}};
    static const sp_dtype dtypes[] = {SP_DTYPE_U8,  SP_DTYPE_F32, SP_DTYPE_U16,
                                      SP_DTYPE_F64, SP_DTYPE_I32, SP_DTYPE_BOOL};
    enum { N_SIZES = sizeof sizes / sizeof *sizes, N_DTYPES = sizeof dtypes / sizeof *dtypes };
    if (i >= N_SIZES * N_DTYPES * 2) return 0;
    const int64_t *d = sizes[i % N_SIZES];
    const sp_dtype dtype = dtypes[i / N_SIZES % N_DTYPES];
    const int rank = i / (N_SIZES * N_DTYPES) ? 2 : 3;
    if (in == IMAGE) row[0] = filled(dtype, rank, d);
    else if (in == SOUND) row[0] = filled(dtype, rank, d);
    else if (in == LABEL) row[0] = filled(dtype, rank == 2 ? 0 : 1, (int64_t[]){1});
    else if (in == BYTES) OK(sp_image_encode_png(row[1] = filled(SP_DTYPE_U8, 2, d), 6, &row[0]));
    else row[0] = filled(dtype, in == BATCH ? 4 : rank, in == BATCH ? (int64_t[]){3, d[0], d[1], d[2]} : d);
    if (in == BYTES) {
        sp_tensor_release(row[1]);
        return 1;
    }
    if (in == BOXES)
        OK(sp_tensor_create_from(SP_DTYPE_F32, 2, (int64_t[]){1, 4}, (float[]){0, 0, (float)d[1], (float)d[0]},
                                 &row[1]));
    if (in == BATCH) row[1] = filled(SP_DTYPE_I32, 2, (int64_t[]){3, 4});
    return in == BOXES || in == BATCH ? 2 : 1;
}

static void every_transform_has_a_sample(void **unused)
{
    (void)unused;
    for (int i = 0; i < sp_transform_count(); i++) {
        int k = 0;
        while (k < N_SAMPLES && strcmp(samples[k].name, sp_transform_name_at(i)) != 0) k++;
        if (k == N_SAMPLES) fail_msg("%s has no sample", sp_transform_name_at(i));
    }
}

static void rows_are_made_or_refused(void **unused)
{
    (void)unused;
    int made = 0, refused = 0;
    for (int k = 0; k < N_SAMPLES; k++) {
        sp_transform *t = make(&samples[k]);
        sp_tensor *row[2];
        int n, given = 0;
        for (int i = 0; (n = row_of(samples[k].in, i, row)) > 0; i++) {
            sp_tensor *out[2][64];
            int n_out[2] = {0, 0};
            sp_status status[2];
            for (int again = 0; again < 2; again++) {
                sp_stream s = {.seed = 3, .row = (uint64_t)i};
                status[again] = sp_transform_run(t, &s, n, row, 64, out[again], &n_out[again]);
                if (status[again] != SP_OK) assert_true(strlen(sp_error_message()) > 10);
            }
            assert_int_equal(status[0], status[1]);
            for (int j = 0; status[0] == SP_OK && j < n_out[0]; j++) {
                assert_true(sp_tensor_is_contiguous(out[0][j]));
                assert_int_equal(sp_tensor_bytes(out[0][j]), sp_tensor_bytes(out[1][j]));
                assert_memory_equal(sp_tensor_data(out[0][j]), sp_tensor_data(out[1][j]), sp_tensor_bytes(out[0][j]));
                sp_tensor_release(out[0][j]);
                sp_tensor_release(out[1][j]);
            }
            given += status[0] == SP_OK;
            for (int j = 0; j < n; j++) sp_tensor_release(row[j]);
            made += status[0] == SP_OK;
            refused += status[0] != SP_OK;
        }
        if (!given) fail_msg("%s (sample %d) gives nothing for any row: %s", samples[k].name, k, sp_error_message());
        sp_transform_release(t);
    }
    printf("%d transforms, %d samples: %d rows made, %d refused\n", sp_transform_count(), N_SAMPLES, made, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transform_has_a_sample),
        cmocka_unit_test(rows_are_made_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
