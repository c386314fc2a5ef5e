/* SPDX-License-Identifier: Apache-2.0 */
/* tools.h - what the verbs of the `spore` command share. Public headers of the engine only. */
#ifndef SPORE_TOOLS_H
#define SPORE_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "spore/format.h"
#include "spore/model.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* The command: what its main does, and with an interpreter what the Python module of a wheel does. The exit code. */
int tool_main(int argc, char **argv, const char *python);

/* "spore: ..." on standard error, control characters replaced; returns code. */
int tool_complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The message of the engine's last failure, after "spore: <verb>: "; returns EXIT_FAILED. */
int tool_engine_failed(const char *verb);

/* --- verbs of the command, and of `spore record` --------------------------------------------------------------------- */

typedef struct tool_verb {
    const char *name, *arguments, *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
} tool_verb;

/* A line for each; lists end with a verb without a name. */
void tool_verbs_print(FILE *file, const tool_verb *verbs);
/* The verb of that name; or NULL after a complaint that names the nearest one. command: "spore", "spore record". */
const tool_verb *tool_verbs_find(const tool_verb *verbs, const char *command, const char *name);

/* --- command lines ----------------------------------------------------------------------------------------------- */

/* An option: "--name" alone (flag), or with a value ("--name value" or "--name=value"), which may be repeated. */
typedef struct tool_option {
    const char *name;     /* with its dashes; NULL ends a list */
    bool *flag;           /* set to true; or */
    const char **value;   /* the value; giving two is an error; or */
    const char ***values; /* all of them, in a list that ends with NULL and is never freed */
} tool_option;

/* Sort argv[1..] into options and n_wanted[0] to n_wanted[1] others. 0, or an exit code after a complaint; --help prints
 * `help` and gives *helped. */
int tool_parse(int argc, char **argv, const tool_option *options, const char *help, const int n_wanted[2],
               const char **others, int *n_others, bool *helped);

/* The same for a verb that writes: its OUT, word number `place` of the others, may be given by -o or --output instead. */
int tool_parse_output(int argc, char **argv, const tool_option *options, const char *help, const int n_wanted[2],
                      int place, const char *const *output, const char **others, int *n_others, bool *helped);
#define TOOL_OUTPUT_OPTIONS(out)                                                                                       \
    {"--output", NULL, &(out), NULL}, { "-o", NULL, &(out), NULL }
#define TOOL_OUTPUT_HELP "  -o, --output OUT     OUT as an option instead of a word\n"

/* The value of an option as a number in [low, high]; what it was before if text is NULL. 0 or an exit code after a complaint. */
int tool_number(const char *verb, const char *option, const char *text, double low, double high, double *out);
int tool_whole(const char *verb, const char *option, const char *text, long long low, long long high, long long *out);

#define TOOL_JSON_HELP "  --json               for programs\n"

/* Key and mode for encrypted files: --key-file, --key-env (default SPORE_KEY), --mode. */
typedef struct tool_key {
    const char *file, *variable, *mode;
    bool used; /* for a file that is encrypted */
    unsigned char bytes[64];
    size_t n;
} tool_key;
#define TOOL_KEY_OPTIONS(k)                                                                                            \
    {"--key-file", NULL, &(k).file, NULL}, {"--key-env", NULL, &(k).variable, NULL}, { "--mode", NULL, &(k).mode, NULL }
#define TOOL_KEY_HELP                                                                                                  \
    "  --key-file FILE      key of an encrypted file: the bytes of FILE, without a final end of line; hex:... for\n"   \
    "                       hexadecimal digits\n"                                                                      \
    "  --key-env NAME       key in an environment variable, in the same way (default: SPORE_KEY, if it is set)\n"      \
    "  --mode MODE          AES-GCM (default), AES-CBC or SM4-CBC\n"

/* Read the key, if there is one, into the options; 0 or an exit code. Wipe with tool_key_clear. */
int tool_key_read(const char *verb, tool_key *key, bool required, sp_file_options *options);
void tool_key_clear(tool_key *key);
/* The same for a file that is read and may be encrypted: its cipher, NULL if it is not, and then an option of the key is a misunderstanding. More
 * files may come: tool_key_used tells at the end whether one of them was encrypted. */
int tool_key_for(const char *verb, tool_key *key, const char *path, const char **cipher, sp_file_options *options);
int tool_key_used(const char *verb, const tool_key *key);

/* A file that an option names, for reading as text; NULL after a complaint. A folder is none. */
FILE *tool_input_open(const char *verb, const char *option, const char *path);

/* --- files that are written -------------------------------------------------------------------------------------- */

/* One rule for every verb: a file that is there stays, unless --overwrite (or --force, its other name) is given. */
#define TOOL_FORCE_OPTION(force)                                                                                       \
    {"--overwrite", &(force), NULL, NULL}, { "--force", &(force), NULL, NULL }
#define TOOL_FORCE_HELP "  --overwrite          replace what is there already (also: --force)\n"

/* Is the name free, or may what has it be replaced? 0 or an exit code after a complaint. */
int tool_output_check(const char *verb, const char *path, bool force);

/* A file that appears under its name as a whole, when it is complete. */
typedef struct tool_output {
    FILE *file;
    const char *verb, *path;
    char *partial; /* its name until then */
} tool_output;
int tool_output_open(const char *verb, const char *path, bool force, tool_output *out);
/* keep: it is complete. Else, and when that fails, nothing is left of it. 0 or an exit code after a complaint. */
int tool_output_close(tool_output *out, bool keep);

/* --- output ------------------------------------------------------------------------------------------------------ */

/* A bar on standard error, when that is a terminal and the work is long. Set options->progress to it. */
bool tool_progress(void *context, uint64_t done, uint64_t total);
void tool_json_text(const char *text, size_t bytes); /* quoted, to standard output */
bool tool_ends_in(const char *text, const char *ending);
const char *tool_bytes(uint64_t bytes, char out[32]);                 /* "12.3 MiB" */
const char *tool_shape(int rank, const int64_t *dims, char out[256]); /* "(2, 3)" */
/* Text with control characters replaced: safe for a terminal. At most room bytes. */
const char *tool_plain(const char *text, char *out, size_t room);
/* A text of several lines with names out of files in it, to standard output, in the same way. */
void tool_print_lines(const char *text);

/* Numbers about the contents of a tensor. */
typedef struct tool_stats {
    int64_t count, n_nan, n_inf, n_zero;
    double min, max, mean, std; /* of the finite ones; NaN when there are none */
} tool_stats;
sp_status tool_stats_of(sp_tensor *t, tool_stats *out);
/* The elements of t as doubles, a piece at a time: fn(context, values, n). Complex numbers come as their absolute value. */
sp_status tool_for_values(sp_tensor *t, void (*fn)(void *context, const double *values, int64_t n), void *context);

/* --- spore bench MODEL ------------------------------------------------------------------------------------------- */

typedef struct tool_bench {
    long long loop, warm_up, threads; /* threads 0: as many as there are */
    const char **inputs, *accuracy;   /* files; NULL: none */
    double threshold;                 /* percent */
} tool_bench;
int tool_bench_model(const char *path, const tool_bench *b); /* an exit code */

/* --- Python ------------------------------------------------------------------------------------------------------ */

enum { TOOL_PATH_BYTES = 4096 };
typedef struct tool_python {
    char package[TOOL_PATH_BYTES]; /* folder for PYTHONPATH; empty: none needed */
    char python[TOOL_PATH_BYTES];  /* interpreter; a bare name is looked up on PATH */
    const char *how;               /* it was found */
    const char *passed_over;       /* variable of an environment that lacks numpy, or NULL */
} tool_python;
/* Find both and set PYTHONPATH; 0 or an exit code after a complaint. */
int tool_python_find(tool_python *out);
/* The interpreter inside which the command runs, kept by address; NULL: the command is a program of its own. */
void tool_python_host(const char *python);

/* --- models ------------------------------------------------------------------------------------------------------ */

/* Is what was loaded from a file a network besides its weights? */
bool tool_holds_model(const sp_bundle *bundle);

/* The shape of an input or output: "(batch, 3)", or "(-1, 3)" where free dimensions have no name. Its rank must be known. */
const char *tool_face_shape(const sp_model *m, bool inputs, int i, char *out, size_t room);

/* "name=1,3,224,224": the shape of an input that the file leaves open. 0 or an exit code after a complaint. */
int tool_set_shape(const char *verb, sp_model *m, const char *text);

typedef struct tool_kind {
    const char *type; /* of operator */
    int n;
} tool_kind;
/* Operators of a model and how many there are of each, the most frequent first; the number of kinds, at most room. */
int tool_kinds(const sp_model *m, tool_kind *kinds, int room);

/* --- pictures as inputs ------------------------------------------------------------------------------------------ */

typedef struct tool_picture {
    const char *mean, *std, *scale; /* as given */
    bool used;                      /* for a picture, and an input of floats */
} tool_picture;
#define TOOL_PICTURE_OPTIONS(p)                                                                                        \
    {"--mean", NULL, &(p).mean, NULL}, {"--std", NULL, &(p).std, NULL}, { "--scale", NULL, &(p).scale, NULL }
#define TOOL_PICTURE_HELP                                                                                              \
    "  --mean A,B,C         subtracted from the channels of pictures, after the division\n"                            \
    "  --std A,B,C          and divided by, after that\n"                                                              \
    "  --scale S            divide pictures by S instead of 255\n"

int tool_picture_check(const char *verb, const tool_picture *p);
/* One of them is given, but there was no picture that it would have changed. */
bool tool_picture_idle(const tool_picture *p);
#define TOOL_PICTURE_IDLE                                                                                              \
    "--mean, --std and --scale are for pictures that become floats, and there is none: they would change nothing here"
/* A picture as an input wants it: resized, channels in their place, numbers of its dtype; owned by the builder. */
int tool_picture_make(const char *verb, tool_picture *p, sp_builder *b, const char *path, const unsigned char *data,
                      size_t bytes, const sp_spec *want, sp_tensor **out);
/* A whole file, freed by the caller. */
int tool_file_read(const char *verb, const char *path, unsigned char **data, size_t *bytes);

/* --- verbs ------------------------------------------------------------------------------------------------------- */

int verb_run(int argc, char **argv);
int tool_msrun(int argc, char **argv); /* the command under its other names */
int tool_converter_lite(int argc, char **argv);
int verb_explain(int argc, char **argv);
int verb_plan(int argc, char **argv);
int verb_inspect(int argc, char **argv);
int verb_convert(int argc, char **argv);
int verb_diff(int argc, char **argv);
int verb_encrypt(int argc, char **argv);
int verb_decrypt(int argc, char **argv);
int verb_draw(int argc, char **argv);
int verb_predict(int argc, char **argv);
int verb_quantize(int argc, char **argv);
int verb_board(int argc, char **argv);
int verb_serve(int argc, char **argv);
int verb_record(int argc, char **argv);
int verb_cache(int argc, char **argv);
int verb_bench(int argc, char **argv);
int verb_ops(int argc, char **argv);
int verb_codegen(int argc, char **argv);
int verb_trim(int argc, char **argv);
int verb_doctor(int argc, char **argv);

#endif
