// SPDX-License-Identifier: Apache-2.0
// The journal of the queue's jobs. Unlike moves they do not count towards its sequence: what is
// lost of them is found again by their containers.
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {

Result<void> Journal::save_queue_row(const QueueRow& row) {
  Statement put(journal_,
                "INSERT INTO jobs(id,entry,submitted,ended) VALUES(?,?,?,?) "
                "ON CONFLICT(id) DO UPDATE SET entry=excluded.entry,submitted=excluded.submitted,"
                "ended=excluded.ended");
  return put.bind(row.id)
      .bind(row.entry)
      .bind(row.submitted)
      .bind(row.ended)
      .run("writing the journal of the queue");
}

Result<std::vector<QueueRow>> Journal::queue_rows(std::size_t most) {
  Statement all(journal_,
                "SELECT id,entry,submitted,ended FROM jobs WHERE ended IS NULL OR rowid IN "
                "(SELECT rowid FROM jobs WHERE ended IS NOT NULL "
                "ORDER BY ended DESC,submitted,rowid LIMIT ?) "
                "ORDER BY ended IS NOT NULL,ended DESC,submitted,rowid");
  all.bind(static_cast<std::int64_t>(most));
  return all.collect<std::vector<QueueRow>>("reading the journal of the queue", [&] {
    return QueueRow{all.text(0), all.text(1), all.number(2), all.number_if(3)};
  });
}

Result<bool> Journal::has_queue_row(const std::string& id) {
  Statement one(journal_, "SELECT 1 FROM jobs WHERE id=?");
  return one.bind(id).step("reading the journal of the queue");
}

Result<std::optional<QueueRow>> Journal::find_queue_row(const std::string& name) {
  Statement one(journal_,
                "SELECT id,entry,submitted,ended FROM jobs WHERE ended IS NOT NULL AND (id=?1 OR "
                "CASE WHEN json_valid(entry) THEN json_extract(entry,'$.name')=?1 END) "
                "ORDER BY id=?1 DESC,ended DESC,submitted,rowid LIMIT 1");
  const Result<bool> found = one.bind(name).step("reading the journal of the queue");
  if (!found) return found.error();
  if (!*found) return std::optional<QueueRow>();
  return std::optional(QueueRow{one.text(0), one.text(1), one.number(2), one.number_if(3)});
}

Result<void> Journal::drop_queue_row(const std::string& id) {
  Statement gone(journal_, "DELETE FROM jobs WHERE ended IS NOT NULL AND id=?");
  return gone.bind(id).run("writing the journal of the queue");
}

Result<void> Journal::forget_queue_rows(std::size_t most, const std::vector<std::string>& there) {
  Statement gone(journal_,
                 "DELETE FROM jobs WHERE ended IS NOT NULL AND rowid NOT IN "
                 "(SELECT rowid FROM jobs WHERE ended IS NOT NULL "
                 "ORDER BY ended DESC,submitted,rowid LIMIT ?) "
                 "AND id NOT IN (SELECT value FROM json_each(?))");
  return gone.bind(static_cast<std::int64_t>(most))
      .bind(boost::json::serialize(boost::json::value_from(there)))
      .run("writing the journal of the queue");
}

}  // namespace flowcon::ctrl::store
