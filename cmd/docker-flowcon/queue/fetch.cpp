// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/fetch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/names.h"
#include "cmd/docker-flowcon/daemon_client.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/job/run.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/tool.h"
#include "ctrl/wire/launch.h"

namespace flowcon::plugin {
namespace {

using cluster::migration::is_plain_path;
using cluster::migration::is_within;

namespace fs = std::filesystem;
constexpr std::size_t kMostPaths = 10'000;

// Made anew in each container: nobody's results.
constexpr std::array<std::string_view, 5> kPassing{"/tmp", "/run", "/dev", "/proc", "/sys"};

bool is_plain(const std::string& path) {
  return path.size() > 1 && path.find("//") == std::string::npos && is_plain_path(path);
}

std::vector<std::string> docker_words(const Session& session,
                                      const std::vector<std::string>& words) {
  ExecPlan plan = plan_docker(session.invocation, session.environment, words);
  plan.arguments.front() = plan.program;
  return std::move(plan.arguments);
}

Error too_much() {
  return bad_input(
      "its container has more new files and folders than this command reads: copy those that you "
      "need with docker cp");
}

// Errors: docker's own last words.
Result<std::string> ask_docker(const Session& session, const std::vector<std::string>& words) {
  Result<ToolResult> ran = run_tool(docker_words(session, words));
  if (!ran) return ran.error();
  if (ran->status != 0) return bad_input(printable(ran->err, 500));
  if (ran->is_cut) return too_much();
  return std::move(ran->out);
}

// All that it has printed, in the order that docker tells it.
Result<void> fetch_log(const Session& session, const std::string& id, const fs::path& file) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (out < 0) return errno_error(errno, "writing " + printable(file.string()));
  const Result<pid_t> child = ctrl::launch(docker_words(session, {"logs", id}), {-1, out, out}, {},
                                           ctrl::Rights::ours, false);
  ::close(out);
  if (!child) return child.error();
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return bad_input("docker logs failed; its output is in " + printable(file.string()));
}

// A folder that nobody has put anything into, so that nothing is lost.
Result<void> make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{failed, "making the folder " + printable(folder.string())};
  const bool is_empty = fs::is_empty(folder, failed);
  if (failed) return Error{failed, "opening " + printable(folder.string())};
  if (!is_empty) {
    return bad_input("the folder " + printable(folder.string()) +
                     " is not empty: name one that is, or that is not there yet");
  }
  return {};
}

// "log.txt" of a "log", unless the job has made a file of that name.
std::string log_name(const std::string& of, const std::vector<std::string>& paths) {
  std::string name = of + ".txt";
  const auto takes_it = [&](const std::string& path) { return is_within(path, "/" + name); };
  while (std::any_of(paths.begin(), paths.end(), takes_it)) name.insert(0, "docker-");
  return name;
}

// What prints: the job itself, or each of its tasks.
struct Printer {
  std::string id;
  std::string log;  ///< what its log is called
};

std::vector<Printer> printers_of(const json::value& job) {
  std::vector<Printer> all;
  for (const json::value& task : list_of(job, "tasks")) {
    Printer one{text_of(task, "id"), text_of(task, "name")};
    if (is_object_name(one.id) && is_object_name(one.log)) all.push_back(std::move(one));
  }
  if (all.empty()) all.push_back({text_of(job, "id"), "log"});
  return all;
}

// Of docker's list the paths that were changed and have no entry below them.
std::set<std::string> changed_paths(const std::string& diff) {
  std::set<std::string> changed;
  std::vector<std::string> folders;
  std::istringstream lines(diff);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 3) continue;
    folders.push_back(line.substr(2, std::max<std::size_t>(line.rfind('/'), 2) - 2));
    if (line.starts_with("C ")) changed.insert(line.substr(2));
  }
  for (const std::string& folder : folders) changed.erase(folder);
  return changed;
}

// What was made, and what was changed, in docker's order.
std::vector<std::string> written_paths(const std::string& diff) {
  const std::set<std::string> changed = changed_paths(diff);
  std::vector<std::string> paths;
  std::istringstream lines(diff);
  for (std::string line; std::getline(lines, line);) {
    std::string path = line.size() < 3 ? "" : line.substr(2);
    if (line.starts_with("A ") || changed.contains(path)) paths.push_back(std::move(path));
  }
  return paths;
}

class Fetcher {
 public:
  Fetcher(const Session& session, const json::value& job, fs::path folder)
      : session_(session),
        id_(text_of(job, "id")),
        printers_(printers_of(job)),
        folder_(std::move(folder)) {}

  Result<void> fetch() {
    const Result<std::string> inspect = ask_docker(session_, {"container", "inspect", id_});
    if (!inspect) return inspect.error();
    const Result<std::string> diff = ask_docker(session_, {"container", "diff", id_});
    if (!diff) return diff.error();
    if (const Result<void> made = make_folder(folder_); !made) return made.error();
    const Result<std::vector<std::string>> paths = paths_to_fetch(*inspect, *diff);
    if (!paths) return paths.error();
    for (const Printer& printer : printers_) {
      const fs::path log = folder_ / log_name(printer.log, *paths);
      if (const Result<void> printed = fetch_log(session_, printer.id, log); printed) {
        tell(log);
      } else {
        leave_out(printed.error());
      }
    }
    const std::set<std::string> changed = changed_paths(*diff);
    for (const std::string& path : *paths) {
      const Result<void> copied = changed.contains(path) ? copy_file(path) : copy(path);
      if (!copied) leave_out(wrap(copied.error(), "copying " + printable(path)));
    }
    return {};
  }

  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  // What is not to be had keeps nothing else back.
  void leave_out(const Error& why) {
    is_whole_ = false;
    report(session_.terminal, why);
  }

  Result<void> copy(const std::string& path) const {
    const fs::path target = folder_ / path.substr(1);
    std::error_code failed;
    fs::create_directories(target.parent_path(), failed);
    if (failed) return Error{failed, "making a folder for " + printable(path)};
    const Result<std::string> copied =
        ask_docker(session_, {"container", "cp", id_ + ":" + path, fs::absolute(target).string()});
    if (!copied) return copied.error();
    tell(target);
    return {};
  }

  // A folder of the image that was touched alone is no result, and may be all of it: docker does
  // not copy one to where a file is.
  Result<void> copy_file(const std::string& path) const {
    const fs::path target = folder_ / path.substr(1);
    std::error_code failed;
    fs::create_directories(target.parent_path(), failed);
    std::ofstream(target).close();
    Result<void> copied = copy(path);
    if (copied) return copied;
    fs::remove(target, failed);
    const bool is_folder = copied.error().what.find("cannot copy directory") != std::string::npos;
    return is_folder ? Result<void>() : copied;
  }

  void tell(const fs::path& path) const {
    session_.terminal.out << printable(path.string(), 4096) << "\n" << std::flush;
  }

  const Session& session_;
  std::string id_;
  std::vector<Printer> printers_;
  fs::path folder_;
  bool is_whole_ = true;
};

// Why what it has written is not here yet, in words; "" = it is.
std::string why_not_home(const JobView& job) {
  const std::string host = text_of(job.shown, "Host");
  const std::string state = text_of(job.exact, "State");
  if (host.empty() || state == "waiting") return "";
  const std::string name = text_of(job.shown, "Name");
  return name + " is on " + host +
         ": flowcond copies its output home when it ends; wait for that with: docker flowcon "
         "wait " +
         name;
}

}  // namespace

Result<std::vector<std::string>> paths_to_fetch(const std::string& inspect,
                                                const std::string& diff) {
  std::vector<std::string> mounts, paths;
  const Result<json::value> seen = parse_json(inspect);
  if (seen && seen->is_array() && !seen->get_array().empty()) {
    for (const json::value& mount : list_of(seen->get_array().front(), "Mounts")) {
      const std::string path = text_of(mount, "Destination");
      if (!is_plain(path)) continue;
      mounts.push_back(path);
      const json::value& writes = member(mount, "RW");
      const bool is_read_only = writes.is_bool() && !writes.get_bool();
      if (text_of(mount, "Type") == "volume" && !is_read_only) paths.push_back(path);
    }
  }
  std::string last;
  for (const std::string& path : written_paths(diff)) {
    // A folder comes before what is in it.
    if (!last.empty() && is_within(path, last)) continue;
    const auto has_it = [&](const auto& folder) { return is_within(path, folder); };
    const bool is_another = std::any_of(kPassing.begin(), kPassing.end(), has_it) ||
                            std::any_of(mounts.begin(), mounts.end(), [&](const auto& mount) {
                              return is_within(path, mount) || is_within(mount, path);
                            });
    if (!is_plain(path) || is_another) continue;
    if (paths.size() >= kMostPaths) return too_much();
    paths.push_back(last = path);
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> topmost;
  for (const std::string& path : paths) {
    const auto holds = [&](const std::string& one) { return is_within(path, one); };
    if (std::none_of(topmost.begin(), topmost.end(), holds)) topmost.push_back(path);
  }
  return topmost;
}

void declare_fetch(CLI::App& app, FetchOptions& options) {
  app.add_option("NAME", options.jobs)->required()->expected(1);
  app.add_option("-o,--output", options.output,
                 "The folder to copy to, empty or not there yet (default: the job's name)")
      ->type_name("folder");
}

int run_fetch(const Session& session, const FetchOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "fetch");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<std::string> target = job_target(options.jobs.front(), "");
  if (!target) return report(session.terminal, target.error());
  const Result<json::value> answer = daemon->get(*target);
  if (!answer) return report(session.terminal, answer.error());
  if (const std::string why = why_no_job(*answer); !why.empty()) {
    return report(session.terminal, bad_input(why));
  }
  const JobView job = read_job(*answer);
  if (const std::string why = why_not_home(job); !why.empty()) {
    return report(session.terminal, bad_input(why));
  }
  const std::string id = text_of(*answer, "id"), name = text_of(*answer, "name");
  if (!is_object_name(id)) return report(session.terminal, bad_input("the job has no id"));
  const std::string folder = !options.output.empty() ? options.output
                             : is_object_name(name)  ? name
                                                     : id.substr(0, 12);
  Fetcher fetcher(session, *answer, folder);
  if (const Result<void> done = fetcher.fetch(); !done) {
    return report(session.terminal, done.error());
  }
  return fetcher.is_whole() ? kDone : kFailed;
}

}  // namespace flowcon::plugin
