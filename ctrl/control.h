// SPDX-License-Identifier: Apache-2.0
// What people decide about a container while it is under control: pause, pin, and values that take
// the place of its labels'. Pure; kept by the store as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctrl/settings.h"

namespace flowcon::ctrl {

/// A limit that holds whatever the growth. Units: share of the host in (0,1]; `until` in seconds
/// since the epoch, empty = until it is taken back.
struct Pin {
  double limit = 1;
  std::optional<double> until;
  bool operator==(const Pin&) const = default;
};

struct Control {
  bool is_paused = false;
  std::optional<Pin> pin;
  /// As given to `set`, by name without the labels' prefix: weight, floor, ceiling, only-grow.
  std::map<std::string, std::string> values;
  bool operator==(const Control&) const = default;
};

/// For the store; "" where nothing is decided.
[[nodiscard]] std::string render_control(const Control& control);
/// What render_control() gave. Errors: it is not.
[[nodiscard]] Result<Control> parse_control(std::string_view json);

/// The body of `pin`: {"cpu":"0.5","for":"7200"}. Units of `for` and `now`: seconds.
/// Errors: no share, or not one in (0,1]; a time that is not above 0; an unknown member.
[[nodiscard]] Result<Pin> parse_pin(std::string_view json, double now);

/// The body of `set`, put over what was set before; "none" takes a value back.
/// Errors: a value that is wrong or not one of `set`, or none at all; nothing is changed then.
[[nodiscard]] Result<void> merge_values(Control& control, std::string_view json);

/// `labels` with the values of `control` in their place.
[[nodiscard]] Settings with_values(Settings labels, const Control& control);

/// The share that a container is granted where the executor says `decided` and it has `before`:
/// between floor and ceiling (which wins), not less than before where it may only grow, and the
/// pin's where there is one.
[[nodiscard]] double grant(double decided, double before, const Settings& settings,
                           const std::optional<Pin>& pin);

}  // namespace flowcon::ctrl
