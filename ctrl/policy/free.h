// SPDX-License-Identifier: Apache-2.0
// Every job alike: what the kernel does where nobody decides. Growth is measured all the same.
#pragma once

#include "ctrl/policy/flowcon.h"

namespace flowcon::ctrl::policy {

class Free : public Flowcon {
 public:
  using Flowcon::Flowcon;

  HostDecision decide(const HostView& view, Rounds* rounds) override;
  [[nodiscard]] std::string reason(const std::string&) const override {
    return "free: all compete alike";
  }
};

}  // namespace flowcon::ctrl::policy
