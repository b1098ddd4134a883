// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace posgeo::call {

/// At which end of a number its digit of significance 0 stands.
enum class digit_order { most_significant_first, least_significant_first };

/// Storage rows [begin, end) that hold the digits of one number.
struct number_rows {
  index_t begin = 0;
  index_t end = 0;
  required<digit_order> order;
};

/// Rows that share a position, one list for each position.
using row_groups = std::vector<std::vector<index_t>>;

inline constexpr index_t most_coupled_rows = index_t{1} << 24;

/// Groups in the order in which the release counts their positions: the most significant digits first, the units last,
/// and behind them the operators (the plus sign and the equals sign), if there are any. A number takes part in as many
/// groups as it has digits.
/// Throws: errc::position_rule for a range that ends before it begins, begins below 0 or has more than 2^24 rows.
/// Source: Cho et al. 2024, section 3, as released: HanseulJo/position-coupling.
[[nodiscard]] inline row_groups groups_by_significance(std::span<const number_rows> numbers,
                                                       std::span<const index_t> operators) {
  row_groups groups;
  for (const number_rows& number : numbers) {
    require(number.begin >= 0 && number.begin <= number.end, errc::position_rule, "coupled positions", "digit rows",
            "a range that begins at 0 or later and ends no earlier", text("{}..{}", number.begin, number.end));
    require(number.end - number.begin <= most_coupled_rows, errc::position_rule, "coupled positions", "digit rows",
            "at most 2^24", number.end - number.begin);
    for (index_t row = number.begin; row < number.end; ++row) {
      const bool largest_first = number.order == digit_order::most_significant_first;
      const auto significance = static_cast<std::size_t>(largest_first ? number.end - 1 - row : row - number.begin);
      if (groups.size() <= significance) groups.resize(significance + 1);
      groups[significance].push_back(row);
    }
  }
  std::reverse(groups.begin(), groups.end());
  if (!operators.empty()) groups.emplace_back(operators.begin(), operators.end());
  return groups;
}

struct coupled_positions_spec {
  required<index_t> rows;
  std::span<const std::vector<index_t>> groups;  ///< every row of group g stands at first + g
  required<index_t> first;                       ///< drawn anew for each training example in the paper
  std::optional<index_t> others = {};            ///< where rows of no group stand; left out: there are none
  index_t entries = 1;                           ///< all of them coupled alike
};

/// Where each row stands.
///
/// Shapes: [rows].
/// Throws: errc::position_rule for more than 2^24 rows and for a row outside of [0, rows), in two groups, or in none
///         while `others` is left out.
[[nodiscard]] inline std::vector<index_t> positions_of(const coupled_positions_spec& spec) {
  const index_t rows = spec.rows;
  require(rows >= 0 && rows <= most_coupled_rows, errc::position_rule, "coupled positions", "rows", "from 0 to 2^24",
          rows);
  std::vector<std::optional<index_t>> placed(static_cast<std::size_t>(rows));
  index_t here = spec.first;
  for (const auto& group : spec.groups) {
    for (const index_t row : group) {
      require(row >= 0 && row < rows, errc::position_rule, "coupled positions", "row of a group",
              text("from 0 to below {}", rows), row);
      auto& place = placed[static_cast<std::size_t>(row)];
      require(!place, errc::position_rule, "coupled positions", text("groups of row {}", row), "one", "two");
      place = here;
    }
    here = saturating_add(here, 1);
  }
  std::vector<index_t> positions;
  for (const auto& place : placed) {
    require(place || spec.others, errc::position_rule, "coupled positions", text("groups of row {}", positions.size()),
            "one (or a position for the others)", "none");
    positions.push_back(place ? *place : *spec.others);
  }
  return positions;
}

/// Self-attention over rows of which those of one group stand at one position. visible::causal compares positions: it
/// shows the later rows of a group and hides earlier rows that stand higher. Where the model reads rows in storage
/// order, name a visibility that does (visible::custom).
/// Throws: see positions_of and position_call.
/// Source: Cho et al. 2024, position coupling, section 3.
[[nodiscard]] inline position_call coupled_positions(const coupled_positions_spec& spec) {
  const auto one = positions_of(spec);
  std::vector<index_t> positions;
  for (index_t b = 0; b < spec.entries; ++b) positions.insert(positions.end(), one.begin(), one.end());
  const explicit_side side{.positions = positions, .rows = spec.rows};
  return explicit_positions({.entries = spec.entries, .query = side, .key = side, .reuse = position_reuse::intended});
}

}  // namespace posgeo::call
