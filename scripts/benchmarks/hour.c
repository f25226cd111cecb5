/* Makes time go faster for the program that it is loaded into (LD_PRELOAD): an hour in minutes. FASTER says how many times.
   What a program waits for in poll(2) comes as much sooner as its clocks run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

static long long nanoseconds(struct timespec time) { return time.tv_sec * 1000000000LL + time.tv_nsec; }

static long long faster(void) {
    static long long factor;
    if (factor == 0) factor = atoll(getenv("FASTER"));
    return factor;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    static long long begin[16];
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    /* Not the time that a process or a thread has worked. */
    if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)) return result;
    long long now = nanoseconds(*time);
    if (begin[clock] == 0) begin[clock] = now;
    now = begin[clock] + (now - begin[clock]) * faster();
    time->tv_sec = now / 1000000000;
    time->tv_nsec = now % 1000000000;
    return result;
}

int poll(struct pollfd *entries, nfds_t count, int patience) {
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real) real = dlsym(RTLD_NEXT, "poll");
    return real(entries, count, patience <= 0 ? patience : (int)((patience + faster() - 1) / faster()));
}
