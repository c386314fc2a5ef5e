/* SPDX-License-Identifier: Apache-2.0 */
/* png.c - PNG by libspng. Palettes and low bit depths are expanded, 16 bits lose their low half, alpha is dropped. */
#include "data/codecs/codec.h"

#include <stdlib.h>

#include <spng.h>
#include <zlib.h>

static const uint8_t magic[8] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
enum { CHUNK_LIMIT = 64 << 20 };

static bool match(const uint8_t *p, size_t n) { return n > 4 && memcmp(p, magic, n < 8 ? 4 : 8) == 0; }

/* The library tells a lack of memory inside of zlib as damaged data: whether there was one is noted where it asks. */
static _Thread_local bool starved;
static void *note(void *block)
{
    if (!block) starved = true;
    return block;
}
static void *png_malloc(size_t bytes) { return note(malloc(bytes)); }
static void *png_realloc(void *block, size_t bytes) { return note(realloc(block, bytes)); }
static void *png_calloc(size_t n, size_t bytes) { return note(calloc(n, bytes)); }
static spng_ctx *context_new(int flags)
{
    starved = false;
    return spng_ctx_new2(
        &(struct spng_alloc){
            .malloc_fn = png_malloc, .realloc_fn = png_realloc, .calloc_fn = png_calloc, .free_fn = free},
        flags);
}

static sp_status failed(int error)
{
    if (starved || error == SPNG_EMEM) return sp__fail(SP_NOMEM, "out of memory while a PNG is read");
    return sp__fail(SP_FORMAT, "image decode failed. The PNG data is damaged: %s", spng_strerror(error));
}

static sp_status open(const uint8_t *p, size_t n, spng_ctx **out, struct spng_ihdr *head)
{
    spng_ctx *png = context_new(0);
    if (!png) return sp__fail(SP_NOMEM, "out of memory while a PNG is read");
    int error = spng_set_crc_action(png, SPNG_CRC_USE, SPNG_CRC_USE);
    if (!error) error = spng_set_chunk_limits(png, CHUNK_LIMIT, CHUNK_LIMIT);
    if (!error) error = spng_set_png_buffer(png, p, n);
    if (!error) error = spng_get_ihdr(png, head);
    if (error) {
        spng_ctx_free(png);
        return failed(error);
    }
    *out = png;
    return SP_OK;
}

static sp_status info(const uint8_t *p, size_t n, sp_image_info *out)
{
    spng_ctx *png = NULL;
    struct spng_ihdr head;
    SP_TRY(open(p, n, &png, &head));
    out->height = head.height;
    out->width = head.width;
    const bool gray =
        head.color_type == SPNG_COLOR_TYPE_GRAYSCALE || head.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
    out->channels = gray ? 1 : 3;
    spng_ctx_free(png);
    return SP_OK;
}

static sp_status decode(const uint8_t *p, size_t n, int channels, sp_tensor **out)
{
    spng_ctx *png = NULL;
    struct spng_ihdr head;
    sp_tensor *rgb = NULL;
    SP_TRY(open(p, n, &png, &head));
    sp_status status;
    SP_GOTO(done, sp__codec_image("PNG", head.height, head.width, 3, &rgb));
    const int error = spng_decode_image(png, rgb->data, sp_tensor_bytes(rgb), SPNG_FMT_RGB8, 0);
    if (error) {
        status = failed(error);
        goto done;
    }
    if (channels == 3) {
        *out = rgb;
        rgb = NULL;
        goto done;
    }
    sp_tensor *gray = NULL;
    SP_GOTO(done, sp__codec_image("PNG", head.height, head.width, 1, &gray));
    const uint8_t *src = (const uint8_t *)rgb->data;
    for (int64_t i = 0; i < gray->count; i++, src += 3) gray->data[i] = (char)sp__gray(src[0], src[1], src[2]);
    *out = gray;
done:
    spng_ctx_free(png);
    sp_tensor_release(rgb);
    return status;
}

static sp_status decode_deep(const uint8_t *p, size_t n, sp_tensor **out)
{
    spng_ctx *png = NULL;
    struct spng_ihdr head;
    sp_tensor *t = NULL;
    uint16_t *pixels = NULL;
    SP_TRY(open(p, n, &png, &head));
    const bool gray =
        head.color_type == SPNG_COLOR_TYPE_GRAYSCALE || head.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
    const int channels = gray ? 1 : 3;
    sp_status status = head.bit_depth == 16 ? SP_OK : SP_DECLINED;
    if (status != SP_OK) goto done;
    SP_GOTO(done, sp__codec_check_size("PNG", head.height, head.width));
    SP_GOTO(done, sp_tensor_create(SP_DTYPE_U16, 3, (int64_t[]){head.height, head.width, channels}, &t));
    const size_t count = (size_t)head.height * head.width;
    pixels = sp__alloc(count * 8);
    if (!pixels) {
        status = SP_NOMEM;
        goto done;
    }
    const int error = spng_decode_image(png, pixels, count * 8, SPNG_FMT_RGBA16, 0);
    if (error) {
        status = failed(error);
        goto done;
    }
    uint16_t *dst = (uint16_t *)(void *)t->data;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < channels; k++) *dst++ = pixels[i * 4 + (size_t)k];
    *out = t;
    t = NULL;
done:
    sp__free(pixels);
    sp_tensor_release(t);
    spng_ctx_free(png);
    return status;
}

/* Chunks: length (4 bytes), type (4), contents, checksum of type and contents (4); decoding goes on where these do not agree. */
static sp_status check(const uint8_t *p, size_t n)
{
    enum { FRAME = 12 };
    for (size_t at = sizeof magic; at < n;) {
        SP_CHECK(n - at >= FRAME && sp__be32(p + at) <= n - at - FRAME, SP_FORMAT,
                 "the PNG is damaged: a chunk at byte %zu goes past its end", at);
        size_t length = sp__be32(p + at);
        SP_CHECK(crc32_z(0, p + at + 4, length + 4) == sp__be32(p + at + 8 + length), SP_FORMAT,
                 "the PNG is damaged: the checksum of the chunk at byte %zu differs", at);
        if (memcmp(p + at + 4, "IEND", 4) == 0) return SP_OK;
        at += FRAME + length;
    }
    return sp__fail(SP_FORMAT, "the PNG is damaged: its end is missing");
}

const sp_codec sp_codec_png = {
    .name = "PNG", .match = match, .info = info, .decode = decode, .check = check, .decode_deep = decode_deep};

/* --- writing ------------------------------------------------------------------------------------------------------ */

static sp_status encode(const sp_image *m, int level, sp_tensor **out)
{
    spng_ctx *png = context_new(SPNG_CTX_ENCODER);
    if (!png) return sp__fail(SP_NOMEM, "out of memory while a PNG is written");
    struct spng_ihdr head = {.width = (uint32_t)m->w,
                             .height = (uint32_t)m->h,
                             .bit_depth = 8,
                             .color_type = m->c == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR};
    int error = spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1);
    if (!error) error = spng_set_option(png, SPNG_IMG_COMPRESSION_LEVEL, level);
    if (!error) error = spng_set_ihdr(png, &head);
    if (!error)
        error = spng_encode_image(png, m->data, (size_t)m->h * (size_t)m->stride, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    size_t n = 0;
    void *bytes = error ? NULL : spng_get_png_buffer(png, &n, &error);
    sp_status status = SP_OK;
    if (!bytes && (starved || error == SPNG_EMEM)) status = sp__fail(SP_NOMEM, "out of memory while a PNG is written");
    else if (!bytes) status = sp__fail(SP_RUNTIME, "the image cannot be written as PNG: %s", spng_strerror(error));
    else status = sp_tensor_create_from(SP_DTYPE_U8, 1, (int64_t[]){(int64_t)n}, bytes, out);
    free(bytes);
    spng_ctx_free(png);
    return status;
}

sp_status sp_image_encode_png(const sp_tensor *image, int level, sp_tensor **out)
{
    sp_image m;
    sp_tensor *copy, *dense = NULL;
    /* The library reads the image in one piece. */
    SP_TRY(sp_tensor_contiguous((sp_tensor *)(uintptr_t)image, &dense));
    sp_status status = sp__image_view("EncodePng", dense, &m, &copy);
    if (status == SP_OK) {
        if (m.dtype != SP_DTYPE_U8)
            status = sp__fail(SP_RUNTIME, "EncodePng: The type of the image data should be UINT8, but got %s.",
                              sp_dtype_name(m.dtype));
        else if (m.c != 1 && m.c != 3)
            status = sp__fail(
                SP_RUNTIME,
                "EncodePng: The image has invalid channels. It should have 1 or 3 channels, but got %d channels.", m.c);
        else if (level < 0 || level > 9)
            status =
                sp__fail(SP_RUNTIME, "EncodePng: Invalid compression_level %d, should be in range of [0, 9].", level);
        else status = encode(&m, level, out);
    }
    sp_tensor_release(copy);
    sp_tensor_release(dense);
    return status;
}
