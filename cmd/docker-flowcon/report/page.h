// SPDX-License-Identifier: Apache-2.0
// The page of `docker flowcon report`: one HTML file that loads nothing. Pure. Every text of the
// data is hostile; it becomes plain text of the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/report/data.h"
#include "cmd/docker-flowcon/report/worth.h"

namespace flowcon::plugin {

/// The parts of the page that are files in the tree, put into the program when it is built.
struct PageFiles {
  std::string_view page;    ///< with @NAME@ as placeholders
  std::string_view style;   ///< CSS
  std::string_view script;  ///< JavaScript
};
[[nodiscard]] PageFiles page_files();

/// JSON that cannot end its script element.
[[nodiscard]] std::string script_json(const boost::json::value& value);

/// The page. `worths` are those of the data's runs; `nonce` allows only our style and script: 16
/// or more random hexadecimal digits.
[[nodiscard]] std::string render_page(const ReportData& data, const std::vector<JobWorth>& worths,
                                      const std::string& nonce);

}  // namespace flowcon::plugin
