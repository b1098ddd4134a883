// SPDX-License-Identifier: MIT
#include <posgeo/audit/expected.hpp>
#include <posgeo/audit/interventions.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/encode/binary_index.hpp>
#include <posgeo/encode/degree.hpp>
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/mask_decoder_positions.hpp>
#include <posgeo/encode/normalized_index.hpp>
#include <posgeo/encode/raw_index.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include <cmath>

#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/random_graphs.hpp"

// What follows from what is read, for state encoders and where a call has nothing to change. The policies of an
// attention, each by itself: expected_bias, expected_content and expected_visible.
namespace expected_test {

using namespace posgeo;
using namespace posgeo::test;
using audit::declaration;
using audit::edited_call;
using audit::expected;
using audit::intervention;
using audit::verdict;

constexpr heads one_head{.query = 1, .key_value = 1, .dim = 2};
constexpr hides all_hidden = hides::padding | hides::other_segments | hides::future;

/// Six rows and four behind two of padding, from position `first` on.
position_call self_attention(index_t first) {
  const std::vector<index_t> lengths{6, 4};
  return call::padded_batch({.lengths = lengths,
                             .rows = 6,
                             .side = call::padding_side::left,
                             .positions = call::padded_positions::contiguous(first)});
}

/// What an encoder adds to each row of one side.
template <class Encoder>
tensor<double, 3> added_to(const Encoder& encoder, const row_space& side, position_reuse reuse) {
  return encoded(encoder, position_call({.query = side, .key = side, .cache = {}, .reuse = reuse}));
}

/// What happens under an edit to the rows that an encoder adds to, on both sides.
template <class Encoder>
verdict found(const Encoder& encoder, const position_call& call, const audit::edit& made) {
  double largest = 0.0;
  const auto compare = [&](const row_space& before, const row_space& after,
                           const std::vector<audit::row_source>& sources) {
    const auto was = added_to(encoder, before, call.described().reuse);
    const auto is = added_to(encoder, after, call.described().reuse);
    for (std::size_t n = 0; n < sources.size(); ++n) {
      const auto at = static_cast<index_t>(n);
      for (index_t d = 0; d < encoder.width() && sources[n].any(); ++d) {
        const double moved = is(at / after.rows(), at % after.rows(), d) - was(sources[n].entry, sources[n].row, d);
        largest = std::max(largest, std::abs(moved));
      }
    }
  };
  try {
    for (const edited_call& one : made.calls) {
      compare(call.query_space(), one.call.query, one.query_source);
      compare(call.key_space(), one.call.key, one.key_source);
    }
  } catch (const error&) {
    return verdict::refused;
  }
  CHECK((largest == 0.0 || largest > 1e-3));
  if (largest > 0.0) return verdict::changes;
  using enum intervention;
  const bool moves = made.kind == permute_rows || made.kind == permute_content || made.kind == permute_content_unmasked;
  return moves ? verdict::equivariant : verdict::invariant;
}

template <class Encoder>
void expect_of_encoder(const Encoder& encoder, index_t first) {
  const position_call call = self_attention(first);
  const declaration of{.content = encoder.positional_reads(), .hidden = all_hidden, .range = range_of(encoder)};
  for (const audit::edit& made : audit::all_interventions(call)) {
    INFO(audit::name_of(made.kind) << ": " << made.what);
    CHECK(audit::name_of(expected(made, call, of)) == audit::name_of(found(encoder, call, made)));
  }
}

TEST_CASE("state encoders keep to what they declare", "[expected]") {
  using encode::padded_rows;
  expect_of_encoder(encode::sinusoidal({.width = 6,
                                        .layout = encode::sinusoid_layout::concatenated,
                                        .exponent = encode::sinusoid_exponent::paper,
                                        .padding = padded_rows::untouched()}),
                    5);
  expect_of_encoder(
      encode::learned_absolute(random_table(40, 3, 51), {.row_offset = 2, .padding = padded_rows::table_row(1)}), 5);
  expect_of_encoder(encode::learned_absolute(random_table(20, 3, 52), {.row_offset = 0}), 5);  // 17 further is too far
  expect_of_encoder(encode::raw_index({.width = 2, .alpha = 0.25}), 5);
  expect_of_encoder(encode::normalized_index({.width = 2, .length = 50}), 5);
  expect_of_encoder(encode::binary_index({.bits = 5, .order = encode::bit_order::most_significant_first}), 5);
}

TEST_CASE("encoders of values that rows bring along keep to the rows that they were made for", "[expected]") {
  const coordinate::grid grid({.rows = 3, .columns = 4, .order = coordinate::traversal::row_major});
  const row_space space = self_attention(5).query_space();
  std::vector<coordinate::grid_place> cells;
  dice roll(53);
  for (index_t n = 0; n < space.entries() * space.rows(); ++n) {
    cells.emplace_back(coordinate::cell{roll.between(0, 2), roll.between(0, 3)});
  }
  const coordinate::grid_cells column(row_identity::of(space), cells);
  expect_of_encoder(encode::grid_full(random_table(12, 3, 54), grid).at(column), 5);

  const std::vector<coordinate::graph_edge> edges{{0, 1}, {0, 2}, {0, 3}, {3, 5}, {4, 5}, {0, 4}};
  const auto graph = coordinate::graph::directed(6, edges);
  const coordinate::graph_rows graphs({graph, graph}, coordinate::graph_token::none());
  expect_of_encoder(encode::degree(encode::degree_tables<double>{random_table(8, 3, 55), random_table(8, 3, 56)},
                                   graphs, {.row_offset = 0, .count = encode::degree_count::by_direction}),
                    0);
}

TEST_CASE("a padding rule is read where the encoder has one", "[expected]") {
  const auto learned = [](const encode::padded_rows& padding) {
    return encode::learned_absolute(random_table(9, 2, 57), {.row_offset = 1, .padding = padding});
  };
  CHECK(learned(encode::padded_rows::by_position()).positional_reads() == reads::absolute);
  CHECK(learned(encode::padded_rows::untouched()).positional_reads() == (reads::absolute | reads::padding));
  const encode::mask_decoder_positions decoder(learned(encode::padded_rows::untouched()));
  CHECK(decoder.positional_reads() == (reads::absolute | reads::padding));
  CHECK(decoder.range() == positional_range{.lowest_position = 0, .highest_position = 7});
}

TEST_CASE("padding may stand outside of a range", "[expected]") {
  const std::vector<index_t> lengths{3, 4};
  const position_call call = call::padded_batch({.lengths = lengths,
                                                 .rows = 4,
                                                 .side = call::padding_side::right,
                                                 .positions = call::padded_positions::fixed(2, -60)});
  const encode::learned_absolute encoder(random_table(40, 2, 59),
                                         {.row_offset = 0, .padding = encode::padded_rows::untouched()});
  const declaration of{.content = encoder.positional_reads(), .hidden = all_hidden, .range = encoder.range()};
  CHECK(expected(audit::shift_all(call), call, of) == verdict::changes);
  CHECK(found(encoder, call, audit::shift_all(call)) == verdict::changes);
  CHECK(expected(audit::shift_all(call, {.shift = 35}), call, of) == verdict::refused);
}

TEST_CASE("content that depends on positions is declared beside the attention", "[expected]") {
  const attention model{one_head, scale::none{}, visible::segments{}};
  const encode::learned_absolute encoder(random_table(40, 2, 58), {.row_offset = 0});
  const position_call call = self_attention(5);
  const auto verdict_of = [&](const audit::edit& made) { return expected(made, call, model, encoder); };
  CHECK(expected(audit::shift_all(call), call, model) == verdict::invariant);
  CHECK(verdict_of(audit::shift_all(call)) == verdict::changes);
  CHECK(verdict_of(audit::shift_all(call, {.shift = 30})) == verdict::refused);
  CHECK(verdict_of(audit::permute_content_unmasked(call)) == verdict::changes);
  CHECK(verdict_of(audit::swap_frames(call)) == verdict::invariant);  // each side is read by itself
}

TEST_CASE("nothing changes where the call has no pair to change", "[expected]") {
  const attention causal{one_head, scale::none{}, visible::segments{}, visible::causal{}};
  const position_call step = call::decode_step(6, 6);
  const auto of_causal = [&](const audit::edit& made) { return expected(made, step, causal); };
  CHECK(of_causal(audit::shift_queries(step)) == verdict::invariant);  // the last row sees all, and further on as well
  CHECK(of_causal(audit::shift_queries(step, {.shift = -3})) == verdict::changes);
  CHECK(of_causal(audit::permute_content(step)) == verdict::equivariant);
  CHECK(of_causal(audit::reverse(step)) == verdict::changes);
  CHECK(of_causal(audit::pack(step)) == verdict::not_applicable);

  const attention by_key{one_head, scale::none{}, visible::segments{}, visible::causal{},
                         bias::alibi_key_position(bias::alibi_slopes::custom({0.2}), 0)};
  CHECK(expected(audit::shift_queries(step), step, by_key) == verdict::invariant);
  CHECK(expected(audit::shift_all(step), step, by_key) == verdict::changes);
}

TEST_CASE("what must be hidden and is not is refused whatever is done", "[expected]") {
  const bias::alibi back(bias::alibi_slopes::custom({0.2}), bias::alibi_direction::causal);
  const attention model{one_head, scale::none{}, visible::segments{}, visible::causal{}, back};
  const position_call call = self_attention(5);
  CHECK(expected(audit::permute_content(call), call, model) == verdict::changes);
  CHECK(expected(audit::permute_content_unmasked(call), call, model) == verdict::refused);
  CHECK(audit::declared_by(model).must_hide == hides::future);
  CHECK(audit::declared_by(model).hidden == all_hidden);
  CHECK(audit::declared_by(model).policies == (reads::offset | reads::padding | reads::sequence));
}

TEST_CASE("the extent of a call is changed by what adds or moves rows", "[expected]") {
  const declaration of{.policies = reads::extent, .hidden = all_hidden};
  using enum intervention;
  for (const intervention kind : {shift_all, shift_queries, stretch_gap, mirror_evidence, out_of_range, pad_left,
                                  pad_right, pack, chunk, cached}) {
    INFO(audit::name_of(kind));
    CHECK(expected(kind, of) == verdict::changes);
  }
  for (const intervention kind : {permute_rows, permute_content, permute_content_unmasked}) {
    CHECK(expected(kind, of) == verdict::equivariant);
  }
  for (const intervention kind : {reverse, swap_frames}) CHECK(expected(kind, of) == verdict::invariant);
}

}  // namespace expected_test
