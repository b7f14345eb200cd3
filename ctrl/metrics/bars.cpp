// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/bars.h"

namespace flowcon::ctrl::metrics {

BarSeen Bars::read(const Bar& bar, std::uint64_t title, std::uint64_t line, bool is_work) {
  BarSeen seen;
  seen.is_finished = bar.done >= bar.total;
  seen.is_same =
      seen.is_finished && was_partial_ && was_finished_ && title_ == title && line_ + 1 == line;
  // Keras draws it again below what a callback printed: "Epoch 4: val_loss improved".
  const bool is_again = has_epochs_ && was_finished_ && title_ == title && batches_ == bar.total;
  seen.is_same = seen.is_same || (seen.is_finished && is_again);
  line_ = line;
  title_ = title;
  was_finished_ = seen.is_finished;
  was_partial_ = was_partial_ || !seen.is_finished;
  if (has_epochs_ && batches_ == 0 && seen.is_finished && is_work) batches_ = bar.total;
  if (has_epochs_ && batches_ > 0 && bar.total != batches_) seen.phase = Phase::eval;
  return seen;
}

}  // namespace flowcon::ctrl::metrics
