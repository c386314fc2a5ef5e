/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_image.c - ImageDecoder: the bytes of a picture file as pixels. */
#include "base/parts.h"
#include "formats/onnx/onnx_model.h"
#include "spore/transform.h"

/* Luma of ITU-R BT.601 with 16-bit weights, out of decoded colours. */
static sp_tensor *luma(sp_onnx_call *c, sp_tensor *image)
{
    static const int32_t weights[3] = {19595, 38470, 7471};
    sp_tensor *w = NULL;
    sp_status status = sp_tensor_create_from(SP_DTYPE_I32, 1, (int64_t[]){3}, weights, &w);
    if (status != SP_OK) return sp__builder_fail(c->b, status);
    sp_tensor *y = sp_mul(c->b, sp_cast(c->b, image, SP_DTYPE_I32), sp_builder_take_tensor(c->b, w));
    y = sp_reduce_sum(c->b, y, 1, (int64_t[]){2}, true);
    y = SP_ONNX_OP2(c, "bitwise_right_shift", sp__add_number(c->b, y, 32768), sp__onnx_scalar(c, SP_DTYPE_I32, 16),
                    NULL);
    return sp_cast(c->b, y, SP_DTYPE_U8);
}

static sp_status image_decoder(sp_onnx_call *c)
{
    const char *format = sp__onnx_attr_text(c, "pixel_format", "RGB");
    sp_tensor *x = c->in[0], *bytes = NULL, *image = NULL;
    if (!SP_HAVE_DATA)
        return sp__fail(SP_DECLINED, "pictures are not decoded in this build: SPORE_DATA (cmake) is off");
    bool gray = strcmp(format, "Grayscale") == 0, bgr = strcmp(format, "BGR") == 0;
    SP_CHECK(gray || bgr || strcmp(format, "RGB") == 0, SP_VALUE,
             "pixel_format is '%s', it must be RGB, BGR or Grayscale", format);
    SP_CHECK(sp_tensor_rank(x) == 1 && sp_tensor_dtype(x) == SP_DTYPE_U8, SP_TYPE, "the file must be a row of uint8");
    SP_TRY(sp__tensor_need_value(x));
    SP_TRY(sp_tensor_contiguous(x, &bytes));
    sp_status status = sp_image_decode(sp_tensor_data(bytes), sp_tensor_bytes(bytes), SP_DECODE_COLOR, &image);
    sp_tensor_release(bytes);
    SP_TRY(status);
    image = sp_builder_take_tensor(c->b, image);
    if (gray) image = luma(c, image);
    if (bgr) image = SP_ONNX_OP2(c, "gather", image, sp__onnx_tensor_ints(c, 3, (int64_t[]){2, 1, 0}), "axis=2");
    return sp__onnx_return(c, image);
}

const sp_onnx_handler sp__onnx_image[] = {{"ImageDecoder", 20, image_decoder, NULL, 0}, {NULL, 0, NULL, NULL, 0}};
