/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.c - `spore codegen`: models as plain C for microcontrollers. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spore/codegen.h"
#include "tools.h"

enum { MODELS_MAX = 16 };

static const char help[] =
    "usage: spore codegen MODEL ... -o FOLDER [options]\n\n"
    "Writes models (ONNX, MindIR, TFLite, MindSpore Lite; float32 and int8) as plain C99 into FOLDER: model.c, weights.c, model.h with model_run(in, out), a test program\n"
    "and a Makefile. The code needs no heap and no operating system; all memory is static and planned here. Prints RAM and flash by part.\n"
    "`make run` in FOLDER tests the code, for boards in qemu. Several models share their memory.\n\n"
    "  -o FOLDER            where to; made when needed\n"
    "  --target NAME        what the Makefile is for: host (default), cortex-m0, cortex-m3, cortex-m4, cortex-m7, cortex-m55, rv32,\n"
    "                       armhf; --targets lists them\n"
    "  --name NAME          prefix of the C functions (default: model; of several models: the names of their files); may be repeated,\n"
    "                       once for each model\n"
    "  --shape NAME=2,3     shape of an input that MODEL leaves open; may be repeated; with one model only\n"
    "  --ram N              bytes of RAM that the board has: a model that needs more is refused\n"
    "  --flash N            the same of flash, for constants\n"
    "  --train NAME         besides, a step of training: model_train(in, label, rate, loss) for the weights whose names begin with NAME (\"\": all);\n"
    "                       may be repeated; with one model only\n"
    "  --optimizer NAME     of --train: sgd (default), momentum or adam\n"
    "  --loss NAME          of --train: cross_entropy (default; labels are numbers of classes) or mse\n"
    "  --targets            list the targets\n" TOOL_FORCE_HELP TOOL_KEY_HELP;

typedef struct job {
    const char *folder, *target;
    const char **names, **shapes, **train;
    const char *optimizer, *loss, *ram, *flash;
    bool list, force;
    tool_key key;
    int n;
    const char *paths[MODELS_MAX];
    sp_model *models[MODELS_MAX];
    char made[MODELS_MAX][64];
} job;

static int list_targets(void)
{
    const char *doc, *name;
    for (int i = 0; (name = sp_codegen_target(i, &doc)) != NULL; i++) printf("%-12s %s\n", name, doc);
    return 0;
}

/* "nets/kws-2.onnx": kws_2 */
static void name_of(const char *path, char *out, size_t room)
{
    const char *slash = strrchr(path, '/'), *from = slash != NULL ? slash + 1 : path;
    size_t n = 0;
    if (*from >= '0' && *from <= '9') out[n++] = '_';
    for (; *from != '\0' && *from != '.' && n < room - 1; from++) {
        const char c = *from;
        out[n++] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    }
    out[n] = '\0';
}

static int load(job *j)
{
    sp_file_options reading = {0};
    const char *cipher = NULL;
    for (int i = 0; i < j->n; i++) {
        const int code = tool_key_for("codegen", &j->key, j->paths[i], &cipher, &reading);
        if (code != 0) return code;
        if (sp_model_load(j->paths[i], &reading, &j->models[i]) != SP_OK) return tool_engine_failed("codegen");
    }
    const int idle = tool_key_used("codegen", &j->key);
    if (idle != 0) return idle;
    for (const char **s = j->shapes; s != NULL && *s != NULL; s++) {
        const int code = tool_set_shape("codegen", j->models[0], *s);
        if (code != 0) return code;
    }
    return 0;
}

static int check(const job *j)
{
    int n_names = 0;
    while (j->names != NULL && j->names[n_names] != NULL) n_names++;
    if (j->n == 0) return tool_complain(EXIT_USAGE, "codegen: no model was given; see spore codegen --help");
    if (j->folder == NULL)
        return tool_complain(EXIT_USAGE, "codegen: -o FOLDER is missing: where to write the C files");
    if (n_names != 0 && n_names != j->n)
        return tool_complain(EXIT_USAGE, "codegen: %d models need as many --name, but got %d", j->n, n_names);
    if (j->train != NULL && j->n > 1) return tool_complain(EXIT_USAGE, "codegen: --train goes with one model");
    if (j->train == NULL && (j->optimizer != NULL || j->loss != NULL))
        return tool_complain(EXIT_USAGE, "codegen: --optimizer and --loss go with --train");
    if (j->shapes != NULL && j->n > 1) return tool_complain(EXIT_USAGE, "codegen: --shape goes with one model");
    return 0;
}

/* None of the files that will be written may be there, unless they may be replaced: a Makefile or a main.c can be anybody's. */
static int check_files(const job *j, const char *const *names)
{
    static const char *const shared[] = {"main.c", "Makefile", "start.c", "link.ld", "arena.c", "arena.h"};
    static const char *const own[] = {".c", ".h", "weights.c", "weights.h"};
    const bool board = j->target != NULL && strcmp(j->target, "host") != 0;
    char file[4096];
    int code = 0;
    for (int i = 0; i < 6 && code == 0; i++) {
        if ((i == 2 || i == 3) && !board) continue;
        if (i > 3 && j->n == 1) continue;
        snprintf(file, sizeof file, "%s/%s", j->folder, shared[i]);
        code = tool_output_check("codegen", file, j->force);
    }
    for (int i = 0; i < 4 * j->n && code == 0; i++) {
        const bool named = i % 4 < 2 || j->n > 1;
        snprintf(file, sizeof file, "%s/%s%s%s", j->folder, named ? names[i / 4] : "", i % 4 >= 2 && named ? "_" : "",
                 own[i % 4]);
        code = tool_output_check("codegen", file, j->force);
    }
    return code;
}

static int generate(job *j)
{
    const char *names[MODELS_MAX];
    char *report = NULL;
    for (int i = 0; i < j->n; i++) {
        name_of(j->paths[i], j->made[i], sizeof j->made[i]);
        names[i] = j->names != NULL ? j->names[i] : j->n == 1 ? "model" : j->made[i];
    }
    int code = check_files(j, names);
    if (code != 0) return code;
    int n_train = 0;
    long long ram = 0, flash = 0;
    code = tool_whole("codegen", "--ram", j->ram, 1, INT64_MAX, &ram);
    if (code == 0) code = tool_whole("codegen", "--flash", j->flash, 1, INT64_MAX, &flash);
    if (code != 0) return code;
    while (j->train != NULL && j->train[n_train] != NULL) n_train++;
    const sp_codegen_options options = {.struct_size = sizeof options,
                                        .target = j->target,
                                        .ram_bytes = (uint64_t)ram,
                                        .flash_bytes = (uint64_t)flash,
                                        .n_train = n_train,
                                        .train = j->train,
                                        .optimizer = j->optimizer,
                                        .loss = j->loss};
    if (sp_codegen_write(j->n, j->models, names, j->folder, &options, &report) != SP_OK)
        return tool_engine_failed("codegen");
    tool_print_lines(report);
    sp_text_free(report);
    return 0;
}

int verb_codegen(int argc, char **argv)
{
    job j = {0};
    bool helped;
    const tool_option options[] = {{"-o", NULL, &j.folder, NULL},     {"--target", NULL, &j.target, NULL},
                                   {"--name", NULL, NULL, &j.names},  {"--shape", NULL, NULL, &j.shapes},
                                   {"--train", NULL, NULL, &j.train}, {"--ram", NULL, &j.ram, NULL},
                                   {"--flash", NULL, &j.flash, NULL}, {"--optimizer", NULL, &j.optimizer, NULL},
                                   {"--loss", NULL, &j.loss, NULL},   {"--targets", &j.list, NULL, NULL},
                                   TOOL_FORCE_OPTION(j.force),        TOOL_KEY_OPTIONS(j.key),
                                   {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, help, (const int[]){0, MODELS_MAX}, j.paths, &j.n, &helped);
    if (code != 0 || helped) return code;
    if (j.list && argc > 2)
        return tool_complain(EXIT_USAGE, "codegen: --targets stands alone: it lists them and writes nothing");
    if (j.list) return list_targets();
    code = check(&j);
    if (code == 0) code = load(&j);
    if (code == 0) code = generate(&j);
    for (int i = 0; i < j.n; i++) sp_model_release(j.models[i]);
    tool_key_clear(&j.key);
    return code;
}
