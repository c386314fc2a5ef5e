/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_image.c - ImageDecoder: the bytes of a picture file as pixels. */
#include "formats/onnx_model.h"
#include "spore/transform.h"

static sp_status image_decoder(sp_onnx_call *c)
{
    const char *format = sp__onnx_attr_text(c, "pixel_format", "RGB");
    sp_tensor *x = c->in[0], *bytes = NULL, *image = NULL;
    bool gray = strcmp(format, "Grayscale") == 0, bgr = strcmp(format, "BGR") == 0;
    SP_CHECK(gray || bgr || strcmp(format, "RGB") == 0, SP_VALUE, "pixel_format is '%s', it must be RGB, BGR or Grayscale", format);
    SP_CHECK(sp_tensor_rank(x) == 1 && sp_tensor_dtype(x) == SP_DTYPE_U8, SP_TYPE, "the file must be a row of uint8");
    SP_TRY(sp__tensor_need_value(x));
    SP_TRY(sp_tensor_contiguous(x, &bytes));
    sp_status status = sp_image_decode(sp_tensor_data(bytes), sp_tensor_bytes(bytes), gray ? SP_DECODE_GRAY : SP_DECODE_COLOR, &image);
    sp_tensor_release(bytes);
    SP_TRY(status);
    image = sp_builder_take_tensor(c->b, image);
    if (gray && sp_tensor_rank(image) == 2)
        image = sp_reshape(c->b, image, 3, (int64_t[]){sp_tensor_dims(image)[0], sp_tensor_dims(image)[1], 1});
    if (bgr) image = SP_ONNX_OP2(c, "gather", image, sp__onnx_tensor_ints(c, 3, (int64_t[]){2, 1, 0}), "axis=2");
    return sp__onnx_return(c, image);
}

const sp_onnx_handler sp__onnx_image[] = {{"ImageDecoder", 20, image_decoder, NULL, 0}, {NULL, 0, NULL, NULL, 0}};
