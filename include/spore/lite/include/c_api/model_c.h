/* SPDX-License-Identifier: Apache-2.0 */
/* model_c.h - models in MindSpore Lite's C interface, over sp_model: .ms files, and MindIR, ONNX and TFLite files too.
 *
 *     MSContextHandle context = MSContextCreate();
 *     MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
 *     MSModelHandle model = MSModelCreate();
 *     if (MSModelBuildFromFile(model, "net.ms", kMSModelTypeMindIR, context) != kMSStatusSuccess) ...
 *     MSTensorHandleArray inputs = MSModelGetInputs(model), outputs;
 *     memcpy(MSTensorGetMutableData(inputs.handle_list[0]), picture, MSTensorGetDataSize(inputs.handle_list[0]));
 *     MSModelPredict(model, inputs, &outputs, NULL, NULL);
 *
 * A context belongs to the model once it was given to a Build, even if that fails; arrays and tensors that a model gives belong to the model. A model is used by one
 * thread at a time. */
#ifndef SPORE_LITE_MODEL_C_H
#define SPORE_LITE_MODEL_C_H

#include "context_c.h"
#include "status_c.h"
#include "tensor_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *MSModelHandle;
typedef void *MSTrainCfgHandle;

typedef struct MSTensorHandleArray {
    size_t handle_num;
    MSTensorHandle *handle_list;
} MSTensorHandleArray;

#define MS_MAX_SHAPE_NUM 32
typedef struct MSShapeInfo {
    size_t shape_num;
    int64_t shape[MS_MAX_SHAPE_NUM];
} MSShapeInfo;

typedef struct MSCallBackParamC {
    char *node_name;
    char *node_type;
} MSCallBackParamC;

/* Called in front of nodes or behind them; false ends the run. Runs with callbacks go operator by operator. */
typedef bool (*MSKernelCallBackC)(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs,
                                  const MSCallBackParamC kernel_Info);

MS_API MSModelHandle MSModelCreate(void);
MS_API void MSModelDestroy(MSModelHandle *model);
MS_API MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                             const MSContextHandle model_context);
MS_API MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                     const MSContextHandle model_context);
MS_API MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                              size_t shape_info_num);
MS_API MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                               const MSKernelCallBackC before, const MSKernelCallBackC after);
MS_API MSTensorHandleArray MSModelGetInputs(const MSModelHandle model);
MS_API MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model);
MS_API MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model,
                                                  const char *tensor_name); /* NULL: there is none */
MS_API MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name);

/* --- training: files that were converted with --trainModel=true -------------------------------------------------- */

MS_API MSTrainCfgHandle MSTrainCfgCreate(void);
MS_API void MSTrainCfgDestroy(MSTrainCfgHandle *train_cfg);                   /* not after it was given to a model */
MS_API char **MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t *num); /* lives with the settings */
MS_API void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char **loss_name, size_t num);
MS_API MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg);
MS_API void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level);
MS_API MSStatus MSTrainModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                                  const MSContextHandle model_context, const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSTrainModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                          const MSContextHandle model_context, const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after);
MS_API MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate);
MS_API float MSModelGetLearningRate(MSModelHandle model);          /* 0: there is no optimizer */
MS_API MSTensorHandleArray MSModelGetWeights(MSModelHandle model); /* as they are now, copied */
MS_API MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights); /* by name */
MS_API bool MSModelGetTrainMode(MSModelHandle model);
MS_API MSStatus MSModelSetTrainMode(MSModelHandle model, bool train);
/* Not supported but for switching it off. */
MS_API MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum);
/* Quantised files and chosen outputs are not supported. */
MS_API MSStatus MSExportModel(MSModelHandle model, MSModelType model_type, const char *model_file,
                              MSQuantizationType quantization_type, bool export_inference_only,
                              char **output_tensor_name, size_t num);

#ifdef __cplusplus
}
#endif
#endif
