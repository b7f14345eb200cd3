// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <string>

#include "base/hex.h"
#include "tests/support/catch.h"

namespace flowcon {
namespace {

std::string sum_of(const std::string& bytes) {
  Sha256 sum;
  sum.feed(bytes);
  return sum.finish();
}

}  // namespace

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

TEST_CASE("a text that is too long ends with the sum of all of it") {
  CHECK(shortened(std::string(100, 'a'), 100) == std::string(100, 'a'));
  const std::string longer(101, 'a');
  CHECK(shortened(longer, 100) == std::string(35, 'a') + " " + sum_of(longer));
}

}  // namespace flowcon
