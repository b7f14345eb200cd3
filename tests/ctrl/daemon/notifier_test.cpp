// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/notifier.h"

#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

struct Told {
  Told() { jobs["a"].container.id = "a"; }

  void follow(const std::string& record_problem = "", const std::string& engine_problem = "") {
    notifier.follow(jobs, record_problem, engine_problem);
  }
  [[nodiscard]] std::uint64_t count(EventKind kind) const {
    return notifier.counts().at(static_cast<std::size_t>(kind));
  }

  boost::asio::io_context io{1};
  Config config;
  std::map<std::string, Job> jobs;
  Job& job = jobs["a"];
  Notifier notifier{io, config, "h1", [] { return Moment{1000, 10}; }};
};

}  // namespace

TEST_CASE("that a job has converged is told once, and again when it does so again") {
  Told told;
  told.follow();
  CHECK(told.count(EventKind::converged) == 0);
  told.job.cpu.list = List::cl;
  for (int i = 0; i < 3; ++i) told.follow();
  CHECK(told.count(EventKind::converged) == 1);
  told.job.cpu.list = List::nl;
  told.follow();
  told.job.cpu.list = List::cl;
  told.follow();
  CHECK(told.count(EventKind::converged) == 2);
}

TEST_CASE("a value that is no number has an event of its own") {
  Told told;
  metrics::Spec spec;
  spec.metric = "loss";
  told.job.extractor.emplace(std::move(*metrics::Extractor::create(spec, 64)));
  told.job.verdict = growth::Verdict::diverging;
  told.job.extractor->feed("loss: 7", 1);
  told.follow();
  CHECK(told.count(EventKind::diverging) == 1);
  CHECK(told.count(EventKind::nan) == 0);
  told.job.extractor->feed("loss: nan", 2);
  for (int i = 0; i < 3; ++i) told.follow();
  CHECK(told.count(EventKind::diverging) == 1);
  CHECK(told.count(EventKind::nan) == 1);
}

TEST_CASE("a failure is told when it begins, and not for each of its sentences") {
  Told told;
  told.follow("the disk is full");
  told.follow("the disk is full, still");
  CHECK(told.count(EventKind::failure) == 1);
  told.follow();
  told.follow("the disk is full", "the engine is away");
  CHECK(told.count(EventKind::failure) == 3);
}

TEST_CASE("each problem with the limits of a job is told, and nothing of one without control") {
  Told told;
  told.job.problem = "no such group";
  told.follow();
  told.follow();
  CHECK(told.count(EventKind::failure) == 1);
  told.job.problem = "another one";
  told.follow();
  CHECK(told.count(EventKind::failure) == 2);
  told.job.unsupported = "it runs as a whole system";
  told.job.problem = "a third one";
  told.follow();
  CHECK(told.count(EventKind::failure) == 2);
}
