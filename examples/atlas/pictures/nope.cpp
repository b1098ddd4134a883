// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/causal.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string nope() {
  // Equal queries and keys; values say which row they come from, so an output is a list of shares.
  constexpr index_t rows = 6;
  const auto positions = counted(0, rows);
  const attention model{heads{.dim = 1}, scale::none{}, visible::causal{}};
  const auto plan = model.compile<double>(call_at(positions, positions));
  const tensor<double, 4> content({1, 1, rows, 1});
  tensor<double, 4> shares({1, 1, rows, rows});
  for (index_t r = 0; r < rows; ++r) shares(0, 0, r, r) = 1.0;
  for (int layer = 0; layer < 2; ++layer) {
    shares = attend(eager{}, plan, {content.view(), content.view(), shares.view()}).output;
  }
  std::vector<double> values(shares.values().begin(), shares.values().end());
  return draw(heatmap{.title = "Two causal layers that average: shares of each token",
                      .across = "token",
                      .down = "row",
                      .column_names = names_of(positions),
                      .row_names = names_of(positions),
                      .values = values,
                      .numbers = true});
}

}  // namespace posgeo::pictures
