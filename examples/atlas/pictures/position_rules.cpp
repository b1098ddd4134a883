// SPDX-License-Identifier: MIT
#include <posgeo/call/chunk_positions.hpp>
#include <posgeo/call/coupled_positions.hpp>
#include <posgeo/call/randomised_positions.hpp>
#include <posgeo/call/template_offset.hpp>

#include <array>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string position_rules() {
  constexpr index_t rows = 12;
  heatmap map{.title = "Where each row stands under each rule",
              .across = "row",
              .down = "rule",
              .column_names = names_of(counted(0, rows)),
              .row_names = {},
              .values = {},
              .numbers = true};
  const auto add = [&](const char* name, const std::vector<index_t>& positions) {
    map.row_names.emplace_back(name);
    map.values.insert(map.values.end(), positions.begin(), positions.end());
  };
  const auto document = [&](const position_call& call) {
    std::vector<index_t> positions;
    for (index_t b = 0; b < call.batch(); ++b) {
      for (index_t row = 0; row < call.keys(); ++row) positions.push_back(call.key_space().at(b, row).value());
    }
    return positions;
  };
  add("counted", counted(0, rows));
  add("randomised", call::random_ordered_positions({.rows = rows, .max_position = 40, .seed = 5U}));
  // 653 + 049 = 2070, the sum from its last digit on
  using call::digit_order;
  const std::array<call::number_rows, 3> numbers{{{0, 3, digit_order::most_significant_first},
                                                  {4, 7, digit_order::most_significant_first},
                                                  {8, 12, digit_order::least_significant_first}}};
  const std::array<index_t, 2> signs{3, 7};
  const auto groups = call::groups_by_significance(numbers, signs);
  add("coupled", call::positions_of({.rows = rows, .groups = groups, .first = 20}));
  using call::chunk_origin;
  const auto chunks = [&](chunk_origin origin) {
    return document(call::chunk_positions({.length = rows, .chunk_rows = 4, .origin_of_chunks = origin}));
  };
  add("chunks, reset", chunks(chunk_origin::reset));
  add("chunks, global", chunks(chunk_origin::global));
  const index_t offset =
      call::template_offset({.bos_wanted = 1, .bos_from_tokenizer = 1, .bos_from_template = 0, .markup = 6});
  add("template of 7", counted(offset, offset + rows));
  return draw(map);
}

}  // namespace posgeo::pictures
