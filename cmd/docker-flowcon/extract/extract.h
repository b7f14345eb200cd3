// SPDX-License-Identifier: Apache-2.0
// `docker flowcon extract`: the metric that flowcond would find in a log. Reads a file or standard
// input, needs no daemon and no engine.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"
#include "ctrl/metrics/extractor.h"

namespace CLI {
class App;
}

namespace flowcon::plugin {

struct ExtractOptions {
  std::string metric;
  std::string goal;  ///< min, max or "" = from the name
  std::string pattern;
  std::string format = "table";  ///< table or json
  std::string input;             ///< raw, json-file or "" = detected
  std::string file;              ///< "-" = standard input
  bool explain = false;          ///< explain the choice of the series
  bool all = false;              ///< every value in the table, not the first and last five
};

/// Declares the options and the argument FILE of the command.
void declare_extract(CLI::App& command, ExtractOptions& options);

/// Prints the result on stdout. 0: done; 1: failed or nothing found (stderr says what to try; with
/// --format json it still prints the empty result).
[[nodiscard]] int run_extract(const ExtractOptions& options, std::ostream& out, std::ostream& err);

/// The result for one log.
struct Extraction {
  ctrl::metrics::Report report;
  ctrl::metrics::Explanation explanation;  ///< empty unless options.explain
  bool is_one_line = false;                ///< long, and without a newline
};

/// Reads the log behind `descriptor` to its end. Errors: as Extractor::create, or reading fails.
[[nodiscard]] Result<Extraction> extract_from(int descriptor, const ExtractOptions& options);

/// {"metric","goal","values","progress","confidence","candidates"} on one line, and "explanation"
/// where options.explain.
[[nodiscard]] std::string render_extract_json(const Extraction& found,
                                              const ExtractOptions& options);

/// The same for people.
[[nodiscard]] std::string render_extract_table(const Extraction& found,
                                               const ExtractOptions& options);

}  // namespace flowcon::plugin
