/* SPDX-License-Identifier: Apache-2.0 */
/* fork_threads.c - nothing of ours: can this emulator start a thread in a forked child of a process with threads? Exits with 0 if so. qemu-user 7.2
 * cannot (qemu_plugin_vcpu_init_hook: assertion failed); tests that need it are then left out by tests/device/armhf. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *idle(void *unused)
{
    for (;;) pause();
    return unused;
}

static void *end(void *unused) { return unused; }

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, NULL) != 0) return 2;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(pthread_create(&thread, NULL, end, NULL) != 0 || pthread_join(thread, NULL) != 0);
    }
    int state = 0;
    return child < 0 || waitpid(child, &state, 0) != child || state != 0;
}
