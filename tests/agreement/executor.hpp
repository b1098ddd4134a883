// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/attend/fused.hpp>
#include <posgeo/attend/order.hpp>
#include <posgeo/attend/threads.hpp>

#include <type_traits>

// The one place that says which executor the agreement tests hold against eager in double.
namespace posgeo::test {

using executor_under_test = fused<>;

/// Whether it promises that the bits of a row depend on nothing but the row, takes threads and orders, and reports its
/// workspace.
inline constexpr bool promises_exact_rows = !std::is_same_v<executor_under_test, eager>;

/// The executor with threads and an order of its own.
template <class Order, class Threads>
[[nodiscard]] auto executor_with(const Threads& threads) {
  return fused<Threads, Order>{threads};
}

/// The largest relative change of a weight before it meets values stored in E: 0 unless weights are rounded to the 16
/// bits that the dot product of the hardware takes, where it is half a unit of bfloat16's eight bits.
template <class E>
inline constexpr double weight_rounding = 0.0;

}  // namespace posgeo::test
