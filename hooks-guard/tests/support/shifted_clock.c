/* Preloaded before the C library. Shifts the clocks of a process by the seconds in the file that
   SHIFTED_CLOCK names: first for the calendar clock, then for the monotonic clock. A test then
   does not have to wait a month. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long shift(int steady) {
    static const char *path;
    char text[64];
    if (!path) path = getenv("SHIFTED_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length < 0 ? 0 : length] = 0;
    char *rest;
    long calendar = strtol(text, &rest, 10);
    return steady ? strtol(rest, 0, 10) : calendar;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, at);
    /* The clocks of processor time stay as they are. */
    if (status == 0 && clock == CLOCK_REALTIME) at->tv_sec += shift(0);
    if (status == 0 && clock == CLOCK_MONOTONIC) at->tv_sec += shift(1);
    return status;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    int status = clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return status;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
