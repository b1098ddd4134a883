// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "posgeo needs infinities and NaN: build without -ffast-math and -ffinite-math-only"
#endif

namespace posgeo {

/// Every count, stride and row number: signed, 64 bits.
using index_t = std::int64_t;

/// An index that knows what it counts, so that a query row cannot be passed where a key row is meant.
template <class Tag>
class strong_index {
 public:
  constexpr strong_index() noexcept = default;
  constexpr explicit strong_index(index_t value) noexcept : value_(value) {}

  [[nodiscard]] constexpr index_t value() const noexcept { return value_; }
  constexpr strong_index& operator++() noexcept {
    ++value_;
    return *this;
  }
  friend constexpr auto operator<=>(strong_index, strong_index) noexcept = default;

 private:
  index_t value_ = 0;
};

using batch_index = strong_index<struct batch_tag>;  ///< batch entry
using head_index = strong_index<struct head_tag>;    ///< query head
using query_index = strong_index<struct query_tag>;  ///< storage row of the query space
using key_index = strong_index<struct key_tag>;      ///< storage row of the key space

/// Where a row stands in its coordinate frame. Units: tokens (or whatever the frame counts).
using position = strong_index<struct position_tag>;

/// Key position minus query position: negative looks back, positive looks ahead. Units: those of the frame.
using relative_offset = strong_index<struct offset_tag>;

/// Positions lie in [-position_limit, position_limit], so that no difference of two of them overflows.
inline constexpr index_t position_limit = (index_t{1} << 62) - 1;

/// a + b, or the end of the 64-bit range that it would pass: lengths nobody has checked yet may be anything.
[[nodiscard]] constexpr index_t saturating_add(index_t a, index_t b) noexcept {
  index_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<index_t>::min() : std::numeric_limits<index_t>::max();
}
[[nodiscard]] constexpr index_t saturating_subtract(index_t a, index_t b) noexcept {
  index_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<index_t>::min() : std::numeric_limits<index_t>::max();
}

/// Key rows [begin, end); empty when begin >= end.
struct key_range {
  key_index begin;
  key_index end;
  friend constexpr bool operator==(key_range, key_range) noexcept = default;
};

/// Counts I{0}, I{1}, ... I{count - 1} in a range-for loop.
template <class I>
class indices {
 public:
  constexpr explicit indices(index_t count) noexcept : end_(count) {}
  constexpr indices(I begin, I end) noexcept : begin_(begin), end_(end) {}

  class iterator {
   public:
    constexpr explicit iterator(I at) noexcept : at_(at) {}
    constexpr I operator*() const noexcept { return at_; }
    constexpr iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    constexpr bool operator!=(iterator end) const noexcept { return at_ < end.at_; }

   private:
    I at_;
  };

  [[nodiscard]] constexpr iterator begin() const noexcept { return iterator{begin_}; }
  [[nodiscard]] constexpr iterator end() const noexcept { return iterator{end_}; }

 private:
  I begin_{};
  I end_{};
};

/// Which way a relative method subtracts. There is no default: the field disagrees.
enum class offset_sign { key_minus_query, query_minus_key };
[[nodiscard]] constexpr std::string_view name_of(offset_sign sign) noexcept {
  return sign == offset_sign::key_minus_query ? "key_minus_query" : "query_minus_key";
}

/// The offset under a declared sign.
[[nodiscard]] constexpr index_t signed_offset(relative_offset key_minus_query, offset_sign sign) noexcept {
  return sign == offset_sign::key_minus_query ? key_minus_query.value() : -key_minus_query.value();
}

}  // namespace posgeo
