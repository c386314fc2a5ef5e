/* SPDX-License-Identifier: Apache-2.0 */
/* webp.c - WebP by libwebp; alpha is dropped. Animated files hold their pictures in a way that the plain decoder
 * refuses, and so they are refused here. */
#include "data/codecs/codec.h"

#include "base/fail.h"

#include <webp/decode.h>

static bool match(const uint8_t *p, size_t n)
{
    return n > 12 && memcmp(p, "RIFF", 4) == 0 && memcmp(p + 8, "WEBP", 4) == 0;
}

static sp_status features(const uint8_t *p, size_t n, WebPBitstreamFeatures *f)
{
    const VP8StatusCode code = WebPGetFeatures(p, n, f);
    SP_CHECK(code == VP8_STATUS_OK, SP_FORMAT, "image decode failed. The WebP data is damaged (code %d)", (int)code);
    SP_CHECK(!f->has_animation, SP_FORMAT, "an animated WebP cannot be decoded");
    return SP_OK;
}

static sp_status info(const uint8_t *p, size_t n, sp_image_info *out)
{
    WebPBitstreamFeatures f;
    SP_TRY(features(p, n, &f));
    out->height = f.height;
    out->width = f.width;
    out->channels = 3;
    return SP_OK;
}

static VP8StatusCode decode_into(const uint8_t *p, size_t n, int width, sp_tensor *rgb, WebPDecoderConfig *config)
{
    config->output.colorspace = MODE_RGB;
    config->output.is_external_memory = 1;
    config->output.u.RGBA =
        (WebPRGBABuffer){.rgba = (uint8_t *)rgb->data, .stride = width * 3, .size = sp_tensor_bytes(rgb)};
    const VP8StatusCode code = WebPDecode(p, n, config);
    WebPFreeDecBuffer(&config->output);
    return code;
}

static sp_status decode(const uint8_t *p, size_t n, int channels, sp_tensor **out)
{
    WebPBitstreamFeatures f;
    sp_tensor *rgb = NULL, *gray = NULL;
    SP_TRY(features(p, n, &f));
    SP_TRY(sp__codec_image("WebP", f.height, f.width, 3, &rgb));
    sp_status status = SP_OK;
    WebPDecoderConfig config;
    const VP8StatusCode code =
        WebPInitDecoderConfig(&config) ? decode_into(p, n, f.width, rgb, &config) : VP8_STATUS_INVALID_PARAM;
    /* Some of its failures to get memory are told as damage. */
    if (code == VP8_STATUS_OUT_OF_MEMORY || (code != VP8_STATUS_OK && sp__memory_is_out()))
        status = sp__fail(SP_NOMEM, "out of memory while a WebP is read");
    else if (code != VP8_STATUS_OK) status = sp__fail(SP_FORMAT, "image decode failed. The WebP data is damaged");
    if (status == SP_OK && channels == 3) {
        *out = rgb;
        return SP_OK;
    }
    if (status == SP_OK) status = sp__codec_image("WebP", f.height, f.width, 1, &gray);
    if (status == SP_OK) {
        const uint8_t *src = (const uint8_t *)rgb->data;
        for (int64_t i = 0; i < gray->count; i++, src += 3) gray->data[i] = (char)sp__gray(src[0], src[1], src[2]);
        *out = gray;
    }
    sp_tensor_release(rgb);
    return status;
}

const sp_codec sp_codec_webp = {.name = "WebP", .match = match, .info = info, .decode = decode};
