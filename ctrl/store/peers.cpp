// SPDX-License-Identifier: Apache-2.0
// What is kept of other hosts, and of this one for them.
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {

Result<void> Journal::save_peer(const Peer& peer) {
  Statement put(journal_, "INSERT OR REPLACE INTO peers(name,user,host,port) VALUES(?,?,?,?)");
  put.bind(peer.name).bind(peer.user).bind(peer.host).bind(peer.port);
  return put.run("saving a peer");
}

Result<void> Journal::forget_peer(const std::string& name) {
  Statement drop(journal_, "DELETE FROM peers WHERE name=?");
  return drop.bind(name).run("forgetting a peer");
}

Result<std::vector<Peer>> Journal::peers() {
  Statement all(journal_, "SELECT name,user,host,port FROM peers ORDER BY name");
  return all.collect<std::vector<Peer>>("reading peers", [&] {
    return Peer{all.text(0), all.text(1), all.text(2), all.integer(3)};
  });
}

Result<void> Journal::save_peer_id(const std::string& name, const std::string& id) {
  Statement put(journal_, "INSERT OR REPLACE INTO peer_ids(name,id) VALUES(?,?)");
  put.bind(name).bind(id);
  return put.run("saving which host a peer is");
}

Result<void> Journal::forget_peer_id(const std::string& name) {
  Statement drop(journal_, "DELETE FROM peer_ids WHERE name=?");
  return drop.bind(name).run("forgetting which host a peer is");
}

Result<std::map<std::string, std::string>> Journal::peer_ids() {
  Statement all(journal_, "SELECT name,id FROM peer_ids");
  return all.collect<std::map<std::string, std::string>>("reading which host each peer is", [&] {
    return std::pair<std::string, std::string>{all.text(0), all.text(1)};
  });
}

Result<Identity> Journal::begin_incarnation(const std::string& fresh_id) {
  constexpr const char* kDoing = "beginning an incarnation";
  Statement count(journal_,
                  "INSERT INTO identity(one,id,incarnation,draining) VALUES(1,?,1,0) "
                  "ON CONFLICT(one) DO UPDATE SET incarnation=incarnation+1 "
                  "RETURNING id,incarnation,draining");
  Result<bool> row = count.bind(fresh_id).step(kDoing);
  if (!row) return row.error();
  Identity identity{count.text(0), count.integer(1), count.integer(2) != 0};
  // It is written when the statement has ended.
  if (row = count.step(kDoing); !row) return row.error();
  count.reset();
  mirror_journal();
  return identity;
}

Result<void> Journal::save_draining(bool is_draining) {
  Statement put(journal_, "UPDATE identity SET draining=?");
  return put.bind(static_cast<std::int64_t>(is_draining)).run("saving whether this host drains");
}

Result<void> Records::save_marks(const std::vector<Mark>& marks,
                                 const std::vector<std::string>& gone) {
  const std::string doing = "saving the category state of containers";
  Transaction transaction(db_);
  if (auto begun = transaction.begun(doing); !begun) return begun.error();
  Statement put(db_,
                "INSERT OR REPLACE INTO marks(id,category,value,growth,seen,converged,migrated,"
                "rebalanced,moves) VALUES(?,?,?,?,?,?,?,?,?)");
  for (const Mark& mark : marks) {
    put.bind(mark.id).bind(mark.category).bind(mark.value).bind(mark.growth).bind(mark.seen);
    put.bind(mark.converged).bind(mark.migrated);
    put.bind(static_cast<std::int64_t>(mark.rebalanced)).bind(mark.moves);
    if (auto done = put.run(doing); !done) return done;
  }
  Statement drop(db_, "DELETE FROM marks WHERE id=?");
  for (const std::string& id : gone) {
    if (auto done = drop.bind(id).run(doing); !done) return done;
  }
  return transaction.commit(doing);
}

Result<std::vector<Mark>> Records::marks() {
  Statement all(
      db_, "SELECT id,category,value,growth,seen,converged,migrated,rebalanced,moves FROM marks");
  return all.collect<std::vector<Mark>>("reading the category state of containers", [&] {
    return Mark{all.text(0),      all.text(1),         all.number_if(2),
                all.number_if(3), all.number(4),       all.number_if(5),
                all.number_if(6), all.integer(7) != 0, all.integer(8)};
  });
}

}  // namespace flowcon::ctrl::store
