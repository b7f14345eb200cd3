// SPDX-License-Identifier: Apache-2.0
#include "ctrl/handover.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

constexpr std::time_t kFresh = 60;  // seconds
constexpr std::size_t kLongest = 16U << 20;

std::string request_file(const std::string& folder) { return folder + "/hand-over"; }
std::string handover_file(const std::string& folder) { return folder + "/handed-over.json"; }

// True if the file is there and was written a moment ago; it is gone afterwards.
bool take_fresh(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const std::time_t age = std::time(nullptr) - status.st_mtime;
  // Linux 6.13 stamps files by a finer clock than time() reads: a new one may be of the next
  // second.
  return ::unlink(path.c_str()) == 0 && age >= -1 && age <= kFresh;
}

void job_fields(auto& io, auto& id, auto& job) {
  io("id", id);
  for (const Resource resource : kResources) io(name(resource), job[resource]);
  io("reason", job.reason);
}

Handover read_handover(FieldReader& reader) {
  Handover handover;
  handover.interval = reader.number("interval", 1, 86400);
  const auto read_one = [](FieldReader& job) {
    std::pair<std::string, HandedJob> one;
    job_fields(job, one.first, one.second);
    return one;
  };
  for (auto& one : reader.each("jobs", read_one)) handover.jobs.insert(std::move(one));
  return handover;
}

}  // namespace

static void fields(auto& io, Is<Place> auto& place) {
  io.one_of("list", place.list, {List::nl, List::wl, List::cl}, "must be NL, WL or CL");
  io("limit", place.limit);
  io("granted", place.granted);
  io.require(place.limit > 0 && place.limit <= 1, "limit", "must be above 0 and at most 1");
  io.require(place.granted > 0 && place.granted <= 1, "granted", "must be above 0 and at most 1");
  io("growth", place.growth);
}

std::string render_handover(const Handover& handover) {
  json::array jobs;
  for (const auto& [id, job] : handover.jobs) {
    FieldWriter one;
    job_fields(one, id, job);
    jobs.push_back(one.take());
  }
  return render_json(json::object{{"interval", handover.interval}, {"jobs", std::move(jobs)}});
}

Result<Handover> parse_handover(std::string_view text) { return read_fields(text, read_handover); }

bool take_handover_request(const std::string& state_dir) {
  return take_fresh(request_file(state_dir));
}

Result<void> write_handover(const std::string& state_dir, const Handover& handover) {
  const std::string path = handover_file(state_dir);
  ::unlink(path.c_str());
  std::ofstream file(path, std::ios::binary);
  file << render_handover(handover);
  file.close();
  if (!file) return errno_error(errno, "writing " + path);
  return {};
}

Handover take_handover(const std::string& state_dir) {
  const std::string path = handover_file(state_dir);
  std::ifstream file(path, std::ios::binary);
  if (!file || !take_fresh(path)) return {};
  std::string text(kLongest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  Result<Handover> left = parse_handover(text);
  if (left) return std::move(*left);
  log::warning("the state of an earlier flowcond is malformed: " + left.error().message());
  return {};
}

}  // namespace flowcon::ctrl
