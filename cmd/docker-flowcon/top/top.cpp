// SPDX-License-Identifier: Apache-2.0
// One thread has the terminal: it waits for keys, for news of flowcond, and for signals, which come
// as bytes through a pipe.
#include "cmd/docker-flowcon/top/top.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/seconds.h"
#include "base/text.h"
#include "cmd/docker-flowcon/endings.h"
#include "cmd/docker-flowcon/text/cells.h"
#include "cmd/docker-flowcon/top/feed.h"
#include "cmd/docker-flowcon/top/layout.h"
#include "cmd/docker-flowcon/top/screen.h"
#include "cmd/docker-flowcon/top/state.h"

namespace flowcon::plugin {
namespace {

constexpr double kLeastInterval = 0.2;
constexpr double kMostInterval = 3600;
constexpr int kParentLookMilliseconds = 1000;
constexpr int kSignalBase = 128;

// A pipe that neither side waits at.
class Wake {
 public:
  Wake() { is_open_ = pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) == 0; }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;
  ~Wake() {
    if (is_open_) close(ends_[0]);
    if (is_open_) close(ends_[1]);
  }

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool is_open_ = false;
};

// The numbers of SIGWINCH and SIGTSTP go where the endings go.
volatile sig_atomic_t signal_file = -1;

void pass_signal(int number) {
  const int before = errno;
  const char byte = static_cast<char>(number);
  if (write(signal_file, &byte, 1) < 0) errno = before;
  errno = before;
}

// Handlers of this program's time on the screen.
class Signals {
 public:
  explicit Signals(int file) {
    signal_file = file;
    struct sigaction action {};
    action.sa_handler = pass_signal;
    sigaction(SIGWINCH, &action, &window_);
    sigaction(SIGTSTP, &action, &stop_);
    pass_endings_to(file);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    pass_endings_to(-1);
    sigaction(SIGWINCH, &window_, nullptr);
    sigaction(SIGTSTP, &stop_, nullptr);
  }

 private:
  struct sigaction window_ {};
  struct sigaction stop_ {};
};

class Top {
 public:
  Top(TopScreen& screen, TopFeed& feed, const Wake& signals, const Wake& news, TopState state,
      bool is_utf8)
      : screen_(screen),
        feed_(feed),
        signals_(signals),
        news_(news),
        state_(std::move(state)),
        is_utf8_(is_utf8) {}

  int run() {
    const pid_t parent = getppid();
    while (!status_) {
      draw();
      std::array<pollfd, 3> waiting{
          {{STDIN_FILENO, POLLIN, 0}, {signals_.reader(), POLLIN, 0}, {news_.reader(), POLLIN, 0}}};
      const int ready = poll(waiting.data(), waiting.size(), kParentLookMilliseconds);
      if (ready < 0 && errno != EINTR) return kFailed;
      // An older docker that is killed tells nobody.
      if (getppid() != parent) return kSignalBase + SIGINT;
      take_signals();
      take_news();
      take_keys();
    }
    return *status_;
  }

 private:
  void draw() { screen_.draw(layout_top(state_, {screen_.width(), screen_.height(), is_utf8_})); }

  void take_signals() {
    char number = 0;
    while (read(signals_.reader(), &number, 1) == 1) {
      if (number == SIGWINCH) {
        screen_.fit();
      } else if (number == SIGTSTP) {
        screen_.stop();
      } else {
        status_ = kSignalBase + number;
      }
    }
  }

  void take_keys() {
    while (const std::optional<TopKey> key = screen_.read_key()) {
      const TopAction action = take_key(state_, *key);
      switch (action.kind) {
        case TopAction::Kind::none:
          break;
        case TopAction::Kind::quit:
          status_ = kDone;
          return;
        case TopAction::Kind::redraw:
          screen_.forget_drawn();
          break;
        case TopAction::Kind::post:
        case TopAction::Kind::explain:
          feed_.ask(action);
          break;
      }
    }
    if (screen_.is_gone()) status_ = kSignalBase + SIGHUP;
  }

  void take_news() {
    std::array<char, 64> bytes{};
    while (read(news_.reader(), bytes.data(), bytes.size()) > 0) {
    }
    for (const TopNews& news : feed_.take_news()) take(news);
  }

  void take(const TopNews& news) {
    const std::string problem =
        news.answer ? "" : drawable(printable(news.answer.error().message(), 1000));
    switch (news.kind) {
      case TopNews::Kind::status:
        take_status(news, problem);
        break;
      case TopNews::Kind::peers:
        if (!state_.is_frozen) state_.elsewhere = read_elsewhere(*news.answer);
        break;
      case TopNews::Kind::done:
        state_.message = news.answer ? news.action.success : problem;
        state_.is_message_bad = !news.answer;
        break;
      case TopNews::Kind::explained:
        // It may be another one that is looked at by now.
        if (news.action.id != state_.selected) break;
        state_.decisions =
            news.answer ? read_decisions(*news.answer) : std::vector<std::string>{problem};
        break;
    }
  }

  void take_status(const TopNews& news, const std::string& problem) {
    state_.problem = problem;
    if (!news.answer) return;
    Result<TopView> view = read_top(*news.answer);
    if (view) {
      take_view(state_, std::move(*view), wall_seconds());
    } else {
      state_.problem = view.error().message();
    }
  }

  TopScreen& screen_;
  TopFeed& feed_;
  const Wake& signals_;
  const Wake& news_;
  TopState state_;
  bool is_utf8_;
  std::optional<int> status_;
};

std::string check_interval(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0';
  return is_number && seconds >= kLeastInterval && seconds <= kMostInterval
             ? ""
             : "has to be a number of seconds from 0.2 to 3600";
}

std::string order_names() {
  std::string names;
  for (const TopOrder& order : kTopOrders) {
    names += (names.empty() ? "" : &order == &kTopOrders.back() ? " or " : ", ");
    names += order.name;
  }
  return names;
}

std::size_t find_order(const std::string& name) {
  std::size_t order = 0;
  while (order < kTopOrders.size() && kTopOrders[order].name != name) ++order;
  return order;
}

}  // namespace

void declare_top(CLI::App& app, TopOptions& options) {
  app.add_option("--filter", options.filter,
                 "Show only containers with this text in name, image, host, list, state or "
                 "metric")
      ->type_name("string");
  app.add_option("--interval", options.interval_seconds, "Seconds between two updates, 0.2 to 3600")
      ->type_name("seconds")
      ->check(check_interval)
      ->capture_default_str();
  app.add_option("--sort", options.sort, "What to sort by: " + order_names())
      ->type_name("string")
      ->check([](const std::string& text) {
        return find_order(text) < kTopOrders.size() ? std::string() : "has to be " + order_names();
      })
      ->capture_default_str();
}

int run_top(const Session& session, const TopOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "top");
  if (!daemon) return report(session.terminal, daemon.error());
  if (!session.terminal.is_interactive || isatty(STDIN_FILENO) != 1) {
    return report(
        session.terminal,
        bad_input("top needs a terminal; without one use: docker flowcon status --watch"));
  }
  const Result<boost::json::value> first = daemon->get("/v1/status");
  if (!first) return report(session.terminal, first.error());
  Result<TopView> view = read_top(*first);
  if (!view) return report(session.terminal, view.error());
  const Wake signals;
  const Wake news;
  if (!signals.is_open() || !news.is_open()) {
    return report(session.terminal, errno_error(errno, "making a pipe"));
  }
  const bool is_utf8 = take_locale();
  TopState state;
  state.order = find_order(options.sort);
  state.is_descending = kTopOrders[state.order].is_descending;
  state.filter = drawable(printable(options.filter));
  take_view(state, std::move(*view), wall_seconds());
  session.terminal.out.flush();
  const Signals handlers(signals.writer());
  Result<std::unique_ptr<TopScreen>> screen = TopScreen::open(
      lookup(session.environment, "TERM"), lookup(session.environment, "NO_COLOR").empty());
  if (!screen) return report(session.terminal, screen.error());
  TopFeed feed(*daemon, options.interval_seconds, news.writer());
  return Top(**screen, feed, signals, news, std::move(state), is_utf8).run();
}

}  // namespace flowcon::plugin
