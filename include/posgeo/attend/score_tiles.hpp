// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/online_softmax.hpp>
#include <posgeo/attend/read_ahead.hpp>
#include <posgeo/simd/exponential.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// What a score starts from.
enum class score_start {
  zero,       ///< 0
  reference,  ///< minus the row's reference
  line,       ///< a number for each key, minus the row's reference
};
/// What becomes of a tile of scores.
enum class score_end {
  raw,            ///< they are stored
  weights,        ///< 2^score is stored and summed, unless a score is above 0: then this tile's are stored raw
  seen_weights,   ///< the same of the keys that a row sees; the others score -inf, whatever stands there
  probabilities,  ///< 2^score is stored
  weighted,       ///< score * weight is stored, and 0 where the weight is 0
};
/// Where the keys of a job come from.
enum class key_source {
  packed,   ///< they stay where they are
  passing,  ///< they were packed for this job alone: the loop asks for the stored rows of the next ones
};

/// A stretch of tiles of one group of query rows. Scores are in base 2.
template <class T>
struct score_job {
  const T* queries;  ///< [dims][tile rows]: columns, so that a step of the loop reads them at one address
  const T* keys;     ///< tiles of [dims][keys]
  index_t dims;
  index_t first;  ///< tiles [first, last)
  index_t last;
  const T* shift;        ///< [rows], minus the references
  const T* const* line;  ///< [rows]: of the first key of tile `first`
  index_t line_step;     ///< numbers of a line from tile to tile: `keys`, or 0 where it is level
  T* out;                ///< [rows][out_stride]: column 0 is the first key of tile 0
  index_t out_stride;
  T* sums;                  ///< [rows][lanes]
  const seen_bits* seen;    ///< [rows], of score_end::seen_weights, which runs one tile
  const T* weights;         ///< [rows][out_stride], of score_end::weighted
  const read_ahead* ahead;  ///< of passing keys: asked for a line with each number of a query; else null
};

/// Runs the tiles and gives the number of the tile that it stopped at: `last`, or one that was stored raw.
template <score_start Start, score_end End, key_source Source, index_t Rows, class T>
[[gnu::noinline]] index_t score_tile_rows(const score_job<T>& job) noexcept {
  using shape = tile_shape<T>;
  using simd::pack;
  constexpr index_t rows = Rows;
  constexpr index_t packs = shape::key_packs;
  constexpr index_t lanes = shape::lanes;
  constexpr bool weighs = End == score_end::weights || End == score_end::seen_weights;
  constexpr index_t ahead = 256 / static_cast<index_t>(sizeof(T)) * 4;  // prefetched: 1 KiB, a few steps
  const index_t dims = job.dims;
  read_ahead lines = Source == key_source::passing ? *job.ahead : read_ahead();
  for (index_t tile = job.first; tile < job.last; ++tile) {
    const T* keys = job.keys + tile * dims * shape::keys;
    const T* queries = job.queries;
    T* const out = job.out + tile * shape::keys;
    pack<T> score[rows][packs];
#pragma GCC unroll 16
    for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (index_t n = 0; n < packs; ++n) {
        if constexpr (Start == score_start::zero) {
          score[r][n] = simd::zero<T>();
        } else if constexpr (Start == score_start::reference) {
          score[r][n] = simd::broadcast<T>(job.shift[r]);
        } else {
          score[r][n] = simd::load(job.line[r] + (tile - job.first) * job.line_step + n * lanes) +
                        simd::broadcast<T>(job.shift[r]);
        }
      }
    }
    for (index_t d = 0; d < dims; ++d) {
      pack<T> key[packs];
#pragma GCC unroll 4
      for (index_t n = 0; n < packs; ++n) {
        key[n] = simd::load(keys + n * lanes);
        if (Source == key_source::packed && starts_line<T>(n)) simd::prefetch(keys + n * lanes + ahead);
      }
      if constexpr (Source == key_source::passing) lines.next();
#pragma GCC unroll 16
      for (index_t r = 0; r < rows; ++r) {
        const pack<T> query = simd::broadcast<T>(queries[r]);
#pragma GCC unroll 4
        for (index_t n = 0; n < packs; ++n) score[r][n] = simd::fma(query, key[n], score[r][n]);
      }
      keys += shape::keys;
      queries += shape::rows;
    }
    if constexpr (End == score_end::probabilities || End == score_end::weighted) {
#pragma GCC unroll 16
      for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (index_t n = 0; n < packs; ++n) {
          const index_t at = r * job.out_stride + n * lanes;
          if constexpr (End == score_end::probabilities) {
            simd::store(out + at, simd::exp2(score[r][n], softmax_rows<T>::vanishes));
          } else {
            const pack<T> weight = simd::load(job.weights + tile * shape::keys + at);
            simd::store(out + at, simd::zero_where(simd::at_most(weight, simd::zero<T>()), weight * score[r][n]));
          }
        }
      }
      continue;
    }
    if constexpr (End == score_end::seen_weights) {
      const pack<T> hidden = simd::broadcast<T>(-std::numeric_limits<T>::infinity());
#pragma GCC unroll 16
      for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (index_t n = 0; n < packs; ++n) {
          score[r][n] = simd::select(seen_by_pack<T>(job.seen[r], n), score[r][n], hidden);
        }
      }
    }
    bool stop = End == score_end::raw;
    if constexpr (weighs) {
      // A score above 0 has no sign; so has +0, which costs a look and changes nothing.
      pack<T> signs = score[0][0];
#pragma GCC unroll 16
      for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (index_t n = r == 0 ? 1 : 0; n + 1 < packs; n += 2)
          signs = simd::bits_of_all(signs, score[r][n], score[r][n + 1]);
      }
      signs = simd::bits_of_all(signs, score[0][packs - 1], score[rows - 1][packs - 1]);
      stop = !simd::all(simd::signed_lanes(signs));
    }
    if (stop) {
#pragma GCC unroll 16
      for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (index_t n = 0; n < packs; ++n) simd::store(out + r * job.out_stride + n * lanes, score[r][n]);
      }
      if constexpr (weighs) return tile;
    } else if constexpr (weighs) {
#pragma GCC unroll 16
      for (index_t r = 0; r < rows; ++r) {
        pack<T> sum = simd::load(job.sums + r * lanes);
#pragma GCC unroll 4
        for (index_t n = 0; n < packs; ++n) {
          const pack<T> weight = simd::exp2(score[r][n], softmax_rows<T>::vanishes);
          simd::store(out + r * job.out_stride + n * lanes, weight);
          sum = sum + weight;
        }
        simd::store(job.sums + r * lanes, sum);
      }
    }
  }
  return job.last;
}

/// The same for the first `rows` of a group, with no more work than the next power of two.
template <score_start Start, score_end End, key_source Source, class T>
inline index_t score_tiles_of(const score_job<T>& job, index_t rows) noexcept {
  if (rows == 1) return score_tile_rows<Start, End, Source, 1>(job);
  if (rows == 2) return score_tile_rows<Start, End, Source, 2>(job);
  if (rows <= 4) return score_tile_rows<Start, End, Source, 4>(job);
  if (tile_shape<T>::rows > 8 && rows <= 8) return score_tile_rows<Start, End, Source, 8>(job);
  return score_tile_rows<Start, End, Source, tile_shape<T>::rows>(job);
}
template <score_start Start, score_end End, class T>
inline index_t score_tiles(const score_job<T>& job, index_t rows) noexcept {
  return job.ahead == nullptr ? score_tiles_of<Start, End, key_source::packed>(job, rows)
                              : score_tiles_of<Start, End, key_source::passing>(job, rows);
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
