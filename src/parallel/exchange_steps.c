/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_steps.c - what each exchange does after the words: which messages, in which order, and what becomes of them.
 *
 * Reductions gather the operands of a slice at one rank, which adds them in the order of ranks: all_reduce is an all_to_all of slices, the sum
 * of one slice a rank, and an all_gather of the sums, which moves no more bytes than the best algorithms do. Large ones go in pieces, so
 * that the room for others' values is bounded. Small ones travel with the words, or as one all_gather. */
#include <string.h>

#include "parallel/parallel_impl.h"

enum {
    SMALL_BYTES = 8 << 10, /* all_reduce by one all_gather */
    PIECE_BYTES = 8 << 20  /* of an all_reduce in pieces, all slices together */
};

#define OP(r, about, call)                                                                                             \
    do {                                                                                                               \
        void *op_ = NULL;                                                                                              \
        sp__lock(&sp__transport_lock);                                                                                 \
        const sp_status begun_ = sp__transport()->call;                                                                \
        sp__unlock(&sp__transport_lock);                                                                               \
        SP_TRY(sp__request_op(r, about, begun_, op_));                                                                 \
    } while (0)

static size_t size_of(const sp_request *r) { return sp_dtype_bytes(r->e.dtype); }

static sp_status finish(sp_request *r)
{
    r->done = true;
    return SP_OK;
}

static sp_status work_of(sp_request *r, int64_t elements)
{
    if (r->work) return SP_OK;
    size_t bytes;
    SP_CHECK(elements >= 0 && sp__mul_size((size_t)elements, size_of(r), &bytes), SP_NOMEM,
             "%s: %lld elements are too many", sp_exchange_name(r->e.kind), (long long)elements);
    r->work = sp__alloc(bytes);
    return r->work ? SP_OK : SP_NOMEM;
}

static void copy(void *out, const void *in, int64_t bytes)
{
    if (bytes > 0 && out != in) memmove(out, in, (size_t)bytes);
}

/* --- all ranks get something ------------------------------------------------------------------------------------- */

static sp_status next_all_gather(sp_request *r)
{
    if (r->phase > 1 || r->bytes == 0) return finish(r);
    const sp_comm *c = r->comm;
    char *out = r->e.out;
    if ((size_t)r->bytes <= sp__transport()->bytes_max) {
        /* MPI's buffers must not overlap: a part that lies in its place already comes from a copy. */
        const void *in = r->e.in;
        if ((const char *)in < out + r->bytes * c->size && (const char *)in + r->bytes > out) {
            SP_TRY(work_of(r, r->e.n));
            copy(r->work, in, r->bytes);
            in = r->work;
        }
        OP(r, -1, all_gather(c->handle, in, (size_t)r->bytes, out, &op_));
        return SP_OK;
    }
    copy(out + c->rank * r->bytes, r->e.in, r->bytes);
    for (int i = 0; i < c->size; i++) {
        if (i == c->rank) continue;
        SP_TRY(sp__request_recv(r, out + i * r->bytes, r->bytes, i, SP_TAG_DATA));
        SP_TRY(sp__request_send(r, out + c->rank * r->bytes, r->bytes, i, SP_TAG_DATA));
    }
    return SP_OK;
}

static sp_status next_broadcast(sp_request *r)
{
    const sp_comm *c = r->comm;
    if (r->phase == 1 && c->rank == r->e.root) copy(r->e.out, r->e.in, r->bytes);
    if (r->at >= r->bytes) return finish(r);
    const int64_t left = r->bytes - r->at, most = (int64_t)sp__transport()->bytes_max,
                  piece = left < most ? left : most;
    OP(r, r->e.root, broadcast(c->handle, (char *)r->e.out + r->at, (size_t)piece, r->e.root, &op_));
    r->at += piece;
    return SP_OK;
}

/* Phases: 1 all_gather of everything, 2 the sum. */
static sp_status small_all_reduce(sp_request *r)
{
    const sp_comm *c = r->comm;
    if (r->phase == 1) {
        SP_TRY(work_of(r, r->e.n * c->size));
        OP(r, -1, all_gather(c->handle, r->e.in, (size_t)r->bytes, r->work, &op_));
        return SP_OK;
    }
    sp__reduce_ranks(r->e.dtype, r->e.reduce, c->size, r->work, r->e.n, r->e.n, r->e.out);
    return finish(r);
}

/* Phases of a piece: slices to their ranks (odd), their sums to all (even). Work holds the others' slices, this rank's sum, and a last piece that
 * does not fill its slices. */
static sp_status large_all_reduce(sp_request *r)
{
    const sp_comm *c = r->comm;
    const int64_t size = (int64_t)size_of(r), most = PIECE_BYTES / size / c->size;
    const int64_t room = most > 1 ? most : 1;
    char *out = r->e.out;
    SP_TRY(work_of(r, room * (2 * c->size + 1)));
    char *sum = r->work + room * c->size * size, *last = sum + room * size;
    const int64_t left = r->e.n - r->at, piece = r->slice * c->size;
    if (r->phase % 2) {
        if (r->phase > 1) { /* the piece before is done */
            const int64_t n = left < piece ? left : piece;
            if (left < piece) copy(out + r->at * size, last, n * size);
            r->at += n;
        }
        const int64_t rest = r->e.n - r->at;
        if (rest <= 0) return finish(r);
        r->slice = rest >= room * c->size ? room : (rest + c->size - 1) / c->size;
        const char *in = (const char *)r->e.in + r->at * size;
        if (rest < r->slice * c->size) {
            memset(last, 0, (size_t)(r->slice * c->size * size));
            copy(last, in, rest * size);
            in = last;
        }
        OP(r, -1, all_to_all(c->handle, in, (size_t)(r->slice * size), r->work, &op_));
        return SP_OK;
    }
    sp__reduce_ranks(r->e.dtype, r->e.reduce, c->size, r->work, r->slice, r->slice, sum);
    OP(r, -1, all_gather(c->handle, sum, (size_t)(r->slice * size), left < piece ? last : out + r->at * size, &op_));
    return SP_OK;
}

static sp_status next_all_reduce(sp_request *r)
{
    if (r->bytes == 0) return finish(r);
    return r->bytes <= SMALL_BYTES ? small_all_reduce(r) : large_all_reduce(r);
}

/* --- parts to and from --------------------------------------------------------------------------------------------- */

static sp_status next_all_to_all(sp_request *r)
{
    if (r->phase > 1) return finish(r);
    const sp_comm *c = r->comm;
    const char *in = r->e.in;
    char *out = r->e.out;
    const int64_t size = (int64_t)size_of(r);
    for (int i = 0; i < c->size; i++) {
        const int64_t to = (r->e.n_to ? r->e.n_to[i] : r->e.n) * size,
                      from = (r->e.n_from ? r->e.n_from[i] : r->e.n) * size;
        if (i == c->rank) {
            copy(out, in, to);
        } else {
            SP_TRY(sp__request_recv(r, out, from, i, SP_TAG_DATA));
            SP_TRY(sp__request_send(r, in, to, i, SP_TAG_DATA));
        }
        in += to;
        out += from;
    }
    return SP_OK;
}

static sp_status next_reduce_scatter(sp_request *r)
{
    const sp_comm *c = r->comm;
    if (r->bytes == 0) return finish(r);
    if (r->phase == 1) {
        SP_TRY(work_of(r, r->e.n * c->size));
        if ((size_t)r->bytes <= sp__transport()->bytes_max) {
            OP(r, -1, all_to_all(c->handle, r->e.in, (size_t)r->bytes, r->work, &op_));
            return SP_OK;
        }
        for (int i = 0; i < c->size; i++) {
            const char *part = (const char *)r->e.in + i * r->bytes;
            if (i == c->rank) {
                copy(r->work + i * r->bytes, part, r->bytes);
                continue;
            }
            SP_TRY(sp__request_recv(r, r->work + i * r->bytes, r->bytes, i, SP_TAG_DATA));
            SP_TRY(sp__request_send(r, part, r->bytes, i, SP_TAG_DATA));
        }
        return SP_OK;
    }
    sp__reduce_ranks(r->e.dtype, r->e.reduce, c->size, r->work, r->e.n, r->e.n, r->e.out);
    return finish(r);
}

/* --- one rank and the others --------------------------------------------------------------------------------------- */

static sp_status gather_to(sp_request *r, char *out)
{
    const sp_comm *c = r->comm;
    if (c->rank != r->e.root) return sp__request_send(r, r->e.in, r->bytes, r->e.root, SP_TAG_DATA);
    for (int i = 0; i < c->size; i++) {
        if (i == c->rank) copy(out + i * r->bytes, r->e.in, r->bytes);
        else SP_TRY(sp__request_recv(r, out + i * r->bytes, r->bytes, i, SP_TAG_DATA));
    }
    return SP_OK;
}

static sp_status next_reduce(sp_request *r)
{
    const sp_comm *c = r->comm;
    if (r->phase == 1) {
        if (c->rank == r->e.root) SP_TRY(work_of(r, r->e.n * c->size));
        return gather_to(r, r->work);
    }
    if (c->rank == r->e.root) sp__reduce_ranks(r->e.dtype, r->e.reduce, c->size, r->work, r->e.n, r->e.n, r->e.out);
    return finish(r);
}

static sp_status next_gather(sp_request *r) { return r->phase == 1 ? gather_to(r, r->e.out) : finish(r); }

static sp_status next_scatter(sp_request *r)
{
    const sp_comm *c = r->comm;
    if (r->phase > 1) return finish(r);
    if (c->rank != r->e.root) return sp__request_recv(r, r->e.out, r->bytes, r->e.root, SP_TAG_DATA);
    for (int i = 0; i < c->size; i++) {
        const char *part = (const char *)r->e.in + i * r->bytes;
        if (i == c->rank) copy(r->e.out, part, r->bytes);
        else SP_TRY(sp__request_send(r, part, r->bytes, i, SP_TAG_DATA));
    }
    return SP_OK;
}

static sp_status next_message(sp_request *r)
{
    if (r->phase > 1) return finish(r);
    if (r->e.kind == SP_EXCHANGE_SEND)
        return sp__request_send(r, r->e.in, r->bytes, r->e.root, SP_TAG_USER + 2 * r->e.tag + 1);
    return sp__request_recv(r, r->e.out, r->bytes, r->e.root, SP_TAG_USER + 2 * r->e.tag + 1);
}

sp_status sp__exchange_next(sp_request *r)
{
    switch (r->e.kind) {
    case SP_EXCHANGE_ALL_REDUCE: return next_all_reduce(r);
    case SP_EXCHANGE_ALL_GATHER: return next_all_gather(r);
    case SP_EXCHANGE_REDUCE_SCATTER: return next_reduce_scatter(r);
    case SP_EXCHANGE_BROADCAST: return next_broadcast(r);
    case SP_EXCHANGE_REDUCE: return next_reduce(r);
    case SP_EXCHANGE_GATHER: return next_gather(r);
    case SP_EXCHANGE_SCATTER: return next_scatter(r);
    case SP_EXCHANGE_ALL_TO_ALL: return next_all_to_all(r);
    case SP_EXCHANGE_SEND:
    case SP_EXCHANGE_RECV: return next_message(r);
    default: return finish(r); /* a barrier is its words */
    }
}
