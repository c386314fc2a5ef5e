/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rowcache.c - any bytes as what clients of the dataset cache send, and as rows that others have written. A server is asked by two clients with
 * packets cut out of the input; its figures must stay sums of what is there. Rows are read, or refused with a message.
 *
 * With clang: clang -fsanitize=fuzzer,address,undefined ... fuzz/fuzz_rowcache.c. Without: tests/cache/test_fuzz_rowcache.c runs it over samples. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cache/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_rowcache: %s (%s)\n", what, sp_error_message());
    abort();
}

static void drain(int fd)
{
    uint8_t packet[sizeof(sp_cache_reply) + SP_CACHE_LIST * sizeof(sp_cache_entry)];
    int files[SP_CACHE_FILES], n = 0;
    while (sp__rowcache_receive(fd, packet, sizeof packet, SP_CACHE_FILES, files, &n, 0) > 0)
        for (int i = 0; i < n; i++) close(files[i]);
}

static uint32_t new_session(sp_cache_server *s, sp_cache_client *c, int fd)
{
    const sp_cache_request q = {.version = SP_CACHE_VERSION, .kind = SP_CACHE_SESSION_CREATE};
    sp_cache_reply r;
    must(sp__rowcache_server_packet(s, c, &q, sizeof q), "no session");
    must(sp__rowcache_receive(fd, &r, sizeof r, 0, NULL, NULL, 0) == (int64_t)sizeof r && r.answer == SP_CACHE_DONE,
         "no answer");
    return (uint32_t)r.number;
}

/* Packets: a byte chooses the client, the rest is the request's bytes, with numbers kept small half of the time so that they mean something. */
static void fuzz_server(const uint8_t *data, size_t bytes)
{
    static unsigned count;
    char address[40];
    sp_cache_server *s = NULL;
    int ends[2][2];
    sp_cache_client *clients[2];
    snprintf(address, sizeof address, "fuzz-%ld-%u", (long)getpid(), count++);
    const sp_cache_server_options o = {.address = address, .max_bytes = 1 << 22};
    must(sp_cache_server_create(&o, &s) == SP_OK, "no server");
    for (int i = 0; i < 2; i++) {
        must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends[i]) == 0, "no sockets");
        clients[i] = sp__rowcache_server_client(s, ends[i][0]);
        must(clients[i] != NULL, "no client");
    }
    const uint32_t session = new_session(s, clients[0], ends[0][1]);
    while (bytes > 1 && (clients[0] || clients[1])) {
        const int who = data[0] & 1;
        const size_t whole = sizeof(sp_cache_request), n = data[0] & 2 ? whole : data[0] >> 2;
        sp_cache_request q = {.version = SP_CACHE_VERSION};
        const size_t take = bytes - 1 < n ? bytes - 1 : n;
        memcpy(&q, data + 1, take < whole ? take : whole);
        if (data[0] & 4) {
            q.version = SP_CACHE_VERSION;
            q.kind %= SP_CACHE_KINDS;
            if (q.kind == SP_CACHE_OPEN) q.a %= 1000;
        }
        if (q.kind == SP_CACHE_OPEN && q.a > 100000) q.a = 100000;
        if (q.session == 1) q.session = session;
        data += 1 + take;
        bytes -= 1 + take;
        if (!clients[who]) continue;
        if (!sp__rowcache_server_packet(s, clients[who], &q, data[-1] & 0x40 ? whole : n)) {
            sp__rowcache_server_drop(s, clients[who]);
            clients[who] = NULL;
        }
        drain(ends[who][1]);
    }
    sp_cache_server_release(s);
    for (int i = 0; i < 2; i++) close(ends[i][1]);
}

static void fuzz_row(const uint8_t *data, size_t bytes)
{
    const int64_t dims = (int64_t)bytes, step = 1;
    sp_tensor *memory = NULL, *cells[3] = {NULL};
    uint8_t *copy = malloc(bytes + 1);
    memcpy(copy, data, bytes);
    must(sp_tensor_wrap(SP_DTYPE_U8, 1, &dims, &step, copy, NULL, NULL, &memory) == SP_OK, "no tensor");
    for (int n = 1; n <= 3; n++) {
        if (sp__rowcache_row_read(copy, bytes, memory->storage, n, cells) != SP_OK) {
            must(sp_error_message()[0] != '\0', "refused without a message");
            continue;
        }
        for (int i = 0; i < n; i++) {
            must((uint8_t *)cells[i]->data >= copy &&
                     (uint8_t *)cells[i]->data + sp_tensor_bytes(cells[i]) <= copy + bytes,
                 "a cell outside of its row");
            sp_tensor_release(cells[i]);
        }
    }
    sp_tensor_release(memory);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 2) return 0;
    if (data[0] & 1) fuzz_server(data + 1, bytes - 1);
    else fuzz_row(data + 1, bytes - 1);
    return 0;
}
