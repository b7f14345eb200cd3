// SPDX-License-Identifier: Apache-2.0
// Amounts of resources as JSON. Text and types only, no decision.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/json_fields.h"
#include "cluster/policy/room.h"

namespace flowcon::cluster::policy {

[[nodiscard]] boost::json::object amounts_json(const Amounts& amounts);

/// {resource:amount}; complains of more than 64 resources in all.
class AmountsReader {
 public:
  Amounts read(FieldReader& reader, std::string_view name, bool is_positive);
  /// Reads or writes a field.
  void operator()(auto& io, std::string_view name, auto& amounts, bool is_positive = true) {
    const auto from = [&](FieldReader& reader, auto) { return read(reader, name, is_positive); };
    io.as(name, amounts, from, amounts_json);
  }

 private:
  std::unordered_set<std::string> kinds_;
};

}  // namespace flowcon::cluster::policy
