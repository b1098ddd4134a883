// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/cell_map.hpp>
#include <posgeo/audit/html/curves.hpp>
#include <posgeo/call/position_call.hpp>
#include <posgeo/core/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace posgeo::audit::html {

/// How much of a call is drawn: one batch entry, heads evenly apart, and the last rows of each side. What is left out
/// is said beside the picture.
struct shown_part {
  index_t entry = 0;
  index_t most_heads = 4;
  index_t most_rows = 20;
};

namespace detail {

/// The position of a row, or "pad" for padding.
[[nodiscard]] inline std::string row_name(const row_space& rows, index_t b, index_t row) {
  return rows.active(b, row) ? fmt::format("{}", rows.at(b, row).value()) : std::string("pad");
}
[[nodiscard]] inline index_t first_shown(index_t rows, const shown_part& part) {
  return std::max<index_t>(0, rows - part.most_rows);
}
[[nodiscard]] inline std::string left_out(const position_call& call, const shown_part& part) {
  std::string out;
  if (call.batch() > 1) out += fmt::format(" Entry {} of {}.", part.entry, call.batch());
  const auto say = [&out, &part](index_t rows, std::string_view what) {
    if (rows > part.most_rows) out += fmt::format(" The last {} of {} {}.", part.most_rows, rows, what);
  };
  say(call.queries(), "queries");
  say(call.keys(), "keys");
  return out;
}
[[nodiscard]] inline std::vector<head_index> shown_heads(index_t heads, index_t most, std::string& words) {
  std::vector<head_index> out;
  for (const std::size_t h :
       spread(static_cast<std::size_t>(heads), static_cast<std::size_t>(std::max<index_t>(most, 0)))) {
    out.emplace_back(static_cast<index_t>(h));
  }
  if (heads > most) words += fmt::format(" {} of {} heads.", most, heads);
  return out;
}
inline void require_entry(const position_call& call, const shown_part& part) {
  require(part.entry >= 0 && part.entry < call.batch() && part.most_heads >= 1 && part.most_rows >= 1, errc::report,
          "part that is drawn", "entry, heads and rows",
          posgeo::text("an entry below {}, at least 1 of each", call.batch()),
          posgeo::text("entry {}, {} heads, {} rows", part.entry, part.most_heads, part.most_rows));
}

}  // namespace detail

/// value(b, h, i, j) of the visible pairs of a plan, a map for each head.
/// Units:  rows and columns are named by their positions.
/// Throws: errc::report for a part that the call does not have.
template <class Plan, class Value>
[[nodiscard]] block pair_maps(const Plan& plan, const std::string& title, const std::string& unit,
                              const shown_part& part, const Value& value) {
  const position_call& call = plan.call();
  detail::require_entry(call, part);
  std::string words =
      "Rows are queries and columns are keys, both named by their positions." + detail::left_out(call, part);
  const batch_index b{part.entry};
  std::vector<cell_map> maps;
  for (const head_index h : detail::shown_heads(plan.layout().query, part.most_heads, words)) {
    cell_map map{fmt::format("head {}", h.value()), "key position", "query position", {}, {}, {}};
    for (index_t j = detail::first_shown(call.keys(), part); j < call.keys(); ++j) {
      map.column_names.push_back(detail::row_name(call.key_space(), part.entry, j));
    }
    for (index_t i = detail::first_shown(call.queries(), part); i < call.queries(); ++i) {
      map.row_names.push_back(detail::row_name(call.query_space(), part.entry, i));
      for (index_t j = detail::first_shown(call.keys(), part); j < call.keys(); ++j) {
        const bool seen = plan.visible(b, query_index{i}, key_index{j});
        map.values.push_back(seen ? static_cast<double>(value(b, h, query_index{i}, key_index{j}))
                                  : std::numeric_limits<double>::quiet_NaN());
      }
    }
    maps.push_back(std::move(map));
  }
  return draw(title, words, unit, maps);
}

/// value(b, h, i, j) of the visible pairs of a plan by their offset, a line for each head. Where one offset has several
/// values the line is their mean, and the words say how far apart they are.
/// Units:  offsets are key minus query.
/// Throws: errc::report as above; errc::frame_mismatch for a call whose sides count in two frames.
template <class Plan, class Value>
[[nodiscard]] block pairs_by_distance(const Plan& plan, const std::string& title, const std::string& unit,
                                      const shown_part& part, const Value& value) {
  const position_call& call = plan.call();
  detail::require_entry(call, part);
  violations found;
  expect_same_frame(call, title, found);
  found.throw_if_any();
  std::string words;
  const std::vector<head_index> heads =
      detail::shown_heads(plan.layout().query, std::min<index_t>(part.most_heads, looks), words);
  struct met {
    double sum = 0.0;
    double least = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();
    index_t pairs = 0;
  };
  std::map<index_t, std::vector<met>> by_offset;
  const batch_index b{part.entry};
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) {
      if (!plan.visible(b, i, j)) continue;
      std::vector<met>& at = by_offset[call.offset(b, i, j).value()];
      at.resize(heads.size());
      for (std::size_t n = 0; n < heads.size(); ++n) {
        const auto number = static_cast<double>(value(b, heads[n], i, j));
        if (!std::isfinite(number)) continue;
        at[n].sum += number;
        at[n].least = std::min(at[n].least, number);
        at[n].largest = std::max(at[n].largest, number);
        ++at[n].pairs;
      }
    }
  }
  curves plot{title, "key position minus query position", unit, {}, {}, joined::straight};
  double apart = 0.0;
  double largest = 0.0;
  for (std::size_t n = 0; n < heads.size(); ++n) plot.lines.push_back({fmt::format("head {}", heads[n].value()), {}});
  for (const auto& [offset, at] : by_offset) {
    plot.x.push_back(static_cast<double>(offset));
    for (std::size_t n = 0; n < heads.size(); ++n) {
      const met& one = at[n];
      plot.lines[n].y.push_back(one.pairs > 0 ? one.sum / static_cast<double>(one.pairs)
                                              : std::numeric_limits<double>::quiet_NaN());
      if (one.pairs == 0) continue;
      apart = std::max(apart, one.largest - one.least);
      largest = std::max({largest, std::abs(one.least), std::abs(one.largest)});
    }
  }
  if (plot.x.empty()) return {.title = title, .words = "No key is visible." + words};
  words = (apart <= 1e-9 * largest ? std::string("A function of the offset alone.")
                                   : fmt::format("Not a function of the offset alone: pairs of one offset are up to {} "
                                                 "apart; the lines are means.",
                                                 shown(apart))) +
          words;
  return draw(plot, words + (call.batch() > 1 ? fmt::format(" Entry {} of {}.", part.entry, call.batch()) : ""));
}

/// The sum of the score biases of a plan, in maps and by distance.
template <class Plan>
[[nodiscard]] block bias_maps(const Plan& plan, const shown_part& part = {}) {
  static_assert(Plan::has_biases, "bias_maps: the plan has no score bias");
  return pair_maps(plan, "Bias of each pair", "bias", part,
                   [&plan](batch_index b, head_index h, query_index i, key_index j) { return plan.bias(b, h, i, j); });
}
template <class Plan>
[[nodiscard]] block bias_by_distance(const Plan& plan, const shown_part& part = {}) {
  static_assert(Plan::has_biases, "bias_by_distance: the plan has no score bias");
  return pairs_by_distance(
      plan, "Bias by distance", "bias", part,
      [&plan](batch_index b, head_index h, query_index i, key_index j) { return plan.bias(b, h, i, j); });
}

/// Numbers of pairs that a run of the plan gave, such as scores or weights. Shapes: [batch, query heads, queries,
/// keys]. Throws: errc::report as above; errc::shape_mismatch for another shape.
template <class Plan>
[[nodiscard]] auto numbers_of_pairs(const Plan& plan, const tensor_view<const typename Plan::scalar, 4>& numbers) {
  const std::array<index_t, 4> expected{plan.call().batch(), plan.layout().query, plan.call().queries(),
                                        plan.call().keys()};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    require(numbers.extent(axis) == expected[axis], errc::shape_mismatch, "numbers of pairs",
            posgeo::text("axis {}", axis), expected[axis], numbers.extent(axis));
  }
  return [numbers](batch_index b, head_index h, query_index i, key_index j) {
    return static_cast<double>(numbers.row(b.value(), h.value(), i.value())[static_cast<std::size_t>(j.value())]);
  };
}
template <class Plan>
[[nodiscard]] block score_maps(const Plan& plan, const tensor_view<const typename Plan::scalar, 4>& scores,
                               const shown_part& part = {}) {
  return pair_maps(plan, "Score of each pair", "score", part, numbers_of_pairs(plan, scores));
}
template <class Plan>
[[nodiscard]] block score_by_distance(const Plan& plan, const tensor_view<const typename Plan::scalar, 4>& scores,
                                      const shown_part& part = {}) {
  return pairs_by_distance(plan, "Score by distance", "score", part, numbers_of_pairs(plan, scores));
}
template <class Plan>
[[nodiscard]] block weight_maps(const Plan& plan, const tensor_view<const typename Plan::scalar, 4>& weights,
                                const shown_part& part = {}) {
  return pair_maps(plan, "Weight of each pair", "weight", part, numbers_of_pairs(plan, weights));
}

}  // namespace posgeo::audit::html
