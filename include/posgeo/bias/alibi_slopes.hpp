// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/index.hpp>

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace posgeo::bias {

/// One slope for each query head, with the name of the rule that made them. The order is part of the model: slopes of a
/// head count that is no power of two are not monotone, and must not be sorted.
/// Units:  score per token of distance.
/// Throws: errc::head_count for no heads or a slice outside them; errc::non_finite for a slope that is not finite.
/// Source: Press, Smith and Lewis 2022, section 3, and the authors' released get_slopes.
class alibi_slopes {
 public:
  /// The authors' rule: 2^(-8 (h + 1) / n) for a power of two; else the slopes of the power of two below, followed by
  /// every second slope of twice that power (BLOOM, MPT and the paper's own models).
  [[nodiscard]] static alibi_slopes reference(index_t count) {
    require_count(count);
    const index_t lower = static_cast<index_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
    std::vector<double> slopes;
    for (index_t h = 0; h < lower; ++h) slopes.push_back(reference_slope(lower, h));
    for (index_t h = 0; h < count - lower; ++h) slopes.push_back(reference_slope(2 * lower, 2 * h));
    return {std::move(slopes), "reference"};
  }

  /// One geometric sequence 2^(-8 (h + 1) / n) for any count. Equals `reference` for powers of two only.
  [[nodiscard]] static alibi_slopes geometric(index_t count) {
    require_count(count);
    std::vector<double> slopes;
    for (index_t h = 0; h < count; ++h) {
      slopes.push_back(std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(count)));
    }
    return {std::move(slopes), "geometric"};
  }

  /// Slopes from elsewhere, learned ones for instance.
  [[nodiscard]] static alibi_slopes custom(std::vector<double> slopes) {
    require(!slopes.empty(), errc::head_count, "alibi slopes", "heads", "at least 1", slopes.size());
    for (std::size_t h = 0; h < slopes.size(); ++h) {
      require(std::isfinite(slopes[h]), errc::non_finite, "alibi slopes", text("slope of head {}", h),
              "a finite number", slopes[h]);
    }
    return {std::move(slopes), "custom"};
  }

  /// The slopes of global heads [first, first + count): what one rank of a partitioned layer owns.
  [[nodiscard]] alibi_slopes slice(index_t first, index_t count) const {
    require(first >= 0 && count > 0 && first <= size() && count <= size() - first, errc::head_count, "alibi slopes",
            "slice", text("heads within 0..{}", size()), text("{} heads from {}", count, first));
    return {std::vector<double>(slopes_.begin() + first, slopes_.begin() + first + count), generator_};
  }

  [[nodiscard]] description describe() const {
    return description("alibi_slopes").with("generator", generator_).with("values", slopes_);
  }

  /// The slopes of the given global heads, in their order.
  [[nodiscard]] alibi_slopes part(const head_slice& slice) const {
    return {numbers_of(slopes_, slice, "alibi slopes"), generator_};
  }

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(slopes_.size()); }
  [[nodiscard]] double operator[](head_index h) const noexcept { return slopes_[static_cast<std::size_t>(h.value())]; }
  [[nodiscard]] const std::string& generator() const noexcept { return generator_; }

 private:
  alibi_slopes(std::vector<double> slopes, std::string generator)
      : slopes_(std::move(slopes)), generator_(std::move(generator)) {}

  static void require_count(index_t count) {
    require(count > 0 && count <= (index_t{1} << 20), errc::head_count, "alibi slopes", "heads", "from 1 to 2^20",
            count);
  }

  /// Computed as the release does (start * start^h), so that the doubles are the same.
  static double reference_slope(index_t power_of_two, index_t h) {
    const double start = std::pow(2.0, -std::pow(2.0, -(std::log2(static_cast<double>(power_of_two)) - 3.0)));
    return start * std::pow(start, static_cast<double>(h));
  }

  std::vector<double> slopes_;
  std::string generator_;
};

}  // namespace posgeo::bias
