// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/tar_rename.h"

#include <cstdio>
#include <utility>

#include "base/text.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::size_t kNameField = 100;

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
  return block + content + tar_padding(content.size());
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
  while (!only_first_ || !first_) {
    const Result<TarStep> step = reader_.next(bytes);
    if (!step) return step.error();
    switch (step->kind) {
      case TarStep::Kind::more:
        return {};
      case TarStep::Kind::entry:
        if (auto begun = begin_entry(*step, out); !begun) return begun;
        break;
      case TarStep::Kind::content:
        out += step->bytes;
        break;
      case TarStep::Kind::end:
        out += tar_padding(size_);
        break;
    }
  }
  return {};
}

Result<void> TarRenamer::begin_entry(const TarStep& entry, std::string& out) {
  const TarHeader& header = entry.header;
  if (!first_) first_ = header;
  size_ = header.size;

  auto name = renamed(header.name);
  if (!name) return name.error();
  std::string link = header.link;
  if (header.type == TarType::hard_link) {
    auto there = renamed(link);
    if (!there) return there.error();
    link = std::move(*there);
  }
  std::string content;
  for (const PaxRecord& record : entry.records) {
    if (record.key == "path" || record.key == "linkpath") continue;
    content += pax_record(record.key, record.value);
  }
  if (name->size() > kNameField) content += pax_record("path", *name);
  if (link.size() > kNameField) content += pax_record("linkpath", link);
  if (!content.empty()) out += pax_header(content);
  std::string block = entry.block;
  put(block, 0, kNameField, std::string_view(*name).substr(0, kNameField));
  put(block, 157, kNameField, std::string_view(link).substr(0, kNameField));
  // The same format for all: of GNU's own fields none is needed.
  put(block, 257, 8, std::string_view("ustar\00000", 8));
  put(block, 345, 155, "");
  put(block, 500, 12, "");
  put_sum(block);
  out += block;
  return {};
}

Result<void> TarRenamer::finish() const {
  if (reader_.is_whole() || (only_first_ && first_)) return {};
  return bad_input("the engine's archive of " + printable(from_) + " is not whole");
}

std::string end_of_archive() { return std::string(2 * kTarBlock, '\0'); }

}  // namespace flowcon::cluster::migration
