/* SPDX-License-Identifier: Apache-2.0 */
/* spore.c - the `spore` command: picks the verb. Exit codes: 2 for a wrong command line, 1 for everything else that goes wrong. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spore/runtime.h"
#include "cache.h"
#include "tools.h"

static int verb_help(int argc, char **argv);
static int verb_version(int argc, char **argv);

static const tool_verb verbs[] = {
    {"run", "script.py [arguments]", "run a Python script; in it, mindspore means spore (also: -m module)", verb_run},
    {"explain", "script.py [arguments]", "run it, then say what was compiled, compiled again, or not, and why; --times",
     verb_explain},
    {"plan", "--ranks N script.py",
     "what a training step costs on N ranks, without them: slices, memory, exchanges, time", verb_plan},
    {"inspect", "FILE", "what a file of weights or a model holds; --stats, --json", verb_inspect},
    {"convert", "IN OUT", "weights or a model from one format to another", verb_convert},
    {"diff", "A B", "what changed between two files of weights or models", verb_diff},
    {"codegen", "MODEL ... -o FOLDER", "a model as plain C for microcontrollers: static memory, no libraries",
     verb_codegen},
    {"trim", "MODEL ... -o FOLDER", "a static library with nothing but what these models need", verb_trim},
    {"draw", "MODEL", "the graph of a model as a picture", verb_draw},
    {"predict", "MODEL", "run a model on arrays or pictures; --input NAME=FILE", verb_predict},
    {"quantize", "MODEL", "make a model compute with small integers; --data FOLDER, -o FILE", verb_quantize},
    {"serve", "MODEL ...", "serve models over HTTP and gRPC: KServe v2 and MindSpore Serving's protocols", verb_serve},
    {"board", "FOLDER", "a page with curves, pictures and graphs of trainings, while they run", verb_board},
    {"cache", "VERB", "a server that keeps rows of data sets: start, stop, session, list and more", verb_cache},
    {"encrypt", "IN OUT", "encrypt a checkpoint or model", verb_encrypt},
    {"decrypt", "IN OUT", "and back", verb_decrypt},
    {"record", "VERB", "MindRecord data sets: info, cat, make, check and more", verb_record},
    {"ops", "[NAME]", "the operators of the engine, what they take, how C and Python call them", verb_ops},
    {"bench", "[MODEL]", "measure this machine, or how long a model takes", verb_bench},
    {"doctor", "", "show what spore finds on this machine", verb_doctor},
    {"version", "", "print the version (also: --version)", verb_version},
    {"help", "[VERB]", "print this text, or that of a verb (also: --help)", verb_help},
    {NULL, NULL, NULL, NULL},
};

static void print_usage(FILE *file)
{
    fprintf(file, "usage: spore VERB [arguments]\n\n");
    tool_verbs_print(file, verbs);
    fprintf(
        file,
        "\nspore VERB --help tells more. Environment: SPORE_PYTHON (interpreter to use), SPORE_NUM_THREADS, SPORE_ISA\n"
        "Exit codes: 0 done, 1 it failed, 2 the command line is wrong; of diff: 0 equal, 1 different, 2 trouble; of run and explain: the\n"
        "program's. Files that are there already are replaced with --overwrite only.\n");
}

static int verb_help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (argv[1][0] == '-') return tool_complain(EXIT_USAGE, "help: unknown option '%s'", argv[1]);
    const tool_verb *v = tool_verbs_find(verbs, "spore", argv[1]);
    if (v == NULL) return EXIT_USAGE;
    char help[] = "--help";
    if (argc > 2) return v->run(3, (char *[]){argv[1], argv[2], help, NULL}); /* "help record make" */
    return v->run(2, (char *[]){argv[1], help, NULL});
}

static int verb_version(int argc, char **argv)
{
    static const char help[] = "usage: spore version\n\nPrints the version.\n\n" TOOL_JSON_HELP;
    int n_others;
    bool helped, json = false;
    int code = tool_parse(argc, argv, (const tool_option[]){{"--json", &json, NULL, NULL}, {NULL, NULL, NULL, NULL}},
                          help, (const int[2]){0, 0}, NULL, &n_others, &helped);
    if (code != 0 || helped) return code;
    printf(json ? "{\"version\": \"%s\"}\n" : "spore %s\n", sp_version());
    return 0;
}

/* What was printed must have arrived: a full disk is a failure, too. */
static int finish(int code)
{
    bool lost = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !lost) return code;
    int reason = errno;
    tool_complain(EXIT_FAILED, "standard output cannot be written: %s", strerror(reason));
    return code != 0 ? code : EXIT_FAILED;
}

/* A file that is opened while a standard stream is closed would get its number, and what is printed would be written into it. What takes the place
 * cannot be used in the stream's direction, so that writing and reading fail as they would without it. */
static bool hold_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
            return false;
    return true;
}

/* MindSpore's launcher, its command for the cache and its converter have names of their own. */
static bool is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, name) == 0;
}

int tool_main(int argc, char **argv, const char *python)
{
    tool_python_host(python);
    setlocale(LC_ALL,
              "C"); /* a library may have chosen another before main; numbers are read and written with a point */
    if (!hold_streams()) return EXIT_FAILED;
    if (argc > 0 && is_called(argv[0], "msrun")) return finish(tool_msrun(argc, argv));
    if (argc > 0 && is_called(argv[0], "converter_lite")) return finish(tool_converter_lite(argc, argv));
    if (argc > 0 && (is_called(argv[0], "dataset-cache") || is_called(argv[0], "cache_admin")))
        return finish(tool_cache_admin(argc, argv));
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    const tool_verb *v = tool_verbs_find(verbs, "spore", name);
    return v == NULL ? EXIT_USAGE : finish(v->run(argc - 1, argv + 1));
}
