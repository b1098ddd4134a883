// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/visible/everything.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string scale() {
  // Keys hold the raw scores of a query of one; the rest of the head is 0.
  constexpr index_t dim = 4;
  const auto raw = counted(-40, 41);
  const auto rows = static_cast<index_t>(raw.size());
  tensor<double, 4> query({1, 1, 1, dim});
  tensor<double, 4> keys({1, 1, rows, dim});
  query(0, 0, 0, 0) = 1.0;
  for (index_t j = 0; j < rows; ++j) keys(0, 0, j, 0) = static_cast<double>(raw[static_cast<std::size_t>(j)]);
  const auto call = call_at({0}, counted(0, rows));
  const auto scores = [&](const auto&... policy) {
    const attention model{heads{.dim = dim}, visible::everything{}, policy...};
    const auto all =
        attend(eager{}, model.template compile<double>(call), {query.view(), keys.view(), keys.view()}, also::scores)
            .scores;
    return std::vector<double>(all.values().begin(), all.values().end());
  };
  using posgeo::scale::softcap_place;
  const posgeo::scale::softcap cap({.cap = 10.0, .place = softcap_place::before_bias});
  return draw(curves{.title = "What a raw score becomes, head_dim 4",
                     .across = "query . key",
                     .up = "score",
                     .x = {raw.begin(), raw.end()},
                     .lines = {{"scale::none", scores(posgeo::scale::none{})},
                               {"inverse_sqrt_head_dim", scores(posgeo::scale::inverse_sqrt_head_dim{})},
                               {"none, softcap 10", scores(posgeo::scale::none{}, cap)},
                               {"inverse sqrt, softcap 10", scores(posgeo::scale::inverse_sqrt_head_dim{}, cap)}}});
}

}  // namespace posgeo::pictures
