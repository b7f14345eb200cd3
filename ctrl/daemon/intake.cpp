// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/intake.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ctrl/daemon/originals.h"
#include "ctrl/daemon/profile.h"
#include "ctrl/daemon/snapshot.h"
#include "ctrl/log.h"
#include "ctrl/profile_rows.h"

namespace flowcon::ctrl {
namespace {

// Between the engine's answer and the look at its group.
constexpr const char* kEnded = "it has ended";
constexpr double kRestoreEvery = 15;  // seconds

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
    return "cannot tell which labels come from its image: " + container.label_problem +
           "; docker flowcon adopt controls it now";
  }
  return "not under control: its flowcon labels come from its image (image-labels = off); docker "
         "flowcon adopt controls it";
}

// Labels for us that are not its own.
void warn_of_image_labels(const engine::Container& container, std::vector<std::string>& warnings) {
  if (!container.label_problem.empty()) return;  // nobody knows yet
  std::size_t count = 0;
  for (const auto& [label, value] : container.image_labels) {
    if (++count > kMostLabelWarnings) continue;
    warnings.push_back("label " + printable(label, 80) +
                       " is ignored: it comes from the image (image-labels = off)");
  }
  if (count <= kMostLabelWarnings) return;
  warnings.push_back("and " + std::to_string(count - kMostLabelWarnings) +
                     " more labels of the image are ignored");
}

}  // namespace

void Intake::take(std::vector<Change> changes, Moment now) {
  for (const Change& change : changes) {
    switch (change.kind) {
      case Change::Kind::finished:
        finish(change.container.id, change.time > 0 ? change.time : now.wall, change.exit_status);
        break;
      case Change::Kind::updated:
        follow_update(change.container);
        break;
      case Change::Kind::started:
        start(change.container, now);
        break;
    }
  }
  compare_sets(now);
}

void Intake::start(const engine::Container& container, Moment now) {
  const std::string& id = container.id;
  if (const auto there = at_.roster.jobs.find(id); there != at_.roster.jobs.end()) {
    const Job& job = there->second;
    // Adopted by command before its event came, unless its labels were waited for.
    if (job.unsupported.empty() || job.container.label_problem.empty()) return;
    at_.roster.jobs.erase(there);
  }
  // Started again before the listener saw its end: two changes, not none.
  if (at_.planning.is_member(id)) compare_sets(now);
  greet(container, now);
}

void Intake::greet(const engine::Container& container, Moment now) {
  if (at_.controls.is_released(container.id)) return;
  Settings settings = parse_labels(container.labels);
  warn_of_image_labels(container, settings.warnings);
  std::string refusal = why_not_its_own(container, settings);
  if (const std::string adopted = at_.controls.adopted_with(container.id); !adopted.empty()) {
    if (auto chosen = parse_choice(adopted)) {
      settings = *chosen;
      refusal.clear();
    }
  }
  if (settings.enabled || settings.is_mistaken || !refusal.empty()) {
    admit(container, settings, now, refusal);
  }
}

// Its control group, and what it has before any limit of ours.
void Intake::find_group(Job& job) {
  Result<cgroups::Group> group = at_.world.find_group(job.container.pid, job.id());
  if (!group) {
    const bool has_ended = is_gone(group.error());
    job.unsupported =
        has_ended ? kEnded : group.error().message() + "; flowcond leaves its limits alone";
    return;
  }
  if (!at_.limits.is_mechanism_known()) at_.limits.find_mechanism(*group);
  Result<cgroups::Setting> setting =
      cgroups::read_setting(*at_.world.fs, *group, at_.limits.mechanism());
  if (!setting) {
    job.unsupported =
        is_gone(setting.error()) ? kEnded : "cannot read its limits: " + setting.error().message();
    return;
  }
  job.group = *group;
  job.life = at_.world.fs->life("cpu", group->cpu);
  job.original = job.present = *setting;
}

void Intake::admit(const engine::Container& container, const Settings& settings, Moment now,
                   const std::string& refusal) {
  const std::string id = container.id;
  // What is left to read of its former life is read by this one.
  if (at_.roster.ending.contains(id)) settle(id, at_.logs.tails().stop(id, false));
  Job job;
  job.container = container;
  job.training = training_of(container);
  job.given = settings;
  if (at_.extension && !job.given.floor) {
    const std::optional<double> cores = at_.extension->promised_cores(id);
    if (cores) job.given.floor = std::min(1.0, *cores / at_.host.cores);
  }
  job.control = at_.controls.of(id);
  job.settings = with_values(job.given, job.control);
  job.admitted = now.wall;
  job.arrived = now.steady - std::max(0.0, now.wall - job.begun());
  if (!refusal.empty()) {
    job.unsupported = refusal;
  } else if (!settings.enabled) {
    job.unsupported = "not under control: flowcon.enable must be true or false";
  } else if (const Result<LogChoice> log = choose_log(container, settings); !log) {
    job.unsupported = log.error().message();
  } else {
    job.log = *log;
    find_group(job);
    if (job.unsupported == kEnded) return;
  }
  if (job.unsupported.empty() && settings.spec_is_usable) {
    metrics::Spec spec = settings.spec;
    spec.told = metrics::told_totals(container.command, container.environment);
    Result<metrics::Extractor> made = metrics::Extractor::create(spec, metrics::kKeptSamples);
    if (made) {
      job.extractor.emplace(std::move(*made));
    } else {
      job.settings.warnings.push_back(made.error().message());
    }
  }
  at_.carry_over.take_up(job);
  at_.takeover.claim(job);
  if (container.is_frozen) freeze(job, now);
  if (job.unsupported.empty() && !is_aside(job, at_.controls.is_all_paused())) line_up(job);
  const std::string who = "container " + printable(container.name, 80);
  log::event(log::MessageId::container_found,
             who + " (" + id.substr(0, 12) + ") " +
                 (job.unsupported.empty() ? "comes under control" : job.unsupported),
             id);
  for (const std::string& warning : job.settings.warnings) log::warning(who + ": " + warning);
  const auto placed = at_.roster.jobs.insert_or_assign(id, std::move(job)).first;
  if (placed->second.extractor) at_.logs.start(placed->second);
}

// In order of arrival: the engine may have told of an older one later.
void Intake::line_up(const Job& job) {
  std::vector<std::string>& active = at_.roster.active;
  auto at = active.end();
  while (at != active.begin() && job.container.started > 0 &&
         at_.roster.jobs.at(*(at - 1)).container.started > job.container.started) {
    --at;
  }
  active.insert(at, job.id());
}

void Intake::finish(const std::string& id, double time, std::optional<int> status) {
  const auto found = at_.roster.jobs.find(id);
  if (found == at_.roster.jobs.end()) return;
  // The engine writes labels over what an event says.
  if (found->second.container.labels.contains("exitCode")) status.reset();
  std::erase(at_.roster.active, id);
  Job& job = found->second;
  if (job.is_limited) at_.limits.undo(original_to_restore(job, *at_.world.fs, at_.limits));
  at_.limits.forget(id);
  log::event(log::MessageId::container_ended,
             "container " + printable(job.container.name, 80) + " has ended", id);
  const bool is_half_read = at_.logs.tails().stats(id).is_catching_up;
  at_.roster.ending.insert_or_assign(id,
                                     Ending{std::move(found->second), time, status, is_half_read});
  // The policy keeps its id until the sets are compared.
  at_.planning.forget(id);
  at_.roster.jobs.erase(found);
  at_.schedule.is_compare_due = true;
  auto read = [this, id](const std::string& until) { settle(id, until); };
  if (!at_.logs.tails().drain(id, std::move(read))) settle(id, at_.logs.tails().stop(id, true));
}

// The log of an ended job has been read as far as it can be.
void Intake::settle(const std::string& id, const std::string& read_until) {
  const auto found = at_.roster.ending.find(id);
  if (found == at_.roster.ending.end()) return;
  Ending& ending = found->second;
  ending.job.read_until = read_until;
  record_end(ending.job, ending.time, ending.status);
  remember_end(ending, at_.world.clock());
  keep_profile(ending);
  at_.roster.ending.erase(found);
}

void Intake::settle_all() {
  while (!at_.roster.ending.empty()) {
    const std::string id = at_.roster.ending.begin()->first;
    settle(id, at_.logs.tails().stop(id, false));
  }
}

void Intake::record_end(Job& job, double time, const std::optional<int>& status) {
  if (!job.unsupported.empty()) return;
  store::Look look = look_of(job);
  look.run.finished = time;
  look.run.status = status;
  // Of one that runs on several hosts each sees a part, which says nothing of the whole.
  look.run.has_moved = job.container.labels.contains(kMovedLabel) ||
                       (at_.extension && at_.extension->is_moving(job.id()));
  // The container may come back, and its log goes on.
  at_.logs.set_position(job.id(), job.recorded_position);
  at_.recorder.add(std::move(look));
}

// What it needed, and how far it came, says nothing of a whole run.
bool Intake::is_cut_short(const std::string& id) const {
  return at_.extension && at_.extension->is_cut_short(id);
}

// Whatever the policy: what is remembered serves when another one asks for it.
void Intake::remember_end(Ending& ending, Moment now) {
  Job& job = ending.job;
  follow_track(job, now, false, ending.is_half_read);  // what it printed last
  if (job.past) at_.carry_over.drop(job.id());
  if (!job.has_track) return;
  // One that goes on elsewhere has not ended.
  if (at_.extension && at_.extension->is_saving(job.id())) {
    return at_.carry_over.keep(
        job, [this](const std::string& id) { return at_.extension->is_moving(id); });
  }
  const bool is_complete = ending.status == 0 && job.saw_all && !is_cut_short(job.id());
  at_.planning.end(job, now.steady, is_complete);
  if (!is_complete) return;
  const std::optional<growth::Remembered> run = growth::remembered_run(job.track, job.goal);
  if (!run) return;
  const store::Training training{job.training, ending.time, run->total, run->share90};
  const bool is_queued = at_.effects.try_post([&store = *at_.world.store, training] {
    if (Result<void> saved = store.save_training(training); !saved) {
      log::warning(saved.error().message());
    }
  });
  if (!is_queued) log::debug("too many blocking calls wait; a training is not remembered");
}

void Intake::keep_profile(const Ending& ending) {
  // One that goes on elsewhere has not ended.
  const std::string& id = ending.job.id();
  if (is_cut_short(id) || (at_.extension && at_.extension->is_saving(id))) return;
  std::optional<EndedRun> run = ended_run(ending, at_.host, at_.meter.gpu_model());
  if (!run) return;
  auto keep = [&store = *at_.world.store, run = std::move(*run)]() -> Result<void> {
    store::SeenBefore before;
    if (!run.is_seen_whole) {
      Result<store::SeenBefore> seen = store.seen_before(run.id, run.started, run.admitted);
      if (!seen) return seen.error();
      before = *seen;
    }
    const std::optional<estimate::EndedProfile> profile = profile_of(run, before);
    return profile ? store.save_profile(row_of(*profile)) : Result<void>();
  };
  const bool is_queued = at_.effects.try_post([keep = std::move(keep)] {
    if (Result<void> kept = keep(); !kept) log::warning(kept.error().message());
  });
  if (!is_queued) log::debug("too many blocking calls wait; a profile is not kept");
}

void Intake::compare_sets(Moment now) {
  at_.schedule.is_compare_due = false;
  join_claimed(now);
  policy::Rounds rounds;
  if (at_.planning.follow(at_.roster.active, rounds)) at_.schedule.is_run_due = true;
  at_.recorder.add(now.wall, rounds);
}

void Intake::join_claimed(Moment now) {
  for (const std::string& id : at_.roster.active) {
    if (!at_.takeover.joins(id) || at_.planning.is_member(id)) continue;
    if (at_.planning.members().empty()) {
      at_.planning.resume_interval(at_.takeover.interval());
      at_.schedule.next_run = now.steady + at_.planning.interval();
    }
    at_.planning.resume(at_.roster.jobs.at(id));
  }
}

Async<void> Intake::follow_freezing(Moment now) {
  std::vector<std::string> changed;
  for (auto& [id, job] : at_.roster.jobs) {
    if (!job.unsupported.empty() || job.frozen.has_value() == job.container.is_frozen) continue;
    if (job.container.is_frozen) {
      freeze(job, now);
    } else {
      thaw(job, now);
    }
    log::info("container " + printable(job.container.name, 80) +
              (job.frozen ? " is frozen (docker pause)" : " continues (docker unpause)"));
    changed.push_back(id);
  }
  for (const std::string& id : changed) {
    Result<void> followed = co_await follow_pause(id);
    if (!followed) log::warning(followed.error().message());
  }
  if (!changed.empty()) compare_sets(now);
}

Async<Result<void>> Intake::follow_pause(std::string id) {
  std::vector<std::string>& active = at_.roster.active;
  const bool is_active = std::find(active.begin(), active.end(), id) != active.end();
  Job& job = at_.roster.jobs.at(id);
  const bool stays_out = is_aside(job, at_.controls.is_all_paused());
  if (is_active == stays_out) at_.schedule.is_compare_due = true;
  if (!stays_out) {
    if (is_active) co_return Result<void>();
    static_cast<PerResource<Place>&>(job) = PerResource<Place>();
    job.problem.clear();
    active.push_back(id);
    co_return Result<void>();
  }
  std::erase(active, id);
  if (!job.is_limited) co_return Result<void>();
  // At a later try present is what the one before has left.
  if (is_active || !job.put_away) job.put_away = job.present;
  store::Original original = original_to_restore(job, *at_.world.fs, at_.limits);
  Result<void> restored = co_await at_.limits.restore(std::move(original));
  const auto found = at_.roster.jobs.find(id);
  if (found == at_.roster.jobs.end()) co_return Result<void>();
  Job& aside = found->second;
  if (!restored) {
    aside.problem = restored.error().message();
    read_back(aside);
    co_return restored;
  }
  aside.problem.clear();
  aside.present = aside.original;
  aside.is_limited = aside.is_original_saved = false;
  co_return Result<void>();
}

// A part of what could not be restored may be back.
void Intake::read_back(Job& job) {
  const auto there = cgroups::read_setting(*at_.world.fs, job.group, at_.limits.mechanism());
  if (there) job.present = *there;
}

Async<void> Intake::restore_again(Moment now) {
  if (now.steady < next_restore_) co_return;
  next_restore_ = now.steady + kRestoreEvery;
  std::vector<std::string> left;
  for (const auto& [id, job] : at_.roster.jobs) {
    if (job.is_limited && is_aside(job, at_.controls.is_all_paused())) left.push_back(id);
  }
  for (const std::string& id : left) {
    const auto found = at_.roster.jobs.find(id);
    if (found == at_.roster.jobs.end()) continue;
    const std::string known = found->second.problem;
    Result<void> restored = co_await follow_pause(id);
    if (!restored && restored.error().message() != known) log::warning(restored.error().message());
  }
}

Async<Result<void>> Intake::release(std::string id) {
  if (at_.roster.jobs.at(id).is_limited) {
    store::Original original =
        original_to_restore(at_.roster.jobs.at(id), *at_.world.fs, at_.limits);
    Result<void> restored = co_await at_.limits.restore(std::move(original));
    if (!restored) {
      read_back(at_.roster.jobs.at(id));
      co_return restored;
    }
  }
  store::Choice choice;
  choice.id = id;
  choice.released = true;
  Result<void> saved = co_await at_.controls.save(choice);
  if (!saved) {
    log::warning(saved.error().message() + "; a restart will control it again");
    at_.controls.keep(choice);
  }
  Job& job = at_.roster.jobs.at(id);
  job.read_until = at_.logs.tails().stop(id, false);
  record_end(job, at_.world.clock().wall);
  std::erase(at_.roster.active, id);
  at_.planning.forget(id);
  at_.roster.jobs.erase(id);
  at_.schedule.is_compare_due = true;
  co_return Result<void>();
}

void Intake::follow_update(const engine::Container& container) {
  const auto found = at_.roster.jobs.find(container.id);
  if (found == at_.roster.jobs.end()) return;
  Job& job = found->second;
  const engine::Container before = std::exchange(job.container, container);
  if (!job.unsupported.empty()) return;
  const auto forget_limits = [&job, &before] {
    job.container.cpu_shares = before.cpu_shares;
    job.container.cpu_quota_us = before.cpu_quota_us;
    job.container.cpu_period_us = before.cpu_period_us;
    job.container.nano_cpus = before.nano_cpus;
  };
  // What a person gives by `docker update` is a new ceiling, not drift. The engine has written all
  // of its settings again, so what was written here before is gone.
  Result<cgroups::Setting> there =
      cgroups::read_setting(*at_.world.fs, job.group, at_.limits.mechanism());
  if (!there) return forget_limits();  // seen with the next update
  const cgroups::Setting written = job.present;
  cgroups::Setting original = job.original;
  if (!has_same_quota(before, container)) {
    original.cpu.quota_us = quota_of(container, &original.cpu.period_us);
  }
  if (before.cpu_shares != container.cpu_shares) {
    const bool is_v2 = at_.world.fs->is_v2("cpu");
    original.cpu.weight = weight_of(container.cpu_shares, is_v2);
    // On v2 the engine's rule differs by version; what it wrote says it exactly.
    if (is_v2 && there->cpu.weight != written.cpu.weight) original.cpu.weight = there->cpu.weight;
  }
  if (job.is_limited) {
    // What is not as it was written here is what the engine wrote; of the CPU it has said what.
    const cgroups::Setting said = cgroups::with_cpu(*there, original.cpu);
    original = cgroups::take_others(original, said, written);
  }
  const bool is_new = original != job.original;
  job.original = original;
  if (is_new) job.is_original_saved = false;
  // docker pause and unpause come here, too, and others may have written meanwhile.
  (void)take_originals(job, *there, at_.limits);
  job.present = *there;
  if (!is_new) return;
  log::info("container " + printable(container.name, 80) + ": docker update set new limits");
}

}  // namespace flowcon::ctrl
