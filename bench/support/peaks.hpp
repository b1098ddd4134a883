// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <vector>

namespace posgeo::bench {

/// Seconds that f() takes.
template <class F>
[[nodiscard]] double seconds_of(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What one core can do at most, measured now, for a millisecond. Units: flop/s, a multiply and an add each count.

/// Fused multiply-adds in registers, at the build's vector width.
template <class T>
[[nodiscard]] double fma_peak();
extern template double fma_peak<float>();
extern template double fma_peak<double>();

/// bfloat16 dot products in registers, summed in float; nothing where the build has no such instruction. Matrix tiles
/// (AMX) are not counted: the library does not use them.
[[nodiscard]] std::optional<double> bfloat16_dot_peak();

/// A buffer far larger than any cache, to be read from end to end.
class memory_reader {
 public:
  /// Bytes that are certain to come from memory: 1 GiB.
  static constexpr std::size_t bytes = std::size_t{1} << 30;

  using read_loop = float (*)(const float* first, const float* last);

  /// Finds the loop that reads fastest here: one stream with prefetches at different distances or none, or several.
  memory_reader();
  /// Bytes per second of `cores` threads that each read an equal share with that loop.
  [[nodiscard]] double bandwidth(int cores = 1) const;

 private:
  std::vector<float> values_;
  read_loop loop_;
};

/// The one reader of the process; its memory is filled on the first call.
[[nodiscard]] const memory_reader& reader();

}  // namespace posgeo::bench
