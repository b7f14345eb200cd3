// SPDX-License-Identifier: Apache-2.0
// The plugin run in the test's own process, with what it printed.
#pragma once

#include <boost/json/parse.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/plugin.h"

namespace flowcon::plugin {

/// What a run came to.
struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

/// The template of a table of all fields that the first of these lines has.
inline std::string table_of_fields(const std::string& json_lines) {
  std::string table = "table ";
  const auto first = boost::json::parse(json_lines.substr(0, json_lines.find('\n')));
  for (const auto& field : first.as_object()) {
    table += "{{." + std::string(field.key()) + "}}\\t";
  }
  return table;
}

/// Runs `words` (what docker would hand over) with `environment` and a width of 80.
inline Outcome run_words(const std::vector<std::string>& words,
                         const Environment& environment = {}) {
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{out, err};
  const int status = run_plugin(words, environment, terminal);
  return {status, out.str(), err.str()};
}

}  // namespace flowcon::plugin
