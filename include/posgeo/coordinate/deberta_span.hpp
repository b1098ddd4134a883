// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/log_bucket.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/core/description.hpp>

#include <optional>

namespace posgeo::coordinate {

/// The row of DeBERTa's relative table: clip(bucket(query - key) + span, 0, 2 * span - 1). Without buckets it is the
/// paper's delta(i, j): 0 if i - j <= -span, 2 * span - 1 if i - j >= span, else i - j + span.
/// Shapes: the table has 2 * span rows, not the 2 * span + 1 of Shaw's.
/// Units:  takes key minus query, in tokens; rows grow with query minus key.
/// Throws: errc::bucket_settings for a span that is not from 1 to 2^31.
/// Source: He et al. 2021 (DeBERTa), equation 3; the release's max_relative_positions and position_buckets.
class deberta_span {
 public:
  /// Every distance has a row of its own up to max_relative_positions (DeBERTa v1).
  [[nodiscard]] static deberta_span exact(index_t max_relative_positions) {
    constexpr index_t most = index_t{1} << 31;
    require(max_relative_positions > 0 && max_relative_positions <= most, errc::bucket_settings, "deberta span",
            "max_relative_positions", "from 1 to 2^31", max_relative_positions);
    return {max_relative_positions, std::nullopt};
  }
  /// Every bucket has a row, and the span is their number (DeBERTa v2 and v3).
  [[nodiscard]] static deberta_span bucketed(log_bucket buckets) {
    const index_t span = buckets.num_buckets();
    return {span, std::move(buckets)};
  }

  [[nodiscard]] index_t span() const noexcept { return span_; }
  [[nodiscard]] index_t rows() const noexcept { return 2 * span_; }

  [[nodiscard]] description describe() const {
    return description("deberta_span")
        .with("span", span_)
        .with("sign", name_of(offset_sign::query_minus_key))
        .with("rule", buckets_ ? std::optional(buckets_->describe()) : std::nullopt);
  }

  /// bucket(query - key), or query - key where there are no buckets; not clipped.
  [[nodiscard]] index_t relative(relative_offset key_minus_query) const noexcept {
    return buckets_ ? (*buckets_)(key_minus_query) : signed_offset(key_minus_query, offset_sign::query_minus_key);
  }
  [[nodiscard]] index_t operator()(relative_offset key_minus_query) const noexcept {
    return std::clamp(relative(key_minus_query), -span_, span_ - 1) + span_;
  }
  /// The offsets at and beyond which the row stays the same.
  [[nodiscard]] offset_bounds constant_beyond() const noexcept {
    const auto reaches = [this](index_t wanted) { return buckets_ ? buckets_->reaches(wanted) : wanted; };
    return {relative_offset{-reaches(span_ - 1)}, relative_offset{reaches(span_)}};
  }

 private:
  deberta_span(index_t span, std::optional<log_bucket> buckets) : span_(span), buckets_(std::move(buckets)) {}
  index_t span_;
  std::optional<log_bucket> buckets_;
};

}  // namespace posgeo::coordinate
