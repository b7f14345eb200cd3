// SPDX-License-Identifier: Apache-2.0
#include "sim/published.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json.h"
#include "sim/table.h"

namespace flowcon::sim {
namespace {

std::string as_json(const std::vector<PublishedRow>& rows) {
  boost::json::array all;
  for (const PublishedRow& row : rows) {
    all.push_back(boost::json::object{{"experiment", row.experiment},
                                      {"published", row.published},
                                      {"ours", row.ours},
                                      {"goal", row.goal},
                                      {"is_met", nullptr}});
    if (row.is_simulated) all.back().as_object()["is_met"] = row.is_met;
  }
  return render_json_pretty(all) + "\n";
}

std::string as_csv(const std::vector<PublishedRow>& rows) {
  std::string out = "experiment,published,ours,goal,is_met\n";
  for (const PublishedRow& row : rows) {
    for (const std::string* text : {&row.experiment, &row.published, &row.ours, &row.goal}) {
      out += quoted(*text) + ",";
    }
    out += row.is_simulated ? row.is_met ? "true\n" : "false\n" : "\n";
  }
  return out;
}

}  // namespace

std::string render(const std::vector<PublishedRow>& rows, Format format) {
  if (format == Format::json) return as_json(rows);
  if (format == Format::csv) return as_csv(rows);
  std::vector<std::vector<std::string>> table{{"EXPERIMENT", "PUBLISHED", "OURS", "GOAL", "MET"}};
  for (const PublishedRow& row : rows) {
    const char* met = row.is_met ? "yes" : "no";
    table.push_back(
        {row.experiment, row.published, row.ours, row.goal, row.is_simulated ? met : "-"});
  }
  return aligned(table);
}

}  // namespace flowcon::sim
