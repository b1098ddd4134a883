// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>
#include <posgeo/manifest/fields.hpp>

#include <fmt/format.h>

#include <vector>

namespace posgeo::manifest {

/// The numbers first, first + step, ... : `count` of them. One number has step 1.
/// Units: positions, storage rows or cache slots.
struct span {
  index_t first;
  index_t count;
  index_t step;
  static constexpr auto fields() {
    return std::make_tuple(field("first", &span::first), field("count", &span::count), field("step", &span::step));
  }
  friend bool operator==(const span&, const span&) noexcept = default;
};

/// `count` rows that all have the value.
template <class Value>
struct run {
  index_t count;
  Value value;
  static constexpr auto fields() { return std::make_tuple(field("count", &run::count), field("value", &run::value)); }
  friend bool operator==(const run&, const run&) noexcept = default;
};

using spans = std::vector<span>;
template <class Value>
using runs = std::vector<run<Value>>;

/// Rows that the list counts, or the end of the 64-bit range.
template <class Piece>
[[nodiscard]] index_t rows_of(const std::vector<Piece>& pieces) noexcept {
  index_t rows = 0;
  for (const Piece& piece : pieces) rows = saturating_add(rows, piece.count);
  return rows;
}

[[nodiscard]] inline std::optional<broken_rule> broken(const span& s) {
  if (s.count < 1) return broken_rule{"count", "at least 1", std::to_string(s.count)};
  const auto in_limits = [](index_t p) { return p >= -position_limit && p <= position_limit; };
  constexpr std::string_view limits = "an integer less than 2^62 from zero";
  if (!in_limits(s.first)) return broken_rule{"first", std::string(limits), std::to_string(s.first)};
  if (s.count == 1 && s.step != 1) return broken_rule{"step", "1 for one number", std::to_string(s.step)};
  index_t moved = 0;
  index_t last = 0;
  const bool overflows =
      __builtin_mul_overflow(s.count - 1, s.step, &moved) || __builtin_add_overflow(s.first, moved, &last);
  if (!overflows && in_limits(last)) return std::nullopt;
  return broken_rule{"count", "a last number less than 2^62 from zero",
                     fmt::format("{} + {} * {}", s.first, s.count - 1, s.step)};
}

template <class Value>
[[nodiscard]] std::optional<broken_rule> broken(const run<Value>& r) {
  if (r.count < 1) return broken_rule{"count", "at least 1", std::to_string(r.count)};
  return std::nullopt;
}

/// Whether b goes on as a would have: the two are one piece. Both are whole.
[[nodiscard]] constexpr bool continues(const span& a, const span& b) noexcept {
  return a.step == b.step && saturating_add(a.first + (a.count - 1) * a.step, a.step) == b.first;
}
template <class Value>
[[nodiscard]] constexpr bool continues(const run<Value>& a, const run<Value>& b) noexcept {
  return a.value == b.value;
}

/// Collects numbers as spans: as long as they can be, of any step if they hold three numbers or more, else of step 0 or
/// 1. Equal numbers give equal spans, in whichever pieces they come.
class span_builder {
 public:
  void add(index_t value) {
    if (open_.count == 0) {
      open_ = {value, 1, 1};
    } else if (open_.count == 1) {
      open_ = {open_.first, 2, value - open_.first};
    } else if (value - last() == open_.step) {
      ++open_.count;
    } else if (open_.count == 2 && !short_step()) {
      const index_t second = last();
      done_.push_back({open_.first, 1, 1});
      open_ = {second, 2, value - second};
    } else {
      done_.push_back(open_);
      open_ = {value, 1, 1};
    }
  }
  /// Adds first, first + step, ...: `count` numbers, in constant time. The step is 0 or 1.
  void add_line(index_t first, index_t count, index_t step) {
    constexpr index_t settled = 4;  // after which the open span has the step of the line
    for (index_t n = 0; n < std::min(count, settled); ++n) add(first + n * step);
    if (count > settled) open_.count += count - settled;
  }
  [[nodiscard]] spans finish() && {
    if (open_.count == 2 && !short_step()) {
      done_.push_back({open_.first, 1, 1});
      done_.push_back({last(), 1, 1});
    } else if (open_.count > 0) {
      done_.push_back(open_);
    }
    return std::move(done_);
  }

 private:
  [[nodiscard]] index_t last() const noexcept { return open_.first + (open_.count - 1) * open_.step; }
  [[nodiscard]] bool short_step() const noexcept { return open_.step == 0 || open_.step == 1; }
  spans done_;
  span open_{0, 0, 1};
};

/// Adds `count` rows of the value to the runs.
template <class Value>
void add_run(runs<Value>& to, index_t count, Value value) {
  if (count <= 0) return;
  if (!to.empty() && to.back().value == value) {
    to.back().count += count;
  } else {
    to.push_back({count, value});
  }
}

}  // namespace posgeo::manifest
