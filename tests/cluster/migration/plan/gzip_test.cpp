// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/gzip.h"

#include <cstdint>

#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

// Bytes that cannot be packed: a linear congruential generator's upper ones.
std::string noise(std::size_t count) {
  std::string out;
  std::uint64_t state = 1;
  while (out.size() < count) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    out += static_cast<char>(state >> 56U);
  }
  return out;
}

std::string pack(const std::string& plain, std::size_t piece) {
  Packer packer;
  std::string out;
  for (std::size_t at = 0; at < plain.size(); at += piece) {
    out += packer.feed(std::string_view(plain).substr(at, piece));
  }
  return out + packer.finish();
}

std::string unpack(std::string_view packed, bool* is_whole) {
  Unpacker unpacker;
  std::string out;
  for (;;) {
    const auto plain = unpacker.next(packed);
    REQUIRE(plain.has_value());
    out += *plain;
    if (plain->empty() && packed.empty()) break;
    if (unpacker.is_at_end()) break;
  }
  *is_whole = unpacker.is_at_end();
  return out;
}

TEST_CASE("what was packed is unpacked, whatever the pieces and whatever it is") {
  const std::string text(300'000, 'a');
  const std::string mixed = text + noise(20U << 20) + text + noise(3U << 20) + text;
  for (const std::string& plain : {std::string(), std::string("x"), text, mixed}) {
    for (const std::size_t piece : {std::size_t{65536}, std::size_t{9} << 20}) {
      bool is_whole = false;
      CHECK((unpack(pack(plain, piece), &is_whole) == plain));
      CHECK(is_whole);
    }
  }
}

TEST_CASE(
    "what cannot be packed grows by less than a thousandth, what can is packed again after it") {
  const std::string hard = noise(20U << 20);
  const std::string packed = pack(hard, 65536);
  CHECK(packed.size() < hard.size() + hard.size() / 1000);
  // Of 40 MiB behind it at most 16 go by before it is looked at again, all else is packed to 1/200.
  const std::size_t both = pack(hard + std::string(40U << 20, 'a'), 65536).size();
  CHECK(both - packed.size() < (16U << 20) + (24U << 20) / 200 + (1U << 20));
}

TEST_CASE("what is cut is not whole, what is no gzip is an error") {
  const std::string packed = pack(std::string(1000, 'b'), 100);
  bool is_whole = true;
  CHECK(unpack(packed.substr(0, packed.size() - 1), &is_whole).size() <= 1000);
  CHECK_FALSE(is_whole);
  std::string_view wrong = "no gzip at all";
  CHECK_FALSE(Unpacker().next(wrong).has_value());
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // of its CRC
  std::string_view rest = damaged;
  Unpacker unpacker;
  bool has_failed = false;
  while (!rest.empty() && !has_failed) has_failed = !unpacker.next(rest);
  CHECK(has_failed);
}

}  // namespace
}  // namespace flowcon::cluster::migration
