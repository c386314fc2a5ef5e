/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_partial.h - a shard file that is being written, under the name `<path>.partial`. */
#ifndef SPORE_MINDRECORD_PARTIAL_H
#define SPORE_MINDRECORD_PARTIAL_H

#include "data/mindrecord.h"

typedef struct sp_mindrecord_partial {
    char *path;       /* of the finished file */
    char *partial;    /* path + ".partial" */
    char *partial_db; /* path + ".partial.db" */
    int fd;           /* -1: not open */
    bool own;         /* the partial files are ours to remove: locked, and not published yet */
    sp_mindrecord_header *header;
    uint64_t next_slot; /* behind all pages */
    int64_t next_id;    /* behind all groups */
    uint64_t notes_at;  /* where the next note goes, in the room of the header */
    int64_t saved;      /* bytes that compression saved, may be negative */
    bool open;          /* is there a group with rows */
    sp_mindrecord_group group;
    uint64_t flushed; /* bytes of the group's blob page in the file; blob holds what follows */
    sp_mindrecord_buffer blob;
    sp_mindrecord_buffer raw; /* raw records of the group, all of them */
} sp_mindrecord_partial;

/* A new file. Takes over the header. SP_IO when another process writes the same file, SP_VALUE when a dead one left a
 * partial file with rows and `overwrite` is not set. */
sp_status sp__mindrecord_partial_create(const char *path, sp_mindrecord_header *take_header, bool overwrite,
                                        sp_mindrecord_partial *out);
/* A new file with the rows of a shard, which are copied page by page; it goes on where that one ends. */
sp_status sp__mindrecord_partial_copy(const sp_mindrecord_shard *shard, sp_mindrecord_partial *out);
/* One that a dead writer left. */
sp_status sp__mindrecord_partial_reopen(const char *path, sp_mindrecord_partial *out);
/* Can a page take records of these sizes (without lengths) at all? SP_VALUE. */
sp_status sp__mindrecord_partial_check_size(const sp_mindrecord_partial *p, size_t raw_bytes, size_t blob_bytes);
/* Room for a row with records of these sizes: opens a new page when the present one is full. */
sp_status sp__mindrecord_partial_reserve(sp_mindrecord_partial *p, size_t raw_bytes, size_t blob_bytes);
/* The records have been appended to p->raw and p->blob, lengths in front: one more row. */
sp_status sp__mindrecord_partial_count_row(sp_mindrecord_partial *p);
/* Complete file and index, on disk, still under the partial names. */
sp_status sp__mindrecord_partial_finish(sp_mindrecord_partial *p);
/* Under their names, protected as the secret says. */
sp_status sp__mindrecord_partial_publish(sp_mindrecord_partial *p, bool overwrite, const sp_record_secret *secret);
/* Free; with `remove` the partial files go as well. */
void sp__mindrecord_partial_close(sp_mindrecord_partial *p, bool remove);

#endif
