// SPDX-License-Identifier: Apache-2.0
// docker's --format: table, json, TEMPLATE, 'table TEMPLATE'.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cmd/docker-flowcon/template/template.h"

namespace flowcon::plugin {

/// How a list of things is printed.
class Format {
 public:
  /// Reads what the user gave. "" and "table" stand for `default_table`, a template of cells
  /// separated by tabs. `\t` and `\n` in the text become a tab and a line end, as in docker.
  /// Errors: "template parsing error: …".
  [[nodiscard]] static Result<Format> parse(std::string_view text, std::string_view default_table);

  /// True if the format is plain json.
  [[nodiscard]] bool is_json() const { return kind_ == Kind::json; }

  /// One entry of `things` a line; a table has `headers` (field to heading) above.
  /// Errors: "template parsing error: …" where a field is not there.
  [[nodiscard]] Result<std::string> render(const std::vector<boost::json::object>& things,
                                           const boost::json::object& headers) const;

 private:
  enum class Kind { table, json, lines };
  Kind kind_ = Kind::table;
  Template template_;
};

/// The text of --format in --help.
[[nodiscard]] std::string format_help();

}  // namespace flowcon::plugin
