// SPDX-License-Identifier: Apache-2.0
// A job as sections, and a table of estimates.
#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <utility>

#include "base/digits.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/text/table.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kSentenceBytes = 1000;
constexpr std::size_t kWordBytes = 40;
constexpr std::size_t kNameBytes = 255;
constexpr std::size_t kColumn = 13;  // where values begin

std::string line(const std::string& name, const std::string& value) {
  const std::string head = "  " + name + ":";
  return head + std::string(kColumn - std::min(head.size(), kColumn - 1), ' ') + value + "\n";
}

std::string section(const std::string& name, const std::string& lines) {
  return lines.empty() ? "" : "\n" + name + ":\n" + lines;
}

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

// Where a part of the request comes from, in words.
std::string source_text(const std::string& source) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSources{
      {{"set", "by docker flowcon queue set"},
       {"label", "by its label"},
       {"docker", "by docker's limit"},
       {"estimate", "by earlier runs"},
       {"default", "by default"},
       {"doubled", "doubled: killed for memory with less"}}};
  for (const auto& [name, text] : kSources) {
    if (name == source) return std::string(text);
  }
  return source;
}

std::string with_source(const std::string& amount, const std::string& source) {
  return amount + (source.empty() ? "" : ", " + source_text(source));
}

std::string state_text(const json::object& shown) {
  std::string text = text_of(shown, "StateText");
  if (!member(shown, "Order").is_null()) text += ", position " + text_of(shown, "OrderText");
  if (is_true(member(shown, "Starved"))) text += ", starved: goes before all jobs that are not";
  const std::string exit = text_of(shown, "ExitText");
  if (exit != kUnknown) text += ", exit status " + exit;
  return text;
}

std::string job_section(const json::object& shown) {
  const auto moment = [&](const char* name) { return moment_text(real_of(member(shown, name))); };
  const auto seconds = [&](const char* name) { return time_text(real_of(member(shown, name))); };
  const auto count = [&](const char* name) {
    const std::optional<double> number = real_of(member(shown, name));
    return number ? two_digits(*number) : std::string(kUnknown);
  };
  std::string out = line("Name", text_of(shown, "Name")) + line("ID", text_of(shown, "ID")) +
                    line("State", state_text(shown));
  if (!text_of(shown, "Host").empty()) out += line("Host", text_of(shown, "Host"));
  if (!text_of(shown, "Note").empty()) out += line("Note", text_of(shown, "Note"));
  out += line("Image", text_of(shown, "Image")) + line("Command", text_of(shown, "Command")) +
         line("Priority", count("Priority")) + line("Starts", count("Attempt")) +
         line("Retries", count("Retries") + " left") + line("Submitted", moment("Submitted"));
  for (const char* name : {"Started", "Ended"}) {
    if (!member(shown, name).is_null()) out += line(name, moment(name));
  }
  return out + line("Waited", seconds("Waited")) + line("Served", seconds("Served")) +
         line("Left", seconds("Left"));
}

std::string cores_text(const std::string& cores) {
  return cores == kUnknown ? cores : cores + (cores == "1" ? " core" : " cores");
}

std::string request_section(const json::object& shown) {
  const json::value& request = member(shown, "Request");
  const double gpus = real_of(member(request, "GPU")).value_or(0);
  const std::string count = text_of(shown, "GPUText") + (gpus == 1 ? " GPU" : " GPUs");
  return line("CPU",
              with_source(cores_text(text_of(shown, "CPUText")), text_of(request, "CPUFrom"))) +
         line("Memory", with_source(text_of(shown, "MemoryText"), text_of(request, "MemoryFrom"))) +
         (gpus > 0 ? line("GPU", with_source(count, text_of(request, "GPUFrom"))) : "");
}

std::string decision_section(const json::value& decision) {
  if (!decision.is_object()) return "";
  return "  " + moment_text(real_of(member(decision, "time"))) + "  " +
         printable(text_of(decision, "algorithm"), kWordBytes) + ": " +
         printable(text_of(decision, "sentence"), kSentenceBytes) + "\n";
}

std::string steps_section(const json::array& steps) {
  std::string out;
  for (const json::value& step : steps) {
    const std::string note = printable(text_of(step, "note"), kSentenceBytes);
    const std::string host = printable(text_of(step, "host"), kWordBytes);
    out += "  " + moment_text(real_of(member(step, "time"))) + "  " +
           printable(text_of(step, "state"), kWordBytes) + (host.empty() ? "" : " on " + host) +
           (note.empty() ? "" : ": " + note) + "\n";
  }
  return out;
}

// Of a job of several containers.
std::string tasks_section(const json::array& tasks) {
  std::string out;
  for (const json::value& task : tasks) {
    const std::string note = printable(text_of(task, "note"), kSentenceBytes);
    const std::string host = printable(text_of(task, "host"), kNameBytes);
    const std::optional<double> exit = real_of(member(task, "exit"));
    out += printable(text_of(task, "name"), kNameBytes) + "\t" +
           printable(text_of(task, "role"), kWordBytes) + "\t" +
           (host.empty() ? std::string(kUnknown) : host) + "\t" +
           printable(text_of(task, "state"), kWordBytes) + "\t" + number_text(exit) + "\t" + note +
           "\n";
  }
  return out.empty() ? "" : align_columns("NAME\tROLE\tHOST\tSTATE\tEXIT\tNOTE\n" + out);
}

std::string warnings_section(const json::array& warnings) {
  std::string out;
  for (const json::value& warning : warnings) {
    if (warning.is_string()) out += "  " + printable(text_of(warning), kSentenceBytes) + "\n";
  }
  return out;
}

// Decimal, as docker stats counts I/O.
std::string speed_text(double bytes_per_second) {
  constexpr std::array kUnits{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  for (; bytes_per_second >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes_per_second /= 1000;
  return two_digits(bytes_per_second) + kUnits[unit];
}

// A value in its label's unit; docs/decisions.md has the labels.
std::string label_value(std::string_view label, const json::value& value) {
  const std::optional<double> number = real_of(value);
  if (!number || !(*number >= 0 && *number < 1e18)) return std::string(kUnknown);
  if (label.starts_with("seconds") || label == "cpu_seconds") return time_text(number);
  if (label == "cpu") return cores_text(two_digits(*number));
  if (label == "mem" || label == "gpu_mem") return size_text(number);
  if (label == "net" || label == "io") return speed_text(*number);
  if (label.starts_with("gpu_util")) return two_digits(*number) + "%";
  return two_digits(*number);
}

}  // namespace

std::string estimates_table(const json::value& labels) {
  std::string out;
  for (const auto& entry : object_of(labels)) {
    const json::value& estimate = entry.value();
    const std::string basis = text_of(estimate, "basis");
    if (basis.empty() || basis == "none") continue;
    const std::optional<double> rows = real_of(member(estimate, "rows"));
    out += printable(entry.key(), kWordBytes) + "\t" +
           label_value(entry.key(), member(estimate, "expected")) + "\t" +
           label_value(entry.key(), member(estimate, "upper")) + "\t" +
           printable(basis, kWordBytes) + "\t" + number_text(rows) + "\n";
  }
  return out.empty() ? "" : align_columns("LABEL\tEXPECTED\tUPPER\tBASIS\tRUNS\n" + out);
}

std::string show_text(const json::value& job) {
  const json::object shown = read_job(job).shown;
  return "Job:\n" + job_section(shown) + section("Request", request_section(shown)) +
         section("Estimate", indented(estimates_table(member(job, "estimate")))) +
         section("Decision", decision_section(member(job, "decision"))) +
         section("Placement", decision_section(member(job, "placement"))) +
         section("Tasks", indented(tasks_section(list_of(job, "tasks")))) +
         section("Steps", steps_section(list_of(job, "steps"))) +
         section("Warnings", warnings_section(list_of(job, "warnings")));
}

}  // namespace flowcon::plugin
