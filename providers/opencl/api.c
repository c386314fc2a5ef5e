/* SPDX-License-Identifier: Apache-2.0 */
/* api.c - libOpenCL (the ICD loader) and libclblast, opened at run time: the plug-in loads on machines that have neither. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

ocl_api cl;
const sp_device_host *engine;

static sp_status find(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    if (!symbol) return ocl_failf(SP_RUNTIME, "libOpenCL has no function %s: version 1.2 of OpenCL is needed", name);
    memcpy(out, &symbol, sizeof symbol);
    return SP_OK;
}

sp_status ocl_api_open(void)
{
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so", "libOpenCL.1.dylib",
                                        "/System/Library/Frameworks/OpenCL.framework/OpenCL"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) library = dlopen(names[i], RTLD_NOW);
    if (!library)
        return engine->fail(SP_RUNTIME,
                            "there is no libOpenCL.so.1 here: install an OpenCL driver and its loader (Debian: "
                            "ocl-icd-libopencl1, and pocl-opencl-icd for a driver that needs no GPU)");
#define X(name) SP_TRY(find(library, #name, &cl.name));
    OCL_FUNCTIONS(X)
#undef X
    return SP_OK;
}

void *ocl_clblast(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool tried;
    static void *library;
    pthread_mutex_lock(&lock);
    if (!tried) {
        const char *wanted = getenv("SPORE_OPENCL_CLBLAST");
        tried = true;
        if (!wanted || strcmp(wanted, "0") != 0) library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    }
    pthread_mutex_unlock(&lock);
    return library ? dlsym(library, name) : NULL;
}

/* --- failures ---------------------------------------------------------------------------------------------------- */

static const char *code_name(cl_int code)
{
    switch (code) {
    case CL_DEVICE_NOT_FOUND: return "CL_DEVICE_NOT_FOUND";
    case CL_DEVICE_NOT_AVAILABLE: return "CL_DEVICE_NOT_AVAILABLE";
    case CL_COMPILER_NOT_AVAILABLE: return "CL_COMPILER_NOT_AVAILABLE";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case CL_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
    case CL_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
    case CL_BUILD_PROGRAM_FAILURE: return "CL_BUILD_PROGRAM_FAILURE";
    case CL_INVALID_WORK_GROUP_SIZE: return "CL_INVALID_WORK_GROUP_SIZE";
    case CL_INVALID_BUFFER_SIZE: return "CL_INVALID_BUFFER_SIZE";
    case CL_INVALID_KERNEL_ARGS: return "CL_INVALID_KERNEL_ARGS";
    case CL_INVALID_VALUE: return "CL_INVALID_VALUE";
    case CL_INVALID_COMMAND_QUEUE: return "CL_INVALID_COMMAND_QUEUE";
    case -14: return "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST";
    case -9999: return "an error of the driver";
    default: return "";
    }
}

static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGILL,  SIGTRAP, SIGABRT,
                              SIGFPE, SIGBUS, SIGSEGV, SIGQUIT, SIGSYS,  SIGXCPU, SIGXFSZ, SIGPIPE};
enum { N_SIGNALS = sizeof signals / sizeof *signals };

struct ocl_signals {
    struct sigaction actions[N_SIGNALS];
};

ocl_signals *ocl_signals_keep(void)
{
    ocl_signals *kept = malloc(sizeof *kept);
    for (int i = 0; kept && i < N_SIGNALS; i++) sigaction(signals[i], NULL, &kept->actions[i]);
    return kept;
}

void ocl_signals_put_back(ocl_signals *kept)
{
    for (int i = 0; kept && i < N_SIGNALS; i++) sigaction(signals[i], &kept->actions[i], NULL);
    free(kept);
}

/* `what` is the text of a call: its name is told. */
sp_status ocl_fail(const char *what, cl_int code)
{
    const char *name = strncmp(what, "cl.", 3) == 0 ? what + 3 : what;
    const sp_status status =
        code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ? SP_NOMEM : SP_RUNTIME;
    return ocl_failf(status, "%.*s failed: %s (%d)", (int)strcspn(name, "("), name, code_name(code), (int)code);
}

sp_status ocl_failf(sp_status status, const char *format, ...)
{
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return engine->fail(status, message);
}
