// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/tar_reader.h"

#include <algorithm>
#include <utility>

#include "base/digits.h"

namespace flowcon::cluster::migration {
namespace {

bool is_extension(TarType type) {
  return type == TarType::pax || type == TarType::long_name || type == TarType::long_link;
}

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

std::uint64_t padding_of(std::uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

}  // namespace

bool TarReader::is_between() const {
  if (!is_free()) return false;
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
          return TarStep{TarStep::Kind::end, {}};
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
  std::string block = std::move(pending_);
  pending_.clear();
  if (is_zero(block)) {
    if (!is_free()) return bad_input("the archive ends in the middle of an entry");
    zero_bytes_ = block.size();
    state_ = State::zeros;
    return TarStep{};
  }
  Result<TarHeader> parsed = parse_tar_header(block);
  if (!parsed) return parsed.error();
  if (is_extension(parsed->type)) {
    if (auto begun = begin_extension(*parsed); !begun) return begun.error();
    return TarStep{};
  }
  TarStep step{TarStep::Kind::entry, std::move(*parsed)};
  TarHeader& header = step.header;
  if (has_name_) header.name = std::move(name_);
  if (has_link_) header.link = std::move(link_);
  if (has_size_) header.size = size_;
  has_pax_ = has_name_ = has_link_ = has_size_ = false;
  step.said_size = header.size;
  step.records = std::exchange(records_, {});
  step.block = std::move(block);
  // Links, devices and folders have no content, whatever their headers say.
  if (header.type != TarType::file) header.size = 0;
  left_ = header.size;
  padding_ = padding_of(header.size);
  state_ = State::content;
  return step;
}

Result<void> TarReader::begin_extension(const TarHeader& header) {
  if (extensions_ == TarExtensions::none) return bad_input("the archive has a long header");
  const bool is_pax = header.type == TarType::pax;
  const bool is_name = header.type == TarType::long_name;
  // Which of two would count is each reader's own idea.
  if (has_pax_ || (is_pax ? !is_free() : is_name ? has_name_ : has_link_)) {
    return bad_input("the archive describes an entry twice");
  }
  if (header.size == 0) return bad_input("a header of the archive is empty");
  if (header.size > (is_pax ? limits_.max_pax : limits_.max_name)) {
    return bad_input("a name or attribute of the archive is too long");
  }
  extension_ = header.type;
  left_ = header.size;
  state_ = State::extension;
  return {};
}

Result<void> TarReader::take_extension() {
  padding_ = padding_of(pending_.size());
  left_ = 0;
  state_ = State::padding;
  Result<void> taken = extension_ == TarType::pax         ? take_pax()
                       : extension_ == TarType::long_name ? take_long(has_name_, name_)
                                                          : take_long(has_link_, link_);
  pending_.clear();
  return taken;
}

Result<void> TarReader::take_pax() {
  Result<std::vector<PaxRecord>> records = parse_pax(pending_);
  if (!records) return records.error();
  has_pax_ = true;
  for (const PaxRecord& record : *records) {
    if (record.key.starts_with("GNU.sparse")) return bad_input("the archive has a sparse file");
    if (record.key == "path") {
      has_name_ = true;
      name_ = record.value;
    } else if (record.key == "linkpath") {
      has_link_ = true;
      link_ = record.value;
    } else if (record.key == "size") {
      const auto size = parse_number<std::uint64_t>(record.value);
      if (!size) return bad_input("the archive has a size that is none");
      has_size_ = true;
      size_ = *size;
    }
  }
  records_ = std::move(*records);
  return {};
}

Result<void> TarReader::take_long(bool& has, std::string& value) {
  const std::size_t end = pending_.find('\0');
  if (end == std::string::npos || !is_zero(std::string_view(pending_).substr(end))) {
    return bad_input("a long name of the archive does not end");
  }
  has = true;
  value = pending_.substr(0, end);
  return {};
}

}  // namespace flowcon::cluster::migration
