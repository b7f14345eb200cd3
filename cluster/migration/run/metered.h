// SPDX-License-Identifier: Apache-2.0
// Counts and sums the bytes that pass, for both sides of a transfer and for who shows its progress.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ctrl/pull.h"

namespace flowcon::cluster::migration {

/// Copies share one count.
class Metered {
 public:
  Metered();

  /// The same bytes; what passes is counted here. One stream only.
  [[nodiscard]] ctrl::Pull wrap(ctrl::Pull inner);

  /// That have passed so far.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Has the stream ended, without an error?
  [[nodiscard]] bool is_whole() const;
  /// 64 hexadecimal digits of all that passed; "" until it is whole.
  [[nodiscard]] std::string sha256() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace flowcon::cluster::migration
