// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/tile_shape.hpp>
#include <posgeo/simd/exponential.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// A running softmax in base 2 of a few query rows: weights are 2^(score - reference). A reference is the largest score
/// of the first tile in which its row sees a key, plus `headroom`; it rises only where a later score is above it, so
/// that weights are at most 1 and the largest is not far below. What one row does depends on no other row.
template <class T>
struct softmax_rows {
  static constexpr T headroom = 8;
  /// Scores this far below the reference weigh 0: at most 2^(vanishes + headroom) of the row's largest weight, which no
  /// sum of weights can notice, and far enough from subnormal products with values, which are slow.
  static constexpr T vanishes = sizeof(T) == 4 ? T{-96} : T{-512};
  T* shift;               ///< [rows], minus the reference, 0 at first
  T* sums;                ///< [rows][lanes], sums of the weights of every lanes-th key
  T* out;                 ///< [rows][width], weighted values
  index_t width;          ///< of out
  std::uint8_t* started;  ///< [rows], whether a key has been seen
};

/// cap * tanh(score / cap), in base 2.
template <class T>
struct softcap_base2 {
  T cap;  ///< 0: none
};

/// The keys of a tile that a row sees, one bit each.
using seen_bits = std::uint64_t;

/// What turns one tile of raw scores into weights.
template <class T>
struct tile_finish {
  T* scores;  ///< [rows][stride], replaced by the weights
  index_t stride;
  index_t done;           ///< keys of this block before the tile: their weights are at scores[-done ...]
  const seen_bits* seen;  ///< [rows], or null: all keys
  T cap;                  ///< in base 2, applied first; 0 for none
  const T* const* line;   ///< [rows], added after the cap, or null
  T line_cap;             ///< applied after that; 0 for none
  index_t rows;           ///< of the group that exist
};

template <class T>
[[nodiscard]] inline simd::pack<T> capped(simd::pack<T> x, T cap) noexcept {
  if (cap == T{0}) return x;
  return simd::broadcast<T>(cap) * simd::tanh(x * simd::broadcast<T>(T{1} / cap));
}

/// Raises references where a row needs it and makes weights of a tile of scores; hidden keys weigh exactly 0, whatever
/// their score. With a cap the scores must not have a reference subtracted, without one they must.
template <class T>
[[gnu::noinline]] void finish_tile(const tile_finish<T>& tile, const softmax_rows<T>& state) noexcept {
  using shape = tile_shape<T>;
  using simd::pack;
  constexpr index_t lanes = shape::lanes;
  constexpr index_t packs = shape::key_packs;
  constexpr T lowest = std::numeric_limits<T>::lowest();
  const bool natural = tile.cap != T{0} || tile.line != nullptr || tile.line_cap != T{0};
  constexpr seen_bits tile_bits = (seen_bits{1} << shape::keys) - 1;
  for (index_t r = 0; r < tile.rows; ++r) {
    T* const scores = tile.scores + r * tile.stride;
    const seen_bits seen = tile.seen == nullptr ? ~seen_bits{0} : tile.seen[r];
    pack<T> score[packs];
    simd::mask<T> visible[packs];
    bool above = false;
    for (index_t n = 0; n < packs; ++n) {
      visible[n] = simd::from_bits<T>(static_cast<std::uint32_t>(seen >> (n * lanes)) &
                                      static_cast<std::uint32_t>((std::uint64_t{1} << lanes) - 1));
      score[n] = capped(simd::load(scores + n * lanes), tile.cap);
      if (tile.line != nullptr) score[n] = score[n] + simd::load(tile.line[r] + n * lanes);
      score[n] = capped(score[n], tile.line_cap);
      if (natural) score[n] = score[n] + simd::broadcast<T>(state.shift[r]);
      above = above || simd::any(simd::below(simd::zero<T>(), score[n]) & visible[n]);
    }
    T rise = T{0};
    if (above || (state.started[r] == 0 && (seen & tile_bits) != 0)) {
      pack<T> most = simd::broadcast<T>(lowest);  // of -infinity, which is so by overflow and not hidden
      for (index_t n = 0; n < packs; ++n) most = simd::select(visible[n], simd::max(most, score[n]), most);
      const T highest = simd::largest(most);
      // A NaN has no place among the others: it stays in the weights.
      rise = highest >= lowest ? highest + softmax_rows<T>::headroom : T{0};
      if (state.started[r] != 0) {
        const T shrink = std::exp2(-rise);
        const auto times = [shrink](T* numbers, index_t count) {
          for (index_t n = 0; n < count; ++n) numbers[n] *= shrink;
        };
        times(state.sums + r * lanes, lanes);
        times(state.out + r * state.width, state.width);
        times(scores - tile.done, tile.done);
      }
      state.shift[r] -= rise;
      state.started[r] = 1;
    }
    pack<T> sum = simd::load(state.sums + r * lanes);
    for (index_t n = 0; n < packs; ++n) {
      const pack<T> weight =
          simd::zero_where(~visible[n], simd::exp2(score[n] - simd::broadcast<T>(rise), softmax_rows<T>::vanishes));
      simd::store(scores + n * lanes, weight);
      sum = sum + weight;
    }
    simd::store(state.sums + r * lanes, sum);
  }
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
