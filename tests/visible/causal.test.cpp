// SPDX-License-Identifier: MIT
#include <posgeo/visible/causal.hpp>

#include "support/calls.hpp"
#include "support/refusal.hpp"
#include "support/visibility.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

/// The keys that each query sees, "1" for a seen one.
std::vector<std::string> picture(const position_call& call) {
  const auto term = visible::causal{}.compile<float>(call, heads{});
  std::vector<std::string> rows(static_cast<std::size_t>(call.queries()));
  for_each_pair(call, [&](batch_index b, query_index i, key_index j, const seen_pair&) {
    rows[static_cast<std::size_t>(i.value())] += term(b, i, j) ? '1' : '0';
  });
  return rows;
}

TEST_CASE("causal shows the keys at the query's position or before", "[causal]") {
  check_visibility(visible::causal{}, random_calls(131),
                   [](const seen_pair& pair) { return pair.key_position <= pair.query_position; });
  CHECK(visible::causal{}.hidden() == hides::future);
}

TEST_CASE("causal aligns by position and not by a corner of the score matrix", "[causal]") {
  using rows = std::vector<std::string>;
  CHECK(picture(call::prefill_chunk(3, 2)) == rows{"11110", "11111"});
  CHECK(picture(call_at({0, 1}, {0, 1, 2, 3, 4})) == rows{"10000", "11000"});
  CHECK(picture(call_at({2, 3}, {0, 1, 2, 3, 4})) == rows{"11100", "11110"});
  CHECK(picture(call_at({7, 4}, {4, 5, 2, 3})) == rows{"1111", "1011"});
  CHECK(picture(call_at({0}, {1, 2})) == rows{"00"});
  CHECK(picture(call::decode_step(4, 4)) == rows{"11111"});
}

TEST_CASE("causal names exactly the visible keys of affine rows", "[causal]") {
  CHECK(wasted_keys(visible::causal{}, call::prefill_chunk(9, 5)) == 0);
  const std::vector<index_t> lengths{7, 3, 0};
  for (const auto side : {call::padding_side::left, call::padding_side::right}) {
    CHECK(wasted_keys(visible::causal{}, call::padded_batch({.lengths = lengths,
                                                             .rows = 7,
                                                             .side = side,
                                                             .positions = call::padded_positions::contiguous(-2)})) ==
          0);
  }
}

TEST_CASE("causal refuses positions of two frames", "[causal]") {
  for (const position_call& call : random_cross_calls(132)) {
    CHECK(refusal([&] { (void)visible::causal{}.compile<float>(call, heads{}); }).code() == errc::frame_mismatch);
  }
}

}  // namespace
