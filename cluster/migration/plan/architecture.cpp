// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/architecture.h"

#include <algorithm>
#include <array>
#include <utility>

namespace flowcon::cluster::migration {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// As uname and as images say it, where these differ.
constexpr std::array kNames{Pair{"x86_64", "amd64"},       Pair{"aarch64", "arm64"},
                            Pair{"i386", "386"},           Pair{"i686", "386"},
                            Pair{"armv6l", "arm"},         Pair{"armv7l", "arm"},
                            Pair{"loongarch64", "loong64"}};

// Hosts that run the programs of an older one, too.
constexpr std::array kOlder{Pair{"amd64", "386"}, Pair{"arm64", "arm"}};

constexpr std::size_t kLongest = 32;

bool is_word(std::string_view text) {
  return text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

std::string architecture_of(std::string_view machine) {
  if (!is_word(machine)) return "";
  const auto* const found = std::find_if(kNames.begin(), kNames.end(),
                                         [&](const Pair& one) { return one.first == machine; });
  return std::string(found == kNames.end() ? machine : found->second);
}

bool runs_on(std::string_view host, std::string_view image) {
  return host.empty() || image.empty() || host == image ||
         std::find(kOlder.begin(), kOlder.end(), Pair{host, image}) != kOlder.end();
}

std::string image_is_for(std::string_view image) {
  return "its image is for " + std::string(image);
}

}  // namespace flowcon::cluster::migration
