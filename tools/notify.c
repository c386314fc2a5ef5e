/* SPDX-License-Identifier: Apache-2.0 */
/* notify.c - what systemd wants to know of a service, and what it hands over: NOTIFY_SOCKET, WATCHDOG_USEC, LISTEN_FDS (sd_notify(3), sd_listen_fds(3)). */
#define _GNU_SOURCE

#include "notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void notify(const char *state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path) return;
    memcpy(address.sun_path, path, strlen(path));
    if (path[0] == '@') address.sun_path[0] = '\0'; /* not in the file system */
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return;
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address, bytes) <
        0) { /* a manager that has gone: nobody to tell */
    }
    close(fd);
}

void notify_reloading(void)
{
    struct timespec now;
    char state[64];
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    notify(state);
}

/* A variable that is meant for this process; `who` holds its number. NULL: there is none. */
static const char *meant_for_us(const char *variable, const char *who)
{
    const char *pid = getenv(who), *text = getenv(variable);
    return text != NULL && (pid == NULL || strtoll(pid, NULL, 10) == (long long)getpid()) ? text : NULL;
}

double notify_watchdog_seconds(void)
{
    const char *text = meant_for_us("WATCHDOG_USEC", "WATCHDOG_PID");
    const double us = text != NULL ? (double)strtoll(text, NULL, 10) : 0;
    return us > 0 ? us / 1e6 / 2 : 0;
}

int notify_sockets(void)
{
    const char *text = getenv("LISTEN_PID") != NULL ? meant_for_us("LISTEN_FDS", "LISTEN_PID") : NULL;
    if (text == NULL) return 0;
    char *end;
    const long n = strtol(text, &end, 10);
    return end != text && *end == '\0' && n >= 0 && n <= 1000 ? (int)n : -1;
}
