/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - the service manager that started us (systemd), where there is one: datagrams to the socket it names, and sockets it hands over. No library. */
#ifndef SPORE_NOTIFY_H
#define SPORE_NOTIFY_H

/* Tell it: lines NAME=VALUE. Does nothing where nobody wants to know; safe in any thread. */
void notify(const char *state);
void notify_reloading(void);
/* Seconds between signs of life that it wants; 0: none. */
double notify_watchdog_seconds(void);
/* Sockets that were handed over, from descriptor 3 on; -1: the variable holds no number. */
int notify_sockets(void);

#endif
