// SPDX-License-Identifier: Apache-2.0
// Which move can be made: what the container is, what the target says of it.
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/random_id.h"
#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/json_parts.h"
#include "cluster/migration/plan/left_behind.h"
#include "cluster/migration/run/mover_labels.h"
#include "cluster/migration/run/mover_processes.h"
#include "cluster/migration/run/mover_state.h"
#include "cluster/policy/speculate.h"
#include "ctrl/pause.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
namespace files = std::filesystem;
using ctrl::Async;

constexpr double kAnswerTime = 20;    // seconds for one answer of a peer
constexpr double kDiskTime = 5;       // and for one of a file system
constexpr double kMeasureTime = 300;  // seconds, for a million files on a busy disk
constexpr double kReachTime = 3;      // seconds until a host that has just come back is reached
constexpr double kReachLook = 0.1;    // seconds

bool has_signal(const std::string& mask, int signal) {
  return ((std::strtoull(mask.c_str(), nullptr, 16) >> (signal - 1)) & 1U) != 0;
}

bool is_shell(const std::string& name) {
  constexpr std::array<const char*, 5> kShells{"sh", "bash", "dash", "ash", "zsh"};
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

// Those that stand for process 1 and hand signals on. While they wait for one the kernel shows it
// as neither handled nor blocked.
bool is_init(const std::string& name) {
  constexpr std::array<const char*, 5> kInits{"docker-init", "tini", "tini-static", "dumb-init",
                                              "catatonit"};
  return std::find(kInits.begin(), kInits.end(), name) != kInits.end();
}

// Of the one child that `init` hands its signals on to.
std::string why_child_deaf(std::int64_t init, int signal) {
  const std::vector<pid_t> children = children_of(static_cast<pid_t>(init));
  // dumb-init hands them on to all of its session.
  if (children.size() != 1 || status_of(init, "Name") == "dumb-init") return "";
  const std::int64_t child = children.front();
  const std::string process = status_of(child, "Name");
  const bool hears = has_signal(status_of(child, "SigCgt"), signal) ||
                     has_signal(status_of(child, "SigBlk"), signal);
  if (!is_shell(process) || hears) return "";
  return "its process (" + printable(process, 40) +
         ") is a shell, which hands no signal on: start the job by exec";
}

bool lies_in_mount(const json::value& body, const std::string& path) {
  for (const json::value& mount : list_of(member(body, "HostConfig"), "Mounts")) {
    const std::string type = text_of(mount, "Type");
    if (type != "tmpfs" && is_within(path, text_of(mount, "Target"))) return true;
  }
  return false;
}

bool lies_in_tmpfs(const json::value& body, const std::string& path) {
  const json::value& host = member(body, "HostConfig");
  for (const json::value& mount : list_of(host, "Mounts")) {
    if (text_of(mount, "Type") == "tmpfs" && is_within(path, text_of(mount, "Target"))) return true;
  }
  const json::object& folders = object_of(host, "Tmpfs");
  return std::any_of(folders.begin(), folders.end(),
                     [&](const auto& one) { return is_within(path, std::string(one.key())); });
}

bool has_log(const json::value& body) {
  return text_of(member(member(body, "HostConfig"), "LogConfig"), "Type") != "none";
}

}  // namespace

std::string why_deaf(std::int64_t pid, int signal) {
  const std::string process = status_of(pid, "Name");
  if (process.empty()) return "";
  if (is_init(process)) return why_child_deaf(pid, signal);
  const std::string shown = "its first process (" + printable(process, 40) + ")";
  // The kernel drops what the first process of a container has no handler for.
  const std::string ids = status_of(pid, "NSpid");
  const bool is_first = ids.ends_with("\t1");
  const bool hears =
      has_signal(status_of(pid, "SigCgt"), signal) || has_signal(status_of(pid, "SigBlk"), signal);
  // A shell's job would end with the shell, saved or not, whoever is process 1.
  if (is_shell(process) && !hears) {
    return shown + " is a shell, which hands no signal on: start the job by exec";
  }
  if (is_first && !hears) {
    return shown + " does not handle " + ctrl::signal_name(signal) +
           ", and no other process gets it: have the job handle it, or start it by exec";
  }
  return "";
}

std::vector<std::string> unfit_paths(const json::object& body, const AcceptPolicy& policy) {
  std::vector<std::string> reasons;
  const auto resolved = [](const std::string& path) {
    std::error_code failure;
    const auto real = files::canonical(path, failure);
    return failure ? std::string() : real.string();
  };
  const auto is_inside = [&](const std::string& source) {
    const auto is_above = [&](const std::string& prefix) { return is_within(source, prefix); };
    if (std::none_of(policy.mounts.begin(), policy.mounts.end(), is_above)) return false;
    const std::string real = resolved(source);
    return !real.empty() &&
           std::any_of(policy.mounts.begin(), policy.mounts.end(), [&](const std::string& prefix) {
             const std::string folder = resolved(prefix);
             return !folder.empty() && is_within(real, folder);
           });
  };
  const json::value whole(body);
  const json::value& host = member(whole, "HostConfig");
  for (const json::value& mount : list_of(host, "Mounts")) {
    const std::string source = text_of(mount, "Source");
    if (text_of(mount, "Type") != "bind" || is_inside(source)) continue;
    reasons.push_back("'" + printable(source, 200) +
                      "' is not there, or links lead out of the folders that are accepted");
    if (reasons.size() >= kMaxRefusals) break;
  }
  for (const json::value& device : list_of(host, "Devices")) {
    const std::string path = text_of(device, "PathOnHost");
    const auto& known = policy.devices;
    const bool is_accepted = std::find(known.begin(), known.end(), path) != known.end();
    struct stat ignored {};
    if (is_accepted && ::stat(path.c_str(), &ignored) == 0) continue;
    reasons.push_back("there is no " + printable(path, 200) + " there");
    if (reasons.size() >= kMaxRefusals) break;
  }
  return reasons;
}

Result<Neighbour> least_loaded(const std::string& own_id, const std::vector<Neighbour>& all) {
  policy::SpeculateState state;
  state.source = own_id;
  state.draining = true;
  state.workers.push_back({own_id, {}, 0});
  for (const Neighbour& one : all) {
    if (!one.is_reachable || !one.state || one.state->draining || one.id.empty()) continue;
    state.workers.push_back({one.id, one.state->counts, one.state->usage});
  }
  const policy::SpeculateDecision decision = policy::decide_speculate(state);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Neighbour& one) {
    return decision.move && one.id == decision.target;
  });
  if (found == all.end()) return bad_input("no peer is reachable that takes containers");
  return *found;
}

std::string why_unreachable(const std::string& id, const std::vector<Neighbour>& all) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Neighbour& one) { return one.id == id && !id.empty(); });
  if (found != all.end() && found->is_reachable) return "";
  const std::string why = found == all.end() ? "" : found->error;
  return "this host cannot reach the host that it comes from" +
         (why.empty() ? std::string() : ": " + printable(why, 300));
}

AcceptPolicy Movers::policy() const {
  const ctrl::Config& config = host_.config();
  AcceptPolicy policy;
  policy.privileged = config.accept_privileged;
  policy.host_namespaces = config.accept_host_namespaces;
  policy.capabilities = config.accept_capabilities;
  policy.mounts = config.accept_mounts;
  policy.devices = config.accept_devices;
  policy.runtimes = config.accept_runtimes;
  policy.criu = config.accept_criu;
  return policy;
}

Result<Neighbour> Movers::neighbour(const std::string& name) const {
  for (const Neighbour& one : network_.neighbours()) {
    if (one.name != name && one.id != name && !(one.state && one.state->name == name)) continue;
    if (one.is_reachable && !one.id.empty()) return one;
    return bad_input(one.name + " is not reachable" +
                     (one.error.empty() ? "" : ": " + printable(one.error, 300)));
  }
  return bad_input("there is no peer " + printable(name, 80) +
                   "; docker flowcon peer ls shows those there are");
}

Result<Neighbour> Movers::best_neighbour() const {
  return least_loaded(network_.own_id(), network_.neighbours());
}

Async<Result<Movers::Proposal>> Movers::propose(MoveOrder order) {
  std::string wanted = order.container;
  Result<Seen> seen = co_await engine_.look(std::move(wanted));
  if (!seen) co_return seen.error();
  const bool all_count = host_.config().image_labels;
  Seen whole = std::move(*seen);
  seen = co_await with_own_labels(client_, all_count, std::move(whole));
  if (!seen) co_return seen.error();
  Result<Description> described = describe(seen->inspect);
  if (!described) co_return described.error();
  Proposal made;
  made.container = seen->id;
  made.name = seen->name;
  Plan& plan = made.plan;
  std::vector<std::string>& against = made.obstacles;
  against = described->obstacles;
  made.notes = described->notes;
  const std::optional<ctrl::Settings> known = host_.settings_of(seen->id);
  const ctrl::Settings settings = known ? *known : ctrl::parse_labels(seen->labels);
  if (settings.migrate == ctrl::Migrate::no)
    against.emplace_back("its label flowcon.migrate says no");
  made.method =
      order.method.value_or(settings.migrate == ctrl::Migrate::criu ? Method::criu : Method::app);
  if (seen->copy != Copy::running) {
    against.emplace_back("it does not run");
  } else if (seen->is_paused) {
    against.emplace_back("it is paused: docker unpause");
  }
  if (is_moving(seen->id)) against.emplace_back("it is on the move already");
  Description copy = *described;
  Result<Volumes> volumes = co_await engine_.look_at_volumes(std::move(copy));
  if (!volumes) co_return volumes.error();
  against.insert(against.end(), volumes->obstacles.begin(), volumes->obstacles.end());
  plan.volumes = std::move(volumes->planned);
  std::string image = described->image;
  Result<ImageInfo> info = co_await image_info(client_, std::move(image));
  if (info) {
    plan.image = std::move(*info);
  } else {
    against.push_back("its image: " + info.error().message());
  }
  std::size_t number = 0;
  for (const TravellingVolume& volume : described->volumes) {
    plan.parts.push_back(
        {"volume-" + std::to_string(number++), PartKind::volume, volume.destination});
  }
  plan.body = std::move(described->body);
  plan.restart_policy = std::move(described->restart_policy);
  plan.image_name = described->image_name;
  plan.cause = order.cause;
  plan.checkpoint = settings.checkpoint;
  plan.confirm = std::max(1.0, settings.checkpoint.confirm);
  plan.awaits_value = host_.last_value_at(seen->id).has_value();
  made.notes.push_back("the container here is kept until its copy has printed " +
                       std::string(plan.awaits_value ? "a value" : "a line") + ", or has run for " +
                       render_number(plan.confirm) + " s (flowcon.checkpoint.confirm)");
  if (made.method == Method::criu) {
    const std::vector<std::string> more = criu_obstacles(plan.body);
    against.insert(against.end(), more.begin(), more.end());
    plan.parts.push_back({"layer", PartKind::layer, ""});
    Result<std::string> why = co_await engine_.why_no_criu();
    if (!why) co_return why.error();
    if (!why->empty()) against.push_back("CRIU: " + *why);
  } else if (lies_in_tmpfs(plan.body, plan.checkpoint.path)) {
    against.emplace_back(
        "its flowcon.checkpoint.path is in a tmpfs, which is gone when the job ends: save to a "
        "volume");
  } else if (!plan.checkpoint.path.empty() && !lies_in_mount(plan.body, plan.checkpoint.path)) {
    plan.parts.push_back({"path", PartKind::path, plan.checkpoint.path});
  } else if (plan.parts.empty() && plan.checkpoint.path.empty()) {
    against.emplace_back(
        "nothing of what it has learnt would travel: it has no volume, and no label "
        "flowcon.checkpoint.path says what it saves");
  }
  if (made.method == Method::app && plan.checkpoint.command.empty() &&
      seen->copy == Copy::running) {
    const int signal = plan.checkpoint.signal > 0 ? plan.checkpoint.signal : SIGTERM;
    if (std::string deaf = why_deaf(seen->pid, signal); !deaf.empty()) {
      against.push_back(std::move(deaf));
    }
  }
  // CRIU's copy goes on in the line that it was in.
  const std::string line = made.method == Method::criu ? "open" : "";
  if (has_log(plan.body)) plan.parts.push_back({"log", PartKind::log, line});
  std::string id = seen->id, state = host_.config().state_dir;
  Result<CopyPlace> place = co_await find_place(client_, std::move(id), std::move(state));
  if (!place) co_return place.error();
  std::vector<std::string> folders;
  for (const VolumePlace& volume : place->volumes) folders.push_back(volume.folder);
  const std::size_t volume_count = folders.size();
  if (!place->upper.empty()) folders.push_back(place->upper);
  if (made.method == Method::criu && place->upper.empty()) {
    against.emplace_back("CRIU: its engine does not store it by overlay2");
  }
  const std::uint64_t most = PartLimits().entries;
  // A volume that does not travel may be a mount that does not answer.
  if (!volumes->obstacles.empty()) co_return made;
  auto look = [folders, most] { return measure(folders, most); };
  const Result<Measured> asked = co_await measurers_.ask(std::move(look), kMeasureTime);
  if (!asked) {
    against.push_back("its volumes cannot be measured: " + asked.error().message());
    co_return made;
  }
  const Measured& measured = *asked;
  plan.bytes = measured.bytes;
  for (std::size_t i = 0; i < volume_count; ++i) {
    if (measured.entries[i] < most) continue;
    against.push_back("the volume '" + printable(place->volumes[i].name, 80) +
                      "' has more files than may travel, " + std::to_string(most) +
                      ": pack them into one");
  }
  if (made.method == Method::app) {
    std::string container = seen->id, upper = place->upper;
    json::object body = plan.body;
    const Result<LeftBehind> left =
        co_await left_behind(std::move(container), std::move(upper), std::move(body), {});
    if (!left) co_return left.error();
    weigh_left_behind(made, *left);
  }
  co_return made;
}

// Files of the writable layer: without a word from the job's owner they may be what it has learnt.
void Movers::weigh_left_behind(Proposal& made, const LeftBehind& left) {
  const std::string& path = made.plan.checkpoint.path;
  std::vector<std::string> files = left.files;
  std::erase_if(files, [&](const std::string& one) { return is_within(one, path); });
  if (!files.empty() && path.empty()) {
    made.obstacles.push_back(
        "it has written files that would not travel: " + some_of(files) +
        "; save to a volume, and say by the label flowcon.checkpoint.path where it saves to");
  } else if (!files.empty()) {
    made.notes.push_back("left behind: what it wrote to " + some_of(files));
  }
  if (!left.passing.empty()) {
    made.notes.push_back("left behind, of temporary files: " + some_of(left.passing));
  }
}

// What the target has against it.
Async<Result<std::vector<std::string>>> Movers::ask_target(Proposal proposal, std::string target) {
  json::object body;
  body["name"] = proposal.name;
  body["plan"] = to_json(proposal.plan);
  std::string method = "POST", path = "/v1/peer/moves/check", text = render_json(body);
  const std::string shown = peer_name(target);
  Result<Answer> answer = co_await network_.ask(std::move(target), std::move(method),
                                                std::move(path), std::move(text), kAnswerTime);
  if (!answer) co_return answer.error();
  const Result<json::value> said = parse_json(answer->body);
  if (!said) co_return bad_input(shown + " answers with no JSON");
  std::vector<std::string> reasons;
  if (answer->status != 200) {
    reasons.push_back(shown + ": " + printable(text_of(*said, "error"), 400));
    co_return reasons;
  }
  for (const json::value& reason : list_of(*said, "reasons")) {
    if (reason.is_string())
      reasons.push_back(shown + ": " + printable(std::string(reason.get_string()), 400));
  }
  co_return reasons;
}

Async<std::vector<std::string>> Movers::look_at_paths(json::object body) {
  auto look = [body = std::move(body), policy = policy()] { return unfit_paths(body, policy); };
  Result<std::vector<std::string>> found = co_await helpers_.ask(std::move(look), kDiskTime);
  if (found) co_return std::move(*found);
  std::vector<std::string> reasons{"the folders that it mounts cannot be looked at there: " +
                                   found.error().what};
  co_return reasons;
}

// One that has just come back may have asked before this host has reached it.
Async<void> Movers::wait_for(std::string id) {
  const double until = steady_now() + kReachTime;
  while (!why_unreachable(id, network_.neighbours()).empty() && steady_now() < until) {
    co_await ctrl::pause(kReachLook);
  }
}

// Why this host would not take the copy. Neither the engine nor a file system is asked while there
// is a reason already: what a peer may not have it learns nothing of.
Async<Result<std::vector<std::string>>> Movers::judge(std::string name, Plan plan,
                                                      std::string speaker) {
  std::vector<std::string> reasons = refusals(plan, policy());
  // Else the move would never end here: what the source did is asked of it.
  std::string source = speaker;
  if (reasons.empty()) co_await wait_for(std::move(source));
  if (const std::string why = why_unreachable(speaker, network_.neighbours()); !why.empty()) {
    reasons.push_back(why);
  }
  if (network_.is_draining()) reasons.emplace_back("this host is being drained");
  if (const std::string why = why_unread(); !why.empty()) reasons.push_back(why);
  if (find_by_container(name)) reasons.emplace_back("another move of that name is not finished");
  if (!reasons.empty()) co_return reasons;
  const json::object body = plan.body;
  const std::uint64_t bytes = plan.bytes;
  Result<Conflicts> conflicts = co_await engine_.conflicts(std::move(name), std::move(plan));
  if (!conflicts) co_return conflicts.error();
  reasons = std::move(conflicts->reasons);
  if (std::string why = refused_default(body, conflicts->runtime, policy()); !why.empty()) {
    reasons.push_back(std::move(why));
  }
  auto measure_disk = [root = conflicts->root, bytes] { return why_no_room(root, bytes); };
  Result<std::string> room = co_await helpers_.ask(std::move(measure_disk), kDiskTime);
  if (!room) room = "its disk cannot be looked at: " + room.error().what;
  if (!room->empty()) reasons.push_back(std::move(*room));
  json::object asked = body;
  const std::vector<std::string> unfit = co_await look_at_paths(std::move(asked));
  reasons.insert(reasons.end(), unfit.begin(), unfit.end());
  co_return reasons;
}

Async<Result<Movers::Proposal>> Movers::rehearse(MoveOrder order) {
  const Result<Neighbour> target = neighbour(order.target);
  if (!target) co_return target.error();
  Result<Proposal> proposal = co_await propose(std::move(order));
  if (!proposal || proposal->plan.image.id.empty()) co_return proposal;
  Proposal asked = *proposal;
  std::string id = target->id;
  Result<std::vector<std::string>> theirs = co_await ask_target(std::move(asked), std::move(id));
  if (!theirs) co_return theirs.error();
  proposal->obstacles.insert(proposal->obstacles.end(), theirs->begin(), theirs->end());
  co_return proposal;
}

Async<Result<std::string>> Movers::begin(MoveOrder order) {
  if (const std::string why = why_unread(); !why.empty()) co_return bad_input(why);
  if (is_stopping_) co_return bad_input("flowcond is being stopped");
  const Result<Neighbour> target = neighbour(order.target);
  if (!target) co_return target.error();
  Result<Proposal> proposal = co_await propose(std::move(order));
  if (!proposal) co_return proposal.error();
  if (!proposal->obstacles.empty()) {
    std::string all;
    for (const std::string& one : proposal->obstacles) all += (all.empty() ? "" : "; ") + one;
    co_return errno_error(EPERM, all);
  }
  Entry entry;
  entry.id = random_id();
  entry.container = proposal->container;
  entry.name = proposal->name;
  entry.source = network_.own_id();
  entry.target = target->id;
  entry.method = proposal->method;
  auto move = std::make_shared<Move>(host_.io(), std::move(entry), std::move(proposal->plan));
  if (move->entry.method == Method::criu) {
    move->plan.parts.push_back({"checkpoint", PartKind::checkpoint, move->checkpoint_name()});
  }
  move->started = wall_now();
  move->began = move->heard = steady_now();
  move->account.peer_name = target->name;
  move->account.steps[name(Step::reserve)] = 0;
  // Nobody else may begin one while the journal is written.
  if (is_moving(move->entry.container)) co_return errno_error(EPERM, "it is on the move already");
  moves_[move->entry.id] = move;
  move->seen = Copy::running;
  Entry first = move->entry;
  const Result<void> saved = co_await save(move, std::move(first));
  if (!saved) {
    moves_.erase(move->entry.id);
    co_return saved.error();
  }
  ctrl::log::info("move " + move->entry.id.substr(0, 8) + " of container " +
                  printable(move->entry.name, 80) + " to " + target->name + " begins (" +
                  cluster::name(move->plan.cause) + ", " + name(move->entry.method) + ")");
  for (const std::string& note : proposal->notes) {
    ctrl::log::info("move " + move->entry.id.substr(0, 8) + ": " + note);
  }
  launch(move);
  co_return move->entry.id;
}

}  // namespace flowcon::cluster::migration
