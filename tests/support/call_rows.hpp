// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <vector>

namespace posgeo::test {

/// How a vector of positions, sequences or active rows is written down.
using numbers = std::vector<index_t>;

/// What `read(row)` says about each row of one entry; Index is query_index or key_index.
template <class Index, class Read>
[[nodiscard]] numbers each_row(const position_call& call, const Read& read) {
  numbers out;
  const index_t rows = std::same_as<Index, query_index> ? call.queries() : call.keys();
  for (const Index row : indices<Index>(rows)) out.push_back(read(row));
  return out;
}
template <class Index>
[[nodiscard]] numbers positions(const position_call& call, index_t b) {
  return each_row<Index>(call, [&](Index row) { return call.at(batch_index{b}, row).value(); });
}
template <class Index>
[[nodiscard]] numbers sequences(const position_call& call, index_t b) {
  return each_row<Index>(call, [&](Index row) { return call.sequence(batch_index{b}, row); });
}
template <class Index>
[[nodiscard]] numbers active(const position_call& call, index_t b) {
  return each_row<Index>(call, [&](Index row) { return call.active(batch_index{b}, row) ? 1 : 0; });
}

}  // namespace posgeo::test
