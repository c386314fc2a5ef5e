/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c - `spore cache`: the server that keeps rows of data sets, and questions to it. */
#define _POSIX_C_SOURCE 200809L

#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT_HELP "  --port N             which server: 1025 to 65535 (default: MS_CACHE_PORT, or 50052)\n"

/* --- start, stop ------------------------------------------------------------------------------------------------------- */

/* "512M", "2G", "0.5" of the memory that there is. */
static int read_memory(const char *text, sp_cache_server_options *o)
{
    char *end;
    if (text == NULL) return 0;
    const double n = strtod(text, &end);
    const double unit = *end == 'G' ? 1 << 30 : *end == 'M' ? 1 << 20 : *end == 'K' ? 1 << 10 : 1;
    const bool whole = *end != '\0' && end[1] == '\0' && unit > 1;
    if (whole && n * unit >= 1 << 20 && n * unit < 1e15) o->max_bytes = (uint64_t)(n * unit);
    else if (*end == '\0' && end != text && n > 0 && n <= 1) o->max_ratio = n;
    else
        return tool_complain(
            EXIT_USAGE,
            "cache start: --memory is '%s', it must be a size from 1M on (512M, 2G) or a part of the machine's memory (0.5)",
            text);
    return 0;
}

static int start(int argc, char **argv)
{
    static const char help[] =
        "usage: spore cache start [options]\n\nStarts a server that keeps rows of data sets for later epochs and other jobs of this user on this machine.\n"
        "It runs until 'spore cache stop'. Whatever ends it, nothing is left behind.\n\n" PORT_HELP
        "  --memory SIZE        of all caches: 512M, 2G, or a part of the memory of the machine or container (default 0.8)\n"
        "  --spill FOLDER       rows of caches with spilling=True that do not fit go to unlinked files in it\n"
        "  --spill-limit SIZE   bytes of them at most: 512M, 2G (default: what the disk has)\n"
        "  --foreground         stay in this terminal, write lines to standard error\n"
        "  --log FILE           append lines to this file\n"
        "  --private NAME       listen on a name instead of a port, and end when the last client has gone\n\n"
        "examples:\n  spore cache start --memory 8G\n  spore cache start --spill /scratch --port 50060\n";
    cache_start s = {.o = {.log_level = 1, .n_workers = cache_workers()}};
    const char *memory = NULL, *limit = NULL, *name = NULL, *port = NULL;
    char failure[512];
    bool helped;
    int n;
    pid_t pid = 0;
    const tool_option options[] = {{"--port", NULL, &port, NULL},
                                   {"--memory", NULL, &memory, NULL},
                                   {"--spill", NULL, &s.o.spill_folder, NULL},
                                   {"--spill-limit", NULL, &limit, NULL},
                                   {"--foreground", &s.foreground, NULL, NULL},
                                   {"--log", NULL, &s.log, NULL},
                                   {"--private", NULL, &name, NULL},
                                   {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, help, (const int[2]){0, 0}, NULL, &n, &helped);
    if (code != 0 || helped) return code;
    sp_cache_server_options spill = {0};
    if ((code = read_memory(limit, &spill)) != 0 || (code = read_memory(memory, &s.o)) != 0) return code;
    if (limit != NULL && spill.max_bytes == 0)
        return tool_complain(EXIT_USAGE, "cache start: --spill-limit is '%s', it must be a size from 1M on", limit);
    if (limit != NULL && s.o.spill_folder == NULL)
        return tool_complain(EXIT_USAGE, "cache start: --spill-limit is for --spill, it would change nothing here");
    if (name != NULL && port != NULL)
        return tool_complain(EXIT_USAGE, "cache start: --port and --private are two ways to say where; give one");
    s.o.max_spill_bytes = spill.max_bytes;
    s.o.address = name != NULL ? name : port;
    s.o.until_unused = name != NULL;
    code = cache_daemon(&s, &pid, failure);
    if (code != 0 && failure[0] != '\0') return tool_complain(code, "cache: %s", failure);
    if (code == 0 && !s.foreground) printf("the cache server is process %ld\n", (long)pid);
    return code;
}

/* Options of a question: --port alone, and n others. */
static int parse_port(int argc, char **argv, const char *help, int least, int most, const char **port,
                      const char **others, int *n, bool *json, bool *helped)
{
    const tool_option options[] = {
        {"--port", NULL, port, NULL}, {json != NULL ? "--json" : NULL, json, NULL, NULL}, {NULL, NULL, NULL, NULL}};
    return tool_parse(argc, argv, options, help, (const int[2]){least, most}, others, n, helped);
}

static int stop(int argc, char **argv)
{
    static const char help[] =
        "usage: spore cache stop [--port N]\n\nStops the server; its sessions and rows are gone. Jobs that use it go on without.\n\n" PORT_HELP;
    const char *port = NULL;
    bool helped;
    int n, code = parse_port(argc, argv, help, 0, 0, &port, NULL, &n, NULL, &helped);
    if (code != 0 || helped) return code;
    return sp_cache_stop(port) == SP_OK ? 0 : tool_engine_failed("cache");
}

/* --- sessions ------------------------------------------------------------------------------------------------------------ */

static int session(int argc, char **argv)
{
    static const char help[] =
        "usage: spore cache session [--port N]\n\nMakes a session and prints its number, for DatasetCache(session_id=...).\n\n" PORT_HELP;
    const char *port = NULL;
    bool helped;
    uint32_t id;
    int n, code = parse_port(argc, argv, help, 0, 0, &port, NULL, &n, NULL, &helped);
    if (code != 0 || helped) return code;
    if (sp_cache_session_create(port, &id) != SP_OK) return tool_engine_failed("cache");
    printf("%u\n", id);
    return 0;
}

enum { IDS_MAX = 256 };

static int each_session(const char *verb, const char *port, int n, const char **ids,
                        sp_status (*act)(const char *, uint32_t))
{
    for (int i = 0; i < n; i++) {
        long long id = 0;
        int code = tool_whole(verb, "the session", ids[i], 1, UINT32_MAX, &id);
        if (code != 0) return code;
        if (act(port, (uint32_t)id) != SP_OK) return tool_engine_failed("cache");
    }
    return 0;
}

static int destroy(int argc, char **argv)
{
    static const char help[] =
        "usage: spore cache destroy SESSION ... [--port N]\n\nEnds sessions and drops their rows.\n\n" PORT_HELP;
    const char *port = NULL, *ids[IDS_MAX];
    bool helped;
    int n, code = parse_port(argc, argv, help, 1, IDS_MAX, &port, ids, &n, NULL, &helped);
    if (code != 0 || helped) return code;
    return each_session("cache destroy", port, n, ids, sp_cache_session_destroy);
}

static int clear(int argc, char **argv)
{
    static const char help[] =
        "usage: spore cache clear [SESSION ...] [--port N]\n\nDrops the rows of sessions, or of all, and keeps the sessions.\n\n" PORT_HELP;
    const char *port = NULL, *ids[IDS_MAX];
    bool helped;
    int n, code = parse_port(argc, argv, help, 0, IDS_MAX, &port, ids, &n, NULL, &helped);
    if (code != 0 || helped) return code;
    if (n == 0) return sp_cache_clear(port, 0) == SP_OK ? 0 : tool_engine_failed("cache");
    return each_session("cache clear", port, n, ids, sp_cache_clear);
}

/* --- questions ------------------------------------------------------------------------------------------------------------ */

static void print_entry(const sp_cache_entry *e, bool json, bool first)
{
    char memory[32], disk[32];
    const sp_cache_figures *f = &e->figures;
    if (json)
        printf(
            "%s{\"session\": %u, \"cache\": %u, \"clients\": %u, \"rows_in_memory\": %llu, \"rows_on_disk\": %llu, \"bytes_in_memory\": %llu, \"bytes_on_disk\": %llu}",
            first ? "" : ",\n ", e->session, e->id, e->n_clients, (unsigned long long)f->rows_in_memory,
            (unsigned long long)f->rows_on_disk, (unsigned long long)f->bytes_in_memory,
            (unsigned long long)f->bytes_on_disk);
    else if (e->id == 0) printf("%10u  no cache yet\n", e->session);
    else
        printf("%10u  cache %10u  %10llu rows in memory (%s)  %10llu on disk (%s)  %u clients\n", e->session, e->id,
               (unsigned long long)f->rows_in_memory, tool_bytes(f->bytes_in_memory, memory),
               (unsigned long long)f->rows_on_disk, tool_bytes(f->bytes_on_disk, disk), e->n_clients);
}

static int list(int argc, char **argv)
{
    static const char help[] =
        "usage: spore cache list [--port N] [--json]\n\nSessions, and the caches in them.\n\n" PORT_HELP
        "  --json               for programs\n";
    const char *port = NULL;
    sp_cache_entry *entries;
    bool helped, json = false;
    int n, n_entries, code = parse_port(argc, argv, help, 0, 0, &port, NULL, &n, &json, &helped);
    if (code != 0 || helped) return code;
    if (sp_cache_list(port, &entries, &n_entries) != SP_OK) return tool_engine_failed("cache");
    if (json) printf("[");
    for (int i = 0; i < n_entries; i++) print_entry(&entries[i], json, i == 0);
    if (json) printf("]\n");
    else if (n_entries == 0) printf("no sessions\n");
    free(entries);
    return 0;
}

static int info(int argc, char **argv)
{
    static const char help[] =
        "usage: spore cache info [--port N] [--json]\n\nThe server: its process, memory, clients.\n\n" PORT_HELP
        "  --json               for programs\n";
    const char *port = NULL;
    char used[32], most[32], spilled[32];
    sp_cache_info i;
    bool helped, json = false;
    int n, code = parse_port(argc, argv, help, 0, 0, &port, NULL, &n, &json, &helped);
    if (code != 0 || helped) return code;
    if (sp_cache_describe(port, &i) != SP_OK) return tool_engine_failed("cache");
    if (json) {
        printf(
            "{\"process\": %lld, \"sessions\": %d, \"clients\": %d, \"bytes\": %llu, \"most_bytes\": %llu, \"bytes_on_disk\": %llu, \"spill_folder\": ",
            (long long)i.pid, i.n_sessions, i.n_clients, (unsigned long long)i.bytes, (unsigned long long)i.max_bytes,
            (unsigned long long)i.spill_bytes);
        if (i.spill_folder[0]) tool_json_text(i.spill_folder, strlen(i.spill_folder));
        else printf("null");
        printf("}\n");
        return 0;
    }
    char folder[1100];
    printf("process    %lld\nsessions   %d\nclients    %d\nmemory     %s of %s\non disk    %s in %s\n",
           (long long)i.pid, i.n_sessions, i.n_clients, tool_bytes(i.bytes, used), tool_bytes(i.max_bytes, most),
           tool_bytes(i.spill_bytes, spilled),
           i.spill_folder[0] ? tool_plain(i.spill_folder, folder, sizeof folder) : "no folder");
    return 0;
}

/* --- the verb --------------------------------------------------------------------------------------------------------------- */

static const tool_verb verbs[] = {
    {"start", "", "start a server in the background; --memory, --spill", start},
    {"stop", "", "stop it", stop},
    {"session", "", "make a session, print its number", session},
    {"destroy", "SESSION ...", "end sessions", destroy},
    {"list", "", "sessions and caches; --json", list},
    {"info", "", "the server: memory, clients; --json", info},
    {"clear", "[SESSION ...]", "drop rows, keep sessions", clear},
    {NULL, NULL, NULL, NULL},
};

static void print_usage(FILE *file)
{
    fprintf(
        file,
        "usage: spore cache VERB [arguments]\n\nA server that keeps rows of data sets in memory, for later epochs and for other jobs on this machine; in Python: DatasetCache.\n"
        "MindSpore's command for it is here as dataset-cache and cache_admin.\n\n");
    tool_verbs_print(file, verbs);
    fprintf(file, "\nspore cache VERB --help tells more.\n");
}

int verb_cache(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return 0;
    }
    const tool_verb *v = tool_verbs_find(verbs, "spore cache", argv[1]);
    return v == NULL ? EXIT_USAGE : v->run(argc - 1, argv + 1);
}
