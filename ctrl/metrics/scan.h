// SPDX-License-Identifier: Apache-2.0
// One line becomes the numbers that stand on it, each with its name: "key: v", "key=v", "key v",
// "key (v)", "(key)v", "key | v" in a box, "v (average)", "a/b", "v name", JSON and Python
// dictionaries. Says nothing about what a number means. One pass, bounded by the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/number.h"

namespace flowcon::ctrl::metrics {

struct Field {
  std::string_view key;  ///< as printed; "" = nameless
  double value = 0;
  double total = 0;           ///< b of "a/b"; only with has_total
  std::size_t at = 0;         ///< where the number begins
  std::size_t total_at = 0;   ///< where b begins
  Phase phase = Phase::none;  ///< of the words before the name ("Test: loss 0.3")
  bool integer = false;
  bool percent = false;
  bool unit = false;         ///< a unit is glued to it: seconds, bytes, a rate
  bool far_unit = false;     ///< the next word is a unit ("351.17 samples/sec"), or the next name
  bool average = false;      ///< the "(v)" after a value of the same name
  bool has_total = false;    ///< a counter "a/b" of whole numbers, or "a of b"
  bool scaled = false;       ///< a or b are printed as "12.9k", "57,350"
  bool quoted = false;       ///< a member of a dictionary
  bool named_after = false;  ///< "719.53 avg": the name follows
  bool after_best = false;   ///< "Best is trial 3 with value: 0.97"
  bool placed = false;       ///< its name stands at the head of its column
  bool bracketed = false;    ///< nameless in brackets: "[120]", "[1, 2000]"
};

/// A progress bar on the line (Keras, tqdm, rich).
struct Bar {
  bool present = false;
  double done = 0;
  double total = 0;
  std::size_t title = 0;  ///< bytes before the drawn part: what distinguishes it from other bars
};

struct LineFacts {
  std::vector<Field> fields;
  Bar bar;
};

/// Reused for all lines of one log, so that a line costs no allocation.
class LineScanner {
 public:
  LineScanner();
  /// The numbers of `line`; valid until the next call and while `line` lives.
  const LineFacts& scan(std::string_view line);

 private:
  struct Frame {
    std::string_view prefix;  ///< path of the dictionary, ends in "."
    std::string_view label;   ///< the string member that names the value ("key", "name", "tag")
    std::size_t first_field = 0;
    std::size_t begin = 0;  ///< behind its brace
  };
  struct Key {
    std::string_view text;
    bool bracketed = false;  ///< an opening [ stands between name and number
    bool is_average = false;
    bool quoted = false;
    bool after_number = false;  ///< a counter and a separator or "is" stand before the number
  };

  /// What stands between the last value and a number, read from its end.
  struct Gap {
    std::size_t low = 0;       ///< where it begins
    std::size_t end = 0;       ///< what is not read yet ends here
    bool after_field = false;  ///< it begins where a value ended
    bool separated = false;    ///< a ":", "=" or wall of a box stands before the number
    bool called = false;       ///< "name (v"
    bool blank_after_name = false;
  };

  std::size_t scan_word(std::size_t at);
  std::size_t scan_number(std::size_t at);
  std::size_t scan_quoted(std::size_t at);
  std::size_t scan_at_sign(std::size_t at) const;
  void open_frame(std::size_t at);
  void close_frame();
  void take_string(std::string_view content, std::size_t begin, std::size_t end);
  void take_number(std::size_t begin, const Number& number, std::string_view unit, std::size_t end);
  /// A date, time, range, version or address that begins with the number that ends at `end`:
  /// returns the position after it, `end` where it is none.
  std::size_t skip_compound(std::size_t at, const Number& number);
  std::size_t take_scaled_count(std::size_t at, std::size_t end);
  /// "Loss after 10 steps: 0.5": the words around a count name the value behind it. Returns the
  /// position after the value, 0 where there is none.
  std::size_t take_around(std::size_t at, const Number& count);
  /// "Objective for minibatches 40-49 is -35.0": the range begins with `first` and ends at `end`.
  /// Returns the position after the value, 0 where there is none.
  std::size_t take_of_range(std::size_t at, const Number& first, std::size_t end);
  std::size_t take_with_unit(std::size_t at, const Number& number);
  bool take_in_parentheses(Field& field, const Number& number, std::size_t end);
  std::size_t take_ratio(std::size_t begin, const Number& first, std::size_t second_at);
  std::size_t take_two_values(Field field, std::string_view key, const Number& second,
                              std::size_t second_at);
  void name_after_counter(Field& field);
  void name_before_counter(Field& field, std::size_t begin);
  void tell_phase_at_end();
  void name_by_place();
  void name_by_place(std::size_t first, std::size_t count);
  [[nodiscard]] bool is_cell(std::string_view key, std::size_t begin, std::size_t end) const;
  void set_fence(std::size_t end);
  void add(Field field, std::size_t end);
  [[nodiscard]] Key key_before(std::size_t at) const;
  void skip_back(Gap& gap) const;
  void step_out_of_call(Gap& gap, Key& key) const;
  [[nodiscard]] bool step_over_separator(Gap& gap) const;
  [[nodiscard]] std::string_view name_with_group(const Gap& gap, std::size_t at) const;
  [[nodiscard]] std::string_view name_before_wall(Gap gap) const;
  [[nodiscard]] std::string_view name_of_bracket(std::string_view name, const Gap& gap) const;
  [[nodiscard]] std::string_view cleaned_name(std::string_view name, const Gap& gap) const;
  [[nodiscard]] std::string_view key_after(std::size_t at, bool is_count) const;
  [[nodiscard]] bool quotes_number(std::size_t at) const;
  [[nodiscard]] std::string_view words_before(std::size_t from, std::size_t at) const;
  [[nodiscard]] std::string_view frame_key(std::string_view key);
  [[nodiscard]] std::string_view compose(std::string_view a, std::string_view b,
                                         std::string_view c = {});
  void find_bar();

  std::string_view line_;
  std::size_t first_ = 0;        ///< the first character that is not blank
  std::size_t fence_ = 0;        ///< end of the last number, date or string value
  bool fence_is_field_ = false;  ///< the fence is the end of a value
  bool after_best_ = false;      ///< the word "best" stands before, in the same clause
  std::size_t fields_before_best_ = 0;
  std::size_t last_close_ = 0;    ///< of the line's last ']'
  std::size_t passed_over_ = 0;   ///< numbers that are none
  bool has_open_double_ = false;  ///< a quote that is never closed on this line
  bool has_open_single_ = false;
  Phase phase_ = Phase::none;
  std::size_t phase_end_ = 0;  ///< where the last word of a phase ends
  std::vector<Frame> frames_;
  std::size_t overdeep_ = 0;  ///< open braces beyond the depth that is followed
  std::string arena_;         ///< composed names; never grows beyond its first capacity
  LineFacts facts_;
};

}  // namespace flowcon::ctrl::metrics
