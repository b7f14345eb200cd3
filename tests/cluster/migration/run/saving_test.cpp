// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/saving.h"

#include "cluster/migration/plan/left_behind.h"
#include "tests/cluster/migration/run/migrator_fakes.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

struct SavingJob : OneHost {
  SavingJob() {
    move = add(Side::source, Step::save);
    move->plan.checkpoint.path = "/ckpt";
    move->plan.checkpoint.timeout = 20;
    Box box;
    box.id = move->entry.container;
    box.copy = Copy::running;
    box.lives = 1;
    host.engine.boxes_[box.id] = box;
  }
  // Why it was given up; "" = it has saved.
  std::string save() {
    CHECK(await(saver.save(move)));
    CHECK(move->saving.is_saved == move->give_up.empty());
    return move->give_up;
  }
  MovePtr move;
  Saver saver{world};
};

}  // namespace

TEST_CASE("a job that ends with status 0 at its signal has saved") {
  SavingJob stand;
  CHECK(stand.save().empty());
  CHECK(stand.move->saving.saved_life == "1800001");
  CHECK(stand.move->quiet_from == 0);
  CHECK(stand.move->peer.heard == stand.clock.steady());
}

TEST_CASE("a job that the signal ended, or that failed at it, has not saved") {
  SavingJob killed;
  killed.host.engine.exit_code_ = 143;
  CHECK(killed.save() ==
        "it was ended by SIGTERM and has not saved: it has no handler for that signal");
  SavingJob failed;
  failed.host.engine.exit_code_ = 3;
  CHECK(failed.save() == "it ended with status 3 when it got SIGTERM (0 says that it has saved)");
}

TEST_CASE("a job that wrote nothing after its signal has ended by itself") {
  SavingJob stand;
  stand.host.files.has_saved_ = false;
  CHECK(stand.save().ends_with("it has ended by itself"));
  CHECK(stand.move->saving.has_ended);
}

TEST_CASE("without a path that it saves to, nothing that it wrote may stay behind") {
  SavingJob stand;
  stand.move->plan.checkpoint.path.clear();
  stand.host.files.left_.files = {"/model.pt"};
  CHECK(stand.save().starts_with("it has written files that would not travel"));
}

TEST_CASE("nor may there be more of it than is looked at") {
  SavingJob stand;
  stand.move->plan.checkpoint.path.clear();
  stand.host.files.left_.is_cut = true;
  CHECK(stand.save() == kTooManyChanges);
}

TEST_CASE("a job that hears nothing is waited for as long as it may take, and may end yet") {
  SavingJob stand;
  stand.host.engine.ignores_signals_ = true;
  const double before = stand.clock.steady();
  CHECK(stand.save().starts_with("it has not ended 20 s after SIGTERM"));
  CHECK(stand.clock.steady() - before >= 20);
  CHECK(stand.clock.steady() - before < 21);
  CHECK(stand.move->quiet_from >= stand.clock.steady() + 20);
  CHECK(stand.move->saving.was_told_to_end);
}

TEST_CASE("a job that CRIU has saved has saved once the engine has seen its end") {
  SavingJob stand;
  stand.move->entry.method = Method::criu;
  stand.host.engine.dump_is_seen_after_ = 0.5;
  CHECK(stand.save().empty());
  CHECK_FALSE(stand.host.engine.runs());
  CHECK(stand.host.engine.acts_ == std::vector<std::string>{"checkpoint"});
}

TEST_CASE("a job whose end the engine never sees has not saved, and may end yet") {
  SavingJob stand;
  stand.move->entry.method = Method::criu;
  stand.host.engine.dump_is_seen_after_ = 1e6;
  CHECK(stand.save().starts_with("CRIU has saved it, and the engine says 30 s later that it runs"));
  CHECK(stand.move->quiet_from > stand.clock.steady());
}

TEST_CASE("a command that saves is followed by a stop") {
  SavingJob stand;
  stand.move->plan.checkpoint.command = {"save"};
  CHECK(stand.save().empty());
  CHECK(stand.host.engine.acts_ == std::vector<std::string>{"stop"});
}

TEST_CASE("a move that is cancelled while a command saves does not stop the job") {
  SavingJob stand;
  stand.move->plan.checkpoint.command = {"save"};
  stand.host.engine.on_execute_ = [&] { stand.move->give_up = "a person cancelled it"; };
  CHECK(stand.save() == "a person cancelled it");
  CHECK(stand.host.engine.acts_.empty());
  CHECK(stand.host.engine.runs());
}

TEST_CASE("a signal whose answer is lost may have been sent: the job has not ended by itself") {
  SavingJob stand;
  stand.host.engine.loses_kill_ = true;
  CHECK(stand.save().starts_with("sending a signal"));
  CHECK_FALSE(stand.move->saving.has_ended);
}
