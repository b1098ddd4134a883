// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_description.hpp>
#include <posgeo/coordinate/elapsed_time.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/encode/of_rows.hpp>

#include <cmath>

namespace posgeo::encode {

/// F, the function of the periodic columns.
enum class periodic { sine, cosine };

[[nodiscard]] constexpr std::string_view name_of(periodic function) noexcept {
  return function == periodic::sine ? "sine" : "cosine";
}

/// Where the column without F stands.
enum class linear_term {
  first,  ///< the paper
  last,   ///< the common port to PyTorch
};

[[nodiscard]] constexpr std::string_view name_of(linear_term linear) noexcept {
  return linear == linear_term::first ? "first" : "last";
}

/// What a row without a time receives.
enum class missing_time {
  refused,
  zero_row,     ///< nothing is added
  learned_row,  ///< a row of parameters of its own
};

[[nodiscard]] constexpr std::string_view name_of(missing_time missing) noexcept {
  if (missing == missing_time::refused) return "refused";
  return missing == missing_time::zero_row ? "zero_row" : "learned_row";
}

struct time2vec_settings {
  coordinate::elapsed_time time;  ///< origin and unit that the frequencies were learned for
  required<periodic> function;
  required<linear_term> linear;
  required<missing_time> missing;
};

/// The learned rows of a time2vec. Shapes: [1, width] each.
template <class Element>
struct time2vec_parameters {
  table<Element> omega;
  table<Element> phi;
  std::optional<table<Element>> missing_row{};  ///< for missing_time::learned_row
};

/// Row of time tau: omega_0 tau + phi_0 in one column, F(omega_k tau + phi_k) in the others.
/// Shapes: omega, phi and missing_row [1, width], in the order of the columns; states [batch, rows, width].
/// Units:  tau in the unit of `time`, omega in radians per unit, phi in radians; phases are formed in double.
/// Throws: errc::shape_mismatch for parameters of two widths, or fewer than two columns, errc::missing_value for a
///         learned row that is not there, when built; errc::unit_mismatch, when given times of another unit or clock;
///         errc::missing_value for a row without time where that is refused, errc::position_precision for a time too
///         far from the origin, errc::non_finite for a column that the type cannot hold, errc::row_identity for rows
///         that are not those of the times, when compiled.
/// Source: Kazemi et al. 2019, equation 1.
template <class Element>
class time2vec {
 public:
  using stamp = std::optional<index_t>;

  time2vec(const time2vec_settings& settings, time2vec_parameters<Element> parameters)
      : settings_(settings),
        omega_(std::move(parameters.omega)),
        phi_(std::move(parameters.phi)),
        missing_row_(std::move(parameters.missing_row)) {
    violations found;
    const auto expect_row = [&](const table<Element>& row, std::string_view axis) {
      found.expect(row.rows() == 1 && row.columns() == width(), errc::shape_mismatch, "time2vec", axis,
                   text("1 x {}", width()), text("{} x {}", row.rows(), row.columns()));
    };
    found.expect(width() >= 2, errc::shape_mismatch, "time2vec", "width", "a linear and a periodic column", width());
    expect_row(omega_, "omega");
    expect_row(phi_, "phi");
    const bool learned = settings.missing == missing_time::learned_row;
    found.expect(learned == missing_row_.has_value(), errc::missing_value, "time2vec", "row for missing times",
                 learned ? "one, for missing_time::learned_row" : "none", missing_row_ ? "one" : "none");
    if (missing_row_) expect_row(*missing_row_, "row for missing times");
    found.throw_if_any();
  }

  [[nodiscard]] const time2vec_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] index_t width() const noexcept { return omega_.columns(); }
  [[nodiscard]] description describe() const {
    return description("time2vec")
        .with("time", settings_.time.describe())
        .with("function", name_of(settings_.function))
        .with("linear", name_of(settings_.linear))
        .with("missing", name_of(settings_.missing))
        .with("omega_table", described_table(omega_))
        .with("phi_table", described_table(phi_))
        .with("missing_table", missing_row_ ? std::optional(described_table(*missing_row_)) : std::nullopt);
  }
  /// "recorded" is 1 where there is a time.
  [[nodiscard]] static description describe_column(const row_column<stamp>& stamps) {
    return description("stamps")
        .with("rows", describe_rows(stamps.rows()))
        .with("recorded", column_numbers(stamps, [](const stamp& when) -> index_t { return when ? 1 : 0; }))
        .with("stamps", column_numbers(stamps, [](const stamp& when) { return when.value_or(0); }));
  }
  /// Which column has no F.
  [[nodiscard]] index_t linear_column() const noexcept {
    return settings_.linear == linear_term::first ? 0 : width() - 1;
  }

  /// Calls put(column, value) for each column of the row at elapsed time tau.
  template <class Put>
  void for_each_column(double tau, const Put& put) const noexcept {
    for (index_t c = 0; c < width(); ++c) {
      const double phase = static_cast<double>(omega_(0, c)) * tau + static_cast<double>(phi_(0, c));
      if (c == linear_column()) {
        put(c, phase);
      } else {
        put(c, settings_.function == periodic::sine ? std::sin(phase) : std::cos(phase));
      }
    }
  }

  /// The state encoder of rows that happened at the given times.
  [[nodiscard]] of_rows<time2vec, stamp> at(const coordinate::time_column& times) const {
    violations found;
    settings_.time.expect(times, "time2vec", found);
    found.throw_if_any();
    return {*this, times.stamps};
  }

  template <class T>
  void check(const row_column<stamp>& stamps, violations& found) const {
    for_each_value(stamps, [&](index_t b, index_t row, const stamp& when) {
      if (!when) {
        found.expect(settings_.missing != missing_time::refused, errc::missing_value, "time2vec",
                     text("time of row {} in entry {}", row, b), "a time (or a rule for missing ones)", "none");
        return;
      }
      settings_.time.expect(*when, "time2vec", text("time of row {} in entry {}", row, b), found);
      for_each_column(settings_.time(*when), [&](index_t, double value) {
        found.expect(fits<T>(value), errc::non_finite, "time2vec", text("row {} in entry {}", row, b),
                     "a number that the type of the states can hold", value);
      });
    });
    if (missing_row_) require_fits<T>(missing_row_->values(), "time2vec");
  }
  template <class T>
  void add(const stamp& when, std::span<T> row) const noexcept {
    if (when) {
      for_each_column(settings_.time(*when), [&](index_t column, double value) {
        row[static_cast<std::size_t>(column)] += static_cast<T>(value);
      });
    } else if (missing_row_) {
      for (std::size_t c = 0; c < row.size(); ++c) row[c] += static_cast<T>(missing_row_->values()[c]);
    }
  }
  template <class T>
  [[nodiscard]] table_gradients<T, 3> gradient() const {
    return table_gradients<T, 3>(table_gradient<T>("omega_table", omega_), table_gradient<T>("phi_table", phi_),
                                 table_gradient<T>("missing_table", missing_row_));
  }
  /// d phi = F'(omega tau + phi) d, d omega = tau d phi; F' is 1 in the linear column. Formed in double.
  template <class T>
  void add_gradient(const stamp& when, std::span<const T> d_row, table_gradients<T, 3>& to) const noexcept {
    if (!when) {
      if (missing_row_) to[2].add_row(0, d_row, T{1});
      return;
    }
    const double tau = settings_.time(*when);
    for (index_t c = 0; c < width(); ++c) {
      const double phase = static_cast<double>(omega_(0, c)) * tau + static_cast<double>(phi_(0, c));
      double slope = 1.0;
      if (c != linear_column()) slope = settings_.function == periodic::sine ? std::cos(phase) : -std::sin(phase);
      const double d = slope * static_cast<double>(d_row[static_cast<std::size_t>(c)]);
      to[0].add(0, c, static_cast<T>(tau * d));
      to[1].add(0, c, static_cast<T>(d));
    }
  }

 private:
  time2vec_settings settings_;
  table<Element> omega_;
  table<Element> phi_;
  std::optional<table<Element>> missing_row_;
};

}  // namespace posgeo::encode
