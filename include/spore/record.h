/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - MindRecord: rows of named, typed fields in files that MindSpore reads and writes as well.
 *
 *     sp_record *record;
 *     sp_record_row *row;
 *     sp_record_open("train.mindrecord", NULL, &record);
 *     sp_record_row_create(record, (const char *const[]){"label", "image"}, 2, &row);
 *     for (int64_t i = 0; i < sp_record_count(record); i++) {
 *         sp_record_read(record, i, row);
 *         const sp_record_value *v = sp_record_row_values(row);
 *         use(v[0].i, v[1].data, v[1].bytes);
 *     }
 *     sp_record_row_release(row);
 *     sp_record_release(record); */
#ifndef SPORE_RECORD_H
#define SPORE_RECORD_H

#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- fields and values -------------------------------------------------------------------------------------------- */

/* One list: enum value, name in the schema, dtype of the elements. */
/* clang-format off */
#define SP_RECORD_TYPE_LIST(X)                                                                                         \
    X(INT32, "int32", I32)                                                                                             \
    X(INT64, "int64", I64)                                                                                             \
    X(FLOAT32, "float32", F32)                                                                                         \
    X(FLOAT64, "float64", F64)                                                                                         \
    X(STRING, "string", STR)                                                                                           \
    X(BYTES, "bytes", U8)
/* clang-format on */

#define X(e, name, dtype) SP_RECORD_##e,
typedef enum { SP_RECORD_TYPE_LIST(X) SP_RECORD_TYPE_COUNT } sp_record_type;
#undef X

SP_API const char *sp_record_type_name(sp_record_type type);
SP_API sp_dtype sp_record_type_dtype(sp_record_type type);
/* SP_VALUE when there is no such type: the format has these six. */
SP_API sp_status sp_record_type_parse(const char *name, sp_record_type *out);

typedef struct sp_record_field {
    const char *name; /* letters, digits and _ */
    sp_record_type type;
    int rank;                  /* -1: one value (number, string, bytes); else an array of numbers */
    int64_t dims[SP_RANK_MAX]; /* of an array; one of them may be -1: any size */
} sp_record_field;

/* A value of a field. When read, pointers live until the row is read again or released. */
typedef struct sp_record_value {
    sp_record_type type;
    int rank;            /* -1: one value; else an array */
    const int64_t *dims; /* of an array, `rank` of them */
    int64_t i;           /* int32, int64. An int32 field may hold more: MindSpore's writer does not check the range. */
    double f;            /* float32, float64 */
    const void *data;    /* string (UTF-8, no NUL behind), bytes, elements of an array (row-major; maybe not aligned) */
    size_t bytes;
} sp_record_value;

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* How files are protected. Zero (or a NULL pointer to this) is: not at all. */
typedef struct sp_record_secret {
    const void *key; /* 16, 24 or 32 bytes; NULL: the files are not encrypted */
    size_t key_bytes;
    const char *mode; /* AES-GCM, AES-CBC or SM4-CBC. NULL: reading, what the file says; writing, AES-GCM */
    const char
        *hash; /* sha256, sha384, sha512, sha3_256, sha3_384, sha3_512: files end in a digest. Reading verifies it,
                         and takes long. NULL: none is written; one that is there is not looked at */
} sp_record_secret;

/* An open data set of one or more files. Never changes; use it from several threads freely. Files are mapped, not read:
 * do not cut or overwrite them in place meanwhile. Encrypted ones are decrypted into memory. */
typedef struct sp_record sp_record;

/* The data set that the file at `path` belongs to: all its shards, in order, from the same folder. The index (.db) is
 * not needed. */
SP_API sp_status sp_record_open(const char *path, const sp_record_secret *secret, sp_record **out);
/* Exactly these files, in this order. Their schemas must agree. */
SP_API sp_status sp_record_open_files(const char *const *paths, int n_paths, const sp_record_secret *secret,
                                      sp_record **out);
SP_API sp_record *sp_record_retain(sp_record *record);
SP_API void sp_record_release(sp_record *record); /* NULL is fine */

SP_API int64_t sp_record_count(const sp_record *record); /* rows */
/* Fields are in alphabetical order. */
SP_API int sp_record_field_count(const sp_record *record);
SP_API const sp_record_field *sp_record_field_at(const sp_record *record, int i);
SP_API int sp_record_field_find(const sp_record *record, const char *name); /* -1: there is none */

typedef struct sp_record_info {
    const char *version;     /* "3.0" */
    const char *description; /* of the schema, by its author */
    int n_shards;
    int n_index;           /* fields that are copied into the index */
    int64_t n_pages;       /* over all shards */
    int64_t n_groups;      /* row groups: what is indexed together when first touched */
    uint64_t header_bytes; /* reserved for the header of a file */
    uint64_t page_bytes;   /* reserved for a page */
    uint64_t file_bytes;   /* over all shards, decrypted */
    bool encrypted;
    bool hashed; /* files end in a digest */
} sp_record_info;

SP_API void sp_record_describe(const sp_record *record, sp_record_info *out);
SP_API const char *sp_record_shard_path(const sp_record *record, int shard);
SP_API int64_t sp_record_shard_count(const sp_record *record, int shard); /* rows */
SP_API int sp_record_index_at(const sp_record *record, int i);            /* field number of the i-th index field */

/* Room for one row, one for each thread. Keeps the data set open. */
typedef struct sp_record_row sp_record_row;

/* Of these columns in this order; columns == NULL: of all fields. SP_KEY when one does not exist. */
SP_API sp_status sp_record_row_create(sp_record *record, const char *const *columns, int n_columns,
                                      sp_record_row **out);
SP_API void sp_record_row_release(sp_record_row *row); /* NULL is fine */
/* Row `id` of 0..count-1, any order. The row must have been created for this data set. After a failure it is empty. */
SP_API sp_status sp_record_read(const sp_record *record, int64_t id, sp_record_row *row);
SP_API int sp_record_row_count(const sp_record_row *row); /* columns */
SP_API const sp_record_value *sp_record_row_values(const sp_record_row *row);

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Zero is the default everywhere. */
typedef struct sp_record_plan {
    const char *description;
    int n_shards; /* 0: 1. More than one: the number is put behind the name */
    bool overwrite;
    bool separate;            /* every shard a data set of its own, to be opened by a list of files */
    uint64_t header_bytes;    /* 16 KiB to 128 MiB, multiple of 4; 0: 16 MiB */
    uint64_t page_bytes;      /* 32 KiB to 256 MiB, multiple of 4; 0: 32 MiB. No row may be larger */
    const char *const *index; /* names of fields for the index; n_index 0: all that hold one number or string */
    int n_index;
    const sp_record_secret *secret;
} sp_record_plan;

/* Files being written. Under their names appears nothing before the commit, and whatever is there stays: a crash leaves
 * the earlier files, and beside them `<name>.partial` with all pages filled by then, which sp_record_recover completes.
 * One thread at a time; writers of different files run side by side. */
typedef struct sp_record_writer sp_record_writer;

SP_API sp_status sp_record_create(const char *path, const sp_record_field *fields, int n_fields,
                                  const sp_record_plan *plan, sp_record_writer **out);
/* Add to the data set at path, all shards of it. It is replaced at the commit: until then it can be read as it was. */
SP_API sp_status sp_record_append(const char *path, const sp_record_secret *secret, sp_record_writer **out);
/* Without commit: the partial files are removed, and nothing has happened. NULL is fine. */
SP_API void sp_record_writer_release(sp_record_writer *writer);

/* Order of values in a row: as given to sp_record_create, alphabetical after sp_record_append. */
SP_API int sp_record_writer_field_count(const sp_record_writer *writer);
SP_API const sp_record_field *sp_record_writer_field_at(const sp_record_writer *writer, int i);
SP_API int64_t sp_record_writer_count(const sp_record_writer *writer); /* rows written through it */

/* Would these values make a row? SP_TYPE or SP_VALUE, naming `row` (any number for the message), column, found and
 * declared type. Writes nothing. */
SP_API sp_status sp_record_writer_check(const sp_record_writer *writer, const sp_record_value *values, int64_t row);
/* The next `n_rows` rows are one batch, spread over the shards in consecutive parts of equal size; of separate shards
 * one gets them all, each in its turn. Without this call every row is a batch: rows go to the shards in turn. */
SP_API sp_status sp_record_writer_batch(sp_record_writer *writer, int64_t n_rows);
/* Check, then append one row. */
SP_API sp_status sp_record_write(sp_record_writer *writer, const sp_record_value *values);
/* Bring everything to disk, make the index and put the files under their names. After it the writer only releases. */
SP_API sp_status sp_record_commit(sp_record_writer *writer);

/* --- care --------------------------------------------------------------------------------------------------------- */

/* Compare everything in the files of the data set with everything else: pages against header, records against pages,
 * every value against the schema, index against records, pictures in bytes columns by decoding them, digests of files that end in one
 * (without, a change that leaves a value well formed is not noticed). report(context, text) is called for each problem, up to a
 * hundred per file; out gets their number. SP_OK also with problems; failure: no file could be opened. */
SP_API sp_status sp_record_check(const char *path, const sp_record_secret *secret,
                                 void (*report)(void *context, const char *text), void *context, int64_t *out);
/* Write the index of every file of the data set anew, from its pages. Not for protected files. */
SP_API sp_status sp_record_reindex(const char *path);
/* Complete `<path>.partial` of a writer that died: the pages that were filled become the file at path, which must not
 * exist. out (may be NULL) gets the number of rows. */
SP_API sp_status sp_record_recover(const char *path, int64_t *out);
/* Encrypt (or hash) the files of a plain data set in place. */
SP_API sp_status sp_record_protect(const char *path, const sp_record_secret *secret);
/* The reverse: key and digest are checked, then plain files replace the protected ones. */
SP_API sp_status sp_record_unprotect(const char *path, const sp_record_secret *secret);

#ifdef __cplusplus
}
#endif
#endif
