// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/ports.h"

#include <ifaddrs.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <sstream>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "ctrl/await.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

using boost::asio::experimental::awaitable_operators::operator||;
using boost::asio::ip::tcp;

constexpr std::chrono::seconds kAnswering{60};
constexpr double kKept = 3600;  // seconds; its image may be on its way
constexpr double kTried = 600;  // seconds; all hosts of a job have tried each other, or never will
constexpr std::chrono::seconds kConnecting{3};
constexpr const char* kFile = "ports";

boost::asio::ip::address address_in(const sockaddr* found) {
  if (found->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, found, sizeof v4);
    return boost::asio::ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, found, sizeof v6);
  boost::asio::ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), v6.sin6_addr.s6_addr, bytes.size());
  return boost::asio::ip::address_v6(bytes);
}

bool runs(const std::string& state) {
  return state == "running" || state == "paused" || state == "restarting";
}

// "" = it has none.
std::string label_of(const ctrl::engine::Listed& container, const char* name) {
  const auto found = container.labels.find(name);
  return found == container.labels.end() ? "" : found->second;
}

}  // namespace

std::string interface_of(const std::string& address) {
  boost::system::error_code error;
  const auto wanted = boost::asio::ip::make_address(address, error);
  ifaddrs* all = nullptr;
  if (error || ::getifaddrs(&all) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool is_ip = one->ifa_addr != nullptr && (one->ifa_addr->sa_family == AF_INET ||
                                                    one->ifa_addr->sa_family == AF_INET6);
    if (is_ip && address_in(one->ifa_addr) == wanted) return one->ifa_name;
  }
  return "";
}

struct Ports::Lease {
  explicit Lease(boost::asio::io_context& io) : acceptor(io), patience(io, kAnswering) {}
  void hush() {
    boost::system::error_code ignored;
    acceptor.close(ignored);
    patience.cancel();
  }

  tcp::acceptor acceptor;
  boost::asio::steady_timer patience;
  double taken = 0;       ///< on the queue's clock
  bool was_used = false;  ///< a task had it when it was looked last
  std::string who;        ///< Ports::lease()
};

Ports::Ports(World& world, std::function<std::set<std::int64_t>()> kept)
    : world_(world), kept_(std::move(kept)) {
  std::istringstream lines(kept_text(world.host, kFile));
  std::int64_t port = 0;
  double since = 0;
  std::string who;
  while (lines >> port >> since >> who) {
    if (!is_random_id(who)) continue;
    auto lease = std::make_shared<Lease>(world.host.io());
    // The clock may have been set back.
    lease->taken = world.clock.steady() - std::max(0.0, world.clock.wall() - since);
    lease->who = who;
    leases_[port] = std::move(lease);
  }
}

// Where tasks of this host's own jobs listen its journal says.
void Ports::keep() const {
  const double since_epoch = world_.clock.wall() - world_.clock.steady();
  std::ostringstream lines;
  for (const auto& [port, lease] : leases_) {
    if (lease->who.empty()) continue;
    lines << port << " " << std::fixed << lease->taken + since_epoch << " " << lease->who << "\n";
  }
  keep_text(world_.host, kFile, lines.str());
}

Ports::~Ports() {
  for (const auto& [port, lease] : leases_) lease->hush();
}

// Whoever connects is cut off: that it could is all there is to know.
Async<void> Ports::answer(std::shared_ptr<Lease> lease) {
  while (lease->acceptor.is_open()) {
    tcp::socket caller(lease->acceptor.get_executor());
    const auto [error] = co_await lease->acceptor.async_accept(caller, kAwait);
    if (error) co_return lease->hush();
    // Else the port would be in use for a minute.
    boost::system::error_code ignored;
    caller.set_option(tcp::socket::linger(true, 0), ignored);
  }
}

// Of containers that run, and of births that are to. What has ended keeps its label, and so does a
// ticket, whose task is on another host.
Async<Result<std::set<std::int64_t>>> Ports::labelled() {
  const Result<std::vector<ctrl::engine::Listed>> all = co_await world_.engine.list();
  if (!all) co_return all.error();
  std::set<std::int64_t> ports = kept_();
  for (const ctrl::engine::Listed& one : *all) {
    const std::string port = label_of(one, migration::kPortLabel);
    const bool is_birth = one.state == "created" && !label_of(one, ctrl::kMovedLabel).empty();
    if (port.empty() || port.size() > 5 || !(is_birth || runs(one.state))) continue;
    ports.insert(std::strtol(port.c_str(), nullptr, 10));
  }
  co_return ports;
}

Async<Result<std::vector<Endpoint>>> Ports::lease(std::size_t count, std::string who) {
  const ctrl::QueueOptions options = world_.host.config().queue;
  const std::string interface = interface_of(options.advertise);
  if (interface.empty()) {
    co_return bad_input(options.advertise.empty()
                            ? "it has no advertise in its flowcon.conf"
                            : "advertise = " + options.advertise + " is no address of it");
  }
  const Result<std::set<std::int64_t>> taken = co_await labelled();
  if (!taken) co_return taken.error();
  const double now = world_.clock.steady();
  std::erase_if(leases_, [&](const auto& one) {
    Lease& lease = *one.second;
    const bool is_over = lease.was_used && !taken->contains(one.first);
    lease.was_used = taken->contains(one.first);
    // Of this host's own tasks all are known as soon as their hosts have tried each other.
    const double age = now - lease.taken;
    const bool is_nobodys = lease.who.empty() && !lease.was_used && age > kTried;
    if (!is_over && !is_nobodys && age <= kKept) return false;
    lease.hush();
    return true;
  });
  const auto is_theirs = [&](const auto& one) { return one.second->who == who; };
  const auto held = std::count_if(leases_.begin(), leases_.end(), is_theirs);
  if (static_cast<std::size_t>(held) + count > kMostLeased) {
    co_return errno_error(EAGAIN,
                          "it has leased " + std::to_string(held) + " ports to that host already");
  }
  std::vector<Endpoint> endpoints;
  const auto address = boost::asio::ip::make_address(options.advertise);
  for (std::int64_t port = options.group_ports.first;
       port <= options.group_ports.last && endpoints.size() < count; ++port) {
    if (taken->contains(port) || leases_.contains(port)) continue;
    auto lease = std::make_shared<Lease>(world_.host.io());
    lease->taken = now;
    lease->who = who;
    boost::system::error_code error;
    const tcp::endpoint here(address, static_cast<std::uint16_t>(port));
    lease->acceptor.open(here.protocol(), error);
    if (!error) lease->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) lease->acceptor.bind(here, error);
    if (!error) lease->acceptor.listen(16, error);
    if (error) continue;
    leases_[port] = lease;
    lease->patience.async_wait([lease](const boost::system::error_code& ended) {
      if (!ended) lease->hush();
    });
    ctrl::spawn(world_.host.io(), "port " + std::to_string(port), answer(lease));
    endpoints.push_back({options.advertise, port, interface});
  }
  if (endpoints.size() < count) {
    std::vector<std::int64_t> ports;
    for (const Endpoint& one : endpoints) ports.push_back(one.port);
    drop(ports, who);
    const std::string why = "its ports " + std::to_string(options.group_ports.first) + " to " +
                            std::to_string(options.group_ports.last) +
                            " (group-ports) are in use, or it may not listen";
    const auto all =
        static_cast<std::size_t>(options.group_ports.last - options.group_ports.first + 1);
    // Whoever has them will go, but there are never more than these.
    co_return count > all ? bad_input(why) : errno_error(EAGAIN, why);
  }
  keep();
  co_return endpoints;
}

void Ports::hush(const std::vector<std::int64_t>& ports, const std::string& who) {
  for (const std::int64_t port : ports) {
    const auto found = leases_.find(port);
    if (found != leases_.end() && found->second->who == who) found->second->hush();
  }
}

void Ports::drop(const std::vector<std::int64_t>& ports, const std::string& who) {
  hush(ports, who);
  for (const std::int64_t port : ports) {
    const auto found = leases_.find(port);
    if (found != leases_.end() && found->second->who == who) leases_.erase(found);
  }
  keep();
}

Async<std::vector<std::string>> Ports::try_all(std::vector<Endpoint> endpoints) {
  std::vector<std::string> failures;
  for (const Endpoint& one : endpoints) {
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(one.address, error);
    const std::string shown = printable(one.address, 60) + " port " + std::to_string(one.port);
    if (error) {
      failures.push_back(shown + ": it is no address");
      continue;
    }
    tcp::socket socket(world_.host.io());
    boost::asio::steady_timer timer(world_.host.io(), kConnecting);
    const tcp::endpoint there(address, static_cast<std::uint16_t>(one.port));
    auto connecting = socket.async_connect(there, kAwait);
    auto waiting = timer.async_wait(kAwait);
    auto first = std::move(connecting) || std::move(waiting);
    const auto ended = co_await std::move(first);
    if (ended.index() == 1) {
      failures.push_back(shown + ": no answer");
    } else if (const auto& [failure] = std::get<0>(ended); failure) {
      failures.push_back(shown + ": " + failure.message());
    }
  }
  co_return failures;
}

}  // namespace flowcon::cluster::queue
