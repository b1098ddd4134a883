// SPDX-License-Identifier: MIT
#include <posgeo/call/segment_memory.hpp>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace segment_memory_test {

using namespace posgeo;
using namespace posgeo::test;
using call::segment;
using call::segment_memory;

const std::vector<index_t> streams{7, 3};

segment_memory<double> empty_memory(index_t capacity, index_t first = 0) {
  return {{.layer = 2, .capacity = capacity, .first_position = first, .gradient = call::memory_gradient::detached},
          streams};
}
segment<double> next(const tensor<double, 3>& states, index_t first, index_t layer = 2) {
  return {.layer = layer, .first_position = first, .streams = streams, .states = states.view()};
}
/// Rows [first, first + count) of every stream.
tensor<double, 3> part(const tensor<double, 3>& all, index_t first, index_t count) {
  tensor<double, 3> out({all.extent(0), count, all.extent(2)});
  for (index_t b = 0; b < all.extent(0); ++b) {
    for (index_t row = 0; row < count; ++row) {
      for (index_t d = 0; d < all.extent(2); ++d) out(b, row, d) = all(b, first + row, d);
    }
  }
  return out;
}
bool equal(states_view<const double> got, const tensor<double, 3>& expected) {
  bool same = got.extents() == expected.extents();
  for (index_t b = 0; same && b < got.extent(0); ++b) {
    for (index_t row = 0; same && row < got.extent(1); ++row) {
      const auto a = got.row(b, row);
      same = std::equal(a.begin(), a.end(), expected.view().row(b, row).begin());
    }
  }
  return same;
}

TEST_CASE("a memory is the last capacity rows of everything so far", "[segment_memory]") {
  const auto stream = random_tensor<double, 3>({2, 24, 3}, 71);
  for (const index_t capacity : {0, 1, 4, 5, 30}) {
    auto memory = empty_memory(capacity, 11);
    index_t seen = 0;
    for (const index_t length : {3, 1, 6, 2, 12}) {
      const auto states = part(stream, seen, length);
      memory = memory.updated(next(states, 11 + seen));
      seen += length;
      const index_t kept = std::min(seen, capacity);
      CAPTURE(capacity, seen);
      REQUIRE(memory.stored() == kept);
      REQUIRE(equal(memory.states(), part(stream, seen - kept, kept)));
      REQUIRE(memory.first_position() == 11 + seen - kept);
      REQUIRE(memory.next_position() == 11 + seen);
    }
  }
}

TEST_CASE("a segment is extended by the memory, in front and in global positions", "[segment_memory]") {
  const auto stream = random_tensor<double, 3>({2, 9, 3}, 72);
  auto memory = empty_memory(4, 20);
  const auto first = part(stream, 0, 6);
  const auto from_empty = memory.extended(next(first, 20));
  CHECK(equal(std::as_const(from_empty.states).view(), first));
  CHECK(positions<key_index>(from_empty.call, 0) == positions<query_index>(from_empty.call, 0));

  memory = memory.updated(next(first, 20));
  const auto second = part(stream, 6, 3);
  const auto extended = memory.extended(next(second, 26));
  CHECK(equal(std::as_const(extended.states).view(), part(stream, 2, 7)));
  for (index_t b = 0; b < 2; ++b) {
    CHECK(positions<query_index>(extended.call, b) == numbers{26, 27, 28});
    CHECK(positions<key_index>(extended.call, b) == numbers{22, 23, 24, 25, 26, 27, 28});
    CHECK(sequences<key_index>(extended.call, b) == numbers(7, streams[static_cast<std::size_t>(b)]));
    CHECK(extended.call.past_length(batch_index{b}) == 4);
  }
  CHECK(memory.stored() == 4);  // extending changes nothing
}

TEST_CASE("a detached memory stops the gradient of its states and an attached one does not", "[segment_memory]") {
  const auto kept = random_tensor<double, 3>({2, 3, 3}, 91);
  for (const auto gradient : {call::memory_gradient::detached, call::memory_gradient::attached}) {
    const std::vector<index_t> of{5, 8};
    const segment_memory<double> empty({.layer = 1, .capacity = 3, .first_position = 0, .gradient = gradient}, of);
    const auto memory = empty.updated({.layer = 1, .first_position = 0, .streams = of, .states = kept.view()});
    auto d_states = random_tensor<double, 3>({2, 5, 3}, 92);
    const auto before = d_states;
    memory.stop_gradient(d_states.view());
    for (index_t b = 0; b < 2; ++b) {
      for (index_t row = 0; row < 5; ++row) {
        for (index_t d = 0; d < 3; ++d) {
          const bool stopped = gradient == call::memory_gradient::detached && row < 3;
          CHECK(d_states(b, row, d) == (stopped ? 0.0 : before(b, row, d)));
        }
      }
    }
    tensor<double, 3> short_rows({2, 2, 3});
    CHECK(refusal([&] { memory.stop_gradient(short_rows.view()); }).code() == errc::shape_mismatch);
  }
}

TEST_CASE("an update leaves the memory it was made from", "[segment_memory]") {
  const auto stream = random_tensor<double, 3>({2, 6, 3}, 73);
  const auto old = empty_memory(4).updated(next(part(stream, 0, 3), 0));
  const auto states = part(stream, 3, 3);
  const auto fresh = old.updated(next(states, 3));
  CHECK(equal(old.states(), part(stream, 0, 3)));
  CHECK(equal(fresh.states(), part(stream, 2, 4)));
  CHECK(fresh.gradient() == call::memory_gradient::detached);
  CHECK(fresh.layer() == 2);
}

TEST_CASE("a memory refuses the segment of another layer", "[segment_memory]") {
  const auto states = random_tensor<double, 3>({2, 3, 3}, 74);
  const auto memory = empty_memory(4);
  CHECK(refusal([&] { return memory.updated(next(states, 0, 1)); }).code() == errc::layer_mismatch);
  CHECK(refusal([&] { return memory.extended(next(states, 0, 3)); }).code() == errc::layer_mismatch);
}

TEST_CASE("a memory refuses the rows of another stream and a gap", "[segment_memory]") {
  const auto states = random_tensor<double, 3>({2, 3, 3}, 75);
  const auto memory = empty_memory(4).updated(next(states, 0));
  const std::vector<index_t> swapped{3, 7};
  const segment<double> others{.layer = 2, .first_position = 3, .streams = swapped, .states = states.view()};
  CHECK(refusal([&] { return memory.updated(others); }).code() == errc::memory_mismatch);
  CHECK(refusal([&] { return memory.extended(others); }).code() == errc::memory_mismatch);
  for (const index_t first : {0, 2, 4}) {
    CHECK(refusal([&] { return memory.extended(next(states, first)); }).code() == errc::memory_mismatch);
  }
}

TEST_CASE("a memory refuses to be made of what is no stream", "[segment_memory]") {
  const auto made = [](index_t layer, index_t first, const std::vector<index_t>& of) {
    return refusal([&] {
             return segment_memory<double>(
                 {.layer = layer, .capacity = 3, .first_position = first, .gradient = call::memory_gradient::detached},
                 of);
           })
        .code();
  };
  CHECK(made(-1, 0, {7}) == errc::layer_mismatch);
  CHECK(made(0, -1, {7}) == errc::negative_offset);
  CHECK(made(0, position_limit + 1, {7}) == errc::position_overflow);
  CHECK(made(0, 0, {7, 3, 7}) == errc::memory_mismatch);
}

TEST_CASE("an update refuses what an extension refuses", "[segment_memory]") {
  const auto states = random_tensor<double, 3>({2, 5, 3}, 79);
  const auto memory = empty_memory(3, position_limit - 3);
  CHECK(refusal([&] { return memory.extended(next(states, position_limit - 3)); }).code() == errc::position_overflow);
  CHECK(refusal([&] { return memory.updated(next(states, position_limit - 3)); }).code() == errc::position_overflow);
  CHECK_NOTHROW(memory.updated(next(part(states, 0, 4), position_limit - 3)));
}

TEST_CASE("a memory that keeps nothing remembers the width", "[segment_memory]") {
  const auto memory = empty_memory(0).updated(next(random_tensor<double, 3>({2, 5, 3}, 79), 0));
  const auto wide = random_tensor<double, 3>({2, 5, 4}, 79);
  CHECK(refusal([&] { return memory.updated(next(wide, 5)); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { return memory.extended(next(wide, 5)); }).code() == errc::shape_mismatch);
  CHECK_NOTHROW(memory.updated(next(random_tensor<double, 3>({2, 1, 3}, 79), 5)));
}

TEST_CASE("a memory refuses states of another shape and an impossible capacity", "[segment_memory]") {
  const auto memory = empty_memory(4).updated(next(random_tensor<double, 3>({2, 3, 3}, 76), 0));
  const auto wide = random_tensor<double, 3>({2, 3, 4}, 77);
  const auto lonely = random_tensor<double, 3>({1, 3, 3}, 78);
  CHECK(refusal([&] { return memory.updated(next(wide, 3)); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { return memory.updated(next(lonely, 3)); }).code() == errc::shape_mismatch);
  const std::vector<index_t> one{7};
  const segment<double> few{.layer = 2, .first_position = 3, .streams = one, .states = lonely.view()};
  CHECK(refusal([&] { return memory.updated(few); }).code() == errc::shape_mismatch);
  CHECK(refusal([] { return empty_memory(-1); }).code() == errc::row_count);
  CHECK(refusal([] {
          return segment_memory<float>(
              {.layer = 0, .capacity = 1, .first_position = 0, .gradient = call::memory_gradient::attached}, {});
        }).code() == errc::empty_batch);
}

}  // namespace segment_memory_test
