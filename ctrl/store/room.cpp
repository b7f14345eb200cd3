// SPDX-License-Identifier: Apache-2.0
// Records that go: by their age, and where the file has reached its bound. All in short steps,
// since other work waits for the same thread; whoever asks comes again.
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ctrl/store/samples.h"
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {
namespace {

constexpr const char* kDoing = "forgetting old records";
constexpr double kFull = 0.9;     // of the bound; what comes in one transaction has to fit above
constexpr double kSlice = 64;     // the oldest part of the whole time that goes at once
constexpr int kKeptOf = 4;        // of the older half one in so many is kept
constexpr int kPagesAtOnce = 64;  // given back to the file system
constexpr double kAhead = 86400;  // seconds; a clock may be a little ahead now, too

// What grows. Rows a step: a round holds the state of all containers, 100 KB where there are 1000,
// and a row of samples 4 KB.
struct Grown {
  const char* table;
  const char* series;  ///< "" = see thin_samples()
  std::int64_t step;
};
constexpr std::array<Grown, 4> kGrown = {{{"samples", "", 500},
                                          {"usage", "run", 2000},
                                          {"decisions", "run", 2000},
                                          {"rounds", "algorithm,resource", 32}}};

constexpr const char* kHasNoRecords =
    " AND NOT EXISTS (SELECT 1 FROM samples WHERE run=number)"
    " AND NOT EXISTS (SELECT 1 FROM usage WHERE run=number)"
    " AND NOT EXISTS (SELECT 1 FROM decisions WHERE run=number)";

// What is kept as long as records of its time.
struct Ended {
  const char* table;
  const char* time;
  const char* condition;
};
constexpr std::array<Ended, 3> kEnded = {
    {{"trainings", "ended", ""}, {"profiles", "ended", ""}, {"runs", "seen", kHasNoRecords}}};

Result<std::int64_t> pragma(sqlite3* db, const char* sql) {
  Statement ask(db, sql);
  Result<bool> row = ask.step(kDoing);
  if (!row) return row.error();
  return *row ? ask.integer(0) : 0;
}

Result<std::optional<double>> time_of(sqlite3* db, const std::string& sql, double from = 0,
                                      double until = 0, std::int64_t skipped = 0) {
  Statement ask(db, sql);
  const int count = static_cast<int>(std::count(sql.begin(), sql.end(), '?'));
  if (count > 0) ask.bind(from).bind(until).bind(skipped);
  Result<bool> row = ask.step(kDoing);
  if (!row) return row.error();
  return *row ? ask.number_if(0) : std::nullopt;
}

// Conditions on the times of a table; ?1 is the time that they are about.
using Condition = std::string (*)(const std::string& table, const std::string& time);

std::string is_before(const std::string&, const std::string& time) { return time + "<?1"; }

// A clock that was ahead has left it. Where that is not the smaller part of its table, it is the
// clock of now that is wrong.
std::string is_ahead(const std::string& table, const std::string& time) {
  const std::string later = time + ">?1";
  return later + " AND EXISTS (SELECT 1 FROM " + table + " WHERE " + time +
         "<=?1 LIMIT 1 OFFSET (SELECT count(*) FROM " + table + " WHERE " + later + "))";
}

// Deletes the first rows for which `condition` on their time holds, at most a step's of each table.
// True where a table had as many.
Result<bool> drop_where(sqlite3* db, Condition condition, double time) {
  bool has_more = false;
  for (const Grown& grown : kGrown) {
    const std::string table = grown.table;
    Statement drop(db, "DELETE FROM " + table + " WHERE rowid IN (SELECT rowid FROM " + table +
                           " WHERE " + condition(table, "time") + " ORDER BY time LIMIT ?2)");
    if (auto done = drop.bind(time).bind(grown.step).run(kDoing); !done) return done.error();
    has_more = has_more || sqlite3_changes(db) >= grown.step;
  }
  return has_more;
}

// With what goes with a run.
Result<void> drop_ended(sqlite3* db, double before, double latest) {
  for (const Ended& ended : kEnded) {
    const std::string from = std::string("DELETE FROM ") + ended.table + " WHERE ";
    Statement old(db, from + is_before(ended.table, ended.time) + ended.condition);
    if (auto done = old.bind(before).run(kDoing); !done) return done;
    Statement ahead(db, from + is_ahead(ended.table, ended.time) + ended.condition);
    if (auto done = ahead.bind(latest).run(kDoing); !done) return done;
  }
  for (const char* sql : {"DELETE FROM positions WHERE id NOT IN (SELECT id FROM runs)",
                          "DELETE FROM pasts WHERE id NOT IN (SELECT id FROM runs)",
                          "DELETE FROM stays WHERE run NOT IN (SELECT number FROM runs)"}) {
    Statement drop(db, sql);
    if (auto done = drop.run(kDoing); !done) return done;
  }
  return {};
}

// The first that ended of the runs that have and that no record speaks of any more. True where
// there was some.
Result<bool> drop_runs(sqlite3* db) {
  const std::string ended = std::string(" FROM runs WHERE finished IS NOT NULL") + kHasNoRecords +
                            " ORDER BY finished,number LIMIT ";
  Statement any(db, "SELECT number" + ended + "1");
  const Result<bool> has_some = any.step(kDoing);
  if (!has_some || !*has_some) return has_some;
  any.reset();
  Transaction transaction(db);
  if (auto begun = transaction.begun(kDoing); !begun) return begun.error();
  for (const char* what :
       {"positions WHERE id IN (SELECT id", "pasts WHERE id IN (SELECT id",
        "stays WHERE run IN (SELECT number", "runs WHERE number IN (SELECT number"}) {
    Statement drop(db, std::string("DELETE FROM ") + what + ended + "500)");
    if (auto done = drop.run(kDoing); !done) return done.error();
  }
  if (auto done = transaction.commit(kDoing); !done) return done.error();
  return true;
}

// The oldest of what was learnt from runs. True where there was some.
Result<bool> drop_learnt(sqlite3* db) {
  Transaction transaction(db);
  if (auto begun = transaction.begun(kDoing); !begun) return begun.error();
  bool has_some = false;
  for (const char* table : {"trainings", "profiles"}) {
    if (has_some) break;
    const std::string name = table;
    Statement drop(db, "DELETE FROM " + name + " WHERE rowid IN (SELECT rowid FROM " + name +
                           " ORDER BY ended LIMIT 500)");
    if (auto done = drop.run(kDoing); !done) return done.error();
    has_some = sqlite3_changes(db) > 0;
  }
  if (auto done = transaction.commit(kDoing); !done) return done.error();
  return has_some;
}

// The time that all records lie in.
struct Span {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();
};

Result<Span> span_of(sqlite3* db) {
  Span span;
  for (const Grown& grown : kGrown) {
    const std::string from = std::string(" FROM ") + grown.table;
    const auto first = time_of(db, "SELECT min(time)" + from);
    if (!first) return first.error();
    const auto last = time_of(db, "SELECT max(time)" + from);
    if (!last) return last.error();
    if (*first) span.first = std::min(span.first, **first);
    if (*last) span.last = std::max(span.last, **last);
  }
  return span;
}

// Thins a piece of what lies from `from` on and before `until`; the end of the piece.
Result<double> thin(sqlite3* db, double from, double until) {
  double end = until;
  for (const Grown& grown : kGrown) {
    const auto time = time_of(db,
                              std::string("SELECT time FROM ") + grown.table +
                                  " WHERE time>=? AND time<? ORDER BY time LIMIT 1 OFFSET ?",
                              from, until, grown.step - 1);
    if (!time) return time.error();
    if (*time) end = std::min(end, std::max(**time, std::nextafter(from, until)));
  }
  if (auto done = thin_samples(db, from, end, kKeptOf, kDoing); !done) return done.error();
  for (const Grown& grown : kGrown) {
    if (*grown.series == '\0') continue;
    const std::string table = grown.table;
    Statement drop(db, "DELETE FROM " + table +
                           " WHERE rowid IN (SELECT number FROM (SELECT rowid AS number,"
                           "row_number() OVER (PARTITION BY " +
                           grown.series + " ORDER BY time,rowid) AS place FROM " + table +
                           " WHERE time>=? AND time<?) WHERE place%" + std::to_string(kKeptOf) +
                           "<>1)");
    if (auto done = drop.bind(from).bind(end).run(kDoing); !done) return done.error();
  }
  return end;
}

Result<void> save_thinned(sqlite3* db, double until) {
  Statement put(db, "UPDATE state SET thinned=?");
  return put.bind(until).run(kDoing);
}

// A step of thinning or deleting what lies in `span`, of which nothing is newer than `latest`.
Result<void> give_up_some(sqlite3* db, const Span& span, double latest) {
  const auto kept = time_of(db, "SELECT thinned FROM state");
  if (!kept) return kept.error();
  const double thinned = std::min(kept->value_or(span.first), latest);
  const double length = std::min(span.last, latest) - span.first;
  const double middle = span.first + length / 2;
  const double from = std::max(thinned, span.first);
  if (from < middle) {
    const Result<double> end = thin(db, from, middle);
    if (!end) return end.error();
    return save_thinned(db, *end);
  }
  const double before = std::max(span.first + length / kSlice,
                                 std::nextafter(span.first, std::numeric_limits<double>::max()));
  if (auto dropped = drop_where(db, is_before, before); !dropped) return dropped.error();
  return thinned < kept->value_or(thinned) ? save_thinned(db, thinned) : Result<void>();
}

}  // namespace

Result<bool> Records::forget_before(double before, double now) {
  Transaction transaction(db_);
  if (auto begun = transaction.begun("forgetting old records"); !begun) return begun.error();
  Result<bool> more = drop_where(db_, is_before, before);
  if (more && !*more) more = drop_where(db_, is_ahead, now + kAhead);
  if (more && !*more) {
    if (auto done = drop_ended(db_, before, now + kAhead); !done) more = done.error();
  }
  if (!more) {
    note_damage(more.error());
    return more;
  }
  if (auto done = transaction.commit(kDoing); !done) return done.error();
  return more;
}

Result<bool> Records::make_room(double now) {
  const auto page = pragma(db_, "PRAGMA page_size");
  const auto pages = pragma(db_, "PRAGMA page_count");
  const auto free = pragma(db_, "PRAGMA freelist_count");
  for (const auto* one : {&page, &pages, &free}) {
    if (!*one) return one->error();
  }
  const double bytes = static_cast<double>(*page);
  const double most = static_cast<double>(most_bytes_);
  if (bytes * static_cast<double>(*pages - *free) <= kFull * most) {
    if (bytes * static_cast<double>(*pages) <= most || *free == 0) return false;
    // It was allowed more once.
    const auto given =
        execute(db_, "PRAGMA incremental_vacuum(" + std::to_string(kPagesAtOnce) + ")", kDoing);
    if (!given) return given.error();
    const auto left = pragma(db_, "PRAGMA page_count");
    if (!left) return left.error();
    return *left < *pages;
  }
  const Result<bool> dropped_runs = drop_runs(db_);
  if (!dropped_runs) {
    note_damage(dropped_runs.error());
    return dropped_runs;
  }
  if (*dropped_runs) return true;
  const Result<Span> span = span_of(db_);
  if (!span) {
    note_damage(span.error());
    return span.error();
  }
  if (!(span->first <= span->last)) return drop_learnt(db_);
  Transaction transaction(db_);
  if (auto begun = transaction.begun("forgetting old records"); !begun) return begun.error();
  // Where all is later, it is `now` that is wrong.
  const double latest = now > span->first ? now : std::numeric_limits<double>::infinity();
  if (auto done = give_up_some(db_, *span, latest); !done) return done.error();
  if (auto done = transaction.commit(kDoing); !done) return done.error();
  return true;
}

}  // namespace flowcon::ctrl::store
