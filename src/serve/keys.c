/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - who may ask: keys of clients, which a file holds as digests, and what is told to browsers and tracers.
 *
 *     # name  sha256 of the key (printf %s KEY | sha256sum)                                  models (none: all)
 *     alice   9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
 *     bob     60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752              lenet resnet
 *
 * A client shows its key as `Authorization: Bearer KEY` or `X-API-Key: KEY`. */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "serve/keys.h"
#include "serve/serve_impl.h"

enum { DIGEST_BYTES = 32, LINE_BYTES = 4096 };

struct sp_key {
    struct sp_key *next;
    unsigned char digest[DIGEST_BYTES];
    char name[64];
    char models[]; /* " lenet resnet ", or "" for all */
};

/* --- the file ------------------------------------------------------------------------------------------------------- */

static bool read_digest(const char *text, unsigned char *out)
{
    if (strlen(text) != 2 * DIGEST_BYTES || strspn(text, "0123456789abcdefABCDEF") != 2 * DIGEST_BYTES) return false;
    for (int i = 0; i < DIGEST_BYTES; i++) {
        unsigned v = 0;
        for (int k = 0; k < 2; k++) {
            const char c = text[2 * i + k];
            v = v << 4 | (unsigned)(sp__is_digit(c) ? c - '0' : sp__to_lower(c) - 'a' + 10);
        }
        out[i] = (unsigned char)v;
    }
    return true;
}

static char *next_word(char **at)
{
    char *p = *at + strspn(*at, " \t\r\n"), *end = p + strcspn(p, " \t\r\n");
    *at = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return p;
}

static sp_status read_line(char *line, sp_key **list)
{
    char *at = line, *name = next_word(&at), *digest = next_word(&at);
    if (name[0] == '\0' || name[0] == '#') return SP_OK;
    const size_t rest = strlen(at);
    sp_key *key = sp__alloc_zero(sizeof *key + rest + 4);
    if (key == NULL) return SP_NOMEM;
    if (strlen(name) >= sizeof key->name || !read_digest(digest, key->digest)) {
        sp__free(key);
        return sp__fail(SP_VALUE,
                        "a line is NAME, the 64 hexadecimal digits of the key's SHA-256, and names of models");
    }
    memcpy(key->name, name, strlen(name) + 1);
    for (char *word; *(word = next_word(&at)) != '\0';) {
        if (key->models[0] == '\0') strcat(key->models, " ");
        strcat(key->models, word); /* there is room for as many bytes as the line has, and the blanks around them */
        strcat(key->models, " ");
    }
    key->next = *list;
    *list = key;
    return SP_OK;
}

static void keys_free(sp_key *list)
{
    for (sp_key *next; list != NULL; list = next) {
        next = list->next;
        sp__free(list);
    }
}

sp_status sp__keys_load(struct sp_server *s)
{
    sp_key *list = NULL;
    sp_status status = SP_OK;
    if (s->o.api_keys == NULL) return SP_OK;
    char *line = sp__alloc(LINE_BYTES);
    FILE *file = line != NULL ? fopen(s->o.api_keys, "r") : NULL;
    if (file == NULL) {
        const int why = line == NULL ? ENOMEM : errno;
        sp__free(line);
        return sp__fail(why == ENOMEM ? SP_NOMEM : SP_IO, "the file of keys %s cannot be read: %s", s->o.api_keys,
                        sp__strerror(why));
    }
    for (int n = 1; status == SP_OK && fgets(line, LINE_BYTES, file) != NULL; n++) {
        status = strchr(line, '\n') != NULL || feof(file) ? read_line(line, &list)
                                                          : sp__fail(SP_VALUE, "the line is too long");
        if (status != SP_OK) sp__error_context("%s:%d", s->o.api_keys, n);
    }
    if (status == SP_OK && ferror(file) != 0)
        status = sp__fail(SP_IO, "the file of keys %s cannot be read to its end", s->o.api_keys);
    fclose(file);
    sp__free(line);
    if (status == SP_OK && list == NULL)
        status = sp__fail(SP_VALUE, "the file of keys %s holds no key: nobody could be let in", s->o.api_keys);
    if (status == SP_OK) {
        sp__lock(&s->lock);
        sp_key *old = s->keys;
        s->keys = list;
        sp__unlock(&s->lock);
        list = old;
    }
    keys_free(list);
    return status;
}

void sp__keys_release(struct sp_server *s)
{
    keys_free(s->keys);
    s->keys = NULL;
}

/* --- requests ------------------------------------------------------------------------------------------------------- */

static const char *shown_key(const sp_exchange *x)
{
    const char *bearer = sp__exchange_header(x, "authorization"), *key = sp__exchange_header(x, "x-api-key");
    if (bearer != NULL && sp__same_letters_n(bearer, "bearer ", 7)) return bearer + 7 + strspn(bearer + 7, " ");
    return key;
}

static bool lists(const sp_key *key, const char *model)
{
    char word[260];
    snprintf(word, sizeof word, " %s ", model);
    return key->models[0] == '\0' || strstr(key->models, word) != NULL;
}

/* Every key is compared, whole, so that time tells nothing. */
int sp__keys_check(struct sp_server *s, const sp_exchange *x, const char *model, char name[64])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    const char *shown = shown_key(x);
    unsigned int n = 0;
    int status = 401;
    if (name != NULL) name[0] = '\0';
    if (s->o.api_keys == NULL) return 0;
    if (shown == NULL || EVP_Digest(shown, strlen(shown), digest, &n, EVP_sha256(), NULL) != 1) return 401;
    sp__lock(&s->lock);
    for (const sp_key *key = s->keys; key != NULL; key = key->next) {
        if (CRYPTO_memcmp(key->digest, digest, DIGEST_BYTES) != 0) continue;
        status = model == NULL ? (key->models[0] != '\0' ? 403 : 0) : lists(key, model) ? 0 : 403;
        if (name != NULL) snprintf(name, 64, "%s", key->name);
    }
    sp__unlock(&s->lock);
    return status;
}

bool sp__keys_let_in(struct sp_server *s, const sp_exchange *x)
{
    static const char *const open[] = {"/v2/health/live", "/v2/health/ready", "/grpc.health.v1.Health/Check"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (strcmp(x->path, open[i]) == 0) return true;
    return sp__keys_check(s, x, NULL, NULL) != 401;
}

/* --- headers of replies ------------------------------------------------------------------------------------------------ */

const char *sp__request_id(const sp_exchange *x)
{
    const char *id = sp__exchange_header(x, "x-request-id");
    for (const char *p = id; p != NULL && *p != '\0'; p++)
        if (*p <= ' ' || *p > '~' || *p == '"' || p - id >= 128) return NULL;
    return id != NULL && id[0] != '\0' ? id : NULL;
}

/* W3C: version, trace, parent, flags, in hexadecimal digits. */
const char *sp__trace_parent(const sp_exchange *x)
{
    const char *t = sp__exchange_header(x, "traceparent");
    if (t == NULL || strlen(t) != 55 || strspn(t, "0123456789abcdef-") != 55 || t[2] != '-' || t[35] != '-' ||
        t[52] != '-')
        return NULL;
    return t;
}

const char *sp__cors_origin(const struct sp_server *s, const sp_exchange *x)
{
    const char *origin = sp__exchange_header(x, "origin");
    if (s->o.cors == NULL || origin == NULL) return NULL;
    if (strcmp(s->o.cors, "*") == 0) return "*";
    for (const char *p = s->o.cors; *p != '\0'; p += strcspn(p, " "), p += strspn(p, " "))
        if (strncmp(p, origin, strlen(origin)) == 0 && (p[strlen(origin)] == ' ' || p[strlen(origin)] == '\0'))
            return origin;
    return NULL;
}

static void add(sp_net_reply *r, const char *name, const char *value)
{
    int i = 0;
    while (i < SP_NET_REPLY_HEADERS && r->headers[i].name != NULL) i++;
    if (i < SP_NET_REPLY_HEADERS && value != NULL) r->headers[i] = (sp_net_header){name, value};
}

void sp__server_decorate(void *context, sp_exchange *x)
{
    const struct sp_server *s = context;
    const char *origin = sp__cors_origin(s, x);
    add(&x->reply, "x-request-id", sp__request_id(x));
    add(&x->reply, "traceparent", sp__trace_parent(x));
    add(&x->reply, "access-control-allow-origin", origin);
    if (origin != NULL && origin[0] != '*') add(&x->reply, "vary", "origin");
}

/* A browser asks whether it may ask. */
bool sp__cors_preflight(const struct sp_server *s, sp_exchange *x)
{
    if (strcmp(x->method, "OPTIONS") != 0 || sp__cors_origin(s, x) == NULL ||
        sp__exchange_header(x, "access-control-request-method") == NULL)
        return false;
    x->reply.status = 204;
    add(&x->reply, "access-control-allow-methods", "GET, POST");
    add(&x->reply, "access-control-allow-headers",
        "authorization, content-type, content-encoding, inference-header-content-length, traceparent, x-api-key, x-request-id");
    add(&x->reply, "access-control-max-age", "600");
    sp__exchange_reply(x);
    return true;
}
