// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/backward_memory.hpp>
#include <posgeo/attend/fused_scores.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// The weights of the forward pass, made again from the log-sum-exp, and what softcaps pass on of a score's gradient.
template <class Plan, class E>
class backward_weights {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;

  backward_weights(const backward_sizes<Plan>& sizes, const fused_memory<Plan>& of_scores,
                   const backward_memory<Plan>& memory, fused_scores<Plan, E>& scores)
      : sizes_(sizes), of_scores_(of_scores), memory_(memory), scores_(scores) {}

  /// The weights of prepared tiles of a block; hidden keys weigh exactly 0.
  void make(const row_group<T>& group, index_t block, const tile_range& tiles, T* weights) noexcept {
    score_job<T> job = scores_.job(group, block, tiles.first, tiles.last);
    job.out = weights;
    if (!scores_.capped()) (void)scores_.template run<score_end::probabilities>(job, group);
    for (index_t tile = tiles.first; tile < tiles.last; ++tile) {
      if (scores_.capped()) weigh_capped(group, block, tile, weights);
      const bool whole = tile >= tiles.whole_first && tile < tiles.whole_last;
      for (index_t r = 0; r < group.count; ++r) {
        const bool weighs = memory_.weighs[group.chunk_row + r] != 0;
        if (whole && weighs) {
          memory_.seen[group.chunk_row + r] = 1;
          continue;
        }
        const seen_bits bits = weighs ? scores_.seen_of(group, r, block, tile) : seen_bits{0};
        if (bits != 0) memory_.seen[group.chunk_row + r] = 1;
        keep(bits, weights + r * sizes_.weight_stride + tile * shape::keys);
      }
    }
  }
  /// From the gradients of what softmax reads to those of what biases were added to.
  void pass_to_biases(const row_group<T>& group, const tile_range& tiles, T* d_scores) const noexcept {
    if (scores_.capped()) multiply(group, tiles, memory_.to_bias, d_scores);
  }
  /// From there to those of scaled scores.
  void pass_to_contents(const row_group<T>& group, const tile_range& tiles, T* d_scores) const noexcept {
    if (scores_.capped()) multiply(group, tiles, memory_.to_scaled, d_scores);
  }

 private:
  /// Hidden keys of a row's tile get weight 0.
  static void keep(seen_bits bits, T* weights) noexcept {
    for (index_t n = 0; n < shape::keys; n += shape::lanes) {
      const auto visible = simd::from_bits<T>(static_cast<std::uint32_t>(bits >> n) &
                                              static_cast<std::uint32_t>((std::uint64_t{1} << shape::lanes) - 1));
      simd::store(weights + n, simd::zero_where(~visible, simd::load(weights + n)));
    }
  }
  /// Weights of a tile whose scores are capped, and what the caps pass on.
  void weigh_capped(const row_group<T>& group, index_t block, index_t tile, T* weights) noexcept {
    scores_.natural(scores_.job(group, block, tile, tile + 1), group);
    const auto lines = scores_.lines().bias_lines(tile);
    const auto passed = [](simd::pack<T> capped_score, T cap) {
      const simd::pack<T> share = capped_score * simd::broadcast<T>(cap == T{0} ? T{0} : T{1} / cap);
      return simd::broadcast<T>(T{1}) - share * share;
    };
    for (index_t r = 0; r < group.count; ++r) {
      const simd::pack<T> shift = simd::broadcast<T>(of_scores_.shift[group.chunk_row + r]);
      for (index_t n = 0; n < shape::keys; n += shape::lanes) {
        const index_t at = r * sizes_.weight_stride + tile * shape::keys + n;
        simd::pack<T> score =
            capped(simd::load(of_scores_.natural + r * sizes_.weight_stride + n), scores_.cap_first());
        simd::store(memory_.to_scaled + at, passed(score, scores_.cap_first()));
        if constexpr (parts::offset_biases + parts::key_biases + parts::pair_biases > 0) {
          score = score + simd::load(lines[static_cast<std::size_t>(r)] + n);
        }
        score = capped(score, scores_.cap_last());
        simd::store(memory_.to_bias + at, passed(score, scores_.cap_last()));
        simd::store(weights + at, simd::exp2(score + shift, softmax_rows<T>::vanishes));
      }
    }
  }

  void multiply(const row_group<T>& group, const tile_range& tiles, const T* factors, T* numbers) const noexcept {
    for (index_t r = 0; r < group.count; ++r) {
      for (index_t n = tiles.first * shape::keys; n < tiles.last * shape::keys; n += shape::lanes) {
        const index_t at = r * sizes_.weight_stride + n;
        const simd::pack<T> number = simd::load(numbers + at);
        const auto nothing = simd::at_most(number, simd::zero<T>()) & simd::at_most(simd::zero<T>(), number);
        simd::store(numbers + at, simd::zero_where(nothing, number * simd::load(factors + at)));  // NaN of hidden keys
      }
    }
  }

  const backward_sizes<Plan>& sizes_;
  const fused_memory<Plan>& of_scores_;
  const backward_memory<Plan>& memory_;
  fused_scores<Plan, E>& scores_;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
