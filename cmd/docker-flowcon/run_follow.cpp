// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/run_follow.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <ctime>
#include <ostream>
#include <thread>

#include "base/text.h"
#include "cmd/docker-flowcon/json_fields.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kLook{300};
constexpr int kMostFailures = 40;  // looks that flowcond does not answer, while it is restarted
constexpr int kElsewhere = kWrongUsage;
constexpr std::array kHandedOn{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

volatile std::sig_atomic_t running_child = 0;
volatile std::sig_atomic_t was_interrupted = 0;

// The child gets what the terminal sends by itself.
void hand_on(int number, siginfo_t* info, void*) {
  was_interrupted = number;
  if (running_child > 0 && info->si_code <= 0) ::kill(running_child, number);
}

// Catches the signals that would end this process, for as long as it lives.
class Signals {
 public:
  Signals() {
    struct sigaction action {};
    action.sa_sigaction = hand_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      sigaction(kHandedOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kHandedOn[i], &action, nullptr);
    }
    was_interrupted = 0;
  }
  ~Signals() {
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      sigaction(kHandedOn[i], &before_[i], nullptr);
    }
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  std::array<struct sigaction, kHandedOn.size()> before_{};
};

ToolResult ask_docker(const Session& session, const std::vector<std::string>& words) {
  ExecPlan plan = plan_docker(session.invocation, session.environment, words);
  plan.arguments.front() = plan.program;
  Result<ToolResult> result = run_tool(plan.arguments);
  return result ? *result : ToolResult{kElsewhere, "", ""};
}

struct Ended {
  bool is_running = false;
  std::optional<int> status;
};

Ended look_here(const Session& session, const std::string& id) {
  const ToolResult seen = ask_docker(
      session, {"container", "inspect", "--format", "{{.State.Running}} {{.State.ExitCode}}", id});
  Ended ended;
  const std::size_t space = seen.out.find(' ');
  if (seen.status != 0 || space == std::string::npos) return ended;
  ended.is_running = seen.out.substr(0, space) == "true";
  int status = 0;
  const char* begin = seen.out.data() + space + 1;
  if (std::from_chars(begin, seen.out.data() + seen.out.size(), status).ec == std::errc()) {
    ended.status = status;
  }
  return ended;
}

int end_following(const Session& session, const Whereabouts& there, int number) {
  session.terminal.err << "No longer followed, and not stopped: "
                       << (there.name.empty() ? "the job" : there.name) << "\n";
  return 128 + number;
}

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
  return found;
}

int run_child(const ExecPlan& plan, Terminal& terminal) {
  terminal.out.flush();
  terminal.err.flush();
  const Signals signals;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return become(plan, terminal);
  if (child == 0) {
    // Whoever kills this process without a chance to hand it on means docker.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kElsewhere);
    const int status = become(plan, terminal);
    terminal.err.flush();
    ::_exit(status);
  }
  running_child = child;
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  running_child = 0;
  if (ended < 0) return kElsewhere;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int follow_job(const Session& session, const DaemonClient& daemon, const std::string& id,
               int status) {
  const Signals signals;
  std::string since = std::to_string(std::time(nullptr));
  bool was_told = false;
  for (int failures = 0;;) {
    const Result<json::value> moves = daemon.get("/v1/moves");
    if (!moves && failures++ >= kMostFailures) {
      session.terminal.err << "It is not known whether a move ended the job here: "
                           << moves.error().message() << "\n";
      return status;
    }
    const Whereabouts there = moves ? whereabouts(*moves, id) : Whereabouts{};
    if (moves) failures = 0;
    if (moves && there.state == Whereabouts::State::here) return status;
    if (was_interrupted != 0) return end_following(session, there, was_interrupted);
    if (there.state == Whereabouts::State::moved) {
      session.terminal.err
          << there.name << " was moved to " << there.host
          << " and goes on there; its exit status is not known here. On that host: "
             "docker flowcon logs --follow "
          << there.name << "\n";
      return kElsewhere;
    }
    if (there.state != Whereabouts::State::back) {
      if (moves && !was_told) {
        session.terminal.err << there.name << " is being moved to " << there.host << "\n"
                             << std::flush;
        was_told = true;
      }
      std::this_thread::sleep_for(kLook);
      continue;
    }
    const Ended ended = look_here(session, id);
    if (!ended.is_running) return ended.status.value_or(status);
    if (was_told) {
      session.terminal.err << "the move was undone, and " << there.name << " goes on here\n"
                           << std::flush;
    }
    was_told = false;
    const ExecPlan logs = plan_docker(session.invocation, session.environment,
                                      {"logs", "--follow", "--since", since, id});
    if (run_child(logs, session.terminal) != 0) std::this_thread::sleep_for(kLook);
    since = std::to_string(std::time(nullptr));
  }
}

}  // namespace flowcon::plugin
