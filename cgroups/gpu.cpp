// SPDX-License-Identifier: Apache-2.0
// The few declarations of NVML that are needed are written down here, as its public interface has
// them since driver 340; nothing of its header is included.
#include "cgroups/gpu.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace flowcon::cgroups {
namespace {

using Device = void*;
using Code = int;  // an enum there

constexpr Code kSuccess = 0;
constexpr Code kNoPermission = 4;
constexpr Code kNotFound = 6;
constexpr Code kInsufficientSize = 7;
constexpr Code kDriverNotLoaded = 9;
constexpr std::uint64_t kNotAvailable = std::numeric_limits<std::uint64_t>::max();

constexpr unsigned kMostDevices = 256;
constexpr unsigned kMostProcesses = 4096;

struct Utilization {
  unsigned gpu;  // percent
  unsigned memory;
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct ProcessV1 {
  unsigned pid;
  unsigned long long used_memory;
};

struct ProcessV2 {  // of the functions _v2 and _v3
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

// One series of drivers (535) wrote larger entries; the room behind keeps that from being harmful,
// and pids that come out wrong belong to no container.
constexpr std::size_t kRoomPerProcess = 64;

struct ProcessSample {
  unsigned pid;
  unsigned long long time;  // us
  unsigned sm;              // percent
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};

std::optional<double> share(unsigned percent) {
  if (percent > 100) return std::nullopt;
  return percent / 100.0;
}

}  // namespace

struct Gpus::Library {
  void* handle = nullptr;
  bool is_started = false;
  Code (*init)() = nullptr;
  Code (*shutdown)() = nullptr;
  const char* (*error_string)(Code) = nullptr;
  Code (*device_count)(unsigned*) = nullptr;
  Code (*by_index)(unsigned, Device*) = nullptr;
  // What follows may be missing or unsupported.
  Code (*device_name)(Device, char*, unsigned) = nullptr;
  Code (*device_uuid)(Device, char*, unsigned) = nullptr;
  Code (*utilization)(Device, Utilization*) = nullptr;
  Code (*memory)(Device, Memory*) = nullptr;
  Code (*processes)(Device, unsigned*, void*) = nullptr;
  Code (*process_use)(Device, ProcessSample*, unsigned*, unsigned long long) = nullptr;
  bool has_small_processes = false;                       // ProcessV1
  std::map<unsigned, unsigned long long> last_sample_us;  ///< by NVML's own index

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (is_started) shutdown();
    if (handle) ::dlclose(handle);
  }

  template <class Function>
  bool find(Function& function, const char* symbol) {
    void* found = ::dlsym(handle, symbol);
    static_assert(sizeof found == sizeof function);
    std::memcpy(&function, &found, sizeof found);
    return found != nullptr;
  }

  Result<void> load(const std::string& name);
  Result<void> start();
  GpuDevice describe(Device device) const;
  void add_processes(Device device, unsigned number, GpuReading& reading);
  std::vector<GpuProcess> running(Device device) const;
  void add_use(Device device, unsigned number, std::vector<GpuProcess>& all);
};

Result<void> Gpus::Library::load(const std::string& name) {
  handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = ::dlerror();
    return errno_error(ENOENT, "load NVML: " + printable(why ? why : name));
  }
  const bool has_all = find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
                       find(error_string, "nvmlErrorString") &&
                       find(device_count, "nvmlDeviceGetCount_v2") &&
                       find(by_index, "nvmlDeviceGetHandleByIndex_v2");
  if (!has_all) return errno_error(ENOSYS, "load NVML: " + printable(name) + " is too old");
  find(device_name, "nvmlDeviceGetName");
  find(device_uuid, "nvmlDeviceGetUUID");
  find(utilization, "nvmlDeviceGetUtilizationRates");
  find(memory, "nvmlDeviceGetMemoryInfo");
  find(process_use, "nvmlDeviceGetProcessUtilization");
  has_small_processes = !find(processes, "nvmlDeviceGetComputeRunningProcesses_v3") &&
                        !find(processes, "nvmlDeviceGetComputeRunningProcesses_v2");
  if (has_small_processes) find(processes, "nvmlDeviceGetComputeRunningProcesses");
  return {};
}

Result<void> Gpus::Library::start() {
  const Code code = init();
  is_started = code == kSuccess;
  if (is_started) return {};
  const char* why = error_string(code);
  const int number = code == kDriverNotLoaded ? ENODEV : code == kNoPermission ? EACCES : EIO;
  return errno_error(number, "start NVML: " + printable(why ? why : std::to_string(code)));
}

GpuDevice Gpus::Library::describe(Device device) const {
  const auto text = [device](Code (*get)(Device, char*, unsigned)) {
    std::array<char, 97> buffer{};
    const auto size = static_cast<unsigned>(buffer.size() - 1);
    return get && get(device, buffer.data(), size) == kSuccess ? printable(buffer.data())
                                                               : std::string();
  };
  GpuDevice described;
  described.uuid = text(device_uuid);
  described.name = text(device_name);
  Utilization rates{};
  if (utilization && utilization(device, &rates) == kSuccess) described.use = share(rates.gpu);
  Memory room{};
  if (memory && memory(device, &room) == kSuccess && room.used <= room.total) {
    described.total_bytes = room.total;
  }
  return described;
}

std::vector<GpuProcess> Gpus::Library::running(Device device) const {
  std::vector<GpuProcess> found;
  if (!processes) return found;
  // Processes may start between the question for the number and the one for them.
  unsigned count = 16;
  Code code = kInsufficientSize;
  std::vector<unsigned char> room;
  for (int attempt = 0; attempt < 3 && code == kInsufficientSize; ++attempt) {
    count = std::min(count, kMostProcesses);
    room.assign(count * kRoomPerProcess, 0);
    code = processes(device, &count, room.data());
    if (code == kInsufficientSize) count += 8;
  }
  if (code != kSuccess) return found;
  const std::size_t size = has_small_processes ? sizeof(ProcessV1) : sizeof(ProcessV2);
  const std::size_t most = room.size() / kRoomPerProcess;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, most); ++i) {
    ProcessV1 entry{};  // the beginning of both
    std::memcpy(&entry, room.data() + i * size, sizeof entry);
    GpuProcess process;
    process.pid = entry.pid;
    if (entry.used_memory != kNotAvailable) process.memory_bytes = entry.used_memory;
    if (process.pid > 0) found.push_back(process);
  }
  return found;
}

void Gpus::Library::add_use(Device device, unsigned number, std::vector<GpuProcess>& all) {
  if (!process_use) return;
  unsigned long long& last = last_sample_us[number];
  unsigned count = 0;
  Code code = process_use(device, nullptr, &count, last);
  std::vector<ProcessSample> samples(std::min(count, kMostProcesses));
  if (code == kInsufficientSize && !samples.empty()) {
    count = static_cast<unsigned>(samples.size());
    code = process_use(device, samples.data(), &count, last);
  }
  // "Not found" says that nothing ran since; anything else that it cannot tell.
  if (code != kSuccess && code != kNotFound) return;
  samples.resize(code == kSuccess ? std::min<std::size_t>(count, samples.size()) : 0);
  std::map<std::int64_t, const ProcessSample*> newest;
  for (const ProcessSample& sample : samples) {
    if (sample.sm > 100) continue;  // some drivers leave entries unset
    const ProcessSample*& best = newest[sample.pid];
    if (!best || sample.time > best->time) best = &sample;
    last = std::max(last, sample.time);
  }
  for (GpuProcess& process : all) {
    const auto found = newest.find(process.pid);
    process.use = found == newest.end() ? 0 : share(found->second->sm);
  }
}

void Gpus::Library::add_processes(Device device, unsigned number, GpuReading& reading) {
  std::vector<GpuProcess> here = running(device);
  if (!here.empty()) add_use(device, number, here);
  for (GpuProcess& process : here) {
    process.device = reading.devices.size() - 1;
    reading.processes.push_back(process);
  }
}

Gpus::Gpus(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Gpus::~Gpus() = default;

Result<std::unique_ptr<Gpus>> Gpus::open(const std::string& name) {
  auto library = std::make_unique<Library>();
  if (const auto done = library->load(name); !done) return done.error();
  if (const auto done = library->start(); !done) return done.error();
  return std::unique_ptr<Gpus>(new Gpus(std::move(library)));
}

Result<GpuReading> Gpus::read() {
  unsigned count = 0;
  if (const Code code = library_->device_count(&count); code != kSuccess) {
    const char* why = library_->error_string(code);
    return errno_error(EIO, "count the GPUs: " + printable(why ? why : std::to_string(code)));
  }
  GpuReading reading;
  for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
    Device device = nullptr;
    if (library_->by_index(i, &device) != kSuccess) continue;
    reading.devices.push_back(library_->describe(device));
    reading.devices.back().number = i;
    library_->add_processes(device, i, reading);
  }
  return reading;
}

}  // namespace flowcon::cgroups
