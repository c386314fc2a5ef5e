/* SPDX-License-Identifier: Apache-2.0 */
/* row.c - rows as bytes: a head that says what the cells are, then the cells, each from a multiple of 64 bytes on. */
#include "cache/cache.h"

#include <errno.h>
#include <unistd.h>

#include "base/plain.h"

enum { ROW_MARK = 0x72707331, ALIGN = 64, WHOLE = 64 << 10, HEAD_CELL = 8 };

static uint64_t aligned(uint64_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

static uint64_t head_bytes(int n, sp_tensor *const *cells)
{
    uint64_t bytes = 8;
    for (int i = 0; i < n; i++) bytes += HEAD_CELL + 8 * (uint64_t)cells[i]->rank;
    return bytes;
}

uint64_t sp__rowcache_row_bytes(int n, sp_tensor *const *cells)
{
    uint64_t bytes = aligned(head_bytes(n, cells));
    for (int i = 0; i < n; i++) bytes += aligned(sp_tensor_bytes(cells[i]));
    return bytes;
}

static void write_head(uint8_t *to, int n, sp_tensor *const *cells)
{
    const uint32_t first[2] = {ROW_MARK, (uint32_t)n};
    memcpy(to, first, sizeof first);
    to += sizeof first;
    for (int i = 0; i < n; i++) {
        const int32_t kind[2] = {cells[i]->dtype, cells[i]->rank};
        memcpy(to, kind, HEAD_CELL);
        memcpy(to + HEAD_CELL, cells[i]->dims, (size_t)cells[i]->rank * 8);
        to += HEAD_CELL + 8 * (size_t)cells[i]->rank;
    }
}

static sp_status write_all(int fd, const uint8_t *from, uint64_t bytes, uint64_t offset)
{
    while (bytes > 0) {
        const ssize_t n = pwrite(fd, from, (size_t)bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        SP_CHECK(n > 0, SP_IO, "a row cannot be written to the cache: %s",
                 n < 0 ? sp__strerror(errno) : "nothing is taken");
        from += n;
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return SP_OK;
}

/* Small rows in one call, large ones cell by cell. What lies between cells is never read. */
static sp_status write_row(int fd, uint64_t offset, int n, sp_tensor *const *cells, uint8_t *buffer, uint64_t room)
{
    const uint64_t head = aligned(head_bytes(n, cells));
    uint64_t at = head;
    write_head(buffer, n, cells);
    if (room > head) {
        for (int i = 0; i < n; i++) {
            memcpy(buffer + at, cells[i]->data, sp_tensor_bytes(cells[i]));
            at += aligned(sp_tensor_bytes(cells[i]));
        }
        return write_all(fd, buffer, at, offset);
    }
    SP_TRY(write_all(fd, buffer, head, offset));
    for (int i = 0; i < n; i++) {
        SP_TRY(write_all(fd, (const uint8_t *)cells[i]->data, sp_tensor_bytes(cells[i]), offset + at));
        at += aligned(sp_tensor_bytes(cells[i]));
    }
    return SP_OK;
}

sp_status sp__rowcache_row_write(int fd, uint64_t offset, int n, sp_tensor *const *cells)
{
    sp_tensor *dense[SP_COLUMNS_MAX];
    int made = 0;
    sp_status status = SP_OK;
    while (made < n && status == SP_OK) {
        status = sp_tensor_contiguous(cells[made], &dense[made]);
        if (status == SP_OK) made++;
    }
    const uint64_t all = sp__rowcache_row_bytes(n, cells), head = aligned(head_bytes(n, cells)),
                   room = all <= WHOLE ? all : head;
    uint8_t *buffer = status == SP_OK ? sp__alloc_zero((size_t)room + 1) : NULL;
    if (status == SP_OK)
        status = buffer ? write_row(fd, offset, n, dense, buffer, all <= WHOLE ? all + 1 : head) : SP_NOMEM;
    sp__free(buffer);
    while (made > 0) sp_tensor_release(dense[--made]);
    return status;
}

/* --- reading ------------------------------------------------------------------------------------------------------------------ */

typedef struct cell_head {
    int dtype, rank;
    int64_t dims[SP_RANK_MAX];
    uint64_t bytes; /* of its elements */
} cell_head;

/* The next cell's part of a head, *at moves on; false: it is none. */
static bool read_cell(const uint8_t *data, uint64_t bytes, uint64_t *at, cell_head *out)
{
    int32_t kind[2];
    int64_t count = 1;
    if (bytes < *at + HEAD_CELL) return false;
    memcpy(kind, data + *at, sizeof kind);
    *at += HEAD_CELL;
    if (kind[0] < 0 || kind[0] >= SP_DTYPE_COUNT || kind[1] < 0 || kind[1] > SP_RANK_MAX ||
        bytes < *at + 8 * (uint64_t)kind[1])
        return false;
    out->dtype = kind[0];
    out->rank = kind[1];
    memcpy(out->dims, data + *at, (size_t)kind[1] * 8);
    *at += 8 * (uint64_t)kind[1];
    for (int k = 0; k < out->rank; k++)
        if (out->dims[k] < 0 || !sp__mul_i64(count, out->dims[k], &count)) return false;
    if (!sp__mul_i64(count, (int64_t)sp_dtype_bytes((sp_dtype)out->dtype), &count)) return false;
    out->bytes = (uint64_t)count;
    return true;
}

static sp_status not_a_row(int n, sp_tensor **cells)
{
    for (int i = 0; i < n; i++) {
        sp_tensor_release(cells[i]);
        cells[i] = NULL;
    }
    return sp__fail(SP_FORMAT, "a row in the cache is damaged; drop it with 'spore cache clear'");
}

sp_status sp__rowcache_row_read(const uint8_t *data, uint64_t bytes, sp_storage *storage, int n, sp_tensor **cells)
{
    uint32_t first[2];
    uint64_t head = sizeof first, at = sizeof first;
    cell_head cell;
    if (bytes < sizeof first) return not_a_row(0, cells);
    memcpy(first, data, sizeof first);
    if (first[0] != ROW_MARK || first[1] != (uint32_t)n) return not_a_row(0, cells);
    for (int i = 0; i < n; i++)
        if (!read_cell(data, bytes, &head, &cell)) return not_a_row(0, cells);
    uint64_t place = aligned(head);
    for (int i = 0; i < n; i++) {
        int64_t strides[SP_RANK_MAX];
        read_cell(data, bytes, &at, &cell);
        if (place > bytes || cell.bytes > bytes - place) return not_a_row(i, cells);
        sp__shape_strides(cell.rank, cell.dims, strides);
        const sp_status status = sp__tensor_handle((sp_dtype)cell.dtype, cell.rank, cell.dims, strides, storage,
                                                   (void *)(uintptr_t)(data + place), &cells[i]);
        if (status != SP_OK) {
            while (i > 0) sp_tensor_release(cells[--i]);
            return status;
        }
        place += aligned(cell.bytes);
    }
    return SP_OK;
}
