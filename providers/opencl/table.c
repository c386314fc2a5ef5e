/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the list of kernels, and the function that the library exports. */
#include <string.h>

#include "context.h"

enum { KERNELS_MAX = 256 };
static sp_device_kernel kernels[KERNELS_MAX];
static int n_kernels;

static void add(const char *op, const char *name, bool strided, ocl_takes *takes, ocl_kernel_fn *run)
{
    if (n_kernels == KERNELS_MAX) return;
    kernels[n_kernels++] = (sp_device_kernel){.op = op, .name = name, .strided = strided, .takes = takes, .run = run};
}

#define ADD(op, family, strided) add(op, #family, strided, ocl_##family##_takes, ocl_##family##_run)

static void add_families(void)
{
    const int n_elementwise = ocl_elementwise_start(), n_updates = ocl_update_start();
    for (int i = 0; i < n_elementwise; i++) ADD(ocl_elementwise_op(i), elementwise, true);
    for (int i = 0; i < n_updates; i++) ADD(ocl_update_op(i), update, false);
    static const char *const reductions[] = {"reduce_sum", "reduce_mean", "reduce_prod", "reduce_max",
                                             "reduce_min", "reduce_all",  "reduce_any"};
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) ADD(reductions[i], reduce, true);
    static const char *const convolutions[] = {"conv1d", "conv1d_input_grad", "conv1d_weight_grad",
                                               "conv2d", "conv2d_input_grad", "conv2d_weight_grad"};
    for (size_t i = 0; i < sizeof convolutions / sizeof *convolutions; i++) ADD(convolutions[i], conv, false);
    static const char *const pools[] = {"max_pool1d",          "max_pool2d",         "avg_pool1d",
                                        "avg_pool2d",          "pool_max_grad",      "pool_mean_grad",
                                        "adaptive_avg_pool1d", "adaptive_avg_pool2d"};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) ADD(pools[i], pool, false);
    ADD("softmax", softmax, false);
    ADD("log_softmax", softmax, false);
    ADD("softmax_grad", softmax_grad, false);
    ADD("log_softmax_grad", softmax_grad, false);
    ADD("layer_norm", layer_norm, false);
    ADD("layer_norm_grad", layer_norm_grad, false);
    ADD("batch_norm_train", batch_norm, false);
    ADD("batch_norm_train_grad", batch_norm_grad, false);
    ADD("channel_affine", affine, true);
    ADD("nll_terms", nll, false);
    ADD("nll_terms_grad", nll_grad, false);
    ADD("matmul", matmul, true);
    ADD("matmul", matmul, false); /* of copies, where the strides are too many */
    ADD("slice_put", slice_put, true);
    ADD("concat", concat, true);
    ADD("index", index, false);
    ADD("index_put", index_put, false);
    ADD("full", full, false);
    ADD("random_uniform", random, false);
    ADD("random_normal", random, false);
    ADD("rnn_scan", scan, false);
    ADD("rnn_scan_grad", scan_grad, false);
    ADD("attention", attention, false);
    ADD("attention_grad", attention_grad, false);
}

__attribute__((visibility("default"))) sp_device_plugin_fn sp_device_plugin;
const sp_device_table *sp_device_plugin(const sp_device_host *host)
{
    static sp_device_table table = {.struct_size = sizeof table,
                                    .version = SP_DEVICE_VERSION,
                                    .name = "opencl",
                                    .count = ocl_devices_count,
                                    .open = ocl_open,
                                    .describe = ocl_describe,
                                    .alloc = ocl_alloc,
                                    .free = ocl_free,
                                    .copy_in = ocl_copy_in,
                                    .copy_out = ocl_copy_out,
                                    .copy = ocl_copy,
                                    .wait = ocl_wait,
                                    .kernels = kernels};
    engine = host;
    if (ocl_api_open() != SP_OK) return NULL;
    ocl_devices_find();
    if (ocl_devices_count() == 0) {
        host->fail(SP_RUNTIME, "OpenCL is installed, but no driver has a device: install one (Debian: pocl-opencl-icd "
                               "for the CPU), and see what `clinfo` says");
        return NULL;
    }
    n_kernels = 0;
    add_families();
    table.n_kernels = n_kernels;
    return &table;
}
