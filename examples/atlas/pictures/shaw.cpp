// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/shaw_key.hpp>

#include "pictures.hpp"

namespace posgeo::pictures {

/// The class of every pair of four new rows after six cached ones, read from a compiled term whose table row r is r.
std::string shaw() {
  const auto classes = coordinate::clipped::symmetric(3);
  std::vector<double> numbers;
  for (index_t r = 0; r < classes.classes(); ++r) numbers.push_back(static_cast<double>(r));
  const content::shaw_key<double> relation(head_tables<double>::shared(table<double>(numbers, classes.classes(), 1)),
                                           classes);
  const auto call = call::prefill_chunk(/*committed_length=*/6, /*length=*/4);
  const auto term = relation.compile<double>(call, heads{});

  heatmap map;
  map.title = "Shaw: table row of each pair, max_distance 3";
  map.across = "key position";
  map.down = "query position";
  map.numbers = true;
  const batch_index b{0};
  for (const key_index j : indices<key_index>(call.keys())) {
    map.column_names.push_back(fmt::format("{}", call.at(b, j).value()));
  }
  for (const query_index i : indices<query_index>(call.queries())) {
    map.row_names.push_back(fmt::format("{}", call.at(b, i).value()));
    for (const key_index j : indices<key_index>(call.keys())) {
      map.values.push_back(term.row(b, head_index{0}, i, j)[0]);
    }
  }
  return draw(map);
}

}  // namespace posgeo::pictures
