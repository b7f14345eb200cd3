// SPDX-License-Identifier: Apache-2.0
// The log that a job takes along, from an engine with canned answers.
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <optional>
#include <vector>

#include "cluster/migration/plan/log_lines.h"
#include "cluster/migration/run/parts_internal.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::cluster::migration;

namespace {

constexpr std::int64_t kBegan = 1'700'000'000'000'000'000;

std::string record(int second, const std::string& text) {
  return render_record({kBegan + second * 1'000'000'000LL, false, text + "\n"});
}

// As the engine tells of a record.
std::string frame(int second, const std::string& text) {
  const std::string line = render_log_time(kBegan + second * 1'000'000'000LL) + " " + text + "\n";
  std::string head(8, '\0');
  head[0] = 1;
  head[7] = static_cast<char>(line.size());
  return head + line;
}

struct Source {
  Source() {
    place.id = std::string(64, 'a');
    place.folder = folder.path();
    place.lives = folder.path() + "/lives";
    place.log_driver = "json-file";
  }
  void engine_tells(const std::string& frames) {
    daemon.answer("GET /containers/" + place.id + "/logs?stdout=1&stderr=1&timestamps=1", 200,
                  frames);
  }
  void write(const std::string& text, const std::string& number = "") const {
    std::ofstream(place.folder + "/" + place.id + "-json.log" + number) << text;
  }
  // The texts that arrive.
  std::vector<std::string> sent() {
    std::vector<std::string> texts;
    const LogSink sink = [&texts](const LogRecord& one) { texts.push_back(one.text); };
    LogLines lines([] { return 0.0; });
    bool is_done = false;
    auto send = [&]() -> Async<void> {
      const Result<ctrl::Pull> log = co_await send_log(client, place, false);
      REQUIRE(log.has_value());
      for (;;) {
        Result<std::string> piece = co_await (*log)();
        REQUIRE(piece.has_value());
        if (piece->empty()) break;
        REQUIRE(lines.feed(*piece, sink).has_value());
      }
      is_done = true;
    };
    ctrl::spawn(io, "test", send);
    io.run();
    CHECK(is_done);
    return texts;
  }

  test::TempFolder folder;
  test::FakeDaemon daemon{folder.path() + "/docker.sock"};
  boost::asio::io_context io{1};
  ctrl::engine::Client client{io, folder.path() + "/docker.sock"};
  CopyPlace place;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a log is what the engine tells of it") {
  Source source;
  source.engine_tells(frame(1, "one") + frame(2, "two"));
  source.write(record(1, "one") + record(2, "two"));
  CHECK((source.sent() == Texts{"one\n", "two\n"}));
}

TEST_CASE("an engine that ends at a torn record without a word has not told all") {
  Source source;
  source.engine_tells(frame(1, "one"));
  source.write(record(1, "one") + "{\"log\":\"tw" + record(3, "three") + record(4, "four"));
  CHECK((source.sent() == Texts{"one\n", "three\n", "four\n"}));
}

TEST_CASE("a torn record in a file that was rotated since hides nothing either") {
  Source source;
  source.engine_tells("");
  source.write("{\"log\":\"on" + record(2, "two"), ".1");
  source.write("");
  CHECK((source.sent() == Texts{"two\n"}));
}
