// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>
#include <posgeo/simd/pack.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// Whether the n-th pack of numbers of E is the first of a cache line, which is asked for once.
template <class E>
[[nodiscard]] constexpr bool starts_line(index_t n) noexcept {
  using T = std::conditional_t<sizeof(E) == 8, double, float>;
  return n * simd::pack<T>::lanes * static_cast<index_t>(sizeof(E)) % 64 == 0;
}

/// Asks for the cache lines of stored rows, one line after the other in the order of the rows, a while before they are
/// read. A loop that computes asks for a line in each of its steps: a core keeps only a dozen lines on their way, and
/// lines asked for at once would wait for each other.
class read_ahead {
 public:
  static constexpr index_t line = 64;
  /// Far enough for a line to arrive, near enough for it to stay, and half a page from whole pages, near which it is
  /// slower. Measured.
  template <class E>
  [[nodiscard]] static constexpr std::uintptr_t bytes(std::uintptr_t row_bytes) noexcept {
    return sizeof(E) >= 4 && row_bytes <= 256 ? 6144 : 10240;
  }

  read_ahead() = default;
  /// Lines from some rows after a row of `dims` numbers on; the stride is in numbers too.
  template <class E>
  read_ahead(const E* row, index_t dims, index_t stride) noexcept
      : row_bytes_(size<E>(dims)), stride_(size<E>(stride)) {
    row_ = reinterpret_cast<std::uintptr_t>(row) +
           std::max<std::uintptr_t>(bytes<E>(row_bytes_) / row_bytes_, 1) * stride_;
    at_ = row_;
  }

  void next() noexcept {
    // An address, since it may lie beyond the rows.
    simd::prefetch(reinterpret_cast<const void*>(at_));  // NOLINT(performance-no-int-to-ptr)
    at_ += line;
    if (at_ - row_ >= row_bytes_) at_ = row_ += stride_;
  }

 private:
  template <class E>
  [[nodiscard]] static constexpr std::uintptr_t size(index_t numbers) noexcept {
    return static_cast<std::uintptr_t>(numbers) * sizeof(E);
  }

  std::uintptr_t row_bytes_ = 0;
  std::uintptr_t stride_ = 0;
  std::uintptr_t row_ = 0;
  std::uintptr_t at_ = 0;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
