/* SPDX-License-Identifier: Apache-2.0 */
/* provider.c - kernels from a shared library: opens providers/twice.c and computes with what it offers.
 *     cc -shared -fPIC providers/twice.c $(pkg-config --cflags spore) -o twice.so
 *     cc provider.c $(pkg-config --cflags --libs spore) -o provider && ./provider */
#include <stdio.h>
#include <spore/spore.h>

int main(void)
{
    const int64_t dims[2] = {2, 2};
    const float values[4] = {1, -2, 3, -4};
    char text[200];
    sp_builder *b;
    sp_tensor *x;
    if (sp_builder_create(&b) != SP_OK || sp_tensor_create_from(SP_DTYPE_F32, 2, dims, values, &x) != SP_OK) return 1;
    if (sp_provider_load("./twice.so") != SP_OK) return fprintf(stderr, "provider: %s\n", sp_error_message()), 1;
    sp_provider_names(text, sizeof text);
    printf("providers: %s\n", text);
    sp_machine_kernels(sp_op_find("matmul"), text, sizeof text);
    printf("kernels of matmul, best first: %s\n", text);
    sp_tensor *y = sp_relu(b, sp_matmul(b, x, x, false, false));
    const float *found = y ? sp_tensor_data(y) : NULL;
    for (int i = 0; found && i < 4; i++) printf("%g\n", (double)found[i]);
    sp_tensor_release(x);
    sp_builder_release(b);
    return found == NULL;
}
