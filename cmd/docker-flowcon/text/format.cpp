// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/format.h"

#include "cmd/docker-flowcon/template/functions.h"
#include "cmd/docker-flowcon/text/table.h"

namespace flowcon::plugin {
namespace {

constexpr std::string_view kTable = "table";

std::string with_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == 't' || next == 'n')) {
      out += next == 't' ? '\t' : '\n';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Error parsing_error(const Error& error) {
  return bad_input("template parsing error: " + error.what);
}

}  // namespace

Result<Format> Format::parse(std::string_view text, std::string_view default_table) {
  Format format;
  if (text == "json") {
    format.kind_ = Kind::json;
    return format;
  }
  const bool is_table = text.empty() || text.substr(0, kTable.size()) == kTable;
  format.kind_ = is_table ? Kind::table : Kind::lines;
  if (is_table && !text.empty()) text.remove_prefix(kTable.size());
  text = without_spaces(text);
  if (is_table && text.empty()) text = default_table;
  Result<Template> parsed = Template::parse(with_escapes(text));
  if (!parsed) return parsing_error(parsed.error());
  format.template_ = std::move(*parsed);
  return format;
}

Result<std::string> Format::render(const std::vector<boost::json::object>& things,
                                   const boost::json::object& headers) const {
  std::string out;
  if (kind_ == Kind::table) {
    const Result<std::string> heading = template_.render_header(headers);
    if (!heading) return parsing_error(heading.error());
    out = *heading + "\n";
  }
  for (const boost::json::object& thing : things) {
    if (kind_ == Kind::json) {
      out += json_text(thing) + "\n";
      continue;
    }
    const Result<std::string> line = template_.render(thing);
    if (!line) return parsing_error(line.error());
    out += *line + "\n";
  }
  return kind_ == Kind::table ? align_columns(out) : out;
}

std::string format_help() {
  return "Format output using a custom template:\n"
         "'table':            Print output in table format with column headers (default)\n"
         "'table TEMPLATE':   Print output in table format using the given Go template\n"
         "'json':             Print in JSON format\n"
         "'TEMPLATE':         Print output using the given Go template.\n"
         "Refer to https://docs.docker.com/go/formatting/ for more information about formatting "
         "output with templates";
}

}  // namespace flowcon::plugin
