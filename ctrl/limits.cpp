// SPDX-License-Identifier: Apache-2.0
#include "ctrl/limits.h"

#include <cerrno>

#include "ctrl/effects.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

// systemd answers nobody while it reloads, which takes seconds on a busy host.
constexpr int kPatience = 5;

}  // namespace

Limits::Limits(cgroups::CgroupFs& fs, Effects& effects, store::Store& store)
    : fs_(fs), effects_(effects), store_(store), patience_(kPatience) {}

bool is_gone(const Error& error) {
  return error.code == boost::system::errc::no_such_process || error.code.value() == ESTALE;
}

void Limits::tell_systemd(const cgroups::Group& group, const cgroups::CpuSetting& setting) {
  if (group.scope.empty()) return;
  // A bus call can take as long as systemd likes, so it goes to the effects thread.
  const bool is_v2 = fs_.is_v2("cpu");
  const bool is_queued = effects_.try_post([scope = group.scope, setting, is_v2] {
    if (Result<void> told = cgroups::tell_systemd(scope, setting, is_v2); !told) {
      log::warning("systemd was not told of a limit, a daemon-reload may undo it: " +
                   told.error().message());
    }
  });
  if (!is_queued) log::warning("too many effects wait; systemd was not told of a limit");
}

// What systemd keeps now comes back at some daemon-reload, when nobody looks any more.
Async<void> Limits::tell_systemd_for_good(std::string scope, cgroups::CpuSetting setting) {
  auto tell = [scope, setting, is_v2 = fs_.is_v2("cpu"), patience = patience_] {
    Result<void> told;
    for (int i = 0; i < patience; ++i) {
      told = cgroups::tell_systemd(scope, setting, is_v2, cgroups::Rounding::whole_percent);
      if (told || told.error().code.value() != ETIMEDOUT) break;
    }
    return told;
  };
  Result<void> told = co_await effects_.run(std::move(tell));
  const bool is_mute = !told && told.error().code.value() == ETIMEDOUT;
  // Many containers must not wait long each, or the daemon is killed at its stop.
  patience_ = is_mute ? 1 : kPatience;
  if (told) co_return;
  log::warning("systemd was not told of a restored limit, a daemon-reload may undo it: " +
               told.error().message());
}

Async<std::vector<Outcome>> Limits::apply(std::vector<Target> targets) {
  std::vector<store::Original> unsaved;
  for (const Target& target : targets) {
    if (!target.is_original_saved) unsaved.push_back(target.container);
  }
  std::string cannot_save;
  if (!unsaved.empty()) {
    auto save = [this, unsaved] { return store_.save_originals(unsaved); };
    Result<void> saved = co_await effects_.run(std::move(save));
    if (!saved) cannot_save = saved.error().message();
  }
  std::vector<Outcome> outcomes;
  for (const Target& target : targets) {
    Outcome outcome;
    outcome.id = target.container.id;
    outcome.is_original_saved = target.is_original_saved || cannot_save.empty();
    if (!outcome.is_original_saved) {
      outcome.problem =
          "limits are left alone, since the original could not be saved: " + cannot_save;
    } else if (Result<void> written =
                   cgroups::write_cpu(fs_, target.container.group, target.setting);
               !written) {
      outcome.is_gone = is_gone(written.error());
      if (!outcome.is_gone) outcome.problem = written.error().message();
    } else {
      outcome.is_written = true;
      tell_systemd(target.container.group, target.setting);
    }
    outcomes.push_back(std::move(outcome));
  }
  co_return outcomes;
}

Async<Result<void>> Limits::restore(store::Original original) {
  Result<void> written = cgroups::write_cpu(fs_, original.group, original.setting);
  if (!written && !is_gone(written.error())) {
    co_return wrap(written.error(), "restoring the limits of " + original.name);
  }
  if (written && !original.group.scope.empty()) {
    co_await tell_systemd_for_good(original.group.scope, original.setting);
    // systemd has written what it was told, which is rounded.
    written = cgroups::write_cpu(fs_, original.group, original.setting);
    if (!written && !is_gone(written.error())) {
      co_return wrap(written.error(), "restoring the limits of " + original.name);
    }
  }
  auto forget = [this, id = original.id] { return store_.forget_original(id); };
  Result<void> forgotten = co_await effects_.run(std::move(forget));
  // The store tries again; restoring once more what is there already would do no harm.
  if (!forgotten) log::warning(forgotten.error().message());
  co_return Result<void>();
}

void Limits::undo(const store::Original& original) {
  Result<void> written;
  if (fs_.exists("cpu", original.group.cpu)) {
    written = cgroups::write_cpu(fs_, original.group, original.setting);
  }
  if (!written && !is_gone(written.error())) {
    log::warning("restoring the limits of " + original.name + ": " + written.error().message());
    return;  // the store keeps it for the next start
  }
  // Nobody waits for this: a row that stays behind speaks of a group that is gone.
  const bool is_queued = effects_.try_post([this, original, is_v2 = fs_.is_v2("cpu")] {
    // A scope that ends with its container cannot be told, and needs not be.
    if (!original.group.scope.empty()) {
      (void)cgroups::tell_systemd(original.group.scope, original.setting, is_v2);
    }
    (void)store_.forget_original(original.id);
  });
  if (!is_queued) log::debug("too many effects wait; an original stays in the store");
}

Async<Result<std::size_t>> Limits::restore_leftovers() {
  auto read = [this] { return store_.originals(); };
  Result<std::vector<store::Original>> left = co_await effects_.run(std::move(read));
  if (!left) co_return left.error();
  std::size_t count = 0;
  for (const store::Original& original : *left) {
    Result<void> restored = co_await restore(original);
    if (restored) {
      ++count;
    } else {
      log::error(restored.error().message());
    }
  }
  co_return count;
}

}  // namespace flowcon::ctrl
