/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - `spore ops`: the operator table for people who write C, or look for what a function in Python really does. */
#include <stdio.h>
#include <string.h>

#include "spore/machine.h"
#include "spore/op.h"
#include "tools.h"

static const char help[] =
    "usage: spore ops [NAME]\n"
    "\n"
    "The operators of the engine, as sp_builder_call takes them: inputs, then attributes with their defaults. A ? marks what may\n"
    "be left out, ... what may be repeated, an attribute without a default must be given.\n"
    "\n" TOOL_JSON_HELP "\n"
    "  spore ops            all of them, a line each\n"
    "  spore ops pool       those whose name or sentence has \"pool\" in it\n"
    "  spore ops conv2d     one of them, with all that is known about it\n";

/* Attributes as one would write them in the text for sp_builder_call. */
static void print_attrs(const sp_op *op)
{
    const sp_attr *attrs;
    int n = sp_op_attrs(op, &attrs, NULL);
    for (int i = 0; i < n; i++) {
        printf("%s%s", i > 0 ? ", " : "", attrs[i].name);
        if (attrs[i].initial != NULL) printf("=%s", attrs[i].initial);
    }
}

static void print_line(const sp_op *op)
{
    printf("%s(%s", sp_op_name(op), sp_op_inputs(op));
    if (sp_op_attrs(op, NULL, NULL) > 0) {
        printf("%s", sp_op_inputs(op)[0] ? "; " : "");
        print_attrs(op);
    }
    printf(")\n");
}

/* "conv2d(x, weight, bias?; ...)" as a call in C, optional inputs given as NULL. */
static void print_call(const sp_op *op)
{
    char inputs[256] = "", *at = inputs, *end = inputs + sizeof inputs;
    int n = 0;
    for (const char *from = sp_op_inputs(op); *from != '\0';) {
        size_t bytes = strcspn(from, ",");
        const char *name = memchr(from, '?', bytes) ? "NULL" : from;
        size_t kept = name == from ? strcspn(from, ",.?") : strlen(name);
        at += snprintf(at, (size_t)(end - at), "%s%.*s", n++ > 0 ? ", " : "", (int)kept, name);
        from += bytes;
        from += strspn(from, ", ");
    }
    printf("  C         sp_builder_call(b, \"%s\", \"", sp_op_name(op));
    print_attrs(op);
    if (n == 0) printf("\", 0, NULL)\n");
    else if (n == 1 && strchr(sp_op_inputs(op), '.') == NULL) printf("\", 1, &%s)\n", inputs);
    else printf("\", %d, (sp_tensor *const[]){%s})\n", n, inputs);
}

static void print_page(const sp_op *op)
{
    char kernels[256];
    print_line(op);
    if (sp_op_doc(op)[0]) printf("  %s\n", sp_op_doc(op));
    printf("  takes    ");
    for (int d = 0; d < SP_DTYPE_COUNT; d++)
        if (sp_op_takes(op, (sp_dtype)d)) printf(" %s", sp_dtype_name((sp_dtype)d));
    if (sp_op_results(op) < 0) printf("\n  gives     as many results as the arguments say\n");
    else printf("\n  gives     %d result%s\n", sp_op_results(op), sp_op_results(op) == 1 ? "" : "s");
    if (sp_op_python(op)[0]) printf("  Python    %s\n", sp_op_python(op));
    print_call(op);
    if (sp_machine_kernels(op, kernels, sizeof kernels) > 0) printf("  kernels   %s\n", kernels);
}

static void json_field(const char *key, const char *text)
{
    printf(", \"%s\": ", key);
    tool_json_text(text, strlen(text));
}

static void print_json(const sp_op *op)
{
    char kernels[256];
    const sp_attr *attrs;
    const int n = sp_op_attrs(op, &attrs, NULL);
    printf("{\"name\": \"%s\"", sp_op_name(op));
    json_field("inputs", sp_op_inputs(op));
    printf(", \"attributes\": {");
    for (int i = 0; i < n; i++) {
        printf("%s\"%s\": ", i > 0 ? ", " : "", attrs[i].name);
        if (attrs[i].initial != NULL) tool_json_text(attrs[i].initial, strlen(attrs[i].initial));
        else printf("null");
    }
    printf("}, \"dtypes\": [");
    for (int d = 0, first = 1; d < SP_DTYPE_COUNT; d++)
        if (sp_op_takes(op, (sp_dtype)d)) {
            printf("%s\"%s\"", first ? "" : ", ", sp_dtype_name((sp_dtype)d));
            first = 0;
        }
    if (sp_op_results(op) < 0) printf("], \"results\": null");
    else printf("], \"results\": %d", sp_op_results(op));
    json_field("description", sp_op_doc(op));
    json_field("python", sp_op_python(op));
    json_field("kernels", sp_machine_kernels(op, kernels, sizeof kernels) > 0 ? kernels : "");
    printf("}");
}

int verb_ops(int argc, char **argv)
{
    const char *name = NULL;
    int n_names = 0;
    bool helped = false, json = false;
    int code = tool_parse(argc, argv, (const tool_option[]){{"--json", &json, NULL, NULL}, {NULL, NULL, NULL, NULL}},
                          help, (const int[]){0, 1}, &name, &n_names, &helped);
    if (code != 0 || helped) return code;
    const sp_op *one = n_names > 0 ? sp_op_find(name) : NULL;
    if (one != NULL && !json) {
        print_page(one);
        return 0;
    }
    int n_found = 0;
    for (int i = 0; i < sp_op_count(); i++) {
        const sp_op *op = sp_op_at(i);
        if (one != NULL ? op != one
                        : n_names > 0 && strstr(sp_op_name(op), name) == NULL && strstr(sp_op_doc(op), name) == NULL)
            continue;
        if (json) {
            printf(n_found > 0 ? ",\n" : "{\"operators\": [\n");
            print_json(op);
        } else {
            print_line(op);
        }
        n_found++;
    }
    if (n_found > 0 && json) printf("\n]}\n");
    if (n_found > 0) return 0;
    return tool_complain(EXIT_FAILED, "ops: no operator has '%s' in its name or description; `spore ops` lists all",
                         name);
}
