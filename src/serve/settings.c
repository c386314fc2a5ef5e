/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - how a model is served, read from the texts that configuration files and command lines hold. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plain.h"
#include "serve/serve_impl.h"

/* --- texts --------------------------------------------------------------------------------------------------------- */

static const char *skip(const char *p)
{
    while (*p == ' ') p++;
    return p;
}

/* A whole number from 1 on at *at, which moves behind it and blanks; 0: there is none. */
static int64_t take_number(const char **at)
{
    int64_t v = 0;
    const char *p = skip(*at);
    for (int digits = 0; sp__is_digit(*p); p++)
        if (++digits > 18) return 0;
        else v = v * 10 + (*p - '0');
    *at = skip(p);
    return v;
}

static sp_status read_versions(const char *text, sp_settings *s)
{
    static const char wanted[] = "newest, newest:NUMBER, all, or numbers with commas between";
    s->n_newest = 1;
    if (text == NULL || strcmp(text, "newest") == 0) return SP_OK;
    s->n_newest = SP_SERVE_VERSIONS_MAX;
    if (strcmp(text, "all") == 0) return SP_OK;
    if (strncmp(text, "newest:", 7) == 0) {
        const char *at = text + 7;
        const int64_t n = take_number(&at);
        SP_CHECK(n >= 1 && n <= SP_SERVE_VERSIONS_MAX && *at == '\0', SP_VALUE,
                 "versions is '%.64s', it must be %s; at most %d are served", text, wanted, SP_SERVE_VERSIONS_MAX);
        s->n_newest = (int)n;
        return SP_OK;
    }
    for (const char *at = text;; at++) {
        const int64_t v = take_number(&at);
        SP_CHECK(v > 0 && (*at == ',' || *at == '\0'), SP_VALUE, "versions is '%.64s', it must be %s", text, wanted);
        SP_CHECK(s->n_versions < SP_SERVE_VERSIONS_MAX, SP_VALUE, "versions lists more than %d", SP_SERVE_VERSIONS_MAX);
        s->versions[s->n_versions++] = v;
        if (*at == '\0') return SP_OK;
    }
}

static sp_status read_labels(const char *text, sp_settings *s)
{
    for (const char *at = text; at != NULL && *at != '\0';) {
        const size_t n = strcspn(at, "=,");
        const char *number = at + n + 1;
        SP_CHECK(at[n] == '=' && n > 0 && n < sizeof s->labels[0].name && memchr(at, '/', n) == NULL, SP_VALUE,
                 "labels is '%.64s', it must be NAME=VERSION with commas between; names have up to %zu bytes and no /",
                 text, sizeof s->labels[0].name - 1);
        SP_CHECK(s->n_labels < SP_SERVE_LABELS_MAX, SP_VALUE, "labels has more than %d", SP_SERVE_LABELS_MAX);
        memcpy(s->labels[s->n_labels].name, at, n);
        const int64_t v = take_number(&number);
        SP_CHECK(v > 0 && (*number == ',' || *number == '\0'), SP_VALUE,
                 "label '%s' is not the number of a version: '%.64s'", s->labels[s->n_labels].name, text);
        SP_CHECK(sp__settings_label(s, s->labels[s->n_labels].name) == 0, SP_VALUE, "label '%s' is given twice",
                 s->labels[s->n_labels].name);
        s->labels[s->n_labels++].version = v;
        at = *number == ',' ? skip(number + 1) : number;
    }
    return SP_OK;
}

sp_status sp__settings_warm_up(const char **at, int *n, sp_warm_shape shapes[SP_SERVE_INPUTS_MAX])
{
    const char *p = skip(*at);
    *n = 0;
    while (*p != '\0' && *p != ';') {
        sp_warm_shape *w = &shapes[*n];
        const size_t name = strcspn(p, ":,;");
        SP_CHECK(p[name] == ':' && name > 0 && name < sizeof w->name, SP_VALUE,
                 "warm_up has '%.64s' where INPUT:SIZExSIZE is wanted", p);
        SP_CHECK(*n < SP_SERVE_INPUTS_MAX, SP_VALUE, "warm_up has more than %d inputs", SP_SERVE_INPUTS_MAX);
        *w = (sp_warm_shape){.rank = 0};
        memcpy(w->name, p, name);
        p += name + 1;
        for (bool more = true; more; p += more) {
            const int64_t d = take_number(&p);
            SP_CHECK(d > 0 && w->rank < SP_RANK_MAX, SP_VALUE,
                     "warm_up: the shape of input '%s' is not 1 to %d sizes with x between", w->name, SP_RANK_MAX);
            w->dims[w->rank++] = d;
            more = *p == 'x';
        }
        SP_CHECK(*p == ',' || *p == ';' || *p == '\0', SP_VALUE, "warm_up has '%.16s' behind the shape of input '%s'",
                 p, w->name);
        if (*p == ',') p = skip(p + 1);
        ++*n;
    }
    *at = *p == ';' ? p + 1 : p;
    return SP_OK;
}

static sp_status check_warm_up(const char *text)
{
    sp_warm_shape *shapes = sp__alloc(SP_SERVE_INPUTS_MAX * sizeof *shapes);
    sp_status status = shapes != NULL ? SP_OK : SP_NOMEM;
    for (int n; status == SP_OK && *text != '\0';) status = sp__settings_warm_up(&text, &n, shapes);
    sp__free(shapes);
    return status;
}

static sp_status copy(const char *what, const char *from, char *to, size_t room)
{
    if (from == NULL) return SP_OK;
    SP_CHECK(from[0] != '\0' && strlen(from) < room, SP_VALUE, "%s is empty or has more than %zu bytes", what,
             room - 1);
    memcpy(to, from, strlen(from) + 1);
    return SP_OK;
}

/* --- all ----------------------------------------------------------------------------------------------------------- */

sp_status sp__settings_read(const sp_server_options *o, const sp_model_config *c, sp_settings *out)
{
    sp_settings s = {.max_batch = c->max_batch != 0 ? c->max_batch : o->max_batch,
                     .trust_batch = c->trust_batch || o->trust_batch,
                     .max_delay_us = c->max_delay_us < 0   ? 0
                                     : c->max_delay_us > 0 ? c->max_delay_us
                                                           : o->max_delay_us,
                     .max_queue = c->max_queue != 0 ? c->max_queue : o->max_queue,
                     .request_seconds = c->request_seconds != 0 ? c->request_seconds : o->request_seconds,
                     .n_instances = c->n_instances != 0 ? c->n_instances : 1,
                     .sequence_idle = c->sequence_idle > 0 ? c->sequence_idle : 60,
                     .n_priorities = c->n_priorities};
    SP_CHECK(s.max_batch >= 1 && s.max_batch <= SP_SERVE_BATCH_MAX, SP_VALUE, "max_batch is %d, it must be 1 to %d",
             s.max_batch, SP_SERVE_BATCH_MAX);
    SP_CHECK(s.max_queue >= 1 && s.request_seconds > 0, SP_VALUE, "max_queue and timeout must be larger than 0");
    SP_CHECK(s.n_instances >= 1 && s.n_instances <= SP_SERVE_INSTANCES_MAX, SP_VALUE,
             "instances is %d, it must be 1 to %d", s.n_instances, SP_SERVE_INSTANCES_MAX);
    SP_CHECK(c->max_batch != 1 || (c->max_delay_us <= 0 && !c->trust_batch), SP_VALUE,
             "max_delay and trust_batch have no effect where no requests are joined (max_batch 1)");
    SP_CHECK(c->key_mode == NULL || c->key_file != NULL, SP_VALUE, "key_mode is given without key_file");
    SP_TRY(read_versions(c->versions, &s));
    SP_CHECK(c->versions == NULL || c->path == NULL || access(c->path, F_OK) != 0 || sp__is_folder(c->path), SP_VALUE,
             "versions has no effect on a model that is one file; a folder holds versions (1/, 2/, ...)");
    SP_TRY(read_labels(c->labels, &s));
    SP_TRY(copy("warm_up", c->warm_up, s.warm_up, sizeof s.warm_up));
    SP_TRY(check_warm_up(s.warm_up));
    SP_TRY(copy("key_file", c->key_file, s.key_file, sizeof s.key_file));
    SP_TRY(copy("key_mode", c->key_mode, s.key_mode, sizeof s.key_mode));
    SP_TRY(copy("preprocess", c->preprocess, s.preprocess, sizeof s.preprocess));
    SP_TRY(copy("state", c->state, s.state, sizeof s.state));
    SP_CHECK(c->sequence_idle <= 0 || c->state != NULL, SP_VALUE, "sequence_idle is given without state");
    SP_TRY(copy("classes", c->classes, s.classes, sizeof s.classes));
    SP_TRY(copy("device", c->device, s.device, sizeof s.device));
    *out = s;
    return SP_OK;
}

bool sp__settings_want(const sp_settings *s, int64_t version)
{
    int i = 0;
    while (i < s->n_versions && s->versions[i] != version) i++;
    return s->n_versions == 0 || i < s->n_versions;
}

int64_t sp__settings_label(const sp_settings *s, const char *label)
{
    for (int i = 0; i < s->n_labels; i++)
        if (strcmp(s->labels[i].name, label) == 0) return s->labels[i].version;
    return 0;
}

/* "hex:00ff..." or the bytes themselves. */
static sp_status decode_key(const char *text, size_t n, unsigned char bytes[64], size_t *out)
{
    const bool hex = n > 4 && strncmp(text, "hex:", 4) == 0;
    const size_t wanted = hex ? (n - 4) / 2 : n;
    SP_CHECK(wanted <= 64 && (!hex || n % 2 == 0), SP_VALUE, "the key is not of 16, 24 or 32 bytes");
    if (!hex) memcpy(bytes, text, n);
    for (size_t i = 0; hex && i < wanted; i++) {
        const char pair[3] = {text[4 + 2 * i], text[5 + 2 * i], '\0'};
        SP_CHECK(strspn(pair, "0123456789abcdefABCDEF") == 2, SP_VALUE,
                 "the key has a character that is no hexadecimal digit");
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    *out = wanted;
    return SP_OK;
}

sp_status sp__settings_key(const sp_settings *s, unsigned char bytes[64], size_t *n)
{
    char text[256];
    FILE *file = fopen(s->key_file, "rb");
    SP_CHECK(file != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "the key file %s cannot be read: %s", s->key_file,
             sp__strerror(errno));
    size_t bytes_read = fread(text, 1, sizeof text, file);
    fclose(file);
    while (bytes_read > 0 && (text[bytes_read - 1] == '\n' || text[bytes_read - 1] == '\r')) bytes_read--;
    const sp_status status = decode_key(text, bytes_read, bytes, n);
    volatile char *p = text; /* volatile: the compiler must not leave it out */
    for (size_t i = 0; i < sizeof text; i++) p[i] = 0;
    if (status != SP_OK) sp__error_context("the key file %s", s->key_file);
    return status;
}

/* --- by name ------------------------------------------------------------------------------------------------------- */

static sp_status set_number(const char *key, const char *value, double low, double high, bool whole, double *out)
{
    char *end;
    const double v = sp__strtod(value, &end);
    SP_CHECK(end != value && *end == '\0' && v >= low && v <= high && (!whole || v == (double)(int64_t)v), SP_VALUE,
             "%s is '%.64s', it must be %s from %g to %g", key, value, whole ? "a whole number" : "a number", low,
             high);
    *out = v;
    return SP_OK;
}

sp_status sp_model_config_set(sp_model_config *c, const char *key, const char *value)
{
    const struct {
        const char *name, **text;
    } texts[] = {{"name", &c->name},         {"path", &c->path},
                 {"versions", &c->versions}, {"labels", &c->labels},
                 {"warm_up", &c->warm_up},   {"key_file", &c->key_file},
                 {"key_mode", &c->key_mode}, {"preprocess", &c->preprocess},
                 {"classes", &c->classes},   {"state", &c->state},
                 {"device", &c->device}};
    const struct {
        const char *name;
        double low, high;
        bool whole;
    } numbers[] = {{"max_batch", 1, SP_SERVE_BATCH_MAX, true},
                   {"max_queue", 1, 1e6, true},
                   {"instances", 1, SP_SERVE_INSTANCES_MAX, true},
                   {"max_delay", 0, 60000, false},
                   {"timeout", 0.001, 1e6, false},
                   {"sequence_idle", 0.001, 1e6, false},
                   {"priorities", 1, 100, true}};
    double v = 0;
    SP_CHECK(c != NULL && key != NULL && value != NULL, SP_VALUE, "a configuration, a name and a value are needed");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(key, texts[i].name) == 0) {
            SP_CHECK(value[0] != '\0', SP_VALUE, "%s is empty", key);
            *texts[i].text = value;
            return SP_OK;
        }
    if (strcmp(key, "trust_batch") == 0) {
        SP_CHECK(strcmp(value, "true") == 0 || strcmp(value, "false") == 0, SP_VALUE,
                 "trust_batch is '%.64s', it must be true or false", value);
        c->trust_batch = value[0] == 't';
        return SP_OK;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(key, numbers[i].name) != 0) continue;
        SP_TRY(set_number(key, value, numbers[i].low, numbers[i].high, numbers[i].whole, &v));
        if (i == 0) c->max_batch = (int)v;
        else if (i == 1) c->max_queue = (int)v;
        else if (i == 2) c->n_instances = (int)v;
        else if (i == 3) c->max_delay_us = v > 0 ? (int64_t)(v * 1e3) : -1;
        else if (i == 4) c->request_seconds = v;
        else if (i == 5) c->sequence_idle = v;
        else c->n_priorities = (int)v;
        return SP_OK;
    }
    return sp__fail(
        SP_KEY,
        "'%.64s' is no setting of a model; there are: name, path, max_batch, trust_batch, max_delay, max_queue, timeout, instances, versions, labels, warm_up, key_file, key_mode, preprocess, classes, device, state, sequence_idle, priorities",
        key);
}
