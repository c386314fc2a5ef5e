/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c - uniform and normal random numbers; the state is read on the device. */
#include <math.h>
#include <string.h>

#include "opencl.h"

bool ocl_random_takes(void *device, const sp_device_call *c)
{
    const sp_dtype t = c->out[0].dtype;
    return c->in[0].dtype == SP_DTYPE_I64 && ocl_count(&c->in[0]) == 2 && ocl_computes(device, t) && ocl_is_float(t) &&
           t != SP_DTYPE_F64 && ocl_count(&c->out[0]) < INT32_MAX - 4;
}

sp_status ocl_random_run(void *device, const sp_device_call *c)
{
    const bool uniform = strcmp(c->op, "random_uniform") == 0;
    const int64_t n = ocl_count(&c->out[0]);
    if (n == 0) return SP_OK;
    ocl_text t = {NULL};
    ocl_launch l;
    ocl_add_dtype(&t, "", c->out[0].dtype);
    SP_TRY(ocl_begin(device, c->op, "noise", uniform ? "uniform_" : "normal_", &t, &l));
    ocl_arg_operand(&l, &c->in[0]);
    ocl_arg_operand(&l, &c->out[0]);
    ocl_arg_int(&l, n);
    if (uniform) {
        const double low = ocl_float(c, "low", 0), high = ocl_float(c, "high", 1);
        ocl_arg_float(&l, low);
        ocl_arg_float(&l, high - low);
        ocl_arg_float(&l, high);
        ocl_arg_float(&l, nextafterf((float)high, (float)low));
    } else {
        ocl_arg_float(&l, ocl_float(c, "mean", 0));
        ocl_arg_float(&l, ocl_float(c, "std", 1));
    }
    return ocl_run_1d(&l, (n + 3) / 4);
}
