// SPDX-License-Identifier: Apache-2.0
// What runs beside the daemon of one host and needs it: the part that knows other hosts. ctrl knows
// these interfaces and nothing behind them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/api/routes.h"
#include "ctrl/async.h"
#include "ctrl/config.h"
#include "ctrl/events.h"
#include "ctrl/gpus.h"
#include "ctrl/policy/algorithm.h"
#include "ctrl/settings.h"

namespace flowcon::ctrl {

class Effects;
class Exposition;
namespace store {
class Store;
}  // namespace store

/// Label of a container that another host sent.
inline constexpr const char* kMovedLabel = "org.flowcon.move";

/// This host as others are told of it. Units: usage is the share (0..1) of its CPU that the
/// containers under control use, memory is in bytes.
struct HostSnapshot {
  std::string name;
  double cores = 1;
  double memory = 1;
  double usage = 0;
  std::string gpu_model;          ///< of its first GPU; "" = none, or none was read yet
  std::vector<HostGpu> gpus;      ///< that answer, as far as they were read
  bool is_seeking_gpus = false;   ///< it is not known yet whether there are any
  std::vector<std::string> jobs;  ///< ids of the containers under control, paused ones too
  double available = 0;           ///< memory that programs can still get; 0 = not known
  bool is_paused = false;         ///< control of all containers is
};

/// What a container uses now. Units: cores, bytes.
struct InUse {
  double cores = 0;
  double memory = 0;
  GpuDevices gpus = {};  ///< that docker has given it
};

/// What is expected of a job. Units: CPU seconds, cores.
struct JobForecast {
  double left = 0;                  ///< work to its end, above 0
  std::optional<double> width;      ///< that it can use; empty: not known
  bool is_under_way = true;         ///< it has done something since it began here
  std::optional<double> done = {};  ///< share of it, by its progress counter; empty: it has none
};

/// What the daemon gives.
class LocalHost {
 public:
  virtual ~LocalHost() = default;
  [[nodiscard]] virtual boost::asio::io_context& io() = 0;
  /// The one thread that `store()` may be used on.
  [[nodiscard]] virtual Effects& effects() = 0;
  [[nodiscard]] virtual store::Store& store() = 0;
  [[nodiscard]] virtual const Config& config() const = 0;
  [[nodiscard]] virtual HostSnapshot view() const = 0;
  /// The last value of a job's evaluation function, in the unit that growth is measured in
  /// (growth.normalise). Empty where there is none, or it is not finite.
  [[nodiscard]] virtual std::optional<double> value_of(const std::string& id) const = 0;
  /// When it was printed, in seconds since the epoch. Empty where there is none, or where a job's
  /// own file of text does not say.
  [[nodiscard]] virtual std::optional<double> last_value_at(const std::string&) const {
    return std::nullopt;
  }
  /// Whatever policy divides the CPU. Empty where nothing is known of the job.
  [[nodiscard]] virtual std::optional<JobForecast> forecast(const std::string& id) const = 0;
  /// Of a container under control; empty for others.
  [[nodiscard]] virtual std::optional<InUse> use_of(const std::string&) const {
    return std::nullopt;
  }
  /// Of a container under control, what its labels or who adopted it said; empty for others.
  [[nodiscard]] virtual std::optional<Settings> settings_of(const std::string& id) const = 0;
  /// Its name; "" where there is no such job.
  [[nodiscard]] virtual std::string name_of(const std::string& id) const = 0;
  /// The full id of a job by its name, its id or a unique beginning of it; "" where there is none.
  [[nodiscard]] virtual std::string find(const std::string& name) const = 0;
  /// What this host itself answers to a call of docs/api.md.
  virtual Async<api::Response> answer(api::Request request) = 0;
  /// A sentence for `warnings` of the status.
  virtual void warn(const std::string& sentence) = 0;
  /// Writes the limits again, soon: what Extension::is_saving() says has changed.
  virtual void apply_limits() {}
  /// Something that hooks may want to be told of.
  virtual void tell(Event) {}

  /// Everything that is known of a container that has been stopped, for import_history() of another
  /// host: JSON of at most 15 MiB. Waits, half a minute at most, until what it printed last is
  /// recorded. That nothing is known is no error. Errors: the store's.
  virtual Async<Result<std::string>> export_history(std::string id) = 0;
  /// Takes it over for a container that was created here and has not been started; `log_path` is
  /// the file that its log has been put in, "" for none. May be repeated. Errors: it is not what
  /// export_history() gives; the store's, a full disk among them.
  virtual Async<Result<void>> import_history(std::string id, std::string bundle,
                                             std::string log_path) = 0;
  /// Forgets what was imported. Errors: the store's.
  virtual Async<Result<void>> forget_history(std::string id) = 0;
};

/// Jobs of a host that have not ended.
struct QueueCounts {
  std::size_t waiting = 0;
  std::size_t running = 0;
};

/// What the daemon calls, all on the loop.
class Extension {
 public:
  virtual ~Extension() = default;
  /// Once, before the first pass.
  virtual Async<void> begin() = 0;
  /// After each pass: something may have changed. `now` is on the steady clock, in seconds.
  virtual void look(double now) = 0;
  /// What it adds to the API.
  [[nodiscard]] virtual api::Routes routes() = 0;
  /// What it answers to other hosts.
  [[nodiscard]] virtual api::Routes peer_routes() { return {}; }
  /// Asked before this host answers; empty: it does.
  virtual Async<std::optional<api::Response>> answer_first(api::Request request);
  /// A decision that is recorded under this name, its own among them; null where there is none.
  [[nodiscard]] virtual const policy::Algorithm* find_algorithm(std::string_view name) const {
    return policy::find_algorithm(policy::host_algorithms(), name);
  }
  /// A host's id as people know it.
  [[nodiscard]] virtual std::string host_name(const std::string& id) const { return id; }
  /// Is a container of this host on the move, or parked? What comes home has ended before.
  [[nodiscard]] virtual bool is_moving(const std::string&) const { return false; }
  /// If it has ended, was that before it had done what it was to do, whatever its status? Somebody
  /// stopped it, its engine ended it, or its run goes on later.
  [[nodiscard]] virtual bool is_cut_short(const std::string&) const { return false; }
  /// Is it asked to save itself, so as to go on elsewhere, or was it? It is not held back until it
  /// has ended, and then its run has not.
  [[nodiscard]] virtual bool is_saving(const std::string&) const { return false; }
  /// Has it begun beside jobs that have its cores until they end? It has what they leave.
  [[nodiscard]] virtual bool is_early(const std::string&) const { return false; }
  /// The cores that a container was promised, which its limit does not go below where its labels
  /// say nothing else; empty: none.
  [[nodiscard]] virtual std::optional<double> promised_cores(const std::string&) const {
    return std::nullopt;
  }
  /// Jobs of the queue across hosts; empty: there is none, or it is not known yet.
  [[nodiscard]] virtual std::optional<QueueCounts> queue_counts() const { return std::nullopt; }
  /// What it adds to /metrics.
  virtual void add_metrics(Exposition&) const {}
  /// Once, when the daemon is about to stop and before end(): brings what is under way to where it
  /// may be left, in at most `seconds`.
  virtual Async<void> settle(double seconds) = 0;
  /// Once, when the daemon stops; store() may be used no more after it.
  virtual void end() = 0;
};

/// Errors: what it needs at the start is missing.
using MakeExtension = std::function<Result<std::unique_ptr<Extension>>(LocalHost&)>;

}  // namespace flowcon::ctrl
