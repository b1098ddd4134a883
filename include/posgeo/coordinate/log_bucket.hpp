// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/exact_power.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace posgeo::coordinate {

/// What becomes of offsets of max_position and more. The implementations disagree.
enum class beyond_max_position {
  clamped,  ///< an offset of +-(max_position - 1), so that no bucket passes num_buckets - 1 (the DeBERTa release)
  runs_on,  ///< the logarithm goes on (Transformers); from +-2^31 on the bucket stays
};

[[nodiscard]] constexpr std::string_view name_of(beyond_max_position beyond) noexcept {
  return beyond == beyond_max_position::clamped ? "clamped" : "runs_on";
}

struct log_bucket_settings {
  required<index_t> num_buckets;  ///< position_buckets of a checkpoint
  required<index_t> max_position;
  required<beyond_max_position> beyond;
};

/// DeBERTa's signed bucket of d = query - key: d if |d| <= mid, else sign(d) * (mid + ceil((mid - 1) * log(|d| / mid) /
/// log((max_position - 1) / mid))), where mid = num_buckets / 2. Decided by integers, so no logarithm can round it.
/// Units:  takes key minus query, in tokens, as everything does; the bucket has the sign of query minus key.
/// Throws: errc::bucket_settings for settings that leave no room for both ranges, or for too many buckets.
/// Source: the DeBERTa release, make_log_bucket_position (v2 and v3; not in the paper).
class log_bucket {
 public:
  explicit log_bucket(const log_bucket_settings& settings) : settings_(settings) {
    check(settings).throw_if_any();
    const index_t count = edge_count(settings);
    auto edges = std::make_shared<std::vector<index_t>>();
    for (index_t step = 1; step <= count; ++step) edges->push_back(edge(step));
    edges_ = std::move(edges);
  }

  [[nodiscard]] static violations check(const log_bucket_settings& s) {
    violations found;
    const auto expect = [&](bool ok, std::string_view axis, const auto& expected, index_t actual) {
      found.expect(ok, errc::bucket_settings, "log bucket", axis, expected, actual);
    };
    expect(s.num_buckets >= 4 && s.num_buckets <= most_buckets, "num_buckets", "from 4 to 2^13", s.num_buckets);
    expect(s.num_buckets % 2 == 0, "num_buckets", "an even number", s.num_buckets);
    const index_t mid = s.num_buckets / 2;
    expect(s.max_position > mid + 1 && s.max_position <= farthest, "max_position",
           text("from {} (num_buckets / 2 + 2) to 2^31", mid + 2), s.max_position);
    if (!found.empty()) return found;
    expect(edge_count(s) <= most_edges, "max_position", "farther from num_buckets / 2, for buckets that run on",
           s.max_position);
    return found;
  }

  [[nodiscard]] const log_bucket_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] index_t num_buckets() const noexcept { return settings_.num_buckets; }

  [[nodiscard]] description describe() const {
    return description("log_bucket")
        .with("num_buckets", index_t{settings_.num_buckets})
        .with("max_position", index_t{settings_.max_position})
        .with("beyond", name_of(settings_.beyond))
        .with("sign", name_of(offset_sign::query_minus_key));
  }

  /// The largest distance of each bucket beyond mid but the last, which has no end.
  [[nodiscard]] const std::vector<index_t>& edges() const noexcept { return *edges_; }

  [[nodiscard]] index_t operator()(relative_offset key_minus_query) const noexcept {
    const index_t ahead = key_minus_query.value();
    return ahead > 0 ? -by_distance(ahead) : by_distance(saturating_subtract(0, ahead));
  }
  /// The smallest distance whose bucket is at least `bucket`, or, if none is, the smallest of the last bucket.
  [[nodiscard]] index_t reaches(index_t bucket) const noexcept {
    const index_t mid = half(settings_);
    if (bucket <= mid) return bucket;
    const index_t edge = std::min(bucket - mid - 1, static_cast<index_t>(edges_->size()));
    return edge == 0 ? mid + 1 : (*edges_)[static_cast<std::size_t>(edge - 1)] + 1;
  }

 private:
  static constexpr index_t most_buckets = index_t{1} << 13;
  static constexpr index_t most_edges = index_t{1} << 14;
  static constexpr index_t farthest = index_t{1} << 31;

  [[nodiscard]] static constexpr index_t half(const log_bucket_settings& s) noexcept { return s.num_buckets / 2; }

  /// log((max_position - 1) / mid) / (mid - 1): how the logarithm of a distance grows from bucket to bucket.
  [[nodiscard]] static double log_step(const log_bucket_settings& s) noexcept {
    const auto mid = static_cast<double>(half(s));
    return std::log1p((static_cast<double>(s.max_position - 1) - mid) / mid) / (mid - 1.0);
  }
  [[nodiscard]] static index_t edge_count(const log_bucket_settings& s) noexcept {
    if (s.beyond == beyond_max_position::clamped) return half(s) - 2;
    return static_cast<index_t>(std::log(static_cast<double>(farthest) / static_cast<double>(half(s))) / log_step(s));
  }

  [[nodiscard]] index_t by_distance(index_t distance) const noexcept {
    const index_t mid = half(settings_);
    if (distance <= mid) return distance;
    return mid + 1 + (std::lower_bound(edges_->begin(), edges_->end(), distance) - edges_->begin());
  }

  /// The largest n with (n / mid)^(mid - 1) <= ((max_position - 1) / mid)^step.
  [[nodiscard]] index_t edge(index_t step) const {
    const index_t steps = half(settings_) - 1;
    const double estimate =
        static_cast<double>(half(settings_)) * std::exp(static_cast<double>(step) * log_step(settings_));
    const double nearest = std::round(estimate);
    const double doubt = 1e-13 * estimate;  // far above the estimate's rounding error
    if (std::abs(estimate - nearest) > doubt) return static_cast<index_t>(std::floor(estimate));
    const auto n = static_cast<index_t>(nearest);
    return holds(n, step, steps) ? n : n - 1;
  }
  [[nodiscard]] bool holds(index_t n, index_t step, index_t steps) const {
    detail::big_product left;  // n^steps * mid^step
    left.multiply_power(n, steps);
    left.multiply_power(half(settings_), step);
    detail::big_product right;  // (max_position - 1)^step * mid^steps
    right.multiply_power(settings_.max_position - 1, step);
    right.multiply_power(half(settings_), steps);
    return left <= right;
  }

  log_bucket_settings settings_;
  std::shared_ptr<const std::vector<index_t>> edges_;
};

}  // namespace posgeo::coordinate
