// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/text.h"

namespace flowcon {
namespace {

using boost::system::error_code;

constexpr std::size_t kMaxDepth = 64;

// Boost's parser finds the tokens; the digits of a double are read here. The text is always one
// buffer, so a number arrives whole and on_number_part comes only right before an error.
struct Handler {
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  json::value_stack stack;
  std::string complaint;

  Handler() { stack.reset(); }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_object_end(std::size_t n, error_code&) {
    stack.push_object(n);
    return true;
  }
  bool on_array_end(std::size_t n, error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(json::string_view text, std::size_t, error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_key(json::string_view text, std::size_t, error_code&) {
    stack.push_key(text);
    return true;
  }
  bool on_string_part(json::string_view text, std::size_t, error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_string(json::string_view text, std::size_t, error_code&) {
    stack.push_string(text);
    return true;
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, error_code&) {
    stack.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, error_code&) {
    stack.push_uint64(number);
    return true;
  }
  bool on_double(double nearly, json::string_view text, error_code& error) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, number);
    if (status == std::errc::result_out_of_range && std::abs(nearly) < 1) {
      // Too small for a double: the nearest one is zero.
      number = std::copysign(0.0, nearly);
    } else if (status != std::errc{} || stop != end || !std::isfinite(number)) {
      complaint = "the number " + printable(text, 40) + " is beyond the range of a double";
      error = json::error::exponent_overflow;
      return false;
    }
    stack.push_double(number);
    return true;
  }
  bool on_bool(bool value, error_code&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }
};

/// Stands for itself within quotes, whatever comes before and after it.
bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_string(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  std::size_t plain = 0;
  while (plain < text.size() && is_plain(text[plain])) ++plain;
  out += text.substr(0, plain);
  for (const char c : valid_utf8(text.substr(plain))) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += {kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class Integer>
void append_integer(std::string& out, Integer number) {
  std::array<char, 24> text;
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

// One writer for both layouts: `indent` below zero means on one line.
class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void append(const json::value& value) {
    switch (value.kind()) {
      case json::kind::null:
        out_ += "null";
        break;
      case json::kind::bool_:
        out_ += value.get_bool() ? "true" : "false";
        break;
      case json::kind::int64:
        append_integer(out_, value.get_int64());
        break;
      case json::kind::uint64:
        append_integer(out_, value.get_uint64());
        break;
      case json::kind::double_:
        append_double(value.get_double());
        break;
      case json::kind::string:
        append_string(out_, value.get_string());
        break;
      case json::kind::array:
        append_array(value.get_array());
        break;
      case json::kind::object:
        append_object(value.get_object());
        break;
    }
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void append_double(double number) {
    if (std::isfinite(number)) {
      out_ += render_number(number);
    } else {
      out_ += '"' + render_number(number) + '"';
    }
  }

  void append_array(const json::array& array) {
    out_ += '[';
    ++depth_;
    bool first = true;
    for (const json::value& element : array) {
      separate(first);
      append(element);
    }
    close(']', array.empty());
  }

  void append_object(const json::object& object) {
    out_ += '{';
    ++depth_;
    bool first = true;
    for (const auto& member : object) {
      separate(first);
      append_string(out_, member.key());
      out_ += indent_ < 0 ? ":" : ": ";
      append(member.value());
    }
    close('}', object.empty());
  }

  void separate(bool& first) {
    if (!first) out_ += ',';
    first = false;
    new_line();
  }

  void close(char bracket, bool empty) {
    --depth_;
    if (!empty) new_line();
    out_ += bracket;
  }

  void new_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  std::string out_;
  std::size_t depth_ = 0;
  int indent_;
};

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<Handler> parser(options);
  error_code error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (!error) return parser.handler().stack.release();
  if (!parser.handler().complaint.empty()) return bad_input(parser.handler().complaint);
  return bad_input("not JSON: " + error.message() + " at byte " + std::to_string(used + 1));
}

std::string render_json(const json::value& value) {
  Writer writer(-1);
  writer.append(value);
  return writer.take();
}

std::string render_json_pretty(const json::value& value) {
  Writer writer(2);
  writer.append(value);
  return writer.take();
}

std::size_t rendered_size(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out.size();
}

std::string render_number(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  // "-0" would read back as the integer 0 and lose its sign.
  if (number == 0) return std::signbit(number) ? "-0.0" : "0";
  const double size = std::abs(number);
  const bool plain = size >= 1e-4 && size < 1e16;
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), end.ptr};
}

boost::json::value number_or_null(const std::optional<double>& number) {
  return number ? boost::json::value(*number) : boost::json::value(nullptr);
}

}  // namespace flowcon
