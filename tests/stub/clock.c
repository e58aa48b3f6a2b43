/* A clock that goes back by an hour whenever it is asked; how long things take stays right. LD_PRELOAD it. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *at) {
    static _Atomic long asked;
    long failed = syscall(SYS_clock_gettime, id, at);
    if (!failed && id == CLOCK_REALTIME) at->tv_sec -= 3600 * ++asked;
    return (int)failed;
}
