// SPDX-License-Identifier: Apache-2.0
// The terminal of `docker flowcon top`, by ncurses: lines out, keys in. Their
// meaning is in state.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cmd/docker-flowcon/top/layout.h"

namespace flowcon::plugin {

class TopScreen {
 public:
  /// Takes the terminal that stdin and stdout are; `has_colors` false draws without color, as does
  /// a terminal that has none. Errors: TERM names none that can be drawn on.
  [[nodiscard]] static Result<std::unique_ptr<TopScreen>> open(const std::string& term,
                                                               bool has_colors);
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;
  /// Gives the terminal back as it was.
  ~TopScreen();

  /// Draws the lines; sends only differences.
  void draw(const std::vector<TopLine>& picture);
  /// Makes the next draw() redraw everything.
  void forget_drawn();
  /// Takes the terminal's size. Returns columns and lines.
  void fit();
  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;
  /// The next key; empty if none is waiting, or it is unknown.
  [[nodiscard]] std::optional<TopKey> read_key();
  /// True after read_key() found the end of the input.
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  /// Gives the terminal back, stops the process as ^Z does, and takes it again when the process
  /// continues.
  void stop();

 private:
  struct Impl;
  explicit TopScreen(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  bool is_gone_ = false;
};

}  // namespace flowcon::plugin
