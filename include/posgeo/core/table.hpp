// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace posgeo {

/// An immutable parameter table, shared by every copy of the policy that holds it.
/// Shapes: [rows, columns], dense row-major.
/// Throws: errc::shape_mismatch if the values do not fill rows x columns; errc::non_finite if one is not finite.
template <class T>
class table {
 public:
  /// Copies the values.
  table(std::span<const T> values, index_t rows, index_t columns) : rows_(rows), columns_(columns) {
    require(rows > 0, errc::shape_mismatch, "table", "rows", "at least 1", rows);
    require(columns > 0, errc::shape_mismatch, "table", "columns", "at least 1", columns);
    require(std::cmp_equal(values.size() / static_cast<std::size_t>(columns), rows) &&
                values.size() % static_cast<std::size_t>(columns) == 0,
            errc::shape_mismatch, "table", "values", text("{} x {}", rows, columns), values.size());
    for (std::size_t n = 0; n < values.size(); ++n) {
      const double value = static_cast<double>(values[n]);
      require(value - value == 0.0, errc::non_finite, "table", text("value {}", n), "a finite number", value);
    }
    const auto block = std::make_shared<T[]>(values.size());
    std::copy(values.begin(), values.end(), block.get());
    values_ = block;
  }

  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t columns() const noexcept { return columns_; }
  [[nodiscard]] const T& operator()(index_t row, index_t column) const noexcept {
    return values_[row * columns_ + column];
  }
  [[nodiscard]] std::span<const T> values() const noexcept {
    return {values_.get(), static_cast<std::size_t>(rows_ * columns_)};
  }
  [[nodiscard]] std::span<const T> row(index_t r) const noexcept {
    return {values_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }

 private:
  index_t rows_;
  index_t columns_;
  std::shared_ptr<const T[]> values_;
};

}  // namespace posgeo
