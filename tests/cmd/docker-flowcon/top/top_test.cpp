// SPDX-License-Identifier: Apache-2.0
// What top shows and what its keys do, without a terminal. tests/integration/top.sh has one.
#include <clocale>
#include <cstdlib>

#include "base/json.h"
#include "cmd/docker-flowcon/text/cells.h"
#include "cmd/docker-flowcon/top/layout.h"
#include "cmd/docker-flowcon/top/state.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

constexpr double kNow = 1790000650;

const char* const kStatus = R"({"version":"0.1.0","host":"gpu1","cores":2,"limit_mode":"weight",
 "dry_run":false,"engine":{"reachable":true},"policy":"flowcon","alpha":0.03,"beta":2,"interval":40,
 "all_completing":false,"paused":false,"warnings":[],"containers":[
 {"id":"4c01","name":"vae","image":"trainings:1","state":"controlled","list":"CL","limit":0.25,
  "growth":0.0012,"verdict":"measured","metric":"loss","goal":"min","value":0.0431,
  "progress":{"done":12,"total":40,"from":"counter"},"left":310.5,"cpu":0.24,"memory":412356608,"io":183500.5,
  "resources":{"cpu":{"limit":0.25},"memory":{"limit":0.5},"io":{"limit":1}},"weight":1,
  "pinned":null,"reason":"CL: growth 0.12 %/s is under alpha 3 %","note":"","warnings":[],
  "recent":[0.9,0.5,0.3,0.2,0.1,0.06,0.05,0.0431]},
 {"id":"4c02","name":"gru","image":"trainings:1","state":"controlled","list":"NL","limit":1,
  "growth":0.152,"verdict":"measured","metric":"val_accuracy","goal":"max","value":0.8123,
  "cpu":0.67,"memory":1512356608,"io":null,"resources":{"cpu":{"limit":1}},"weight":2,
  "pinned":{"limit":1,"until":1790007200},"reason":"NL: growth 15 %/s","note":"","warnings":[],
  "recent":[0.1,0.4,"nan",0.8,0.8123]},
 {"id":"4c03","name":"gan","image":"trainings:2","state":"paused","list":"WL","limit":1,
  "growth":null,"verdict":"diverging","metric":null,"goal":null,"value":null,"cpu":0.01,
  "memory":1024,"io":0,"resources":{},"weight":1,"pinned":null,"reason":"",
  "note":"the metric moves away from its goal","warnings":[],"recent":[]}]})";

TopView view_of(const std::string& status) {
  const Result<boost::json::value> answer = parse_json(status);
  REQUIRE(answer.has_value());
  Result<TopView> view = read_top(*answer);
  REQUIRE(view.has_value());
  return std::move(*view);
}

class TopFixture {
 public:
  TopFixture() {
    setenv("TZ", "UTC", 1);
    std::setlocale(LC_CTYPE, "C.UTF-8");
    take_view(state, view_of(kStatus), kNow);
  }
  ~TopFixture() { std::setlocale(LC_CTYPE, "C"); }

  std::vector<std::string> lines(std::size_t width, std::size_t height, bool is_utf8 = true) {
    std::vector<std::string> texts;
    for (const TopLine& line : layout_top(state, {width, height, is_utf8})) {
      std::string text;
      for (const TopSpan& span : line) text += span.text;
      texts.push_back(text);
    }
    return texts;
  }

  std::string screen(std::size_t width, std::size_t height, bool is_utf8 = true) {
    std::string all;
    for (std::string& line : lines(width, height, is_utf8)) {
      line.erase(line.find_last_not_of(' ') + 1);
      all += line + "\n";
    }
    return all;
  }

  TopAction press(char letter) { return take_key(state, {TopKey::Kind::character, letter}); }
  TopAction press(TopKey::Kind kind) { return take_key(state, {kind}); }
  void type(const std::string& text) {
    for (const char c : text) (void)press(c);
  }
  std::string order() {
    std::string names;
    for (const TopRow* row : visible_rows(state)) names += (names.empty() ? "" : " ") + row->name;
    return names;
  }

  TopState state;
};

TEST_CASE_METHOD(TopFixture, "the screen at 80x24, wide, and in ASCII") {
  test::check_golden("plugin/top_80x24.txt", screen(80, 24));
  test::check_golden("plugin/top_140x12.txt", screen(140, 12));
  test::check_golden("plugin/top_ascii.txt", screen(80, 24, false));
}

TEST_CASE_METHOD(TopFixture,
                 "where the policy is milestone, lists and FlowCon's numbers are not shown") {
  std::string status = kStatus;
  status.replace(status.find("\"flowcon\""), 9, "\"milestone\"");
  take_view(state, view_of(status), kNow);
  test::check_golden("plugin/top_milestone.txt", screen(80, 12));
  CHECK(screen(200, 12).find("GROWTH") == std::string::npos);
  state.view.rows.resize(1);  // neither paused nor pinned
  CHECK(lines(80, 24)[2].find("NAME             METRIC ") == 0);
  state.mode = TopMode::help;
  const std::string help = screen(80, 40);
  CHECK(help.find("In details NL: before its usable model") != std::string::npos);
  CHECK(help.find("WL watched") == std::string::npos);
  // Whatever a host says of its policy is drawable.
  status.replace(status.find("milestone"), 9, "\\u001b[31m\\u202e");
  take_view(state, view_of(status), kNow);
  for (const std::string& line : lines(80, 24)) CHECK(line.find('\x1b') == std::string::npos);
}

TEST_CASE_METHOD(TopFixture, "the jobs of the queue are counted beside the containers") {
  CHECK(screen(120, 12).find("queue") == std::string::npos);
  std::string status = kStatus;
  status.insert(1, R"("queue":{"waiting":2,"running":3},)");
  take_view(state, view_of(status), kNow);

  CHECK(lines(120, 12)[1].find("3 containers: 1 NL 1 WL 1 CL  queue: 2 wait, 3 run") !=
        std::string::npos);
}

TEST_CASE_METHOD(TopFixture, "with other hosts there is a column for them") {
  const Result<boost::json::value> peers = parse_json(
      R"({"gpu2":{"host":"b","containers":[{"id":"4c09","name":"cnn","state":"controlled",
      "list":"CL","limit":0.1,"cpu":0.09,"metric":"accuracy","goal":"max","value":0.43,
      "progress":{"done":3,"total":10},"left":720}]},"gpu3":{"host":"c","containers":[]}})");
  REQUIRE(peers.has_value());
  state.elsewhere = read_elsewhere(*peers);

  test::check_golden("plugin/top_hosts.txt", screen(80, 12));
  state.selected = "4c09";
  CHECK(press('p').kind == TopAction::Kind::none);
  CHECK(state.message == "cnn is on gpu2: ask there");
}

TEST_CASE_METHOD(TopFixture, "a row with a problem is marked, and the bottom says all of it") {
  take_view(state, view_of(R"({"containers":[
    {"id":"4c01","name":"a-name-that-is-longer-than-its-column-of-thirty-two","state":"controlled",
     "note":"no output yet; if it prints, it may be buffered: -e PYTHONUNBUFFERED=1, python -u, stdbuf -oL, or flowcon.log=FILE; its remaining time is a guess; set flowcon.floor to guarantee it CPU, and so on"},
    {"id":"4c02","name":"gru","state":"controlled","warnings":["label flowcon.metrik: unknown label"]},
    {"id":"4c03","name":"vae","state":"controlled","reason":"milestone: 1 of 3"}]})"),
            kNow);
  std::vector<std::string> all = lines(80, 24);
  CHECK(all[3].find("a-name-that-") == 0);
  CHECK(all[3].find("… ! ") != std::string::npos);
  CHECK(all[4].find("gru ! ") == 0);
  CHECK(all[5].find("vae   ") == 0);
  CHECK(all[19].empty());
  CHECK(all[20].find("a-name-that-is-longer-than-its-column-of-thirty-two: no output yet") == 0);
  CHECK(all[21].find("PYTHONUNBUFFERED=1, python -u, stdbuf -oL") != std::string::npos);
  CHECK(all[22].ends_with("…"));
  CHECK(all[23].find("q quit") == 0);
  CHECK(lines(80, 12)[9].empty());  // a small screen is for the rows
  press('j');
  CHECK(lines(80, 24)[22] == "gru: label flowcon.metrik: unknown label");
  press('j');
  CHECK(lines(80, 24)[22] == "vae: milestone: 1 of 3");
}

TEST_CASE_METHOD(TopFixture, "no line is wider than the terminal and there are as many as it has") {
  for (const TopMode mode :
       {TopMode::rows, TopMode::filter, TopMode::pin, TopMode::help, TopMode::details}) {
    state.mode = mode;
    state.decisions.assign(40, "12:04:10  cpu     watching: growth 0.8 %/s is under alpha 3 %");
    for (std::size_t width = 1; width < 200; width += width < 100 ? 1 : 17) {
      for (const std::size_t height : {1U, 2U, 3U, 5U, 6U, 7U, 24U, 60U}) {
        const std::vector<std::string> all = lines(width, height);
        REQUIRE(all.size() == height);
        for (const std::string& line : all) REQUIRE(columns_of(line) <= width);
      }
    }
  }
}

TEST_CASE_METHOD(TopFixture, "a hostile name stays in its cell and harms no terminal") {
  take_view(state, view_of(R"({"host":"h\u001b[2J","containers":[{"id":"4c01",
    "name":"\u001b]0;x\u0007\u202e\n日本語日本語日本語日本語日本語","metric":"\u009b31m","state":"controlled",
    "value":1e308,"note":"\r\nnote","reason":"\u0000","warnings":["\u001b[31m"],"list":"\u001b"}]})"),
            kNow);
  for (const bool is_utf8 : {true, false}) {
    for (const TopMode mode : {TopMode::rows, TopMode::details}) {
      state.mode = mode;
      for (const std::string& line : lines(80, 24, is_utf8)) {
        CHECK(columns_of(line) <= 80);
        for (const char c : line) {
          CHECK(static_cast<unsigned char>(c) >= ' ');
          CHECK(c != 0x7F);
          if (!is_utf8) CHECK(static_cast<unsigned char>(c) < 0x7F);
        }
        CHECK(line.find("\u202e") == std::string::npos);
        CHECK(line.find("\u009b") == std::string::npos);
      }
    }
  }
}

TEST_CASE_METHOD(TopFixture, "s and < go through the columns, r turns them round") {
  CHECK(order() == "vae gru gan");
  press('s');
  CHECK(order() == "gan gru vae");
  press('s');
  CHECK(order() == "gru gan vae");  // NL, WL, CL
  press('s');
  CHECK(order() == "gru vae gan");  // by limit; a paused one has none
  press('r');
  CHECK(order() == "vae gru gan");  // what is not known stays last
  press('<');
  press('<');
  press('<');
  CHECK(order() == "vae gru gan");
}

TEST_CASE_METHOD(TopFixture, "the selection stays on its container, and finds another one") {
  press('j');
  CHECK(state.selected == "4c02");
  press('s');
  CHECK(state.selected == "4c02");
  press('<');
  take_view(state, view_of(R"({"containers":[{"id":"4c01"},{"id":"4c03"}]})"), kNow);
  CHECK(state.selected == "4c03");
  take_view(state, view_of(R"({"containers":[]})"), kNow);
  CHECK(selected_row(state) == nullptr);
  CHECK(press('p').kind == TopAction::Kind::none);
  CHECK(state.message == "no container is selected");
  press(TopKey::Kind::up);
  press(TopKey::Kind::last);
  CHECK(press('e').kind == TopAction::Kind::none);
}

TEST_CASE_METHOD(TopFixture, "a long list scrolls with the selection") {
  std::string status = R"({"containers":[)";
  for (int i = 0; i < 100; ++i) {
    status += std::string(i > 0 ? "," : "") + R"({"id":"c)" + std::to_string(i) +
              R"(","name":"job)" + std::to_string(i) + "\"}";
  }
  take_view(state, view_of(status + "]}"), kNow);
  (void)screen(80, 24);
  press(TopKey::Kind::last);
  const std::string end = screen(80, 24);
  CHECK(state.selected == "c99");
  CHECK(end.find("job99") != std::string::npos);
  CHECK(end.find("job80") == std::string::npos);
  press(TopKey::Kind::page_up);
  CHECK(state.selected == "c80");
  press(TopKey::Kind::first);
  CHECK(screen(80, 24).find("job0 ") != std::string::npos);
}

TEST_CASE_METHOD(TopFixture, "the filter shows what fits while it is typed") {
  press('/');
  type("TRAININGS:2");
  CHECK(order() == "gan");
  CHECK(state.selected == "4c03");
  CHECK(lines(80, 24).back() == "filter: TRAININGS:2_");
  press(TopKey::Kind::enter);
  CHECK(state.mode == TopMode::rows);
  CHECK(order() == "gan");
  press(TopKey::Kind::escape);
  CHECK(order() == "vae gru gan");
  press('/');
  type("nothing");
  CHECK(screen(80, 24).find("no container matches the filter") != std::string::npos);
  for (int i = 0; i < 20; ++i) press(TopKey::Kind::backspace);
  CHECK(order() == "vae gru gan");
}

TEST_CASE_METHOD(TopFixture, "p pauses, and resumes what is paused") {
  const TopAction pause = press('p');
  CHECK(pause.kind == TopAction::Kind::post);
  CHECK(pause.id + " " + pause.verb + " " + pause.body == "4c01 pause ");
  press(TopKey::Kind::last);
  CHECK(press('p').verb == "resume");
}

TEST_CASE_METHOD(TopFixture, "P pins to a share, for a time where one is said; u takes it away") {
  press('P');
  type("50% 2h");
  const TopAction pin = press(TopKey::Kind::enter);
  CHECK(pin.verb == "pin");
  CHECK(pin.body == R"({"cpu":"0.5","for":"7200"})");
  CHECK(state.mode == TopMode::rows);
  press('P');
  type("0.4");
  CHECK(press(TopKey::Kind::enter).body == R"({"cpu":"0.4"})");
  CHECK(press('u').kind == TopAction::Kind::none);
  CHECK(state.message == "vae is not pinned");
  press('j');
  CHECK(press('u').verb == "unpin");
}

TEST_CASE_METHOD(TopFixture,
                 "a container that ends while it is asked about gives its place to none") {
  press('P');
  type("50%");
  take_view(state, view_of(R"({"containers":[{"id":"4c02"},{"id":"4c03"}]})"), kNow);
  CHECK(press(TopKey::Kind::enter).kind == TopAction::Kind::none);
  press(TopKey::Kind::escape);
  take_view(state, view_of(R"({"containers":[{"id":"4c02"},{"id":"4c03"}]})"), kNow);
  CHECK(selected_row(state) != nullptr);
  press('e');
  take_view(state, view_of(R"({"containers":[{"id":"4c09"}]})"), kNow);
  CHECK(screen(80, 24).find("the container is gone") != std::string::npos);
}

TEST_CASE_METHOD(TopFixture, "a pin that cannot be is not asked for, and can be put right") {
  for (const std::string wrong : {"", "0", "200%", "half", "50% soon", "50% 0s"}) {
    press('P');
    type(wrong);
    CHECK(press(TopKey::Kind::enter).kind == TopAction::Kind::none);
    CHECK(state.mode == TopMode::pin);
    CHECK(state.is_message_bad);
    press(TopKey::Kind::escape);
    CHECK(state.mode == TopMode::rows);
  }
}

TEST_CASE_METHOD(TopFixture, "an id that is none is never asked for") {
  take_view(state, view_of(R"({"containers":[{"id":"../pause?x","name":"vae"}]})"), kNow);
  press(TopKey::Kind::first);
  CHECK(press('p').kind == TopAction::Kind::none);
  CHECK(press('e').kind == TopAction::Kind::none);
  CHECK(state.mode == TopMode::details);
}

TEST_CASE_METHOD(TopFixture, "e asks for the decisions and shows them on a page") {
  const TopAction action = press('e');
  CHECK(action.kind == TopAction::Kind::explain);
  CHECK(action.id == "4c01");
  const Result<boost::json::value> explained = parse_json(
      R"({"decisions":[{"time":1790000020,"resource":"cpu","sentence":"learning; limit set to 1"},
      {"time":1790000620,"resource":"cpu","sentence":"watching: growth 0.8 %/s is under alpha 3 %; limit kept at 0.4, and more words that need another line"}]})");
  REQUIRE(explained.has_value());
  state.decisions = read_decisions(*explained);
  test::check_golden("plugin/top_details.txt", screen(80, 24));
  press(TopKey::Kind::escape);
  CHECK(state.mode == TopMode::rows);
}

TEST_CASE_METHOD(TopFixture, "the help is a page that scrolls and goes away") {
  press('?');
  test::check_golden("plugin/top_help.txt", screen(80, 30));
  (void)screen(80, 10);
  press(TopKey::Kind::last);
  CHECK(screen(80, 10).find("MEM LIM") != std::string::npos);
  CHECK(press('q').kind == TopAction::Kind::none);
  CHECK(press('q').kind == TopAction::Kind::quit);
}

TEST_CASE_METHOD(TopFixture, "a frozen view takes no look") {
  press(' ');
  take_view(state, view_of(R"({"containers":[]})"), kNow + 2);
  CHECK(order() == "vae gru gan");
  press(' ');
  take_view(state, view_of(R"({"containers":[]})"), kNow + 4);
  CHECK(order().empty());
}

TEST_CASE_METHOD(TopFixture, "a lost flowcond is told above what was seen last") {
  state.problem = "Cannot connect to flowcond at unix:///s: No such file or directory";
  const std::string seen = screen(80, 24);
  CHECK(seen.find("gpu1  Cannot connect to flowcond") == 0);
  CHECK(seen.find("vae") != std::string::npos);
}

TEST_CASE("top without a terminal says what to use instead") {
  test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/status", 200, kStatus);
  const Outcome outcome = run_words({"flowcon", "--socket", folder.path() + "/s", "top"});

  CHECK(outcome.status == 1);
  CHECK(outcome.err == "top needs a terminal; without one use: docker flowcon status --watch\n");
}

}  // namespace
}  // namespace flowcon::plugin
