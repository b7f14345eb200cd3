// SPDX-License-Identifier: Apache-2.0
#include "cluster/lives.h"

#include <boost/asio/awaitable.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/run/parts.h"
#include "ctrl/engine/client.h"
#include "ctrl/extension.h"
#include "ctrl/log.h"

namespace flowcon::cluster {

Async<Result<std::string>> JobLives::export_life(std::string id) {
  json::object life;
  life["marks"] = memory_->export_state(id);
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
    ctrl::log::warning("what was recorded of container " + printable(id, 12) +
                       " elsewhere is lost: " + taken.error().message());
  }
}

Async<Result<void>> JobLives::import_life(std::string id, std::string text, Cause cause) {
  json::object state;
  std::string job;
  if (text.size() <= kMaxLifeBytes) {
    const Result<json::value> life = parse_json(text);
    if (life) {
      state = object_of(*life, "marks");
      if (!member(*life, "job").is_null()) job = render_json(member(*life, "job"));
    }
  }
  if (host_ != nullptr && !job.empty()) co_await take_job(id, std::move(job));
  const Result<void> taken = memory_->import_state(id, state, cause);
  if (taken) co_return Result<void>();
  // Whatever it was before: that it has been moved is known here.
  ctrl::log::warning("what came with container " + printable(id, 12) +
                     " makes no sense: " + taken.error().message());
  co_return memory_->import_state(id, {}, cause);
}

Async<Result<void>> JobLives::forget_life(std::string id) {
  memory_->forget_state(id);
  if (host_ != nullptr) co_return co_await host_->forget_history(std::move(id));
  co_return Result<void>();
}

}  // namespace flowcon::cluster
