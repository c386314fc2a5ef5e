/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - GET /: page.html, what is served and a form to try it with. It speaks the Open Inference Protocol, as any client would. Clients that accept no HTML are told
 * that the server is alive, as those of KServe v1 ask it. */
#include <string.h>

#include "serve/routes.h"

extern const unsigned char sp__serve_page[]; /* page.html, by cmake/SporePage.cmake */
extern const size_t sp__serve_page_bytes;

void sp__route_page(sp_exchange *x)
{
    const char *accept = sp__exchange_header(x, "accept");
    sp__text t = {0};
    if (accept != NULL && strstr(accept, "text/html") == NULL) {
        sp__text_put(&t, "{\"status\":\"alive\"}\n");
        sp__reply_text(x, 200, "application/json", &t);
        x->reply.headers[0] = (sp_net_header){"vary", "accept"};
        sp__exchange_reply(x);
        return;
    }
    sp__text_add(&t, (const char *)sp__serve_page, sp__serve_page_bytes);
    sp__reply_text(x, 200, "text/html; charset=utf-8", &t);
    x->reply.headers[0] = (sp_net_header){
        "content-security-policy",
        "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' blob: data:"};
    x->reply.headers[1] = (sp_net_header){"x-content-type-options", "nosniff"};
    x->reply.headers[2] = (sp_net_header){"vary", "accept"};
    sp__exchange_reply(x);
}
