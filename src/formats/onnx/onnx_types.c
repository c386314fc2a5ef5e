/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_types.c - types of inputs and outputs in ONNX files.
 *
 *   TypeProto  1 tensor_type (1 elem_type | 2 shape: 1 dim: 1 dim_value, 2 dim_param) | 4 sequence_type | 9 optional_type, whose only field is the type inside */
#include <stdio.h>

#include "formats/onnx/onnx_model.h"

enum { NESTING_MAX = 32 };

/* A number for a name, never 0. Two names may share one by chance; then the sizes that are tried agree, which does no harm. */
static uint32_t name_number(sp_wire w)
{
    uint32_t number = 2166136261u;
    for (; w.at < w.end; w.at++) number = (number ^ *w.at) * 16777619u;
    return number != 0 ? number : 1;
}

/* Converters write these for every size that they do not know: dimensions that share them need not be equal. */
static bool says_nothing(sp_wire name)
{
    static const char *const unknown[] = {"None", "none", "unknown", "dynamic"};
    const size_t n = sp__wire_left(&name);
    bool letters = false;
    for (size_t i = 0; i < n; i++) letters |= (name.at[i] | 32) >= 'a' && (name.at[i] | 32) <= 'z';
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (n == strlen(unknown[i]) && !memcmp(name.at, unknown[i], n)) return true;
    return !letters;
}

static sp_status read_dims(sp_wire w, sp_model_value *out)
{
    sp_spec *spec = &out->spec;
    spec->rank = 0;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire dim, name;
        uint64_t v;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != 1) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "dim", type, &dim));
        SP_CHECK(spec->rank < SP_RANK_MAX, SP_FORMAT, "byte %zu: more than %d dimensions", sp__wire_offset(&w),
                 SP_RANK_MAX);
        uint32_t *axis = &out->axes[spec->rank];
        char *axis_name = out->axis_names[spec->rank];
        int64_t *d = &spec->dims[spec->rank++];
        *d = -1;
        while (sp__wire_more(&dim)) {
            SP_TRY(sp__wire_field(&dim, &number, &type));
            if (number == 1) {
                SP_TRY(sp__wire_take_number(&dim, "dim_value", type, &v));
                *d = (int64_t)v < 0 ? -1 : (int64_t)v;
            } else if (number == 2) {
                SP_TRY(sp__wire_take_bytes(&dim, "dim_param", type, &name));
                *axis = says_nothing(name) ? 0 : name_number(name);
                snprintf(axis_name, SP_AXIS_NAME_BYTES, "%.*s",
                         (int)(sp__wire_left(&name) < SP_AXIS_NAME_BYTES ? sp__wire_left(&name) : SP_AXIS_NAME_BYTES),
                         (const char *)name.at);
            } else SP_TRY(sp__wire_skip(&dim, number, type));
        }
    }
    return SP_OK;
}

static sp_status read_tensor_type(sp_wire w, sp_model_value *out)
{
    sp_spec *spec = &out->spec;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        uint64_t v;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) {
            SP_TRY(sp__wire_take_number(&w, "elem_type", type, &v));
            spec->dtype = v == SP_ONNX_STRING ? SP_DTYPE_STR : sp__onnx_carrier(v, &out->type);
        } else if (number == 2) {
            SP_TRY(sp__wire_take_bytes(&w, "shape", type, &inner));
            SP_TRY(read_dims(inner, out));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status read_type(sp_wire w, int depth, sp_model_value *out)
{
    SP_CHECK(depth < NESTING_MAX, SP_FORMAT, "byte %zu: types inside types, more than %d deep", sp__wire_offset(&w),
             NESTING_MAX);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner, element;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) {
            SP_TRY(sp__wire_take_bytes(&w, "tensor_type", type, &inner));
            SP_TRY(read_tensor_type(inner, out));
        } else if (number == 4) {
            out->type = -1;
            SP_TRY(sp__wire_skip(&w, number, type));
        } else if (number == 9) {
            SP_TRY(sp__wire_take_bytes(&w, "optional_type", type, &inner));
            while (sp__wire_more(&inner)) {
                SP_TRY(sp__wire_field(&inner, &number, &type));
                if (number != 1) SP_TRY(sp__wire_skip(&inner, number, type));
                else {
                    SP_TRY(sp__wire_take_bytes(&inner, "elem_type", type, &element));
                    SP_TRY(read_type(element, depth + 1, out));
                }
            }
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

sp_status sp__onnx_read_type(sp_wire w, sp_model_value *out) { return read_type(w, 0, out); }
