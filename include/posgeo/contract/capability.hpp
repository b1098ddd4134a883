// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace posgeo::contract {

/// One thing that a positional method, its call or the caller asks of what runs the attention.
enum class capability {
  state_addition,           ///< rows may have been added to hidden states before the projections
  query_key_transform,      ///< queries and keys are changed by position before their dot product
  additive_score_bias,      ///< a number for each head and pair, after the scale
  query_relation_scores,    ///< products of a query and a row chosen by the pair (Shaw, content-to-position)
  key_relation_scores,      ///< products of a key and a row chosen by the pair (position-to-content)
  global_content_bias,      ///< a vector of its own that meets every key (Transformer-XL's u)
  appended_dimensions,      ///< a second dot product, of position rows alone (TUPE)
  pairwise_content_scores,  ///< a content term that must be asked pair by pair
  value_aggregation,        ///< a vector chosen by the pair joins the weighted values, after the softmax
  special_rows,             ///< pairs with [CLS] have a rule of their own
  stated_scale,             ///< a score scale other than 1 / sqrt(head_dim)
  softcap_before_bias,
  softcap_after_bias,
  softmax_sink,
  ruled_visibility,     ///< keys hidden by distance, padding or sequence
  pairwise_visibility,  ///< a visibility that must be asked pair by pair
  grouped_heads,        ///< query heads share key heads
  extended_memory,      ///< keys of earlier calls
  irregular_positions,  ///< positions that are not one affine range for each entry
  computes_in_float,
  computes_in_double,
  binary32_elements,
  binary64_elements,
  binary16_elements,
  bfloat16_elements,
  returns_log_sum_exp,
  returns_scores,
  returns_probabilities,
};
inline constexpr std::size_t capability_count = 28;

[[nodiscard]] constexpr std::string_view name_of(capability c) noexcept {
  constexpr std::array<std::string_view, capability_count> names{
      "state_addition",      "query_key_transform", "additive_score_bias", "query_relation_scores",
      "key_relation_scores", "global_content_bias", "appended_dimensions", "pairwise_content_scores",
      "value_aggregation",   "special_rows",        "stated_scale",        "softcap_before_bias",
      "softcap_after_bias",  "softmax_sink",        "ruled_visibility",    "pairwise_visibility",
      "grouped_heads",       "extended_memory",     "irregular_positions", "computes_in_float",
      "computes_in_double",  "binary32_elements",   "binary64_elements",   "binary16_elements",
      "bfloat16_elements",   "returns_log_sum_exp", "returns_scores",      "returns_probabilities"};
  return names[static_cast<std::size_t>(c)];
}

/// A set of capabilities.
class capability_set {
 public:
  constexpr capability_set() noexcept = default;
  constexpr capability_set(std::initializer_list<capability> all) noexcept {
    for (const capability c : all) bits_ |= bit(c);
  }
  [[nodiscard]] static constexpr capability_set everything() noexcept {
    return from((std::uint64_t{1} << capability_count) - 1);
  }

  [[nodiscard]] constexpr bool contains(capability c) const noexcept { return (bits_ & bit(c)) != 0; }
  [[nodiscard]] constexpr bool includes(capability_set part) const noexcept { return (part.bits_ & ~bits_) == 0; }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] friend constexpr capability_set operator|(capability_set a, capability_set b) noexcept {
    return from(a.bits_ | b.bits_);
  }
  /// What is in a and not in b.
  [[nodiscard]] friend constexpr capability_set operator-(capability_set a, capability_set b) noexcept {
    return from(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(capability_set, capability_set) noexcept = default;

  /// Calls visit(capability) for each, in the order of the enumerators.
  template <class Visit>
  constexpr void each(const Visit& visit) const {
    for (std::size_t n = 0; n < capability_count; ++n) {
      if (contains(static_cast<capability>(n))) visit(static_cast<capability>(n));
    }
  }
  /// Their names, in the order of the enumerators, between commas.
  [[nodiscard]] std::string names() const {
    std::string all;
    each([&all](capability c) {
      if (!all.empty()) all += ", ";
      all += name_of(c);
    });
    return all;
  }

 private:
  [[nodiscard]] static constexpr std::uint64_t bit(capability c) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(c);
  }
  [[nodiscard]] static constexpr capability_set from(std::uint64_t bits) noexcept {
    capability_set out;
    out.bits_ = bits;
    return out;
  }
  std::uint64_t bits_ = 0;
};

}  // namespace posgeo::contract
