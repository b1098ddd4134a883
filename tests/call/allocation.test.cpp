// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>

#include <cstdlib>
#include <new>
#include <vector>

#include "support/catch.hpp"

namespace {

std::size_t allocations = 0;

}  // namespace

// Every other form of new and delete calls one of these.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace posgeo;

/// How often memory is allocated while `make` builds a call, copies it and is asked about it.
template <class Make>
std::size_t allocations_of(const Make& make) {
  const std::size_t before = allocations;
  const position_call call = make();
  const position_call copy = call;
  const index_t asked =
      copy.offset(batch_index{0}, query_index{0}, key_index{0}).value() + copy.past_length(batch_index{0});
  const std::size_t counted = allocations - before;
  CHECK(asked <= 0);
  return counted;
}

std::vector<call::decode_entry> ragged(index_t count) {
  std::vector<call::decode_entry> entries;
  for (index_t b = 0; b < count; ++b) {
    const index_t committed = 500 + 37 * b % 11;
    entries.push_back({.committed_length = committed,
                       .query_position = committed,
                       .past_length = 5 + b,
                       .padding = b % 3,
                       .sequence = 7 - b});
  }
  return entries;
}

TEST_CASE("a decode step of up to eight sequences allocates nothing", "[allocation]") {
  CHECK(allocations_of([] { return call::decode_step(512, 512); }) == 0);
  for (const index_t count : {1, 8}) {
    const auto entries = ragged(count);
    CHECK(allocations_of([&] { return call::decode_step({.entries = entries, .key_rows = 20}); }) == 0);
  }
}

TEST_CASE("a prefill chunk of one sequence allocates nothing", "[allocation]") {
  CHECK(allocations_of([] { return call::prefill_chunk(512, 17); }) == 0);
}

TEST_CASE("a decode step of nine sequences allocates one shared list for each side and the cache", "[allocation]") {
  const auto entries = ragged(9);
  CHECK(allocations_of([&] { return call::decode_step({.entries = entries, .key_rows = 20}); }) == 3);
}

}  // namespace
