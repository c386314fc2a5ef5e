/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - what a picture format is: how it is recognised, what its header says, how its pixels are read.
 *
 * Sizes come from files: sp__codec_check_size is called before memory is asked for. Decoders write RGB or one channel
 * of gray, as told; they may be handed any bytes. */
#ifndef SPORE_DATA_CODEC_H
#define SPORE_DATA_CODEC_H

#include "data/transform.h"
#include "base/byte_order.h"

enum { SP_PIXELS_MAX = 1 << 28 };

typedef struct sp_codec {
    const char *name;
    bool (*match)(const uint8_t *p, size_t n);
    sp_status (*info)(const uint8_t *p, size_t n, sp_image_info *out);
    /* channels: 1 or 3, what to give; out is made by the decoder */
    sp_status (*decode)(const uint8_t *p, size_t n, int channels, sp_tensor **out);
    /* Optional: gray or RGB of 16 bits, where the file has them; SP_DECLINED otherwise. */
    sp_status (*decode_deep)(const uint8_t *p, size_t n, sp_tensor **out);
    /* Optional: stricter than decoding, which repairs what it can: everything in the file that can tell damage is looked at. */
    sp_status (*check)(const uint8_t *p, size_t n);
    /* Optional: only a rectangle, RGB. */
    sp_status (*decode_rect)(const uint8_t *p, size_t n, sp_rect r, sp_tensor **out);
} sp_codec;

extern const sp_codec sp_codec_jpeg, sp_codec_png, sp_codec_webp, sp_codec_bmp, sp_codec_gif;

sp_status sp__codec_check_size(const char *format, int64_t h, int64_t w);
/* New uint8 image of h, w, channels. */
sp_status sp__codec_image(const char *format, int64_t h, int64_t w, int channels, sp_tensor **out);
/* Is it a picture by a mark that nothing else has (two letters of BMP are none)? */
bool sp__codec_marked(const void *data, size_t bytes);
/* SP_FORMAT unless the whole picture decodes, without anything repaired on the way. */
sp_status sp__codec_check(const void *data, size_t bytes);
sp_status sp__codec_decode_rect(const void *data, size_t bytes, sp_rect r, sp_tensor **out);

/* The gray that OpenCV makes of RGB: 15-bit weights of ITU-R BT.601. */
static inline uint8_t sp__gray(int r, int g, int b)
{
    return (uint8_t)((r * 9798 + g * 19235 + b * 3735 + 16384) >> 15);
}

#endif
