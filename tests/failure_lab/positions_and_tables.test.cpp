// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/resized_rows.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/one_layer.hpp"
#include "support/refusal.hpp"
#include "support/toy_identity.hpp"

// Each case builds a mistake whose every tensor has the right shape, and shows what catches it.
namespace positions_and_tables_lab {

using namespace posgeo;
using namespace posgeo::test;

encode::learned_absolute<double> learned(index_t rows, index_t width, unsigned seed) {
  return encode::learned_absolute<double>(random_table(rows, width, seed), {.row_offset = 0});
}

TEST_CASE("positions off by one after a beginning token", "[failure_lab]") {
  // The prompt's beginning token is committed, and the first content row is numbered as if it were not.
  const call::prefill_entry forgotten{.committed_length = 1, .first_position = 0, .length = 4, .past_length = 0};
  const auto thrown = refusal([&] {
    (void)call::prefill_chunk(call::prefill_chunk_spec{.entries = {&forgotten, 1}, .query_rows = 4, .key_rows = 4});
  });
  CHECK(thrown.code() == errc::committed_length);
  // What it would have changed: every row's coordinate, and no shape.
  const auto encoder = learned(8, 5, 81);
  const auto right = encoded(encoder, call::prefill_chunk(1, 4));
  const auto wrong = encoded(encoder, call::prefill_chunk(0, 4));
  CHECK(right.extents() == wrong.extents());
  CHECK(largest_difference(right.values(), wrong.values()) > 0.1);
}

TEST_CASE("source and target streams confused", "[failure_lab]") {
  const index_t target = 3;
  const index_t source = 5;
  const auto call = call::cross_attention(
      {.target_lengths = {&target, 1}, .source_lengths = {&source, 1}, .target_rows = target, .source_rows = source});
  const auto states = random_tensor<double, 3>({1, target, layer_width}, 82);
  const auto memory = random_tensor<double, 3>({1, source, layer_width}, 83);
  for (const mechanism m : {mechanism::alibi, mechanism::t5, mechanism::rotary}) {
    CAPTURE(static_cast<int>(m));
    CHECK(refusal([&] { (void)one_layer(m, call, states, memory, visible::active{}); }).code() == errc::frame_mismatch);
  }
}

TEST_CASE("decoder positions that start again after the prompt", "[failure_lab]") {
  const auto thrown = refusal([] { (void)call::decode_step(/*committed_length=*/7, /*query_position=*/0); });
  CHECK(thrown.code() == errc::committed_length);
  // With the caller's own call nothing stops it, and the oracle does: the step must equal its row of the whole pass.
  const index_t length = 8;
  const auto states = random_tensor<double, 3>({1, length, layer_width}, 84);
  const auto query = gathered(states, 0, {length - 1});
  for (const mechanism m : {mechanism::rotary, mechanism::t5, mechanism::learned}) {
    CAPTURE(static_cast<int>(m));
    const auto whole = one_layer(m, call::prefill_chunk(0, length), states, visible::causal{});
    const row_place in_whole{0, length - 1, counted(0, length)};
    const row_place in_step{0, 0, counted(0, length)};
    const auto step = [&](index_t at) {
      return one_layer(m, call_at({at}, counted(0, length)), query, states, visible::everything{});
    };
    CHECK(row_difference(whole, in_whole, step(length - 1), in_step) < 1e-13);
    CHECK(row_difference(whole, in_whole, step(0), in_step) > 0.01);
  }
}

TEST_CASE("a position beyond the learned table", "[failure_lab]") {
  const auto encoder = learned(512, 3, 85);
  CHECK(encoded_row(encoder, 511).size() == 3);
  for (const index_t outside : {index_t{512}, index_t{800}, index_t{-1}}) {
    const auto thrown = refusal([&] { (void)encoded_row(encoder, outside); });
    CHECK(thrown.code() == errc::position_out_of_table);
  }
}

TEST_CASE("resizing a learned table and assuming that its meaning came along", "[failure_lab]") {
  // The rows of the base range are no longer those that the model was trained with: the regression that catches it
  // compares them one by one.
  const index_t rows = 9;
  const index_t width = 4;
  const auto old_rows = random_table(rows, width, 86);
  const auto moved_rows = [&](const table<double>& resized) {
    index_t moved = 0;
    for (index_t r = 0; r < rows; ++r) moved += largest_difference(old_rows.row(r), resized.row(r)) > 1e-12 ? 1 : 0;
    return moved;
  };
  for (const auto sampling : {encode::resize_sampling::half_pixel, encode::resize_sampling::aligned_corners}) {
    CHECK(moved_rows(encode::resized_rows(old_rows, rows, sampling)) == 0);
    CHECK(moved_rows(encode::resized_rows(old_rows, 2 * rows, sampling)) >= rows - 1);
  }
}

TEST_CASE("a position table of another checkpoint", "[failure_lab]") {
  // Equal shapes, other meaning: nothing but the numbers tells them apart, so a fixture of a few rows must be kept.
  const auto ours = random_table(16, 6, 87);
  const auto fixture = [&](index_t row) { return std::vector<double>(ours.row(row).begin(), ours.row(row).end()); };
  const auto away_from_fixture = [&](const table<double>& loaded, index_t row) {
    return largest_difference(encoded_row(encode::learned_absolute<double>(loaded, {.row_offset = 0}), row),
                              fixture(row));
  };
  for (const index_t row : {0, 7, 15}) {
    CHECK(away_from_fixture(ours, row) == 0.0);
    CHECK(away_from_fixture(random_table(16, 6, 88), row) > 0.1);
  }
  // A cache names the weights that it was made with.
  const auto made_with = [](const std::string& weights) {
    return toy_identity(checkpoint_id(weights), {description("learned_absolute")});
  };
  contract::require_same(made_with("a table"), made_with("a table"));
  CHECK(refusal([&] { contract::require_same(made_with("a table"), made_with("another table")); }).code() ==
        errc::cache_identity);
}

// Padding and masks.

constexpr index_t padded_rows = 7;

position_call padded(const std::vector<index_t>& lengths, call::padding_side side, call::padded_positions positions) {
  return call::padded_batch({.lengths = lengths, .rows = padded_rows, .side = side, .positions = positions});
}

TEST_CASE("pooling that reads rows of padding", "[failure_lab]") {
  const std::vector<index_t> lengths{4};
  const auto call = padded(lengths, call::padding_side::right, call::padded_positions::contiguous());
  auto states = random_tensor<double, 3>({1, padded_rows, layer_width}, 89);
  const auto run = [&] { return one_layer(mechanism::alibi, call, states, visible::active{}); };
  const auto before = run();
  for (index_t row = lengths[0]; row < padded_rows; ++row) {
    for (double& value : states.view().row(0, row)) value += 3.0;
  }
  const auto after = run();
  // Attention hides the padded keys, so no token row moved; the padded query rows did, and so does a mean over all.
  for (index_t row = 0; row < padded_rows; ++row) {
    const bool token = call.active(batch_index{0}, query_index{row});
    const double moved = row_difference(before, {0, row, {}}, after, {0, row, {}});
    CHECK((token ? moved == 0.0 : moved > 0.1));
  }
  // Sinusoids stand on the padded rows too, so a mean over all rows is no mean of the text.
  const encode::sinusoidal waves({.width = layer_width,
                                  .layout = encode::sinusoid_layout::interleaved,
                                  .exponent = encode::sinusoid_exponent::paper});
  const auto mean_of_first_column = [&](const position_call& of, index_t begin, index_t end) {
    const auto added = encoded(waves, of);
    double sum = 0.0;
    for (index_t row = begin; row < end; ++row) sum += added(0, row, 0);
    return sum / static_cast<double>(end - begin);
  };
  const double of_text = (std::sin(0.0) + std::sin(1.0) + std::sin(2.0) + std::sin(3.0)) / 4.0;
  CHECK_THAT(mean_of_first_column(call, 0, lengths[0]), WithinAbs(of_text, 1e-14));
  CHECK(std::abs(mean_of_first_column(call, 0, padded_rows) - of_text) > 0.1);
  // Without a visibility that hides padding the attention is not even built.
  CHECK(refusal([&] { (void)one_layer(mechanism::alibi, call, states, visible::everything{}); }).code() ==
        errc::padding_visible);
}

TEST_CASE("the padding side that changes where a prompt stands", "[failure_lab]") {
  const index_t length = 4;
  const auto prompt = random_tensor<double, 3>({1, padded_rows, layer_width}, 90);
  const auto run = [&](mechanism m, call::padding_side side, call::padded_positions positions) {
    const bool left = side == call::padding_side::left;
    const auto order = left ? std::vector<index_t>{4, 5, 6, 0, 1, 2, 3} : counted(0, padded_rows);
    const auto result = one_layer(m, padded({length}, side, positions), gathered(prompt, 0, order), visible::active{});
    return std::pair{result, row_place{0, left ? padded_rows - 1 : length - 1, {}}};
  };
  for (const mechanism m : {mechanism::learned, mechanism::sinusoidal}) {
    const auto moved_by = [&](call::padded_positions positions) {
      const auto [right, in_right] = run(m, call::padding_side::right, positions);
      const auto [left, in_left] = run(m, call::padding_side::left, positions);
      return row_difference(right, in_right, left, in_left);
    };
    CHECK(moved_by(call::padded_positions::contiguous()) > 0.01);
    CHECK(moved_by(call::padded_positions::compressed(0, 0)) < 1e-13);
  }
}

TEST_CASE("an attention mask that disagrees with the position ids", "[failure_lab]") {
  // A row counted as padding by the ids (position 0, like the first token) and as a token by the mask.
  const std::vector<index_t> ids{0, 1, 2, 0};
  const std::vector<std::uint8_t> mask{1, 1, 1, 1};
  const call::explicit_side side{.positions = ids, .active = mask, .rows = 4};
  CHECK(refusal([&] { (void)call::explicit_positions({.query = side, .key = side}); }).code() == errc::position_reused);
  // The other way round, padding that the ids count as tokens, nothing is refused: such ids may be meant. The oracle is
  // the mask: the n-th row that it shows stands at n.
  const std::vector<index_t> counting_padding{0, 1, 2, 3};
  const std::vector<std::uint8_t> first_is_padding{0, 1, 1, 1};
  const call::explicit_side disagreeing{.positions = counting_padding, .active = first_is_padding, .rows = 4};
  const auto accepted = call::explicit_positions({.query = disagreeing, .key = disagreeing});
  const auto by_mask = call::padded_batch(
      {.active = first_is_padding, .entries = 1, .rows = 4, .positions = call::padded_positions::compressed(0, 0)});
  for (index_t row = 1; row < 4; ++row) {
    CHECK(by_mask.at(batch_index{0}, query_index{row}) == position{row - 1});
    CHECK(accepted.at(batch_index{0}, query_index{row}) != by_mask.at(batch_index{0}, query_index{row}));
  }
  // One description gives both, so they cannot disagree.
  const std::vector<std::uint8_t> active{1, 1, 1, 0};
  const auto call = call::padded_batch(
      {.active = active, .entries = 1, .rows = 4, .positions = call::padded_positions::compressed(0, 0)});
  CHECK_FALSE(call.active(batch_index{0}, query_index{3}));
}

TEST_CASE("position ids that count columns of padding where tokens are meant", "[failure_lab]") {
  // There is no default to forget: the rule is a required field (compile_fail.padded_positions_unnamed). The two rules
  // differ in every coordinate of a left-padded prompt.
  const auto encoder = learned(padded_rows + 1, 4, 91);
  const auto by_column = encoded(encoder, padded({3}, call::padding_side::left, call::padded_positions::contiguous()));
  const auto by_token =
      encoded(encoder, padded({3}, call::padding_side::left, call::padded_positions::compressed(0, 0)));
  for (index_t row = padded_rows - 3; row < padded_rows; ++row) {
    CHECK(largest_difference(by_column.view().row(0, row), by_token.view().row(0, row)) > 0.1);
  }
}

}  // namespace positions_and_tables_lab
