// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

#include <boost/algorithm/hex.hpp>
#include <iterator>

namespace flowcon {

std::string to_hex(std::span<const unsigned char> bytes) {
  std::string text;
  boost::algorithm::hex_lower(bytes.begin(), bytes.end(), std::back_inserter(text));
  return text;
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace flowcon
