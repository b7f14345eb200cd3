// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/request.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::queue {
namespace {

constexpr Offer kOffer{4, 8e9};

TEST_CASE("what a person set comes before labels, docker's options and estimates") {
  const Said cpu{2.0, 1.0, 3.0, 0.5};
  CHECK(request_of(cpu, {}, 0, kOffer, kOffer).cpu.value == 2);
  CHECK(request_of({{}, 1.0, 3.0, 0.5}, {}, 0, kOffer, kOffer).cpu.source == Source::label);
  CHECK(request_of({{}, {}, 3.0, 0.5}, {}, 0, kOffer, kOffer).cpu.source == Source::docker);
  CHECK(request_of({{}, {}, {}, 0.5}, {}, 0, kOffer, kOffer).cpu.source == Source::estimate);
}

TEST_CASE("a job of which nothing is known asks for a core and an eighth of the memory on offer") {
  const Request request = request_of({}, {}, 0, kOffer, kOffer);
  CHECK(request.cpu.value == 1);
  CHECK(request.mem.value == 1e9);
  CHECK(request.mem.source == Source::otherwise);
  CHECK(request_of({}, {}, 0, {0.5, 8e9}, {0.5, 8e9}).cpu.value == 0.5);
}

TEST_CASE("an estimate beyond what is on offer asks for all of it, a person's request stays") {
  CHECK(request_of({}, {{}, {}, {}, 9e9}, 0, kOffer, kOffer).mem.value == 8e9);
  CHECK(request_of({}, {{}, 9e9, {}, {}}, 0, kOffer, kOffer).mem.value == 9e9);
}

TEST_CASE("of what no host offers a job asks for as much as anywhere, and so has no room") {
  const Request request = request_of({}, {{}, {}, {}, 9e9}, 0, {0, 0}, {0, 0});
  CHECK(request.cpu.value == 1);
  CHECK(request.mem.value == 9e9);
  CHECK(request_of({}, {{}, 2e9, {}, {}}, 4e9, {0, 0}, {0, 0}).mem.value == 4e9);
}

TEST_CASE(
    "a job that was killed for memory asks for more, at most all, unless a person says what") {
  const Said label{{}, 2e9, {}, {}};
  CHECK(request_of({}, label, 4e9, kOffer, kOffer).mem.value == 4e9);
  CHECK(request_of({}, label, 4e9, kOffer, kOffer).mem.source == Source::doubled);
  CHECK(request_of({}, label, 20e9, kOffer, kOffer).mem.value == 8e9);
  CHECK(request_of({}, {3e9, 2e9, {}, {}}, 4e9, kOffer, kOffer).mem.value == 3e9);
}

TEST_CASE("GPUs are requested as people or docker say, where any host has some") {
  const Offer with_gpus{4, 8e9, 2};
  const auto gpu_of = [&](const Said& gpu, const Offer& largest) {
    return request_of({}, {}, 0, kOffer, largest, gpu).gpu;
  };
  CHECK(gpu_of({0.5, 1.0, 2.0, {}}, with_gpus).value == 0.5);
  CHECK(gpu_of({{}, 1.0, 2.0, {}}, with_gpus).source == Source::label);
  CHECK(gpu_of({{}, {}, 4.0, {}}, with_gpus).value == 4);  // more than any has: it is refused
  CHECK(gpu_of({}, with_gpus).value == 0);
  CHECK(gpu_of({{}, {}, 1.0, {}}, kOffer).value == 0);
  CHECK(request_of({}, {}, 0, kOffer, with_gpus, {{}, {}, 1.0, {}}).amounts().back() ==
        std::pair<std::string, double>("gpu", 1));
  CHECK(request_of({}, {}, 0, kOffer, kOffer).amounts().size() == 2);
}

TEST_CASE("GPUs are free as far as neither jobs nor others have them") {
  const Offer offer{4, 8e9, 2};
  const std::vector<Holder> holders{{{{"cpu", 1}, {"mem", 1e9}, {"gpu", 0.5}}, 0}};
  const auto gpus = [&](const std::vector<Holder>& all, const Others& others) {
    return policy::amount_of(free_of(offer, all, others), "gpu");
  };
  CHECK(gpus({}, {}) == 2);
  CHECK(gpus(holders, {}) == 1.5);
  CHECK(gpus(holders, {0, 0, {}, 1.0}) == 0.5);
  CHECK(gpus(holders, {0, 0, {}, 3.0}) == 1.5);  // one of three is not on offer
  CHECK(free_of(kOffer, holders, {}).size() == 2);
}

TEST_CASE("what nobody said of tasks that run together is what hosts have for all of them") {
  const std::vector<Offer> hosts{{4, 8e9}, {2, 16e9}};
  Request worker{{3, Source::estimate}, {5e9, Source::doubled}}, ps = worker;
  SECTION("one host") {
    share_out(worker, 2, ps, 0, hosts, false);
    CHECK(worker.cpu.value == 2);
    CHECK(worker.mem.value == 4e9);
  }
  SECTION("several hosts") {
    share_out(worker, 3, ps, 0, hosts, true);
    CHECK(worker.cpu.value == 2);
    CHECK(worker.mem.value == 4e9);
  }
  SECTION("where they have enough it stays") {
    worker = {{1.5, Source::otherwise}, {3e9, Source::estimate}};
    share_out(worker, 3, ps, 0, hosts, true);
    CHECK(worker.cpu.value == 1.5);
    CHECK(worker.mem.value == 3e9);
  }
  SECTION("what somebody said stays, and the others have the rest") {
    worker.cpu = {1, Source::label};
    ps = {{0.5, Source::label}, {1e9, Source::label}};
    share_out(worker, 2, ps, 1, hosts, false);
    CHECK(worker.cpu.value == 1);
    CHECK(worker.mem.value == 3.5e9);
    CHECK(ps.mem.value == 1e9);
  }
  SECTION("where there is no rest, or there are no hosts, all stays") {
    worker.cpu = {5, Source::set};
    share_out(worker, 1, ps, 0, hosts, true);
    worker.cpu = {3, Source::estimate};
    share_out(worker, 1, ps, 0, {{0, 0}}, false);
    share_out(worker, 1, ps, 0, {}, true);
    CHECK(worker.cpu.value == 3);
    CHECK(worker.mem.value == 5e9);
  }
}

TEST_CASE("free is what is offered less what jobs asked for or use, and what others use") {
  const std::vector<Holder> holders{{{{"cpu", 1}, {"mem", 2e9}}, 3e9},
                                    {{{"cpu", 0.5}, {"mem", 1e9}}, 0.2e9}};
  const policy::Amounts free = free_of(kOffer, holders, {0.25, 1e9, std::nullopt});
  CHECK(policy::amount_of(free, "cpu") == 2.25);
  CHECK(policy::amount_of(free, "mem") == 3e9);
}

TEST_CASE("memory is counted in whole bytes, so that sums are exact") {
  CHECK(request_of({}, {{}, 0.5, {}, {}}, 0, kOffer, kOffer).mem.value == 1);
  CHECK(policy::amount_of(free_of({4, 100}, {}, {0, 0.5, std::nullopt}), "mem") == 99);
}

TEST_CASE("memory that the host does not have is not free, nor what jobs have not taken yet") {
  const std::vector<Holder> holders{{{{"cpu", 1}, {"mem", 2e9}}, 0.5e9}};
  CHECK(policy::amount_of(free_of(kOffer, holders, {0, 0, 4e9}), "mem") == 2.5e9);
  CHECK(policy::amount_of(free_of(kOffer, holders, {0, 0, 1e9}), "mem") == -0.5e9);
}

}  // namespace
}  // namespace flowcon::cluster::queue
