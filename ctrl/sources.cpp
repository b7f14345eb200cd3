// SPDX-License-Identifier: Apache-2.0
#include "ctrl/sources.h"

#include "base/text.h"
#include "ctrl/logs/tail_container.h"

namespace flowcon::ctrl {
namespace {

constexpr std::string_view kLeftAlone = "its limits are left alone";

bool ends_with(const std::string& path, const std::string& end) {
  return path.size() > end.size() && path.front() == '/' && path.ends_with(end);
}

LogChoice file_inside(const Settings& settings) {
  LogChoice choice;
  choice.name = (settings.log_is_events ? "tfevents:" : "") + settings.log;
  choice.format = settings.log_is_events ? logs::Format::tfevents : logs::Format::text;
  choice.path = settings.log;
  choice.is_inside = true;
  return choice;
}

}  // namespace

// The engine names the files; still, only those in a container's own folder are ever opened.
Result<LogChoice> choose_log(const engine::Container& container, const Settings& settings) {
  if (!settings.log.empty()) return file_inside(settings);
  const std::string& driver = container.log_driver;
  const std::string shown = printable(driver, 40);
  LogChoice choice;
  choice.name = driver;
  if (driver == "json-file") {
    choice.path = container.log_path;
    if (ends_with(choice.path, "/" + container.id + "-json.log")) return choice;
    return bad_input("the engine names no log file of its own for it: " + std::string(kLeftAlone));
  }
  if (driver == "journald") {
    choice.is_journal = true;
    return choice;
  }
  if (driver == "none" || container.is_log_cache_disabled) {
    const std::string why = driver == "none" ? " keeps nothing that could be read"
                                             : " keeps no cache on this host (cache-disabled)";
    return bad_input("log driver " + shown + why + ": " + std::string(kLeftAlone) +
                     " (use --log-driver json-file or local, or the label flowcon.log)");
  }
  if (!ends_with(container.folder, "/" + container.id)) {
    return bad_input("the engine does not say where the log of driver " + shown +
                     " is: " + std::string(kLeftAlone));
  }
  choice.format = logs::Format::local;
  if (driver == "local") {
    choice.path = container.folder + "/local-logs/container.log";
  } else {
    choice.name = "cache of " + driver;
    choice.path = container.folder + "/container-cached.log";
  }
  return choice;
}

Result<logs::Source> open_log(const LogChoice& choice, const engine::Container& container) {
  logs::Source source{choice.format, choice.path, nullptr};
  if (!choice.is_inside) return source;
  auto view = logs::ContainerView::open(static_cast<pid_t>(container.pid), container.id);
  if (!view) return view.error();
  source.view = std::move(*view);
  return source;
}

}  // namespace flowcon::ctrl
