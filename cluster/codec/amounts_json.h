// SPDX-License-Identifier: Apache-2.0
// Amounts of resources as JSON, and other fields that several states have. Text and types only, no
// decision.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/json_reader.h"
#include "cluster/policy/room.h"

namespace flowcon::cluster::policy {

/// An option that is null or missing is `otherwise`.
[[nodiscard]] bool option(FieldReader& reader, const char* name, bool otherwise);

/// A number that must not be below 0.
double read_amount(FieldReader& reader, std::string_view name);

/// Reads {resource:amount} and complains of more than 64 resources in all.
class AmountsReader {
 public:
  Amounts read(FieldReader& reader, const char* name, bool is_positive);

 private:
  std::unordered_set<std::string> kinds_;
};

[[nodiscard]] boost::json::object amounts_json(const Amounts& amounts);

}  // namespace flowcon::cluster::policy
