// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/queue_view.h"

#include <array>
#include <boost/json/array.hpp>
#include <cmath>
#include <utility>

#include "base/digits.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kNameBytes = 255;
constexpr std::size_t kWordBytes = 40;
constexpr std::size_t kTextBytes = 1000;

std::string number_cell(const json::value& value) {
  const std::optional<double> number = real_of(value);
  return number && std::isfinite(*number) ? two_digits(*number) : std::string(kUnknown);
}

std::string count_cell(const json::value& value) {
  const std::optional<double> number = real_of(value);
  return number && std::isfinite(*number) ? number_text(*number, 6) : std::string(kUnknown);
}

// "4", or "4+1" beside a parameter server.
std::string workers_cell(const json::object& exact) {
  const std::string workers = count_cell(member(exact, "Workers"));
  const std::string servers = count_cell(member(exact, "PS"));
  return servers == "0" || servers == kUnknown ? workers : workers + "+" + servers;
}

json::object request_of(const json::value& request) {
  return {{"CPU", number_or_null(member(request, "cpu"))},
          {"Memory", number_or_null(member(request, "mem"))},
          {"CPUFrom", text_of(request, "cpu_from")},
          {"MemoryFrom", text_of(request, "mem_from")},
          {"GPU", number_or_null(member(request, "gpu"))},
          {"GPUFrom", text_of(request, "gpu_from")}};
}

json::object exact_job(const json::value& entry) {
  json::object out{
      {"ID", text_of(entry, "id")},           {"Name", text_of(entry, "name")},
      {"Image", text_of(entry, "image")},     {"Command", text_of(entry, "command")},
      {"State", text_of(entry, "state")},     {"Held", is_true(entry, "held")},
      {"Starved", is_true(entry, "starved")}, {"Request", request_of(member(entry, "request"))}};
  for (const auto& [name, field] : {std::pair("Order", "order"),
                                    {"Priority", "priority"},
                                    {"Retries", "retries"},
                                    {"Attempt", "attempt"},
                                    {"Waited", "waited"},
                                    {"Served", "served"},
                                    {"Left", "left"},
                                    {"Submitted", "submitted"},
                                    {"Started", "started"},
                                    {"Ended", "ended"},
                                    {"Exit", "exit"},
                                    {"Workers", "workers"},
                                    {"MostWorkers", "most_workers"},
                                    {"PS", "ps"}}) {
    out[name] = number_or_null(member(entry, field));
  }
  out["Host"] = text_of(entry, "host");
  out["Home"] = "";
  out["Note"] = text_of(entry, "note");
  return out;
}

json::object shown_job(const json::object& exact) {
  json::object out = exact;
  for (const auto& [name, bytes] : {std::pair("ID", kNameBytes),
                                    {"Name", kNameBytes},
                                    {"Image", kTextBytes},
                                    {"Command", kTextBytes},
                                    {"State", kWordBytes},
                                    {"Host", kNameBytes},
                                    {"Note", kTextBytes}}) {
    out[name] = printable(text_of(exact, name), bytes);
  }
  json::object request = object_of(member(exact, "Request"));
  for (const char* name : {"CPUFrom", "MemoryFrom", "GPUFrom"}) {
    request[name] = printable(text_of(request, name), kWordBytes);
  }
  const bool is_held = is_true(member(exact, "Held")) && text_of(exact, "State") == "waiting";
  out["StateText"] = is_held ? "held" : text_of(out, "State");
  out["HomeText"] = kUnknown;
  out["HostText"] = text_of(out, "Host").empty() ? std::string(kUnknown) : text_of(out, "Host");
  out["WorkersText"] = workers_cell(exact);
  out["OrderText"] = count_cell(member(exact, "Order"));
  out["CPUText"] = number_cell(member(request, "CPU"));
  out["MemoryText"] = size_text(real_of(member(request, "Memory")));
  out["GPUText"] = number_cell(member(request, "GPU"));
  out["WaitedText"] = time_text(real_of(member(exact, "Waited")));
  out["LeftText"] = time_text(real_of(member(exact, "Left")));
  out["ExitText"] = count_cell(member(exact, "Exit"));
  out["Request"] = std::move(request);
  return out;
}

}  // namespace

JobView read_job(const json::value& entry) {
  json::object exact = exact_job(entry);
  json::object shown = shown_job(exact);
  return {std::move(exact), std::move(shown)};
}

void name_home(JobView& job, const std::string& host) {
  job.exact["Home"] = host;
  job.shown["Home"] = job.shown["HomeText"] = printable(host, kNameBytes);
}

Result<std::vector<JobView>> read_queue(const json::value& answer) {
  const json::array* list = member(answer, "jobs").if_array();
  if (list == nullptr) return bad_input("flowcond's answer has no list of jobs");
  std::vector<JobView> jobs;
  for (const json::value& entry : *list) {
    if (entry.is_object()) jobs.push_back(read_job(entry));
  }
  return jobs;
}

// The container that was created has the name until it is removed.
std::string refusal_text(const JobView& job) {
  if (text_of(job.exact, "State") != "refused") return "";
  const std::string name = text_of(job.shown, "Name"), why = text_of(job.shown, "Note");
  const bool is_said = why.find("docker rm") != std::string::npos;
  return name + " was refused: " + why + (is_said ? "" : "; remove it first: docker rm " + name);
}

bool is_open_state(std::string_view state) {
  return state != "done" && state != "failed" && state != "cancelled" && state != "refused";
}

const json::object& queue_headings() {
  static const json::object names{{"ID", "JOB ID"},
                                  {"Name", "NAME"},
                                  {"Image", "IMAGE"},
                                  {"Command", "COMMAND"},
                                  {"State", "STATE"},
                                  {"Held", "HELD"},
                                  {"Order", "ORDER"},
                                  {"Request", "REQUEST"},
                                  {"Priority", "PRIORITY"},
                                  {"Retries", "RETRIES"},
                                  {"Attempt", "ATTEMPT"},
                                  {"Waited", "WAITED"},
                                  {"Served", "SERVED"},
                                  {"Left", "LEFT"},
                                  {"Starved", "STARVED"},
                                  {"Submitted", "SUBMITTED"},
                                  {"Started", "STARTED"},
                                  {"Ended", "ENDED"},
                                  {"Exit", "EXIT"},
                                  {"Host", "HOST"},
                                  {"HostText", "HOST"},
                                  {"Home", "HOME"},
                                  {"HomeText", "HOME"},
                                  {"Note", "NOTE"},
                                  {"StateText", "STATE"},
                                  {"OrderText", "ORDER"},
                                  {"CPUText", "CPU"},
                                  {"MemoryText", "MEMORY"},
                                  {"GPUText", "GPU"},
                                  {"WaitedText", "WAITED"},
                                  {"LeftText", "LEFT"},
                                  {"ExitText", "EXIT"},
                                  {"Workers", "WORKERS"},
                                  {"PS", "PS"},
                                  {"MostWorkers", "MOST WORKERS"},
                                  {"WorkersText", "WORKERS"}};
  return names;
}

std::string size_text(std::optional<double> bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!bytes || !(*bytes >= 0 && *bytes < 1e18)) return std::string(kUnknown);
  std::size_t unit = 0;
  for (; *bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) *bytes /= 1024;
  return two_digits(*bytes) + kUnits[unit];
}

std::string queue_counts(const json::value& status) {
  const json::value& queue = member(status, "queue");
  const double waiting = real_of(member(queue, "waiting")).value_or(0);
  const double running = real_of(member(queue, "running")).value_or(0);
  if (!(waiting > 0) && !(running > 0)) return "";
  return number_text(waiting, 6) + " wait, " + number_text(running, 6) + " run";
}

}  // namespace flowcon::plugin
