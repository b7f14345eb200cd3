// SPDX-License-Identifier: Apache-2.0
// The move of one container from one host to another as a state machine of two journals, one on
// each side. Pure: no clock, no I/O, no logging. Whoever drives it gathers facts, asks
// next_effect(), writes the entry it names, then carries the effect out, and begins anew.
//
// How the steps go, and who writes what into its journal:
//
//   source                                         target
//   reserve   asks whether the target takes it
//                                                  reserve   makes image, copy, volumes
//                                                  transfer  all reserved; takes the data
//   save      disarms the restart policy, saves,
//             stops the container
//   transfer  sends
//                                                  ready     all data there, sizes and sums right
//   start     HANDED OVER: gives the container up
//                                                  start     starts its copy
//                                                  confirm   it has run
//   remove    removes its own copy
//                                                  done      gives its copy the restart policy
//   done
//
//   undo, undone   on either side: the way back
//
// The commit point is the source's entry `start`, and the message that carries it. Before it the
// container belongs to the source: the source alone decides to go on or to undo, and starts its
// container again whatever the target says or does not say. After it the container belongs to the
// target until that has written `undone`.
//
// Why one copy runs and never two. The source starts its own copy only in `undo`. It comes there
// (a) before it wrote `start`: then no target has ever been told `start`, and none starts unless it
// is told; from `undo` there is no way to `start`, so it never will be. Or (b) after `start`, when
// the target says `undone`: the target says that only once `undo` is in its journal, its copy is
// gone and no request of its own to its engine is under way; from `undo` there is no way back
// either. Each of these sentences about a host stays true once it is true, so a message that comes
// late, twice or out of order says nothing that is wrong. Until the target says `confirm` the
// source keeps its stopped container; so one that can run is always there.
//
// While the other side stays unreachable: before the hand-over, the source undoes and goes on, and
// the target keeps its reservation until it gives up by itself. After the hand-over: the target
// starts as soon as it is told and runs, the source waits: one copy there and none here. A target
// that is `ready` and was not told waits and starts nothing. What an unreachable target does is
// unknown; time alone never lets the source start its copy again, only a person's word does
// (Facts::is_taken_back). Likewise a target whose source is lost for good after the hand-over ends
// the move by a person's word (Facts::is_kept): its `done` has the source remove its copy whenever
// it comes back, on its way back too. Where two persons say both while the hosts do not hear each
// other, the side that has closed its entry first keeps its copy; where both have, there are two.
//
// A job's task (Method::birth) is born of its ticket, which does not run: the source has nothing to
// save, goes from `reserve` to `transfer`, starts nothing on the way back, and keeps the ticket at
// the end. It hands over only once the job's owner says so (Facts::is_released). Whatever comes of
// a task that was started is the job's end and not the move's: the target confirms it without a
// proof, and starts it once. What an ended task has written goes home the same way (Method::home):
// the target is the owner's host, whose copy is the ticket; it is made by nobody, never started,
// and stays on the way back.
//
// What this needs: that a written entry survives a loss of power (SQLite: synchronous=FULL for the
// journal), as do the data of a target that is `ready`, and what the engine has to remember of the
// source's copy once it was handed over: that it is stopped and has no restart policy (Act::sync).
// That closed entries are kept and answered for, since the other side may ask late; that ids of
// migrations are never used twice; that an entry's peer is who it says.
//
// What is said. A side says nothing but the entry that its journal holds: not one that is being
// written, and none until it has looked at its copy (may_tell()). It says that it knows nothing of
// a migration only if it read its whole journal and there is no such entry; any other trouble is no
// word at all. A write that failed may be on the disk all the same and come back with the next
// start: so nothing is done or said that only the former entry allows until a write succeeds. The
// one exception is a source that undoes unwritten, and it is none once it tried to write `start`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flowcon::cluster::migration {

enum class Side { source, target };

/// How the state is saved: by the application itself, or by CRIU. Or there is none to save: a birth
/// makes a job's task of its ticket, which does not run, and a return brings home what an ended
/// task has written (cluster/queue).
enum class Method { app, criu, birth, home };

/// Where a side is; what is written is about to be done or has been done, never less.
enum class Step { reserve, save, transfer, ready, start, confirm, remove, done, undo, undone };

[[nodiscard]] const char* name(Side side);
[[nodiscard]] const char* name(Method method);
/// "reserve" …; a word that a person may see.
[[nodiscard]] const char* name(Step step);
/// Empty where the side knows no such step.
[[nodiscard]] std::optional<Step> parse_step(Side side, const std::string& word);

/// One line of the journal: a side's view of one migration.
struct Entry {
  std::string id;  ///< of the migration, chosen by the source, never used again
  Side side = Side::source;
  std::string container;  ///< the engine's id of this side's copy; empty while there is none
  std::string name;       ///< of the container, the same on both sides
  std::string source;     ///< ids of the two hosts
  std::string target;
  Method method = Method::app;
  Step step = Step::reserve;
  /// Source: `save` was reached, so that undoing has to start the container again.
  bool has_saved = false;
  std::int64_t attempt = 0;  ///< how often the step's effect was tried; decides nothing
  std::string reason;        ///< why it is undone, in words
};

/// Is there nothing left to do for this side? Closed entries are kept and answered for.
[[nodiscard]] bool is_closed(const Entry& entry);

/// What the local engine says of this side's copy. `absent` on the target means that nothing made
/// for this migration is left: no container, no volume, no file.
enum class Copy {
  unknown,   ///< the engine does not answer
  absent,    ///< gone, or not yet there
  created,   ///< has never run
  running,   ///<
  stopped,   ///< was stopped: by us, by a person, with its engine or host
  finished,  ///< ended by itself
  failed,    ///< ended by itself with an error before it gave a sign of life
};

/// What the peer says of the migration. No news is no fact: it may run the container.
enum class Word { none, knows_nothing, step };

/// All that a decision is made of besides the entry.
struct Facts {
  Copy copy = Copy::unknown;
  /// Would the engine start the copy by itself, at its own start or when it ends?
  bool restarts = false;
  /// Has it the restart policy that the user gave, even if that is none?
  bool has_own_policy = true;
  /// Nothing that was asked of the engine, by this flowcond or one before it, and nothing that the
  /// job was asked to do can still change the copy. Known by waiting as long as such a request can
  /// take at most (an engine goes on stopping a container when who asked for it is gone; a job that
  /// got its signal ends when it has saved).
  bool is_quiet = true;
  bool is_saved = false;     ///< source: the save succeeded and ended with the container stopped
  bool is_received = false;  ///< target: all data in place, sizes and sums checked
  /// Source: the job ended by itself, not by what it was asked, and no policy starts it again.
  bool has_ended = false;
  /// Target: the copy has shown that it runs on: it printed something new, or was given time
  /// enough to fail. Until then only the source's container is sure to run.
  bool is_proven = true;
  /// What the engine keeps of this copy (its restart policy, that it stopped) is on its disk, and a
  /// loss of power would not undo it.
  bool is_synced = true;
  /// Source: a write of `start` was tried and failed; the next start of flowcond may find it.
  bool is_start_doubtful = false;
  /// Source of a birth: the job's owner has written that its task may start.
  bool is_released = true;
  /// Target: a person stopped the copy, and wants it stopped.
  bool is_stopped_by_person = false;
  /// How the copy failed, in words; "" = nobody knows.
  std::string failure;
  Word word = Word::none;
  Step peer = Step::reserve;  ///< with Word::step: where the peer said it is, at any time
  std::string peer_reason;    ///< why the peer undoes it, in its words
  /// Why to give up, in words; empty: do not. Time ran out, a transfer broke, a disk is full, the
  /// engine refuses, a person cancels. Heeded as long as that is safe.
  std::string give_up;
  /// Source: a person says that the target is gone for good and answers for it that no copy runs
  /// there. A target that comes back nevertheless removes its copy.
  bool is_taken_back = false;
  /// Target: a person says that the source is gone for good and answers for it that no copy will be
  /// started there. A source that comes back nevertheless removes its copy.
  bool is_kept = false;
};

/// Why a person may not take the container back now, in words; empty: they may. From then on
/// Facts::is_taken_back holds, and what the target has said before no longer does (Word::none).
/// `word`: what it said last; `is_heard`: it is reachable, so that the move goes on by itself
/// unless it has no record of it.
[[nodiscard]] std::string why_not_taken_back(const Entry& entry, Word word, bool is_heard);

/// Why a person may not keep the copy on the target without the source now, in words; empty: they
/// may. From then on Facts::is_kept holds. `is_heard`: the source is, so that the move ends by
/// itself.
[[nodiscard]] std::string why_not_kept(const Entry& entry, bool is_heard);

/// What to do. All are safe to repeat; whether one is still to be done shows in the facts.
enum class Act {
  wait,     ///< nothing; ask again when a fact changes
  report,   ///< tell the peer this entry; its answer is its own. Repeated with a back-off
  prepare,  ///< target: make image, copy and volumes, without restart policy, labelled with the id
  disarm,   ///< take the copy's restart policy away
  save,     ///< source: checkpoint, and stop the container
  send,     ///< source: send the data; tells the entry too
  start,    ///< start this side's copy; `created` and CRIU: from the checkpoint
  stop,     ///< stop this side's copy
  arm,      ///< give the copy its restart policy back
  remove,   ///< remove this side's copy and whatever was made for the migration, stopping it first
  sync,     ///< wait until the engine's own files are on its disk
  close,    ///< nothing is left but the written entry
};

struct Effect {
  Act act = Act::wait;
  /// To be written before the act where it is not the entry's; then the same facts give the same
  /// act again, so that a crash in between loses nothing.
  Step step = Step::reserve;
  bool has_saved = false;  ///< goes with step
  /// May the act be carried out when the entry cannot be written (a full disk)? Then the new entry
  /// counts until the end of the process. True only where recover() would come to the same.
  bool may_run_unwritten = false;
  std::string reason;  ///< why, in words; goes into the entry where the step is `undo`
};

/// The next thing to do for an entry. Same entry, same facts: same effect. Never moves back to an
/// earlier step. O(1).
[[nodiscard]] Effect next_effect(const Entry& entry, const Facts& facts);

/// The first thing to do for an entry that was found in the journal at the start of flowcond: until
/// its step is written (or it was carried out unwritten), recover() stands in for next_effect().
/// Whatever hung on the lost process, a save or a transfer that was under way, is undone; what was
/// promised in the journal goes on.
[[nodiscard]] Effect recover(const Entry& entry, const Facts& facts);

/// The entry after `effect` was written.
[[nodiscard]] Entry written(Entry entry, const Effect& effect);

/// May a peer be told this entry, as far as this side's copy is concerned, which was last seen as
/// `seen`? Not before it was looked at since flowcond was started, and no hand-over while the
/// source's copy runs: an engine may have lost what it was told last, a person may have started it.
[[nodiscard]] bool may_tell(const Entry& entry, Copy seen);

/// Is the move given up where `effect` cannot be written? Not from the hand-over on, on either
/// side: then it is tried again until it is written.
[[nodiscard]] bool is_given_up_unwritten(const Entry& entry, const Effect& effect);

}  // namespace flowcon::cluster::migration
