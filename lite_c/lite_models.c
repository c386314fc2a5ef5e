/* SPDX-License-Identifier: Apache-2.0 */
/* lite_model.c - models of MindSpore Lite's C interface over sp_model, and their training. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite_c.h"
#include "spore/runtime.h"

enum { FACES_MAX = 64 };

/* Tensors that a model gives. */
typedef struct faces {
    size_t n;
    lite_tensor **all;
} faces;

typedef struct lite_model {
    sp_model *model;   /* NULL: not built */
    sp_model *predict; /* of a training model: its predictions, NULL until they are asked for */
    bool built, trains, train_mode, resized;
    lite_context *context;
    lite_train_cfg *cfg;
    faces inputs, outputs, predictions, weights;
} lite_model;

MSModelHandle MSModelCreate(void) { return calloc(1, sizeof(lite_model)); }

static void faces_free(faces *f)
{
    for (size_t i = 0; i < f->n; i++) lite_tensor_free(f->all[i]);
    free(f->all);
    *f = (faces){0, NULL};
}

void MSModelDestroy(MSModelHandle *model)
{
    if (model == NULL || *model == NULL) return;
    lite_model *m = *model;
    faces_free(&m->inputs);
    faces_free(&m->outputs);
    faces_free(&m->predictions);
    faces_free(&m->weights);
    sp_model_release(m->predict);
    sp_model_release(m->model);
    MSContextHandle context = m->context;
    MSTrainCfgHandle cfg = m->cfg;
    MSContextDestroy(&context);
    MSTrainCfgDestroy(&cfg);
    free(m);
    *model = NULL;
}

/* --- building ---------------------------------------------------------------------------------------------------- */

static lite_tensor *face_of(const char *name, const sp_spec *spec)
{
    const size_t rank = spec->rank > 0 ? (size_t)spec->rank : 0;
    lite_tensor *t = MSTensorCreate(name, lite_type(spec->dtype), spec->dims, rank, NULL, 0);
    if (t != NULL && rank != 4) t->format = kMSFormatNCHW;
    return t;
}

static bool faces_fill(faces *f, const sp_model *m, bool inputs)
{
    const int n = inputs ? sp_model_inputs(m) : sp_model_outputs(m);
    if (!(f->all = calloc((size_t)n + 1, sizeof *f->all))) return false;
    for (int i = 0; i < n; i++) {
        lite_tensor *t = inputs ? face_of(sp_model_input_name(m, i), sp_model_input_spec(m, i))
                                : face_of(sp_model_output_name(m, i), sp_model_output_spec(m, i));
        if (t == NULL) return false;
        f->all[f->n++] = t;
    }
    return true;
}

/* What a context asks for, as far as it is there. */
static MSStatus use_context(lite_model *m, const char *what)
{
    const lite_context *c = m->context;
    bool cpu = false, fp16 = false;
    for (size_t i = 0; i < c->n_devices; i++) {
        cpu = cpu || c->devices[i]->type == kMSDeviceTypeCPU;
        fp16 = fp16 || c->devices[i]->fp16;
    }
    if (!cpu)
        return lite_refuse(kMSStatusLiteNotSupport, what,
                           "the context has no CPU among its devices, and there is no other");
    if (c->threads <= 0) return lite_refuse(kMSStatusLiteParamInvalid, what, "the number of threads must be positive");
    if (c->affinity != 0 || c->n_cores > 0) fprintf(stderr, "spore: %s: threads are not tied to cores\n", what);
    if (fp16) fprintf(stderr, "spore: %s: float16 was asked for; float32 is computed in float32\n", what);
    return lite_status(sp_threads_set(c->threads), what);
}

/* What all ways of building begin with: the context is the model's from here on. */
static MSStatus begin(lite_model *m, MSModelType type, MSContextHandle context, const char *what)
{
    if (m == NULL || context == NULL)
        return lite_refuse(kMSStatusLiteNullptr, what, "model and context must not be NULL");
    MSContextHandle before = m->context;
    if (before != context) MSContextDestroy(&before);
    m->context = context;
    if (m->built) return lite_refuse(kMSStatusLiteModelRebuild, what, "the model has been built before");
    if (type != kMSModelTypeMindIR)
        return lite_refuse(kMSStatusLiteParamInvalid, what, "model_type must be kMSModelTypeMindIR");
    return use_context(m, what);
}

static MSStatus finish(lite_model *m, sp_status status, const char *what)
{
    if (status != SP_OK) return lite_status(status, what);
    if (!faces_fill(&m->inputs, m->model, true) || !faces_fill(&m->outputs, m->model, false))
        return kMSStatusLiteMemoryFailed;
    if (m->inputs.n > FACES_MAX || m->outputs.n > FACES_MAX)
        return lite_refuse(kMSStatusLiteNotSupport, what, "the model has more than 64 inputs or outputs");
    m->built = true;
    return kMSStatusSuccess;
}

MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                      const MSContextHandle model_context)
{
    lite_model *m = model;
    const MSStatus begun = begin(m, model_type, model_context, "MSModelBuild");
    if (begun != kMSStatusSuccess) return begun;
    if (model_data == NULL) return lite_refuse(kMSStatusLiteNullptr, "MSModelBuild", "model_data must not be NULL");
    return finish(m, sp_model_load_memory(model_data, data_size, NULL, &m->model), "MSModelBuild");
}

MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                              const MSContextHandle model_context)
{
    lite_model *m = model;
    const MSStatus begun = begin(m, model_type, model_context, "MSModelBuildFromFile");
    if (begun != kMSStatusSuccess) return begun;
    if (model_path == NULL)
        return lite_refuse(kMSStatusLiteNullptr, "MSModelBuildFromFile", "model_path must not be NULL");
    return finish(m, sp_model_load(model_path, NULL, &m->model), "MSModelBuildFromFile");
}

/* --- running ----------------------------------------------------------------------------------------------------- */

static MSTensorHandleArray array_of(const faces *f) { return (MSTensorHandleArray){f->n, (MSTensorHandle *)f->all}; }

static const faces *outputs_now(const lite_model *m)
{
    return m->trains && !m->train_mode && m->predict != NULL ? &m->predictions : &m->outputs;
}

MSTensorHandleArray MSModelGetInputs(const MSModelHandle model)
{
    return model != NULL ? array_of(&((const lite_model *)model)->inputs) : (MSTensorHandleArray){0, NULL};
}

MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model)
{
    return model != NULL ? array_of(outputs_now(model)) : (MSTensorHandleArray){0, NULL};
}

static lite_tensor *by_name(const faces *f, const char *name)
{
    for (size_t i = 0; name != NULL && i < f->n; i++)
        if (strcmp(f->all[i]->name, name) == 0) return f->all[i];
    return NULL;
}

MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name)
{
    return model != NULL ? by_name(&((const lite_model *)model)->inputs, tensor_name) : NULL;
}

MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name)
{
    return model != NULL ? by_name(outputs_now(model), tensor_name) : NULL;
}

MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                       size_t shape_info_num)
{
    lite_model *m = model;
    if (m == NULL || shape_infos == NULL)
        return lite_refuse(kMSStatusLiteNullptr, "MSModelResize", "model and shapes must not be NULL");
    if (!m->built) return lite_refuse(kMSStatusLiteUninitializedObj, "MSModelResize", "the model is not built");
    if (inputs.handle_num != m->inputs.n || shape_info_num != m->inputs.n)
        return lite_refuse(kMSStatusLiteInputParamInvalid, "MSModelResize", "a shape for each input is needed");
    for (size_t i = 0; i < shape_info_num; i++)
        if (shape_infos[i].shape_num > LITE_RANK_MAX)
            return lite_refuse(kMSStatusLiteInputParamInvalid, "MSModelResize", "a shape of more than 32 dimensions");
    if (!m->resized) {
        const sp_status status = sp_model_allow_sizes(m->model);
        if (status != SP_OK) return lite_status(status, "MSModelResize");
        m->resized = true;
    }
    for (size_t i = 0; i < shape_info_num; i++)
        MSTensorSetShape(m->inputs.all[i], shape_infos[i].shape, shape_infos[i].shape_num);
    return kMSStatusSuccess;
}

/* The contents of a tensor of the caller as one of ours. */
static sp_status take(const lite_tensor *t, sp_tensor **out)
{
    const sp_dtype dtype = t != NULL ? lite_dtype(t->type) : SP_DTYPE_NONE;
    if (dtype == SP_DTYPE_NONE || t->data == NULL || t->rank > SP_RANK_MAX)
        return sp_tensor_create(SP_DTYPE_NONE, -1, NULL, out);
    return sp_tensor_create_from(dtype, (int)t->rank, t->shape, t->data, out);
}

/* Callbacks of a run. */
typedef struct watched {
    MSKernelCallBackC before, after;
} watched;

static bool handles_of(int n, sp_tensor *const *in, lite_tensor *held, MSTensorHandle *handles)
{
    for (int i = 0; i < n; i++) {
        held[i] = (lite_tensor){.name = (char *)"", .format = kMSFormatNHWC};
        handles[i] = &held[i];
        if (in[i] != NULL && lite_tensor_show(&held[i], in[i]) != SP_OK) return false;
    }
    return true;
}

static bool watch(void *context, bool after, const char *name, const char *type, int n_in, sp_tensor *const *in,
                  int n_out, sp_tensor *const *out)
{
    const watched *w = context;
    const MSKernelCallBackC call = after ? w->after : w->before;
    if (call == NULL) return true;
    lite_tensor *held = calloc((size_t)(n_in + n_out) + 1, sizeof *held);
    MSTensorHandle *handles = calloc((size_t)(n_in + n_out) + 1, sizeof *handles);
    bool go = held != NULL && handles != NULL && handles_of(n_in, in, held, handles) &&
              handles_of(n_out, out, held + n_in, handles + n_in);
    if (go)
        go = call((MSTensorHandleArray){(size_t)n_in, handles}, (MSTensorHandleArray){(size_t)n_out, handles + n_in},
                  (MSCallBackParamC){(char *)name, (char *)type});
    for (int i = 0; held != NULL && i < n_in + n_out; i++) lite_tensor_drop(&held[i]);
    free(held);
    free(handles);
    return go;
}

/* The input of a model by its name among the handles. */
static const lite_tensor *given(const lite_model *m, const sp_model *model, const MSTensorHandleArray inputs, int i)
{
    if (model == m->model) return inputs.handle_list[i];
    for (size_t k = 0; k < m->inputs.n && k < inputs.handle_num; k++)
        if (strcmp(m->inputs.all[k]->name, sp_model_input_name(model, i)) == 0) return inputs.handle_list[k];
    return NULL;
}

static MSStatus run(lite_model *m, const MSTensorHandleArray inputs, MSKernelCallBackC before, MSKernelCallBackC after,
                    const char *what)
{
    sp_model *model = m->trains && !m->train_mode ? m->predict : m->model;
    const faces *to = outputs_now(m);
    const int n_in = sp_model_inputs(model), n_out = sp_model_outputs(model);
    sp_tensor *in[FACES_MAX] = {NULL}, *out[FACES_MAX] = {NULL};
    if (inputs.handle_num != m->inputs.n)
        return lite_refuse(kMSStatusLiteInputTensorError, what, "there must be as many inputs as the model has");
    sp_status status = SP_OK;
    for (int i = 0; i < n_in && status == SP_OK; i++) {
        const lite_tensor *t = given(m, model, inputs, i);
        if (t == NULL || t->data == NULL) {
            for (int k = 0; k < i; k++) sp_tensor_release(in[k]);
            return lite_refuse(kMSStatusLiteInputTensorError, what, "an input has no data");
        }
        status = take(t, &in[i]);
    }
    watched w = {before, after};
    if (status == SP_OK && (before != NULL || after != NULL))
        status = sp_lite_run_watched(model, n_in, in, n_out, out, watch, &w);
    else if (status == SP_OK) status = sp_model_run(model, n_in, in, n_out, out);
    for (int i = 0; i < n_out && status == SP_OK; i++)
        status = out[i] != NULL ? lite_tensor_show(to->all[i], out[i]) : SP_OK;
    for (int i = 0; i < n_in; i++) sp_tensor_release(in[i]);
    for (int i = 0; i < n_out; i++) sp_tensor_release(out[i]);
    return lite_status(status, what);
}

MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                        const MSKernelCallBackC before, const MSKernelCallBackC after)
{
    lite_model *m = model;
    if (m == NULL || outputs == NULL || (inputs.handle_list == NULL && inputs.handle_num > 0))
        return lite_refuse(kMSStatusLiteNullptr, "MSModelPredict", "model, inputs and outputs must not be NULL");
    if (!m->built) return lite_refuse(kMSStatusLiteUninitializedObj, "MSModelPredict", "the model is not built");
    const MSStatus status = run(m, inputs, before, after, "MSModelPredict");
    if (status == kMSStatusSuccess) *outputs = MSModelGetOutputs(model);
    return status;
}

/* --- training ---------------------------------------------------------------------------------------------------- */

MSTrainCfgHandle MSTrainCfgCreate(void) { return calloc(1, sizeof(lite_train_cfg)); }

static void names_free(lite_train_cfg *c)
{
    for (size_t i = 0; i < c->n_names; i++) free(c->names[i]);
    free(c->names);
    c->names = NULL;
    c->n_names = 0;
}

void MSTrainCfgDestroy(MSTrainCfgHandle *train_cfg)
{
    if (train_cfg == NULL || *train_cfg == NULL) return;
    names_free(*train_cfg);
    free(*train_cfg);
    *train_cfg = NULL;
}

char **MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t *num)
{
    lite_train_cfg *c = train_cfg;
    if (c == NULL || num == NULL) return NULL;
    *num = c->n_names;
    return c->names;
}

void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char **loss_name, size_t num)
{
    lite_train_cfg *c = train_cfg;
    if (c == NULL || loss_name == NULL || num > 1024) return;
    names_free(c);
    if (!(c->names = calloc(num + 1, sizeof *c->names))) return;
    for (size_t i = 0; i < num; i++)
        if ((c->names[c->n_names] = lite_text(loss_name[i])) != NULL) c->n_names++;
}

MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg)
{
    return train_cfg != NULL ? ((lite_train_cfg *)train_cfg)->level : kMSKO0;
}

void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level)
{
    if (train_cfg != NULL) ((lite_train_cfg *)train_cfg)->level = level;
}

/* Behind a build: it must be a model that trains, in a precision that there is. */
static MSStatus begin_training(lite_model *m, MSStatus built, MSTrainCfgHandle cfg, const char *what)
{
    if (m != NULL && cfg != m->cfg) {
        MSTrainCfgHandle before = m->cfg;
        MSTrainCfgDestroy(&before);
        m->cfg = cfg;
    }
    if (built != kMSStatusSuccess) return built;
    if (m->cfg != NULL && m->cfg->level != kMSKO0 && m->cfg->level != kMSKAUTO)
        return lite_refuse(kMSStatusLiteNotSupport, what, "training in float16 is not supported");
    if (!sp_lite_trains(m->model))
        return lite_refuse(kMSStatusLiteNotSupport, what,
                           "the file has no training step (converter_lite --trainModel=true makes one)");
    m->trains = true;
    m->train_mode =
        MSModelSetTrainMode(m, false) != kMSStatusSuccess; /* predictions, unless nothing tells where they end */
    return kMSStatusSuccess;
}

MSStatus MSTrainModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                           const MSContextHandle model_context, const MSTrainCfgHandle train_cfg)
{
    return begin_training(model, MSModelBuild(model, model_data, data_size, model_type, model_context), train_cfg,
                          "MSTrainModelBuild");
}

MSStatus MSTrainModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                   const MSContextHandle model_context, const MSTrainCfgHandle train_cfg)
{
    return begin_training(model, MSModelBuildFromFile(model, model_path, model_type, model_context), train_cfg,
                          "MSTrainModelBuildFromFile");
}

static MSStatus need_training(const lite_model *m, const char *what)
{
    if (m == NULL) return lite_refuse(kMSStatusLiteNullptr, what, "model must not be NULL");
    return m->trains ? kMSStatusSuccess
                     : lite_refuse(kMSStatusLiteNotSupport, what,
                                   "the model was not built for training (MSTrainModelBuildFromFile)");
}

bool MSModelGetTrainMode(MSModelHandle model) { return model != NULL && ((const lite_model *)model)->train_mode; }

MSStatus MSModelSetTrainMode(MSModelHandle model, bool train)
{
    lite_model *m = model;
    MSStatus status = need_training(m, "MSModelSetTrainMode");
    if (status != kMSStatusSuccess) return status;
    if (!train && m->predict == NULL) {
        const int n = m->cfg != NULL ? (int)m->cfg->n_names : 0;
        status =
            lite_status(sp_lite_evaluation(m->model, n, n > 0 ? (const char *const *)m->cfg->names : NULL, &m->predict),
                        "MSModelSetTrainMode");
        if (status == kMSStatusSuccess && !faces_fill(&m->predictions, m->predict, false))
            status = kMSStatusLiteMemoryFailed;
    }
    if (status == kMSStatusSuccess) m->train_mode = train;
    return status;
}

MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after)
{
    lite_model *m = model;
    const MSStatus status = need_training(m, "MSRunStep");
    return status == kMSStatusSuccess ? run(m, array_of(&m->inputs), before, after, "MSRunStep") : status;
}

MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate)
{
    lite_model *m = model;
    const MSStatus status = need_training(m, "MSModelSetLearningRate");
    return status == kMSStatusSuccess
               ? lite_status(sp_lite_set_learning_rate(m->model, learning_rate), "MSModelSetLearningRate")
               : status;
}

float MSModelGetLearningRate(MSModelHandle model)
{
    const lite_model *m = model;
    return m != NULL && m->trains ? sp_lite_learning_rate(m->model) : 0;
}

MSTensorHandleArray MSModelGetWeights(MSModelHandle model)
{
    lite_model *m = model;
    if (m == NULL || !m->built) return (MSTensorHandleArray){0, NULL};
    const sp_bundle *all = sp_model_parameters(m->model);
    const int64_t n = sp_bundle_count(all);
    faces_free(&m->weights);
    if (!(m->weights.all = calloc((size_t)n + 1, sizeof(lite_tensor *)))) return (MSTensorHandleArray){0, NULL};
    for (int64_t i = 0; i < n; i++) {
        const sp_tensor *t = sp_bundle_tensor_at(all, i);
        sp_tensor *rows = NULL;
        if (t == NULL || sp_tensor_contiguous((sp_tensor *)t, &rows) != SP_OK) break;
        lite_tensor *w =
            MSTensorCreate(sp_bundle_name_at(all, i), lite_type(sp_tensor_dtype(rows)), sp_tensor_dims(rows),
                           (size_t)sp_tensor_rank(rows), sp_tensor_data(rows), sp_tensor_bytes(rows));
        sp_tensor_release(rows);
        if (w == NULL) break;
        m->weights.all[m->weights.n++] = w;
    }
    return array_of(&m->weights);
}

MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights)
{
    lite_model *m = model;
    MSStatus status = need_training(m, "MSModelUpdateWeights");
    if (status != kMSStatusSuccess) return status;
    const sp_bundle *all = sp_model_parameters(m->model);
    for (size_t i = 0; i < new_weights.handle_num; i++) {
        const lite_tensor *t = new_weights.handle_list[i];
        const int64_t k = t != NULL ? sp_bundle_find(all, t->name) : -1;
        sp_tensor *to = k >= 0 ? sp_bundle_tensor_at(all, k) : NULL, *from = NULL;
        if (to == NULL || t->data == NULL || lite_dtype(t->type) != sp_tensor_dtype(to) ||
            lite_tensor_bytes(t) != sp_tensor_bytes(to))
            return lite_refuse(kMSStatusLiteParamInvalid, "MSModelUpdateWeights",
                               "a weight has no data, another size, or a name that the model does not have");
        status = lite_status(
            sp_tensor_create_from(sp_tensor_dtype(to), sp_tensor_rank(to), sp_tensor_dims(to), t->data, &from),
            "MSModelUpdateWeights");
        if (status == kMSStatusSuccess) status = lite_status(sp_tensor_assign(to, from), "MSModelUpdateWeights");
        sp_tensor_release(from);
        if (status != kMSStatusSuccess) return status;
    }
    return kMSStatusSuccess;
}

MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum)
{
    (void)lr;
    (void)momentum;
    const MSStatus status = need_training(model, "MSModelSetupVirtualBatch");
    if (status != kMSStatusSuccess || virtual_batch_multiplier <= 1) return status;
    return lite_refuse(kMSStatusLiteNotSupport, "MSModelSetupVirtualBatch", "virtual batches are not supported");
}

MSStatus MSExportModel(MSModelHandle model, MSModelType model_type, const char *model_file,
                       MSQuantizationType quantization_type, bool export_inference_only, char **output_tensor_name,
                       size_t num)
{
    lite_model *m = model;
    const char *what = "MSExportModel";
    (void)output_tensor_name;
    MSStatus status = need_training(m, what);
    if (status != kMSStatusSuccess) return status;
    if (model_file == NULL) return lite_refuse(kMSStatusLiteNullptr, what, "model_file must not be NULL");
    if (model_type != kMSModelTypeMindIR)
        return lite_refuse(kMSStatusLiteParamInvalid, what, "model_type must be kMSModelTypeMindIR");
    if (quantization_type != kMSNO_QUANT || num > 0)
        return lite_refuse(kMSStatusLiteNotSupport, what, "quantised files and chosen outputs are not supported");
    char *path = malloc(strlen(model_file) + 4);
    if (path == NULL) return kMSStatusLiteMemoryFailed;
    const size_t n = strlen(model_file);
    sprintf(path, "%s%s", model_file, n > 3 && strcmp(model_file + n - 3, ".ms") == 0 ? "" : ".ms");
    const bool mode = m->train_mode;
    status = export_inference_only ? MSModelSetTrainMode(model, false) : kMSStatusSuccess;
    if (status == kMSStatusSuccess)
        status = lite_status(export_inference_only ? sp_model_convert(m->predict, path, 0, NULL)
                                                   : sp_lite_save(m->model, path, NULL),
                             what);
    m->train_mode = mode;
    free(path);
    return status;
}
