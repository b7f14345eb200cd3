// SPDX-License-Identifier: Apache-2.0
// docs/api.md, docs/peers.md and the tables of routes say the same.
#include <fstream>
#include <set>
#include <sstream>

#include "cluster/cluster.h"
#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

using namespace flowcon;

namespace {

ctrl::api::Routes all_rows(test::Host& host) {
  host.config.peers.socket = host.folder.path() + "/peer.sock";
  host.begin();
  const auto cluster = cluster::make_cluster(host.daemon->own_host());
  REQUIRE(cluster.has_value());
  ctrl::api::Routes rows = host.daemon->routes();
  for (ctrl::api::Route& row : (*cluster)->routes()) rows.push_back(std::move(row));
  return rows;
}

std::vector<std::string> lines_of(const std::string& path, const std::string& beginning) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(beginning)) lines.push_back(line);
  }
  return lines;
}

// "GET /v1/x?since=T" and "POST /v1/NAME/pause, resume" are headings of one or more calls.
std::set<std::string> calls_of(const std::string& heading) {
  std::istringstream words(heading);
  std::string method, path, word;
  words >> method >> path;
  std::set<std::string> calls;
  const auto take = [&](std::string one) {
    if (one.ends_with(',')) one.pop_back();
    calls.insert(method + " " + one.substr(0, one.find('?')));
  };
  take(path);
  while (words >> word) {
    take(word.starts_with("/") ? word : path.substr(0, path.rfind('/') + 1) + word);
  }
  return calls;
}

}  // namespace

TEST_CASE("the list of calls in docs/api.md is the table of routes") {
  test::Host host;
  std::vector<std::string> rows;
  for (const ctrl::api::Route& row : all_rows(host)) {
    std::string query;
    for (const ctrl::api::Parameter& one : row.parameters) {
      query += (query.empty() ? "" : ", ") + one.name;
    }
    rows.push_back("| " + row.method + " " + row.path + " | " + query + " | " + row.meaning + " |");
  }
  std::vector<std::string> documented;
  for (const char* beginning : {"| GET ", "| POST "}) {
    for (std::string& line : lines_of(test::source_path("docs/api.md"), beginning)) {
      documented.push_back(std::move(line));
    }
  }
  std::sort(rows.begin(), rows.end());
  std::sort(documented.begin(), documented.end());
  CHECK(documented == rows);
}

TEST_CASE("each call of the table has its section in docs/api.md, and each section its call") {
  test::Host host;
  std::set<std::string> rows, documented;
  for (const ctrl::api::Route& row : all_rows(host)) rows.insert(row.method + " " + row.path);
  for (const std::string& heading : lines_of(test::source_path("docs/api.md"), "## ")) {
    documented.merge(calls_of(heading.substr(3)));
  }
  CHECK(documented == rows);
}

TEST_CASE("docs/peers.md has each verb of the table for peers, and no other") {
  test::Host host;
  host.config.peers.socket = host.folder.path() + "/peer.sock";
  host.begin();
  const auto cluster = cluster::make_cluster(host.daemon->own_host());
  REQUIRE(cluster.has_value());
  std::set<std::string> rows, documented;
  for (const ctrl::api::Route& row : (*cluster)->peer_routes()) {
    rows.insert(row.method + " " + row.path);
  }
  for (const char* beginning : {"`", "- `"}) {
    for (const std::string& line : lines_of(test::source_path("docs/peers.md"), beginning)) {
      const std::string verb = line.substr(std::string(beginning).size(),
                                           line.find('`', 3) - std::string(beginning).size());
      const std::size_t blank = verb.find(' ');
      if (verb.find(" /v1/peer/") != blank || blank == std::string::npos) continue;
      const std::size_t id = verb.find("/ID");
      documented.insert(id == verb.npos ? verb : verb.substr(0, id) + "/NAME");
    }
  }
  CHECK(documented == rows);
}
