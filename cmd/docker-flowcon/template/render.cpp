// SPDX-License-Identifier: Apache-2.0
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cmd/docker-flowcon/template/functions.h"
#include "cmd/docker-flowcon/template/nodes.h"
#include "cmd/docker-flowcon/template/template.h"

namespace flowcon::plugin {
namespace {

using Nodes = std::vector<TemplateNode>;

// The message of Go's, with the fields that are there where Go names its own type.
std::string missing_field(const json::value& in, const std::string& field) {
  const json::object* object = in.if_object();
  if (object == nullptr) return "can't evaluate field " + field + " in a value without fields";
  const auto key_of = [](const auto& member) { return std::string(member.key()); };
  return "can't evaluate field " + field + "; the fields are: " + joined(*object, ", ", key_of);
}

class Renderer {
 public:
  explicit Renderer(const json::value& root) : root_(root) {}

  Result<bool> render(const Nodes& nodes, const json::value& dot) {
    for (const TemplateNode& node : nodes) {
      if (node.kind == TemplateNode::Kind::text) {
        out += node.text;
        continue;
      }
      const Result<json::value> value = evaluate(node.pipeline, dot);
      if (!value) return value.error();
      const Result<bool> done = apply(node, *value, dot);
      if (!done) return done;
    }
    return true;
  }

  std::string out;

 private:
  Result<bool> apply(const TemplateNode& node, const json::value& value, const json::value& dot) {
    if (node.kind == TemplateNode::Kind::action) {
      out += template_text(value);
      return true;
    }
    if (node.kind == TemplateNode::Kind::range) return render_range(node, value, dot);
    if (!is_template_true(value)) return render(node.otherwise, dot);
    return render(node.body, node.kind == TemplateNode::Kind::with ? value : dot);
  }

  Result<bool> render_range(const TemplateNode& node, const json::value& value,
                            const json::value& dot) {
    if (!is_template_true(value)) return render(node.otherwise, dot);
    if (const json::array* list = value.if_array()) {
      for (const json::value& item : *list) {
        const Result<bool> done = render(node.body, item);
        if (!done) return done;
      }
      return true;
    }
    if (const json::object* object = value.if_object()) {
      for (const auto& member : *object) {
        const Result<bool> done = render(node.body, member.value());
        if (!done) return done;
      }
      return true;
    }
    return fail(node.pipeline.calls.front().operands.front(),
                "range can't iterate over " + template_text(value));
  }

  static Error fail(const Operand& operand, const std::string& what) {
    return bad_input("template: :" + std::to_string(operand.position.line) + ":" +
                     std::to_string(operand.position.column) + ": executing \"\" at <" +
                     operand.text + ">: " + what);
  }

  Result<json::value> evaluate(const Pipeline& pipeline, const json::value& dot) {
    json::value value;
    for (std::size_t i = 0; i < pipeline.calls.size(); ++i) {
      const Call& call = pipeline.calls[i];
      const Operand& head = call.operands.front();
      if (head.kind != Operand::Kind::function) {
        Result<json::value> operand = evaluate(head, dot);
        if (!operand) return operand;
        value = std::move(*operand);
        continue;
      }
      std::vector<json::value> arguments;
      for (std::size_t j = 1; j < call.operands.size(); ++j) {
        Result<json::value> argument = evaluate(call.operands[j], dot);
        if (!argument) return argument;
        arguments.push_back(std::move(*argument));
      }
      if (i > 0) arguments.push_back(std::move(value));
      Result<json::value> result = call_template_function(head.function, arguments);
      if (!result) {
        return fail(head, "error calling " + head.function + ": " + result.error().what);
      }
      value = std::move(*result);
    }
    return value;
  }

  Result<json::value> evaluate(const Operand& operand, const json::value& dot) {
    switch (operand.kind) {
      case Operand::Kind::literal:
        return operand.literal;
      case Operand::Kind::dot:
        return look_up(operand, dot);
      case Operand::Kind::root:
        return look_up(operand, root_);
      case Operand::Kind::pipeline: {
        const Result<json::value> inner = evaluate(*operand.pipeline, dot);
        if (!inner) return inner;
        return look_up(operand, *inner);
      }
      case Operand::Kind::function: {
        Result<json::value> result = call_template_function(operand.function, {});
        if (!result) {
          return fail(operand, "error calling " + operand.function + ": " + result.error().what);
        }
        return result;
      }
    }
    return json::value();
  }

  static Result<json::value> look_up(const Operand& operand, const json::value& start) {
    const json::value* value = &start;
    for (const std::string& field : operand.fields) {
      if (value->is_null()) {
        return fail(operand, "nil pointer evaluating " + field + ": the value is not known");
      }
      const json::object* object = value->if_object();
      const json::value* next = object != nullptr ? object->if_contains(field) : nullptr;
      if (next == nullptr) return fail(operand, missing_field(*value, field));
      value = next;
    }
    return *value;
  }

  const json::value& root_;
};

// A table's heading. It only has to find which field each cell shows.
class HeaderRenderer {
 public:
  explicit HeaderRenderer(const json::object& headers) : headers_(headers) {}

  Result<bool> render(const Nodes& nodes) {
    for (const TemplateNode& node : nodes) {
      if (node.kind == TemplateNode::Kind::text) {
        out += node.text;
      } else if (node.kind == TemplateNode::Kind::action) {
        const Result<std::string> header = find_header(node.pipeline);
        if (!header) return header.error();
        out += *header;
      } else {
        // The first branch stands for the cell; a list's items take their list's name.
        const Result<bool> done =
            node.kind == TemplateNode::Kind::if_ ? render(node.body) : render_list(node);
        if (!done) return done;
      }
    }
    return true;
  }

  std::string out;

 private:
  Result<bool> render_list(const TemplateNode& node) {
    const Result<std::string> header = find_header(node.pipeline);
    if (!header) return header.error();
    out += *header;
    return true;
  }

  Result<std::string> find_header(const Pipeline& pipeline) const {
    for (const Call& call : pipeline.calls) {
      for (const Operand& operand : call.operands) {
        Result<std::string> header = find_header(operand);
        if (!header || !header->empty()) return header;
      }
    }
    return std::string();
  }

  Result<std::string> find_header(const Operand& operand) const {
    if (operand.kind == Operand::Kind::pipeline) return find_header(*operand.pipeline);
    const bool is_field = operand.kind == Operand::Kind::dot || operand.kind == Operand::Kind::root;
    if (!is_field || operand.fields.empty()) return std::string();
    const json::value* header = headers_.if_contains(operand.fields.front());
    if (header == nullptr) {
      return bad_input("template: :" + std::to_string(operand.position.line) + ":" +
                       std::to_string(operand.position.column) + ": executing \"\" at <" +
                       operand.text + ">: " + missing_field(headers_, operand.fields.front()));
    }
    if (operand.fields.size() == 1) return template_text(*header);
    return upper(operand.fields.back());
  }

  const json::object& headers_;
};

}  // namespace

Result<std::string> Template::render(const json::value& dot) const {
  Renderer renderer(dot);
  const Result<bool> done = renderer.render(*nodes_, dot);
  if (!done) return done.error();
  return std::move(renderer.out);
}

Result<std::string> Template::render_header(const json::value& headers) const {
  HeaderRenderer renderer(headers.get_object());
  const Result<bool> done = renderer.render(*nodes_);
  if (!done) return done.error();
  return std::move(renderer.out);
}

}  // namespace flowcon::plugin
