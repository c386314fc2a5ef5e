/* SPDX-License-Identifier: Apache-2.0 */
/* cache_daemon.c - the cache server as a process: started, told apart from its caller, stopped by signals. */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"

static sp_cache_server *server; /* set before the first signal */

static void on_signal(int number)
{
    (void)number;
    sp_cache_server_stop(server);
}

static void write_line(void *context, int level, const char *line)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
    const int fd = *(const int *)context;
    char text[700], when[32];
    struct tm parts;
    const time_t now = time(NULL);
    localtime_r(&now, &parts);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &parts);
    const int n = snprintf(text, sizeof text, "%s %s cache server %ld: %s\n", when,
                           names[level < 0 || level > 4 ? 1 : level], (long)getpid(), line);
    if (write(fd, text, (size_t)n) < 0) return; /* a full disk costs lines, not rows */
}

int cache_workers(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 2 ? (int)(n / 2) : 1;
}

/* A connection is a file, and a cache three or four. */
static void allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Serve in this process. ready is told when it does: 'k', or what went wrong. */
static int serve(cache_start *start, int ready)
{
    static int log_fd = -1;
    struct sigaction stop = {.sa_handler = on_signal};
    if (start->log != NULL || start->foreground) {
        log_fd = start->log != NULL ? open(start->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : STDERR_FILENO;
        start->o.log = write_line;
        start->o.log_context = &log_fd;
    }
    char text[512] = "";
    allow_files();
    if (start->log != NULL && log_fd < 0)
        snprintf(text, sizeof text, "%s cannot be written: %s", start->log, strerror(errno));
    else if (sp_cache_server_create(&start->o, &server) != SP_OK) snprintf(text, sizeof text, "%s", sp_error_message());
    if (text[0] == '\0') {
        sigaction(SIGTERM, &stop, NULL);
        sigaction(SIGINT, &stop, NULL);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk */
        text[0] = 'k';
    }
    const bool good = text[0] == 'k' && text[1] == '\0';
    if (ready >= 0 && write(ready, text, strlen(text)) < 0) return EXIT_FAILED;
    if (ready >= 0) close(ready);
    if (ready < 0 && !good) return tool_complain(EXIT_FAILED, "cache: %s", text);
    if (!good) return EXIT_FAILED;
    const sp_status status = sp_cache_server_run(server);
    sp_cache_server_release(server);
    return status == SP_OK ? 0 : EXIT_FAILED;
}

/* Nothing of the caller stays open: pipes that somebody waits for the end of, above all. */
static void leave_caller(int keep)
{
    DIR *list = opendir("/proc/self/fd");
    const int null = open("/dev/null", O_RDWR);
    for (struct dirent *e = list != NULL ? readdir(list) : NULL; e != NULL; e = readdir(list)) {
        const int fd = atoi(e->d_name);
        if (fd > STDERR_FILENO && fd != keep && fd != null && fd != dirfd(list)) close(fd);
    }
    if (list != NULL) closedir(list);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++) dup2(null, fd);
    if (null > STDERR_FILENO) close(null);
}

/* The child of the child, which no terminal and no caller knows. It tells its number first. */
static void be_daemon(cache_start *start, int ready)
{
    setsid();
    const pid_t child = fork();
    if (child != 0) _exit(child > 0 ? 0 : EXIT_FAILED);
    const pid_t own = getpid();
    signal(SIGHUP, SIG_IGN);
    if (write(ready, &own, sizeof own) < 0) _exit(EXIT_FAILED);
    leave_caller(ready);
    if (start->log != NULL && start->log[0] != '/') { /* stays where it was named */
        char *whole = NULL, *here = getcwd(NULL, 0);
        if (here != NULL && asprintf(&whole, "%s/%s", here, start->log) > 0) start->log = whole;
        free(here);
    }
    if (chdir("/") != 0) _exit(EXIT_FAILED);
    _exit(serve(start, ready));
}

int cache_daemon(cache_start *start, pid_t *pid, char failure[512])
{
    int ends[2];
    size_t n = 0;
    ssize_t got = 1;
    failure[0] = '\0';
    if (start->foreground) return serve(start, -1);
    if (pipe2(ends, O_CLOEXEC) != 0) return tool_complain(EXIT_FAILED, "cache: no pipe: %s", strerror(errno));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_daemon(start, ends[1]);
    }
    close(ends[1]);
    if (child > 0) waitpid(child, NULL, 0);
    if (child < 0 || read(ends[0], pid, sizeof *pid) != (ssize_t)sizeof *pid) got = 0;
    while (got > 0 && n < 511) {
        got = read(ends[0], failure + n, 511 - n);
        if (got > 0) n += (size_t)got;
        if (n == 1 && failure[0] == 'k') break;
    }
    close(ends[0]);
    failure[n] = '\0';
    if (n == 1 && failure[0] == 'k') return 0;
    if (n == 0) snprintf(failure, 512, "the process for the server could not be started");
    return EXIT_FAILED;
}
