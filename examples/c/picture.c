/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - a picture file made ready for training, in C: decode, resize, a random crop, flip, normalise, channels first.
 *
 *     picture [file]        any JPEG, PNG, WebP, BMP or GIF; without one a picture is drawn
 *
 * The same seed and row give the same crop, on every machine and in every thread; the crop is saved as picture.png. */
#include <stdio.h>
#include <stdlib.h>

#include <spore/spore.h>

static void check(sp_status status)
{
    if (status == SP_OK) return;
    fprintf(stderr, "picture: %s\n", sp_error_message());
    exit(1);
}

static sp_transform *make(const char *name, int n, const sp_transform_arg *args)
{
    sp_transform *t = NULL;
    check(sp_transform_create(name, n, args, 0, NULL, &t));
    return t;
}

/* Rings, as the bytes of a JPEG file. */
static sp_tensor *draw(void)
{
    enum { H = 300, W = 400 };
    sp_tensor *image = NULL, *bytes = NULL;
    check(sp_tensor_create(SP_DTYPE_U8, 3, (int64_t[]){H, W, 3}, &image));
    unsigned char *p = sp_tensor_data(image);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++, p += 3) {
            const int r2 = (x - W / 2) * (x - W / 2) + (y - H / 2) * (y - H / 2);
            p[0] = (unsigned char)(r2 / 100 % 256);
            p[1] = (unsigned char)(x * 255 / W);
            p[2] = (unsigned char)(y * 255 / H);
        }
    check(sp_image_encode_jpeg(image, 90, &bytes));
    sp_tensor_release(image);
    return bytes;
}

static sp_tensor *read_file(const char *path)
{
    sp_tensor *bytes = NULL;
    FILE *file = fopen(path, "rb");
    long n = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) n = ftell(file);
    if (n < 0) {
        fprintf(stderr, "picture: %s cannot be read\n", path);
        exit(1);
    }
    rewind(file);
    check(sp_tensor_create(SP_DTYPE_U8, 1, (int64_t[]){n}, &bytes));
    if (fread(sp_tensor_data(bytes), 1, (size_t)n, file) != (size_t)n)
        fprintf(stderr, "picture: %s is cut off\n", path);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    static const double size[1] = {256}, crop[2] = {224, 224}, mean[3] = {123.7, 116.3, 103.5},
                        std[3] = {58.4, 57.1, 57.4};
    const sp_transform_arg resize = {"size", 1, size}, square = {"size", 2, crop};
    const sp_transform_arg levels[2] = {{"mean", 3, mean}, {"std", 3, std}};
    sp_transform *steps[6] = {make("Decode", 0, NULL),        make("Resize", 1, &resize),
                              make("RandomCrop", 1, &square), make("RandomHorizontalFlip", 0, NULL),
                              make("Normalize", 2, levels),   make("HWC2CHW", 0, NULL)};
    sp_tensor *bytes = argc > 1 ? read_file(argv[1]) : draw(), *row = NULL, *shown = NULL, *png = NULL;
    sp_image_info info;
    check(sp_image_probe(sp_tensor_data(bytes), sp_tensor_bytes(bytes), &info));
    printf("%s of %lld x %lld pixels\n", info.format, (long long)info.width, (long long)info.height);

    sp_stream stream = {.seed = 42, .row = 0}, again = stream;
    check(sp_transform_run_all(6, steps, &stream, 1, &bytes, 1, &row, NULL));
    const int64_t *d = sp_tensor_dims(row);
    const float *p = sp_tensor_data(row);
    double sum = 0;
    for (int64_t i = 0; i < sp_tensor_count(row); i++) sum += p[i];
    printf("row of %s [%lld, %lld, %lld], mean %.4f\n", sp_dtype_name(sp_tensor_dtype(row)), (long long)d[0],
           (long long)d[1], (long long)d[2], sum / (double)sp_tensor_count(row));

    /* The first four steps alone, from the same place of the stream: the crop as it looks. */
    check(sp_transform_run_all(4, steps, &again, 1, &bytes, 1, &shown, NULL));
    check(sp_image_encode_png(shown, 6, &png));
    FILE *file = fopen("picture.png", "wb");
    if (file) {
        fwrite(sp_tensor_data(png), 1, sp_tensor_bytes(png), file);
        fclose(file);
        printf("saved as picture.png\n");
    }
    for (int i = 0; i < 6; i++) sp_transform_release(steps[i]);
    sp_tensor_release(bytes);
    sp_tensor_release(row);
    sp_tensor_release(shown);
    sp_tensor_release(png);
    return 0;
}
