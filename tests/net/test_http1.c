/* SPDX-License-Identifier: Apache-2.0 */
/* test_http1.c - heads and chunks of HTTP/1.1; tests/serve/test_network.py has the refusals as clients see them. */
#include "formats/formats_util.h"
#include "net/http1.h"

/* 0, or the status it is refused with. */
static int parse(const char *text, sp_exchange *x, sp_http_head *head)
{
    static char block[4096];
    const size_t n = sp__http1_head_bytes(text, strlen(text));
    *x = (sp_exchange){.head = block};
    assert_true(n > 0 && n < sizeof block);
    memcpy(block, text, n);
    block[n] = '\0';
    return sp__http1_head_parse(x, n, head);
}

static void heads_are_read(void **unused)
{
    sp_exchange x;
    sp_http_head head;
    (void)unused;
    assert_int_equal(parse("POST /a/b?c=d HTTP/1.1\r\nHOST: h\r\nContent-Length:  12 \r\nX-Y:\r\n\r\nrest", &x, &head),
                     0);
    assert_string_equal(x.method, "POST");
    assert_string_equal(x.path, "/a/b");
    assert_string_equal(x.query, "c=d");
    assert_int_equal(x.version, 11);
    assert_int_equal(head.content_length, 12);
    assert_true(head.keep_alive && !head.chunked && !head.expect_continue);
    assert_string_equal(sp__exchange_header(&x, "x-y"), "");
    assert_null(sp__exchange_header(&x, "x-z"));
    assert_int_equal(parse("GET http://host/p HTTP/1.1\r\nhost: h\r\nconnection: foo , Close\r\n\r\n", &x, &head), 0);
    assert_string_equal(x.path, "/p");
    assert_false(head.keep_alive);
    assert_int_equal(parse("GET / HTTP/1.0\r\n\r\n", &x, &head), 0);
    assert_false(head.keep_alive);
    assert_int_equal(
        parse("PUT / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: Chunked\r\nexpect: 100-Continue\r\n\r\n", &x, &head), 0);
    assert_true(head.chunked && head.expect_continue);
}

static void unfinished_heads_wait(void **unused)
{
    const char *text = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    (void)unused;
    for (size_t n = 0; n < strlen(text); n++) assert_int_equal(sp__http1_head_bytes(text, n), 0);
    assert_int_equal(sp__http1_head_bytes(text, strlen(text)), strlen(text));
}

static void doubtful_heads_are_refused(void **unused)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {{"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
                 {"GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400},
                 {" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
                 {"G(T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
                 {"GET /\x80 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
                 {"GET /#a HTTP/1.1\r\nHost: h\r\n\r\n", 400},
                 {"GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400},
                 {"GET http://host HTTP/1.1\r\nHost: h\r\n\r\n", 400},
                 {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
                 {"GET / http/1.1\r\nHost: h\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\n: h\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999999999999999\r\n\r\n", 400},
                 {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_exchange x;
        sp_http_head head;
        if (parse(cases[i].text, &x, &head) != cases[i].status)
            fail_msg("%s is not refused with %d", cases[i].text, cases[i].status);
        assert_true(sp_error_message()[0] != '\0');
    }
}

/* The body of a chunked message that is fed `step` bytes at a time; NULL: refused. */
static const char *unchunk(const char *text, size_t step, bool *done, size_t *used)
{
    static char body[4096];
    sp_http_chunks c = {0};
    size_t n = 0, at = 0, bytes = strlen(text);
    while (at < bytes && !c.done) {
        size_t skip, payload, taken, piece = bytes - at < step ? bytes - at : step;
        if (!sp__http1_chunk(&c, (const uint8_t *)text + at, piece, &skip, &payload, &taken)) return NULL;
        assert_true(skip + payload <= piece && taken <= piece && taken > 0);
        memcpy(body + n, text + at + skip, payload);
        n += payload;
        at += taken;
    }
    body[n] = '\0';
    *done = c.done;
    *used = at;
    return body;
}

static void chunks_are_joined_however_they_come(void **unused)
{
    const char *text = "4\r\nWiki\r\n6;a=\"b\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n000\r\nTrailer: x\r\n\r\n",
               *body;
    bool done;
    size_t used;
    (void)unused;
    for (size_t step = 1; step <= strlen(text); step++) {
        body = unchunk(text, step, &done, &used);
        assert_non_null(body);
        assert_string_equal(body, "Wikipedia in \r\n\r\nchunks.");
        assert_true(done && used == strlen(text));
    }
    assert_non_null(unchunk("0\r\n\r\nGET / HTTP/1.1", 100, &done, &used));
    assert_true(done && used == 5);
}

static void wrong_chunks_are_refused(void **unused)
{
    static const char *const wrong[] = {"\r\n",        "g\r\n",          "-1\r\n",
                                        "1\nx",        "1\r\nxy",        "1\r\nx\n",
                                        " 1\r\nx\r\n", "1 \r\nx\r\n",    "11111111111111111\r\n",
                                        "0\r\n\n",     "0\r\nA: b\n\r\n"};
    bool done;
    size_t used;
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (size_t step = 1; step < 30; step++)
            if (unchunk(wrong[i], step, &done, &used) != NULL) fail_msg("%s is taken", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads_are_read), cmocka_unit_test(unfinished_heads_wait),
                                       cmocka_unit_test(doubtful_heads_are_refused),
                                       cmocka_unit_test(chunks_are_joined_however_they_come),
                                       cmocka_unit_test(wrong_chunks_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
