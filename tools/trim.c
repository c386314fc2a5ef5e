/* SPDX-License-Identifier: Apache-2.0 */
/* trim.c - `spore trim`: a library with nothing but what given models need. The build does it (cmake/SporeParts.cmake); here its options are found out. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spore/runtime.h"
#include "spore/trim.h"
#include "tools.h"

enum { MODELS_MAX = 64, PATH_BYTES = 4096 };

static const char help[] =
    "usage: spore trim MODEL ... -o FOLDER [options]\n\n"
    "Makes a static library that runs these models and has nothing else: operators, dtypes, formats and kernels are those that they need. Writes\n"
    "FOLDER/options.cmake (options of spore's build) and, with spore's sources at hand, FOLDER/libspore.a, which needs libc and libm only.\n"
    "What other sizes or values of inputs lead to is not seen: the library then says by name what it lacks.\n\n"
    "  -o FOLDER            where to; made when needed\n"
    "  --isa NAME           instructions of x86-64: portable (default, the smallest), avx2, avx512 or all\n"
    "  --source FOLDER      spore's sources (default: those that this command was built from, if they are there)\n"
    "  --options-only       write options.cmake and build nothing\n" TOOL_FORCE_HELP;

typedef struct job {
    const char *folder, *isa, *source;
    bool options_only, force;
    int n;
    const char *paths[MODELS_MAX];
} job;

static bool print_path(char out[PATH_BYTES], const char *folder, const char *name)
{
    const int n = snprintf(out, PATH_BYTES, "%s/%s", folder, name);
    return n > 0 && n < PATH_BYTES;
}

static bool is_source(const char *folder)
{
    char path[PATH_BYTES];
    return print_path(path, folder, "cmake/SporeParts.cmake") && access(path, R_OK) == 0;
}

/* A command in the build folder of the sources is one below them. */
static bool find_source(char out[PATH_BYTES])
{
    const ssize_t n = readlink("/proc/self/exe", out, PATH_BYTES - 1);
    if (n <= 0) return false;
    out[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(out, '/');
        if (slash == NULL) return false;
        *slash = '\0';
    }
    return is_source(out);
}

static int run(char *const *command)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return tool_complain(EXIT_FAILED, "trim: no process can be started: %s", strerror(errno));
    if (child == 0) {
        execvp(command[0], command);
        fprintf(stderr, "spore: trim: cannot start %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    int how = 0;
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return tool_complain(EXIT_FAILED, "trim: waiting for %s failed: %s", command[0], strerror(errno));
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return 0;
    return tool_complain(EXIT_FAILED, "trim: %s %s failed; what it said stands above", command[0], command[1]);
}

static int write_options(const job *j, const char *path)
{
    char *text = NULL;
    tool_output out;
    if (sp_trim_options(j->n, j->paths, j->isa, &text) != SP_OK) return tool_engine_failed("trim");
    int code = tool_output_open("trim", path, j->force, &out);
    if (code == 0) {
        fputs(text, out.file);
        code = tool_output_close(&out, true);
    }
    sp_text_free(text);
    return code;
}

static int build(const job *j, const char *source, char *options, const char *library)
{
    char folder[PATH_BYTES], made[PATH_BYTES], target[PATH_BYTES], say[32];
    struct stat info;
    if (!print_path(folder, j->folder, "build") || !print_path(made, folder, "libspore.a") ||
        snprintf(target, sizeof target, "%s", library) >= PATH_BYTES)
        return tool_complain(EXIT_USAGE, "trim: the path of the folder is too long");
    char from[PATH_BYTES], jobs[16]; /* without a number make starts all compilers at once */
    snprintf(from, sizeof from, "%s", source);
    snprintf(jobs, sizeof jobs, "%d", sp_threads());
    char cmake[] = "cmake", c[] = "-C", s[] = "-S", b[] = "-B", quiet[] = "--log-level=WARNING", make[] = "--build",
         parallel[] = "--parallel", what[] = "--target", name[] = "spore_static", e[] = "-E", copy[] = "copy";
    int code = run((char *[]){cmake, c, options, s, from, b, folder, quiet, NULL});
    if (code == 0) code = run((char *[]){cmake, make, folder, parallel, jobs, what, name, NULL});
    if (code == 0) code = run((char *[]){cmake, e, copy, made, target, NULL});
    if (code == 0 && stat(library, &info) == 0) printf("%s: %s\n", library, tool_bytes((uint64_t)info.st_size, say));
    return code;
}

static int trim(const job *j)
{
    char options[PATH_BYTES], library[PATH_BYTES], source[PATH_BYTES];
    if (!print_path(options, j->folder, "options.cmake") || !print_path(library, j->folder, "libspore.a"))
        return tool_complain(EXIT_USAGE, "trim: the path of the folder is too long");
    if (mkdir(j->folder, 0777) != 0 && errno != EEXIST)
        return tool_complain(EXIT_FAILED, "trim: folder %s cannot be made: %s", j->folder, strerror(errno));
    int code = tool_output_check("trim", options, j->force);
    if (code == 0 && !j->options_only) code = tool_output_check("trim", library, j->force);
    if (code == 0) code = write_options(j, options);
    if (code != 0) return code;
    printf("%s: options of the build\n", options);
    if (j->options_only) return 0;
    if (j->source != NULL) {
        if (!is_source(j->source))
            return tool_complain(EXIT_FAILED, "trim: --source %s has no spore in it: cmake/SporeParts.cmake is missing",
                                 j->source);
        snprintf(source, sizeof source, "%s", j->source);
    } else if (!find_source(source)) {
        return tool_complain(
            EXIT_FAILED, "trim: spore's sources are not beside this command: give --source FOLDER, or --options-only");
    }
    return build(j, source, options, library);
}

int verb_trim(int argc, char **argv)
{
    job j = {0};
    bool helped;
    const tool_option options[] = {{"-o", NULL, &j.folder, NULL},       {"--isa", NULL, &j.isa, NULL},
                                   {"--source", NULL, &j.source, NULL}, {"--options-only", &j.options_only, NULL, NULL},
                                   TOOL_FORCE_OPTION(j.force),          {NULL, NULL, NULL, NULL}};
    const int code = tool_parse(argc, argv, options, help, (const int[]){0, MODELS_MAX}, j.paths, &j.n, &helped);
    if (code != 0 || helped) return code;
    if (j.n == 0) return tool_complain(EXIT_USAGE, "trim: no model was given; see spore trim --help");
    if (j.folder == NULL) return tool_complain(EXIT_USAGE, "trim: -o FOLDER is missing: where to write");
    if (j.source != NULL && j.options_only)
        return tool_complain(EXIT_USAGE, "trim: --source goes without --options-only");
    return trim(&j);
}
