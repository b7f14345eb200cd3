// SPDX-License-Identifier: Apache-2.0
// Preloaded, it makes the disk below a program's databases slow, or lets their writes fail. What is
// wrong stands in the file that DISK_FAULTS names; it is read anew each time, and while it is
// missing all is well. A line each, PATTERN being what the file's name without its folder matches:
//
//   slow MILLISECONDS SEED PATTERN  each fsync and fdatasync first waits up to so long
//   full ERRNO - PATTERN            each write, fsync and fdatasync fails
//   lost ERRNO - PATTERN            each fsync and fdatasync fails; what was written is there
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum Call { CALL_SYNC, CALL_WRITE };

static int is_database(const char* name) { return strstr(name, ".db") != NULL; }

// The same in the same order for the same seed.
static unsigned long waited(unsigned long most, uint64_t seed) {
  static atomic_ulong calls;
  uint64_t x = seed * 0x9E3779B97F4A7C15U + (atomic_fetch_add(&calls, 1) + 1) * 0xBF58476D1CE4E5B9U;
  x ^= x >> 31;
  x *= 0x94D049BB133111EBU;
  x ^= x >> 29;
  return x % (most + 1);
}

// 0, or the error that the call is to fail with; has waited before.
static int fault(int file, enum Call call) {
  const char* faults = getenv("DISK_FAULTS");
  const int before = errno;
  char link[64], path[4096], kind[8], seed[24], pattern[128];
  unsigned long number = 0;
  int error = 0;
  if (faults == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) {
    errno = before;
    return 0;
  }
  path[length] = '\0';
  const char* slash = strrchr(path, '/');
  const char* name = slash != NULL ? slash + 1 : path;
  FILE* lines = is_database(name) ? fopen(faults, "re") : NULL;
  if (lines != NULL) {
    while (error == 0 && fscanf(lines, "%7s %lu %23s %127s", kind, &number, seed, pattern) == 4) {
      if (fnmatch(pattern, name, 0) != 0) continue;
      if (strcmp(kind, "full") == 0) error = (int)number;
      if (strcmp(kind, "lost") == 0 && call == CALL_SYNC) error = (int)number;
      if (strcmp(kind, "slow") == 0 && call == CALL_SYNC) {
        const unsigned long wait = waited(number, strtoull(seed, NULL, 10));
        struct timespec left = {(time_t)(wait / 1000), (long)(wait % 1000) * 1000000L};
        while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
      }
    }
    fclose(lines);
  }
  errno = before;
  return error;
}

static int failed(int error) {
  errno = error;
  return -1;
}

#define REAL(name)               \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int fsync(int file) {
  REAL(fsync);
  const int error = fault(file, CALL_SYNC);
  return error != 0 ? failed(error) : real(file);
}

int fdatasync(int file) {
  REAL(fdatasync);
  const int error = fault(file, CALL_SYNC);
  return error != 0 ? failed(error) : real(file);
}

ssize_t write(int file, const void* data, size_t size) {
  REAL(write);
  const int error = fault(file, CALL_WRITE);
  return error != 0 ? failed(error) : real(file, data, size);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  REAL(pwrite);
  const int error = fault(file, CALL_WRITE);
  return error != 0 ? failed(error) : real(file, data, size, at);
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  REAL(pwrite64);
  const int error = fault(file, CALL_WRITE);
  return error != 0 ? failed(error) : real(file, data, size, at);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  REAL(writev);
  const int error = fault(file, CALL_WRITE);
  return error != 0 ? failed(error) : real(file, parts, count);
}
