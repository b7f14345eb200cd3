// SPDX-License-Identifier: Apache-2.0
#include "ctrl/queue_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"

namespace flowcon::ctrl {
namespace {

constexpr std::array<std::string_view, 8> kKeys = {"queue",   "request", "priority",   "retries",
                                                   "workers", "ps",      "ps-request", "elastic"};
constexpr std::array<const char*, 4> kElastic{"no", "join", "restart", "torchrun"};
constexpr std::size_t kLongestValue = 1024;

constexpr double kLeastCores = 0.01;  // of docker's --cpus
constexpr double kMostCores = 100'000;
constexpr double kLeastMemory = 6.0 * (1U << 20);  // of docker's --memory
constexpr double kMostMemory = 1024.0 * (1ULL << 40);
constexpr double kLeastGpu = 0.01;
constexpr double kMostGpus = 1024;
constexpr double kLeastPriority = 0.1;
constexpr double kMostPriority = 10;
constexpr std::int64_t kMostRetries = 100;

constexpr std::string_view kUnits = "kmgt";  // each 1024 times the one before

std::string quoted(std::string_view text) { return "\"" + printable(text, 60) + "\""; }

Result<std::int64_t> parse_count(std::string_view value, std::int64_t least, std::int64_t most) {
  const std::optional<std::int64_t> count = parse_number<std::int64_t>(value);
  if (count && *count >= least && *count <= most) return *count;
  return bad_input(quoted(value) + " is not a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most));
}

Result<void> take_part(Request& request, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (name != "cpu" && name != "mem" && name != "gpu") {
    return bad_input(quoted(word) +
                     " is not one of cpu=CORES, mem=BYTES and gpu=GPUS, such as cpu=2,mem=3G");
  }
  std::optional<double>& part = name == "cpu"   ? request.cpu
                                : name == "mem" ? request.mem
                                                : request.gpu;
  if (part) return bad_input(std::string(name) + " is there twice");
  if (name == "cpu") {
    const std::optional<double> cores = parse_number<double>(value);
    if (!cores || !(*cores >= kLeastCores && *cores <= kMostCores)) {
      return bad_input(quoted(word) + " is not a number of cores from 0.01 to 100000");
    }
    part = cores;
    return {};
  }
  if (name == "gpu") {
    const std::optional<double> gpus = parse_number<double>(value);
    if (value == "all") {
      part = std::numeric_limits<double>::infinity();
      return {};
    }
    const bool is_share = gpus && *gpus >= kLeastGpu && *gpus <= 1;
    const bool is_count = gpus && *gpus >= 0 && *gpus <= kMostGpus && *gpus == std::floor(*gpus);
    if (!is_share && !is_count) {
      return bad_input(quoted(word) +
                       " is no share of a GPU, such as gpu=0.5, nor a whole number to 1024");
    }
    part = gpus;
    return {};
  }
  const std::optional<double> bytes = parse_bytes(value);
  if (!bytes || !(*bytes >= kLeastMemory && *bytes <= kMostMemory)) {
    return bad_input(quoted(word) + " is not an amount of memory from 6M to 1024T, such as mem=3G");
  }
  part = std::floor(*bytes);
  return {};
}

}  // namespace

std::optional<double> parse_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = parse_number<double>(text.substr(0, digits));
  if (!number) return std::nullopt;
  std::string unit = lower(text.substr(digits));
  if (unit.empty() || unit == "b") return number;
  const std::size_t power = kUnits.find(unit.front());
  unit.erase(0, 1);
  if (power == std::string_view::npos) return std::nullopt;
  if (!unit.empty() && unit != "b" && unit != "ib") return std::nullopt;
  return *number * std::pow(1024.0, static_cast<double>(power) + 1);
}

Result<Request> parse_request(std::string_view text) {
  Request request;
  for (const std::string_view part : parts_of(text, ", \t\n")) {
    if (auto taken = take_part(request, part); !taken) return taken.error();
  }
  if (request == Request{}) return bad_input("it names nothing; write for example cpu=2,mem=3G");
  return request;
}

std::string render_request(const Request& request) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  if (request.cpu) add("cpu=" + render_number(*request.cpu));
  if (request.mem) add("mem=" + render_bytes(*request.mem));
  if (request.gpu)
    add("gpu=" + (std::isfinite(*request.gpu) ? render_number(*request.gpu) : "all"));
  return text;
}

std::string render_bytes(double bytes) {
  std::string unit;
  for (const char one : kUnits) {
    if (bytes == 0 || std::fmod(bytes, 1024) != 0) break;
    bytes /= 1024;
    unit = upper(one);
  }
  return render_number(bytes) + unit;
}

const char* name(Elastic elastic) { return kElastic.at(static_cast<std::size_t>(elastic)); }

std::optional<Elastic> parse_elastic(std::string_view word) {
  const auto* const found = std::find(kElastic.begin(), kElastic.end(), word);
  if (found == kElastic.end()) return std::nullopt;
  return static_cast<Elastic>(found - kElastic.begin());
}

Result<WorkerRange> parse_workers(std::string_view text) {
  const std::size_t colon = text.find(':');
  const Result<std::int64_t> least = parse_count(text.substr(0, colon), 1, kMostWorkers);
  if (!least) return least.error();
  if (colon == std::string_view::npos) return WorkerRange{*least, *least};
  const Result<std::int64_t> most = parse_count(text.substr(colon + 1), 1, kMostWorkers);
  if (!most) return most.error();
  if (*most < *least) {
    return bad_input(quoted(text) + " has more workers at least than at most; write LEAST:MOST");
  }
  return WorkerRange{*least, *most};
}

bool is_queue_label(std::string_view key) {
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

Result<void> take_queue_label(QueueLabels& labels, std::string_view key, const std::string& value) {
  if (value.size() > kLongestValue) return bad_input("the value is longer than 1024 bytes");
  if (key == "queue") {
    labels.is_held = lower(value) == "hold";
    const std::optional<bool> said = labels.is_held ? true : truth_of(value);
    if (!said) {
      return bad_input(quoted(value) + " is neither true nor hold: the container does not wait");
    }
    labels.is_job = *said;
  } else if (key == "request" || key == "ps-request") {
    const Result<Request> request = parse_request(value);
    if (!request) return request.error();
    if (request->gpu && !std::isfinite(*request->gpu)) {
      return bad_input(
          "a job asks for a number of GPUs, such as gpu=1; docker's --gpus all is all");
    }
    const bool is_worker = key == "request";
    (is_worker ? labels.cpu : labels.ps_cpu) = request->cpu;
    (is_worker ? labels.mem : labels.ps_mem) = request->mem;
    (is_worker ? labels.gpu : labels.ps_gpu) = request->gpu;
  } else if (key == "priority") {
    const std::optional<double> priority = parse_number<double>(value);
    if (!priority || !(*priority >= kLeastPriority && *priority <= kMostPriority)) {
      return bad_input(quoted(value) + " is not a number from 0.1 to 10");
    }
    labels.priority = *priority;
  } else if (key == "workers") {
    const Result<WorkerRange> workers = parse_workers(value);
    if (!workers) return workers.error();
    labels.workers = *workers;
  } else if (key == "elastic") {
    const std::optional<Elastic> elastic = parse_elastic(value);
    if (!elastic) return bad_input(quoted(value) + " is not one of no, join, restart and torchrun");
    labels.elastic = *elastic;
  } else {
    const bool is_ps = key == "ps";
    const Result<std::int64_t> count = parse_count(value, 0, is_ps ? kMostServers : kMostRetries);
    if (!count) return count.error();
    (is_ps ? labels.ps : labels.retries) = *count;
  }
  return {};
}

QueueLabels parse_queue_labels(const Labels& labels) {
  QueueLabels found;
  bool says_retries = false;
  for (const auto& [label, value] : labels) {
    if (!label.starts_with(kLabelPrefix)) continue;
    const std::string_view key = std::string_view(label).substr(kLabelPrefix.size());
    if (!is_queue_label(key)) continue;
    if (auto taken = take_queue_label(found, key, value); !taken) {
      found.warnings.push_back("label " + label + ": " + taken.error().message());
      if (key == "queue") found.wrong_queue = found.warnings.back();
    } else if (key == "retries") {
      says_retries = true;
    }
  }
  if (!says_retries && found.elastic != Elastic::no) found.retries = kElasticRetries;
  return found;
}

}  // namespace flowcon::ctrl
