// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/archive.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace flowcon::cluster::migration {
namespace {

std::string quoted(std::string_view text) { return "'" + printable(text, 120) + "'"; }

// What a node of the tree costs besides its name, about.
constexpr std::size_t kNodeBytes = 168;

// The parts of a name that stays in its folder; "." and empty parts are none.
std::optional<std::vector<std::string_view>> parts_of(std::string_view name) {
  if (name.starts_with('/') || name.find('\0') != std::string_view::npos) return {};
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    if (part == "..") return {};
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  return parts;
}

ArchiveTree::Kind kind_of(TarType type) {
  switch (type) {
    case TarType::file:
      return ArchiveTree::Kind::file;
    case TarType::directory:
      return ArchiveTree::Kind::folder;
    case TarType::symlink:
      return ArchiveTree::Kind::symlink;
    default:
      return ArchiveTree::Kind::other;
  }
}

}  // namespace

// ------------------------------------------------------------------------------------ the names

ArchiveTree::~ArchiveTree() {
  if (memory_) memory_->left += bytes_;
}

Result<void> ArchiveTree::add(const std::vector<std::string_view>& parts, Kind kind) {
  std::uint32_t at = 0;
  for (const std::string_view part : parts) {
    const Kind here = nodes_[at].kind;
    if (here == Kind::symlink) return bad_input("passes through a link");
    if (here != Kind::folder && here != Kind::none) return bad_input("has a file for its folder");
    const auto found = nodes_[at].children.find(part);
    if (found != nodes_[at].children.end()) {
      at = found->second;
      continue;
    }
    const std::size_t bytes = part.size() + kNodeBytes;
    const bool is_too_many = bytes > max_bytes_ - bytes_ || (memory_ && bytes > memory_->left);
    if (is_too_many) return bad_input("is one name too many to keep");
    bytes_ += bytes;
    if (memory_) memory_->left -= bytes;
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    nodes_[at].children.emplace(part, next);
    at = next;
  }
  Node& node = nodes_[at];
  const bool is_folder = kind == Kind::folder;
  // A folder may be named after what is in it; whatever else is there may not come again.
  const bool is_free = node.kind == Kind::none ? is_folder || node.children.empty()
                                               : is_folder && node.kind == Kind::folder;
  if (!is_free) return bad_input("is there twice");
  node.kind = kind;
  return {};
}

ArchiveTree::Kind ArchiveTree::find(const std::vector<std::string_view>& parts) const {
  std::uint32_t at = 0;
  for (const std::string_view part : parts) {
    const auto found = nodes_[at].children.find(part);
    if (found == nodes_[at].children.end()) return Kind::none;
    at = found->second;
  }
  return nodes_[at].kind;
}

// ----------------------------------------------------------------------------------- the stream

Result<void> ArchiveChecker::feed(std::string_view bytes) {
  if (has_failed_) return bad_input("the archive was refused already");
  if (bytes.size() > rules_.max_archive_bytes - archive_bytes_) {
    has_failed_ = true;
    return bad_input("the archive is too large");
  }
  archive_bytes_ += bytes.size();
  Result<void> taken = take(bytes);
  has_failed_ = !taken;
  return taken;
}

Result<void> ArchiveChecker::finish() {
  if (has_failed_) return bad_input("the archive was refused already");
  if (reader_.is_whole()) return {};
  has_failed_ = true;
  return bad_input("the archive is not whole");
}

Result<void> ArchiveChecker::take(std::string_view bytes) {
  for (;;) {
    const Result<TarStep> step = reader_.next(bytes);
    if (!step) return step.error();
    if (step->kind == TarStep::Kind::more) return {};
    if (step->kind != TarStep::Kind::entry) continue;
    if (auto begun = begin_entry(*step); !begun) return begun;
  }
}

Result<void> ArchiveChecker::check_records(const std::vector<PaxRecord>& records) const {
  constexpr std::array kHarmless{"path",
                                 "linkpath",
                                 "size",
                                 "uid",
                                 "gid",
                                 "uname",
                                 "gname",
                                 "mtime",
                                 "atime",
                                 "ctime",
                                 "comment",
                                 "SCHILY.dev",
                                 "SCHILY.ino",
                                 "SCHILY.nlink",
                                 "LIBARCHIVE.creationtime",
                                 "SCHILY.acl.access",
                                 "SCHILY.acl.default"};
  for (const PaxRecord& record : records) {
    const std::string_view key = record.key;
    if (key.starts_with("SCHILY.xattr.")) {
      if (auto right = check_attribute(key.substr(13)); !right) return right;
    } else if (key.starts_with("LIBARCHIVE.xattr.")) {
      if (auto right = check_attribute(key.substr(17)); !right) return right;
    } else if (std::none_of(kHarmless.begin(), kHarmless.end(),
                            [&](const char* one) { return key == one; })) {
      return bad_input("the archive has a pax record " + quoted(key));
    }
  }
  return {};
}

// An attribute of overlay can put one folder in the place of another.
Result<void> ArchiveChecker::check_attribute(std::string_view name) const {
  const bool is_harmless = name.starts_with("user.") || name == "security.capability" ||
                           name == "system.posix_acl_access" || name == "system.posix_acl_default";
  const bool is_opaque = name == "trusted.overlay.opaque" && rules_.devices != DeviceRule::none;
  // The same for engines without root.
  const bool is_overlay = name.starts_with("user.overlay.");
  if ((is_harmless && !is_overlay) || is_opaque) return {};
  return bad_input("the archive has an attribute " + quoted(name));
}

// ---------------------------------------------------------------------------------- the entries

Result<void> ArchiveChecker::begin_entry(const TarStep& entry) {
  if (++entries_ > rules_.max_entries) return bad_input("the archive has too many entries");
  if (auto right = check_records(entry.records); !right) return right;
  const TarHeader& header = entry.header;
  const std::string shown = "the archive's entry " + quoted(header.name);
  if (header.name.size() > rules_.max_path_bytes || header.link.size() > rules_.max_path_bytes) {
    return bad_input(shown + " has too long a name");
  }
  if (auto right = check_type(entry, shown); !right) return right;
  if (auto added = add(header, shown); !added) return added;
  if (header.size > rules_.max_content_bytes - content_bytes_) {
    return bad_input("the archive's files are too large together");
  }
  content_bytes_ += header.size;
  return {};
}

Result<void> ArchiveChecker::check_type(const TarStep& entry, const std::string& shown) const {
  const TarHeader& header = entry.header;
  // Some readers skip such content, some read it as headers.
  if (header.type != TarType::file && entry.said_size != 0) {
    return bad_input(shown + " has content and is no file");
  }
  if (header.type != TarType::directory && header.name.ends_with('/')) {
    return bad_input(shown + " ends like a folder and is none");
  }
  const bool is_link = header.type == TarType::symlink || header.type == TarType::hard_link;
  if (!is_link && !header.link.empty()) return bad_input(shown + " has a link and is none");
  if (is_link && !rules_.has_links) return bad_input(shown + " is a link");
  if (header.type != TarType::character_device && header.type != TarType::block_device) return {};
  const bool is_whiteout = header.type == TarType::character_device && header.device_major == 0 &&
                           header.device_minor == 0;
  const bool is_allowed =
      rules_.devices == DeviceRule::any || (rules_.devices == DeviceRule::whiteouts && is_whiteout);
  if (!is_allowed) return bad_input(shown + " is a device");
  return {};
}

Result<void> ArchiveChecker::add(const TarHeader& header, const std::string& shown) {
  const auto parts = parts_of(header.name);
  if (!parts) return bad_input(shown + " leaves the folder");
  if (parts->empty() && header.type != TarType::directory) {
    return bad_input(shown + " stands for the folder itself");
  }
  if (header.type == TarType::symlink) {
    if (auto right = check_symlink(parts->size() - 1, header.link, shown); !right) return right;
  }
  ArchiveTree::Kind kind = kind_of(header.type);
  if (header.type == TarType::hard_link) {
    const auto target = parts_of(header.link);
    if (!target) return bad_input(shown + " is a link that leaves the folder");
    kind = tree_.find(*target);  // one more name of it
    // A symlink's other name may lead elsewhere: it may be in another folder.
    const bool is_fit = kind == ArchiveTree::Kind::file ||
                        (kind == ArchiveTree::Kind::symlink && rules_.any_symlink);
    if (!is_fit) {
      return bad_input(shown + " is a link to no file of the archive, " + quoted(header.link));
    }
  }
  if (auto added = tree_.add(*parts, kind); !added) {
    return bad_input(shown + " " + added.error().what);
  }
  return {};
}

// `depth`: how many folders the link is in. They are folders and no links, so a ".." at the start
// leads exactly one up. One after a name could start anywhere, since that name may be a link.
Result<void> ArchiveChecker::check_symlink(std::size_t depth, const std::string& link,
                                           const std::string& shown) const {
  if (link.empty() || link.find('\0') != std::string::npos) {
    return bad_input(shown + " is a link to nothing");
  }
  if (rules_.any_symlink) return {};
  std::string_view rest = link;
  bool has_name = false;
  bool is_inside = !rest.starts_with('/');
  while (is_inside && !rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part == "..") {
      is_inside = !has_name && depth > 0;
      if (is_inside) --depth;
    } else if (!part.empty() && part != ".") {
      has_name = true;
    }
  }
  if (!is_inside) return bad_input(shown + " is a link that may leave the folder, " + quoted(link));
  return {};
}

}  // namespace flowcon::cluster::migration
