// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/image_facts.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/engine/client.h"

namespace flowcon::cluster::queue {
namespace {

using ctrl::engine::Client;

constexpr std::size_t kLongest = 4096;

std::string words_of(const boost::json::value& list) {
  std::string text;
  for (const boost::json::value& word : list_of(list)) {
    if (!word.is_string() || text.size() >= kLongest) break;
    text += (text.empty() ? "" : " ") + text_of(word);
  }
  return text.substr(0, kLongest);
}

}  // namespace

Result<ImageFacts> parse_image_facts(std::string_view text) {
  const Result<boost::json::value> parsed = parse_json(text);
  if (!parsed) return parsed.error();
  ImageFacts facts;
  facts.digest = text_of(*parsed, "Id");
  if (facts.digest.empty()) return bad_input("the engine describes an image without an id");
  const boost::json::value& config = member(*parsed, "Config");
  facts.entrypoint = words_of(member(config, "Entrypoint"));
  facts.command = words_of(member(config, "Cmd"));
  std::size_t bytes = 0;
  for (const boost::json::value& variable : list_of(config, "Env")) {
    const std::string both = text_of(variable);
    const std::size_t equals = both.find('=');
    bytes += both.size();
    if (equals == std::string::npos || bytes > kLongest) continue;
    facts.environment.emplace_back(both.substr(0, equals), both.substr(equals + 1));
  }
  return facts;
}

Async<Result<ImageFacts>> image_facts(Client& engine, std::string image) {
  const Result<std::string> seen =
      co_await engine.get("/images/" + percent_encoded(image) + "/json", "asking for an image",
                          ctrl::engine::kAnswerTime);
  if (!seen) co_return seen.error();
  co_return parse_image_facts(*seen);
}

}  // namespace flowcon::cluster::queue
