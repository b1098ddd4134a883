// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/visible/causal.hpp>

#include <limits>

#include "pictures.hpp"

namespace posgeo::pictures {

/// What positions add to the scores of a segment of four rows and its memory of eight: v . r, with content left out.
/// The projection is the identity.
std::string transformer_xl() {
  constexpr index_t dim = 16;
  std::vector<double> identity(dim * dim);
  for (std::size_t d = 0; d < dim; ++d) identity[d * dim + d] = 1.0;
  const std::vector<double> zeros(dim);
  const std::vector<double> ones(dim, 1.0);
  const content::transformer_xl<double> policy(
      {.content = table<double>(zeros, 1, dim), .position = table<double>(ones, 1, dim)},
      {table<double>(identity, dim, dim),
       {.reach = content::distance_reach::back_only, .clamp = content::clamp_len::unlimited()}});
  const heads one{.query = 1, .key_value = 1, .dim = dim};
  const auto call = call::prefill_chunk(/*committed_length=*/8, /*length=*/4);
  const auto term = policy.compile<double>(call, one);
  const auto sees = visible::causal{}.compile<double>(call, one);

  heatmap map;
  map.title = "Transformer-XL: v . r of the distance, memory 0 to 7, segment 8 to 11";
  map.across = "key position";
  map.down = "query position";
  const batch_index b{0};
  for (const key_index j : indices<key_index>(call.keys())) {
    map.column_names.push_back(fmt::format("{}", call.at(b, j).value()));
  }
  for (const query_index i : indices<query_index>(call.queries())) {
    map.row_names.push_back(fmt::format("{}", call.at(b, i).value()));
    for (const key_index j : indices<key_index>(call.keys())) {
      map.values.push_back(sees(b, i, j) ? term(b, head_index{0}, i, j, zeros, zeros)
                                         : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return draw(map);
}

}  // namespace posgeo::pictures
