/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - `spore record`: look into MindRecord data sets, make, check, mend, cut and join them. */
#define _POSIX_C_SOURCE 200809L

#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- shared ---------------------------------------------------------------------------------------------------------------- */

static bool ends_encrypted(const char *path)
{
    char tail[7] = "";
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb")
                                                                 : NULL; /* opening a pipe would wait for its writer */
    if (file == NULL) return false;
    bool found = fseek(file, -(long)sizeof tail, SEEK_END) == 0 && fread(tail, 1, sizeof tail, file) == sizeof tail &&
                 memcmp(tail, "ENCRYPT", sizeof tail) == 0;
    fclose(file);
    return found;
}

int record_secret(const char *verb, const char *path, tool_key *key, sp_record_secret *out)
{
    sp_file_options options = {0};
    bool asked = key->file != NULL || key->variable != NULL;
    if (!asked && !ends_encrypted(path))
        return tool_key_used(verb, key); /* a key in the environment is for other files */
    int code = tool_key_read(verb, key, false, &options);
    out->key = options.key;
    out->key_bytes = options.key_bytes;
    out->mode = options.key_mode;
    return code;
}

void record_bar_step(record_bar *bar)
{
    static struct timespec last;
    struct timespec now;
    bar->done++;
    if (bar->done % 256 != 0 || !isatty(STDERR_FILENO)) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec == last.tv_sec && now.tv_nsec - last.tv_nsec < 100000000) return;
    last = now;
    if (bar->total <= 0) {
        fprintf(stderr, "\r%lld rows", (long long)bar->done);
        return;
    }
    int filled = (int)(40 * bar->done / bar->total);
    fprintf(stderr, "\r[%.*s%*s] %lld of %lld rows", filled, "########################################", 40 - filled,
            "", (long long)bar->done, (long long)bar->total);
}

void record_bar_end(record_bar *bar)
{
    if (bar->done >= 256 && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

int record_names(char *text, const char **out, int room)
{
    int n = 0;
    for (char *word = strtok(text, ","); word != NULL && n < room; word = strtok(NULL, ",")) out[n++] = word;
    return n;
}

/* Options and one file; *secret is ready. */
typedef struct one_file {
    const char *path;
    tool_key key;
    sp_record_secret secret;
} one_file;

static int open_record(const char *verb, const one_file *f, sp_record **out)
{
    return sp_record_open(f->path, &f->secret, out) == SP_OK ? 0 : tool_engine_failed(verb);
}

/* --- info ------------------------------------------------------------------------------------------------------------------ */

static const char info_help[] = "usage: spore record info FILE [--json]\n\n"
                                "What a MindRecord data set holds: fields, rows, files.\n\n"
                                "  --json               as JSON\n" TOOL_KEY_HELP;

static const char *type_text(const sp_record_field *f, char *out, size_t room)
{
    int n = snprintf(out, room, "%s", sp_record_type_name(f->type));
    if (f->rank >= 0) n += snprintf(out + n, room - (size_t)n, "[");
    for (int i = 0; i < f->rank; i++)
        n += snprintf(out + n, room - (size_t)n, "%s%lld", i > 0 ? "," : "", (long long)f->dims[i]);
    if (f->rank >= 0) snprintf(out + n, room - (size_t)n, "]");
    return out;
}

static bool is_indexed(const sp_record *r, const sp_record_info *info, int field)
{
    for (int i = 0; i < info->n_index; i++)
        if (sp_record_index_at(r, i) == field) return true;
    return false;
}

static bool index_exists(const char *path)
{
    char name[4096 + 8];
    return snprintf(name, sizeof name, "%s.db", path) < (int)sizeof name && access(name, R_OK) == 0;
}

static void info_text(const sp_record *r, const sp_record_info *info)
{
    char size[32], page[32], text[256], plain[256];
    printf("rows     %lld in %d file%s, %s\n", (long long)sp_record_count(r), info->n_shards,
           info->n_shards == 1 ? "" : "s", tool_bytes(info->file_bytes, size));
    printf("format   %s, %lld pages of %s, %lld row groups%s%s\n", info->version, (long long)info->n_pages,
           tool_bytes(info->page_bytes, page), (long long)info->n_groups, info->encrypted ? ", encrypted" : "",
           info->hashed ? ", with digest" : "");
    if (info->description[0] != '\0') printf("about    %s\n", tool_plain(info->description, plain, sizeof plain));
    printf("fields\n");
    for (int i = 0; i < sp_record_field_count(r); i++) {
        const sp_record_field *f = sp_record_field_at(r, i);
        printf("  %-24s %s%s\n", tool_plain(f->name, plain, sizeof plain), type_text(f, text, sizeof text),
               is_indexed(r, info, i) ? "  (index)" : "");
    }
    printf("files\n");
    for (int i = 0; i < info->n_shards; i++)
        printf("  %s  %lld rows%s\n", tool_plain(sp_record_shard_path(r, i), plain, sizeof plain),
               (long long)sp_record_shard_count(r, i), index_exists(sp_record_shard_path(r, i)) ? "" : "  NO INDEX");
}

static void info_json(const sp_record *r, const sp_record_info *info)
{
    printf("{\"rows\":%lld,\"version\":\"%s\",\"description\":", (long long)sp_record_count(r), info->version);
    tool_json_text(info->description, strlen(info->description));
    printf(
        ",\"pages\":%lld,\"page_size\":%llu,\"header_size\":%llu,\"bytes\":%llu,\"encrypted\":%s,\"digest\":%s,\"fields\":{",
        (long long)info->n_pages, (unsigned long long)info->page_bytes, (unsigned long long)info->header_bytes,
        (unsigned long long)info->file_bytes, info->encrypted ? "true" : "false", info->hashed ? "true" : "false");
    for (int i = 0; i < sp_record_field_count(r); i++) {
        const sp_record_field *f = sp_record_field_at(r, i);
        if (i > 0) putchar(',');
        tool_json_text(f->name, strlen(f->name));
        printf(":{\"type\":\"%s\"", sp_record_type_name(f->type));
        for (int k = 0; k < f->rank; k++) printf("%s%lld", k > 0 ? "," : ",\"shape\":[", (long long)f->dims[k]);
        printf("%s,\"index\":%s}",
               f->rank > 0    ? "]"
               : f->rank == 0 ? ",\"shape\":[]"
                              : "",
               is_indexed(r, info, i) ? "true" : "false");
    }
    printf("},\"files\":[");
    for (int i = 0; i < info->n_shards; i++) {
        const char *path = sp_record_shard_path(r, i);
        printf("%s{\"path\":", i > 0 ? "," : "");
        tool_json_text(path, strlen(path));
        printf(",\"rows\":%lld,\"index\":%s}", (long long)sp_record_shard_count(r, i),
               index_exists(path) ? "true" : "false");
    }
    printf("]}\n");
}

static int record_info(int argc, char **argv)
{
    one_file f = {0};
    bool json = false, helped;
    int n;
    const tool_option options[] = {{"--json", &json, NULL, NULL}, TOOL_KEY_OPTIONS(f.key), {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, info_help, (const int[]){1, 1}, &f.path, &n, &helped);
    if (code != 0 || helped) return code;
    sp_record *r = NULL;
    code = record_secret(argv[0], f.path, &f.key, &f.secret);
    if (code == 0) code = open_record(argv[0], &f, &r);
    tool_key_clear(&f.key);
    if (code != 0) return code;
    sp_record_info info;
    sp_record_describe(r, &info);
    if (json) info_json(r, &info);
    else info_text(r, &info);
    sp_record_release(r);
    return 0;
}

/* --- check, reindex, recover, encrypt, decrypt --------------------------------------------------------------------------- */

static const char check_help[] =
    "usage: spore record check FILE [--hash ALGORITHM]\n\n"
    "Compares everything in the files of a data set with everything else: pages, rows, values, index; decodes the pictures in it; and\n"
    "compares the digest of files that end in one. MindRecord files have none by default: then a change that leaves a number, a text or\n"
    "bytes well formed cannot be noticed, which is said. Exit code 1 when something is wrong.\n\n"
    "  --hash ALGORITHM     the files must end in this digest: sha256, sha384, sha512, sha3_256, sha3_384, sha3_512\n" TOOL_KEY_HELP;
static const char reindex_help[] =
    "usage: spore record reindex FILE\n\n"
    "Writes the index (.db) of every file of a data set anew. spore reads without one, MindSpore does not.\n";
static const char recover_help[] =
    "usage: spore record recover FILE\n\n"
    "Completes FILE.partial, which a program that died while writing FILE has left: all pages that were full by then.\n"
    "An earlier FILE must be moved away first.\n";
static const char encrypt_help[] =
    "usage: spore record encrypt FILE (--key-file FILE | --key-env NAME) [--mode MODE] [--hash ALGORITHM]\n\n"
    "Encrypts a data set and its index in place, as MindSpore does (set_enc_key, set_enc_mode). MindSpore 2.10 itself reads\n"
    "AES-GCM only.\n\n"
    "  --hash ALGORITHM     also end the files in a digest (set_hash_mode of MindSpore before 2.5)\n" TOOL_KEY_HELP;
static const char decrypt_help[] =
    "usage: spore record decrypt FILE (--key-file FILE | --key-env NAME) [--hash ALGORITHM]\n\n"
    "Takes encryption and digest off a data set, in place.\n\n"
    "  --hash ALGORITHM     verify the digest\n" TOOL_KEY_HELP;

static void print_problem(void *context, const char *text)
{
    char plain[1024];
    (void)context;
    printf("%s\n", tool_plain(text, plain, sizeof plain));
}

/* What "all is well" does not cover. */
static void tell_of_digest(const char *verb, const sp_record *r)
{
    sp_record_info info;
    sp_record_describe(r, &info);
    if (!info.hashed)
        tool_complain(
            0,
            "%s: the files end in no digest: values that were changed, but are still well formed, are not noticed (spore record encrypt --hash adds "
            "one)",
            verb);
}

static int record_check(int argc, char **argv)
{
    one_file f = {0};
    bool helped;
    int n;
    const tool_option options[] = {
        {"--hash", NULL, &f.secret.hash, NULL}, TOOL_KEY_OPTIONS(f.key), {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, check_help, (const int[]){1, 1}, &f.path, &n, &helped);
    if (code != 0 || helped) return code;
    int64_t problems = 0;
    code = record_secret(argv[0], f.path, &f.key, &f.secret);
    if (code == 0 && sp_record_check(f.path, &f.secret, print_problem, NULL, &problems) != SP_OK)
        code = tool_engine_failed(argv[0]);
    sp_record *r = NULL;
    if (code == 0 && problems == 0) code = open_record(argv[0], &f, &r);
    tool_key_clear(&f.key);
    if (code != 0) return code;
    if (r != NULL) tell_of_digest(argv[0], r);
    sp_record_release(r);
    if (problems == 0) printf("all is well\n");
    else tool_complain(EXIT_FAILED, "%s: %lld problem%s", argv[0], (long long)problems, problems == 1 ? "" : "s");
    return problems == 0 ? 0 : EXIT_FAILED;
}

static int record_reindex(int argc, char **argv)
{
    const char *path;
    bool helped;
    int n;
    const tool_option options[] = {{NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, reindex_help, (const int[]){1, 1}, &path, &n, &helped);
    if (code != 0 || helped) return code;
    return sp_record_reindex(path) == SP_OK ? 0 : tool_engine_failed(argv[0]);
}

static int record_recover(int argc, char **argv)
{
    const char *path;
    bool helped;
    int n;
    int64_t rows = 0;
    const tool_option options[] = {{NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, recover_help, (const int[]){1, 1}, &path, &n, &helped);
    if (code != 0 || helped) return code;
    static const char end[] = ".partial"; /* the name of what was left means the same */
    size_t length = strlen(path),
           kept = length > strlen(end) && strcmp(path + length - strlen(end), end) == 0 ? length - strlen(end) : length;
    char *name = strndup(path, kept);
    if (name == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    code = sp_record_recover(name, &rows) == SP_OK ? 0 : tool_engine_failed(argv[0]);
    free(name);
    if (code != 0) return code;
    printf("%lld rows\n", (long long)rows);
    return 0;
}

static int protect(int argc, char **argv, const char *help, sp_status (*work)(const char *, const sp_record_secret *))
{
    one_file f = {0};
    bool helped;
    int n;
    const tool_option options[] = {
        {"--hash", NULL, &f.secret.hash, NULL}, TOOL_KEY_OPTIONS(f.key), {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, help, (const int[]){1, 1}, &f.path, &n, &helped);
    if (code != 0 || helped) return code;
    sp_file_options file = {0};
    code = tool_key_read(argv[0], &f.key, f.secret.hash == NULL, &file);
    f.secret.key = file.key;
    f.secret.key_bytes = file.key_bytes;
    f.secret.mode = file.key_mode;
    if (code == 0 && work(f.path, &f.secret) != SP_OK) code = tool_engine_failed(argv[0]);
    tool_key_clear(&f.key);
    return code;
}

static int record_encrypt(int argc, char **argv) { return protect(argc, argv, encrypt_help, sp_record_protect); }
static int record_decrypt(int argc, char **argv) { return protect(argc, argv, decrypt_help, sp_record_unprotect); }

/* --- split and merge ------------------------------------------------------------------------------------------------------- */

static const char split_help[] =
    "usage: spore record split FILE OUT N [--parts] [--overwrite]\n\n"
    "Writes the rows of a data set to N files, in consecutive parts of equal size.\n\n"
    "  --parts              make every file a data set of its own; else they are the shards of one\n" TOOL_FORCE_HELP
        TOOL_OUTPUT_HELP TOOL_KEY_HELP;
static const char merge_help[] =
    "usage: spore record merge OUT FILE... [--overwrite]\n\n"
    "Writes the rows of several data sets with the same fields to one file.\n\n" TOOL_FORCE_HELP TOOL_OUTPUT_HELP
        TOOL_KEY_HELP;

/* The fields and index of a data set for a new one. */
static sp_status create_like(const sp_record *r, const char *path, int shards, bool separate, bool overwrite,
                             sp_record_writer **out)
{
    static sp_record_field fields[RECORD_FIELDS_MAX];
    static const char *index[RECORD_FIELDS_MAX];
    sp_record_info info;
    sp_record_describe(r, &info);
    int n = sp_record_field_count(r);
    for (int i = 0; i < n && i < RECORD_FIELDS_MAX; i++) fields[i] = *sp_record_field_at(r, i);
    for (int i = 0; i < info.n_index && i < RECORD_FIELDS_MAX; i++) index[i] = fields[sp_record_index_at(r, i)].name;
    sp_record_plan plan = {.description = info.description,
                           .n_shards = shards,
                           .separate = separate,
                           .overwrite = overwrite,
                           .header_bytes = info.header_bytes,
                           .page_bytes = info.page_bytes,
                           .index = index,
                           .n_index = info.n_index};
    return sp_record_create(path, fields, n, &plan, out);
}

/* All rows, in that many batches of consecutive ones. */
static sp_status copy_rows(sp_record *r, sp_record_writer *w, int batches, record_bar *bar)
{
    sp_record_row *row = NULL;
    SP_TRY(sp_record_row_create(r, NULL, 0, &row));
    sp_status status = SP_OK;
    int64_t n = sp_record_count(r), at = 0;
    for (int batch = 0; batch < batches && status == SP_OK; batch++) {
        int64_t end = at + n / batches + (batch < n % batches);
        status = sp_record_writer_batch(w, end - at);
        for (; at < end && status == SP_OK; at++) {
            status = sp_record_read(r, at, row);
            if (status == SP_OK) status = sp_record_write(w, sp_record_row_values(row));
            record_bar_step(bar);
        }
    }
    sp_record_row_release(row);
    return status;
}

static int record_split(int argc, char **argv)
{
    one_file f = {0};
    const char *others[3], *out = NULL;
    bool parts = false, overwrite = false, helped;
    int n;
    long long shards = 0;
    const tool_option options[] = {{"--parts", &parts, NULL, NULL},
                                   TOOL_FORCE_OPTION(overwrite),
                                   TOOL_OUTPUT_OPTIONS(out),
                                   TOOL_KEY_OPTIONS(f.key),
                                   {NULL, NULL, NULL, NULL}};
    int code = tool_parse_output(argc, argv, options, split_help, (const int[]){3, 3}, 1, &out, others, &n, &helped);
    if (code != 0 || helped) return code;
    f.path = others[0];
    code = tool_whole(argv[0], "the number of files", others[2], 1, RECORD_SHARDS_MAX, &shards);
    if (code == 0) code = record_secret(argv[0], f.path, &f.key, &f.secret);
    sp_record *r = NULL;
    if (code == 0) code = open_record(argv[0], &f, &r);
    tool_key_clear(&f.key);
    if (code != 0) return code;
    sp_record_writer *w = NULL;
    record_bar bar = {0, sp_record_count(r)};
    sp_status status = create_like(r, others[1], (int)shards, parts, overwrite, &w);
    if (status == SP_OK) status = copy_rows(r, w, parts ? (int)shards : 1, &bar);
    if (status == SP_OK) status = sp_record_commit(w);
    record_bar_end(&bar);
    if (status != SP_OK) code = tool_engine_failed(argv[0]);
    sp_record_writer_release(w);
    sp_record_release(r);
    return code;
}

/* All inputs are opened before anything is written: a mistake costs no time. */
static int merge_files(const char *verb, const char *out, const char **paths, int n, tool_key *key, bool overwrite)
{
    sp_record **records = calloc((size_t)n, sizeof *records);
    sp_record_writer *w = NULL;
    record_bar bar = {0, 0};
    int code = records == NULL ? tool_complain(EXIT_FAILED, "out of memory") : 0;
    for (int i = 0; i < n && code == 0; i++) {
        one_file f = {.path = paths[i]};
        code = record_secret(verb, paths[i], key, &f.secret);
        if (code == 0) code = open_record(verb, &f, &records[i]);
        if (code == 0) bar.total += sp_record_count(records[i]);
    }
    if (code == 0 && create_like(records[0], out, 1, false, overwrite, &w) != SP_OK) code = tool_engine_failed(verb);
    for (int i = 0; i < n && code == 0; i++) {
        if (sp_record_field_count(records[i]) != sp_record_field_count(records[0]))
            code = tool_complain(EXIT_FAILED, "%s: %s has %d fields, %s has %d", verb, paths[i],
                                 sp_record_field_count(records[i]), paths[0], sp_record_field_count(records[0]));
        for (int k = 0; code == 0 && k < sp_record_field_count(records[0]); k++)
            if (strcmp(sp_record_field_at(records[i], k)->name, sp_record_field_at(records[0], k)->name) != 0)
                code = tool_complain(EXIT_FAILED, "%s: %s has a field '%s', %s has '%s'", verb, paths[i],
                                     sp_record_field_at(records[i], k)->name, paths[0],
                                     sp_record_field_at(records[0], k)->name);
        if (code == 0 && copy_rows(records[i], w, 1, &bar) != SP_OK)
            code = tool_complain(EXIT_FAILED, "%s: %s: %s", verb, paths[i], sp_error_message());
    }
    if (code == 0 && sp_record_commit(w) != SP_OK) code = tool_engine_failed(verb);
    record_bar_end(&bar);
    sp_record_writer_release(w);
    for (int i = 0; records != NULL && i < n; i++) sp_record_release(records[i]);
    free(records);
    return code;
}

static int record_merge(int argc, char **argv)
{
    tool_key key = {0};
    bool overwrite = false, helped;
    int n;
    const char *out = NULL, **others = calloc((size_t)argc + 1, sizeof *others);
    if (others == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    const tool_option options[] = {
        TOOL_FORCE_OPTION(overwrite), TOOL_OUTPUT_OPTIONS(out), TOOL_KEY_OPTIONS(key), {NULL, NULL, NULL, NULL}};
    int code = tool_parse_output(argc, argv, options, merge_help, (const int[]){2, argc}, 0, &out, others, &n, &helped);
    if (code == 0 && !helped) code = merge_files(argv[0], others[0], others + 1, n - 1, &key, overwrite);
    tool_key_clear(&key);
    free(others);
    return code;
}

/* --- the verb ---------------------------------------------------------------------------------------------------------------- */

static const tool_verb verbs[] = {
    {"info", "FILE", "what a data set holds; --json", record_info},
    {"cat", "FILE", "its rows as JSON lines; --columns, --rows", record_cat},
    {"make", "OUT SOURCE", "a data set from images, CSV, TFRecord, IDX or JSON lines", record_make},
    {"check", "FILE", "compare pages, rows and index, decode pictures, compare digests", record_check},
    {"reindex", "FILE", "write the index anew", record_reindex},
    {"recover", "FILE", "complete what a program that died has left", record_recover},
    {"split", "FILE OUT N", "into N files", record_split},
    {"merge", "OUT FILE...", "several data sets into one", record_merge},
    {"show", "FILE OUT.png", "its pictures on one sheet", record_show},
    {"encrypt", "FILE", "in place", record_encrypt},
    {"decrypt", "FILE", "in place", record_decrypt},
    {NULL, NULL, NULL, NULL},
};

static void print_usage(FILE *file)
{
    fprintf(file, "usage: spore record VERB [arguments]\n\nMindRecord data sets. FILE is any of their files.\n\n");
    tool_verbs_print(file, verbs);
    fprintf(file, "\nspore record VERB --help tells more.\n");
}

int verb_record(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return 0;
    }
    const tool_verb *v = tool_verbs_find(verbs, "spore record", argv[1]);
    if (v == NULL) return EXIT_USAGE;
    char name[32];
    snprintf(name, sizeof name, "record %s", v->name);
    argv[1] = name; /* for messages */
    return v->run(argc - 1, argv + 1);
}
