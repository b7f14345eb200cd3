// SPDX-License-Identifier: Apache-2.0
// The report's data, its estimate and its page. tests/integration/report.sh looks at it in a
// browser.
#include "cmd/docker-flowcon/report/report.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/json.h"
#include "cmd/docker-flowcon/report/data.h"
#include "cmd/docker-flowcon/report/page.h"
#include "cmd/docker-flowcon/report/worth.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

namespace json = boost::json;

json::value parsed(const std::string& text) {
  Result<json::value> value = parse_json(text);
  REQUIRE(value.has_value());
  return *value;
}

// --- the estimate

// A job that used `cpu` of the host all the time from `begin` to `end`, under `limit`.
ReportRun steady_job(const std::string& id, double begin, double end, double cpu, double limit) {
  ReportRun run;
  run.id = run.name = id;
  run.started = begin;
  run.finished = end;
  for (double t = begin; t < end; t += 1) {
    run.usage.push_back({t + 1, cpu, 1e6, 0.0, std::nullopt});
  }
  run.places.cpu.push_back({begin, limit < 1 ? "CL" : "NL", limit});
  run.samples = {{begin, 1.0}, {begin + (end - begin) / 2, 0.05}, {end, 0.0}};
  return run;
}

// From then on it used so much, under this limit.
void set_from(ReportRun& run, double time, double cpu, double limit) {
  for (ReportUse& look : run.usage) {
    if (look.time > time) look.cpu = cpu;
  }
  run.places.cpu.push_back({time, "NL", limit});
}

TEST_CASE("parts are equal, and what one leaves goes to the others") {
  CHECK(equal_parts(1, {1, 1}) == std::vector<double>{0.5, 0.5});
  CHECK(equal_parts(1, {0.1, 1, 1}) == std::vector<double>{0.1, 0.45, 0.45});
  CHECK(equal_parts(1, {0.2, 0.2}) == std::vector<double>{0.2, 0.2});
  CHECK(equal_parts(1, {}).empty());
}

TEST_CASE("a job that got three quarters instead of a half would have taken half as long again") {
  ReportData data;
  data.made = 1000;
  data.runs = {steady_job("a", 100, 200, 0.75, 1), steady_job("b", 100, 300, 0.25, 0.25)};
  set_from(data.runs[1], 200, 0.5, 1);

  const std::vector<JobWorth> worths = estimate_worth(data);

  // 0.75 * 100 CPU seconds at 0.5: 150 s; b can use 0.5, as it did when nothing held it. A cell is
  // 200 s / 4000, and the sums are off by one cell at each end at most.
  REQUIRE(worths[0].whole);
  CHECK(worths[0].whole->took == 100);
  CHECK(worths[0].whole->free == Approx(150).margin(0.5));
  // While a ran, b would have had 0.5; then it has what it used. So 75 CPU seconds are done at
  // 200 + (75 - 50) / 0.5 = 250.
  REQUIRE(worths[1].whole);
  CHECK(worths[1].whole->took == 200);
  CHECK(worths[1].whole->free == Approx(150).margin(0.5));
}

TEST_CASE("a job that cannot use its share is not taken to want the whole host") {
  // One core of eight under milestone: first for a while, then last. What it leaves the other has.
  ReportData data;
  data.made = 1000;
  data.runs = {steady_job("narrow", 100, 300, 0.125, 0.89),
               steady_job("wide", 100, 300, 0.875, 0.11)};
  set_from(data.runs[0], 200, 0.125, 0.11);
  set_from(data.runs[1], 200, 0.875, 0.89);

  for (const JobWorth& worth : estimate_worth(data)) {
    REQUIRE(worth.whole);
    CHECK(worth.whole->saved() == Approx(0).margin(0.2));
    REQUIRE(worth.learnt);
    CHECK(worth.learnt->saved() == Approx(0).margin(0.2));
  }
}

TEST_CASE("a job that always had a limit wants the most that it ever used") {
  ReportData data;
  data.made = 1000;
  data.runs = {steady_job("first", 100, 200, 0.89, 0.89), steady_job("last", 100, 300, 0.11, 0.11)};
  set_from(data.runs[1], 200, 0.89, 0.89);

  const std::vector<JobWorth> worths = estimate_worth(data);

  // Both would have had a half: 89 CPU seconds of the first take 178 s. The last has 50 of its 100
  // after 100 s, and then what it had.
  REQUIRE(worths[0].whole);
  CHECK(worths[0].whole->is_extrapolated);
  CHECK(worths[0].whole->free == Approx(178).margin(1));
  REQUIRE(worths[1].whole);
  CHECK(worths[1].whole->free == Approx(100 + 50 / 0.89).margin(1));
}

TEST_CASE("what a job used before it began to work says nothing of what it wants") {
  ReportData data;
  data.made = 1000;
  data.runs = {steady_job("a", 100, 200, 0.75, 1), steady_job("b", 100, 300, 0.25, 0.25)};
  // It reads its data, under no limit worth the name, then it is held, then has the host.
  for (std::size_t i = 0; i < 20; ++i) data.runs[1].usage[i].cpu = 0.02;
  set_from(data.runs[1], 200, 0.5, 0.5);

  const std::vector<JobWorth> worths = estimate_worth(data);

  // 15 CPU seconds in the first 20 s, as it was, 40 in the other 80 s, and 20 at the mean rate.
  REQUIRE(worths[0].whole);
  CHECK(worths[0].whole->free == Approx(100 + 20 / 0.55).margin(0.5));
}

TEST_CASE("of a dry run nothing is estimated, and that is said") {
  ReportData data = begin_report(parsed(R"({"host":"gpu1","dry_run":true})"), 0, 1000);
  data.runs = {steady_job("a", 100, 200, 0.5, 0.9), steady_job("b", 100, 200, 0.5, 0.1)};

  const std::vector<JobWorth> worths = estimate_worth(data);

  REQUIRE(worths.size() == 2);
  for (const JobWorth& worth : worths) CHECK_FALSE((worth.whole || worth.learnt));
  const std::string page = render_page(data, worths, "0123456789abcdef");
  CHECK(page.find("No estimate: flowcond runs with --dry-run") != std::string::npos);
}

TEST_CASE("jobs that were never limited gain and lose nothing") {
  ReportData data;
  data.made = 1000;
  data.runs = {steady_job("a", 100, 200, 0.7, 1), steady_job("b", 100, 200, 0.2, 1)};

  for (const JobWorth& worth : estimate_worth(data)) {
    REQUIRE(worth.whole);
    CHECK(worth.whole->saved() == Approx(0).margin(0.2));
    REQUIRE(worth.learnt);
    CHECK(worth.learnt->took == 50);
    CHECK(worth.learnt->saved() == Approx(0).margin(0.2));
  }
}

TEST_CASE("nothing is estimated of what began before the report, came from elsewhere or left") {
  ReportData data;
  data.since = 150;
  data.made = 1000;
  data.runs = {steady_job("a", 100, 200, 0.7, 1), steady_job("b", 160, 200, 0.2, 1), ReportRun()};
  data.runs[1].stays.push_back({"gpu2", 100, 160});
  data.runs.push_back(read_run(parsed(R"({"id":"4c01","moved":true})"), json::value()));
  data.runs.push_back(steady_job("c", 160, 200, 0.2, 1));
  data.runs.back().has_moved = data.runs[3].has_moved;

  for (const JobWorth& worth : estimate_worth(data)) {
    CHECK_FALSE(worth.whole);
    CHECK_FALSE(worth.learnt);
  }
  CHECK(estimate_worth(ReportData()).empty());
}

// --- the data

TEST_CASE("changes become places and marks of the runs that they are about") {
  ReportData data;
  data.runs.push_back(
      read_run(parsed(R"({"id":"4c01","name":"vae","image":"t:1"})"),
               parsed(R"({"metric":"loss","goal":"min","started":100,"finished":null,
        "samples":[[110,2],[105,"inf"],["x",1],[120,1]],
        "usage":[[110,0.5,1024,null,null]],
        "decisions":[[100,"NL",1,null],[120,"NL",1,0.5],[140,"CL",0.25,0.01]],
        "stays":[{"host":"gpu2","began":10,"ended":90},{"host":"x"}]})")));
  add_changes(data, parsed(R"({"changes":[
    {"time":140,"algorithm":"executor","resource":"cpu","container":"4c01","from":"NL","to":"CL",
     "from_limit":1,"limit":0.25,"growth":0.01,"sentence":"converged"},
    {"time":150,"algorithm":"executor","resource":"memory","container":"4c01","from":"NL","to":"NL",
     "from_limit":1,"limit":0.5,"growth":0.01,"sentence":"m"},
    {"time":160,"algorithm":"categorise","resource":"","container":"4c01","from":"PC","to":"WC",
     "sentence":"c"},
    {"time":165,"algorithm":"milestone","resource":"cpu","container":"4c01","from":"",
     "to":"rank 2","from_limit":null,"limit":0.119,"growth":null,"sentence":"r"},
    {"time":168,"algorithm":"milestone","resource":"cpu","container":"4c01","from":"rank 2",
     "to":"rank 1","from_limit":0.119,"limit":0.881,"growth":null,"sentence":"r"},
    {"time":170,"container":"other"},{"time":"nan","container":"4c01"},7]})"));
  const ReportRun& run = data.runs[0];

  CHECK(run.samples.size() == 3);
  CHECK(run.samples[0].time == 105);
  CHECK(run.places.cpu.size() == 2);
  CHECK(run.places.memory.size() == 2);
  CHECK(run.places.memory[1].limit == 0.5);
  CHECK(run.categories.size() == 2);
  CHECK(run.stays.size() == 1);
  REQUIRE(run.marks.size() == 5);
  CHECK(run.marks[0].from == "NL 100%");
  CHECK(run.marks[0].to == "CL 25%");
  CHECK(run.marks[2].from == "PC");
  CHECK(run.marks[3].from.empty());
  CHECK(run.marks[3].to == "rank 2 12%");
  CHECK(run.marks[4].from == "rank 2 12%");
  CHECK(run.marks[4].to == "rank 1 88%");
}

TEST_CASE("thinning keeps the ends, the extremes and each change of a list") {
  ReportData data;
  ReportRun run;
  for (int i = 0; i < 10000; ++i) {
    run.samples.push_back({double(i), i == 5003 ? 100.0 : i % 7 * 0.1});
    run.usage.push_back({double(i), 0.5, 1.0, std::nullopt, std::nullopt});
    run.places.cpu.push_back({double(i), i == 777 ? "WL" : "NL", i * 1e-5});
    run.marks.push_back({double(i), "cpu", i == 778 ? "WL" : "NL", "NL", ""});
  }
  data.runs.push_back(run);

  thin_report(data, 100);

  const ReportRun& thin = data.runs[0];
  CHECK(thin.samples.size() <= 102);
  CHECK(thin.samples.front().time == 0);
  CHECK(thin.samples.back().time == 9999);
  CHECK(std::any_of(thin.samples.begin(), thin.samples.end(),
                    [](const ReportPoint& point) { return point.value == 100; }));
  CHECK(thin.usage.size() == 100);
  CHECK(thin.usage[50].cpu == 0.5);
  CHECK(std::any_of(thin.places.cpu.begin(), thin.places.cpu.end(),
                    [](const ReportPlace& place) { return place.list == "WL"; }));
  CHECK(std::any_of(thin.marks.begin(), thin.marks.end(),
                    [](const ReportMark& mark) { return mark.from == "WL"; }));
  CHECK(thin.marks.size() + thin.marks_left_out == 10000);
}

// --- the page

constexpr const char* kEvil = "</script><img src=x onerror=alert(1)>\"'&@DATA@\u202e";

TEST_CASE("every text of the data is text of the page and nothing else") {
  ReportData data;
  data.host = data.version = data.limit_mode = data.policy = kEvil;
  data.made = 500;
  data.notes = {kEvil};
  ReportRun run = steady_job(kEvil, 100, 200, 0.75, 1);
  run.image = run.metric = kEvil;
  run.marks = {{120, kEvil, kEvil, kEvil, kEvil}};
  run.places.cpu[0].list = kEvil;
  run.stays = {{kEvil, 1, 2}};
  data.runs = {run, steady_job(kEvil, 100, 400, 0.25, 0.25)};
  data.moves = {{kEvil, kEvil, kEvil, kEvil, kEvil, kEvil, kEvil, 1, 2.0, 3.0}};
  data.jobs = {
      {kEvil, kEvil, kEvil, 1, 2.0, 3.0, 4.0, 5.0, {{1, kEvil, kEvil}, {2, "running", kEvil}}}};

  const std::string page = render_page(data, estimate_worth(data), "0123456789abcdef");

  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find("onerror=alert(1)&gt;") != std::string::npos);
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.find("</script", at)) != std::string::npos; ++at) ++scripts;
  CHECK(scripts == 2);  // the data's and the program's
  const std::size_t begin = page.find("id=\"data\">") + 10;
  const json::value back = parsed(page.substr(begin, page.find("</script>", begin) - begin));
  CHECK(back.at("runs").at(0).at("name") == json::value(kEvil));
  CHECK(back.at("moves").at(0).at("cause") == json::value(kEvil));
  CHECK(back.at("jobs").at(0).at("steps").at(0).at(1) == json::value(kEvil));
}

TEST_CASE("the page names the policy, and says what lists mean by it") {
  const auto page_of = [](const std::string& policy) {
    ReportData data = begin_report(
        parsed(R"({"host":"gpu1","alpha":0.03,"beta":2,"policy":")" + policy + "\"}"), 0, 500);
    data.runs = {steady_job("a", 100, 200, 0.75, 1)};
    return render_page(data, {}, "0123456789abcdef");
  };
  const auto has = [](const std::string& page, const char* words) {
    return page.find(words) != std::string::npos;
  };
  const std::string flowcon = page_of("flowcon");
  CHECK(has(flowcon, "; policy flowcon; alpha 3 %; beta 2; "));
  CHECK(has(flowcon, "CL: converged (CC)"));
  CHECK(has(flowcon, R"("ranked":false,"alpha":0.03)"));
  CHECK(has(flowcon, "<th scope=\"col\">List</th>"));
  CHECK(has(flowcon, "<td>NL</td><td>100%</td>"));
  const std::string milestone = page_of("milestone");
  CHECK(has(milestone, "; policy milestone; flowcond"));
  CHECK(has(milestone, "CL: probably past its usable model (CC: converged)"));
  CHECK(has(milestone, "other rank or limit"));
  CHECK(has(milestone, R"("ranked":true,"alpha":null)"));
  CHECK_FALSE(has(milestone, "<th scope=\"col\">List</th>"));
  CHECK_FALSE(has(milestone, "<td>NL</td>"));
}

TEST_CASE("the page loads nothing and allows only its own script") {
  const std::string page = render_page(ReportData(), {}, "0123456789abcdef");

  for (const std::string outside : {"http://", "https://", "src=", "@import", "url(", "@NONCE@"}) {
    const std::size_t at = page.find(outside);
    const bool is_namespace =
        at != std::string::npos && page.compare(at, 26, "http://www.w3.org/2000/svg") == 0;
    CHECK((at == std::string::npos || is_namespace));
  }
  CHECK(page.find("default-src 'none'; style-src 'nonce-0123456789abcdef'") != std::string::npos);
  CHECK(page.find("No container was under control in this time.") != std::string::npos);
}

TEST_CASE("the charts count local time as the tables do, on both sides of its change") {
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  ReportData data;
  data.since = 1792800000;  // a day before the clocks go back
  data.made = 1792980000;
  data.runs = {steady_job("a", 1792700000, 1792700010, 0.5, 1)};

  const std::string autumn = render_page(data, {}, "0123456789abcdef");
  data.runs.clear();
  data.since = 1792900000;
  const std::string winter = render_page(data, {}, "0123456789abcdef");
  setenv("TZ", "UTC", 1);

  CHECK(autumn.find(R"("offsets":[[1792700000,7200],[1792890000,3600]],)") != std::string::npos);
  CHECK(winter.find(R"("offsets":[[1792900000,3600]],)") != std::string::npos);
}

class ReportFixture {
 public:
  ReportFixture() {
    setenv("TZ", "UTC", 1);
    fake.answer("GET /v1/status", 200,
                R"({"host":"gpu1","version":"0.1.0","alpha":0.03,"limit_mode":"weight",
                    "paused":false,"containers":[]})");
    fake.answer("GET /v1/runs?since=1790000000", 200,
                R"({"runs":[{"id":"4c01","name":"vae","image":"t:1"},
                            {"id":"4c02","name":"gru","image":"t:1","status":137}]})");
    fake.answer("GET /v1/containers/4c01/history?since=1790000000", 200,
                R"({"metric":"loss","goal":"min","started":1790000001,"finished":1790000301,
                "samples":[[1790000003,0.9],[1790000050,0.1],[1790000090,0.05]],
                "usage":[[1790000101,0.5,1024,null,null],[1790000201,0.25,2048,10,null],
                         [1790000301,0.5,2048,10,null]],
                "decisions":[[1790000020,"NL",1,0.5],[1790000101,"CL",0.25,0.01],
                             [1790000201,"CL",1,0.01]],"stays":[]})");
    fake.answer("GET /v1/containers/4c02/history?since=1790000000", 200,
                R"({"metric":"loss","goal":"min","started":1790000101,"finished":1790000201,
                "samples":[[1790000103,0.9],[1790000150,0.1],[1790000190,0.05]],
                "usage":[[1790000201,0.75,1024,null,null]],
                "decisions":[[1790000101,"NL",1,0.5]],"stays":[]})");
    fake.answer("GET /v1/changes?since=1790000000", 200,
                R"({"changes":[{"time":1790000060,"algorithm":"executor","resource":"cpu",
                "container":"4c01","from":"NL","to":"CL","from_limit":1,"limit":0.25,"growth":0.01,
                "sentence":"converged, was learning"}],"next":"since=1790000060&after=7"})");
    fake.answer("GET /v1/changes?since=1790000060&after=7", 200, R"({"changes":[],"next":null})");
  }

  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"flowcon", "--socket", folder.path() + "/s", "report", "--since", "1790000000"});
    return run_words(words);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(ReportFixture, "report asks for what was recorded and writes the page") {
  const std::string file = folder.path() + "/r.html";
  std::ofstream(file) << "older";
  const Outcome outcome = run({"-o", file});

  CHECK(outcome.err.empty());
  CHECK(outcome.status == 0);
  CHECK(outcome.out == file + "\n");
  std::ifstream written(file);
  const std::string page{std::istreambuf_iterator<char>(written), std::istreambuf_iterator<char>()};
  CHECK(page.find("<th scope=\"row\" class=\"text\">vae</th>") != std::string::npos);
  CHECK(page.find("converged, was learning") != std::string::npos);
  CHECK(page.rfind("</html>\n") == page.size() - 8);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE_METHOD(ReportFixture, "- is stdout, as /dev/stdout is, and containers can be named") {
  const Outcome outcome = run({"-o", "-", "gru"});

  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("<!doctype html>") == 0);
  CHECK(outcome.out.find(">gru</th>") != std::string::npos);
  CHECK(outcome.out.find(", status 137</td>") != std::string::npos);
  CHECK(outcome.out.find(">vae</th>") == std::string::npos);
  CHECK(run({"-o", "/dev/stdout"}).out.ends_with("</html>\n"));
}

TEST_CASE_METHOD(ReportFixture, "an exit status of 0 is shown, an unknown one is not") {
  fake.answer("GET /v1/runs?since=1790000000", 200,
              R"({"runs":[{"id":"4c01","name":"vae","status":0},)"
              R"({"id":"4c02","name":"gru","status":null}]})");
  const std::string page = run({"-o", "-"}).out;
  CHECK(page.find("<td>2026-09-21 14:18:21, status 0</td>") != std::string::npos);
  CHECK(page.find("<td>2026-09-21 14:16:41</td>") != std::string::npos);
}

TEST_CASE_METHOD(ReportFixture, "containers that come in parts are all there") {
  fake.answer("GET /v1/runs?since=1790000000", 200,
              R"({"runs":[{"id":"4c01","name":"vae"}],)"
              R"("next":"since=1790000000&started=1790000001&after=1"})");
  fake.answer("GET /v1/runs?since=1790000000&started=1790000001&after=1", 200,
              R"({"runs":[{"id":"4c02","name":"gru"}],"next":null})");
  const std::string page = run({"-o", "-"}).out;
  CHECK(page.find(">vae</th>") != std::string::npos);
  CHECK(page.find(">gru</th>") != std::string::npos);
}

TEST_CASE_METHOD(ReportFixture, "a name goes before the beginnings of ids") {
  fake.answer("GET /v1/runs?since=1790000000", 200,
              R"({"runs":[{"id":"4c01","name":"vae"},{"id":"4c02","name":"4"}]})");
  const std::string named = run({"-o", "-", "4"}).out;
  CHECK(named.find(">4</th>") != std::string::npos);
  CHECK(named.find(">vae</th>") == std::string::npos);
  CHECK(run({"-o", "-", "4c01"}).out.find(">vae</th>") != std::string::npos);
}

TEST_CASE_METHOD(ReportFixture, "a container forgotten meanwhile is left out, an error is not") {
  const std::string gru = "GET /v1/containers/4c02/history?since=1790000000";
  fake.answer(gru, 404, R"({"error":"No such container: 4c02"})");
  const Outcome forgotten = run({"-o", "-"});
  CHECK(forgotten.status == 0);
  CHECK(forgotten.out.find(">gru</th>") == std::string::npos);
  fake.answer(gru, 503, R"({"error":"the records cannot be read now"})");
  CHECK(run({"-o", folder.path() + "/r.html"}).err == "the records cannot be read now\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/r.html"));
}

TEST_CASE_METHOD(ReportFixture,
                 "what cannot be written or is not known fails and leaves the file") {
  const Outcome nowhere = run({"-o", folder.path() + "/no/r.html"});
  const Outcome nobody = run({"-o", folder.path() + "/r.html", "cnn"});

  CHECK(nowhere.status == 1);
  CHECK(nowhere.err.find("No such file") != std::string::npos);
  CHECK(nobody.status == 1);
  CHECK(nobody.err == "No such container: cnn (no records in this time)\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/r.html"));
}

TEST_CASE_METHOD(ReportFixture, "jobs of the queue have their times, and their states as data") {
  fake.answer("GET /v1/queue?ended=200", 200,
              R"({"jobs":[{"id":"4c02","name":"gru","submitted":1790000100},)"
              R"({"id":"4c03","name":"old","submitted":1780000000,"ended":1780000100},)"
              R"({"id":"../x","name":"evil"},7,)"
              R"({"id":"4c01","name":"vae","submitted":1790000000,"ended":1790000400}]})");
  fake.answer("GET /v1/queue/4c01", 200,
              R"({"name":"vae","state":"failed","note":"ended with 137 twice, gave up","exit":137,)"
              R"("submitted":1790000000,"ended":1790000400,"waited":100,"served":290.5,)"
              R"("steps":[{"state":"waiting","time":1790000000,"note":"","host":null},)"
              R"({"state":"placing","time":1790000100,"host":"h2"},{"state":"running","time":"x"},)"
              R"({"state":"running","time":1790000110,"host":"h2"},)"
              R"({"state":"running","time":1790000120,"host":null},)"
              R"({"state":"failed","time":1790000400,"host":null}]})");
  fake.answer("GET /v1/queue/4c02", 200,
              R"({"name":"gru","state":"waiting","note":"waits for 2 cores","exit":null,)"
              R"("submitted":1790000100,"ended":null,"waited":null,"served":0,"steps":[]})");

  const std::string page = run({"-o", "-"}).out;

  const std::size_t begin = page.find("<h2>Jobs of the queue");
  test::check_golden("plugin/report_jobs.html",
                     page.substr(begin, page.find("<h2>Over time") - begin));
  CHECK(page.find(R"("jobs":[{"name":"vae","ended":1790000400,"steps":)"
                  R"([[1790000000,"waiting",null,""],[1790000100,"placing",null,"h2"],)") !=
        std::string::npos);
  const std::string named = run({"-o", "-", "gru"}).out;
  CHECK(named.find(">waits for 2 cores<") != std::string::npos);
  CHECK(named.find(">ended with 137 twice, gave up<") == std::string::npos);
}

TEST_CASE_METHOD(ReportFixture, "a job that waits can be named, and one of several containers") {
  fake.answer("GET /v1/queue?ended=200", 200,
              R"({"jobs":[{"id":"4d01","name":"net","submitted":1790000100},)"
              R"({"id":"4d02","name":"lstm","submitted":1790000100}]})");
  fake.answer("GET /v1/queue/4d01", 200,
              R"({"name":"net","state":"running","tasks":[{"id":"4c02","name":"gru"},{"id":""}]})");
  fake.answer("GET /v1/queue/4d02", 200, R"({"name":"lstm","state":"waiting","tasks":[]})");

  const Outcome waiting = run({"-o", "-", "lstm"});
  CHECK(waiting.status == 0);
  CHECK(waiting.out.find(">lstm</th>") != std::string::npos);
  CHECK(waiting.out.find(">vae</th>") == std::string::npos);
  const std::string net = run({"-o", "-", "net"}).out;
  CHECK(net.find(">gru</th>") != std::string::npos);
  CHECK(net.find(">vae</th>") == std::string::npos);
  CHECK(run({"-o", "-", "net", "cnn"}).err == "No such container: cnn (no records in this time)\n");
}

TEST_CASE_METHOD(ReportFixture, "an older flowcond is asked for its queue as it knows it") {
  fake.answer("GET /v1/queue?ended=200", 422, R"({"error":"ended is no parameter of this call"})");
  fake.answer("GET /v1/queue", 200,
              R"({"jobs":[{"id":"4d02","name":"lstm","submitted":1790000100}]})");
  fake.answer("GET /v1/queue/4d02", 200, R"({"name":"lstm","state":"waiting","tasks":[]})");
  CHECK(run({"-o", "-", "lstm"}).out.find(">lstm</th>") != std::string::npos);
}

TEST_CASE_METHOD(ReportFixture, "more ended jobs than flowcond remembers are a note") {
  const auto page = [this](int count) {
    std::string jobs;
    for (int i = 0; i < count; ++i) {
      jobs += std::string(i > 0 ? "," : "") + R"({"id":"4d02","ended":1790000400})";
    }
    fake.answer("GET /v1/queue?ended=200", 200, "{\"jobs\":[" + jobs + "]}");
    return run({"-o", "-"}).out;
  };
  const std::string note = "Of jobs that have ended only the last 200 are shown.";
  CHECK(page(199).find(note) == std::string::npos);
  CHECK(page(200).find(note) != std::string::npos);
}

TEST_CASE_METHOD(ReportFixture, "the words of the page around the charts") {
  const std::string page = run({"-o", "-"}).out;
  const std::size_t begin = page.find("<h2>Estimated gain");
  test::check_golden("plugin/report_worth.html",
                     page.substr(begin, page.find("<h2>Over time") - begin));
}

}  // namespace
}  // namespace flowcon::plugin
