/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - `spore board`: what trainings write to a folder, shown by a browser. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "spore/board.h"
#include "tools.h"

static const char help[] =
    "usage: spore board FOLDER [--host HOST] [--port PORT]\n\n"
    "Serves a page that shows what trainings write to FOLDER (SummaryCollector, SummaryRecord, or others' files for TensorBoard): curves with\n"
    "smoothing, runs beside each other, pictures, histograms, graphs, texts and settings. Each folder below with event files is a run. The page\n"
    "follows trainings while they run. Ctrl-C ends it.\n\n"
    "  --host HOST          address to listen at (default: 127.0.0.1, this machine alone; there is no password)\n"
    "  --port PORT          port, 0: one that is free (default: 6006)\n\n"
    "examples:\n"
    "  spore board runs\n"
    "  spore board runs --port 8080\n";

static sp_board *board;

static void on_signal(int number)
{
    (void)number;
    sp_board_stop(board);
}

int verb_board(int argc, char **argv)
{
    const char *folder, *host = NULL, *port_text = NULL;
    int n;
    bool helped;
    long long port = 6006;
    const tool_option options[] = {
        {"--host", NULL, &host, NULL}, {"--port", NULL, &port_text, NULL}, {NULL, NULL, NULL, NULL}};
    int code = tool_parse(argc, argv, options, help, (const int[]){1, 1}, &folder, &n, &helped);
    if (code != 0 || helped) return code;
    code = tool_whole("board", "--port", port_text, 0, 65535, &port);
    if (code != 0) return code;
    if (sp_board_create(folder, host, (int)port, &board) != SP_OK) return tool_engine_failed("board");
    struct sigaction act = {.sa_handler = on_signal};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    printf("http://%s:%d/ shows %s; Ctrl-C ends it\n", host != NULL ? host : "127.0.0.1", sp_board_port(board), folder);
    fflush(stdout);
    sp_board_wait(board);
    sp_board_release(board);
    return 0;
}
