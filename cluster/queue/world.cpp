// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/world.h"

#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <ctime>
#include <fstream>
#include <utility>

#include "base/file.h"
#include "ctrl/effects.h"
#include "ctrl/log.h"

namespace flowcon::cluster::queue {

using ctrl::store::QueueRow;

Async<Result<void>> StoreRows::save(QueueRow row) {
  auto write = [&store = host_.store(), row = std::move(row)] { return store.save_queue_row(row); };
  co_return co_await host_.effects().run(std::move(write));
}

Async<Result<std::vector<QueueRow>>> StoreRows::read(std::size_t most) {
  auto read = [&store = host_.store(), most] { return store.queue_rows(most); };
  co_return co_await host_.effects().run(std::move(read));
}

Async<Result<bool>> StoreRows::has(std::string id) {
  auto look = [&store = host_.store(), id = std::move(id)] { return store.has_queue_row(id); };
  co_return co_await host_.effects().run(std::move(look));
}

Async<Result<std::optional<QueueRow>>> StoreRows::find(std::string name) {
  auto look = [&store = host_.store(), name = std::move(name)] {
    return store.find_queue_row(name);
  };
  co_return co_await host_.effects().run(std::move(look));
}

Async<Result<void>> StoreRows::drop(std::string id) {
  auto clear = [&store = host_.store(), id = std::move(id)] { return store.drop_queue_row(id); };
  co_return co_await host_.effects().run(std::move(clear));
}

Async<Result<void>> StoreRows::forget(std::size_t most, std::vector<std::string> there) {
  auto clear = [&store = host_.store(), most, there = std::move(there)] {
    return store.forget_queue_rows(most, there);
  };
  co_return co_await host_.effects().run(std::move(clear));
}

void keep_text(ctrl::LocalHost& host, const std::string& name, std::string text) {
  const std::string path = host.config().state_dir + "/" + name;
  const bool is_queued = host.effects().try_post([path, text = std::move(text)] {
    if (text.empty()) {
      ::unlink(path.c_str());
    } else {
      std::ofstream(path) << text;
    }
  });
  if (!is_queued) ctrl::log::debug(path + " is not written: the disk is slow");
}

std::string kept_text(const ctrl::LocalHost& host, const std::string& name) {
  return file_text(host.config().state_dir + "/" + name);
}

double boot_time() {
  timespec wall{}, since_boot{};
  if (::clock_gettime(CLOCK_REALTIME, &wall) != 0) return 0;
  if (::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return 0;
  const auto seconds = [](const timespec& at) {
    return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) / 1e9;
  };
  return seconds(wall) - seconds(since_boot);
}

}  // namespace flowcon::cluster::queue
