// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/backward_rows.hpp>
#include <posgeo/attend/fused.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {

namespace kernel {

/// Workers that finish pieces in any order hand them over in the order of the pieces.
class in_turn {
 public:
  /// Calls `hand_over` when all pieces before n have; never, if the call was given up.
  template <class HandOver>
  void operator()(index_t n, const HandOver& hand_over) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_up_ || next_ == n; });
    if (given_up_) return;
    hand_over();
    ++next_;
    changed_.notify_all();
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  index_t next_ = 0;
  bool given_up_ = false;
};

/// Runs one key head of one batch entry.
template <class Plan, class E, class O>
void backward_piece(const Plan& plan, batch_index b, index_t shared, const backward_sizes<Plan>& sizes,
                    fused_entry<Plan, E>& entry, backward_rows<Plan, E, O>& rows, call::memory_gradient memory) {
  const index_t group = plan.layout().query / plan.layout().key_value;
  const index_t queries = plan.call().queries();
  rows.begin_keys();
  for (index_t first = 0; first < queries;) {
    const index_t alike = entry.rows_alike(b, first, queries);
    const index_t sequence = plan.call().sequence(b, query_index{first});
    for (index_t h = shared * group; h < (shared + 1) * group; ++h) {
      entry.bind(b, head_index{h}, 1, sequence);
      if (h == shared * group) rows.begin_sequence();
      rows.begin_head();
      for (index_t row = first; row < alike; row += sizes.chunk_rows) {
        rows.run({row, std::min(row + sizes.chunk_rows, alike)});
      }
      rows.finish_head();
    }
    first = alike;
  }
  rows.finish_keys(b, head_index{shared * group}, shared, memory);
}

}  // namespace kernel

/// What attend_backward with the fused executor needs beside gradients, for values of this width: it allocates that, or
/// takes it from with_workspace.
template <class Threads, class Order, class Plan>
[[nodiscard]] std::size_t backward_bytes(const fused<Threads, Order>& executor, const Plan& plan, index_t value_dim) {
  const kernel::backward_sizes<Plan> sizes(plan, value_dim);
  detail::memory_parts counted;
  (void)kernel::fused_memory<Plan>(counted, sizes);
  (void)kernel::backward_memory<Plan>(counted, sizes);
  const index_t pieces = plan.call().batch() * plan.layout().key_value;
  const index_t workers = std::clamp<index_t>(pieces, 1, std::max<index_t>(executor.threads().concurrency(), 1));
  return static_cast<std::size_t>(workers) * counted.bytes() + detail::memory_parts::alignment;
}

/// The backward pass of the fused executor: weights are made again from the log-sum-exp, and no [queries, keys] object
/// exists. Sums by offset and class are made inside the tiles; policies without such a form are given pairs. The work
/// is shared out by key heads and handed over in their order, so that gradients do not depend on the threads.
/// Throws: errc::workspace_size for a workspace that is too small; errc::cancelled if the progress hook says so, and
///         then gradients are unfinished.
/// Source: Dao et al. 2022 (FlashAttention), algorithm 4.
template <class Threads, class Order, class Plan, class E, class O>
void run_backward(const fused<Threads, Order>& executor, const Plan& plan, const qkv<E>& in,
                  const forward_result<typename Plan::scalar, O>& forward, const heads_view<const O>& d_output,
                  const qkv_gradient<typename Plan::scalar>& to, plan_gradients_of<Plan>& gradients,
                  call::memory_gradient memory) {
  const kernel::backward_sizes<Plan> sizes(plan, in.value.extent(3));
  const index_t heads = plan.layout().key_value;
  const index_t pieces = plan.call().batch() * heads;
  const index_t workers = std::clamp<index_t>(pieces, 1, std::max<index_t>(executor.threads().concurrency(), 1));
  const std::size_t bytes = backward_bytes(executor, plan, in.value.extent(3));
  const auto workspace = executor.workspace();
  require(!workspace || workspace->size() >= bytes, errc::workspace_size, "fused backward pass", "workspace bytes",
          text("at least {}", bytes), workspace ? workspace->size() : 0);
  const std::unique_ptr<std::byte[]> own(workspace ? nullptr : new std::byte[bytes]);
  std::byte* const begin = detail::memory_parts::aligned(workspace ? workspace->data() : own.get());
  const std::size_t of_worker = (bytes - detail::memory_parts::alignment) / static_cast<std::size_t>(workers);

  std::atomic<index_t> next{0};
  detail::piece_progress progress(executor.progress(), pieces);
  kernel::in_turn turn;
  executor.threads().parallel_for(workers, [&](index_t worker) {
    detail::memory_parts parts(begin + static_cast<std::size_t>(worker) * of_worker);
    const kernel::fused_memory<Plan> of_scores(parts, sizes);
    const kernel::backward_memory<Plan> of_worker_memory(parts, sizes);
    plan_gradients_of<Plan> learned = gradients;
    kernel::fused_entry<Plan, E> entry(plan, in, sizes, of_scores);
    kernel::backward_rows<Plan, E, O> rows(plan, forward, d_output, to, sizes, entry, of_worker_memory, learned);
    try {
      for (index_t n = next++; n < pieces && !progress.cancelled(); n = next++) {
        learned.reset();
        kernel::backward_piece(plan, batch_index{n / heads}, n % heads, sizes, entry, rows, memory);
        turn(n, [&] { gradients.add(learned); });
        progress.one_more();
        if (progress.cancelled()) turn.give_up();
      }
    } catch (...) {
      progress.cancel();
      turn.give_up();
      throw;
    }
  });
  progress.require_finished("fused backward pass");
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
