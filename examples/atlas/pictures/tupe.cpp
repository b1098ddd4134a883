// SPDX-License-Identifier: MIT
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/visible/active.hpp>

#include <array>
#include <cmath>

#include "pictures.hpp"

namespace posgeo::pictures {

/// What TUPE-R adds to the scaled scores of one head, from position rows that turn with the position.
std::string tupe() {
  const index_t length = 14;
  std::vector<double> rows;
  for (index_t row = 0; row <= length; ++row) {
    const double angle = 0.45 * static_cast<double>(row);
    for (const double value : {std::cos(angle), std::sin(angle)}) rows.push_back(value);
  }
  rows[0] = 0.3;  // row 0 times itself is what [CLS] reads for every key
  rows[1] = 0.0;
  const auto turning = head_tables<double>::shared({rows, length + 1, 2});
  const position cls{0};
  const coordinate::t5_bucket bucket(
      {.num_buckets = 8, .max_distance = 8, .direction = coordinate::bucket_direction::bidirectional});
  const std::array<double, 9> weights{0.6, 0.3, 0.1, -0.1, -0.8, 0.4, 0.2, -0.2, 0.9};
  const attention model{heads{.query = 1, .key_value = 1, .dim = 2}, scale::inverse_sqrt_terms{}, visible::active{},
                        content::tupe<double>({.queries = turning, .keys = turning}, content::tupe_cls::released(cls)),
                        bias::tupe_relative<double>(table<double>(weights, 9, 1), bucket, {.cls = cls})};
  const std::array<index_t, 1> lengths{length};
  const auto plan = model.compile<double>(call::padded_batch({.lengths = lengths,
                                                              .rows = length,
                                                              .side = call::padding_side::right,
                                                              .positions = call::padded_positions::contiguous()}));
  heatmap map{.title = "TUPE-R: position term plus relative bias of one head",
              .across = "key",
              .down = "query",
              .column_names = {},
              .row_names = {},
              .values = {}};
  const std::vector<double> none(2);
  const batch_index b{0};
  const head_index h{0};
  for (const query_index i : indices<query_index>(length)) {
    map.row_names.push_back(i.value() == 0 ? "[CLS]" : std::to_string(i.value()));
    map.column_names.push_back(map.row_names.back());
    for (const key_index j : indices<key_index>(length)) {
      map.values.push_back(plan.scale() * plan.content(b, h, i, j, none, none) + plan.bias(b, h, i, j));
    }
  }
  return draw(map);
}

}  // namespace posgeo::pictures
