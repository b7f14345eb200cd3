// SPDX-License-Identifier: Apache-2.0
// What engines said of a container, as a test's starting point. data/inspect-20.10*.json were
// written by Engine 20.10.24 on cgroup v1; inspect-28.json is the same container in the shape
// of 28.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "base/json.h"
#include "cluster/migration/plan/description.h"
#include "tests/support/paths.h"

namespace flowcon::cluster::migration {

class Inspected {
 public:
  explicit Inspected(const std::string& version) {
    std::ifstream file(flowcon::test::source_path("tests/cluster/migration/plan/data/inspect-" +
                                                  version + ".json"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    value = *parse_json(text);
  }

  boost::json::object& at(const char* name) { return value.as_object().at(name).as_object(); }
  boost::json::object& host() { return at("HostConfig"); }
  boost::json::object& config() { return at("Config"); }

  [[nodiscard]] Result<Description> described() const { return describe(value); }

  boost::json::value value;
};

/// The Description of what can be described.
[[nodiscard]] inline Description description_of(const Inspected& inspected) {
  const auto made = inspected.described();
  return made ? *made : Description{};
}

}  // namespace flowcon::cluster::migration
