// SPDX-License-Identifier: Apache-2.0
#include "sim/table.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>

#include "base/json.h"

namespace flowcon::sim {

double rounded(double value) {
  const double two = std::round(value * 100) / 100;
  return two == 0 ? 0 : two;  // no -0
}

std::string fixed(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  const double whole = std::round(std::fabs(value) * scale);
  std::string digits = std::to_string(static_cast<long long>(whole));
  const auto places = static_cast<std::size_t>(decimals);
  while (digits.size() <= places) digits.insert(0, "0");
  if (places > 0) digits.insert(digits.size() - places, ".");
  return (value < 0 && whole > 0 ? "-" : "") + digits;
}

std::string text_of(const Figure& figure) {
  std::string text = fixed(figure.mean, 1);
  if (figure.se) text += " +-" + fixed(*figure.se, 1);
  return text;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      line += i == 0 ? row[i] + pad : "   " + pad + row[i];
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

namespace {

// What to do with a value of each kind.
template <class... Kinds>
struct ByKind : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>
ByKind(Kinds...) -> ByKind<Kinds...>;

std::string csv_of(const std::vector<Cell>& row, bool is_head) {
  std::string line;
  const auto add = [&](const Cell& cell, const std::string& text) {
    line += (line.empty() ? "" : ",") + (is_head ? cell.name : text);
  };
  for (const Cell& cell : row) {
    if (cell.name.empty()) continue;
    std::visit(ByKind{[&](const std::string& word) { add(cell, word); },
                      [&](std::int64_t number) { add(cell, std::to_string(number)); },
                      [&](double number) { add(cell, render_number(rounded(number))); },
                      [&](const Figure& figure) {
                        add(cell, render_number(rounded(figure.mean)));
                        const std::string se = figure.se ? render_number(rounded(*figure.se)) : "";
                        line += "," + (is_head ? cell.name + "_se" : se);
                      }},
               cell.value);
  }
  return line + "\n";
}

std::string shown(const Cell& cell) {
  return std::visit(ByKind{[](const std::string& word) { return word; },
                           [](std::int64_t number) { return std::to_string(number); },
                           [&](double number) { return fixed(number, cell.decimals); },
                           [&](const Figure& figure) {
                             return cell.decimals == 1 ? text_of(figure)
                                                       : fixed(figure.mean, cell.decimals);
                           }},
                    cell.value);
}

std::string text_of(const std::vector<std::vector<Cell>>& rows) {
  std::vector<std::vector<std::string>> texts(1);
  for (const std::vector<Cell>& row : rows) {
    texts.emplace_back();
    for (const Cell& cell : row) {
      if (cell.title.empty()) continue;
      if (texts.size() == 2) texts.front().push_back(cell.title);
      texts.back().push_back(shown(cell));
    }
  }
  return aligned(texts);
}

}  // namespace

json::object object_of(const std::vector<Cell>& row) {
  json::object object;
  for (const Cell& cell : row) {
    if (cell.name.empty()) continue;
    const auto add = [&](const std::string& name, json::value value) {
      object[name] = std::move(value);
    };
    std::visit(ByKind{[&](const std::string& word) { add(cell.name, json::value(word)); },
                      [&](std::int64_t number) { add(cell.name, number); },
                      [&](double number) { add(cell.name, rounded(number)); },
                      [&](const Figure& figure) {
                        add(cell.name, rounded(figure.mean));
                        add(cell.name + "_se",
                            figure.se ? json::value(rounded(*figure.se)) : json::value(nullptr));
                      }},
               cell.value);
  }
  return object;
}

std::string render(const std::vector<std::vector<Cell>>& rows, Format format) {
  if (format == Format::json) {
    json::array all;
    for (const std::vector<Cell>& row : rows) all.push_back(object_of(row));
    return render_json_pretty(all) + "\n";
  }
  if (format == Format::table) return text_of(rows);
  std::string out;
  if (!rows.empty()) out = csv_of(rows.front(), true);
  for (const std::vector<Cell>& row : rows) out += csv_of(row, false);
  return out;
}

}  // namespace flowcon::sim
