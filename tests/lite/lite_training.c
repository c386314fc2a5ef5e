/* SPDX-License-Identifier: Apache-2.0 */
/* lite_training.c - a program that trains on the device through MindSpore Lite's C interface.
 *
 *     lite_training MODEL STEPS OUT.ms INFER.ms      x and labels are made up; prints losses, then predictions of the trained model */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_api/model_c.h"

static void fill(MSTensorHandle tensor, unsigned seed)
{
    float *data = MSTensorGetMutableData(tensor);
    for (int64_t i = 0; i < MSTensorGetElementNum(tensor); i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (float)(seed >> 8) / (float)(1 << 24);
    }
}

/* Row k is of class k. */
static void fill_labels(MSTensorHandle tensor)
{
    size_t rank = 0;
    const int64_t *shape = MSTensorGetShape(tensor, &rank);
    float *data = MSTensorGetMutableData(tensor);
    memset(data, 0, MSTensorGetDataSize(tensor));
    for (int64_t k = 0; rank == 2 && k < shape[0] && k < shape[1]; k++) data[k * shape[1] + k] = 1;
}

static void fill_inputs(MSModelHandle model)
{
    MSTensorHandleArray inputs = MSModelGetInputs(model);
    fill(inputs.handle_list[0], 1);
    fill_labels(inputs.handle_list[1]);
}

static MSModelHandle build(const char *path)
{
    MSContextHandle context = MSContextCreate();
    MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
    MSTrainCfgHandle cfg = MSTrainCfgCreate();
    const char *loss[] = {"_loss_fn"};
    MSTrainCfgSetLossName(cfg, loss, 1);
    MSModelHandle model = MSModelCreate();
    if (MSTrainModelBuildFromFile(model, path, kMSModelTypeMindIR, context, cfg) != kMSStatusSuccess)
        MSModelDestroy(&model);
    return model;
}

static int print_predictions(MSModelHandle model)
{
    if (MSModelSetTrainMode(model, false) != kMSStatusSuccess || MSRunStep(model, NULL, NULL) != kMSStatusSuccess)
        return 1;
    MSTensorHandleArray outputs = MSModelGetOutputs(model);
    const float *values = MSTensorGetData(outputs.handle_list[0]);
    for (int k = 0; k < 5; k++) printf("prediction %.9g\n", (double)values[k]);
    return outputs.handle_num == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    MSModelHandle model = build(argv[1]);
    if (model == NULL) return 3;
    fill_inputs(model);
    if (MSModelSetLearningRate(model, 0.01f) != kMSStatusSuccess || MSModelGetLearningRate(model) != 0.01f) return 4;
    if (MSModelSetTrainMode(model, true) != kMSStatusSuccess || !MSModelGetTrainMode(model)) return 5;
    for (int i = atoi(argv[2]); i > 0; i--) {
        if (MSRunStep(model, NULL, NULL) != kMSStatusSuccess) return 6;
        printf("loss %.9g\n", (double)*(const float *)MSTensorGetData(MSModelGetOutputs(model).handle_list[0]));
    }
    if (print_predictions(model) != 0) return 7;
    MSTensorHandleArray weights = MSModelGetWeights(model);
    if (weights.handle_num == 0 || MSModelUpdateWeights(model, weights) != kMSStatusSuccess) return 8;
    if (MSExportModel(model, kMSModelTypeMindIR, argv[3], kMSNO_QUANT, false, NULL, 0) != kMSStatusSuccess) return 9;
    if (strcmp(argv[4], "-") != 0 &&
        MSExportModel(model, kMSModelTypeMindIR, argv[4], kMSNO_QUANT, true, NULL, 0) != kMSStatusSuccess)
        return 10;
    MSModelDestroy(&model);
    if ((model = build(argv[3])) == NULL) return 11;
    fill_inputs(model);
    const int code = print_predictions(model);
    MSModelDestroy(&model);
    return code;
}
