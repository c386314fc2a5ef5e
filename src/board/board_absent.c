/* SPDX-License-Identifier: Apache-2.0 */
/* board_absent.c - stands for src/board where the libraries that src/net needs were not there when spore was built. */
#include "base/base.h"
#include "spore/board.h"

sp_status sp_board_create(const char *folder, const char *host, int port, sp_board **out)
{
    (void)folder, (void)host, (void)port, (void)out;
    return sp__fail(
        SP_DECLINED,
        "this spore was built without serving: install libevent-dev, libnghttp2-dev and libssl-dev (Debian names), then build it again");
}

int sp_board_port(const sp_board *board)
{
    (void)board;
    return 0;
}

void sp_board_stop(sp_board *board) { (void)board; }
void sp_board_wait(sp_board *board) { (void)board; }
void sp_board_release(sp_board *board) { (void)board; }
