// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/usage.h"

#include <algorithm>

#include "cmd/docker-flowcon/text/table.h"

namespace flowcon::plugin {
namespace {

struct Row {
  std::string name;
  std::string text;
};

std::string option_name(const CLI::Option& option) {
  const std::string letter = short_name(option);
  std::string name = letter.empty() ? "      " : "  -" + letter + ", ";
  name += "--" + long_name(option);
  if (!takes_value(option)) return name;
  // CLI11 appends what its checks say of themselves behind a colon.
  const std::string type = option.get_type_name();
  return name + " " + type.substr(0, type.find(':'));
}

std::vector<Row> option_rows(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options([](const CLI::Option* option) {
    return !option->get_positional() && !option->get_group().empty();
  });
  std::sort(options.begin(), options.end(), [](const CLI::Option* a, const CLI::Option* b) {
    return long_name(*a) < long_name(*b);
  });
  std::vector<Row> rows;
  for (const CLI::Option* option : options) {
    std::string text = option->get_description();
    const std::string value = option->get_default_str();
    // docker quotes the defaults of words and leaves numbers bare.
    const bool is_word = value.find_first_not_of("0123456789.") != std::string::npos;
    if (!value.empty())
      text += is_word ? " (default \"" + value + "\")" : " (default " + value + ")";
    rows.push_back({option_name(*option), text});
  }
  return rows;
}

// docker leaves the last column of the terminal free.
std::string render_rows(const std::vector<Row>& rows, unsigned width) {
  std::size_t column = 0;
  for (const Row& row : rows) column = std::max(column, character_count(row.name) + 3);
  const std::size_t text_width = std::max<std::size_t>(width - 1, column + 24) - column;
  std::string out;
  for (const Row& row : rows) {
    out += row.name + std::string(column - character_count(row.name), ' ') +
           wrapped(row.text, text_width, column) + "\n";
  }
  return out;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  const std::string line_break = "\n" + std::string(indent, ' ');
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    const bool ends_line = line.size() < text.size();
    std::size_t end = line.size();
    if (character_count(line) > width) {
      // Help is ASCII but for a few words; a byte count errs on the short side only.
      const std::size_t space = line.rfind(' ', width);
      end = space == std::string_view::npos || space == 0 ? line.find(' ') : space;
      end = std::min(end, line.size());
    }
    out += line.substr(0, end);
    text.remove_prefix(end);
    if (end == line.size() && ends_line) {
      text.remove_prefix(1);
      out += line_break;
    } else if (!text.empty()) {
      while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
      if (!text.empty()) out += line_break;
    }
  }
  return out;
}

std::string render_help(const Command& command, const std::vector<Command>& below, unsigned width) {
  std::string out = "Usage:  " + command.path + " " + command.synopsis + "\n\n" +
                    wrapped(command.app->get_description(), width, 0) + "\n";
  const std::vector<Row> options = option_rows(*command.app);
  if (!options.empty()) out += "\nOptions:\n" + render_rows(options, width);
  if (!below.empty()) {
    std::vector<Row> rows;
    for (const Command& sub : below) {
      if (sub.is_hidden) continue;
      std::string name = sub.app->get_name();
      // docker pads the names of commands to eleven.
      if (name.size() < 9) name.resize(9, ' ');
      rows.push_back({"  " + name, sub.app->get_description()});
    }
    out += "\nCommands:\n" + render_rows(rows, width);
  }
  if (!command.app->get_footer().empty()) {
    out += "\n" + wrapped(command.app->get_footer(), width, 0) + "\n";
  }
  if (!below.empty()) {
    out += "\nRun '" + command.path + " COMMAND --help' for more information on a command.\n";
  }
  return out;
}

std::string render_usage_error(const Command& command, const std::string& problem,
                               const std::string& suggestion) {
  std::string out = problem + "\n";
  if (!suggestion.empty()) out += "Did you mean " + suggestion + "?\n";
  return out + "\nUsage:  " + command.path + " " + command.synopsis + "\n\nRun '" + command.path +
         " --help' for more information\n";
}

}  // namespace flowcon::plugin
