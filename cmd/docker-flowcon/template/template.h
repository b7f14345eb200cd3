// SPDX-License-Identifier: Apache-2.0
// The part of Go's text/template that people use in docker's --format: fields, pipelines, if,
// range, with, and docker's functions. No variables, no template definitions, no methods.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::plugin {

struct TemplateNode;

/// A parsed template. Copies share the parsed form, which does not change.
class Template {
 public:
  /// Errors: "template: :LINE: what is wrong", as Go words it.
  [[nodiscard]] static Result<Template> parse(std::string_view text);

  /// The text for `dot`. Missing values print as "<no value>".
  /// Errors: "template: :LINE:COLUMN: executing …": a field that is not there, a function that
  /// cannot take its arguments.
  [[nodiscard]] Result<std::string> render(const boost::json::value& dot) const;

  /// The text for a table's heading: each field stands for its entry in `headers`, each nested
  /// field for its own name in upper case, each function for the first field among its arguments.
  [[nodiscard]] Result<std::string> render_header(const boost::json::value& headers) const;

 private:
  std::shared_ptr<const std::vector<TemplateNode>> nodes_;
};

}  // namespace flowcon::plugin
