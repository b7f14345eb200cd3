// SPDX-License-Identifier: Apache-2.0
// Reasons add up to the score that decides, and asking for them changes nothing.
#include "ctrl/metrics/explain.h"

#include <cmath>
#include <numeric>

#include "ctrl/metrics/extractor.h"
#include "ctrl/metrics/names.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {
namespace {

void feed(Extractor& extractor) {
  for (int epoch = 1; epoch <= 20; ++epoch) {
    const std::string number = std::to_string(epoch);
    extractor.feed("epoch " + number + "/20 loss: " + std::to_string(2.0 / epoch) +
                       " acc: " + std::to_string(1 - 1.0 / epoch) + " lr: 0.1 foo: 7 eta: 3:20",
                   epoch);
    extractor.feed(
        number + "%|##| " + number + "/20 [00:01, loss=" + std::to_string(3.0 / epoch) + "]",
        epoch);
  }
}

TEST_CASE("a candidate's reasons add up to its score") {
  for (const std::string metric : {"", "loss"}) {
    Extractor extractor = *Extractor::create(Spec{metric, {}, ""}, 0);
    extractor.remember_refused();
    feed(extractor);

    const Report report = extractor.report();
    const Explanation explanation = extractor.explain();

    REQUIRE(explanation.candidates.size() >= report.candidates.size());
    for (std::size_t i = 0; i < report.candidates.size(); ++i) {
      const Explained& explained = explanation.candidates[i];
      const double sum = std::accumulate(
          explained.reasons.begin(), explained.reasons.end(), 0.0,
          [](double before, const Reason& reason) { return before + reason.points; });
      CHECK(explained.metric == report.candidates[i].metric);
      CHECK(explained.goal == report.candidates[i].goal);
      CHECK(explained.count == report.candidates[i].count);
      // The ranking rounds to six digits behind the point.
      CHECK(std::fabs(explained.score - report.candidates[i].score) < 1e-6);
      CHECK(std::fabs(sum - explained.score) < 1e-9);
    }
  }
}

TEST_CASE("remembering what was refused changes no report") {
  Extractor plain = *Extractor::create({}, 64);
  Extractor remembering = *Extractor::create({}, 64);
  remembering.remember_refused();
  feed(plain);
  feed(remembering);

  const Report one = plain.report();
  const Report other = remembering.report();

  CHECK(one.metric == other.metric);
  CHECK(one.confidence == other.confidence);
  REQUIRE(one.candidates.size() == other.candidates.size());
  for (std::size_t i = 0; i < one.candidates.size(); ++i) {
    CHECK(one.candidates[i].score == other.candidates[i].score);
  }
  CHECK(plain.explain().refused.empty());
  CHECK_FALSE(remembering.explain().refused.empty());
}

TEST_CASE("what is refused is bounded, in names and in bytes") {
  Extractor extractor = *Extractor::create({}, 0);
  extractor.remember_refused();
  for (int i = 0; i < 200; ++i) {
    extractor.feed("lr_" + std::string(1000, 'a') + std::to_string(i) + ": 1 s", i);
  }
  const Explanation explanation = extractor.explain();

  CHECK(explanation.refused.size() <= 32);
  for (const Refused& refused : explanation.refused) CHECK(refused.name.size() <= 96);
}

TEST_CASE("a name is explained by the word that decides") {
  CHECK(explain_name("learning_rate_lr") ==
        "\"lr\" is on the list of words that never name a metric");
  CHECK(explain_name("tokens") == "\"tokens\" is an amount, not a metric");
  CHECK(explain_name("epoch") == "it counts rounds over the data");
  CHECK(explain_name("step") == "it counts steps");
  CHECK(explain_name("max_epochs") == "it says how far a counter goes");
  CHECK(explain_name("best") == "\"best\" names a record, not the current value");
  CHECK(explain_name("loss").empty());
  CHECK(explain_name("foo").empty());
}

}  // namespace
}  // namespace flowcon::ctrl::metrics
