// SPDX-License-Identifier: MIT
#include <posgeo/content/deberta.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/visible/everything.hpp>

#include "pictures.hpp"

namespace posgeo::pictures {

/// The table row of each offset, read through the content term of a plan whose table counts its rows.
std::string deberta() {
  constexpr index_t reach = 120;
  const auto rows_read = [](const coordinate::deberta_span& span) {
    std::vector<double> numbers;
    for (index_t row = 0; row < span.rows(); ++row) numbers.push_back(static_cast<double>(row));
    const content::deberta<double> policy(content::deberta_terms::c2p(), span,
                                          {.position_keys = head_tables<double>::shared({numbers, span.rows(), 1})});
    const auto width = static_cast<std::size_t>(2 * reach + 1);
    explicit_rows query{.positions = {0}, .sequences = {0}, .active = {1}};
    explicit_rows key{.positions = {}, .sequences = std::vector<index_t>(width), .active = {}};
    key.active.assign(width, 1);
    for (index_t ahead = reach; ahead >= -reach; --ahead) key.positions.push_back(ahead);
    const position_call call{
        {.query = {1, 1, query, {}, stream::shared}, .key = {1, 2 * reach + 1, key, {}, stream::shared}, .cache = {}}};
    const attention model{heads{}, scale::inverse_sqrt_terms{}, visible::everything{}, policy};
    const auto plan = model.compile<double>(call);
    const std::vector<double> one{1.0};
    std::vector<double> out;
    for (const key_index j : indices<key_index>(call.keys())) {
      out.push_back(plan.content(batch_index{0}, head_index{0}, query_index{0}, j, one, one));
    }
    return out;
  };
  const auto buckets = [](coordinate::beyond_max_position beyond) {
    return coordinate::deberta_span::bucketed(
        coordinate::log_bucket({.num_buckets = 16, .max_position = 64, .beyond = beyond}));
  };
  curves plot{.title = "The row of a DeBERTa table that a pair reads: 32 rows",
              .across = "query position minus key position",
              .up = "table row",
              .x = {},
              .lines = {{"span 16, no buckets", rows_read(coordinate::deberta_span::exact(16))},
                        {"16 buckets, runs on", rows_read(buckets(coordinate::beyond_max_position::runs_on))},
                        {"16 buckets, clamped", rows_read(buckets(coordinate::beyond_max_position::clamped))}}};
  for (index_t behind = -reach; behind <= reach; ++behind) plot.x.push_back(static_cast<double>(behind));
  return draw(plot);
}

}  // namespace posgeo::pictures
