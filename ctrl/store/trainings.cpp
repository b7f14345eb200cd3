// SPDX-License-Identifier: Apache-2.0
// What runs that ended were like, for the next one of the same training.
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {

Result<void> Records::save_training(const Training& training) {
  constexpr const char* kDoing = "remembering a training";
  Transaction transaction(db_);
  if (auto begun = transaction.begun(kDoing); !begun) return begun.error();
  Statement put(db_, "INSERT INTO trainings(training,ended,total,share90) VALUES(?,?,?,?)");
  put.bind(training.key).bind(training.ended).bind(training.total).bind(training.share90);
  if (auto done = put.run(kDoing); !done) return done;
  Statement drop(db_,
                 "DELETE FROM trainings WHERE training=?1 AND rowid NOT IN (SELECT rowid FROM "
                 "trainings WHERE training=?1 ORDER BY ended DESC, rowid DESC LIMIT 5)");
  if (auto done = drop.bind(training.key).run(kDoing); !done) return done;
  return transaction.commit(kDoing);
}

Result<std::vector<Training>> Records::trainings() {
  Statement all(db_, "SELECT training,ended,total,share90 FROM trainings ORDER BY ended,rowid");
  return all.collect<std::vector<Training>>("reading earlier trainings", [&] {
    return Training{all.text(0), all.number(1), all.number(2), all.number_if(3)};
  });
}

}  // namespace flowcon::ctrl::store
