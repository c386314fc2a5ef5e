/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops.h - what the functions that do primitives of MindIR with our operators share: see mindir_ops.c. */
#ifndef SPORE_MINDIR_OPS_H
#define SPORE_MINDIR_OPS_H

#include "formats/mindir/mindir.h"
#include "ir/op_impl.h"

typedef struct mi_rule {
    const char *mindir, *op, *inputs;
    sp_status (*run)(mi_call *c, const struct mi_rule *rule, mi_value **out);
    mi_control control;
} mi_rule;

enum { MI_TEXT_BYTES = 4096, MI_RESULTS_MAX = 1024 };

/* --- values ------------------------------------------------------------------------------------------------------ */

mi_value *sp__mi_value(mi_call *c, mi_kind kind, int n);
sp_status sp__mi_give(mi_call *c, sp_tensor *t, mi_value **out);
sp_status sp__mi_number(mi_call *c, mi_kind kind, int64_t i, double f, mi_value **out);
/* The numbers in a value: one, a tuple of them, or a tensor whose contents are known. */
sp_status sp__mi_ints(const mi_value *v, int max, int64_t *out, int *n);
sp_status sp__mi_int(const mi_value *v, int64_t *out);
/* A number, also of a tensor of one element; `what` it is, for messages. */
sp_status sp__mi_real(const mi_value *v, const char *what, double *out);
/* One of the words, which are apart by spaces, or its place in the list: *out. Files spell words with large letters or small ones. */
sp_status sp__mi_word(const mi_value *v, const char *what, const char *words, int *out);
/* Input k if there, else the attribute, else nothing. */
const mi_value *sp__mi_argument(const mi_call *c, int k, const char *name);
sp_status sp__mi_int_argument(const mi_call *c, int k, const char *name, int64_t initial, int64_t *out);
sp_status sp__mi_operand(mi_call *c, int k, sp_tensor **out);
/* All tensors of a value, which may be a tuple. */
sp_status sp__mi_operands(mi_call *c, const mi_value *v, int max, sp_tensor **in, int *n);

/* --- applying ---------------------------------------------------------------------------------------------------- */

/* Attributes as text: "axis=1, keepdims=True". */
typedef struct mi_text {
    char text[MI_TEXT_BYTES];
    size_t used;
} mi_text;
void sp__mi_put(mi_text *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ", name=(1,2,)", without the comma at the beginning of a text. */
void sp__mi_put_list(mi_text *a, const char *name, int n, const int64_t *v);
sp_status sp__mi_put_value(mi_text *a, const mi_value *v);
sp_status sp__mi_put_attr(mi_text *a, const sp_attr *attr, const mi_value *v);

/* A slice, the same dimensions of all three: of op, "slice" or one that is like it. */
typedef struct mi_slice {
    int n;
    int64_t start[SP_RANK_MAX], stop[SP_RANK_MAX], step[SP_RANK_MAX];
} mi_slice;
void sp__mi_slice_add(mi_slice *s, int64_t start, int64_t stop, int64_t step);
sp_status sp__mi_slice(mi_call *c, const char *op, const mi_slice *s, int n_in, sp_tensor *const *in, mi_value **out);

sp_status sp__mi_apply(mi_call *c, const char *name, const char *text, int n_in, sp_tensor *const *in, mi_value **out);
sp_status sp__mi_call(mi_call *c, const char *name, int n_in, sp_tensor *const *in, mi_value **out, const char *format,
                      ...) __attribute__((format(printf, 6, 7)));
sp_status sp__mi_run_text(mi_call *c, const mi_rule *rule, mi_value **out);
sp_status sp__mi_reshape(mi_call *c, sp_tensor *x, int rank, const int64_t *dims, mi_value **out);

/* Further rules, to a NULL name: mindir_ops_ext.c */
extern const mi_rule sp__mi_ext_rules[], sp__mi_scalar_rules[]; /* the second: mindir_ops_scalar.c */

/* --- rules with code --------------------------------------------------------------------------------------------- */

typedef sp_status mi_run(mi_call *c, const mi_rule *rule, mi_value **out);
/* mindir_ops_nn.c */
mi_run sp__mi_run_conv, sp__mi_run_conv_transposed, sp__mi_run_pool_3d, sp__mi_run_pool_argmax, sp__mi_run_conv_filter,
    sp__mi_run_pool_grad, sp__mi_run_pool, sp__mi_run_bias_add, sp__mi_run_lstm;
/* mindir_ops_grad.c */
mi_run sp__mi_run_turned, sp__mi_run_slope, sp__mi_run_bias_add_grad, sp__mi_run_batch_norm, sp__mi_run_batch_norm_grad,
    sp__mi_run_layer_norm_grad, sp__mi_run_gather_grad, sp__mi_run_segment_sum, sp__mi_run_slice_grad,
    sp__mi_run_masked_fill, sp__mi_run_add_ext;
/* mindir_ops_place.c */
mi_run sp__mi_run_pad, sp__mi_run_pad_attr, sp__mi_run_fill, sp__mi_run_scatter_nd, sp__mi_run_scatter_elements,
    sp__mi_run_cummin, sp__mi_run_resize, sp__mi_run_blocks, sp__mi_run_triangular, sp__mi_run_crop, sp__mi_run_fft;
/* mindir_ops_random.c */
mi_run sp__mi_run_random, sp__mi_run_dropout;
/* mindir_ops_shape.c */
mi_run sp__mi_run_shape, sp__mi_run_expand_dims, sp__mi_run_squeeze, sp__mi_run_flatten, sp__mi_run_strided_slice;
mi_run sp__mi_run_reverse, sp__mi_run_split, sp__mi_run_slice, sp__mi_run_slice_ext, sp__mi_run_split_tensor,
    sp__mi_run_chunk, sp__mi_run_clamp;

#endif
