// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/contract/load_report.hpp>
#include <posgeo/model/nope.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/one_layer.hpp"
#include "support/refusal.hpp"
#include "support/toy_identity.hpp"

// Each case builds a mistake whose every tensor has the right shape, and shows what catches it.
namespace position_addition_lab {

using namespace posgeo;
using namespace posgeo::test;

const std::vector<index_t> turned{2, 4, 0, 1, 3};
const index_t rows = static_cast<index_t>(turned.size());

/// The largest difference between a run over turned rows and the turned rows of a plain run.
double away_from_turned(const attention_result<double>& plain, const attention_result<double>& of_turned) {
  double largest = 0.0;
  for (index_t n = 0; n < rows; ++n) {
    const row_place here{0, n, counted(0, rows)};
    largest =
        std::max(largest, row_difference(plain, {0, turned[static_cast<std::size_t>(n)], turned}, of_turned, here));
  }
  return largest;
}

encode::sinusoidal waves(index_t width) {
  return encode::sinusoidal(
      {.width = width, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
}

TEST_CASE("claiming that the permutation proof covers a fixed causal mask", "[failure_lab]") {
  const auto states = random_tensor<double, 3>({1, rows, layer_width}, 71);
  const auto call = call::prefill_chunk(0, rows);
  const auto moved = gathered(states, 0, turned);
  const auto run = [&](const auto& see, const tensor<double, 3>& of) {
    return one_layer(mechanism::none, call, of, see);
  };
  CHECK(away_from_turned(run(visible::everything{}, states), run(visible::everything{}, moved)) < 1e-13);
  CHECK(away_from_turned(run(visible::causal{}, states), run(visible::causal{}, moved)) > 0.1);
}

TEST_CASE("treating NoPE as an architecture with no geometry", "[failure_lab]") {
  const auto states = random_tensor<double, 3>({1, rows, layer_width}, 72);
  const auto last_two_swapped = gathered(states, 0, {1, 0, 2, 3, 4});
  const auto call = call::prefill_chunk(0, rows);
  const auto plain = one_layer(mechanism::none, call, states, visible::causal{});
  const auto swapped = one_layer(mechanism::none, call, last_two_swapped, visible::causal{});
  // Rows 0 and 1 read different prefixes, although no policy mentions a position.
  CHECK(row_difference(plain, {0, 0, {}}, swapped, {0, 1, {}}) > 0.1);
  CHECK(row_difference(plain, {0, 4, {}}, swapped, {0, 4, {}}) < 1e-13);
}

TEST_CASE("removing explicit positions from an existing checkpoint", "[failure_lab]") {
  const auto states = random_tensor<double, 3>({1, rows, layer_width}, 73);
  const auto call = call::prefill_chunk(0, rows);
  const auto trained = one_layer(mechanism::rotary, call, states, visible::causal{});
  const auto stripped = one_layer(mechanism::none, call, states, visible::causal{});
  CHECK(row_difference(trained, {0, 4, counted(0, rows)}, stripped, {0, 4, counted(0, rows)}) > 0.1);

  // Nothing about the stripped model is wrong by itself: it is a NoPE model. What it left behind speaks: the trained
  // table that it has no place for, and the caches made under the trained mechanism.
  const heads layout{.query = 1, .key_value = 1, .dim = 4};
  require_nope(nope::causal, attention{layout, scale::inverse_sqrt_head_dim{}, visible::causal{}});
  const auto report = contract::report_load(
      {.wanted = {}, .recomputable = {}, .checkpoint = {{"position.weight", {512, layer_width}}}, .renamed = {}});
  CHECK(report.unexpected == std::vector<std::string>{"position.weight"});
  const auto made_under = [](const std::string& mechanism) {
    return toy_identity(checkpoint_id("3f9a"), {description(mechanism)});
  };
  CHECK(refusal([&] { contract::require_same(made_under("rotary"), made_under("none")); }).code() ==
        errc::cache_identity);
  // The other way round, positions given to a model trained without them, the contract of NoPE refuses.
  const attention with_rotary{
      layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
      transform::rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}), {.pairs = transform::pairing::halves})};
  CHECK(refusal([&] { require_nope(nope::causal, with_rotary); }).code() == errc::position_family);
}

TEST_CASE("forgetting to add position information", "[failure_lab]") {
  const auto states = random_tensor<double, 3>({1, rows, layer_width}, 74);
  const auto call = call_at(counted(3, rows));
  const auto moved = gathered(states, 0, turned);
  for (const mechanism m : {mechanism::sinusoidal, mechanism::learned}) {
    const visible::everything see;
    CHECK(away_from_turned(one_layer(m, call, states, see), one_layer(m, call, moved, see)) > 0.1);
    CHECK(away_from_turned(one_layer(mechanism::none, call, states, see),
                           one_layer(mechanism::none, call, moved, see)) < 1e-13);
  }
}

/// The squared norm of what stands in a row of states beyond its content.
double added_energy(const tensor<double, 3>& states, const tensor<double, 3>& content, index_t row) {
  double squares = 0.0;
  for (index_t d = 0; d < states.extent(2); ++d) {
    squares += (states(0, row, d) - content(0, row, d)) * (states(0, row, d) - content(0, row, d));
  }
  return squares;
}

TEST_CASE("calling only the embedding or adding positions twice", "[failure_lab]") {
  const index_t width = 14;
  const auto content = random_tensor<double, 3>({1, rows, width}, 75);
  const auto call = call_at(counted(6, rows));
  auto states = content;
  const auto expect_energy = [&](double expected) {
    for (index_t row = 0; row < rows; ++row) CHECK_THAT(added_energy(states, content, row), WithinAbs(expected, 1e-12));
  };
  // The oracle: sine and cosine of every pair have squares that sum to 1, so one addition has energy width / 2.
  expect_energy(0.0);
  encode::add_positions(waves(width), call, states.view());
  expect_energy(width / 2.0);
  encode::add_positions(waves(width), call, states.view());
  expect_energy(4 * width / 2.0);
}

TEST_CASE("adding positions before the projector", "[failure_lab]") {
  const index_t media_width = 12;
  const index_t model_width = 16;
  auto media = random_tensor<double, 3>({1, rows, media_width}, 76);
  const auto before = media;
  const auto thrown =
      refusal([&] { encode::add_positions(waves(model_width), call_at(counted(0, rows)), media.view()); });
  CHECK(thrown.code() == errc::shape_mismatch);
  CHECK(largest_difference(media.values(), before.values()) == 0.0);
}

TEST_CASE("using a sinusoidal table built for another width", "[failure_lab]") {
  const auto narrow = encoded_row(waves(8), 11);
  auto wide = encoded_row(waves(12), 11);
  wide.resize(narrow.size());  // the columns that a slice would take
  CHECK(largest_difference(narrow, wide) > 0.1);
  tensor<double, 3> states({1, 1, 8});
  CHECK(refusal([&] { encode::add_positions(waves(12), call_at({11}), states.view()); }).code() ==
        errc::shape_mismatch);
}

}  // namespace position_addition_lab
