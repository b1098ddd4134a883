// SPDX-License-Identifier: MIT
#include <posgeo/audit/row_counts.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <map>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"
#include "support/visibility.hpp"

namespace audit_row_counts_test {

using namespace posgeo;
using audit::count_rows;
using audit::row_counts;
using audit::tally;
using test::dice;

template <class... Visibilities>
auto seen_by(const position_call& call, const Visibilities&... visibilities) {
  return attention(heads{}, scale::none{}, visibilities...).template compile<double>(call);
}

/// The meaning: every pair asked, one by one.
template <class Plan>
row_counts pair_by_pair(const Plan& plan) {
  const position_call& call = plan.call();
  row_counts out;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    std::map<index_t, index_t> lengths;
    for (const query_index i : indices<query_index>(call.queries())) {
      if (!call.active(b, i)) continue;
      out.queries.add(call.at(b, i).value(), 1);
      ++lengths[call.sequence(b, i)];
      for (const key_index j : indices<key_index>(call.keys())) {
        if (!plan.visible(b, i, j)) continue;
        out.keys.add(call.at(b, j).value(), 1);
        if (call.same_frame()) out.offsets.add(call.at(b, j).value() - call.at(b, i).value(), 1);
      }
    }
    for (const auto& [sequence, length] : lengths) {
      out.lengths.add(length, 1);
      out.memory.add(call.past_length(b), 1);
    }
  }
  return out;
}

template <class Plan>
void check_counts(const Plan& plan) {
  const row_counts counted = count_rows(plan);
  const row_counts expected = pair_by_pair(plan);
  CHECK(counted.queries == expected.queries);
  CHECK(counted.keys == expected.keys);
  CHECK(counted.offsets == expected.offsets);
  CHECK(counted.lengths == expected.lengths);
  CHECK(counted.memory == expected.memory);
}

TEST_CASE("rules are counted as pair by pair", "[coverage]") {
  dice roll(4415);
  for (const position_call& call : test::random_calls(8087)) {
    CAPTURE(call.batch(), call.queries(), call.keys());
    check_counts(seen_by(call, visible::segments{}));
    check_counts(seen_by(call, visible::segments{}, visible::causal{}));
    const visible::window near{.behind = roll.between(0, 4), .ahead = roll.between(0, 3)};
    check_counts(seen_by(call, visible::all_of(visible::segments{}, near)));
    check_counts(seen_by(call, visible::segments{}, visible::causal{},
                         visible::window{.behind = roll.between(0, 6), .ahead = visible::window::unbounded}));
    if (call.mixes_sequences()) continue;
    check_counts(seen_by(call, visible::active{}, near));
    if (!call.key_space().has_padding()) check_counts(seen_by(call, visible::everything{}, visible::causal{}));
  }
}

TEST_CASE("across frames pairs are counted and offsets are not", "[coverage]") {
  for (const position_call& call : test::random_cross_calls(71)) {
    const auto plan = seen_by(call, visible::active{});
    check_counts(plan);
    CHECK(count_rows(plan).offsets.empty());
  }
}

TEST_CASE("visibilities without a rule are counted pair by pair", "[coverage]") {
  const visible::custom odd(
      [](const position_call& call, batch_index b, query_index i, key_index j) {
        return call.active(b, j) && call.sequence(b, i) == call.sequence(b, j) &&
               (i.value() * 5 + j.value() * 3) % 4 < 2;
      },
      hides::padding | hides::other_segments);
  for (const position_call& call : test::random_calls(377)) check_counts(seen_by(call, odd));
  for (const position_call& call : test::random_cross_calls(378)) check_counts(seen_by(call, odd));
}

TEST_CASE("long sequences are counted without a look at their pairs", "[coverage]") {
  constexpr index_t length = index_t{1} << 28;  // 2^56 pairs
  const index_t lengths[] = {length};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = length,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(5)});
  const row_counts counted = count_rows(seen_by(call, visible::active{}, visible::causal{}));
  CHECK(counted.offsets.lines() == std::vector<audit::counted_line>{{1 - length, 0, 1, 1}});
  CHECK(counted.keys.lines() == std::vector<audit::counted_line>{{5, length + 4, length, -1}});
  CHECK(counted.keys.total() == length * (length + 1) / 2);
}

TEST_CASE("a call of more pairs than a tally holds is refused", "[coverage]") {
  constexpr index_t length = index_t{1} << 31;
  const index_t lengths[] = {1};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = length,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(0)});
  const auto plan = seen_by(call, visible::active{});
  CHECK(test::refusal([&] { static_cast<void>(count_rows(plan)); }).code() == errc::coverage);
}

}  // namespace audit_row_counts_test
