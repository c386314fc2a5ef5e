/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - transforms of any array: types, one-hot labels, filling, comparing, padding, doubling. */
#include "data/transform.h"

static sp_status cast_to(const sp_tensor *in, sp_dtype dtype, sp_tensor **out)
{
    sp_tensor *t = NULL;
    SP_TRY(sp_tensor_create(dtype, in->rank, in->dims, &t));
    const sp_status status = sp_tensor_assign(t, in);
    if (status != SP_OK) sp_tensor_release(t);
    else *out = t;
    return status;
}

static sp_status type_cast_run(sp_transform_call *c)
{
    const sp_dtype dtype = (sp_dtype)sp__arg_int(c, 0, 0);
    if ((sp_dtype)c->in[0]->dtype == dtype) return sp__give(c, sp_tensor_retain(c->in[0]));
    sp_tensor *out = NULL;
    SP_TRY(cast_to(c->in[0], dtype, &out));
    return sp__give(c, out);
}

const sp_transform_op sp_transform_TypeCast = {
    .name = "TypeCast", .attrs = {{"data_type", 1, 1, 0, SP_DTYPE_STR - 1, SP_NEED, {0}}}, .run = type_cast_run};

static sp_status duplicate_run(sp_transform_call *c)
{
    SP_CHECK(c->n_in == 1, SP_RUNTIME,
             "Duplicate: only supports transform one column each time, got column num: %d, check "
             "'input_columns' when call this operator.",
             c->n_in);
    sp_tensor *copy = NULL;
    SP_TRY(sp__give(c, sp_tensor_retain(c->in[0])));
    SP_TRY(sp_tensor_copy(c->in[0], &copy));
    return sp__give(c, copy);
}

const sp_transform_op sp_transform_Duplicate = {.name = "Duplicate", .whole_row = true, .run = duplicate_run};

/* --- one-hot ------------------------------------------------------------------------------------------------------ */

enum { HOT_CLASSES, HOT_RATE };

/* The label's dtype; float64 when smoothed. Dimensions of size 1 do not count: labels of shape (n, 1), and a single one. */
static sp_status one_hot_run(sp_transform_call *c)
{
    const sp_tensor *in = c->in[0];
    const char kind = sp_dtype_kind((sp_dtype)in->dtype);
    const int64_t classes = (int64_t)sp__arg(c, HOT_CLASSES, 0);
    char text[SP_SHAPE_TEXT];
    SP_CHECK(kind == 'i' || kind == 'u', SP_RUNTIME, "OneHot: Only support input of int type, but got: %s",
             sp_dtype_name((sp_dtype)in->dtype));
    int rank = 0;
    for (int i = 0; i < in->rank; i++) rank += in->dims[i] != 1;
    SP_CHECK(rank <= 1, SP_RUNTIME, "OneHot: Only support scalar or 1D input, got shape %s",
             sp__shape_text(in->rank, in->dims, text));
    const double rate = sp__arg(c, HOT_RATE, 0);
    sp_tensor *labels = NULL, *row = NULL, *out = NULL;
    int64_t dims[2] = {rank ? in->count : classes, classes};
    sp_status status;
    SP_GOTO(done, cast_to(in, SP_DTYPE_I64, &labels));
    SP_GOTO(done, sp_tensor_create(SP_DTYPE_F64, rank + 1, dims, &row));
    double *p = (double *)(void *)row->data;
    for (int64_t i = 0; i < row->count; i++) p[i] = rate / (double)classes;
    for (int64_t i = 0; i < labels->count; i++) {
        const int64_t label = ((const int64_t *)(const void *)labels->data)[i];
        if (label < 0 || label >= classes) {
            status = sp__fail(SP_RUNTIME,
                              "OneHot: index values should not bigger than num classes: %lld, but got: "
                              "%lld",
                              (long long)classes, (long long)label);
            goto done;
        }
        p[i * classes + label] = 1 - rate + rate / (double)classes;
    }
    SP_GOTO(done, cast_to(row, rate > 0 ? SP_DTYPE_F64 : (sp_dtype)in->dtype, &out));
    status = sp__give(c, out);
done:
    sp_tensor_release(labels);
    sp_tensor_release(row);
    return status;
}

const sp_transform_op sp_transform_OneHot = {
    .name = "OneHot",
    .attrs = {{"num_classes", 1, 1, 1, INT32_MAX, SP_NEED, {0}}, {"smoothing_rate", 1, 1, 0, 1, 1, {0}}},
    .run = one_hot_run};

/* --- fill, mask, pad ------------------------------------------------------------------------------------------------- */

static sp_status create_filled(sp_dtype dtype, int rank, const int64_t *dims, double value, sp_tensor **out)
{
    sp_tensor *t = NULL;
    sp_loop_fn convert = sp__cast_loop(SP_DTYPE_F64, dtype);
    SP_CHECK(convert, SP_TYPE, "arrays of %s cannot be filled with a number", sp_dtype_name(dtype));
    SP_TRY(sp_tensor_create(dtype, rank, dims, &t));
    char *ptr[2] = {t->data, (char *)&value};
    const int64_t step[2] = {(int64_t)sp_dtype_bytes(dtype), 0};
    convert(t->count, ptr, step, NULL);
    *out = t;
    return SP_OK;
}

static sp_status fill_run(sp_transform_call *c)
{
    sp_tensor *out = NULL;
    SP_TRY(create_filled((sp_dtype)c->in[0]->dtype, c->in[0]->rank, c->in[0]->dims, sp__arg(c, 0, 0), &out));
    return sp__give(c, out);
}

const sp_transform_op sp_transform_Fill = {
    .name = "Fill", .attrs = {{"fill_value", 1, 1, 0, 0, SP_NEED, {0}}}, .run = fill_run};

enum { MASK_OPERATOR, MASK_CONSTANT, MASK_DTYPE };
static bool compare(int op, double a, double b)
{
    switch (op) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a > b;
    case 3: return a >= b;
    case 4: return a < b;
    default: return a <= b;
    }
}

/* The constant is seen as a number of the array's dtype. */
static sp_status mask_run(sp_transform_call *c)
{
    const sp_tensor *in = c->in[0];
    sp_tensor *wide = NULL, *constant = NULL, *hits = NULL, *out = NULL;
    double value = 0;
    sp_status status;
    SP_GOTO(done, cast_to(in, SP_DTYPE_F64, &wide));
    SP_GOTO(done, create_filled((sp_dtype)in->dtype, 0, NULL, sp__arg(c, MASK_CONSTANT, 0), &constant));
    SP_GOTO(done, sp_tensor_item_f64(constant, &value));
    SP_GOTO(done, sp_tensor_create(SP_DTYPE_BOOL, in->rank, in->dims, &hits));
    for (int64_t i = 0; i < in->count; i++)
        hits->data[i] = compare(sp__arg_int(c, MASK_OPERATOR, 0), ((const double *)(const void *)wide->data)[i], value);
    SP_GOTO(done, cast_to(hits, (sp_dtype)sp__arg_int(c, MASK_DTYPE, 0), &out));
    status = sp__give(c, out);
done:
    sp_tensor_release(wide);
    sp_tensor_release(constant);
    sp_tensor_release(hits);
    return status;
}

const sp_transform_op sp_transform_Mask = {.name = "Mask",
                                           .attrs = {{"operator", 1, 1, 0, 5, SP_NEED, {0}},
                                                     {"constant", 1, 1, 0, 0, SP_NEED, {0}},
                                                     {"dtype", 1, 1, 0, SP_DTYPE_STR - 1, 1, {SP_DTYPE_BOOL}}},
                                           .run = mask_run};

/* pad_shape: a length for each dimension, -1 keeps it; longer dimensions are cut. */
enum { END_SHAPE, END_VALUE };
static sp_status pad_end_run(sp_transform_call *c)
{
    const sp_tensor *in = c->in[0];
    int64_t dims[SP_RANK_MAX], common[SP_RANK_MAX];
    if (in->rank == 0) { /* one value has no end */
        sp_tensor *same = NULL;
        SP_TRY(sp_tensor_copy(in, &same));
        return sp__give(c, same);
    }
    SP_CHECK(sp__arg_n(c, END_SHAPE) == in->rank, SP_RUNTIME,
             "PadEnd: invalid pad shape, as rank of input is: %d, and rank of pad value: %d", in->rank,
             sp__arg_n(c, END_SHAPE));
    for (int i = 0; i < in->rank; i++) {
        const int64_t wanted = (int64_t)sp__arg(c, END_SHAPE, i);
        dims[i] = wanted < 0 ? in->dims[i] : wanted;
        common[i] = dims[i] < in->dims[i] ? dims[i] : in->dims[i];
    }
    sp_tensor *out = NULL, *to = NULL, *from = NULL;
    sp_status status;
    SP_GOTO(done, create_filled((sp_dtype)in->dtype, in->rank, dims, sp__arg(c, END_VALUE, 0), &out));
    SP_GOTO(done, sp_tensor_view(out, in->rank, common, out->strides, 0, &to));
    SP_GOTO(done, sp_tensor_view(in, in->rank, common, in->strides, 0, &from));
    SP_GOTO(done, sp_tensor_assign(to, from));
    status = sp__give(c, out);
    out = NULL;
done:
    sp_tensor_release(to);
    sp_tensor_release(from);
    sp_tensor_release(out);
    return status;
}

const sp_transform_op sp_transform_PadEnd = {
    .name = "PadEnd",
    .attrs = {{"pad_shape", 0, SP_RANK_MAX, -1, INT32_MAX, SP_NEED, {0}}, {"pad_value", 1, 1, 0, 0, 1, {0}}},
    .run = pad_end_run};
