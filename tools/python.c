/* SPDX-License-Identifier: Apache-2.0 */
/* python.c - `spore run` and `spore explain`, which hand over to Python with exec. Two things must be found for that, both relative
 * to this executable, so that a build folder and an installation can be moved:
 *   package      <dir>/py (build folder) or <dir>/../lib/spore/python (installation), put in front of PYTHONPATH;
 *   interpreter  SPORE_PYTHON; else that of the active environment (VIRTUAL_ENV, CONDA_PREFIX), if it has numpy; else the one named in <package>/interpreter; else python3 beside the executable (virtual
 *                environment); else python3 on PATH
 * In a wheel the command is inside the Python module: then the package is that of the interpreter which runs it. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spore/device.h"
#include "tools.h"

enum { PATH_BYTES = TOOL_PATH_BYTES };

/* format into buffer[PATH_BYTES]; 0 when it does not fit. */
static int path_print(char *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int path_print(char *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(buffer, PATH_BYTES, format, args);
    va_end(args);
    if (n >= 0 && n < PATH_BYTES) return 1;
    buffer[0] = '\0';
    return 0;
}

static int is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Folder of this executable, links resolved. */
static int own_directory(char *out)
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_BYTES - 1);
    if (n <= 0) return 0;
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash == NULL) return 0;
    *slash = '\0';
    return 1;
}

static void find_package(const char *directory, char *out)
{
    /* An empty py folder is not ours: ask for the package inside. */
    char inside[PATH_BYTES];
    const char *const places[] = {"py", "../lib/spore/python"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (path_print(out, "%s/%s", directory, places[i]) && path_print(inside, "%s/spore", out) &&
            is_directory(inside))
            return;
    }
    out[0] = '\0';
}

static int read_recorded_python(const char *package, char *out)
{
    char path[PATH_BYTES];
    if (package[0] == '\0' || !path_print(path, "%s/interpreter", package)) return 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    char *line = fgets(out, PATH_BYTES, file);
    fclose(file);
    if (line == NULL) return 0;
    out[strcspn(out, "\n")] = '\0';
    return is_program(out);
}

/* Whether an environment has numpy, which spore needs: its own, or one that it shows of the system. */
static bool has_numpy(const char *environment)
{
    char pattern[PATH_BYTES], line[256];
    glob_t found;
    if (!path_print(pattern, "%s/lib/python3*/site-packages/numpy", environment)) return false;
    int missing = glob(pattern, 0, NULL, &found);
    if (missing == 0) globfree(&found);
    if (missing == 0 || !path_print(pattern, "%s/pyvenv.cfg", environment)) return missing == 0;
    FILE *file = fopen(pattern, "r");
    bool shown = false;
    while (file != NULL && !shown && fgets(line, sizeof line, file) != NULL)
        shown = strncmp(line, "include-system-site-packages", 28) == 0 && strstr(line, "true") != NULL;
    if (file != NULL) fclose(file);
    return shown;
}

/* The interpreter of the environment that a user has activated. One without numpy is not taken, and that is said. */
static bool active_environment(tool_python *out)
{
    static const char *const names[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *environment = getenv(names[i]);
        if (environment == NULL || environment[0] == '\0' || !path_print(out->python, "%s/bin/python3", environment) ||
            !is_program(out->python))
            continue;
        if (has_numpy(environment)) {
            out->how = names[i];
            return true;
        }
        out->passed_over = names[i];
    }
    return false;
}

static const char *host; /* the interpreter whose module the command is a part of, in a wheel */

void tool_python_host(const char *python) { host = python; }

static int chosen_python(const char *chosen, tool_python *out)
{
    if (!path_print(out->python, "%s", chosen)) return tool_complain(EXIT_FAILED, "SPORE_PYTHON is too long");
    if (strchr(chosen, '/') != NULL && !is_program(chosen))
        return tool_complain(EXIT_FAILED, "SPORE_PYTHON names %s, which is not a program", chosen);
    out->how = "SPORE_PYTHON";
    return 0;
}

static int host_python(tool_python *out)
{
    if (!path_print(out->python, "%s", host)) return tool_complain(EXIT_FAILED, "the path of Python is too long");
    out->how = "the command belongs to it";
    return 0;
}

static int locate(tool_python *out)
{
    char directory[PATH_BYTES];
    out->passed_over = NULL;
    out->package[0] = '\0';
    const char *chosen = getenv("SPORE_PYTHON");
    if (chosen != NULL && chosen[0] == '\0') chosen = NULL;
    if (host != NULL) return chosen != NULL ? chosen_python(chosen, out) : host_python(out);
    if (!own_directory(directory)) return tool_complain(EXIT_FAILED, "cannot read /proc/self/exe: %s", strerror(errno));
    find_package(directory, out->package);
    if (chosen != NULL) return chosen_python(chosen, out);
    if (active_environment(out)) return 0;
    if (read_recorded_python(out->package, out->python)) {
        out->how = "recorded with the package";
        return 0;
    }
    if (path_print(out->python, "%s/python3", directory) && is_program(out->python)) {
        out->how = "beside the command";
        return 0;
    }
    path_print(out->python, "python3");
    out->how = "PATH";
    return 0;
}

static int export_package(const char *package)
{
    if (package[0] == '\0') return 0;
    const char *old = getenv("PYTHONPATH");
    if (old == NULL || old[0] == '\0') {
        if (setenv("PYTHONPATH", package, 1) != 0) return tool_complain(EXIT_FAILED, "out of memory");
        return 0;
    }
    size_t bytes = strlen(package) + strlen(old) + 2;
    char *joined = malloc(bytes);
    if (joined == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    snprintf(joined, bytes, "%s:%s", package, old);
    int failed = setenv("PYTHONPATH", joined, 1) != 0;
    free(joined);
    return failed ? tool_complain(EXIT_FAILED, "out of memory") : 0;
}

int tool_python_find(tool_python *out)
{
    int code = locate(out);
    return code != 0 ? code : export_package(out->package);
}

/* --- spore run, spore explain ---------------------------------------------------------------------------------------- */

static const char run_help[] =
    "usage: spore run [--profile[=FOLDER]] [--device NAME] SCRIPT [arguments]\n"
    "       spore run -m MODULE [arguments]\n"
    "       spore run -c TEXT [arguments]\n"
    "       spore run - [arguments]\n\n"
    "Runs a Python program as python does, but `import mindspore` in it means spore: a MindSpore script runs as it is. - reads the\n"
    "program from standard input. Exit code: the program's; 1 after an exception, 2 when it cannot be started.\n\n"
    "  --profile[=FOLDER]   measure operators, compiled programs and data pipelines: a trace for Perfetto, a table by line and totals are\n"
    "                       written to FOLDER (default: profile), and a table to standard error\n"
    "  --device NAME        make Tensors and Parameters there (SPORE_DEVICES names libraries of devices, spore doctor lists them)\n\n"
    "  SPORE_PYTHON         the interpreter, 3.11 or newer; without it, that of the active virtual environment, then the one\n"
    "                       that spore was built with (spore doctor shows which one is used)\n"
    "  SPORE_TRACEBACK=full show the lines inside spore in tracebacks, too\n"
    "  SPORE_NUM_THREADS    threads to compute with (default: all processors that the process may use)\n\n"
    "examples:\n"
    "  spore run train.py --epochs 3\n"
    "  spore run -m pytest tests\n"
    "  spore run --profile train.py\n"
    "  spore run -c 'import mindspore as ms; print(ms.ops.arange(3))'\n";

static const char explain_help[] =
    "usage: spore explain [--times] [--json] SCRIPT [arguments]           (also: -m MODULE, -c TEXT, as spore run)\n\n"
    "Runs a Python program as spore run does, and then says on standard error which functions were compiled, which were compiled\n"
    "again and why, and what was left to Python and why.\n\n"
    "  --times              also how long every kernel took\n"
    "  --json               for programs: one object on standard error, in the last line\n\n"
    "examples:\n"
    "  spore explain train.py --epochs 1\n"
    "  spore explain --times train.py 2> report.txt\n";

static bool is_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

/* Become the interpreter; argv[1..] is for a module of the package. Comes back only when that failed. */
static int hand_over(const char *module, int argc, char **argv)
{
    tool_python where;
    int code = tool_python_find(&where);
    if (code != 0) return code;
    char **command = calloc((size_t)argc + 3, sizeof *command);
    if (command == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    char dash_m[] = "-m", name[64];
    snprintf(name, sizeof name, "%s", module);
    if (where.passed_over != NULL)
        fprintf(stderr, "spore: the environment that %s names has no numpy; %s is used (%s)\n", where.passed_over,
                where.python, where.how);
    command[0] = where.python;
    command[1] = dash_m;
    command[2] = name;
    for (int i = 1; i < argc; i++) command[2 + i] = argv[i];
    execvp(where.python, command); /* comes back only when it failed */
    code = tool_complain(EXIT_FAILED, "cannot start %s: %s; set SPORE_PYTHON to a Python interpreter of 3.11 or newer",
                         where.python, strerror(errno));
    free(command);
    return code;
}

/* --profile or --profile=FOLDER in front: for the interpreter as a variable. 1: it was there, 0: not, negative: exit code. */
static int take_profile(const char *word)
{
    const size_t n = strlen("--profile");
    if (strncmp(word, "--profile", n) != 0 || (word[n] != '\0' && word[n] != '=')) return 0;
    if (word[n] == '=' && word[n + 1] == '\0') return -tool_complain(EXIT_USAGE, "run: --profile= wants a folder");
    if (setenv("SPORE_TRACE", word[n] == '=' ? word + n + 1 : "profile", 1) != 0)
        return -tool_complain(EXIT_FAILED, "out of memory");
    return 1;
}

/* --device NAME or --device=NAME in front: likewise, if there is such a device. The number of words taken, or a negative exit code. */
static int take_device(int argc, char **argv)
{
    const size_t n = strlen("--device");
    if (strncmp(argv[1], "--device", n) != 0 || (argv[1][n] != '\0' && argv[1][n] != '=')) return 0;
    const char *name = argv[1][n] == '=' ? argv[1] + n + 1 : argc > 2 ? argv[2] : "";
    if (*name == '\0') return -tool_complain(EXIT_USAGE, "run: --device wants the name of a device");
    sp_device *device;
    if (sp_device_open(name, &device) != SP_OK) return -tool_complain(EXIT_FAILED, "run: %s", sp_error_message());
    if (setenv("SPORE_DEVICE", name, 1) != 0) return -tool_complain(EXIT_FAILED, "out of memory");
    return argv[1][n] == '=' ? 1 : 2;
}

int verb_run(int argc, char **argv)
{
    for (int taken = 1; argc > 1 && taken != 0; argc -= taken, argv += taken) {
        taken = take_profile(argv[1]);
        if (taken == 0) taken = take_device(argc, argv);
        if (taken < 0) return -taken;
    }
    if (argc < 2)
        return tool_complain(EXIT_USAGE,
                             "run: no script given; usage: spore run script.py [arguments], or spore run -m "
                             "module [arguments]");
    if (is_help(argv[1])) {
        fputs(run_help, stdout);
        return 0;
    }
    if (strcmp(argv[1], "-m") == 0 && argc < 3) return tool_complain(EXIT_USAGE, "run: -m wants the name of a module");
    return hand_over("spore.run", argc, argv);
}

int verb_plan(int argc, char **argv) { return hand_over("spore.parallel.plan", argc, argv); }

int tool_msrun(int argc, char **argv) { return hand_over("spore.parallel.cluster.run", argc, argv); }

/* The same, with a report about compiled functions on standard error at the end; --times: with the time of every kernel. */
int verb_explain(int argc, char **argv)
{
    const char *form = "1";
    for (; argc > 1 && (strcmp(argv[1], "--times") == 0 || strcmp(argv[1], "--json") == 0); argc--, argv++) {
        if (strcmp(argv[1], "--json") == 0) form = "json";
        else if (setenv("SPORE_PROFILE", "1", 1) != 0) return tool_complain(EXIT_FAILED, "out of memory");
    }
    if (argc > 1 && is_help(argv[1])) {
        fputs(explain_help, stdout);
        return 0;
    }
    if (argc < 2)
        return tool_complain(EXIT_USAGE,
                             "explain: no script given; usage: spore explain [--times] [--json] script.py [arguments]");
    if (setenv("SPORE_EXPLAIN", form, 1) != 0) return tool_complain(EXIT_FAILED, "out of memory");
    return verb_run(argc, argv);
}
