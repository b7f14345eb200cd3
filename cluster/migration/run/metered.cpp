// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/metered.h"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/sha256.h"

namespace flowcon::cluster::migration {

struct Metered::State {
  Sha256 sum;
  std::uint64_t bytes = 0;
  std::string sha256;

  static Async<Result<std::string>> next(std::shared_ptr<State> self, ctrl::Pull inner) {
    Result<std::string> piece = co_await inner();
    if (!piece) co_return piece;
    self->bytes += piece->size();
    if (piece->empty()) {
      self->sha256 = self->sum.finish();
    } else {
      self->sum.feed(*piece);
    }
    co_return piece;
  }
};

Metered::Metered() : state_(std::make_shared<State>()) {}

ctrl::Pull Metered::wrap(ctrl::Pull inner) {
  // Held by who pulls alone: when that gives up, what it pulled from ends.
  return [state = state_, inner = std::move(inner)] { return State::next(state, inner); };
}

std::uint64_t Metered::bytes() const { return state_->bytes; }
bool Metered::is_whole() const { return !state_->sha256.empty(); }
std::string Metered::sha256() const { return state_->sha256; }

}  // namespace flowcon::cluster::migration
