/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - `spore doctor`: what spore finds on this machine, and whether Python programs would run. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <zlib.h>

#include "spore/device.h"
#include "spore/machine.h"
#include "spore/parallel.h"
#include "spore/provider.h"
#include "spore/runtime.h"
#include "tools.h"

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
    printf(
        "\nkernels    fast ones for these operators (where they have a name of their own: in parentheses); the others run on their reference\n");
    int with = 0, column = 0;
    for (int i = 0; i < sp_op_count(); i++) {
        char kernels[256], text[384];
        const sp_op *op = sp_op_at(i);
        if (sp_machine_kernels(op, kernels, sizeof kernels) == 0) continue;
        const char *name = sp_op_name(op);
        bool same = strncmp(kernels, name, strlen(name)) == 0; /* "add", or "reduce_sum, reduce_sum" */
        snprintf(text, sizeof text, "%s%s%s%s", name, same ? "" : " (", same ? "" : kernels, same ? "" : ")");
        if (column == 0 || column + 1 + (int)strlen(text) > 120) column = printf("%s          ", column ? "\n" : "");
        column += printf(" %s", text);
        with++;
    }
    printf("\n           %d of %d operators\n", with, sp_op_count());
}

/* Each binary interface of MPI: what would be opened, or why a job of it cannot be joined. */
static void report_mpi(void)
{
    enum { ROWS = 8 };
    sp_mpi_found rows[ROWS];
    const char *head = "mpi       ";
    const int n = sp_job_mpi(rows, ROWS);
    for (int i = 0; i < n && i < ROWS; i++) {
        const sp_mpi_found *f = &rows[i];
        printf("%s %s: ", head, f->family);
        head = "          ";
        if (!*f->library) printf("not found; install %s, or let SPORE_MPI name it\n", f->packages);
        else if (!*f->transport)
            printf("%s (%s), but spore was built without mpi_%s.so\n", f->version, f->library, f->family);
        else printf("%s (%s)%s\n", f->version, f->library, f->chosen ? ", the launcher's" : "");
    }
}

static void report_libraries(void)
{
    char text[512];
    if (sp_provider_names(text, sizeof text)) printf("providers  %s (SPORE_PROVIDERS)\n", text);
    sp_device_names(text, sizeof text);
    printf("devices    %s (SPORE_DEVICES)\n", text);
    for (char *rest = text, *name; (name = strtok_r(rest, ", ", &rest)) != NULL;) {
        sp_device *d = NULL;
        sp_device_properties p;
        if (strcmp(name, "null") == 0 || sp_device_open(name, &d) != SP_OK || d == NULL) continue;
        if (sp_device_describe(d, &p) != SP_OK) continue;
        printf("           %s: %s, %d units, %.1f GB\n", name, p.title, p.units, (double)p.memory_bytes / 1e9);
    }
    report_mpi();
    printf("libraries  zlib %s, %s, SQLite %s, Jansson %s\n", zlibVersion(), OpenSSL_version(OPENSSL_VERSION),
           sqlite3_libversion(), JANSSON_VERSION);
}

static void report_memory(void)
{
    static const char *const keys[] = {"MemTotal", "MemAvailable"};
    char text[2][64];
    for (int i = 0; i < 2; i++) { /* "24684100 kB" */
        char found[64], amount[32];
        bool known = proc_value("/proc/meminfo", keys[i], found, sizeof found);
        snprintf(text[i], sizeof text[i], "%s",
                 known ? tool_bytes(strtoull(found, NULL, 10) * 1024, amount) : "unknown");
    }
    printf("memory     %s in the machine, %s available\n", text[0], text[1]);
}

static void pass_on(int from)
{
    char text[1024];
    ssize_t n;
    while ((n = read(from, text, sizeof text)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) fwrite(text, 1, (size_t)n, stdout);
}

/* The same as an object of JSON, whatever is missing being null. */
static char json_script[] =
    "import json, signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
    "found = {'executable': sys.executable, 'version': '%d.%d.%d' % sys.version_info[:3], 'numpy': None, 'package': None}\n"
    "try:\n"
    "    import numpy; found['numpy'] = numpy.__version__\n"
    "    import spore; found['package'] = spore.__file__\n"
    "except ImportError as e: found['error'] = str(e)\n"
    "print(json.dumps(found))\n"
    "sys.exit(0 if found['package'] and sys.version_info >= (3, 11) else 1)\n";

/* Let the interpreter tell its version, numpy's, and where it finds spore. Returns its exit code. When we end because
 * nobody reads on, so does it, without a word. */
static int report_python(tool_python *where, bool json)
{
    static char words[] =
        "import signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "print('           version %d.%d.%d' % sys.version_info[:3], flush=True)\n"
        "if sys.version_info < (3, 11): sys.exit('           too old: 3.11 or newer is needed')\n"
        "try: import numpy\n"
        "except ImportError as e: sys.exit('numpy      %s; try: %s -m pip install numpy' % (e, sys.executable))\n"
        "print('numpy      ' + numpy.__version__, flush=True)\n"
        "try: import spore\n"
        "except ImportError as e: sys.exit('package    %s' % e)\n"
        "if not spore.__file__: sys.exit('package    not complete in ' + list(spore.__path__)[0])\n"
        "print('package    ' + spore.__file__)\n";
    char *script = json ? json_script : words;
    if (!json) printf("python     %s (%s)\n", where->python, where->how);
    fflush(stdout);
    int ends[2]; /* it tells us, we tell the user: whether that can be written says nothing about Python */
    if (pipe(ends) != 0) return tool_complain(EXIT_FAILED, "doctor: a pipe cannot be made: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        if (dup2(ends[1], STDOUT_FILENO) < 0) _exit(EXIT_FAILED);
        if (ends[1] != STDOUT_FILENO) close(ends[1]);
        char dash_c[] = "-c";
        char *command[] = {where->python, dash_c, script, NULL};
        execvp(where->python, command);
        tool_complain(EXIT_FAILED, "doctor: %s cannot be started: %s", where->python, strerror(errno));
        _exit(EXIT_FAILED);
    }
    close(ends[1]);
    if (child > 0) pass_on(ends[0]);
    close(ends[0]);
    if (child < 0) return tool_complain(EXIT_FAILED, "doctor: a process cannot be started: %s", strerror(errno));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return tool_complain(EXIT_FAILED, "lost %s: %s", where->python, strerror(errno));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EXIT_FAILED;
}

static void json_text(const char *key, const char *text)
{
    printf(",\n\"%s\": ", key);
    tool_json_text(text, strlen(text));
}

static void json_machine(void)
{
    char text[8192];
    printf("{\"version\": \"%s\"", sp_version());
    if (proc_value("/proc/cpuinfo", "model name", text, sizeof text)) json_text("cpu", text);
    json_text("instructions", sp_machine_features());
    printf(",\n\"cache_bytes\": [%zu, %zu, %zu],\n\"threads\": %d", sp_machine_cache(1), sp_machine_cache(2),
           sp_machine_cache(3), sp_threads());
    static const char *const keys[][2] = {{"MemTotal", "memory_bytes"}, {"MemAvailable", "available_bytes"}};
    for (int i = 0; i < 2; i++)
        if (proc_value("/proc/meminfo", keys[i][0], text, sizeof text))
            printf(",\n\"%s\": %llu", keys[i][1], strtoull(text, NULL, 10) * 1024);
    printf(",\n\"kernels\": {");
    for (int i = 0, n = 0; i < sp_op_count(); i++) {
        const sp_op *op = sp_op_at(i);
        if (sp_machine_kernels(op, text, sizeof text) == 0) continue;
        printf("%s\"%s\": ", n++ ? ", " : "", sp_op_name(op));
        tool_json_text(text, strlen(text));
    }
    printf("},\n\"operators\": %d", sp_op_count());
    if (sp_provider_names(text, sizeof text)) json_text("providers", text);
    json_text("zlib", zlibVersion());
    json_text("openssl", OpenSSL_version(OPENSSL_VERSION));
    json_text("sqlite", sqlite3_libversion());
    json_text("jansson", JANSSON_VERSION);
}

static void json_mpi(void)
{
    enum { ROWS = 8 };
    sp_mpi_found rows[ROWS];
    const int n = sp_job_mpi(rows, ROWS);
    printf(",\n\"mpi\": [");
    for (int i = 0; i < n && i < ROWS; i++) {
        printf("%s{\"family\": \"%s\"", i ? ",\n  " : "\n  ", rows[i].family);
        json_text("library", rows[i].library);
        json_text("version", rows[i].version);
        json_text("transport", rows[i].transport);
        printf(",\n\"chosen\": %s}", rows[i].chosen ? "true" : "false");
    }
    printf("]");
}

/* Python's part is an object of its own, or null when there is no interpreter. */
static int json_report(void)
{
    json_machine();
    json_mpi();
    printf(",\n\"python\": ");
    tool_python where;
    int code = tool_python_find(&where);
    if (code == 0) code = report_python(&where, true);
    else printf("null\n");
    printf(",\"ok\": %s}\n", code == 0 ? "true" : "false");
    return code;
}

int verb_doctor(int argc, char **argv)
{
    static const char help[] =
        "usage: spore doctor\n\n"
        "Shows what spore finds on this machine: processor and the kernels chosen for it, memory, libraries, the Python\n"
        "interpreter and package that spore run would use. Exit code: 0 when Python programs will run, else 1.\n\n" TOOL_JSON_HELP;
    int n_others;
    bool helped, json = false;
    int code = tool_parse(argc, argv, (const tool_option[]){{"--json", &json, NULL, NULL}, {NULL, NULL, NULL, NULL}},
                          help, (const int[2]){0, 0}, NULL, &n_others, &helped);
    if (code != 0 || helped) return code;
    if (json) return json_report();
    printf("spore      %s\n", sp_version());
    report_cpu();
    report_memory();
    report_kernels();
    report_libraries();
    tool_python where;
    code = tool_python_find(&where);
    if (code == 0) code = report_python(&where, false);
    fflush(stdout);
    if (code == 0) printf("all is well\n");
    else tool_complain(code, "doctor: Python programs will not run, see above; C programs are not affected");
    return code;
}
