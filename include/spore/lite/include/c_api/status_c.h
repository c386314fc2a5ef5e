/* SPDX-License-Identifier: Apache-2.0 */
/* status_c.h - what functions return: MindSpore Lite's numbers. The reason of a failure is written to the standard error. */
#ifndef SPORE_LITE_STATUS_C_H
#define SPORE_LITE_STATUS_C_H

#include <stdint.h>

enum MSCompCode {
    kMSCompCodeCore = 0x00000000u,
    kMSCompCodeMD = 0x10000000u,
    kMSCompCodeME = 0x20000000u,
    kMSCompCodeMC = 0x30000000u,
    kMSCompCodeLite = (int)0xF0000000u
};

typedef enum MSStatus {
    kMSStatusSuccess = 0,
    kMSStatusCoreFailed = 0x1,
    kMSStatusLiteError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-1)),
    kMSStatusLiteNullptr = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-2)),
    kMSStatusLiteParamInvalid = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-3)),
    kMSStatusLiteNoChange = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-4)),
    kMSStatusLiteSuccessExit = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-5)),
    kMSStatusLiteMemoryFailed = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-6)),
    kMSStatusLiteNotSupport = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-7)),
    kMSStatusLiteThreadPoolError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-8)),
    kMSStatusLiteUninitializedObj = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-9)),
    kMSStatusLiteFileError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-10)),
    kMSStatusLiteServiceDeny = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-11)),
    kMSStatusLiteModelRebuild = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-12)),
    kMSStatusLiteOutOfTensorRange = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-100)),
    kMSStatusLiteInputTensorError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-101)),
    kMSStatusLiteReentrantError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-102)),
    kMSStatusLiteGraphFileError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-200)),
    kMSStatusLiteNotFindOp = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-300)),
    kMSStatusLiteInvalidOpName = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-301)),
    kMSStatusLiteInvalidOpAttr = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-302)),
    kMSStatusLiteOpExecuteFailure = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-303)),
    kMSStatusLiteFormatError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-400)),
    kMSStatusLiteInferError = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-500)),
    kMSStatusLiteInferInvalid = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-501)),
    kMSStatusLiteInputParamInvalid = (int)(0xF0000000u | (0x0FFFFFFFu & (uint32_t)-600))
} MSStatus;

#endif
