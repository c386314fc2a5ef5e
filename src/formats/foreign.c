/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.c - files that are none of the formats of this folder, but known: what they are and what reads them; and files that were cut. */
#include <string.h>

#include "base/stand_in.h"
#include "formats/format_impl.h"

/* --- other kinds of files ---------------------------------------------------------------------------------------- */

static bool contains(const uint8_t *data, size_t bytes, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= bytes; i++)
        if (memcmp(data + i, word, n) == 0) return true;
    return false;
}

/* Length of the header, then JSON with these members (data/mindrecord.h). */
static bool is_record(const sp_source *s)
{
    enum { LENGTH_BYTES = 8, LOOK_BYTES = 1 << 16 };
    if (s->bytes < LENGTH_BYTES + 2 || s->data[LENGTH_BYTES] != '{') return false;
    size_t n = s->bytes - LENGTH_BYTES < LOOK_BYTES ? s->bytes - LENGTH_BYTES : LOOK_BYTES;
    const uint8_t *at = s->data + LENGTH_BYTES;
    return contains(at, n, "\"header_size\"") &&
           (contains(at, n, "\"shard_id\"") || contains(at, n, "\"shard_addresses\"") || contains(at, n, "\"page\""));
}

/* Is the field of this number here, a message or text? Then what is in it; w moves past it. */
static bool take_field(sp_wire *w, uint32_t wanted, sp_wire *inside)
{
    uint32_t number;
    int type;
    return sp__wire_more(w) && sp__wire_field(w, &number, &type) == SP_OK && number == wanted &&
           type == SP_WIRE_BYTES && sp__wire_bytes(w, inside) == SP_OK;
}

/* A GraphDef begins with nodes: {name, operator, ...}. A checkpoint has {name, {...}} there, which begins with a byte that is no letter. */
static bool is_graph(sp_wire graph)
{
    sp_wire node, name, op;
    if (!take_field(&graph, 1, &node) || !take_field(&node, 1, &name) || !take_field(&node, 2, &op) ||
        !sp__wire_more(&op) || !sp__wire_more(&name))
        return false;
    for (; sp__wire_more(&op); op.at++) {
        uint8_t c = *op.at;
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '>'))
            return false;
    }
    return true;
}

/* A SavedModel: version 1, then a MetaGraphDef: {information, GraphDef, ...}. */
static bool is_saved_model(const sp_source *s)
{
    sp_wire w = sp__wire_open(s->data, s->bytes), meta, information, graph;
    uint32_t number;
    int type;
    uint64_t version;
    if (sp__wire_field(&w, &number, &type) != SP_OK || number != 1 || type != SP_WIRE_VARINT ||
        sp__wire_varint(&w, &version) != SP_OK || version != 1)
        return false;
    return take_field(&w, 2, &meta) && take_field(&meta, 1, &information) && take_field(&meta, 2, &graph) &&
           is_graph(graph);
}

static bool has_mark(const sp_source *s, size_t at, const char *mark, size_t n)
{
    return s->bytes >= at + n && memcmp(s->data + at, mark, n) == 0;
}

sp_status sp__source_refuse_foreign(const sp_source *s)
{
    SP_TRY(sp__refuse_stand_in(s->data, s->bytes));
    SP_CHECK(
        !is_record(s), SP_FORMAT,
        "the file is a MindRecord data set, not weights or a model; `spore record info` shows it, dataset.MindDataset reads it");
    SP_CHECK(
        !is_graph(sp__wire_open(s->data, s->bytes)), SP_FORMAT,
        "the file is a TensorFlow graph (GraphDef), which is not read; convert it to TFLite or ONNX with TensorFlow's tools");
    SP_CHECK(
        !is_saved_model(s), SP_FORMAT,
        "the file is the graph of a TensorFlow SavedModel, which is not read, and beside it is no variables/variables.index with the weights; convert it "
        "to TFLite or ONNX with TensorFlow's tools");
    SP_CHECK(!has_mark(s, 0, "GGUF", 4), SP_FORMAT,
             "the file is a GGUF model, which is not read; take its safetensors");
    SP_CHECK(!has_mark(s, 0, "\x1F\x8B", 2), SP_FORMAT,
             "the file is compressed with gzip; uncompress it first (gunzip, or tar -xzf)");
    return SP_OK;
}

/* --- files that were cut ----------------------------------------------------------------------------------------- */

/* The end of the outermost field that does not fit; 0: all do, or it is something else than too short. Numbers of fields beyond
 * `most` occur in no message of that kind. */
uint64_t sp__wire_wanted(const sp_source *s, uint32_t most)
{
    sp_wire w = sp__wire_open(s->data, s->bytes);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        uint64_t length;
        sp_wire at = w;
        if (sp__wire_field(&at, &number, &type) != SP_OK)
            return at.end - w.at < 5 ? s->bytes + 1 : 0; /* a tag is cut */
        if (number == 0 || number > most) return 0;
        if (type == SP_WIRE_BYTES) {
            if (sp__wire_varint(&at, &length) != SP_OK) return at.end - at.at < 10 ? s->bytes + 1 : 0;
            size_t left = sp__wire_left(&at);
            if (length > left) return length < (1ULL << 48) ? s->bytes - left + length : 0;
            at.at += length;
        } else if (sp__wire_skip(&at, number, type) != SP_OK) return at.end - w.at < 12 ? s->bytes + 1 : 0;
        w = at;
    }
    return 0;
}
