// SPDX-License-Identifier: MIT
#include <posgeo/content/tupe.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

/// Products as given: row a of the matrix against the unit vector b.
json absolute_with_reset(const json& in) {
  const json& products = in.at("positional_products_P");
  const auto count = static_cast<index_t>(products.size());
  std::vector<double> queries;
  std::vector<double> keys;
  for (index_t a = 0; a < count; ++a) {
    for (index_t b = 0; b < count; ++b) {
      queries.push_back(products[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
      keys.push_back(a == b ? 1.0 : 0.0);
    }
  }
  const content::tupe<double> policy({.queries = head_tables<double>::shared({queries, count, count}),
                                      .keys = head_tables<double>::shared({keys, count, count})},
                                     content::tupe_cls::released(position{in.at("cls_index").get<index_t>()}));
  const attention model{heads{.dim = count}, scale::none{}, visible::everything{}, policy};
  const auto rows = counting(0, in.at("seq_len").get<index_t>());
  const auto call = call_at(rows, rows);
  const tensor<double, 4> no_content({1, 1, call.keys(), count});
  return {{"bias", nested(run(model, call, no_content, no_content, no_content).scores)[0][0]}};
}

}  // namespace

operations tupe_operations() { return {{"tupe_absolute_bias_with_reset", absolute_with_reset}}; }

}  // namespace posgeo::cases
