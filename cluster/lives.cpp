// SPDX-License-Identifier: Apache-2.0
#include "cluster/lives.h"

#include <boost/asio/awaitable.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/codec/report_json.h"
#include "cluster/migration/run/parts.h"
#include "ctrl/engine/client.h"
#include "ctrl/extension.h"
#include "ctrl/log.h"

namespace flowcon::cluster {
namespace {

// Where they make no sense: that it has been moved is known all the same.
std::optional<policy::CategoryState> marks_in(const json::object& said, const std::string& id) {
  if (said.empty()) return std::nullopt;
  const Result<policy::CategoryState> read = policy::category_state_from(said, 0);
  if (read) return *read;
  ctrl::log::warning("the category state of container " + printable(id, 12) +
                     " is malformed: " + read.error().message());
  return std::nullopt;
}

}  // namespace

Async<Result<std::string>> JobLives::export_life(std::string id) {
  json::object life;
  const std::optional<policy::CategoryState> marks = memory_->export_state(id);
  life["marks"] = marks ? policy::to_json(*marks, 0) : json::object();
  std::string text = render_json(life);
  if (host_ == nullptr) co_return text;
  Result<std::string> job = co_await host_->export_history(id);
  if (!job) co_return job.error();
  text.pop_back();
  // As it is rendered: read and rendered again it would be the same.
  co_return text + ",\"job\":" + *job + "}";
}

// What is not understood of it is left out: the container is worth more than its records.
Async<void> JobLives::take_job(std::string id, std::string text) {
  ctrl::engine::Client client(host_->io(), host_->config().engine);
  std::string log_path;
  const std::string state = host_->config().state_dir;
  auto place = co_await migration::find_place(client, id, state);
  if (place && place->log_driver == "json-file") {
    log_path = place->folder + "/" + place->id + "-json.log";
  }
  const Result<void> taken = co_await host_->import_history(id, std::move(text), log_path);
  if (!taken) {
    ctrl::log::warning("the records of container " + printable(id, 12) +
                       " from other hosts are lost: " + taken.error().message());
  }
}

Async<Result<void>> JobLives::import_life(std::string id, std::string text, Cause cause) {
  std::optional<policy::CategoryState> marks;
  std::string job;
  if (text.size() <= kMaxLifeBytes) {
    const Result<json::value> life = parse_json(text);
    if (life) {
      marks = marks_in(object_of(*life, "marks"), id);
      if (!member(*life, "job").is_null()) job = render_json(member(*life, "job"));
    }
  }
  if (host_ != nullptr && !job.empty()) co_await take_job(id, std::move(job));
  memory_->import_state(id, marks, cause);
  co_return Result<void>();
}

Async<Result<void>> JobLives::forget_life(std::string id) {
  memory_->forget_state(id);
  if (host_ != nullptr) co_return co_await host_->forget_history(std::move(id));
  co_return Result<void>();
}

}  // namespace flowcon::cluster
