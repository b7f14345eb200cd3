// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/image.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/text.h"
#include "ctrl/engine/client.h"
#include "ctrl/spawn.h"
#include "tests/cluster/migration/plan/image_archives.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::cluster::migration;

namespace {

struct Sent {
  std::string bytes;
  std::ptrdiff_t archives = 0;  // that the engine was asked for
};

// All but the first layer of an image.
Sent send_from_second(const Image& image, const std::string& archive) {
  const flowcon::test::TempFolder folder;
  flowcon::test::FakeDaemon daemon(folder.path() + "/engine");
  const std::string line = "GET /images/" + percent_encoded(image.info.id) + "/get";
  daemon.answer("GET /info", 200, "{}");
  daemon.answer(line, 200, archive);
  boost::asio::io_context io{1};
  ctrl::engine::Client client(io, folder.path() + "/engine");
  Sent sent;
  const auto life = [&]() -> Async<void> {
    Result<ctrl::Pull> body = co_await send_image(client, image.info, 1);
    for (Result<std::string> piece = "?"; body && piece && !piece->empty();) {
      piece = co_await (*body)();
      if (piece) sent.bytes += *piece;
    }
  };
  ctrl::spawn(io, "test", life);
  io.run();
  const auto requests = daemon.requests();
  sent.archives = std::count_if(requests.begin(), requests.end(),
                                [&](const auto& one) { return one.line == line; });
  return sent;
}

}  // namespace

TEST_CASE("an archive that names each layer by its sum is asked for once, an older one twice") {
  const Image image({layer("a"), layer(std::string(200000, 'b'))});
  const Sent now = send_from_second(image, new_archive(image));
  CHECK(now.archives == 1);
  const Sent before = send_from_second(image, old_archive(image));
  CHECK(before.archives == 2);
  for (const Sent& sent : {now, before}) {
    CHECK(sent.bytes.find(image.config) != std::string::npos);
    CHECK(sent.bytes.find(image.layers[1]) != std::string::npos);
  }
}
