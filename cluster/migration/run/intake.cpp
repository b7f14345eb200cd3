// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/intake.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>
#include <variant>

#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/run/cache.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Pull;
using ctrl::api::answer_with;
using ctrl::api::failure;
using ctrl::api::Response;
using boost::asio::experimental::awaitable_operators::operator||;

constexpr std::uint64_t kMaxImage = 256ULL << 30;  // bytes
constexpr std::size_t kMaxTrees = 384U << 20;      // bytes of memory for what one peer sends
constexpr std::uint64_t kLookEach = 16U << 20;     // bytes until the disk is looked at again
constexpr double kLook = 0.5;  // seconds between two looks whether a body is still wanted

bool is_beyond(const Error& error) {
  return error.code == boost::system::errc::no_space_on_device ||
         error.code == boost::system::errc::file_too_large;
}

using Look = std::function<Async<Result<void>>()>;

// Asks `look` at the first byte, and again each so many bytes.
struct Looks {
  Look look;
  std::uint64_t left = 0;

  static Async<Result<void>> next(std::shared_ptr<Looks> self, std::uint64_t bytes) {
    if (bytes <= self->left) {
      self->left -= bytes;
      co_return Result<void>();
    }
    self->left = kLookEach;
    co_return co_await self->look();
  }
};

Room each_so_often(Look look) {
  auto looks = std::make_shared<Looks>();
  looks->look = std::move(look);
  return [looks](std::uint64_t bytes) { return Looks::next(looks, bytes); };
}

Async<Result<void>> take_bytes(MovePtr move, std::string part, Room disk, std::uint64_t bytes) {
  Result<void> taken = move->arrival.budget.take(part, bytes);
  if (taken) taken = co_await disk(bytes);
  co_return taken;
}

// The volume that it is; null: it is none.
const VolumePlace* volume_of(const CopyPlace& place, const Part& part) {
  const auto found =
      std::find_if(place.volumes.begin(), place.volumes.end(),
                   [&](const VolumePlace& volume) { return volume.destination == part.where; });
  return part.kind == PartKind::volume && found != place.volumes.end() ? &*found : nullptr;
}

// What it replaces: a volume's folder, whichever copy mounts it, or a thing of one copy.
std::string target_of(const CopyPlace& place, const Part& part) {
  const VolumePlace* volume = volume_of(place, part);
  return volume != nullptr ? volume->folder : place.id + "/" + part.name;
}

// There is nowhere for it to go, or it is there.
Async<Result<void>> read_and_drop(Pull body) {
  for (;;) {
    const Result<std::string> piece = co_await body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return Result<void>();
  }
}

}  // namespace

Async<Result<std::string>> read_all(Pull body, std::size_t most) {
  std::string text;
  for (;;) {
    Result<std::string> piece = co_await body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return text;
    text += *piece;
    if (text.size() > most) co_return errno_error(EFBIG, "it is too long");
  }
}

Async<Response> Intake::take(MovePtr move, std::string name, Pull body) {
  if (move->arrival.bodies >= kMostBodies) {
    co_return failure(503, "too many payloads of that migration are arriving already");
  }
  ++move->arrival.bodies;
  Response answer = co_await take_part_of(move, std::move(name), std::move(body));
  --move->arrival.bodies;
  co_return answer;
}

Async<Response> Intake::take_part_of(MovePtr move, std::string name, Pull body) {
  Metered metered;
  const unsigned mine = ++move->arrival.tries;
  move->arrival.taking[name] = mine;
  move->account.passing = metered;
  move->account.sending_since = world_.clock.steady();
  const auto is_current = [move, name, mine] { return move->arrival.is_current(name, mine); };
  WhyNot why_not = [is_current, move]() -> std::string {
    if (!is_current()) return "it is taken no more";
    if (!move->give_up.empty()) return move->give_up;
    return move->entry.step >= Step::undo ? "the migration is undone" : "";
  };
  Pull watched = [this, why_not, counted = metered.wrap(std::move(body))] {
    return next_piece(counted, why_not);
  };
  Result<void> taken = co_await take_one(move, name, std::move(watched), std::move(why_not));
  if (taken && !metered.is_whole()) taken = bad_input("it did not come whole");
  move->account.bytes += metered.bytes();
  if (!is_current()) co_return failure(409, "it is taken no more");
  if (move->account.sending_since)
    move->account.sending_seconds += world_.clock.steady() - *move->account.sending_since;
  move->account.passing.reset();
  move->account.sending_since.reset();
  if (taken) {
    move->travel.received.insert(name);
    if (name == "image") move->travel.needs_image = false;
    if (name != "image") taken = co_await believe_received(move);
  }
  if (is_current()) move->arrival.taking.erase(name);
  move->peer.heard = world_.clock.steady();
  move->wake();
  if (!taken) {
    move->complain(taken.error());
    // What has come so far goes with the copy, and does not wait for its source to say so.
    if (is_beyond(taken.error())) move->turn_back(taken.error().message());
    const bool is_full = taken.error().code == boost::system::errc::no_space_on_device;
    co_return failure(is_full ? 507 : 422, taken.error().message());
  }
  co_return answer_with({{"bytes", metered.bytes()}, {"sha256", metered.sha256()}});
}

Async<void> Intake::is_taken_no_more(WhyNot why_not) {
  while (why_not().empty()) co_await world_.clock.pause(kLook);
}

// A connection that is dead may say nothing for minutes: it is not waited for.
Async<Result<std::string>> Intake::next_piece(Pull body, WhyNot why_not) {
  Async<Result<std::string>> coming = body();
  WhyNot again = why_not;
  Async<void> unwanted = is_taken_no_more(std::move(again));
  auto first = std::move(coming) || std::move(unwanted);
  std::variant<Result<std::string>, std::monostate> ended = co_await std::move(first);
  if (const std::string why = why_not(); !why.empty()) co_return bad_input(why);
  co_return std::move(std::get<0>(ended));
}

Async<Result<void>> Intake::take_one(MovePtr move, std::string name, Pull body, WhyNot why_not) {
  const Step step = move->entry.step;
  if (name == "image") {
    const bool is_there = step == Step::transfer || !move->travel.needs_image;
    if (step > Step::transfer || (is_there && !move->travel.has_asked)) {
      co_return bad_input("no image is awaited");
    }
    // Another move has brought it since it was asked for.
    if (is_there) co_return co_await read_and_drop(std::move(body));
    co_return co_await take_image_of(move, std::move(body));
  }
  if (step != Step::transfer || move->entry.container.empty()) {
    co_return bad_input("no data is awaited at step " + std::string(migration::name(step)));
  }
  std::string id = move->entry.container;
  if (name == "life") {
    Result<std::string> life = co_await read_all(std::move(body), kMaxLifeBytes);
    if (!life) co_return life.error();
    co_return co_await world_.lives.import_life(std::move(id), std::move(*life), move->plan.cause);
  }
  for (const Part& part : move->plan.parts) {
    if (part.name != name) continue;
    Result<CopyPlace> place =
        co_await world_.goods.find_place(std::move(id), world_.host.config().state_dir);
    if (!place) co_return place.error();
    Part wanted = part;
    const bool is_return = move->entry.method == Method::home;
    if (is_return && part.kind == PartKind::layer && place->upper.empty()) {
      co_return co_await read_and_drop(std::move(body));
    }
    // A ticket may have run here before its task did.
    place->is_fresh = place->is_fresh || (is_return && !place->is_running);
    const std::string target = target_of(*place, part);
    // An earlier try may still be there: it clears up what it has made, and this one begins then.
    while (!taken_.insert(target).second) {
      if (const std::string why = why_not(); !why.empty()) co_return bad_input(why);
      co_await world_.clock.pause(kLook);
    }
    const Result<void> taken =
        co_await take_part(move, std::move(*place), std::move(wanted), std::move(body));
    taken_.erase(target);
    co_return taken;
  }
  co_return bad_input("no such part is awaited");
}

Async<Result<void>> Intake::take_part(MovePtr move, CopyPlace place, Part part, Pull body) {
  PartLimits limits;
  move->arrival.budget.begin(part.name);
  limits.bytes = move->arrival.budget.left();
  limits.room = room_for(move, part.name, place.folder);
  limits.memory = memory_of(move->entry.source);
  const VolumePlace* volume = volume_of(place, part);
  if (volume != nullptr && is_data_volume(volume->name)) {
    std::string folder = volume->folder;
    co_return co_await take_data(std::move(folder), std::move(place), std::move(part),
                                 std::move(body), std::move(limits));
  }
  co_return co_await world_.goods.take_part(std::move(place), std::move(part), std::move(body),
                                            std::move(limits));
}

// What is whole is in use, and stays as it is.
Async<Result<void>> Intake::take_data(std::string folder, CopyPlace place, Part part, Pull body,
                                      PartLimits limits) {
  std::vector<std::string> folders{folder};
  const auto marks = co_await world_.files.marks_of(std::move(folders));
  if (!marks) co_return marks.error();
  if (marks->front()) co_return co_await read_and_drop(std::move(body));
  const Result<void> taken = co_await world_.goods.take_part(std::move(place), std::move(part),
                                                             std::move(body), std::move(limits));
  if (!taken) co_return taken;
  co_return co_await world_.files.mark_whole(std::move(folder));
}

Async<Result<void>> Intake::take_image_of(MovePtr move, Pull body) {
  ImageInfo image = move->plan.image;
  Result<std::string> root = co_await world_.engine.root();
  if (!root) co_return root.error();
  auto look = [this, folder = std::move(*root)] { return world_.files.look_for_room(folder); };
  Pull roomy = with_room(std::move(body), each_so_often(std::move(look)));
  co_return co_await world_.goods.take_image(std::move(image), move->travel.layers_there,
                                             std::move(roomy), kMaxImage);
}

Room Intake::room_for(MovePtr move, std::string name, std::string folder) {
  auto look = [this, folder = std::move(folder)] { return world_.files.look_for_room(folder); };
  const Room disk = each_so_often(std::move(look));
  return [move, name, disk](std::uint64_t bytes) { return take_bytes(move, name, disk, bytes); };
}

std::shared_ptr<TreeBudget> Intake::memory_of(const std::string& peer) {
  std::erase_if(memory_, [](const auto& one) { return one.second.expired(); });
  std::shared_ptr<TreeBudget> memory = memory_[peer].lock();
  if (!memory) {
    memory = std::make_shared<TreeBudget>(TreeBudget{kMaxTrees});
    memory_[peer] = memory;
  }
  return memory;
}

// When all is there, and on the disk, it counts as received.
Async<Result<void>> Intake::believe_received(MovePtr move) {
  const bool has_all =
      move->travel.received.contains("life") &&
      std::all_of(move->plan.parts.begin(), move->plan.parts.end(),
                  [&](const Part& one) { return move->travel.received.contains(one.name); });
  if (!has_all) co_return Result<void>();
  Result<CopyPlace> place =
      co_await world_.goods.find_place(move->entry.container, world_.host.config().state_dir);
  if (!place) co_return place.error();
  const Result<void> done = co_await world_.files.sync(place->folder);
  if (done) move->travel.is_received = true;
  co_return done;
}

}  // namespace flowcon::cluster::migration
