/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c - encoded pictures of any known format. */
#include "data/codecs/codec.h"

static const sp_codec *const codecs[] = {&sp_codec_jpeg, &sp_codec_png, &sp_codec_webp, &sp_codec_bmp, &sp_codec_gif};

static sp_status find(const void *data, size_t bytes, const sp_codec **out)
{
    SP_CHECK(bytes > 0, SP_FORMAT, "image decode failed. Input Tensor has no data: the encoded image is empty");
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i]->match(data, bytes)) {
            *out = codecs[i];
            return SP_OK;
        }
    const uint8_t *p = data;
    return sp__fail(
        SP_FORMAT,
        "image decode failed. The %zu bytes (they begin with %02x %02x %02x %02x) are no image of a known format: JPEG, PNG, "
        "WebP, BMP, GIF",
        bytes, p[0], bytes > 1 ? p[1] : 0, bytes > 2 ? p[2] : 0, bytes > 3 ? p[3] : 0);
}

sp_status sp__codec_check_size(const char *format, int64_t h, int64_t w)
{
    SP_CHECK(h > 0 && w > 0 && h < SP_IMAGE_SIDE_MAX && w < SP_IMAGE_SIDE_MAX, SP_FORMAT,
             "image decode failed. The %s header says height %lld and width %lld", format, (long long)h, (long long)w);
    SP_CHECK(
        h * w <= SP_PIXELS_MAX, SP_FORMAT,
        "image decode failed. The %s header says height %lld and width %lld, more than the %d million pixels that are decoded",
        format, (long long)h, (long long)w, SP_PIXELS_MAX / 1000000);
    return SP_OK;
}

sp_status sp__codec_image(const char *format, int64_t h, int64_t w, int channels, sp_tensor **out)
{
    SP_TRY(sp__codec_check_size(format, h, w));
    return sp_tensor_create(SP_DTYPE_U8, 3, (int64_t[]){h, w, channels}, out);
}

sp_status sp_image_probe(const void *data, size_t bytes, sp_image_info *out)
{
    const sp_codec *codec = NULL;
    SP_TRY(find(data, bytes, &codec));
    sp_image_info info = {.format = codec->name};
    SP_TRY(codec->info(data, bytes, &info));
    SP_TRY(sp__codec_check_size(codec->name, info.height, info.width));
    *out = info;
    return SP_OK;
}

sp_status sp_image_decode(const void *data, size_t bytes, sp_decode_mode mode, sp_tensor **out)
{
    const sp_codec *codec = NULL;
    int channels = mode == SP_DECODE_GRAY ? 1 : 3;
    SP_TRY(find(data, bytes, &codec));
    if (mode == SP_DECODE_UNCHANGED) {
        sp_image_info info = {.format = codec->name};
        SP_TRY(codec->info(data, bytes, &info));
        channels = info.channels == 1 ? 1 : 3;
        const sp_status status = codec->decode_deep ? codec->decode_deep(data, bytes, out) : SP_DECLINED;
        if (status != SP_DECLINED) return status;
    }
    return codec->decode(data, bytes, channels, out);
}

bool sp__codec_marked(const void *data, size_t bytes)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i] != &sp_codec_bmp && bytes > 0 && codecs[i]->match(data, bytes)) return true;
    return false;
}

sp_status sp__codec_check(const void *data, size_t bytes)
{
    const sp_codec *codec = NULL;
    sp_tensor *image = NULL;
    SP_TRY(find(data, bytes, &codec));
    if (codec->check) SP_TRY(codec->check(data, bytes));
    SP_TRY(codec->decode(data, bytes, 3, &image));
    sp_tensor_release(image);
    return SP_OK;
}

sp_status sp__codec_decode_rect(const void *data, size_t bytes, sp_rect r, sp_tensor **out)
{
    const sp_codec *codec = NULL;
    SP_TRY(find(data, bytes, &codec));
    if (codec->decode_rect) return codec->decode_rect(data, bytes, r, out);
    sp_tensor *all = NULL;
    SP_TRY(codec->decode(data, bytes, 3, &all));
    sp_status status = SP_OK;
    if (r.y < 0 || r.x < 0 || r.h > all->dims[0] - r.y || r.w > all->dims[1] - r.x)
        status = sp__fail(SP_VALUE, "the rectangle reaches outside of the image");
    if (status == SP_OK)
        status = sp_tensor_view(all, 3, (int64_t[]){r.h, r.w, 3}, all->strides, r.y * all->strides[0] + r.x * 3, out);
    sp_tensor_release(all);
    return status;
}
