// SPDX-License-Identifier: Apache-2.0
#include "tests/cluster/migration/run/migrator_fakes.h"

namespace flowcon::cluster::test {

Async<Result<void>> FakeRows::save(ctrl::store::Migration row) {
  const Result<Entry> entry = parse_entry(row.entry);
  if (entry && refused_.contains(entry->step)) {
    ++refusals_;
    co_return errno_error(ENOSPC, "writing the journal");
  }
  if (entry) steps_.push_back(name(entry->step));
  rows_[row.id] = std::move(row);
  co_return Result<void>();
}

Async<Result<std::vector<ctrl::store::Migration>>> FakeRows::read(std::size_t) {
  if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
  std::vector<ctrl::store::Migration> all;
  for (const auto& [id, row] : rows_) all.push_back(row);
  co_return all;
}

Async<Result<std::vector<std::string>>> FakeRows::ended(std::size_t most) {
  if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
  std::multimap<double, std::string, std::greater<>> by_end;
  for (const auto& [id, row] : rows_) {
    if (row.ended) by_end.emplace(*row.ended, row.entry);
  }
  std::vector<std::string> all;
  for (const auto& [end, entry] : by_end) all.push_back(entry);
  if (all.size() > most) all.resize(most);
  co_return all;
}

Async<Result<ctrl::store::Migration>> FakeRows::find(std::string id) {
  if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
  const auto found = rows_.find(id);
  if (found == rows_.end()) co_return errno_error(ENOENT, "no such move");
  co_return found->second;
}

Async<Result<std::vector<ctrl::store::LostMove>>> FakeRows::lost() { co_return lost_; }

bool FakeRows::is_whole() const { return is_whole_; }

std::string FakeRows::step() const {
  if (rows_.empty()) return "";
  const Result<Entry> entry = parse_entry(rows_.begin()->second.entry);
  return entry ? name(entry->step) : "?";
}

std::string FakeRows::reason() const {
  const Result<Entry> entry = parse_entry(rows_.begin()->second.entry);
  return entry ? entry->reason : "?";
}

ctrl::Pull pull_of(const std::string& text) {
  auto left = std::make_shared<std::string>(text);
  return [left]() -> Async<Result<std::string>> { co_return std::exchange(*left, ""); };
}

Async<Result<std::string>> drained(ctrl::Pull body) {
  std::string text;
  for (;;) {
    Result<std::string> piece = co_await body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return text;
    text += *piece;
  }
}

Async<Result<ImageInfo>> FakeGoods::image_info(std::string id) {
  if (!images_.contains(id)) co_return errno_error(ENOENT, "no such image");
  const std::vector<std::string> layers(layers_, "sha256:" + std::string(64, '1'));
  co_return ImageInfo{id, layers, image_bytes_, "amd64"};
}

Async<Result<std::size_t>> FakeGoods::layers_there(ImageInfo) { co_return layers_there_; }

Async<Result<std::string>> FakeGoods::image_history(std::string) { co_return history_; }

Async<Result<ctrl::Pull>> FakeGoods::send_image(ImageInfo, std::size_t) {
  ++image_sends_;
  co_return pull_of("layers");
}

Async<Result<void>> FakeGoods::take_image(ImageInfo image, std::size_t, ctrl::Pull body,
                                          std::uint64_t) {
  const Result<std::string> text = co_await drained(std::move(body));
  if (!text) co_return text.error();
  if (!refuses_images_.empty()) co_return bad_input(refuses_images_);
  images_.insert(image.id);
  co_return Result<void>();
}

Async<Result<std::string>> FakeGoods::call_image(ImageInfo image, std::string, bool is_brought) {
  if (is_brought || moved_.contains(image.id)) moved_[image.id] = {image.id, 50, 0};
  co_return image.id;
}

Async<Result<void>> FakeGoods::remove_image(std::string id, ImageName called) {
  removals_.push_back(id);
  if (on_removal_) on_removal_();
  if (keeps_images_) co_return bad_input("it is in use");
  if ((called == ImageName::moved) != moved_.contains(id)) co_return Result<void>();
  if (loses_names_) moved_.erase(id);
  if (loses_names_) co_return bad_input("no space left on device");
  images_.erase(id);
  moved_.erase(id);
  co_return Result<void>();
}

Async<Result<std::vector<MovedImage>>> FakeGoods::moved_images() {
  ++sweeps_;
  std::vector<MovedImage> all;
  for (const auto& [id, image] : moved_) all.push_back(image);
  co_return all;
}

Async<Result<CopyPlace>> FakeGoods::find_place(std::string id, std::string) {
  CopyPlace place;
  place.id = id;
  place.folder = "/fake/" + id;
  if (volumes_of_) place.volumes = volumes_of_(id);
  co_return place;
}

Async<Result<ctrl::Pull>> FakeGoods::send_part(CopyPlace, Part part) {
  co_return pull_of("bytes of " + part.name);
}

Async<Result<void>> FakeGoods::take_part(CopyPlace, Part part, ctrl::Pull body, PartLimits) {
  if (is_taking_) is_taking_(part.name, true);
  const Result<std::string> text = co_await drained(std::move(body));
  if (is_taking_) is_taking_(part.name, false);
  if (!text) co_return text.error();
  if (!refuses_parts_.empty()) co_return bad_input(refuses_parts_);
  parts_[part.name] = *text;
  co_return Result<void>();
}

namespace {

class FakePayload : public PayloadConnection {
 public:
  explicit FakePayload(const Carry& carry) : carry_(carry) {}
  Async<Result<Answer>> put(std::string target, ctrl::Pull body, double) override {
    return carry_("PUT", std::move(target), std::move(body));
  }
  Async<void> close() override { co_return; }

 private:
  const Carry& carry_;
};

}  // namespace

std::shared_ptr<PayloadConnection> FakeGoods::connect(std::vector<std::string>) {
  ++connections_;
  return std::make_shared<FakePayload>(carry_);
}

Async<Result<void>> FakeFiles::sync(std::string) { co_return Result<void>(); }

Async<Result<void>> FakeFiles::look_for_room(std::string) { co_return Result<void>(); }

Async<Result<std::string>> FakeFiles::why_no_room(std::string, std::uint64_t bytes) {
  if (free_ && bytes > free_()) co_return std::string("not enough room on its disk");
  co_return room_;
}

Async<std::vector<std::string>> FakeFiles::unfit_paths(boost::json::object, AcceptPolicy) {
  co_return std::vector<std::string>();
}

Async<Result<std::vector<Tree>>> FakeFiles::measure(std::vector<std::string> folders,
                                                    std::uint64_t) {
  if (measure_lasts_ > 0) co_await clock_.pause(measure_lasts_);
  co_return std::vector<Tree>(folders.size(), Tree{100, 1, content_});
}

Async<Result<void>> FakeFiles::mark_whole(std::string folder) {
  marks_[folder] = {100, clock_.wall()};
  co_return Result<void>();
}

Async<Result<std::vector<std::optional<DataMark>>>> FakeFiles::marks_of(
    std::vector<std::string> folders) {
  std::vector<std::optional<DataMark>> marks;
  for (const std::string& folder : folders) {
    const auto found = marks_.find(folder);
    marks.push_back(found == marks_.end() ? std::nullopt : std::optional(found->second));
  }
  co_return marks;
}

Async<void> FakeFiles::mark_used(std::string folder) {
  marks_[folder].used = clock_.wall();
  co_return;
}

Async<LeftBehind> FakeFiles::left_behind(std::string, std::string, boost::json::object,
                                         std::optional<timespec>) {
  co_return left_;
}

Async<bool> FakeFiles::has_saved_since(Plan, CopyPlace, timespec) { co_return has_saved_; }

timespec FakeFiles::now() const { return {static_cast<std::time_t>(clock_.wall()), 0}; }

Async<Result<std::string>> FakeLives::export_life(std::string) { co_return std::string("{}"); }

Async<Result<void>> FakeLives::import_life(std::string, std::string, Cause) {
  ++imports_;
  co_return Result<void>();
}

Async<Result<void>> FakeLives::forget_life(std::string) { co_return Result<void>(); }

Async<Result<Answer>> FakeLink::ask(std::string, std::string method, std::string target,
                                    std::string body, double seconds) {
  if (seconds > kMostOnConnection) long_asks_.push_back(target);
  return ask_(std::move(method), std::move(target), std::move(body));
}

Result<std::vector<std::string>> FakeLink::dial(const std::string&) const {
  return std::vector<std::string>{"ssh"};
}

void OneHost::pass(double seconds) {
  const double end = clock.steady() + seconds;
  do {
    io.restart();
    while (io.poll() > 0) {
    }
  } while (clock.advance(end));
}

MovePtr OneHost::add(Side side, Step step, const std::string& name) {
  Entry entry;
  entry.id = std::string(31, 'f') + std::to_string(open.all().size());
  entry.side = side;
  entry.step = step;
  entry.name = name;
  entry.container = std::string(64, static_cast<char>('a' + open.all().size()));
  entry.source = host_id(side == Side::source ? '1' : '2');
  entry.target = host_id(side == Side::source ? '2' : '1');
  auto move = std::make_shared<Move>(clock, std::move(entry), Plan());
  move->began = clock.steady();
  open.add(move);
  return move;
}

}  // namespace flowcon::cluster::test
