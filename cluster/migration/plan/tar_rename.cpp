// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/tar_rename.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/text.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::size_t kMaxExtension = 1U << 20;
constexpr std::size_t kNameField = 100;

std::uint64_t padded(std::uint64_t size) { return (size + kTarBlock - 1) / kTarBlock * kTarBlock; }

bool is_zero(std::string_view block) {
  return block.find_first_not_of('\0') == std::string_view::npos;
}

void put(std::string& block, std::size_t at, std::size_t size, std::string_view text) {
  block.replace(at, size, std::string(text) + std::string(size - text.size(), '\0'));
}

void put_octal(std::string& block, std::size_t at, std::size_t size, std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llo", static_cast<int>(size - 1),
                static_cast<unsigned long long>(number));
  put(block, at, size, text);
}

void put_sum(std::string& block) {
  block.replace(148, 8, 8, ' ');
  std::uint64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put_octal(block, 148, 7, sum);
}

// "LENGTH KEY=VALUE\n", where LENGTH counts itself.
std::string pax_record(const std::string& key, const std::string& value) {
  const std::size_t bare = key.size() + value.size() + 3;
  std::size_t length = bare + 1;
  while (bare + std::to_string(length).size() != length) ++length;
  return std::to_string(length) + " " + key + "=" + value + "\n";
}

std::string pax_header(const std::string& content) {
  std::string block(kTarBlock, '\0');
  put(block, 0, kNameField, "PaxHeader");
  put_octal(block, 100, 8, 0644);
  put_octal(block, 108, 8, 0);
  put_octal(block, 116, 8, 0);
  put_octal(block, 124, 12, content.size());
  put_octal(block, 136, 12, 0);
  block[156] = 'x';
  put(block, 257, 8, std::string_view("ustar\00000", 8));
  put_sum(block);
  return block + content + std::string(padded(content.size()) - content.size(), '\0');
}

}  // namespace

TarRenamer::TarRenamer(std::string from, std::string to, bool only_first)
    : from_(std::move(from)), to_(std::move(to)), only_first_(only_first) {}

Result<std::string> TarRenamer::renamed(std::string_view name) const {
  if (name.starts_with(from_)) {
    const std::string_view rest = name.substr(from_.size());
    if (rest.empty() || rest.front() == '/') return to_ + std::string(rest);
  }
  return bad_input("the engine's archive of " + printable(from_) + " holds " + printable(name));
}

Result<void> TarRenamer::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty() && state_ != State::end) {
    if (state_ == State::content) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      out += bytes.substr(0, count);
      bytes.remove_prefix(count);
      left_ -= count;
      if (left_ == 0) state_ = State::header;
      continue;
    }
    const std::uint64_t wanted = state_ == State::header ? kTarBlock : padded(extension_bytes_);
    const std::size_t count =
        std::min<std::size_t>(static_cast<std::size_t>(wanted) - pending_.size(), bytes.size());
    pending_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    if (pending_.size() < wanted) break;
    auto taken = state_ == State::header ? take_header(out) : take_extension();
    if (!taken) return taken;
    pending_.clear();
  }
  return {};
}

Result<void> TarRenamer::take_extension() {
  state_ = State::header;
  const auto text =
      std::string_view(pending_).substr(0, static_cast<std::size_t>(extension_bytes_));
  if (extension_ != TarType::pax) {
    (extension_ == TarType::long_name ? name_ : link_) = text.substr(0, text.find('\0'));
    return {};
  }
  auto records = parse_pax(text);
  if (!records) return records.error();
  for (PaxRecord& record : *records) {
    if (record.key == "path") {
      name_ = std::move(record.value);
    } else if (record.key == "linkpath") {
      link_ = std::move(record.value);
    } else {
      if (record.key == "size") {
        std::uint64_t size = 0;
        const char* end = record.value.data() + record.value.size();
        const auto [at, error] = std::from_chars(record.value.data(), end, size);
        if (error != std::errc() || at != end) return bad_input("a size in the archive is none");
        size_ = size;
      }
      records_.push_back(std::move(record));
    }
  }
  return {};
}

Result<void> TarRenamer::take_header(std::string& out) {
  if (is_zero(pending_)) {
    state_ = State::end;
    return {};
  }
  auto header = parse_tar_header(pending_);
  if (!header) return header.error();
  if (header->type == TarType::pax || header->type == TarType::long_name ||
      header->type == TarType::long_link) {
    if (header->size == 0 || header->size > kMaxExtension) {
      return bad_input("a name or attribute of the archive is too long");
    }
    extension_ = header->type;
    extension_bytes_ = header->size;
    state_ = State::extension;
    return {};
  }
  if (name_) header->name = *std::exchange(name_, std::nullopt);
  if (link_) header->link = *std::exchange(link_, std::nullopt);
  if (size_) header->size = *std::exchange(size_, std::nullopt);
  if (!first_) first_ = *header;

  auto name = renamed(header->name);
  if (!name) return name.error();
  std::string link = header->link;
  if (header->type == TarType::hard_link) {
    auto there = renamed(link);
    if (!there) return there.error();
    link = std::move(*there);
  }
  std::string content;
  for (const PaxRecord& record : records_) content += pax_record(record.key, record.value);
  records_.clear();
  if (name->size() > kNameField) content += pax_record("path", *name);
  if (link.size() > kNameField) content += pax_record("linkpath", link);
  if (!content.empty()) out += pax_header(content);
  std::string block = pending_;
  put(block, 0, kNameField, std::string_view(*name).substr(0, kNameField));
  put(block, 157, kNameField, std::string_view(link).substr(0, kNameField));
  // The same format for all: of GNU's own fields none is needed.
  put(block, 257, 8, std::string_view("ustar\00000", 8));
  put(block, 345, 155, "");
  put(block, 500, 12, "");
  put_sum(block);
  out += block;
  left_ = padded(header->size);
  state_ = left_ > 0 ? State::content : State::header;
  if (only_first_) state_ = State::end;
  return {};
}

Result<void> TarRenamer::finish() const {
  if (state_ == State::end) return {};
  return bad_input("the engine's archive of " + printable(from_) + " is not whole");
}

std::string end_of_archive() { return std::string(2 * kTarBlock, '\0'); }

}  // namespace flowcon::cluster::migration
