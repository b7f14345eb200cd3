// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/simulate.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <set>

#include "base/json.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

namespace {

struct Files {
  std::map<std::string, std::string> files;
  World world() {
    World w;
    w.read = [this](const std::string& path) -> flowcon::Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return flowcon::errno_error(ENOENT, "reading " + path);
      return found->second;
    };
    w.write = [this](const std::string& path, std::string_view bytes) -> flowcon::Result<void> {
      files[path] = bytes;
      return {};
    };
    return w;
  }
};

Answer ask(std::vector<std::string> arguments, std::map<std::string, std::string> files = {}) {
  Files kept{std::move(files)};
  return simulate(arguments, kept.world());
}

Answer with_table(const std::string& text) {
  return ask({"run", "jobs.csv", "--policy", "free"}, {{"jobs.csv", text}});
}

}  // namespace

TEST_CASE("a run prints one object a policy, with these members and no others") {
  const Answer answer =
      ask({"run", "random5", "--policy", "free,milestone", "--seeds", "2", "--format", "json"});
  REQUIRE(answer.status == 0);
  const auto json = flowcon::parse_json(answer.out);
  REQUIRE(json);
  REQUIRE(json->as_array().size() == 2);
  std::set<std::string> wanted{"policy"};
  for (const char* name :
       {"mean_completion_percent", "t90_percent", "makespan_percent", "best_job_percent",
        "worst_job_percent", "improved", "above_bound_percent"}) {
    wanted.insert(name);
    wanted.insert(std::string(name) + "_se");
  }
  for (const auto& policy : json->as_array()) {
    std::set<std::string> found;
    for (const auto& member : policy.as_object()) found.insert(member.key());
    CHECK(found == wanted);
  }
  CHECK(json->as_array()[0].at("mean_completion_percent").to_number<double>() == 0);
  CHECK(json->as_array()[1].at("mean_completion_percent").to_number<double>() < -10);
}

TEST_CASE("the same arguments give the same bytes, other seeds others") {
  const std::vector<std::string> arguments{"run",     "random10", "--policy", "milestone",
                                           "--seeds", "2",        "--format", "csv"};
  CHECK(ask(arguments).out == ask(arguments).out);
  std::vector<std::string> other = arguments;
  other.insert(other.end(), {"--seed", "9"});
  CHECK(ask(arguments).out != ask(other).out);
}

TEST_CASE("a report is one page that fetches nothing") {
  Files kept;
  const Answer answer = simulate({"run", "fixed3", "--report", "page.html"}, kept.world());
  CHECK(answer.status == 0);
  const std::string& page = kept.files["page.html"];
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.find("<svg") != std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
}

TEST_CASE("a report goes to a file that has a name") {
  for (const std::string& name : {std::string(), std::string("-")}) {
    const Answer answer = ask({"run", "fixed3", "--report", name});
    CHECK(answer.status == 125);
    CHECK(answer.problem.starts_with("--report: \"" + name + "\" is not the name of a file"));
  }
}

TEST_CASE("a wrong word gets a sentence and where help is") {
  CHECK(ask({"run"}).status == 125);
  CHECK(ask({"run", "random155"}).problem.find("did you mean random15") != std::string::npos);
  CHECK(ask({"run", "random5", "--polcy", "free"}).problem.find("--policy") != std::string::npos);
  CHECK(ask({"run", "random5", "--policy", "best"}).problem.find("milestone") != std::string::npos);
  CHECK(ask({"run", "random5", "--seeds", "1.5"}).problem.find("--seeds") != std::string::npos);
  CHECK(ask({"run", "random5", "--contention", "nan"}).status == 125);
  CHECK(ask({"run", "./none.csv"}).status == 1);
  CHECK(ask({"bound", "random5", "--policy", "free"}).status == 125);
  CHECK(ask({"run", "--help"}).out.find("--policy LIST") != std::string::npos);
}

TEST_CASE("the help of run has the defaults of the options") {
  const std::string help = ask({"run", "--help"}).out;
  for (const char* line : {
           "      --max-moves N         Maximum migrations per job under balance (2)\n",
           "      --interval S          As the option of flowcond (20)\n",
           "      --alpha X             (0.03)\n",
           "      --hysteresis SHARE    ... the key of rank r of n counts 1 + SHARE r/n times "
           "(0.15)\n",
           "      --work-scale X        Factor on the durations (1)\n",
       }) {
    INFO(line);
    CHECK(help.find(line) != std::string::npos);
  }
}

TEST_CASE("a table of jobs is read by the names of its columns") {
  const Answer answer =
      with_table("job_id,submit_s,duration_s,gpus_or_nodes,model\n\"a,b\",0,100,2,x\nc,10,50,1,\n");
  CHECK(answer.problem.empty());
  CHECK(answer.status == 0);
}

TEST_CASE("the jobs of a schedule are a table that can be run") {
  const Answer jobs = ask({"jobs", "random10", "--seed", "3"});
  REQUIRE(jobs.status == 0);
  CHECK(jobs.out.starts_with("job_id,model,arrival_s,duration_s,cores,lines,noise,warmup\n"));
  CHECK(std::count(jobs.out.begin(), jobs.out.end(), '\n') == 11);
  CHECK(jobs.out == ask({"jobs", "random10", "--seed", "3"}).out);
  CHECK(jobs.out != ask({"jobs", "random10", "--seed", "4"}).out);
  CHECK(with_table(jobs.out).status == 0);
  // What is read is what was written; the times begin with the first arrival.
  CHECK(ask({"jobs", "fixed3"}).out ==
        ask({"jobs", "jobs.csv"}, {{"jobs.csv", ask({"jobs", "fixed3"}).out}}).out);
  CHECK(ask({"jobs", "fixed3", "--seeds", "2"}).status == 125);
  CHECK(ask({"jobs", "--help"}).out.find("--policy") == std::string::npos);
}

TEST_CASE("a job of a table has the curve, the lines and the host that its row says") {
  // Two curves: one is at 90 % after a tenth of the run, the other at its end.
  std::string curves = "curve_id,step,metric,value\n";
  for (int step = 0; step <= 10; ++step) {
    curves += "early," + std::to_string(step) + ",loss," + (step == 0 ? "1" : "0") + "\n";
    curves += "late," + std::to_string(step) + ",loss," + (step == 10 ? "0" : "1") + "\n";
  }
  const auto t90 = [&](const std::string& rows) {
    const std::string table =
        "submit_s,duration_s,cores,model,curve_id,lines,noise,warmup,host\n" + rows;
    const Answer answer = ask({"run", "jobs.csv", "--curves", "curves.csv", "--policy",
                               "free,milestone", "--hosts", "2", "--format", "json"},
                              {{"jobs.csv", table}, {"curves.csv", curves}});
    INFO(answer.problem);
    REQUIRE(answer.status == 0);
    const auto json = flowcon::parse_json(answer.out);
    return json->as_array()[1].at("t90_percent").to_number<double>();
  };
  // Alone on its host each, so no policy can change anything; on one host it can.
  CHECK(t90("0,100,8,a,early,10,0,0,1\n0,100,8,b,late,10,0,0,2\n") == 0);
  CHECK(t90("0,100,8,a,early,10,0,0,1\n0,100,8,b,late,10,0,0,1\n") < -10);
  // Having run before, both are known from the first moment on.
  CHECK(t90("-1,100,8,a,early,10,0,0,\n-1,100,8,b,late,10,0,0,\n"
            "0,100,8,a,early,10,0,0,1\n0,100,8,b,late,10,0,0,1\n") <
        t90("0,100,8,a,early,10,0,0,1\n0,100,8,b,late,10,0,0,1\n"));
}

TEST_CASE("a table's cores are those that a job can use, whatever a worker stands for") {
  const std::string table = "submit_s,duration_s,workers,cores\n0,10,2,3\n0,10,2,\n";
  const Answer jobs = ask({"jobs", "jobs.csv", "--worker-cores", "2"}, {{"jobs.csv", table}});
  CHECK(jobs.out.find(",10,3,") != std::string::npos);
  CHECK(jobs.out.find(",10,4,") != std::string::npos);
}

TEST_CASE("a hostile table gets a sentence with its line") {
  CHECK(with_table("").problem.find("empty") != std::string::npos);
  CHECK(with_table("a,b\n1,2\n").problem.find("no column") != std::string::npos);
  CHECK(with_table("submit_s,duration_s\n").problem.find("no jobs") != std::string::npos);
  CHECK(with_table("submit_s,duration_s\n0,1\nx,1\n").problem.find("line 3") != std::string::npos);
  CHECK(with_table("submit_s,duration_s\n0,nan\n").problem.find("line 2") != std::string::npos);
  CHECK(with_table("submit_s,duration_s\n0,-1\n").problem.find("line 2") != std::string::npos);
  CHECK(with_table("submit_s,duration_s\n0,1e300\n").status == 1);
  const std::string late = with_table("submit_s,duration_s\n5,1\n1.1e9,1\n").problem;
  CHECK(late.find("line 3") != std::string::npos);
  CHECK(late.find("30 years") != std::string::npos);
  const std::string lengthy = with_table("submit_s,duration_s\n0,1\n0,1.1e9\n").problem;
  CHECK(lengthy.find("line 3: the job takes") != std::string::npos);
  CHECK(lengthy.find("30 years") != std::string::npos);
  CHECK(ask({"run", "jobs.csv", "--policy", "free", "--work-scale", "1e6"},
            {{"jobs.csv", "submit_s,duration_s\n0,1e4\n"}})
            .problem.find(" with --work-scale; at most ") != std::string::npos);
  CHECK(with_table("submit_s,duration_s,cores\n0,9e8,8\n0,9e8,8\n")
            .problem.find("jobs.csv: its jobs keep all hosts busy for ") == 0);
  // Times may count from wherever they like.
  CHECK(with_table("submit_s,duration_s\n1.7e9,1\n1.7001e9,1\n").status == 0);
  CHECK(ask({"run", "jobs.csv", "--policy", "free", "--arrival-scale", "1e5"},
            {{"jobs.csv", "submit_s,duration_s\n0,1\n1e5,1\n"}})
            .problem.find("line 3") != std::string::npos);
  CHECK(with_table("submit_s,duration_s\n0,\"1\n").problem.find("quote") != std::string::npos);
  CHECK(with_table("submit_s,duration_s\n0,1,2,3\n").problem.find("fields") != std::string::npos);
  CHECK(with_table("submit_s,duration_s,curve\n0,1,x\n").problem.find("no curve x") !=
        std::string::npos);
  CHECK(with_table("submit_s,duration_s,lines\n0,1,0\n").problem.find("line 2") !=
        std::string::npos);
  CHECK(with_table("submit_s,duration_s,warmup\n0,1,1\n").status == 1);
  CHECK(with_table("submit_s,duration_s,cores\n0,1,0\n").status == 1);
  CHECK(with_table("submit_s,duration_s,host\n0,1,2\n").problem.find("line 2") !=
        std::string::npos);
  CHECK(with_table("submit_s,duration_s\n-1,1\n").problem.find("no jobs") != std::string::npos);
  CHECK(with_table("submit_s\x1b[31m,duration_s\n0,1\n").status == 1);
  CHECK(with_table(std::string(1000, ',') + "\n").problem.find("columns") != std::string::npos);
}

TEST_CASE("values of curves whose squares are no numbers are refused with their line") {
  const auto with_values = [](const std::string& first, const std::string& then) {
    std::string curves = "curve_id,step,metric,value\n";
    for (int step = 0; step < 10; ++step) {
      curves += "a," + std::to_string(step) + ",loss," + (step < 5 ? first : then) + "\n";
    }
    return ask({"run", "fixed3", "--curves", "curves.csv", "--policy", "free"},
               {{"curves.csv", curves}});
  };
  const std::string problem = with_values("1.7e308", "-1.7e308").problem;
  CHECK(problem.find("curves.csv line 2: value: \"1.7e308\"") != std::string::npos);
  CHECK(with_values("2", "-1.1e150").problem.find("line 7") != std::string::npos);
  CHECK(with_values("2", "1e400").problem.find("line 7") != std::string::npos);
  CHECK(with_values("1e150", "-1e150").status == 0);
  CHECK(with_values("2", "1e-400").status == 0);
  // A training may print them; here the other five make the curve.
  for (const char* none : {"nan", "inf", "-inf", "", "x"}) {
    INFO(none);
    CHECK(with_values("2", none).status == 0);
  }
}

TEST_CASE("bounds are below what any policy gets") {
  const Answer answer = ask({"bound", "fixed3", "--format", "json"});
  REQUIRE(answer.status == 0);
  const auto json = flowcon::parse_json(answer.out);
  REQUIRE(json);
  // 2400, 960 and 480 CPU seconds on 8 cores from 0 s on, without a gap.
  CHECK(json->at("makespan_seconds").to_number<double>() == Approx(480));
}

TEST_CASE("a bound is of the jobs that the options say, as a run's") {
  std::string curves = "curve_id,step,metric,value\n";
  for (int step = 0; step <= 10; ++step) {
    curves += "late," + std::to_string(step) + ",loss," + (step == 10 ? "0" : "1") + "\n";
  }
  const auto bound = [&](const std::vector<std::string>& options, const char* what) {
    std::vector<std::string> arguments{"bound", "random10", "--format", "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Answer answer = ask(arguments, {{"curves.csv", curves}});
    INFO(answer.problem);
    REQUIRE(answer.status == 0);
    return flowcon::parse_json(answer.out)->at(what).to_number<double>();
  };
  const double mean = bound({}, "mean_completion_seconds");
  const double t90 = bound({}, "mean_t90_seconds");
  CHECK(t90 < 0.8 * mean);
  // A curve that falls in its last tenth alone.
  const std::vector<std::string> late{"--curves", "curves.csv"};
  CHECK(bound(late, "mean_t90_seconds") > 0.9 * mean);
  CHECK(bound(late, "mean_completion_seconds") == mean);
  // The way to 90 % begins at the first value: with five lines, at a fifth of the run.
  CHECK(bound({"--lines", "5"}, "mean_t90_seconds") > t90);
  CHECK(bound({"--crashes", "1"}, "jobs") == 0);
}
