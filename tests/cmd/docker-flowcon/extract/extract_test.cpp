// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/extract/extract.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cmd/docker-flowcon/utf8_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

/// A log in a file of its own, removed at the end.
class LogFile {
 public:
  explicit LogFile(const std::string& bytes) {
    char name[] = "/tmp/flowcon-extract-test-XXXXXX";
    const int descriptor = ::mkstemp(name);
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~LogFile() { ::unlink(path_.c_str()); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

Outcome extract(ExtractOptions options, const std::string& bytes) {
  const LogFile log(bytes);
  options.file = log.path();
  std::ostringstream out;
  std::ostringstream err;
  const int status = run_extract(options, out, err);
  return {status, out.str(), err.str()};
}

ExtractOptions as_json() {
  ExtractOptions options;
  options.format = "json";
  return options;
}

const char* const kLog =
    "Epoch 1/3\nloss: 0.5 lr: 0.1\nEpoch 2/3\nloss: nan lr: 0.1\nEpoch 3/3\nloss: 1e-07 lr: 0.1\n";

}  // namespace

TEST_CASE("extract prints the metric, its values and the progress as JSON") {
  const Outcome outcome = extract(as_json(), kLog);
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(
      outcome.out.find(
          R"({"metric":"loss","goal":"min","values":[0.5,"nan",1e-07],"progress":{"done":3,"total":3,"from":"counter"},"confidence":)") ==
      0);
  CHECK(outcome.out.find(R"("candidates":[{"metric":"loss","goal":"min","score":)") !=
        std::string::npos);
  CHECK(outcome.out.back() == '\n');
}

TEST_CASE("extract says that the number of epochs is not known") {
  const std::string log =
      "Train Epoch: 4 [640/12000 (5%)] Loss: 0.5\nTrain Epoch: 4 [1200/12000 (10%)] Loss: 0.4\n";
  CHECK(extract(as_json(), log).out.find(R"("progress":{"done":4,"total":null,"within":0.1})") !=
        std::string::npos);
  CHECK(extract({}, log).out.find(
            "PROGRESS    epoch 4, 10 % (of how many epochs is not known)\n") != std::string::npos);
}

TEST_CASE("extract reads json-file logs of Docker, detected or told") {
  const std::string log =
      "{\"log\":\"loss: 0.5\\n\",\"stream\":\"stdout\",\"time\":\"2024-01-01T00:00:00Z\"}\n"
      "{\"log\":\"loss: 0.25\\n\",\"stream\":\"stderr\",\"time\":\"2024-01-01T00:00:01Z\"}\n";
  ExtractOptions told = as_json();
  told.input = "json-file";
  CHECK(extract(as_json(), log).out.find(R"("values":[0.5,0.25])") != std::string::npos);
  CHECK(extract(told, log).out.find(R"("values":[0.5,0.25])") != std::string::npos);
}

TEST_CASE("extract says what to try where nothing is found") {
  const Outcome outcome = extract(as_json(), "hello\n");
  CHECK(outcome.status == 1);
  CHECK(outcome.out ==
        "{\"metric\":null,\"goal\":null,\"values\":[],\"progress\":null,\"confidence\":0,"
        "\"candidates\":[]}\n");
  CHECK(outcome.err.find("--metric NAME") != std::string::npos);
  ExtractOptions named = as_json();
  named.metric = "accuracy";
  CHECK(extract(named, kLog).err == "extract: nothing named accuracy; seen: loss\n");
  ExtractOptions pattern = as_json();
  pattern.pattern = "acc=(.*)";
  CHECK(extract(pattern, kLog).err.find("pattern matched no number") != std::string::npos);
}

TEST_CASE("extract obeys metric, goal and pattern") {
  ExtractOptions options = as_json();
  options.metric = "lr";
  options.goal = "max";
  CHECK(extract(options, kLog).out.find(R"({"metric":"lr","goal":"max","values":[0.1,0.1,0.1])") ==
        0);
  ExtractOptions pattern = as_json();
  pattern.pattern = "loss: (?P<value>\\S+)";
  CHECK(extract(pattern, kLog).out.find(R"("values":[0.5,"nan",1e-07])") != std::string::npos);
  pattern.pattern = "loss: (";
  const Outcome wrong = extract(pattern, kLog);
  CHECK(wrong.status == 1);
  CHECK(wrong.out.empty());
  CHECK(wrong.err.find("not RE2") != std::string::npos);
}

TEST_CASE("extract's table is for people") {
  const Outcome outcome = extract({}, kLog);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("METRIC      loss\nGOAL        min\n") == 0);
  CHECK(outcome.out.find("PROGRESS    3 of 3\n") != std::string::npos);
  CHECK(outcome.out.find("\n0.5\nnan\n1e-07\n") != std::string::npos);
}

TEST_CASE("the table and the warning say the same confidence") {
  std::string log;
  for (int i = 0; i < 6; ++i) log += "GET /a HTTP/1.1 200 17 0.5\n";
  const Outcome outcome = extract({}, log);
  const std::size_t at = outcome.err.find(" (") + 2;
  const std::string said = outcome.err.substr(at, outcome.err.find(')') - at);
  CHECK(said.ends_with(" %"));
  CHECK(said != "0 %");
  CHECK(outcome.out.find("\nCONFIDENCE  " + said + "\n") != std::string::npos);
}

TEST_CASE_METHOD(Utf8Fixture, "a name in another script does not move the candidates' columns") {
  Extraction found;
  found.report.candidates = {{"损失", ctrl::Goal::min, 2, 12}, {"loss", ctrl::Goal::min, 1, 3}};
  const std::string table = render_extract_table(found, {});
  CHECK(table.find("\n损失" + std::string(30, ' ') + "min   12\n") != std::string::npos);
  CHECK(table.find("\nloss" + std::string(30, ' ') + "min   3\n") != std::string::npos);
}

TEST_CASE("--explain says why, one line a candidate and a refused name") {
  const std::string log =
      "epoch 1 loss: 0.9 val_loss: 1.0 acc: 0.1 lr: 0.1 tokens: 100 foo: 3.5 took: 3 s\n"
      "epoch 2 loss: 0.5 val_loss: 0.8 acc: 0.4 lr: 0.1 tokens: 200 foo: 3.1 took: 3 s\n"
      "epoch 3 loss: 0.4 val_loss: 0.7 acc: 0.6 lr: 0.1 tokens: 300 foo: 2.9 took: 4 s\n"
      "epoch 4 loss: 0.3 val_loss: 0.6 acc: 0.7 lr: 0.1 tokens: 400 foo: 2.0 took: 3 s\n";
  ExtractOptions options;
  options.explain = true;

  const Outcome text = extract(options, log);
  options.format = "json";
  const Outcome json = extract(options, log);

  CHECK(text.status == 0);
  test::check_golden("plugin/extract_explain.txt", text.out);
  test::check_golden("plugin/extract_explain.json", json.out);
}

TEST_CASE("--explain changes no choice, and hostile names stay text") {
  ExtractOptions options = as_json();
  const std::string plain = extract(options, kLog).out;
  options.explain = true;
  const std::string explained = extract(options, kLog).out;
  ExtractOptions hostile;
  hostile.explain = true;
  const Outcome outcome =
      extract(hostile, "a\x9b[2Jloss=1 \xc2\x9blr=2 x\xe2\x80\xaey: 3 MB\n\x1b]0;loss: 4\n");

  CHECK(explained.substr(0, explained.find(",\"explanation\"")) + "}\n" == plain);
  CHECK(outcome.out.find('\033') == std::string::npos);
  CHECK(outcome.out.find("\xC2\x9B") == std::string::npos);
  CHECK(outcome.out.find("\xE2\x80\xAE") == std::string::npos);
}

TEST_CASE("--explain with a name or a pattern says that these decide") {
  ExtractOptions named;
  named.explain = true;
  named.metric = "lr";
  ExtractOptions pattern;
  pattern.explain = true;
  pattern.pattern = "loss: (\\S+)";

  CHECK(extract(named, kLog).out.find("WHY\nOnly what fits the name \"lr\" counts:\nlr, 3 times") !=
        std::string::npos);
  CHECK(extract(pattern, kLog).out.find("WHY\nThe pattern selects the values.") !=
        std::string::npos);
}

TEST_CASE("extract names a file that cannot be read") {
  ExtractOptions options;
  options.file = "/nonexistent/train.log";
  std::ostringstream out;
  std::ostringstream err;
  CHECK(run_extract(options, out, err) == 1);
  CHECK(err.str().find("cannot open /nonexistent/train.log: No such file") != std::string::npos);
  options.file = "/tmp";
  err.str("");
  CHECK(run_extract(options, out, err) == 1);
  CHECK(err.str().find("cannot read the log: Is a directory") != std::string::npos);
}

TEST_CASE("extract's options refuse what they do not know") {
  for (const char* words :
       {"--goal up x.log", "--format xml x.log", "--input tar x.log", "--speed x.log", ""}) {
    CLI::App app;
    ExtractOptions options;
    declare_extract(app, options);
    INFO(words);
    CHECK_THROWS_AS(app.parse(words), CLI::ParseError);
  }
  CLI::App app;
  ExtractOptions options;
  declare_extract(app, options);
  app.parse("--metric loss --goal max --input raw -");
  CHECK(options.metric == "loss");
  CHECK(options.file == "-");
}

TEST_CASE("the table shows the first and last five values unless all are asked for") {
  std::string log;
  for (int i = 0; i < 30; ++i) log += "loss: " + std::to_string(100 - i) + ".5\n";
  ExtractOptions options;
  const std::string few = extract(options, log).out;
  CHECK(few.find("\n96.5\n... 20 more (--all)\n75.5\n") != std::string::npos);
  CHECK(few.find("\n90.5\n") == std::string::npos);
  options.all = true;
  const std::string all = extract(options, log).out;
  CHECK(all.find("\n90.5\n") != std::string::npos);
  CHECK(all.find("more (--all)") == std::string::npos);
}

TEST_CASE("extract warns of a doubtful choice and of logs that it cannot read") {
  struct Row {
    std::string line;
    const char* warning;
  };
  const Row rows[] = {
      {"GET /a HTTP/1.1 200 17 0.5\n", "not sure: column"},
      {"loss: 0,5312\n", "decimal comma"},
      {std::string("l\0o\0s\0s\0", 8) + "\n", "UTF-16 and binary"},
  };
  for (const Row& row : rows) {
    std::string log;
    for (int i = 0; i < 6; ++i) log += row.line;
    INFO(row.warning);
    CHECK(extract({}, log).err.find(row.warning) != std::string::npos);
  }
  const auto is_one_line = [](const std::string& log) {
    return extract({}, log).err.find("no newlines, so it is one line") != std::string::npos;
  };
  std::string run;
  for (int i = 0; i < 12; ++i) run += "epoch " + std::to_string(i) + " loss 0.5123 ";
  CHECK(is_one_line(run));
  CHECK_FALSE(is_one_line(run + "\n"));
  CHECK_FALSE(is_one_line("loss: 0.5"));
  CHECK(extract({}, "losses: 1,250.5\nlosses: 1,150.5\nlosses: 1,050.25\n").err.empty());
}

}  // namespace flowcon::plugin
