// SPDX-License-Identifier: Apache-2.0
// The decoder of each format.
#include "ctrl/logs/framing.h"
#include "ctrl/logs/framing_decoder.h"
#include "ctrl/logs/framing_local.h"
#include "ctrl/logs/framing_tfevents.h"

namespace flowcon::ctrl::logs {

std::unique_ptr<Decoder> make_decoder(Format format, LineSink sink) {
  switch (format) {
    case Format::json_file:
      return std::make_unique<JsonFileDecoder>(std::move(sink));
    case Format::local:
      return std::make_unique<LocalDecoder>(std::move(sink));
    case Format::text:
      return std::make_unique<TextDecoder>(std::move(sink));
    case Format::tfevents:
      break;
  }
  return std::make_unique<TfeventsDecoder>(std::move(sink));
}

}  // namespace flowcon::ctrl::logs
