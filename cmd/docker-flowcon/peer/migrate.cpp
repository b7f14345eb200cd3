// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/migrate.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <ostream>
#include <thread>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/peer/peer.h"
#include "cmd/docker-flowcon/text/cells.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

constexpr std::chrono::milliseconds kLook{300};
// Of another host, whose heartbeats wait meanwhile.
constexpr std::chrono::milliseconds kLookThere{1000};
// For flowcond to answer, and how long it may not, while it is restarted.
constexpr std::chrono::seconds kLookTime{10};
constexpr std::chrono::seconds kMostSilence{60};
// Its data is measured before it is known whether it may begin.
constexpr std::chrono::seconds kMeasureTime{600};

int begin_words(const Session& session, const MigrateOptions& options, const std::string& action) {
  const Result<DaemonClient> daemon = find_daemon(session, "migrate");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<std::string> target = container_target(options.container, action);
  if (!target) return report(session.terminal, target.error());
  const auto answer = daemon->post(*target, "");
  if (!answer) return report(session.terminal, answer.error());
  session.terminal.out << options.container << "\n";
  return kDone;
}

std::string body_of(const MigrateOptions& options) {
  json::object body;
  if (!options.host.empty()) body["host"] = options.host;
  if (!options.method.empty()) body["method"] = options.method;
  if (options.dry_run) body["dry_run"] = true;
  return render_json(body);
}

// The move with that id; null where there is none.
json::value find_move(const json::value& answer, const std::string& id) {
  for (const json::value& one : list_of(member(answer, "moves"))) {
    if (text_of(member(one, "id")) == id) return one;
  }
  return nullptr;
}

// Says on stderr where a move is: one line that is written over, or a line a step.
class Progress {
 public:
  explicit Progress(const Session& session) : session_(session) {}

  void show(const json::value& move) {
    const std::string text = move_text(move);
    const std::string step = text_of(member(move, "step"));
    if (session_.terminal.is_err_interactive) {
      session_.terminal.err << "\r\033[K" << fitted(text, session_.terminal.width - 1)
                            << std::flush;
    } else if (step != step_) {
      session_.terminal.err << text << "\n" << std::flush;
    }
    step_ = step;
  }
  void end() {
    if (session_.terminal.is_err_interactive) session_.terminal.err << "\r\033[K" << std::flush;
  }

 private:
  const Session& session_;
  std::string step_;
};

int tell_end(const Session& session, const json::value& move, const std::string& host) {
  const std::string name = printable(text_of(member(move, "name")), 255);
  if (text_of(member(move, "step")) != "done") {
    const std::string why = printable(text_of(member(move, "error")), 500);
    session.terminal.err << name << " was not migrated" << (why.empty() ? "" : ": " + why) << "\n";
    return kFailed;
  }
  const std::optional<double> stopped = real_of(member(move, "stopped_seconds"));
  const std::optional<double> seconds = real_of(member(move, "seconds"));
  session.terminal.err << name << " runs on " << printable(host, 255) << ": "
                       << number_text(seconds.value_or(0), 3) << " s in all"
                       << (stopped ? ", stopped for " + number_text(*stopped, 3) + " s" : "")
                       << ", " << memory_text(real_of(member(move, "bytes"))) << " sent\n";
  session.terminal.out << name << "\n";
  return kDone;
}

// A migration that is followed: `moves` is the call that has it.
struct Followed {
  std::string moves = "/v1/moves";
  std::string id;
  std::string host;
  std::chrono::milliseconds look = kLook;
};

int follow(const Session& session, const DaemonClient& daemon, const Followed& followed) {
  using Clock = std::chrono::steady_clock;
  Progress progress(session);
  Clock::time_point answered = Clock::now();
  for (;;) {
    const auto answer = daemon.with_timeout(kLookTime).get(followed.moves);
    if (!answer) {
      if (Clock::now() - answered < kMostSilence) {
        std::this_thread::sleep_for(followed.look);
        continue;
      }
      progress.end();
      return report(session.terminal, answer.error());
    }
    answered = Clock::now();
    const json::value move = find_move(*answer, followed.id);
    if (move.is_null()) {
      progress.end();
      return report(session.terminal,
                    bad_input("flowcond has no record of the migration any more"));
    }
    if (is_true(member(move, "ended"))) {
      progress.end();
      return tell_end(session, move, followed.host);
    }
    progress.show(move);
    std::this_thread::sleep_for(followed.look);
  }
}

// A migration by the host that `begun` was forwarded to. Where this host cannot ask that one, it
// says so.
int follow_there(const Session& session, const DaemonClient& daemon, Followed followed,
                 const json::value& begun) {
  const std::string there = text_of(member(begun, "forwarded_to"));
  followed.moves = peer_target(there, "moves");
  followed.look = kLookThere;
  const auto answer = daemon.with_timeout(kLookTime).get(followed.moves);
  if (answer) return follow(session, daemon, followed);
  session.terminal.err << "Not waiting (" << printable(answer.error().message(), 400)
                       << "): " << printable(there, 255) << " migrates it to "
                       << printable(followed.host, 255)
                       << ", and docker flowcon cluster there shows it\n";
  session.terminal.out << printable(text_of(member(begun, "name")), 255) << "\n";
  return kDone;
}

// " (120MiB of 2GiB)", of an image of which some layers are there.
std::string missing_text(const json::value& answer) {
  const double image = real_of(member(answer, "image_bytes")).value_or(0);
  const std::optional<double> missing = real_of(member(answer, "missing_bytes"));
  if (!(image > 0)) return "";
  if (!missing || *missing >= image) return " (" + memory_text(image) + " in all)";
  return " (" + memory_text(missing) + " of " + memory_text(image) + ")";
}

// How long the job would stand still; without an earlier migration how long its data takes at most.
std::string stop_text(const json::value& answer) {
  const std::optional<double> stop = real_of(member(answer, "stopped_seconds"));
  if (stop) {
    return "the job would stand still for about " + number_text(*stop, 2) +
           " s, as in the last migrations from here";
  }
  const std::string host = printable(text_of(member(answer, "host")), 255);
  const std::optional<double> bytes = real_of(member(answer, "bytes"));
  const std::optional<double> rate = real_of(member(answer, "rate"));
  std::string out = "how long the job would stand still is not known: none has migrated from here";
  if (!rate || !(*rate > 0)) return out + ", and no transfer to " + host + " was measured";
  if (bytes && *bytes > 0) {
    out += "; its data alone would take at most about " + number_text(*bytes / *rate, 2) +
           " s at the " + rate_text(rate) + " of the last transfer to " + host;
  }
  return out;
}

// "would travel: 25MiB of data; 1 of 5 layers of the image (120MiB of 2GiB); the job would …"
std::string travel_text(const json::value& answer) {
  const std::optional<double> bytes = real_of(member(answer, "bytes"));
  const std::optional<double> layers = real_of(member(answer, "layers"));
  const std::optional<double> there = real_of(member(answer, "layers_there"));
  std::string out;
  const auto add = [&out](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
  if (bytes) add(memory_text(bytes) + " of data");
  if (layers && there && *there < *layers) {
    add(number_text(*layers - *there, 6) + " of " + number_text(*layers, 6) +
        " layers of the image" + missing_text(answer));
  } else if (layers && there) {
    add("nothing of the image, which is there");
  }
  if (!out.empty()) out = "would travel: " + out;
  add(stop_text(answer));
  return out;
}

int tell_rehearsal(const Session& session, const json::value& answer) {
  const std::string host = printable(text_of(member(answer, "host")), 255);
  const json::array& obstacles = list_of(member(answer, "obstacles"));
  for (const json::array* list : {&obstacles, &list_of(member(answer, "notes"))}) {
    for (const json::value& one : *list) {
      session.terminal.err << printable(text_of(one), 500) << "\n";
    }
  }
  if (!obstacles.empty()) return kFailed;
  session.terminal.err << travel_text(answer) << "\n";
  session.terminal.out << host << "\n";
  return kDone;
}

}  // namespace

std::string move_text(const json::value& move) {
  std::string out = printable(text_of(member(move, "step")), 40);
  const std::optional<double> bytes = real_of(member(move, "bytes"));
  const std::optional<double> total = real_of(member(move, "bytes_total"));
  const std::optional<double> rate = real_of(member(move, "rate"));
  if (bytes && *bytes > 0) {
    out += ": " + memory_text(bytes);
    if (total) out += " of at most " + memory_text(total);
    out += ", " + rate_text(rate);
    if (total && rate && *rate > 0 && *total > *bytes) {
      out += ", at most " + number_text(std::ceil((*total - *bytes) / *rate), 6) + " s left";
    }
  }
  const std::string error = printable(text_of(member(move, "error")), 300);
  if (!error.empty()) out += " (" + error + ")";
  return out;
}

void declare_migrate(CLI::App& app, MigrateOptions& options) {
  app.add_option("CONTAINER", options.container)->required();
  app.add_option("HOST", options.host);
  app.add_option(
         "--method", options.method,
         "How to save its state: app or criu (default: by its label flowcon.migrate, else app)")
      ->type_name("string")
      ->check([](const std::string& word) {
        return word == "app" || word == "criu"
                   ? std::string()
                   : "\"" + printable(word, 40) + "\" is neither app nor criu";
      });
  app.add_flag("-n,--dry-run", options.dry_run,
               "Show what would prevent the migration, or which host would take it");
  app.add_flag("-d,--detach", options.detach, "Do not wait until it finishes");
  app.add_flag("--cancel", options.cancel, "Cancel the migration; the container runs on here");
  app.add_flag("--take-back", options.take_back,
               "Restart the container here; only if it certainly does not run on its silent new "
               "host");
  app.add_flag("--keep", options.keep,
               "On the new host: finish the migration; only if the old host is lost for good");
  app.footer(
      "Without HOST the container migrates to the peer with the lowest score. ^C stops waiting, "
      "not the migration.\n\n"
      "Example:  docker flowcon migrate vae gpu2");
}

std::string check_migrate(const MigrateOptions& options) {
  const int single = static_cast<int>(options.cancel) + static_cast<int>(options.take_back) +
                     static_cast<int>(options.keep);
  const bool has_more =
      !options.host.empty() || !options.method.empty() || options.dry_run || options.detach;
  if (single > 1 || (single == 1 && has_more))
    return "--cancel, --take-back and --keep exclude other options";
  return "";
}

int run_migrate(const Session& session, const MigrateOptions& options) {
  if (options.cancel) return begin_words(session, options, "cancel-move");
  if (options.take_back) return begin_words(session, options, "take-back");
  if (options.keep) return begin_words(session, options, "keep");
  const Result<DaemonClient> found = find_daemon(session, "migrate");
  if (!found) return report(session.terminal, found.error());
  const DaemonClient daemon = found->with_timeout(kMeasureTime);
  const Result<std::string> target = container_target(options.container, "migrate");
  if (!target) return report(session.terminal, target.error());
  const auto answer = daemon.post(*target, body_of(options));
  if (!answer && is_timeout(answer.error()) && !options.dry_run) {
    session.terminal.err << "The migration may begin yet: docker flowcon cluster shows it\n";
  }
  if (!answer) return report(session.terminal, answer.error());
  if (options.dry_run) return tell_rehearsal(session, *answer);
  if (options.detach) {
    session.terminal.out << printable(text_of(member(*answer, "name")), 255) << "\n";
    return kDone;
  }
  Followed followed;
  followed.id = text_of(member(*answer, "id"));
  followed.host = text_of(member(*answer, "host"));
  return text_of(member(*answer, "forwarded_to")).empty()
             ? follow(session, daemon, followed)
             : follow_there(session, daemon, std::move(followed), *answer);
}

}  // namespace flowcon::plugin
