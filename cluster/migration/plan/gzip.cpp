// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace flowcon::cluster::migration {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;  // a gzip header and no other

// Level 1 packs some 50 MB/s of what can hardly be packed, such as weights (7 % shorter), which is
// less than a network of 1 Gbit/s carries, and the job stands still meanwhile.
constexpr std::size_t kSample = 1U << 20;
constexpr std::size_t kUnpacked = 16U << 20;

uInt count_of(std::string_view bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
}

// zlib does not write to what it reads.
Bytef* input_of(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

}  // namespace

Packer::Packer() : stream_(std::make_unique<z_stream_s>()) {
  if (deflateInit2(stream_.get(), 1, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    std::abort();  // out of memory
  }
}

Packer::~Packer() { deflateEnd(stream_.get()); }

std::string Packer::feed(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t before = out.size();
    const uInt count = count_of(bytes.substr(0, kSample));
    out += pack(bytes.substr(0, count), Z_NO_FLUSH);
    bytes.remove_prefix(count);
    taken_ += count;
    given_ += out.size() - before;
    if (taken_ >= (is_packing_ ? kSample : kUnpacked)) out += turn();
  }
  return out;
}

std::string Packer::turn() {
  const bool is_worth_it = !is_packing_ || given_ < taken_ / 5 * 4;
  taken_ = given_ = 0;
  if (is_worth_it == is_packing_) return "";
  is_packing_ = is_worth_it;
  // With nothing left inside, zlib needs no room to change over.
  std::string out = pack("", Z_BLOCK);
  (void)deflateParams(stream_.get(), is_packing_ ? 1 : 0, Z_DEFAULT_STRATEGY);
  return out;
}

std::string Packer::finish() { return pack("", Z_FINISH); }

std::string Packer::pack(std::string_view bytes, int flush) {
  std::string out;
  std::array<char, 1U << 14> buffer;
  stream_->next_in = input_of(bytes);
  stream_->avail_in = count_of(bytes);
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_->avail_out = static_cast<uInt>(buffer.size());
    (void)deflate(stream_.get(), flush);  // fails only where it is used wrongly
    out.append(buffer.data(), buffer.size() - stream_->avail_out);
  } while (stream_->avail_out == 0);
  return out;
}

Unpacker::Unpacker() : stream_(std::make_unique<z_stream_s>()) {
  if (inflateInit2(stream_.get(), kGzip) != Z_OK) std::abort();  // out of memory
}

Unpacker::~Unpacker() { inflateEnd(stream_.get()); }

Result<std::string_view> Unpacker::next(std::string_view& bytes) {
  const uInt given = count_of(bytes);
  stream_->next_in = input_of(bytes);
  stream_->avail_in = given;
  stream_->next_out = reinterpret_cast<Bytef*>(buffer_.data());
  stream_->avail_out = static_cast<uInt>(buffer_.size());
  const int result = inflate(stream_.get(), Z_NO_FLUSH);
  if (result == Z_STREAM_END) {
    is_at_end_ = true;
  } else if (result != Z_OK && result != Z_BUF_ERROR) {
    return bad_input("the archive is not packed by gzip, or is damaged");
  }
  bytes.remove_prefix(given - stream_->avail_in);
  return std::string_view(buffer_.data(), buffer_.size() - stream_->avail_out);
}

}  // namespace flowcon::cluster::migration
