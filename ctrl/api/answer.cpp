// SPDX-License-Identifier: Apache-2.0
// Answers by the table. Apart from it, since clang 14 cannot fuzz a file that has coroutines.
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/text.h"
#include "ctrl/api/routes.h"

namespace flowcon::ctrl::api {

Async<Response> answer(const Routes* routes, Request request) {
  Result<std::pair<const Route*, Call>> found = find_route(*routes, request.method, request.target);
  if (!found) {
    const bool is_elsewhere = is_absent(found.error());
    const bool is_otherwise = found.error().code == boost::system::errc::operation_not_supported;
    return at_once(failure(is_elsewhere ? 404 : is_otherwise ? 405 : 422, found.error().what));
  }
  auto& [route, call] = *found;
  call.body = std::move(request.body);
  call.user = request.user;
  return route->answer(std::move(call));
}

Async<Response> answer_peer(const Routes* routes, Request request, std::string peer, Pull body) {
  Result<std::pair<const Route*, Call>> found = find_route(*routes, request.method, request.target);
  if (!found) {
    return at_once(failure(404, "there is no " +
                                    printable(request.method + " " + request.target, 200) +
                                    " for peers; docs/peers.md lists all calls"));
  }
  auto& [route, call] = *found;
  call.body = std::move(request.body);
  call.from = std::move(request.from);
  call.peer = std::move(peer);
  if (route->long_answer) return route->long_answer(std::move(call), std::move(body));
  return route->answer(std::move(call));
}

Async<Response> at_once(Response response) { co_return response; }

}  // namespace flowcon::ctrl::api
