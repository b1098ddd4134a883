// SPDX-License-Identifier: MIT
// Biases that are functions of the offset or of the key's position.
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/coordinate/clipped.hpp>

#include "families/families.hpp"

namespace posgeo::bench {

std::vector<family> bias_families() {
  const auto alibi = [](const request& r) {
    return model_of(r, bias::alibi{bias::alibi_slopes::reference(r.layout.query), bias::alibi_direction::symmetric});
  };
  const auto by_key = [](const request& r) {
    return model_of(r, bias::alibi_key_position{bias::alibi_slopes::reference(r.layout.query), 1 - position_end(r)});
  };
  const auto t5 = [](const request& r) {
    const coordinate::t5_bucket bucket{
        {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
    return model_of(r, bias::t5<float>{random_table(32, r.layout.query), bucket});
  };
  const auto learned = [](const request& r) {
    const auto classes = coordinate::clipped::symmetric(128);
    return model_of(r, bias::learned_relative<float, coordinate::clipped>{
                           random_table(classes.classes(), r.layout.query), classes});
  };
  return {
      family_of<float, double, Eigen::bfloat16>("alibi", alibi),
      family_of<float>("alibi_key_position", by_key, masks::causal),
      family_of<float, double, Eigen::bfloat16>("t5", t5),
      family_of<float>("learned_relative_128", learned),
  };
}

}  // namespace posgeo::bench
