// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/framing_local.h"

#include <algorithm>
#include <utility>

#include "ctrl/logs/framing_protobuf.h"

namespace flowcon::ctrl::logs {
namespace {

constexpr std::size_t kLengthBytes = 4;

// While looking for a record after damage each byte could begin one. Docker's own are shorter than
// this (16 KiB of output, and some dozens of bytes around it), so that few bytes have to be kept.
constexpr std::size_t kMaxAfterDamage = 17 * 1024;

std::size_t read_length(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

}  // namespace

LocalDecoder::LocalDecoder(LineSink sink) : out_(sink), err_(std::move(sink)) {}

void LocalDecoder::feed(std::string_view bytes) {
  // The half record of before is completed with no more of the new bytes than may belong to it, so
  // that bytes are copied once.
  while (!pending_.empty() && !bytes.empty()) {
    std::size_t wanted = kLengthBytes;
    if (pending_.size() >= kLengthBytes && !is_lost_) {
      wanted = read_length(pending_) + 2 * kLengthBytes;
    }
    const std::size_t before = pending_.size();
    const std::size_t more = wanted > before ? wanted - before : kMaxAfterDamage;
    const std::size_t taken = std::min(more, bytes.size());
    pending_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    const std::size_t used = take(pending_);
    pending_.erase(0, used);
  }
  if (bytes.empty()) return;
  bytes.remove_prefix(take(bytes));
  pending_.assign(bytes);
}

LocalDecoder::Found LocalDecoder::look(std::string_view bytes, std::string_view& record) const {
  if (bytes.size() < kLengthBytes) return Found::incomplete;
  const std::size_t length = read_length(bytes);
  if (length == 0 || length > (is_lost_ ? kMaxAfterDamage : kMaxLocalRecordBytes)) {
    return Found::damage;
  }
  if (bytes.size() < length + 2 * kLengthBytes) return Found::incomplete;
  if (read_length(bytes.substr(kLengthBytes + length)) != length) return Found::damage;
  record = bytes.substr(kLengthBytes, length);
  return Found::record;
}

/// Decodes the records at the beginning of `bytes`; returns how many bytes are done with.
std::size_t LocalDecoder::take(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::string_view record;
    const Found found = look(bytes.substr(at), record);
    if (found == Found::record && decode(record)) {
      at += record.size() + 2 * kLengthBytes;
      is_lost_ = false;
      continue;
    }
    if (found == Found::incomplete) {
      // After damage a candidate that wants more than there is may be none at all, and what stands
      // behind it must not wait for it.
      const std::size_t next = is_lost_ ? find_record(bytes, at + 1) : bytes.size();
      if (next == bytes.size()) break;
      at = next;
      continue;
    }
    if (!is_lost_) {
      ++bad_records_;
      is_lost_ = true;
      out_.reset();
      err_.reset();
    }
    ++at;
  }
  return at;
}

/// Where the first whole record at `from` or later begins; the size of `bytes` if there is none.
std::size_t LocalDecoder::find_record(std::string_view bytes, std::size_t from) const {
  std::string_view record;
  while (from < bytes.size() && look(bytes.substr(from), record) != Found::record) ++from;
  return from;
}

/// False where the bytes are no LogEntry.
bool LocalDecoder::decode(std::string_view record) {
  std::string_view source;
  std::string_view line;
  std::uint64_t time_ns = 0;
  bool is_partial = false;
  bool is_last = false;
  FieldReader fields(record);
  while (const auto field = fields.next()) {
    if (field->is_bytes(1)) source = field->bytes;
    if (field->is_varint(2)) time_ns = field->number;
    if (field->is_bytes(3)) line = field->bytes;
    if (field->is_varint(4)) is_partial = field->number != 0;
    if (field->is_bytes(5)) {
      FieldReader parts(field->bytes);
      while (const auto part = parts.next()) {
        if (part->is_varint(1)) is_last = part->number != 0;
      }
    }
  }
  const bool is_stderr = source == "stderr";
  if (fields.is_bad() || (!is_stderr && source != "stdout")) return false;
  const double time = static_cast<double>(static_cast<std::int64_t>(time_ns)) / 1e9;
  LineSplitter& lines = is_stderr ? err_ : out_;
  lines.feed(line, time, is_stderr);
  if (!is_partial || is_last) lines.feed("\n", time, is_stderr);
  return true;
}

void LocalDecoder::finish() {
  out_.finish();
  err_.finish();
}

void LocalDecoder::reset() {
  pending_.clear();
  is_lost_ = false;
  out_.reset();
  err_.reset();
}

FramingStats LocalDecoder::stats() const {
  FramingStats sum = out_.stats();
  sum.add_lines(err_.stats());
  sum.bad_records = bad_records_;
  return sum;
}

}  // namespace flowcon::ctrl::logs
