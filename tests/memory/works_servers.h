/* SPDX-License-Identifier: Apache-2.0 */
/* works_servers.h - kinds of work for works.h, which includes it: the model server, the page of a training, the cache of rows. */
#ifndef SPORE_TEST_WORKS_SERVERS_H
#define SPORE_TEST_WORKS_SERVERS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>

#include "spore/board.h"
#include "spore/cache.h"

/* --- serving ------------------------------------------------------------------------------------------------------- */

static char serve_socket[100];

static int connect_to(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memcpy(to.sun_path, serve_socket, sizeof serve_socket);
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return -1;
    if (connect(s, (const struct sockaddr *)&to, sizeof to) == 0) return s;
    close(s);
    return -1;
}

/* Send a request and read the answer to the end of the connection. */
static size_t ask(const char *request, size_t request_bytes, char *answer, size_t room)
{
    const int s = connect_to();
    size_t n = 0;
    if (s >= 0 && send(s, request, request_bytes, MSG_NOSIGNAL) == (ssize_t)request_bytes)
        for (ssize_t k; n < room - 1 && (k = read(s, answer + n, room - 1 - n)) > 0;) n += (size_t)k;
    if (s >= 0) close(s);
    answer[n] = '\0';
    return n;
}

/* An answer of 200, or one that tells that memory is short; a server without memory for the connection may just end that. What the answer
 * holds from `from` on must be the same each time; NULL: it tells of times. */
static sp_status answered(const char *request, size_t bytes, const char *from, uint64_t *digest)
{
    static char answer[1 << 18];
    const size_t got = ask(request, bytes, answer, sizeof answer);
    if (got == 0) return sp__fail(SP_NOMEM, "connection ended: no memory");
    const char *said = strstr(answer, "\r\n\r\n"); /* without memory messages are short */
    if (strncmp(answer, "HTTP/1.1 200", 12) == 0 && said) {
        const char *found = from ? strstr(said, from) : NULL;
        if (found) add_bytes(digest, found, strlen(found));
        return SP_OK;
    }
    if (said && strncmp(answer, "HTTP/1.1 503", 12) == 0) return sp__fail(SP_NOMEM, "%s", said + 4);
    return sp__fail(SP_RUNTIME, "%s", answer);
}

static sp_status ask_model(uint64_t *digest)
{
    static char body[4096], request[8192];
    size_t n = (size_t)snprintf(
        body, sizeof body,
        "{\"inputs\":[{\"name\":\"x\",\"shape\":[3,6],\"datatype\":\"FP32\",\"data\":[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9]}]}");
    n = (size_t)snprintf(
        request, sizeof request,
        "POST /v2/models/mlp/infer HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
        n, body);
    return answered(request, n, "\"outputs\"", digest);
}

static sp_status serve_start(sp_server **server)
{
    snprintf(serve_socket, sizeof serve_socket, "%s/serve%d", scratch, (int)getpid());
    SP_TRY(sp_server_create(
        &(sp_server_options){.no_tcp = true, .unix_path = serve_socket, .poll_seconds = -1, .drain_seconds = 1},
        server));
    SP_TRY(sp_server_start(*server));
    return sp_server_add_model(*server, "mlp", FORMATS "onnx/mlp.onnx");
}

static sp_status serve(uint64_t *digest)
{
    sp_server *s = NULL;
    sp_status status = serve_start(&s);
    if (status == SP_OK) status = ask_model(digest);
    if (s) sp_server_stop(s);
    sp_server_release(s);
    unlink(serve_socket);
    return status;
}

/* One server for both runs: it must live on. */
static sp_server *living;
static sp_status serve_before(void) { return serve_start(&living); }

/* Everything else that a server tells, in each of its protocols. */
static sp_status serve_answers(uint64_t *digest)
{
    static const struct {
        const char *method, *path, *body, *same;
    } all[] = {
        {"GET", "/v2", "", "{"},
        {"GET", "/v2/models", "", "{"},
        {"GET", "/v2/models/mlp", "", "\"inputs\""},
        {"GET", "/v2/models/mlp/config", "", "\"max_batch_size\""},
        {"GET", "/v2/models/mlp/stats", "", NULL},
        {"POST", "/v2/repository/index", "{}", "["},
        {"GET", "/v1/models/mlp", "", "{"},
        {"POST", "/v1/models/mlp:predict", "{\"instances\":[[1,2,3,4,5,6],[1,2,3,4,5,6],[1,2,3,4,5,6]]}", "{"},
        {"GET", "/openapi.json", "", "{"},
        {"GET", "/metrics", "", NULL},
        {"GET", "/", "", NULL},
        {"POST", "/v2/repository/models/mlp/load", "{}", NULL},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char request[1024];
        const size_t n =
            (size_t)snprintf(request, sizeof request,
                             "%s %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip;q=0\r\nContent-Length: %zu\r\n"
                             "Connection: close\r\n\r\n%s",
                             all[i].method, all[i].path, strlen(all[i].body), all[i].body);
        const sp_status status = answered(request, n, all[i].same, digest);
        if (status != SP_OK) return sp__error_context("%s", all[i].path), status;
    }
    return SP_OK;
}

/* Models and settings from a configuration file. */
static sp_status serve_config(uint64_t *digest)
{
    sp_serve_config *c = NULL;
    sp_server *s = NULL;
    const sp_model_config *models = NULL;
    sp_status status = sp_serve_config_load(in_scratch("serve.json"), &c);
    const int n = status == SP_OK ? sp_serve_config_models(c, &models) : 0;
    snprintf(serve_socket, sizeof serve_socket, "%s/serve%d", scratch, (int)getpid());
    if (status == SP_OK)
        status = sp_server_create(
            &(sp_server_options){
                .no_tcp = true, .unix_path = serve_socket, .poll_seconds = -1, .drain_seconds = 1, .cors = "*"},
            &s);
    if (status == SP_OK) status = sp_server_start(s);
    if (status == SP_OK) status = sp_server_set_models(s, n, models);
    if (status == SP_OK) status = ask_model(digest);
    if (s) sp_server_stop(s);
    sp_server_release(s);
    sp_serve_config_release(c);
    unlink(serve_socket);
    return status;
}

/* --- the page of a training ------------------------------------------------------------------------------------------ */

/* On a port: the board has no other sockets. */
static sp_status ask_board(int port, const char *path, uint64_t *digest)
{
    static char request[256], answer[1 << 18];
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int bytes =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t n = 0;
    if (s >= 0 && connect(s, (const struct sockaddr *)&to, sizeof to) == 0 &&
        send(s, request, (size_t)bytes, MSG_NOSIGNAL) == bytes)
        for (ssize_t k; n < sizeof answer - 1 && (k = read(s, answer + n, sizeof answer - 1 - n)) > 0;) n += (size_t)k;
    if (s >= 0) close(s);
    answer[n] = '\0';
    if (n == 0) return sp__fail(SP_NOMEM, "connection ended: no memory");
    const char *body = strstr(answer, "\r\n\r\n");
    if (!body) return sp__fail(SP_RUNTIME, "no answer: %s", answer);
    if (strncmp(answer, "HTTP/1.1 503", 12) == 0) return sp__fail(SP_NOMEM, "%s", body + 4);
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0) return sp__fail(SP_RUNTIME, "%s: %s", path, answer);
    add_bytes(digest, body, n - (size_t)(body - answer));
    return SP_OK;
}

static sp_status board(uint64_t *digest)
{
    sp_board *b = NULL;
    sp_status status = sp_board_create(in_scratch("events"), NULL, 0, &b);
    if (status == SP_OK) status = ask_board(sp_board_port(b), "/", digest);
    if (status == SP_OK) status = ask_board(sp_board_port(b), "/files", digest);
    if (status == SP_OK) status = ask_board(sp_board_port(b), "/data/run.tfevents.1", digest);
    sp_board_release(b);
    return status;
}

/* --- the cache of rows ------------------------------------------------------------------------------------------------ */

static char cache_address[64];
static void say_nothing(const char *text) { (void)text; }

/* Two epochs through a cache: written, then read. A cache without memory is one that keeps nothing; rows are the same. */
static sp_status cached_rows(uint64_t *digest)
{
    static const char *const paths[] = {IMAGES "flower.bmp", IMAGES "flower.gif", FORMATS "onnx/mlp.onnx"};
    uint32_t session = 0;
    sp_cache *cache = NULL;
    sp_dataset *files = NULL, *kept = NULL;
    sp_status status = sp_cache_session_create(cache_address, &session);
    const bool made = status == SP_OK;
    const sp_cache_options o = {.address = cache_address, .session = session, .report = say_nothing};
    if (status == SP_OK) status = sp_cache_create(&o, &cache);
    if (status == SP_OK)
        status = sp_dataset_from_files(3, 1, paths, 1, NULL, (const char *const[]){"bytes"}, &(sp_order){0}, &files);
    if (status == SP_OK) status = sp_dataset_cache(files, cache, "version 1", &kept);
    for (int i = 0; status == SP_OK && i < 2; i++) status = read_rows(kept, 0, digest);
    sp_dataset_release(kept);
    sp_dataset_release(files);
    sp_cache_release(cache);
    if (made) {
        sp_error was;
        sp_error_capture(status, &was);
        const sp_status ended = sp_cache_session_destroy(cache_address, session);
        if (status == SP_OK) status = ended;
        else sp_error_raise(&was);
    }
    return status;
}

static void *run_cache(void *server)
{
    sp_cache_server_run(server);
    return NULL;
}

static sp_status cache_create(const char *name, sp_cache_server **out)
{
    snprintf(cache_address, sizeof cache_address, "%s-%ld", name, (long)getpid());
    return sp_cache_server_create(&(sp_cache_server_options){.address = cache_address, .max_bytes = 4 << 20}, out);
}

/* The server has memory: it is a process of its own, which ends with this one's last connection. */
static sp_status cache_before(void)
{
    static int link = -1;
    sp_cache_server *server = NULL;
    snprintf(cache_address, sizeof cache_address, "client-%ld", (long)getpid());
    const sp_cache_server_options o = {.address = cache_address, .max_bytes = 4 << 20, .until_unused = true};
    SP_TRY(sp_cache_server_create(&o, &server));
    const pid_t child = fork();
    if (child == 0) {
        sp_cache_server_run(server);
        _exit(0);
    }
    SP_CHECK(child > 0, SP_IO, "no process for the cache");
    SP_TRY(sp_cache_link(cache_address, &link));
    sp_cache_server_release(server);
    return SP_OK;
}
static sp_status cache_client(uint64_t *digest) { return cached_rows(digest); }

/* It is on a thread of the same process, and starves, too: what it says then is a RuntimeError, as MindSpore's. */
static sp_status cache_server(uint64_t *digest)
{
    sp_cache_server *server = NULL;
    pthread_t thread;
    SP_TRY(cache_create("server", &server));
    if (pthread_create(&thread, NULL, run_cache, server) != 0) {
        sp_cache_server_release(server);
        return sp__fail(SP_NOMEM, "no memory for a thread");
    }
    sp_status status = cached_rows(digest);
    if (status == SP_RUNTIME && strstr(sp_error_message(), "the cache server has no memory left")) status = SP_NOMEM;
    if (status != SP_OK && strstr(sp_error_message(), "the cache server does not answer"))
        status = sp__fail(SP_NOMEM, "connection ended: no memory");
    sp_cache_server_stop(server);
    pthread_join(thread, NULL);
    sp_cache_server_release(server);
    return status;
}

/* --- files for them --------------------------------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (f) fputs(text, f), fclose(f);
}

static void servers_make(void)
{
    char here[300] = "", text[800], folder[200];
    if (!getcwd(here, sizeof here)) return;
    snprintf(text, sizeof text,
             "{\"lame_duck\": 0, \"models\": [{\"name\": \"mlp\", \"path\": \"%s/" FORMATS
             "onnx/mlp.onnx\", \"max_queue\": 7, \"warm_up\": \"x:3x6\"}]}",
             here);
    write_text(in_scratch("serve.json"), text);
    snprintf(folder, sizeof folder, "%s", in_scratch("events"));
    mkdir(folder, 0700);
    write_text(in_scratch("events/run.tfevents.1"), "not an event file, but given as it is");
}

#endif
