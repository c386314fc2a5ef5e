/* SPDX-License-Identifier: Apache-2.0 */
/* bmp.c - Windows bitmaps: 1, 4, 8, 16, 24 and 32 bits a pixel, plain or with colour masks; not run-length encoded.
 *
 * Layout, little endian: file header {"BM", u32 size, u32 0, u32 offset of the pixels}, then an info header {u32 its
 * size, i32 width, i32 height (negative: rows from the top), u16 1, u16 bits, u32 compression, ...}, masks for
 * compression 3, a palette of {blue, green, red, 0} for up to 8 bits, then rows padded to 4 bytes. The old header of 12
 * bytes has 16-bit sizes and a palette of three bytes an entry. */
#include "data/codecs/codec.h"

typedef struct bitmap {
    int64_t h, w;
    bool from_top;
    int bits;
    uint32_t mask[3]; /* red, green, blue */
    const uint8_t *palette;
    int palette_step;
    uint32_t n_palette;
    const uint8_t *pixels;
    int64_t row_bytes;
} bitmap;

static bool match(const uint8_t *p, size_t n) { return n > 2 && p[0] == 'B' && p[1] == 'M'; }

static sp_status parse_palette(const uint8_t *p, size_t n, uint32_t header, bool old, bitmap *b)
{
    const uint32_t used = old || header < 40 ? 0 : sp__le32(p + 46), most = 1u << b->bits;
    SP_CHECK(used <= most, SP_FORMAT, "the BMP palette has %u colours, but pixels of %d bits", used, b->bits);
    b->n_palette = used ? used : most;
    b->palette_step = old ? 3 : 4;
    SP_CHECK((size_t)14 + header + (size_t)b->n_palette * (size_t)b->palette_step <= n, SP_FORMAT,
             "the BMP data ends within its palette");
    b->palette = p + 14 + header;
    return SP_OK;
}

static sp_status parse(const uint8_t *p, size_t n, bitmap *b)
{
    memset(b, 0, sizeof *b);
    SP_CHECK(n >= 26, SP_FORMAT, "the BMP data ends within its header");
    const uint32_t header = sp__le32(p + 14), offset = sp__le32(p + 10);
    const bool old = header == 12;
    SP_CHECK((old || header >= 40) && header <= 256 && (size_t)14 + header <= n, SP_FORMAT,
             "the BMP header has %u bytes, which is no known kind", header);
    const int64_t height = old ? (int64_t)sp__le16(p + 20) : (int64_t)(int32_t)sp__le32(p + 22);
    b->w = old ? (int64_t)sp__le16(p + 18) : (int64_t)(int32_t)sp__le32(p + 18);
    b->from_top = height < 0;
    b->h = height < 0 ? -height : height;
    b->bits = (int)sp__le16(p + (old ? 24 : 28));
    SP_TRY(sp__codec_check_size("BMP", b->h, b->w));
    const uint32_t compression = old ? 0 : sp__le32(p + 30);
    SP_CHECK(compression == 0 || (compression == 3 && (b->bits == 16 || b->bits == 32)), SP_FORMAT,
             "a BMP with compression %u and %d bits cannot be decoded", compression, b->bits);
    switch (b->bits) {
    case 1:
    case 4:
    case 8: SP_TRY(parse_palette(p, n, header, old, b)); break;
    case 16: b->mask[0] = 0x7C00, b->mask[1] = 0x03E0, b->mask[2] = 0x001F; break;
    case 24: break;
    case 32: b->mask[0] = 0xFF0000, b->mask[1] = 0xFF00, b->mask[2] = 0xFF; break;
    default: return sp__fail(SP_FORMAT, "a BMP of %d bits a pixel is not known", b->bits);
    }
    if (compression == 3) { /* in the header from version 2 on, else behind it: the same place */
        SP_CHECK(n >= 66, SP_FORMAT, "the BMP data ends within its colour masks");
        for (int i = 0; i < 3; i++) b->mask[i] = sp__le32(p + 54 + 4 * i);
    }
    b->row_bytes = (b->w * b->bits + 31) / 32 * 4;
    SP_CHECK(offset <= n && (uint64_t)b->row_bytes * (uint64_t)b->h <= n - offset, SP_FORMAT,
             "the BMP data ends early: %lld rows of %lld bytes are missing some", (long long)b->h,
             (long long)b->row_bytes);
    b->pixels = p + offset;
    return SP_OK;
}

static sp_status info(const uint8_t *p, size_t n, sp_image_info *out)
{
    bitmap b;
    SP_TRY(parse(p, n, &b));
    out->height = b.h;
    out->width = b.w;
    out->channels = 3;
    return SP_OK;
}

/* The bits of a mask scaled to 0..255. */
static uint8_t masked(uint32_t v, uint32_t mask)
{
    if (!mask) return 0;
    const int shift = __builtin_ctz(mask);
    const uint64_t top = mask >> shift, value = (v & mask) >> shift;
    return (uint8_t)((value * 255 + top / 2) / top);
}

static void pixel_at(const bitmap *b, const uint8_t *row, int64_t x, uint8_t *rgb)
{
    if (b->bits <= 8) {
        const int per_byte = 8 / b->bits, shift = (per_byte - 1 - (int)(x % per_byte)) * b->bits;
        uint32_t index = (uint32_t)(row[x / per_byte] >> shift) & ((1u << b->bits) - 1);
        if (index >= b->n_palette) index = b->n_palette - 1;
        const uint8_t *entry = b->palette + index * (uint32_t)b->palette_step;
        rgb[0] = entry[2], rgb[1] = entry[1], rgb[2] = entry[0];
    } else if (b->bits == 24) {
        rgb[0] = row[3 * x + 2], rgb[1] = row[3 * x + 1], rgb[2] = row[3 * x];
    } else {
        const uint32_t v = b->bits == 16 ? sp__le16(row + 2 * x) : sp__le32(row + 4 * x);
        for (int i = 0; i < 3; i++) rgb[i] = masked(v, b->mask[i]);
    }
}

static sp_status decode(const uint8_t *p, size_t n, int channels, sp_tensor **out)
{
    bitmap b;
    sp_tensor *t = NULL;
    SP_TRY(parse(p, n, &b));
    SP_TRY(sp__codec_image("BMP", b.h, b.w, channels, &t));
    uint8_t *dst = (uint8_t *)t->data;
    for (int64_t y = 0; y < b.h; y++) {
        const uint8_t *row = b.pixels + (b.from_top ? y : b.h - 1 - y) * b.row_bytes;
        for (int64_t x = 0; x < b.w; x++, dst += channels) {
            uint8_t rgb[3];
            pixel_at(&b, row, x, rgb);
            if (channels == 1) *dst = sp__gray(rgb[0], rgb[1], rgb[2]);
            else memcpy(dst, rgb, 3);
        }
    }
    *out = t;
    return SP_OK;
}

const sp_codec sp_codec_bmp = {.name = "BMP", .match = match, .info = info, .decode = decode};
