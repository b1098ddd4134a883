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

/// A running softmax in base 2 of a few query rows: weights are 2^(score - reference). A reference is the score of the
/// nearest key that its row sees, or the largest one of the first tile in which it sees a key, plus `headroom`; it
/// rises only where a later score is above it, so that weights are at most 1 and the largest is not far below. What one
/// row does depends on no other row.
template <class T>
struct softmax_rows {
  static constexpr T headroom = 8;
  /// Scores this far below the reference weigh 0: at most 2^(vanishes + headroom) of the row's largest weight, which no
  /// sum of weights can notice, and far enough from subnormal products with values, which are slow.
  static constexpr T vanishes = sizeof(T) == 4 ? T{-96} : T{-512};
  /// Whole numbers, so that another reference rescales by a power of two, which rounds nothing.
  [[nodiscard]] static T reference_above(T score) noexcept { return std::ceil(score) + headroom; }

  T* shift;               ///< [rows], minus the reference, 0 at first
  T* sums;                ///< [rows][lanes], sums of the weights of every lanes-th key
  T* out;                 ///< [rows][width], weighted values
  index_t width;          ///< of out
  std::uint8_t* started;  ///< [rows], whether a key has been seen
};

/// The keys of a tile that a row sees, one bit each.
using seen_bits = std::uint64_t;
/// Those of the n-th pack.
template <class T>
[[nodiscard]] inline simd::mask<T> seen_by_pack(seen_bits seen, index_t n) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  return simd::from_bits<T>(static_cast<std::uint32_t>(seen >> (n * lanes)) &
                            static_cast<std::uint32_t>((std::uint64_t{1} << lanes) - 1));
}

/// What turns one tile of raw scores into weights.
template <class T>
struct tile_finish {
  T* scores;         ///< [rows][stride], with the reference subtracted; replaced by the weights
  const T* natural;  ///< the same without it, or null while nobody needs them; with a cap the only ones
  index_t stride;
  index_t done;           ///< keys of this block before the tile: their weights are at scores[-done ...]
  const seen_bits* seen;  ///< [rows], or null: all keys
  T cap;                  ///< in base 2, applied first; 0 for none
  const T* const* line;   ///< [rows], added after the cap, or null
  T line_cap;             ///< applied after that; 0 for none
  index_t rows;           ///< of the group that exist
  std::uint32_t which;    ///< rows to finish, one bit each
};

/// cap * tanh(x / cap), in base 2; x itself for a cap of 0.
template <class T>
[[nodiscard]] inline simd::pack<T> capped(simd::pack<T> x, T cap) noexcept {
  if (cap == T{0}) return x;
  return simd::broadcast<T>(cap) * simd::tanh(x * simd::broadcast<T>(T{1} / cap));
}

/// The scores of a row's tile, which of them are seen, and what the softmax says to them.
template <class T>
struct row_of_tile {
  using shape = tile_shape<T>;
  simd::pack<T> score[shape::key_packs];
  simd::mask<T> visible[shape::key_packs];
  bool any = false;    ///< a key is seen
  bool above = false;  ///< a key that is seen scores above the reference

  row_of_tile(const tile_finish<T>& tile, index_t r, T shift) noexcept {
    const seen_bits seen = tile.seen == nullptr ? ~seen_bits{0} : tile.seen[r];
    const bool capped_score = tile.cap != T{0} || tile.line != nullptr || tile.line_cap != T{0};
    for (index_t n = 0; n < shape::key_packs; ++n) {
      visible[n] = seen_by_pack<T>(seen, n);
      score[n] = capped_score ? natural(tile, tile.natural, r, n) + simd::broadcast<T>(shift)
                              : simd::load(tile.scores + r * tile.stride + n * shape::lanes);
      any = any || simd::any(visible[n]);
      above = above || simd::any(simd::below(simd::zero<T>(), score[n]) & visible[n]);
    }
  }

  /// A score without reference. What is not seen to be finite by overflow is the lowest number: it is not hidden.
  [[nodiscard]] static simd::pack<T> natural(const tile_finish<T>& tile, const T* from, index_t r, index_t n) noexcept {
    simd::pack<T> x = capped(simd::load(from + r * tile.stride + n * shape::lanes), tile.cap);
    if (tile.line != nullptr) x = x + simd::load(tile.line[r] + n * shape::lanes);
    x = capped(x, tile.line_cap);
    const simd::pack<T> lowest = simd::broadcast<T>(std::numeric_limits<T>::lowest());
    return simd::select(simd::below(x, lowest), lowest, x);
  }
};

/// Raises references where a row needs it and makes weights of a tile of scores; hidden keys weigh exactly 0, whatever
/// their score. A row that rises goes on with its natural scores: beside a reference far below them they had lost their
/// digits. A row that does not rise takes the scores that it would have had without its neighbours. Gives the rows that
/// wait for natural scores, one bit each.
template <class T>
[[gnu::noinline]] std::uint32_t finish_tile(const tile_finish<T>& tile, const softmax_rows<T>& state) noexcept {
  using shape = tile_shape<T>;
  using simd::pack;
  constexpr index_t lanes = shape::lanes;
  constexpr index_t packs = shape::key_packs;
  constexpr T lowest = std::numeric_limits<T>::lowest();
  std::uint32_t waiting = 0;
  for (index_t r = 0; r < tile.rows; ++r) {
    if ((tile.which >> r & 1U) == 0) continue;
    T* const weights = tile.scores + r * tile.stride;
    row_of_tile<T> row(tile, r, state.shift[r]);
    if (row.any && (row.above || state.started[r] == 0)) {
      // Before its first key a row has no reference.
      const T* const from = tile.natural == nullptr && state.started[r] == 0 ? tile.scores : tile.natural;
      if (from == nullptr) {
        waiting |= std::uint32_t{1} << r;
        continue;
      }
      pack<T> most = simd::broadcast<T>(lowest);
      for (index_t n = 0; n < packs; ++n) {
        row.score[n] = row.natural(tile, from, r, n);
        most = simd::select(row.visible[n], simd::max(most, row.score[n]), most);
      }
      const T highest = simd::largest(most);
      // A NaN has no place among the others: it stays in the weights.
      const T reference = highest >= lowest ? softmax_rows<T>::reference_above(highest) : T{0};
      if (state.started[r] != 0) {
        const T shrink = std::exp2(-reference - state.shift[r]);
        const auto times = [shrink](T* numbers, index_t count) {
          for (index_t n = 0; n < count; ++n) numbers[n] *= shrink;
        };
        times(state.sums + r * lanes, lanes);
        times(state.out + r * state.width, state.width);
        times(weights - tile.done, tile.done);
      }
      state.shift[r] = -reference;
      state.started[r] = 1;
      for (index_t n = 0; n < packs; ++n) row.score[n] = row.score[n] - simd::broadcast<T>(reference);
    }
    pack<T> sum = simd::load(state.sums + r * lanes);
    for (index_t n = 0; n < packs; ++n) {
      const pack<T> weight = simd::zero_where(~row.visible[n], simd::exp2(row.score[n], softmax_rows<T>::vanishes));
      simd::store(weights + n * lanes, weight);
      sum = sum + weight;
    }
    simd::store(state.sums + r * lanes, sum);
  }
  return waiting;
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
