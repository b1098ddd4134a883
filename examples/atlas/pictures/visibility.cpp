// SPDX-License-Identifier: MIT
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/window.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string visibility() {
  const auto queries = counted(4, 12);
  const auto keys = counted(0, 12);
  const auto call = call_at(queries, keys);
  const heads layout{.dim = 4};
  const auto causal = visible::causal{}.compile<double>(call, layout);
  const auto window = visible::window::counting_own_key(4).compile<double>(call, layout);
  const batch_index b{0};
  return draw(heatmap{.title = "Causal (all red) and a window of 4 keys (dark)",
                      .across = "key position",
                      .down = "query",
                      .column_names = names_of(keys),
                      .row_names = names_of(queries),
                      .values = each_pair(call, [&](query_index i, key_index j) {
                        return (causal(b, i, j) ? 0.35 : 0.0) + (window(b, i, j) ? 0.65 : 0.0);
                      })});
}

}  // namespace posgeo::pictures
