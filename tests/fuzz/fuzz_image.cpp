// SPDX-License-Identifier: Apache-2.0
// Images from peers. The first byte says how the stream is cut, the rest is the stream. Sums of
// headers are set right, and the image is the one whose configuration and layers the stream has, so
// that more than the first refusal is seen. Cut or whole, what is said and what the engine gets are
// the same, and no name but ours gets there.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "cluster/migration/plan/load_filter.h"
#include "tests/fuzz/tar_sums.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::migration;

std::string sum(std::string_view bytes) {
  flowcon::Sha256 made;
  made.feed(bytes);
  return "sha256:" + made.finish();
}

// What a peer could promise for this stream.
ImageInfo promise_for(std::string_view stream) {
  ImageInfo image{"sha256:" + std::string(64, '0'), {}};
  TarReader reader(TarExtensions::none);
  std::string content;
  bool is_config = false;
  for (;;) {
    const auto step = reader.next(stream);
    if (!step || step->kind == TarStep::Kind::more) return image;
    if (step->kind == TarStep::Kind::entry) {
      is_config = step->header.name == "config.json";
      content.clear();
    }
    content += step->bytes;
    if (step->kind != TarStep::Kind::end) continue;
    if (is_config) image.id = sum(content);
    if (!is_config && image.layers.size() < kMaxLayers) image.layers.push_back(sum(content));
  }
}

struct Outcome {
  std::string error;
  std::string out;
};

Outcome outcome(const ImageInfo& image, std::string_view stream, std::size_t cut) {
  LoadFilter filter(image, 0, 1U << 20);
  Outcome made;
  for (std::size_t at = 0; at < stream.size(); at += cut) {
    const auto out = filter.feed(stream.substr(at, cut));
    if (!out) return {out.error().message(), ""};
    made.out += *out;
  }
  const auto last = filter.finish();
  if (!last) return {last.error().message(), ""};
  made.out += *last;
  return made;
}

// Every entry that the engine gets is a plain file with a name of ours.
void check_names(std::string_view archive) {
  TarReader reader(TarExtensions::none);
  for (;;) {
    const auto step = reader.next(archive);
    if (!step) std::abort();
    if (step->kind == TarStep::Kind::more) break;
    if (step->kind != TarStep::Kind::entry) continue;
    const std::string& name = step->header.name;
    const bool is_ours = name == "config.json" || name == "manifest.json" ||
                         (name.rfind("layer-", 0) == 0 && name.find('/') == std::string::npos);
    if (!is_ours || step->header.type != TarType::file) std::abort();
  }
  if (!reader.is_whole()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t cut = static_cast<std::size_t>(data[0]) * 5 + 1;
  std::string stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  set_sums(stream);
  const ImageInfo image = promise_for(stream);
  const Outcome whole = outcome(image, stream, stream.size());
  const Outcome pieces = outcome(image, stream, cut);
  if (whole.error != pieces.error || whole.out != pieces.out) std::abort();
  if (whole.error.empty()) check_names(whole.out);
  return 0;
}
