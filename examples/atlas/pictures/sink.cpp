// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/visible/everything.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string sink() {
  // A query of one against keys that hold their scores.
  constexpr index_t keys = 3;
  tensor<double, 4> query({1, 1, 1, 1});
  tensor<double, 4> key({1, 1, keys, 1});
  query(0, 0, 0, 0) = 1.0;
  for (index_t j = 0; j < keys; ++j) key(0, 0, j, 0) = static_cast<double>(keys - 1 - j);
  const auto call = call_at({keys}, counted(0, keys));
  curves picture{.title = "Weights of three keys beside a softmax sink",
                 .across = "logit of the sink",
                 .up = "weight",
                 .x = {},
                 .lines = {{"score 2", {}}, {"score 1", {}}, {"score 0", {}}, {"the sink", {}}}};
  for (const index_t quarter : counted(-16, 33)) {
    const double logit = static_cast<double>(quarter) / 4.0;
    const attention model{heads{}, posgeo::scale::none{}, visible::everything{}, posgeo::scale::sink({logit})};
    const auto result =
        attend(eager{}, model.compile<double>(call), {query.view(), key.view(), key.view()}, also::probabilities);
    picture.x.push_back(logit);
    double kept = 0.0;
    for (index_t j = 0; j < keys; ++j) {
      const double weight = result.probabilities(0, 0, 0, j);
      picture.lines[static_cast<std::size_t>(j)].y.push_back(weight);
      kept += weight;
    }
    picture.lines.back().y.push_back(1.0 - kept);
  }
  return draw(picture);
}

}  // namespace posgeo::pictures
