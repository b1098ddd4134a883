// SPDX-License-Identifier: MIT
#include <posgeo/encode/learned_absolute.hpp>

#include <cmath>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string learned_absolute() {
  // A table whose rows can be told apart: number c of row r is sin((r + 1)(c + 2)).
  constexpr index_t table_rows = 12;
  constexpr index_t width = 16;
  std::vector<double> numbers;
  for (index_t r = 0; r < table_rows; ++r) {
    for (index_t c = 0; c < width; ++c) numbers.push_back(std::sin(static_cast<double>((r + 1) * (c + 2))));
  }
  const encode::learned_absolute encoder(table<double>(numbers, table_rows, width), {.row_offset = 2});
  std::vector<index_t> positions = counted(0, encoder.capacity());
  const auto call = call_at(positions, positions);
  const auto term = encoder.compile<double>(call);
  std::vector<std::string> rows;
  for (const query_index i : indices<query_index>(call.queries())) {
    rows.push_back(fmt::format("{} (row {})", call.at(batch_index{0}, i).value(), term.table_row(batch_index{0}, i)));
  }
  return draw(heatmap{.title = "Learned positions: the table row that each position reads (row_offset 2)",
                      .across = "dimension",
                      .down = "position",
                      .column_names = names_of(counted(0, width)),
                      .row_names = rows,
                      .values = added(encoder, positions)});
}

}  // namespace posgeo::pictures
