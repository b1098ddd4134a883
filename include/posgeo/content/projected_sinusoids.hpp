// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/distance_rows.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/row_product.hpp>
#include <posgeo/core/table_gradient.hpp>
#include <posgeo/frequency/geometric.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace posgeo::content {

/// Whether distances are told apart without end, or share a row from some distance on.
class clamp_len {
 public:
  [[nodiscard]] static clamp_len unlimited() noexcept { return clamp_len(std::numeric_limits<index_t>::max()); }
  /// Distances beyond `furthest`, on either side, count as it. A checkpoint's 0 or -1 is unlimited().
  /// Throws: errc::bucket_settings below 1.
  [[nodiscard]] static clamp_len at(index_t furthest) {
    require(furthest >= 1, errc::bucket_settings, "clamp_len", "distance",
            "at least 1 (0 or -1 of a checkpoint is clamp_len::unlimited())", furthest);
    return clamp_len(furthest);
  }
  [[nodiscard]] index_t furthest() const noexcept { return furthest_; }
  [[nodiscard]] bool limited() const noexcept { return furthest_ != unlimited().furthest_; }

 private:
  explicit clamp_len(index_t furthest) noexcept : furthest_(furthest) {}
  index_t furthest_;
};

/// The keys that a query's rows are made for.
enum class distance_reach {
  back_only,  ///< those up to the query: the attention must hide the future
  both_ways,  ///< also those after it
};

[[nodiscard]] constexpr std::string_view name_of(distance_reach reach) noexcept {
  return reach == distance_reach::back_only ? "back_only" : "both_ways";
}

struct projected_sinusoids_settings {
  required<distance_reach> reach;
  required<clamp_len> clamp;
};

/// r[h, n] = W_r R[n], where R[n] has every sin(n w_i), then every cos(n w_i), and w_i = 10000^(-2i / d_model).
/// Shapes: W_r [query heads * head_dim, d_model], as a linear layer stores it.
/// Units:  distances n are query minus key, in tokens; phases in radians. Formed in double, rounded once.
/// Throws: errc::odd_width, when built, for an odd d_model; errc::shape_mismatch for a projection of other heads,
///         errc::offset_out_of_table for a call that spans 2^20 distances or more, errc::position_precision for
///         distances that are not exact in double, when the term is compiled.
/// Source: Dai et al. 2019, section 3.3; clamp_len and the layout are the release's, and clamp_len on both sides is
///         XLNet's.
template <class Element>
class projected_sinusoids {
 public:
  static constexpr index_t most_distances = index_t{1} << 20;
  static constexpr double base = 10000.0;

  projected_sinusoids(table<Element> weight, const projected_sinusoids_settings& settings)
      : weight_(std::move(weight)),
        settings_(settings),
        frequencies_({.base = base, .rotary_dim = even_width(weight_)}) {}

  [[nodiscard]] bool looks_back_only() const noexcept { return settings_.reach == distance_reach::back_only; }

  /// A clamp_len without end is absent.
  [[nodiscard]] description describe() const {
    const clamp_len clamp = settings_.clamp;
    return description("projected_sinusoids")
        .with("table", described_table(weight_))
        .with("reach", name_of(settings_.reach))
        .with("clamp_len", clamp.limited() ? std::optional(clamp.furthest()) : std::nullopt)
        .with("base", base)
        .with("sign", name_of(offset_sign::query_minus_key));
  }

  [[nodiscard]] projected_sinusoids part(const head_slice& slice) const {
    return {rows_of(weight_, slice.whole().dim, slice, "position projection"), settings_};
  }

  void check(const heads& layout, violations& found) const {
    found.expect(weight_.rows() == layout.query * layout.dim, errc::shape_mismatch, "position projection", "rows",
                 text("{} query heads x {} dimensions", layout.query, layout.dim), weight_.rows());
  }
  void check_distances(index_t low, index_t high, violations& found) const {
    found.expect(saturating_subtract(clamped(high), clamped(low)) < most_distances, errc::offset_out_of_table,
                 "projected sinusoids", "distances of the call", "fewer than 2^20", text("{} to {}", low, high));
    for (const index_t end : {low, high}) {
      const index_t distance = clamped(end);
      found.expect(distance >= -angle_position_limit && distance <= angle_position_limit, errc::position_precision,
                   "projected sinusoids", "distance", "at most 2^53 from zero, to be exact in double", distance);
    }
  }

  /// R[n]. Calls put(column, value).
  template <class Put>
  void for_each_column(index_t distance, const Put& put) const noexcept {
    for (index_t pair = 0; pair < frequencies_.pairs(); ++pair) {
      const double phase = static_cast<double>(clamped(distance)) * frequencies_.at(pair);
      put(pair, std::sin(phase));
      put(frequencies_.pairs() + pair, std::cos(phase));
    }
  }

  /// What is learned of the rows: their projection.
  [[nodiscard]] const table<Element>& learned() const noexcept { return weight_; }
  /// Adds to the projection's gradient what the gradients of the rows of `rows`, one for each distance, give it.
  template <class T>
  void add_gradient(const distance_rows<T>& rows, const table_gradient<T>& of_distances, table_gradient<T>& to) const {
    std::vector<double> sinusoid(static_cast<std::size_t>(weight_.columns()));
    for (const index_t row : of_distances.touched_rows()) {
      for_each_column(rows.lowest() + row,
                      [&](index_t column, double value) { sinusoid[static_cast<std::size_t>(column)] = value; });
      for (index_t unit = 0; unit < weight_.rows(); ++unit) {
        to.add_row(unit, std::span<const double>(sinusoid), of_distances(row, unit));
      }
    }
  }

  /// The rows of the distances from low to high, each projected once.
  template <class T>
  [[nodiscard]] distance_rows<T> over(index_t low, index_t high, const heads& layout) const {
    const index_t first = clamped(low);
    const index_t count = clamped(high) - first + 1;
    std::vector<double> sinusoid(static_cast<std::size_t>(weight_.columns()));
    std::vector<T> projected;
    for (index_t n = first; n < first + count; ++n) {
      for_each_column(n, [&](index_t column, double value) { sinusoid[static_cast<std::size_t>(column)] = value; });
      for (index_t unit = 0; unit < weight_.rows(); ++unit) {
        const double value = row_product<double>(sinusoid, weight_.row(unit));
        require(fits<T>(value), errc::non_finite, "projected sinusoids", text("row of distance {}", n),
                "a number that the type of the plan can hold", value);
        projected.push_back(static_cast<T>(value));
      }
    }
    return {head_tables<T>::by_column(table<T>(projected, count, weight_.rows()), layout.query),
            {.lowest = first, .order = distance_order::ascending}};
  }

 private:
  [[nodiscard]] static index_t even_width(const table<Element>& weight) {
    require(weight.columns() % 2 == 0, errc::odd_width, "position projection", "columns, d_model", "an even number",
            weight.columns());
    return weight.columns();
  }
  [[nodiscard]] index_t clamped(index_t distance) const noexcept {
    const index_t furthest = clamp_len(settings_.clamp).furthest();
    return std::clamp(distance, -furthest, furthest);
  }

  table<Element> weight_;
  projected_sinusoids_settings settings_;
  frequency::geometric frequencies_;
};

}  // namespace posgeo::content
