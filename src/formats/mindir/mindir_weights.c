/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_weights.c - weights and outline of MindIR models.
 *
 * One protobuf message (wire.h). Of its fields we use:
 *   ModelProto    1 ir_version | 2 producer_name | 5 model_version | 7 graph | 8 functions | 10 little_endian | 12 primitives |
 *                 13 mind_ir_version | 14 user_info (1 key, 2 value)
 *   GraphProto    1 node | 2 name | 3 parameter | 5 input | 6 output
 *   TensorProto   1 dims | 2 data_type | 7 name | 9 raw_data | 12 external_data (1 location, 2 offset, 3 length) |
 *                 16 compression_type
 *
 * Entries: the parameters of the main graph, called by what stands behind the first colon of their names. Weights of a
 * split model lie in <name>_variables/data_<n>; an older way keeps there graphs that hold only parameters, which is not
 * read. */
#include <stdio.h>
#include <string.h>

#include "formats/format_impl.h"
#include "formats/mindir/mindir.h"
#include "formats/wire.h"

typedef struct {
    char name[2048];
    sp_wire raw;
    bool has_raw, external;
    sp_meta meta;
    uint64_t type, compression, offset, length;
    char location[512];
} tensor;

typedef struct {
    char location[512];
    sp_source file;
    bool open;
} side_file;

typedef struct {
    const sp_source *source;
    sp_bundle *bundle;
    uint64_t n_nodes, n_functions, n_primitives, n_inputs, n_parameters;
    side_file side; /* the last one used: a model has few */
} reader;

/* --- one tensor -------------------------------------------------------------------------------------------------- */

static sp_status read_external(sp_wire w, tensor *t)
{
    t->external = true;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "location", type, t->location, sizeof t->location));
        else if (number == 2) SP_TRY(sp__wire_take_number(&w, "offset", type, &t->offset));
        else if (number == 3) SP_TRY(sp__wire_take_number(&w, "length", type, &t->length));
        else SP_TRY(sp__wire_skip(&w, number, type));
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
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case 1: SP_TRY(sp__meta_take_dims(&w, type, &t->meta)); break;
        case 2: SP_TRY(sp__wire_take_number(&w, "data_type", type, &t->type)); break;
        case 7: SP_TRY(sp__wire_take_text(&w, "name", type, t->name, sizeof t->name)); break;
        case 9:
            SP_TRY(sp__wire_take_bytes(&w, "raw_data", type, &t->raw));
            t->has_raw = true;
            break;
        case 12:
            SP_TRY(sp__wire_take_bytes(&w, "external_data", type, &inner));
            SP_TRY(read_external(inner, t));
            break;
        case 16: SP_TRY(sp__wire_take_number(&w, "compression_type", type, &t->compression)); break;
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    return SP_OK;
}

static sp_status open_side(reader *r, const char *location)
{
    if (r->side.open && strcmp(r->side.location, location) == 0) return SP_OK;
    if (r->side.open) sp__source_close(&r->side.file);
    r->side.open = false;
    SP_TRY(sp__source_open_beside(r->source, location, &r->side.file));
    snprintf(r->side.location, sizeof r->side.location, "%s", location);
    r->side.open = true;
    return SP_OK;
}

static sp_status add_contents(reader *r, const char *name, const tensor *t)
{
    SP_CHECK(t->meta.dtype != SP_DTYPE_NONE, SP_FORMAT, "data_type %llu is not supported", (unsigned long long)t->type);
    SP_CHECK(t->compression == 0, SP_FORMAT, "is compressed (type %llu), which is not supported",
             (unsigned long long)t->compression);
    if (!t->external) {
        SP_CHECK(t->has_raw, SP_FORMAT, "has no contents");
        return sp__source_add(r->source, r->bundle, name, &t->meta, t->raw.at, sp__wire_left(&t->raw));
    }
    SP_TRY(open_side(r, t->location));
    return sp__source_add_part(&r->side.file, t->location, r->bundle, name, &t->meta, t->offset, t->length);
}

static sp_status add_parameter(reader *r, sp_wire w)
{
    tensor t;
    char shown[SP_NAME_SHOWN];
    SP_TRY(parse_tensor(w, &t));
    SP_CHECK(t.name[0] != '\0', SP_FORMAT, "byte %zu: a weight without a name", sp__wire_offset(&w));
    const char *colon = strchr(t.name, ':'), *plain = colon != NULL && colon[1] != '\0' ? colon + 1 : t.name;
    t.meta.dtype = sp__mindir_dtype(t.type);
    sp_status status = add_contents(r, plain, &t);
    if (status != SP_OK) sp__error_context("weight '%s'", sp__name_shown(plain, strlen(plain), shown));
    r->n_parameters++;
    return status;
}

/* --- graph and model --------------------------------------------------------------------------------------------- */

static sp_status read_graph(reader *r, sp_wire w, bool main)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 3 && main) {
            SP_TRY(sp__wire_take_bytes(&w, "parameter", type, &inner));
            SP_TRY(add_parameter(r, inner));
            continue;
        }
        r->n_nodes += number == 1;
        r->n_inputs += number == 5 && main;
        SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status note_text(reader *r, sp_wire *w, const char *key, int type)
{
    char text[256];
    SP_TRY(sp__wire_take_text(w, key, type, text, sizeof text));
    return sp_bundle_set_note(r->bundle, key, text);
}

static sp_status note_user_info(reader *r, sp_wire w)
{
    char key[200] = "", value[4096] = "", full[256];
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "a key of user_info", type, key, sizeof key));
        else if (number == 2) SP_TRY(sp__wire_take_text(&w, "user_info", type, value, sizeof value));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    snprintf(full, sizeof full, "user_info.%s", key);
    return sp_bundle_set_note(r->bundle, full, value);
}

static sp_status read_field(reader *r, sp_wire *w, uint32_t number, int type)
{
    sp_wire inner;
    uint64_t value;
    switch (number) {
    case 1: return note_text(r, w, "ir_version", type);
    case 2: return note_text(r, w, "producer", type);
    case 5: return note_text(r, w, "version", type);
    case 7:
    case 8:
        r->n_functions++;
        SP_TRY(sp__wire_take_bytes(w, "graph", type, &inner));
        return read_graph(r, inner, number == 7);
    case 10:
        SP_TRY(sp__wire_take_number(w, "little_endian", type, &value));
        SP_CHECK(value != 0, SP_FORMAT, "was written on a big-endian machine, which is not supported");
        return SP_OK;
    case 12: r->n_primitives++; return sp__wire_skip(w, number, type);
    case 13:
        SP_TRY(sp__wire_take_number(w, "mind_ir_version", type, &value));
        return sp__bundle_note_number(r->bundle, "mind_ir_version", value);
    case 14: SP_TRY(sp__wire_take_bytes(w, "user_info", type, &inner)); return note_user_info(r, inner);
    default: return sp__wire_skip(w, number, type);
    }
}

static sp_status read_all(reader *r)
{
    sp_wire w = sp__wire_open(r->source->data, r->source->bytes);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        SP_TRY(read_field(r, &w, number, type));
    }
    SP_TRY(sp__bundle_note_number(r->bundle, "functions", r->n_functions));
    SP_TRY(sp__bundle_note_number(r->bundle, "nodes", r->n_nodes));
    return sp__bundle_note_number(r->bundle, "inputs", r->n_inputs);
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    reader r = {.source = s, .bundle = bundle};
    sp_status status = read_all(&r);
    if (r.side.open) sp__source_close(&r.side.file);
    return status;
}

/* An ir_version like "0.1.1" and the name of the producer in front. */
static bool probe(const sp_source *s)
{
    sp_wire w = sp__wire_open(s->data, s->bytes), version, producer;
    uint32_t number;
    int type;
    if (sp__wire_field(&w, &number, &type) != SP_OK || number != 1 || type != SP_WIRE_BYTES) return false;
    if (sp__wire_bytes(&w, &version) != SP_OK || sp__wire_left(&version) == 0 || sp__wire_left(&version) > 16)
        return false;
    for (const uint8_t *p = version.at; p < version.end; p++)
        if ((*p < '0' || *p > '9') && *p != '.') return false;
    if (sp__wire_field(&w, &number, &type) != SP_OK || number != 2 || type != SP_WIRE_BYTES) return false;
    return sp__wire_bytes(&w, &producer) == SP_OK && sp__wire_left(&producer) == 9 &&
           memcmp(producer.at, "MindSpore", 9) == 0;
}

static uint64_t wanted(const sp_source *s) { return sp__wire_wanted(s, 31); }

const sp_format sp__format_mindir = {
    .name = "mindir",
    .title = "MindIR model",
    .extensions = ".mindir",
    .probe = probe,
    .wanted = wanted,
    .read = read_file,
};
