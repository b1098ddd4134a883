// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string alibi() {
  constexpr heads layout{.query = 8, .key_value = 8, .dim = 4};
  const bias::alibi policy(bias::alibi_slopes::reference(layout.query), bias::alibi_direction::causal);
  const auto keys = counted(0, 33);
  const auto call = call_at({32}, keys);
  const auto term = policy.compile<double>(call, layout);
  curves plot{.title = "ALiBi: the bias of a query at 32, by head",
              .across = "key position",
              .up = "bias",
              .x = {keys.begin(), keys.end()},
              .lines = {}};
  for (const head_index h : indices<head_index>(layout.query)) {
    series line{fmt::format("head {}", h.value()), {}};
    for (const key_index j : indices<key_index>(call.keys())) {
      line.y.push_back(term(batch_index{0}, h, query_index{0}, j));
    }
    plot.lines.push_back(line);
  }
  return draw(plot);
}

}  // namespace posgeo::pictures
