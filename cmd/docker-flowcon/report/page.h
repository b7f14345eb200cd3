// SPDX-License-Identifier: Apache-2.0
// The page of `docker flowcon report`: one HTML file that loads nothing. Pure. Every text of the
// data is hostile; it becomes text of the page and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/report/data.h"
#include "cmd/docker-flowcon/report/worth.h"

namespace flowcon::plugin {

/// The parts of the page that are files in the tree, put into the program when it is built.
struct PageFiles {
  std::string_view page;    ///< with @NAME@ where something goes
  std::string_view style;   ///< CSS
  std::string_view script;  ///< JavaScript
};
[[nodiscard]] PageFiles page_files();

/// JSON that cannot end the script element that it stands in.
[[nodiscard]] std::string script_json(const boost::json::value& value);

/// The page. `worths` are those of the data's runs; `nonce` lets our own style and script run, and
/// no others: 16 hexadecimal digits or more that nobody knew before.
[[nodiscard]] std::string render_page(const ReportData& data, const std::vector<JobWorth>& worths,
                                      const std::string& nonce);

}  // namespace flowcon::plugin
