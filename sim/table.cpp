// SPDX-License-Identifier: Apache-2.0
#include "sim/table.h"

#include <algorithm>
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

void add_figure(boost::json::object& object, const std::string& name, const Figure& figure) {
  object[name] = rounded(figure.mean);
  object[name + "_se"] =
      figure.se ? boost::json::value(rounded(*figure.se)) : boost::json::value(nullptr);
}

std::string csv_names(const std::string& name) { return "," + name + "," + name + "_se"; }

std::string csv_fields(const Figure& figure) {
  return "," + render_number(rounded(figure.mean)) + "," +
         (figure.se ? render_number(rounded(*figure.se)) : "");
}

std::string cell(const Figure& figure) {
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

}  // namespace flowcon::sim
