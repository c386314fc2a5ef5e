/* SPDX-License-Identifier: Apache-2.0 */
/* admin.c - what commands ask a server: a connection for each question. */
#include "cache/cache.h"

#include <stdlib.h>
#include <unistd.h>

/* One question. What follows the answer goes to `to`, exactly `bytes`. */
static sp_status ask_once(const char *address, const sp_cache_request *q, sp_cache_reply *r, void *to, size_t bytes)
{
    int fd;
    size_t more = 0;
    SP_TRY(sp__rowcache_connect(address, &fd));
    sp_status status = sp__rowcache_ask(fd, q, r, to, bytes, &more);
    close(fd);
    if (status == SP_OK && more != bytes)
        status = sp__fail(SP_IO, "the cache server does not understand this program; are they of one version?");
    return status;
}

static sp_cache_request request(sp_cache_kind kind, uint32_t session)
{
    return (sp_cache_request){.version = SP_CACHE_VERSION, .kind = kind, .session = session};
}

sp_status sp_cache_session_create(const char *address, uint32_t *out)
{
    const sp_cache_request q = request(SP_CACHE_SESSION_CREATE, 0);
    sp_cache_reply r;
    SP_TRY(ask_once(address, &q, &r, NULL, 0));
    *out = (uint32_t)r.number;
    return SP_OK;
}

sp_status sp_cache_session_destroy(const char *address, uint32_t session)
{
    const sp_cache_request q = request(SP_CACHE_SESSION_DESTROY, session);
    sp_cache_reply r;
    return ask_once(address, &q, &r, NULL, 0);
}

sp_status sp_cache_clear(const char *address, uint32_t session)
{
    const sp_cache_request q = request(SP_CACHE_CLEAR, session);
    sp_cache_reply r;
    return ask_once(address, &q, &r, NULL, 0);
}

sp_status sp_cache_link(const char *address, int *fd)
{
    const sp_cache_request q = request(SP_CACHE_FLUSH, 0);
    sp_cache_reply r;
    SP_TRY(sp__rowcache_connect(address, fd));
    const sp_status status = sp__rowcache_ask(*fd, &q, &r, NULL, 0, NULL); /* it has been let in */
    if (status != SP_OK) close(*fd);
    return status;
}

sp_status sp_cache_stop(const char *address)
{
    const sp_cache_request q = request(SP_CACHE_STOP, 0);
    sp_cache_reply r;
    int fd;
    char rest;
    SP_TRY(sp__rowcache_connect(address, &fd));
    const sp_status status = sp__rowcache_ask(fd, &q, &r, NULL, 0, NULL);
    /* The connection ends when the server has given up its name. */
    const int64_t end = status == SP_OK ? sp__rowcache_receive(fd, &rest, 1, 0, NULL, NULL, 60000) : 0;
    close(fd);
    SP_TRY(status);
    SP_CHECK(end <= 0, SP_IO, "the cache server has answered, but does not end");
    return SP_OK;
}

sp_status sp_cache_describe(const char *address, sp_cache_info *out)
{
    const sp_cache_request q = request(SP_CACHE_INFO, 0);
    sp_cache_reply r;
    SP_TRY(ask_once(address, &q, &r, out, sizeof *out));
    out->spill_folder[sizeof out->spill_folder - 1] = '\0';
    return SP_OK;
}

/* Entries come a packet at a time. */
static sp_status list_over(int fd, sp_cache_entry **list, int *n)
{
    uint64_t have = 0, all = 1;
    while (have < all) {
        sp_cache_request q = request(SP_CACHE_ENTRIES, 0);
        sp_cache_reply r;
        sp_cache_entry some[SP_CACHE_LIST];
        size_t more = 0;
        q.a = have;
        SP_TRY(sp__rowcache_ask(fd, &q, &r, some, sizeof some, &more));
        const uint64_t came = more / sizeof *some;
        all = r.number;
        if (came == 0) break; /* some were dropped meanwhile */
        SP_CHECK(have + came <= 1 << 24, SP_IO, "the cache server lists too many caches");
        sp_cache_entry *longer = realloc(*list, (size_t)(have + came) * sizeof **list);
        SP_CHECK(longer, SP_NOMEM, "out of memory for the list of caches");
        memcpy(longer + have, some, (size_t)came * sizeof *some);
        *list = longer;
        have += came;
    }
    *n = (int)have;
    return SP_OK;
}

sp_status sp_cache_list(const char *address, sp_cache_entry **list, int *n)
{
    int fd;
    *list = NULL;
    *n = 0;
    SP_TRY(sp__rowcache_connect(address, &fd));
    const sp_status status = list_over(fd, list, n);
    close(fd);
    if (status != SP_OK) {
        free(*list);
        *list = NULL;
        *n = 0;
    }
    return status;
}
