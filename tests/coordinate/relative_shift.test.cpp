// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/coordinate/relative_shift.hpp>

#include <limits>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/pad_and_reshape.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

namespace relative_shift_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::relative_shift;
using coordinate::shift_alignment;

/// The distances highest, highest - 1, ... lowest.
std::vector<index_t> falling(index_t highest, index_t lowest) {
  std::vector<index_t> out;
  for (index_t d = highest; d >= lowest; --d) out.push_back(d);
  return out;
}

tensor<double, 4> compact_scores(index_t batch, index_t heads, index_t queries, index_t columns) {
  return random_tensor<double, 4>({batch, heads, queries, columns}, 61);
}

TEST_CASE("the causal shift is the released pad-and-reshape up to the query and absent after it", "[relative_shift]") {
  for (const auto& [memory, length] : {std::pair<index_t, index_t>{0, 4}, {3, 2}, {5, 1}, {2, 5}}) {
    const index_t keys = memory + length;
    const auto compact = compact_scores(1, 2, length, keys);
    const auto distances = falling(keys - 1, 0);
    const auto got =
        relative_shift(compact.view(), distances, call::prefill_chunk(memory, length), shift_alignment::causal, -7.0);
    for (index_t h = 0; h < 2; ++h) {
      const auto head = compact.values().subspan(static_cast<std::size_t>(h * length * keys),
                                                 static_cast<std::size_t>(length * keys));
      const auto released = pad_and_reshape(std::vector<double>(head.begin(), head.end()), length, keys);
      for (index_t i = 0; i < length; ++i) {
        for (index_t j = 0; j < keys; ++j) {
          CAPTURE(memory, length, h, i, j);
          CHECK(got(0, h, i, j) == (j > memory + i ? -7.0 : released[static_cast<std::size_t>(i * keys + j)]));
        }
      }
    }
  }
}

TEST_CASE("the bidirectional shift reads every distance from the query's own row", "[relative_shift]") {
  const auto call = call_at({7, 8, 9, 10, 11});
  const auto compact = compact_scores(1, 3, 5, 9);
  const auto got = relative_shift(compact.view(), falling(4, -4), call, shift_alignment::bidirectional, 0.0);
  for (index_t h = 0; h < 3; ++h) {
    for (index_t i = 0; i < 5; ++i) {
      for (index_t j = 0; j < 5; ++j) CHECK(got(0, h, i, j) == compact(0, h, i, 4 - (i - j)));
    }
  }
}

TEST_CASE("columns may stand in any order and rows anywhere", "[relative_shift]") {
  const auto compact = compact_scores(1, 1, 2, 4);
  const std::vector<index_t> distances{5, -2, 0, 3};
  const auto got =
      relative_shift(compact.view(), distances, call_at({10, 8}, {10, 5}), shift_alignment::bidirectional, 0.0);
  CHECK(got(0, 0, 0, 0) == compact(0, 0, 0, 2));
  CHECK(got(0, 0, 0, 1) == compact(0, 0, 0, 0));
  CHECK(got(0, 0, 1, 0) == compact(0, 0, 1, 1));
  CHECK(got(0, 0, 1, 1) == compact(0, 0, 1, 3));
}

TEST_CASE("a shift of integers changes no digit, and padding is absent", "[relative_shift]") {
  const position_call call = uneven_call();
  tensor<index_t, 4> compact({2, 1, 3, 8});
  for (index_t& value : compact.values()) {
    value = std::numeric_limits<index_t>::max() - (&value - compact.values().data()) * 17;
  }
  const auto got =
      relative_shift(tensor_view<const index_t, 4>(compact.view()), falling(7, 0), call, shift_alignment::causal, -1);
  for (const batch_index b : indices<batch_index>(2)) {
    for (const query_index i : indices<query_index>(3)) {
      for (const key_index j : indices<key_index>(9)) {
        const index_t distance = call.at(b, i).value() - call.at(b, j).value();
        const bool meets = call.active(b, i) && call.active(b, j) && distance >= 0;
        CHECK(got(b.value(), 0, i.value(), j.value()) == (meets ? compact(b.value(), 0, i.value(), 7 - distance) : -1));
      }
    }
  }
}

TEST_CASE("a shift refuses what has no column", "[relative_shift]") {
  const auto short_table = compact_scores(1, 1, 4, 4);
  const auto call = call_at({0, 1, 2, 3});
  const auto shifted = [&](const std::vector<index_t>& distances, shift_alignment alignment) {
    return refusal([&] { (void)relative_shift(short_table.view(), distances, call, alignment, 0.0); }).code();
  };
  CHECK(shifted(falling(3, 0), shift_alignment::bidirectional) == errc::offset_out_of_table);
  CHECK(shifted(falling(2, -1), shift_alignment::causal) == errc::offset_out_of_table);
  CHECK(shifted({3, 2, 1, 3}, shift_alignment::causal) == errc::offset_out_of_table);
  CHECK(shifted(falling(3, -3), shift_alignment::bidirectional) == errc::shape_mismatch);
  CHECK_NOTHROW(relative_shift(short_table.view(), falling(3, 0), call, shift_alignment::causal, 0.0));
}

TEST_CASE("a shift reads a view that may be written, and names the columns of one distance", "[relative_shift]") {
  auto compact = random_tensor<double, 4>({1, 1, 2, 3}, 171);
  const auto written = relative_shift(compact.view(), falling(2, 0), call_at({0, 1}), shift_alignment::causal, 0.0);
  const auto read =
      relative_shift(std::as_const(compact).view(), falling(2, 0), call_at({0, 1}), shift_alignment::causal, 0.0);
  CHECK(std::equal(read.values().begin(), read.values().end(), written.values().begin()));
  const std::vector<index_t> twice{0, 1, 1};
  const auto refused = refusal([&] {
    (void)relative_shift(compact.view(), twice, call_at({0, 1}), shift_alignment::causal, 0.0);
  });
  CHECK(refused.what() == std::string("relative shift, distance 1: expected one column, got columns 1 and 2"));
}

TEST_CASE("a shift refuses other rows and two frames", "[relative_shift]") {
  const auto compact = compact_scores(1, 1, 3, 4);
  CHECK(refusal([&] {
          return relative_shift(compact.view(), falling(3, 0), call_at({0, 1}), shift_alignment::causal, 0.0);
        }).code() == errc::shape_mismatch);
  const std::vector<index_t> lengths{3};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 3, .source_rows = 3});
  CHECK(refusal([&] {
          return relative_shift(compact.view(), falling(3, 0), cross, shift_alignment::causal, 0.0);
        }).code() == errc::frame_mismatch);
}

}  // namespace relative_shift_test
