/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - TLS 1.2 and newer over OpenSSL; HTTP/2 is chosen by ALPN. */
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "net/connection.h"

static sp_status failed(const char *what, const char *file)
{
    char text[256];
    unsigned long code = ERR_get_error();
    ERR_error_string_n(code, text, sizeof text);
    const char *reason = ERR_reason_error_string(code);
    ERR_clear_error();
    return sp__fail(SP_VALUE, "%s %s cannot be used: %s", what, file, reason != NULL ? reason : text);
}

/* RFC 7301: the client says what it speaks, the server chooses. */
static int choose(SSL *ssl, const unsigned char **out, unsigned char *out_bytes, const unsigned char *in,
                  unsigned int in_bytes, void *context)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    unsigned char *chosen;
    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&chosen, out_bytes, ours, sizeof ours - 1, in, in_bytes) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static sp_status set_up(SSL_CTX *t, const sp_net_options *o)
{
    SSL_CTX_set_min_proto_version(t, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(
        t, "ECDHE+AESGCM:ECDHE+CHACHA20"); /* of 1.2: with forward secrecy and authenticated, nothing else */
    SSL_CTX_set_options(t, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_alpn_select_cb(t, choose, NULL);
    SP_CHECK(o->private_key != NULL, SP_VALUE, "a certificate needs its private key (--key)");
    if (SSL_CTX_use_certificate_chain_file(t, o->certificate) != 1) return failed("the certificate", o->certificate);
    if (SSL_CTX_use_PrivateKey_file(t, o->private_key, SSL_FILETYPE_PEM) != 1)
        return failed("the private key", o->private_key);
    if (SSL_CTX_check_private_key(t) != 1) return failed("the private key", o->private_key);
    if (o->client_ca == NULL) return SP_OK;
    if (SSL_CTX_load_verify_locations(t, o->client_ca, NULL) != 1)
        return failed("the list of authorities", o->client_ca);
    SSL_CTX_set_client_CA_list(t, SSL_load_client_CA_file(o->client_ca));
    SSL_CTX_set_verify(t, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    /* Sessions would have to be tied to who was verified; without them every connection verifies anew. */
    SSL_CTX_set_session_cache_mode(t, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(t, SSL_OP_NO_TICKET);
    return SP_OK;
}

sp_status sp__tls_create(const sp_net_options *o, void **out)
{
    SSL_CTX *t = SSL_CTX_new(TLS_server_method());
    SP_CHECK(t != NULL, SP_NOMEM, "out of memory");
    sp_status status = set_up(t, o);
    if (status == SP_OK) *out = t;
    else SSL_CTX_free(t);
    return status;
}

void sp__tls_release(void *tls) { SSL_CTX_free(tls); }

struct bufferevent *sp__tls_accept(void *tls, struct event_base *base, evutil_socket_t fd)
{
    SSL *ssl = SSL_new(tls);
    if (ssl == NULL) return NULL;
    struct bufferevent *bev =
        bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    if (bev != NULL)
        bufferevent_openssl_set_allow_dirty_shutdown(bev, 1); /* the length of a message is known without it */
    else SSL_free(ssl);
    return bev;
}

bool sp__tls_chose_http2(struct bufferevent *bev)
{
    const unsigned char *name = NULL;
    unsigned int bytes = 0;
    SSL_get0_alpn_selected(bufferevent_openssl_get_ssl(bev), &name, &bytes);
    return bytes == 2 && memcmp(name, "h2", 2) == 0;
}

bool sp__tls_was_plain(struct bufferevent *bev)
{
    for (unsigned long code; (code = bufferevent_get_openssl_error(bev)) != 0;)
        if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST) return true;
    return false;
}
