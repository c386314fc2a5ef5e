/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - data sets: rows of named columns from a source, and what is made of them on the way to training.
 *
 * A data set is an immutable tree: sources below, map, batch, shuffle and the like above. Each constructor takes the
 * data sets it stands on and retains them; one may be used by several. An iterator reads it epoch by epoch.
 *
 *     sp_dataset *images, *mapped, *batches;
 *     sp_dataset_from_record(record, NULL, 0, &(sp_order){.shuffle = true}, &images);
 *     sp_dataset_map(images, 2, (sp_transform *[]){decode, resize}, 1, (const char *[]){"image"}, 0, NULL, &mapped);
 *     sp_dataset_batch(mapped, 32, false, &batches);
 *     sp_iterator_create(batches, &(sp_iterator_plan){.n_workers = 2, .seed = 1}, &it);
 *     while (sp_iterator_next(it, row, &more) == SP_OK && more) use(row);
 *
 * What comes in which order follows from the seed and the number of the epoch alone, never from the number of threads:
 * rows are numbered before work on them starts. Random transforms draw from (seed, place in the tree, epoch, row). */
#ifndef SPORE_PIPELINE_H
#define SPORE_PIPELINE_H

#include "spore/record.h"
#include "spore/transform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable and counted. Texts in rows are tensors of dtype STR whose last dimension counts characters (UCS-4, filled up
 * with zeros); characters with the highest bit set are bytes of no text. */
typedef struct sp_dataset sp_dataset;

SP_API sp_dataset *sp_dataset_retain(sp_dataset *ds);
SP_API void sp_dataset_release(sp_dataset *ds); /* NULL is fine */
SP_API int sp_dataset_column_count(const sp_dataset *ds);
SP_API const char *sp_dataset_column(const sp_dataset *ds, int i);
SP_API int sp_dataset_column_find(const sp_dataset *ds, const char *name); /* -1: there is none */
/* Rows of an epoch; -1 when only reading tells. */
SP_API sp_status sp_dataset_count(const sp_dataset *ds, int64_t *out);

/* --- functions of the caller --------------------------------------------------------------------------------------- */

/* What a function learns about its call. */
typedef struct sp_row_call {
    int64_t epoch;
    int64_t row;    /* its number in the data set that calls */
    int64_t id;     /* of a source: which row is wanted */
    int64_t n_rows; /* of a batch: in[] holds n_rows rows, one after another */
    bool end;       /* of a source without numbers: set it when there are no more */
    uint64_t seed;  /* of this row in this place of the tree, for what is random in the function */
    void *opened;   /* what `open` made for this iterator; NULL without threads */
    void *fault;    /* set on failure, if the message is not all: see sp_iterator_take_fault */
    bool fatal;     /* set on failure, if it would be the same for any row: sp_dataset_tolerate does not pass over it */
} sp_row_call;

#define SP_ORIGIN_PLACE '\x1f'

/* A function of the caller and what belongs to it. It fills out[0..n_out-1] with new references; in[] is borrowed. */
typedef struct sp_row_function {
    const char *name; /* for messages; must outlive the data set */
    sp_status (*run)(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out);
    void (*release)(void *context);  /* may be NULL */
    void (*drop_fault)(void *fault); /* may be NULL */
    /* Of a source: where a row comes from, for messages: its file, and behind SP_ORIGIN_PLACE where in it. May be NULL. */
    void (*origin)(void *context, int64_t id, char *text, size_t room);
    void *context;
    bool lane;  /* only on the thread that calls sp_iterator_next, in the order of rows; else on any, several at once */
    bool cheap; /* costs less than handing it to another thread */
    /* Above 0: it waits for others (processes) more than it works. An iterator with workers then calls `open` before it
     * starts threads, runs the function on so many threads of its own, `stop` when it is released, which must make those
     * calls return, and `close` when they have. Without workers the function runs in the lane. */
    int n_remote;
    sp_status (*open)(void *context, void **opened);
    void (*stop)(void *opened);
    void (*close)(void *opened);
    /* What its results depend on, told to `note` in pieces: for who keeps rows. files: also how files are now. NULL: it cannot say. */
    sp_status (*identify)(void *context, bool files, void (*note)(void *to, const void *data, size_t bytes), void *to);
} sp_row_function;

/* --- sources -------------------------------------------------------------------------------------------------------- */

/* In which order a source's rows come. Zero: all of them, as they are. */
typedef struct sp_order {
    bool shuffle;
    int n_shards, shard; /* n_shards 0: no shards. Parts of equal size, filled up from the front */
    int64_t n_samples;   /* at most so many; 0: no limit */
    /* Instead of all that: numbers by a function of (seed, epoch). *ids comes from malloc. */
    sp_status (*ids)(void *context, uint64_t seed, int64_t epoch, int64_t **ids, int64_t *n);
    void (*release)(void *context);
    void *context;
} sp_order;

/* Permute numbers as a shuffled source does: for functions of (seed, epoch). */
SP_API void sp_order_mix(uint32_t seed, int64_t *ids, int64_t n);

/* Rows by number, 0 .. count-1, read by a function. Functions are taken over, also on failure, here and below. */
SP_API sp_status sp_dataset_from_function(const sp_row_function *read, int64_t count, int n_columns,
                                          const char *const *columns, const sp_order *order, sp_dataset **out);
/* Rows one after another, until the function says `end`. It is asked for row 0 at the start of each epoch. */
SP_API sp_status sp_dataset_from_stream(const sp_row_function *next, int n_columns, const char *const *columns,
                                        sp_dataset **out);
/* Row i is element i of every array's first dimension. Memory is shared. */
SP_API sp_status sp_dataset_from_arrays(int n_columns, sp_tensor *const *arrays, const char *const *columns,
                                        const sp_order *order, sp_dataset **out);
/* Say which files the rows of a source come from, for messages: the first rows[0] from files[0], and so on. Right behind its
 * making, with a tree on it or not; of sources that know their files themselves it changes nothing. */
SP_API sp_status sp_dataset_name_files(sp_dataset *ds, int n, const int64_t *rows, const char *const *files);
/* Rows of MindRecord files; columns == NULL: all. */
SP_API sp_status sp_dataset_from_record(sp_record *record, const char *const *columns, int n_columns,
                                        const sp_order *order, sp_dataset **out);
/* The bytes of n_files files a row (paths: row by row) as the first columns, and elements of arrays as the others (arrays as
 * above, n_columns - n_files of them). */
SP_API sp_status sp_dataset_from_files(int64_t n_rows, int n_files, const char *const *paths, int n_columns,
                                       sp_tensor *const *arrays, const char *const *columns, const sp_order *order,
                                       sp_dataset **out);
/* Parts of files: row i is length[i] bytes at begin[i] of paths[file[i]] (vectors of int64), as UTF-8 text or as uint8. Files
 * are read when rows are. */
SP_API sp_status sp_dataset_from_parts(int64_t n_paths, const char *const *paths, sp_tensor *file, sp_tensor *begin,
                                       sp_tensor *length, bool text, const char *column, const sp_order *order,
                                       sp_dataset **out);

/* --- what is made of rows -------------------------------------------------------------------------------------------- */

/* Transforms applied to columns `in`, results named `named` (n_named 0: as `in`). As many as before: each takes the
 * place of its column; else they come first and the other columns follow. */
SP_API sp_status sp_dataset_map(sp_dataset *ds, int n, sp_transform *const *transforms, int n_in, const char *const *in,
                                int n_named, const char *const *named, sp_dataset **out);
/* The same by a function. */
SP_API sp_status sp_dataset_map_function(sp_dataset *ds, const sp_row_function *function, int n_in,
                                         const char *const *in, int n_named, const char *const *named,
                                         sp_dataset **out);
/* Rows for which the function, given columns `in`, makes a tensor that is not zero. */
SP_API sp_status sp_dataset_filter(sp_dataset *ds, const sp_row_function *function, int n_in, const char *const *in,
                                   sp_dataset **out);
/* Rows without those that fail in ds itself (not in what it stands on). replace: as many rows as before, good ones once more at
 * the end, for those that failed. */
SP_API sp_status sp_dataset_tolerate(sp_dataset *ds, bool replace, sp_dataset **out);
/* n rows put together, a new first dimension; the last may be smaller unless dropped. */
SP_API sp_status sp_dataset_batch(sp_dataset *ds, int64_t n, bool drop_remainder, sp_dataset **out);
/* How a column is filled up to one shape. rank -1: to the largest of the batch; dims of -1: likewise. */
typedef struct sp_padding {
    const char *column;
    int rank;
    int64_t dims[SP_RANK_MAX];
    double value;
} sp_padding;
SP_API sp_status sp_dataset_padded_batch(sp_dataset *ds, int64_t n, bool drop_remainder, int n_pads,
                                         const sp_padding *pads, sp_dataset **out);
/* A function makes a batch of n rows: it gets all columns of all rows. sizes (may be NULL) says, by (epoch, batch), how
 * many rows instead of n. */
SP_API sp_status sp_dataset_batch_function(sp_dataset *ds, int64_t n, bool drop_remainder,
                                           const sp_row_function *function, const sp_row_function *sizes, int n_columns,
                                           const char *const *columns, sp_dataset **out);
/* Rows in random order, drawn from a buffer of n. */
SP_API sp_status sp_dataset_shuffle(sp_dataset *ds, int64_t n, sp_dataset **out);
/* The same in every epoch, by a seed of its own: for parts that must not overlap. */
SP_API sp_status sp_dataset_shuffle_once(sp_dataset *ds, int64_t n, uint64_t seed, sp_dataset **out);
/* The rows n times as one epoch; -1: without end, though they count once. */
SP_API sp_status sp_dataset_repeat(sp_dataset *ds, int64_t n, sp_dataset **out);
SP_API sp_status sp_dataset_skip(sp_dataset *ds, int64_t n, sp_dataset **out);
SP_API sp_status sp_dataset_take(sp_dataset *ds, int64_t n, sp_dataset **out);
/* Columns side by side, as many rows as the shortest has. */
SP_API sp_status sp_dataset_zip(int n, sp_dataset *const *list, sp_dataset **out);
/* Rows one data set after another; same columns. */
SP_API sp_status sp_dataset_concat(int n, sp_dataset *const *list, sp_dataset **out);
/* These columns in this order, under these names (NULL: their own). */
SP_API sp_status sp_dataset_project(sp_dataset *ds, int n, const char *const *columns, const char *const *names,
                                    sp_dataset **out);

/* Somewhere rows are kept under their numbers in the source: spore/cache.h has one. Functions may run on several threads at once. */
typedef struct sp_row_store {
    sp_status (*open)(void *context, const sp_dataset *ds, void **opened); /* for an iterator over ds */
    /* Is the row there, so that `get` will give it? If not, it will be made and given to `put`. */
    sp_status (*has)(void *opened, int64_t id, bool *out);
    sp_status (*get)(void *opened, int64_t id, int n, sp_tensor **cells);
    sp_status (*put)(void *opened, int64_t id, int n, sp_tensor *const *cells); /* may as well not keep it */
    void (*close)(void *opened);
    void (*release)(void *context); /* may be NULL */
    void *context;
} sp_row_store;
/* The rows of ds, made only where the store does not have them. It is taken over, also on failure. */
SP_API sp_status sp_dataset_store(sp_dataset *ds, const sp_row_store *store, sp_dataset **out);

/* --- reading --------------------------------------------------------------------------------------------------------- */

typedef struct sp_iterator_plan {
    int n_workers; /* threads beside the caller's; 0: none */
    uint64_t
        seed; /* up to 2^32 - 1: orders are those that MindSpore makes of it; larger ones differ from place to place in the tree */
    int64_t first_epoch;              /* number of the first epoch */
    int64_t n_ahead;                  /* rows made before they are asked for; 0: 16 */
    size_t budget;                    /* bytes of finished rows that wait; 0: 256 MiB */
    double slow;                      /* seconds after which a row in the making is reported, once; 0: never */
    void (*report)(const char *text); /* to whom; on any thread. NULL: stderr */
} sp_iterator_plan;

/* One thread at a time. In a forked child it only releases. */
typedef struct sp_iterator sp_iterator;

SP_API sp_status sp_iterator_create(sp_dataset *ds, const sp_iterator_plan *plan, sp_iterator **out);
/* Stops and joins its threads. */
SP_API void sp_iterator_release(sp_iterator *it); /* NULL is fine */
/* The next row as new references, one per column; or more = false once at the end of an epoch, after which the next one
 * begins. After a failure the row is lost and the one behind it comes next. */
SP_API sp_status sp_iterator_next(sp_iterator *it, sp_tensor **row, bool *more);
/* What sp_row_call.fault was when the last sp_iterator_next failed; the caller's from now on. */
SP_API void *sp_iterator_take_fault(sp_iterator *it);
/* Position: rows given out in this epoch. */
SP_API void sp_iterator_tell(const sp_iterator *it, int64_t *epoch, int64_t *row);
/* Go to a position, shuffle buffers included. Rows in between are numbered, not made, unless a filter or a stream must see them. */
SP_API sp_status sp_iterator_seek(sp_iterator *it, int64_t epoch, int64_t row);

/* What the stages cost so far, in the order of the tree, the result first. */
typedef struct sp_stage_stats {
    const char *name;
    int depth;      /* in the tree */
    int64_t rows;   /* made */
    double seconds; /* of all threads */
} sp_stage_stats;
SP_API int sp_iterator_stages(const sp_iterator *it);
SP_API void sp_iterator_stage(const sp_iterator *it, int i, sp_stage_stats *out);
typedef struct sp_iterator_stats {
    int64_t ahead; /* rows being made or waiting */
    size_t bytes;  /* of finished rows that wait */
    double waited; /* seconds that the caller had to wait */
} sp_iterator_stats;
SP_API void sp_iterator_describe(sp_iterator *it, sp_iterator_stats *out);

#ifdef __cplusplus
}
#endif
#endif
