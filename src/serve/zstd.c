/* SPDX-License-Identifier: Apache-2.0 */
/* zstd.c - the few functions of libzstd that are needed, which have not changed since 1.4. */
#include "serve/zstd.h"

#include <dlfcn.h>

#include "base/lock.h"

enum { WINDOW_LOG_MAX = 23, PARAMETER_WINDOW_LOG_MAX = 100, LEVEL = 1 };

typedef struct {
    const void *data;
    size_t bytes, at;
} in_buffer; /* ZSTD_inBuffer */

typedef struct {
    void *data;
    size_t bytes, at;
} out_buffer; /* ZSTD_outBuffer */

static struct {
    void *(*create)(void);
    size_t (*free)(void *context);
    size_t (*set)(void *context, int parameter, int value);
    size_t (*decompress)(void *context, out_buffer *out, in_buffer *in);
    unsigned (*is_error)(size_t code);
    const char *(*error_name)(size_t code);
    size_t (*bound)(size_t bytes);
    size_t (*compress)(void *to, size_t room, const void *from, size_t bytes, int level);
} zstd;
static bool there;
static sp_once once = SP_ONCE_INIT;

static void *function_of(void *library, const char *name, bool *all)
{
    void *f = library != NULL ? dlsym(library, name) : NULL;
    *all = *all && f != NULL;
    return f;
}

static void open_library(void)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = true;
    /* Through a pointer to void *, as POSIX has it for dlsym. */
    *(void **)&zstd.create = function_of(library, "ZSTD_createDCtx", &all);
    *(void **)&zstd.free = function_of(library, "ZSTD_freeDCtx", &all);
    *(void **)&zstd.set = function_of(library, "ZSTD_DCtx_setParameter", &all);
    *(void **)&zstd.decompress = function_of(library, "ZSTD_decompressStream", &all);
    *(void **)&zstd.is_error = function_of(library, "ZSTD_isError", &all);
    *(void **)&zstd.error_name = function_of(library, "ZSTD_getErrorName", &all);
    *(void **)&zstd.bound = function_of(library, "ZSTD_compressBound", &all);
    *(void **)&zstd.compress = function_of(library, "ZSTD_compress", &all);
    there = all;
}

bool sp__zstd_there(void)
{
    sp__once(&once, open_library);
    return there;
}

/* Twice the room, one byte more than `most` at the end: it tells that there is more. */
static bool grow(out_buffer *out, size_t most)
{
    const size_t room = out->bytes > most / 2 ? most + 1 : 2 * out->bytes;
    void *larger = sp__realloc(out->data, out->bytes, room);
    if (larger == NULL) return false;
    out->data = larger;
    out->bytes = room;
    return true;
}

static sp_status unpack(void *context, in_buffer *in, out_buffer *out, size_t most, bool *large)
{
    size_t left = 1;
    while (in->at < in->bytes || left != 0) {
        if (out->at == out->bytes) {
            if (out->bytes > most) break;
            if (!grow(out, most)) return SP_NOMEM;
        }
        const size_t before = in->at + out->at;
        left = zstd.decompress(context, out, in);
        SP_CHECK(!zstd.is_error(left), SP_VALUE, "the request's body is not what its Content-Encoding says: zstd: %s",
                 zstd.error_name(left));
        SP_CHECK(in->at + out->at > before || left == 0, SP_VALUE, "the request's body is cut (Content-Encoding zstd)");
        if (left == 0 && in->at == in->bytes) break;
    }
    *large = out->at > most;
    return SP_OK;
}

sp_status sp__zstd_unpack(const uint8_t *data, size_t bytes, size_t most, uint8_t **out, size_t *out_bytes, bool *large)
{
    in_buffer in = {data, bytes, 0};
    out_buffer o = {NULL, most < 4096 ? most + 1 : 4096, 0};
    *large = false;
    SP_CHECK(sp__zstd_there(), SP_DECLINED, "zstd needs the library libzstd.so.1, which is not installed");
    void *context = zstd.create();
    o.data = sp__alloc(o.bytes);
    sp_status status = context != NULL && o.data != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK && zstd.is_error(zstd.set(context, PARAMETER_WINDOW_LOG_MAX, WINDOW_LOG_MAX)))
        status = SP_NOMEM;
    if (status == SP_OK) status = unpack(context, &in, &o, most, large);
    zstd.free(context);
    if (status != SP_OK || *large) {
        sp__free(o.data);
        return status;
    }
    *out = o.data;
    *out_bytes = o.at;
    return SP_OK;
}

uint8_t *sp__zstd_pack(const uint8_t *data, size_t bytes, size_t *out_bytes)
{
    const size_t room = zstd.bound(bytes);
    uint8_t *out = sp__alloc(room);
    const size_t n = out != NULL ? zstd.compress(out, room, data, bytes, LEVEL) : 0;
    if (out != NULL && !zstd.is_error(n) && n < bytes) {
        *out_bytes = n;
        return out;
    }
    sp__free(out);
    return NULL;
}
