// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/call/segment_memory.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/coordinate/relative_shift.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>

#include <cmath>
#include <limits>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

using coordinate::relative_shift;
using coordinate::shift_alignment;

json xl_relative_shift(const json& in) {
  const index_t queries = in.at("qlen");
  const index_t memory = in.at("mlen");
  expect(in, "klen", memory + queries);
  const auto compact = one_head(in.at("unshifted_scores_rows_query_cols_p"));
  const auto shifted = relative_shift(compact.view(), in.at("table_distance_of_column_p").get<std::vector<index_t>>(),
                                      call::prefill_chunk(memory, queries), shift_alignment::causal,
                                      std::numeric_limits<double>::quiet_NaN());
  json rows = nested(shifted)[0][0];
  for (json& row : rows) {
    for (json& value : row) {
      if (std::isnan(value.get<double>())) value = nullptr;
    }
  }
  return {{"shifted", rows}};
}

json xl_relative_shift_bidirectional(const json& in) {
  expect(in, "score_of_query_i_at_distance_d", "10*i + d");
  expect(in, "causal_mask", false);
  const auto rows = counting(0, in.at("T"));
  const auto call = call_at(rows, rows);
  const auto bounds = coordinate::bounds_of_offsets(call).value();
  const auto aligned = [&](index_t lowest) {
    const auto distances = counting(lowest, -bounds.lowest.value() + 1);
    tensor<index_t, 4> compact({1, 1, call.queries(), static_cast<index_t>(distances.size())});
    for (index_t i = 0; i < call.queries(); ++i) {
      for (std::size_t c = 0; c < distances.size(); ++c) {
        compact(0, 0, i, static_cast<index_t>(c)) = 10 * i + distances[c];
      }
    }
    return relative_shift(tensor_view<const index_t, 4>(compact.view()), distances, call,
                          shift_alignment::bidirectional, 0);
  };
  const json short_table = refusal([&] { (void)aligned(0); });
  if (!short_table.at("error").get<bool>()) throw std::runtime_error("a table of T rows was taken in both directions");
  return {{"scores", nested(aligned(-bounds.highest.value()))[0][0]},
          {"table_rows_needed", bounds.highest.value() - bounds.lowest.value() + 1}};
}

json xl_memory_update(const json& in) {
  expect(in, "states_are_named_by", "global token index");
  const std::vector<index_t> streams{0};
  call::segment_memory<double> memory({.layer = 0,
                                       .capacity = in.at("capacity").get<index_t>(),
                                       .first_position = 0,
                                       .gradient = call::memory_gradient::detached},
                                      streams);
  json after = json::array();
  index_t seen = 0;
  for (const json& length : in.at("segment_lengths")) {
    tensor<double, 3> states({1, length.get<index_t>(), 1});
    for (index_t row = 0; row < states.extent(1); ++row) states(0, row, 0) = static_cast<double>(seen + row);
    memory = memory.updated({.layer = 0, .first_position = seen, .streams = streams, .states = states.view()});
    seen += states.extent(1);
    json kept = json::array();
    for (index_t row = 0; row < memory.stored(); ++row) kept.push_back(memory.states().row(0, row)[0]);
    after.push_back(kept);
  }
  return {{"memory_after_each_segment", after}};
}

json xl_four_term_score(const json& in) {
  const index_t dim = in.at("d");
  const auto one_row = [&](const char* name) { return table<double>(in.at(name).get<std::vector<double>>(), 1, dim); };
  const content::distance_rows<double> rows(head_tables<double>::shared(one_row("r")),
                                            {.lowest = 0, .order = content::distance_order::ascending});
  const content::transformer_xl<double, content::distance_rows<double>> terms(
      {.content = one_row("u"), .position = one_row("v")}, rows);
  const attention model{heads{.dim = dim}, scale::inverse_sqrt_head_dim{}, visible::causal{}, terms};
  const auto q = one_head(json::array({in.at("q")}));
  const auto k = one_head(json::array({in.at("k")}));
  return {{"score", run(model, call_at({0}, {0}), q, k, k).scores(0, 0, 0, 0)}};
}

}  // namespace

operations transformer_xl_operations() {
  return {{"xl_relative_shift", xl_relative_shift},
          {"xl_relative_shift_bidirectional", xl_relative_shift_bidirectional},
          {"xl_memory_update", xl_memory_update},
          {"xl_four_term_score", xl_four_term_score}};
}

}  // namespace posgeo::cases
