/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg.c - JPEG by libjpeg-turbo, whole or a rectangle of it.
 *
 * The library reports a fatal error by a function that must not return: it jumps back to the call here (setjmp), where
 * everything is released. Data that ends early is an error, as in MindSpore; other damage that the library repairs
 * ("extraneous bytes") is not. Variables that are set between setjmp and a jump live in one struct in memory, for
 * registers are lost by the jump. */
#include "base/handle.h"
#include "data/codecs/codec.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

typedef struct reader {
    struct jpeg_error_mgr errors; /* first: the library hands back a pointer to it */
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
    struct jpeg_decompress_struct jpeg;
    struct jpeg_source_mgr source;
    sp_tensor *image;
    uint8_t *line; /* one row as the library gives it */
    int64_t max_line_bytes;
    sp_status status;
} reader;

static void on_error(j_common_ptr c)
{
    reader *r = (reader *)(void *)c->err;
    c->err->format_message(c, r->message);
    longjmp(r->back, 1);
}

static void on_message(j_common_ptr c) { (void)c; }

/* For those who want to know of damage that the library repairs: warnings have a negative level. */
static void on_warning(j_common_ptr c, int level)
{
    if (level < 0) on_error(c);
}

static void source_nothing(j_decompress_ptr j) { (void)j; }
static boolean source_fill(j_decompress_ptr j)
{
    ERREXIT(j, JERR_INPUT_EOF); /* all there is was given at the start */
    return FALSE;
}
static void source_skip(j_decompress_ptr j, long n)
{
    if (n <= 0) return;
    if ((size_t)n > j->src->bytes_in_buffer) n = (long)j->src->bytes_in_buffer;
    j->src->next_input_byte += n;
    j->src->bytes_in_buffer -= (size_t)n;
}

static sp_status read_failed(const reader *r)
{
    if (r->errors.msg_code == JERR_OUT_OF_MEMORY) return sp__fail(SP_NOMEM, "out of memory while a JPEG is read");
    return sp__fail(SP_FORMAT, "image decode failed. The JPEG data is damaged: %s", r->message);
}

/* Reads the header; on failure the reader is closed already. */
static sp_status reader_open(reader *r, const uint8_t *p, size_t n, bool strict)
{
    memset(r, 0, sizeof *r);
    r->jpeg.err = jpeg_std_error(&r->errors);
    if (strict) r->errors.emit_message = on_warning;
    r->errors.error_exit = on_error;
    r->errors.output_message = on_message;
    if (setjmp(r->back)) {
        jpeg_destroy_decompress(&r->jpeg);
        return read_failed(r);
    }
    jpeg_create_decompress(&r->jpeg);
    r->source = (struct jpeg_source_mgr){.init_source = source_nothing,
                                         .fill_input_buffer = source_fill,
                                         .skip_input_data = source_skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = source_nothing,
                                         .next_input_byte = p,
                                         .bytes_in_buffer = n};
    r->jpeg.src = &r->source;
    jpeg_read_header(&r->jpeg, TRUE);
    return SP_OK;
}

static void reader_close(reader *r)
{
    jpeg_destroy_decompress(&r->jpeg);
    sp__free(r->line);
    sp_tensor_release(r->image);
}

static bool match(const uint8_t *p, size_t n) { return n > 3 && p[0] == 0xFF && p[1] == 0xD8 && p[2] == 0xFF; }

static sp_status info(const uint8_t *p, size_t n, sp_image_info *out)
{
    reader r;
    SP_TRY(reader_open(&r, p, n, false));
    out->height = r.jpeg.image_height;
    out->width = r.jpeg.image_width;
    out->channels = r.jpeg.num_components == 1 ? 1 : 3;
    reader_close(&r);
    return SP_OK;
}

/* Adobe's CMYK is stored inverted. */
static void cmyk_row(const uint8_t *src, int w, bool inverted, int channels, uint8_t *dst)
{
    for (int x = 0; x < w; x++, src += 4, dst += channels) {
        uint8_t rgb[3];
        for (int i = 0; i < 3; i++)
            rgb[i] = (uint8_t)(inverted ? src[i] * src[3] / 255 : (255 - src[i]) * (255 - src[3]) / 255);
        if (channels == 3) memcpy(dst, rgb, 3);
        else *dst = sp__gray(rgb[0], rgb[1], rgb[2]);
    }
}

/* Everything that can jump, on the state in *r. */
static void read_rows(reader *r, sp_rect rect, int channels)
{
    struct jpeg_decompress_struct *j = &r->jpeg;
    jpeg_start_decompress(j);
    /* A column of the output may need its neighbours on both sides (smooth chroma), so more is read than asked for. */
    JDIMENSION first = 0, width = j->output_width;
    if (rect.x > 0 || (JDIMENSION)rect.w < j->output_width) {
        first = (JDIMENSION)(rect.x > 16 ? rect.x - 16 : 0);
        width = (JDIMENSION)(rect.x + rect.w + 16) - first;
        if (width > j->output_width - first) width = j->output_width - first;
        jpeg_crop_scanline(j, &first, &width);
    }
    if (rect.y > 0) jpeg_skip_scanlines(j, (JDIMENSION)rect.y);
    const int skip = (rect.x - (int)first) * j->output_components;
    uint8_t *dst = (uint8_t *)r->image->data;
    for (int y = 0; y < rect.h; y++, dst += (int64_t)rect.w * channels) {
        JSAMPROW row = r->line;
        jpeg_read_scanlines(j, &row, 1);
        if (j->out_color_space == JCS_CMYK) cmyk_row(r->line + skip, rect.w, j->saw_Adobe_marker, channels, dst);
        else memcpy(dst, r->line + skip, (size_t)rect.w * (size_t)channels);
    }
}

static sp_status read_rect(const uint8_t *p, size_t n, const sp_rect *wanted, int channels, bool strict,
                           sp_tensor **out)
{
    reader r;
    SP_TRY(reader_open(&r, p, n, strict));
    struct jpeg_decompress_struct *j = &r.jpeg;
    const sp_rect all = {0, 0, (int)j->image_height, (int)j->image_width}, rect = wanted ? *wanted : all;
    r.status = sp__codec_check_size("JPEG", j->image_height, j->image_width);
    if (r.status == SP_OK && (rect.y < 0 || rect.x < 0 || rect.h > all.h - rect.y || rect.w > all.w - rect.x))
        r.status = sp__fail(SP_VALUE, "the rectangle reaches outside of the image");
    if (r.status == SP_OK) r.status = sp__codec_image("JPEG", rect.h, rect.w, channels, &r.image);
    if (r.status == SP_OK) {
        r.line = sp__alloc((size_t)all.w * 4);
        if (!r.line) r.status = SP_NOMEM;
    }
    if (r.status == SP_OK) {
        if (setjmp(r.back)) {
            r.status = read_failed(&r);
        } else {
            j->out_color_space = j->num_components == 4 ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
            read_rows(&r, rect, channels);
            if (strict) jpeg_finish_decompress(j); /* reads on to the end of the picture */
        }
    }
    if (r.status == SP_OK) {
        *out = r.image;
        r.image = NULL;
    }
    reader_close(&r);
    return r.status;
}

static sp_status decode(const uint8_t *p, size_t n, int channels, sp_tensor **out)
{
    return read_rect(p, n, NULL, channels, false, out);
}

static sp_status decode_rect(const uint8_t *p, size_t n, sp_rect r, sp_tensor **out)
{
    return read_rect(p, n, &r, 3, false, out);
}

static sp_status check(const uint8_t *p, size_t n)
{
    sp_tensor *image = NULL;
    SP_TRY(read_rect(p, n, NULL, 3, true, &image));
    sp_tensor_release(image);
    return SP_OK;
}

const sp_codec sp_codec_jpeg = {
    .name = "JPEG", .match = match, .info = info, .decode = decode, .check = check, .decode_rect = decode_rect};

/* --- writing ------------------------------------------------------------------------------------------------------ */

typedef struct writer {
    struct jpeg_error_mgr errors;
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
    struct jpeg_compress_struct jpeg;
    unsigned char *bytes; /* malloc'ed by the library */
    unsigned long n_bytes;
} writer;

static void on_write_error(j_common_ptr c)
{
    writer *w = (writer *)(void *)c->err;
    c->err->format_message(c, w->message);
    longjmp(w->back, 1);
}

static void write_rows(writer *w, const sp_image *m, int quality)
{
    struct jpeg_compress_struct *j = &w->jpeg;
    jpeg_create_compress(j);
    jpeg_mem_dest(j, &w->bytes, &w->n_bytes);
    j->image_width = (JDIMENSION)m->w;
    j->image_height = (JDIMENSION)m->h;
    j->input_components = m->c;
    j->in_color_space = m->c == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(j);
    jpeg_set_quality(j, quality, TRUE);
    jpeg_start_compress(j, TRUE);
    for (int y = 0; y < m->h; y++) {
        JSAMPROW row = sp__image_row(m, y);
        jpeg_write_scanlines(j, &row, 1);
    }
    jpeg_finish_compress(j);
}

static sp_status encode(const sp_image *m, int quality, sp_tensor **out)
{
    writer w;
    memset(&w, 0, sizeof w);
    w.jpeg.err = jpeg_std_error(&w.errors);
    w.errors.error_exit = on_write_error;
    w.errors.output_message = on_message;
    sp_status status;
    if (setjmp(w.back)) {
        status = w.errors.msg_code == JERR_OUT_OF_MEMORY
                     ? sp__fail(SP_NOMEM, "out of memory while a JPEG is written")
                     : sp__fail(SP_RUNTIME, "the image cannot be written as JPEG: %s", w.message);
    } else {
        write_rows(&w, m, quality);
        status = sp_tensor_create_from(SP_DTYPE_U8, 1, (int64_t[]){(int64_t)w.n_bytes}, w.bytes, out);
    }
    jpeg_destroy_compress(&w.jpeg);
    free(w.bytes);
    return status;
}

sp_status sp_image_encode_jpeg(const sp_tensor *image, int quality, sp_tensor **out)
{
    SP_HANDLE(image);
    sp_image m;
    sp_tensor *copy;
    SP_TRY(sp__image_view("EncodeJpeg", (sp_tensor *)(uintptr_t)image, &m, &copy));
    sp_status status;
    if (m.dtype != SP_DTYPE_U8)
        status = sp__fail(SP_RUNTIME, "EncodeJpeg: The type of the image data should be UINT8, but got %s.",
                          sp_dtype_name(m.dtype));
    else if (m.c != 1 && m.c != 3)
        status = sp__fail(SP_RUNTIME,
                          "EncodeJpeg: The image has invalid channels. It should have 1 or 3 channels, but got %d "
                          "channels.",
                          m.c);
    else if (quality < 1 || quality > 100)
        status = sp__fail(SP_RUNTIME, "EncodeJpeg: Invalid quality %d, should be in range of [1, 100].", quality);
    else if (m.h > JPEG_MAX_DIMENSION || m.w > JPEG_MAX_DIMENSION)
        status = sp__fail(SP_RUNTIME, "encode_jpeg: height %d and width %d are more than a JPEG can have", m.h, m.w);
    else status = encode(&m, quality, out);
    sp_tensor_release(copy);
    return status;
}
