// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job/follow.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <ostream>
#include <sstream>
#include <thread>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/endings.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{300};
constexpr int kElsewhere = kWrongUsage;
constexpr std::array kHandedOn{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// By then each process has got the ^C of a terminal.
constexpr std::chrono::milliseconds kSettle{100};

// A handler may only touch atomics without locks.
static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<int> running_child{0};
std::atomic<int> was_interrupted{0};

// The terminal sends its signals to the child by itself.
void hand_on_signal(int number, siginfo_t* info, void*) {
  if (number != SIGUSR1 && number != SIGUSR2) was_interrupted = number;
  if (running_child > 0 && info->si_code <= 0) ::kill(running_child, number);
}

// docker has closed its socket: it got a signal, maybe a ^C that all of us got, or it has died. In
// the last case the job runs on, as it does without docker's client.
void hear_of_docker(pid_t docker) {
  std::this_thread::sleep_for(kSettle);
  if (was_interrupted == 0 && ::getppid() == docker) ::kill(::getpid(), SIGTERM);
}

// Catches the signals that would end this process, for as long as it lives.
class Signals {
 public:
  Signals() {
    struct sigaction action {};
    action.sa_sigaction = hand_on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      sigaction(kHandedOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kHandedOn[i], &action, nullptr);
    }
  }
  ~Signals() {
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      sigaction(kHandedOn[i], &before_[i], nullptr);
    }
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // In a child that becomes another program.
  static void drop() {
    for (const int number : kHandedOn) {
      struct sigaction now {};
      sigaction(number, nullptr, &now);
      if (now.sa_handler != SIG_IGN) ::signal(number, SIG_DFL);
    }
  }

 private:
  std::array<struct sigaction, kHandedOn.size()> before_{};
};

bool is_handing_on = false;

// A signal for the child waits until the child has no handler of ours.
pid_t start_child(const ExecPlan& plan, Terminal& terminal) {
  sigset_t handed_on, before;
  sigemptyset(&handed_on);
  for (const int number : kHandedOn) sigaddset(&handed_on, number);
  pthread_sigmask(SIG_BLOCK, &handed_on, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    // Whoever kills this process without a chance to hand it on means docker.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kElsewhere);
    Signals::drop();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const int status = become(plan, terminal);
    terminal.err.flush();
    ::_exit(status);
  }
  if (child > 0) {
    running_child = child;
    if (was_interrupted != 0) ::kill(child, was_interrupted);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return child;
}

// Nothing is handed on to a child that is reaped, whose id may be another process's.
int await_child(pid_t child) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  running_child = 0;
  int status = 0;
  if (::waitpid(child, &status, 0) < 0) return kElsewhere;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ToolResult ask_docker(const Session& session, const std::vector<std::string>& words) {
  ExecPlan plan = plan_docker(session.invocation, session.environment, words);
  plan.arguments.front() = plan.program;
  Result<ToolResult> result = run_tool(plan.arguments);
  return result ? *result : ToolResult{kElsewhere, "", "", false};
}

struct Ended {
  bool is_running = false;
  bool has_ended = true;  // once at least, as far as docker says
  std::optional<int> status;
};

Ended look_here(const Session& session, const std::string& id) {
  const ToolResult seen =
      ask_docker(session, {"container", "inspect", "--format",
                           "{{.State.Running}} {{.State.ExitCode}} {{.State.FinishedAt}}", id});
  Ended ended;
  std::istringstream words(seen.out);
  std::string running, finished;
  int status = 0;
  if (seen.status != 0 || !(words >> running >> status)) return ended;
  ended.is_running = running == "true";
  ended.status = status;
  words >> finished;
  ended.has_ended = !finished.starts_with("0001-");  // the zero of Go's time
  return ended;
}

int end_following(const Session& session, const std::string& name, int number) {
  session.terminal.err << "No longer following; still running: " << name << "\n";
  return 128 + number;
}

// From the end of docker's client to the end of the job, if it can be known here.
class Follower {
 public:
  Follower(const Session& session, const DaemonClient& daemon, const std::string& id, int status,
           const FollowOptions& options)
      : session_(session), daemon_(daemon), id_(id), status_(status), options_(options) {}

  int run() {
    for (;;) {
      const Result<json::value> moves = daemon_.get("/v1/moves");
      const Whereabouts there =
          moves ? whereabouts(*moves, id_) : Whereabouts{Whereabouts::State::unknown, "", ""};
      if (there.state == Whereabouts::State::here) return status_;
      const bool is_known = there.state != Whereabouts::State::unknown;
      if (is_known) {
        options_.was_answering = true;
        silent_since_.reset();
      }
      const std::optional<int> end =
          is_known ? follow(there) : do_without_word(moves ? "" : moves.error().message());
      if (end) return *end;
    }
  }

 private:
  // What these return is the status to end with; empty: flowcond is to be asked again.
  std::optional<int> follow(const Whereabouts& there) {
    if (there.state == Whereabouts::State::back) return go_on_here(there);
    if (there.state == Whereabouts::State::moved) {
      say(there.name + " migrated to " + there.host +
          " and runs on there; its exit status is not available here. On that host: "
          "docker flowcon logs --follow " +
          there.name);
      return kElsewhere;
    }
    if (was_interrupted != 0) return end_following(session_, there.name, was_interrupted);
    if (!was_told_) say(there.name + " is migrating to " + there.host);
    was_told_ = true;
    std::this_thread::sleep_for(kLook);
    return std::nullopt;
  }

  std::optional<int> go_on_here(const Whereabouts& there) {
    const Ended ended = look_here(session_, id_);
    if (!ended.status) say("docker does not report the exit status of " + there.name);
    if (!ended.is_running) return ended.status.value_or(unclear_status());
    if (was_interrupted != 0) return end_following(session_, there.name, was_interrupted);
    if (was_told_) say("the migration was undone, and " + there.name + " runs on here");
    was_told_ = false;
    const ExecPlan logs = plan_docker(session_.invocation, session_.environment,
                                      {"logs", "--follow", "--since", since_, id_});
    if (run_child(session_, logs) != 0) std::this_thread::sleep_for(kLook);
    since_ = std::to_string(std::time(nullptr));
    return std::nullopt;
  }

  // `error`: why there is no answer; "" = flowcond cannot know.
  std::optional<int> do_without_word(const std::string& error) {
    if (!options_.was_answering) return status_;
    const Clock::time_point now = Clock::now();
    if (!silent_since_) {
      silent_since_ = now;
      // It was left running, could not be started, or is gone with its end (--rm): no move has
      // stopped it.
      const Ended ended = look_here(session_, id_);
      if (!ended.has_ended || !ended.status) return status_;
    }
    const bool may_wait = was_interrupted == 0 && now - *silent_since_ < options_.patience;
    if (!error.empty() && may_wait) {
      if (!has_said_waiting_) {
        const auto most = std::chrono::duration_cast<std::chrono::seconds>(options_.patience);
        say("Waiting up to " + std::to_string(most.count()) +
            " s for flowcond, which knows whether a migration ended the job");
      }
      has_said_waiting_ = true;
      std::this_thread::sleep_for(kLook);
      return std::nullopt;
    }
    const std::string why =
        error.empty() ? "flowcond has lost entries of its journal" : "flowcond does not answer";
    say("It is unknown whether the job ended by itself or saved itself for a migration, because " +
        why + ": see docker flowcon status, or docker ps -a" + (error.empty() ? "" : ". " + error));
    return unclear_status();
  }

  // A job that has saved itself for a move ends with 0, too.
  [[nodiscard]] int unclear_status() const { return status_ != 0 ? status_ : kElsewhere; }

  void say(const std::string& line) const { session_.terminal.err << line << "\n" << std::flush; }

  const Session& session_;
  const DaemonClient& daemon_;
  const std::string id_;
  const int status_;
  FollowOptions options_;
  std::string since_ = std::to_string(std::time(nullptr));
  std::optional<Clock::time_point> silent_since_;
  bool was_told_ = false;
  bool has_said_waiting_ = false;
};

}  // namespace

Whereabouts whereabouts(const json::value& moves, const std::string& id) {
  Whereabouts found;
  for (const json::value& move : list_of(member(moves, "moves"))) {
    const bool is_it =
        text_of(member(move, "container")) == id && text_of(member(move, "side")) == "source";
    if (!is_it) continue;
    found.name = printable(text_of(member(move, "name")), 255);
    found.host = printable(text_of(member(move, "target_name")), 255);
    if (!is_true(member(move, "ended"))) {
      found.state = Whereabouts::State::moving;
    } else if (text_of(member(move, "step")) == "done") {
      found.state = Whereabouts::State::moved;
    } else if (!member(member(move, "steps"), "save").is_null()) {
      found.state = Whereabouts::State::back;
    } else {
      continue;
    }
    return found;
  }
  const json::value& whole = member(moves, "whole");
  if (whole.is_bool() && !whole.get_bool()) found.state = Whereabouts::State::unknown;
  return found;
}

struct HandOn::Held {
  Signals signals;  // longer than the watch, which sends one
  DockerWatch watch{[docker = ::getppid()] { hear_of_docker(docker); }};
};

HandOn::HandOn() {
  if (std::exchange(is_handing_on, true)) return;
  was_interrupted = 0;
  held_ = std::make_unique<Held>();
}

HandOn::~HandOn() {
  if (held_) is_handing_on = false;
}

int run_child(const Session& session, const ExecPlan& plan) {
  Terminal& terminal = session.terminal;
  terminal.out.flush();
  terminal.err.flush();
  const HandOn signals;
  const pid_t child = start_child(plan, terminal);
  return child < 0 ? become(plan, terminal) : await_child(child);
}

int follow_job(const Session& session, const DaemonClient& daemon, const std::string& id,
               int status, const FollowOptions& options) {
  const HandOn signals;
  return Follower(session, daemon, id, status, options).run();
}

}  // namespace flowcon::plugin
