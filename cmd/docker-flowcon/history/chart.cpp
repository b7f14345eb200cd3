// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace flowcon::plugin {
namespace {

bool is_finite(const ChartPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

// The range of one coordinate. Halves keep the width of a range from -1e308 to 1e308 finite.
struct Range {
  double low = 0;
  double high = 0;

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // 0 to 1.
  [[nodiscard]] double part_of(double value) const {
    const double width = high / 2 - low / 2;
    return width > 0 ? std::clamp((value / 2 - low / 2) / width, 0.0, 1.0) : 0.5;
  }
  [[nodiscard]] double at(double part) const { return low * (1 - part) + high * part; }
};

// Dots in cells of characters, the first row at the top.
class Canvas {
 public:
  Canvas(unsigned columns, unsigned rows, bool braille)
      : columns_(columns),
        across_(braille ? 2 : 1),
        down_(braille ? 4 : 1),
        cells_(static_cast<std::size_t>(columns) * rows) {}

  [[nodiscard]] long last_x(unsigned columns) const { return columns * across_ - 1; }
  [[nodiscard]] long last_y(unsigned rows) const { return rows * down_ - 1; }

  void dot(long x, long y) {
    static constexpr std::array<unsigned char, 8> kBits{0x01, 0x08, 0x02, 0x10,
                                                        0x04, 0x20, 0x40, 0x80};
    const auto column = static_cast<std::size_t>(x / across_);
    const auto row = static_cast<std::size_t>(y / down_);
    const auto bit = static_cast<std::size_t>(y % down_ * 2 + x % across_);
    cells_[row * columns_ + column] |= kBits[bit];
  }

  // Bresenham's line.
  void line(long x, long y, long to_x, long to_y) {
    const long step_x = x < to_x ? 1 : -1;
    const long step_y = y < to_y ? 1 : -1;
    const long width = std::labs(to_x - x);
    const long height = -std::labs(to_y - y);
    long error = width + height;
    while (true) {
      dot(x, y);
      if (x == to_x && y == to_y) return;
      const long twice = 2 * error;
      if (twice >= height) {
        error += height;
        x += step_x;
      }
      if (twice <= width) {
        error += width;
        y += step_y;
      }
    }
  }

  // One row without blanks at its end.
  [[nodiscard]] std::string row_text(unsigned row) const {
    std::string text;
    std::size_t end = 0;
    for (unsigned column = 0; column < columns_; ++column) {
      const unsigned char dots = cells_[static_cast<std::size_t>(row) * columns_ + column];
      if (dots == 0) {
        text += ' ';
        continue;
      }
      if (down_ == 1) {
        text += '*';
      } else {  // U+2800 and the dots in UTF-8
        text += '\xE2';
        text += static_cast<char>(0xA0 | dots >> 6);
        text += static_cast<char>(0x80 | (dots & 0x3F));
      }
      end = text.size();
    }
    text.resize(end);
    return text;
  }

 private:
  unsigned columns_;
  long across_;
  long down_;
  std::vector<unsigned char> cells_;
};

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

class Chart {
 public:
  Chart(const std::vector<ChartPoint>& points, const ChartLook& look)
      : points_(points), look_(look), rows_(std::max(look.height, 5U) - 2) {
    bool is_first = true;
    for (const ChartPoint& point : points_) {
      if (!is_finite(point)) continue;
      if (is_first) {
        x_ = {point.x, point.x};
        y_ = {point.y, point.y};
      }
      is_first = false;
      x_.take(point.x);
      y_.take(point.y);
    }
    label_rows();
  }

  [[nodiscard]] std::string render() const {
    Canvas canvas(columns_, rows_, look_.braille);
    draw(canvas);
    const char* tick = look_.braille ? " ┤" : " +";
    const char* bar = look_.braille ? " │" : " |";
    std::string out;
    for (unsigned row = 0; row < rows_; ++row) {
      const std::string& label = labels_[row];
      out += right_aligned(label, label_width_) + (label.empty() ? bar : tick) +
             canvas.row_text(row) + "\n";
    }
    out += std::string(label_width_, ' ') + (look_.braille ? " └" : " +");
    for (unsigned column = 0; column < columns_; ++column) out += look_.braille ? "─" : "-";
    return out + "\n" + std::string(label_width_ + 2, ' ') + x_axis() + "\n";
  }

 private:
  // The highest value, the lowest, and one between. Values that are all alike have one label.
  void label_rows() {
    labels_.resize(rows_);
    const unsigned middle = rows_ / 2;
    const double part = 1 - (middle + 0.5) / rows_;
    const bool is_flat = !(y_.low < y_.high);
    labels_[middle] = look_.y_label(is_flat ? y_.low : y_.at(part));
    if (!is_flat) {
      labels_.front() = look_.y_label(y_.high);
      labels_.back() = look_.y_label(y_.low);
    }
    for (const std::string& label : labels_) label_width_ = std::max(label_width_, label.size());
    const std::size_t taken = label_width_ + 2;
    columns_ = static_cast<unsigned>(look_.width > taken + 4 ? look_.width - taken : 4);
  }

  void draw(Canvas& canvas) const {
    const double last_x = static_cast<double>(canvas.last_x(columns_));
    const double last_y = static_cast<double>(canvas.last_y(rows_));
    bool goes_on = false;
    long before_x = 0;
    long before_y = 0;
    for (const ChartPoint& point : points_) {
      if (!is_finite(point)) {
        goes_on = false;
        continue;
      }
      const long x = std::lround(x_.part_of(point.x) * last_x);
      const long y = std::lround((1 - y_.part_of(point.y)) * last_y);
      if (!goes_on) {
        canvas.dot(x, y);
      } else if (look_.has_steps) {
        canvas.line(before_x, before_y, x, before_y);
        canvas.line(x, before_y, x, y);
      } else {
        canvas.line(before_x, before_y, x, y);
      }
      before_x = x;
      before_y = y;
      goes_on = true;
    }
  }

  // Where the chart begins and where it ends, and the time between where there is room.
  [[nodiscard]] std::string x_axis() const {
    const std::string first = look_.x_label(x_.low);
    const std::string last = look_.x_label(x_.high);
    if (first.size() > columns_) return "";
    if (!(x_.low < x_.high)) return std::string((columns_ - first.size()) / 2, ' ') + first;
    if (first.size() + 2 + last.size() > columns_) return first;
    const std::string middle = look_.x_label(x_.at(0.5));
    std::string axis(columns_, ' ');
    axis.replace(0, first.size(), first);
    axis.replace(columns_ - last.size(), last.size(), last);
    const std::size_t at = (columns_ - std::min<std::size_t>(columns_, middle.size())) / 2;
    const bool fits = at >= first.size() + 2 && at + middle.size() + 2 + last.size() <= columns_;
    if (fits) axis.replace(at, middle.size(), middle);
    return axis;
  }

  const std::vector<ChartPoint>& points_;
  const ChartLook& look_;
  unsigned rows_;
  unsigned columns_ = 4;
  std::size_t label_width_ = 0;
  Range x_;
  Range y_;
  std::vector<std::string> labels_;
};

}  // namespace

std::string render_chart(const std::vector<ChartPoint>& points, const ChartLook& look) {
  if (std::none_of(points.begin(), points.end(), is_finite)) return "";
  return Chart(points, look).render();
}

}  // namespace flowcon::plugin
