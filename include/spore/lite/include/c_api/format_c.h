/* SPDX-License-Identifier: Apache-2.0 */
/* format_c.h - orders of axes, as MindSpore Lite numbers them. */
#ifndef SPORE_LITE_FORMAT_C_H
#define SPORE_LITE_FORMAT_C_H

typedef enum MSFormat {
    kMSFormatNCHW = 0,
    kMSFormatNHWC = 1,
    kMSFormatNHWC4 = 2,
    kMSFormatHWKC = 3,
    kMSFormatHWCK = 4,
    kMSFormatKCHW = 5,
    kMSFormatCKHW = 6,
    kMSFormatKHWC = 7,
    kMSFormatCHWK = 8,
    kMSFormatHW = 9,
    kMSFormatHW4 = 10,
    kMSFormatNC = 11,
    kMSFormatNC4 = 12,
    kMSFormatNC4HW4 = 13,
    kMSFormatNCDHW = 15,
    kMSFormatNWC = 16,
    kMSFormatNCW = 17
} MSFormat;

#endif
