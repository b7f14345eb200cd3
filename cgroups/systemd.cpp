// SPDX-License-Identifier: Apache-2.0
#include "cgroups/systemd.h"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <string_view>

#include "base/text.h"
#include "cgroups/cpu.h"

namespace flowcon::cgroups {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kBusTimeout{2};
constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();

struct Bus {
  sd_bus* bus = nullptr;
  Bus() = default;
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;
  ~Bus() { sd_bus_close_unref(bus); }  // not flush: that may block without a bound
};

struct Message {
  sd_bus_message* message = nullptr;
  Message() = default;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { sd_bus_message_unref(message); }
};

std::uint64_t microseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 0));
}

/// Waits until the bus has said hello. sd_bus_call would wait 90 s for it whatever its own timeout.
int wait_until_ready(sd_bus* bus, Clock::time_point deadline) {
  while (true) {
    const int ready = sd_bus_is_ready(bus);
    if (ready != 0) return ready;
    const int processed = sd_bus_process(bus, nullptr);
    if (processed < 0) return processed;
    if (processed > 0) continue;
    const std::uint64_t left = microseconds_until(deadline);
    if (left == 0) return -ETIMEDOUT;
    const int waited = sd_bus_wait(bus, left);
    if (waited < 0 && waited != -EINTR) return waited;
  }
}

int append_devices(sd_bus_message* message, const std::vector<DeviceValue>& devices) {
  int code = sd_bus_message_open_container(message, 'v', "a(st)");
  if (code >= 0) code = sd_bus_message_open_container(message, 'a', "(st)");
  for (const DeviceValue& device : devices) {
    if (code < 0) return code;
    code = sd_bus_message_append(message, "(st)", device.node.c_str(), device.value);
  }
  if (code >= 0) code = sd_bus_message_close_container(message);
  return code < 0 ? code : sd_bus_message_close_container(message);
}

int append(sd_bus_message* message, const UnitProperty& property) {
  if (!property.devices) {
    return sd_bus_message_append(message, "(sv)", property.name.c_str(), "t", property.value);
  }
  int code = sd_bus_message_open_container(message, 'r', "sv");
  if (code >= 0) code = sd_bus_message_append(message, "s", property.name.c_str());
  if (code >= 0) code = append_devices(message, *property.devices);
  return code < 0 ? code : sd_bus_message_close_container(message);
}

int append(sd_bus_message* message, const std::string& unit,
           const std::vector<UnitProperty>& properties) {
  constexpr int kRuntime = 1;
  int code = sd_bus_message_append(message, "sb", unit.c_str(), kRuntime);
  if (code >= 0) code = sd_bus_message_open_container(message, 'a', "(sv)");
  for (const UnitProperty& property : properties) {
    if (code < 0) break;
    code = append(message, property);
  }
  return code < 0 ? code : sd_bus_message_close_container(message);
}

/// A bus that has said hello. Errors: no system bus, ETIMEDOUT.
Result<void> open(Bus& bus, Clock::time_point deadline) {
  int code = sd_bus_open_system(&bus.bus);
  if (code >= 0) code = wait_until_ready(bus.bus, deadline);
  if (code >= 0) return {};
  return errno_error(-code, "no system bus");
}

/// What a failed call means; frees `failure`.
Error failed(int code, sd_bus_error& failure, const std::string& doing) {
  // systemd's own names have no errno in sd-bus's table, so the one that matters is named here.
  if (sd_bus_error_has_name(&failure, "org.freedesktop.systemd1.NoSuchUnit") > 0) code = -ENOENT;
  const std::string why = failure.message ? printable(failure.message) : std::string();
  sd_bus_error_free(&failure);
  return errno_error(-code, why.empty() ? doing : doing + ": " + why);
}

constexpr const char* kService = "org.freedesktop.systemd1";
constexpr const char* kObject = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

}  // namespace

std::vector<UnitProperty> unit_properties(const CpuSetting& to, bool is_v2, Rounding rounding) {
  const CpuSetting setting = clamp_to_kernel(to, is_v2);
  std::vector<UnitProperty> properties;
  if (setting.weight != 0) {
    const std::uint64_t standard = is_v2 ? 100 : 1024;
    properties.push_back({is_v2 ? "CPUWeight" : "CPUShares",
                          setting.weight == standard ? kInfinity : setting.weight});
  }
  std::uint64_t per_second = kInfinity;
  constexpr std::uint64_t kDefaultPeriodUs = 100000;
  std::uint64_t period = setting.period_us == kDefaultPeriodUs ? kInfinity : setting.period_us;
  if (setting.quota_us) {
    constexpr std::uint64_t kSecondUs = 1000000;
    // Beyond this the product would overflow; no host has that many cores.
    const auto quota = std::min<std::uint64_t>(static_cast<std::uint64_t>(*setting.quota_us),
                                               kInfinity / kSecondUs / 2);
    per_second = (quota * kSecondUs + setting.period_us - 1) / setting.period_us;
    constexpr std::uint64_t kPercentUs = kSecondUs / 100;
    if (rounding == Rounding::whole_percent) {
      per_second = (per_second + kPercentUs - 1) / kPercentUs * kPercentUs;
    }
    period = setting.period_us;
  }
  properties.push_back({"CPUQuotaPerSecUSec", per_second});
  properties.push_back({"CPUQuotaPeriodUSec", period});
  return properties;
}

Result<void> check_unit(const std::string& unit) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@";
  const std::string_view text = unit;
  const auto ends_in = [text](std::string_view suffix) {
    return text.size() > suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
  };
  const bool is_good = text.size() <= 255 &&
                       text.find_first_not_of(kPlain) == std::string_view::npos &&
                       (ends_in(".scope") || ends_in(".slice") || ends_in(".service"));
  if (is_good) return {};
  return errno_error(EINVAL, "refused \"" + printable(text) + "\", which is no systemd unit name");
}

Result<void> tell_systemd(const std::string& unit, const std::vector<UnitProperty>& properties) {
  if (const auto good = check_unit(unit); !good) return good.error();
  const std::string doing = "report the limits of " + unit + " to systemd";
  const Clock::time_point deadline = Clock::now() + kBusTimeout;
  Bus bus;
  if (const auto is_open = open(bus, deadline); !is_open) return wrap(is_open.error(), doing);

  Message call;
  int code = sd_bus_message_new_method_call(bus.bus, &call.message, kService, kObject, kManager,
                                            "SetUnitProperties");
  if (code >= 0) code = append(call.message, unit, properties);
  if (code < 0) return errno_error(-code, doing);
  sd_bus_error failure{};  // SD_BUS_ERROR_NULL is C99, which clang refuses in C++
  // A timeout of 0 would mean sd-bus's default of 25 s.
  const std::uint64_t left = std::max<std::uint64_t>(microseconds_until(deadline), 1);
  code = sd_bus_call(bus.bus, call.message, left, &failure, nullptr);
  if (code < 0) return failed(code, failure, doing);
  return {};
}

Result<void> tell_systemd(const std::string& scope, const CpuSetting& to, bool is_v2,
                          Rounding rounding) {
  return tell_systemd(scope, unit_properties(to, is_v2, rounding));
}

Result<std::string> ask_systemd_version() {
  const std::string doing = "ask systemd for its version";
  const Clock::time_point deadline = Clock::now() + kBusTimeout;
  Bus bus;
  if (const auto is_open = open(bus, deadline); !is_open) return wrap(is_open.error(), doing);
  Message call;
  int code = sd_bus_message_new_method_call(bus.bus, &call.message, kService, kObject,
                                            "org.freedesktop.DBus.Properties", "Get");
  if (code >= 0) code = sd_bus_message_append(call.message, "ss", kManager, "Version");
  if (code < 0) return errno_error(-code, doing);
  sd_bus_error failure{};
  Message reply;
  const std::uint64_t left = std::max<std::uint64_t>(microseconds_until(deadline), 1);
  code = sd_bus_call(bus.bus, call.message, left, &failure, &reply.message);
  if (code < 0) return failed(code, failure, doing);
  const char* version = nullptr;
  code = sd_bus_message_read(reply.message, "v", "s", &version);
  if (code < 0 || !version) return errno_error(EBADMSG, doing + ": the answer is no text");
  return printable(version, 60);
}

}  // namespace flowcon::cgroups
