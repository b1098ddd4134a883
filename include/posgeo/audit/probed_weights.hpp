// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace posgeo::audit::detail {

/// Fills memory that a function may leave unwritten.
template <class Tensor>
void unwritten(Tensor& numbers) {
  for (auto& x : numbers.values()) x = std::numeric_limits<std::remove_reference_t<decltype(x)>>::quiet_NaN();
}
template <class Tensor>
[[nodiscard]] bool written(const Tensor& numbers) {
  const auto all = numbers.values();
  return std::any_of(all.begin(), all.end(), [](auto x) { return !std::isnan(x); });
}

/// The weights of a function that does not give them: with values that are 1 at (first + d, d) and 0 elsewhere, output
/// d is the weight of key first + d; what the value terms add is taken off.
template <class T, class Function, class Plan>
[[nodiscard]] tensor<double, 4> probed_weights(const Function& function, const Plan& plan, const qkv<T>& in) {
  const index_t keys = in.key.extent(2);
  const index_t width = in.value.extent(3);
  const std::array<index_t, 4> extents{in.query.extent(0), in.query.extent(1), in.query.extent(2), width};
  tensor<T, 4> value({in.key.extent(0), in.key.extent(1), keys, width});
  const auto run = [&] {
    tensor<T, 4> output(extents);
    unwritten(output);
    function(plan, qkv<T>{in.query, in.key, std::as_const(value).view()}, attention_output<T>{output.view()});
    return output;
  };
  tensor<T, 4> added(extents);
  if (Plan::has_values) added = run();
  tensor<double, 4> weights({extents[0], extents[1], extents[2], keys});
  for (index_t first = 0; first < keys; first += width) {
    const index_t count = std::min(width, keys - first);
    std::fill(value.values().begin(), value.values().end(), T{0});
    for (index_t b = 0; b < value.extent(0); ++b) {
      for (index_t h = 0; h < value.extent(1); ++h) {
        for (index_t d = 0; d < count; ++d) value(b, h, first + d, d) = T{1};
      }
    }
    const tensor<T, 4> output = run();
    for (index_t b = 0; b < extents[0]; ++b) {
      for (index_t h = 0; h < extents[1]; ++h) {
        for (index_t i = 0; i < extents[2]; ++i) {
          for (index_t d = 0; d < count; ++d) {
            weights(b, h, i, first + d) =
                static_cast<double>(output(b, h, i, d)) - static_cast<double>(added(b, h, i, d));
          }
        }
      }
    }
  }
  return weights;
}

}  // namespace posgeo::audit::detail
