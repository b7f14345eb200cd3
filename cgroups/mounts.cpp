// SPDX-License-Identifier: Apache-2.0
#include "cgroups/mounts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/text.h"

namespace flowcon::cgroups {
namespace {

// Super options of a v1 cgroup mount that are not controllers (kernel, cgroup1_show_options and
// the security options that any mount may have).
constexpr std::array<std::string_view, 8> kOptions = {
    "rw", "ro", "xattr", "noprefix", "clone_children", "cpuset_v2_mode", "favordynmods", "none"};

// What this kernel answers by itself, or with a disk of the host. overlay is as local as what it is
// made of, see its option upperdir.
constexpr std::array<std::string_view, 38> kLocalTypes = {
    "aufs",    "bcachefs",  "binfmt_misc", "bpf",   "btrfs",  "cgroup",     "cgroup2",  "configfs",
    "debugfs", "devpts",    "devtmpfs",    "erofs", "exfat",  "ext2",       "ext3",     "ext4",
    "f2fs",    "hugetlbfs", "iso9660",     "jfs",   "mqueue", "nilfs2",     "nsfs",     "ntfs3",
    "overlay", "proc",      "pstore",      "ramfs", "rootfs", "securityfs", "squashfs", "sysfs",
    "tmpfs",   "tracefs",   "vfat",        "xfs",   "zfs",    "efivarfs"};

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes blanks, newlines and backslashes of a path as \ooo (show_mountinfo, mangle).
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

void add_v1(Mounts& mounts, std::string_view super_options, const std::string& point) {
  for (const std::string_view option : split_at(super_options, ',')) {
    const bool is_controller =
        !option.empty() && option.find('=') == std::string_view::npos &&
        std::find(kOptions.begin(), kOptions.end(), option) == kOptions.end();
    if (is_controller) mounts.v1.emplace(option, point);
  }
}

}  // namespace

std::vector<MountEntry> parse_mounts(std::string_view text) {
  // 31 23 0:28 ROOT POINT OPTIONS [optional fields …] - TYPE SOURCE SUPEROPTIONS
  constexpr std::size_t kFirstOptional = 6;
  std::vector<MountEntry> entries;
  for (const std::string_view line : split_at(text, '\n')) {
    const std::vector<std::string_view> fields = split_at(line, ' ');
    if (fields.size() <= kFirstOptional) continue;
    const auto dash = std::find(fields.begin() + kFirstOptional, fields.end(), "-");
    if (fields.end() - dash < 4) continue;
    MountEntry entry;
    entry.id = number_of(fields[0]);
    entry.parent = number_of(fields[1]);
    entry.device = fields[2];
    entry.root = unescape(fields[3]);
    entry.point = unescape(fields[4]);
    entry.type = dash[1];
    entry.options = unescape(dash[3]);
    entries.push_back(std::move(entry));
  }
  return entries;
}

MountTable::MountTable(std::vector<MountEntry> entries) : entries_(std::move(entries)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    by_point_.emplace(entries_[i].point, i);
    if (entries_[i].type == "overlay") overlays_.insert(entries_[i].options);
  }
}

const MountEntry* MountTable::by_id(std::uint64_t id) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [id](const MountEntry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

const MountEntry* MountTable::child(std::uint64_t parent, const std::string& point) const {
  const MountEntry* top = nullptr;
  const auto [first, last] = by_point_.equal_range(point);
  // One may be mounted on the root of another; the bound is for a text that no kernel wrote.
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::uint64_t below = top == nullptr ? parent : top->id;
    const auto next = std::find_if(first, last, [&](const auto& item) {
      const MountEntry& entry = entries_[item.second];
      return entry.parent == below && entry.id != below;
    });
    if (next == last) break;
    top = &entries_[next->second];
  }
  return top;
}

const MountEntry* MountTable::root() const {
  const auto [first, last] = by_point_.equal_range("/");
  for (auto item = first; item != last; ++item) {
    const MountEntry& one = entries_[item->second];
    const MountEntry* parent = by_id(one.parent);
    if (parent != nullptr && parent != &one && parent->point == "/") continue;
    const MountEntry* above = child(one.id, "/");
    return above != nullptr ? above : &one;
  }
  return nullptr;
}

const MountEntry* MountTable::holding(std::string_view path) const {
  const MountEntry* holder = root();
  std::size_t end = 0;
  while (holder != nullptr && end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    const MountEntry* next = child(holder->id, std::string(path.substr(0, end)));
    if (next != nullptr) holder = next;
  }
  return holder;
}

bool MountTable::has_overlay(const MountEntry& entry) const {
  return overlays_.contains(entry.options);
}

bool is_local_type(std::string_view type) {
  return std::find(kLocalTypes.begin(), kLocalTypes.end(), type) != kLocalTypes.end();
}

std::vector<std::string> layers_of(const MountEntry& entry) {
  std::vector<std::string> layers;
  if (entry.type != "overlay") return layers;
  for (const std::string_view option : split_at(entry.options, ',')) {
    const std::size_t equals = option.find('=');
    // A name of a folder may have a comma.
    if (equals == std::string_view::npos) continue;
    const std::string_view name = option.substr(0, equals);
    if (name != "upperdir" && name != "lowerdir" && name != "lowerdir+") continue;
    for (const std::string_view layer : split_at(option.substr(name.size() + 1), ':')) {
      if (layer.starts_with('/')) layers.emplace_back(layer);
    }
  }
  return layers;
}

Mounts parse_mountinfo(std::string_view text) {
  Mounts mounts;
  for (const MountEntry& entry : parse_mounts(text)) {
    if (entry.root != "/") continue;
    if (entry.type == "cgroup2" && mounts.unified.empty()) mounts.unified = entry.point;
    if (entry.type == "cgroup") add_v1(mounts, entry.options, entry.point);
  }
  return mounts;
}

Mode mode_of(const Mounts& mounts) {
  if (mounts.v1.empty()) return Mode::v2;
  return mounts.unified.empty() ? Mode::v1 : Mode::hybrid;
}

}  // namespace flowcon::cgroups
