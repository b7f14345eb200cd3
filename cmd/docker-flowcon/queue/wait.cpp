// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/wait.h"

#include <cmath>
#include <optional>
#include <ostream>
#include <thread>
#include <vector>

#include "base/json_reader.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/queue/queue_view.h"

namespace flowcon::plugin {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostStatus = 255;

// The job's own status, where it has one.
std::optional<int> status_of(const json::object& job) {
  const std::string state = text_of(job, "State");
  const std::optional<double> exit = real_of(member(job, "Exit"));
  const bool has_run = state == "done" || state == "failed";
  const bool is_status = exit && *exit >= 0 && *exit <= kMostStatus && std::floor(*exit) == *exit;
  return has_run && is_status ? std::optional<int>(static_cast<int>(*exit)) : std::nullopt;
}

struct End {
  int status = kFailed;
  bool is_own = false;  // the job's
  std::string why;      // it has none of its own
};

struct Awaited {
  std::string id;
  bool was_held = false;
  std::optional<End> end = {};
};

class Waiter {
 public:
  Waiter(const Session& session, const DaemonClient& daemon, const WaitOptions& options)
      : session_(session), daemon_(daemon), options_(options) {}

  // All names have to be jobs before any is waited for. Another job may get the name of one that
  // ended, so ids count from here on.
  bool find_all() {
    for (const std::string& name : options_.jobs) {
      const Result<json::value> job = find(name);
      const std::string why = job ? why_no_job(*job) : "";
      if (!job || !why.empty()) {
        (void)report(session_.terminal, job ? bad_input(why) : job.error());
        return false;
      }
      const std::string id = text_of(*job, "id");
      jobs_.push_back({id.empty() ? name : id});
    }
    return true;
  }

  // All are asked for each time, as flowcond forgets what ended long ago; their ends are told in
  // the order of their names.
  int wait_for_all() {
    int status = kDone;
    for (std::size_t told = 0; told < jobs_.size(); std::this_thread::sleep_for(options_.look)) {
      for (Awaited& job : jobs_) {
        if (!job.end) look_at(job);
      }
      for (; told < jobs_.size() && jobs_[told].end; ++told) status = tell(*jobs_[told].end);
      if (told == jobs_.size()) break;
    }
    return status;
  }

 private:
  // null: there is no such job. Waits for a flowcond that is being restarted.
  Result<json::value> ask(const std::string& name) {
    const Result<std::string> target = job_target(name, "");
    if (!target) return target.error();
    for (;; std::this_thread::sleep_for(options_.look)) {
      Result<std::optional<json::value>> answer = daemon_.find(*target);
      if (!answer && is_patient(answer.error())) continue;
      silent_since_.reset();
      if (!answer) return answer.error();
      return *answer ? std::move(**answer) : json::value();
    }
  }

  Result<json::value> find(const std::string& name) {
    Result<json::value> job = ask(name);
    if (!job || !job->is_null()) return job;
    return daemon_.get(*job_target(name, ""));  // in its own words
  }

  void look_at(Awaited& awaited) {
    const Result<json::value> answer = ask(awaited.id);
    if (!answer || answer->is_null()) {
      awaited.end = End{kFailed, false,
                        answer ? "No such job any more: " + awaited.id : answer.error().message()};
      return;
    }
    const JobView job = read_job(*answer);
    if (!is_open_state(text_of(job.exact, "State"))) {
      awaited.end = end_of(job);
      return;
    }
    const bool is_held = is_true(member(job.exact, "Held"));
    const std::string name = text_of(job.shown, "Name");
    if (is_held && !awaited.was_held)
      say(name + " is held; release it with: docker flowcon queue release " + name);
    awaited.was_held = is_held;
  }

  // flowcond may be restarted meanwhile.
  bool is_patient(const Error& error) {
    // One that may not be asked, or is none.
    if (probe_socket(daemon_.path()) == SocketState::unknown) return false;
    const Clock::time_point now = Clock::now();
    if (!silent_since_) {
      const auto most = std::chrono::duration_cast<std::chrono::seconds>(options_.patience);
      if (most.count() > 0)
        say("Waiting up to " + std::to_string(most.count()) +
            " s for flowcond: " + error.message());
      silent_since_ = now;
    }
    return now - *silent_since_ < options_.patience;
  }

  static End end_of(const JobView& job) {
    if (const std::optional<int> status = status_of(job.exact)) return {*status, true, ""};
    const std::string state = text_of(job.exact, "State");
    const std::string note = text_of(job.shown, "Note");
    const std::string what = state == "cancelled" ? " was cancelled"
                             : state == "refused" ? " was refused"
                                                  : " has ended, and its status is not known";
    return {kFailed, false, text_of(job.shown, "Name") + what + (note.empty() ? "" : ": " + note)};
  }

  int tell(const End& end) const {
    if (!end.is_own) {
      say(end.why);
    } else {
      session_.terminal.out << end.status << "\n" << std::flush;
    }
    return end.status;
  }

  void say(const std::string& line) const { session_.terminal.err << line << "\n" << std::flush; }

  const Session& session_;
  const DaemonClient& daemon_;
  const WaitOptions& options_;
  std::vector<Awaited> jobs_;
  std::optional<Clock::time_point> silent_since_;
};

}  // namespace

void declare_wait(CLI::App& app, WaitOptions& options) {
  app.add_option("NAME", options.jobs)->required();
}

int run_wait(const Session& session, const WaitOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "wait");
  if (!daemon) return report(session.terminal, daemon.error());
  Waiter waiter(session, *daemon, options);
  return waiter.find_all() ? waiter.wait_for_all() : kFailed;
}

}  // namespace flowcon::plugin
