// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/tar_reader.h"

#include <algorithm>
#include <charconv>

namespace flowcon::cluster::migration {
namespace {

constexpr std::uint64_t kMaxExtension = 1U << 20;

bool is_extension(TarType type) {
  return type == TarType::pax || type == TarType::long_name || type == TarType::long_link;
}

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

// Links, devices and folders have none, whatever their headers say.
bool has_content(TarType type) { return type == TarType::file || is_extension(type); }

std::uint64_t padding_of(std::uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

}  // namespace

bool TarReader::is_between() const {
  if (has_extension_) return false;
  switch (state_) {
    case State::header:
      return pending_.empty();
    case State::extension:
      return false;
    case State::content:
      return left_ == 0 && padding_ == 0;
    case State::padding:
      return padding_ == 0;
    case State::zeros:
      return true;
  }
  return false;
}

// Moves bytes to pending_ until it has `wanted`.
bool TarReader::fill(std::string_view& bytes, std::size_t wanted) {
  const std::size_t count = std::min(bytes.size(), wanted - pending_.size());
  pending_.append(bytes.substr(0, count));
  bytes.remove_prefix(count);
  return pending_.size() == wanted;
}

Result<TarStep> TarReader::next(std::string_view& bytes) {
  for (;;) {
    switch (state_) {
      case State::header: {
        if (!fill(bytes, kTarBlock)) return TarStep{};
        Result<TarStep> step = take_header();
        if (!step || step->kind == TarStep::Kind::entry) return step;
        break;
      }
      case State::extension: {
        if (!fill(bytes, static_cast<std::size_t>(left_))) return TarStep{};
        if (const Result<void> taken = take_extension(); !taken) return taken.error();
        break;
      }
      case State::content: {
        if (left_ == 0) {
          state_ = State::padding;
          return TarStep{TarStep::Kind::end, {}, {}};
        }
        if (bytes.empty()) return TarStep{};
        const std::size_t count =
            static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
        TarStep step{TarStep::Kind::content, {}, bytes.substr(0, count)};
        bytes.remove_prefix(count);
        left_ -= count;
        return step;
      }
      case State::padding: {
        const std::size_t count =
            static_cast<std::size_t>(std::min<std::uint64_t>(padding_, bytes.size()));
        bytes.remove_prefix(count);
        padding_ -= count;
        if (padding_ != 0) return TarStep{};
        state_ = State::header;
        break;
      }
      case State::zeros:
        if (!is_zero(bytes)) return bad_input("the archive goes on after its end");
        zero_bytes_ += bytes.size();
        bytes = {};
        return TarStep{};
    }
  }
}

// "more" where it was no header of an entry.
Result<TarStep> TarReader::take_header() {
  const std::string block = std::move(pending_);
  pending_.clear();
  if (is_zero(block)) {
    if (has_extension_) return bad_input("the archive ends in the middle of an entry");
    zero_bytes_ = block.size();
    state_ = State::zeros;
    return TarStep{};
  }
  Result<TarHeader> parsed = parse_tar_header(block);
  if (!parsed) return parsed.error();
  TarHeader header = std::move(*parsed);
  if (is_extension(header.type)) {
    if (extensions_ == TarExtensions::none) return bad_input("the archive has a long header");
    if (header.size == 0 || header.size > kMaxExtension) {
      return bad_input("the archive has an extension of an unlikely size");
    }
    extension_ = header.type;
    left_ = header.size;
    state_ = State::extension;
    return TarStep{};
  }
  if (has_name_) header.name = name_;
  if (has_link_) header.link = link_;
  if (has_size_) header.size = size_;
  has_extension_ = has_name_ = has_link_ = has_size_ = false;
  if (!has_content(header.type)) header.size = 0;
  left_ = header.size;
  padding_ = padding_of(header.size);
  state_ = State::content;
  return TarStep{TarStep::Kind::entry, std::move(header), {}};
}

Result<void> TarReader::take_extension() {
  has_extension_ = true;
  padding_ = padding_of(pending_.size());
  left_ = 0;
  state_ = State::padding;
  Result<void> taken;
  if (extension_ == TarType::pax) {
    taken = take_pax();
  } else {
    // Ended by a NUL.
    std::string text = pending_.substr(0, pending_.find('\0'));
    taken = extension_ == TarType::long_name ? give(has_name_, name_, std::move(text))
                                             : give(has_link_, link_, std::move(text));
  }
  pending_.clear();
  return taken;
}

Result<void> TarReader::take_pax() {
  Result<std::vector<PaxRecord>> records = parse_pax(pending_);
  if (!records) return records.error();
  for (PaxRecord& record : *records) {
    if (record.key.rfind("GNU.sparse", 0) == 0) return bad_input("the archive has a sparse file");
    Result<void> given;
    if (record.key == "path") given = give(has_name_, name_, std::move(record.value));
    if (record.key == "linkpath") given = give(has_link_, link_, std::move(record.value));
    if (record.key == "size") {
      const char* end = record.value.data() + record.value.size();
      const auto parsed = std::from_chars(record.value.data(), end, size_);
      if (has_size_ || parsed.ec != std::errc() || parsed.ptr != end) {
        return bad_input("the archive has a size that is none");
      }
      has_size_ = true;
    }
    if (!given) return given;
  }
  return {};
}

Result<void> TarReader::give(bool& has, std::string& value, std::string given) {
  if (has) return bad_input("the archive names an entry twice");
  has = true;
  value = std::move(given);
  return {};
}

}  // namespace flowcon::cluster::migration
