// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/amounts_json.h"

#include <cmath>

namespace flowcon::cluster::policy {
namespace {

constexpr std::size_t kMostKinds = 64;  // a row of amounts a node
constexpr double kMostAmount = 1e18;    // sums of so much are still numbers

}  // namespace

Amounts AmountsReader::read(FieldReader& reader, std::string_view name, bool is_positive) {
  Amounts amounts;
  FieldReader inner(reader.member(name), reader.place(name));
  for (const auto& member : object_of(reader.member(name))) {
    const std::string_view kind = member.key();
    amounts.emplace_back(kind, inner.number(kind));
    inner.require(!is_positive || amounts.back().second >= 0, kind, "must be at least 0");
    inner.require(std::abs(amounts.back().second) <= kMostAmount, kind, "must be at most 10^18");
    if (kinds_.count(std::string(kind)) == 0) kinds_.emplace(kind);
    if (kinds_.size() > kMostKinds) inner.complain(kind, "is one of more than 64 resources in all");
    if (inner.failed()) break;
  }
  reader.take_complaint(inner);
  return amounts;
}

boost::json::object amounts_json(const Amounts& amounts) {
  boost::json::object object;
  object.reserve(amounts.size());
  for (const auto& [kind, amount] : amounts) object.emplace(kind, amount);
  return object;
}

}  // namespace flowcon::cluster::policy
