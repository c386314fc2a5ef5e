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
    int fd;                 /* of the mapped file; -1: a block of sp__alloc */
    struct sp_guard *guard; /* NULL: nothing is mapped */
    int64_t written_ns;     /* when the file was written last, as it was opened */
} sp_map;

/* SP_IO when it does not exist, is not a regular file or cannot be read. */
sp_status sp__map_open(const char *path, sp_map **out);
/* Memory that serves as one: `bytes` bytes to be filled. */
sp_status sp__map_create(size_t bytes, sp_map **out);
void sp__map_retain(sp_map *map);
/* Copy bytes out of it, `bytes` of them at `data`, as they are in the file; changes made to the mapping do not count. Read,
 * not touched: if somebody has cut the file meanwhile, this fails with SP_IO, where touching them would end the process. */
sp_status sp__map_read(const sp_map *map, const uint8_t *data, size_t bytes, void *out);
/* Is the file still what was mapped? Pages that were not touched yet show what others have written since, and zeros where it was cut. SP_IO if so, which names the
 * file. Ask after using bytes, too: only then it is known what was read. */
sp_status sp__map_check(const sp_map *map);
/* The same for who has written over all of his pages: only what was cut concerns him. */
sp_status sp__map_check_cut(const sp_map *map);
/* Read a byte of every page, so that sp__map_check tells about all of them. */
void sp__map_touch(const void *data, size_t bytes);
void sp__map_release(void *map); /* NULL is fine; void * to serve as the release function of sp_tensor_wrap */

/* A file as it was at some time: one that was replaced or written since differs. */
typedef struct sp_stamp {
    uint64_t device, inode;
    int64_t bytes, written_ns, changed_ns; /* the last is also moved by who sets the time of writing back */
} sp_stamp;

sp_status sp__stamp_read(const char *path, sp_stamp *out);
bool sp__stamp_equal(const sp_stamp *a, const sp_stamp *b);

/* Files that were read for somebody who must not depend on them afterwards. */
typedef struct sp_file_copy {
    struct sp_file_copy *next;
    sp_stamp stamp;
    char path[];
} sp_file_copy;

/* From here to the end, sp__map_open on this thread reads files instead of mapping them, and notes each in *list. Memory of one's own does not follow what
 * others do to the file. A file that is being written, or that changes while it is read, is refused with SP_IO. */
void sp__map_copy_begin(sp_file_copy **list);
void sp__map_copy_end(void);
/* Is each of them still what it was when it was read? */
bool sp__copies_current(const sp_file_copy *list);
void sp__copies_free(sp_file_copy *list);

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

/* Make the folder, and those above it that are not there. */
sp_status sp__folder_make(const char *path);

#endif
