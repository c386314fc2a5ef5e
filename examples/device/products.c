/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - a product of int8 matrices on the accelerator of systolic.c; what follows it falls back to the CPU, and is counted.
 *
 *     products path/to/systolic.so */
#include <inttypes.h>
#include <stdio.h>

#include <spore/spore.h>

static sp_status fill(int64_t rows, int64_t columns, sp_tensor **out)
{
    sp_status status = sp_tensor_create(SP_DTYPE_I8, 2, (const int64_t[]){rows, columns}, out);
    if (status != SP_OK) return status;
    int8_t *at = sp_tensor_data(*out);
    for (int64_t i = 0; i < rows * columns; i++) at[i] = (int8_t)(i * 37 % 255 - 127);
    return SP_OK;
}

static sp_status multiply(sp_tensor *a, sp_tensor *b, sp_tensor **out)
{
    int n;
    return sp_apply(sp_op_find("matmul_i32"), NULL, 4, (sp_tensor *const[]){a, b, NULL, NULL}, 1, out, &n);
}

static sp_status show(sp_device *device)
{
    sp_tensor *a = NULL, *b = NULL, *here = NULL, *a_there = NULL, *b_there = NULL, *there = NULL, *sum = NULL,
              *sum_here = NULL;
    double on_cpu = 0, on_card = 0;
    int n;
    sp_status status = fill(100, 60, &a);
    if (status == SP_OK) status = fill(60, 70, &b);
    if (status == SP_OK) status = multiply(a, b, &here);
    if (status == SP_OK) status = sp_tensor_to(a, device, &a_there);
    if (status == SP_OK) status = sp_tensor_to(b, device, &b_there);
    if (status == SP_OK) status = multiply(a_there, b_there, &there); /* the accelerator */
    if (status == SP_OK)
        status = sp_apply(sp_op_find("reduce_sum"), NULL, 1, &there, 1, &sum, &n); /* the CPU, between copies */
    if (status == SP_OK) status = sp_apply(sp_op_find("reduce_sum"), NULL, 1, &here, 1, &sum_here, &n);
    if (status == SP_OK) status = sp_tensor_item_f64(sum, &on_card);
    if (status == SP_OK) status = sp_tensor_item_f64(sum_here, &on_cpu);
    if (status == SP_OK) {
        sp_device_statistics s;
        sp_device_declines d[8];
        sp_device_count(device, &s);
        printf("sum of the product: %.0f on %s, %.0f on the CPU\n", on_card, sp_device_name(device), on_cpu);
        printf("%s did %" PRIu64 " calls; %" PRIu64 " bytes went in, %" PRIu64 " came out\n", sp_device_name(device),
               s.kernels, s.bytes_in, s.bytes_out);
        const int declined = sp_device_declined(device, d, 8);
        for (int i = 0; i < declined && i < 8; i++)
            printf("done by the CPU: %s, %" PRIu64 " times, %" PRIu64 " bytes\n", d[i].op, d[i].calls, d[i].bytes);
    }
    sp_tensor *all[] = {a, b, here, a_there, b_there, there, sum, sum_here};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sp_tensor_release(all[i]);
    return status == SP_OK && on_card != on_cpu ? SP_RUNTIME : status;
}

int main(int argc, char **argv)
{
    sp_device *device = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: products path/to/systolic.so\n");
        return 2;
    }
    sp_status status = sp_device_load(argv[1]);
    if (status == SP_OK) status = sp_device_open("systolic", &device);
    if (status == SP_OK) status = show(device);
    if (status != SP_OK) fprintf(stderr, "products: %s\n", sp_error_message());
    return status == SP_OK ? 0 : 1;
}
