// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/proposal.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <csignal>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/plan/left_behind.h"
#include "cluster/migration/plan/names.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/migration/run/deaf.h"
#include "cluster/migration/run/targets.h"

namespace flowcon::cluster::migration {
namespace {

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

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Data, and what a task of a group has written that is not the group's, never go home.
bool stays_here(const Proposal& made, const json::object& body, const std::string& volume) {
  if (made.method != Method::home) return false;
  return is_data_volume(volume) || (is_task_volume(volume) && is_follower(body));
}

// What an application saves: in a volume, or where its label says.
void add_saved_path(Proposal& made) {
  Plan& plan = made.plan;
  if (lies_in_tmpfs(plan.body, plan.checkpoint.path)) {
    made.obstacles.emplace_back(
        "its flowcon.checkpoint.path is in a tmpfs, which is gone when the job ends: save to a "
        "volume");
  } else if (!plan.checkpoint.path.empty() && !lies_in_mount(plan.body, plan.checkpoint.path)) {
    plan.parts.push_back({"path", PartKind::path, plan.checkpoint.path});
  } else if (plan.parts.empty() && plan.checkpoint.path.empty()) {
    made.obstacles.emplace_back(
        "none of its learnt state would migrate: it has no volume, and no label "
        "flowcon.checkpoint.path");
  }
}

// Does the job hear what it is asked to save by?
void judge_signal(Proposal& made, const Seen& seen) {
  const ctrl::Checkpoint& how = made.plan.checkpoint;
  if (made.method != Method::app || !how.command.empty() || seen.copy != Copy::running) return;
  const int signal = how.signal > 0 ? how.signal : SIGTERM;
  if (std::string deaf = why_deaf(seen.pid, signal); !deaf.empty()) {
    made.obstacles.push_back(std::move(deaf));
  }
}

}  // namespace

Async<Result<Seen>> Proposer::look(std::string container) {
  Result<Seen> seen = co_await world_.engine.look(std::move(container));
  if (!seen) co_return seen.error();
  const bool all_count = world_.host.config().image_labels;
  Seen whole = std::move(*seen);
  co_return co_await world_.engine.with_own_labels(all_count, std::move(whole));
}

ctrl::Settings Proposer::judge_container(Proposal& made, const Seen& seen,
                                         const MoveOrder& order) const {
  std::vector<std::string>& against = made.obstacles;
  const std::optional<ctrl::Settings> known = world_.host.settings_of(seen.id);
  ctrl::Settings settings = known ? *known : ctrl::parse_labels(seen.labels);
  if (settings.migrate == ctrl::Migrate::no)
    against.emplace_back("its label flowcon.migrate says no");
  // Its owner would take it for removed.
  if (settings.is_queued) {
    against.emplace_back(
        "it is a job of the queue, which says where it runs: docker flowcon queue park or cancel");
  }
  made.method =
      order.method.value_or(settings.migrate == ctrl::Migrate::criu ? Method::criu : Method::app);
  if (seen.copy != Copy::running) {
    against.emplace_back("it does not run");
  } else if (seen.is_paused) {
    against.emplace_back("it is paused: docker unpause");
  }
  if (open_.is_moving(seen.id)) against.emplace_back(kUnderWay);
  return settings;
}

// Volumes and image. Do all volumes travel?
Async<Result<bool>> Proposer::add_volumes(Draft made, Description described) {
  const Result<void> added = co_await add_mapping(made);
  if (!added) co_return added.error();
  Description copy = described;
  Result<Volumes> volumes = co_await world_.engine.look_at_volumes(std::move(copy));
  if (!volumes) co_return volumes.error();
  append(made->obstacles, volumes->obstacles);
  made->plan.volumes = std::move(volumes->planned);
  for (const TravellingVolume& volume : described.volumes) {
    if (volume.is_data) made->data.insert(volume.name);
  }
  Result<ImageInfo> info = co_await world_.goods.image_info(described.image);
  if (info) {
    made->plan.image = std::move(*info);
  } else {
    made->obstacles.push_back("its image: " + info.error().message());
  }
  std::size_t number = 0;
  for (const TravellingVolume& volume : described.volumes) {
    if (stays_here(*made, described.body, volume.name)) continue;
    if (is_data_volume(volume.name) && made->method != Method::birth) {
      made->obstacles.push_back(
          "it reads data of the host that its job belongs to, which stays here");
    }
    made->plan.parts.push_back(
        {"volume-" + std::to_string(number++), PartKind::volume, volume.destination});
  }
  co_return volumes->obstacles.empty();
}

Async<Result<void>> Proposer::add_checkpoint(Draft made) {
  if (made->method != Method::criu) {
    add_saved_path(*made);
    co_return Result<void>();
  }
  append(made->obstacles, criu_obstacles(made->plan.body));
  made->plan.parts.push_back({"layer", PartKind::layer, ""});
  Result<std::string> why = co_await world_.engine.why_no_criu();
  if (!why) co_return why.error();
  if (!why->empty()) made->obstacles.push_back("CRIU: " + *why);
  co_return Result<void>();
}

// A task that is abroad already comes home as it is.
Async<Result<void>> Proposer::add_mapping(Draft made) {
  if (made->method == Method::home) co_return Result<void>();
  const Result<About> about = co_await world_.engine.about();
  if (!about) co_return about.error();
  made->plan.user_mapping = about->user_mapping;
  co_return Result<void>();
}

// What the ticket or the task has written over its image, where its engine keeps that in a folder.
// Whether that is anything is not asked: docker diff reads the whole image, which takes seconds.
Async<Result<void>> Proposer::add_layer(Draft made) {
  const Result<CopyPlace> place =
      co_await world_.goods.find_place(made->container, world_.host.config().state_dir);
  if (!place) co_return place.error();
  if (!place->upper.empty()) made->plan.parts.push_back({"layer", PartKind::layer, ""});
  co_return Result<void>();
}

Async<Result<Proposal>> Proposer::propose_task(MoveOrder order) {
  const Result<Seen> seen = co_await look(order.container);
  if (!seen) co_return seen.error();
  // A job that has saved itself finds its checkpoint by its file, as it does at home.
  Result<Description> described = describe(seen->inspect, false);
  if (!described) co_return described.error();
  const bool is_birth = *order.method == Method::birth;
  auto made = std::make_shared<Proposal>();
  made->container = seen->id;
  made->name = seen->name;
  made->life = seen->started;
  made->method = *order.method;
  mark_data(*described);
  if (is_birth && !group_of(described->body).empty()) made->own_volumes = order.id;
  if (is_birth) made->obstacles = described->obstacles;
  Description copy = *described;
  const Result<bool> do_all_travel = co_await add_volumes(made, std::move(copy));
  if (!do_all_travel) co_return do_all_travel.error();
  if (seen->copy == Copy::running) made->obstacles.emplace_back("it runs");
  if (open_.is_moving(seen->id)) made->obstacles.emplace_back(kUnderWay);
  Plan& plan = made->plan;
  plan.body = std::move(described->body);
  plan.image_name = described->image_name;
  plan.cause = order.cause;
  plan.is_birth = is_birth;
  plan.request = order.request;
  plan.is_early = order.is_early;
  plan.is_first = order.is_first;
  plan.birth = order.birth;
  const Result<void> added = co_await add_layer(made);
  if (!added) co_return added.error();
  if (has_log(plan.body)) plan.parts.push_back({"log", PartKind::log, ""});
  const Result<void> measured = co_await measure(made, *do_all_travel);
  if (!measured) co_return measured.error();
  co_return std::move(*made);
}

Async<Result<Proposal>> Proposer::propose(MoveOrder order) {
  if (order.method == Method::birth || order.method == Method::home) {
    co_return co_await propose_task(std::move(order));
  }
  const Result<Seen> seen = co_await look(order.container);
  if (!seen) co_return seen.error();
  Result<Description> described = describe(seen->inspect);
  if (!described) co_return described.error();
  auto made = std::make_shared<Proposal>();
  made->container = seen->id;
  made->name = seen->name;
  made->obstacles = described->obstacles;
  made->notes = described->notes;
  const ctrl::Settings settings = judge_container(*made, *seen, order);
  Description copy = *described;
  const Result<bool> do_all_travel = co_await add_volumes(made, std::move(copy));
  if (!do_all_travel) co_return do_all_travel.error();
  Plan& plan = made->plan;
  plan.body = std::move(described->body);
  plan.restart_policy = std::move(described->restart_policy);
  plan.image_name = described->image_name;
  plan.cause = order.cause;
  plan.checkpoint = settings.checkpoint;
  plan.confirm = std::max(1.0, settings.checkpoint.confirm);
  plan.awaits_value = world_.host.last_value_at(seen->id).has_value();
  made->notes.push_back("the container here is kept until its copy has printed " +
                        std::string(plan.awaits_value ? "a value" : "a line") +
                        ", or has run for " + render_number(plan.confirm) +
                        " s (flowcon.checkpoint.confirm)");
  const Result<void> added = co_await add_checkpoint(made);
  if (!added) co_return added.error();
  judge_signal(*made, *seen);
  // CRIU's copy goes on in the line that it was in.
  const std::string line = made->method == Method::criu ? "open" : "";
  if (has_log(plan.body)) plan.parts.push_back({"log", PartKind::log, line});
  const Result<void> measured = co_await measure(made, *do_all_travel);
  if (!measured) co_return measured.error();
  co_return std::move(*made);
}

// How much there is to travel. A volume that does not travel may be a mount that does not answer.
Async<Result<void>> Proposer::measure(Draft made, bool may_look) {
  Result<CopyPlace> place =
      co_await world_.goods.find_place(made->container, world_.host.config().state_dir);
  if (!place) co_return place.error();
  if (made->method == Method::home) {
    std::erase_if(place->volumes,
                  [&](const auto& one) { return stays_here(*made, made->plan.body, one.name); });
  }
  std::vector<std::string> folders;
  for (const VolumePlace& volume : place->volumes) folders.push_back(volume.folder);
  const std::size_t volume_count = folders.size();
  if (!place->upper.empty()) folders.push_back(place->upper);
  if (made->method == Method::criu && place->upper.empty()) {
    made->obstacles.emplace_back("CRIU: its engine does not store it by overlay2");
  }
  if (!may_look) co_return Result<void>();
  const std::uint64_t most = PartLimits().entries;
  const Result<std::vector<Tree>> trees = co_await world_.files.measure(std::move(folders), most);
  if (!trees) {
    made->obstacles.push_back("its volumes cannot be measured: " + trees.error().message());
    co_return Result<void>();
  }
  made->plan.bytes = 0;
  for (const Tree& tree : *trees) made->plan.bytes += tree.bytes;
  for (std::size_t i = 0; i < volume_count; ++i) {
    if (trees->at(i).entries < most) continue;
    made->obstacles.push_back("the volume '" + printable(place->volumes[i].name, 80) +
                              "' has more files than may travel, " + std::to_string(most) +
                              ": pack them into one");
  }
  if (made->method == Method::birth) name_data(*made, *place, *trees);
  if (!made->own_volumes.empty()) name_own_volumes(*made);
  if (made->method != Method::app) co_return Result<void>();
  co_return co_await look_at_layer(made, std::move(place->upper));
}

// Tasks of a group that share a volume at home have one each elsewhere.
void Proposer::name_own_volumes(Proposal& made) const {
  for (PlannedVolume& volume : made.plan.volumes) {
    if (is_data_volume(volume.name)) continue;
    const std::string copy = task_volume(made.own_volumes, volume.name);
    rename_volume(made.plan.body, volume.name, copy);
    volume.name = copy;
  }
}

void Proposer::name_data(Proposal& made, const CopyPlace& place,
                         const std::vector<Tree>& trees) const {
  for (std::size_t i = 0; i < place.volumes.size(); ++i) {
    const std::string& name = place.volumes[i].name;
    if (!made.data.contains(name)) continue;
    const Tree& tree = trees.at(i);
    if (tree.content.empty()) {
      made.obstacles.push_back("the volume '" + printable(name, 80) +
                               "' has too many files to be shared by jobs: pack them into one");
      continue;
    }
    const std::string copy = data_volume_name(world_.network.own_id(), name, tree.content);
    rename_volume(made.plan.body, name, copy);
    for (PlannedVolume& volume : made.plan.volumes) {
      if (volume.name != name) continue;
      volume = {copy, {}, tree.bytes};
    }
  }
}

Async<Result<void>> Proposer::look_at_layer(Draft made, std::string upper) {
  Result<std::string> changes = co_await world_.engine.changes(made->container);
  if (!changes) co_return changes.error();
  json::object body = made->plan.body;
  const LeftBehind left = co_await world_.files.left_behind(
      std::move(*changes), std::move(upper), std::move(body), std::optional<timespec>());
  weigh_left_behind(*made, left);
  co_return Result<void>();
}

void weigh_left_behind(Proposal& made, const LeftBehind& left) {
  const std::string& path = made.plan.checkpoint.path;
  std::vector<std::string> files = left.files;
  std::erase_if(files, [&](const std::string& one) { return is_within(one, path); });
  if (!files.empty() && path.empty()) {
    made.obstacles.push_back(
        "it has written files that would not travel: " + some_of(files) +
        "; save to a volume, or name the file in the label flowcon.checkpoint.path");
  } else if (!files.empty()) {
    made.notes.push_back("left behind: its changes to " + some_of(files));
  }
  if (left.is_cut && path.empty()) {
    made.obstacles.emplace_back(kTooManyChanges);
  } else if (left.is_cut) {
    made.notes.emplace_back("left behind: more changed files than flowcond checks");
  }
  if (!left.passing.empty()) {
    made.notes.push_back("left behind, of temporary files: " + some_of(left.passing));
  }
}

// What the target lacks of the image. Nothing is read for it but what the engine knows.
Async<std::optional<std::uint64_t>> Proposer::weigh_missing(ImageInfo image, std::size_t there) {
  if (there == 0) co_return image.bytes > 0 ? std::optional(image.bytes) : std::nullopt;
  if (there >= image.layers.size()) co_return std::uint64_t{0};
  std::string id = image.id;
  const Result<std::string> history = co_await world_.goods.image_history(std::move(id));
  if (!history) co_return std::nullopt;
  const std::optional<std::uint64_t> bytes = bytes_from(*history, image.layers.size(), there);
  const bool is_possible = bytes && (image.bytes == 0 || *bytes <= image.bytes);
  co_return is_possible ? bytes : std::nullopt;
}

// With what the target says of it.
Async<Result<Proposal>> Proposer::ask_target(Proposal proposal, std::string target) {
  json::object body;
  body["name"] = proposal.name;
  body["plan"] = to_json(proposal.plan);
  const std::string shown = name_of_peer(world_.network, target);
  Result<Answer> answer = co_await world_.network.ask(
      std::move(target), "POST", "/v1/peer/moves/check", render_json(body), kJudgeTime);
  if (!answer) co_return answer.error();
  const Result<json::value> said = parse_json(answer->body);
  if (!said) co_return bad_input(shown + " answers with no JSON");
  std::vector<std::string>& obstacles = proposal.obstacles;
  if (answer->status != 200) {
    obstacles.push_back(shown + ": " + printable(text_of(*said, "error"), 400));
    co_return proposal;
  }
  for (const json::value& reason : list_of(*said, "reasons")) {
    if (reason.is_string())
      obstacles.push_back(shown + ": " + printable(std::string(reason.get_string()), 400));
  }
  if (!has_compared(proposal.plan, *said)) obstacles.push_back(shown + ": " + kOtherUsers);
  const std::optional<double> layers = real_of(member(*said, "layers_there"));
  const auto most = static_cast<double>(proposal.plan.image.layers.size());
  if (layers && *layers >= 0 && *layers <= most) {
    proposal.layers_there = static_cast<std::int64_t>(*layers);
    ImageInfo image = proposal.plan.image;
    proposal.missing_bytes =
        co_await weigh_missing(std::move(image), static_cast<std::size_t>(*layers));
  }
  co_return proposal;
}

Async<Result<Proposal>> Proposer::rehearse(MoveOrder order) {
  const Result<Neighbour> target = find_neighbour(world_.network, order.target);
  if (!target) co_return target.error();
  Result<Proposal> proposal = co_await propose(std::move(order));
  if (!proposal || proposal->plan.image.id.empty()) co_return proposal;
  co_return co_await ask_target(std::move(*proposal), target->id);
}

}  // namespace flowcon::cluster::migration
