/* SPDX-License-Identifier: Apache-2.0 */
/* crypt.c - `spore encrypt` and `spore decrypt`: whole files in MindSpore's container. Keys come from a file or the
 * environment and are never shown. */
#include <stdio.h>
#include <string.h>

#include "tools.h"

static const char encrypt_help[] =
    "usage: spore encrypt IN OUT (--key-file FILE | --key-env NAME) [--mode MODE]\n\n"
    "Encrypts a checkpoint or a model as MindSpore does (enc_key, enc_mode), so that load_checkpoint(dec_key=) and\n"
    "load(dec_key=) of either framework read it.\n\n" TOOL_FORCE_HELP TOOL_OUTPUT_HELP TOOL_KEY_HELP "\nexamples:\n"
    "  head -c 24 /dev/urandom | base64 > key.txt      a new key of 32 letters\n"
    "  spore encrypt model.ckpt secret.ckpt --key-file key.txt\n"
    "  SPORE_KEY=0123456789ABCDEF spore encrypt model.mindir secret.mindir\n";

static const char decrypt_help[] =
    "usage: spore decrypt IN OUT (--key-file FILE | --key-env NAME) [--mode MODE]\n\n"
    "Writes the plain contents of an encrypted checkpoint or model. A wrong key is told and nothing is written.\n\n" TOOL_FORCE_HELP
        TOOL_OUTPUT_HELP TOOL_KEY_HELP "\nexamples:\n"
    "  spore decrypt secret.ckpt model.ckpt --key-file key.txt\n";

static int run(int argc, char **argv, const char *help,
               sp_status (*work)(const char *from, const char *to, const sp_file_options *options))
{
    tool_key key = {0};
    bool force = false, helped;
    const char *paths[2], *out = NULL;
    const tool_option options[] = {
        TOOL_FORCE_OPTION(force), TOOL_OUTPUT_OPTIONS(out), TOOL_KEY_OPTIONS(key), {NULL, NULL, NULL, NULL}};
    int n;
    int code = tool_parse_output(argc, argv, options, help, (const int[]){2, 2}, 1, &out, paths, &n, &helped);
    if (code != 0 || helped) return code;
    sp_file_options file = {.progress = tool_progress};
    code = tool_key_read(argv[0], &key, true, &file);
    if (code == 0) code = tool_output_check(argv[0], paths[1], force);
    if (code == 0 && work(paths[0], paths[1], &file) != SP_OK) code = tool_engine_failed(argv[0]);
    tool_key_clear(&key);
    return code;
}

int verb_encrypt(int argc, char **argv) { return run(argc, argv, encrypt_help, sp_file_encrypt); }
int verb_decrypt(int argc, char **argv) { return run(argc, argv, decrypt_help, sp_file_decrypt); }
