// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/identity.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

using Kind = IdVerdict::Kind;

const std::string kOwn(32, '0'), kB(32, 'b'), kC(32, 'c');
const std::string kHosts =
    "gpu2 ssh-ed25519 AAAAb\n"
    "gpu2 ssh-rsa AAAArsa\n"
    "10.0.0.2,b.example ssh-ed25519 AAAAb\r\n"
    "gpu3 ssh-ed25519 AAAAc\n"
    "[gpu2]:2222 ssh-ed25519 AAAAd\n"
    "@revoked gpu4 ssh-ed25519 AAAAb\n"
    "|1|aGFzaA==|aGFzaA== ssh-ed25519 AAAAb\n"
    "gpu5 ssh-ed25519\n"
    "gpu6\n";

SshAddress at(const std::string& text) { return *parse_ssh_address(text); }

IdVerdict judge(const std::string& name, const std::string& known, const std::string& said,
                const std::optional<PeerId>& holder = {}) {
  return judge_id({at(name), known}, said, kOwn, holder, kHosts);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("two names are one host where known_hosts has one key for both") {
  CHECK(has_same_host_key(kHosts, at("gpu2"), at("10.0.0.2")));
  CHECK(has_same_host_key(kHosts, at("b.example"), at("gpu2")));
  CHECK_FALSE(has_same_host_key(kHosts, at("gpu2"), at("gpu3")));
  CHECK_FALSE(has_same_host_key(kHosts, at("gpu2"), at("gpu2:2222")));
  for (const char* other : {"gpu4", "gpu5", "gpu6", "gpu9", "example"}) {
    CAPTURE(other);
    CHECK_FALSE(has_same_host_key(kHosts, at("gpu2"), at(other)));
    CHECK_FALSE(
        has_same_host_key(kHosts, at(other), at(other == std::string("gpu5") ? "gpu6" : "gpu5")));
  }
  CHECK_FALSE(has_same_host_key("", at("gpu2"), at("gpu2")));
}

TEST_CASE("a peer is the host that it was, or the first of its name") {
  CHECK(judge("gpu2", "", kB).kind == Kind::peer);
  CHECK(judge("gpu2", kB, kB).kind == Kind::peer);
  CHECK(judge("gpu2", kB, kB).why.empty());
}

TEST_CASE("the host itself is no peer") {
  const IdVerdict verdict = judge("gpu2", "", kOwn);
  CHECK(verdict.kind == Kind::unused);
  CHECK(has(verdict.why, "the host itself"));
  CHECK(verdict.same_as.empty());
}

TEST_CASE("a host that says another id than before is refused, and what to do is said") {
  const PeerId gpu2{at("gpu2"), kB};
  for (const auto& holder : {std::optional<PeerId>(), std::optional<PeerId>(gpu2)}) {
    const IdVerdict verdict = judge("gpu3", kC, kB, holder);
    CHECK(verdict.kind == Kind::refused);
    CHECK(has(verdict.why, "docker flowcon peer add gpu3 again"));
    CHECK(verdict.same_as.empty());
  }
  // Even where it has both keys: it was another host.
  CHECK(judge("10.0.0.2", kC, kB, gpu2).kind == Kind::refused);
}

TEST_CASE("the same host under another name is its second name") {
  const IdVerdict verdict = judge("10.0.0.2", "", kB, PeerId{at("gpu2"), kB});
  CHECK(verdict.kind == Kind::unused);
  CHECK(verdict.why == "this is the same host as gpu2");
  CHECK(verdict.same_as == "gpu2");
}

TEST_CASE("a host that says that it is another peer is refused, whoever says it first") {
  const IdVerdict verdict = judge("gpu3", "", kB, PeerId{at("gpu2"), kB});
  CHECK(verdict.kind == Kind::refused);
  CHECK(has(verdict.why, "gpu3 says that it is gpu2, and has another host key"));
  CHECK(verdict.same_as.empty());
  CHECK(judge_id({at("10.0.0.2"), ""}, kB, kOwn, PeerId{at("gpu2"), kB}, "").kind == Kind::refused);
}

}  // namespace
}  // namespace flowcon::cluster::peers
