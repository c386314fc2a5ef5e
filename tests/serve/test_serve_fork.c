/* SPDX-License-Identifier: Apache-2.0 */
/* test_serve_fork.c - a server belongs to the process that made it: a child can let go of it, and does the parent's no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spore/serve.h"

#if defined(__SANITIZE_THREAD__)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
#endif

static bool answers(int port)
{
    static const char request[] = "GET /v2/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char reply[64] = "";
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool sent = connect(s, (struct sockaddr *)&to, sizeof to) == 0 &&
                      send(s, request, sizeof request - 1, 0) == (ssize_t)sizeof request - 1;
    const ssize_t n = sent ? recv(s, reply, sizeof reply - 1, 0) : -1;
    close(s);
    return n > 0 && strncmp(reply, "HTTP/1.1 200", 12) == 0;
}

static int let_go(sp_server *s)
{
    if (sp_server_start(s) == SP_OK || !strstr(sp_error_message(), "forked")) return 1;
    if (sp_server_add_model(s, "m", "m.onnx") == SP_OK || !strstr(sp_error_message(), "forked")) return 2;
    if (sp_server_add_folder(s, ".") == SP_OK || !strstr(sp_error_message(), "forked")) return 3;
    if (sp_server_wait(s) == SP_OK || !strstr(sp_error_message(), "forked")) return 4;
    sp_server_stop(s);
    sp_server_release(s);
    return 0;
}

static void a_child_lets_go(void **unused)
{
    (void)unused;
    sp_server *s = NULL;
    const sp_server_options options = {.port = -1};
    assert_int_equal(sp_server_create(&options, &s), SP_OK);
    assert_int_equal(sp_server_start(s), SP_OK);
    assert_true(answers(sp_server_port(s)));
    for (int i = 0; i < 20; i++) {
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(20); /* one that waits for threads it does not have is ended by this */
            _exit(let_go(s));
        }
        int result;
        assert_int_equal(waitpid(pid, &result, 0), pid);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 0);
        assert_true(answers(sp_server_port(s)));
    }
    sp_server_stop(s);
    assert_int_equal(sp_server_wait(s), SP_OK);
    sp_server_release(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_lets_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
