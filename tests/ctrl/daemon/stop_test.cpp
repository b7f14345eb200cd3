// SPDX-License-Identifier: Apache-2.0
// The end of a flowcond while something waits for the kernel or a disk: limits are put back before.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>

#include "ctrl/await.h"
#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;
using test::run_two;
using test::StandardError;

namespace {

bool have_originals(const Host& host) {
  return host.weight("a") == "100" && host.weight("b") == "100";
}

// The effects thread waits until it is told that this is over.
std::promise<void> hold(Host& host) {
  std::promise<void> held;
  auto wait = [answer = held.get_future().share()] { answer.wait(); };
  REQUIRE(host.daemon->effects().try_post(std::move(wait)));
  return held;
}

// Ends flowcond. True if all has been put back while the effects thread waits.
bool are_back_while_held(Host& host) {
  std::promise<void> held = hold(host);
  bool are_back = false;
  std::function<void(int)> look = [&](int more) {
    are_back = have_originals(host);
    if (are_back || more == 0) return held.set_value();
    boost::asio::post(*host.io, [&look, more] { look(more - 1); });
  };
  boost::asio::post(*host.io, [&look] { look(1000); });
  host.end();
  return are_back;
}

// A migration that has come to its end once a pass waits for the original of a new job to be saved.
class Migration : public ctrl::Extension {
 public:
  struct Seen {
    bool is_pass_waiting = false;
    bool are_limits_back = false;
  };
  Migration(Host& host, std::promise<void>& held, Seen& seen)
      : host_(host), held_(held), seen_(seen) {}
  Async<void> begin() override { co_return; }
  void look(double) override { has_passed_ = true; }
  ctrl::api::Routes routes() override { return {}; }
  Async<void> settle(double) override {
    over_.expires_at(boost::asio::steady_timer::time_point::max());
    host_.fs.at_read = [this](const std::string& group, const std::string&) {
      if (group == "docker/" + Host::id_of("c")) over_.cancel();
    };
    host_.start("c");
    host_.daemon->own_host().apply_limits();
    has_passed_ = false;
    co_await over_.async_wait(kAwait);
    host_.fs.at_read = nullptr;
    seen_.is_pass_waiting = !has_passed_;
    boost::asio::post(*host_.io, [this] {
      seen_.are_limits_back = have_originals(host_);
      held_.set_value();
    });
  }
  void end() override {}

 private:
  Host& host_;
  std::promise<void>& held_;
  Seen& seen_;
  bool has_passed_ = false;
  boost::asio::steady_timer over_{*host_.io};
};

}  // namespace

TEST_CASE("limits are put back in the kernel at a stop, though the disk stands still") {
  Host host;
  run_two(host);
  host.pass(20);
  REQUIRE_FALSE(have_originals(host));
  CHECK(are_back_while_held(host));
}

TEST_CASE("limits are put back once migrations have ended, though a pass waits, and none is new") {
  Host host;
  run_two(host);
  REQUIRE_FALSE(have_originals(host));
  Migration::Seen seen;
  std::promise<void> held = hold(host);
  host.daemon->extend(std::make_unique<Migration>(host, held, seen));
  host.end();
  REQUIRE(seen.is_pass_waiting);
  CHECK(seen.are_limits_back);
  CHECK(have_originals(host));
  CHECK(std::ranges::none_of(host.fs.writes(), [](const auto& write) {
    return write.group == "docker/" + Host::id_of("c");
  }));
  std::string notice;
  const auto store = ctrl::store::Store::open(host.folder.path() + "/flowcon.db", &notice);
  REQUIRE(store.has_value());
  CHECK((*store)->originals()->empty());
}

TEST_CASE("limits that nobody has claimed are all put back before a stop waits for anything") {
  Host host;
  run_two(host);
  REQUIRE_FALSE(have_originals(host));
  host.kill();
  host.running.clear();  // the engine lists nothing yet
  for (const char* name : {"a", "b"}) {
    host.fs.refuse("docker/" + Host::id_of(name), "cpu.weight", EIO);
  }
  {
    const StandardError error;
    host.begin();
  }
  for (const char* name : {"a", "b"}) {
    host.fs.refuse("docker/" + Host::id_of(name), "cpu.weight", 0);
  }
  REQUIRE_FALSE(have_originals(host));
  CHECK(are_back_while_held(host));
}

TEST_CASE("systemd is asked to wait until the kernel has ended what it was asked for") {
  Host host;
  run_two(host);
  const std::string path = host.folder.path() + "/notify";
  const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  host.end();
  ::unsetenv("NOTIFY_SOCKET");
  std::string told;
  char word[200] = {};
  for (ssize_t size = 0; (size = ::recv(file, word, sizeof word, MSG_DONTWAIT)) > 0;) {
    told.append(word, static_cast<std::size_t>(size)) += '\n';
  }
  ::close(file);
  CHECK(told.find("EXTEND_TIMEOUT_USEC=300000000\n") != std::string::npos);
}
