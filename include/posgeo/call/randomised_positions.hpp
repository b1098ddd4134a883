// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/core/required.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace posgeo::call {

namespace detail {

/// splitmix64: the same numbers on every platform.
class splitmix64 {
 public:
  explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t operator()() noexcept {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// Uniform in [0, count): numbers of the last, incomplete round are drawn again.
  std::uint64_t below(std::uint64_t count) noexcept {
    const std::uint64_t incomplete = (0U - count) % count;
    std::uint64_t drawn = (*this)();
    while (drawn < incomplete) drawn = (*this)();
    return drawn % count;
  }

 private:
  std::uint64_t state_;
};

}  // namespace detail

struct random_order_spec {
  required<index_t> rows;
  required<index_t> max_position;  ///< positions are drawn from 0 to max_position - 1
  required<std::uint64_t> seed;
};

/// A uniformly drawn subset of [0, max_position) in increasing order: row k stands at the k-th smallest. Equal seeds
/// give equal positions everywhere.
/// Shapes: [rows].
/// Throws: errc::position_rule for more rows than positions, or a count out of range.
/// Source: Ruoss et al. 2023, section 3 (positions counted from 0 here); the subset by Floyd's method.
[[nodiscard]] inline std::vector<index_t> random_ordered_positions(const random_order_spec& spec) {
  const index_t rows = spec.rows;
  const index_t most = spec.max_position;
  require(most >= 0 && most <= position_limit, errc::position_rule, "randomised positions", "max_position",
          "at least 0 and less than 2^62", most);
  require(rows >= 0 && rows <= most, errc::position_rule, "randomised positions", "rows",
          text("from 0 to max_position {}", most), rows);
  detail::splitmix64 generator(spec.seed);
  std::set<index_t> drawn;
  for (index_t last = most - rows; last < most; ++last) {
    const auto candidate = static_cast<index_t>(generator.below(static_cast<std::uint64_t>(last) + 1));
    if (!drawn.insert(candidate).second) drawn.insert(last);
  }
  return {drawn.begin(), drawn.end()};
}

struct randomised_positions_spec {
  std::span<const std::uint64_t> seeds;  ///< one for each entry; equal seeds share their positions
  required<index_t> rows;
  required<index_t> max_position;
  coordinate_frame frame = {};
  stream origin = stream::shared;
};

/// Self-attention over rows that keep their order and have random gaps. Throws: see random_ordered_positions and
/// position_call.
[[nodiscard]] inline position_call randomised_positions(const randomised_positions_spec& spec) {
  std::vector<index_t> positions;
  for (const std::uint64_t seed : spec.seeds) {
    const auto one = random_ordered_positions({.rows = spec.rows, .max_position = spec.max_position, .seed = seed});
    positions.insert(positions.end(), one.begin(), one.end());
  }
  const explicit_side side{.positions = positions, .rows = spec.rows, .frame = spec.frame, .origin = spec.origin};
  return explicit_positions({.entries = static_cast<index_t>(spec.seeds.size()), .query = side, .key = side});
}

}  // namespace posgeo::call
