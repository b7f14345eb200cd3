// SPDX-License-Identifier: Apache-2.0
// The daemon: its parts, and what it holds itself. Its methods are spread by question: daemon.cpp
// the loop, intake.cpp who is there, decide.cpp what each gets, commands.cpp what people ask,
// control.cpp what they decide, host_view.cpp what the companion asks, record.cpp and records.cpp
// what is kept, life.cpp what comes and goes with a move, handover.cpp what stays while one takes
// the place of another.
// For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/fwd.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ctrl/api/call.h"
#include "ctrl/api/server.h"
#include "ctrl/codec/past_json.h"
#include "ctrl/companion.h"
#include "ctrl/config.h"
#include "ctrl/daemon/meter.h"
#include "ctrl/daemon/notifier.h"
#include "ctrl/daemon/planning.h"
#include "ctrl/daemon/recorder.h"
#include "ctrl/daemon/snapshot.h"
#include "ctrl/daemon/takeover.h"
#include "ctrl/daemon/world.h"
#include "ctrl/effects.h"
#include "ctrl/job.h"
#include "ctrl/limits.h"
#include "ctrl/logs/log_set.h"
#include "ctrl/mutex.h"

namespace flowcon::ctrl {

/// A job that has ended. `time`: seconds since the epoch.
struct Ending {
  Job job;
  double time = 0;
  std::optional<int> status;
  bool is_half_read = false;
};

class Daemon : public LocalHost {
 public:
  Daemon(boost::asio::io_context& io, const Config& config, World world);

  /// The whole life: begin(), a pass whenever something is due, release_all().
  Async<void> run();
  /// Undoes leftovers and begins to watch.
  Async<void> begin();
  /// Once around the loop.
  Async<void> pass();
  /// Puts every limit back, but those that are left to the flowcond that follows.
  Async<void> release_all();
  void stop();
  /// Answers one request of docs/api.md.
  Async<api::Response> answer(api::Request request);
  /// What is shown of it, until the next change.
  [[nodiscard]] Snapshot snapshot() const;
  /// Takes a new configuration; what cannot change while it runs is told and left as it is.
  void reload(const Result<Config>& config);
  /// What runs beside it; before run().
  void accompany(std::unique_ptr<Companion> companion) { companion_ = std::move(companion); }

  // For the companion.
  boost::asio::io_context& io() override { return io_; }
  Effects& effects() override { return effects_; }
  store::Store& store() override { return *world_.store; }
  [[nodiscard]] const Config& config() const override { return config_; }
  [[nodiscard]] HostView view() const override;
  [[nodiscard]] std::optional<double> value_of(const std::string& id) const override;
  [[nodiscard]] std::optional<double> last_value_at(const std::string& id) const override;
  [[nodiscard]] std::optional<JobForecast> forecast(const std::string& id) const override;
  [[nodiscard]] std::optional<Settings> settings_of(const std::string& id) const override;
  [[nodiscard]] std::string name_of(const std::string& id) const override;
  void warn(const std::string& sentence) override;
  void apply_limits() override;
  void tell(Event event) override { notifier_.tell(std::move(event)); }
  Async<Result<std::string>> export_life(std::string id) override;
  Async<Result<void>> import_life(std::string id, std::string life, std::string log_path) override;
  Async<Result<void>> forget_life(std::string id) override;

 private:
  // daemon.cpp
  Async<void> wait();
  [[nodiscard]] Moment moment() const { return world_.clock(); }
  void wake();
  Async<void> watchdog();

  // intake.cpp
  void take_changes(Moment now);
  void admit(const engine::Container& container, const Settings& settings, Moment now,
             const std::string& refusal = "");
  void greet(const engine::Container& container, Moment now);
  void finish(const std::string& id, double time, const std::optional<int>& status);
  void settle(const std::string& id, const std::string& read_until);
  void compare_sets(Moment now);
  void follow_update(const engine::Container& container);
  Async<void> follow_freezing(Moment now);
  void start_tail(Job& job);
  void follow_log(Job& job);
  void feed(const std::string& id, const logs::Line& line);

  // decide.cpp
  void look(Moment now);
  void find_drift(Job& job);
  void decide(Moment now);
  void follow_tracks(Moment now);
  void note_guarantees();
  [[nodiscard]] std::map<std::string, cgroups::Setting> plan();
  [[nodiscard]] std::map<std::string, double> bandwidths() const;
  [[nodiscard]] Result<cgroups::Setting> read_present(const Job& job) const;
  void grant_all(Moment now);
  Async<void> apply(Moment now);

  // record.cpp
  Async<void> read_trainings();
  void record(Moment now, bool is_decided);
  void remember_end(Job& job, Moment now, double time, const std::optional<int>& status,
                    bool is_half_read);
  [[nodiscard]] bool is_part(const Job& job) const;
  void record_end(Job& job, double time);

  // life.cpp
  Async<void> read_pasts();
  void take_up_past(Job& job);
  void keep_past(const Job& job);
  void save_past(const std::string& id, const Past& past);
  void drop_past(const std::string& id);
  Async<void> await_recorded(std::string id);
  Async<void> read_past_log(std::string id, std::string path);
  Async<void> forget_past_logs();
  Async<api::Response> past_log(std::string name, std::uint64_t from);
  [[nodiscard]] std::string past_log_path(const std::string& id) const;

  // handover.cpp
  [[nodiscard]] std::set<std::string> leave_limits() const;
  Async<void> take_over(Moment now);
  void join_claimed(Moment now);

  // commands.cpp
  Async<api::Response> answer_about(api::Call call, api::Request request);
  Async<api::Response> adopt(std::string name, std::string body);
  Async<api::Response> release(std::string name);
  Async<api::Response> history(std::string name, std::optional<double> since);
  Async<api::Response> doctor();
  Async<api::Response> explain_last(std::string name, std::size_t count);
  [[nodiscard]] std::string sentence_of(const std::string& id,
                                        const store::ExplainedRound& explained) const;
  [[nodiscard]] std::string find_job(const std::string& name) const;

  // records.cpp
  Async<api::Response> runs(std::optional<double> since);
  Async<api::Response> changes(std::optional<double> since, std::int64_t after);
  [[nodiscard]] const policy::Algorithm* find_algorithm(const std::string& name) const;
  [[nodiscard]] policy::About asked_of(const std::string& id) const;
  void show_changes(const store::Round& round, boost::json::array& all) const;

  // control.cpp
  using ControlChange = std::function<Result<void>(Control&)>;
  Async<api::Response> change_control(std::string name, ControlChange change, unsigned user);
  Async<api::Response> pause_all(bool is_paused, unsigned user);
  Async<Result<void>> save_control(std::string id, Control control);
  Async<void> save_ended_pin(std::string id, Control control);
  Async<Result<void>> follow_pause(std::string id);
  [[nodiscard]] Control control_of(const std::string& id) const;

  boost::asio::io_context& io_;
  Config config_;
  Host host_;
  World world_;
  Effects effects_;
  Limits limits_;
  std::unique_ptr<Containers> containers_;
  logs::LogSet tails_;

  std::map<std::string, Job> jobs_;       ///< by id; supported and unsupported ones
  std::map<std::string, Ending> ending_;  ///< have ended, and their logs are read to the end
  std::vector<std::string> active_;       ///< supported, running, not paused; in order of arrival
  std::map<std::string, store::Choice> choices_;
  Takeover takeover_;
  std::map<std::string, store::LogPosition> positions_;  ///< where a log was read to, by id
  std::map<std::string, Past> pasts_;  ///< of jobs that were moved, or are on their way, by id
  Planning planning_;
  Meter meter_;
  bool is_all_paused_ = false;
  bool is_run_due_ = false;      ///< the executor must run in this pass
  bool is_compare_due_ = false;  ///< `active_` changed outside of the event stream
  bool is_apply_due_ = false;    ///< a person decided something, or a job saves itself
  bool is_stopping_ = false;
  double next_run_ = 0;   ///< steady
  double next_look_ = 0;  ///< steady
  bool is_short_of_memory_ = false;
  Counts counts_;
  double started_ = 0;  ///< wall
  Notifier notifier_;
  Recorder recorder_;

  std::unique_ptr<Companion> companion_;
  std::vector<std::string> start_warnings_;
  Mutex pass_;  ///< one pass of the loop or one command at a time
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer watchdog_timer_;
};

/// {"id","name"}: the answer to most commands.
[[nodiscard]] api::Response who(const std::string& id, const std::string& name);

/// "container X is not under control".
[[nodiscard]] api::Response not_controlled(const std::string& name);

}  // namespace flowcon::ctrl
