/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - a user's program, built against an installed spore. */
#include <spore/runtime.h>
#include <spore/tensor.h>

#include <stdio.h>

int main(void)
{
    const int64_t dims[] = {2, 3};
    sp_tensor *t = NULL;
    if (sp_tensor_create_zeros(SP_DTYPE_F32, 2, dims, &t) != SP_OK) {
        fprintf(stderr, "%s\n", sp_error_message());
        return 1;
    }
    printf("spore %s: %lld elements of %s\n", sp_version(), (long long)sp_tensor_count(t),
           sp_dtype_name(sp_tensor_dtype(t)));
    sp_tensor_release(t);
    return 0;
}
