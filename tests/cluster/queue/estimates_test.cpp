// SPDX-License-Identifier: Apache-2.0
// Estimates from the profiles of a real store, and who computes them.
#include "cluster/queue/estimates.h"

#include <cmath>
#include <ctime>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/sha256.h"
#include "ctrl/codec/estimate_json.h"
#include "ctrl/exposition.h"
#include "tests/cluster/stand.h"

using namespace flowcon;
namespace estimate = flowcon::ctrl::estimate;
namespace queue = flowcon::cluster::queue;
namespace json = boost::json;

namespace {

using Labels = std::vector<std::pair<std::string, double>>;

constexpr double kNow = 2e9;
const std::string kDigest = "sha256:12";

double cpu_seconds(clockid_t clock) {
  timespec used{};
  REQUIRE(::clock_gettime(clock, &used) == 0);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

estimate::Command training(const std::string& arguments) {
  return {"trainings:1", kDigest, "python3 vae.py " + arguments, {{"SEED", "3"}}};
}

// A host with profiles, which are read on its effects thread.
struct Stand {
  Stand() {
    host.view_.cores = 8;
    host.view_.memory = 32e9;
  }

  void keep(const estimate::Command& command, const Labels& labels) {
    const estimate::Command cleaned = estimate::cleaned(command);
    const auto known = estimate::known_features(8, 32e9, "");
    const auto features = estimate::features_of(cleaned, known);
    ended += 1;
    const auto saved = host.store_->save_profile(
        {estimate::key_of(cleaned), estimate::family_of(cleaned),
         render_json(estimate::to_json(features)), render_json(estimate::to_json(labels)), ended});
    REQUIRE(saved.has_value());
  }

  // Turns the loop until what has begun has ended, at most a minute.
  void settle() {
    for (int i = 0; i < 6000 && !is_settled(); ++i) {
      io.restart();
      io.run_for(std::chrono::milliseconds(10));
    }
    REQUIRE(is_settled());
  }
  // Nothing waits on the loop.
  bool is_settled() {
    io.restart();
    io.poll();
    return io.stopped();
  }

  void begin() {
    ctrl::spawn(io, "begin", estimates.begin());
    settle();
  }
  void look(double now) {
    estimates.look(now);
    settle();
  }

  std::map<std::string, estimate::LabelEstimate> of(const estimate::Command& command) {
    std::map<std::string, estimate::LabelEstimate> all;
    for (auto& one : estimates.estimate(command)) all.emplace(one.label, one);
    return all;
  }

  json::value ask(const std::string& method, const std::string& target, const std::string& body,
                  unsigned expected) {
    const ctrl::api::Routes routes = estimates.routes();
    ctrl::api::Response response;
    ctrl::api::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    ctrl::spawn(io, "ask", answer(&routes, std::move(request), &response));
    settle();
    CHECK(response.status == expected);
    const auto parsed = parse_json(response.body);
    REQUIRE(parsed.has_value());
    return *parsed;
  }
  static Async<void> answer(const ctrl::api::Routes* routes, ctrl::api::Request request,
                            ctrl::api::Response* into) {
    *into = co_await ctrl::api::answer(routes, std::move(request));
  }

  Async<Result<queue::ImageFacts>> image(std::string name) {
    if (name != "trainings:1") co_return errno_error(ENOENT, "No such image");
    queue::ImageFacts facts;
    facts.digest = kDigest;
    facts.entrypoint = "python3";
    facts.command = "vae.py --epochs 7";
    facts.environment = {{"SEED", "9"}, {"BATCH", "64"}};
    co_return facts;
  }

  boost::asio::io_context io;
  cluster::test::FakeHost host{io};
  double ended = 1e9;
  cluster::test::FakeNetwork network;
  queue::Estimates estimates{host, network,
                             [this](std::string name) { return image(std::move(name)); },
                             [] { return kNow; }};
};

std::string epochs(int count) { return "--epochs " + std::to_string(count); }

bool is(const estimate::LabelEstimate& estimate, estimate::EstimateBasis basis, double expected,
        double upper, std::size_t rows) {
  return estimate.basis == basis && estimate.expected == expected && estimate.upper == upper &&
         estimate.rows == rows;
}

}  // namespace

TEST_CASE("a job is estimated by runs of its command, else of its family, else not at all") {
  Stand stand;
  for (const double mem : {3e9, 3.1e9, 3.2e9}) stand.keep(training(epochs(5)), {{"mem", mem}});
  stand.keep(training(epochs(9)), {{"mem", 9e9}});
  stand.begin();
  CHECK_FALSE(stand.estimates.is_ready());
  CHECK(stand.of(training(epochs(5))).empty());
  stand.look(1000);
  REQUIRE(stand.estimates.is_ready());
  using estimate::EstimateBasis;
  CHECK(is(stand.of(training(epochs(5))).at("mem"), EstimateBasis::repeat, 3.1e9, 3.2e9, 3));
  CHECK(is(stand.of(training(epochs(6))).at("mem"), EstimateBasis::family, 3.2e9, 9e9, 4));
  const auto other = stand.of({"other:1", kDigest, "./train", {}}).at("mem");
  CHECK((other.basis == EstimateBasis::none && !other.expected && !other.upper));
  // The same command by another image is no repeat.
  estimate::Command again = training(epochs(5));
  again.digest = "sha256:13";
  CHECK(stand.of(again).at("mem").basis == EstimateBasis::family);
}

TEST_CASE("twenty runs make a forest, and it is learnt and asked beside the loop") {
  Stand stand;
  for (int i = 0; i < 400; ++i) {
    const int count = 1 + (i * 37) % 397;
    stand.keep(training(epochs(count)), {{"seconds_train", 2.0 * count}, {"mem", 1e9 + count}});
  }
  stand.begin();
  const double all = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double loop = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  stand.look(1000);
  const double others = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
  CHECK(cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - loop < 0.5 * others);
  const auto before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  const auto found = stand.of(training(epochs(200)));
  const double took = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
  const auto& seconds = found.at("seconds_train");
  CHECK(seconds.basis == estimate::EstimateBasis::forest);
  CHECK(seconds.rows == 400);
  CHECK(std::abs(std::log(*seconds.expected / 400)) < 0.2);
  CHECK(*seconds.upper >= *seconds.expected);
  // A thousandth of a second is asked for; a sanitizer is ten times slower.
  CHECK(took < 0.01);
}

TEST_CASE("flowcond learns anew when a twentieth is new, at most once a minute") {
  Stand stand;
  const auto rows = [&] { return stand.of(training(epochs(5))).begin()->second.rows; };
  for (int i = 0; i < 30; ++i) stand.keep(training(epochs(100 + i)), {{"mem", 1e9}});
  stand.begin();
  stand.look(1000);
  CHECK(rows() == 30);
  // One of 31 is new: too few. The second is enough, once somebody says that a job has ended.
  stand.keep(training(epochs(1)), {{"mem", 1e9}});
  stand.estimates.job_ended();
  stand.look(1061);
  CHECK(rows() == 30);
  stand.keep(training(epochs(2)), {{"mem", 1e9}});
  stand.look(1122);
  CHECK(rows() == 30);
  stand.estimates.job_ended();
  stand.look(1123);
  CHECK(rows() == 32);
  for (int i = 0; i < 9; ++i) stand.keep(training(epochs(200 + i)), {{"mem", 1e9}});
  stand.estimates.job_ended();
  stand.look(1182);
  CHECK(rows() == 32);
  stand.look(1184);
  CHECK(rows() == 41);
  // Without a word of it, five minutes later.
  for (int i = 0; i < 9; ++i) stand.keep(training(epochs(300 + i)), {{"mem", 1e9}});
  stand.look(1300);
  CHECK(rows() == 41);
  stand.look(1484);
  CHECK(rows() == 50);
}

TEST_CASE("the error of estimates is that of runs which end later, each counted once") {
  Stand stand;
  const auto told = [&stand] {
    ctrl::Exposition out;
    stand.estimates.add_metrics(out);
    return out.text();
  };
  for (const double mem : {3e9, 3.1e9, 3.2e9}) stand.keep(training(epochs(5)), {{"mem", mem}});
  stand.begin();
  stand.look(1000);
  CHECK(told().find("flowcon_estimate_error_ratio") == std::string::npos);
  stand.keep(training(epochs(5)), {{"mem", 6.2e9}, {"cpu", 2}});
  for (const double now : {1061.0, 1122.0}) {
    stand.estimates.job_ended();
    stand.look(now);
    // Of what was never measured before nothing was estimated.
    CHECK(told().ends_with("gauge\nflowcon_estimate_error_ratio{label=\"mem\"} 0.5"));
  }
}

TEST_CASE("without profiles there is no estimate, and it is known soon") {
  Stand stand;
  stand.estimates.look(1000);
  CHECK_FALSE(stand.estimates.is_ready());
  stand.begin();
  stand.look(1000);
  CHECK(stand.estimates.is_ready());
  CHECK(stand.of(training(epochs(5))).empty());
  const json::value answer =
      stand.ask("POST", "/v1/estimate", R"({"image":"trainings:1","command":"x"})", 200);
  CHECK(render_json(answer) == R"({"labels":{},"runs":0,"image":"sha256:12"})");
}

TEST_CASE("a job that is not there yet is estimated as the container that it would be") {
  Stand stand;
  for (const double mem : {3e9, 3.1e9, 3.2e9}) stand.keep(training(epochs(7)), {{"mem", mem}});
  stand.begin();
  stand.look(1000);
  // With the image's entrypoint and, where none is named, its command.
  for (const char* body : {R"({"image":"trainings:1","command":"vae.py --epochs 7"})",
                           R"({"image":"trainings:1","command":"","environment":[["A","1"]]})"}) {
    const json::value answer = stand.ask("POST", "/v1/estimate", body, 200);
    CHECK(render_json(answer.at("labels")) ==
          R"({"mem":{"expected":3100000000,"upper":3200000000,"basis":"repeat","rows":3}})");
    CHECK(answer.at("runs") == 3);
  }
  const json::value unknown =
      stand.ask("POST", "/v1/estimate",
                R"({"image":"trainings:2","command":"python3 vae.py --epochs 7"})", 200);
  CHECK(unknown.at("image") == "");
  CHECK(unknown.at("labels").at("mem").at("basis") == "family");
}

TEST_CASE("commands that are longer than what is kept of them are told apart") {
  Stand stand;
  const auto basis = [&](const std::string& end) {
    const std::string body =
        R"({"image":"trainings:1","command":"vae.py )" + std::string(5000, 'a') + end + "\"}";
    return text_of(stand.ask("POST", "/v1/estimate", body, 200).at("labels").at("mem"), "basis");
  };
  estimate::Command command = training("");
  command.command = shortened("python3 vae.py " + std::string(5000, 'a') + "1", 4096);
  for (const double mem : {3e9, 3.1e9, 3.2e9}) stand.keep(command, {{"mem", mem}});
  stand.begin();
  stand.look(1000);
  CHECK(basis("1") == "repeat");
  CHECK(basis("2") == "family");
}

TEST_CASE("a wrong question about a job is refused with what is wrong") {
  Stand stand;
  const auto error = [&](const std::string& body) {
    const json::value answer = stand.ask("POST", "/v1/estimate", body, 422);
    return std::string(answer.at("error").as_string());
  };
  CHECK(error("{").size() > 0);
  CHECK(error("[]").size() > 0);
  CHECK(error(R"({"command":"x"})").find("image") == 0);
  CHECK(error(R"({"image":"","command":"x"})") == "image: it is empty; name an image");
  CHECK(error(R"({"image":"x"})").find("command") == 0);
  for (const char* wrong : {R"({"A":"1"})", R"([["A"]])", R"([["A",1]])", R"(["A=1"])", R"("A")"}) {
    CHECK(error(R"({"image":"x","command":"y","environment":)" + std::string(wrong) + "}") ==
          "environment: it must be a list of [\"NAME\",\"VALUE\"]");
  }
}

TEST_CASE("the check compares what was expected of runs with what they needed") {
  Stand stand;
  // As in the test of check_estimates(): expected 4 for both of the last, at most 8.
  for (int i = 0; i < 17; ++i) {
    stand.keep(training(epochs(i)), {{"x" + std::to_string(i), 1}});
  }
  for (const double mem : {2.0, 4.0, 8.0}) {
    stand.keep(training("--size " + render_number(mem)), {{"mem", mem}});
  }
  stand.keep(training("--size 20"), {{"mem", 4 * std::exp(1.0)}});
  stand.keep(training("--size 30"), {{"mem", 4 / std::exp(1.0)}});
  const json::value answer = stand.ask("GET", "/v1/estimate/check", "", 200);
  CHECK(answer.at("runs") == 2);
  REQUIRE(answer.at("labels").as_object().size() == 1);
  const json::value& mem = answer.at("labels").at("mem");
  CHECK(mem.at("runs") == 2);
  CHECK(std::abs(mem.at("r2").to_number<double>()) < 1e-9);
  CHECK(mem.at("above").to_number<double>() == 0.5);
}

TEST_CASE("after the end the store is left alone") {
  Stand stand;
  stand.begin();
  stand.estimates.end();
  stand.host.store_.reset();
  stand.look(1000);
  CHECK_FALSE(stand.estimates.is_ready());
}

TEST_CASE("what an image gives to a container is read from the engine's words") {
  const auto facts = queue::parse_image_facts(
      R"({"Id":"sha256:1","Config":{"Entrypoint":["/bin/sh","-c"],"Cmd":["ls"],"Env":["A=1=2","B"]}})");
  REQUIRE(facts.has_value());
  CHECK((facts->digest == "sha256:1" && facts->entrypoint == "/bin/sh -c"));
  CHECK(facts->command == "ls");
  using Environment = std::vector<std::pair<std::string, std::string>>;
  CHECK(facts->environment == Environment{{"A", "1=2"}});
  const auto bare =
      queue::parse_image_facts(R"({"Id":"x","Config":{"Entrypoint":null,"Cmd":null}})");
  REQUIRE(bare.has_value());
  CHECK((bare->entrypoint.empty() && bare->command.empty() && bare->environment.empty()));
  CHECK_FALSE(queue::parse_image_facts(R"({"Config":{}})").has_value());
  CHECK_FALSE(queue::parse_image_facts("no").has_value());
  const auto hostile =
      queue::parse_image_facts(R"({"Id":"x","Config":{"Cmd":[")" + std::string(9000, 'a') +
                               R"("],"Env":["A=)" + std::string(9000, 'b') + R"("]}})");
  REQUIRE(hostile.has_value());
  CHECK(hostile->command.size() == 4096);
  CHECK(hostile->environment.empty());
}

namespace {

std::string told(const std::string& profiles, const std::string& position, bool has_more = false) {
  const std::string here = position.empty() ? "null" : "\"" + position + "\"";
  return R"({"profiles":[)" + profiles + R"(],"next":)" + (has_more ? here : "null") +
         R"(,"position":)" + here + "}";
}

std::string profile(double mem, const std::string& more = "") {
  const estimate::Command cleaned = estimate::cleaned(training(epochs(5)));
  return R"({"family":")" + estimate::family_of(cleaned) + R"(","key":")" +
         estimate::key_of(cleaned) + R"(","age":60,"features":{"workers":1},"labels":{"mem":)" +
         render_number(mem) + "}" + more + "}";
}

// Peer 2 answers the next call with each of these in turn.
struct Teller : cluster::test::FakeNetwork {
  Teller() { add("h2", '2', {}); }
  Async<Result<cluster::Answer>> ask(std::string id, std::string method, std::string target,
                                     std::string body, double) override {
    asked_.push_back({id, method + " " + target, body});
    if (says.empty()) co_return bad_input("h2 does not answer");
    const std::string next = says.front();
    says.erase(says.begin());
    co_return cluster::Answer{200, next};
  }
  std::vector<std::string> says;
};

struct PeersStand : Stand {
  void read() {
    ctrl::spawn(io, "read", others.read());
    settle();
  }
  Teller teller;
  queue::PeerProfiles others{teller, [] { return kNow; }};
};

// Of a job by what peer 2 tells beside what this host knows.
std::map<std::string, estimate::LabelEstimate> estimated_with(Stand& stand, Teller& teller) {
  queue::Estimates estimates{stand.host, teller,
                             [&](std::string name) { return stand.image(std::move(name)); },
                             [] { return kNow; }};
  ctrl::spawn(stand.io, "begin", estimates.begin());
  stand.settle();
  estimates.look(1000);
  stand.settle();
  std::map<std::string, estimate::LabelEstimate> all;
  for (auto& one : estimates.estimate(training(epochs(5)))) all.emplace(one.label, one);
  return all;
}

// Runs of the same command that needed one byte.
std::string lies() {
  std::string all = profile(1);
  for (int i = 0; i < 4; ++i) all += "," + profile(1);
  return all;
}

}  // namespace

TEST_CASE("what ran on other hosts counts as what ran here") {
  Stand stand;
  stand.keep(training(epochs(5)), {{"mem", 3e9}});
  Teller teller;
  teller.says = {told(profile(3.1e9) + "," + profile(3.2e9), "since=5&after=2")};
  const auto found = estimated_with(stand, teller);
  REQUIRE(found.size() == 1);
  CHECK(is(found.at("mem"), estimate::EstimateBasis::repeat, 3.1e9, 3.2e9, 3));
}

TEST_CASE("what has run here three times is estimated by that, whatever others tell of it") {
  Stand stand;
  for (const double mem : {3e9, 3.1e9, 3.2e9}) stand.keep(training(epochs(5)), {{"mem", mem}});
  Teller teller;
  teller.says = {told(lies() + "," + profile(1e18), "since=5&after=2")};
  const auto found = estimated_with(stand, teller);
  CHECK(is(found.at("mem"), estimate::EstimateBasis::repeat, 3.1e9, 3.2e9, 3));
}

TEST_CASE("no other host makes a job ask for less than its runs here needed") {
  Stand stand;
  Teller teller;
  teller.says = {told(lies(), "since=5&after=2")};
  SECTION("of its command the most") {
    for (const double mem : {2e9, 3e9}) stand.keep(training(epochs(5)), {{"mem", mem}});
    CHECK(estimated_with(stand, teller).at("mem").upper == 3e9);
  }
  SECTION("of its family the least") {
    for (const int count : {1, 2, 3}) stand.keep(training(epochs(count)), {{"mem", count * 1e9}});
    CHECK(estimated_with(stand, teller).at("mem").upper == 1e9);
  }
  SECTION("what nobody knows here the others tell") {
    stand.keep(training(epochs(1)), {{"mem", 1e9}});
    CHECK(estimated_with(stand, teller).at("mem").upper == 1);
  }
}

TEST_CASE("however many profiles a peer has, those of this host count") {
  Stand stand;
  for (const double mem : {3e9, 3.1e9, 3.2e9}) stand.keep(training(epochs(5)), {{"mem", mem}});
  std::string many;
  for (int i = 0; i < 2000; ++i) {
    many += std::string(many.empty() ? "" : ",") + R"({"family":"f","key":"k)" + std::to_string(i) +
            R"(","age":1,"features":{},"labels":{}})";
  }
  Teller teller;
  teller.says = {told(many, "since=5&after=2")};
  const auto found = estimated_with(stand, teller);
  REQUIRE(found.contains("mem"));
  CHECK(is(found.at("mem"), estimate::EstimateBasis::repeat, 3.1e9, 3.2e9, 3));
}

TEST_CASE("what a peer has told counts no more once it is none") {
  Stand stand;
  stand.keep(training(epochs(5)), {{"mem", 3e9}});
  Teller teller;
  teller.says = {told(lies(), "since=5&after=2")};
  queue::Estimates estimates{stand.host, teller,
                             [&](std::string name) { return stand.image(std::move(name)); },
                             [] { return kNow; }};
  ctrl::spawn(stand.io, "begin", estimates.begin());
  stand.settle();
  const auto basis_at = [&](double now) {
    estimates.look(now);
    stand.settle();
    return estimates.estimate(training(epochs(5))).at(0).basis;
  };
  CHECK(basis_at(1000) == estimate::EstimateBasis::repeat);
  teller.neighbours_.clear();
  CHECK(basis_at(1400) == estimate::EstimateBasis::none);
  const std::uint64_t learnings = estimates.learnings();
  CHECK(basis_at(1800) == estimate::EstimateBasis::none);
  CHECK(estimates.learnings() == learnings);
}

TEST_CASE("no peer's profiles keep those of another out") {
  PeersStand stand;
  stand.teller.add("h3", '3', {});
  stand.teller.says = {told(profile(1) + "," + profile(2) + "," + profile(3), "since=5&after=1"),
                       told(profile(9), "since=6&after=2")};
  stand.read();
  CHECK(stand.others.rows().size() == 4);
  const auto rows = stand.others.rows(2);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].labels == Labels{{"mem", 3}});
  CHECK(rows[1].labels == Labels{{"mem", 9}});
}

TEST_CASE("a host is asked for its profiles page by page, and later for what is new") {
  PeersStand stand;
  stand.teller.says = {told(profile(1), "since=5&after=1", true),
                       told(profile(2), "since=6&after=2")};
  stand.read();
  REQUIRE(stand.others.rows().size() == 2);
  CHECK(stand.others.rows().front().ended == kNow - 60);
  stand.read();  // it does not answer
  CHECK(stand.others.rows().size() == 2);
  stand.teller.says = {told("", "")};
  stand.read();
  const auto& asked = stand.teller.asked_;
  REQUIRE(asked.size() == 4);
  CHECK(asked[0].body.find(R"("target":"/v1/profiles")") != std::string::npos);
  CHECK(asked[1].body.find("/v1/profiles?since=5&after=1") != std::string::npos);
  CHECK(asked[3].body.find("/v1/profiles?since=6&after=2") != std::string::npos);
  stand.teller.neighbours_.clear();
  stand.read();
  CHECK(stand.others.rows().empty());
}

TEST_CASE("a peer that tells nonsense tells nothing") {
  PeersStand stand;
  std::string many;
  for (int i = 0; i < 100; ++i) many += ",\"x" + std::to_string(i) + "\":1";
  const std::string hostile = profile(1, ",\"features\":{\"workers\":1" + many + "}") + "," +
                              profile(-1) + ",7,{}," + R"({"family":")" + std::string(9000, 'f') +
                              R"(","key":"k","age":1,"features":{},"labels":{"mem":1}})" + "," +
                              profile(4);
  for (const std::string& said :
       {std::string("no"), std::string("[]"), told(profile(1), "since=1 HTTP/1.1"),
        told(profile(1), "since=" + std::string(100, '1')), told(profile(1), "/v1/status")}) {
    stand.teller.says = {said};
    stand.read();
    CHECK(stand.others.rows().empty());
  }
  stand.teller.says = {told(hostile, "since=5&after=1", true)};
  for (int i = 0; i < 30; ++i) {
    stand.teller.says.push_back(told(profile(2), "since=5&after=" + std::to_string(i), true));
  }
  stand.read();
  CHECK(stand.teller.says.size() == 11);  // it has no end
  CHECK(stand.others.rows().size() == 20);
  for (const auto& row : stand.others.rows()) CHECK(row.family.size() < 8192);
}

TEST_CASE("of a peer's profiles known labels within bounds are kept, and no long features") {
  PeersStand stand;
  const std::string begin = R"({"family":"f","key":"k","age":1,)";
  stand.teller.says = {
      told(begin + R"("features":{},"labels":{"mem":5,"seconds_train":1.7e308,"x":1}},)" + begin +
               R"("features":{"image":")" + std::string(65, 'i') + R"("},"labels":{"mem":1}})",
           "since=5&after=1")};
  stand.read();
  REQUIRE(stand.others.rows().size() == 1);
  CHECK(stand.others.rows()[0].labels == Labels{{"mem", 5}});
}
