/* SPDX-License-Identifier: Apache-2.0 */
/* run_model.c - a program that runs one model in memory of its own, to be linked with a trimmed library: run_model MODEL INPUT OUTPUT, files of raw numbers. Its exit
 * code is 0, or 1 with the reason on standard output. With one word it only loads. */
#include <stdio.h>
#include <stdlib.h>

#include <spore/model.h>
#include <spore/session.h>

static int failed(const char *what)
{
    printf("%s: %s\n", what, sp_error_message());
    return 1;
}

static size_t bytes_of(const sp_spec *s)
{
    size_t n = sp_dtype_bytes(s->dtype);
    for (int i = 0; i < s->rank; i++) n *= (size_t)s->dims[i];
    return n;
}

int main(int argc, char **argv)
{
    sp_model *m;
    sp_session *s;
    size_t bytes;
    if (argc < 2) return 2;
    if (sp_model_load(argv[1], NULL, &m) != SP_OK) return failed("load");
    if (argc < 4) {
        sp_model_release(m);
        return 0;
    }
    if (sp_session_bytes(m, NULL, &bytes) != SP_OK) return failed("bytes");
    void *block = aligned_alloc(SP_SESSION_ALIGN, (bytes + SP_SESSION_ALIGN - 1) / SP_SESSION_ALIGN * SP_SESSION_ALIGN);
    if (block == NULL) return 1;
    if (sp_session_create(m, NULL, block, bytes, &s) != SP_OK) return failed("create");
    const size_t n_in = bytes_of(sp_session_input_spec(s, 0)), n_out = bytes_of(sp_session_output_spec(s, 0));
    char *in = malloc(n_in), *out = malloc(n_out);
    FILE *from = fopen(argv[2], "rb"), *to = fopen(argv[3], "wb");
    if (in == NULL || out == NULL || from == NULL || to == NULL) return 1;
    if (fread(in, 1, n_in, from) != n_in) return 1;
    if (sp_session_run(s, 1, (const void *[]){in}, 1, (void *[]){out}) != SP_OK) return failed("run");
    if (fwrite(out, 1, n_out, to) != n_out || fclose(to) != 0) return 1;
    fclose(from);
    free(in);
    free(out);
    sp_session_release(s);
    sp_model_release(m);
    free(block);
    return 0;
}
