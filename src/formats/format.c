/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - the list of formats, and loading: find out what a file is, decrypt it, let its format read it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parts.h"
#include "formats/encrypted.h"
#include "formats/format_impl.h"

/* Copying less than this is cheaper than the page faults of a view, and does not keep the file mapped. */
enum { VIEW_MIN_BYTES = 64 << 10, PATH_MAX_BYTES = 4096, TEXT_BYTES = 256, TEXT_SHOWN = 40 };

static const sp_file_options no_options = {0};

static const sp_format *const formats[] = {
#define SP_FORMAT_ENTRY(name) SP_IF_FORMAT(name, &sp__format_##name, )
#include "formats/formats.def"
#undef SP_FORMAT_ENTRY
};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

/* --- the list ---------------------------------------------------------------------------------------------------- */

int sp_format_count(void) { return N_FORMATS; }
const sp_format *sp_format_at(int i) { return i >= 0 && i < N_FORMATS ? formats[i] : NULL; }
const char *sp_format_name(const sp_format *format) { return format ? format->name : NULL; }
const char *sp_format_title(const sp_format *format) { return format ? format->title : NULL; }
const char *sp_format_extensions(const sp_format *format) { return format ? format->extensions : NULL; }
bool sp_format_can_write(const sp_format *format) { return format && format->write != NULL; }

const sp_format *sp_format_find(const char *name)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

/* "ckpt, safetensors, npz": those that can be written, or all. */
static const char *list_names(bool writable, char *out, size_t room)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < N_FORMATS; i++) {
        if (writable && formats[i]->write == NULL) continue;
        int n = snprintf(out + at, room - at, "%s%s", at > 0 ? ", " : "", formats[i]->name);
        if (n > 0 && (size_t)n < room - at) at += (size_t)n;
    }
    return out;
}

static sp_status format_named(const char *name, const sp_format **out)
{
    char names[256];
    *out = sp_format_find(name);
    SP_CHECK(*out != NULL, SP_VALUE, "there is no format '%s'; the formats are %s", name,
             list_names(false, names, sizeof names));
    return SP_OK;
}

/* Length of the longest extension of the format that the path ends in; 0: none. */
static size_t extension_bytes(const sp_format *format, const char *path)
{
    size_t n_path = strlen(path), best = 0;
    for (const char *at = format->extensions; *at != '\0';) {
        size_t n = strcspn(at, " ");
        if (n < n_path && n > best && strncmp(path + n_path - n, at, n) == 0) best = n;
        at += n + strspn(at + n, " ");
    }
    return best;
}

/* The format whose extension fits the path best; NULL: none. */
static const sp_format *format_by_extension(const char *path, bool writable)
{
    const sp_format *found = NULL;
    size_t best = 0;
    for (int i = 0; i < N_FORMATS; i++) {
        size_t n = extension_bytes(formats[i], path);
        if (n > best && (!writable || formats[i]->write != NULL)) {
            found = formats[i];
            best = n;
        }
    }
    return found;
}

/* --- sources ----------------------------------------------------------------------------------------------------- */

static sp_status decrypt_source(sp_source *s, bool may_be_plain)
{
    const char *mode = sp__cipher_sealed_mode(s->data, s->bytes);
    if (mode == NULL) {
        SP_CHECK(s->options->key == NULL || may_be_plain, SP_VALUE, "a key was given, but the file is not encrypted");
        return SP_OK;
    }
    SP_CHECK(s->options->key != NULL, SP_VALUE, "the file is encrypted (%s); give its key", mode);
    SP_CHECK(SP_HAVE_CRYPTO, SP_DECLINED, "the file is encrypted (%s), and this build has no ciphers (SPORE_CRYPTO)",
             mode);
    sp_map *plain = NULL;
    SP_TRY(!SP_HAVE_CRYPTO ? SP_DECLINED : sp__decrypt_map(s->data, s->bytes, s->options, &plain));
    sp__map_release(s->map);
    s->map = plain;
    s->data = plain->data;
    s->bytes = plain->bytes;
    return SP_OK;
}

static sp_status source_open(const char *path, const sp_file_options *options, bool may_be_plain, sp_source *out)
{
    sp_source s = {.path = path, .options = options};
    SP_CHECK(SP_HAVE_FILES, SP_DECLINED, "this build reads no files (SPORE_FILES): load from memory");
    SP_TRY(SP_HAVE_FILES ? sp__map_open(path, &s.map) : SP_DECLINED);
    s.data = s.map->data;
    s.bytes = s.map->bytes;
    sp_status status = decrypt_source(&s, may_be_plain);
    if (status != SP_OK) sp__map_release(s.map);
    else *out = s;
    return status;
}

sp_status sp__source_open(const char *path, const sp_file_options *options, sp_source *out)
{
    return source_open(path, options, false, out);
}

sp_status sp__source_open_memory(const void *data, size_t bytes, const sp_file_options *options, sp_source *out)
{
    *out = (sp_source){.data = data, .bytes = bytes, .options = options};
    return decrypt_source(out, false);
}

void sp__source_close(sp_source *s)
{
    sp__map_release(s->map);
    s->map = NULL;
}

sp_status sp__source_open_beside(const sp_source *s, const char *name, sp_source *out)
{
    char shown[SP_NAME_SHOWN], path[PATH_MAX_BYTES];
    sp__name_shown(name, strlen(name), shown);
    SP_CHECK(s->path != NULL, SP_VALUE, "the file '%s' belongs to it, which cannot be found from memory", shown);
    bool outside = name[0] == '\0' || name[0] == '/' || strchr(name, '\\') != NULL;
    for (const char *at = name; at != NULL && !outside; at = strchr(at, '/')) {
        at += at[0] == '/';
        outside = strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0');
    }
    SP_CHECK(!outside, SP_FORMAT, "names the file '%s', which may lie outside its folder", shown);
    const char *slash = strrchr(s->path, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - s->path);
    int n = snprintf(path, sizeof path, "%.*s%s", folder, s->path, name);
    SP_CHECK(n > 0 && n < PATH_MAX_BYTES, SP_VALUE, "the path of '%s' is too long", shown);
    sp_status status = source_open(path, s->options, true, out);
    if (status != SP_OK) sp__error_context("its part '%s'", shown);
    else out->path = NULL; /* parts have no parts; and the name does not live longer than this call */
    return status;
}

static sp_status add_dim(sp_wire *w, sp_meta *meta)
{
    size_t offset = sp__wire_offset(w);
    uint64_t value;
    SP_TRY(sp__wire_varint(w, &value));
    SP_CHECK(meta->rank < SP_RANK_MAX, SP_FORMAT, "byte %zu: more than %d dimensions", offset, SP_RANK_MAX);
    SP_CHECK(value <= INT64_MAX, SP_FORMAT, "byte %zu: dimension %d is %lld, it must not be negative", offset,
             meta->rank, (long long)value);
    meta->dims[meta->rank++] = (int64_t)value;
    return SP_OK;
}

sp_status sp__meta_take_dims(sp_wire *w, int type, sp_meta *meta)
{
    if (type == SP_WIRE_VARINT) return add_dim(w, meta);
    sp_wire packed;
    SP_TRY(sp__wire_take_bytes(w, "dims", type, &packed));
    while (sp__wire_more(&packed)) SP_TRY(add_dim(&packed, meta));
    return SP_OK;
}

sp_status sp__meta_bytes(const sp_meta *meta, size_t *bytes)
{
    int64_t count;
    char shape[SP_SHAPE_TEXT];
    if (sp__shape_count(meta->rank, meta->dims, &count) != SP_OK) return SP_FORMAT;
    SP_CHECK(sp__mul_size((size_t)count, sp_dtype_bytes(meta->dtype), bytes), SP_FORMAT,
             "shape %s of %s does not fit the address space", sp__shape_text(meta->rank, meta->dims, shape),
             sp_dtype_name(meta->dtype));
    return SP_OK;
}

/* Any byte but 0 is true, yet a C bool must be 0 or 1. */
static void clean_bools(sp_tensor *t)
{
    uint8_t *p = sp_tensor_data(t);
    for (int64_t i = 0; i < sp_tensor_count(t); i++) p[i] = p[i] != 0;
}

static sp_status make_tensor(const sp_source *s, const sp_meta *meta, const sp_piece *pieces, size_t n_pieces,
                             bool view, sp_tensor **out)
{
    if (view) {
        void *data = s->map->data + (pieces[0].data - s->map->data);
        SP_TRY(sp_tensor_wrap(meta->dtype, meta->rank, meta->dims, NULL, data, sp__map_release, s->map, out));
        atomic_store(&(*out)->storage->holders, 0); /* a private map: nobody else writes to it */
        sp__map_retain(s->map);
        return SP_OK;
    }
    SP_TRY(sp__tensor_from_meta(meta, out));
    sp__pieces_join(pieces, n_pieces, sp_tensor_data(*out));
    if (meta->dtype == SP_DTYPE_BOOL) clean_bools(*out);
    return SP_OK;
}

sp_status sp__source_put(const sp_source *s, sp_bundle *bundle, const char *name, const sp_meta *meta,
                         const sp_piece *pieces, size_t n_pieces)
{
    size_t total = 0, element = sp_dtype_bytes(meta->dtype), align = element < 8 ? element : 8;
    for (size_t i = 0; i < n_pieces; i++) total += pieces[i].bytes;
    bool stay = s->map != NULL && !(s->options->flags & SP_FILE_COPY) && total >= VIEW_MIN_BYTES &&
                meta->dtype != SP_DTYPE_BOOL;
    bool view = stay && n_pieces == 1 && (uintptr_t)pieces[0].data % align == 0;
    if (stay && !view) return sp__bundle_add_waiting(bundle, name, meta, pieces, n_pieces, s->map);
    sp_tensor *t;
    SP_TRY(make_tensor(s, meta, pieces, n_pieces, view, &t));
    sp_status status = sp_bundle_add(bundle, name, t);
    sp_tensor_release(t);
    return status;
}

sp_status sp__bundle_note_number(sp_bundle *bundle, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return sp_bundle_set_note(bundle, key, text);
}

sp_status sp__bundle_check_new(const sp_bundle *bundle, const char *name)
{
    char shown[SP_NAME_SHOWN];
    SP_CHECK(sp_bundle_find(bundle, name) < 0, SP_FORMAT, "the name '%s' occurs twice",
             sp__name_shown(name, strlen(name), shown));
    return SP_OK;
}

sp_status sp__source_add(const sp_source *s, sp_bundle *bundle, const char *name, const sp_meta *meta,
                         const uint8_t *data, size_t bytes)
{
    char shape[SP_SHAPE_TEXT];
    size_t wanted;
    SP_TRY(sp__meta_bytes(meta, &wanted));
    SP_CHECK(bytes == wanted, SP_FORMAT, "%zu bytes found, but shape %s of %s wants %zu", bytes,
             sp__shape_text(meta->rank, meta->dims, shape), sp_dtype_name(meta->dtype), wanted);
    SP_TRY(sp__bundle_check_new(bundle, name));
    const sp_piece piece = {data, bytes};
    return sp__source_put(s, bundle, name, meta, &piece, 1);
}

/* Row-major copy of strided contents: over an aligned copy of their memory, if it is not aligned where it lies. */
static sp_status copy_strided(const sp_source *s, const sp_meta *meta, const int64_t *strides, const uint8_t *data,
                              size_t bytes, sp_tensor **out)
{
    size_t element = sp_dtype_bytes(meta->dtype), align = element < 8 ? element : 8;
    bool in_place = s->map != NULL && (uintptr_t)data % align == 0 && bytes > 0;
    void *memory = in_place ? s->map->data + (data - s->map->data) : sp__alloc(bytes);
    if (memory == NULL) return SP_NOMEM;
    if (!in_place && bytes > 0) memcpy(memory, data, bytes);
    sp_tensor *view = NULL;
    sp_status status = sp_tensor_wrap(meta->dtype, meta->rank, meta->dims, strides, memory, NULL, NULL, &view);
    if (status == SP_OK) status = sp_tensor_copy(view, out);
    sp_tensor_release(view);
    if (!in_place) sp__free(memory);
    return status;
}

sp_status sp__source_add_part(const sp_source *s, const char *location, sp_bundle *bundle, const char *name,
                              const sp_meta *meta, uint64_t offset, uint64_t length)
{
    SP_CHECK(offset <= s->bytes && length <= s->bytes - offset, SP_FORMAT,
             "%llu bytes at byte %llu of '%s', which has %zu", (unsigned long long)length, (unsigned long long)offset,
             location, s->bytes);
    return sp__source_add(s, bundle, name, meta, s->data + offset, (size_t)length);
}

sp_status sp__source_add_strided(const sp_source *s, sp_bundle *bundle, const char *name, const sp_meta *meta,
                                 const int64_t *strides, const uint8_t *data, size_t bytes)
{
    sp_tensor *t = NULL;
    SP_TRY(sp__bundle_check_new(bundle, name));
    SP_TRY(copy_strided(s, meta, strides, data, bytes, &t));
    if (meta->dtype == SP_DTYPE_BOOL) clean_bools(t);
    sp_status status = sp_bundle_add(bundle, name, t);
    sp_tensor_release(t);
    return status;
}

/* --- loading ----------------------------------------------------------------------------------------------------- */

static sp_status probe(const sp_source *s, const sp_format **out)
{
    SP_CHECK(s->bytes > 0, SP_FORMAT, "the file is empty");
    if (SP_HAVE_TEXTS) SP_TRY(sp__source_refuse_foreign(s));
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i]->probe(s)) {
            *out = formats[i];
            return SP_OK;
        }
    /* Not recognised, but the name says what it should be: let that format tell what is wrong with it. */
    *out = s->path != NULL ? format_by_extension(s->path, false) : NULL;
    char names[256];
    SP_CHECK(*out != NULL, SP_FORMAT, "the file is none of the formats %s", list_names(false, names, sizeof names));
    return SP_OK;
}

sp_status sp__source_format(const sp_source *s, const sp_format **out)
{
    return s->options->format != NULL ? format_named(s->options->format, out) : probe(s, out);
}

/* Printable from the start on: a configuration under the name of a file of weights. */
static bool is_text(const sp_source *s)
{
    enum { LEAST = 16 }; /* a few bytes may be the beginning of anything */
    size_t n = s->bytes < LEAST ? 0 : s->bytes < TEXT_BYTES ? s->bytes : TEXT_BYTES;
    for (size_t i = 0; i < n; i++)
        if ((s->data[i] < ' ' && strchr("\t\n\r", s->data[i]) == NULL) || s->data[i] == 0x7f || s->data[i] == 0)
            return false;
    return n > 0;
}

void sp__source_explain(const sp_source *s, const sp_format *format)
{
    char shown[SP_NAME_SHOWN];
    sp_error found;
    sp_error_capture(SP_FORMAT, &found); /* looking around may leave messages of its own */
    uint64_t wanted = format->wanted != NULL && s->options->key == NULL ? format->wanted(s) : 0;
    bool other = s->options->format == NULL && s->options->key == NULL && !format->probe(s);
    sp_error_raise(&found);
    if (wanted > s->bytes)
        sp__error_context(
            "the file is cut short: it ends after %zu bytes, its contents want %llu at least; was it copied or downloaded as a whole?",
            s->bytes, (unsigned long long)wanted);
    else if (is_text(s)) {
        size_t line = 0;
        while (line < s->bytes && line < TEXT_SHOWN && s->data[line] != '\n') line++;
        sp__error_context("the file is a text that begins \"%s\", not a %s",
                          sp__name_shown((const char *)s->data, line, shown), format->title);
    } else if (other)
        sp__error_context("it does not begin as %s %s does, only its name says it is one",
                          strchr("AEIOUH", format->title[0]) != NULL ? "an" : "a", format->title);
}

sp_status sp__source_read(const sp_source *s, sp_bundle *bundle)
{
    const sp_format *format = NULL;
    SP_TRY(sp__source_format(s, &format));
    sp__bundle_set_format(bundle, format);
    sp_status status = format->read(s, bundle);
    if (status == SP_FORMAT) sp__source_explain(s, format);
    return status;
}

static sp_status load(const sp_source *s, sp_bundle **out)
{
    sp_bundle *bundle;
    SP_TRY(sp_bundle_create(&bundle));
    sp_status status = sp__source_read(s, bundle);
    /* Modes without a checksum may let a wrong key pass; what comes out then is noise. */
    if (status == SP_FORMAT && s->options->key != NULL) {
        sp__error_context("decrypted, but not a file of a known format: the key or the mode is wrong, or the file is "
                          "damaged");
        status = SP_VALUE;
    }
    if (status == SP_OK) *out = bundle;
    else sp_bundle_release(bundle);
    return status;
}

/* TensorFlow's checkpoints are called by what their files have in common; a SavedModel, by its folder or the file with its graph,
 * stands for the variables in it. */
static const char *behind_prefix(const char *path, char index[PATH_MAX_BYTES])
{
    static const char graph[] = "saved_model.pb", variables[] = "variables/variables.index";
    struct stat found;
    size_t n_path = strlen(path), n_folder = n_path >= sizeof graph - 1 ? n_path - (sizeof graph - 1) : 0;
    bool is_graph = n_path >= sizeof graph - 1 && strcmp(path + n_folder, graph) == 0 &&
                    (n_folder == 0 || path[n_folder - 1] == '/');
    int n = -1;
    if (stat(path, &found) != 0) {
        if (errno == ENOENT) n = snprintf(index, PATH_MAX_BYTES, "%s.index", path);
    } else if (S_ISDIR(found.st_mode)) n = snprintf(index, PATH_MAX_BYTES, "%s/%s", path, variables);
    else if (is_graph) n = snprintf(index, PATH_MAX_BYTES, "%.*s%s", (int)n_folder, path, variables);
    return n > 0 && n < PATH_MAX_BYTES && access(index, F_OK) == 0 ? index : path;
}

sp_status sp_load(const char *path, const sp_file_options *options, sp_bundle **out)
{
    SP_CHECK(path != NULL && out != NULL, SP_VALUE, "path and out must not be NULL");
    char index[PATH_MAX_BYTES];
    sp_source s = {0};
    sp_status status = source_open(behind_prefix(path, index), options != NULL ? options : &no_options, false, &s);
    if (status == SP_OK) {
        sp_bundle *b = NULL;
        status = load(&s, &b);
        const sp_status file =
            s.map != NULL ? sp__map_check(s.map) : SP_OK; /* the reason of any failure, if it has changed */
        if (file != SP_OK) {
            if (status != SP_OK) b = NULL;
            status = file;
        }
        sp__source_close(&s);
        if (status == SP_OK) *out = b;
        else sp_bundle_release(b);
    }
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}

sp_status sp_load_memory(const void *data, size_t bytes, const sp_file_options *options, sp_bundle **out)
{
    SP_CHECK(out != NULL && (data != NULL || bytes == 0), SP_VALUE, "data and out must not be NULL");
    sp_source s;
    SP_TRY(sp__source_open_memory(data, bytes, options != NULL ? options : &no_options, &s));
    sp_status status = load(&s, out);
    sp__source_close(&s);
    return status;
}

sp_status sp_format_probe(const char *path, const sp_format **out)
{
    SP_CHECK(path != NULL && out != NULL, SP_VALUE, "path and out must not be NULL");
    char index[PATH_MAX_BYTES];
    sp_source s = {0};
    sp_status status = source_open(behind_prefix(path, index), &no_options, false, &s);
    if (status == SP_OK) {
        status = probe(&s, out);
        sp__source_close(&s);
    }
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}

/* --- saving ------------------------------------------------------------------------------------------------------ */

static sp_status format_to_write(const char *path, const sp_file_options *options, const sp_format **out)
{
    char names[256];
    if (options->format != NULL) SP_TRY(format_named(options->format, out));
    else *out = format_by_extension(path, true);
    SP_CHECK(
        *out != NULL && (*out)->write != NULL, SP_VALUE,
        "%s cannot be written; end the name in .ckpt, .safetensors, .npz or .npy (of a model: .onnx or .mindir), or give one of the formats %s",
        *out != NULL ? (*out)->title : "a format of that name", list_names(true, names, sizeof names));
    return SP_OK;
}

static uint64_t bundle_bytes(const sp_bundle *bundle)
{
    uint64_t total = 0;
    for (int64_t i = 0; i < sp_bundle_count(bundle); i++) {
        int rank = 0;
        const int64_t *dims = NULL;
        sp_dtype dtype = sp_bundle_shape_at(bundle, i, &rank, &dims);
        int64_t count = 0;
        if (dtype != SP_DTYPE_NONE && sp__shape_count(rank, dims, &count) == SP_OK)
            total += (uint64_t)count * sp_dtype_bytes(dtype);
    }
    return total;
}

sp_status sp_save(const char *path, const sp_bundle *bundle, const sp_file_options *options)
{
    SP_CHECK(path != NULL && bundle != NULL, SP_VALUE, "path and bundle must not be NULL");
    if (options == NULL) options = &no_options;
    const sp_format *format = NULL;
    sp_sink *sink = NULL;
    sp_status status;
    SP_GOTO(done, format_to_write(path, options, &format));
    SP_GOTO(done, sp__sink_open(path, options, bundle_bytes(bundle), &sink));
    status = format->write(sink, bundle);
    if (status == SP_OK) status = sp__bundle_check(bundle); /* before the old file is replaced by what was read */
    if (status == SP_OK) status = sp__sink_take_commit(sink);
    else sp__sink_abort(sink);
done:
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}
