/* SPDX-License-Identifier: Apache-2.0 */
/* sink.c - where formats write to: a file that replaces another at the end, encrypted block by block when there is a
 * key, with the progress told in between. */
#include <string.h>
#include "base/parts.h"
#if SP_HAVE_ZLIB
#include <zlib.h>
#endif

#include "formats/encrypted.h"
#include "formats/format_impl.h"

enum { STEP_BYTES = 16 << 20 }; /* written between two reports */

struct sp_sink {
    sp_replace *file;
    sp_wire_out *memory; /* it is written there, and there is no file */
    const char *path;
    const sp_file_options *options;
    uint64_t done, total, reported;
    uint8_t *block; /* plain bytes gathered for the next cipher block; NULL: not encrypted */
    size_t in_block;
    uint8_t *sealed; /* that block encrypted */
    sp_cipher cipher;
};

static sp_status prepare_cipher(sp_sink *sink)
{
    SP_TRY(sp__options_cipher(sink->options, &sink->cipher));
    sink->block = sp__alloc(SP_CIPHER_PIECE_BYTES);
    sink->sealed = sp__alloc(SP_CIPHER_PIECE_BYTES + SP_CIPHER_OVERHEAD_MAX);
    return sink->block != NULL && sink->sealed != NULL ? SP_OK : SP_NOMEM;
}

sp_status sp__sink_open(const char *path, const sp_file_options *options, uint64_t total_bytes, sp_sink **out)
{
    sp_sink *sink = sp__alloc_zero(sizeof *sink);
    if (sink == NULL) return SP_NOMEM;
    sink->path = path;
    sink->options = options;
    sink->total = total_bytes;
    sp_status status = options->key != NULL ? prepare_cipher(sink) : SP_OK;
    if (status == SP_OK) status = sp__replace_open(path, &sink->file);
    if (status == SP_OK) *out = sink;
    else sp__sink_abort(sink);
    return status;
}

sp_status sp__sink_open_memory(sp_wire_out *memory, sp_sink **out)
{
    static const sp_file_options none = {0};
    sp_sink *sink = sp__alloc_zero(sizeof *sink);
    if (sink == NULL) return SP_NOMEM;
    sink->path = "";
    sink->options = &none;
    sink->memory = memory;
    *out = sink;
    return SP_OK;
}

const char *sp__sink_path(const sp_sink *sink) { return sink->path; }
const sp_file_options *sp__sink_options(const sp_sink *sink) { return sink->options; }

static sp_status report(sp_sink *sink)
{
    const sp_file_options *o = sink->options;
    if (o->progress == NULL) return SP_OK;
    sink->reported = sink->done;
    uint64_t total = sink->total < sink->done ? sink->done : sink->total;
    SP_CHECK(o->progress(o->progress_context, sink->done, total), SP_INTERRUPTED, "stopped after %llu bytes",
             (unsigned long long)sink->done);
    return SP_OK;
}

static sp_status seal(sp_sink *sink)
{
    size_t bytes = sp__cipher_sealed_bytes(&sink->cipher, sink->in_block);
    SP_TRY(sp__cipher_seal(&sink->cipher, sink->block, sink->in_block, sink->sealed));
    sink->in_block = 0;
    return sp__replace_write(sink->file, sink->sealed, bytes);
}

static sp_status write_encrypted(sp_sink *sink, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        size_t room = SP_CIPHER_PIECE_BYTES - sink->in_block, n = bytes < room ? bytes : room;
        memcpy(sink->block + sink->in_block, data, n);
        sink->in_block += n;
        data += n;
        bytes -= n;
        if (sink->in_block == SP_CIPHER_PIECE_BYTES) SP_TRY(seal(sink));
    }
    return SP_OK;
}

sp_status sp__sink_write(sp_sink *sink, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes > 0) {
        size_t n = bytes < STEP_BYTES ? bytes : STEP_BYTES;
        SP_TRY(sink->memory != NULL  ? sp__wire_put(sink->memory, at, n)
               : sink->block != NULL ? write_encrypted(sink, at, n)
                                     : sp__replace_write(sink->file, at, n));
        at += n;
        bytes -= n;
        sink->done += n;
        if (sink->done - sink->reported >= STEP_BYTES) SP_TRY(report(sink));
    }
    return SP_OK;
}

/* Call fn for the parts of v that lie in [from, from + bytes). */
typedef sp_status (*part_fn)(void *context, const uint8_t *data, size_t bytes);

static sp_status for_parts(const sp_contents *v, size_t from, size_t bytes, part_fn fn, void *context)
{
    for (size_t i = 0; i < v->n_pieces && bytes > 0; i++) {
        const sp_piece *p = &v->pieces[i];
        if (from >= p->bytes) {
            from -= p->bytes;
            continue;
        }
        size_t n = p->bytes - from < bytes ? p->bytes - from : bytes;
        SP_TRY(fn(context, p->data + from, n));
        bytes -= n;
        from = 0;
    }
    return SP_OK;
}

static sp_status write_part(void *sink, const uint8_t *data, size_t bytes) { return sp__sink_write(sink, data, bytes); }

static sp_status crc_part(void *context, const uint8_t *data, size_t bytes)
{
    uint32_t *crc = context;
#if SP_HAVE_ZLIB
    *crc = (uint32_t)crc32_z(*crc, data, bytes);
#else
    (void)data, (void)bytes; /* formats that have sums are not built */
    *crc = 0;
#endif
    return SP_OK;
}

sp_status sp__sink_write_contents(sp_sink *sink, const sp_contents *v, size_t from, size_t bytes)
{
    return for_parts(v, from, bytes, write_part, sink);
}

uint32_t sp__contents_crc(const sp_contents *v, size_t from, size_t bytes, uint32_t crc)
{
    for_parts(v, from, bytes, crc_part, &crc); /* crc_part does not fail */
    return crc;
}

sp_status sp__sink_take_commit(sp_sink *sink)
{
    sp_status status = SP_OK;
    if (sink->in_block > 0) status = seal(sink);
    if (status == SP_OK && sink->done > sink->reported) status = report(sink);
    if (status == SP_OK && sink->memory == NULL) {
        status = sp__replace_take_commit(sink->file);
        sink->file = NULL;
    }
    sp__sink_abort(sink);
    return status;
}

void sp__sink_abort(sp_sink *sink)
{
    if (sink == NULL) return;
    sp__replace_abort(sink->file);
    sp__cipher_clear(&sink->cipher);
    sp__free(sink->block);
    sp__free(sink->sealed);
    sp__free(sink);
}
