/* SPDX-License-Identifier: Apache-2.0 */
/* gif.c - the first picture of a GIF, with the background where it does not cover the canvas.
 *
 * Layout: "GIF87a" or "GIF89a", canvas {u16 width, u16 height, u8 flags, u8 background, u8 aspect}, a palette if flag 128
 * says so, then blocks: 0x21 extension {label, sub-blocks}, 0x2C picture {u16 left, top, width, height, u8 flags},
 * palette, u8 code size, sub-blocks of LZW codes, 0x3B the end. A sub-block is {u8 n, n bytes}; n = 0 ends a run. */
#include "data/codecs/codec.h"

typedef struct cursor {
    const uint8_t *p, *end;
} cursor;

static bool match(const uint8_t *p, size_t n)
{
    return n > 6 && (memcmp(p, "GIF87a", 6) == 0 || memcmp(p, "GIF89a", 6) == 0);
}

static sp_status need(const cursor *c, size_t n)
{
    SP_CHECK((size_t)(c->end - c->p) >= n, SP_FORMAT, "the GIF data ends early");
    return SP_OK;
}

static sp_status info(const uint8_t *p, size_t n, sp_image_info *out)
{
    SP_CHECK(n >= 13, SP_FORMAT, "the GIF data ends within its header");
    out->width = sp__le16(p + 6);
    out->height = sp__le16(p + 8);
    out->channels = 3;
    return SP_OK;
}

static sp_status skip_blocks(cursor *c)
{
    for (;;) {
        SP_TRY(need(c, 1));
        const size_t n = *c->p++;
        if (n == 0) return SP_OK;
        SP_TRY(need(c, n));
        c->p += n;
    }
}

static sp_status palette(cursor *c, int flags, const uint8_t **colours, int *n)
{
    if (!(flags & 128)) return SP_OK;
    *n = 2 << (flags & 7);
    SP_TRY(need(c, (size_t)*n * 3));
    *colours = c->p;
    c->p += *n * 3;
    return SP_OK;
}

/* --- LZW ---------------------------------------------------------------------------------------------------------- */

enum { CODES = 4096 };

typedef struct lzw {
    cursor *c;
    size_t in_block; /* bytes left of the sub-block */
    bool done;
    uint32_t bits;
    int n_bits;
    uint16_t prefix[CODES];
    uint8_t last[CODES], first[CODES], stack[CODES];
} lzw;

/* The next code, or -1 when the data is at its end. */
static int next_code(lzw *z, int size)
{
    while (z->n_bits < size) {
        if (z->in_block == 0) {
            if (z->done || z->c->p >= z->c->end) return -1;
            z->in_block = *z->c->p++;
            if (z->in_block == 0) {
                z->done = true;
                return -1;
            }
        }
        if (z->c->p >= z->c->end) return -1;
        z->bits |= (uint32_t)*z->c->p++ << z->n_bits;
        z->n_bits += 8;
        z->in_block--;
    }
    const int code = (int)(z->bits & ((1u << size) - 1));
    z->bits >>= size;
    z->n_bits -= size;
    return code;
}

/* Palette indices into out[n]; how many there were. */
static int64_t unpack(lzw *z, int min_size, uint8_t *out, int64_t n)
{
    const int clear = 1 << min_size, stop = clear + 1;
    int size = min_size + 1, next = clear + 2, old = -1;
    int64_t made = 0;
    for (int i = 0; i < clear; i++) {
        z->prefix[i] = 0;
        z->last[i] = z->first[i] = (uint8_t)i;
    }
    while (made < n) {
        const int code = next_code(z, size);
        if (code < 0 || code == stop) break;
        if (code == clear) {
            size = min_size + 1, next = clear + 2, old = -1;
            continue;
        }
        if (code > next || (code == next && old < 0) || (old < 0 && code >= clear)) break; /* no such code yet */
        int depth = 0, at = code;
        if (code == next) {
            z->stack[depth++] = z->first[old];
            at = old;
        }
        while (at >= clear && depth < CODES - 1) {
            z->stack[depth++] = z->last[at];
            at = z->prefix[at];
        }
        z->stack[depth++] = (uint8_t)at;
        const uint8_t head = (uint8_t)at;
        while (depth > 0 && made < n) out[made++] = z->stack[--depth];
        if (old >= 0 && next < CODES) {
            z->prefix[next] = (uint16_t)old;
            z->last[next] = head;
            z->first[next] = z->first[old];
            next++;
            if (next == 1 << size && size < 12) size++;
        }
        old = code;
    }
    return made;
}

/* --- the picture -------------------------------------------------------------------------------------------------- */

typedef struct frame {
    int64_t x, y, w, h;
    bool interlaced;
    const uint8_t *colours;
    int n_colours;
} frame;

/* Row number i of an interlaced picture is this row. */
static int64_t interlaced_row(int64_t i, int64_t h)
{
    static const int start[4] = {0, 4, 2, 1}, step[4] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; pass++) {
        const int64_t n = h > start[pass] ? (h - start[pass] + step[pass] - 1) / step[pass] : 0;
        if (i < n) return start[pass] + i * step[pass];
        i -= n;
    }
    return h - 1;
}

static void put(uint8_t *dst, const uint8_t *rgb, int channels)
{
    if (channels == 1) *dst = sp__gray(rgb[0], rgb[1], rgb[2]);
    else memcpy(dst, rgb, 3);
}

static void paint(const frame *f, const uint8_t *index, int64_t n, int64_t width, int64_t height, int channels,
                  uint8_t *canvas)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i / f->w, y = f->y + (f->interlaced ? interlaced_row(row, f->h) : row), x = f->x + i % f->w;
        if (x >= width || y >= height || index[i] >= f->n_colours) continue;
        put(canvas + (y * width + x) * channels, f->colours + 3 * index[i], channels);
    }
}

static sp_status find_frame(cursor *c, frame *f)
{
    for (;;) {
        SP_TRY(need(c, 1));
        const int kind = *c->p++;
        if (kind == 0x2C) break;
        SP_CHECK(kind == 0x21, SP_FORMAT, "the GIF holds no picture");
        SP_TRY(need(c, 1));
        c->p++;
        SP_TRY(skip_blocks(c));
    }
    SP_TRY(need(c, 9));
    *f = (frame){.x = sp__le16(c->p),
                 .y = sp__le16(c->p + 2),
                 .w = sp__le16(c->p + 4),
                 .h = sp__le16(c->p + 6),
                 .interlaced = (c->p[8] & 64) != 0,
                 .colours = f->colours,
                 .n_colours = f->n_colours};
    const int flags = c->p[8];
    c->p += 9;
    SP_TRY(palette(c, flags, &f->colours, &f->n_colours));
    SP_CHECK(f->colours, SP_FORMAT, "the GIF has no palette");
    return sp__codec_check_size("GIF", f->h, f->w);
}

static sp_status decode(const uint8_t *p, size_t n, int channels, sp_tensor **out)
{
    cursor c = {p + 13, p + n};
    frame f = {0};
    lzw *z = NULL;
    uint8_t *index = NULL;
    sp_tensor *t = NULL;
    sp_image_info size = {0};
    sp_status status;
    SP_TRY(info(p, n, &size));
    SP_TRY(palette(&c, p[10], &f.colours, &f.n_colours));
    const uint8_t *background = f.colours && p[11] < f.n_colours ? f.colours + 3 * p[11] : NULL;
    SP_TRY(find_frame(&c, &f));
    SP_TRY(need(&c, 1));
    const int min_size = *c.p++;
    SP_CHECK(min_size >= 2 && min_size <= 8, SP_FORMAT, "the GIF picture has codes of %d bits", min_size);
    SP_GOTO(done, sp__codec_image("GIF", size.height, size.width, channels, &t));
    z = sp__alloc_zero(sizeof *z);
    index = sp__alloc((size_t)(f.w * f.h));
    if (!z || !index) {
        status = SP_NOMEM;
        goto done;
    }
    z->c = &c;
    const int64_t made = unpack(z, min_size, index, f.w * f.h);
    if (made < f.w * f.h) {
        status = sp__fail(SP_FORMAT, "image decode failed. The GIF data is damaged: %lld of %lld pixels are there",
                          (long long)made, (long long)(f.w * f.h));
        goto done;
    }
    memset(t->data, 0, sp_tensor_bytes(t));
    for (int64_t i = 0; background && i < size.height * size.width; i++)
        put((uint8_t *)t->data + i * channels, background, channels);
    paint(&f, index, made, size.width, size.height, channels, (uint8_t *)t->data);
    *out = t;
    t = NULL;
done:
    sp__free(z);
    sp__free(index);
    sp_tensor_release(t);
    return status;
}

const sp_codec sp_codec_gif = {.name = "GIF", .match = match, .info = info, .decode = decode};
