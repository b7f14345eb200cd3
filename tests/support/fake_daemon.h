// SPDX-License-Identifier: Apache-2.0
// A flowcond that knows canned answers only: "GET /v1/status" to bytes. For tests of its clients.
#pragma once

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace flowcon::test {

/// A folder that is removed with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string name = "/tmp/flowcon-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Serves one connection after the other on a unix socket until it is destroyed.
class FakeDaemon {
 public:
  /// One request as it came.
  struct Request {
    std::string line;  ///< "POST /v1/containers/vae/adopt"
    std::string body;
  };

  /// `answers`: what answer_raw() would set, from the first request on.
  explicit FakeDaemon(const std::string& socket_path,
                      std::map<std::string, std::string> answers = {})
      : path_(socket_path), answers_(std::move(answers)) {
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (listener_ < 0 || path_.size() >= sizeof address.sun_path || pipe(stop_) != 0) {
      throw std::runtime_error("fake daemon: socket");
    }
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 8) != 0) {
      throw std::runtime_error("fake daemon: bind " + path_);
    }
    thread_ = std::thread([this] { serve(); });
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon() {
    close(stop_[1]);
    thread_.join();
    close(stop_[0]);
    close(listener_);
    unlink(path_.c_str());
  }

  /// The bytes of an answer.
  static std::string canned(int status, const std::string& body) {
    return "HTTP/1.1 " + std::to_string(status) +
           " Canned\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
  }

  /// Answers `line` ("GET /v1/status") with `status` and a JSON `body`; anything else gets 404.
  void answer(const std::string& line, int status, const std::string& body) {
    answer_raw(line, canned(status, body));
  }

  /// Answers `line` so once what it is answered with now has been sent once.
  void then(const std::string& line, int status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    later_[line].push_back(canned(status, body));
  }

  /// Answers `line` with `bytes` as they are. "" = keeps the connection open and sends nothing.
  void answer_raw(const std::string& line, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    answers_[line] = bytes;
  }

  /// As answer(), once the headers have come: before the body, and whatever is in it.
  void answer_early(const std::string& line, int status, const std::string& body) {
    answer(line, status, body);
    const std::lock_guard lock(mutex_);
    early_.insert(line);
  }

  [[nodiscard]] std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  /// Bytes of answers that callers took, or that wait for one in its socket.
  [[nodiscard]] std::size_t sent() const {
    const std::lock_guard lock(mutex_);
    return sent_;
  }

 private:
  void serve() {
    std::vector<int> silent;
    while (wait_for(listener_)) {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) break;
      const Request request = read_request(client);
      std::string bytes =
          "HTTP/1.1 404 Canned\r\nContent-Length: 31\r\nConnection: close\r\n\r\n"
          "{\"error\":\"nothing canned here\"}";
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        const auto found = answers_.find(request.line);
        if (found != answers_.end()) bytes = found->second;
        std::deque<std::string>& later = later_[request.line];
        if (!later.empty()) {
          answers_[request.line] = later.front();
          later.pop_front();
        }
      }
      if (bytes.empty()) {
        silent.push_back(client);
        continue;
      }
      // One that did not come whole, as this is being destroyed, is not answered.
      if (!request.line.empty()) write_all(client, bytes);
      close(client);
    }
    for (const int client : silent) close(client);
  }

  // False where the object is being destroyed.
  [[nodiscard]] bool wait_for(int file) const {
    pollfd waiting[2] = {{file, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    return poll(waiting, 2, -1) > 0 && waiting[1].revents == 0;
  }

  [[nodiscard]] Request read_request(int client) const {
    std::string text;
    std::size_t wanted = std::string::npos;
    std::size_t head = std::string::npos;
    while (text.size() < wanted && wait_for(client)) {
      char buffer[4096];
      const ssize_t got = recv(client, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
      head = text.find("\r\n\r\n");
      if (head == std::string::npos || wanted != std::string::npos) continue;
      if (is_early(text.substr(0, text.find(" HTTP/1.1")))) break;
      if (text.find("Transfer-Encoding: chunked") < head) {
        read_chunks(client, &text, head + 4);
        break;
      }
      const std::size_t length = text.find("Content-Length: ");
      wanted = head + 4 + (length < head ? std::stoul(text.substr(length + 16)) : 0);
    }
    if (head == std::string::npos) return {};
    return {text.substr(0, text.find(" HTTP/1.1")), text.substr(head + 4)};
  }

  [[nodiscard]] bool is_early(const std::string& line) const {
    const std::lock_guard lock(mutex_);
    return early_.count(line) != 0;
  }

  // Up to the empty chunk, or as far as they came; the chunks' own lengths stay in the text.
  void read_chunks(int client, std::string* text, std::size_t body) const {
    const std::string last = "0\r\n\r\n";
    char buffer[4096];
    while (
        (text->size() < body + last.size() || text->substr(text->size() - last.size()) != last) &&
        wait_for(client)) {
      const ssize_t got = recv(client, buffer, sizeof buffer, 0);
      if (got <= 0) return;
      text->append(buffer, static_cast<std::size_t>(got));
    }
  }

  void write_all(int client, const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t sent = send(client, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (sent <= 0) return;
      done += static_cast<std::size_t>(sent);
      const std::lock_guard lock(mutex_);
      sent_ += static_cast<std::size_t>(sent);
    }
  }

  std::string path_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};
  std::thread thread_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> answers_;
  std::map<std::string, std::deque<std::string>> later_;
  std::set<std::string> early_;
  std::size_t sent_ = 0;
  std::vector<Request> requests_;
};

}  // namespace flowcon::test
