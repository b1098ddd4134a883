// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/attend/fused.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/causal.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace fused_test {

using namespace posgeo;

constexpr heads layout{.query = 6, .key_value = 3, .dim = 20};

auto alibi_plan(index_t past, index_t queries) {
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
                        bias::alibi{bias::alibi_slopes::reference(layout.query), bias::alibi_direction::causal}};
  return model.compile<float>(call::prefill_chunk(past, queries));
}

/// Threads that are started for each call.
struct started_threads {
  index_t count;
  [[nodiscard]] index_t concurrency() const noexcept { return count; }
  template <class F>
  void parallel_for(index_t tasks, const F& f) const {
    std::vector<std::thread> all;
    detail::kept_exception kept;
    for (index_t task = 0; task < tasks; ++task) {
      all.emplace_back([&f, &kept, task] { kept.run([&f, task] { f(task); }); });
    }
    for (std::thread& one : all) one.join();
    kept.rethrow_if_any();
  }
};

std::vector<float> copy_of(const tensor<float, 4>& rows) { return {rows.values().begin(), rows.values().end()}; }

TEST_CASE("the fused executor gives no scores and no probabilities", "[fused]") {
  const auto plan = alibi_plan(3, 5);
  const test::attention_inputs<float> in(layout, plan.call(), 7, 41);
  for (const also wanted : {also::scores, also::probabilities}) {
    const error e = test::refusal([&] { (void)attend(fused{}, plan, in.view(), wanted); });
    CHECK(e.code() == errc::executor_refusal);
  }
}

TEST_CASE("the fused executor refuses a workspace that is one byte short", "[fused]") {
  const auto plan = alibi_plan(3, 5);
  const test::attention_inputs<float> in(layout, plan.call(), 7, 42);
  const fused executor;
  const std::size_t bytes = executor.workspace_bytes(plan, 7);
  std::vector<std::byte> memory(bytes + 1);
  const std::span<std::byte> whole(memory);
  const error e =
      test::refusal([&] { (void)attend(executor.with_workspace(whole.first(bytes - 1)), plan, in.view()); });
  CHECK(e.code() == errc::workspace_size);
  CHECK(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("a workspace may be anywhere and dirty, and serve one plan after another", "[fused]") {
  std::vector<std::byte> memory;
  for (const index_t past : {0, 700, 31}) {
    const auto plan = alibi_plan(past, 9);
    const test::attention_inputs<float> in(layout, plan.call(), 7, 43);
    const fused executor;
    const std::size_t bytes = executor.workspace_bytes(plan, 7);
    memory.resize(std::max(memory.size(), bytes + 3), std::byte{0xFF});
    const auto own = attend(executor, plan, in.view());
    const auto lent = attend(executor.with_workspace(std::span(memory).subspan(3, bytes)), plan, in.view());
    CHECK(copy_of(own.output) == copy_of(lent.output));
  }
}

TEST_CASE("one workspace serves every family wherever it is", "[fused]") {
  const position_call call = call::prefill_chunk(23, 41);
  const test::attention_inputs<float> in(layout, call, 7, 51);
  const auto classes = coordinate::clipped::symmetric(9);
  const auto rows = [&](index_t width, unsigned seed) {
    const index_t count = classes.classes();
    return head_tables<float>::shared(
        table<float>(test::random_values<float>(static_cast<std::size_t>(count * width), seed), count, width));
  };
  std::vector<std::byte> memory;
  const auto expect = [&](const auto& term) {
    const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{}, term};
    const auto plan = model.compile(call);
    const fused executor;
    const std::size_t bytes = executor.workspace_bytes(plan, 7);
    memory.resize(std::max(memory.size(), bytes + 64), std::byte{0xFF});
    const auto own = copy_of(attend(executor, plan, in.view()).output);
    for (const std::size_t at : {1U, 7U, 33U, 63U}) {
      CAPTURE(at);
      const auto lent = executor.with_workspace(std::span(memory).subspan(at, bytes));
      CHECK(copy_of(attend(lent, plan, in.view()).output) == own);
    }
  };
  expect(bias::alibi{bias::alibi_slopes::reference(layout.query), bias::alibi_direction::causal});
  expect(content::shaw_key<float>(rows(layout.dim, 52), classes));
  expect(value::shaw_value<float>(rows(7, 53), classes));
}

TEST_CASE("an empty workspace is a workspace that is too small", "[fused]") {
  const auto plan = alibi_plan(3, 5);
  const test::attention_inputs<float> in(layout, plan.call(), 7, 54);
  const auto executor = fused{}.with_workspace({});
  const error e = test::refusal([&] { (void)attend(executor, plan, in.view()); });
  CHECK(e.code() == errc::workspace_size);
}

TEST_CASE("threads without work need no workspace", "[fused]") {
  const attention model{heads{.query = 1, .key_value = 1, .dim = 20}, scale::inverse_sqrt_head_dim{},
                        visible::causal{}};
  const auto plan = model.compile(call::prefill_chunk(50, 1));
  const std::size_t alone = fused{}.workspace_bytes(plan, 7);
  CHECK(fused{started_threads{64}}.workspace_bytes(plan, 7) == alone);
  const auto many = alibi_plan(0, 500);
  CHECK(fused{started_threads{64}}.workspace_bytes(many, 7) > 6 * fused{}.workspace_bytes(many, 7));
}

TEST_CASE("threads that run nothing at once still run one task", "[fused]") {
  const auto plan = alibi_plan(3, 40);
  const test::attention_inputs<float> in(layout, plan.call(), 7, 55);
  const fused executor{started_threads{0}};
  CHECK(executor.workspace_bytes(plan, 7) == fused{}.workspace_bytes(plan, 7));
  CHECK(copy_of(attend(executor, plan, in.view()).output) == copy_of(attend(fused{}, plan, in.view()).output));
}

TEST_CASE("threads and pieces of rows do not change a bit", "[fused]") {
  const auto plan = alibi_plan(100, 500);
  const test::attention_inputs<float> in(layout, plan.call(), 24, 44);
  const auto alone = copy_of(attend(fused{}, plan, in.view()).output);
  for (const index_t count : {2, 3, 64}) {
    CAPTURE(count);
    CHECK(copy_of(attend(fused{started_threads{count}}, plan, in.view()).output) == alone);
  }
}

TEST_CASE("a progress hook of the fused executor is told every piece once", "[fused]") {
  const auto plan = alibi_plan(0, 50);
  const test::attention_inputs<float> in(layout, plan.call(), 7, 45);
  std::vector<index_t> told;
  index_t pieces = 0;
  const auto watch = [&](index_t done, index_t total) {
    told.push_back(done);
    pieces = total;
    return progress::go_on;
  };
  (void)attend(fused{}.with_progress(watch), plan, in.view());
  CHECK(pieces == layout.key_value);
  CHECK(told == std::vector<index_t>{1, 2, 3});
}

TEST_CASE("a cancelled call says so and leaves later heads unwritten", "[fused]") {
  const auto plan = alibi_plan(0, 50);
  const test::attention_inputs<float> in(layout, plan.call(), 7, 46);
  tensor<float, 4> output({1, layout.query, 50, 7});
  std::fill(output.values().begin(), output.values().end(), 77.0F);
  const auto stop = [](index_t done, index_t) { return done == 2 ? progress::cancel : progress::go_on; };
  const error e = test::refusal([&] { attend(fused{}.with_progress(stop), plan, in.view(), {output.view()}); });
  CHECK(e.code() == errc::cancelled);
  CHECK(output(0, 3, 49, 6) != 77.0F);
  CHECK(output(0, 4, 0, 0) == 77.0F);
  CHECK(output(0, 5, 49, 6) == 77.0F);
}

TEST_CASE("a progress hook that throws ends the call of every thread", "[fused]") {
  constexpr heads many{.query = 64, .key_value = 64, .dim = 8};
  const attention model{many, scale::inverse_sqrt_head_dim{}, visible::causal{}};
  const auto plan = model.compile(call::prefill_chunk(0, 300));
  const test::attention_inputs<float> in(many, plan.call(), 8, 56);
  for (const index_t count : {1, 2, 3}) {
    CAPTURE(count);
    std::atomic<index_t> told{0};
    index_t pieces = 0;
    const auto broken = [&](index_t, index_t total) -> progress {
      if (++told > 1) return progress::go_on;
      pieces = total;
      throw std::out_of_range("thrown by a hook");
    };
    CHECK_THROWS_AS(attend(fused{started_threads{count}}.with_progress(broken), plan, in.view()), std::out_of_range);
    CHECK(told <= 1 + count);
    CHECK(pieces >= 64);
  }
}

TEST_CASE("a decoding step of the fused executor has the bits of the full pass", "[fused]") {
  constexpr index_t length = 611;
  const auto full_plan = alibi_plan(0, length);
  const test::attention_inputs<float> in(layout, full_plan.call(), 24, 47);
  const auto full = attend(fused{}, full_plan, in.view(), also::log_sum_exp);
  for (const index_t row : {0, 1, 40, 511, 512, 513, 610}) {
    CAPTURE(row);
    const auto plan = alibi_plan(row, 1);
    tensor<float, 4> query({1, layout.query, 1, layout.dim});
    for (index_t h = 0; h < layout.query; ++h) {
      const auto from = in.query.view().row(0, h, row);
      std::copy(from.begin(), from.end(), query.view().row(0, h, 0).begin());
    }
    const auto first_keys = [row](const tensor<float, 4>& all) {
      const auto view = all.view();
      return heads_view<const float>(view.data(), {1, view.extent(1), row + 1, view.extent(3)}, view.strides());
    };
    const auto step =
        attend(fused{}, plan, {query.view(), first_keys(in.key), first_keys(in.value)}, also::log_sum_exp);
    for (index_t h = 0; h < layout.query; ++h) {
      CHECK(step.log_sum_exp(0, h, 0) == full.log_sum_exp(0, h, row));
      for (index_t d = 0; d < 24; ++d) CHECK(step.output(0, h, 0, d) == full.output(0, h, row, d));
    }
  }
}

TEST_CASE("numbers that are not finite stay with the rows that see them", "[fused]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto plan = alibi_plan(0, 70);
  test::attention_inputs<float> in(layout, plan.call(), 24, 48);
  const auto clean = attend(fused{}, plan, in.view());
  in.value(0, 1, 33, 5) = nan;
  in.value(0, 1, 40, 6) = infinity;
  in.key(0, 2, 65, 0) = nan;
  const auto marked = attend(fused{}, plan, in.view(), also::log_sum_exp);
  const auto is_nan = [](float x) { return x != x; };
  for (index_t h = 0; h < layout.query; ++h) {
    for (index_t i = 0; i < 70; ++i) {
      CAPTURE(h, i);
      const bool sees_key = h / 2 == 2 && i >= 65;
      CHECK(is_nan(marked.log_sum_exp(0, h, i)) == sees_key);
      for (index_t d = 0; d < 24; ++d) {
        const float x = marked.output(0, h, i, d);
        if (sees_key || (h / 2 == 1 && i >= 33 && d == 5)) {
          CHECK(is_nan(x));
        } else if (h / 2 == 1 && i >= 40 && d == 6) {
          CHECK(x == infinity);
        } else {
          CHECK(x == clean.output(0, h, i, d));
        }
      }
    }
  }
}

}  // namespace fused_test
