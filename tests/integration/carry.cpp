// SPDX-License-Identifier: Apache-2.0
// Carries one part of a stopped container to a created one of another engine, without the hosts
// between: carry FROM-SOCKET FROM-ID FROM-STATE TO-SOCKET TO-ID TO-STATE KIND [WHERE [BYTES]]
// prints "bytes sha256" of what went over. BYTES is the most that the receiver takes. KIND "life":
// what flowcond recorded, from one state to the other; WHERE is the file that the log is in by now.
// Neither flowcond runs meanwhile.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/cgroup_fs.h"
#include "cluster/migration/run/metered.h"
#include "cluster/migration/run/parts.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/engine/client.h"
#include "ctrl/spawn.h"

namespace {

using namespace flowcon;
using namespace flowcon::cluster::migration;

std::optional<PartKind> kind_of(const std::string& word) {
  if (word == "volume") return PartKind::volume;
  if (word == "path") return PartKind::path;
  if (word == "layer") return PartKind::layer;
  if (word == "checkpoint") return PartKind::checkpoint;
  if (word == "log") return PartKind::log;
  return {};
}

struct Order {
  std::string from_id, from_state, to_id, to_state;
  Part part;
  PartLimits limits;
};

Async<Result<void>> carry(ctrl::engine::Client& from, ctrl::engine::Client& to, Order order,
                          Metered meter) {
  auto source = co_await find_place(from, order.from_id, order.from_state);
  if (!source) co_return wrap(source.error(), "source");
  auto target = co_await find_place(to, order.to_id, order.to_state);
  if (!target) co_return wrap(target.error(), "target");
  auto sent = co_await send_part(from, *source, order.part);
  if (!sent) co_return wrap(sent.error(), "sending");
  auto taken =
      co_await take_part(to, *target, order.part, meter.wrap(std::move(*sent)), order.limits);
  if (!taken) co_return wrap(taken.error(), "taking");
  co_return Result<void>();
}

// A daemon that does not run, on a state that one has left.
Result<std::unique_ptr<ctrl::Daemon>> daemon_on(boost::asio::io_context& io,
                                                const std::string& engine,
                                                const std::string& state) {
  ctrl::Config config;
  config.engine = engine;
  config.state_dir = state;
  std::string notice;
  auto fs = cgroups::open_kernel_cgroups();
  if (!fs) return fs.error();
  auto store = ctrl::store::Store::open(state + "/flowcon.db", &notice);
  if (!store) return store.error();
  ctrl::World world = ctrl::real_world(io, config, std::move(*fs), std::move(*store));
  return std::make_unique<ctrl::Daemon>(io, config, std::move(world));
}

Async<Result<std::size_t>> carry_life(std::shared_ptr<ctrl::Daemon> from,
                                      std::shared_ptr<ctrl::Daemon> to, Order order) {
  Result<std::string> life = co_await from->own_host().export_history(order.from_id);
  if (!life) co_return life.error();
  const std::size_t bytes = life->size();
  Result<void> taken =
      co_await to->own_host().import_history(order.to_id, std::move(*life), order.part.where);
  if (!taken) co_return taken.error();
  co_return bytes;
}

int carry_life(const std::vector<std::string>& words, const Order& order) {
  boost::asio::io_context io(1);
  auto from = daemon_on(io, words[0], order.from_state);
  auto to = daemon_on(io, words[3], order.to_state);
  Result<std::size_t> bytes = std::size_t{0};
  if (!from || !to) {
    bytes = (from ? to : from).error();
  } else {
    std::shared_ptr<ctrl::Daemon> source = std::move(*from), target = std::move(*to);
    const auto life = [&]() -> Async<void> {
      Order whole = order;
      bytes = co_await carry_life(source, target, std::move(whole));
      io.stop();  // daemons wait for ever
    };
    ctrl::spawn(io, "carry", life);
    io.run();
    source->effects().finish();
    target->effects().finish();
  }
  if (bytes) {
    std::printf("%zu\n", *bytes);
    return 0;
  }
  std::fprintf(stderr, "carry: %s\n", bytes.error().message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool is_life = words.size() == 8 && words[6] == "life";
  const auto kind = is_life ? PartKind::log : words.size() >= 7 ? kind_of(words[6]) : std::nullopt;
  if (!kind || words.size() > 9) {
    std::fprintf(stderr,
                 "usage: carry FROM-SOCKET FROM-ID FROM-STATE TO-SOCKET TO-ID TO-STATE "
                 "KIND [WHERE [BYTES]]\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  Order order;
  order.from_id = words[1];
  order.from_state = words[2];
  order.to_id = words[4];
  order.to_state = words[5];
  order.part = {words[6], *kind, words.size() > 7 ? words[7] : ""};
  if (words.size() > 8) order.limits.bytes = std::strtoull(words[8].c_str(), nullptr, 10);
  if (is_life) return carry_life(words, order);
  boost::asio::io_context io(1);
  ctrl::engine::Client from(io, words[0]);
  ctrl::engine::Client to(io, words[3]);
  Metered meter;
  Result<void> result;
  const auto life = [&]() -> Async<void> {
    Order whole = order;
    result = co_await carry(from, to, std::move(whole), meter);
  };
  ctrl::spawn(io, "carry", life);
  io.run();
  if (!result) {
    std::fprintf(stderr, "carry: %s\n", result.error().message().c_str());
    return 1;
  }
  std::printf("%llu %s\n", static_cast<unsigned long long>(meter.bytes()), meter.sha256().c_str());
  return 0;
}
