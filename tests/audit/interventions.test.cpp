// SPDX-License-Identifier: MIT
#include <posgeo/audit/interventions.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/packed_batch.hpp>

#include "support/call_rows.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

// What each edit does to positions, rows and caches. That the attention follows is the matter of the expected verdicts.
namespace interventions_test {

using namespace posgeo;
using namespace posgeo::test;
using audit::edit;
using audit::edited_call;
using audit::intervention;
using audit::row_source;

/// A token of an edited call: whose content it holds, in which sequence, and where it stands.
using token = std::tuple<index_t, index_t, index_t, index_t>;

std::vector<token> tokens(const row_space& space, const std::vector<row_source>& sources) {
  std::vector<token> all;
  REQUIRE(std::cmp_equal(sources.size(), space.entries() * space.rows()));
  for (index_t b = 0; b < space.entries(); ++b) {
    for (index_t row = 0; row < space.rows(); ++row) {
      const row_source& from = sources[static_cast<std::size_t>(b * space.rows() + row)];
      if (!space.active(b, row)) {
        CHECK_FALSE(from.any());  // padding holds no content
        continue;
      }
      CHECK(from.any());
      all.emplace_back(from.entry, from.row, space.sequence(b, row), space.at(b, row).value());
    }
  }
  return all;
}
/// Of the query rows and of the key rows; in order of their sources, so that storage order is left out.
struct both_sides {
  std::vector<token> queries;
  std::vector<token> keys;
  explicit both_sides(const edited_call& one)
      : queries(tokens(one.call.query, one.query_source)), keys(tokens(one.call.key, one.key_source)) {
    std::sort(queries.begin(), queries.end());
    std::sort(keys.begin(), keys.end());
  }
  explicit both_sides(const position_call& call) : both_sides(audit::detail::with_own_sources(call.described())) {}
  friend bool operator==(const both_sides&, const both_sides&) = default;
};
edited_call only(const edit& made) {
  INFO(made.what);
  REQUIRE(made.calls.size() == 1);
  CHECK(check(made.calls.front().call).empty());
  return made.calls.front();
}
both_sides moved(const both_sides& from, index_t queries, index_t keys) {
  both_sides to = from;
  for (token& t : to.queries) std::get<3>(t) += queries;
  for (token& t : to.keys) std::get<3>(t) += keys;
  return to;
}

TEST_CASE("permuted rows go with position, sequence and content", "[interventions]") {
  const position_call call = uneven_call();
  const edited_call& to = only(audit::permute_rows(call));
  CHECK(both_sides(to) == both_sides(call));
  const auto own = audit::detail::with_own_sources(call.described());
  for (std::size_t n = 0; n < own.key_source.size(); ++n) {
    CHECK((!own.key_source[n].any() || own.key_source[n] != to.key_source[n]));  // none stays
  }
  CHECK(only(audit::permute_rows(call, {.seed = 5})).key_source != to.key_source);
  CHECK(only(audit::permute_rows(call)).key_source == to.key_source);
  // Self-attention goes the same way on both sides.
  const edited_call& self = only(audit::permute_rows(call_at({4, 9, 2, 7, 30})));
  CHECK(self.query_source == self.key_source);
  CHECK(audit::permute_rows(call_at({4})).calls.empty());
}

TEST_CASE("permuted contents leave the call alone and stay in their sequence", "[interventions]") {
  const std::vector<index_t> lengths{3, 1, 4};
  const position_call call = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  const edited_call& to = only(audit::permute_content(call));
  CHECK(to.call.query.spelled_out().positions == call.query_space().spelled_out().positions);
  for (index_t row = 0; row < call.keys(); ++row) {
    const row_source from = to.key_source[static_cast<std::size_t>(row)];
    CHECK(call.key_space().sequence(0, from.row) == call.key_space().sequence(0, row));
    CHECK((from.row == row) == (row == 3));  // the sequence of one token
  }
  CHECK(to.query_source == to.key_source);
  const edit open = audit::permute_content_unmasked(call);
  CHECK(open.mask == audit::edited_mask::everything);
  CHECK(only(open).key_source == to.key_source);
  CHECK(audit::permute_content(call_at({4}, {9})).calls.empty());
}

TEST_CASE("shifts move rows and caches and keep the call", "[interventions]") {
  const position_call call = uneven_call();
  const edited_call& all = only(audit::shift_all(call, {.shift = 4}));
  CHECK(both_sides(all) == moved(both_sides(call), 4, 4));
  CHECK(all.call.kind == call.kind());
  CHECK(all.call.query.affine());
  for (const batch_index b : indices<batch_index>(call.batch())) {
    CHECK(all.call.cache[b.value()].committed_length == call.committed_length(b) + 4);
    CHECK(all.call.cache[b.value()].past_length == call.past_length(b));
  }
  // Entry 1 has two past keys, which no cache has seen before position 1: what is left is a call of its positions.
  const edited_call& back = only(audit::shift_all(call, {.shift = -1}));
  CHECK(both_sides(back) == moved(both_sides(call), -1, -1));
  CHECK(back.call.kind == call_kind::explicit_positions);
  CHECK(back.call.cache.size() == 0);

  const edited_call& queries = only(audit::shift_queries(call));
  CHECK(both_sides(queries) == moved(both_sides(call), 17, 0));
  CHECK(queries.call.cache[1].committed_length == 2 + 17);
  CHECK(both_sides(only(audit::out_of_range(call))) == moved(both_sides(call), index_t{1} << 20, index_t{1} << 20));
  CHECK(both_sides(only(audit::out_of_range(call, {.far = 99}))) == moved(both_sides(call), 99, 99));

  const edit beyond = audit::shift_all(call_at({position_limit - 3}));
  CHECK(beyond.calls.empty());
  CHECK(beyond.what.find("less than 2^62") != std::string::npos);
}

TEST_CASE("a gap opens in the middle of the queries and moves both sides", "[interventions]") {
  const call_description& made = only(audit::stretch_gap(call_at({8, 3, 5}, {9, 1, 4, 5, 8}))).call;
  CHECK(made.query.spelled_out().positions == numbers{13, 3, 10});
  CHECK(made.key.spelled_out().positions == numbers{14, 1, 4, 10, 13});
  const call_description& step = only(audit::stretch_gap(call_at({9}, {9, 1, 4, 5, 8}), {.gap = 2})).call;
  CHECK(step.query.spelled_out().positions == numbers{11});
  CHECK(step.key.spelled_out().positions == numbers{11, 1, 4, 7, 10});
  CHECK(audit::stretch_gap(call_at({9}, {9})).calls.empty());
}

TEST_CASE("reversed positions are mirrored in their sequence and padding stays", "[interventions]") {
  const call_description& made = only(audit::reverse(uneven_call())).call;
  CHECK(made.query.spelled_out().positions == numbers{3, 2, 1, 1, 0, 4});
  CHECK(made.key.spelled_out().positions == numbers{8, 7, 6, 5, 4, 3, 2, 1, 9, 3, 2, 1, 0, 4, 5, 6, 7, 8});
  // Across frames each side is mirrored by itself.
  const std::vector<index_t> lengths{2};
  const auto across = call::cross_attention({.target_lengths = lengths,
                                             .source_lengths = std::array<index_t, 1>{4},
                                             .target_rows = 2,
                                             .source_rows = 4,
                                             .first_target_position = 6});
  const call_description& swapped = only(audit::reverse(across)).call;
  CHECK(swapped.query.spelled_out().positions == numbers{7, 6});
  CHECK(swapped.key.spelled_out().positions == numbers{3, 2, 1, 0});
  CHECK(swapped.kind == call_kind::cross_attention);
}

TEST_CASE("mirrored evidence is as far on the other side of the one query left", "[interventions]") {
  const edited_call& made = only(audit::mirror_evidence(call_at({7, 4, 9}, {2, 3, 4, 5, 7, 9})));
  CHECK(made.call.query.spelled_out().active == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(made.call.key.spelled_out().positions == numbers{2, 5, 4, 3, 7, 9});  // 3 and 5 change places around 4
  CHECK(made.query_source == std::vector<row_source>{{}, {0, 1}, {}});
  const edited_call& far = only(audit::mirror_evidence(call_at({7, 4, 9}, {2, 3, 4, 5, 7, 9}), {.mirrored = 2}));
  CHECK(far.call.query.spelled_out().active == std::vector<std::uint8_t>{1, 0, 0});
  CHECK(far.call.key.spelled_out().positions == numbers{2, 3, 4, 9, 7, 5});
  // Nothing stands there: the key alone moves.
  const edited_call& step = only(audit::mirror_evidence(call_at({6}, {2, 5, 6})));
  CHECK(step.call.key.spelled_out().positions == numbers{2, 7, 6});
  CHECK(audit::mirror_evidence(call_at({6}, {6})).calls.empty());
  CHECK(audit::mirror_evidence(call_at({6}, {5, 6}), {.mirrored = 2}).calls.empty());
}

TEST_CASE("frames are swapped once and no number with them", "[interventions]") {
  const edited_call& made = only(audit::swap_frames(uneven_call()));
  CHECK(both_sides(made) == both_sides(uneven_call()));
  CHECK_FALSE(position_call(made.call).same_frame());
  const position_call again(made.call);
  CHECK(audit::swap_frames(again).calls.empty());
  CHECK(audit::mirror_evidence(again).calls.empty());
  CHECK(audit::chunk(again).calls.empty());
  const coordinate_frame same("another origin");
  const std::vector<index_t> at{3, 1};
  const auto named = call::explicit_positions(
      {.query = {.positions = at, .rows = 2, .frame = same}, .key = {.positions = at, .rows = 2, .frame = same}});
  CHECK(only(audit::swap_frames(named)).call.key.frame() != same);
}

TEST_CASE("padding moves storage rows and no token", "[interventions]") {
  for (const position_call& call : {uneven_call(), call_at({8, 3, 5}, {9, 1, 4, 5, 8})}) {
    const edited_call& left = only(audit::pad_left(call, {.padding = 2}));
    const edited_call& right = only(audit::pad_right(call, {.padding = 2}));
    CHECK(both_sides(left) == both_sides(call));
    CHECK(both_sides(right) == both_sides(call));
    CHECK(left.call.key.rows() == call.keys() + 2);
    for (index_t b = 0; b < call.batch(); ++b) {
      for (index_t row = 0; row < call.keys(); ++row) {
        CHECK(left.call.key.active(b, row + 2) == call.key_space().active(b, row));
        CHECK(right.call.key.active(b, row) == call.key_space().active(b, row));
      }
      CHECK_FALSE((left.call.key.active(b, 0) || left.call.key.active(b, 1)));
      CHECK_FALSE((right.call.key.active(b, call.keys()) || right.call.key.active(b, call.keys() + 1)));
    }
  }
}

TEST_CASE("packed entries keep their sequences apart", "[interventions]") {
  const edited_call& made = only(audit::pack(uneven_call()));
  CHECK(made.call.query.entries() == 1);
  CHECK(both_sides(made) == both_sides(uneven_call()));  // their numbers, 4 and 9, tell them apart already
  CHECK(made.call.query.spelled_out().positions == numbers{6, 7, 8, 2, 3});

  const std::vector<index_t> at{3, 1, 1, 3};
  const std::vector<index_t> one_number{5, 5, 5, 5};
  const auto alike = call::explicit_positions({.entries = 2,
                                               .query = {.positions = at, .sequences = one_number, .rows = 2},
                                               .key = {.positions = at, .sequences = one_number, .rows = 2}});
  const edit renumbered = audit::pack(alike);
  CHECK(only(renumbered).call.key.spelled_out().sequences == numbers{0, 0, 1, 1});
  CHECK(only(renumbered).call.kind == call_kind::packed_batch);
  CHECK(renumbered.what.find("anew") != std::string::npos);
  CHECK(audit::pack(call_at({3})).calls.empty());
}

TEST_CASE("a split call has the keys so far and caches that have seen them", "[interventions]") {
  const edit made = audit::chunk(uneven_call(), {.chunk = 2});
  REQUIRE(made.calls.size() == 2);
  const call_description& first = made.calls[0].call;
  const call_description& second = made.calls[1].call;
  for (const call_description& one : {first, second}) {
    CHECK(check(one).empty());
    CHECK(one.kind == call_kind::prefill_chunk);
  }
  CHECK(tokens(first.query, made.calls[0].query_source) ==
        std::vector<token>{{0, 0, 4, 6}, {0, 1, 4, 7}, {1, 0, 9, 2}, {1, 1, 9, 3}});
  CHECK(tokens(second.query, made.calls[1].query_source) == std::vector<token>{{0, 2, 4, 8}});
  CHECK(first.key.active_rows(0) == std::pair<index_t, index_t>{0, 7});  // positions 1 to 7
  CHECK(second.key.active_rows(0) == std::pair<index_t, index_t>{0, 8});
  CHECK(second.key.active_rows(1) == std::pair<index_t, index_t>{0, 4});
  CHECK(first.cache[0].committed_length == 6);
  CHECK(first.cache[0].past_length == 5);
  CHECK(second.cache[0].committed_length == 8);
  CHECK(second.cache[0].past_length == 7);
  CHECK(second.cache[1].committed_length == 4);  // nothing is new in entry 1
  CHECK(second.cache[1].past_length == 4);

  const edit steps = audit::cached(call_at({4, 9, 2}, {9, 2, 0, 4}));
  REQUIRE(steps.calls.size() == 3);
  for (const edited_call& step : steps.calls) {
    CHECK(check(step.call).empty());
    CHECK(step.call.kind == call_kind::decode_step);
  }
  CHECK(steps.calls[0].query_source == std::vector<row_source>{{0, 2}});  // by position, not by row
  CHECK(steps.calls[1].key_source == std::vector<row_source>{{0, 1}, {0, 2}, {0, 3}});
  CHECK(steps.calls[1].call.cache[0].past_length == 2);
  CHECK(audit::chunk(uneven_call(), {.chunk = 3}).calls.empty());
}

TEST_CASE("what no cache can have seen is not split", "[interventions]") {
  const auto why = [](const position_call& call) {
    const edit made = audit::cached(call);
    CHECK(made.calls.empty());
    return made.what;
  };
  CHECK(why(call::decode_step(6, 6)) == "the queries come one by one already");
  CHECK(why(call_at({4, 5}, {4})) == "entry 0 has a query whose own key is not there");
  CHECK(why(call_at({4, 5}, {4, -2, 5})) == "entry 0 has a position below 0, before any cache");
  const std::vector<index_t> lengths{2, 2};
  CHECK(why(call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart})) ==
        "entry 0 is not one sequence");
  const std::vector<index_t> twice{3, 3};
  CHECK(why(call::explicit_positions({.query = {.positions = twice, .rows = 2},
                                      .key = {.positions = twice, .rows = 2},
                                      .reuse = position_reuse::intended})) == "a cache has one row for each position");
}

TEST_CASE("every edit of a random call is a call of the same content", "[interventions]") {
  index_t made_calls = 0;
  for (const position_call& call : random_calls(91)) {
    const both_sides before(call);
    const auto edits = audit::all_interventions(call);
    REQUIRE(edits.size() == 15);
    for (std::size_t n = 0; n < edits.size(); ++n) {
      CHECK(edits[n].kind == static_cast<intervention>(n));
      CHECK_FALSE(edits[n].what.empty());
      if (edits[n].kind == intervention::mirror_evidence) continue;  // leaves queries out
      std::vector<std::pair<index_t, index_t>> queries;
      for (const edited_call& one : edits[n].calls) {
        INFO(edits[n].what);
        ++made_calls;
        CHECK(check(one.call).empty());
        for (const token& t : both_sides(one).queries) queries.emplace_back(std::get<0>(t), std::get<1>(t));
      }
      if (edits[n].calls.empty()) continue;
      using enum intervention;
      const intervention kind = edits[n].kind;
      if (kind == permute_rows || kind == swap_frames || kind == pad_left || kind == pad_right) {
        CHECK(both_sides(edits[n].calls.front()) == before);  // sequences and positions with their contents
      }
      std::sort(queries.begin(), queries.end());
      std::vector<std::pair<index_t, index_t>> all;
      for (const token& t : before.queries) all.emplace_back(std::get<0>(t), std::get<1>(t));
      CHECK(queries == all);  // each query once
    }
  }
  CHECK(made_calls > 100);
}

TEST_CASE("settings of no size are refused", "[interventions]") {
  const auto code = [](const audit::intervention_settings& settings) {
    return refusal([&] { (void)audit::all_interventions(uneven_call(), settings); }).code();
  };
  CHECK(code({.shift = 0}) == errc::position_rule);
  CHECK(code({.gap = 0}) == errc::position_rule);
  CHECK(code({.mirrored = 0}) == errc::position_rule);
  CHECK(code({.far = 0}) == errc::position_rule);
  CHECK(code({.padding = 0}) == errc::position_rule);
  CHECK(code({.chunk = 0}) == errc::position_rule);
}

}  // namespace interventions_test
