// SPDX-License-Identifier: Apache-2.0
// The table of what can be asked (docs/api.md): each endpoint is one row. It finds the row of a
// request, reads its query, and refuses what no row takes.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctrl/api/server.h"
#include "ctrl/async.h"
#include "ctrl/pull.h"

namespace flowcon::ctrl::api {

/// "?last=N": a number from `least` to `most`.
struct Parameter {
  std::string name;
  bool is_whole = true;
  double least = 0;
  double most = 9007199254740992;  // above it a double has not every whole number
};

/// T of "?NAME=T": any number of seconds since the epoch.
[[nodiscard]] Parameter moment(std::string name);
[[nodiscard]] inline Parameter since() { return moment("since"); }

/// A request as its row reads it.
struct Call {
  std::string name;                     ///< what NAME in the row's path stands for, decoded
  std::map<std::string, double> query;  ///< the parameters that were given
  std::string body;
  unsigned user = 0;  ///< who asks
  std::string from;   ///< or which peer, by the name that it has here
  std::string peer;   ///< and its id; "" = it has not been reached from here yet

  template <class Number = double>
  [[nodiscard]] Number number(const std::string& parameter, Number otherwise) const {
    const auto given = query.find(parameter);
    return given == query.end() ? otherwise : static_cast<Number>(given->second);
  }
};

using Answer = std::function<Async<Response>(Call)>;
/// Takes the body as it comes; Call::body is empty.
using LongAnswer = std::function<Async<Response>(Call, Pull)>;

struct Route {
  std::string method;
  std::string path;     ///< "/v1/containers/NAME/pause"; NAME is any name
  std::string meaning;  ///< one sentence, as docs/api.md has it
  std::vector<Parameter> parameters;
  Answer answer;
  LongAnswer long_answer = {};  ///< instead, where the body may have more than kMaxBody
};

using Routes = std::vector<Route>;

[[nodiscard]] Route get(std::string path, std::string meaning, Answer answer,
                        std::vector<Parameter> parameters = {});
[[nodiscard]] Route post(std::string path, std::string meaning, Answer answer);
[[nodiscard]] Route with_long_body(std::string method, std::string path, std::string meaning,
                                   LongAnswer answer);

/// A row's answer by a method of `part`, which has to outlive it.
template <class Part>
[[nodiscard]] Answer by(Part& part, Async<Response> (Part::*method)(Call)) {
  return [&part, method](Call call) { return (part.*method)(std::move(call)); };
}

/// The row of a request and what it reads there, without the body and the user.
/// Errors: ENOENT no row has the address; EOPNOTSUPP it has another method; else what is wrong with
/// the name or the query.
[[nodiscard]] Result<std::pair<const Route*, Call>> find_route(const Routes& routes,
                                                               const std::string& method,
                                                               const std::string& target);

/// Is the row of the request one with a long body?
[[nodiscard]] bool has_long_body(const Routes& routes, const Request& request);

/// What the row of the request answers; 404, 405 or 422 where find_route() finds none.
[[nodiscard]] Async<Response> answer(const Routes* routes, Request request);

/// The same for what a peer asks (docs/peers.md), `peer` being its id; 404 where no row takes it.
/// `body`: of a row with a long one.
[[nodiscard]] Async<Response> answer_peer(const Routes* routes, Request request, std::string peer,
                                          Pull body = nullptr);

/// For a row that knows its answer without waiting.
[[nodiscard]] Async<Response> at_once(Response response);

}  // namespace flowcon::ctrl::api
