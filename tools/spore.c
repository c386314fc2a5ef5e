/* SPDX-License-Identifier: Apache-2.0 */
/* spore.c - the `spore` command: picks the verb, and does what needs no Python itself.
 *
 * `spore run` hands over to Python with exec. Two things must be found for that, both relative to this executable so
 * that a build folder and an installation can be moved:
 *   package      <dir>/py (build folder) or <dir>/../lib/spore/python (installation), put in front of PYTHONPATH;
 *                neither exists when the command came with a wheel: then the interpreter knows the package already
 *   interpreter  SPORE_PYTHON; else the one named in <package>/interpreter; else python3 beside the executable (virtual
 *                environment); else python3 on PATH
 * Exit codes: 2 for a wrong command line, 1 for everything else that goes wrong. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <zlib.h>

#include "spore/machine.h"
#include "spore/provider.h"
#include "spore/runtime.h"
#include "tools.h"

enum { PATH_BYTES = 4096 };

typedef struct verb {
    const char *name;
    const char *arguments;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
} verb;

/* --- finding the package and the interpreter --------------------------------------------------------------------- */

typedef struct location {
    char package[PATH_BYTES]; /* folder for PYTHONPATH; empty: none needed */
    char python[PATH_BYTES];  /* interpreter; a bare name is looked up on PATH */
    const char *python_from;  /* how it was found, for `spore doctor` */
} location;

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

static int locate(location *out)
{
    char directory[PATH_BYTES];
    if (!own_directory(directory)) return tool_complain(EXIT_FAILED, "cannot read /proc/self/exe: %s", strerror(errno));
    find_package(directory, out->package);
    const char *chosen = getenv("SPORE_PYTHON");
    if (chosen != NULL && chosen[0] != '\0') {
        if (!path_print(out->python, "%s", chosen)) return tool_complain(EXIT_FAILED, "SPORE_PYTHON is too long");
        if (strchr(chosen, '/') != NULL && !is_program(chosen))
            return tool_complain(EXIT_FAILED, "SPORE_PYTHON names %s, which is not a program", chosen);
        out->python_from = "SPORE_PYTHON";
        return 0;
    }
    if (read_recorded_python(out->package, out->python)) {
        out->python_from = "recorded with the package";
        return 0;
    }
    if (path_print(out->python, "%s/python3", directory) && is_program(out->python)) {
        out->python_from = "beside the command";
        return 0;
    }
    path_print(out->python, "python3");
    out->python_from = "PATH";
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

/* --- spore run --------------------------------------------------------------------------------------------------- */

static int verb_run(int argc, char **argv)
{
    if (argc < 2)
        return tool_complain(EXIT_USAGE, "run: no script given; usage: spore run script.py [arguments], or spore run -m "
                                    "module [arguments]");
    if (strcmp(argv[1], "-m") == 0 && argc < 3) return tool_complain(EXIT_USAGE, "run: -m wants the name of a module");
    location where;
    int code = locate(&where);
    if (code == 0) code = export_package(where.package);
    if (code != 0) return code;
    char **command = calloc((size_t)argc + 3, sizeof *command);
    if (command == NULL) return tool_complain(EXIT_FAILED, "out of memory");
    char dash_m[] = "-m", module[] = "spore.run";
    command[0] = where.python;
    command[1] = dash_m;
    command[2] = module;
    for (int i = 1; i < argc; i++) command[2 + i] = argv[i];
    execvp(where.python, command); /* comes back only when it failed */
    code = tool_complain(EXIT_FAILED, "cannot start %s: %s; set SPORE_PYTHON to a Python interpreter of 3.11 or newer",
                    where.python, strerror(errno));
    free(command);
    return code;
}

/* The same, with a report about compiled functions on standard error at the end; --times: with the time of every kernel. */
static int verb_explain(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--times") == 0) {
        if (setenv("SPORE_PROFILE", "1", 1) != 0) return tool_complain(EXIT_FAILED, "out of memory");
        argc--;
        argv++;
    }
    if (argc < 2) return tool_complain(EXIT_USAGE, "explain: no script given; usage: spore explain [--times] script.py [arguments]");
    if (setenv("SPORE_EXPLAIN", "1", 1) != 0) return tool_complain(EXIT_FAILED, "out of memory");
    return verb_run(argc, argv);
}

/* --- spore doctor ------------------------------------------------------------------------------------------------ */

/* Copies the value of the first "key : value" line of a /proc file; 0 when there is none. */
static int proc_value(const char *path, const char *key, char *out, size_t out_bytes)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    char line[8192];
    int found = 0;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || colon == NULL) continue;
        char *value = colon + 1 + strspn(colon + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(out, out_bytes, "%s", value);
        found = 1;
    }
    fclose(file);
    return found;
}

static void report_cpu(void)
{
    static const char *const interesting[] = {"avx2",        "fma",         "f16c",     "avx512f",  "avx512bw",
                                              "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8",
                                              "asimd",       "sve",         "bf16"};
    char text[8192];
    if (proc_value("/proc/cpuinfo", "model name", text, sizeof text)) printf("cpu        %s\n", text);
    if (proc_value("/proc/cpuinfo", "flags", text, sizeof text) ||
        proc_value("/proc/cpuinfo", "Features", text, sizeof text)) {
        printf("features  ");
        for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
            for (size_t i = 0; i < sizeof interesting / sizeof *interesting; i++)
                if (strcmp(word, interesting[i]) == 0) printf(" %s", word);
        }
        printf("\n");
    }
    const char *cap = getenv("SPORE_ISA");
    if (cap != NULL && cap[0] != '\0') printf("SPORE_ISA  %s (kernels are capped to it)\n", cap);
    printf("in use     %s\n", sp_machine_features());
    printf("caches    ");
    for (int level = 1; level <= 3; level++)
        if (sp_machine_cache(level)) printf(" L%d %zu KB", level, sp_machine_cache(level) / 1024);
    printf("\nthreads    %d\n", sp_threads());
}

static void report_kernels(void)
{
    static const sp_dtype dtypes[] = {SP_DTYPE_F32, SP_DTYPE_F64, SP_DTYPE_F16, SP_DTYPE_BF16, SP_DTYPE_I8};
    printf("products  ");
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const char *name = sp_machine_products(dtypes[i]);
        const char *otherwise = dtypes[i] == SP_DTYPE_I8 ? "reference" : "as float32";
        printf("%s %s: %s", i ? "," : "", sp_dtype_name(dtypes[i]), name[0] ? name : otherwise);
    }
    printf("\nkernels   ");
    int with = 0, column = 10;
    for (int i = 0; i < sp_op_count(); i++) {
        char text[256];
        const sp_op *op = sp_op_at(i);
        if (sp_machine_kernels(op, text, sizeof text) == 0) continue;
        int width = (int)strlen(sp_op_name(op)) + (int)strlen(text) + 4;
        if (column + width > 120) column = printf("\n          ");
        column += printf(" %s (%s)", sp_op_name(op), text);
        with++;
    }
    printf("\n           %d of %d operators have fast kernels; the others run on their reference\n", with, sp_op_count());
}

static void report_libraries(void)
{
    char text[512];
    if (sp_provider_names(text, sizeof text)) printf("providers  %s (SPORE_PROVIDERS)\n", text);
    printf("libraries  zlib %s, %s, SQLite %s, Jansson %s\n", zlibVersion(), OpenSSL_version(OPENSSL_VERSION), sqlite3_libversion(),
           JANSSON_VERSION);
}

static void report_memory(void)
{
    char total[64] = "unknown", available[64] = "unknown";
    proc_value("/proc/meminfo", "MemTotal", total, sizeof total);
    proc_value("/proc/meminfo", "MemAvailable", available, sizeof available);
    printf("memory     %s in the machine, %s available\n", total, available);
}

/* Let the interpreter tell its version, numpy's, and where it finds spore. Returns its exit code. */
static int report_python(location *where)
{
    static char script[] =
        "import sys\n"
        "print('           version %d.%d.%d' % sys.version_info[:3], flush=True)\n"
        "if sys.version_info < (3, 11): sys.exit('           too old: 3.11 or newer is needed')\n"
        "try: import numpy\n"
        "except ImportError as e: sys.exit('numpy      %s; try: %s -m pip install numpy' % (e, sys.executable))\n"
        "print('numpy      ' + numpy.__version__, flush=True)\n"
        "try: import spore\n"
        "except ImportError as e: sys.exit('package    %s' % e)\n"
        "if not spore.__file__: sys.exit('package    not complete in ' + list(spore.__path__)[0])\n"
        "print('package    ' + spore.__file__)\n";
    printf("python     %s (%s)\n", where->python, where->python_from);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return tool_complain(EXIT_FAILED, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        char dash_c[] = "-c";
        char *command[] = {where->python, dash_c, script, NULL};
        execvp(where->python, command);
        tool_complain(EXIT_FAILED, "cannot start %s: %s", where->python, strerror(errno));
        _exit(EXIT_FAILED);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return tool_complain(EXIT_FAILED, "lost %s: %s", where->python, strerror(errno));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EXIT_FAILED;
}

static int verb_doctor(int argc, char **argv)
{
    if (argc > 1) return tool_complain(EXIT_USAGE, "doctor: takes no arguments, found '%s'", argv[1]);
    printf("spore      %s\n", sp_version());
    report_cpu();
    report_memory();
    report_kernels();
    report_libraries();
    location where;
    int code = locate(&where);
    if (code == 0) code = export_package(where.package);
    if (code == 0) code = report_python(&where);
    fflush(stdout);
    if (code == 0) printf("all is well\n");
    else tool_complain(code, "doctor: Python programs will not run, see above; C programs are not affected");
    return code;
}

/* --- verbs ------------------------------------------------------------------------------------------------------- */

static int verb_help(int argc, char **argv);
static int verb_version(int argc, char **argv);

static const verb verbs[] = {
    {"run", "script.py [arguments]", "run a Python script; in it, mindspore means spore (also: -m module)", verb_run},
    {"explain", "[--times] script.py [arguments]", "run it, then say what was compiled, compiled again, or not, and why; where its time goes", verb_explain},
    {"inspect", "FILE", "what a file of weights holds; --stats, --json", verb_inspect},
    {"convert", "IN OUT", "weights or a model from one format to another", verb_convert},
    {"diff", "A B", "what changed between two files of weights", verb_diff},
    {"draw", "MODEL", "the graph of a model as a picture", verb_draw},
    {"predict", "MODEL", "run a model on arrays or pictures; --input NAME=FILE", verb_predict},
    {"encrypt", "IN OUT", "encrypt a checkpoint or model", verb_encrypt},
    {"decrypt", "IN OUT", "and back", verb_decrypt},
    {"record", "VERB", "MindRecord data sets: info, cat, make, check and more", verb_record},
    {"ops", "[NAME]", "the operators of the engine, what they take, how C and Python call them", verb_ops},
    {"bench", "", "measure this machine, and where the main kernels stand on it", verb_bench},
    {"doctor", "", "show what spore finds on this machine", verb_doctor},
    {"version", "", "print the version (also: --version)", verb_version},
    {"help", "", "print this text (also: --help)", verb_help},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static void print_usage(FILE *file)
{
    fprintf(file, "usage: spore VERB [arguments]\n\n");
    for (int i = 0; i < N_VERBS; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", verbs[i].name, verbs[i].arguments);
        fprintf(file, "  %-28s %s\n", left, verbs[i].summary);
    }
    fprintf(file, "\nenvironment: SPORE_PYTHON (interpreter to use), SPORE_NUM_THREADS, SPORE_ISA\n");
}

static int verb_help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    print_usage(stdout);
    return 0;
}

static int verb_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("spore %s\n", sp_version());
    return 0;
}

/* Edit distance (insert, delete, replace one letter); names longer than the table count as far away. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t n_a = strlen(a), n_b = strlen(b);
    int row[LONGEST + 1];
    if (n_a > LONGEST || n_b > LONGEST) return LONGEST;
    for (size_t j = 0; j <= n_b; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n_a; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= n_b; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n_b];
}

static int unknown_verb(const char *name)
{
    const verb *nearest = &verbs[0];
    for (int i = 1; i < N_VERBS; i++)
        if (distance(name, verbs[i].name) < distance(name, nearest->name)) nearest = &verbs[i];
    return tool_complain(EXIT_USAGE, "unknown verb '%s'; nearest is '%s', all are in spore --help", name, nearest->name);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    for (int i = 0; i < N_VERBS; i++)
        if (strcmp(name, verbs[i].name) == 0) return verbs[i].run(argc - 1, argv + 1);
    return unknown_verb(name);
}
