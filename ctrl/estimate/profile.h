// SPDX-License-Identifier: Apache-2.0
// What a run needed, from its samples: the labels that later runs are estimated by. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flowcon::ctrl::estimate {

/// A run between two samples. Units: seconds, cores, bytes, percent of a GPU.
struct RunSample {
  double at = 0;              ///< its end
  double seconds = 0;         ///< since the sample before, without time that the run stood still
  double cpu_seconds = 0;     ///< used in that time
  bool is_seen = true;        ///< false: nobody looked meanwhile, only counters speak of that time
  bool is_held_back = false;  ///< a limit or other jobs kept it from more
  // What was read now; what was not is none.
  std::optional<double> memory = {};  ///< working set
  std::optional<double> net = {};     ///< sent and received since it was read last
  std::optional<double> io = {};      ///< read and written since then
  std::optional<double> gpu_util = {};
  std::optional<double> gpu_memory = {};
};

/// What others saw of a run: an earlier flowcond, and those of the hosts that it was on before.
struct RunBefore {
  double began = 0;                     ///< the run did, wherever
  double until = 0;                     ///< they looked until then
  double memory = 0;                    ///< greatest working set
  std::optional<double> value_at = {};  ///< of its first value
};

/// One of those that RunMeter::labels() gives.
[[nodiscard]] bool is_label(std::string_view name);

/// Adds up the samples of a run.
class RunMeter {
 public:
  /// `started` and all times below: seconds, on one clock.
  explicit RunMeter(double started = 0)
      : started_(started), began_(started), begun_(started), at_(started) {}

  void sample(const RunSample& sample);
  /// It printed a value or a count.
  void printed(double at);
  /// As printed(), where nobody knows when it printed its first one.
  void printed_last(double at) { last_ = at; }
  /// It did not work for a while, or the clock was set: phases cannot be measured.
  void stood_still() { stood_still_ = true; }
  /// Until then it had only what others left: its phases begin after that.
  void had_the_rest(double at) { begun_ = std::max(begun_, at); }
  /// It is the last part of a run that began elsewhere, and had used `cpu_seconds` before.
  void went_on(std::optional<double> cpu_seconds);
  void saw_before(const RunBefore& before);

  /// The labels of a run that ended well then, each above 0: "seconds_launch", "seconds_train",
  /// "seconds_save", "cpu_seconds", "cpu", "mem", "net", "io", "gpu_util", "gpu_util_std",
  /// "gpu_mem". What was not measured, or in less than half of the run, is left out; so are, of one
  /// that began elsewhere, phases and rates that are not of the whole run. CPU time after the last
  /// sample counts as that before. `net` is of one of its workers.
  [[nodiscard]] std::vector<std::pair<std::string, double>> labels(double ended,
                                                                   std::int64_t workers) const;

 private:
  // Seconds for which a value speaks that is not read in each sample.
  struct Covered {
    double pending = 0;
    double seconds = 0;
    void wait(double passed) { pending += passed; }
    double take() {
      const double taken = std::exchange(pending, 0);
      seconds += taken;
      return taken;
    }
  };

  void sample_gpu(const RunSample& sample);
  [[nodiscard]] double cores() const;

  double started_;
  double began_;  // before started_: elsewhere
  double begun_;  // it had more than others left
  double at_;     // the last sample
  bool stood_still_ = false;
  bool went_on_ = false;
  std::optional<double> used_before_;  // CPU seconds
  std::optional<double> first_;        // value or count
  std::optional<double> last_;
  double seconds_ = 0;
  double cpu_seconds_ = 0;
  double seen_seconds_ = 0;
  double seen_cpu_seconds_ = 0;
  double free_seconds_ = 0;  // seen, and not held back
  double free_cpu_seconds_ = 0;
  Covered memory_time_;
  double memory_ = 0;
  Covered net_time_;
  double net_ = 0;
  Covered io_time_;
  double io_ = 0;
  Covered gpu_time_;
  double gpu_sum_ = 0;
  double gpu_squares_ = 0;
  double gpu_memory_ = 0;
};

}  // namespace flowcon::ctrl::estimate
