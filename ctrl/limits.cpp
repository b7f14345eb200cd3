// SPDX-License-Identifier: Apache-2.0
#include "ctrl/limits.h"

#include "ctrl/effects.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {

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
  if (written) tell_systemd(original.group, original.setting);
  auto forget = [this, id = original.id] { return store_.forget_original(id); };
  Result<void> forgotten = co_await effects_.run(std::move(forget));
  // The store tries again; restoring once more what is there already would do no harm.
  if (!forgotten) log::warning(forgotten.error().message());
  co_return Result<void>();
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
