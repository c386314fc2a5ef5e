/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c - numpy's .npy files.
 *
 * Layout: 93 "NUMPY" | version, 2 bytes | header length, 2 bytes (4 from version 2 on) | header | contents
 *
 * The header is a Python dict as text, filled with blanks so that contents begin at a multiple of 64:
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *
 * descr: byte order (< little, > big, | none), kind and bytes of an element: b1 bool, i u f c numbers, U text (UTF-32,
 * filled up with NULs), S bytes, V2 what libraries without a name for it make of bfloat16. Objects (O) are a pickle, read for its arrays as
 * torch.c reads one (in a .npz they are refused); structures are records of several fields: refused. */
#include "formats/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/torch.h"

static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { MAGIC_BYTES = sizeof magic, ALIGN = 64, DESCR_BYTES = 32 };

/* --- reading the header ------------------------------------------------------------------------------------------ */

typedef struct {
    const char *at, *end;
} scanner;

static void skip_blanks(scanner *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) c->at++;
}

static bool take(scanner *c, char wanted)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool take_word(scanner *c, const char *word)
{
    skip_blanks(c);
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return false;
    c->at += n;
    return true;
}

/* A quoted text without escapes. */
static bool take_quoted(scanner *c, char *out, size_t room)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
    const char *begin = c->at + 1, *close = memchr(begin, *c->at, (size_t)(c->end - begin));
    if (close == NULL || (size_t)(close - begin) >= room) return false;
    memcpy(out, begin, (size_t)(close - begin));
    out[close - begin] = '\0';
    c->at = close + 1;
    return true;
}

static bool take_number(scanner *c, int64_t *out)
{
    skip_blanks(c);
    int64_t value = 0;
    const char *begin = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (!sp__mul_i64(value, 10, &value) || __builtin_add_overflow(value, *c->at - '0', &value)) return false;
    take(c, 'L'); /* Python 2 */
    *out = value;
    return c->at > begin;
}

static sp_status take_shape(scanner *c, sp_meta *meta)
{
    SP_CHECK(take(c, '('), SP_FORMAT, "'shape' is no tuple");
    while (!take(c, ')')) {
        int64_t dim;
        SP_CHECK(take_number(c, &dim), SP_FORMAT, "dimension %d of 'shape' is no number", meta->rank);
        SP_CHECK(meta->rank < SP_RANK_MAX, SP_FORMAT, "more than %d dimensions", SP_RANK_MAX);
        meta->dims[meta->rank++] = dim;
        if (!take(c, ',')) {
            SP_CHECK(take(c, ')'), SP_FORMAT, "'shape' has no end");
            break;
        }
    }
    return SP_OK;
}

typedef struct {
    char descr[DESCR_BYTES];
    bool fortran;
    sp_meta meta; /* dims */
    size_t bytes; /* of everything in front of the contents */
} header;

static sp_status read_dict(scanner c, header *h)
{
    bool has_descr = false, has_order = false, has_shape = false;
    SP_CHECK(take(&c, '{'), SP_FORMAT, "the header is no dict");
    while (!take(&c, '}')) {
        char key[32];
        SP_CHECK(take_quoted(&c, key, sizeof key) && take(&c, ':'), SP_FORMAT,
                 "the header is not a dict of three values");
        if (strcmp(key, "descr") == 0) {
            SP_CHECK(take_quoted(&c, h->descr, sizeof h->descr), SP_FORMAT,
                     "'descr' is no plain dtype (records of several fields are not supported)");
            has_descr = true;
        } else if (strcmp(key, "fortran_order") == 0) {
            h->fortran = take_word(&c, "True");
            SP_CHECK(h->fortran || take_word(&c, "False"), SP_FORMAT, "'fortran_order' is neither True nor False");
            has_order = true;
        } else {
            SP_CHECK(strcmp(key, "shape") == 0 && !has_shape, SP_FORMAT, "the header has an unknown or repeated key");
            SP_TRY(take_shape(&c, &h->meta));
            has_shape = true;
        }
        if (!take(&c, ',')) {
            SP_CHECK(take(&c, '}'), SP_FORMAT, "the header's dict has no end");
            break;
        }
    }
    SP_CHECK(has_descr && has_order && has_shape, SP_FORMAT, "'descr', 'fortran_order' or 'shape' is missing");
    return SP_OK;
}

static sp_status read_header(const sp_source *s, header *h)
{
    memset(h, 0, sizeof *h);
    SP_CHECK(s->bytes >= MAGIC_BYTES + 4 && memcmp(s->data, magic, MAGIC_BYTES) == 0, SP_FORMAT, "is not a .npy array");
    unsigned version = s->data[MAGIC_BYTES];
    SP_CHECK(version >= 1 && version <= 3, SP_FORMAT, "version %u of the .npy format is not known", version);
    size_t n_length = version == 1 ? 2 : 4, fixed = MAGIC_BYTES + 2 + n_length, length = 0;
    SP_CHECK(s->bytes >= fixed, SP_FORMAT, "is cut inside the header");
    for (size_t i = 0; i < n_length; i++) length |= (size_t)s->data[MAGIC_BYTES + 2 + i] << (8 * i);
    SP_CHECK(length <= s->bytes - fixed, SP_FORMAT, "the header has %zu bytes, but only %zu are left", length,
             s->bytes - fixed);
    h->bytes = fixed + length;
    const char *text = (const char *)s->data + fixed;
    return read_dict((scanner){text, text + length}, h);
}

/* --- reading the contents ---------------------------------------------------------------------------------------- */

static sp_status parse_descr(const header *h, sp_dtype *dtype, size_t *element, bool *swap)
{
    static const struct {
        char kind;
        unsigned bytes;
        sp_dtype dtype;
    } known[] = {
        {'b', 1, SP_DTYPE_BOOL}, {'u', 1, SP_DTYPE_U8},    {'u', 2, SP_DTYPE_U16},  {'u', 4, SP_DTYPE_U32},
        {'u', 8, SP_DTYPE_U64},  {'i', 1, SP_DTYPE_I8},    {'i', 2, SP_DTYPE_I16},  {'i', 4, SP_DTYPE_I32},
        {'i', 8, SP_DTYPE_I64},  {'f', 2, SP_DTYPE_F16},   {'f', 4, SP_DTYPE_F32},  {'f', 8, SP_DTYPE_F64},
        {'c', 8, SP_DTYPE_C64},  {'c', 16, SP_DTYPE_C128}, {'V', 2, SP_DTYPE_BF16},
    };
    const char *d = h->descr;
    char shown[SP_NAME_SHOWN];
    sp__name_shown(d, strlen(d), shown);
    SP_CHECK(strchr("<>|=", d[0]) != NULL && d[0] != '\0' && d[1] != '\0', SP_FORMAT,
             "'descr' is '%s', like '<f4' wanted", shown);
    SP_CHECK(d[1] != 'O', SP_FORMAT, "holds Python objects (pickles), which are not read");
    char *end;
    unsigned long bytes = strtoul(d + 2, &end, 10);
    *swap = d[0] == '>';
    *element = bytes;
    *dtype = SP_DTYPE_STR;
    SP_CHECK(d[2] >= '0' && d[2] <= '9' && *end == '\0' && bytes < 1u << 30, SP_FORMAT,
             "'descr' is '%s', like '<f4' wanted", shown);
    if (d[1] == 'U' || d[1] == 'S') return SP_OK;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].kind == d[1] && known[i].bytes == bytes) {
            *dtype = known[i].dtype;
            return SP_OK;
        }
    return sp__fail(SP_FORMAT, "dtype '%s' is not supported", shown);
}

static sp_status read_text(const sp_source *s, sp_bundle *bundle, const char *name, const header *h, size_t n)
{
    SP_CHECK(h->meta.rank == 0 || (h->meta.rank == 1 && h->meta.dims[0] == 1), SP_FORMAT,
             "holds an array of texts; a single one can be read");
    bool wide = h->descr[1] == 'U';
    size_t bytes = wide ? n * 4 : n;
    SP_CHECK(n <= SIZE_MAX / 4 && bytes == s->bytes - h->bytes, SP_FORMAT, "a text of %zu bytes wanted, %zu found",
             bytes, s->bytes - h->bytes);
    SP_CHECK(h->descr[0] != '>', SP_FORMAT, "holds big-endian text, which is not supported");
    SP_TRY(sp__bundle_check_new(bundle, name));
    const uint8_t *p = s->data + h->bytes;
    if (wide) return sp__bundle_add_utf32(bundle, name, p, n);
    while (n > 0 && p[n - 1] == 0) n--;
    SP_CHECK(sp__utf8_valid((const char *)p, n) == n, SP_FORMAT, "the text is not UTF-8");
    return sp_bundle_add_text(bundle, name, (const char *)p, n);
}

static void swap_bytes(uint8_t *p, size_t bytes, size_t unit)
{
    for (size_t at = 0; at + unit <= bytes; at += unit)
        for (size_t i = 0; i < unit / 2; i++) {
            uint8_t keep = p[at + i];
            p[at + i] = p[at + unit - 1 - i];
            p[at + unit - 1 - i] = keep;
        }
}

/* Contents in this machine's order, as a source of their own. */
static sp_status swapped(const sp_source *s, sp_dtype dtype, const uint8_t *data, size_t bytes, sp_source *out)
{
    sp_map *map = NULL;
    SP_TRY(sp__map_create(bytes, &map));
    size_t element = sp_dtype_bytes(dtype);
    if (bytes > 0) memcpy(map->data, data, bytes);
    swap_bytes(map->data, bytes, sp_dtype_kind(dtype) == 'c' ? element / 2 : element);
    *out = (sp_source){.data = map->data, .bytes = bytes, .map = map, .options = s->options};
    return SP_OK;
}

static sp_status add_array(const sp_source *s, sp_bundle *bundle, const char *name, const header *h,
                           const uint8_t *data, size_t bytes)
{
    if (!h->fortran || h->meta.rank < 2) return sp__source_add(s, bundle, name, &h->meta, data, bytes);
    int64_t strides[SP_RANK_MAX], step = 1;
    for (int i = 0; i < h->meta.rank; i++) {
        strides[i] = step;
        step *= h->meta.dims[i];
    }
    return sp__source_add_strided(s, bundle, name, &h->meta, strides, data, bytes);
}

sp_status sp__npy_read(const sp_source *s, sp_bundle *bundle, const char *name)
{
    header h;
    size_t element = 0, wanted = 0;
    bool swap = false;
    SP_TRY(read_header(s, &h));
    SP_TRY(parse_descr(&h, &h.meta.dtype, &element, &swap));
    if (h.meta.dtype == SP_DTYPE_STR) return read_text(s, bundle, name, &h, element);
    SP_TRY(sp__meta_bytes(&h.meta, &wanted));
    SP_CHECK(wanted == s->bytes - h.bytes, SP_FORMAT, "%zu bytes of contents found, %zu wanted%s", s->bytes - h.bytes,
             wanted, s->bytes - h.bytes < wanted ? ": it is cut short" : "");
    if (!swap || element == 1) return add_array(s, bundle, name, &h, s->data + h.bytes, wanted);
    sp_source turned;
    SP_TRY(swapped(s, h.meta.dtype, s->data + h.bytes, wanted, &turned));
    sp_status status = add_array(&turned, bundle, name, &h, turned.data, wanted);
    sp__source_close(&turned);
    return status;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static const char *descr_of(sp_dtype dtype, char out[16])
{
    size_t bytes = sp_dtype_bytes(dtype);
    char kind = sp_dtype_kind(dtype);
    if (dtype == SP_DTYPE_BF16) kind = 'V';
    snprintf(out, 16, "%c%c%zu", bytes == 1 ? '|' : '<', kind, bytes);
    return out;
}

static sp_status put_head(const char *descr, const sp_meta *meta, sp_wire_out *out)
{
    char shape[SP_RANK_MAX * 22 + 4], text[sizeof shape + 128];
    size_t n = 0;
    shape[0] = '\0';
    for (int i = 0; i < meta->rank; i++)
        n += (size_t)snprintf(shape + n, sizeof shape - n,
                              meta->rank == 1 ? "%lld,"
                              : i > 0         ? ", %lld"
                                              : "%lld",
                              (long long)meta->dims[i]);
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    size_t fixed = MAGIC_BYTES + 4, total = (fixed + (size_t)length + 1 + ALIGN - 1) / ALIGN * ALIGN;
    size_t header_bytes = total - fixed;
    const uint8_t front[4] = {1, 0, (uint8_t)header_bytes, (uint8_t)(header_bytes >> 8)};
    SP_TRY(sp__wire_put(out, magic, MAGIC_BYTES));
    SP_TRY(sp__wire_put(out, front, sizeof front));
    SP_TRY(sp__wire_put(out, text, (size_t)length));
    for (size_t i = (size_t)length; i + 1 < header_bytes; i++) SP_TRY(sp__wire_put(out, " ", 1));
    return sp__wire_put(out, "\n", 1);
}

sp_status sp__npy_put_head(const sp_meta *meta, sp_wire_out *out)
{
    char descr[16];
    return put_head(descr_of(meta->dtype, descr), meta, out);
}

sp_status sp__npy_put_text(const char *text, size_t bytes, sp_wire_out *out)
{
    uint32_t *chars = NULL;
    size_t n = 0;
    char descr[32];
    SP_TRY(sp__utf32_from(text, bytes, &chars, &n));
    snprintf(descr, sizeof descr, "<U%zu", n);
    sp_status status = put_head(descr, &(sp_meta){.rank = 0}, out);
    if (status == SP_OK) status = sp__wire_put(out, chars, n * 4);
    sp__free(chars);
    return status;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static bool probe(const sp_source *s) { return s->bytes >= MAGIC_BYTES && memcmp(s->data, magic, MAGIC_BYTES) == 0; }

/* The array is called like its file. An array of objects is a pickle, often of a dict of arrays: np.save("vgg16.npy", weights). */
static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    header h;
    SP_TRY(read_header(s, &h));
    if (h.descr[0] == '|' && h.descr[1] == 'O') {
        sp_source pickle = *s;
        pickle.data += h.bytes;
        pickle.bytes -= h.bytes;
        sp_status status = sp__torch_read_pickle(&pickle, bundle);
        if (status != SP_OK) sp__error_context("Python objects from byte %zu on", h.bytes);
        return status;
    }
    char name[256] = "array";
    if (s->path != NULL) {
        const char *slash = strrchr(s->path, '/'), *base = slash == NULL ? s->path : slash + 1;
        const char *dot = strrchr(base, '.');
        size_t n = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base);
        if (n > 0 && n < sizeof name && sp__utf8_valid(base, n) == n) {
            memcpy(name, base, n);
            name[n] = '\0';
        }
    }
    return sp__npy_read(s, bundle, name);
}

static sp_status write_file(sp_sink *sink, const sp_bundle *bundle)
{
    SP_CHECK(sp_bundle_count(bundle) == 1, SP_VALUE,
             "a .npy file holds one array, but there are %lld entries; save as .npz",
             (long long)sp_bundle_count(bundle));
    sp_wire_out head = {0};
    sp_status status;
    size_t bytes;
    const char *text = sp_bundle_text_at(bundle, 0, &bytes);
    sp_contents v = {.bytes = 0};
    if (text != NULL) {
        status = sp__npy_put_text(text, bytes, &head);
    } else {
        status = sp__bundle_contents(bundle, 0, &v);
        if (status == SP_OK) status = sp__npy_put_head(&v.meta, &head);
    }
    if (status == SP_OK) status = sp__sink_write(sink, head.data, head.bytes);
    if (status == SP_OK && text == NULL) status = sp__sink_write_contents(sink, &v, 0, v.bytes);
    sp__contents_release(&v);
    sp__wire_out_free(&head);
    return status;
}

static uint64_t wanted(const sp_source *s)
{
    uint64_t least = MAGIC_BYTES + 4;
    if (s->bytes < least)
        return memcmp(s->data, magic, s->bytes < MAGIC_BYTES ? s->bytes : MAGIC_BYTES) == 0 ? least : 0;
    if (memcmp(s->data, magic, MAGIC_BYTES) != 0) return 0;
    return least + (uint64_t)s->data[8] +
           256 * (uint64_t)s->data[9]; /* the header; more than 64 KiB of it are not looked at */
}

const sp_format sp__format_npy = {
    .name = "npy",
    .title = "numpy array",
    .extensions = ".npy",
    .probe = probe,
    .wanted = wanted,
    .read = read_file,
    .write = write_file,
};
