/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_schema.c - the fields of a MindRecord data set: the rules they obey, and their order.
 *
 * Fields are kept in alphabetical order (of bytes), which is the order of everything in the files: the schema in the
 * header, the map of scalars, the parts of a blob record. */
#include "data/mindrecord.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    sp_dtype dtype;
} types[] = {
#define X(e, name, dtype) {name, SP_DTYPE_##dtype},
    SP_RECORD_TYPE_LIST(X)
#undef X
};

const char *sp_record_type_name(sp_record_type type)
{
    return (unsigned)type < SP_RECORD_TYPE_COUNT ? types[type].name : "unknown";
}

sp_dtype sp_record_type_dtype(sp_record_type type)
{
    return (unsigned)type < SP_RECORD_TYPE_COUNT ? types[type].dtype : SP_DTYPE_NONE;
}

sp_status sp_record_type_parse(const char *name, sp_record_type *out)
{
    for (int i = 0; i < SP_RECORD_TYPE_COUNT; i++) {
        if (strcmp(name, types[i].name) != 0) continue;
        *out = (sp_record_type)i;
        return SP_OK;
    }
    return sp__fail(
        SP_VALUE, "'%s' is not a type of MindRecord; there are int32, int64, float32, float64, string and bytes", name);
}

const char *sp__mindrecord_type_text(sp_record_type type, int rank, const int64_t *dims, char *text)
{
    enum { ROOM = 64 };
    int n = snprintf(text, ROOM, "%s", sp_record_type_name(type));
    if (rank < 0) return text;
    n += snprintf(text + n, (size_t)(ROOM - n), "[");
    for (int i = 0; i < rank && n < ROOM; i++)
        n += snprintf(text + n, (size_t)(ROOM - n), "%s%lld", i > 0 ? "," : "", (long long)dims[i]);
    if (n < ROOM) snprintf(text + n, (size_t)(ROOM - n), "]");
    return text;
}

/* --- rules -------------------------------------------------------------------------------------------------------- */

static sp_status check_name(const char *name)
{
    SP_CHECK(name != NULL && name[0] != '\0', SP_VALUE, "a field has no name");
    for (const char *p = name; *p != '\0'; p++) {
        bool fine = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        SP_CHECK(fine, SP_VALUE, "field '%s': a name is made of letters A-Z and a-z, digits and _", name);
    }
    return SP_OK;
}

static sp_status check_shape(const sp_record_field *f)
{
    SP_CHECK(f->type != SP_RECORD_STRING && f->type != SP_RECORD_BYTES, SP_VALUE, "field '%s': %s takes no shape",
             f->name, sp_record_type_name(f->type));
    SP_CHECK(f->rank <= SP_RANK_MAX, SP_VALUE, "field '%s': its shape has %d dimensions, at most %d are possible",
             f->name, f->rank, SP_RANK_MAX);
    int n_any = 0;
    for (int i = 0; i < f->rank; i++) {
        SP_CHECK(f->dims[i] == -1 || f->dims[i] > 0, SP_VALUE,
                 "field '%s': dimension %d of its shape is %lld; more than 0 is wanted, or -1 for any size", f->name, i,
                 (long long)f->dims[i]);
        n_any += f->dims[i] == -1;
    }
    SP_CHECK(n_any <= 1, SP_VALUE, "field '%s': its shape has %d dimensions of -1, at most one can be found out",
             f->name, n_any);
    return SP_OK;
}

static sp_status check_field(const sp_record_field *f)
{
    SP_TRY(check_name(f->name));
    SP_CHECK((unsigned)f->type < SP_RECORD_TYPE_COUNT, SP_VALUE, "field '%s': type %d is not known", f->name,
             (int)f->type);
    return f->rank < 0 ? SP_OK : check_shape(f);
}

/* --- building ----------------------------------------------------------------------------------------------------- */

void sp__mindrecord_schema_release(sp_mindrecord_schema *s)
{
    if (s == NULL) return;
    for (int i = 0; i < s->n_fields; i++) sp__free((void *)(uintptr_t)s->fields[i].name);
    sp__free(s->description);
    sp__free(s->fields);
    sp__free(s->blobs);
    sp__free(s->index);
    sp__free(s);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const sp_record_field *)a)->name, ((const sp_record_field *)b)->name);
}

static sp_status copy_fields(sp_mindrecord_schema *s, const sp_record_field *fields, int n_fields)
{
    for (int i = 0; i < n_fields; i++) {
        SP_TRY(check_field(&fields[i]));
        s->fields[i] = fields[i];
        s->fields[i].name = sp__strdup(fields[i].name);
        if (s->fields[i].name == NULL) return SP_NOMEM;
        s->n_fields++;
    }
    qsort(s->fields, (size_t)n_fields, sizeof *s->fields, by_name);
    for (int i = 0; i < n_fields; i++) {
        const sp_record_field *f = &s->fields[i];
        SP_CHECK(i == 0 || strcmp(f[-1].name, f->name) != 0, SP_VALUE, "field '%s' is there twice", f->name);
        if (!sp__mindrecord_is_blob(f)) continue;
        s->blobs[s->n_blobs++] = i;
        if (f->rank >= 0 && (f->type == SP_RECORD_INT32 || f->type == SP_RECORD_INT64)) s->packed = true;
    }
    s->n_scalars = n_fields - s->n_blobs;
    return SP_OK;
}

sp_status sp__mindrecord_schema_create(const sp_record_field *fields, int n_fields, const char *description,
                                       const char *version, sp_mindrecord_schema **out)
{
    SP_CHECK(n_fields > 0, SP_VALUE, "a schema needs at least one field");
    SP_CHECK(n_fields <= SP_MINDRECORD_FIELDS_MAX, SP_VALUE, "%d fields are too many, at most %d are possible",
             n_fields, SP_MINDRECORD_FIELDS_MAX);
    sp_mindrecord_schema *s = sp__alloc_zero(sizeof *s);
    if (s == NULL) return SP_NOMEM;
    s->description = sp__strdup(description != NULL ? description : "");
    s->fields = sp__alloc((size_t)n_fields * sizeof *s->fields);
    s->blobs = sp__alloc((size_t)n_fields * sizeof *s->blobs);
    s->index = sp__alloc((size_t)n_fields * sizeof *s->index);
    snprintf(s->version, sizeof s->version, "%s", version);
    bool have = s->description != NULL && s->fields != NULL && s->blobs != NULL && s->index != NULL;
    sp_status status = have ? copy_fields(s, fields, n_fields) : SP_NOMEM;
    if (status != SP_OK) {
        sp__mindrecord_schema_release(s);
        return status;
    }
    /* Versions are compared as text, as MindSpore does. */
    if (strcmp(version, "3.0") < 0) s->packed = false;
    *out = s;
    return SP_OK;
}

int sp__mindrecord_schema_find(const sp_mindrecord_schema *s, const char *name)
{
    int low = 0, high = s->n_fields;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = strcmp(s->fields[middle].name, name);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

/* Such a name would have to be quoted in the database, and MindSpore does not. */
static bool starts_with_digit(const char *name) { return name[0] >= '0' && name[0] <= '9'; }

static sp_status add_index(sp_mindrecord_schema *s, const char *name)
{
    int field = sp__mindrecord_schema_find(s, name);
    SP_CHECK(field >= 0, SP_KEY, "index field '%s' is not in the schema", name);
    const sp_record_field *f = &s->fields[field];
    char text[64];
    SP_CHECK(!sp__mindrecord_is_blob(f), SP_VALUE, "index field '%s' is %s; only a number or a string can be indexed",
             name, sp__mindrecord_type_text(f->type, f->rank, f->dims, text));
    SP_CHECK(!starts_with_digit(name), SP_VALUE, "index field '%s' begins with a digit, which the index cannot hold",
             name);
    for (int i = 0; i < s->n_index; i++)
        SP_CHECK(s->index[i] != field, SP_VALUE, "index field '%s' is there twice", name);
    s->index[s->n_index++] = field;
    return SP_OK;
}

sp_status sp__mindrecord_schema_set_index(sp_mindrecord_schema *s, const char *const *names, int n_names)
{
    s->n_index = 0;
    for (int i = 0; i < n_names && names != NULL; i++) SP_TRY(add_index(s, names[i]));
    for (int i = 0; i < s->n_fields && names == NULL; i++)
        if (!sp__mindrecord_is_blob(&s->fields[i]) && !starts_with_digit(s->fields[i].name)) s->index[s->n_index++] = i;
    return SP_OK;
}

static bool same_field(const sp_record_field *a, const sp_record_field *b)
{
    if (strcmp(a->name, b->name) != 0 || a->type != b->type || a->rank != b->rank) return false;
    return a->rank <= 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

sp_status sp__mindrecord_schema_compare(const sp_mindrecord_schema *a, const sp_mindrecord_schema *b)
{
    SP_CHECK(strcmp(a->version, b->version) == 0, SP_FORMAT, "version %s, the files before have %s", b->version,
             a->version);
    SP_CHECK(a->n_fields == b->n_fields, SP_FORMAT, "%d fields, the files before have %d", b->n_fields, a->n_fields);
    for (int i = 0; i < a->n_fields; i++) {
        const sp_record_field *f = &a->fields[i], *g = &b->fields[i];
        char x[64], y[64];
        SP_CHECK(same_field(f, g), SP_FORMAT, "field '%s' of type %s, the files before have '%s' of type %s", g->name,
                 sp__mindrecord_type_text(g->type, g->rank, g->dims, x), f->name,
                 sp__mindrecord_type_text(f->type, f->rank, f->dims, y));
    }
    bool same_index =
        a->n_index == b->n_index && memcmp(a->index, b->index, (size_t)a->n_index * sizeof *a->index) == 0;
    SP_CHECK(same_index, SP_FORMAT, "other index fields than the files before");
    return SP_OK;
}
