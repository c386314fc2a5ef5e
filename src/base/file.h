/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - whole files: mapped for reading, replaced in one step for writing. Messages do not name the file: callers
 * put its name in front of these as of their own. */
#ifndef SPORE_FILE_H
#define SPORE_FILE_H

#include "base/base.h"

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* A file in memory. Pages are private: writing to them changes this process's copy only. Counted, so that each tensor
 * that looks into it can hold it; the mapping goes with the last reference. */
typedef struct sp_map {
    atomic_int refs;
    uint8_t *data; /* NULL for an empty file */
    size_t bytes;
    int fd;        /* of the mapped file; -1: a block of sp__alloc */
} sp_map;

/* SP_IO when it does not exist, is not a regular file or cannot be read. */
sp_status sp__map_open(const char *path, sp_map **out);
/* Memory that serves as one: `bytes` bytes to be filled. */
sp_status sp__map_create(size_t bytes, sp_map **out);
void sp__map_retain(sp_map *map);
/* Copy bytes out of it, `bytes` of them at `data`, as they are in the file; changes made to the mapping do not count. Read,
 * not touched: if somebody has cut the file meanwhile, this fails with SP_IO, where touching them would end the process. */
sp_status sp__map_read(const sp_map *map, const uint8_t *data, size_t bytes, void *out);
void sp__map_release(void *map); /* NULL is fine; void * to serve as the release function of sp_tensor_wrap */

/* --- writing ----------------------------------------------------------------------------------------------------- */

/* A file about to replace another. Nothing is seen under the target's name before sp__replace_commit; whatever fails
 * before that leaves the old file as it was. */
typedef struct sp_replace sp_replace;

/* Make the temporary file, next to the target (behind it, when the target is a symbolic link). Where the file system allows it has no
 * name before the commit, so that a process that is killed leaves nothing. */
sp_status sp__replace_open(const char *path, sp_replace **out);
/* The new file will be for its owner's eyes only. */
void sp__replace_private(sp_replace *r);
/* It can be made again if it is lost: the commit does not wait for the disk. */
void sp__replace_hasty(sp_replace *r);
/* Append. Small pieces are gathered. */
sp_status sp__replace_write(sp_replace *r, const void *data, size_t bytes);
/* To disk, then under the target's name. Ends r, also on failure. */
sp_status sp__replace_take_commit(sp_replace *r);
/* Forget it: the temporary file is removed. NULL is fine. */
void sp__replace_abort(sp_replace *r);

#endif
