// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/profiles.h"

#include <algorithm>

#include "base/json.h"
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {

Result<void> Records::save_profile(const ProfileRow& profile) {
  constexpr const char* kDoing = "keeping the profile of a run";
  Transaction transaction(db_);
  if (auto begun = transaction.begun(kDoing); !begun) return begun.error();
  Statement put(db_,
                "INSERT INTO profiles(key,family,features,labels,ended,format) "
                "VALUES(?,?,?,?,?,?)");
  put.bind(profile.key).bind(profile.family).bind(profile.features).bind(profile.labels);
  if (auto done = put.bind(profile.ended).bind(kProfileFormat).run(kDoing); !done) return done;
  Statement of_key(db_,
                   "DELETE FROM profiles WHERE rowid IN (SELECT rowid FROM profiles WHERE key=? "
                   "ORDER BY ended DESC, rowid DESC LIMIT -1 OFFSET ?)");
  of_key.bind(profile.key).bind(static_cast<std::int64_t>(kMostProfilesOfKey));
  if (auto done = of_key.run(kDoing); !done) return done;
  Statement of_all(db_,
                   "DELETE FROM profiles WHERE rowid IN (SELECT rowid FROM profiles "
                   "ORDER BY ended DESC, rowid DESC LIMIT -1 OFFSET ?)");
  of_all.bind(static_cast<std::int64_t>(kMostProfiles));
  if (auto done = of_all.run(kDoing); !done) return done;
  return transaction.commit(kDoing);
}

Result<ProfilePage> Records::profiles(double since, std::int64_t after, std::size_t most_bytes) {
  Statement all(db_,
                "SELECT rowid,key,family,features,labels,ended FROM profiles "
                "WHERE format=?3 AND ended>=?1 AND (rowid>?2 OR ?2>(SELECT max(rowid) FROM "
                "profiles)) ORDER BY rowid");
  all.bind(since).bind(after).bind(kProfileFormat);
  ProfilePage page;
  page.after = after;
  for (std::size_t bytes = 0;;) {
    Result<bool> row = all.step("reading profiles");
    if (!row) return row.error();
    if (!*row) return page;
    page.has_more = bytes >= most_bytes;
    if (page.has_more) return page;
    page.after = all.integer(0);
    page.profiles.push_back({all.text(1), all.text(2), all.text(3), all.text(4), all.number(5)});
    const ProfileRow& last = page.profiles.back();
    bytes += rendered_size(last.key) + rendered_size(last.family) + last.features.size() +
             last.labels.size();
  }
}

Result<SeenBefore> Records::seen_before(const std::string& id, double started, double until) {
  constexpr const char* kDoing = "reading the earlier use of a container";
  SeenBefore seen;
  Statement begin(db_,
                  "SELECT min(began) FROM stays WHERE run IN (SELECT number FROM runs "
                  "WHERE id=?)");
  Result<bool> row = begin.bind(id).step(kDoing);
  if (!row) return row.error();
  seen.began = *row ? std::min(started, begin.number_if(0).value_or(started)) : started;
  seen.until = seen.began;
  Statement use(db_,
                "SELECT max(time),max(memory) FROM usage WHERE run IN (SELECT number FROM "
                "runs WHERE id=?) AND time>=? AND time<?");
  row = use.bind(id).bind(seen.began).bind(until).step(kDoing);
  if (!row) return row.error();
  if (*row && !use.is_null(0)) {
    seen.until = use.number(0);
    seen.memory = static_cast<std::uint64_t>(std::max<std::int64_t>(use.integer(1), 0));
  }
  Statement value(db_,
                  "SELECT min(time) FROM samples WHERE run IN (SELECT number FROM runs WHERE "
                  "id=?) AND time>=? AND time<?");
  row = value.bind(id).bind(seen.began).bind(until).step(kDoing);
  if (!row) return row.error();
  if (*row) seen.value_at = value.number_if(0);
  return seen;
}

}  // namespace flowcon::ctrl::store
