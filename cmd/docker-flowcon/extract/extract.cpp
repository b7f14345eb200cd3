// SPDX-License-Identifier: Apache-2.0
// A whole log through the same framing and the same extractor as the daemon's, with room for every
// value.
#include "cmd/docker-flowcon/extract/extract.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/docker-flowcon/extract/explain.h"
#include "cmd/docker-flowcon/template/functions.h"
#include "cmd/docker-flowcon/text/cells.h"
#include "ctrl/logs/framing.h"

namespace flowcon::plugin {
namespace {

using ctrl::Goal;
using ctrl::logs::FramingStats;
using ctrl::logs::JsonFileDecoder;
using ctrl::logs::Line;
using ctrl::logs::LineSplitter;
using ctrl::metrics::Candidate;
using ctrl::metrics::Extractor;
using ctrl::metrics::Report;
using ctrl::metrics::Spec;

constexpr std::size_t kBlockBytes = 1 << 17;  // stays in the cache between reading and searching
constexpr std::size_t kCandidatesInTable = 8;
constexpr std::size_t kValuesAtEnds = 5;
constexpr std::uint64_t kLongLine = 200;  // bytes of a log without newlines

/// Closes a descriptor that we opened; standard input stays open.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Fills `block` unless the file ends before. Returns the bytes read.
Result<std::size_t> read_block(int descriptor, std::vector<char>& block) {
  std::size_t filled = 0;
  while (filled < block.size()) {
    const ssize_t got = ::read(descriptor, block.data() + filled, block.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "cannot read the log");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Spec spec_of(const ExtractOptions& options) {
  Spec spec;
  spec.metric = options.metric;
  spec.pattern = options.pattern;
  if (!options.goal.empty()) spec.goal = options.goal == "max" ? Goal::max : Goal::min;
  return spec;
}

boost::json::value json_number(double number) {
  // As a string where JSON has no word for it.
  if (!std::isfinite(number)) return boost::json::value(render_number(number));
  return boost::json::value(number);
}

std::string advice(const Report& report, const ExtractOptions& options) {
  if (!options.pattern.empty()) {
    return "the pattern matched no number; try without --pattern, or test it on one line of the "
           "log";
  }
  if (!options.metric.empty()) return printable(report.missing);
  return "no metric found; name it with --metric NAME, or match it with --pattern "
         "'loss=(?P<value>\\S+)'";
}

std::string values_text(const std::vector<ctrl::Sample>& samples, bool all) {
  std::string out;
  const bool is_short = all || samples.size() <= 2 * kValuesAtEnds + 1;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!is_short && i == kValuesAtEnds) {
      const std::size_t hidden = samples.size() - 2 * kValuesAtEnds;
      out += "... " + std::to_string(hidden) + " more (--all)\n";
      i += hidden;
    }
    out += render_number(samples[i].value) + "\n";
  }
  return out;
}

void print_warnings(const Extraction& extraction, const ExtractOptions& options,
                    std::ostream& err) {
  const Report& report = extraction.report;
  const auto warn = [&err](const std::string& text) {
    err << "extract: warning: " << text << "\n";
  };
  if (!report.warning.empty()) warn(report.warning);
  if (extraction.is_one_line) warn("the log has no newlines, so it is one line: print newlines");
  if (report.count == 0) {
    err << "extract: " << advice(report, options) << "\n";
  } else if (report.confidence < ctrl::metrics::kSure) {
    warn("not sure: " + printable(report.metric) + " (" + share_text(report.confidence) +
         "); flowcond ranks no job by it. Name it with --metric if it is right");
  }
}

}  // namespace

void declare_extract(CLI::App& command, ExtractOptions& options) {
  command
      .add_option("--metric", options.metric, "Name of the metric as printed (default: detected)")
      ->type_name("NAME");
  command.add_option("--goal", options.goal, "Better is min or max (default: by the name)")
      ->type_name("min|max")
      ->check(CLI::IsMember({"min", "max"}));
  command
      .add_option("--pattern", options.pattern,
                  "Regular expression (RE2) with a group named value, instead of detection")
      ->type_name("RE2");
  command.add_option("--format", options.format, "Output as table or json (default: table)")
      ->type_name("table|json")
      ->check(CLI::IsMember({"table", "json"}));
  command.add_option("--input", options.input, "The log is raw or json-file (default: detected)")
      ->type_name("raw|json-file")
      ->check(CLI::IsMember({"raw", "json-file"}));
  command.add_flag("--all", options.all,
                   "Print every value in the table (default: the first and last five)");
  command.add_flag("--explain", options.explain, "Explain the choice of this series");
  command.add_option("FILE", options.file, "The log, - for standard input")->required();
}

Result<Extraction> extract_from(int descriptor, const ExtractOptions& options) {
  Result<Extractor> extractor = Extractor::create(spec_of(options), 0);
  if (!extractor) return extractor.error();
  if (options.explain) extractor->remember_refused();
  const auto sink = [&extractor](const Line& line) { extractor->feed(line.text, line.time); };
  std::vector<char> block(kBlockBytes);
  std::optional<LineSplitter> raw;
  std::optional<JsonFileDecoder> json;
  bool filtered = false;
  std::uint64_t size = 0;
  while (true) {
    const Result<std::size_t> got = read_block(descriptor, block);
    if (!got) return got.error();
    const std::string_view bytes(block.data(), *got);
    size += *got;
    if (!raw && !json) {
      const bool is_json = options.input.empty() ? ctrl::logs::looks_like_json_file(bytes)
                                                 : options.input == "json-file";
      if (is_json) {
        json.emplace(sink);
      } else {
        raw.emplace(sink);
      }
    }
    if (json) {
      if (!filtered && !extractor->needed_words().empty()) {
        json->need_one_of(extractor->needed_words());
        filtered = true;
      }
      json->feed(bytes);
    } else {
      raw->feed(bytes, 0, false);
    }
    if (*got < block.size()) break;
  }
  if (json) json->finish();
  if (raw) raw->finish();
  Extraction found{extractor->report(), {}, false};
  if (options.explain) found.explanation = extractor->explain();
  const FramingStats framing = json ? json->stats() : raw ? raw->stats() : FramingStats{};
  found.is_one_line = framing.newlines == 0 && framing.lines <= 1 && size > kLongLine;
  return found;
}

std::string render_extract_json(const Extraction& extraction, const ExtractOptions& options) {
  const Report& report = extraction.report;
  boost::json::object out;
  const bool found = report.count > 0;
  out["metric"] =
      found ? boost::json::value(valid_utf8(report.metric)) : boost::json::value(nullptr);
  out["goal"] = found ? boost::json::value(ctrl::name(report.goal)) : boost::json::value(nullptr);
  boost::json::array values;
  for (const ctrl::Sample& sample : report.samples) values.push_back(json_number(sample.value));
  out["values"] = std::move(values);
  out["progress"] = nullptr;
  if (report.counter) {
    boost::json::object progress{{"done", json_number(report.counter->done)}, {"total", nullptr}};
    if (report.counter->total > 0) {
      progress["total"] = json_number(report.counter->total);
      progress["from"] = name(report.counter->from);
    } else {
      progress["within"] = json_number(report.counter->within);
    }
    out["progress"] = std::move(progress);
  }
  out["confidence"] = json_number(std::round(report.confidence * 1000) / 1000);
  boost::json::array candidates;
  for (const Candidate& candidate : report.candidates) {
    candidates.push_back(
        boost::json::object{{"metric", valid_utf8(candidate.metric)},
                            {"goal", ctrl::name(candidate.goal)},
                            {"score", json_number(std::round(candidate.score * 1000) / 1000)},
                            {"count", candidate.count}});
  }
  out["candidates"] = std::move(candidates);
  if (options.explain) out["explanation"] = explanation_json(extraction.explanation);
  return json_text(out) + "\n";
}

std::string render_extract_table(const Extraction& extraction, const ExtractOptions& options) {
  const Report& report = extraction.report;
  std::string out;
  const auto row = [&out](std::string_view name, const std::string& value) {
    out.append(name)
        .append(std::string(name.size() < 12 ? 12 - name.size() : 1, ' '))
        .append(value)
        .append("\n");
  };
  if (report.count > 0) {
    row("METRIC", printable(report.metric));
    row("GOAL", ctrl::name(report.goal) +
                    (report.goal_guess.empty() ? "" : " (a guess: " + report.goal_guess + ")"));
    row("CONFIDENCE", share_text(report.confidence));
    row("VALUES", std::to_string(report.samples.size()));
    row("RANGE", render_number(report.low) + " to " + render_number(report.high));
  }
  if (report.counter && report.counter->total > 0) {
    row("PROGRESS",
        render_number(report.counter->done) + " of " + render_number(report.counter->total));
  } else if (report.counter) {
    row("PROGRESS", "epoch " + render_number(report.counter->done) + ", " +
                        render_number(std::round(report.counter->within * 100)) +
                        " % (of how many epochs is not known)");
  }
  if (report.count > 0) {
    out += "\n" + values_text(report.samples, options.all);
  }
  if (report.candidates.size() > 1) {
    out += "\nCANDIDATE                         GOAL  COUNT\n";
    for (std::size_t i = 0; i < std::min(report.candidates.size(), kCandidatesInTable); ++i) {
      const Candidate& candidate = report.candidates[i];
      out += fitted(printable(candidate.metric, 32), 34) + ctrl::name(candidate.goal) + "   " +
             std::to_string(candidate.count) + "\n";
    }
  }
  if (options.explain) out += "\n" + explanation_text(extraction.explanation, options);
  return out;
}

int run_extract(const ExtractOptions& options, std::ostream& out, std::ostream& err) {
  const bool is_stdin = options.file == "-";
  const File file(is_stdin ? STDIN_FILENO : ::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    err << "extract: " << errno_error(errno, "cannot open " + printable(options.file)).message()
        << "\n";
    return 1;
  }
  const Result<Extraction> extraction = extract_from(file.get(), options);
  if (!extraction) {
    err << "extract: " << extraction.error().message() << "\n";
    return 1;
  }
  const bool found = extraction->report.count > 0;
  if (options.format == "json") {
    out << render_extract_json(*extraction, options);
  } else {
    out << render_extract_table(*extraction, options);
  }
  out.flush();
  print_warnings(*extraction, options, err);
  return found && out ? 0 : 1;
}

}  // namespace flowcon::plugin
