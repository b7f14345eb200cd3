// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job/run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "cmd/docker-flowcon/daemon_client.h"
#include "cmd/docker-flowcon/endpoint.h"
#include "cmd/docker-flowcon/job/follow.h"
#include "cmd/docker-flowcon/job/run_words.h"
#include "cmd/docker-flowcon/other_engine.h"

namespace flowcon::plugin {
namespace {

constexpr std::string_view kPluginVariables = "DOCKER_CLI_PLUGIN_";
constexpr std::string_view kUnbuffered = "PYTHONUNBUFFERED";
constexpr const char* kOriginalCommand = "DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND";

// What a shell and docker answer for a program that is not there, or that cannot be started.
constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// A file in a folder of its own, which goes with it; its path is "" where there is none.
class IdFile {
 public:
  explicit IdFile(const Environment& environment) {
    const std::string folder = lookup(environment, "TMPDIR");
    std::string name = (folder.empty() ? "/tmp" : folder) + "/flowcon-run-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~IdFile() {
    if (folder_.empty()) return;
    (void)::unlink(path().c_str());
    (void)::rmdir(folder_.c_str());
  }
  IdFile(const IdFile&) = delete;
  IdFile& operator=(const IdFile&) = delete;
  [[nodiscard]] std::string path() const { return folder_.empty() ? "" : folder_ + "/id"; }

 private:
  std::string folder_;
};

// Where docker may write the id: `path`, or the file that its options name instead. One that is
// there before is another container's, and docker refuses it.
std::vector<std::string> id_files(const std::string& path,
                                  const std::vector<std::string>& arguments) {
  std::vector<std::string> files{path};
  for (const RunOption& option : read_run_options(arguments)) {
    std::error_code failed;
    if (option.name == "--cidfile" && !std::filesystem::exists(option.value, failed))
      files.push_back(option.value);
  }
  return files;
}

// The id in one of them; "" = none.
std::string id_in(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::string id;
    std::ifstream(file) >> id;
    if (is_container_id(id)) return id;
  }
  return "";
}

// True if it says something of Python's buffers: in -e, or in a line of an --env-file.
bool sets_buffering(const RunOption& option) {
  const auto is_it = [](const std::string& setting) {
    return setting.substr(0, setting.find('=')) == kUnbuffered;
  };
  if (option.name == "-e" || option.name == "--env") return is_it(option.value);
  // A pipe is docker's to read.
  std::error_code failed;
  if (option.name != "--env-file" || !std::filesystem::is_regular_file(option.value, failed))
    return false;
  std::ifstream file(option.value);
  bool is_first = true;
  for (std::string line; std::getline(file, line);) {
    // As docker: without a byte order mark, and without blanks before the name.
    if (std::exchange(is_first, false) && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    line.erase(0, line.find_first_not_of(" \t\v\f\r"));
    if (is_it(line)) return true;
  }
  return false;
}

}  // namespace

int become(ExecPlan plan, Terminal& terminal) {
  terminal.out.flush();
  terminal.err.flush();
  const std::vector<char*> arguments = pointers(plan.arguments);
  const std::vector<char*> environment = pointers(plan.environment);
  execvpe(plan.program.c_str(), arguments.data(), environment.data());
  const int number = errno;
  terminal.err << "cannot start " << printable(plan.program) << ": " << std::strerror(number)
               << "\n";
  return number == ENOENT ? kNotFound : kNotExecutable;
}

ExecPlan plan_docker(const Invocation& invocation, const Environment& environment,
                     const std::vector<std::string>& words) {
  ExecPlan plan;
  const std::string original = lookup(environment, kOriginalCommand);
  plan.program = original.empty() ? "docker" : original;
  plan.arguments.push_back(plan.program);
  plan.arguments.insert(plan.arguments.end(), invocation.globals.begin(), invocation.globals.end());
  plan.arguments.insert(plan.arguments.end(), words.begin(), words.end());
  for (const auto& [name, value] : environment) {
    if (name.compare(0, kPluginVariables.size(), kPluginVariables) == 0) continue;
    plan.environment.push_back(name + "=" + value);
  }
  return plan;
}

ExecPlan plan_job(const Invocation& invocation, const Environment& environment,
                  std::vector<std::string> command, const std::vector<std::string>& labels,
                  const std::vector<std::string>& docker_arguments) {
  for (const std::string& label : labels) {
    command.emplace_back("--label");
    command.push_back(label);
  }
  const std::vector<RunOption> given = read_run_options(docker_arguments);
  if (std::none_of(given.begin(), given.end(), sets_buffering))
    command.push_back("--env=" + std::string(kUnbuffered) + "=1");
  command.insert(command.end(), docker_arguments.begin(), docker_arguments.end());
  return plan_docker(invocation, environment, command);
}

bool warn_without_daemon(const Session& session, const std::string& consequence) {
  const Result<Endpoint> endpoint = find_endpoint(session.invocation, session.environment);
  const bool is_here = session.chose_socket || (endpoint && !endpoint->is_remote());
  if (!is_here || probe_socket(session.socket) != SocketState::absent) return false;
  session.terminal.err << "flowcond is not running (nothing listens at unix://"
                       << printable(session.socket) << "), so " << consequence
                       << ". Start it with: systemctl start flowcond (or run: sudo flowcond)\n";
  return true;
}

ExecPlan plan_run(const Invocation& invocation, const Environment& environment,
                  const JobOptions& options, const std::vector<std::string>& docker_arguments) {
  return plan_job(invocation, environment, {"run"}, job_labels(options), docker_arguments);
}

MadeJob make_job(const Session& session, const std::string& command,
                 const std::vector<std::string>& labels,
                 const std::vector<std::string>& docker_arguments) {
  const IdFile file(session.environment);
  std::vector<std::string> words{command};
  if (!file.path().empty()) words.push_back("--cidfile=" + file.path());
  const ExecPlan plan =
      plan_job(session.invocation, session.environment, std::move(words), labels, docker_arguments);
  const std::vector<std::string> files = id_files(file.path(), docker_arguments);
  const int status = run_child(session, plan);
  return {status, id_in(files)};
}

int run_run(const Session& session, const JobOptions& options,
            const std::vector<std::string>& docker_arguments) {
  // It comes under control when flowcond starts, since the labels stay.
  warn_without_daemon(session, "the container keeps its fair share");
  const Result<DaemonClient> daemon = find_daemon(session, "run");
  FollowOptions following;
  following.was_answering = daemon && probe_socket(daemon->path()) == SocketState::answers;
  if (following.was_answering) {
    warn_of_other_engine(session, *daemon, "it may not control this container");
  }
  const HandOn signals;  // docker's end comes once, be it now or when its client has ended
  if (!daemon) {
    return run_child(session,
                     plan_run(session.invocation, session.environment, options, docker_arguments));
  }
  const MadeJob made = make_job(session, "run", job_labels(options), docker_arguments);
  if (made.id.empty()) return made.status;
  return follow_job(session, *daemon, made.id, made.status, following);
}

int complete_docker(const Session& session, const std::string& call,
                    const std::vector<std::string>& words) {
  std::vector<std::string> all{call};
  all.insert(all.end(), words.begin(), words.end());
  return become(plan_docker(session.invocation, session.environment, all), session.terminal);
}

}  // namespace flowcon::plugin
