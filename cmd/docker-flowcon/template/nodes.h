// SPDX-License-Identifier: Apache-2.0
// The parsed form of a template, from the parser to the evaluator.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace flowcon::plugin {

/// A place in the template. Lines count from 1, columns from 0, as Go counts.
struct Position {
  std::size_t line = 1;
  std::size_t column = 0;
};

struct Pipeline;

/// One operand: `.A.B`, `$.A`, a literal, a function's name, or a pipeline in parentheses.
struct Operand {
  enum class Kind { dot, root, literal, function, pipeline };
  Kind kind = Kind::dot;
  boost::json::value literal;          ///< of a literal
  std::string function;                ///< name, of a function
  std::shared_ptr<Pipeline> pipeline;  ///< of a pipeline in parentheses
  std::vector<std::string> fields;     ///< looked up one after the other
  std::string text;                    ///< as written, for messages
  Position position;
};

/// A function with its arguments, or a single operand.
struct Call {
  std::vector<Operand> operands;  ///< never empty
};

/// Calls joined by `|`; each hands its value to the next as its last argument.
struct Pipeline {
  std::vector<Call> calls;  ///< never empty
};

struct TemplateNode {
  enum class Kind { text, action, if_, range, with };
  Kind kind = Kind::text;
  std::string text;
  Pipeline pipeline;
  std::vector<TemplateNode> body;
  std::vector<TemplateNode> otherwise;  ///< the {{else}} part
};

/// True if `name` is a function of the template language.
[[nodiscard]] bool is_template_function(std::string_view name);

}  // namespace flowcon::plugin
