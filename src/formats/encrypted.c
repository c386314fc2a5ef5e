/* SPDX-License-Identifier: Apache-2.0 */
/* encrypted.c - whole files into MindSpore's container and back; see base/cipher.c for its layout. */
#include "formats/encrypted.h"

#include <string.h>

#include "base/stand_in.h"
#include "formats/format_impl.h"

sp_status sp__options_cipher(const sp_file_options *options, sp_cipher *out)
{
    sp_cipher_mode mode;
    SP_TRY(sp__cipher_mode_parse(options->key_mode != NULL ? options->key_mode : "AES-GCM", &mode));
    return sp__cipher_init(out, mode, options->key, options->key_bytes);
}

sp_status sp__decrypt_map(const uint8_t *data, size_t bytes, const sp_file_options *options, sp_map **out)
{
    sp_cipher cipher;
    size_t room;
    sp_map *plain = NULL;
    SP_TRY(sp__options_cipher(options, &cipher));
    sp_status status = sp__cipher_open_bound(data, bytes, &room);
    if (status == SP_OK) status = sp__map_create(room, &plain);
    if (status == SP_OK) status = sp__cipher_open(&cipher, data, bytes, plain->data, &plain->bytes);
    sp__cipher_clear(&cipher);
    if (status == SP_OK) *out = plain;
    else sp__map_release(plain);
    return status;
}

static sp_status check_paths(const char *from, const char *to, const sp_file_options *options)
{
    SP_CHECK(from != NULL && to != NULL && options != NULL, SP_VALUE, "from, to and options must not be NULL");
    SP_CHECK(options->key != NULL, SP_VALUE, "a key is wanted");
    return SP_OK;
}

sp_status sp_file_encrypt(const char *from, const char *to, const sp_file_options *options)
{
    SP_TRY(check_paths(from, to, options));
    sp_map *map = NULL;
    sp_sink *sink = NULL;
    const char *which = from;
    sp_status status;
    SP_GOTO(done, sp__map_open(from, &map));
    SP_GOTO(done,
            map->bytes > 0 ? sp__refuse_stand_in(map->data, map->bytes) : sp__fail(SP_FORMAT, "the file is empty"));
    if (sp__cipher_is_sealed(map->data, map->bytes)) {
        status = sp__fail(SP_VALUE, "the file is encrypted already");
        goto done;
    }
    which = to;
    SP_GOTO(done, sp__sink_open(to, options, map->bytes, &sink));
    status = sp__sink_write(sink, map->data, map->bytes);
    if (status == SP_OK) status = sp__sink_take_commit(sink);
    else sp__sink_abort(sink);
done:
    if (status != SP_OK) sp__error_context("%s", which);
    sp__map_release(map);
    return status;
}

sp_status sp_file_decrypt(const char *from, const char *to, const sp_file_options *options)
{
    SP_TRY(check_paths(from, to, options));
    sp_map *map = NULL, *plain = NULL;
    sp_sink *sink = NULL;
    sp_file_options open = *options;
    open.key = NULL; /* what is written is not encrypted */
    const char *which = from;
    sp_status status;
    SP_GOTO(done, sp__map_open(from, &map));
    SP_GOTO(done,
            map->bytes > 0 ? sp__refuse_stand_in(map->data, map->bytes) : sp__fail(SP_FORMAT, "the file is empty"));
    if (!sp__cipher_is_sealed(map->data, map->bytes)) {
        status = sp__fail(SP_VALUE, "the file is not encrypted");
        goto done;
    }
    SP_GOTO(done, sp__decrypt_map(map->data, map->bytes, options, &plain));
    which = to;
    SP_GOTO(done, sp__sink_open(to, &open, plain->bytes, &sink));
    status = sp__sink_write(sink, plain->data, plain->bytes);
    if (status == SP_OK) status = sp__sink_take_commit(sink);
    else sp__sink_abort(sink);
done:
    if (status != SP_OK) sp__error_context("%s", which);
    sp__map_release(map);
    sp__map_release(plain);
    return status;
}

sp_status sp_file_cipher(const char *path, const char **mode)
{
    SP_CHECK(path != NULL && mode != NULL, SP_VALUE, "path and mode must not be NULL");
    sp_map *map = NULL;
    sp_status status = sp__map_open(path, &map);
    if (status == SP_OK) {
        *mode = sp__cipher_sealed_mode(map->data, map->bytes);
        sp__map_release(map);
    } else {
        sp__error_context("%s", path);
    }
    return status;
}
