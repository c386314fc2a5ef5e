/* SPDX-License-Identifier: Apache-2.0 */
/* context_c.h - settings of a model in MindSpore Lite's C interface.
 *
 * The CPU is the device there is. Threads are those of the process: the model that is built last sets their number. They are not tied to cores, and elements of
 * float32 are computed in float32: a context that asks for more says so on the standard error when a model is built with it. */
#ifndef SPORE_LITE_CONTEXT_C_H
#define SPORE_LITE_CONTEXT_C_H

#include "types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *MSContextHandle;
typedef void *MSDeviceInfoHandle;

MS_API MSContextHandle MSContextCreate(void);
MS_API void
MSContextDestroy(MSContextHandle *context); /* not after it was given to a model; devices that were added go with it */
MS_API void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num);
MS_API int32_t MSContextGetThreadNum(const MSContextHandle context);
MS_API void MSContextSetThreadAffinityMode(MSContextHandle context, int mode);
MS_API int MSContextGetThreadAffinityMode(const MSContextHandle context);
MS_API void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t *core_list, size_t core_num);
MS_API const int32_t *MSContextGetThreadAffinityCoreList(const MSContextHandle context, size_t *core_num);
MS_API void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel);
MS_API bool MSContextGetEnableParallel(const MSContextHandle context);
MS_API void MSContextAddDeviceInfo(MSContextHandle context,
                                   MSDeviceInfoHandle device_info); /* which belongs to the context then */

MS_API MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type);
MS_API void MSDeviceInfoDestroy(MSDeviceInfoHandle *device_info);
MS_API void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char *provider);
MS_API const char *MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info);
MS_API void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char *device);
MS_API const char *MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info);
MS_API MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info);
MS_API void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16);
MS_API bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info);
MS_API void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency);
MS_API int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info);

#ifdef __cplusplus
}
#endif
#endif
