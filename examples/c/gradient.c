/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.c - the smallest program with a gradient: d/dx sum(x * tanh(x)). */
#include <stdio.h>
#include <spore/spore.h>

int main(void)
{
    const int64_t dims[1] = {3};
    const float values[3] = {-1, 0.5, 2};
    sp_tensor *x = NULL, *dx = NULL;
    sp_builder *b; /* owns every tensor made with it, remembers the first failure */
    if (sp_builder_create(&b) != SP_OK || sp_tensor_create_from(SP_DTYPE_F32, 1, dims, values, &x) != SP_OK) return 1;
    sp_grad_begin();
    sp_status status = sp_grad_watch(x);
    sp_tensor *y = sp_reduce_sum(b, sp_mul(b, x, sp_tanh(b, x)), 0, NULL, false);
    if (status == SP_OK) status = sp_builder_status(b);
    if (status == SP_OK) status = sp_grad_backward(1, &y, NULL, 1, &x, false, &dx);
    sp_grad_end();
    if (status != SP_OK) fprintf(stderr, "gradient: %s\n", sp_error_message());
    for (int i = 0; dx && i < 3; i++) printf("%g\n", (double)((const float *)sp_tensor_data(dx))[i]);
    sp_tensor_release(dx);
    sp_tensor_release(x);
    sp_builder_release(b);
    return status != SP_OK;
}
