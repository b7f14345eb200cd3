// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <utility>

#include "base/text.h"
#include "cmd/docker-flowcon/template/nodes.h"
#include "cmd/docker-flowcon/template/template.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kMaxDepth = 100;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_word(char c) { return is_alnum(c) || c == '_'; }

using Nodes = std::vector<TemplateNode>;

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  Result<Nodes> parse() {
    Result<Nodes> nodes = parse_nodes(0);
    if (!nodes) return nodes;
    if (ended_by_ == Ending::end) return fail("unexpected {{end}}");
    if (ended_by_ == Ending::otherwise) return fail("unexpected {{else}}");
    return nodes;
  }

 private:
  enum class Ending { text, end, otherwise };

  Error fail(const std::string& what) const {
    return bad_input("template: :" + std::to_string(position().line) + ": " + what);
  }

  Position position() const {
    Position position;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      ++position.column;
      if (text_[i] == '\n') position = {position.line + 1, 0};
    }
    return position;
  }

  bool at(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // Plain text up to the next action, without the white space that a "{{-" or "-}}" swallows.
  void parse_text(Nodes& nodes) {
    const std::size_t open = std::min(text_.find("{{", at_), text_.size());
    std::string_view text = text_.substr(at_, open - at_);
    if (trims_left_) {
      while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    }
    trims_left_ = false;
    at_ = open;
    if (at("{{-") && at_ + 3 < text_.size() && is_space(text_[at_ + 3])) {
      while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    }
    if (text.empty()) return;
    TemplateNode node;
    node.text = text;
    nodes.push_back(std::move(node));
  }

  Result<Nodes> parse_nodes(std::size_t depth) {
    if (depth > kMaxDepth) return fail("nested too deeply");
    Nodes nodes;
    while (true) {
      parse_text(nodes);
      ended_by_ = Ending::text;
      if (at_ >= text_.size()) {
        if (depth > 0) return fail("unexpected EOF");
        return nodes;
      }
      const Result<bool> goes_on = parse_action(nodes, depth);
      if (!goes_on) return goes_on.error();
      if (!*goes_on) return nodes;
    }
  }

  // False where the action ends the list of nodes it stands in.
  Result<bool> parse_action(Nodes& nodes, std::size_t depth) {
    at_ += at("{{-") && at_ + 3 < text_.size() && is_space(text_[at_ + 3]) ? 3 : 2;
    skip_space();
    if (at("/*")) return parse_comment();
    const std::size_t start = at_;
    const std::string word(peek_word());
    if (word == "end" || word == "else") return parse_ending(word);
    if (word == "if" || word == "range" || word == "with") {
      at_ += word.size();
      return parse_block(nodes, word, depth);
    }
    if (word == "define" || word == "template" || word == "block" || word == "break" ||
        word == "continue") {
      return fail("{{" + word + "}} is not supported here");
    }
    at_ = start;
    TemplateNode node;
    node.kind = TemplateNode::Kind::action;
    Result<Pipeline> pipeline = parse_pipeline(depth);
    if (!pipeline) return pipeline.error();
    node.pipeline = std::move(*pipeline);
    if (!close()) return unclosed();
    nodes.push_back(std::move(node));
    return true;
  }

  Result<bool> parse_comment() {
    const std::size_t end = text_.find("*/", at_);
    if (end == std::string_view::npos) return fail("unclosed comment");
    at_ = end + 2;
    if (!close()) return fail("comment ends before closing delimiter");
    return true;
  }

  Result<bool> parse_ending(const std::string& word) {
    at_ += word.size();
    skip_space();
    ended_by_ = word == "end" ? Ending::end : Ending::otherwise;
    // "{{else if …}}": the `if` is left to read for whoever gets the else.
    if (ended_by_ == Ending::otherwise && peek_word() == "if") return false;
    if (!close()) return unclosed();
    return false;
  }

  Result<bool> parse_block(Nodes& nodes, const std::string& word, std::size_t depth) {
    TemplateNode node;
    node.kind = word == "if"      ? TemplateNode::Kind::if_
                : word == "range" ? TemplateNode::Kind::range
                                  : TemplateNode::Kind::with;
    skip_space();
    if (at("}}")) return fail("missing value for " + word);
    Result<Pipeline> pipeline = parse_pipeline(depth);
    if (!pipeline) return pipeline.error();
    node.pipeline = std::move(*pipeline);
    if (!close()) return unclosed();
    Result<Nodes> body = parse_nodes(depth + 1);
    if (!body) return body.error();
    node.body = std::move(*body);
    if (ended_by_ == Ending::otherwise) {
      const Result<bool> rest = parse_otherwise(node, word, depth);
      if (!rest) return rest;
    }
    ended_by_ = Ending::text;
    nodes.push_back(std::move(node));
    return true;
  }

  Result<bool> parse_otherwise(TemplateNode& node, const std::string& word, std::size_t depth) {
    if (peek_word() == "if") {
      if (word != "if") return fail("unexpected <if> in {{else}} of " + word);
      if (depth >= kMaxDepth) return fail("nested too deeply");
      at_ += 2;
      return parse_block(node.otherwise, "if", depth + 1);
    }
    Result<Nodes> otherwise = parse_nodes(depth + 1);
    if (!otherwise) return otherwise.error();
    if (ended_by_ != Ending::end) return fail("expected end; found {{else}}");
    node.otherwise = std::move(*otherwise);
    return true;
  }

  std::string_view peek_word() const {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  bool at_close() const { return at("}}") || (at("-}}") && at_ > 0 && is_space(text_[at_ - 1])); }

  bool close() {
    skip_space();
    if (!at_close()) return false;
    trims_left_ = at("-}}");
    at_ += trims_left_ ? 3 : 2;
    return true;
  }

  Error unclosed() const {
    if (at_ >= text_.size() || text_.find("}}", at_) == std::string_view::npos) {
      return fail("unclosed action");
    }
    return fail("unexpected \"" + std::string(text_.substr(at_, 1)) + "\" in command");
  }

  Result<Pipeline> parse_pipeline(std::size_t depth) {
    if (depth > kMaxDepth) return fail("nested too deeply");
    Pipeline pipeline;
    while (true) {
      Result<Call> call = parse_call(depth);
      if (!call) return call.error();
      const Operand& head = call->operands.front();
      if (!pipeline.calls.empty() && head.kind != Operand::Kind::function) {
        return fail("non executable command in pipeline stage " +
                    std::to_string(pipeline.calls.size() + 1));
      }
      if (head.kind != Operand::Kind::function && call->operands.size() > 1) {
        return fail("can't give argument to non-function " + head.text);
      }
      pipeline.calls.push_back(std::move(*call));
      skip_space();
      if (!at("|")) return pipeline;
      ++at_;
    }
  }

  Result<Call> parse_call(std::size_t depth) {
    Call call;
    while (true) {
      skip_space();
      if (at_ >= text_.size()) return fail("unclosed action");
      if (at_close() || text_[at_] == '|' || text_[at_] == ')') break;
      Result<Operand> operand = parse_operand(depth);
      if (!operand) return operand.error();
      call.operands.push_back(std::move(*operand));
      const bool ends = at_ >= text_.size() || is_space(text_[at_]) || text_[at_] == '|' ||
                        text_[at_] == ')' || at("}}");
      if (!ends) return unclosed();
    }
    if (call.operands.empty()) return fail("missing value for command");
    return call;
  }

  Result<Operand> parse_operand(std::size_t depth) {
    const std::size_t start = at_;
    Operand operand;
    operand.position = position();
    Result<bool> read = true;
    const char c = text_[at_];
    if (c == '.' && !(at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      operand.kind = Operand::Kind::dot;
      if (at_ + 1 >= text_.size() || !is_word(text_[at_ + 1])) ++at_;
    } else if (c == '$') {
      operand.kind = Operand::Kind::root;
      ++at_;
      if (!peek_word().empty()) return fail("variables are not supported here");
    } else if (c == '(') {
      read = parse_parentheses(operand, depth);
    } else if (c == '"' || c == '`') {
      operand.kind = Operand::Kind::literal;
      read = c == '"' ? parse_string(operand) : parse_raw_string(operand);
    } else if (is_digit(c) || c == '-' || c == '+' || c == '.') {
      operand.kind = Operand::Kind::literal;
      read = parse_number(operand);
    } else {
      read = parse_name(operand);
    }
    if (!read) return read.error();
    while (at_ + 1 < text_.size() && text_[at_] == '.' && is_word(text_[at_ + 1])) {
      ++at_;
      operand.fields.emplace_back(peek_word());
      at_ += operand.fields.back().size();
    }
    operand.text = text_.substr(start, at_ - start);
    return operand;
  }

  Result<bool> parse_parentheses(Operand& operand, std::size_t depth) {
    operand.kind = Operand::Kind::pipeline;
    ++at_;
    Result<Pipeline> inner = parse_pipeline(depth + 1);
    if (!inner) return inner.error();
    operand.pipeline = std::make_shared<Pipeline>(std::move(*inner));
    skip_space();
    if (!at(")")) return fail("unclosed left paren");
    ++at_;
    return true;
  }

  Result<bool> parse_string(Operand& operand) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        operand.literal = std::move(value);
        return true;
      }
      if (text_[at_] != '\\') {
        value += text_[at_];
        continue;
      }
      constexpr std::string_view kEscapes = "ntr\"\\'";
      constexpr std::string_view kMeanings = "\n\t\r\"\\'";
      const std::size_t which = kEscapes.find(at_ + 1 < text_.size() ? text_[++at_] : '\0');
      if (which == std::string_view::npos) return fail("invalid escape in quoted string");
      value += kMeanings[which];
    }
    return fail("unterminated quoted string");
  }

  Result<bool> parse_raw_string(Operand& operand) {
    const std::size_t end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos) return fail("unterminated raw quoted string");
    operand.literal = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  Result<bool> parse_number(Operand& operand) {
    const std::size_t start = at_;
    if (text_[at_] == '+' || text_[at_] == '-') ++at_;
    while (at_ < text_.size() &&
           (is_word(text_[at_]) || text_[at_] == '.' ||
            ((text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e'))) {
      ++at_;
    }
    std::string_view number = text_.substr(start, at_ - start);
    const std::string shown(number);
    if (number[0] == '+') number.remove_prefix(1);
    const char* end = number.data() + number.size();
    std::int64_t whole = 0;
    auto parsed = std::from_chars(number.data(), end, whole);
    if (parsed.ec == std::errc() && parsed.ptr == end) {
      operand.literal = whole;
      return true;
    }
    double real = 0;
    parsed = std::from_chars(number.data(), end, real);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      return fail("bad number syntax: \"" + shown + "\"");
    }
    operand.literal = real;
    return true;
  }

  Result<bool> parse_name(Operand& operand) {
    const std::string name(peek_word());
    if (name.empty()) return fail("unexpected \"" + std::string(1, text_[at_]) + "\" in operand");
    at_ += name.size();
    operand.kind = Operand::Kind::literal;
    if (name == "true" || name == "false") {
      operand.literal = name == "true";
    } else if (name == "nil") {
      operand.literal = nullptr;
    } else if (is_template_function(name)) {
      operand.kind = Operand::Kind::function;
      operand.function = name;
    } else {
      return fail("function \"" + name + "\" not defined");
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool trims_left_ = false;
  Ending ended_by_ = Ending::text;
};

}  // namespace

Result<Template> Template::parse(std::string_view text) {
  Result<Nodes> nodes = TemplateParser(text).parse();
  if (!nodes) return nodes.error();
  Template parsed;
  parsed.nodes_ = std::make_shared<const Nodes>(std::move(*nodes));
  return parsed;
}

}  // namespace flowcon::plugin
