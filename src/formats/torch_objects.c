/* SPDX-License-Identifier: Apache-2.0 */
/* torch_objects.c - what pickles of PyTorch may ask to be called, and what we make of it: tensors, plain containers,
 * numpy's arrays and numbers. Anything else is refused by name.
 *
 *   storage (persistent id)    ('storage', torch.FloatStorage, key, place, number of elements, ...)
 *   _rebuild_tensor_v2         (storage, offset, shape, strides, requires_grad, hooks)
 *   _rebuild_tensor_v3         the same over bytes, with a dtype behind
 *   _rebuild_parameter         (tensor, requires_grad, hooks)
 *   numpy.ndarray              _reconstruct(...), then the state (version, shape, dtype, fortran, bytes)
 *   numpy.dtype                ('f4', ...), then the state (version, '<', ...)
 *   numpy scalar               scalar(dtype, bytes) */
#include "formats/torch.h"

#include <string.h>

/* --- dtypes ------------------------------------------------------------------------------------------------------ */

sp_dtype sp__torch_dtype(const sp_pickle_value *global)
{
    static const struct {
        const char *storage, *name;
        sp_dtype dtype;
    } known[] = {
        {"FloatStorage", "float32", SP_DTYPE_F32},
        {"DoubleStorage", "float64", SP_DTYPE_F64},
        {"HalfStorage", "float16", SP_DTYPE_F16},
        {"BFloat16Storage", "bfloat16", SP_DTYPE_BF16},
        {"LongStorage", "int64", SP_DTYPE_I64},
        {"IntStorage", "int32", SP_DTYPE_I32},
        {"ShortStorage", "int16", SP_DTYPE_I16},
        {"CharStorage", "int8", SP_DTYPE_I8},
        {"ByteStorage", "uint8", SP_DTYPE_U8},
        {"BoolStorage", "bool", SP_DTYPE_BOOL},
        {"ComplexFloatStorage", "complex64", SP_DTYPE_C64},
        {"ComplexDoubleStorage", "complex128", SP_DTYPE_C128},
        {"UntypedStorage", "", SP_DTYPE_U8},
        {"", "uint16", SP_DTYPE_U16},
        {"", "uint32", SP_DTYPE_U32},
        {"", "uint64", SP_DTYPE_U64},
    };
    if (global->kind != SP_PICKLE_GLOBAL) return SP_DTYPE_NONE;
    const char *dot = strrchr(global->text, '.');
    if (strncmp(global->text, "torch.", 6) != 0) return SP_DTYPE_NONE;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(dot + 1, known[i].storage) == 0 || strcmp(dot + 1, known[i].name) == 0) return known[i].dtype;
    return SP_DTYPE_NONE;
}

/* "f4" and byte order; NONE if it is not one we have. */
static sp_dtype numpy_dtype(const char *text, size_t bytes)
{
    static const struct {
        const char *name;
        sp_dtype dtype;
    } known[] = {
        {"b1", SP_DTYPE_BOOL}, {"u1", SP_DTYPE_U8},  {"u2", SP_DTYPE_U16}, {"u4", SP_DTYPE_U32},   {"u8", SP_DTYPE_U64},
        {"i1", SP_DTYPE_I8},   {"i2", SP_DTYPE_I16}, {"i4", SP_DTYPE_I32}, {"i8", SP_DTYPE_I64},   {"f2", SP_DTYPE_F16},
        {"f4", SP_DTYPE_F32},  {"f8", SP_DTYPE_F64}, {"c8", SP_DTYPE_C64}, {"c16", SP_DTYPE_C128},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == bytes && memcmp(known[i].name, text, bytes) == 0) return known[i].dtype;
    return SP_DTYPE_NONE;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

static sp_status read_ints(const sp_pickle_value *tuple, const char *what, int *rank, int64_t out[SP_RANK_MAX])
{
    SP_CHECK(tuple->kind == SP_PICKLE_TUPLE || tuple->kind == SP_PICKLE_LIST, SP_FORMAT,
             "the %s of a tensor is no tuple", what);
    SP_CHECK(tuple->count <= SP_RANK_MAX, SP_FORMAT, "a tensor with %zu dimensions, at most %d are possible",
             tuple->count, SP_RANK_MAX);
    *rank = (int)tuple->count;
    for (int i = 0; i < *rank; i++) {
        const sp_pickle_value *v = tuple->items[i];
        SP_CHECK(v->kind == SP_PICKLE_INT && v->i >= 0, SP_FORMAT, "number %d of the %s of a tensor is none from 0 on",
                 i, what);
        out[i] = v->i;
    }
    return SP_OK;
}

static sp_status make_other(sp__arena *arena, void *other, sp_pickle_value **out)
{
    *out = sp__pickle_new(arena, SP_PICKLE_OTHER);
    if (*out == NULL) return SP_NOMEM;
    (*out)->other = other;
    return SP_OK;
}

/* args: storage, offset, shape, strides; dtype NONE: the storage's. */
static sp_status rebuild_tensor(sp__arena *arena, const sp_pickle_value *args, sp_dtype dtype, sp_pickle_value **out)
{
    SP_CHECK(args->count >= 4, SP_FORMAT, "a tensor is made with %zu arguments, at least 4 wanted", args->count);
    const sp_pickle_value *storage = args->items[0], *offset = args->items[1];
    SP_CHECK(storage->kind == SP_PICKLE_BYTES && storage->other != NULL, SP_FORMAT,
             "a tensor over something that is no "
             "storage");
    SP_CHECK(offset->kind == SP_PICKLE_INT && offset->i >= 0, SP_FORMAT,
             "the offset of a tensor is no number from 0 on");
    sp_torch_tensor *t = sp__arena_alloc(arena, sizeof *t);
    if (t == NULL) return SP_NOMEM;
    int n_strides = 0;
    t->storage = storage->other;
    t->offset = (uint64_t)offset->i;
    t->meta.dtype = dtype != SP_DTYPE_NONE ? dtype : t->storage->dtype;
    SP_TRY(read_ints(args->items[2], "shape", &t->meta.rank, t->meta.dims));
    SP_TRY(read_ints(args->items[3], "strides", &n_strides, t->strides));
    SP_CHECK(n_strides == t->meta.rank, SP_FORMAT, "a tensor with %d dimensions and %d strides", t->meta.rank,
             n_strides);
    return make_other(arena, t, out);
}

static sp_status rebuild_v3(sp__arena *arena, const sp_pickle_value *args, sp_pickle_value **out)
{
    SP_CHECK(args->count >= 7, SP_FORMAT, "a tensor is made with %zu arguments, at least 7 wanted", args->count);
    sp_dtype dtype = sp__torch_dtype(args->items[6]);
    const sp_pickle_value *global = args->items[6];
    if (dtype == SP_DTYPE_NONE && global->kind == SP_PICKLE_GLOBAL && strncmp(global->text, "torch.", 6) == 0) {
        const char *small = sp__small_float(global->text + 6);
        SP_TRY(small != NULL ? rebuild_tensor(arena, args, SP_DTYPE_U8, out) : SP_OK);
        if (small != NULL) ((sp_torch_tensor *)(*out)->other)->small = small;
        if (small != NULL) return SP_OK;
    }
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_FORMAT, "tensors of dtype %s are not supported",
             args->items[6]->kind == SP_PICKLE_GLOBAL ? args->items[6]->text : "?");
    return rebuild_tensor(arena, args, dtype, out);
}

/* --- numpy ------------------------------------------------------------------------------------------------------- */

static const char numpy_array[] = "numpy.ndarray", numpy_dtype_name[] = "numpy.dtype";

static sp_status make_object(sp__arena *arena, const char *of, const sp_pickle_value *args, sp_pickle_value **out)
{
    sp_pickle_value *class = sp__pickle_new(arena, SP_PICKLE_GLOBAL), *v = sp__pickle_new(arena, SP_PICKLE_OBJECT);
    if (class == NULL || v == NULL) return SP_NOMEM;
    class->text = of;
    class->bytes = strlen(of);
    v->of = class;
    for (size_t i = 0; i < args->count; i++) SP_TRY(sp__pickle_append(arena, v, args->items[i]));
    *out = v;
    return SP_OK;
}

/* dtype of a numpy.dtype object; NONE if it is not one we have, or is big-endian. */
static sp_dtype dtype_of_object(const sp_pickle_value *v)
{
    if (v->kind != SP_PICKLE_OBJECT || !sp__pickle_is(v->of, numpy_dtype_name) || v->count < 1 ||
        v->items[0]->kind != SP_PICKLE_STR)
        return SP_DTYPE_NONE;
    const sp_pickle_value *state = v->state;
    if (state != NULL && state->kind == SP_PICKLE_TUPLE && state->count > 1 && state->items[1]->kind == SP_PICKLE_STR &&
        strcmp(state->items[1]->text, ">") == 0)
        return SP_DTYPE_NONE;
    return numpy_dtype(v->items[0]->text, v->items[0]->bytes);
}

/* State of an array: (version, shape, dtype, fortran, contents). An array of objects is the list of them, or its one object; arrays of
 * other dtypes stay objects without contents. */
static sp_status build_array(sp__arena *arena, sp_pickle_value *object, const sp_pickle_value *state)
{
    if (state->kind != SP_PICKLE_TUPLE || state->count != 5) return SP_OK;
    sp_dtype dtype = dtype_of_object(state->items[2]);
    const sp_pickle_value *contents = state->items[4];
    if (contents->kind == SP_PICKLE_LIST) {
        bool one = state->items[1]->kind == SP_PICKLE_TUPLE && state->items[1]->count == 0 && contents->count == 1;
        *object = one ? *contents->items[0] : *contents;
        return SP_OK;
    }
    if (dtype == SP_DTYPE_NONE || contents->kind != SP_PICKLE_BYTES) return SP_OK;
    sp_torch_tensor *t = sp__arena_alloc(arena, sizeof *t);
    if (t == NULL) return SP_NOMEM;
    size_t wanted = 0;
    t->data = (const uint8_t *)contents->text;
    t->bytes = contents->bytes;
    t->meta.dtype = dtype;
    SP_TRY(read_ints(state->items[1], "shape", &t->meta.rank, t->meta.dims));
    SP_TRY(sp__meta_bytes(&t->meta, &wanted));
    SP_CHECK(wanted == t->bytes, SP_FORMAT, "an array of numpy has %zu bytes, %zu wanted", t->bytes, wanted);
    bool fortran = state->items[3]->kind == SP_PICKLE_BOOL && state->items[3]->i;
    sp__shape_strides(t->meta.rank, t->meta.dims, t->strides);
    for (int64_t i = 0, step = 1; fortran && i < t->meta.rank; step *= t->meta.dims[i++]) t->strides[i] = step;
    object->kind = SP_PICKLE_OTHER;
    object->other = t;
    return SP_OK;
}

/* A number of numpy: a tensor without dimensions. */
static sp_status numpy_scalar(sp__arena *arena, const sp_pickle_value *args, sp_pickle_value **out)
{
    sp_dtype dtype = args->count == 2 ? dtype_of_object(args->items[0]) : SP_DTYPE_NONE;
    if (dtype == SP_DTYPE_NONE || args->items[1]->kind != SP_PICKLE_BYTES ||
        args->items[1]->bytes != sp_dtype_bytes(dtype)) {
        *out = sp__pickle_new(arena, SP_PICKLE_NONE); /* a text or a date: no number, so nothing to keep */
        return *out != NULL ? SP_OK : SP_NOMEM;
    }
    sp_torch_tensor *t = sp__arena_alloc(arena, sizeof *t);
    if (t == NULL) return SP_NOMEM;
    t->data = (const uint8_t *)args->items[1]->text;
    t->bytes = args->items[1]->bytes;
    t->meta.dtype = dtype;
    return make_other(arena, t, out);
}

/* _codecs.encode(text, 'latin1'): how bytes are written by old protocols. */
static sp_status encode_latin1(sp__arena *arena, const sp_pickle_value *args, sp_pickle_value **out)
{
    SP_CHECK(args->count >= 1 && args->items[0]->kind == SP_PICKLE_STR, SP_FORMAT,
             "_codecs.encode of something that is no "
             "text");
    const sp_pickle_value *text = args->items[0];
    sp_pickle_value *v = sp__pickle_new(arena, SP_PICKLE_BYTES);
    char *bytes = v != NULL ? sp__arena_alloc(arena, text->bytes + 1) : NULL;
    if (bytes == NULL) return SP_NOMEM;
    for (size_t i = 0; i < text->bytes; i++) { /* valid UTF-8; characters up to FF have at most two bytes */
        uint8_t b = (uint8_t)text->text[i];
        if (b >= 0x80) {
            SP_CHECK(b <= 0xC3 && i + 1 < text->bytes, SP_FORMAT,
                     "_codecs.encode of a character that is not in latin1");
            b = (uint8_t)(b << 6 | ((uint8_t)text->text[++i] & 0x3F));
        }
        bytes[v->bytes++] = (char)b;
    }
    v->text = bytes;
    *out = v;
    return SP_OK;
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

static sp_status new_dict(sp__arena *arena, const sp_pickle_value *args, sp_pickle_value **out)
{
    sp_pickle_value *dict = sp__pickle_new(arena, SP_PICKLE_DICT);
    if (dict == NULL) return SP_NOMEM;
    /* Old ones are made from a list of pairs. */
    const sp_pickle_value *pairs = args->count == 1 ? args->items[0] : NULL;
    for (size_t i = 0; pairs != NULL && pairs->kind == SP_PICKLE_LIST && i < pairs->count; i++) {
        const sp_pickle_value *pair = pairs->items[i];
        if (pair->count != 2) continue;
        SP_TRY(sp__pickle_append(arena, dict, pair->items[0]));
        SP_TRY(sp__pickle_append(arena, dict, pair->items[1]));
    }
    *out = dict;
    return SP_OK;
}

static sp_status first_argument(const char *name, const sp_pickle_value *args, sp_pickle_value **out)
{
    SP_CHECK(args->count >= 1, SP_FORMAT, "%s without arguments", name);
    *out = args->items[0];
    return SP_OK;
}

static bool is_one_of(const sp_pickle_value *callable, const char *const *names)
{
    for (; *names != NULL; names++)
        if (sp__pickle_is(callable, *names)) return true;
    return false;
}

static sp_status call(void *context, sp__arena *arena, sp_pickle_value *callable, sp_pickle_value *args,
                      sp_pickle_value **out)
{
    static const char *const tensors[] = {"torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor", NULL};
    static const char *const wrappers[] = {"torch._utils._rebuild_parameter",
                                           "torch._utils._rebuild_parameter_with_state",
                                           "torch.Size",
                                           "torch.jit._pickle.build_intlist",
                                           "torch.jit._pickle.build_doublelist",
                                           "torch.jit._pickle.build_boollist",
                                           "torch.jit._pickle.build_tensorlist",
                                           "torch.jit._pickle.restore_type_tag",
                                           "builtins.set",
                                           "builtins.frozenset",
                                           "__builtin__.set",
                                           NULL};
    static const char *const dicts[] = {"collections.OrderedDict", "collections.defaultdict", "collections.Counter",
                                        NULL};
    static const char *const arrays[] = {"numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct",
                                         NULL};
    static const char *const scalars[] = {"numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar", NULL};
    /* Classes whose instances say nothing about weights: kept as they are, without meaning. */
    static const char *const plain[] = {"torch.device",
                                        "torch.serialization._get_layout",
                                        "argparse.Namespace",
                                        "pathlib.PosixPath",
                                        "pathlib.WindowsPath",
                                        "pathlib.PurePosixPath",
                                        "datetime.datetime",
                                        "datetime.timedelta",
                                        "builtins.complex",
                                        "builtins.slice",
                                        "builtins.range",
                                        "copyreg._reconstructor",
                                        "copy_reg._reconstructor",
                                        "torch.torch_version.TorchVersion",
                                        "torch.Generator",
                                        "collections.deque",
                                        NULL};
    if (is_one_of(callable, tensors)) return rebuild_tensor(arena, args, SP_DTYPE_NONE, out);
    if (sp__pickle_is(callable, "torch._utils._rebuild_tensor_v3")) return rebuild_v3(arena, args, out);
    if (is_one_of(callable, wrappers))
        return args->count > 0 ? first_argument(callable->text, args, out) : new_dict(arena, args, out);
    if (is_one_of(callable, dicts)) return new_dict(arena, args, out);
    if (is_one_of(callable, arrays)) return make_object(arena, numpy_array, args, out);
    if (sp__pickle_is(callable, numpy_dtype_name)) return make_object(arena, numpy_dtype_name, args, out);
    if (is_one_of(callable, scalars)) return numpy_scalar(arena, args, out);
    if (sp__pickle_is(callable, "_codecs.encode")) return encode_latin1(arena, args, out);
    /* (function, class, its arguments, state): a tensor of a derived class. */
    if (sp__pickle_is(callable, "torch._tensor._rebuild_from_type_v2") && args->count >= 3 &&
        args->items[2]->kind == SP_PICKLE_TUPLE && !sp__pickle_is(args->items[0], callable->text))
        return call(context, arena, args->items[0], args->items[2], out);
    if (is_one_of(callable, plain)) {
        bool made = strstr(callable->text, "_reconstructor") != NULL && args->count > 0 &&
                    args->items[0]->kind == SP_PICKLE_GLOBAL;
        return make_object(arena, made ? args->items[0]->text : callable->text, args, out);
    }
    char shown[SP_NAME_SHOWN];
    return sp__fail(
        SP_FORMAT,
        "it asks to call %s, which is not part of storing tensors; nothing was called. If you trust the file, "
        "load it in PyTorch and save its state_dict()",
        callable->kind == SP_PICKLE_GLOBAL ? sp__name_shown(callable->text, callable->bytes, shown)
                                           : "something that is no function");
}

/* --- storages ---------------------------------------------------------------------------------------------------- */

static sp_status persistent(void *context, sp__arena *arena, sp_pickle_value *id, sp_pickle_value **out)
{
    sp_torch *torch = context;
    /* ('module', class, file, source text): a class in a legacy file, with its program along. */
    if (id->kind == SP_PICKLE_TUPLE && id->count >= 2 && id->items[0]->kind == SP_PICKLE_STR &&
        strcmp(id->items[0]->text, "module") == 0) {
        *out = id->items[1];
        return SP_OK;
    }
    SP_CHECK(id->kind == SP_PICKLE_TUPLE && id->count >= 5 && id->items[0]->kind == SP_PICKLE_STR &&
                 strcmp(id->items[0]->text, "storage") == 0 && id->items[2]->kind == SP_PICKLE_STR,
             SP_FORMAT, "a persistent id that is no storage");
    sp_dtype dtype = sp__torch_dtype(id->items[1]);
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_FORMAT, "storages of type %s are not supported",
             id->items[1]->kind == SP_PICKLE_GLOBAL ? id->items[1]->text : "?");
    const char *key = id->items[2]->text;
    sp_torch_storage *s = torch->storages;
    while (s != NULL && strcmp(s->key, key) != 0) s = s->next;
    if (s == NULL) {
        s = sp__arena_alloc(arena, sizeof *s);
        if (s == NULL) return SP_NOMEM;
        *s = (sp_torch_storage){.next = torch->storages, .key = key, .dtype = dtype};
        torch->storages = s;
    }
    /* Not SP_PICKLE_OTHER: only tensors are that. */
    *out = sp__pickle_new(arena, SP_PICKLE_BYTES);
    if (*out == NULL) return SP_NOMEM;
    (*out)->text = "";
    (*out)->other = s;
    return SP_OK;
}

static sp_status build(void *context, sp__arena *arena, sp_pickle_value *object, sp_pickle_value *state)
{
    (void)context;
    if (object->kind == SP_PICKLE_OBJECT && sp__pickle_is(object->of, numpy_array))
        return build_array(arena, object, state);
    return SP_OK;
}

sp_pickle_hooks sp__torch_hooks(sp_torch *torch)
{
    return (sp_pickle_hooks){.context = torch, .call = call, .persistent = persistent, .build = build};
}
