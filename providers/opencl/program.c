/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - kernels: compiled when first wanted, kept by source, name and definitions; binaries on disk; launches.
 *
 * A file of the disk cache: "spore-opencl 1\n", the whole key (identity of platform, device and driver, then definitions and source) behind its length, the
 * binary behind its length and its hash. The name is the key's hash; the key itself is compared, so neither another driver nor a clash of hashes gets a
 * binary that is not its own. Files are written beside and renamed. A binary that the driver refuses is compiled again.
 *     SPORE_OPENCL_CACHE=folder    where (default $XDG_CACHE_HOME/spore/opencl or ~/.cache/spore/opencl); "" or 0: nowhere */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opencl.h"

/* --- text -------------------------------------------------------------------------------------------------------- */

void ocl_add(ocl_text *t, const char *format, ...)
{
    for (int turn = 0; turn < 2 && !t->failed; turn++) {
        va_list list;
        va_start(list, format);
        const size_t left = t->room - t->used;
        const int n = vsnprintf(t->at ? t->at + t->used : NULL, t->at ? left : 0, format, list);
        va_end(list);
        if (n >= 0 && t->at && (size_t)n < left) {
            t->used += (size_t)n;
            return;
        }
        const size_t room = 2 * t->room + (size_t)n + 256;
        char *more = n < 0 ? NULL : realloc(t->at, room);
        if (!more) t->failed = true;
        else t->at = more, t->room = room;
    }
}

static const char *const suffixes[SP_DTYPE_COUNT] = {
#define X(e, name, text, bytes, kind) [SP_DTYPE_##e] = #e,
    SP_DTYPE_LIST(X)
#undef X
};

void ocl_add_dtype(ocl_text *t, const char *suffix, sp_dtype dtype)
{
    const char *e = suffixes[dtype];
    if (dtype == SP_DTYPE_F64) ocl_add(t, "#define NEEDS_DOUBLE\n");
    ocl_add(t, "#define T%s T_%s\n#define LD%s LD_%s\n#define ST%s ST_%s\n#define C%s C_%s\n", suffix, e, suffix, e,
            suffix, e, suffix, e);
}

void ocl_text_free(ocl_text *t)
{
    free(t->at);
    *t = (ocl_text){NULL};
}

static uint64_t hash_of(const char *text, size_t n, uint64_t h)
{
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001B3u;
    return h;
}
#define HASH_START 0xCBF29CE484222325u

/* --- binaries on disk -------------------------------------------------------------------------------------------- */

static bool make_folder(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
            *p = '/';
            if (!made) return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Path of a key's file; false: binaries are not kept. */
static bool cache_path(uint64_t hash, char *out, size_t bytes)
{
    const char *own = getenv("SPORE_OPENCL_CACHE"), *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (own && (!*own || strcmp(own, "0") == 0)) return false;
    if (own) n = snprintf(out, bytes, "%s", own);
    else if (base && *base) n = snprintf(out, bytes, "%s/spore/opencl", base);
    else if (home && *home) n = snprintf(out, bytes, "%s/.cache/spore/opencl", home);
    else return false;
    if (n < 0 || (size_t)n + 40 >= bytes || !make_folder(out)) return false;
    snprintf(out + n, bytes - (size_t)n, "/%016llx.bin", (unsigned long long)hash);
    return true;
}

static const char magic[] = "spore-opencl 1\n";

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    long size = -1;
    if (fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    rewind(f);
    char *text = size > 0 && size < 1L << 28 ? malloc((size_t)size) : NULL;
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(f);
    *n = text ? (size_t)size : 0;
    return text;
}

/* The binary inside of a file's text; NULL: it is another key's, cut off or changed. */
static const unsigned char *binary_in(const char *text, size_t n, const char *key, size_t *bytes)
{
    const size_t head = sizeof magic - 1, key_n = strlen(key);
    uint64_t size, sum;
    if (n < head + 8 || memcmp(text, magic, head) != 0) return NULL;
    memcpy(&size, text + head, 8);
    if (size != key_n || n < head + 8 + key_n + 16 || memcmp(text + head + 8, key, key_n) != 0) return NULL;
    const char *rest = text + head + 8 + key_n;
    memcpy(&size, rest, 8);
    memcpy(&sum, rest + 8, 8);
    if (size != n - (size_t)(rest + 16 - text) || sum != hash_of(rest + 16, size, HASH_START)) return NULL;
    *bytes = size;
    return (const unsigned char *)rest + 16;
}

static cl_int build(const ocl_device *d, cl_program p, const char *options)
{
    ocl_signals *kept = ocl_signals_keep();
    const cl_int code = cl.clBuildProgram(p, 1, &d->id, options, NULL, NULL);
    ocl_signals_put_back(kept);
    return code;
}

static cl_program from_disk(ocl_device *d, const char *key, uint64_t hash)
{
    char path[4096];
    size_t n, bytes;
    if (!cache_path(hash, path, sizeof path)) return NULL;
    char *text = read_all(path, &n);
    const unsigned char *binary = text ? binary_in(text, n, key, &bytes) : NULL;
    cl_program p = NULL;
    cl_int code = CL_SUCCESS, loaded = CL_SUCCESS;
    if (binary) p = cl.clCreateProgramWithBinary(d->context, 1, &d->id, &bytes, &binary, &loaded, &code);
    if (p && (code != CL_SUCCESS || loaded != CL_SUCCESS || build(d, p, "") != CL_SUCCESS)) {
        cl.clReleaseProgram(p);
        p = NULL;
    }
    free(text);
    return p;
}

static void to_disk(cl_program p, const char *key, uint64_t hash)
{
    char path[4096], beside[4200];
    size_t bytes = 0;
    if (!cache_path(hash, path, sizeof path)) return;
    if (cl.clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || !bytes) return;
    unsigned char *binary = malloc(bytes);
    if (binary && cl.clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS) {
        snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
        const uint64_t key_n = strlen(key), size = bytes, sum = hash_of((const char *)binary, bytes, HASH_START);
        FILE *f = fopen(beside, "wb");
        bool whole = f && fwrite(magic, 1, sizeof magic - 1, f) == sizeof magic - 1 && fwrite(&key_n, 8, 1, f) == 1 &&
                     fwrite(key, 1, key_n, f) == key_n && fwrite(&size, 8, 1, f) == 1 && fwrite(&sum, 8, 1, f) == 1 &&
                     fwrite(binary, 1, bytes, f) == bytes;
        if (f && fclose(f) != 0) whole = false;
        if (!whole || rename(beside, path) != 0) remove(beside);
    }
    free(binary);
}

/* --- compiling --------------------------------------------------------------------------------------------------- */

static const char *source_text(const char *name)
{
    for (const ocl_source *s = ocl_sources; s->name; s++)
        if (strcmp(s->name, name) == 0) return s->text;
    return "";
}

/* The operator, and the first line of the compiler's log that speaks of an error. */
static sp_status compile_failed(ocl_device *d, cl_program p, const char *op, const char *source, cl_int code)
{
    size_t n = 0;
    cl.clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
    char *log = calloc(1, n + 1);
    if (log && n) cl.clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    const char *line = log && *log ? strstr(log, "error") : NULL;
    while (line && line > log && line[-1] != '\n') line--;
    if (!line) line = log ? log : "";
    const sp_status status =
        ocl_failf(SP_RUNTIME, "%s: the OpenCL driver (%s) cannot compile kernels of %s.cl, error %d: %.*s", op,
                  d->identity, source, (int)code, (int)strcspn(line, "\n"), line);
    free(log);
    return status;
}

static sp_status compile(ocl_device *d, const char *op, const char *source, const char *definitions, cl_program *out)
{
    static const char options[] = "-cl-std=CL1.2";
    const char *broken = getenv("SPORE_OPENCL_BREAK"); /* for tests: a source that does not compile */
    const char *common = source_text("common");
    const char *text = broken && strcmp(broken, source) == 0 ? "this is no kernel" : source_text(source);
    ocl_text key = {NULL};
    ocl_add(&key, "%s\n%s\n%s%s%s", d->identity, options, definitions, common, text);
    if (key.failed) return SP_NOMEM;
    const uint64_t hash = hash_of(key.at, key.used, HASH_START);
    *out = from_disk(d, key.at, hash);
    sp_status status = SP_OK;
    if (!*out) {
        const char *parts[] = {definitions, common, text};
        cl_int code;
        cl_program p = cl.clCreateProgramWithSource(d->context, 3, parts, NULL, &code);
        if (!p) status = ocl_fail("clCreateProgramWithSource", code);
        else if ((code = build(d, p, options)) != CL_SUCCESS) {
            status = compile_failed(d, p, op, source, code);
            cl.clReleaseProgram(p);
        } else {
            to_disk(p, key.at, hash);
            *out = p;
        }
    }
    ocl_text_free(&key);
    return status;
}

/* Under the lock. */
static sp_status find_kernel(ocl_device *d, const char *op, const char *source, const char *name,
                             const ocl_text *definitions, cl_kernel *out)
{
    const char *text = definitions->at ? definitions->at : "";
    uint64_t hash = hash_of(source, strlen(source), HASH_START);
    hash = hash_of(name, strlen(name), hash * 31);
    hash = hash_of(text, definitions->used, hash * 31);
    ocl_kernel **bucket = &d->kernels[hash % OCL_BUCKETS];
    for (ocl_kernel *k = *bucket; k; k = k->next)
        if (k->hash == hash && strncmp(k->key, name, strlen(name)) == 0 &&
            strcmp(k->key + strlen(name) + 1, text) == 0) {
            *out = k->kernel;
            return SP_OK;
        }
    cl_program p;
    cl_int code;
    SP_TRY(compile(d, op, source, text, &p));
    cl_kernel kernel = cl.clCreateKernel(p, name, &code);
    cl.clReleaseProgram(p);
    if (!kernel) return ocl_fail("clCreateKernel", code);
    ocl_kernel *k = calloc(1, sizeof *k);
    const size_t n = strlen(name) + definitions->used + 2;
    char *key = k ? malloc(n) : NULL;
    if (!key) {
        free(k);
        cl.clReleaseKernel(kernel);
        return SP_NOMEM;
    }
    snprintf(key, n, "%s\n%s", name, text);
    *k = (ocl_kernel){.key = key, .hash = hash, .kernel = kernel, .next = *bucket};
    *bucket = k;
    *out = kernel;
    return SP_OK;
}

/* --- launches ---------------------------------------------------------------------------------------------------- */

sp_status ocl_begin(ocl_device *d, const char *op, const char *source, const char *name, ocl_text *definitions,
                    ocl_launch *out)
{
    *out = (ocl_launch){.d = d, .code = CL_SUCCESS};
    sp_status status = definitions->failed ? SP_NOMEM : SP_OK;
    pthread_mutex_lock(&d->lock);
    if (status == SP_OK) status = find_kernel(d, op, source, name, definitions, &out->kernel);
    if (status != SP_OK) pthread_mutex_unlock(&d->lock);
    ocl_text_free(definitions);
    return status;
}

void ocl_arg(ocl_launch *l, size_t bytes, const void *value)
{
    const cl_int code = cl.clSetKernelArg(l->kernel, l->n++, bytes, value);
    if (l->code == CL_SUCCESS) l->code = code;
}

void ocl_arg_int(ocl_launch *l, int64_t value)
{
    const cl_int v = (cl_int)value;
    ocl_arg(l, sizeof v, &v);
}

void ocl_arg_float(ocl_launch *l, double value)
{
    const cl_float v = (cl_float)value;
    ocl_arg(l, sizeof v, &v);
}

void ocl_arg_memory(ocl_launch *l, cl_mem memory, int64_t offset)
{
    const cl_ulong at = (cl_ulong)offset;
    ocl_arg(l, sizeof memory, &memory);
    ocl_arg(l, sizeof at, &at);
}

void ocl_arg_operand(ocl_launch *l, const sp_device_operand *o) { ocl_arg_memory(l, o->buffer, ocl_at(o)); }

sp_status ocl_run(ocl_launch *l, int n_dims, const size_t *global, const size_t *group)
{
    size_t own[3] = {l->d->cpu ? 1024 : 128, 1, 1}, whole[3];
    if (!group) group = own;
    cl_int code = l->code;
    for (int i = 0; i < n_dims; i++) whole[i] = (global[i] + group[i] - 1) / group[i] * group[i];
    if (code == CL_SUCCESS)
        code = cl.clEnqueueNDRangeKernel(l->d->queue, l->kernel, (cl_uint)n_dims, NULL, whole, group, 0, NULL, NULL);
    pthread_mutex_unlock(&l->d->lock);
    if (code != CL_SUCCESS) return ocl_fail(l->code ? "clSetKernelArg" : "clEnqueueNDRangeKernel", code);
    return SP_OK;
}

sp_status ocl_run_1d(ocl_launch *l, int64_t n)
{
    const size_t global = (size_t)n;
    return ocl_run(l, 1, &global, NULL);
}

sp_status ocl_run_rows(ocl_launch *l, int64_t n)
{
    const size_t group = l->d->group, global = (size_t)n * group;
    return ocl_run(l, 1, &global, &group);
}
