// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/stated.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace posgeo::contract {

/// Who the numbers of a position table belong to.
enum class table_ownership {
  parameters,  ///< training changes them: gradients and optimizer state have their shape
  buffer,      ///< a formula makes them, so they take memory and are no parameters
};

/// The format of each number that training keeps beside a weight; none where it does not keep it.
struct training_formats {
  stated<precision> gradients;
  stated<precision> master_weights;
  stated<precision> first_moment;
  stated<precision> second_moment;
};

struct table_ledger_settings {
  required<index_t> rows;
  required<index_t> width;
  required<table_ownership> ownership;
  required<precision> format;
  stated<training_formats> training;  ///< none for inference
  required<index_t> copies;           ///< modules, streams or pipeline stages that hold the table
};

[[nodiscard]] constexpr index_t bytes_per_number(precision format) noexcept {
  constexpr std::array<index_t, 4> bytes{8, 4, 2, 2};
  return bytes[static_cast<std::size_t>(format)];
}

namespace detail {

/// a * b * c, refused where 63 bits do not hold it, or a factor is negative.
[[nodiscard]] inline index_t counted(std::string_view axis, std::array<index_t, 3> factors) {
  index_t product = 1;
  bool fits = true;
  for (const index_t factor : factors) fits = fits && factor >= 0 && !__builtin_mul_overflow(product, factor, &product);
  require(fits, errc::shape_mismatch, "position ledger", axis, "counts of at least 0 whose product is below 2^63",
          text("{} x {} x {}", factors[0], factors[1], factors[2]));
  return product;
}

}  // namespace detail

/// What a position table [rows, width] owns: numbers, parameters, and the bytes of each kind of state.
/// Units:  bytes; every figure counts all copies.
/// Throws: errc::shape_mismatch for counts that are negative or too large to multiply; errc::table_rows for a buffer
///         with training state, which nothing trains.
/// Source: the storage and optimizer ledgers of the positional-call manifest numinens.position-call.v1.
class table_ledger {
 public:
  explicit table_ledger(const table_ledger_settings& settings) : settings_(settings) {
    elements_ = detail::counted("numbers", {settings.rows, settings.width, settings.copies});
    (void)detail::counted("bytes", {elements_, 64, 1});  // so that no sum of bytes overflows
    require(settings.ownership == table_ownership::parameters || !settings.training.value(), errc::table_rows,
            "position ledger", "training state of a buffer", "none", "one");
  }

  [[nodiscard]] index_t elements() const noexcept { return elements_; }
  [[nodiscard]] index_t parameters() const noexcept {
    return settings_.ownership == table_ownership::parameters ? elements_ : 0;
  }
  [[nodiscard]] index_t weight_bytes() const noexcept { return elements_ * bytes_per_number(settings_.format); }
  [[nodiscard]] index_t gradient_bytes() const noexcept { return of_training(&training_formats::gradients); }
  [[nodiscard]] index_t master_weight_bytes() const noexcept { return of_training(&training_formats::master_weights); }
  [[nodiscard]] index_t first_moment_bytes() const noexcept { return of_training(&training_formats::first_moment); }
  [[nodiscard]] index_t second_moment_bytes() const noexcept { return of_training(&training_formats::second_moment); }
  [[nodiscard]] index_t training_bytes() const noexcept {
    return gradient_bytes() + master_weight_bytes() + first_moment_bytes() + second_moment_bytes();
  }
  [[nodiscard]] index_t total_bytes() const noexcept { return weight_bytes() + training_bytes(); }

 private:
  [[nodiscard]] index_t of_training(stated<precision> training_formats::*kind) const noexcept {
    const std::optional<training_formats>& training = settings_.training.value();
    if (!training) return 0;
    const std::optional<precision>& format = ((*training).*kind).value();
    return format ? elements_ * bytes_per_number(*format) : 0;
  }

  table_ledger_settings settings_;
  index_t elements_ = 0;
};

/// The states that positions are added to: once, where rows enter the stack, never once for each layer.
struct added_states {
  required<index_t> batch;
  required<index_t> rows;
  required<index_t> width;
};

/// Scalar additions of adding positions to states: batch * rows * width. Throws: see table_ledger.
[[nodiscard]] inline index_t additions_of(const added_states& states) {
  return detail::counted("additions", {states.batch, states.rows, states.width});
}

}  // namespace posgeo::contract
