// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>
#include <posgeo/simd/pack.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// How many numbers a register tile of the fused executor holds. A step of the score loop loads `key_packs` packs of
/// keys and multiplies each by one number of `rows` queries; a step of the value loop loads `value_packs` packs of a
/// value row and multiplies each by one weight of `value_rows` queries. A tile's rows * packs sums must be at least 8,
/// so that none waits for its own last fused multiply-add (latency 4, two in a cycle), and fit the registers with one
/// step's loads.
template <class T>
struct tile_shape {
  static constexpr index_t lanes = simd::pack<T>::lanes;
#if defined(EIGEN_VECTORIZE_AVX512) || defined(EIGEN_VECTORIZE_NEON)
  // 32 registers: 24 sums. A score step reads 2 packs for 24 products, so that keys may stream from the second-level
  // cache; a value step needs 4 packs of columns to read a cache line pair of a value row at once.
  static constexpr index_t rows = 12;
  static constexpr index_t key_packs = 2;
  static constexpr index_t value_rows = 6;
  static constexpr index_t value_packs = 4;
#else
  // 16 registers: 12 sums, 2 packs of keys, 1 of a query.
  static constexpr index_t rows = 6;
  static constexpr index_t key_packs = 2;
  static constexpr index_t value_rows = 6;
  static constexpr index_t value_packs = 2;
#endif
  static constexpr index_t value_packs_of_few = 4;  ///< of one or two rows, whose sums would else wait
  static_assert(rows % value_rows == 0);
  static constexpr index_t whole_rows = (rows + lanes - 1) / lanes * lanes;  ///< as many rows as packs of them have
  static constexpr index_t keys = key_packs * lanes;                         ///< of one tile
  /// Keys whose weighted values are summed from zero before the output takes them: longer sums lose digits, shorter
  /// ones load and store the output more often. A multiple of the keys of a tile.
  static constexpr index_t block_keys = 512;
  /// Queries that read a block of keys and values while it is in the second-level cache.
  static constexpr index_t chunk_rows = 192;
  static_assert(block_keys % keys == 0 && chunk_rows % rows == 0);
};

/// The smallest multiple of `step` that is not below n.
[[nodiscard]] constexpr index_t round_up(index_t n, index_t step) noexcept { return (n + step - 1) / step * step; }

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
