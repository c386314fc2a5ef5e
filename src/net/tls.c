/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - TLS 1.2 and newer over OpenSSL; HTTP/2 is chosen by ALPN. */
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "net/connection.h"

/* Why OpenSSL could not use a file, in words that tell what to do. kind: of its PEM block. locked: its passphrase was asked for. */
static sp_status failed(const char *what, const char *file, const char *kind, const char *certificate, bool locked)
{
    char text[256];
    const unsigned long code = ERR_peek_error();
    const int library = ERR_GET_LIB(code), reason = ERR_GET_REASON(code);
    const char *words = ERR_reason_error_string(code);
    ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    if (ERR_SYSTEM_ERROR(code)) words = sp__strerror(reason);
    const bool no_block = (library == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE) ||
                          (library == ERR_LIB_OSSL_DECODER && reason == ERR_R_UNSUPPORTED);
    SP_CHECK(!no_block, SP_VALUE, "%s %s cannot be used: it has no line '-----BEGIN %s-----', as PEM files do", what,
             file, kind);
    SP_CHECK(!locked, SP_VALUE,
             "%s %s cannot be used: it is encrypted, and nobody is there to be asked for its passphrase; "
             "'openssl pkey -in %s -out NEW' writes it without",
             what, file, file);
    SP_CHECK(library != ERR_LIB_X509 || reason != X509_R_KEY_VALUES_MISMATCH, SP_VALUE,
             "%s %s cannot be used: it is not the key of the certificate %s (key values mismatch)", what, file,
             certificate);
    return sp__fail(SP_VALUE, "%s %s cannot be used: %s", what, file, words != NULL ? words : text);
}

/* A certificate that clients refuse, or will soon, is used all the same; whoever keeps the server is told. */
static void tell_validity(const sp_net_options *o, const X509 *certificate)
{
    enum { SOON_DAYS = 14 };
    int days = 0, seconds = 0;
    char text[600];
    if (o->log == NULL || certificate == NULL) return;
    if (ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate), NULL) == 1 && (days < 0 || seconds < 0)) {
        snprintf(
            text, sizeof text,
            "the certificate %.400s is not valid before %d days from now: clients refuse it until then; is the clock right?",
            o->certificate, -days);
        o->log(o->context, text);
    }
    if (ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate)) != 1 || days >= SOON_DAYS) return;
    if (days < 0 || seconds < 0)
        snprintf(
            text, sizeof text,
            "the certificate %.400s has expired %d days ago: clients refuse it; put a new one in its place, and send SIGHUP",
            o->certificate, -days);
    else
        snprintf(text, sizeof text,
                 "the certificate %.400s expires in %d days; put a new one in its place, and send SIGHUP",
                 o->certificate, days);
    o->log(o->context, text);
}

static int no_passphrase(char *out, int room, int writing, void *context)
{
    bool *locked = context;
    (void)out;
    (void)room;
    (void)writing;
    *locked = true;
    return -1;
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
    bool locked = false;
    SSL_CTX_set_default_passwd_cb(t, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(t, &locked);
    if (SSL_CTX_use_certificate_chain_file(t, o->certificate) != 1)
        return failed("the certificate", o->certificate, "CERTIFICATE", o->certificate, locked);
    if (SSL_CTX_use_PrivateKey_file(t, o->private_key, SSL_FILETYPE_PEM) != 1)
        return failed("the private key", o->private_key, "PRIVATE KEY", o->certificate, locked);
    if (SSL_CTX_check_private_key(t) != 1)
        return failed("the private key", o->private_key, "PRIVATE KEY", o->certificate, locked);
    SSL_CTX_set_default_passwd_cb_userdata(t, NULL);
    tell_validity(o, SSL_CTX_get0_certificate(t));
    if (o->client_ca == NULL) return SP_OK;
    if (SSL_CTX_load_verify_locations(t, o->client_ca, NULL) != 1)
        return failed("the list of authorities", o->client_ca, "CERTIFICATE", o->certificate, locked);
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
