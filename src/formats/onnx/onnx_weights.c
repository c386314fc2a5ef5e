/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_weights.c - weights and outline of ONNX models.
 *
 * One protobuf message (wire.h). Of its fields we use:
 *   ModelProto    1 ir_version | 2 producer_name | 3 producer_version | 7 graph | 8 opset_import (1 domain, 2 version)
 *   GraphProto    1 node | 2 name | 5 initializer | 11 input | 12 output | 15 sparse_initializer (onnx_sparse.c)
 *   TensorProto   1 dims | 2 data_type | 4 float_data | 5 int32_data | 7 int64_data | 8 name | 9 raw_data | 10 double_data |
 *                 11 uint64_data | 13 external_data (1 key, 2 value: location, offset, length) | 14 data_location
 *
 * Entries: the initializers, and those inside of branches and loops with the constants there. Contents are in raw_data, in a file beside, or in one of the typed fields; there 16-bit
 * floats, bools and small integers stand in int32_data, one number an element; elements of 4 bits and fewer are packed into bytes
 * first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/onnx/onnx_tensor.h"
#include "ops/minifloat.h"

typedef struct {
    char name[1024];
    sp_wire raw, typed; /* typed empty: missing */
    bool has_raw, external;
    sp_meta meta;
    uint64_t type;
    char location[512];
    uint64_t offset, length;
    bool has_length;
} tensor;

typedef struct {
    const sp_source *source;
    sp_bundle *bundle;
    uint64_t n_nodes, n_inputs, n_outputs;
} reader;

sp_dtype sp__onnx_dtype(uint64_t number)
{
    static const int8_t known[] = {SP_DTYPE_NONE, SP_DTYPE_F32, SP_DTYPE_U8,  SP_DTYPE_I8,   SP_DTYPE_U16,
                                   SP_DTYPE_I16,  SP_DTYPE_I32, SP_DTYPE_I64, SP_DTYPE_NONE, SP_DTYPE_BOOL,
                                   SP_DTYPE_F16,  SP_DTYPE_F64, SP_DTYPE_U32, SP_DTYPE_U64,  SP_DTYPE_C64,
                                   SP_DTYPE_C128, SP_DTYPE_BF16};
    return number < sizeof known ? (sp_dtype)known[number] : SP_DTYPE_NONE;
}

int sp__onnx_dtype_number(sp_dtype dtype)
{
    for (uint64_t i = 1; i <= 16; i++)
        if (sp__onnx_dtype(i) == dtype) return (int)i;
    return 0;
}

const sp_onnx_type *sp__onnx_type(uint64_t number)
{
    static const sp_onnx_type types[] = {
        {SP_ONNX_STRING, "string", SP_DTYPE_I64, 0, NULL},
        {17, "float8e4m3fn", SP_DTYPE_F32, 8, "e4m3fn"},
        {18, "float8e4m3fnuz", SP_DTYPE_F32, 8, "e4m3fnuz"},
        {19, "float8e5m2", SP_DTYPE_F32, 8, "e5m2"},
        {20, "float8e5m2fnuz", SP_DTYPE_F32, 8, "e5m2fnuz"},
        {21, "uint4", SP_DTYPE_U8, 4, NULL},
        {22, "int4", SP_DTYPE_I8, 4, NULL},
        {23, "float4e2m1", SP_DTYPE_F32, 4, "e2m1"},
        {24, "float8e8m0", SP_DTYPE_F32, 8, "e8m0"},
        {25, "uint2", SP_DTYPE_U8, 2, NULL},
        {26, "int2", SP_DTYPE_I8, 2, NULL},
        {27, "float6e2m3", SP_DTYPE_F32, 6, "e2m3"},
        {28, "float6e3m2", SP_DTYPE_F32, 6, "e3m2"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint64_t)types[i].number == number) return &types[i];
    return NULL;
}

sp_dtype sp__onnx_carrier(uint64_t number, int *type)
{
    const sp_onnx_type *t = sp__onnx_type(number);
    if (type != NULL) *type = t != NULL ? t->number : 0;
    return t != NULL ? t->carrier : sp__onnx_dtype(number);
}

/* --- one tensor -------------------------------------------------------------------------------------------------- */

static sp_status read_external(sp_wire w, tensor *t)
{
    char key[32] = "", value[512] = "";
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "a key of external_data", type, key, sizeof key));
        else if (number == 2) SP_TRY(sp__wire_take_text(&w, "external_data", type, value, sizeof value));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    if (strcmp(key, "location") == 0) memcpy(t->location, value, sizeof value);
    else if (strcmp(key, "offset") == 0) t->offset = strtoull(value, NULL, 10);
    else if (strcmp(key, "length") == 0) {
        t->length = strtoull(value, NULL, 10);
        t->has_length = true;
    }
    return SP_OK;
}

static sp_status parse_tensor(sp_wire w, tensor *t)
{
    memset(t, 0, sizeof *t);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        uint64_t value;
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case 1: SP_TRY(sp__meta_take_dims(&w, type, &t->meta)); break;
        case 2: SP_TRY(sp__wire_take_number(&w, "data_type", type, &t->type)); break;
        case 4:
        case 5:
        case 7:
        case 10:
        case 11: SP_TRY(sp__wire_take_bytes(&w, "typed data", type, &t->typed)); break;
        case 8: SP_TRY(sp__wire_take_text(&w, "name", type, t->name, sizeof t->name)); break;
        case 9:
            SP_TRY(sp__wire_take_bytes(&w, "raw_data", type, &t->raw));
            t->has_raw = true;
            break;
        case 13:
            SP_TRY(sp__wire_take_bytes(&w, "external_data", type, &inner));
            SP_TRY(read_external(inner, t));
            break;
        case 14:
            SP_TRY(sp__wire_take_number(&w, "data_location", type, &value));
            t->external = value == 1;
            break;
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    return SP_OK;
}

/* Numbers of a typed field, each as it is stored: fixed width, or as varints that must be narrowed. */
static sp_status add_typed(const sp_source *source, sp_bundle *bundle, const char *name, const tensor *t)
{
    sp_dtype dtype = t->meta.dtype;
    if (dtype == SP_DTYPE_F32 || dtype == SP_DTYPE_F64 || sp_dtype_kind(dtype) == 'c')
        return sp__source_add(source, bundle, name, &t->meta, t->typed.at, sp__wire_left(&t->typed));
    size_t element = sp_dtype_bytes(dtype), wanted;
    SP_TRY(sp__meta_bytes(&t->meta, &wanted));
    SP_CHECK(wanted / element <= sp__wire_left(&t->typed), SP_FORMAT, "%zu elements wanted in %zu bytes",
             wanted / element, sp__wire_left(&t->typed));
    sp_map *map = NULL;
    SP_TRY(sp__map_create(wanted, &map));
    sp_wire w = t->typed;
    sp_status status = SP_OK;
    size_t at = 0;
    for (; at < wanted && sp__wire_more(&w) && status == SP_OK; at += element) {
        uint64_t value = 0;
        status = sp__wire_varint(&w, &value);
        memcpy(map->data + at, &value, element); /* little-endian: the low bytes */
    }
    if (status == SP_OK && (at < wanted || sp__wire_more(&w)))
        status = sp__fail(SP_FORMAT, "the number of elements does not agree with the shape");
    sp_source s = {.data = map->data, .bytes = wanted, .map = map, .options = source->options};
    if (status == SP_OK) status = sp__source_add(&s, bundle, name, &t->meta, s.data, wanted);
    sp__map_release(map);
    return status;
}

static sp_status add_external(const sp_source *source, sp_bundle *bundle, const char *name, const tensor *t)
{
    sp_source file;
    size_t wanted;
    SP_TRY(sp__meta_bytes(&t->meta, &wanted));
    SP_TRY(sp__source_open_beside(source, t->location, &file));
    sp_status status =
        sp__source_add_part(&file, t->location, bundle, name, &t->meta, t->offset, t->has_length ? t->length : wanted);
    sp__source_close(&file);
    return status;
}

/* --- small elements ---------------------------------------------------------------------------------------------- */

/* Elements of a few bits, the lowest bits of the first byte first. */
static void unpack(const sp_onnx_type *type, const uint8_t *from, size_t n, uint8_t *to)
{
    const sp_minifloat_format *f = sp__minifloat_find(type->format);
    bool is_signed = type->carrier == SP_DTYPE_I8;
    unsigned mask = (1u << type->bits) - 1, sign = 1u << (type->bits - 1);
    for (size_t i = 0; i < n; i++) {
        size_t bit = i * (size_t)type->bits, at = bit / 8, last = (bit + (size_t)type->bits - 1) / 8;
        unsigned code = (from[at] | (last > at ? (unsigned)from[last] << 8 : 0)) >> bit % 8 & mask;
        if (f != NULL) {
            float value = sp__minifloat_value(f, code);
            memcpy(to + i * sizeof value, &value, sizeof value);
        } else to[i] = (uint8_t)(is_signed ? (code ^ sign) - sign : code);
    }
}

/* Bytes as they stand in raw_data, out of int32_data: a byte of packed elements, or one element, each. */
static sp_status bytes_of_typed(const tensor *t, const sp_onnx_type *type, size_t n, uint8_t *to, size_t room)
{
    sp_wire w = t->typed;
    for (size_t i = 0; i < (type->bits < 6 ? room : n); i++) {
        uint64_t value = 0;
        SP_CHECK(sp__wire_more(&w), SP_FORMAT, "the number of elements does not agree with the shape");
        SP_TRY(sp__wire_varint(&w, &value));
        if (type->bits != 6) to[i] = (uint8_t)value;
        else
            for (size_t k = 0; k < 6; k++)
                if (value >> k & 1) to[(6 * i + k) / 8] |= (uint8_t)(1u << (6 * i + k) % 8);
    }
    return SP_OK;
}

static sp_status add_small(const sp_source *source, sp_bundle *bundle, const char *name, tensor *t,
                           const sp_onnx_type *type)
{
    size_t wanted;
    t->meta.dtype = type->carrier;
    SP_TRY(sp__meta_bytes(&t->meta, &wanted));
    size_t n = wanted / sp_dtype_bytes(type->carrier), packed = (n * (size_t)type->bits + 7) / 8;
    sp_source file = {0};
    sp_map *map = NULL;
    uint8_t *own = NULL;
    const uint8_t *from = t->raw.at;
    size_t have = t->has_raw ? sp__wire_left(&t->raw) : 0;
    sp_status status = SP_OK;
    if (t->external) {
        SP_TRY(sp__source_open_beside(source, t->location, &file));
        have = t->offset <= file.bytes ? file.bytes - (size_t)t->offset : 0;
        if (t->has_length && t->length < have) have = (size_t)t->length;
        from = file.data + (t->offset <= file.bytes ? t->offset : 0);
    } else if (!t->has_raw) {
        if (packed > sp__wire_left(&t->typed))
            status = sp__fail(SP_FORMAT, "the number of elements does not agree with the shape");
        if (status == SP_OK && !(own = sp__alloc_zero(packed + 1))) status = SP_NOMEM;
        if (status == SP_OK) status = bytes_of_typed(t, type, n, own, packed);
        from = own;
        have = packed;
    }
    if (status == SP_OK && have < packed)
        status = sp__fail(SP_FORMAT, "%zu bytes, but %zu elements of %s need %zu", have, n, type->name, packed);
    if (status == SP_OK) status = sp__map_create(wanted, &map);
    if (status == SP_OK) {
        unpack(type, from, n, map->data);
        sp_source s = {.data = map->data, .bytes = wanted, .map = map, .options = source->options};
        status = sp__source_add(&s, bundle, name, &t->meta, s.data, wanted);
        sp__map_release(map);
    }
    sp__free(own);
    if (t->external) sp__source_close(&file);
    return status;
}

sp_status sp__onnx_tensor_add(const sp_source *source, sp_bundle *bundle, sp_wire w, const char *as, int64_t *index,
                              int *type)
{
    tensor t;
    char shown[SP_NAME_SHOWN];
    SP_TRY(parse_tensor(w, &t));
    const char *name = as != NULL ? as : t.name;
    const sp_onnx_type *carried = sp__onnx_type(t.type);
    if (index != NULL) *index = -1;
    if (type != NULL) *type = carried != NULL ? carried->number : 0;
    SP_CHECK(name[0] != '\0', SP_FORMAT, "byte %zu: an initializer without a name", sp__wire_offset(&w));
    t.meta.dtype = sp__onnx_dtype(t.type);
    if (t.type == SP_ONNX_STRING) return SP_OK; /* texts are no weights */
    sp_status status;
    if (carried != NULL) status = add_small(source, bundle, name, &t, carried);
    else if (t.meta.dtype == SP_DTYPE_NONE)
        status = sp__fail(SP_FORMAT, "data_type %llu is not supported", (unsigned long long)t.type);
    else if (t.external) status = add_external(source, bundle, name, &t);
    else if (t.has_raw) status = sp__source_add(source, bundle, name, &t.meta, t.raw.at, sp__wire_left(&t.raw));
    else status = add_typed(source, bundle, name, &t);
    if (status != SP_OK) sp__error_context("initializer '%s'", sp__name_shown(name, strlen(name), shown));
    else if (index != NULL) *index = sp_bundle_find(bundle, name);
    return status;
}

/* --- graph and model --------------------------------------------------------------------------------------------- */

/* --- branches and bodies of loops: in attributes of nodes --------------------------------------------------------- */

enum { DEPTH_MAX = 32, NAME_BYTES = 512 };

static sp_status read_body(reader *r, sp_wire w, const char *where, int depth);

/* A tensor inside a branch, under its name, or that with `where` in front: both branches may use one. Of constants that are computed with, numbers
 * that make up no weight (shapes, axes, single ones) are left out. */
static sp_status add_inside(reader *r, sp_wire w, const char *given, const char *where)
{
    tensor t;
    char as[NAME_BYTES];
    SP_TRY(parse_tensor(w, &t));
    const char *name = given != NULL ? given : t.name;
    sp_dtype dtype = sp__onnx_dtype(t.type);
    if (given != NULL && (dtype == SP_DTYPE_NONE || sp_dtype_kind(dtype) != 'f' || t.meta.rank == 0)) return SP_OK;
    snprintf(as, sizeof as, "%.250s", name);
    for (int i = 0; sp_bundle_find(r->bundle, as) >= 0; i++)
        snprintf(as, sizeof as, i > 0 ? "%.200s/%.250s_%d" : "%.200s/%.250s", where, name, i);
    return sp__onnx_tensor_add(r->source, r->bundle, w, as, NULL, NULL);
}

/* The name of the first result of a node. */
static sp_status result_of(sp_wire w, char *out, size_t room)
{
    out[0] = '\0';
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 2) return sp__wire_take_text(&w, "output", type, out, room);
        SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status read_attribute(reader *r, sp_wire w, const char *result, const char *where, int depth)
{
    char name[128] = "";
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) {
            SP_TRY(sp__wire_take_text(&w, "name", type, name, sizeof name));
        } else if (number == 5 && depth > 0 && strcmp(name, "value") == 0 && result[0] != '\0') {
            SP_TRY(sp__wire_take_bytes(&w, "t", type, &inner));
            SP_TRY(add_inside(r, inner, result, where));
        } else if (number == 6 || number == 11) {
            char inside[NAME_BYTES];
            snprintf(inside, sizeof inside, "%.200s%s%.100s", where, where[0] != '\0' ? "/" : "", name);
            SP_TRY(sp__wire_take_bytes(&w, "g", type, &inner));
            SP_TRY(read_body(r, inner, inside, depth + 1));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

/* depth 0: of the graph itself, whose constants are no weights. */
static sp_status read_node(reader *r, sp_wire w, const char *where, int depth)
{
    char result[256];
    SP_TRY(result_of(w, result, sizeof result));
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 5) {
            SP_TRY(sp__wire_take_bytes(&w, "attribute", type, &inner));
            SP_TRY(read_attribute(r, inner, result, where, depth));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status read_body(reader *r, sp_wire w, const char *where, int depth)
{
    SP_CHECK(depth <= DEPTH_MAX, SP_FORMAT, "byte %zu: graphs lie more than %d deep in each other", sp__wire_offset(&w),
             DEPTH_MAX);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != 1 && number != 5) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, number == 1 ? "node" : "initializer", type, &inner));
        SP_TRY(number == 1 ? read_node(r, inner, where, depth) : add_inside(r, inner, NULL, where));
    }
    return SP_OK;
}

static sp_status read_bodies(reader *r, sp_wire w)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) {
            SP_TRY(sp__wire_take_bytes(&w, "node", type, &inner));
            SP_TRY(read_node(r, inner, "", 0));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status read_graph(reader *r, sp_wire w)
{
    sp_wire whole = w;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 5) {
            SP_TRY(sp__wire_take_bytes(&w, "initializer", type, &inner));
            SP_TRY(sp__onnx_tensor_add(r->source, r->bundle, inner, NULL, NULL, NULL));
            continue;
        }
        if (number == 15) {
            SP_TRY(sp__wire_take_bytes(&w, "sparse_initializer", type, &inner));
            SP_TRY(sp__onnx_sparse_add(r->source, r->bundle, inner, NULL, NULL, NULL));
            continue;
        }
        r->n_nodes += number == 1;
        r->n_inputs += number == 11;
        r->n_outputs += number == 12;
        SP_TRY(sp__wire_skip(&w, number, type));
    }
    return read_bodies(r, whole); /* after the graph's own, whose names stay as they are */
}

static sp_status note_opset(reader *r, sp_wire w)
{
    char domain[128] = "", text[192];
    uint64_t version = 0;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "domain", type, domain, sizeof domain));
        else if (number == 2) SP_TRY(sp__wire_take_number(&w, "version", type, &version));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    snprintf(text, sizeof text, "opset%s%s", domain[0] != '\0' ? " " : "", domain);
    return sp__bundle_note_number(r->bundle, text, version);
}

static sp_status read_field(reader *r, sp_wire *w, uint32_t number, int type)
{
    sp_wire inner;
    uint64_t value;
    char text[256];
    switch (number) {
    case 1:
        SP_TRY(sp__wire_take_number(w, "ir_version", type, &value));
        return sp__bundle_note_number(r->bundle, "ir_version", value);
    case 2:
    case 3:
        SP_TRY(sp__wire_take_text(w, "producer", type, text, sizeof text));
        return sp_bundle_set_note(r->bundle, number == 2 ? "producer" : "producer_version", text);
    case 7: SP_TRY(sp__wire_take_bytes(w, "graph", type, &inner)); return read_graph(r, inner);
    case 8: SP_TRY(sp__wire_take_bytes(w, "opset_import", type, &inner)); return note_opset(r, inner);
    default: return sp__wire_skip(w, number, type);
    }
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    reader r = {.source = s, .bundle = bundle};
    sp_wire w = sp__wire_open(s->data, s->bytes);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        SP_TRY(read_field(&r, &w, number, type));
    }
    SP_TRY(sp__bundle_note_number(bundle, "nodes", r.n_nodes));
    SP_TRY(sp__bundle_note_number(bundle, "inputs", r.n_inputs));
    return sp__bundle_note_number(bundle, "outputs", r.n_outputs);
}

/* All fields on the outermost level known, an ir_version and a graph among them. */
static bool probe(const sp_source *s)
{
    sp_wire w = sp__wire_open(s->data, s->bytes);
    bool version = false, graph = false;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        if (sp__wire_field(&w, &number, &type) != SP_OK || number > 30 || sp__wire_skip(&w, number, type) != SP_OK)
            return false;
        version = version || (number == 1 && type == SP_WIRE_VARINT);
        graph = graph || (number == 7 && type == SP_WIRE_BYTES);
    }
    return version && graph;
}

static uint64_t wanted(const sp_source *s) { return sp__wire_wanted(s, 31); }

const sp_format sp__format_onnx = {
    .name = "onnx",
    .title = "ONNX model",
    .extensions = ".onnx",
    .probe = probe,
    .wanted = wanted,
    .read = read_file,
};
