// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>

#include <cstdlib>
#include <new>

#include "agreement/families.hpp"

namespace {

/// What has been allocated since the last reset, by the global operator new. The tests are of one thread.
struct memory_count {
  std::size_t calls = 0;
  std::size_t largest = 0;
  std::size_t alive = 0;
  std::size_t most_alive = 0;
};
memory_count counted;

/// Each block begins with its size.
constexpr std::size_t header = 64;

void* counted_block(std::size_t size) {
  void* const memory = std::aligned_alloc(header, (size + 2 * header - 1) / header * header);
  if (memory == nullptr) throw std::bad_alloc{};
  *static_cast<std::size_t*>(memory) = size;
  ++counted.calls;
  counted.largest = std::max(counted.largest, size);
  counted.alive += size;
  counted.most_alive = std::max(counted.most_alive, counted.alive);
  return static_cast<std::byte*>(memory) + header;
}
void free_block(void* block) noexcept {
  if (block == nullptr) return;
  void* const memory = static_cast<std::byte*>(block) - header;
  counted.alive -= *static_cast<std::size_t*>(memory);
  std::free(memory);
}

}  // namespace

// The other forms of new and delete call these.
void* operator new(std::size_t size) { return counted_block(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (static_cast<std::size_t>(alignment) > header) throw std::bad_alloc{};
  return counted_block(size);
}
void operator delete(void* block) noexcept { free_block(block); }
void operator delete(void* block, std::size_t) noexcept { free_block(block); }
void operator delete(void* block, std::align_val_t) noexcept { free_block(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { free_block(block); }

namespace agreement_allocations_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr index_t rows = 600;
constexpr heads four{.query = 4, .key_value = 2, .dim = 64};
/// [heads, query, key] in float, which nobody may allocate.
constexpr std::size_t pair_object = 4 * rows * rows * sizeof(float);

/// Runs a family on one entry of 600 rows, in memory of the executor's and, where it takes it, in memory of ours.
template <class Family>
void expect_no_pair_object(const Family& family) {
  const scene where{
      "square", four, 64, call::prefill_chunk(0, rows), {.behind = visible::window::unbounded, .ahead = 0}, 31};
  const auto member = family(where);
  const auto plan = member.model.compile(where.call);
  const auto query = random_tensor<float, 4>({1, four.query, rows, four.dim}, 1);
  const auto key = random_tensor<float, 4>({1, four.key_value, rows, four.dim}, 2);
  const auto value = random_tensor<float, 4>({1, four.key_value, rows, 64}, 3);
  tensor<float, 4> output({1, four.query, rows, 64});
  tensor<float, 3> sums({1, four.query, rows});
  const auto used_by = [&](const auto& executor) {
    counted.calls = counted.largest = 0;
    counted.most_alive = counted.alive;
    const std::size_t before = counted.alive;
    attend(executor, plan, {query.view(), key.view(), value.view()}, {output.view(), sums.view()});
    memory_count used = counted;
    used.most_alive -= before;
    return used;
  };
  if constexpr (promises_exact_rows) {
    const executor_under_test executor;
    const memory_count own = used_by(executor);
    CHECK(own.largest < pair_object);
    CHECK(own.most_alive < pair_object);
    CHECK(own.most_alive <= executor.workspace_bytes(plan, 64) + 64);
    std::vector<std::byte> workspace(executor.workspace_bytes(plan, 64));
    CHECK(used_by(executor.with_workspace(workspace)).calls == 0);
  } else {
    CHECK(used_by(executor_under_test{}).calls > 0);
  }
}

TEST_CASE("no family allocates an object of heads by queries by keys", "[allocations]") {
  expect_no_pair_object(nope_member);
  expect_no_pair_object([](const scene& where) { return family_member{model_of(where, alibi_of(where))}; });
  expect_no_pair_object(
      [](const scene& where) { return family_member{model_of(where, alibi_key_position_of(where))}; });
  expect_no_pair_object([](const scene& where) { return family_member{model_of(where, t5_of(where))}; });
  expect_no_pair_object([](const scene& where) { return family_member{model_of(where, learned_relative_of(where))}; });
  expect_no_pair_object([](const scene& where) {
    const pair_memory memory(where);
    return family_member{model_of(where, memory.policy()), {}, memory.values};
  });
  expect_no_pair_object([](const scene& where) { return family_member{model_of(where, tupe_relative_of(where))}; });
  expect_no_pair_object([](const scene& where) { return family_member{model_of(where, rotary_of(where))}; });
  expect_no_pair_object(
      [](const scene& where) { return family_member{model_of(where, shaw_key_of(where), shaw_value_of(where))}; });
  expect_no_pair_object([](const scene& where) {
    const index_t embeddings = farthest(where) + 1;
    const auto rows_of_pairs = numbers(2 * embeddings - 1, where.layout.dim, 61);
    return family_member{model_of(where, content::relative_key_query<float>(rows_of_pairs, embeddings))};
  });
  expect_no_pair_object(
      [](const scene& where) { return family_member{model_of(where, transformer_xl_of(where).policy)}; });
  expect_no_pair_object([](const scene& where) { return family_member{model_of(where, deberta_of(where).policy)}; });
  expect_no_pair_object([](const scene& where) {
    return family_member{model_of(where, tupe_of(where, content::tupe_cls::released(position{0})).policy)};
  });
  expect_no_pair_object([](const scene& where) { return family_member{model_of(where, sink_of(where))}; });
  expect_no_pair_object(t5_shaw_rotary_member);
  expect_no_pair_object(everything_member);
}

}  // namespace agreement_allocations_test
