// SPDX-License-Identifier: Apache-2.0
// Who is there: containers come under control and leave it.
#include <unistd.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

// The user's quota as the engine tells it; empty = none.
std::optional<std::int64_t> quota_of(const engine::Container& c, std::uint64_t* period_us) {
  *period_us = c.cpu_period_us > 0 ? static_cast<std::uint64_t>(c.cpu_period_us) : 100000;
  if (c.nano_cpus > 0) {
    *period_us = 100000;
    return c.nano_cpus / 10000;  // of 1e9 a core to microseconds of 100 ms
  }
  if (c.cpu_quota_us > 0) return c.cpu_quota_us;
  return std::nullopt;
}

bool has_same_quota(const engine::Container& a, const engine::Container& b) {
  return a.nano_cpus == b.nano_cpus && a.cpu_quota_us == b.cpu_quota_us &&
         a.cpu_period_us == b.cpu_period_us;
}

// Weight that an engine gives for --cpu-shares: v1 as it is, v2 by the linear rule of runc.
std::uint64_t weight_of(std::uint64_t shares, bool is_v2) {
  if (!is_v2) return shares == 0 ? 1024 : std::max<std::uint64_t>(shares, 2);
  return shares == 0 ? 100 : 1 + (std::clamp<std::uint64_t>(shares, 2, 262144) - 2) * 9999 / 262142;
}

// Why a container whose labels for us are not its own is not under control; "" = nobody would
// expect it to be.
std::string why_not_its_own(const engine::Container& container, const Settings& own) {
  if (own.enabled || own.is_mistaken || container.labels.contains("flowcon.enable")) return "";
  if (!parse_labels(container.image_labels).enabled) return "";
  if (!container.label_problem.empty()) {
    return "its labels count once it is known which of them come from its image: " +
           container.label_problem + "; docker flowcon adopt controls it at once";
  }
  return "not under control: its flowcon labels come from its image (image-labels = off); docker "
         "flowcon adopt controls it";
}

}  // namespace

void Daemon::take_changes(Moment now) {
  for (Change& change : containers_->take()) {
    const std::string id = change.container.id;
    switch (change.kind) {
      case Change::Kind::finished:
        if (jobs_.contains(id)) {
          finish(id, change.time > 0 ? change.time : now.wall, change.exit_status);
        }
        break;
      case Change::Kind::updated:
        follow_update(change.container);
        break;
      case Change::Kind::started: {
        if (const auto there = jobs_.find(id); there != jobs_.end()) {
          // Adopted by command before its event came, unless its labels were waited for.
          if (there->second.unsupported.empty() || there->second.container.label_problem.empty()) {
            break;
          }
          jobs_.erase(there);
        }
        // Started again before the listener saw its end: two changes, not none.
        if (planning_.is_member(id)) compare_sets(now);
        greet(change.container, now);
        break;
      }
    }
  }
  compare_sets(now);
}

void Daemon::greet(const engine::Container& container, Moment now) {
  const auto choice = choices_.find(container.id);
  if (choice != choices_.end() && choice->second.released) return;
  Settings settings = parse_labels(container.labels);
  for (const auto& [label, value] : container.image_labels) {
    if (!container.label_problem.empty()) break;  // nobody knows yet
    settings.warnings.push_back("label " + printable(label, 80) +
                                " comes from the image and does not count (image-labels = off)");
  }
  std::string refusal = why_not_its_own(container, settings);
  if (choice != choices_.end() && !choice->second.settings.empty()) {
    if (auto chosen = parse_choice(choice->second.settings)) {
      settings = *chosen;
      refusal.clear();
    }
  }
  if (settings.enabled || settings.is_mistaken || !refusal.empty()) {
    admit(container, settings, now, refusal);
  }
}

void Daemon::admit(const engine::Container& container, const Settings& settings, Moment now,
                   const std::string& refusal) {
  // What is left to read of its former life is read by this one.
  if (ending_.contains(container.id)) settle(container.id, tails_.stop(container.id, false));
  Job job;
  job.container = container;
  job.training = training_of(container);
  job.given = settings;
  job.control = control_of(container.id);
  job.settings = with_values(settings, job.control);
  job.admitted = now.wall;
  job.arrived = now.steady - std::max(0.0, now.wall - job.begun());
  if (!refusal.empty()) {
    job.unsupported = refusal;
  } else if (!settings.enabled) {
    job.unsupported = "not under control: flowcon.enable is neither true nor false";
  } else if (const Result<LogChoice> log = choose_log(container, settings); !log) {
    job.unsupported = log.error().message();
  } else {
    job.log = *log;
    Result<cgroups::Group> group = world_.find_group(container.pid, container.id);
    if (group && !limits_.is_mechanism_known()) limits_.find_mechanism(*group);
    Result<cgroups::Setting> setting =
        group ? cgroups::read_setting(*world_.fs, *group, limits_.mechanism())
              : Result<cgroups::Setting>(group.error());
    if (setting) {
      job.group = *group;
      job.life = world_.fs->life("cpu", group->cpu);
      job.original = job.present = *setting;
    } else if (is_gone(setting.error())) {
      return;  // it ended between the engine's answer and this look
    } else if (!group) {
      job.unsupported = group.error().message() + ": no limit of it is touched";
    } else {
      job.unsupported = "its CPU limits cannot be read: " + setting.error().message();
    }
  }
  if (job.unsupported.empty() && settings.spec_is_usable) {
    Result<metrics::Extractor> made =
        metrics::Extractor::create(settings.spec, metrics::kKeptSamples);
    if (made) {
      job.extractor.emplace(std::move(*made));
    } else {
      job.settings.warnings.push_back(made.error().message());
    }
  }
  const std::string id = container.id;
  take_up_past(job);
  takeover_.claim(job);
  if (container.is_frozen) freeze(job, now);
  if (job.unsupported.empty() && !is_aside(job, is_all_paused_)) {
    // In order of arrival: the engine may have told of an older one later.
    auto at = active_.end();
    while (at != active_.begin() && container.started > 0 &&
           jobs_.at(*(at - 1)).container.started > container.started) {
      --at;
    }
    active_.insert(at, id);
  }
  log::event(log::Event::container_found,
             "container " + printable(container.name, 80) + " (" + id.substr(0, 12) + ") " +
                 (job.unsupported.empty() ? "comes under control" : job.unsupported),
             id);
  for (const std::string& warning : job.settings.warnings) {
    log::warning("container " + printable(container.name, 80) + ": " + warning);
  }
  const auto placed = jobs_.insert_or_assign(id, std::move(job)).first;
  if (placed->second.extractor) start_tail(placed->second);
}

void Daemon::start_tail(Job& job) {
  const std::string path = past_log_path(job.id());
  // What it printed on earlier hosts, where its log could not be given to the engine here.
  if (!job.log.is_inside && ::access(path.c_str(), R_OK) == 0) {
    job.is_reading_past = true;
    spawn(io_, "past log", read_past_log(job.id(), path));
  } else {
    follow_log(job);
  }
}

void Daemon::follow_log(Job& job) {
  const std::string id = job.id();
  const auto stored = positions_.find(id);
  std::string from;
  if (stored != positions_.end() && stored->second.log == job.log.name) {
    job.recorded_position = stored->second;
    from = stored->second.position;
  }
  job.read_until = from;
  job.has_position = !from.empty();
  auto sink = [this, id](const logs::Line& line) { feed(id, line); };
  Result<void> started;
  if (job.log.is_journal) {
    started = tails_.start_journal(id, from, sink);
  } else if (const auto source = open_log(job.log, job.container); source) {
    started = tails_.start(id, *source, from, sink);
  } else {
    started = source.error();
  }
  if (!started) {
    job.log_problem = started.error().message();
    log::event(log::Event::container_unread,
               "container " + printable(job.container.name, 80) + ": " + job.log_problem, id);
  }
}

void Daemon::feed(const std::string& id, const logs::Line& line) {
  // Looked up by id for each line: the job may be gone when a last line comes.
  const auto found = jobs_.find(id);
  const auto ending = ending_.find(id);
  if (found == jobs_.end() && ending == ending_.end()) return;
  Job& job = found != jobs_.end() ? found->second : ending->second.job;
  if (!job.extractor) return;
  if (job.is_catching_up && !line.is_known) end_catching_up(job);
  job.is_catching_up = line.is_known;
  // A file of the job's own may say any time; no value is from the future.
  const double now = moment().wall;
  job.extractor->feed(line.text, line.time > 0 && line.time <= now ? line.time : now);
}

void Daemon::finish(const std::string& id, double time, const std::optional<int>& status) {
  std::erase(active_, id);
  const auto found = jobs_.find(id);
  const Job& job = found->second;
  if (job.is_limited) limits_.undo(original_of(job));
  log::event(log::Event::container_ended,
             "container " + printable(job.container.name, 80) + " has finished", id);
  const bool is_half_read = tails_.stats(id).is_catching_up;
  ending_.insert_or_assign(id, Ending{std::move(found->second), time, status, is_half_read});
  // The policy keeps its id until the sets are compared.
  planning_.forget(id);
  jobs_.erase(found);
  is_compare_due_ = true;
  auto read = [this, id](const std::string& until) { settle(id, until); };
  if (!tails_.drain(id, std::move(read))) settle(id, tails_.stop(id, true));
}

/// The log of an ended job has been read as far as it can be.
void Daemon::settle(const std::string& id, const std::string& read_until) {
  const auto found = ending_.find(id);
  if (found == ending_.end()) return;
  Ending& ending = found->second;
  ending.job.read_until = read_until;
  record_end(ending.job, ending.time);
  remember_end(ending.job, moment(), ending.time, ending.status, ending.is_half_read);
  ending_.erase(found);
}

void Daemon::compare_sets(Moment now) {
  is_compare_due_ = false;
  join_claimed(now);
  policy::Rounds rounds;
  if (planning_.follow(active_, rounds)) is_run_due_ = true;
  recorder_.add(now.wall, rounds);
}

// docker pause and unpause: what is frozen has no rank and uses nothing, and others have what it
// had.
Async<void> Daemon::follow_freezing(Moment now) {
  std::vector<std::string> changed;
  for (auto& [id, job] : jobs_) {
    if (!job.unsupported.empty() || job.frozen.has_value() == job.container.is_frozen) continue;
    if (job.container.is_frozen) {
      freeze(job, now);
    } else {
      thaw(job, now);
    }
    log::info("container " + printable(job.container.name, 80) +
              (job.frozen ? " is frozen (docker pause)" : " goes on (docker unpause)"));
    changed.push_back(id);
  }
  for (const std::string& id : changed) {
    Result<void> followed = co_await follow_pause(id);
    if (!followed) log::warning(followed.error().message());
  }
  if (!changed.empty()) compare_sets(now);
}

void Daemon::follow_update(const engine::Container& container) {
  const auto found = jobs_.find(container.id);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  const engine::Container before = std::exchange(job.container, container);
  if (!job.unsupported.empty()) return;
  // What a person gives by `docker update` is a new ceiling, not drift. The engine has written all
  // of its settings again, so what was written here before is gone.
  Result<cgroups::Setting> there =
      cgroups::read_setting(*world_.fs, job.group, limits_.mechanism());
  if (!there) return;
  const cgroups::Setting written = std::exchange(job.present, *there);
  cgroups::Setting original = job.original;
  if (!has_same_quota(before, container)) {
    original.cpu.quota_us = quota_of(container, &original.cpu.period_us);
  }
  if (before.cpu_shares != container.cpu_shares) {
    const bool is_v2 = world_.fs->is_v2("cpu");
    original.cpu.weight = weight_of(container.cpu_shares, is_v2);
    // On v2 the engine's rule differs by version; what it wrote says it exactly.
    if (is_v2 && there->cpu.weight != written.cpu.weight) original.cpu.weight = there->cpu.weight;
  }
  // What is not as it was written here is what the engine wrote.
  if (there->memory != written.memory) original.memory = there->memory;
  if (!cgroups::limits_alike(there->io, written.io)) original.io = there->io;
  if (original == job.original) return;
  job.original = original;
  job.is_original_saved = false;
  log::info("container " + printable(container.name, 80) + ": docker update gave new limits");
}

}  // namespace flowcon::ctrl
