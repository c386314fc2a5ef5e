/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c - the REST paths as an OpenAPI 3.1 document, at /openapi.json. */
#include <string.h>

#include "serve/json.h"
#include "serve/routes.h"

#define ANSWER(schema) "{\"description\":\"done\",\"content\":{\"application/json\":{\"schema\":" schema "}}}"
#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define FAILS                                                                                                          \
    ",\"default\":{\"description\":\"a failure, with its reason\",\"content\":{\"application/json\":{\"schema\":" REF( \
        "Error") "}}}"
#define MODEL "{\"name\":\"model\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\",\"minLength\":1}}"
#define VERSION                                                                                                        \
    "{\"name\":\"version\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\",\"minLength\":1},\"description\":\"a number, or a label\"}"
#define REGION                                                                                                         \
    "{\"name\":\"region\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\",\"minLength\":1}}"
#define ANY "{\"type\":\"object\"}"

/* Operations: path, method, what it is called, parameters, schema of the body (NULL: none), schema of the answer. */
static const struct {
    const char *path, *method, *id, *summary;
    int n_parameters; /* 0: none, 1: the model, 2: the model and its version, 3: a region */
    const char *body, *answer;
} operations[] = {
    {"/v2", "get", "serverMetadata", "name, version and extensions of the server", 0, NULL, ANSWER(REF("Server"))},
    {"/v2/health/live", "get", "serverLive", "is the process there?", 0, NULL, ANSWER(ANY)},
    {"/v2/health/ready", "get", "serverReady", "are models served?", 0, NULL, ANSWER(REF("Ready"))},
    {"/v2/models", "get", "models", "which models there are", 0, NULL, ANSWER(ANY)},
    {"/v2/models/{model}", "get", "modelMetadata", "inputs and outputs of a model", 1, NULL, ANSWER(REF("Model"))},
    {"/v2/models/{model}/versions/{version}", "get", "versionMetadata", "inputs and outputs of a version", 2, NULL,
     ANSWER(REF("Model"))},
    {"/v2/models/{model}/ready", "get", "modelReady", "is the model served?", 1, NULL, ANSWER(ANY)},
    {"/v2/models/{model}/versions/{version}/ready", "get", "versionReady", "is the version served?", 2, NULL,
     ANSWER(ANY)},
    {"/v2/models/{model}/infer", "post", "modelInfer", "run the model", 1, REF("InferRequest"),
     ANSWER(REF("InferResponse"))},
    {"/v2/models/{model}/versions/{version}/infer", "post", "versionInfer", "run the version", 2, REF("InferRequest"),
     ANSWER(REF("InferResponse"))},
    {"/v2/models/{model}/config", "get", "modelConfig", "how the model is served, in Triton's words", 1, NULL,
     ANSWER(ANY)},
    {"/v2/models/{model}/stats", "get", "modelStatistics", "what the model did", 1, NULL, ANSWER(ANY)},
    {"/v2/models/stats", "get", "statistics", "what all models did", 0, NULL, ANSWER(ANY)},
    {"/v2/repository/index", "post", "repositoryIndex", "models, their versions and states", 0,
     "{\"type\":\"object\",\"properties\":{\"ready\":{\"type\":\"boolean\"}},\"additionalProperties\":false}",
     ANSWER("{\"type\":\"array\",\"items\":" ANY "}")},
    {"/v2/repository/models/{model}/load", "post", "loadModel", "load a model of the server's again", 1, NULL,
     ANSWER(ANY)},
    {"/v2/repository/models/{model}/unload", "post", "unloadModel", "serve it no longer", 1, NULL, ANSWER(ANY)},
    {"/v2/systemsharedmemory/status", "get", "regions", "memory that clients share", 0, NULL,
     ANSWER("{\"type\":\"array\",\"items\":" ANY "}")},
    {"/v2/systemsharedmemory/unregister", "post", "unregisterRegions", "give up all regions", 0, NULL, ANSWER(ANY)},
    {"/v2/systemsharedmemory/region/{region}/status", "get", "region", "a region of shared memory", 3, NULL,
     ANSWER("{\"type\":\"array\",\"items\":" ANY "}")},
    {"/v2/systemsharedmemory/region/{region}/register", "post", "registerRegion", "share memory with the server", 3,
     "{\"type\":\"object\",\"required\":[\"key\",\"byte_size\"],\"properties\":{\"key\":{\"type\":\"string\"},\"offset\":{\"type\":\"integer\",\"minimum\":0},\"byte_size\":{\"type\":\"integer\",\"minimum\":1}},\"additionalProperties\":false}",
     ANSWER(ANY)},
    {"/v2/systemsharedmemory/region/{region}/unregister", "post", "unregisterRegion", "give up a region", 3, NULL,
     ANSWER(ANY)},
    {"/v1/models", "get", "v1Models", "names of models", 0, NULL, ANSWER(ANY)},
    {"/v1/models/{model}", "get", "v1State", "states of a model's versions", 1, NULL, ANSWER(ANY)},
    {"/v1/models/{model}:predict", "post", "v1Predict", "run the model, as KServe v1 and TensorFlow Serving", 1,
     REF("Predict"), ANSWER(ANY)},
    {"/model/{model}:predict", "post", "mindsporePredict", "run the model, as MindSpore Serving", 1, REF("Instances"),
     ANSWER(ANY)},
};

static const char schemas[] =
    "\"Error\":{\"type\":\"object\",\"properties\":{\"error\":{\"type\":\"string\"},\"error_msg\":{\"type\":\"string\"}}},"
    "\"Server\":{\"type\":\"object\",\"required\":[\"name\",\"version\",\"extensions\"],\"properties\":{\"name\":{\"type\":\"string\"},\"version\":{\"type\":\"string\"},\"extensions\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}},"
    "\"Ready\":{\"type\":\"object\",\"required\":[\"ready\"],\"properties\":{\"ready\":{\"type\":\"boolean\"},\"degraded\":" ANY
    ",\"unavailable\":" ANY "}},"
    "\"TensorFace\":{\"type\":\"object\",\"required\":[\"name\",\"datatype\",\"shape\"],\"properties\":{\"name\":{\"type\":\"string\"},\"datatype\":{\"type\":\"string\"},\"shape\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}},"
    "\"Model\":{\"type\":\"object\",\"required\":[\"name\",\"versions\",\"platform\",\"inputs\",\"outputs\"],\"properties\":{\"name\":{\"type\":\"string\"},\"versions\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"platform\":{\"type\":\"string\"},"
    "\"inputs\":{\"type\":\"array\",\"items\":" REF("TensorFace") "},\"outputs\":{\"type\":\"array\",\"items\":" REF(
        "TensorFace") "},\"max_batch\":{\"type\":\"integer\"},\"batch_exact\":{\"type\":\"boolean\"}}},"
                      "\"Tensor\":{\"type\":\"object\",\"required\":[\"name\",\"datatype\",\"shape\"],\"additionalProperties\":false,\"properties\":{\"name\":{\"type\":\"string\"},\"datatype\":{\"type\":\"string\",\"enum\":[\"BOOL\",\"UINT8\",\"UINT16\",\"UINT32\",\"UINT64\","
                      "\"INT8\",\"INT16\",\"INT32\",\"INT64\",\"FP16\",\"FP32\",\"FP64\",\"BF16\",\"BYTES\"]},\"shape\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":0}},\"parameters\":" ANY
                      ",\"data\":{\"type\":\"array\"}}},"
                      "\"InferRequest\":{\"type\":\"object\",\"required\":[\"inputs\"],\"additionalProperties\":false,\"properties\":{\"id\":{\"type\":\"string\"},\"parameters\":" ANY
                      ",\"inputs\":{\"type\":\"array\",\"items\":" REF(
                          "Tensor") "},"
                                    "\"outputs\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"name\"],\"additionalProperties\":false,\"properties\":{\"name\":{\"type\":\"string\"},\"parameters\":" ANY
                                    "}}},\"model_name\":{\"type\":\"string\"},\"model_version\":{\"type\":\"string\"}}},"
                                    "\"InferResponse\":{\"type\":\"object\",\"required\":[\"model_name\",\"model_version\",\"outputs\"],\"properties\":{\"model_name\":{\"type\":\"string\"},\"model_version\":{\"type\":\"string\"},\"id\":{\"type\":\"string\"},\"outputs\":{\"type\":\"array\",\"items\":" REF(
                                        "Tensor") "}}},"
                                                  "\"Predict\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"signature_name\":{\"type\":\"string\"},\"instances\":{\"type\":\"array\"},\"inputs\":{}}},"
                                                  "\"Instances\":{\"type\":\"object\",\"required\":[\"instances\"],\"additionalProperties\":false,\"properties\":{\"instances\":{}}}";

static const char *const parameters[] = {MODEL, MODEL "," VERSION, REGION};

void sp__route_openapi(sp_exchange *x)
{
    sp__text t = {0};
    sp__text_put(
        &t,
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"spore serve\",\"version\":\"%s\",\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},\"paths\":{",
        sp_version());
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        sp__text_put(&t, "%s\"%s\":{\"%s\":{\"operationId\":\"%s\",\"summary\":\"%s\"", i > 0 ? "," : "",
                     operations[i].path, operations[i].method, operations[i].id, operations[i].summary);
        if (operations[i].n_parameters > 0)
            sp__text_put(&t, ",\"parameters\":[%s]", parameters[operations[i].n_parameters - 1]);
        if (operations[i].body != NULL)
            sp__text_put(&t, ",\"requestBody\":{\"required\":true,\"content\":{\"application/json\":{\"schema\":%s}}}",
                         operations[i].body);
        sp__text_put(&t, ",\"responses\":{\"200\":%s" FAILS "}}}", operations[i].answer);
    }
    sp__text_put(&t, "},\"components\":{\"schemas\":{%s}}}\n", schemas);
    sp__reply_text(x, 200, "application/json", &t);
    sp__exchange_reply(x);
}
