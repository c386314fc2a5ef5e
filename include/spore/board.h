/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - a page that shows what trainings write to a folder of event files (SummaryRecord), served over HTTP while they run. */
#ifndef SPORE_BOARD_H
#define SPORE_BOARD_H

#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_board sp_board;

/* Begin to serve; port 0: one that is free. host NULL: this machine alone. SP_IO: the folder is not there, or the port is taken. */
SP_API sp_status sp_board_create(const char *folder, const char *host, int port, sp_board **out);
SP_API int sp_board_port(const sp_board *board);
/* Ask for the end; safe in signal handlers. */
SP_API void sp_board_stop(sp_board *board);
/* Until it has ended. */
SP_API void sp_board_wait(sp_board *board);
SP_API void sp_board_release(sp_board *board); /* stops it first */

#ifdef __cplusplus
}
#endif
#endif
