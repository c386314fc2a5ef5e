/* SPDX-License-Identifier: Apache-2.0 */
/* guarded.h - for tests of kernels: random whole numbers, and tensors whose memory ends where an unreadable page begins. After cmocka.h. */
#ifndef SPORE_TESTS_GUARDED_H
#define SPORE_TESTS_GUARDED_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spore/tensor.h"

static uint64_t guarded_seed = 7;
/* A number in [0, n); the upper bits of a linear congruential generator. */
static inline int64_t draw(int64_t n)
{
    guarded_seed = guarded_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((guarded_seed >> 33) % (uint64_t)n);
}

typedef struct {
    char *start;
    size_t bytes;
} guarded_mapping;

static void guarded_unmap(void *context)
{
    guarded_mapping *m = context;
    munmap(m->start, m->bytes);
    free(m);
}

/* A tensor of zeros: kernels may not look behind it. Its start has no alignment to speak of. */
static inline sp_tensor *guarded(sp_dtype dtype, int rank, const int64_t *dims)
{
    size_t bytes = sp_dtype_bytes(dtype), page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < rank; i++) bytes *= (size_t)dims[i];
    const size_t whole = (bytes + page - 1) / page * page;
    guarded_mapping *m = malloc(sizeof *m);
    assert_non_null(m);
    m->bytes = whole + page;
    m->start = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(m->start != MAP_FAILED);
    assert_int_equal(mprotect(m->start + whole, page, PROT_NONE), 0);
    sp_tensor *out = NULL;
    if (sp_tensor_wrap(dtype, rank, dims, NULL, m->start + whole - bytes, guarded_unmap, m, &out) != SP_OK)
        fail_msg("%s", sp_error_message());
    return out;
}

#endif
