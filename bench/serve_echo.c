/* SPDX-License-Identifier: Apache-2.0 */
/* serve_echo.c - libevent's own HTTP server, which sends back what it gets: what bench/serve.py puts beside a small model. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

static void echo(struct evhttp_request *request, void *context)
{
    (void)context;
    struct evbuffer *out = evbuffer_new();
    evbuffer_add_buffer(out, evhttp_request_get_input_buffer(request));
    evhttp_send_reply(request, 200, "OK", out);
    evbuffer_free(out);
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct evhttp *http = evhttp_new(base);
    struct evhttp_bound_socket *s = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
    struct sockaddr_in address;
    socklen_t bytes = sizeof address;
    if (s == NULL || getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&address, &bytes) != 0) return 1;
    fprintf(stderr, "port %d\n", ntohs(address.sin_port));
    evhttp_set_gencb(http, echo, NULL);
    return event_base_dispatch(base);
}
