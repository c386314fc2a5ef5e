/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_kernels.c - the list of fast kernels, best first per operator. */
#include "base/parts.h"
#include "device/cpu/cpu_kernels.h"
#include "device/provided.h"

#define FLOATS (SP_DT(F32) | SP_DT(F64))
#define HALVES (SP_DT(F16) | SP_DT(BF16))
/* A row, where this build has the operator. */
#define KERNEL(op_, ...) SP_IF_OPERATOR(op_, {.op = #op_, __VA_ARGS__}, )
/* Gradients by the weights need what is for training alone; products of integers are the reference's where there are no bytes. */
#define WEIGHT_GRAD(...) SP_IF(SP_HAVE_TRAINING, __VA_ARGS__)
#define INTEGERS(...) SP_IF(SP_HAVE_I8, KERNEL(__VA_ARGS__))
#define FEW_ROWS(...) SP_IF(SP_HAVE_BLOCKS, KERNEL(__VA_ARGS__))
#define WIDENED(name_, dtypes_)                                                                                        \
    KERNEL(name_, .name = "widened", .dtypes = dtypes_, .run = sp__cpu_widened, .workspace = sp__cpu_widened_work,     \
           .takes = sp__cpu_widened_takes)
#define DEPTHWISE(n, ...)                                                                                              \
    KERNEL(conv##n##d, .name = "depthwise", .dtypes = FLOATS, .run = sp__cpu_depthwise,                                \
           .takes = sp__cpu_depthwise_takes, .epilogue = true, __VA_ARGS__)                                            \
    KERNEL(conv##n##d_input_grad, .name = "depthwise", .dtypes = FLOATS, .run = sp__cpu_depthwise_input,               \
           .takes = sp__cpu_depthwise_input_takes)                                                                     \
    WEIGHT_GRAD(KERNEL(conv##n##d_weight_grad, .name = "depthwise", .dtypes = FLOATS, .run = sp__cpu_depthwise_weight, \
                       .takes = sp__cpu_depthwise_weight_takes))

#define CONV(n, ...)                                                                                                   \
    KERNEL(conv##n##d, .name = "windows", .run = sp__cpu_conv, .workspace = sp__cpu_conv_work,                         \
           .takes = sp__cpu_conv_takes, .epilogue = true, .prepared_bytes = sp__cpu_conv_prepared,                     \
           .prepare = sp__cpu_conv_prepare, .prepared_form = sp__cpu_conv_form, __VA_ARGS__)                           \
    KERNEL(conv##n##d_input_grad, .name = "windows", .run = sp__cpu_conv_input_grad,                                   \
           .workspace = sp__cpu_conv_input_grad_work, .takes = sp__cpu_conv_takes, .epilogue = true,                   \
           .prepared_bytes = sp__cpu_conv_input_grad_prepared, .prepare = sp__cpu_conv_input_grad_prepare,             \
           .prepared_form = sp__cpu_conv_input_grad_form)                                                              \
    WEIGHT_GRAD(KERNEL(conv##n##d_weight_grad, .name = "windows", .run = sp__cpu_conv_weight_grad,                     \
                       .workspace = sp__cpu_conv_weight_grad_work, .takes = sp__cpu_conv_takes))

/* Chains can be done on the way into those of float32. */
#define REDUCE(name_)                                                                                                  \
    KERNEL(name_, .dtypes = SP_DT(F32), .run = sp__cpu_reduce, .workspace = sp__cpu_reduce_work,                       \
           .takes = sp__cpu_reduce_takes, .prologue = sp__cpu_reduce_part)                                             \
    KERNEL(name_, .run = sp__cpu_reduce, .workspace = sp__cpu_reduce_work, .takes = sp__cpu_reduce_takes)

static const sp_kernel_entry entries[] = {
    FEW_ROWS(matmul, .name = "gemv", .run = sp__cpu_gemv, .workspace = sp__cpu_gemv_work, .strided = true,
             .takes = sp__cpu_gemv_takes,
             .epilogue =
                 true) KERNEL(matmul, .name = "gemm", .run = sp__cpu_matmul, .workspace = sp__cpu_matmul_work,
                              .strided = true, .takes = sp__cpu_matmul_takes, .epilogue = true,
                              .prepared_bytes = sp__cpu_matmul_prepared, .prepare = sp__cpu_matmul_prepare,
                              .prepared_form =
                                  sp__cpu_matmul_form) INTEGERS(matmul, .name = "integers", .run = sp__cpu_matmul_int,
                                                                .workspace = sp__cpu_matmul_int_work, .strided = true,
                                                                .takes = sp__cpu_matmul_int_takes)
        KERNEL(matmul_i32, .name = "bytes", .run = sp__cpu_matmul_i32, .workspace = sp__cpu_matmul_i32_work,
               .strided = true, .epilogue = true, .prepared_bytes = sp__cpu_matmul_i32_prepared,
               .prepare = sp__cpu_matmul_i32_prepare, .prepared_form = sp__cpu_matmul_i32_form)
            KERNEL(conv_bytes, .name = "bytes", .run = sp__cpu_conv_bytes, .workspace = sp__cpu_conv_bytes_work,
                   .takes = sp__cpu_conv_bytes_takes, .prepared_bytes = sp__cpu_conv_bytes_prepared,
                   .prepare = sp__cpu_conv_bytes_prepare, .prepared_form = sp__cpu_conv_bytes_form,
                   .blocked = SP_PICK(SP_HAVE_BLOCKS, &sp__cpu_conv_bytes_blocks)) DEPTHWISE(1, .blocked = NULL)
                DEPTHWISE(2, .blocked = SP_PICK(SP_HAVE_BLOCKS, &sp__cpu_conv_blocks)) CONV(1, .blocked = NULL)
                    CONV(2, .blocked = SP_PICK(SP_HAVE_BLOCKS, &sp__cpu_conv_blocks)) CONV(3, .blocked = NULL) KERNEL(
                        softmax,
                        .run = sp__cpu_softmax,
                        .workspace = sp__cpu_softmax_work,
                        .takes =
                            sp__cpu_softmax_takes) KERNEL(softmax_grad, .run = sp__cpu_softmax,
                                                          .workspace = sp__cpu_softmax_work,
                                                          .takes = sp__cpu_softmax_takes)
                        KERNEL(log_softmax, .run = sp__cpu_log_softmax, .workspace = sp__cpu_softmax_work,
                               .takes = sp__cpu_softmax_takes) KERNEL(log_softmax_grad, .run = sp__cpu_log_softmax,
                                                                      .workspace = sp__cpu_softmax_work,
                                                                      .takes = sp__cpu_softmax_takes)
                            KERNEL(layer_norm, .run = sp__cpu_norm, .workspace = sp__cpu_norm_work,
                                   .takes =
                                       sp__cpu_norm_takes) KERNEL(layer_norm_grad, .run = sp__cpu_norm_grad,
                                                                  .workspace = sp__cpu_norm_grad_work,
                                                                  .takes =
                                                                      sp__cpu_norm_takes)
                                KERNEL(rms_norm, .run = sp__cpu_norm, .workspace = sp__cpu_norm_work,
                                       .takes = sp__cpu_norm_takes)
                                    KERNEL(rms_norm_grad, .run = sp__cpu_norm_grad, .workspace = sp__cpu_norm_grad_work,
                                           .takes = sp__cpu_norm_takes) WIDENED(batch_norm_train, HALVES)
                                        WIDENED(batch_norm_train_grad, HALVES) WIDENED(group_norm, HALVES) WIDENED(
                                            group_norm_grad, HALVES) WIDENED(channel_affine,
                                                                             SP_DT(F16)) WIDENED(resample_axis, HALVES)
                                            KERNEL(rnn_scan, .run = sp__cpu_rnn, .workspace = sp__cpu_rnn_work,
                                                   .takes =
                                                       sp__cpu_rnn_takes) KERNEL(rnn_scan_grad, .run = sp__cpu_rnn_grad,
                                                                                 .workspace = sp__cpu_rnn_grad_work,
                                                                                 .takes = sp__cpu_rnn_grad_takes)
                                                KERNEL(attention,
                                                       .run = sp__cpu_attention, .workspace = sp__cpu_attention_work,
                                                       .takes = sp__cpu_attention_takes)
                                                    KERNEL(attention_grad, .run = sp__cpu_attention_grad,
                                                           .workspace = sp__cpu_attention_work,
                                                           .takes = sp__cpu_attention_takes)
                                                        REDUCE(reduce_sum) REDUCE(reduce_mean) REDUCE(reduce_max)
                                                            REDUCE(reduce_min) REDUCE(
                                                                reduce_prod) KERNEL(count_nonzero, .run = sp__cpu_count,
                                                                                    .workspace = sp__cpu_count_work,
                                                                                    .takes = sp__cpu_count_takes)
                                                                KERNEL(sum, .name = "narrow", .run = sp__cpu_sum,
                                                                       .workspace = sp__cpu_count_work,
                                                                       .takes = sp__cpu_sum_takes)
                                                                    KERNEL(mean, .name = "narrow", .run = sp__cpu_mean,
                                                                           .workspace = sp__cpu_count_work,
                                                                           .takes = sp__cpu_mean_takes)
                                                                        KERNEL(vector_norm, .run = sp__cpu_reduce,
                                                                               .workspace = sp__cpu_reduce_work,
                                                                               .takes = sp__cpu_vector_norm_takes)
                                                                            KERNEL(prelu, .run = sp__cpu_prelu,
                                                                                   .takes = sp__cpu_loop_takes,
                                                                                   .strided = true)
#define LOOP(name_, cost)                                                                                              \
    KERNEL(name_, .run = sp__cpu_loop_run, .loop = sp__cpu_loop, .takes = sp__cpu_loop_takes, .strided = true)
#include "device/cpu/loops.def"
#undef LOOP
};

const sp_kernel_entry *sp__cpu_kernels(int *n)
{
    *n = (int)(sizeof entries / sizeof *entries);
    return entries;
}

int16_t *sp__cpu_kernel_links(void)
{
    static int16_t links[sizeof entries / sizeof *entries];
    return links;
}
