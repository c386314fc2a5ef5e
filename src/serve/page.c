/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - GET /: a page to try the models with, by hand. It speaks the Open Inference Protocol, as any client would. */
#include "serve/routes.h"

static const char page[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>spore serve</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}textarea{width:100%;height:14em;font:14px monospace}\n"
    "pre{background:#f4f4f4;padding:1em;overflow:auto;max-height:30em}button,select{font-size:1em;padding:.3em 1em}</style></head>\n"
    "<body><h1>spore serve</h1>\n"
    "<p><label>Model <select id=\"model\"></select></label> <span id=\"face\"></span></p>\n"
    "<p><label>Request <textarea id=\"body\" spellcheck=\"false\"></textarea></label></p>\n"
    "<p><button id=\"run\">Run</button> <span id=\"time\"></span></p><pre id=\"reply\"></pre>\n"
    "<p><a href=\"/metrics\">figures</a></p>\n"
    "<script>\n"
    "const $ = id => document.getElementById(id);\n"
    "const path = () => '/v2/models/' + encodeURIComponent($('model').value);\n"
    "const ask = async (p, o) => { const r = await fetch(p, o); return [r.status, await r.json()]; };\n"
    "function fill(t) { // ones in the shape of an input, one where it is free\n"
    "  const shape = t.shape.map(d => d < 0 ? 1 : d), n = shape.reduce((a, b) => a * b, 1);\n"
    "  const one = t.datatype === 'BOOL' ? true : 1;\n"
    "  return {name: t.name, shape, datatype: t.datatype, data: Array(Math.min(n, 1000000)).fill(one)};\n"
    "}\n"
    "async function choose() {\n"
    "  const [status, m] = await ask(path());\n"
    "  if (status !== 200) { $('face').textContent = m.error; return; }\n"
    "  $('face').textContent = 'version ' + m.versions + ', gives ' + m.outputs.map(t => t.name + ' ' + t.datatype + ' [' + t.shape + ']').join(', ');\n"
    "  $('body').value = JSON.stringify({inputs: m.inputs.map(fill)});\n"
    "}\n"
    "async function run() {\n"
    "  const began = performance.now();\n"
    "  const [status, reply] = await ask(path() + '/infer', {method: 'POST', body: $('body').value});\n"
    "  $('time').textContent = status + ', ' + (performance.now() - began).toFixed(1) + ' ms';\n"
    "  $('reply').textContent = status === 200 ? reply.outputs.map(o => o.name + ' [' + o.shape + ']\\n' + o.data.slice(0, 1000).join(' ') +\n"
    "    (o.data.length > 1000 ? ' ...' : '')).join('\\n\\n') : reply.error || reply.error_msg;\n"
    "}\n"
    "ask('/v2/models').then(([, all]) => {\n"
    "  for (const m of all.models) $('model').add(new Option(m.name));\n"
    "  $('model').onchange = choose; $('run').onclick = run; choose();\n"
    "});\n"
    "</script></body></html>\n";

void sp__route_page(sp_exchange *x)
{
    sp__text t = {0};
    sp__text_add(&t, page, sizeof page - 1);
    sp__reply_text(x, 200, "text/html; charset=utf-8", &t);
    x->reply.headers[0] = (sp_net_header){"content-security-policy",
                                          "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"};
    x->reply.headers[1] = (sp_net_header){"x-content-type-options", "nosniff"};
    sp__exchange_reply(x);
}
