// SPDX-License-Identifier: Apache-2.0
// Opening the store: what to do with damaged files, and with a journal that has lost entries.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "ctrl/store/files.h"
#include "ctrl/store/salvage.h"
#include "ctrl/store/schema.h"
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {
namespace {

// Far above any that a lost journal may have begun and told.
constexpr std::int64_t kIncarnationGap = 1000;

// A file as it was found.
struct Looked {
  Handle db;
  std::int64_t version = 0;
  std::string damage;     ///< in words; "" = none was seen
  bool is_other = false;  ///< records of another version, which counts as damage
};

enum class Kind { records, journal };

// What SQLite finds wrong with the file is a row of text, not an error.
Result<std::string> check_pages(sqlite3* db, const char* pragma) {
  Statement ask(db, pragma);
  Result<bool> row = ask.step("checking the state");
  if (!row) return row.error();
  const std::string said = *row ? ask.text(0) : "";
  return said == "ok" ? std::string() : "checking the state: " + printable(said, 200);
}

// Records that were closed are not read through, however large they are.
Result<bool> was_closed(sqlite3* db, std::int64_t version) {
  if (version == 0) return false;
  Statement ask(db, "SELECT clean FROM state");
  Result<bool> row = ask.step("reading whether the state was closed");
  if (!row) return row.error();
  return *row && ask.integer(0) != 0;
}

// The first row of each table: takes as long however many there are.
Result<std::string> read_first_rows(sqlite3* db) {
  const std::string doing = "reading the state";
  Statement tables(db, "SELECT name FROM sqlite_master WHERE type='table'");
  for (;;) {
    const Result<bool> table = tables.step(doing);
    if (!table) return table.error();
    if (!*table) return std::string();
    Statement first(db, "SELECT * FROM \"" + tables.text(0) + "\" LIMIT 1");
    if (const Result<bool> row = first.step(doing); !row) return row.error();
  }
}

Result<std::string> find_damage(sqlite3* db, Kind kind, std::int64_t version) {
  if (version == 0) return std::string();
  if (kind == Kind::journal) return check_pages(db, "PRAGMA integrity_check(1)");
  const Result<bool> closed = was_closed(db, version);
  if (!closed) return closed.error();
  return *closed ? read_first_rows(db) : check_pages(db, "PRAGMA quick_check(1)");
}

Result<void> set_up(sqlite3* db, Kind kind, Looked* looked) {
  const std::string doing = "opening the state";
  if (auto done = execute(db, "PRAGMA busy_timeout=2000", doing); !done) return done;
  Result<std::int64_t> version = version_of(db);
  if (!version) return version.error();
  looked->version = *version;
  const std::int64_t known = kind == Kind::journal ? kJournalVersion : kRecordsVersion;
  if (*version != 0 && *version != known) {
    const std::string what = "of version " + std::to_string(*version) +
                             ", and this flowcond knows " + std::to_string(known) + " alone";
    // Without its journal a limit would be taken for what its container had.
    if (kind == Kind::journal) {
      return bad_input("the state is " + what + ": install the flowcond that made it");
    }
    looked->damage = what;
    looked->is_other = true;
    return {};
  }
  // WAL survives kill -9 at any moment. Records with synchronous=NORMAL may lose the last
  // transactions when the power goes; the journal may not. By default the log grows to 4 MB before
  // its pages go to the database; a nearly full disk may not have them.
  std::string pragmas =
      *version == 0 && kind == Kind::records ? "PRAGMA auto_vacuum=INCREMENTAL;" : "";
  pragmas += "PRAGMA journal_mode=WAL; PRAGMA cache_size=-1024;";
  pragmas +=
      kind == Kind::journal
          ? "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=16;"
          : "PRAGMA synchronous=NORMAL; PRAGMA secure_delete=OFF; PRAGMA wal_autocheckpoint=64;";
  if (auto done = execute(db, pragmas, doing); !done) return done;
  Result<std::string> damage = find_damage(db, kind, *version);
  if (!damage) return damage.error();
  looked->damage = *damage;
  return {};
}

// Opens `path` or makes it empty. Errors: another than damage.
Result<Looked> look_at(const std::string& path, Kind kind) {
  // SQLite would make the file by the umask; it holds container names, so it is ours alone.
  const bool is_new = !is_there(path);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno_error(errno, "opening the state file " + path);
  ::close(fd);
  if (is_new) {
    if (auto synced = sync_folder(path); !synced) return synced.error();
  }
  Looked looked;
  looked.db = open_file(path, SQLITE_OPEN_READWRITE);
  // Until it is known to be good, nothing of it is changed.
  keep_log(looked.db.get());
  const Result<void> ready = set_up(looked.db.get(), kind, &looked);
  if (ready) {
    if (looked.damage.empty()) keep_log(looked.db.get(), false);
    return looked;
  }
  if (ready.error().code.value() != EUCLEAN) return wrap(ready.error(), "state file " + path);
  looked.damage = sqlite3_errmsg(looked.db.get());
  looked.damage = "it cannot be read: " + looked.damage;
  return looked;
}

// What the records know of the journal.
struct Mirror {
  std::int64_t sequence = 0;
  std::string host;
  std::int64_t incarnation = 0;
};

Result<Mirror> read_mirror(sqlite3* records) {
  Statement ask(records, "SELECT sequence,host,incarnation FROM state");
  Result<bool> row = ask.step("reading the state");
  if (!row) return row.error();
  if (!*row) return Mirror{};
  return Mirror{ask.integer(0), ask.text(1), ask.integer(2)};
}

Result<std::int64_t> number_of(sqlite3* db, const char* sql) {
  Statement ask(db, sql);
  Result<bool> row = ask.step("reading the journal");
  if (!row) return row.error();
  return *row ? ask.integer(0) : 0;
}

// Both files on their way to a store.
class Opening {
 public:
  Opening(const std::string& path, std::string* notice)
      : path_(path),
        journal_path_(path.substr(0, path.rfind('/') + 1) + "journal.db"),
        notice_(notice) {}

  Result<void> run() {
    if (auto done = open_records(); !done) return done;
    if (auto done = open_journal(); !done) return done;
    return records.version == 0 ? make_records(records.db.get()) : Result<void>();
  }

  [[nodiscard]] std::string lost_file() const {
    return journal_path_.substr(0, journal_path_.size() - 3) + ".lost";
  }

  Looked records;
  Looked journal;

 private:
  void say(const std::string& sentence) { *notice_ += (notice_->empty() ? "" : "; ") + sentence; }

  Result<void> open_records() {
    Result<Looked> looked = look_at(path_, Kind::records);
    if (!looked) return looked.error();
    if (!looked->damage.empty()) {
      looked->db.reset();
      const bool is_other = looked->is_other;
      const std::string why = is_other ? looked->damage : "damaged (" + looked->damage + ")";
      // Without both, nobody else would notice that there was a journal.
      const Result<bool> has_journal = has_own_journal();
      if (!has_journal) return has_journal.error();
      if (!*has_journal) {
        const Result<void> begun = begin_anew(
            path_, "the state file " + path_ + " is " + why + ", and no journal is beside it");
        if (!begun) return begun;
      }
      const Result<std::string> aside =
          put_aside(path_, is_other ? "version-" + std::to_string(looked->version) : "damaged");
      if (!aside) return aside.error();
      say("the state file was " + why + "; it is now " + *aside + " and a new one was begun");
      looked = look_at(path_, Kind::records);
      if (!looked) return looked.error();
      if (!looked->damage.empty()) return bad_input("state file " + path_ + ": " + looked->damage);
    }
    records = std::move(*looked);
    return {};
  }

  // Whatever state it is in; an empty file is none.
  Result<bool> has_own_journal() {
    if (auto done = end_exchange(); !done) return done.error();
    if (!is_there(journal_path_)) return false;
    const Result<Looked> looked = look_at(journal_path_, Kind::journal);
    if (!looked) return looked.error();
    keep_log(looked->db.get());
    return looked->version > 0 || !looked->damage.empty();
  }

  // Why entries of the journal are missing, in words; "" = none is as far as can be known.
  Result<std::string> find_loss() {
    if (!journal.damage.empty()) return "it is damaged (" + journal.damage + ")";
    if (records.version == 0) return std::string();
    const Result<Mirror> mirror = read_mirror(records.db.get());
    if (!mirror) return mirror.error();
    if (journal.version == 0) {
      const bool had_one = mirror->sequence > 0 || !mirror->host.empty();
      return had_one ? std::string("it is not there") : std::string();
    }
    const auto sequence = number_of(journal.db.get(), "SELECT sequence FROM journal");
    if (!sequence) return sequence.error();
    return *sequence < mirror->sequence
               ? "its last " + std::to_string(mirror->sequence - *sequence) + " entries are missing"
               : std::string();
  }

  Result<void> open_journal() {
    if (auto done = end_exchange(); !done) return done;
    if (!is_there(journal_path_) && is_there(journal_path_ + "-wal")) {
      // SQLite would delete it.
      const Result<std::string> aside = put_aside(journal_path_);
      if (!aside) return aside.error();
    }
    Result<Looked> looked = look_at(journal_path_, Kind::journal);
    if (!looked) return looked.error();
    journal = std::move(*looked);
    const Result<std::string> loss = find_loss();
    if (!loss) return loss.error();
    if (!loss->empty()) {
      keep_log(journal.db.get());
      journal.db.reset();
      // What was not there before is nothing to keep.
      const bool is_fresh =
          journal.version == 0 && journal.damage.empty() && !has_bytes(journal_path_ + "-wal");
      if (is_fresh) remove_files(journal_path_);
      if (auto done = begin_anew(journal_path_, "the journal " + journal_path_ + ": " + *loss);
          !done) {
        return done;
      }
      looked = look_at(journal_path_, Kind::journal);
      if (!looked) return looked.error();
      if (!looked->damage.empty()) {
        return bad_input("state file " + journal_path_ + ": " + looked->damage);
      }
      journal = std::move(*looked);
    }
    sqlite3* db = journal.db.get();
    const Result<void> made = journal.version == 0 ? make_journal(db) : complete_journal(db);
    if (!made) return made;
    if (is_there(lost_file())) {
      say(file_text(lost_file()) +
          " No container migrates to or from this host until a person has "
          "checked it (docs/moving.md, A lost journal). Then: rm " +
          lost_file() + " && systemctl restart flowcond");
      return {};
    }
    // Without a condition pages are written even where there is nothing to delete, and a full disk
    // would keep limits from being restored.
    return execute(journal.db.get(), "DELETE FROM lost_moves WHERE rowid>0",
                   "clearing the list of lost migrations");
  }

  [[nodiscard]] std::string ready_path() const { return journal_path_ + ".ready"; }

  // Makes a journal of what can be read of the damaged `from` and of what the records know of this
  // host. That it is not whole is on the disk before it takes the old one's place.
  Result<void> begin_anew(const std::string& from, const std::string& why) {
    remove_files(ready_path());
    const std::string draft = journal_path_ + ".draft";
    remove_files(draft);
    Result<Looked> looked = look_at(draft, Kind::journal);
    if (!looked) return looked.error();
    sqlite3* db = looked->db.get();
    if (auto made = make_journal(db); !made) return made;
    sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    const Result<Salvaged> salvaged = salvage(from, db);
    if (!salvaged) return salvaged.error();
    if (auto done = keep_identity(db); !done) return done;
    const std::string text = why + ". " + std::to_string(salvaged->rows) +
                             " rows of it could be read, " + std::to_string(salvaged->open) +
                             " of them migrations that had not ended.";
    if (auto written = write_whole(lost_file(), text); !written) return written;
    looked->db.reset();
    remove_files(draft + "-wal");
    if (std::rename(draft.c_str(), ready_path().c_str()) != 0) {
      return errno_error(errno, "making " + ready_path());
    }
    if (auto synced = sync_folder(journal_path_); !synced) return synced;
    return end_exchange();
  }

  // Also after a crash in the middle.
  Result<void> end_exchange() {
    if (!is_there(ready_path())) return {};
    if (is_there(journal_path_)) {
      const Result<std::string> aside = put_aside(journal_path_);
      if (!aside) return aside.error();
      say("the journal is now " + *aside);
    }
    if (std::rename(ready_path().c_str(), journal_path_.c_str()) != 0) {
      return errno_error(errno, "making " + journal_path_);
    }
    return sync_folder(journal_path_);
  }

  Result<void> keep_identity(sqlite3* db) {
    Mirror mirror;
    if (records.version != 0) {
      const Result<Mirror> read = read_mirror(records.db.get());
      if (!read) return read.error();
      mirror = *read;
    }
    const std::string doing = "keeping who this host is";
    if (!mirror.host.empty()) {
      Statement put(db,
                    "INSERT OR IGNORE INTO identity(one,id,incarnation,draining) "
                    "VALUES(1,?,0,0)");
      if (auto done = put.bind(mirror.host).run(doing); !done) return done;
    }
    Statement on(db, "UPDATE identity SET incarnation=max(incarnation,?)+?");
    if (auto done = on.bind(mirror.incarnation).bind(kIncarnationGap).run(doing); !done) {
      return done;
    }
    Statement count(db, "UPDATE journal SET sequence=?");
    return count.bind(mirror.sequence + 1).run(doing);
  }

  std::string path_;
  std::string journal_path_;
  std::string* notice_;
};

Result<void> bound(sqlite3* records, std::uint64_t most_bytes) {
  Statement ask(records, "PRAGMA page_size");
  Result<bool> row = ask.step("reading the size of pages");
  if (!row) return row.error();
  const std::uint64_t page =
      static_cast<std::uint64_t>(std::max<std::int64_t>(512, ask.integer(0)));
  return execute(records, "PRAGMA max_page_count=" + std::to_string(most_bytes / page),
                 "bounding the state");
}

// On the disk when it returns.
Result<void> set_closed(sqlite3* records, bool is_closed) {
  const std::string sql = std::string("PRAGMA synchronous=FULL; UPDATE state SET clean=") +
                          (is_closed ? "1" : "0") + "; PRAGMA synchronous=NORMAL;";
  return execute(records, sql, "opening the state");
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& path, std::string* notice,
                                           const Options& options) {
  Opening opening(path, notice);
  if (auto done = opening.run(); !done) return done.error();
  sqlite3* records = opening.records.db.get();
  if (auto bounded = bound(records, options.most_bytes); !bounded) return bounded.error();
  if (auto opened = set_closed(records, false); !opened) return opened.error();
  auto store = std::unique_ptr<Store>(
      new Store(opening.records.db.release(), opening.journal.db.release(), options.most_bytes));
  store->lost_file_ = opening.lost_file();
  store->is_whole_ = !is_there(store->lost_file_);
  store->mirror_journal();
  return store;
}

Result<void> Store::record(const std::vector<Look>& looks, const std::vector<Round>& rounds) {
  Result<void> recorded = Records::record(looks, rounds);
  return recorded && has_unforgotten() ? forget_unforgotten() : recorded;
}

void Records::note_damage(const Error& error) {
  if (error.code.value() == EUCLEAN) has_damage_ = true;
}

Records::~Records() {
  if (!has_damage_) (void)set_closed(db_, true);
  sqlite3_close(db_);
}

Journal::~Journal() { sqlite3_close(journal_); }

}  // namespace flowcon::ctrl::store
