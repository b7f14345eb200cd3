// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/ledger.h"

#include "cluster/peers/backoff.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

using Verdict = Ledger::Verdict;

TEST_CASE("a replayed or overtaken message is stale") {
  Ledger ledger;
  CHECK(ledger.take("a", 1, 5, true) == Verdict::fresh);
  CHECK(ledger.take("a", 1, 5, true) == Verdict::stale);
  CHECK(ledger.take("a", 1, 4, true) == Verdict::stale);
  CHECK(ledger.take("a", 1, 6, true) == Verdict::fresh);
  CHECK(ledger.take("b", 1, 1, true) == Verdict::fresh);
}

TEST_CASE("a stale message changes nothing") {
  Ledger ledger;
  CHECK(ledger.take("a", 2, 5, true) == Verdict::fresh);
  CHECK(ledger.take("a", 1, 9, true) == Verdict::stale);
  CHECK(ledger.take("a", 2, 6, true) == Verdict::fresh);
}

TEST_CASE("a new incarnation begins anew and ends the one before") {
  Ledger ledger;
  CHECK(ledger.take("a", 1, 500, true) == Verdict::fresh);
  CHECK(ledger.take("a", 2, 1, true) == Verdict::fresh);
  CHECK(ledger.take("a", 1, 501, true) == Verdict::stale);
}

TEST_CASE("a host whose state was put back is heard again when it says so itself") {
  Ledger ledger;
  CHECK(ledger.take("a", 9, 500, true) == Verdict::fresh);
  ledger.settle("a", 4);
  CHECK(ledger.take("a", 4, 1, true) == Verdict::fresh);
  ledger.settle("a", 4);
  CHECK(ledger.take("a", 4, 1, true) == Verdict::stale);
}

TEST_CASE("a host that another has spoken for is heard again where it says where it is") {
  Ledger ledger;
  CHECK(ledger.take("a", 4, 1'000'000, true) == Verdict::fresh);
  CHECK(ledger.take("a", 4, 7, true) == Verdict::stale);
  ledger.settle("a", 4);
  CHECK(ledger.take("a", 4, 7, true) == Verdict::stale);
  ledger.settle("a", 4, 7);
  CHECK(ledger.take("a", 4, 8, true) == Verdict::fresh);
  ledger.settle("a", 4, 9);
  CHECK(ledger.take("a", 4, 9, true) == Verdict::fresh);
}

TEST_CASE("strangers fill the ledger up to a bound, peers always find room") {
  Ledger ledger;
  for (std::size_t i = 0; i < Ledger::kMaxStrangers; ++i) {
    CHECK(ledger.take("s" + std::to_string(i), 1, 1, false) == Verdict::fresh);
  }
  CHECK(ledger.take("one more", 1, 1, false) == Verdict::full);
  CHECK(ledger.take("peer", 1, 1, true) == Verdict::fresh);
  CHECK(ledger.take("s0", 1, 2, true) == Verdict::fresh);  // now a peer
  CHECK(ledger.take("one more", 1, 1, false) == Verdict::fresh);
}

TEST_CASE("waits double from 1 s to 60 s, a quarter more or less") {
  Backoff backoff;
  for (const double base : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0}) {
    CHECK(backoff.next(0.5) == base);
  }
  CHECK(backoff.next(0) == 45);
  CHECK(backoff.next(1) == 75);
  CHECK(backoff.next(7) == 75);
  backoff.reset();
  CHECK(backoff.next(0.5) == 1);
}

}  // namespace
}  // namespace flowcon::cluster::peers
