/* SPDX-License-Identifier: Apache-2.0 */
/* cache_admin.c - `dataset-cache` and `cache_admin`: MindSpore's command for the cache server, with its options, outputs and exit codes. */
#define _POSIX_C_SOURCE 200809L

#include "cache.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS_MAX = 256, NAME_WIDTH = 20, VALUE_WIDTH = 50 };

typedef enum { NONE, HELP, START, STOP, GENERATE, DESTROY, LIST, INFO } command;

typedef struct {
    const char *name; /* of the program */
    command what;
    const char *host, *spill;
    long long port, workers, level, shared;
    double ratio;
    bool workers_given;
    unsigned given; /* bits of options and commands */
    int n_sessions;
    uint32_t sessions[SESSIONS_MAX];
} request;

static int complain(const char *text)
{
    fprintf(stderr, "%s\n", text);
    return EXIT_FAILED;
}

static void print_syntax(const char *name)
{
    fprintf(stderr,
            "Syntax:\n%s [--start | --stop]\n"
            "                [[-h | --hostname] <hostname>]            Default is 127.0.0.1.\n"
            "                [[-p | --port] <port number>]             Default is 50052.\n"
            "                [[-w | --workers] <number of workers>]    Default is %d.\n"
            "                [[-s | --spilldir] <spilling directory>]  Default is no spilling.\n"
            "                [[-l | --loglevel] <log level>]           Default is 1 (INFO level).\n"
            "            [--destroy_session  | -d] <session id>\n                [[-p | --port] <port number>]\n"
            "            [--generate_session | -g]\n                [[-p | --port] <port number>]\n"
            "            [--list_sessions]\n                [[-p | --port] <port number>]\n"
            "            [--server_info]\n                [[-p | --port] <port number>]\n"
            "            [--help]\n",
            name, cache_workers());
}

/* --- the command line ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *words[2];
    command what;
} commands[] = {{{"--start", NULL}, START},
                {{"--stop", NULL}, STOP},
                {{"--generate_session", "-g"}, GENERATE},
                {{"--destroy_session", "-d"}, DESTROY},
                {{"--list_sessions", NULL}, LIST},
                {{"--server_info", NULL}, INFO},
                {{"--help", NULL}, HELP}};

enum { HOST, PORT, WORKERS, SPILL, LEVEL, SHARED, RATIO, N_OPTIONS };
static const char *const options[N_OPTIONS][2] = {{"--hostname", "-h"},        {"--port", "-p"},
                                                  {"--workers", "-w"},         {"--spilldir", "-s"},
                                                  {"--loglevel", "-l"},        {"--shared_memory_size", "-m"},
                                                  {"--memory_cap_ratio", "-r"}};

static bool is_one_of(const char *word, const char *const names[2])
{
    return strcmp(word, names[0]) == 0 || (names[1] != NULL && strcmp(word, names[1]) == 0);
}

static int once(request *r, int bit, const char *word)
{
    if (r->given & 1u << bit) {
        fprintf(stderr, "The %s argument was given more than once.\n", word);
        return EXIT_FAILED;
    }
    r->given |= 1u << bit;
    return 0;
}

static int need_field(const char *word)
{
    fprintf(stderr, "%s option requires an argument field.  Syntax: %s <field>\n", word, word);
    return EXIT_FAILED;
}

static int read_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0') return 0;
    fprintf(stderr, "Invalid numeric value: %s\n", text);
    return EXIT_FAILED;
}

static int take_option(request *r, int which, const char *value)
{
    double n = 0;
    if (which == HOST) r->host = value;
    else if (which == SPILL) r->spill = value;
    else if (read_number(value, &n) != 0) return EXIT_FAILED;
    if (n > 1e15 || n < -1e15) n = -1;
    if (which == PORT) r->port = (long long)n;
    if (which == WORKERS) r->workers = (long long)n;
    if (which == LEVEL) r->level = (long long)n;
    if (which == SHARED) r->shared = (long long)n;
    if (which == RATIO) r->ratio = n;
    return 0;
}

/* Numbers behind -d: as many as there are. */
static int take_sessions(request *r, int argc, char **argv, int *at, const char *word)
{
    while (*at + 1 < argc && r->n_sessions < SESSIONS_MAX) {
        char *end;
        errno = 0;
        const unsigned long long id = strtoull(argv[*at + 1], &end, 10);
        if (end == argv[*at + 1] || *end != '\0' || errno != 0) break;
        r->sessions[r->n_sessions++] = (uint32_t)id;
        ++*at;
    }
    return r->n_sessions ? 0 : need_field(word);
}

static int take_command(request *r, command what, const char *word)
{
    if (once(r, 16 + (int)what, word) != 0) return EXIT_FAILED;
    if (r->what != NONE && what != HELP) {
        fprintf(stderr, "Only one command at a time is allowed.  Invalid command: %s\n", word);
        return EXIT_FAILED;
    }
    r->what = what;
    return 0;
}

static int take_word(request *r, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (is_one_of(word, commands[i].words)) {
            const int code = take_command(r, commands[i].what, word);
            return code != 0 || commands[i].what != DESTROY ? code : take_sessions(r, argc, argv, at, word);
        }
    for (int i = 0; i < N_OPTIONS; i++)
        if (is_one_of(word, options[i])) {
            if (once(r, i, word) != 0) return EXIT_FAILED;
            if (*at + 1 >= argc) return need_field(word);
            return take_option(r, i, argv[++*at]);
        }
    fprintf(stderr, "Invalid arguments provided:  %s\nPlease try `%s --help` for more information\n", word, r->name);
    return EXIT_FAILED;
}

/* In MindSpore's order, which is that of its messages when several are wrong. */
static int check(const request *r)
{
    if (strcmp(r->host, "127.0.0.1") != 0) {
        fprintf(stderr, "Invalid host interface: %s. Current limitation, only 127.0.0.1 can be used.\n", r->host);
        return EXIT_FAILED;
    }
    if (r->workers < 1 || r->workers > 100) return complain("Number of workers must be in range of 1 and 100.");
    if (r->level < 0 || r->level > 4) return complain("Log level must be in range (0..4).");
    if (!(r->ratio > 0 && r->ratio <= 1)) return complain("Memory cap ratio should be positive and no greater than 1");
    if (r->port < 1025 || r->port > 65535) return complain("Port must be in range (1025..65535).");
    if (r->shared < 1) return complain("Shared memory size (in GB unit) must be positive");
    return 0;
}

/* --- what it does -------------------------------------------------------------------------------------------------------------- */

static int start(const request *r, const char *port)
{
    cache_start s = {.o = {.address = port,
                           .spill_folder = r->spill,
                           .n_workers = (int)r->workers,
                           .log_level = (int)r->level,
                           .max_ratio = r->ratio}};
    char failure[512];
    pid_t pid = 0;
    if (r->spill != NULL && r->spill[0] != '/') return complain("Spilling directory must be an absolute path");
    if (cache_daemon(&s, &pid, failure) != 0) {
        if (strstr(failure, "already up and running") != NULL)
            return complain("Duplicate key. Cache server is already up and running");
        return complain(failure);
    }
    printf(
        "Cache server startup completed successfully!\nThe cache server daemon has been created as process id %ld and listening on port %s.\n",
        (long)pid, port);
    if (r->given & 1u << WORKERS)
        printf("WARNING: the number of workers is not needed: rows are read and written by their clients\n");
    if (r->given & 1u << SHARED)
        printf(
            "WARNING: the size of shared memory is not needed: memory is taken as rows come, --memory_cap_ratio limits it\n");
    printf(
        "\nRecommendation:\nSince the server is detached into its own daemon process, ask it how it is with `%s --server_info`; `spore cache start --log FILE` writes a log\n",
        r->name);
    return 0;
}

static int stop(const char *port)
{
    if (sp_cache_stop(port) != SP_OK) {
        fprintf(stderr, "Server on port %s is not reachable or has been shutdown already.\n", port);
        return EXIT_FAILED;
    }
    printf("Cache server on port %s has been stopped successfully.\n", port);
    return 0;
}

/* The engine's words are the reason; MindSpore's come first, for scripts that look for them. */
static int unreachable(const char *port)
{
    if (strstr(sp_error_message(), "unreachable") == NULL) return complain(sp_error_message());
    fprintf(
        stderr,
        "Network error. Cache server with port %s is unreachable. Make sure the server is running or started under the same user as the client.\n",
        port);
    return EXIT_FAILED;
}

static int destroy(const request *r, const char *port)
{
    for (int i = 0; i < r->n_sessions; i++) {
        const uint32_t id = r->sessions[i];
        if (sp_cache_session_destroy(port, id) != SP_OK) {
            if (strstr(sp_error_message(), "not found") == NULL) return unreachable(port);
            fprintf(stderr, "Unexpected error. Session id %u not found in server on port %s.\n", id, port);
            return EXIT_FAILED;
        }
        printf("Drop session %u successfully for server on port %s\n", id, port);
    }
    return 0;
}

static void print_count(uint64_t n, int width)
{
    if (n) printf("%*llu", width, (unsigned long long)n);
    else printf("%*s", width, "n/a");
}

static int list(const char *port)
{
    sp_cache_entry *entries;
    int n;
    printf("Listing sessions for server on port %s\n\n", port);
    if (sp_cache_list(port, &entries, &n) != SP_OK) return unreachable(port);
    if (n == 0) printf("No active sessions.\n");
    else
        printf("%12s%12s%12s%12s%16s%10s\n", "Session", "Cache Id", "Mem cached", "Disk cached", "Avg cache size",
               "Numa hit");
    for (int i = 0; i < n; i++) {
        const sp_cache_figures *f = &entries[i].figures;
        print_count(entries[i].session, 12);
        print_count(entries[i].id, 12);
        print_count(f->rows_in_memory, 12);
        print_count(f->rows_on_disk, 12);
        print_count(f->row_bytes, 16);
        print_count(0, 10);
        printf("\n");
    }
    free(entries);
    return 0;
}

static void print_row(const char *name, const char *value)
{
    printf("%-*s%-*s\n", NAME_WIDTH, name, VALUE_WIDTH, value);
}

static int info(const request *r, const char *port)
{
    static const char line[] = "----------------------------------------------------------------------";
    sp_cache_info i;
    sp_cache_entry *entries = NULL;
    char text[24];
    int n = 0;
    if (sp_cache_describe(port, &i) != SP_OK || sp_cache_list(port, &entries, &n) != SP_OK) return unreachable(port);
    printf("Cache Server Configuration: \n%s\n", line);
    print_row("config name", "value");
    printf("%s\n", line);
    print_row("hostname", "127.0.0.1");
    print_row("port", port);
    snprintf(text, sizeof text, "%d", i.n_workers);
    print_row("number of workers", text);
    snprintf(text, sizeof text, "%d", i.log_level);
    print_row("log level", text);
    print_row("spill dir", i.spill_folder[0] ? i.spill_folder : "None");
    printf("%s\nActive sessions: \n", line);
    for (int k = 0; k < n; k++)
        if (k == 0 || entries[k].session != entries[k - 1].session) printf("%u  ", entries[k].session);
    if (n == 0) printf("No active sessions.\n");
    else printf("\n(Please use '%s --list_sessions' to get detailed info of sessions.)\n", r->name);
    free(entries);
    return 0;
}

/* A number from the environment, if there is one. */
static int from_environment(const char *name, long long *out)
{
    double n;
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0') return 0;
    if (read_number(text, &n) != 0) return EXIT_FAILED;
    *out = (long long)n;
    return 0;
}

int tool_cache_admin(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    request r = {.name = slash != NULL ? slash + 1 : argv[0],
                 .host = "127.0.0.1",
                 .port = 50052,
                 .workers = cache_workers(),
                 .level = 1,
                 .shared = 4,
                 .ratio = 0.8};
    char port[24];
    if (argc < 2) {
        print_syntax(r.name);
        return EXIT_FAILED;
    }
    if (from_environment("MS_CACHE_PORT", &r.port) != 0 || from_environment("GLOG_v", &r.level) != 0)
        return EXIT_FAILED;
    for (int at = 1; at < argc; at++) {
        const int code = take_word(&r, argc, argv, &at);
        if (code != 0) return code;
    }
    if (r.what == HELP) {
        print_syntax(r.name);
        return 0;
    }
    if (check(&r) != 0) return EXIT_FAILED;
    snprintf(port, sizeof port, "%lld", r.port);
    uint32_t id;
    switch (r.what) {
    case START: return start(&r, port);
    case STOP: return stop(port);
    case DESTROY: return destroy(&r, port);
    case LIST: return list(port);
    case INFO: return info(&r, port);
    case GENERATE:
        if (sp_cache_session_create(port, &id) != SP_OK) return unreachable(port);
        printf("Session created for server on port %s: %u\n", port, id);
        return 0;
    case NONE:
    case HELP: break;
    }
    fprintf(stderr, "No command provided\nPlease try `%s --help` for more information\n", r.name);
    return EXIT_FAILED;
}
