/* SPDX-License-Identifier: Apache-2.0 */
/* small_floats.c - weights of 8-bit floats, which have no dtype here: bfloat16 holds each of their values exactly. */
#include <string.h>

#include "formats/format_impl.h"
#include "ops/minifloat.h"
#include "tensor/half.h"

const char *sp__small_float(const char *name)
{
    static const char *const known[][3] = {{"F8_E4M3", "float8_e4m3fn", "e4m3fn"},
                                           {"F8_E5M2", "float8_e5m2", "e5m2"},
                                           {"F8_E4M3FNUZ", "float8_e4m3fnuz", "e4m3fnuz"},
                                           {"F8_E5M2FNUZ", "float8_e5m2fnuz", "e5m2fnuz"},
                                           {"F8_E8M0", "float8_e8m0fnu", "e8m0"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i][0]) == 0 || strcmp(name, known[i][1]) == 0) return known[i][2];
    return NULL;
}

sp_status sp__bundle_widen(sp_bundle *bundle, const char *name, const char *format)
{
    const sp_minifloat_format *f = sp__minifloat_find(format);
    sp_tensor *codes = sp_bundle_tensor_at(bundle, sp_bundle_find(bundle, name)), *wide = NULL;
    if (codes == NULL) return SP_NOMEM;
    sp_bf16 values[256];
    for (unsigned i = 0; i < 256; i++) values[i] = sp__f32_bf16(sp__minifloat_value(f, i));
    SP_TRY(sp_tensor_create(SP_DTYPE_BF16, sp_tensor_rank(codes), sp_tensor_dims(codes), &wide));
    const uint8_t *from = sp_tensor_data(codes);
    sp_bf16 *to = sp_tensor_data(wide);
    for (int64_t i = 0; i < sp_tensor_count(wide); i++) to[i] = values[from[i]];
    sp_status status = sp_bundle_add(bundle, name, wide);
    sp_tensor_release(wide);
    return status;
}
