// SPDX-License-Identifier: Apache-2.0
// What a container's labels say of it as a job of the queue, and amounts of CPU, memory
// and GPUs as people write them. Pure. As of all labels, a value that cannot be used is a warning
// that says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ctrl/labels.h"

namespace flowcon::ctrl {

/// What a job asks for, or a host gives. Empty parts were not said.
struct Request {
  std::optional<double> cpu;  ///< cores, 0.01 to 100,000
  std::optional<double> mem;  ///< bytes, 6 MiB to 1,024 TiB
  /// A share of one, from 0.01, or a whole number to 1024; infinite: all.
  std::optional<double> gpu = {};
  bool operator==(const Request&) const = default;
};

/// "3G", "3gb", "3GiB", "3221225472". Units are docker's: b, k, m, g, t, powers of 1024. Empty: it
/// is none of these.
[[nodiscard]] std::optional<double> parse_bytes(std::string_view text);

/// What parse_bytes() reads back as the same: "3G".
[[nodiscard]] std::string render_bytes(double bytes);

/// Reads "cpu=2,mem=3G,gpu=1", one part or more, with commas or blanks between. Errors: empty,
/// another part, one twice, an amount out of its range; the sentence says what to write.
[[nodiscard]] Result<Request> parse_request(std::string_view text);

/// What parse_request() reads back as the same: "cpu=2 mem=3G"; "" where it has no part.
[[nodiscard]] std::string render_request(const Request& request);

/// Workers of a job, and its parameter servers.
inline constexpr std::int64_t kMostWorkers = 192;
inline constexpr std::int64_t kMostServers = 64;

/// How the workers of a job come and go while it runs.
enum class Elastic {
  no,        ///< they do not
  join,      ///< one by one, while the others go on
  restart,   ///< all save themselves and start again, more of them or fewer
  torchrun,  ///< as `join`; torchrun's agents begin anew with those that are there
};
/// Do workers come and go one by one?
[[nodiscard]] constexpr bool joins(Elastic elastic) {
  return elastic == Elastic::join || elastic == Elastic::torchrun;
}
/// "no", "join", "restart", "torchrun".
[[nodiscard]] const char* name(Elastic elastic);
/// Empty where there is no such way.
[[nodiscard]] std::optional<Elastic> parse_elastic(std::string_view word);

struct WorkerRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
  bool operator==(const WorkerRange&) const = default;
};
/// "4", or "2:6". Errors: it is none, beyond kMostWorkers, or least is more than most; the sentence
/// says what to write.
[[nodiscard]] Result<WorkerRange> parse_workers(std::string_view text);

/// A change of workers is one more chance to fail, and its checkpoint is there.
inline constexpr std::int64_t kElasticRetries = 3;

struct QueueLabels {
  bool is_job = false;   ///< flowcon.queue is true or hold
  bool is_held = false;  ///< it waits until a person releases it
  /// Why flowcon.queue is of no use, in words; "" = it is, is false, or is not there.
  std::string wrong_queue;
  std::optional<double> cpu;
  std::optional<double> mem;
  std::optional<double> gpu;
  double priority = 1;  ///< what is left is divided by it
  /// How often it is started again when it fails; kElasticRetries of an elastic job that says none.
  std::int64_t retries = 0;
  WorkerRange workers;
  Elastic elastic = Elastic::no;
  std::int64_t ps = 0;           ///< parameter servers
  std::optional<double> ps_cpu;  ///< of one of these
  std::optional<double> ps_mem;
  std::optional<double> ps_gpu;
  std::vector<std::string> warnings;
};

/// One that take_queue_label() takes, without kLabelPrefix.
[[nodiscard]] bool is_queue_label(std::string_view key);

/// One value into `labels`, by its name without the prefix, which is_queue_label(). The error says
/// what is wrong with it; nothing is changed then.
[[nodiscard]] Result<void> take_queue_label(QueueLabels& labels, std::string_view key,
                                            const std::string& value);

/// From labels with the prefix; all others are skipped.
[[nodiscard]] QueueLabels parse_queue_labels(const Labels& labels);

}  // namespace flowcon::ctrl
