// SPDX-License-Identifier: Apache-2.0
// What other hosts recorded of a container that has come here.
#include <algorithm>
#include <limits>

#include "ctrl/store/samples.h"
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {
namespace {

constexpr const char* kDoing = "taking over the records of another host";

Result<void> forget_run(sqlite3* db, const std::string& id) {
  for (const char* sql : {"DELETE FROM samples WHERE run IN (SELECT number FROM runs WHERE id=?)",
                          "DELETE FROM usage WHERE run IN (SELECT number FROM runs WHERE id=?)",
                          "DELETE FROM decisions WHERE run IN (SELECT number FROM runs WHERE id=?)",
                          "DELETE FROM stays WHERE run IN (SELECT number FROM runs WHERE id=?)",
                          "DELETE FROM positions WHERE id=?", "DELETE FROM pasts WHERE id=?",
                          "DELETE FROM runs WHERE id=?"}) {
    Statement drop(db, sql);
    if (auto done = drop.bind(id).run(kDoing); !done) return done;
  }
  return {};
}

// Its last sign: old records are forgotten by it.
double seen(const History& history) {
  double last = history.run.started;
  if (!history.samples.empty()) last = std::max(last, history.samples.back().time);
  if (!history.usage.empty()) last = std::max(last, history.usage.back().time);
  if (!history.stays.empty()) last = std::max(last, history.stays.back().ended);
  return last;
}

Result<std::int64_t> make_run(sqlite3* db, const History& history) {
  Statement put(db,
                "INSERT INTO runs(id,name,image,metric,goal,started,finished,seen,training,"
                "counter,moved) VALUES(?,?,?,?,?,?,NULL,?,'',0,0)");
  const Run& run = history.run;
  put.bind(run.id).bind(run.name).bind(run.image).bind(run.metric).bind(name(run.goal));
  put.bind(run.started).bind(seen(history));
  if (auto done = put.run(kDoing); !done) return done.error();
  return sqlite3_last_insert_rowid(db);
}

}  // namespace

Result<void> Records::forget_history(const std::string& id) {
  Transaction transaction(db_);
  if (auto begun = transaction.begun(kDoing); !begun) return begun.error();
  if (auto done = forget_run(db_, id); !done) return done;
  return transaction.commit(kDoing);
}

Result<void> Records::import_history(const History& history,
                                     const std::optional<LogPosition>& position) {
  Transaction transaction(db_);
  if (auto begun = transaction.begun(kDoing); !begun) return begun.error();
  if (auto done = forget_run(db_, history.run.id); !done) return done;
  Result<std::int64_t> run = make_run(db_, history);
  if (!run) return run.error();
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  if (auto done = SampleWriter(db_).add(*run, history.samples, kNone, kDoing); !done) return done;
  Statement usage(db_, "INSERT INTO usage(run,time,cpu,memory,io,network) VALUES(?,?,?,?,?,?)");
  for (const UsageRow& u : history.usage) {
    usage.bind(*run).bind(u.time).bind(u.cpu).bind(static_cast<std::int64_t>(u.memory));
    usage.bind(u.io).bind(u.network);
    if (auto done = usage.run(kDoing); !done) return done;
  }
  Statement decision(db_, "INSERT INTO decisions VALUES(?,?,?,?,?)");
  for (const DecisionRow& d : history.decisions) {
    decision.bind(*run).bind(d.time).bind(name(d.list)).bind(d.limit).bind(d.growth);
    if (auto done = decision.run(kDoing); !done) return done;
  }
  Statement stay(db_, "INSERT INTO stays(run,host,began,ended) VALUES(?,?,?,?)");
  for (const Stay& s : history.stays) {
    stay.bind(*run).bind(s.host).bind(s.began).bind(s.ended);
    if (auto done = stay.run(kDoing); !done) return done;
  }
  if (position) {
    Statement put(db_, "INSERT OR REPLACE INTO positions VALUES(?,?,?)");
    put.bind(history.run.id).bind(position->log).bind(position->position);
    if (auto done = put.run(kDoing); !done) return done;
  }
  return transaction.commit(kDoing);
}

Result<void> Records::end_run(const std::string& id, double finished,
                              std::optional<std::int64_t> status) {
  Statement put(db_, "UPDATE runs SET finished=?,status=? WHERE id=? AND finished IS NULL");
  return put.bind(finished).bind(status).bind(id).run(kDoing);
}

Result<void> Records::save_past(const std::string& id, const std::string& past) {
  Statement put(db_, "INSERT OR REPLACE INTO pasts VALUES(?,?)");
  return put.bind(id).bind(past).run(kDoing);
}

Result<void> Records::forget_past(const std::string& id) {
  Statement drop(db_, "DELETE FROM pasts WHERE id=?");
  return drop.bind(id).run(kDoing);
}

Result<std::map<std::string, std::string>> Records::pasts() {
  Statement all(db_, "SELECT id,past FROM pasts");
  return all.collect<std::map<std::string, std::string>>(
      "reading the earlier history of migrated jobs", [&] {
        return std::pair<std::string, std::string>{all.text(0), all.text(1)};
      });
}

}  // namespace flowcon::ctrl::store
