// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/status/status.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <ostream>
#include <thread>

#include "base/json_reader.h"
#include "cmd/docker-flowcon/peer/peer.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/status/view.h"
#include "cmd/docker-flowcon/text/cells.h"

namespace flowcon::plugin {
namespace {

constexpr double kLeastInterval = 0.1;
constexpr double kMostInterval = 3600;

struct Look {
  std::string text;                   // the containers in the wanted format
  std::vector<std::string> warnings;  // sentences for stderr
  std::vector<std::string> problems;  // containers that are not there
  std::string queue;                  // a line about the jobs of the queue; "" = nothing to say
};

Result<Format> format_of(const StatusOptions& options, std::string_view policy, bool has_hosts) {
  const std::string table =
      (has_hosts ? "{{.Host}}\t" : "") + std::string(default_status_table(policy));
  return Format::parse(options.quiet ? "{{.ID}}" : options.format, table);
}

// Adds what the other hosts have; one that cannot be asked is a warning.
void add_other_hosts(const DaemonClient& daemon, bool truncate, StatusView& view) {
  const Result<boost::json::value> peers = daemon.get("/v1/peers");
  if (!peers) return;
  for (const boost::json::value& peer : list_of(member(*peers, "peers"))) {
    const std::string name = text_of(member(peer, "name"));
    if (text_of(member(peer, "state")) == "unused") continue;
    const Result<boost::json::value> answer = daemon.get(peer_target(name, "status"));
    Result<StatusView> there =
        answer ? read_status(*answer, truncate) : Result<StatusView>(answer.error());
    if (!there) {
      view.warnings.push_back(there.error().message());
      continue;
    }
    name_host(*there, name);
    std::move(there->containers.begin(), there->containers.end(),
              std::back_inserter(view.containers));
  }
}

// Of the default table alone: scripts ask for what they want.
std::string queue_line(const StatusOptions& options, const boost::json::value& answer) {
  const bool is_whole = options.containers.empty() && options.format.empty() && !options.quiet;
  const std::string counts = is_whole ? queue_counts(answer) : "";
  return counts.empty() ? "" : "queue: " + counts + "\n";
}

Result<Look> take_look(const DaemonClient& daemon, const StatusOptions& options) {
  const Result<boost::json::value> answer = daemon.get("/v1/status");
  if (!answer) return answer.error();
  Result<StatusView> view = read_status(*answer, !options.no_trunc);
  if (!view) return view.error();
  StatusView here = *view;
  Look look;
  // Who asks for one that is not here may mean one of another host.
  const bool has_hosts = !select_containers(here, options.containers).empty() || options.all;
  if (has_hosts) {
    name_host(*view, text_of(member(*answer, "host")));
    add_other_hosts(daemon, !options.no_trunc, *view);
  }
  for (const Missing& one : select_containers(*view, options.containers)) {
    look.problems.push_back(or_job(daemon, one.name, bad_input(one.sentence)).message());
  }
  filter_containers(*view, options.filters);
  add_warnings_of_containers(*view);
  look.warnings = view->warnings;
  const Result<Format> format = format_of(options, text_of(member(*answer, "policy")), has_hosts);
  if (!format) return format.error();
  const Result<std::string> text = render_status(*view, *format);
  if (!text) return text.error();
  look.text = *text;
  look.queue = queue_line(options, *answer);
  return look;
}

// Terminals that can be drawn over.
bool can_redraw(const Session& session) {
  return session.terminal.is_interactive && lookup(session.environment, "TERM") != "dumb";
}

// One screen, written over the one before: each line is cleared behind its end, and what is left
// below afterwards, so nothing flickers. A line wider than the terminal wraps, as in docker stats;
// one row too many would scroll the heading away, so the last one says that there is more.
std::string screen(const std::string& text, const Terminal& terminal) {
  std::string out = "\033[H";
  std::size_t rows_left = terminal.height - 1;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    const std::size_t rows = rows_of(line, terminal.width);
    const bool is_last = end + 1 >= text.size();
    if (rows + (is_last ? 0 : 1) > rows_left) {
      out += "…\033[K\n";
      break;
    }
    out += line;
    out += "\033[K\n";
    rows_left -= rows;
    start = end + 1;
  }
  return out + "\033[J";
}

class Watch {
 public:
  Watch(const Session& session, bool redraws) : terminal_(session.terminal), redraws_(redraws) {
    if (redraws_) terminal_.out << "\033[2J";
  }

  void show(const Look& look) {
    std::vector<std::string> talk = look.warnings;
    talk.insert(talk.end(), look.problems.begin(), look.problems.end());
    last_ = look.text;
    draw(talk, look.queue);
  }

  void show_absence(const Error& error) { draw({error.message() + ". Trying again"}, ""); }

 private:
  // On a screen talk stands below the table, else on stderr when there is something new to say.
  void draw(const std::vector<std::string>& talk, std::string said) {
    for (const std::string& sentence : talk) said += "WARNING: " + sentence + "\n";
    if (redraws_) {
      if (terminal_.measure) terminal_.measure(terminal_);
      terminal_.out << screen(last_ + (said.empty() ? "" : "\n" + said), terminal_);
    } else {
      if (said != said_) terminal_.err << said;
      terminal_.out << last_;
      last_.clear();
    }
    said_ = said;
    terminal_.out.flush();
  }

  Terminal& terminal_;
  bool redraws_;
  std::string last_;
  std::string said_;
};

int watch_status(const Session& session, const DaemonClient& daemon, const StatusOptions& options,
                 Look first, const std::function<bool()>& wait) {
  Watch watch(session, can_redraw(session));
  watch.show(first);
  while (session.terminal.out.good() && wait()) {
    const Result<Look> look = take_look(daemon, options);
    if (look) {
      watch.show(*look);
    } else {
      watch.show_absence(look.error());
    }
  }
  return session.terminal.out.good() ? kDone : kFailed;
}

std::string check_interval(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0';
  return is_number && seconds >= kLeastInterval && seconds <= kMostInterval
             ? ""
             : "has to be a number of seconds from 0.1 to 3600";
}

}  // namespace

void declare_status(CLI::App& app, StatusOptions& options) {
  app.add_option("CONTAINER", options.containers);
  app.add_flag("-a,--all", options.all, "Show the containers of all hosts");
  app.add_option("-f,--filter", options.filters,
                 "Show only containers with KEY=VALUE: name (a part of it), id (its beginning), "
                 "image, list, metric or state")
      ->type_name("filter")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(check_filter);
  app.add_option("--format", options.format, format_help())->type_name("string");
  app.add_flag("--no-trunc", options.no_trunc, "Do not truncate output");
  app.add_flag("-q,--quiet", options.quiet, "Only display container IDs");
  app.add_flag("-w,--watch", options.watch, "Show the status again and again until ^C");
  app.add_option("--interval", options.interval_seconds,
                 "Seconds between two updates with --watch, 0.1 to 3600")
      ->type_name("seconds")
      ->check(check_interval)
      ->capture_default_str();
}

int run_status(const Session& session, const StatusOptions& options,
               const std::function<bool()>& wait) {
  // A wrong template is told before anybody is asked.
  if (const Result<Format> format = format_of(options, "", false); !format)
    return report(session.terminal, format.error());
  const Result<DaemonClient> daemon = find_daemon(session, "status");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<Look> look = take_look(*daemon, options);
  if (!look) return report(session.terminal, look.error());
  if (options.watch) return watch_status(session, *daemon, options, *look, wait);
  const std::size_t missing = look->problems.size();
  const bool has_none = missing > 0 && missing == options.containers.size();
  if (!has_none) session.terminal.out << look->text;
  session.terminal.out.flush();
  session.terminal.err << look->queue;
  for (const std::string& warning : look->warnings) {
    session.terminal.err << "WARNING: " << warning << "\n";
  }
  for (const std::string& problem : look->problems) session.terminal.err << problem << "\n";
  return look->problems.empty() ? kDone : kFailed;
}

int run_status(const Session& session, const StatusOptions& options) {
  return run_status(session, options, [&options] {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_seconds));
    return true;
  });
}

}  // namespace flowcon::plugin
