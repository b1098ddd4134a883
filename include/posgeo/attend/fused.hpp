// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_rows.hpp>
#include <posgeo/attend/order.hpp>
#include <posgeo/attend/progress.hpp>
#include <posgeo/attend/threads.hpp>

#include <atomic>
#include <memory>
#include <optional>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {

/// Attention near the speed of the machine, with every positional family in the same pass: scores are made, biased,
/// turned into weights and used up tile by tile, so that no [queries, keys] object exists.
/// Shapes: those of attend. Memory: workspace_bytes(plan, value_dim), which grows with queries + keys.
/// Throws: errc::executor_refusal if scores or probabilities are asked for; errc::workspace_size for a workspace that
///         is too small; errc::cancelled if the progress hook says so, and then the output is unfinished.
/// Source: Milakov and Gimelshein 2018 (online softmax); Dao et al. 2022 (FlashAttention), algorithm 1.
template <parallel Threads = threads::serial, class Order = order::fastest>
class fused {
 public:
  explicit fused(Threads threads = {}, Order = {}) : threads_(std::move(threads)) {}

  /// The same executor with memory of the caller's, at any address. It serves one call of attend at a time.
  [[nodiscard]] fused with_workspace(std::span<std::byte> workspace) const {
    fused other = *this;
    other.workspace_ = workspace;
    return other;
  }
  /// The same executor, which tells `hook` how many pieces of its work are done and asks it whether to go on, maybe
  /// from several threads at once. What the hook throws ends the call too.
  [[nodiscard]] fused with_progress(progress_hook hook) const {
    fused other = *this;
    other.progress_ = hook;
    return other;
  }

  /// What attend needs beside inputs and outputs, for values of this width.
  template <class Plan>
  [[nodiscard]] std::size_t workspace_bytes(const Plan& plan, index_t value_dim) const {
    const kernel::fused_sizes<Plan> sizes(plan, value_dim);
    return bytes_of(sizes, workers(pieces(plan, concurrency())));
  }

  template <class Plan, class E, class O>
  void run(const Plan& plan, const qkv<E>& in, const attention_output<typename Plan::scalar, O>& out) const {
    require(!out.scores && !out.probabilities, errc::executor_refusal, "fused", "outputs",
            "output and log_sum_exp (eager gives scores and probabilities)", "scores or probabilities");
    const kernel::fused_sizes<Plan> sizes(plan, in.value.extent(3));
    const pieces work(plan, concurrency());
    const std::size_t needed = bytes_of(sizes, workers(work));
    require(!workspace_ || workspace_->size() >= needed, errc::workspace_size, "fused", "workspace bytes",
            text("at least {}", needed), workspace_ ? workspace_->size() : 0);
    const std::unique_ptr<std::byte[]> own(workspace_ ? nullptr : new std::byte[needed]);
    std::byte* const memory = detail::memory_parts::aligned(workspace_ ? workspace_->data() : own.get());

    std::atomic<index_t> next{0};
    detail::piece_progress progress(progress_, work.count());
    threads_.parallel_for(workers(work), [&](index_t worker) {
      detail::memory_parts parts(memory + static_cast<std::size_t>(worker) * bytes_of_worker(sizes));
      const kernel::fused_memory<Plan> of_worker(parts, sizes);
      kernel::fused_entry<Plan, E> entry(plan, in, sizes, of_worker);
      kernel::fused_rows<Plan, E, O> rows(plan, sizes, entry, out);
      for (index_t n = next++; n < work.count() && !progress.cancelled(); n = next++) {
        run_piece(plan, sizes, work[n], entry, rows);
        progress.one_more();
      }
    });
    progress.require_finished("fused");
  }

  [[nodiscard]] const Threads& threads() const noexcept { return threads_; }
  [[nodiscard]] progress_hook progress() const noexcept { return progress_; }
  /// The memory of the caller's, if there is any.
  [[nodiscard]] std::optional<std::span<std::byte>> workspace() const noexcept { return workspace_; }

 private:
  /// Query rows [first, last) of the heads [head, head_end) of one batch entry.
  struct piece {
    batch_index b;
    index_t head;
    index_t head_end;
    index_t first;
    index_t last;
  };
  /// A call in pieces: one key head of one entry, or, if those are too few for the threads, a part of its rows.
  class pieces {
   public:
    template <class Plan>
    pieces(const Plan& plan, index_t concurrency)
        : batch_(plan.call().batch()),
          heads_(plan.layout().key_value),
          group_(plan.layout().query / plan.layout().key_value),
          queries_(plan.call().queries()),
          concurrency_(concurrency) {
      constexpr index_t rows = kernel::tile_shape<typename Plan::scalar>::chunk_rows;
      const index_t most = kernel::round_up(std::max<index_t>(queries_, 1), rows) / rows;
      if (concurrency > 1) {
        splits_ = std::clamp<index_t>(kernel::round_up(4 * concurrency, batch_ * heads_) / (batch_ * heads_), 1, most);
      }
      step_ = kernel::round_up(kernel::round_up(queries_, splits_) / splits_, rows);
      splits_ = queries_ == 0 ? 0 : kernel::round_up(queries_, step_) / step_;
    }
    [[nodiscard]] index_t count() const noexcept { return batch_ * heads_ * splits_; }
    [[nodiscard]] index_t concurrency() const noexcept { return concurrency_; }
    [[nodiscard]] piece operator[](index_t n) const noexcept {
      const index_t split = n % splits_;
      const index_t head = n / splits_ % heads_;
      return {batch_index{n / splits_ / heads_}, head * group_, (head + 1) * group_, split * step_,
              std::min((split + 1) * step_, queries_)};
    }

   private:
    index_t batch_;
    index_t heads_;
    index_t group_;
    index_t queries_;
    index_t concurrency_;
    index_t splits_ = 1;
    index_t step_ = 1;
  };

  [[nodiscard]] index_t concurrency() const { return std::max<index_t>(threads_.concurrency(), 1); }
  /// How many tasks share the pieces; one where there is nothing to do.
  [[nodiscard]] static index_t workers(const pieces& work) noexcept {
    return std::clamp<index_t>(work.count(), 1, work.concurrency());
  }
  template <class Plan>
  [[nodiscard]] static std::size_t bytes_of(const kernel::fused_sizes<Plan>& sizes, index_t workers) {
    return static_cast<std::size_t>(workers) * bytes_of_worker(sizes) + detail::memory_parts::alignment;
  }
  template <class Plan>
  [[nodiscard]] static std::size_t bytes_of_worker(const kernel::fused_sizes<Plan>& sizes) {
    detail::memory_parts counted;
    (void)kernel::fused_memory<Plan>(counted, sizes);
    return counted.bytes();
  }
  template <class Plan, class E, class O>
  static void run_piece(const Plan& plan, const kernel::fused_sizes<Plan>& sizes, const piece& work,
                        kernel::fused_entry<Plan, E>& entry, kernel::fused_rows<Plan, E, O>& rows) {
    for (index_t first = work.first; first < work.last;) {
      const index_t alike = entry.rows_alike(work.b, first, work.last);
      const index_t sequence = plan.call().sequence(work.b, query_index{first});
      const index_t heads = work.head_end - work.head;
      if (sizes.heads == heads && heads * (alike - first) <= sizes.chunk_rows) {
        entry.bind(work.b, head_index{work.head}, heads, sequence);
        rows.run({first, alike}, heads, kernel::key_use::only_here);
      } else {
        for (index_t h = work.head; h < work.head_end; ++h) {
          entry.bind(work.b, head_index{h}, 1, sequence);
          const bool alone = heads == 1 && alike - first <= sizes.chunk_rows;
          for (index_t row = first; row < alike; row += sizes.chunk_rows) {
            rows.run({row, std::min(row + sizes.chunk_rows, alike)}, 1,
                     alone ? kernel::key_use::only_here : kernel::key_use::by_others_too);
          }
        }
      }
      first = alike;
    }
  }

  Threads threads_;
  std::optional<std::span<std::byte>> workspace_;
  progress_hook progress_;
};

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
