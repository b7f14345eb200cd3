// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/logs.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>
#include <utility>

#include "base/digits.h"
#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cmd/docker-flowcon/daemon_client.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/job/follow.h"
#include "cmd/docker-flowcon/job/run.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

using cluster::migration::LogRecord;

constexpr std::chrono::seconds kLookEach{1};  // at what is followed on another host
constexpr std::size_t kMostTail = 100'000;    // lines, there
constexpr int kTries = 30;                    // looks at one that is not heard

// As for docker, "" is no limit.
std::string check_moment_or_none(const std::string& text) {
  return text.empty() ? "" : check_moment(text);
}

bool ends_line(const LogRecord& record) { return record.text.ends_with('\n'); }

std::vector<std::string> docker_words(const LogsOptions& options, bool may_follow) {
  std::vector<std::string> words{"logs"};
  if (options.details) words.emplace_back("--details");
  if (options.follow && may_follow) words.emplace_back("--follow");
  if (!options.since.empty()) words.push_back("--since=" + options.since);
  if (options.tail != "all") words.push_back("--tail=" + options.tail);
  if (options.timestamps) words.emplace_back("--timestamps");
  if (!options.until.empty()) words.push_back("--until=" + options.until);
  words.push_back(options.container);
  return words;
}

struct Page {
  std::string lines;
  std::optional<std::uint64_t> next;
};

Result<Page> fetch_page(const DaemonClient& daemon, const std::string& target, std::uint64_t from) {
  Result<json::value> answer = daemon.get(target + "?from=" + std::to_string(from));
  if (!answer) return answer.error();
  Page page;
  page.lines = text_of(member(answer->get_object(), "lines"));
  const json::value& next = member(answer->get_object(), "next");
  if (next.is_int64() && next.get_int64() > 0) {
    page.next = static_cast<std::uint64_t>(next.get_int64());
  }
  if (page.next && *page.next <= from)
    return bad_input("flowcond's pages of the log repeat themselves");
  return page;
}

void show(const Session& session, const LogsOptions& options, const LogRecord& record,
          bool is_line_begun) {
  std::ostream& out = record.is_error ? session.terminal.err : session.terminal.out;
  if (options.timestamps && !is_line_begun) {
    out << cluster::migration::render_log_time(record.time_ns) << ' ';
  }
  out << record.text;
}

// How many of the last lines the engine has itself.
std::size_t lines_at_engine(const Session& session, const LogsOptions& options) {
  const ExecPlan plan =
      plan_docker(session.invocation, session.environment, docker_words(options, false));
  std::vector<std::string> words = plan.arguments;
  words.front() = plan.program;
  const Result<std::size_t> lines = count_lines(words);
  return lines ? *lines : 0;
}

// Errors: flowcond's; the caller then says what is missing.
Result<void> show_past(const Session& session, const LogsOptions& options,
                       const DaemonClient& daemon, const std::string& target) {
  Result<Page> page = fetch_page(daemon, target, 0);
  if (!page) return page.error();
  if (page->lines.empty()) return {};
  // Empty: all of them, as for docker also with a value that is no number.
  std::optional<std::size_t> last = parse_number<std::size_t>(options.tail);
  if (last) *last -= std::min(*last, lines_at_engine(session, options));
  const double now = wall_seconds();
  const auto moment = [now](const std::string& text) {
    return text.empty() ? std::nullopt : parse_moment(text, now);
  };
  PastLines past(moment(options.since), moment(options.until), last);
  bool is_line_begun = false;
  for (;;) {
    past.take(page->lines);
    for (const LogRecord& record : past.shown(!page->next)) {
      show(session, options, record, is_line_begun);
      is_line_begun = !ends_line(record);
    }
    session.terminal.out.flush();
    session.terminal.err.flush();
    if (!page->next || !session.terminal.out) return {};
    page = fetch_page(daemon, target, *page->next);
    if (!page) return page.error();
  }
}

struct LivePage {
  std::string lines;
  std::string next;  ///< the query for what follows; "": none
  bool has_more = false;
  bool is_running = false;
  bool is_elsewhere = false;
};

Result<LivePage> fetch_live(const DaemonClient& daemon, const std::string& target,
                            const std::string& query) {
  const Result<json::value> answer = daemon.get(target + query);
  if (!answer) return answer.error();
  const auto number = [&answer](const char* name) {
    const json::value& value = member(*answer, name);
    return value.is_int64() ? value.get_int64() : 0;
  };
  std::string next;
  if (const std::int64_t after = number("after"); after > 0) {
    next = "?after=" + std::to_string(after);
    // An older flowcond there gives none, and takes none.
    if (member(*answer, "skip").is_int64()) next += "&skip=" + std::to_string(number("skip"));
  }
  return LivePage{text_of(*answer, "lines"), std::move(next), is_true(*answer, "more"),
                  is_true(*answer, "running"), !text_of(*answer, "forwarded_to").empty()};
}

// The next page; one that follows waits for a container that is on its way.
Result<LivePage> fetch_next(const DaemonClient& daemon, const std::string& target,
                            const std::string& query, bool may_wait) {
  Result<LivePage> page = fetch_live(daemon, target, query);
  for (int tried = 1; !page && may_wait && tried < kTries; ++tried) {
    std::this_thread::sleep_for(kLookEach);
    page = fetch_live(daemon, target, query);
  }
  return page;
}

// Does a job of the queue run, or is what it has printed on its way home?
bool is_under_way(const DaemonClient& daemon, const std::string& name) {
  const Result<json::value> job = daemon.get("/v1/queue/" + name);
  const std::string state = job ? text_of(*job, "state") : "";
  return !state.empty() && state != "waiting" && member(*job, "ended").is_null();
}

// Of a job of several containers their names, else "".
std::string tasks_of(const json::value& job) {
  std::string names;
  for (const json::value& task : list_of(job, "tasks")) {
    names += (names.empty() ? "" : ", ") + printable(text_of(task, "name"), 80);
  }
  return names;
}

// The job that was asked for, not one whose id begins as a container is called; null: none.
json::value job_named(const std::string& asked, const std::optional<json::value>& found) {
  constexpr std::size_t kShortId = 12;
  if (!found || !is_object_name(text_of(*found, "name"))) return nullptr;
  const bool is_id = asked.size() >= kShortId && text_of(*found, "id").starts_with(asked);
  return is_id || text_of(*found, "name") == asked ? *found : json::value();
}

// Which host has its log and does not answer, in words; "" = none.
std::string why_unheard(const json::value& job) {
  const std::string name = printable(text_of(job, "name"), 80);
  const std::string host = printable(text_of(job, "host"), 200);
  if (host.empty() || text_of(job, "state") != "running") return "";
  return name + " runs on " + host + ", which does not answer";
}

// Why it prints nothing, in words; "" = it runs here, or has ended, or is no job of the queue.
std::string why_silent(const json::value& job) {
  const std::string state = text_of(job, "state");
  const bool is_open = !state.empty() && member(job, "ended").is_null();
  if (!is_open || state == "running" || state == "parking" || state == "stopping") return "";
  const std::string note = printable(text_of(job, "note"), 500);
  return printable(text_of(job, "name"), 80) +
         " does not run: " + (note.empty() ? "it is " + printable(state, 40) : note);
}

// Of a container that is on another host, until it ends where it is followed.
int show_elsewhere(const Session& session, const LogsOptions& options, const DaemonClient& daemon,
                   const std::string& target) {
  const double now = wall_seconds();
  const auto moment = [now](const std::string& text) {
    return text.empty() ? std::nullopt : parse_moment(text, now);
  };
  const std::optional<std::size_t> tail = parse_number<std::size_t>(options.tail);
  // The last of those before that moment, not of all.
  const bool ends_before = tail && !options.until.empty();
  PastLines past(moment(options.since), moment(options.until), ends_before ? tail : std::nullopt);
  // None of what was printed so far, but where it ends.
  bool is_past = options.follow && tail == 0 && !ends_before;
  const std::size_t lines = is_past ? 1 : std::min(tail.value_or(0), kMostTail);
  std::string query = tail && !ends_before ? "?tail=" + std::to_string(lines) : "";
  if (options.details) session.terminal.err << "There are no details of a log on another host.\n";
  bool is_line_begun = false;
  for (bool is_first = true;; is_first = false) {
    // Asked first: what it has printed by its end is on the page then.
    const bool goes_on = options.follow && is_under_way(daemon, options.container);
    const Result<LivePage> page = fetch_next(daemon, target, query, options.follow && !is_first);
    if (!page) return report(session.terminal, page.error());
    past.take(page->lines);
    for (const LogRecord& record : past.shown(!page->has_more)) {
      if (!is_past) show(session, options, record, is_line_begun);
      is_line_begun = !ends_line(record);
    }
    session.terminal.out.flush();
    session.terminal.err.flush();
    if (!session.terminal.out) return kFailed;
    query = page->next;
    if (page->has_more) continue;
    is_past = false;
    if (!options.follow || (!page->is_running && !goes_on)) return kDone;
    std::this_thread::sleep_for(kLookEach);
  }
}

}  // namespace

void PastLines::take(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    Result<LogRecord> record = cluster::migration::parse_record(line);
    if (!record) continue;
    const double time = static_cast<double>(record->time_ns) / 1e9;
    if ((since_ && time < *since_) || (until_ && time > *until_)) continue;
    lines_ += ends_line(*record) ? 1 : 0;
    records_.push_back(std::move(*record));
    while (last_ && lines_ > *last_) {
      lines_ -= ends_line(records_.front()) ? 1 : 0;
      records_.pop_front();
    }
  }
}

std::deque<LogRecord> PastLines::shown(bool is_end) {
  if (last_ && !is_end) return {};
  lines_ = 0;
  return std::exchange(records_, {});
}

void declare_logs(CLI::App& app, LogsOptions& options) {
  app.add_option("CONTAINER", options.container)->required();
  app.add_flag("--details", options.details, "Show extra details provided to logs");
  app.add_flag("-f,--follow", options.follow, "Follow log output");
  app.add_option("--since", options.since,
                 "Show logs since a timestamp (e.g. \"2013-01-02T13:23:37Z\") or relative (e.g. "
                 "\"42m\" for 42 minutes)")
      ->type_name("string")
      ->check(check_moment_or_none);
  app.add_option("-n,--tail", options.tail,
                 "Number of lines to show from the end of the logs (default \"all\")")
      ->type_name("string");
  app.add_flag("-t,--timestamps", options.timestamps, "Show timestamps");
  app.add_option("--until", options.until,
                 "Show logs before a timestamp (e.g. \"2013-01-02T13:23:37Z\") or relative (e.g. "
                 "\"42m\" for 42 minutes)")
      ->type_name("string")
      ->check(check_moment_or_none);
}

std::string check_logs(const LogsOptions& options) {
  return is_object_name(options.container)
             ? ""
             : "\"" + printable(options.container, 80) + "\" cannot be a container's name";
}

int run_logs(const Session& session, const LogsOptions& asked) {
  const Result<DaemonClient> daemon = find_daemon(session, "logs");
  LogsOptions options = asked;
  // Without flowcond docker knows all there is to know.
  if (daemon && probe_socket(daemon->path()) == SocketState::answers) {
    // That it is elsewhere is said once.
    const DaemonClient quiet(daemon->path());
    bool was_told = false;
    int missed = 0;  // in a row: flowcond is being restarted, or the host is silent
    for (bool is_first = true;; is_first = false) {
      if (!is_first) std::this_thread::sleep_for(kLookEach);
      const auto answer = quiet.find("/v1/queue/" + asked.container);
      if (!answer && !is_first && ++missed < kTries) continue;
      const json::value job = job_named(asked.container, answer ? *answer : std::nullopt);
      // Its id is that of the ticket, and another one where it runs.
      if (!job.is_null()) options.container = text_of(job, "name");
      const Result<std::string> live = container_target(options.container, "log");
      if (!live) return report(session.terminal, live.error());
      const Result<LivePage> probe = fetch_live(is_first ? *daemon : quiet, *live, "?tail=0");
      if (probe && probe->is_elsewhere) return show_elsewhere(session, options, quiet, *live);
      if (const std::string tasks = tasks_of(job); !tasks.empty()) {
        return report(session.terminal,
                      bad_input(printable(asked.container, 80) +
                                " is a job of several containers, each with a log: " + tasks));
      }
      const std::string unheard = why_unheard(job), silent = why_silent(job);
      missed = unheard.empty() ? 0 : missed + 1;
      if (!unheard.empty() && !(options.follow && missed < kTries)) {
        return report(session.terminal, bad_input(unheard));
      }
      if (unheard.empty() && silent.empty()) break;
      if (!silent.empty() && !std::exchange(was_told, true)) {
        session.terminal.err << silent << "\n" << std::flush;
      }
      if (!options.follow) break;
    }
    const Result<std::string> target = container_target(options.container, "past-log");
    const Result<void> shown = show_past(session, options, *daemon, *target);
    if (!shown) {
      session.terminal.err << "Cannot show its output on earlier hosts: " << shown.error().message()
                           << "\n";
    }
  }
  // As a child: somebody has to hear docker close the socket for its plugins.
  return run_child(
      session, plan_docker(session.invocation, session.environment, docker_words(options, true)));
}

}  // namespace flowcon::plugin
