// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/plot.h"

#include <cstdlib>

#include "cmd/docker-flowcon/text/table.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

const char* const kHistory =
    R"({"id":"4c01","name":"vae","metric":"loss","goal":"min","started":1790000000,
   "finished":1790086500,
   "samples":[[1790000003,0.871],[1790000023,0.5],[1790000043,"nan"],[1790000063,0.2],
              [1790000083,0.1],[1790000103,0.05],[1790000123,0.0431]],
   "usage":[[1790000020,0.98,412356608],[1790000060,0.5,512356608],[1790000120,0.25,712356608]],
   "decisions":[[1790000020,"NL",1,0.021],[1790000060,"WL",1,0.01],[1790000100,"CL",0.25,null],
                [1790086500,"NL",1,1]]})";

class PlotFixture {
 public:
  PlotFixture() {
    setenv("TZ", "UTC", 1);
    fake.answer("GET /v1/containers/vae/history", 200, kHistory);
  }

  Outcome run(std::vector<std::string> words, Environment environment = {{"LANG", "C.UTF-8"}}) {
    words.insert(words.begin(), {"flowcon", "--socket", folder.path() + "/s", "plot", "vae"});
    return run_words(words, environment);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(PlotFixture, "plot draws the metric with its axes and says what it left out") {
  const Outcome outcome = run({"--height", "12", "--width", "64"});

  CHECK(outcome.status == 0);
  CHECK(outcome.err == "1 value is left out: unknown or not finite\n");
  test::check_golden("plugin/plot_loss.txt", outcome.out);
}

TEST_CASE_METHOD(PlotFixture, "cpu, limit and memory have their own units") {
  std::string charts;
  for (const std::string what : {"cpu", "limit", "memory"}) {
    charts += run({"--what", what, "--height", "8", "--width", "64"}).out + "\n";
  }
  test::check_golden("plugin/plot_units.txt", charts);
}

TEST_CASE_METHOD(PlotFixture, "a limit is drawn until the job's end, or until now") {
  const auto chart = [this](const std::string& finished) {
    fake.answer("GET /v1/containers/vae/history", 200,
                R"({"name":"vae","finished":)" + finished +
                    R"(,"decisions":[[1000,"NL",1,0.5],[1060,"CL",0.25,0.5]]})");
    return run({"--what", "limit", "--height", "6", "--width", "64"}).out;
  };
  const std::string ended = chart("1120");
  CHECK(ended.find("2 values") != std::string::npos);
  CHECK(ended.find("00:18:40") != std::string::npos);
  CHECK(chart("null").find("00:17:40\n") == std::string::npos);
}

TEST_CASE_METHOD(PlotFixture, "without UTF-8 the chart is ASCII, hostile names too") {
  fake.answer("GET /v1/containers/vae/history", 200,
              "{\"name\":\"v\xC3\xA4\\u001b[2J\",\"metric\":\"\\u202eloss\","
              "\"samples\":[[1,2],[3,4]]}");
  for (const Environment& environment :
       {Environment{}, Environment{{"LANG", "C"}},
        Environment{{"LC_ALL", "POSIX"}, {"LANG", "de_DE.UTF-8"}}}) {
    const Outcome outcome = run({"--height", "6"}, environment);

    CHECK(outcome.status == 0);
    for (const char c : outcome.out) CHECK((c == '\n' || (c >= ' ' && c < 0x7F)));
  }
}

TEST_CASE_METHOD(PlotFixture, "the width is told, or COLUMNS, or the terminal's") {
  const auto axis_width = [this](const std::vector<std::string>& words, const Environment& more) {
    const std::string chart = run(words, more).out;
    const std::size_t end = chart.rfind('\n', chart.size() - 2);
    const std::size_t start = chart.rfind('\n', end - 1) + 1;
    return character_count(chart.substr(start, end - start));
  };

  CHECK(axis_width({}, {}) == 80);
  CHECK(axis_width({}, {{"COLUMNS", "50"}}) == 50);
  CHECK(axis_width({}, {{"COLUMNS", "many"}}) == 80);
  CHECK(axis_width({}, {{"COLUMNS", "99999999999"}}) == 80);
  CHECK(axis_width({}, {{"COLUMNS", "3"}}) == 20);
  CHECK(axis_width({"--width", "60"}, {{"COLUMNS", "50"}}) == 60);
}

TEST_CASE_METHOD(PlotFixture, "a long title is one line, with its numbers") {
  const std::string name(60, 'n');
  fake.answer("GET /v1/containers/vae/history", 200,
              R"({"name":")" + name + R"(","metric":")" + name + R"(","samples":[[1,2],[3,4]]})");
  const std::string out = run({"--width", "60"}).out;
  const std::string title = out.substr(0, out.find('\n'));
  CHECK(character_count(title) == 60);
  CHECK(title.substr(title.size() - 8) == "2 values");
}

TEST_CASE_METHOD(PlotFixture, "one value is a point; none is an error") {
  fake.answer("GET /v1/containers/vae/history", 200,
              R"({"name":"vae","samples":[[1790000000,2]]})");
  const Outcome one = run({"--height", "6", "--width", "40"});
  fake.answer("GET /v1/containers/vae/history", 200,
              R"({"name":"vae","samples":[[1790000000,"nan"],[1,null],7,[]]})");
  const Outcome none = run({});

  CHECK(one.status == 0);
  test::check_golden("plugin/plot_one.txt", one.out);
  CHECK(none.status == 1);
  CHECK(none.out.empty());
  CHECK(none.err == "nothing to draw: no finite value of loss of vae is recorded\n");
}

}  // namespace
}  // namespace flowcon::plugin
