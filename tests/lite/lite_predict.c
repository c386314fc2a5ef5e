/* SPDX-License-Identifier: Apache-2.0 */
/* lite_predict.c - a program as people write it for MindSpore Lite's C interface: nothing in it is spore's.
 *
 *     lite_predict MODEL INPUT.bin [callbacks]      prints the outputs, one number a line; with callbacks, nodes too */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/c_api/model_c.h"

static int n_before, n_after;

static bool before(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs, const MSCallBackParamC info)
{
    (void)inputs;
    (void)outputs;
    n_before++;
    return info.node_name != NULL;
}

static bool after(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs, const MSCallBackParamC info)
{
    n_after++;
    fprintf(stderr, "node %s: %zu inputs, %zu outputs of %lld elements\n", info.node_type, inputs.handle_num,
            outputs.handle_num, (long long)MSTensorGetElementNum(outputs.handle_list[0]));
    return true;
}

static int read_input(const char *path, MSTensorHandle tensor)
{
    FILE *f = fopen(path, "rb");
    void *data = MSTensorGetMutableData(tensor);
    if (f == NULL || data == NULL) return 1;
    const size_t n = fread(data, 1, MSTensorGetDataSize(tensor), f);
    fclose(f);
    return n == MSTensorGetDataSize(tensor) ? 0 : 1;
}

static int rebuild_is_refused(MSModelHandle model, const char *path)
{
    MSContextHandle again = MSContextCreate();
    MSContextAddDeviceInfo(again, MSDeviceInfoCreate(kMSDeviceTypeCPU));
    return MSModelBuildFromFile(model, path, kMSModelTypeMindIR, again) == kMSStatusLiteModelRebuild ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    MSContextHandle context = MSContextCreate();
    MSContextSetThreadNum(context, 2);
    MSDeviceInfoHandle cpu = MSDeviceInfoCreate(kMSDeviceTypeCPU);
    MSDeviceInfoSetEnableFP16(cpu, false);
    MSContextAddDeviceInfo(context, cpu);
    MSModelHandle model = MSModelCreate();
    MSStatus status = MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context);
    if (status != kMSStatusSuccess) {
        printf("build failed: %d\n", status);
        MSModelDestroy(&model);
        return 3;
    }
    MSTensorHandleArray inputs = MSModelGetInputs(model), outputs = {0, NULL};
    if (inputs.handle_list == NULL || read_input(argv[2], inputs.handle_list[0]) != 0) return 4;
    const bool watched = argc > 3;
    status = MSModelPredict(model, inputs, &outputs, watched ? before : NULL, watched ? after : NULL);
    if (status != kMSStatusSuccess) return 5;
    for (size_t i = 0; i < outputs.handle_num; i++) {
        MSTensorHandle t = outputs.handle_list[i];
        const float *values = MSTensorGetData(t);
        if (MSTensorGetDataType(t) != kMSDataTypeNumberTypeFloat32 ||
            MSModelGetOutputByTensorName(model, MSTensorGetName(t)) != t)
            return 6;
        for (int64_t k = 0; k < MSTensorGetElementNum(t); k++) printf("%.9g\n", (double)values[k]);
    }
    if (watched && (n_before == 0 || n_before != n_after)) return 7;
    if (rebuild_is_refused(model, argv[1]) != 0) return 8;
    MSModelDestroy(&model);
    return model == NULL ? 0 : 9;
}
