/* SPDX-License-Identifier: Apache-2.0 */
/* attr_table.h - the attributes of an operator, written once:
 *
 *     SP_ATTR_TABLE(pad_attr_table, sp_pad_attrs, (INTS_NEEDED, pads), (TEXT, mode, "constant"), (NUMBER, value, 0));
 *
 * makes the table that texts, files and Python read, and a struct of the defaults. Both are constant data: there is nothing to
 * prepare when a program starts, and nothing that could fail for want of memory. The type is written by the build into
 * spore/ops_attrs.h (scripts/make-op-headers), with the fields of all tables that name it.
 *
 * A row is (KIND, field, default):
 *     INT FLOAT BOOL DTYPE NUMBER TEXT     one value: 3, 1e-05, True, float32, 1, "mean"
 *     INTS FLOATS                          as many as it has: (INTS, stride, 1, 1); none: (INTS_EMPTY, axis)
 *     ..._OR_NONE                          None by default; no value is written
 *     ..._NEEDED                           must be given; no value is written */
#ifndef SPORE_IR_ATTR_TABLE_H
#define SPORE_IR_ATTR_TABLE_H

#define SP_ATTR_TABLE(table, struct_type, ...)                                                                         \
    static const sp_attr table[] = {SP_ATTR_EACH(SP_ATTR_ROW, struct_type, __VA_ARGS__)};                              \
    static const struct_type table##_defaults = {SP_ATTR_EACH(SP_ATTR_SET, struct_type, __VA_ARGS__)}

/* For the entry: .attrs and what belongs to it. */
#define SP_ATTRS(table, struct_type)                                                                                   \
    .attrs = table, .n_attrs = (int)(sizeof(table) / sizeof(table[0])), .attrs_bytes = sizeof(struct_type),            \
    .defaults = &table##_defaults

/* --- rows of the table ------------------------------------------------------------------------------------------- */

#define SP_ATTR_LINE(T, f, type, text) {#f, SP_ATTR_##type, offsetof(T, f), text},
#define SP_ATTR_LIST_TEXT(values, n) (n) == 1 ? "(" values ",)" : "(" values ")"

#define SP_ATTR_ROW_INT(T, f, v) SP_ATTR_LINE(T, f, INT, #v)
#define SP_ATTR_ROW_FLOAT(T, f, v) SP_ATTR_LINE(T, f, FLOAT, #v)
#define SP_ATTR_ROW_BOOL(T, f, v) SP_ATTR_LINE(T, f, BOOL, #v)
#define SP_ATTR_ROW_DTYPE(T, f, v) SP_ATTR_LINE(T, f, DTYPE, #v)
#define SP_ATTR_ROW_NUMBER(T, f, v) SP_ATTR_LINE(T, f, NUMBER, #v)
#define SP_ATTR_ROW_TEXT(T, f, v) SP_ATTR_LINE(T, f, TEXT, v)
#define SP_ATTR_ROW_INTS(T, f, ...)                                                                                    \
    SP_ATTR_LINE(T, f, INTS, SP_ATTR_LIST_TEXT(#__VA_ARGS__, SP_ATTR_COUNT(int64_t, __VA_ARGS__)))
#define SP_ATTR_ROW_FLOATS(T, f, ...)                                                                                  \
    SP_ATTR_LINE(T, f, FLOATS, SP_ATTR_LIST_TEXT(#__VA_ARGS__, SP_ATTR_COUNT(double, __VA_ARGS__)))
#define SP_ATTR_ROW_INTS_EMPTY(T, f) SP_ATTR_LINE(T, f, INTS, "()")

#define SP_ATTR_ROW_INT_OR_NONE(T, f) SP_ATTR_LINE(T, f, INT, "None")
#define SP_ATTR_ROW_DTYPE_OR_NONE(T, f) SP_ATTR_LINE(T, f, DTYPE, "None")
#define SP_ATTR_ROW_NUMBER_OR_NONE(T, f) SP_ATTR_LINE(T, f, NUMBER, "None")
#define SP_ATTR_ROW_TEXT_OR_NONE(T, f) SP_ATTR_LINE(T, f, TEXT, "None")
#define SP_ATTR_ROW_INTS_OR_NONE(T, f) SP_ATTR_LINE(T, f, INTS, "None")
#define SP_ATTR_ROW_FLOATS_OR_NONE(T, f) SP_ATTR_LINE(T, f, FLOATS, "None")

#define SP_ATTR_ROW_INT_NEEDED(T, f) SP_ATTR_LINE(T, f, INT, NULL)
#define SP_ATTR_ROW_FLOAT_NEEDED(T, f) SP_ATTR_LINE(T, f, FLOAT, NULL)
#define SP_ATTR_ROW_BOOL_NEEDED(T, f) SP_ATTR_LINE(T, f, BOOL, NULL)
#define SP_ATTR_ROW_DTYPE_NEEDED(T, f) SP_ATTR_LINE(T, f, DTYPE, NULL)
#define SP_ATTR_ROW_NUMBER_NEEDED(T, f) SP_ATTR_LINE(T, f, NUMBER, NULL)
#define SP_ATTR_ROW_TEXT_NEEDED(T, f) SP_ATTR_LINE(T, f, TEXT, NULL)
#define SP_ATTR_ROW_INTS_NEEDED(T, f) SP_ATTR_LINE(T, f, INTS, NULL)
#define SP_ATTR_ROW_FLOATS_NEEDED(T, f) SP_ATTR_LINE(T, f, FLOATS, NULL)

/* --- fields of the defaults; what must be given stands there as None, a number as 0 ------------------------------- */

#define SP_ATTR_COUNT(type, ...) (int)(sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
#define SP_ATTR_True true
#define SP_ATTR_False false
#define SP_ATTR_float32 SP_DTYPE_F32
#define SP_ATTR_int32 SP_DTYPE_I32
#define SP_ATTR_int64 SP_DTYPE_I64
#define SP_ATTR_uint32 SP_DTYPE_U32

#define SP_ATTR_SET_INT(T, f, v) .f = v,
#define SP_ATTR_SET_FLOAT(T, f, v) .f = v,
#define SP_ATTR_SET_BOOL(T, f, v) .f = SP_ATTR_##v,
#define SP_ATTR_SET_DTYPE(T, f, v) .f = SP_ATTR_##v,
#define SP_ATTR_SET_NUMBER(T, field, v)                                                                                \
    .field = {.kind = _Generic((v), double: 'f', default: 'i'), .i = _Generic((v), double: 0, default: v), .f = v},
#define SP_ATTR_SET_TEXT(T, f, v) .f = v,
#define SP_ATTR_SET_INTS(T, f, ...) .f = {SP_ATTR_COUNT(int64_t, __VA_ARGS__), (const int64_t[]){__VA_ARGS__}},
#define SP_ATTR_SET_FLOATS(T, f, ...) .f = {SP_ATTR_COUNT(double, __VA_ARGS__), (const double[]){__VA_ARGS__}},
#define SP_ATTR_SET_INTS_EMPTY(T, f) .f = {.n = 0},

#define SP_ATTR_SET_INT_OR_NONE(T, f) .f = SP_INT_NONE,
#define SP_ATTR_SET_DTYPE_OR_NONE(T, f) .f = SP_DTYPE_NONE,
#define SP_ATTR_SET_NUMBER_OR_NONE(T, f) .f = {.kind = 'n'},
#define SP_ATTR_SET_TEXT_OR_NONE(T, f) .f = NULL,
#define SP_ATTR_SET_INTS_OR_NONE(T, f) .f = {.n = -1},
#define SP_ATTR_SET_FLOATS_OR_NONE(T, f) .f = {.n = -1},

#define SP_ATTR_SET_INT_NEEDED SP_ATTR_SET_INT_OR_NONE
#define SP_ATTR_SET_FLOAT_NEEDED(T, f) .f = 0,
#define SP_ATTR_SET_BOOL_NEEDED(T, f) .f = false,
#define SP_ATTR_SET_DTYPE_NEEDED SP_ATTR_SET_DTYPE_OR_NONE
#define SP_ATTR_SET_NUMBER_NEEDED SP_ATTR_SET_NUMBER_OR_NONE
#define SP_ATTR_SET_TEXT_NEEDED SP_ATTR_SET_TEXT_OR_NONE
#define SP_ATTR_SET_INTS_NEEDED SP_ATTR_SET_INTS_OR_NONE
#define SP_ATTR_SET_FLOATS_NEEDED SP_ATTR_SET_FLOATS_OR_NONE

/* --- one macro for each row; the steps between take rows out of their brackets ------------------------------------- */

#define SP_ATTR_OPEN(...) __VA_ARGS__
#define SP_ATTR_ROW(T, row) SP_ATTR_ROW_OF(T, SP_ATTR_OPEN row)
#define SP_ATTR_ROW_OF(...) SP_ATTR_ROW_IS(__VA_ARGS__)
#define SP_ATTR_ROW_IS(T, kind, ...) SP_ATTR_ROW_##kind(T, __VA_ARGS__)
#define SP_ATTR_SET(T, row) SP_ATTR_SET_OF(T, SP_ATTR_OPEN row)
#define SP_ATTR_SET_OF(...) SP_ATTR_SET_IS(__VA_ARGS__)
#define SP_ATTR_SET_IS(T, kind, ...) SP_ATTR_SET_##kind(T, __VA_ARGS__)

#define SP_ATTR_EACH(m, T, ...)                                                                                        \
    SP_ATTR_LAST(__VA_ARGS__, SP_ATTR_14, SP_ATTR_13, SP_ATTR_12, SP_ATTR_11, SP_ATTR_10, SP_ATTR_9, SP_ATTR_8,        \
                 SP_ATTR_7, SP_ATTR_6, SP_ATTR_5, SP_ATTR_4, SP_ATTR_3, SP_ATTR_2, SP_ATTR_1, 0)(m, T, __VA_ARGS__)
#define SP_ATTR_LAST(a, b, c, d, e, f, g, h, i, j, k, l, m, n, macro, ...) macro
#define SP_ATTR_1(m, T, row) m(T, row)
#define SP_ATTR_2(m, T, row, ...) m(T, row) SP_ATTR_1(m, T, __VA_ARGS__)
#define SP_ATTR_3(m, T, row, ...) m(T, row) SP_ATTR_2(m, T, __VA_ARGS__)
#define SP_ATTR_4(m, T, row, ...) m(T, row) SP_ATTR_3(m, T, __VA_ARGS__)
#define SP_ATTR_5(m, T, row, ...) m(T, row) SP_ATTR_4(m, T, __VA_ARGS__)
#define SP_ATTR_6(m, T, row, ...) m(T, row) SP_ATTR_5(m, T, __VA_ARGS__)
#define SP_ATTR_7(m, T, row, ...) m(T, row) SP_ATTR_6(m, T, __VA_ARGS__)
#define SP_ATTR_8(m, T, row, ...) m(T, row) SP_ATTR_7(m, T, __VA_ARGS__)
#define SP_ATTR_9(m, T, row, ...) m(T, row) SP_ATTR_8(m, T, __VA_ARGS__)
#define SP_ATTR_10(m, T, row, ...) m(T, row) SP_ATTR_9(m, T, __VA_ARGS__)
#define SP_ATTR_11(m, T, row, ...) m(T, row) SP_ATTR_10(m, T, __VA_ARGS__)
#define SP_ATTR_12(m, T, row, ...) m(T, row) SP_ATTR_11(m, T, __VA_ARGS__)
#define SP_ATTR_13(m, T, row, ...) m(T, row) SP_ATTR_12(m, T, __VA_ARGS__)
#define SP_ATTR_14(m, T, row, ...) m(T, row) SP_ATTR_13(m, T, __VA_ARGS__)

#endif
