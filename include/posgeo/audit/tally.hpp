// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace posgeo::audit {

/// Numbers first, first + 1 .. last, of which the n-th was counted count + n * step times.
struct counted_line {
  index_t first;
  index_t last;
  index_t count;
  index_t step;
  friend bool operator==(const counted_line&, const counted_line&) noexcept = default;

  /// How often `at`, one of the numbers, was counted.
  [[nodiscard]] index_t operator()(index_t at) const noexcept {
    return step == 0 ? count : count + step * (at - first);
  }
  /// How often the numbers from low to high, which are some of them, were counted together.
  [[nodiscard]] index_t sum(index_t low, index_t high) const noexcept {
    const index_t numbers = high - low + 1;
    const index_t ends = (*this)(low) + (*this)(high);  // numbers * ends is even
    return numbers % 2 == 0 ? numbers / 2 * ends : ends / 2 * numbers;
  }
};

/// How often each whole number was counted, exactly. What is stored is where the counts stop to be a straight line, so
/// memory grows with the bends of their graph, neither with lengths nor with what was added.
/// Units:  numbers from -(2^63 - 2) to 2^63 - 2; at most 2^60 counts together.
/// Throws: errc::coverage for what is beyond these, for a count below 0, and for lines that are no tally's own.
class tally {
 public:
  static constexpr index_t most = index_t{1} << 60;
  static constexpr index_t furthest = std::numeric_limits<index_t>::max() - 1;

  tally() = default;
  /// The tally whose lines() these are.
  explicit tally(const std::vector<counted_line>& lines) {
    std::optional<index_t> before;
    for (const counted_line& line : lines) {
      const auto expect = [&line](bool ok, std::string_view axis, std::string_view expected) {
        require(ok, errc::coverage, "tally", axis, expected,
                text("{}..{}, count {}, step {}", line.first, line.last, line.count, line.step));
      };
      expect(line.first <= line.last && (!before || *before < line.first), "line", "numbers above those before it");
      before = line.last;
      add_line(line.first, line.last, line.count, line.step);
      expect(line.count > 0 && line(line.last) > 0, "line", "counts above 0");
    }
    require(this->lines() == lines, errc::coverage, "tally", "lines", "lines() of a tally", "others");
  }

  /// Counts a number.
  void add(index_t at, index_t count) { add_line(at, at, count, 0); }
  /// Counts each number from first to last, the n-th of them count + n * step times; none if last is below first.
  void add_line(index_t first, index_t last, index_t count, index_t step) {
    if (first > last) return;
    const auto fits = [](index_t number) { return number >= -furthest && number <= furthest; };
    require(fits(first) && fits(last), errc::coverage, "tally", "number", "from -(2^63 - 2) to 2^63 - 2",
            text("{}..{}", first, last));
    const auto total = within_most(first, last, count, step);
    require(total && *total <= most - total_, errc::coverage, "tally", text("counts of {}..{}", first, last),
            "none below 0, and at most 2^60 together", text("{}, step {}, after {}", count, step, total_));
    total_ += *total;
    const index_t end = counted_line{first, last, count, step}(last);
    bend(first - 1, count);
    bend(first, step - count);
    bend(last, -step - end);
    bend(last + 1, end);
  }
  /// Counts what the other has counted.
  void add(const tally& other) {
    require(other.total_ <= most - total_, errc::coverage, "tally", "counts", "at most 2^60 together",
            text("{} and {}", total_, other.total_));
    if (&other == this) return add(tally(other));
    total_ += other.total_;
    for (const auto& [at, by] : other.bends_) bend(at, by);
  }

  [[nodiscard]] bool empty() const noexcept { return bends_.empty(); }
  [[nodiscard]] std::optional<index_t> lowest() const noexcept {
    if (empty()) return std::nullopt;
    return bends_.begin()->first + 1;
  }
  [[nodiscard]] std::optional<index_t> highest() const noexcept {
    if (empty()) return std::nullopt;
    return bends_.rbegin()->first - 1;
  }
  /// How often a number was counted.
  [[nodiscard]] index_t operator()(index_t at) const { return total(at, at); }
  [[nodiscard]] index_t total() const noexcept { return total_; }
  /// How often the numbers from low to high were counted together.
  [[nodiscard]] index_t total(index_t low, index_t high) const {
    index_t sum = 0;
    each_line([&](const counted_line& line) {
      const index_t from = std::max(low, line.first);
      const index_t to = std::min(high, line.last);
      if (from <= to) sum += line.sum(from, to);
    });
    return sum;
  }
  /// How many counts are of numbers above this one.
  [[nodiscard]] index_t above(index_t number) const { return number >= furthest ? 0 : total(number + 1, furthest); }
  /// How many numbers were counted at least `count` times, which is 1 or more.
  [[nodiscard]] index_t numbers(index_t count) const {
    require(count >= 1, errc::coverage, "tally", "count", "at least 1", count);
    index_t found = 0;
    each_line([&](const counted_line& line) {
      const index_t all = line.last - line.first + 1;
      if (line.step == 0) {
        found += line.count >= count ? all : 0;
      } else {
        const index_t slope = std::abs(line.step);
        const index_t spare = std::max(line.count, line(line.last)) - count;
        if (spare >= 0) found += std::min(all, spare / slope + 1);
      }
    });
    return found;
  }

  /// Calls visit(line) for the straight lines of the graph; together they hold each counted number once. Each line,
  /// from the lowest number on, is the longest of equal counts, or of three numbers or more, or else one number.
  template <class Visit>
  void each_line(const Visit& visit) const {
    if (empty()) return;
    auto after = std::next(bends_.begin());  // the first bend above `at`
    index_t at = bends_.begin()->first;
    index_t step = bends_.begin()->second;  // from `at` to the number after it
    index_t count = 0;
    const auto go_to = [&](index_t number) {
      if (step != 0) count += step * (number - at);
      at = number;
      if (after == bends_.end() || after->first != number) return;
      step += after->second;
      ++after;
    };
    while (after != bends_.end()) {
      const index_t to = after->first;
      if (count == 0) {
        go_to(step == 0 ? to : at + 1);
        continue;
      }
      index_t last = to;
      if (step != 0 && count + step * (to - at) == 0) --last;
      if (step != 0 && last - at < 2) last = at;
      visit(counted_line{at, last, count, last == at ? 0 : step});
      if (last == to) go_to(to);
      go_to(last + 1);
    }
  }
  /// These lines. Equal tallies have equal ones.
  [[nodiscard]] std::vector<counted_line> lines() const {
    std::vector<counted_line> all;
    each_line([&all](const counted_line& line) { all.push_back(line); });
    return all;
  }

  friend bool operator==(const tally& a, const tally& b) noexcept { return a.bends_ == b.bends_; }

 private:
  /// How often the numbers of a line are counted together; nothing if that is more than a tally holds or below 0.
  [[nodiscard]] static std::optional<index_t> within_most(index_t first, index_t last, index_t count, index_t step) {
    __extension__ using wide = __int128;
    const wide numbers = static_cast<wide>(last) - first + 1;
    const wide end = static_cast<wide>(count) + static_cast<wide>(step) * (numbers - 1);
    if (count < 0 || end < 0 || count > most || end > most) return std::nullopt;
    if (count == 0 && end == 0) return 0;
    const wide twice = numbers * (count + end);  // below 2^64 * 2^61
    if (twice / 2 > most) return std::nullopt;
    return static_cast<index_t>(twice / 2);
  }
  /// Adds to how much the slope grows at a number.
  void bend(index_t at, index_t by) {
    if (by == 0) return;
    const auto found = bends_.try_emplace(at, 0).first;
    found->second += by;
    if (found->second == 0) bends_.erase(found);
  }

  std::map<index_t, index_t> bends_;  ///< where the slope of the graph changes, and by how much
  index_t total_ = 0;
};

}  // namespace posgeo::audit
