// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/store.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "ctrl/store/samples.h"
#include "ctrl/store/statement.h"

namespace flowcon::ctrl::store {
namespace {

constexpr std::size_t kMostExplained = 8U << 20;  // bytes of states and decisions
constexpr std::size_t kMostSearched = 16U << 20;  // the same, of all rounds that are looked through
constexpr double kLastRound = 60;  // seconds after a run's end; the round without it comes later

constexpr int kStepsAtBound = 50;

List list_from(const std::string& text) {
  return text == "CL" ? List::cl : text == "WL" ? List::wl : List::nl;
}

std::int64_t as_integer(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::optional<std::int64_t> as_integer(const std::optional<std::uint64_t>& number) {
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

// {"8:0":[read, written, read operations, written operations]}, null = no cap; "" = no caps.
std::string text_of(const std::map<std::string, cgroups::IoCap>& caps) {
  if (caps.empty()) return "";
  boost::json::object all;
  const auto cap = [](const std::optional<std::uint64_t>& value) {
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
  };
  for (const auto& [device, c] : caps) {
    all[device] = boost::json::array{cap(c.read_bytes), cap(c.written_bytes), cap(c.read_ops),
                                     cap(c.written_ops)};
  }
  return render_json(all);
}

std::map<std::string, cgroups::IoCap> caps_from(const std::string& text) {
  std::map<std::string, cgroups::IoCap> caps;
  Result<boost::json::value> all = parse_json(text);
  if (!all || !all->is_object()) return caps;
  for (const auto& member : all->get_object()) {
    if (!member.value().is_array() || member.value().get_array().size() != 4) continue;
    const boost::json::array& values = member.value().get_array();
    const auto cap = [&values](std::size_t i) {
      return values[i].is_number() ? std::optional(values[i].to_number<std::uint64_t>())
                                   : std::nullopt;
    };
    caps[std::string(member.key().data(), member.key().size())] = {cap(0), cap(1), cap(2), cap(3)};
  }
  return caps;
}

Run run_from(const Statement& row) {
  Run run;
  run.id = row.text(1);
  run.name = row.text(2);
  run.image = row.text(3);
  run.metric = row.text(4);
  run.goal = row.text(5) == "max" ? Goal::max : Goal::min;
  run.started = row.number(6);
  run.finished = row.number_if(7);
  run.training = row.text(8);
  run.has_counter = row.integer(9) != 0;
  run.has_moved = row.integer(10) != 0;
  run.status = row.integer_if(11);
  return run;
}

// When these were recorded.
double time_of(const std::vector<Look>& looks, const std::vector<Round>& rounds) {
  double last = -std::numeric_limits<double>::infinity();
  for (const Look& look : looks) {
    if (look.usage) last = std::max(last, look.usage->time);
  }
  for (const Round& round : rounds) last = std::max(last, round.time);
  return last;
}

constexpr const char* kRecording = "recording a sample";

constexpr const char* kPutRun =
    "INSERT INTO runs(id,name,image,metric,goal,started,finished,seen,training,"
    "counter,moved,status) VALUES(?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET "
    "name=excluded.name,metric=excluded.metric,goal=excluded.goal,"
    "training=excluded.training,counter=max(runs.counter,excluded.counter),"
    // One that came from another host began there.
    "started=CASE WHEN EXISTS(SELECT 1 FROM stays WHERE run=runs.number) "
    "THEN min(runs.started,excluded.started) ELSE excluded.started END,"
    "finished=excluded.finished,moved=excluded.moved,seen=excluded.seen,status=excluded.status "
    "RETURNING number";

Result<std::int64_t> put_run(Statement& put, const Run& run, double seen) {
  put.bind(run.id).bind(run.name).bind(run.image).bind(run.metric).bind(name(run.goal));
  put.bind(run.started).bind(run.finished).bind(seen).bind(run.training);
  put.bind(std::int64_t{run.has_counter ? 1 : 0}).bind(std::int64_t{run.has_moved ? 1 : 0});
  put.bind(run.status);
  Result<bool> row = put.step(kRecording);
  if (!row) return row.error();
  const std::int64_t number = put.integer(0);
  // The statement must reach its end for the change to count.
  if (auto end = put.run(kRecording); !end) return end.error();
  return number;
}

// By full id, else the latest run of that name.
Result<Run> find_run(sqlite3* db, const std::string& wanted, std::int64_t* number) {
  Statement find(
      db,
      "SELECT number,id,name,image,metric,goal,started,finished,training,counter,moved,"
      "status FROM runs WHERE id=?1 OR name=?1 ORDER BY id=?1 DESC, started DESC LIMIT 1");
  Result<bool> row = find.bind(wanted).step("reading the history");
  if (!row) return row.error();
  if (!*row) return errno_error(ENOENT, "no records of that container");
  *number = find.integer(0);
  return run_from(find);
}

// Time of the last sample kept of a run; minus infinity where there is none.
Result<double> last_kept(sqlite3* db, std::int64_t run) {
  Statement ask(db, "SELECT max(until) FROM samples WHERE run=?");
  Result<bool> row = ask.bind(run).step(kRecording);
  if (!row) return row.error();
  const std::optional<double> last = *row ? ask.number_if(0) : std::nullopt;
  return last.value_or(-std::numeric_limits<double>::infinity());
}

// The rounds that speak of a run, the latest first.
class RoundSearch {
 public:
  // `are_between_hosts`: only those that are about no resource of a host.
  RoundSearch(sqlite3* db, std::int64_t run, std::size_t count, bool are_between_hosts,
              Explained& found)
      : db_(db),
        run_(run),
        count_(count),
        are_between_hosts_(are_between_hosts),
        found_(found),
        id_("\"" + found.run.id + "\"") {}

  // From `from` until `until`, as far as kMostSearched goes.
  Result<void> read(double from, double until) {
    Statement all(db_,
                  "SELECT time,algorithm,resource,state,decision FROM rounds "
                  "WHERE time>=? AND time<=? ORDER BY time DESC, rowid DESC");
    all.bind(from).bind(until);
    std::size_t searched = 0;
    while (found_.rounds.size() < count_) {
      found_.is_cut = found_.is_cut || searched > kMostSearched || bytes_ > kMostExplained;
      if (searched > kMostSearched || bytes_ > kMostExplained) break;
      const Result<bool> row = all.step(kDoing);
      if (!row) return row.error();
      if (!*row) break;
      const std::string_view state = all.bytes(3), decision = all.bytes(4);
      const std::size_t bytes = state.size() + decision.size();
      searched += bytes;
      if (are_between_hosts_ && !all.bytes(2).empty()) continue;
      // An id is what an engine gave: letters and digits, so it is in the JSON as it is here.
      if (state.find(id_) == state.npos && decision.find(id_) == decision.npos) continue;
      bytes_ += bytes;
      take({all.number(0), all.text(1), all.text(2), all.text(3), all.text(4)});
    }
    return {};
  }

 private:
  // With the run's decision of that round, and the last one before it on another list.
  void take(Round round) {
    ExplainedRound one;
    one.round = std::move(round);
    Result<bool> row = at_.bind(run_).bind(one.round.time).step(kDoing);
    if (row && *row && one.round.resource == "cpu") {
      one.granted = at_.number(1);
      row = since_.bind(run_).bind(one.round.time).bind(at_.text(0)).step(kDoing);
      if (row && *row) one.since = since_.number_if(0);
    }
    at_.reset();
    since_.reset();
    found_.rounds.push_back(std::move(one));
  }

  static constexpr const char* kDoing = "reading decisions";
  sqlite3* db_;
  std::int64_t run_;
  std::size_t count_;
  bool are_between_hosts_;
  Explained& found_;
  std::string id_;
  std::size_t bytes_ = 0;  // of those that were found
  Statement at_{db_, "SELECT list,share FROM decisions WHERE run=? AND time=?"};
  Statement since_{
      db_,
      "SELECT min(time) FROM decisions WHERE run=?1 AND time>coalesce((SELECT max(time) "
      "FROM decisions WHERE run=?1 AND time<=?2 AND list<>?3),0)"};
};

}  // namespace

Result<void> Journal::save_originals(const std::vector<Original>& originals) {
  const std::string doing = "saving original limits";
  // With the power the control groups go, too.
  const Brief brief(journal_);
  Transaction transaction(journal_);
  if (auto begun = transaction.begun(doing); !begun) return begun.error();
  Statement put(journal_,
                "INSERT OR REPLACE INTO originals(id,name,cpu,cpuacct,memory,scope,io,weight,"
                "quota_us,period_us,soft_bytes,io_weight,io_caps,life,has_all_limits) "
                "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (const Original& o : originals) {
    put.bind(o.id).bind(o.name).bind(o.group.cpu).bind(o.group.cpuacct).bind(o.group.memory);
    put.bind(o.group.scope).bind(o.group.io).bind(as_integer(o.setting.cpu.weight));
    put.bind(o.setting.cpu.quota_us).bind(as_integer(o.setting.cpu.period_us));
    put.bind(as_integer(o.setting.memory.soft_bytes)).bind(as_integer(o.setting.io.weight));
    put.bind(text_of(o.setting.io.caps)).bind(o.life);
    put.bind(static_cast<std::int64_t>(o.has_all_limits));
    if (Result<void> done = put.run(doing); !done) return done;
  }
  Result<void> saved = transaction.commit(doing);
  if (saved) {
    for (const Original& o : originals) unforgotten_.erase(o.id);
  }
  return saved;
}

Result<void> Journal::forget_original(const std::string& id) {
  unforgotten_.insert(id);
  return forget_unforgotten();
}

Result<void> Journal::forget_unforgotten() {
  const Brief brief(journal_);
  Statement drop(journal_, "DELETE FROM originals WHERE id=?");
  while (!unforgotten_.empty()) {
    Result<void> dropped = drop.bind(*unforgotten_.begin()).run("forgetting an original limit");
    if (!dropped) return dropped;
    unforgotten_.erase(unforgotten_.begin());
  }
  return {};
}

Result<std::vector<Original>> Journal::originals() {
  Statement all(journal_,
                "SELECT id,name,cpu,cpuacct,memory,scope,io,weight,quota_us,period_us,soft_bytes,"
                "io_weight,io_caps,life,has_all_limits FROM originals");
  return all.collect<std::vector<Original>>("reading original limits", [&] {
    Original o;
    o.id = all.text(0);
    o.name = all.text(1);
    o.group.cpu = all.text(2);
    o.group.cpuacct = all.text(3);
    o.group.memory = all.text(4);
    o.group.scope = all.text(5);
    o.group.io = all.text(6);
    o.setting.cpu.weight = static_cast<std::uint64_t>(all.integer(7));
    o.setting.cpu.quota_us = all.integer_if(8);
    o.setting.cpu.period_us = static_cast<std::uint64_t>(all.integer(9));
    o.setting.memory.soft_bytes = all.integer_if(10);
    o.setting.io.weight = all.integer_if(11);
    o.setting.io.caps = caps_from(all.text(12));
    o.life = all.text(13);
    o.has_all_limits = all.integer(14) != 0;
    return o;
  });
}

Result<void> Journal::save_choice(const Choice& choice) {
  Statement put(journal_,
                "INSERT OR REPLACE INTO choices(id,released,settings,control) VALUES(?,?,?,?)");
  put.bind(choice.id).bind(static_cast<std::int64_t>(choice.released)).bind(choice.settings);
  put.bind(choice.control);
  return put.run("saving a choice");
}

Result<void> Journal::forget_choice(const std::string& id) {
  Statement drop(journal_, "DELETE FROM choices WHERE id=?");
  return drop.bind(id).run("forgetting a choice");
}

Result<std::vector<Choice>> Journal::choices() {
  Statement all(journal_, "SELECT id,released,settings,control FROM choices");
  return all.collect<std::vector<Choice>>("reading choices", [&] {
    return Choice{all.text(0), all.integer(1) != 0, all.text(2), all.text(3)};
  });
}

Result<std::map<std::string, LogPosition>> Records::positions() {
  Statement all(db_, "SELECT id,log,position FROM positions");
  return all.collect<std::map<std::string, LogPosition>>("reading how far logs were read", [&] {
    return std::pair<std::string, LogPosition>{all.text(0), {all.text(1), all.text(2)}};
  });
}

Result<void> Records::record(const std::vector<Look>& looks, const std::vector<Round>& rounds) {
  const auto is_full = [](const Result<void>& result) {
    return !result && result.error().code == boost::system::errc::no_space_on_device;
  };
  Result<void> recorded = record_once(looks, rounds);
  if (is_full(recorded)) {
    sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    recorded = record_once(looks, rounds);
  }
  for (int step = 0; is_full(recorded) && step < kStepsAtBound; ++step) {
    const Result<bool> more = make_room(time_of(looks, rounds));
    // The disk is full, not the records: what is there stays.
    if (!more || !*more) break;
    recorded = record_once(looks, rounds);
  }
  if (!recorded) note_damage(recorded.error());
  return recorded;
}

Result<void> Records::record_once(const std::vector<Look>& looks,
                                  const std::vector<Round>& rounds) {
  Transaction transaction(db_);
  if (auto begun = transaction.begun("recording"); !begun) return begun.error();
  Statement put(db_, kPutRun);
  Statement position(db_, "INSERT OR REPLACE INTO positions VALUES(?,?,?)");
  SampleWriter samples(db_);
  Statement usage(db_, "INSERT INTO usage(run,time,cpu,memory,io,network) VALUES(?,?,?,?,?,?)");
  Statement decision(db_, "INSERT INTO decisions VALUES(?,?,?,?,?)");
  for (const Look& look : looks) {
    double seen = look.run.finished.value_or(look.run.started);
    if (look.usage) seen = std::max(seen, look.usage->time);
    Result<std::int64_t> run = put_run(put, look.run, seen);
    if (!run) return run.error();
    if (look.is_other_series) {
      Statement drop(db_, "DELETE FROM samples WHERE run=?");
      if (auto done = drop.bind(*run).run(kRecording); !done) return done;
    }
    double kept_until = -std::numeric_limits<double>::infinity();
    if (look.is_reread) {
      Result<double> last = last_kept(db_, *run);
      if (!last) return last.error();
      kept_until = *last;
    }
    if (auto done = samples.add(*run, look.samples, kept_until, kRecording); !done) return done;
    if (look.usage) {
      usage.bind(*run).bind(look.usage->time).bind(look.usage->cpu);
      usage.bind(static_cast<std::int64_t>(look.usage->memory));
      usage.bind(look.usage->io).bind(look.usage->network);
      if (auto done = usage.run(kRecording); !done) return done;
    }
    if (look.position) {
      position.bind(look.run.id).bind(look.position->log).bind(look.position->position);
      if (auto done = position.run(kRecording); !done) return done;
    }
    if (look.decision) {
      decision.bind(*run).bind(look.decision->time).bind(name(look.decision->list));
      decision.bind(look.decision->limit).bind(look.decision->growth);
      if (auto done = decision.run(kRecording); !done) return done;
    }
  }
  Statement round(db_,
                  "INSERT INTO rounds(time,algorithm,resource,state,decision) VALUES(?,?,?,?,?)");
  for (const Round& r : rounds) {
    round.bind(r.time).bind(r.algorithm).bind(r.resource).bind(r.state).bind(r.decision);
    if (auto done = round.run(kRecording); !done) return done;
  }
  return transaction.commit(kRecording);
}

Result<RunPage> Records::runs(double since, RunPlace after, std::size_t most_bytes) {
  constexpr std::size_t kNumbers = 200;  // bytes that they take beside its texts, about
  Statement all(
      db_,
      "SELECT number,id,name,image,metric,goal,started,finished,training,counter,moved,status FROM "
      "runs "
      "WHERE seen>=?1 AND (started>?2 OR (started=?2 AND number>?3)) "
      "ORDER BY started,number");
  all.bind(since).bind(after.started).bind(after.number);
  RunPage page;
  page.last = after;
  for (std::size_t bytes = 0;;) {
    Result<bool> row = all.step("reading the runs");
    if (!row) return row.error();
    if (!*row) return page;
    page.has_more = bytes >= most_bytes;
    if (page.has_more) return page;
    page.runs.push_back(run_from(all));
    const Run& run = page.runs.back();
    page.last = {run.started, all.integer(0)};
    bytes += run.id.size() + rendered_size(run.name) + rendered_size(run.image) +
             rendered_size(run.metric) + rendered_size(run.training) + kNumbers;
  }
}

Result<RoundPage> Records::rounds(double since, std::int64_t after, std::size_t most_bytes) {
  Statement all(db_,
                "SELECT rowid,time,algorithm,resource,state,decision FROM rounds "
                "WHERE time>=?1 AND (time>?1 OR rowid>?2) ORDER BY time,rowid");
  all.bind(since).bind(after);
  RoundPage page;
  page.after = after;
  for (std::size_t bytes = 0;;) {
    Result<bool> row = all.step("reading decisions");
    if (!row) return row.error();
    if (!*row) return page;
    page.has_more = bytes >= most_bytes;
    if (page.has_more) return page;
    page.after = all.integer(0);
    page.rounds.push_back({all.number(1), all.text(2), all.text(3), all.text(4), all.text(5)});
    bytes += page.rounds.back().state.size() + page.rounds.back().decision.size();
  }
}

// Of more than kMostShown rows each second one, each third one, … and the last one.
class Records::Thinner {
 public:
  explicit Thinner(std::int64_t rows) : left_(rows), step_((rows + kMostShown - 1) / kMostShown) {}
  [[nodiscard]] bool keeps() {
    --left_;
    return step_ <= 1 || left_ % step_ == 0;
  }

 private:
  static constexpr std::int64_t kMostShown = 100'000;
  std::int64_t left_;
  std::int64_t step_;
};

Result<Records::Thinner> Records::thinner_of(const char* counted, std::int64_t run, double since) {
  Statement count(db_, std::string("SELECT ") + counted + ">=?");
  count.bind(run).bind(since);
  const Result<bool> row = count.step("reading the history");
  if (!row) return row.error();
  return Thinner(count.integer(0));
}

Result<History> Records::history(const std::string& wanted, double since) {
  const std::string doing = "reading the history";
  History history;
  std::int64_t number = 0;
  Result<Run> run = find_run(db_, wanted, &number);
  if (!run) return run.error();
  history.run = *run;

  Result<Thinner> thinner =
      thinner_of("sum(count) FROM samples WHERE run=? AND until", number, since);
  if (!thinner) return thinner.error();
  Statement samples(db_, "SELECT packed FROM samples WHERE run=? AND until>=? ORDER BY time,rowid");
  samples.bind(number).bind(since);
  Result<void> read = samples.each(doing, [&] {
    for (const Sample& sample : unpacked(samples.bytes(0))) {
      if (thinner->keeps() && sample.time >= since) history.samples.push_back(sample);
    }
  });
  if (!read) return read.error();
  thinner = thinner_of("count(*) FROM usage WHERE run=? AND time", number, since);
  if (!thinner) return thinner.error();
  Statement usage(db_,
                  "SELECT time,cpu,memory,io,network FROM usage WHERE run=? AND time>=? "
                  "ORDER BY time");
  usage.bind(number).bind(since);
  read = usage.each(doing, [&] {
    if (!thinner->keeps()) return;
    history.usage.push_back({usage.number(0), usage.number(1),
                             static_cast<std::uint64_t>(usage.integer(2)), usage.number_if(3),
                             usage.number_if(4)});
  });
  if (!read) return read.error();
  thinner = thinner_of("count(*) FROM decisions WHERE run=? AND time", number, since);
  if (!thinner) return thinner.error();
  Statement decisions(db_,
                      "SELECT time,list,share,growth FROM decisions WHERE run=?1 AND time>="
                      "coalesce((SELECT max(time) FROM decisions WHERE run=?1 AND time<=?2),?2) "
                      "ORDER BY time");
  decisions.bind(number).bind(since);
  read = decisions.each(doing, [&] {
    if (!thinner->keeps()) return;
    history.decisions.push_back({decisions.number(0), list_from(decisions.text(1)),
                                 decisions.number(2), decisions.number_if(3)});
  });
  if (!read) return read.error();
  Statement stays(db_, "SELECT host,began,ended FROM stays WHERE run=? ORDER BY began,rowid");
  stays.bind(number);
  read = stays.each(doing, [&] {
    history.stays.push_back({stays.text(0), stays.number(1), stays.number(2)});
  });
  if (!read) return read.error();
  return history;
}

Result<Explained> Records::explained(const std::string& wanted, std::size_t count,
                                     std::optional<double> since) {
  std::int64_t number = 0;
  Result<Run> run = find_run(db_, wanted, &number);
  Explained explained;
  if (run) {
    explained.run = *run;
  } else if (since && is_absent(run.error())) {
    explained.run.id = wanted;
  } else {
    return run.error();
  }
  RoundSearch search(db_, number, count, since.has_value(), explained);
  // Later ones do not speak of it, and there may be a month of them to read through. Of one that
  // has moved those between hosts do.
  double last = std::numeric_limits<double>::max();
  if (!since && run->finished) {
    const double end = *run->finished + kLastRound;
    const double behind = std::nextafter(end, last);
    Result<void> later = run->has_moved ? search.read(behind, last) : Result<void>();
    if (!later) return later.error();
    explained.is_cut = false;  // what is older than that is searched next
    last = end;
  }
  const double first = since ? *since : run->started;
  if (Result<void> read = search.read(first, last); !read) return read.error();
  std::reverse(explained.rounds.begin(), explained.rounds.end());
  return explained;
}

}  // namespace flowcon::ctrl::store
