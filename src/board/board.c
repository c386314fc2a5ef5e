/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - the requests of the page that shows event files.
 *
 *     GET /                       the page
 *     GET /files                  {"folder": ..., "files": [{"path": "run/events...", "bytes": n}, ...]}
 *     GET /data/PATH?from=N       the bytes of that file from N on, at most PIECE_BYTES
 *
 * Only files whose name has "tfevents" in it are told and given, and only below the folder. Nothing is kept between requests. */
#include "base/base.h"
#include "base/plain.h"
#include "base/text.h"
#include "net/net.h"
#include "spore/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 4 << 20, FILES_MAX = 10000, DEPTH_MAX = 6, PATH_BYTES = 4096, CONNECTIONS_MAX = 256 };

/* page.html, made part of the library by the build. */
extern const unsigned char sp__board_page[];
extern const size_t sp__board_page_bytes;

struct sp_board {
    sp_net *net;
    char folder[PATH_BYTES];
};

static void give(sp_exchange *x, const char *type, void *body, size_t bytes)
{
    if (!body) {
        sp__exchange_starved(x);
        return;
    }
    sp__free(x->reply.body);
    x->reply.status = 200;
    x->reply.type = type;
    x->reply.headers[0] = (sp_net_header){"cache-control", "no-store"};
    x->reply.headers[1] = (sp_net_header){"x-content-type-options", "nosniff"};
    x->reply.body = body;
    x->reply.body_bytes = bytes;
}

/* --- which files there are --------------------------------------------------------------------------------------- */

static bool is_event_file(const char *name) { return strstr(name, "tfevents") != NULL; }

/* false: no memory; a folder that cannot be read for another reason has no files. */
static bool list_folder(sp__text *t, char *path, size_t root, int depth, int *n)
{
    DIR *folder = opendir(path);
    bool enough = folder || errno != ENOMEM;
    const size_t used = strlen(path);
    const struct dirent *e;
    while (folder && enough && *n < FILES_MAX && (e = readdir(folder)) != NULL) {
        struct stat s;
        if (e->d_name[0] == '.' || used + strlen(e->d_name) + 2 > PATH_BYTES) continue;
        sp__snprintf(path + used, PATH_BYTES - used, "/%s", e->d_name);
        if (stat(path, &s) != 0) s.st_mode = 0; /* gone meanwhile */
        if (S_ISDIR(s.st_mode)) {
            if (depth < DEPTH_MAX) enough = list_folder(t, path, root, depth + 1, n);
        } else if (S_ISREG(s.st_mode) && is_event_file(e->d_name)) {
            sp__text_put(t, "%s{\"path\": ", (*n)++ ? ", " : "");
            sp__text_json(t, path + root + 1);
            sp__text_put(t, ", \"bytes\": %lld}", (long long)s.st_size);
        }
        path[used] = '\0';
    }
    if (folder) closedir(folder);
    return enough;
}

static void give_list(const sp_board *b, sp_exchange *x)
{
    char *path = sp__strdup(b->folder), *body = NULL,
         *room = path ? sp__realloc(path, strlen(path) + 1, PATH_BYTES) : NULL;
    sp__text t = {0};
    int n = 0;
    if (!room) {
        sp__free(path);
        sp__exchange_starved(x);
        return;
    }
    sp__text_put(&t, "{\"folder\": ");
    sp__text_json(&t, b->folder);
    sp__text_put(&t, ", \"files\": [");
    const bool whole = list_folder(&t, room, strlen(room), 0, &n);
    sp__text_put(&t, "]}");
    sp__free(room);
    const size_t bytes = t.used;
    if (sp__text_take(&t, &body) != SP_OK) body = NULL;
    if (!whole) {
        sp__free(body);
        body = NULL;
    }
    give(x, "application/json", body, bytes);
}

/* --- parts of files ---------------------------------------------------------------------------------------------- */

static int hex(char c)
{
    return sp__is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %20 and its like; false: wrong, or too long. */
static bool decode(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; *text && n + 1 < room; text++) {
        if (*text != '%') {
            out[n++] = *text;
            continue;
        }
        const int high = hex(text[1]), low = high < 0 ? -1 : hex(text[2]);
        if (low < 0 || (high == 0 && low == 0)) return false;
        out[n++] = (char)(high * 16 + low);
        text += 2;
    }
    out[n] = '\0';
    return *text == '\0';
}

/* Below the folder: no part of the path leads up or is hidden. */
static bool is_below(const char *path)
{
    for (const char *part = path;; part = strchr(part, '/') + 1) {
        if (*part == '.' || *part == '/' || *part == '\0') return false;
        if (!strchr(part, '/')) return is_event_file(part);
    }
}

static void give_piece(const sp_board *b, sp_exchange *x, const char *name)
{
    char path[PATH_BYTES];
    struct stat s;
    const long long from = strncmp(x->query, "from=", 5) == 0 ? strtoll(x->query + 5, NULL, 10) : 0;
    sp__snprintf(path, sizeof path, "%s/", b->folder);
    char *below = path + strlen(path);
    if (!decode(name, below, sizeof path - strlen(path)) || !is_below(below) || from < 0) {
        sp__exchange_refuse(x, 404, "no such event file");
        return;
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
        if (fd >= 0) close(fd);
        sp__exchange_refuse(x, 404, "no such event file");
        return;
    }
    const size_t wanted = from >= s.st_size                ? 0
                          : s.st_size - from > PIECE_BYTES ? PIECE_BYTES
                                                           : (size_t)(s.st_size - from);
    uint8_t *body = sp__alloc(wanted);
    size_t n = 0;
    while (body && n < wanted) {
        const ssize_t got = pread(fd, body + n, wanted - n, (off_t)(from + (long long)n));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break; /* it became shorter */
        n += (size_t)got;
    }
    close(fd);
    give(x, "application/octet-stream", body, n);
}

/* --- the server -------------------------------------------------------------------------------------------------- */

static void handle(void *context, sp_exchange *x)
{
    const sp_board *b = context;
    if (strcmp(x->method, "GET") != 0 && strcmp(x->method, "HEAD") != 0) {
        sp__exchange_refuse(x, 405, "the board answers GET only");
    } else if (strcmp(x->path, "/") == 0) {
        uint8_t *page = sp__alloc(sp__board_page_bytes);
        if (page) memcpy(page, sp__board_page, sp__board_page_bytes);
        give(x, "text/html; charset=utf-8", page, sp__board_page_bytes);
    } else if (strcmp(x->path, "/files") == 0) {
        give_list(b, x);
    } else if (strncmp(x->path, "/data/", 6) == 0) {
        give_piece(b, x, x->path + 6);
    } else {
        sp__exchange_refuse(x, 404, "there is nothing at this address; the page is /");
    }
    sp__exchange_reply(x);
}

sp_status sp_board_create(const char *folder, const char *host, int port, sp_board **out)
{
    struct stat s;
    SP_CHECK(folder && out, SP_VALUE, "folder and out must not be NULL");
    SP_CHECK(port >= 0 && port <= 65535, SP_VALUE, "port %d is not from 0 to 65535", port);
    SP_CHECK(stat(folder, &s) == 0, SP_IO, "%s cannot be read: %s", folder, sp__strerror(errno));
    SP_CHECK(S_ISDIR(s.st_mode), SP_IO, "%s is no folder; the board wants the one that event files are written to",
             folder);
    SP_CHECK(strlen(folder) + 256 < PATH_BYTES, SP_VALUE, "the name of the folder is too long");
    sp_board *b = sp__alloc_zero(sizeof *b);
    if (!b) return SP_NOMEM;
    sp__snprintf(b->folder, sizeof b->folder, "%s", folder);
    for (size_t n = strlen(b->folder); n > 1 && b->folder[n - 1] == '/'; n--) b->folder[n - 1] = '\0';
    const sp_net_options o = {.host = host ? host : "127.0.0.1",
                              .port = port,
                              .max_body_bytes = 4096,
                              .max_memory_bytes = 1 << 20,
                              .max_connections = CONNECTIONS_MAX,
                              .idle_seconds = 75,
                              .receive_seconds = 30,
                              .drain_seconds = 2,
                              .leave_seconds = 0,
                              .handle = handle,
                              .context = b};
    sp_status status = sp__net_create(&o, &b->net);
    if (status == SP_OK) status = sp__net_start(b->net);
    if (status == SP_OK) {
        *out = b;
        return SP_OK;
    }
    sp__net_release(b->net);
    sp__free(b);
    return status;
}

int sp_board_port(const sp_board *board) { return board ? sp__net_port(board->net) : 0; }
void sp_board_stop(sp_board *board)
{
    if (board) sp__net_stop(board->net);
}
void sp_board_wait(sp_board *board)
{
    if (board) sp__net_wait(board->net);
}

void sp_board_release(sp_board *board)
{
    if (!board) return;
    sp__net_stop(board->net);
    sp__net_wait(board->net);
    sp__net_release(board->net);
    sp__free(board);
}
