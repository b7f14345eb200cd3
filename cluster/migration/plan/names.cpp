// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/names.h"

#include <algorithm>

#include "base/hex.h"
#include "base/text.h"

namespace flowcon::cluster::migration {

bool is_object_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || !is_alnum(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; });
}

bool is_container_name(std::string_view name) {
  return is_object_name(name) && !is_container_id(name);
}

bool is_plain_path(std::string_view path) {
  if (!path.starts_with('/') || path.size() > 4096) return false;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(path.begin(), path.end(), is_control)) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    if (part == "." || part == "..") return false;
    path.remove_prefix(part.size());
  }
  return true;
}

bool is_within(std::string_view path, std::string_view prefix) {
  if (!is_plain_path(path) || !is_plain_path(prefix)) return false;
  // A path may say "//" where it means "/": component by component.
  for (;;) {
    while (path.starts_with('/')) path.remove_prefix(1);
    while (prefix.starts_with('/')) prefix.remove_prefix(1);
    if (prefix.empty()) return true;
    const std::string_view wanted = prefix.substr(0, prefix.find('/'));
    if (path.substr(0, path.find('/')) != wanted) return false;
    path.remove_prefix(wanted.size());
    prefix.remove_prefix(wanted.size());
  }
}

}  // namespace flowcon::cluster::migration
