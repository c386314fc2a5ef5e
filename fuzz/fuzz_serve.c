/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_serve.c - any bytes as what clients of the model server send: heads and chunks of HTTP/1.1, requests of each protocol. They are refused with
 * a message, or run and answered; texts, bodies that are arrays by themselves, compressed ones, memory that is shared, another configuration for a model, and questions of
 * gRPC's reflection, too. The first byte chooses.
 *
 * With clang: clang -fsanitize=fuzzer,address,undefined ... fuzz/fuzz_serve.c. Without: tests/serve/test_fuzz_serve.c runs it over the samples in
 * tests/serve/requests and mutations of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/http1.h"
#include "serve/grpc.h"
#include "serve/serve_impl.h"
#include "serve/regions.h"
#include "serve/texts.h"
#include "serve/triton.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* ONNX: y = x * x of float32 (n, 2), j = abs(i) of int32 (n, 1). */
static const uint8_t model[] = {8,  8,   18,  0,  58,  120, 10, 14,  10, 1,  120, 10, 1,  120, 18, 1,   121, 34,  3,
                                77, 117, 108, 10, 11,  10,  1,  105, 18, 1,  106, 34, 3,  65,  98, 115, 18,  1,   103,
                                90, 20,  10,  1,  120, 18,  15, 10,  13, 8,  1,   18, 9,  10,  3,  18,  1,   110, 10,
                                2,  8,   2,   90, 20,  10,  1,  105, 18, 15, 10,  13, 8,  6,   18, 9,   10,  3,   18,
                                1,  110, 10,  2,  8,   1,   98, 20,  10, 1,  121, 18, 15, 10,  13, 8,   1,   18,  9,
                                10, 3,   18,  1,  110, 10,  2,  8,   2,  98, 20,  10, 1,  106, 18, 15,  10,  13,  8,
                                6,  18,  9,   10, 3,   18,  1,  110, 10, 2,  8,   1,  66, 4,   10, 0,   16,  13};

/* ONNX: y = x of texts (n, 2). */
static const uint8_t texts_model[] = {
    8,  8,   58, 65, 10,  16, 10, 1,  120, 18, 1,  121, 34, 8,  73,  100, 101, 110, 116, 105, 116, 121, 18, 1,  103,
    90, 20,  10, 1,  120, 18, 15, 10, 13,  8,  8,  18,  9,  10, 3,   18,  1,   110, 10,  2,   8,   2,   98, 20, 10,
    1,  121, 18, 15, 10,  13, 8,  8,  18,  9,  10, 3,   18, 1,  110, 10,  2,   8,   2,   66,  4,   10,  0,  16, 16};
/* ONNX: y = abs(x) of float32 (n, 2). */
static const uint8_t array_model[] = {8, 8,   58, 60, 10, 11,  10,  1,  120, 18, 1,   121, 34, 3,  65, 98, 115, 18,
                                      1, 103, 90, 20, 10, 1,   120, 18, 15,  10, 13,  8,   1,  18, 9,  10, 3,   18,
                                      1, 110, 10, 2,  8,  2,   98,  20, 10,  1,  121, 18,  15, 10, 13, 8,  1,   18,
                                      9, 10,  3,  18, 1,  110, 10,  2,  8,   2,  66,  4,   10, 0,  16, 13};

static void must(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_serve: %s (%s)\n", what, sp_error_message());
    abort();
}

static void fuzz_head(const uint8_t *data, size_t bytes)
{
    sp_exchange x = {.version = 0};
    sp_http_head head;
    const size_t n = sp__http1_head_bytes((const char *)data, bytes);
    if (n == 0) return;
    must(n <= bytes, "a head that is longer than what there is");
    x.head = malloc(n + 1);
    memcpy(x.head, data, n);
    x.head[n] = '\0';
    if (sp__http1_head_parse(&x, n, &head) == 0) {
        must(x.path[0] == '/' && x.method[0] != '\0' && (x.version == 10 || x.version == 11),
             "a head without its first line");
        for (int i = 0; i < x.n_headers; i++)
            must(strpbrk(x.headers[i].value, "\r\n") == NULL && x.headers[i].name[0] != '\0',
                 "a header with a line's end");
    } else must(sp_error_message()[0] != '\0', "refused without a message");
    free(x.head);
}

/* However the bytes come, the body is the same. */
static void fuzz_chunks(const uint8_t *data, size_t bytes)
{
    size_t total[2] = {0, 0};
    bool good[2] = {true, true}, done[2];
    for (int k = 0; k < 2; k++) {
        sp_http_chunks c = {0};
        for (size_t at = 0; at < bytes && !c.done && good[k];) {
            size_t skip, payload, used, piece = k == 0 ? bytes - at : 1;
            good[k] = sp__http1_chunk(&c, data + at, piece, &skip, &payload, &used);
            if (!good[k]) break;
            must(used > 0 && used <= piece && skip + payload <= used, "more was taken than there is");
            total[k] += payload;
            at += used;
        }
        done[k] = c.done;
    }
    must(total[0] == total[1] && good[0] == good[1] && done[0] == done[1], "pieces make a difference");
}

enum { NUMBERS, TEXTS, ARRAY, N_MODELS };

static sp_served *make_model(int which)
{
    static sp_served all[N_MODELS];
    static sp_entry entry = {.name = (char *)"m"};
    static const struct {
        const uint8_t *data;
        size_t bytes;
        int n;
    } files[] = {{model, sizeof model, 2}, {texts_model, sizeof texts_model, 1}, {array_model, sizeof array_model, 1}};
    sp_served *served = &all[which];
    if (served->model != NULL) return served;
    served->entry = &entry;
    served->version = 1;
    served->n_in = served->n_out = files[which].n;
    served->max_batch = 8;
    must(sp_model_load_memory(files[which].data, files[which].bytes, NULL, &served->model) == SP_OK, "no model");
    served->items = sp_model_needs_items(served->model);
    return served;
}

static int last_status; /* of the last request, for tests: 0 where there was none */

static struct sp_server *the_server(void)
{
    static struct sp_server server = {.o = {.max_body_bytes = 1 << 20}};
    static bool made;
    if (!made) sp__lock_init(&server.lock);
    made = true;
    return &server;
}

/* A file of /dev/shm with room for inputs and outputs, known as `r`. */
static void open_region(void)
{
    static bool open;
    static const float numbers[16] = {0.5f, 1, 2, -3};
    char path[64], key[48];
    if (open) return;
    snprintf(key, sizeof key, "/fuzz_serve_%ld", (long)getpid());
    snprintf(path, sizeof path, "/dev/shm%s", key);
    FILE *file = fopen(path, "wb");
    must(file != NULL && fwrite(numbers, sizeof numbers, 1, file) == 1 && fclose(file) == 0,
         "no file of shared memory");
    const sp_exchange local = {.peer = "unix"};
    must(sp__region_register(the_server(), &local, "r", key, 0, sizeof numbers) == SP_OK, "no region");
    unlink(path); /* the server has it open */
    open = true;
}

/* type: Content-Type, NULL: none. */
static void fuzz_request_of(int which, const char *type, const sp_protocol *protocol, const uint8_t *data, size_t bytes,
                            size_t json_bytes)
{
    sp_served *served = make_model(which);
    char length[24];
    sp_exchange x = {
        .reply = {.grpc_status = -1, .body = sp__alloc(64)}}; /* room for an error, as exchanges of the net have */
    sp_job job = {.x = &x, .model = served, .protocol = protocol, .deadline_us = INT64_MAX};
    sp_tensor *tensors[4] = {NULL};
    sp_item *items[4] = {NULL};
    x.body = (uint8_t *)(uintptr_t)data;
    x.body_bytes = bytes;
    if (json_bytes > 0) {
        snprintf(length, sizeof length, "%zu", json_bytes);
        x.headers[x.n_headers++] = (sp_net_header){"inference-header-content-length", length};
    }
    const bool encoded = type != NULL && strchr(type, '/') == NULL; /* of Content-Encoding, then */
    if (type != NULL) x.headers[x.n_headers++] = (sp_net_header){encoded ? "content-encoding" : "content-type", type};
    if (encoded) { /* it is put in the place of the body, which is freed */
        x.headers[x.n_headers++] = (sp_net_header){"accept-encoding", type};
        x.body = sp__alloc(bytes + 1);
        if (bytes > 0) memcpy(x.body, data, bytes);
    }
    job.server = the_server();
    job.in = tensors;
    job.out = tensors + 2;
    if (served->items) job.texts = items;
    sp_status status = protocol->decode(&job);
    if (status == SP_OK) {
        job.rows = tensors[0] != NULL && sp_tensor_rank(tensors[0]) > 0 ? sp_tensor_dims(tensors[0])[0] : 0;
        status = served->items ? sp__texts_run(&job)
                               : sp_model_run(served->model, served->n_in, job.in, served->n_out, job.out);
        if (status == SP_OK) status = protocol->encode(&job);
        if (status == SP_OK && encoded) sp__encode_compressed(&job);
    }
    if (status != SP_OK) {
        must(sp_error_message()[0] != '\0', "refused without a message");
        sp__job_failed(&job, status);
        protocol->fail(&job);
    }
    last_status = x.reply.grpc_status > 0 ? 500 : x.reply.status;
    must(x.reply.status >= 200 && (x.reply.body_bytes > 0 || x.reply.grpc_status > 0), "no answer");
    for (int i = 0; i < 4; i++) sp_tensor_release(tensors[i]);
    sp__texts_release(&job);
    sp__regions_leave(&job);
    sp__arena_free(&job.arena);
    if (encoded) sp__free(x.body);
    sp__free(x.reply.body);
    sp__free(x.reply.grpc_message);
}

static void fuzz_request(const sp_protocol *protocol, const uint8_t *data, size_t bytes, size_t json_bytes)
{
    fuzz_request_of(NUMBERS, NULL, protocol, data, bytes, json_bytes);
}

/* JSON up to its last brace, then bytes. */
static void fuzz_binary(int which, const uint8_t *data, size_t bytes)
{
    for (size_t n = bytes; n > 0; n--)
        if (data[n - 1] == '}') {
            fuzz_request_of(which, NULL, &sp__protocol_kserve_rest, data, bytes, n);
            break;
        }
}

static void fuzz_reflection(const uint8_t *data, size_t bytes)
{
    sp_exchange x = {.body = (uint8_t *)(uintptr_t)data, .body_bytes = bytes};
    sp_wire_out o = {0};
    if (sp__reflection_answer(&x, &o) == SP_OK) must(o.bytes > SP_GRPC_PREFIX, "an empty answer");
    else must(sp_error_message()[0] != '\0', "refused without a message");
    sp__wire_out_free(&o);
}

/* What comes out can be run: numbers that are allowed, and nothing else is changed. */
static void fuzz_override(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    sp_settings s = {.max_batch = 8, .n_instances = 1, .n_newest = 1, .max_queue = 100, .request_seconds = 60};
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    sp_entry *e = make_model(NUMBERS)->entry;
    if (sp__model_config_override(e, text, &s) == SP_OK) {
        must(s.max_batch >= 1 && s.max_batch <= SP_SERVE_BATCH_MAX && s.n_instances >= 1 &&
                 s.n_instances <= SP_SERVE_INSTANCES_MAX && s.n_newest >= 1 && s.n_newest <= SP_SERVE_VERSIONS_MAX &&
                 s.max_queue >= 1 && s.max_delay_us >= 0 && s.request_seconds > 0,
             "a setting that no server could have");
        must(s.max_batch > 1 || s.max_delay_us == 0, "a delay without batches");
        last_status = 200;
    } else must(sp_error_message()[0] != '\0', "refused without a message");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) return 0;
    const uint8_t kind = data[0];
    data++;
    bytes--;
    switch (kind) {
    case 'h': fuzz_head(data, bytes); break;
    case 'c': fuzz_chunks(data, bytes); break;
    case 'k': fuzz_request(&sp__protocol_kserve_rest, data, bytes, 0); break;
    case 'b': fuzz_binary(NUMBERS, data, bytes); break;
    case 't': fuzz_request_of(TEXTS, NULL, &sp__protocol_kserve_rest, data, bytes, 0); break;
    case 'T': fuzz_binary(TEXTS, data, bytes); break;
    case 'G': fuzz_request_of(TEXTS, NULL, &sp__protocol_kserve_grpc, data, bytes, 0); break;
    case 'y': fuzz_request_of(ARRAY, "application/x-npy", &sp__protocol_kserve_rest, data, bytes, 0); break;
    case 'z': fuzz_request_of(NUMBERS, "application/x-npz", &sp__protocol_kserve_rest, data, bytes, 0); break;
    case 'o': fuzz_request_of(ARRAY, "application/octet-stream", &sp__protocol_kserve_rest, data, bytes, 0); break;
    case 's': fuzz_request(&sp__protocol_kserve_stream, data, bytes, 0); break;
    case 'e': fuzz_request_of(NUMBERS, "gzip", &sp__protocol_kserve_rest, data, bytes, 0); break;
    case 'E': fuzz_request_of(NUMBERS, "zstd", &sp__protocol_kserve_rest, data, bytes, 0); break;
    case 'x':
        open_region();
        fuzz_request(&sp__protocol_kserve_rest, data, bytes, 0);
        break;
    case 'X':
        open_region();
        fuzz_request(&sp__protocol_kserve_grpc, data, bytes, 0);
        break;
    case 'l': fuzz_override(data, bytes); break;
    case 'r': fuzz_reflection(data, bytes); break;
    case 'm': fuzz_request(&sp__protocol_mindspore_rest, data, bytes, 0); break;
    case 'g': fuzz_request(&sp__protocol_kserve_grpc, data, bytes, 0); break;
    case 'p': fuzz_request(&sp__protocol_mindspore_grpc, data, bytes, 0); break;
    default: break;
    }
    return 0;
}
