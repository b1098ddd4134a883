// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/encode/of_positions.hpp>

namespace posgeo::encode {

enum class bit_order { most_significant_first, least_significant_first };

[[nodiscard]] constexpr std::string_view name_of(bit_order order) noexcept {
  return order == bit_order::most_significant_first ? "most_significant_first" : "least_significant_first";
}

struct binary_index_settings {
  required<index_t> bits;
  required<bit_order> order;
};

/// A counter-example: the binary digits of p, one in each column. Bounded and distinct, but not smooth: from 6 to 7 one
/// digit changes and the step is 1, from 7 to 8 four change and it is 2.
/// Shapes: states [batch, rows, bits].
/// Units:  positions in tokens; 2^bits of them have a code.
/// Throws: errc::shape_mismatch, when built, for fewer than 1 bit or more than 62; errc::position_out_of_table, when
///         compiled, for a position outside 0 .. 2^bits - 1.
/// Source: none to follow; sinusoidal is the cure.
class binary_index {
 public:
  using family = posgeo::family::state_encoder;

  explicit binary_index(const binary_index_settings& settings) : settings_(settings) {
    require(settings.bits >= 1 && settings.bits <= 62, errc::shape_mismatch, "binary_index", "bits", "from 1 to 62",
            settings.bits);
  }

  [[nodiscard]] index_t width() const noexcept { return settings_.bits; }
  [[nodiscard]] index_t capacity() const noexcept { return index_t{1} << width(); }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::absolute | reads::padding; }
  [[nodiscard]] positional_range range() const noexcept {
    return {.lowest_position = 0, .highest_position = capacity() - 1};
  }
  [[nodiscard]] description describe() const {
    return description("binary_index").with("bits", index_t{settings_.bits}).with("order", name_of(settings_.order));
  }

  template <class Put>
  void for_each_column(index_t p, const Put& put) const noexcept {
    for (index_t bit = 0; bit < width(); ++bit) {
      const bool first = settings_.order == bit_order::least_significant_first;
      put(first ? bit : width() - 1 - bit, static_cast<double>((p >> bit) & 1));
    }
  }
  template <class T>
  [[nodiscard]] of_positions<T, binary_index> compile(const position_call& call) const {
    return {*this, call, "binary_index"};
  }

 private:
  binary_index_settings settings_;
};

}  // namespace posgeo::encode
