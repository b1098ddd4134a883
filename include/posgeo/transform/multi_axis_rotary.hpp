// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_description.hpp>
#include <posgeo/coordinate/multi_axis.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/transform/axis_sections.hpp>
#include <posgeo/transform/rotary.hpp>

namespace posgeo::transform {

/// Pair i turns by w_i times the row's position on the pair's axis: (x, y) -> (x cos - y sin, x sin + y cos), cosine
/// and sine times the attention factor of the frequencies. Dimensions that do not turn pass through; so does padding.
/// Shapes: rows [head_dim]; positions [entries, rows] with one number for each axis.
/// Units:  angles in radians, formed in double and rounded once.
/// Throws: errc::frequency_settings, when built, for frequencies of no pair, a frequency or attention factor that is
///         not finite or sections that do not count the pairs; when compiled, errc::row_identity if the positions are
///         those of other rows than the call's, errc::shape_mismatch if more dimensions turn than a head has or the
///         frequencies are made for another head_dim, errc::frame_mismatch across frames, errc::position_precision for
///         a position not exact in double, errc::sequence_length for one beyond the length that the frequencies are
///         made for.
/// Source: Wang et al. 2024 (Qwen2-VL), section 2.1; Heo et al. 2024 (axial rotation of images), section 3.
template <std::size_t Axes>
class multi_axis_rotary {
 public:
  using family = posgeo::family::qk_transform;
  using column = row_column<coordinate::axis_positions<Axes>>;

  template <frequency_rule Frequency>
  multi_axis_rotary(const Frequency& frequency, const axis_sections<Axes>& sections, pairing pairs, column queries,
                    column keys)
      : queries_(std::move(queries)),
        keys_(std::move(keys)),
        attention_factor_(attention_factor_of(frequency)),
        sequence_length_(sequence_length_of(frequency)) {
    require(std::isfinite(attention_factor_), errc::frequency_settings, "multi-axis rotary", "attention factor",
            "a finite number", attention_factor_);
    const index_t rungs = frequency.pairs();
    require(rungs > 0, errc::frequency_settings, "multi-axis rotary", "pairs of the frequencies", "at least 1", rungs);
    const auto axes = sections.axes(rungs);
    std::vector<turn> turns;
    for (std::size_t pair = 0; pair < axes.size(); ++pair) {
      const index_t rung = static_cast<index_t>(pair) % rungs;
      const double speed = frequency.at(rung);
      require(std::isfinite(speed), errc::frequency_settings, "multi-axis rotary", text("frequency of pair {}", rung),
              "a finite number", speed);
      dimension_pair where = dimensions_of(pairs, pair, axes.size());
      if (sections.how() == axis_sections<Axes>::rule::own_parts) {
        where = dimensions_of(pairs, static_cast<std::size_t>(rung), static_cast<std::size_t>(rungs));
        const auto part = static_cast<std::size_t>(2 * rungs) * axes[pair];
        where = {where.x + part, where.y + part};
      }
      turns.push_back({axes[pair], speed, where});
    }
    description rule = description("multi_axis_rotary")
                           .with("frequencies", description_of(frequency))
                           .with("sections", sections.describe())
                           .with("pairs", name_of(pairs));
    plan_ = std::make_shared<const turning_plan>(turning_plan{std::move(turns), std::move(rule)});
    if constexpr (requires { frequency.head_dim(); }) head_dim_ = frequency.head_dim();
  }

  [[nodiscard]] index_t rotary_dim() const noexcept { return 2 * static_cast<index_t>(plan_->turns.size()); }

  /// Positions are bound to the rows of one call, in its order.
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::row | reads::name; }
  /// The positions of every row are in it.
  [[nodiscard]] description describe() const {
    return description(plan_->rule).with("queries", described(queries_)).with("keys", described(keys_));
  }

  /// Turns one row as if it stood at p.
  template <class T>
  void rotate(const coordinate::axis_positions<Axes>& p, std::span<T> row) const noexcept {
    for (const turn& t : plan_->turns) {
      turn_pair(static_cast<double>(p[t.axis]) * t.speed, row[t.dimensions.x], row[t.dimensions.y], attention_factor_);
    }
  }
  /// The gradient of a row that was turned as if it stood at p becomes that of the row as it was.
  template <class T>
  void rotate_back(const coordinate::axis_positions<Axes>& p, std::span<T> d_row) const noexcept {
    for (const turn& t : plan_->turns) {
      turn_pair(-static_cast<double>(p[t.axis]) * t.speed, d_row[t.dimensions.x], d_row[t.dimensions.y],
                attention_factor_);
    }
  }

  /// Itself: every head turns alike.
  [[nodiscard]] multi_axis_rotary part(const head_slice&) const { return *this; }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(rotary_dim() <= layout.dim, errc::shape_mismatch, "multi-axis rotary", "rotary_dim",
                 text("at most head_dim {}", layout.dim), rotary_dim());
    found.expect(!head_dim_ || *head_dim_ == layout.dim, errc::shape_mismatch, "multi-axis rotary",
                 "head_dim of the frequencies", layout.dim, head_dim_.value_or(0));
    expect_same_frame(call, "multi-axis rotary", found);
    queries_.expect_of(call.query_space(), "multi-axis rotary of the queries", found);
    keys_.expect_of(call.key_space(), "multi-axis rotary of the keys", found);
    expect_in_reach(queries_, found);
    expect_in_reach(keys_, found);
  }

  template <class T>
  class term {
   public:
    void query(batch_index b, head_index, query_index i, std::span<T> row) const noexcept {
      turn_row(policy_.queries_, b.value(), i.value(), row);
    }
    void key(batch_index b, head_index, key_index j, std::span<T> row) const noexcept {
      turn_row(policy_.keys_, b.value(), j.value(), row);
    }
    void turn_back(batch_index b, head_index, query_index i, std::span<T> d_row) const noexcept {
      turn_row_back(policy_.queries_, b.value(), i.value(), d_row);
    }
    void turn_back(batch_index b, head_index, key_index j, std::span<T> d_row) const noexcept {
      turn_row_back(policy_.keys_, b.value(), j.value(), d_row);
    }

   private:
    friend class multi_axis_rotary;
    explicit term(multi_axis_rotary policy) : policy_(std::move(policy)) {}
    void turn_row(const column& positions, index_t b, index_t row_index, std::span<T> row) const noexcept {
      if (positions.rows().name(b, row_index).active) policy_.rotate(positions.at(b, row_index), row);
    }
    void turn_row_back(const column& positions, index_t b, index_t row_index, std::span<T> d_row) const noexcept {
      if (positions.rows().name(b, row_index).active) policy_.rotate_back(positions.at(b, row_index), d_row);
    }
    multi_axis_rotary policy_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return term<T>{*this};
  }

 private:
  struct turn {
    std::size_t axis;
    double speed;
    dimension_pair dimensions;
  };
  struct turning_plan {
    std::vector<turn> turns;
    description rule;
  };

  [[nodiscard]] static description described(const column& positions) {
    std::vector<description> axes;
    for (std::size_t axis = 0; axis < Axes; ++axis) {
      axes.push_back(description("axis").with(
          "positions",
          column_numbers(positions, [axis](const coordinate::axis_positions<Axes>& p) { return p[axis]; })));
    }
    return description("axis_positions").with("rows", describe_rows(positions.rows())).with("axes", axes);
  }

  void expect_in_reach(const column& positions, violations& found) const {
    const row_identity& rows = positions.rows();
    for (index_t b = 0; b < rows.entries(); ++b) {
      for (index_t row = 0; row < rows.rows(); ++row) {
        if (!rows.name(b, row).active) continue;
        for (const index_t p : positions.at(b, row)) {
          expect_distinct_angle(position{p}, "multi-axis rotary", found);
          found.expect(!sequence_length_ || p < *sequence_length_, errc::sequence_length, "multi-axis rotary",
                       "position", text("less than {}, the length of the frequencies", sequence_length_.value_or(0)),
                       p);
        }
      }
    }
  }

  column queries_;
  column keys_;
  std::optional<index_t> head_dim_;
  double attention_factor_;
  std::optional<index_t> sequence_length_;
  std::shared_ptr<const turning_plan> plan_;
};

}  // namespace posgeo::transform
