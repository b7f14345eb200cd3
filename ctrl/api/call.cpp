// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/call.h"

#include <charconv>

#include "base/text.h"

namespace flowcon::ctrl::api {
namespace {

// "%2F" and the like in a path segment. Errors: cut or not hexadecimal.
Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::string_view hex = text.substr(i + 1, 2);
    unsigned byte = 0;
    const char* end = hex.data() + hex.size();
    if (hex.size() != 2 || std::from_chars(hex.data(), end, byte, 16).ptr != end) {
      return bad_input("the address has a % without two hexadecimal digits");
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

Result<std::size_t> last_of(std::string_view query) {
  std::size_t last = 0;
  const char* end = query.data() + query.size();
  if (query.rfind("last=", 0) != 0 ||
      std::from_chars(query.data() + 5, end, last) != std::from_chars_result{end, std::errc()} ||
      last < 1 || last > 1000) {
    return bad_input("explain takes ?last=N, N from 1 to 1000");
  }
  return last;
}

}  // namespace

Result<Call> parse_call(const std::string& method, const std::string& target) {
  Call call;
  const std::size_t question = target.find('?');
  const std::string path = target.substr(0, question);
  const std::size_t slash = path.rfind('/');
  const std::string_view version = "/v1/", containers = "/v1/containers/";
  if (path.rfind(containers, 0) == 0 && slash > containers.size()) {
    Result<std::string> name = percent_decoded(
        std::string_view(path).substr(containers.size(), slash - containers.size()));
    if (!name) return name.error();
    call.container = *name;
  } else if (path.rfind(version, 0) != 0 || slash + 1 != version.size()) {
    return errno_error(ENOENT, "there is nothing at " + printable(path, 200) +
                                   "; docs/api.md lists what there is");
  }
  const std::string word = path.substr(slash + 1);
  if (word == "explain" && question != std::string::npos) {
    Result<std::size_t> last = last_of(std::string_view(target).substr(question + 1));
    if (!last) return last.error();
    call.last = *last;
  }
  call.verb = method + " " + word;
  return call;
}

}  // namespace flowcon::ctrl::api
