// SPDX-License-Identifier: MIT
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/one_layer.hpp"

namespace batching_test {

using namespace posgeo;
using namespace posgeo::test;

/// The largest difference between rows of a batch run and the same rows in a run of their own, from position 0.
template <class... Visibilities>
double away_from_alone(mechanism m, const attention_result<double>& batch, const tensor<double, 3>& states,
                       index_t entry, const std::vector<index_t>& rows, const Visibilities&... see) {
  const auto length = static_cast<index_t>(rows.size());
  const auto alone = one_layer(m, call::prefill_chunk(0, length), gathered(states, entry, rows), see...);
  double largest = 0.0;
  for (index_t n = 0; n < length; ++n) {
    const row_place in_batch{entry, rows[static_cast<std::size_t>(n)], rows};
    largest = std::max(largest, row_difference(batch, in_batch, alone, {0, n, counted(0, length)}));
  }
  return largest;
}

const std::vector<index_t> lengths{5, 2, 7, 1};
constexpr index_t storage_rows = 7;

std::vector<index_t> active_rows(call::padding_side side, index_t length) {
  return counted(side == call::padding_side::left ? storage_rows - length : 0, length);
}

TEST_CASE("padded sequences equal themselves alone", "[laws]") {
  const auto states = random_tensor<double, 3>({4, storage_rows, layer_width}, 41);
  for (const call::padding_side side : {call::padding_side::left, call::padding_side::right}) {
    const auto call = call::padded_batch({.lengths = lengths,
                                          .rows = storage_rows,
                                          .side = side,
                                          .positions = call::padded_positions::compressed(0, 0)});
    for (const mechanism m : every_mechanism) {
      CAPTURE(static_cast<int>(m), static_cast<int>(side));
      const auto causal = one_layer(m, call, states, visible::segments{}, visible::causal{});
      const auto both_ways = one_layer(m, call, states, visible::segments{});
      for (std::size_t b = 0; b < lengths.size(); ++b) {
        const auto entry = static_cast<index_t>(b);
        const auto rows = active_rows(side, lengths[b]);
        CHECK(away_from_alone(m, causal, states, entry, rows, visible::segments{}, visible::causal{}) < 1e-13);
        CHECK(away_from_alone(m, both_ways, states, entry, rows, visible::segments{}) < 1e-13);
      }
    }
  }
}

TEST_CASE("holes in a mask close when positions count the tokens", "[laws]") {
  const std::vector<std::uint8_t> mask{0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1};
  const auto states = random_tensor<double, 3>({2, 7, layer_width}, 42);
  const auto call = call::padded_batch(
      {.active = mask, .entries = 2, .rows = 7, .positions = call::padded_positions::compressed(0, 0)});
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto run = one_layer(m, call, states, visible::segments{}, visible::causal{});
    CHECK(away_from_alone(m, run, states, 0, {1, 2, 5, 6}, visible::segments{}, visible::causal{}) < 1e-13);
    CHECK(away_from_alone(m, run, states, 1, {0, 4, 6}, visible::segments{}, visible::causal{}) < 1e-13);
  }
}

TEST_CASE("positions that count left padding harm absolute mechanisms only", "[laws]") {
  const auto states = random_tensor<double, 3>({4, storage_rows, layer_width}, 43);
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = storage_rows,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::contiguous()});
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto run = one_layer(m, call, states, visible::segments{}, visible::causal{});
    const double away = away_from_alone(m, run, states, 0, active_rows(call::padding_side::left, lengths[0]),
                                        visible::segments{}, visible::causal{});
    CHECK((reads_absolute_positions(m) ? away > 0.1 : away < 1e-13));
  }
}

TEST_CASE("packed sequences equal themselves alone", "[laws]") {
  const std::vector<index_t> packed{3, 0, 4, 1};
  const auto states = random_tensor<double, 3>({1, 8, layer_width}, 44);
  for (const auto rule : {call::packed_positions::restart, call::packed_positions::continuing}) {
    const auto call = call::packed_batch({.lengths = packed, .positions = rule});
    for (const mechanism m : every_mechanism) {
      if (rule == call::packed_positions::continuing && reads_absolute_positions(m)) continue;
      CAPTURE(static_cast<int>(m), static_cast<int>(rule));
      const auto causal = one_layer(m, call, states, visible::segments{}, visible::causal{});
      const auto both_ways = one_layer(m, call, states, visible::segments{});
      index_t first = 0;
      for (const index_t length : packed) {
        const auto rows = counted(first, length);
        CHECK(away_from_alone(m, causal, states, 0, rows, visible::segments{}, visible::causal{}) < 1e-13);
        CHECK(away_from_alone(m, both_ways, states, 0, rows, visible::segments{}) < 1e-13);
        first += length;
      }
    }
  }
}

TEST_CASE("interleaved sequences equal themselves alone", "[laws]") {
  const std::vector<index_t> positions{0, 0, 1, 2, 1, 0};
  const std::vector<index_t> sequences{7, 3, 7, 7, 3, 5};
  const call::explicit_side side{.positions = positions, .sequences = sequences, .rows = 6};
  const auto call = call::explicit_positions({.query = side, .key = side});
  const auto states = random_tensor<double, 3>({1, 6, layer_width}, 45);
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto run = one_layer(m, call, states, visible::segments{}, visible::causal{});
    for (const std::vector<index_t>& rows : {std::vector<index_t>{0, 2, 3}, {1, 4}, {5}}) {
      CHECK(away_from_alone(m, run, states, 0, rows, visible::segments{}, visible::causal{}) < 1e-13);
    }
  }
}

}  // namespace batching_test
