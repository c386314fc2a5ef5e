/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - GET /: page.html, what is served and a form to try it with. It speaks the Open Inference Protocol, as any client would. */
#include "serve/routes.h"

extern const unsigned char sp__serve_page[]; /* page.html, by cmake/SporePage.cmake */
extern const size_t sp__serve_page_bytes;

void sp__route_page(sp_exchange *x)
{
    sp__text t = {0};
    sp__text_add(&t, (const char *)sp__serve_page, sp__serve_page_bytes);
    sp__reply_text(x, 200, "text/html; charset=utf-8", &t);
    x->reply.headers[0] = (sp_net_header){
        "content-security-policy",
        "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' blob: data:"};
    x->reply.headers[1] = (sp_net_header){"x-content-type-options", "nosniff"};
    sp__exchange_reply(x);
}
