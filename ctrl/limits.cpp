// SPDX-License-Identifier: Apache-2.0
#include "ctrl/limits.h"

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/seconds.h"
#include "ctrl/await.h"
#include "ctrl/effects.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;

// systemd answers nobody while it reloads, which takes seconds on a busy host.
constexpr int kPatience = 5;
// Where nobody waits for it, but other blocking calls do.
constexpr int kLittlePatience = 2;
// Seconds that a systemd which did not answer is left alone: while each limit asks it anew, all
// that blocks waits behind these calls, and so does the loop. A daemon-reload may undo what it was
// not told; that is found as drift.
constexpr double kSilence = 60;
// Less than a plan has (MemoryParameters::margin): jobs grow a little until it is written.
constexpr double kLeastMargin = 1.1;
// Seconds that a write of a memory limit has at a stop. The kernel has the new limit at once and
// then takes memory back, for minutes where disks are slow.
constexpr double kLastWait = 0.5;

// What was never limited is as others left it.
cgroups::Setting setting_to_restore(const store::Original& original,
                                    const cgroups::Setting& there) {
  return original.has_all_limits ? original.setting
                                 : cgroups::with_cpu(there, original.setting.cpu);
}

// The kernel takes memory back at once where a group has more than its soft limit, and a plan is as
// old as its readings. What a user has set is no plan.
Result<bool> is_too_low_by_now(const cgroups::CgroupFs& fs, const Target& target) {
  const std::optional<std::uint64_t>& from = target.present.memory.soft_bytes;
  const std::optional<std::uint64_t>& to = target.setting.memory.soft_bytes;
  const bool is_lower = to && (!from || *to < *from);
  if (!is_lower || target.setting.memory == target.container.setting.memory) return false;
  const Result<cgroups::MemoryUse> use = cgroups::read_memory_use(fs, target.container.group);
  if (!use) return use.error();
  return cgroups::is_below_need(target.setting.memory, use->working_set, kLeastMargin);
}

}  // namespace

// What systemd is told, and what it was not told since it did not answer. On the effects thread.
class Limits::Systemd {
 public:
  using Properties = std::vector<cgroups::UnitProperty>;

  /// False: it is told later.
  Result<bool> tell(const std::string& scope, const Properties& properties) {
    Properties all = with_untold(scope, properties);
    if (is_silent()) {
      untold_[scope] = std::move(all);
      return false;
    }
    const Result<void> told = ask(scope, std::move(all), kLittlePatience);
    if (!told) return told.error();
    return true;
  }
  /// A restored limit, at once.
  Result<void> tell_for_good(const std::string& scope, const Properties& properties) {
    Result<void> told = ask(scope, with_untold(scope, properties), patience_);
    // Many containers must not wait long each, or the daemon is killed at its stop.
    patience_ = is_timeout(told) ? 1 : kPatience;
    return told;
  }
  /// Its container has ended.
  void tell_last(const std::string& scope, const Properties& properties) {
    if (!properties.empty() && !is_silent()) (void)ask(scope, with_untold(scope, properties), 1);
    untold_.erase(scope);
  }

 private:
  [[nodiscard]] bool is_silent() const { return steady_seconds() < silent_until_; }

  // What is new holds in the place of what has its name.
  [[nodiscard]] Properties with_untold(const std::string& scope, const Properties& properties) {
    const auto found = untold_.find(scope);
    if (found == untold_.end()) return properties;
    Properties all = found->second;
    std::erase_if(all, [&properties](const cgroups::UnitProperty& old) {
      return std::any_of(properties.begin(), properties.end(),
                         [&old](const auto& one) { return one.name == old.name; });
    });
    all.insert(all.end(), properties.begin(), properties.end());
    return all;
  }

  Result<void> ask(const std::string& scope, Properties properties, int patience) {
    Result<void> told;
    for (int i = 0; i < patience; ++i) {
      told = cgroups::tell_systemd(scope, properties);
      if (!is_timeout(told)) break;
    }
    silent_until_ = is_timeout(told) ? steady_seconds() + kSilence : 0;
    if (is_timeout(told)) {
      untold_[scope] = std::move(properties);
    } else {
      untold_.erase(scope);
    }
    return told;
  }

  double silent_until_ = 0;                   // steady
  int patience_ = kPatience;                  // with a restore
  std::map<std::string, Properties> untold_;  // by scope
};

struct Limits::MemoryWrite {
  explicit MemoryWrite(const asio::any_io_executor& loop)
      : done(loop, asio::steady_timer::time_point::max()) {}

  asio::steady_timer done;  // cancelled when it is; stop() lets it expire
  std::optional<Result<bool>> result;
};

Limits::Limits(cgroups::CgroupFs& fs, Effects& effects, store::Store& store)
    : fs_(fs), effects_(effects), store_(store), systemd_(std::make_shared<Systemd>()) {}

void Limits::find_mechanism(const cgroups::Group& group) {
  const Result<std::vector<cgroups::BlockDevice>> devices = cgroups::read_block_devices(fs_);
  find_mechanism(group, devices ? *devices : std::vector<cgroups::BlockDevice>());
}

void Limits::find_mechanism(const cgroups::Group& group,
                            const std::vector<cgroups::BlockDevice>& devices) {
  mechanism_ = cgroups::probe_io(fs_, group, devices);
  is_mechanism_known_ = fs_.exists(cgroups::io_controller(fs_), group.io);
}

bool is_gone(const Error& error) {
  return error.code == boost::system::errc::no_such_process || error.code.value() == ESTALE;
}

// The group that is at its place now belongs to a later life of the container, or to none.
bool Limits::is_over(const store::Original& original) const {
  const std::string life = fs_.life("cpu", original.group.cpu);
  const bool is_unknown = life.empty() && fs_.exists("cpu", original.group.cpu);
  return !original.life.empty() && !is_unknown && life != original.life;
}

void Limits::tell_systemd(Target target, const Outcome& outcome) {
  if (target.container.group.scope.empty()) return;
  if (outcome.is_memory_kept) target.setting.memory = target.present.memory;
  if (outcome.is_memory_kept && target.setting == target.present) return;
  for (const std::string& disk : outcome.gone_disks) target.setting.io.caps.erase(disk);
  auto properties = cgroups::unit_properties(target.present, target.setting, fs_, mechanism_,
                                             cgroups::Rounding::exact);
  // What systemd makes of an I/O weight on v1 is only near to it, see cgroups/io.h.
  const bool is_rounded = !mechanism_.is_v2 && target.present.io.weight != target.setting.io.weight;
  // A bus call can take as long as systemd likes, so it goes to the effects thread.
  const bool is_queued = effects_.try_post(
      [this, systemd = systemd_, is_rounded, container = std::move(target.container),
       io = std::move(target.setting.io), properties = std::move(properties)] {
        const Result<bool> told = systemd->tell(container.group.scope, properties);
        if (!told) {
          log::warning("systemd did not take a limit, so a daemon-reload may undo it: " +
                       told.error().message());
        } else if (*told && is_rounded && !is_over(container)) {
          // What fails is found as drift.
          (void)cgroups::write_io(fs_, container.group, io, mechanism_);
        }
      });
  if (!is_queued) log::warning("too many blocking calls wait; a limit was not reported to systemd");
}

// What systemd keeps now comes back at some daemon-reload, when nobody looks any more.
Async<bool> Limits::tell_systemd_for_good(store::Original original, cgroups::Setting present) {
  auto properties = cgroups::unit_properties(present, original.setting, fs_, mechanism_,
                                             cgroups::Rounding::whole_percent);
  auto ask = [systemd = systemd_, scope = original.group.scope,
              properties = std::move(properties)] {
    return systemd->tell_for_good(scope, properties);
  };
  Result<void> told = co_await effects_.run(std::move(ask));
  if (told) co_return true;
  log::warning("systemd did not take a restored limit, so a daemon-reload may undo it: " +
               told.error().message());
  co_return false;
}

// CPU and I/O at once; memory where lowering it may wait for the kernel.
Async<Outcome> Limits::write(Target target) {
  Outcome outcome;
  outcome.id = target.container.id;
  outcome.is_original_saved = true;
  Result<void> written = errno_error(ESTALE, "its group is another one now");
  if (!is_over(target.container)) {
    written = cgroups::write_setting(fs_, target.container.group, target.present, target.setting,
                                     mechanism_, false, &outcome.gone_disks);
    if (target.present.memory != target.setting.memory && is_stopping_) {
      outcome.is_memory_kept = true;
    } else if (target.present.memory != target.setting.memory) {
      const Result<bool> lowered = co_await write_memory(target);
      outcome.is_memory_kept = lowered && !*lowered;
      if (written && !lowered) written = lowered.error();
    }
  }
  outcome.is_written = written.has_value();
  outcome.is_gone = !written && is_gone(written.error());
  if (!written && !outcome.is_gone) outcome.problem = written.error().message();
  co_return outcome;
}

// On the effects thread. False where it was left as it was.
Async<Result<bool>> Limits::write_memory(Target target) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  auto write = std::make_shared<MemoryWrite>(loop);
  auto work = [this, loop, write, target = std::move(target)]() mutable {
    auto take = [write = std::move(write), result = write_memory_now(target)]() mutable {
      write->result = std::move(result);
      write->done.cancel();
    };
    asio::post(loop, std::move(take));
  };
  if (!effects_.try_post(std::move(work))) co_return Result<bool>(false);
  under_way_ = write;
  while (!write->result) {
    const auto [code] = co_await write->done.async_wait(kAwait);
    if (!code) break;
  }
  under_way_.reset();
  co_return write->result.value_or(false);
}

Result<bool> Limits::write_memory_now(const Target& target) {
  const store::Original& original = target.container;
  if (is_stopping_) return false;
  if (is_over(original)) return errno_error(ESTALE, "its group is another one now");
  const Result<bool> is_too_low = is_too_low_by_now(fs_, target);
  if (!is_too_low) return is_too_low.error();
  if (*is_too_low) return false;
  const Result<void> written = cgroups::write_memory(fs_, original.group, target.setting.memory);
  if (is_stopping_) {
    // The original may be back already, and this may have been written over it.
    if (!is_over(original)) {
      (void)cgroups::write_memory(fs_, original.group, original.setting.memory);
    }
    return false;
  }
  if (!written) return written.error();
  return true;
}

void Limits::stop() {
  is_stopping_ = true;
  if (under_way_) under_way_->done.expires_after(nanoseconds(kLastWait));
}

Async<std::vector<Outcome>> Limits::apply(std::vector<Target> targets) {
  std::vector<store::Original> unsaved;
  for (const Target& target : targets) {
    if (!target.is_original_saved) unsaved.push_back(target.container);
  }
  std::string cannot_save;
  if (!unsaved.empty()) {
    auto save = [this, unsaved]() -> Result<void> {
      if (is_ended_) return {};
      return store_.save_originals(unsaved);
    };
    Result<void> saved = co_await effects_.run(std::move(save));
    if (!saved) cannot_save = saved.error().message();
  }
  if (is_ended_) co_return std::vector<Outcome>();
  std::vector<Outcome> outcomes;
  for (Target& target : targets) {
    const bool is_saved = target.is_original_saved || cannot_save.empty();
    Outcome outcome;
    outcome.id = target.container.id;
    if (is_saved || target.is_cpu_saved) {
      if (!is_saved) target.setting = cgroups::with_cpu(target.present, target.setting.cpu);
      outcome = co_await write(target);
      outcome.is_cpu_alone = !is_saved;
      if (outcome.is_written) tell_systemd(target, outcome);
    }
    if (!is_saved && outcome.problem.empty() && !outcome.is_gone) {
      const std::string what = target.is_cpu_saved ? "memory and block I/O" : "limits";
      outcome.problem =
          what + " are left alone, since the original could not be saved: " + cannot_save;
    }
    outcomes.push_back(std::move(outcome));
  }
  co_return outcomes;
}

// What is there is read first: it may be anybody's, and what is alike is not written. Raising a
// limit blocks nowhere.
Limits::PutBack Limits::put_back(store::Original original) const {
  PutBack done{std::move(original), errno_error(ESTALE, "its group is another one now")};
  if (is_over(done.original)) return done;
  done.before = cgroups::read_setting(fs_, done.original.group, mechanism_);
  if (!done.before) return done;
  done.original.setting = setting_to_restore(done.original, *done.before);
  const Result<void> written = cgroups::write_setting(fs_, done.original.group, *done.before,
                                                      done.original.setting, mechanism_, true);
  if (!written) done.before = written.error();
  return done;
}

Async<Result<void>> Limits::restore(store::Original original) {
  PutBack done = put_back(std::move(original));
  co_return co_await finish(std::move(done));
}

Async<Result<void>> Limits::finish(PutBack done) {
  const store::Original& original = done.original;
  Result<cgroups::Setting> there = done.before;
  if (there && !original.group.scope.empty()) {
    const bool is_told = co_await tell_systemd_for_good(original, *there);
    if (is_told) {
      untold_.erase(original.id);
    } else {
      untold_.insert(original.id);
    }
  }
  // systemd has written what it was told, which is rounded.
  if (there) there = put_back(original).before;
  if (!there && !is_gone(there.error())) {
    co_return wrap(there.error(), "restoring the limits of " + original.name);
  }
  auto forget = [this, id = original.id] { return store_.forget_original(id); };
  Result<void> forgotten = co_await effects_.run(std::move(forget));
  // The store tries again; restoring once more what is there already would do no harm.
  if (!forgotten) log::warning(forgotten.error().message());
  co_return Result<void>();
}

void Limits::undo(const store::Original& original) {
  Result<void> written;
  std::vector<cgroups::UnitProperty> properties;
  if (fs_.exists("cpu", original.group.cpu) && !is_over(original)) {
    const Result<cgroups::Setting> present = cgroups::read_setting(fs_, original.group, mechanism_);
    if (present) {
      const cgroups::Setting to = setting_to_restore(original, *present);
      written = cgroups::write_setting(fs_, original.group, *present, to, mechanism_, true);
      properties =
          cgroups::unit_properties(*present, to, fs_, mechanism_, cgroups::Rounding::exact);
    } else {
      written = present.error();
    }
  }
  if (!written && !is_gone(written.error())) {
    log::warning("restoring the limits of " + original.name + ": " + written.error().message());
    return;  // the store keeps it for the next start
  }
  // Nobody waits for this: a row that stays behind speaks of a group that is gone.
  const bool is_queued = effects_.try_post([this, original, properties] {
    // A scope that ends with its container cannot be told, and needs not be.
    if (!original.group.scope.empty()) systemd_->tell_last(original.group.scope, properties);
    (void)store_.forget_original(original.id);
  });
  if (!is_queued) log::debug("too many blocking calls wait; an original stays in the store");
}

Async<Result<Limits::Leftovers>> Limits::restore_leftovers(std::set<std::string> but) {
  auto read = [this] { return store_.originals(); };
  Result<std::vector<store::Original>> left = co_await effects_.run(std::move(read));
  if (!left) co_return left.error();
  Leftovers leftovers;
  for (const store::Original& original : *left) {
    if (but.contains(original.id)) continue;
    if (!is_mechanism_known_) find_mechanism(original.group);
    Result<void> restored = co_await restore(original);
    if (restored) {
      ++leftovers.restored;
    } else {
      log::error(restored.error().message());
      leftovers.failed.push_back(original);
    }
  }
  co_return leftovers;
}

}  // namespace flowcon::ctrl
