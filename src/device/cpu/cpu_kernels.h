/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_kernels.h - kernels of the CPU for operators of the table, with the scratch they need; cpu_kernels.c lists them. */
#ifndef SPORE_CPU_KERNELS_H
#define SPORE_CPU_KERNELS_H

#include "device/device.h"

/* n neighbouring elements of another dtype: rows of half precision that are computed in float32. */
static inline void sp__cpu_convert(sp_dtype from, sp_dtype to, int64_t n, void *dst, const void *src)
{
    char *const ptr[2] = {dst, (char *)(uintptr_t)src};
    const int64_t step[2] = {(int64_t)sp_dtype_bytes(to), (int64_t)sp_dtype_bytes(from)};
    sp__cast_loop(from, to)(n, ptr, step, NULL);
}

/* Up to eight rows, or columns, of any dtype but float64. */
sp_status sp__cpu_gemv(const sp_call *c);
size_t sp__cpu_gemv_work(const sp_call *c);
bool sp__cpu_gemv_takes(const sp_call *c);
sp_status sp__cpu_matmul(const sp_call *c);
size_t sp__cpu_matmul_work(const sp_call *c);
bool sp__cpu_matmul_takes(const sp_call *c);
size_t sp__cpu_matmul_prepared(const sp_call *c);
sp_prepared_form sp__cpu_matmul_form(const sp_call *c);
sp_status sp__cpu_matmul_prepare(const sp_call *c, void *to);

/* Half precision by the kernel of float32. */
sp_status sp__cpu_widened(const sp_call *c);
bool sp__cpu_widened_takes(const sp_call *c);
size_t sp__cpu_widened_work(const sp_call *c);
/* Bytes summed in int32. */
bool sp__cpu_matmul_int_takes(const sp_call *c);
size_t sp__cpu_matmul_int_work(const sp_call *c);
sp_status sp__cpu_matmul_int(const sp_call *c);
sp_status sp__cpu_matmul_i32(const sp_call *c);
size_t sp__cpu_matmul_i32_work(const sp_call *c);
size_t sp__cpu_matmul_i32_prepared(const sp_call *c);
sp_prepared_form sp__cpu_matmul_i32_form(const sp_call *c);
sp_status sp__cpu_matmul_i32_prepare(const sp_call *c, void *to);
/* Convolution of bytes. */
sp_status sp__cpu_conv_bytes(const sp_call *c);
bool sp__cpu_conv_bytes_takes(const sp_call *c);
size_t sp__cpu_conv_bytes_work(const sp_call *c);
size_t sp__cpu_conv_bytes_prepared(const sp_call *c);
sp_prepared_form sp__cpu_conv_bytes_form(const sp_call *c);
sp_status sp__cpu_conv_bytes_prepare(const sp_call *c, void *to);
extern const struct sp_blocked_kernel sp__cpu_conv_bytes_blocks;
/* Any number of spatial dimensions. */
sp_status sp__cpu_conv(const sp_call *c);
bool sp__cpu_conv_takes(const sp_call *c); /* and its gradients */
size_t sp__cpu_conv_work(const sp_call *c);
size_t sp__cpu_conv_prepared(const sp_call *c);
sp_prepared_form sp__cpu_conv_form(const sp_call *c);
sp_status sp__cpu_conv_prepare(const sp_call *c, void *to);
size_t sp__cpu_conv_input_grad_prepared(const sp_call *c);
sp_prepared_form sp__cpu_conv_input_grad_form(const sp_call *c);
sp_status sp__cpu_conv_input_grad_prepare(const sp_call *c, void *to);
sp_status sp__cpu_conv_input_grad(const sp_call *c);
size_t sp__cpu_conv_input_grad_work(const sp_call *c);
extern const struct sp_blocked_kernel sp__cpu_conv_blocks; /* images in blocks of channels: device/blocked.h */
/* One input channel per group, planes of one or two dimensions. */
bool sp__cpu_depthwise_takes(const sp_call *c);
sp_status sp__cpu_depthwise(const sp_call *c);
bool sp__cpu_depthwise_input_takes(const sp_call *c);
sp_status sp__cpu_depthwise_input(const sp_call *c);
bool sp__cpu_depthwise_weight_takes(const sp_call *c);
sp_status sp__cpu_depthwise_weight(const sp_call *c);
sp_status sp__cpu_conv_weight_grad(const sp_call *c);
size_t sp__cpu_conv_weight_grad_work(const sp_call *c);

/* Element-wise operators of loops.def. */
sp_inner_loop sp__cpu_loop(const sp_call *c);
bool sp__cpu_loop_takes(const sp_call *c);
sp_status sp__cpu_loop_run(const sp_call *c);
sp_status sp__cpu_prelu(const sp_call *c);

/* Softmax, its logarithm, and their gradients. */
sp_status sp__cpu_softmax(const sp_call *c);
sp_status sp__cpu_log_softmax(const sp_call *c);
bool sp__cpu_softmax_takes(const sp_call *c);
size_t sp__cpu_softmax_work(const sp_call *c);

/* Reductions over neighbouring axes. */
sp_status sp__cpu_count(const sp_call *c);
sp_status sp__cpu_sum(const sp_call *c);
sp_status sp__cpu_mean(const sp_call *c);
size_t sp__cpu_count_work(const sp_call *c);
bool sp__cpu_count_takes(const sp_call *c);
bool sp__cpu_sum_takes(const sp_call *c);
bool sp__cpu_mean_takes(const sp_call *c);
sp_status sp__cpu_reduce(const sp_call *c);
size_t sp__cpu_reduce_work(const sp_call *c);
int64_t sp__cpu_reduce_part(const sp_call *c);
bool sp__cpu_reduce_takes(const sp_call *c);
bool sp__cpu_vector_norm_takes(const sp_call *c);

/* Layer and root-mean-square normalisation. */
sp_status sp__cpu_norm(const sp_call *c);
sp_status sp__cpu_norm_grad(const sp_call *c);
size_t sp__cpu_norm_work(const sp_call *c);
size_t sp__cpu_norm_grad_work(const sp_call *c);
bool sp__cpu_norm_takes(const sp_call *c);

/* Recurrent layers over time: LSTM and GRU without lengths. */
sp_status sp__cpu_rnn(const sp_call *c);
size_t sp__cpu_rnn_work(const sp_call *c);
bool sp__cpu_rnn_takes(const sp_call *c);
sp_status sp__cpu_rnn_grad(const sp_call *c);
size_t sp__cpu_rnn_grad_work(const sp_call *c);
bool sp__cpu_rnn_grad_takes(const sp_call *c);

/* Attention without the whole matrix of scores. */
sp_status sp__cpu_attention(const sp_call *c);
sp_status sp__cpu_attention_grad(const sp_call *c);
size_t sp__cpu_attention_work(const sp_call *c); /* of both */
bool sp__cpu_attention_takes(const sp_call *c);

#endif
