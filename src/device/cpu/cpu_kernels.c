/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_kernels.c - the list of fast kernels, best first per operator. */
#include "device/cpu/cpu_kernels.h"
#include "device/provided.h"

#define FLOATS (SP_DT(F32) | SP_DT(F64))
#define HALVES (SP_DT(F16) | SP_DT(BF16))
#define WIDENED(name_, dtypes_)                                                                                        \
    {.op = #name_,                                                                                                     \
     .name = "widened",                                                                                                \
     .dtypes = dtypes_,                                                                                                \
     .run = sp__cpu_widened,                                                                                           \
     .workspace = sp__cpu_widened_work,                                                                                \
     .takes = sp__cpu_widened_takes}
#define DEPTHWISE(n, ...)                                                                                              \
    {.op = "conv" #n "d",                                                                                              \
     .name = "depthwise",                                                                                              \
     .dtypes = FLOATS,                                                                                                 \
     .run = sp__cpu_depthwise,                                                                                         \
     .takes = sp__cpu_depthwise_takes,                                                                                 \
     .epilogue = true,                                                                                                 \
     __VA_ARGS__},                                                                                                     \
        {.op = "conv" #n "d_input_grad",                                                                               \
         .name = "depthwise",                                                                                          \
         .dtypes = FLOATS,                                                                                             \
         .run = sp__cpu_depthwise_input,                                                                               \
         .takes = sp__cpu_depthwise_input_takes},                                                                      \
    {                                                                                                                  \
        .op = "conv" #n "d_weight_grad", .name = "depthwise", .dtypes = FLOATS, .run = sp__cpu_depthwise_weight,       \
        .takes = sp__cpu_depthwise_weight_takes                                                                        \
    }

#define CONV(n, ...)                                                                                                   \
    {.op = "conv" #n "d",                                                                                              \
     .name = "windows",                                                                                                \
     .run = sp__cpu_conv,                                                                                              \
     .workspace = sp__cpu_conv_work,                                                                                   \
     .takes = sp__cpu_conv_takes,                                                                                      \
     .epilogue = true,                                                                                                 \
     .prepared_bytes = sp__cpu_conv_prepared,                                                                          \
     .prepare = sp__cpu_conv_prepare,                                                                                  \
     .prepared_form = sp__cpu_conv_form,                                                                               \
     __VA_ARGS__},                                                                                                     \
        {.op = "conv" #n "d_input_grad",                                                                               \
         .name = "windows",                                                                                            \
         .run = sp__cpu_conv_input_grad,                                                                               \
         .workspace = sp__cpu_conv_input_grad_work,                                                                    \
         .takes = sp__cpu_conv_takes,                                                                                  \
         .epilogue = true,                                                                                             \
         .prepared_bytes = sp__cpu_conv_input_grad_prepared,                                                           \
         .prepare = sp__cpu_conv_input_grad_prepare,                                                                   \
         .prepared_form = sp__cpu_conv_input_grad_form},                                                               \
    {                                                                                                                  \
        .op = "conv" #n "d_weight_grad", .name = "windows", .run = sp__cpu_conv_weight_grad,                           \
        .workspace = sp__cpu_conv_weight_grad_work, .takes = sp__cpu_conv_takes                                        \
    }

/* Chains can be done on the way into those of float32. */
#define REDUCE(name_)                                                                                                  \
    {.op = #name_,                                                                                                     \
     .dtypes = SP_DT(F32),                                                                                             \
     .run = sp__cpu_reduce,                                                                                            \
     .workspace = sp__cpu_reduce_work,                                                                                 \
     .takes = sp__cpu_reduce_takes,                                                                                    \
     .prologue = sp__cpu_reduce_part},                                                                                 \
    {                                                                                                                  \
        .op = #name_, .run = sp__cpu_reduce, .workspace = sp__cpu_reduce_work, .takes = sp__cpu_reduce_takes           \
    }

static const sp_kernel_entry entries[] = {
    {.op = "matmul",
     .name = "gemv",
     .run = sp__cpu_gemv,
     .workspace = sp__cpu_gemv_work,
     .strided = true,
     .takes = sp__cpu_gemv_takes,
     .epilogue = true},
    {.op = "matmul",
     .name = "gemm",
     .run = sp__cpu_matmul,
     .workspace = sp__cpu_matmul_work,
     .strided = true,
     .takes = sp__cpu_matmul_takes,
     .epilogue = true,
     .prepared_bytes = sp__cpu_matmul_prepared,
     .prepare = sp__cpu_matmul_prepare,
     .prepared_form = sp__cpu_matmul_form},
    {.op = "matmul",
     .name = "integers",
     .run = sp__cpu_matmul_int,
     .workspace = sp__cpu_matmul_int_work,
     .strided = true,
     .takes = sp__cpu_matmul_int_takes},
    {.op = "matmul_i32",
     .name = "bytes",
     .run = sp__cpu_matmul_i32,
     .workspace = sp__cpu_matmul_i32_work,
     .strided = true,
     .epilogue = true,
     .prepared_bytes = sp__cpu_matmul_i32_prepared,
     .prepare = sp__cpu_matmul_i32_prepare,
     .prepared_form = sp__cpu_matmul_i32_form},
    {.op = "conv_bytes",
     .name = "bytes",
     .run = sp__cpu_conv_bytes,
     .workspace = sp__cpu_conv_bytes_work,
     .takes = sp__cpu_conv_bytes_takes,
     .prepared_bytes = sp__cpu_conv_bytes_prepared,
     .prepare = sp__cpu_conv_bytes_prepare,
     .prepared_form = sp__cpu_conv_bytes_form,
     .blocked = &sp__cpu_conv_bytes_blocks},
    DEPTHWISE(1, .blocked = NULL),
    DEPTHWISE(2, .blocked = &sp__cpu_conv_blocks),
    CONV(1, .blocked = NULL),
    CONV(2, .blocked = &sp__cpu_conv_blocks),
    CONV(3, .blocked = NULL),
    {.op = "softmax", .run = sp__cpu_softmax, .workspace = sp__cpu_softmax_work, .takes = sp__cpu_softmax_takes},
    {.op = "softmax_grad", .run = sp__cpu_softmax, .workspace = sp__cpu_softmax_work, .takes = sp__cpu_softmax_takes},
    {.op = "log_softmax",
     .run = sp__cpu_log_softmax,
     .workspace = sp__cpu_softmax_work,
     .takes = sp__cpu_softmax_takes},
    {.op = "log_softmax_grad",
     .run = sp__cpu_log_softmax,
     .workspace = sp__cpu_softmax_work,
     .takes = sp__cpu_softmax_takes},
    {.op = "layer_norm", .run = sp__cpu_norm, .workspace = sp__cpu_norm_work, .takes = sp__cpu_norm_takes},
    {.op = "layer_norm_grad",
     .run = sp__cpu_norm_grad,
     .workspace = sp__cpu_norm_grad_work,
     .takes = sp__cpu_norm_takes},
    {.op = "rms_norm", .run = sp__cpu_norm, .workspace = sp__cpu_norm_work, .takes = sp__cpu_norm_takes},
    {.op = "rms_norm_grad", .run = sp__cpu_norm_grad, .workspace = sp__cpu_norm_grad_work, .takes = sp__cpu_norm_takes},
    WIDENED(batch_norm_train, HALVES),
    WIDENED(batch_norm_train_grad, HALVES),
    WIDENED(group_norm, HALVES),
    WIDENED(group_norm_grad, HALVES),
    WIDENED(channel_affine, SP_DT(F16)),
    WIDENED(resample_axis, HALVES),
    {.op = "rnn_scan", .run = sp__cpu_rnn, .workspace = sp__cpu_rnn_work, .takes = sp__cpu_rnn_takes},
    {.op = "rnn_scan_grad",
     .run = sp__cpu_rnn_grad,
     .workspace = sp__cpu_rnn_grad_work,
     .takes = sp__cpu_rnn_grad_takes},
    {.op = "attention",
     .run = sp__cpu_attention,
     .workspace = sp__cpu_attention_work,
     .takes = sp__cpu_attention_takes},
    {.op = "attention_grad",
     .run = sp__cpu_attention_grad,
     .workspace = sp__cpu_attention_work,
     .takes = sp__cpu_attention_takes},
    REDUCE(reduce_sum),
    REDUCE(reduce_mean),
    REDUCE(reduce_max),
    REDUCE(reduce_min),
    REDUCE(reduce_prod),
    {.op = "count_nonzero", .run = sp__cpu_count, .workspace = sp__cpu_count_work, .takes = sp__cpu_count_takes},
    {.op = "sum", .name = "narrow", .run = sp__cpu_sum, .workspace = sp__cpu_count_work, .takes = sp__cpu_sum_takes},
    {.op = "mean", .name = "narrow", .run = sp__cpu_mean, .workspace = sp__cpu_count_work, .takes = sp__cpu_mean_takes},
    {.op = "vector_norm", .run = sp__cpu_reduce, .workspace = sp__cpu_reduce_work, .takes = sp__cpu_vector_norm_takes},
    {.op = "prelu", .run = sp__cpu_prelu, .takes = sp__cpu_loop_takes, .strided = true},
#define LOOP(name_, cost)                                                                                              \
    {.op = #name_, .run = sp__cpu_loop_run, .loop = sp__cpu_loop, .takes = sp__cpu_loop_takes, .strided = true},
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
