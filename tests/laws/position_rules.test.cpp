// SPDX-License-Identifier: MIT
#include <posgeo/call/chunk_positions.hpp>
#include <posgeo/call/coupled_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/randomised_positions.hpp>
#include <posgeo/call/template_offset.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/one_layer.hpp"

namespace position_rules_test {

using namespace posgeo;
using namespace posgeo::test;
using call::chunk_origin;

/// The largest change of query row `row`, over the scores of its first keys, log-sum-exp and output.
double change(const attention_result<double>& a, index_t entry_of_a, const attention_result<double>& b,
              index_t entry_of_b, index_t row) {
  const auto keys = counted(0, row + 1);
  return row_difference(a, {entry_of_a, row, keys}, b, {entry_of_b, row, keys});
}

TEST_CASE("a template before the content is a shift of the content", "[laws]") {
  const auto content = random_tensor<double, 3>({1, 5, layer_width}, 41);
  const index_t offset =
      call::template_offset({.bos_wanted = 1, .bos_from_tokenizer = 1, .bos_from_template = 0, .markup = 11});
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto bare = one_layer(m, call_at(counted(0, 5)), content, visible::causal{});
    const auto behind = one_layer(m, call_at(counted(offset, 5)), content, visible::causal{});
    CHECK((change(bare, 0, behind, 0, 4) > 1e-3) == reads_absolute_positions(m));
    if (!reads_absolute_positions(m)) CHECK(change(bare, 0, behind, 0, 4) < 1e-13);
  }
}

TEST_CASE("chunks that reset cannot be told apart and global ones can", "[laws]") {
  const auto chunk = random_tensor<double, 3>({1, 4, layer_width}, 42);
  tensor<double, 3> document({3, 4, layer_width});  // three times the same text
  for (index_t b = 0; b < 3; ++b) {
    std::copy(chunk.values().begin(), chunk.values().end(), document.view().row(b, 0).begin());
  }
  const auto run = [&](mechanism m, chunk_origin origin) {
    const auto call = call::chunk_positions({.length = 12, .chunk_rows = 4, .origin_of_chunks = origin});
    return one_layer(m, call, document, visible::causal{});
  };
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto reset = run(m, chunk_origin::reset);
    const auto global = run(m, chunk_origin::global);
    CHECK(change(reset, 0, reset, 2, 3) == 0.0);
    CHECK((change(global, 0, global, 2, 3) > 1e-3) == reads_absolute_positions(m));
  }
}

TEST_CASE("compressed positions make the side of the padding irrelevant", "[laws]") {
  const auto prompt = random_tensor<double, 3>({1, 4, layer_width}, 43);
  tensor<double, 3> right = random_tensor<double, 3>({1, 7, layer_width}, 44);
  tensor<double, 3> left = random_tensor<double, 3>({1, 7, layer_width}, 45);
  for (index_t row = 0; row < 4; ++row) {
    const auto from = prompt.view().row(0, row);
    std::copy(from.begin(), from.end(), right.view().row(0, row).begin());
    std::copy(from.begin(), from.end(), left.view().row(0, row + 3).begin());
  }
  const std::vector<index_t> lengths{4};
  const auto run = [&](mechanism m, call::padding_side side, call::padded_positions positions,
                       const tensor<double, 3>& states) {
    const auto call = call::padded_batch({.lengths = lengths, .rows = 7, .side = side, .positions = positions});
    return one_layer(m, call, states, visible::active{}, visible::causal{});
  };
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto apart = [&](call::padded_positions positions) {
      const auto a = run(m, call::padding_side::right, positions, right);
      const auto b = run(m, call::padding_side::left, positions, left);
      return row_difference(a, {0, 3, counted(0, 4)}, b, {0, 6, counted(3, 4)});
    };
    CHECK(apart(call::padded_positions::compressed(0, 0)) < 1e-14);
    CHECK((apart(call::padded_positions::contiguous()) > 1e-3) == reads_absolute_positions(m));
  }
}

TEST_CASE("randomised positions keep what causality shows and change what mechanisms read", "[laws]") {
  const auto states = random_tensor<double, 3>({1, 6, layer_width}, 46);
  const std::vector<std::uint64_t> seeds{8};
  const auto drawn = call::randomised_positions({.seeds = seeds, .rows = 6, .max_position = layer_table_rows});
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto counting = one_layer(m, call_at(counted(0, 6)), states, visible::causal{});
    const auto gaps = one_layer(m, drawn, states, visible::causal{});
    CHECK((change(counting, 0, gaps, 0, 5) > 1e-3) == (m != mechanism::none));
  }
  const auto shows = [&](const position_call& call, query_index i, key_index j) {
    return visible::causal{}.compile<double>(call, layer_heads)(batch_index{0}, i, j);
  };
  for (const query_index i : indices<query_index>(6)) {
    for (const key_index j : indices<key_index>(6)) CHECK(shows(drawn, i, j) == (j.value() <= i.value()));
  }
}

TEST_CASE("causality by position is not causality by row where positions are coupled", "[laws]") {
  const call::row_groups groups{{1, 4}, {0, 3}, {2}};
  const auto call = call::coupled_positions({.rows = 5, .groups = groups, .first = 7});  // 8 7 9 8 7
  const auto states = random_tensor<double, 3>({1, 5, layer_width}, 47);
  auto changed = states;
  for (double& value : changed.view().row(0, 4)) value += 1.0;  // a row that row 1 must not read

  const visible::custom by_row(
      [](const position_call&, batch_index, query_index i, key_index j) noexcept { return j.value() <= i.value(); });
  const auto reads_the_last_row = [&](const auto& see) {
    return change(one_layer(mechanism::rotary, call, states, see), 0, one_layer(mechanism::rotary, call, changed, see),
                  0, 1) > 1e-3;
  };
  CHECK(reads_the_last_row(visible::causal{}));
  CHECK_FALSE(reads_the_last_row(by_row));
}

TEST_CASE("equal rows that are coupled get equal scores from a relative mechanism", "[laws]") {
  const call::row_groups groups{{0, 3}, {1, 2}};
  const auto coupled = call::coupled_positions({.rows = 4, .groups = groups, .first = 20});
  const auto row = random_tensor<double, 3>({1, 1, layer_width}, 48);
  tensor<double, 3> states({1, 4, layer_width});
  for (index_t r = 0; r < 4; ++r) {
    std::copy(row.values().begin(), row.values().end(), states.view().row(0, r).begin());
  }
  const visible::custom all([](const position_call&, batch_index, query_index, key_index) noexcept { return true; });
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto result = one_layer(m, coupled, states, all);
    for (index_t h = 0; h < layer_heads.query; ++h) {
      CHECK(result.scores(0, h, 0, 1) == result.scores(0, h, 0, 2));
      CHECK(result.scores(0, h, 0, 0) == result.scores(0, h, 3, 3));
      CHECK(result.scores(0, h, 0, 3) == result.scores(0, h, 0, 0));
      if (m != mechanism::none) CHECK(std::abs(result.scores(0, h, 0, 1) - result.scores(0, h, 0, 3)) > 1e-6);
    }
  }
}

}  // namespace position_rules_test
