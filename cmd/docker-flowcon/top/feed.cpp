// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/top/feed.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/json_reader.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/peer/peer.h"

namespace flowcon::plugin {
namespace {

// Each answer comes from another host, so it is asked for less often.
constexpr std::chrono::seconds kPeersEvery{10};
constexpr std::chrono::seconds kPeerTimeout{30};
constexpr unsigned kDecisionsShown = 50;

}  // namespace

struct TopFeed::Shared {
  Shared(DaemonClient client, double seconds, int file)
      : daemon(std::move(client)), interval(seconds), wake_file(dup(file)) {}
  ~Shared() { close(wake_file); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // False where the feed has ended.
  bool tell(TopNews item) {
    const std::lock_guard lock(mutex);
    if (has_ended) return false;
    news.push_back(std::move(item));
    const char byte = 0;
    // A full pipe has a byte in it already.
    return write(wake_file, &byte, 1) <= 1;
  }

  // False where the feed has ended.
  template <class Duration>
  bool wait(Duration time) {
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, time, [this] { return has_ended; });
  }

  const DaemonClient daemon;
  const std::chrono::duration<double> interval;
  const int wake_file;
  std::mutex mutex;
  std::condition_variable changed;
  bool has_ended = false;
  bool is_look_due = false;
  std::deque<TopAction> asked;
  std::vector<TopNews> news;
};

namespace {

// Signals are for the thread that has the terminal.
template <class Work>
void launch(Work work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(std::move(work)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

TopFeed::TopFeed(const DaemonClient& daemon, double interval_seconds, int wake_file)
    : shared_(std::make_shared<Shared>(daemon, interval_seconds, wake_file)) {
  launch([shared = shared_] {
    while (true) {
      TopNews news;
      news.answer = shared->daemon.get("/v1/status?recent=32");
      if (!shared->tell(std::move(news))) return;
      std::unique_lock lock(shared->mutex);
      shared->changed.wait_for(lock, shared->interval,
                               [&] { return shared->has_ended || shared->is_look_due; });
      shared->is_look_due = false;
      if (shared->has_ended) return;
    }
  });
  launch([shared = shared_] {
    const DaemonClient patient(shared->daemon.path(), kPeerTimeout);
    do {
      const Result<boost::json::value> peers = patient.get("/v1/peers");
      if (!peers) continue;
      boost::json::object all;
      for (const boost::json::value& peer : list_of(member(*peers, "peers"))) {
        const std::string name = text_of(member(peer, "name"));
        Result<boost::json::value> status = patient.get(peer_target(name, "status"));
        if (status) all[name] = std::move(*status);
      }
      TopNews news;
      news.kind = TopNews::Kind::peers;
      news.answer = boost::json::value(std::move(all));
      if (!shared->tell(std::move(news))) return;
    } while (shared->wait(kPeersEvery));
  });
  launch([shared = shared_] {
    const DaemonClient patient(shared->daemon.path(), kControlTimeout);
    while (true) {
      std::unique_lock lock(shared->mutex);
      shared->changed.wait(lock, [&] { return shared->has_ended || !shared->asked.empty(); });
      if (shared->has_ended) return;
      TopNews news;
      news.action = std::move(shared->asked.front());
      shared->asked.pop_front();
      lock.unlock();
      const bool is_post = news.action.kind == TopAction::Kind::post;
      const Result<std::string> target =
          container_target(news.action.id, is_post ? news.action.verb : "explain");
      if (!target) {
        news.answer = target.error();
      } else if (is_post) {
        news.answer = patient.post(*target, news.action.body);
      } else {
        news.answer = patient.get(*target + "?last=" + std::to_string(kDecisionsShown));
      }
      news.kind = is_post ? TopNews::Kind::done : TopNews::Kind::explained;
      if (!shared->tell(std::move(news))) return;
      lock.lock();
      // What was changed is to be seen at once.
      shared->is_look_due = shared->is_look_due || is_post;
      shared->changed.notify_all();
    }
  });
}

TopFeed::~TopFeed() {
  const std::lock_guard lock(shared_->mutex);
  shared_->has_ended = true;
  shared_->changed.notify_all();
}

void TopFeed::ask(const TopAction& action) {
  const std::lock_guard lock(shared_->mutex);
  shared_->asked.push_back(action);
  shared_->changed.notify_all();
}

std::vector<TopNews> TopFeed::take_news() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->news, {});
}

}  // namespace flowcon::plugin
