// SPDX-License-Identifier: Apache-2.0
// The image transfer by hand, for the integration tests: either half of it against one engine, with
// the stream between the halves as a file.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "cluster/migration/run/image.h"
#include "ctrl/spawn.h"

using namespace flowcon;
using namespace cluster::migration;
using ctrl::Pull;
using ctrl::engine::Client;
using Words = std::vector<std::string>;

namespace {

constexpr const char* kUsage =
    "usage: image_mover info SOCKET IMAGE                      its id and its layers\n"
    "       image_mover there SOCKET ID LAYER...               how many layers are there\n"
    "       image_mover save SOCKET THERE ID LAYER... >STREAM\n"
    "       image_mover load SOCKET THERE MAX-BYTES ID LAYER... <STREAM\n"
    "       image_mover remove SOCKET ID\n";

Async<Result<std::string>> read_stdin() {
  std::string piece(64U << 10, '\0');
  piece.resize(std::fread(piece.data(), 1, piece.size(), stdin));
  co_return piece;
}

Async<Result<void>> write_stdout(Pull pull) {
  for (;;) {
    Result<std::string> piece = co_await pull();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return Result<void>();
    if (std::fwrite(piece->data(), 1, piece->size(), stdout) != piece->size()) {
      co_return errno_error(errno, "writing the stream");
    }
  }
}

ImageInfo image_of(const Words& words, std::size_t first) {
  return {words.at(first), {words.begin() + static_cast<std::ptrdiff_t>(first) + 1, words.end()}};
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Async<Result<void>> run(Client& engine, Words words) {
  const std::string verb = words.at(0);
  if (verb == "info") {
    Result<ImageInfo> image = co_await image_info(engine, words.at(2));
    if (!image) co_return image.error();
    std::cout << image->id;
    for (const std::string& layer : image->layers) std::cout << ' ' << layer;
    std::cout << '\n';
  } else if (verb == "there") {
    ImageInfo image = image_of(words, 2);
    Result<std::size_t> there = co_await layers_there(engine, std::move(image));
    if (!there) co_return there.error();
    std::cout << *there << '\n';
  } else if (verb == "save") {
    ImageInfo image = image_of(words, 3);
    const auto there = static_cast<std::size_t>(number_of(words.at(2)));
    Result<Pull> pull = co_await send_image(engine, std::move(image), there);
    if (!pull) co_return pull.error();
    co_return co_await write_stdout(*pull);
  } else if (verb == "load") {
    ImageInfo image = image_of(words, 4);
    const auto there = static_cast<std::size_t>(number_of(words.at(2)));
    const std::uint64_t most = number_of(words.at(3));
    Pull body = read_stdin;
    co_return co_await take_image(engine, std::move(image), there, std::move(body), most);
  } else if (verb == "remove") {
    co_return co_await remove_image(engine, words.at(2), ImageName::none);
  } else {
    co_return bad_input("no such verb: " + verb);
  }
  co_return Result<void>();
}

Async<void> keep(Client& engine, Words words, std::shared_ptr<std::optional<Result<void>>> result) {
  Result<ctrl::engine::Version> version = co_await engine.ping();
  if (!version) {
    result->emplace(version.error());
    co_return;
  }
  Result<void> done = co_await run(engine, std::move(words));
  result->emplace(std::move(done));
}

}  // namespace

int main(int argc, char** argv) {
  Words words(argv + 1, argv + argc);
  if (words.size() < 3) {
    std::cerr << kUsage;
    return 2;
  }
  boost::asio::io_context io(1);
  Client engine(io, words.at(1));
  auto result = std::make_shared<std::optional<Result<void>>>();
  ctrl::spawn(io, "image_mover", keep(engine, std::move(words), result));
  io.run();
  if (!*result || !**result) {
    std::cerr << "image_mover: " << (*result ? (*result)->error().message() : "no result") << '\n';
    return 1;
  }
  return 0;
}
