// SPDX-License-Identifier: Apache-2.0
#include "sim/estimate/tables.h"

#include <algorithm>

#include "sim/csv.h"

namespace flowcon::sim::estimate {
namespace {

using Names = std::vector<std::string_view>;

constexpr double kMost = 1e15;  // of a number

// Columns and what the reference forest reached. The family is the model.
struct Kind {
  const char* what;
  std::string_view label;
  Names texts;
  Names numbers;
  Reference reference;
  std::vector<double> curve;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds{
      {"scaling-gavel, steps/s",
       "steps_per_s",
       {"gpu", "placement"},
       {"batch", "num_workers"},
       {0.88, 0.22, 1.77},
       {0.50, 0.64, 0.75, 0.85, 0.94}},
      {"scaling-pollux, step time",
       "step_time_s",
       {"hardware"},
       {"num_nodes", "num_workers", "local_batch", "global_batch"},
       {0.99, 0.07, 1.22},
       {}},
      {"scaling-pollux, sync time",
       "sync_time_s",
       {"hardware"},
       {"num_nodes", "num_workers", "local_batch", "global_batch"},
       {0.88, 0.16, 1.61},
       {}},
      {"elasticflow-philly, seconds",
       "duration_s",
       {},
       {"gpus_or_nodes", "iterations", "batch"},
       {0.95, 0.14, 1.44},
       {}},
      {"gavel-philly, seconds",
       "duration_s",
       {},
       {"gpus_or_nodes", "steps", "batch"},
       {0.89, 0.22, 1.58},
       {}},
  };
  return kKinds;
}

bool has_columns(const CsvReader& reader, const Kind& kind) {
  const auto has = [&reader](std::string_view name) { return reader.column({name}).has_value(); };
  return has("model") && has(kind.label) &&
         std::all_of(kind.texts.begin(), kind.texts.end(), has) &&
         std::all_of(kind.numbers.begin(), kind.numbers.end(), has);
}

// A number of the present row, none where the field is empty.
Result<std::optional<double>> number_of(const CsvReader& reader, std::string_view name) {
  const auto column = reader.column({name});
  if (reader.field(column).empty()) return std::optional<double>();
  const Result<double> number = reader.number(*column, -kMost, kMost);
  if (!number) return number.error();
  return std::optional(*number);
}

Result<Runs> parse_kind(std::string_view text, const std::string& file, const Kind& kind) {
  CsvReader reader(text, file);
  if (Result<void> header = reader.read_header(); !header) return header.error();
  Runs runs{kind.what, kind.reference, kind.curve, {}};
  for (;;) {
    const Result<bool> more = reader.next();
    if (!more) return more.error();
    if (!*more) break;
    const auto label = number_of(reader, kind.label);
    if (!label) return label.error();
    if (!*label || **label <= 0) continue;
    if (runs.rows.size() == Runs::kMostRows) {
      return bad_input(file + " has more than " + std::to_string(Runs::kMostRows) + " runs");
    }
    ctrl::estimate::Profile row;
    row.family = reader.field(reader.column({"model"}));
    row.key = std::to_string(runs.rows.size());  // no two runs are of the same command
    for (const std::string_view name : kind.numbers) {
      const auto number = number_of(reader, name);
      if (!number) return number.error();
      if (*number) row.features.emplace_back(name, **number);
    }
    for (const std::string_view name : kind.texts) {
      const std::string_view value = reader.field(reader.column({name}));
      if (!value.empty()) row.features.emplace_back(name, std::string(value));
    }
    row.labels = {{std::string(kind.label), **label}};
    runs.rows.push_back(std::move(row));
  }
  double age = static_cast<double>(runs.rows.size());
  for (auto& row : runs.rows) row.age = age--;
  return runs;
}

}  // namespace

bool is_table(std::string_view text) {
  CsvReader reader(text, "");
  return reader.read_header() && std::any_of(kinds().begin(), kinds().end(), [&](const Kind& kind) {
           return has_columns(reader, kind);
         });
}

Result<std::vector<Runs>> parse_tables(std::string_view text, const std::string& file) {
  CsvReader reader(text, file);
  if (Result<void> header = reader.read_header(); !header) return header.error();
  std::vector<Runs> tables;
  for (const Kind& kind : kinds()) {
    if (!has_columns(reader, kind)) continue;
    Result<Runs> runs = parse_kind(text, file, kind);
    if (!runs) return runs.error();
    tables.push_back(std::move(*runs));
  }
  return tables;
}

}  // namespace flowcon::sim::estimate
