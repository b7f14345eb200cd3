// SPDX-License-Identifier: Apache-2.0
// Preloaded, it sets a program's clock of the day SKEW_SECONDS ahead, and the times of files with it; those of the machine
// stay. Where that is the path of a file, by the seconds that it has at each moment.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t skew(void) {
  const char* seconds = getenv("SKEW_SECONDS");
  char text[32] = "";
  if (seconds == NULL) return 0;
  if (seconds[0] != '/') return atol(seconds);
  const int file = open(seconds, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  if (read(file, text, sizeof text - 1) < 0) text[0] = '\0';
  close(file);
  return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int code = real(clock, now);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += skew();
  return code;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec exact;
  (void)zone;
  const int code = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return code;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}

static int shifted(int code, struct stat* status) {
  if (code != 0) return code;
  status->st_atim.tv_sec += skew();
  status->st_mtim.tv_sec += skew();
  status->st_ctim.tv_sec += skew();
  return code;
}

// Each of them has two names.
#define STAT(NAME, PARAMETERS, ARGUMENTS)                                              \
  int NAME PARAMETERS {                                                                \
    static int(*real) PARAMETERS;                                                      \
    if (real == NULL) real = (int(*) PARAMETERS)dlsym(RTLD_NEXT, #NAME);               \
    return shifted(real ARGUMENTS, (struct stat*)status);                              \
  }

STAT(fstatat, (int folder, const char* restrict path, struct stat* restrict status, int flags), (folder, path, status, flags))
STAT(fstatat64, (int folder, const char* restrict path, struct stat64* restrict status, int flags), (folder, path, status, flags))
STAT(stat, (const char* restrict path, struct stat* restrict status), (path, status))
STAT(stat64, (const char* restrict path, struct stat64* restrict status), (path, status))
STAT(lstat, (const char* restrict path, struct stat* restrict status), (path, status))
STAT(lstat64, (const char* restrict path, struct stat64* restrict status), (path, status))
STAT(fstat, (int file, struct stat* status), (file, status))
STAT(fstat64, (int file, struct stat64* status), (file, status))
