#define _GNU_SOURCE
#include "RawSQLite.h"
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
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

static size_t status(const char *format) {
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) return 0;
    char line[256];
    size_t kilobytes = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, format, &kilobytes) == 1) break;
    fclose(file);
    return kilobytes * 1024;
}

size_t raw_peak(void) { return status("VmHWM: %zu"); }

size_t raw_resident(void) {
    malloc_trim(0);
    return status("VmRSS: %zu");
}

uint64_t raw_waits(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (uint64_t)usage.ru_nvcsw;
}
