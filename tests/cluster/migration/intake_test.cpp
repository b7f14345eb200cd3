// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/intake.h"

#include <zlib.h>

#include "tests/cluster/migration/tar_builder.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

std::string sum_of(const std::string& bytes) {
  Sha256 sum;
  sum.feed(bytes);
  return sum.finish();
}

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string verdict(const std::string& bytes, const Promise& promise, std::size_t cut = 100,
                    const IntakeRules& rules = {}) {
  ArchiveIntake intake(promise, rules);
  for (std::size_t at = 0; at < bytes.size(); at += cut) {
    const auto taken = intake.feed(std::string_view(bytes).substr(at, cut));
    if (!taken) return taken.error().message();
  }
  const auto whole = intake.finish();
  return whole ? "" : whole.error().message();
}

const std::string kTar = TarBuilder().file("a", std::string(5000, 'x')).folder("b").whole();

TEST_CASE("SHA-256 is that of the standard's examples, in one piece or in many") {
  CHECK(sum_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sum_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 sum;
  for (const char c : std::string("abc")) sum.feed(std::string(1, c));
  CHECK(sum.finish() == sum_of("abc"));
  CHECK(is_sha256(sum_of("")));
  CHECK_FALSE(is_sha256(sum_of("").substr(1)));
  CHECK_FALSE(is_sha256(std::string(64, 'A')));
}

TEST_CASE("what was promised is taken, plain or packed, in pieces of any size") {
  const std::string packed = gzip(kTar);
  for (const std::size_t cut : {1U, 13U, 512U, 100000U}) {
    CHECK(verdict(kTar, {kTar.size(), sum_of(kTar), Packing::plain}, cut).empty());
    CHECK(verdict(packed, {packed.size(), sum_of(packed), Packing::gzip}, cut).empty());
  }
}

TEST_CASE("more, fewer or other bytes than promised are refused") {
  const std::string sum = sum_of(kTar);
  CHECK(verdict(kTar, {kTar.size() - 1, sum, Packing::plain}) ==
        "the archive is longer than was promised");
  CHECK(verdict(kTar, {kTar.size() + 1, sum, Packing::plain}) ==
        "the archive is shorter than was promised");
  std::string other = kTar;
  other[600] = 'y';  // in the content
  CHECK(verdict(other, {kTar.size(), sum, Packing::plain}) ==
        "the archive is another than was promised: its SHA-256 differs");
  CHECK(verdict(kTar, {kTar.size(), "", Packing::plain}) ==
        "the archive was promised without a SHA-256");
  CHECK(verdict(kTar, {kTar.size(), std::string(64, 'A'), Packing::plain}) ==
        "the archive was promised without a SHA-256");
}

TEST_CASE("what is not packed as it says is refused") {
  const std::string packed = gzip(kTar);
  CHECK(verdict(kTar, {kTar.size(), sum_of(kTar), Packing::gzip}) ==
        "the archive is not packed by gzip, or is damaged");
  CHECK(verdict(packed, {packed.size(), sum_of(packed), Packing::plain}) != "");
  const std::string cut = packed.substr(0, packed.size() - 3);
  CHECK(verdict(cut, {cut.size(), sum_of(cut), Packing::gzip}) == "the archive is not whole");
  std::string damaged = packed;
  damaged[packed.size() - 6] = static_cast<char>(damaged[packed.size() - 6] ^ 1);  // its own sum
  CHECK(verdict(damaged, {damaged.size(), sum_of(damaged), Packing::gzip}) ==
        "the archive is not packed by gzip, or is damaged");
  const std::string twice = packed + packed;
  CHECK(verdict(twice, {twice.size(), sum_of(twice), Packing::gzip}) ==
        "the archive goes on after its end");
}

TEST_CASE("an archive in a packed stream is checked like a plain one") {
  const std::string bad = gzip(TarBuilder().file("../x").whole());
  CHECK(verdict(bad, {bad.size(), sum_of(bad), Packing::gzip}) ==
        "the archive's entry '../x' leaves the folder");
}

TEST_CASE("a bomb is refused long before it is unpacked") {
  const std::string bomb = gzip(TarBuilder().file("zeros", std::string(64U << 20, '\0')).whole());
  REQUIRE(bomb.size() < 100000);
  ArchiveIntake intake({bomb.size(), sum_of(bomb), Packing::gzip}, {});
  std::string why;
  for (std::size_t at = 0; at < bomb.size() && why.empty(); at += 1000) {
    const auto taken = intake.feed(std::string_view(bomb).substr(at, 1000));
    if (!taken) why = taken.error().message();
  }
  CHECK(why == "the archive is packed too well to be one");
  CHECK(intake.archive().archive_bytes() < 4U << 20);
  // What is packed as well but small is no bomb.
  const std::string small = gzip(TarBuilder().file("zeros", std::string(1U << 20, '\0')).whole());
  CHECK(verdict(small, {small.size(), sum_of(small), Packing::gzip}).empty());
}

TEST_CASE("after its end an intake takes nothing more") {
  ArchiveIntake intake({kTar.size(), sum_of(kTar), Packing::plain}, {});
  REQUIRE(intake.feed(kTar));
  REQUIRE(intake.finish());
  CHECK(intake.received_bytes() == kTar.size());
  CHECK(intake.archive().entries() == 2);
  CHECK_FALSE(intake.feed("x"));
  CHECK_FALSE(intake.finish());
}

}  // namespace
}  // namespace flowcon::cluster::migration
