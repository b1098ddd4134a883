// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/t5_bucket.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string t5() {
  using coordinate::bucket_direction;
  const coordinate::t5_bucket both(
      {.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::bidirectional});
  const coordinate::t5_bucket back({.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::causal});
  curves plot{.title = "T5: the bucket of an offset, 32 buckets up to distance 128",
              .across = "key minus query, in tokens",
              .up = "bucket",
              .x = {},
              .lines = {{"bidirectional", {}}, {"causal", {}}}};
  for (const index_t offset : counted(-150, 151)) {
    plot.x.push_back(static_cast<double>(offset));
    plot.lines[0].y.push_back(static_cast<double>(both(relative_offset{offset})));
    plot.lines[1].y.push_back(static_cast<double>(back(relative_offset{offset})));
  }
  return draw(plot);
}

}  // namespace posgeo::pictures
