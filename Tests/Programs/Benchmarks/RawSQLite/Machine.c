#define _GNU_SOURCE
#include "RawSQLite.h"
#include <malloc.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t raw_now(void) { return nanoseconds(CLOCK_MONOTONIC); }

int raw_thread(void) { return gettid(); }

uint64_t raw_thread_time(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

size_t raw_allocated(void) {
    struct mallinfo2 state = mallinfo2();
    return state.uordblks + state.hblkhd;
}

void raw_reset_peak(void) {
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL) return;
    fputs("5", file);
    fclose(file);
}

size_t raw_peak(void) {
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) return 0;
    char line[256];
    size_t kilobytes = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %zu", &kilobytes) == 1) break;
    fclose(file);
    return kilobytes * 1024;
}
