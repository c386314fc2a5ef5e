/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a model server inside a program: a small network is written, served on a free port, and asked once over a socket. */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <spore/spore.h>

/* y = softmax(x), for rows of three numbers. */
static sp_status write_model(const char *path)
{
    const sp_spec spec = {SP_DTYPE_F32, 2, {1, 3}};
    const sp_model_names names = {
        .n_inputs = 1, .inputs = (const char *[]){"x"}, .n_outputs = 1, .outputs = (const char *[]){"y"}};
    sp_graph *g = NULL;
    sp_function *f = NULL;
    sp_builder *b = NULL;
    sp_tensor *x = NULL, *y = NULL;
    sp_status status = sp_graph_create(&g);
    if (status == SP_OK) status = sp_builder_create(&b);
    if (status == SP_OK) status = sp_function_begin(g, "softmax", 1, &spec, &f, &x);
    if (status == SP_OK) {
        y = sp_softmax(b, x, NULL);
        status = sp_builder_status(b);
        if (status == SP_OK) status = sp_function_end(f, 1, &y);
        else sp_function_abandon(f);
    }
    if (status == SP_OK) status = sp_model_save(path, f, &names, NULL);
    sp_tensor_release(x);
    sp_builder_release(b);
    sp_graph_release(g);
    return status;
}

/* What any client does: a request, and its answer on standard output. */
static int ask(int port)
{
    static const char body[] =
        "{\"inputs\": [{\"name\": \"x\", \"shape\": [1, 3], \"datatype\": \"FP32\", \"data\": [1, 2, 3]}]}";
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    char text[4096];
    int n = snprintf(
        text, sizeof text,
        "POST /v2/models/probabilities/infer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
        sizeof body - 1, body);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address) != 0 || write(s, text, (size_t)n) != n)
        return 1;
    size_t used = 0;
    for (ssize_t got; used < sizeof text - 1 && (got = read(s, text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    close(s);
    text[used] = '\0';
    const char *answer = strstr(text, "\r\n\r\n");
    printf("%s\n", answer != NULL ? answer + 4 : text);
    return strncmp(text, "HTTP/1.1 200", 12) != 0;
}

int main(void)
{
    const sp_server_options options = {.port = -1};
    sp_server *server = NULL;
    int failed = 1;
    sp_status status = sp_server_create(&options, &server);
    if (status == SP_DECLINED) { /* built without it */
        printf("%s\n", sp_error_message());
        return 0;
    }
    if (status == SP_OK) status = write_model("probabilities.onnx");
    if (status == SP_OK) status = sp_server_start(server);
    if (status == SP_OK) status = sp_server_add_model(server, NULL, "probabilities.onnx");
    if (status == SP_OK) {
        failed = ask(sp_server_port(server));
        sp_server_stop(server); /* what is under way would be answered first */
        status = sp_server_wait(server);
    }
    if (status != SP_OK) fprintf(stderr, "serve: %s\n", sp_error_message());
    sp_server_release(server);
    remove("probabilities.onnx");
    return failed || status != SP_OK;
}
