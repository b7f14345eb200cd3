// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/left_behind.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/names.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::size_t kShown = 5;
constexpr std::int64_t kDeleted = 2;  // the engine's word for it

}  // namespace

ChangedPaths changed_paths(std::string_view answer) {
  std::string text(answer.substr(0, kMaxChangesBytes));
  ChangedPaths changed;
  changed.is_cut = text.size() < answer.size();
  if (changed.is_cut) text = text.substr(0, text.rfind('}') + 1) + "]";
  std::vector<std::string> paths;
  const Result<json::value> parsed = parse_json(text);
  const json::array* list = parsed ? parsed->if_array() : nullptr;
  if (list == nullptr) return changed;
  for (const json::value& one : *list) {
    const json::value& kind = member(one, "Kind");
    std::string path = text_of(one, "Path");
    if (kind.is_int64() && kind.get_int64() != kDeleted && path.starts_with('/')) {
      paths.push_back(std::move(path));
    }
  }
  // A folder comes right before what is in it, once a slash sorts before all else.
  const auto key = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  std::sort(paths.begin(), paths.end(), [&](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [&](char x, char y) { return key(x) < key(y); });
  });
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool is_folder = i + 1 < paths.size() && is_within(paths[i + 1], paths[i]);
    if (!is_folder) changed.paths.push_back(std::move(paths[i]));
  }
  return changed;
}

bool is_of_mount(const json::object& body, std::string_view path) {
  const json::value whole(body);
  const json::value& host = member(whole, "HostConfig");
  const auto touches = [&](std::string_view target) {
    return is_within(path, target) || is_within(target, path);
  };
  for (const json::value& mount : list_of(host, "Mounts")) {
    if (touches(text_of(mount, "Target"))) return true;
  }
  const json::object& folders = object_of(host, "Tmpfs");
  return std::any_of(folders.begin(), folders.end(), [&](const auto& one) {
    return touches(std::string_view(one.key().data(), one.key().size()));
  });
}

bool is_of_engine(std::string_view path) {
  // The last two are written by the hook that mounts NVIDIA's libraries.
  constexpr std::array<std::string_view, 11> kMade{"/.dockerenv",
                                                   "/etc/hosts",
                                                   "/etc/hostname",
                                                   "/etc/resolv.conf",
                                                   "/etc/mtab",
                                                   "/dev",
                                                   "/proc",
                                                   "/sys",
                                                   "/sbin/docker-init",
                                                   "/etc/ld.so.cache",
                                                   "/etc/ld.so.conf.d"};
  return std::any_of(kMade.begin(), kMade.end(), [&](std::string_view made) {
    return is_within(path, made) || is_within(made, path);
  });
}

bool is_passing(std::string_view path) {
  constexpr std::array<std::string_view, 4> kFolders{"/tmp", "/var/tmp", "/run", "/var/run"};
  constexpr std::array<std::string_view, 5> kCaches{"/__pycache__/", "/.cache/", "/.nv/",
                                                    "/.triton/", "/var/cache/"};
  const std::string in_folder = std::string(path) + "/";
  return path.ends_with(".pyc") ||
         std::any_of(kFolders.begin(), kFolders.end(),
                     [&](std::string_view folder) { return is_within(path, folder); }) ||
         std::any_of(kCaches.begin(), kCaches.end(), [&](std::string_view cache) {
           return in_folder.find(cache) != std::string::npos;
         });
}

std::string some_of(const std::vector<std::string>& paths) {
  std::string text;
  const std::size_t shown = std::min(paths.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_last = i > 0 && i + 1 == paths.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + ("'" + printable(paths[i], 200) + "'");
  }
  if (paths.size() > shown) text += " and " + std::to_string(paths.size() - shown) + " more";
  return text;
}

}  // namespace flowcon::cluster::migration
