// SPDX-License-Identifier: Apache-2.0
// A shared object with the functions of NVML, for tests that load it as the real one is loaded. Two
// GPUs and their processes; the environment variable FAKE_NVML selects their faults. Its
// declarations are its own, so that a wrong one in cgroups/gpu.cpp shows.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Code {
  kSuccess = 0,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kGpuIsLost = 15,
};

int devices[2] = {0, 1};

bool is_case(const char* name) {
  const char* set = std::getenv("FAKE_NVML");
  return set && std::strcmp(set, name) == 0;
}

bool is_first(const void* device) { return device == &devices[0]; }

#ifdef FAKE_NVML_OLD
struct Process {
  unsigned pid;
  unsigned long long used;
};
#else
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};
#endif

Code copy(unsigned* count, void* infos, const Process* processes, unsigned number) {
  const unsigned room = *count;
  *count = number;
  if (room < number) return kInsufficientSize;
  std::memcpy(infos, processes, number * sizeof(Process));
  return kSuccess;
}

Code running(void* device, unsigned* count, void* infos) {
  if (is_case("many")) {
    // more than anybody asks for at first, and one more at every question
    static unsigned number = 40;
    Process all[64] = {};
    for (unsigned i = 0; i < 64; ++i) all[i].pid = 1000 + i;
    return copy(count, infos, all, ++number < 64 ? number : 64);
  }
  if (is_case("endless")) {
    *count = 0xffffffff;
    return kInsufficientSize;
  }
  if (is_case("lying")) {  // success, and more entries than there was room for
    *count = 0x7fffffff;
    return kSuccess;
  }
  Process first[3] = {};
  first[0].pid = 101;
  first[0].used = 1000;
  first[1].pid = 102;
  first[1].used = ~0ULL;  // not available
  first[2].pid = 0;       // nobody
  Process second[1] = {};
  second[0].pid = 101;
  second[0].used = 500;
  return is_first(device) ? copy(count, infos, first, 3) : copy(count, infos, second, 1);
}

}  // namespace

extern "C" {

Code nvmlInit_v2() {
  if (is_case("no driver")) return kDriverNotLoaded;
  while (is_case("hangs")) ::pause();
  return kSuccess;
}

Code nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(Code code) {
  return code == kDriverNotLoaded ? "Driver Not \x1b[31mLoaded" : "Some Error";
}

Code nvmlDeviceGetCount_v2(unsigned* count) {
  if (is_case("no count")) return kInvalidArgument;
  *count = is_case("no gpu") ? 0 : 2;
  return kSuccess;
}

Code nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return kInvalidArgument;
  if (index == 0 && is_case("lost")) return kGpuIsLost;
  *device = &devices[index];
  return kSuccess;
}

Code nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::snprintf(name, length, "Fake GPU %d", is_first(device) ? 0 : 1);
  return kSuccess;
}

Code nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-fake-%d", is_first(device) ? 0 : 1);
  return kSuccess;
}

Code nvmlDeviceGetUtilizationRates(void* device, void* rates) {
  if (is_case("no rates")) return kNotSupported;
  const unsigned percent[2] = {is_first(device) ? 80U : 25U, 7};
  std::memcpy(rates, percent, sizeof percent);
  return kSuccess;
}

Code nvmlDeviceGetMemoryInfo(void* device, void* memory) {
  const unsigned long long bytes[3] = {16000, 12000, is_first(device) ? 4000ULL : 500ULL};
  std::memcpy(memory, bytes, sizeof bytes);
  return kSuccess;
}

#ifdef FAKE_NVML_OLD
Code nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, void* infos) {
  return running(device, count, infos);
}
#else
Code nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* infos) {
  return running(device, count, infos);
}

struct Sample {
  unsigned pid;
  unsigned long long time;
  unsigned sm, memory, encoder, decoder;
};

Code nvmlDeviceGetProcessUtilization(void* device, Sample* samples, unsigned* count,
                                     unsigned long long since) {
  if (is_case("no samples")) return kNotSupported;
  const Sample first[4] = {{101, 10, 20, 0, 0, 0},   // older
                           {101, 20, 60, 0, 0, 0},   // newest
                           {102, 20, 999, 0, 0, 0},  // unset
                           {55, 20, 30, 0, 0, 0}};   // not a computing process
  const Sample second[1] = {{101, 30, 25, 0, 0, 0}};
  const Sample* all = is_first(device) ? first : second;
  const unsigned number = is_first(device) ? 4 : 1;
  if (since >= 20) return kNotFound;  // nothing ran since
  if (!samples || *count < number) {
    *count = number;
    return kInsufficientSize;
  }
  *count = number;
  std::memcpy(samples, all, number * sizeof(Sample));
  return kSuccess;
}
#endif

}  // extern "C"
