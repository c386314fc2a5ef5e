/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops.h - what the functions that do primitives of MindIR with our operators share: see mindir_ops.c. */
#ifndef SPORE_MINDIR_OPS_H
#define SPORE_MINDIR_OPS_H

#include "formats/mindir/mindir.h"
#include "ir/op_impl.h"

typedef struct sp_mindir_rule {
    const char *mindir, *op, *inputs;
    sp_status (*run)(sp_mindir_call *c, const struct sp_mindir_rule *rule, sp_mindir_value **out);
    sp_mindir_control control;
} sp_mindir_rule;

enum { SP_MINDIR_TEXT_BYTES = 4096, SP_MINDIR_RESULTS_MAX = 1024 };

/* --- values ------------------------------------------------------------------------------------------------------ */

sp_mindir_value *sp__mindir_value(sp_mindir_call *c, sp_mindir_kind kind, int n);
sp_status sp__mindir_give(sp_mindir_call *c, sp_tensor *t, sp_mindir_value **out);
sp_status sp__mindir_number(sp_mindir_call *c, sp_mindir_kind kind, int64_t i, double f, sp_mindir_value **out);
/* The numbers in a value: one, a tuple of them, or a tensor whose contents are known. */
sp_status sp__mindir_ints(const sp_mindir_value *v, int max, int64_t *out, int *n);
sp_status sp__mindir_int(const sp_mindir_value *v, int64_t *out);
/* A number, also of a tensor of one element; `what` it is, for messages. */
sp_status sp__mindir_real(const sp_mindir_value *v, const char *what, double *out);
/* One of the words, which are apart by spaces, or its place in the list: *out. Files spell words with large letters or small ones. */
sp_status sp__mindir_word(const sp_mindir_value *v, const char *what, const char *words, int *out);
/* Input k if there, else the attribute, else nothing. */
const sp_mindir_value *sp__mindir_argument(const sp_mindir_call *c, int k, const char *name);
sp_status sp__mindir_int_argument(const sp_mindir_call *c, int k, const char *name, int64_t initial, int64_t *out);
sp_status sp__mindir_operand(sp_mindir_call *c, int k, sp_tensor **out);
/* All tensors of a value, which may be a tuple. */
sp_status sp__mindir_operands(sp_mindir_call *c, const sp_mindir_value *v, int max, sp_tensor **in, int *n);

/* --- applying ---------------------------------------------------------------------------------------------------- */

/* Attributes as text: "axis=1, keepdims=True". */
typedef struct sp_mindir_text {
    char text[SP_MINDIR_TEXT_BYTES];
    size_t used;
} sp_mindir_text;
void sp__mindir_put(sp_mindir_text *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ", name=(1,2,)", without the comma at the beginning of a text. */
void sp__mindir_put_list(sp_mindir_text *a, const char *name, int n, const int64_t *v);
sp_status sp__mindir_put_value(sp_mindir_text *a, const sp_mindir_value *v);
sp_status sp__mindir_put_attr(sp_mindir_text *a, const sp_attr *attr, const sp_mindir_value *v);

/* A slice, the same dimensions of all three: of op, "slice" or one that is like it. */
typedef struct sp_mindir_slice {
    int n;
    int64_t start[SP_RANK_MAX], stop[SP_RANK_MAX], step[SP_RANK_MAX];
} sp_mindir_slice;
void sp__mindir_slice_add(sp_mindir_slice *s, int64_t start, int64_t stop, int64_t step);
sp_status sp__mindir_slice(sp_mindir_call *c, const char *op, const sp_mindir_slice *s, int n_in, sp_tensor *const *in,
                           sp_mindir_value **out);

sp_status sp__mindir_apply_text(sp_mindir_call *c, const char *name, const char *text, int n_in, sp_tensor *const *in,
                                sp_mindir_value **out);
sp_status sp__mindir_call(sp_mindir_call *c, const char *name, int n_in, sp_tensor *const *in, sp_mindir_value **out,
                          const char *format, ...) __attribute__((format(printf, 6, 7)));
sp_status sp__mindir_run_text(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out);
sp_status sp__mindir_reshape(sp_mindir_call *c, sp_tensor *x, int rank, const int64_t *dims, sp_mindir_value **out);

/* Further rules, to a NULL name: mindir_ops_ext.c */
extern const sp_mindir_rule sp__mindir_ext_rules[], sp__mindir_scalar_rules[]; /* the second: mindir_ops_scalar.c */

/* --- rules with code --------------------------------------------------------------------------------------------- */

typedef sp_status sp_mindir_run(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out);
/* mindir_ops_nn.c */
sp_mindir_run sp__mindir_run_conv, sp__mindir_run_conv_transposed, sp__mindir_run_pool_3d, sp__mindir_run_pool_argmax,
    sp__mindir_run_conv_filter, sp__mindir_run_pool_grad, sp__mindir_run_pool, sp__mindir_run_bias_add,
    sp__mindir_run_lstm;
/* mindir_ops_grad.c */
sp_mindir_run sp__mindir_run_turned, sp__mindir_run_slope, sp__mindir_run_bias_add_grad, sp__mindir_run_batch_norm,
    sp__mindir_run_batch_norm_grad, sp__mindir_run_layer_norm_grad, sp__mindir_run_gather_grad,
    sp__mindir_run_segment_sum, sp__mindir_run_slice_grad, sp__mindir_run_masked_fill, sp__mindir_run_add_ext;
/* mindir_ops_place.c */
sp_mindir_run sp__mindir_run_pad, sp__mindir_run_pad_attr, sp__mindir_run_fill, sp__mindir_run_scatter_nd,
    sp__mindir_run_scatter_elements, sp__mindir_run_cummin, sp__mindir_run_resize, sp__mindir_run_blocks,
    sp__mindir_run_triangular, sp__mindir_run_crop, sp__mindir_run_fft;
/* mindir_ops_random.c */
sp_mindir_run sp__mindir_run_random, sp__mindir_run_dropout;
/* mindir_ops_shape.c */
sp_mindir_run sp__mindir_run_shape, sp__mindir_run_expand_dims, sp__mindir_run_squeeze, sp__mindir_run_flatten,
    sp__mindir_run_strided_slice;
sp_mindir_run sp__mindir_run_reverse, sp__mindir_run_split, sp__mindir_run_slice, sp__mindir_run_slice_ext,
    sp__mindir_run_split_tensor, sp__mindir_run_chunk, sp__mindir_run_clamp;

#endif
