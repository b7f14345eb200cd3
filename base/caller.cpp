// SPDX-License-Identifier: Apache-2.0
#include "base/caller.h"

#include <algorithm>

#include "base/text.h"

namespace flowcon {
namespace {

constexpr std::string_view kWord = "FLOWCON-PEER ";
constexpr std::size_t kLongestName = 290;

}  // namespace

bool is_caller_name(std::string_view name) {
  const auto is_good = [](char c) {
    return is_alnum(c) || std::string_view("._-:[]%").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), is_good);
}

std::string announcement(std::string_view name) {
  return std::string(kWord) + std::string(is_caller_name(name) ? name : "") + "\n";
}

Announced read_announcement(std::string_view text) {
  Announced out;
  const std::size_t common = std::min(text.size(), kWord.size());
  if (text.substr(0, common) != kWord.substr(0, common)) return out;
  const std::size_t end = text.substr(0, kLongestAnnouncement).find('\n');
  if (end == std::string_view::npos) {
    if (text.size() < kLongestAnnouncement) out.kind = Announced::Kind::half;
    return out;
  }
  out.kind = Announced::Kind::whole;
  out.bytes = end + 1;
  const std::string_view name = text.substr(kWord.size(), end - kWord.size());
  if (is_caller_name(name)) out.name = name;
  return out;
}

}  // namespace flowcon
