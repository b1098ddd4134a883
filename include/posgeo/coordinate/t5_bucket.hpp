// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/exact_power.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace posgeo::coordinate {

/// Whether keys after the query have buckets of their own.
enum class bucket_direction {
  bidirectional,  ///< the lower half of the buckets looks back, the upper half ahead
  causal,         ///< every bucket looks back; keys after the query share bucket 0 with the query itself
};

[[nodiscard]] constexpr std::string_view name_of(bucket_direction direction) noexcept {
  return direction == bucket_direction::bidirectional ? "bidirectional" : "causal";
}

/// What becomes of the last bucket when a bidirectional method has an odd number of them.
enum class odd_buckets {
  refused,
  last_unused,  ///< each direction has floor(num_buckets / 2); the last table row is never read
};

[[nodiscard]] constexpr std::string_view name_of(odd_buckets odd) noexcept {
  return odd == odd_buckets::refused ? "refused" : "last_unused";
}

struct t5_bucket_settings {
  required<index_t> num_buckets;
  required<index_t> max_distance;
  required<bucket_direction> direction;
  odd_buckets odd = odd_buckets::refused;
};

/// T5's relative bucket: exact below max_exact, then max_exact + floor(log(n / max_exact) / log(max_distance /
/// max_exact)
/// * (buckets - max_exact)), never beyond the last one. Decided by integer thresholds, so no logarithm can round it.
/// Units:  offsets are key minus query, in tokens.
/// Throws: errc::bucket_settings for settings that leave no room for both ranges.
/// Source: Raffel et al. 2020, section 2.1, and the released mesh-tensorflow function.
class t5_bucket {
 public:
  explicit t5_bucket(const t5_bucket_settings& settings) : settings_(settings) {
    check(settings).throw_if_any();
    const index_t exact = max_exact();
    const index_t steps = per_direction() - exact;
    auto thresholds = std::make_shared<std::vector<index_t>>();
    for (index_t step = 1; step < steps; ++step) thresholds->push_back(threshold(step, steps));
    thresholds_ = std::move(thresholds);
  }

  [[nodiscard]] static violations check(const t5_bucket_settings& s) {
    violations found;
    const bool both = s.direction == bucket_direction::bidirectional;
    found.expect(s.num_buckets >= (both ? 4 : 2), errc::bucket_settings, "t5 bucket", "num_buckets",
                 both ? "at least 4 for two directions" : "at least 2", s.num_buckets);
    found.expect(s.num_buckets <= largest, errc::bucket_settings, "t5 bucket", "num_buckets", "at most 2^16",
                 s.num_buckets);
    found.expect(!both || s.num_buckets % 2 == 0 || s.odd == odd_buckets::last_unused, errc::bucket_settings,
                 "t5 bucket", "num_buckets", "an even number for two directions (or odd_buckets::last_unused)",
                 s.num_buckets);
    const index_t exact = s.num_buckets / (both ? 4 : 2);
    found.expect(s.max_distance > exact, errc::bucket_settings, "t5 bucket", "max_distance",
                 text("more than the {} exact distances", exact), s.max_distance);
    found.expect(s.max_distance < (index_t{1} << 31), errc::bucket_settings, "t5 bucket", "max_distance",
                 "less than 2^31", s.max_distance);
    return found;
  }

  [[nodiscard]] const t5_bucket_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] index_t num_buckets() const noexcept { return settings_.num_buckets; }
  [[nodiscard]] index_t max_exact() const noexcept { return per_direction() / 2; }

  [[nodiscard]] description describe() const {
    return description("t5_bucket")
        .with("num_buckets", index_t{settings_.num_buckets})
        .with("max_distance", index_t{settings_.max_distance})
        .with("direction", name_of(settings_.direction))
        .with("odd", name_of(settings_.odd))
        .with("sign", name_of(offset_sign::key_minus_query));
  }

  /// The smallest distance of each bucket beyond the exact ones but the first (which starts at max_exact).
  [[nodiscard]] const std::vector<index_t>& thresholds() const noexcept { return *thresholds_; }

  [[nodiscard]] index_t operator()(relative_offset key_minus_query) const noexcept {
    const index_t ahead = key_minus_query.value();
    if (ahead > 0) return settings_.direction == bucket_direction::causal ? 0 : per_direction() + by_distance(ahead);
    return by_distance(saturating_subtract(0, ahead));
  }
  /// The offsets at and beyond which the bucket stays the same.
  [[nodiscard]] offset_bounds constant_beyond() const noexcept {
    const index_t last = thresholds_->empty() ? max_exact() : thresholds_->back();
    return {relative_offset{-last},
            relative_offset{settings_.direction == bucket_direction::causal ? index_t{0} : last}};
  }

 private:
  static constexpr index_t largest = index_t{1} << 16;

  [[nodiscard]] index_t per_direction() const noexcept {
    return settings_.num_buckets / (settings_.direction == bucket_direction::bidirectional ? 2 : 1);
  }
  [[nodiscard]] index_t by_distance(index_t distance) const noexcept {
    const index_t exact = max_exact();
    if (distance < exact) return distance;
    return exact + (std::upper_bound(thresholds_->begin(), thresholds_->end(), distance) - thresholds_->begin());
  }

  /// The smallest n with (n / max_exact)^steps >= (max_distance / max_exact)^step.
  [[nodiscard]] index_t threshold(index_t step, index_t steps) const {
    const auto exact = static_cast<double>(max_exact());
    const auto reach = static_cast<double>(settings_.max_distance);
    const double estimate = exact * std::pow(reach / exact, static_cast<double>(step) / static_cast<double>(steps));
    const double nearest = std::round(estimate);
    const double doubt = 1e-12 * estimate;  // far above the estimate's rounding error
    if (std::abs(estimate - nearest) > doubt) return static_cast<index_t>(std::ceil(estimate));
    const auto n = static_cast<index_t>(nearest);
    return reaches(n, step, steps) ? n : n + 1;
  }
  [[nodiscard]] bool reaches(index_t n, index_t step, index_t steps) const {
    detail::big_product left;  // n^steps * max_exact^step
    left.multiply_power(n, steps);
    left.multiply_power(max_exact(), step);
    detail::big_product right;  // max_distance^step * max_exact^steps
    right.multiply_power(settings_.max_distance, step);
    right.multiply_power(max_exact(), steps);
    return left >= right;
  }

  t5_bucket_settings settings_;
  std::shared_ptr<const std::vector<index_t>> thresholds_;
};

}  // namespace posgeo::coordinate
