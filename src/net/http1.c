/* SPDX-License-Identifier: Apache-2.0 */
/* http1.c - heads and chunks of HTTP/1.1. */
#include <string.h>

#include "base/plain.h"
#include "net/http1.h"

enum { LINE_BYTES_MAX = 4096, TRAILER_BYTES_MAX = 4096 };

size_t sp__http1_head_bytes(const char *data, size_t bytes)
{
    const char *at = data, *end = data + bytes;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n') return (size_t)(at - data) + 2;
        if (end - at >= 1 && at[0] == '\n') return (size_t)(at - data) + 1; /* refused later, but it is the end */
    }
    return 0;
}

static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Cut the line at `at` off; NULL when it does not end in CR LF or holds a NUL or a lone CR. */
static char *cut_line(char *at, const char *end, char **line)
{
    char *feed = memchr(at, '\n', (size_t)(end - at));
    if (feed == NULL || feed == at || feed[-1] != '\r') return NULL;
    if (memchr(at, '\r', (size_t)(feed - 1 - at)) != NULL || memchr(at, '\0', (size_t)(feed - at)) != NULL) return NULL;
    feed[-1] = '\0';
    *line = at;
    return feed + 1;
}

static int refuse(int status, const char *text)
{
    (void)sp__fail(SP_VALUE, "%s", text);
    return status;
}

static int parse_target(sp_exchange *x, char *target)
{
    if (sp__same_letters_n(target, "http://", 7) ||
        sp__same_letters_n(target, "https://", 8)) { /* as proxies are asked */
        char *slash = strchr(strchr(target, ':') + 3, '/');
        if (slash == NULL) return refuse(400, "the request's target has no path");
        target = slash;
    }
    if (target[0] != '/') return refuse(400, "the request's target is not a path: it must begin with /");
    for (const char *p = target; *p; p++)
        if (*p <= 0x20 || *p >= 0x7f || *p == '#')
            return refuse(400, "the request's target holds a character that must be written as %XX");
    char *question = strchr(target, '?');
    if (question != NULL) *question = '\0';
    x->path = target;
    x->query = question != NULL ? question + 1 : "";
    return 0;
}

/* "POST /v2 HTTP/1.1" */
static int parse_request_line(sp_exchange *x, char *line)
{
    char *first = strchr(line, ' '), *second = first != NULL ? strchr(first + 1, ' ') : NULL;
    if (second == NULL || strchr(second + 1, ' ') != NULL || first == line)
        return refuse(400, "the first line is not METHOD TARGET HTTP/1.1");
    *first = *second = '\0';
    for (const char *p = line; *p; p++)
        if (!is_token(*p)) return refuse(400, "the request's method holds a character that no method has");
    const char *version = second + 1;
    if (strncmp(version, "HTTP/", 5) != 0 || strlen(version) != 8 || version[6] != '.')
        return refuse(400, "the first line does not end in HTTP/1.1");
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return refuse(505, "only HTTP/1.1, HTTP/1.0 and HTTP/2 are spoken here");
    x->version = version[7] == '1' ? 11 : 10;
    x->method = line;
    return parse_target(x, first + 1);
}

static int parse_header(sp_exchange *x, char *line)
{
    char *colon = strchr(line, ':');
    if (line[0] == ' ' || line[0] == '\t')
        return refuse(400, "a header goes on in the next line, which is not allowed any more");
    if (colon == NULL || colon == line) return refuse(400, "a header is not NAME: VALUE");
    *colon = '\0';
    for (char *p = line; *p; p++) {
        if (!is_token(*p)) return refuse(400, "the name of a header holds a character that no name has");
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    }
    char *value = colon + 1 + strspn(colon + 1, " \t"), *last = value + strlen(value);
    while (last > value && (last[-1] == ' ' || last[-1] == '\t')) *--last = '\0';
    for (const unsigned char *p = (const unsigned char *)value; *p; p++)
        if ((*p < 0x20 && *p != '\t') || *p == 0x7f)
            return refuse(400, "the value of a header holds a control character");
    if (x->n_headers == SP_NET_HEADERS_MAX) return refuse(431, "the request has more than 64 headers");
    x->headers[x->n_headers++] = (sp_net_header){line, value};
    return 0;
}

static int parse_length(const char *value, int64_t *out)
{
    int64_t n = 0;
    size_t digits = strspn(value, "0123456789");
    if (digits == 0 || value[digits] != '\0' || digits > 18) return refuse(400, "Content-Length is not a number");
    for (const char *p = value; *p; p++) n = n * 10 + (*p - '0');
    *out = n;
    return 0;
}

/* A word in a list "a, b". */
static bool names_option(const char *value, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = value; *p; p += *p == ',') {
        p += strspn(p, " \t");
        size_t length = strcspn(p, ","), bare = length;
        while (bare > 0 && (p[bare - 1] == ' ' || p[bare - 1] == '\t')) bare--;
        if (bare == n && sp__same_letters_n(p, word, n)) return true;
        p += length;
    }
    return false;
}

static int read_meaning(const sp_exchange *x, sp_http_head *out)
{
    int n_hosts = 0, n_encodings = 0, status = 0;
    *out = (sp_http_head){.content_length = -1, .keep_alive = x->version == 11};
    for (int i = 0; i < x->n_headers && status == 0; i++) {
        const sp_net_header *h = &x->headers[i];
        if (strcmp(h->name, "host") == 0) n_hosts++;
        else if (strcmp(h->name, "content-length") == 0) {
            if (out->content_length >= 0) return refuse(400, "Content-Length is given twice");
            status = parse_length(h->value, &out->content_length);
        } else if (strcmp(h->name, "transfer-encoding") == 0) {
            if (n_encodings++ > 0 || !sp__same_letters(h->value, "chunked"))
                return refuse(501, "the only Transfer-Encoding understood is chunked");
            out->chunked = true;
        } else if (strcmp(h->name, "connection") == 0) {
            if (names_option(h->value, "close")) out->keep_alive = false;
            else if (x->version == 10 && names_option(h->value, "keep-alive")) out->keep_alive = true;
        } else if (strcmp(h->name, "expect") == 0) {
            if (!sp__same_letters(h->value, "100-continue"))
                return refuse(417, "the only Expect understood is 100-continue");
            out->expect_continue = x->version == 11;
        }
    }
    if (status != 0) return status;
    if (n_hosts > 1 || (n_hosts == 0 && x->version == 11))
        return refuse(400, n_hosts > 1 ? "Host is given twice" : "Host is missing");
    if (out->chunked && out->content_length >= 0)
        return refuse(400, "both Content-Length and Transfer-Encoding are given");
    if (out->chunked && x->version == 10) return refuse(400, "HTTP/1.0 knows no Transfer-Encoding");
    return 0;
}

int sp__http1_head_parse(sp_exchange *x, size_t bytes, sp_http_head *out)
{
    char *at = x->head, *line, *end = at + bytes;
    x->n_headers = 0;
    x->method = x->path = x->query = "";
    at = cut_line(at, end, &line);
    if (at == NULL)
        return refuse(400, "a line of the request's head does not end in CR LF, or holds a control character");
    int status = parse_request_line(x, line);
    while (status == 0) {
        at = cut_line(at, end, &line);
        if (at == NULL)
            return refuse(400, "a line of the request's head does not end in CR LF, or holds a control character");
        if (line[0] == '\0') break;
        status = parse_header(x, line);
    }
    return status == 0 ? read_meaning(x, out) : status;
}

/* --- chunks ------------------------------------------------------------------------------------------------------ */

enum {
    IN_SIZE,
    IN_EXTENSION,
    AFTER_SIZE,
    IN_DATA,
    AFTER_DATA,
    AFTER_DATA_CR,
    IN_TRAILER,
    IN_TRAILER_LINE,
    TRAILER_CR,
    END_CR
};

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One byte outside of the data. */
static bool chunk_byte(sp_http_chunks *c, uint8_t b)
{
    int digit;
    switch (c->state) {
    case IN_SIZE:
        digit = hex_digit(b);
        if (digit >= 0) {
            if (c->left >> 56 != 0) return false;
            c->left = c->left << 4 | (uint64_t)digit;
            c->digits = true;
            return ++c->line_bytes < LINE_BYTES_MAX;
        }
        if (!c->digits || (b != '\r' && b != ';')) return false;
        c->state = b == '\r' ? AFTER_SIZE : IN_EXTENSION;
        return true;
    case IN_EXTENSION: /* means nothing to us */
        if (b == '\r') c->state = AFTER_SIZE;
        return b != '\n' && b != '\0' && ++c->line_bytes < LINE_BYTES_MAX;
    case AFTER_SIZE:
        c->state = c->left > 0 ? IN_DATA : IN_TRAILER;
        c->line_bytes = 0;
        return b == '\n';
    case AFTER_DATA: c->state = AFTER_DATA_CR; return b == '\r';
    case AFTER_DATA_CR:
        c->state = IN_SIZE;
        c->digits = false;
        return b == '\n';
    case IN_TRAILER: /* at the start of a line; trailers are read over */
        c->state = b == '\r' ? END_CR : IN_TRAILER_LINE;
        return b != '\n' && b != '\0';
    case IN_TRAILER_LINE:
        if (b == '\r') c->state = TRAILER_CR;
        return b != '\n' && b != '\0' && ++c->line_bytes < TRAILER_BYTES_MAX;
    case TRAILER_CR: c->state = IN_TRAILER; return b == '\n';
    default: /* END_CR */ c->done = true; return b == '\n';
    }
}

bool sp__http1_chunk(sp_http_chunks *c, const uint8_t *data, size_t bytes, size_t *skip, size_t *payload_bytes,
                     size_t *used)
{
    size_t i = 0;
    *payload_bytes = *skip = 0;
    while (i < bytes && !c->done) {
        if (c->state == IN_DATA) {
            size_t n = bytes - i < c->left ? bytes - i : (size_t)c->left;
            *skip = i;
            *payload_bytes = n;
            *used = i + n;
            c->left -= n;
            if (c->left == 0) c->state = AFTER_DATA;
            return true;
        }
        if (!chunk_byte(c, data[i++])) return false;
    }
    *used = i;
    return true;
}
